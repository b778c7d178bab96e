/* SPDX-License-Identifier: MIT */
/* The debug information of one ELF file: an address becomes the functions inlined there, and the
 * lines of source that each stands at. Internal to this room. */
#ifndef DWELL_PARSE_ELF_INLINES_H
#define DWELL_PARSE_ELF_INLINES_H

#include <stdbool.h>
#include <stdint.h>

#include "parse/elf/places.h"

enum { INLINES_MAX = 64 }; /* more functions at one address are cut, innermost first */

/* One function at an address. */
struct inline_place {
	const char *name; /* mangled, or as in the source; NULL = not told */
	const char
		*file; /* where in this function: as the compiler named the file; NULL = not told */
	uint32_t line; /* 0 = not told */
};

struct inlines; /* opaque */

/* Reads the index of units of an open image, which is borrowed and must outlive the result; its
 * descriptor is needed only now. with_lines: also files and lines. Its supplementary file (dwz) is
 * looked for by build id, and .dwo files where the units say, if there is no symfs. 0, -ENOMEM, or
 * -ENOENT where it has no debug information that can be used: none, that of a relocatable file, one
 * packed beyond what zlib does, or without its supplementary file.
 *
 * Units are compiled when first asked for, and those not asked for longest are dropped when all of
 * the file's take more than 64 MiB. What libdw keeps besides (abbreviations, line tables) is at
 * most in proportion to the file. */
int inlines_open(const struct image *image, const struct places *places, bool with_lines,
		 struct inlines **ret_inlines);
void inlines_free(struct inlines *inlines);

/* The functions at an address in the file's own virtual addresses: the one whose code it is, then
 * what is inlined into it, innermost last. How many; 0 = the debug information tells none. */
uint32_t inlines_find(struct inlines *inlines, uint64_t address,
		      struct inline_place ret_places[INLINES_MAX]);

#endif
