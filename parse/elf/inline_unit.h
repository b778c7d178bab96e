/* SPDX-License-Identifier: MIT */
/* One unit of debug information: its tree of functions becomes a sorted table from addresses to the
 * chain of functions inlined there. Internal to this room. */
#ifndef DWELL_PARSE_ELF_INLINE_UNIT_H
#define DWELL_PARSE_ELF_INLINE_UNIT_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/array.h"

/* A function at the addresses of one call of it. Strings are borrowed from the Dwarf handle. */
struct inline_site {
	const char *name;      /* as the linker would see it, if told; NULL = none */
	const char *call_file; /* where its caller calls it; NULL = not told */
	uint32_t call_line;    /* 0 = not told */
	uint32_t caller;       /* index + 1 of the site that it is inlined into; 0 = it is not */
};

/* From start to the next run's start. */
struct inline_run {
	uint64_t start;
	uint32_t site; /* index + 1 of the innermost one; 0 = no function */
};

/* Owns both; zero-initialised it is empty. */
struct inline_unit {
	DWELL_ARRAY(struct inline_site) sites;
	DWELL_ARRAY(struct inline_run) runs;
};

/* Tells one range of addresses: 0, or a negative errno that ends the walk. */
typedef int (*inline_range_fn)(void *user, uint64_t start, uint64_t end);

/* Walks the address ranges of a DIE, as many as *left, which counts down, allows. 0, -E2BIG, or
 * what take returned. Ranges that are empty, or of code that the linker dropped, are left out. */
int inline_ranges_walk(Dwarf_Die *die, uint64_t *left, inline_range_fn take, void *user);

/* The bytes that the unit of a DIE takes: it has fewer DIEs than that. 0 when it cannot be read. */
uint64_t inline_unit_bytes(Dwarf_Die *unit);

/* Walks the functions directly below a unit that does not tell its own ranges. As
 * inline_ranges_walk(). */
int inline_unit_ranges_walk(Dwarf_Die *unit, uint64_t *left, inline_range_fn take, void *user);

/* Compiles the tree below a unit's DIE; with_lines: with the places of calls, for which libdw reads
 * the unit's line table. 0, -ENOMEM, or -E2BIG where the tree is deeper, or has more ranges, than
 * any compiler makes. Takes time in proportion to the unit's bytes and its depth, whatever they
 * hold. */
int inline_unit_build(Dwarf_Die *unit, bool with_lines, struct inline_unit *ret);
void inline_unit_release(struct inline_unit *unit);

/* The memory that it takes. */
uint64_t inline_unit_size(const struct inline_unit *unit);

/* The innermost function at an address: index + 1, or 0. */
uint32_t inline_unit_find(const struct inline_unit *unit, uint64_t address);

#endif
