/* SPDX-License-Identifier: MIT */
/* Finds, checks and loads the ELF file that a recorded user file names. Internal to this room; the
 * rules are documented in symbols.h. */
#ifndef DWELL_PARSE_ELF_BINARY_H
#define DWELL_PARSE_ELF_BINARY_H

#include "parse/elf/places.h"
#include "parse/elf/symtab.h"

/* Opens a file recorded as path, of kind ELF or VDSO: OK and *ret_image, or why not with *why. */
enum dwell_symbol_status binary_open(const struct places *places, const struct dwell_file *file,
				     const char *path, struct image *ret_image, struct why *why);

/* Loads the symbols of a file recorded as path, of kind ELF or VDSO: OK and *ret_table, or why not
 * with *why. */
enum dwell_symbol_status binary_load(const struct places *places, const struct dwell_file *file,
				     const char *path, struct symtab **ret_table, struct why *why);

/* Loads an open image, which is taken over or closed, with its debug file if it has no .symtab.
 * path (without the symfs) is for debug links; NULL = look for no debug file. */
enum dwell_symbol_status binary_load_image(const struct places *places, struct image *image,
					   const char *path, struct symtab **ret_table);

#endif
