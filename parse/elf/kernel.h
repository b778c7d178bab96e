/* SPDX-License-Identifier: MIT */
/* Names of kernel frames that the recording has no name for: finds the symbols of the recorded
 * kernel and its modules here, never those of another. Internal to this room; the rules are
 * documented in symbols.h. */
#ifndef DWELL_PARSE_ELF_KERNEL_H
#define DWELL_PARSE_ELF_KERNEL_H

#include "parse/elf/kallsyms.h"
#include "parse/elf/places.h"
#include "parse/elf/symtab.h"

/* The path of kernel frames in dwell's own traces, whose kernel is not told further. */
#define KERNEL_OWN_PATH "[kernel]"

enum { MODULE_NAME_BYTES = 64 };

/* What names the addresses of one file of the recording. */
struct naming {
	struct symtab *table;		   /* owned; or, where NULL: */
	const struct dwell_kallsyms *syms; /* borrowed */
	uint64_t base;			   /* the address in syms that offsets count from */
	bool absolute;			   /* offsets at or above base are addresses */
	char module[MODULE_NAME_BYTES];	   /* whose functions count; "" = the image's */
};

struct kernel; /* opaque: the tables of kernel symbols read so far */

/* places is borrowed. NULL when out of memory. */
struct kernel *kernel_new(const struct places *places);
void kernel_free(struct kernel *kernel);

/* Finds the symbols of a file of kind KERNEL or MODULE recorded as path: OK and *ret, which is
 * valid until kernel_free(), or why not with *why. */
enum dwell_symbol_status kernel_load(struct kernel *kernel, const struct dwell_file *file,
				     const char *path, struct naming *ret, struct why *why);

/* The raw name at an offset, or NULL. */
const char *kernel_name(const struct naming *naming, uint64_t offset);

/* The name of the module that a path such as "[ext4]" or "/lib/modules/6.1.0/a/snd-hda.ko.xz" is
 * of, as kallsyms has it: "ext4", "snd_hda". Cut at the room. */
void module_name(const char *path, char ret_name[MODULE_NAME_BYTES]);

/* Loads the module file with the recorded build id (module.c): true and *ret_table. */
bool module_load(const struct places *places, const struct dwell_file *file, const char *path,
		 struct symtab **ret_table, struct why *why);

#endif
