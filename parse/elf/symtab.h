/* SPDX-License-Identifier: MIT */
/* The functions of one ELF file: symbol tables and PLT stubs become sorted lists that a file offset
 * is looked up in. Internal to this room; the rules are documented in symbols.h. */
#ifndef DWELL_PARSE_ELF_SYMTAB_H
#define DWELL_PARSE_ELF_SYMTAB_H

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/array.h"
#include "parse/elf/image.h"
#include "parse/elf/inlines.h"

enum {
	SYMBOL_OPEN = 1,  /* no size of its own: end is the furthest it may reach */
	SYMBOL_LABEL = 2, /* STT_NOTYPE */
	SYMBOL_LOCAL = 4,
	SYMBOL_WEAK = 8,
};

/* [start, end) in the file's own virtual addresses. */
struct symbol {
	uint64_t start, end;
	const char *name; /* not empty, may have a version; borrowed from the Elf handle */
	uint32_t parent;  /* index + 1 of the nearest earlier symbol that reaches past start */
	uint32_t flags;
};

/* Owns data; zero-initialised it is empty. Sorted and linked once finished. */
struct symlist {
	DWELL_ARRAY(struct symbol) all;
};

/* 0 or -ENOMEM. */
int symlist_add(struct symlist *list, const struct symbol *symbol);
/* Sorts, drops aliases and gives open symbols their ends. */
void symlist_finish(struct symlist *list);
/* The innermost symbol that holds address, or NULL. */
const struct symbol *symlist_find(const struct symlist *list, uint64_t address);

/* Adds the PLT stubs of a file, named after the functions they jump to (plt.c). functions, which
 * are finished, name the targets of IRELATIVE relocations. 0 or -ENOMEM. */
int plt_gather(Elf *elf, const struct symlist *functions, struct symlist *stubs);

struct symtab; /* opaque */

/* Loads the functions of an image and those of its separate debug file (debug->elf NULL = none).
 * Takes both over on success. 0, -ENOMEM, or -E2BIG for more symbols than any real file has. */
int symtab_load(struct image *image, struct image *debug, struct symtab **ret_table);
void symtab_free(struct symtab *table);

/* The symbol at a file offset, or NULL; *ret_plt when it is the stub "name@plt". Valid until free.
 * Of a relocatable file, which is a kernel module, offsets count from the start of its code in
 * memory. */
const struct symbol *symtab_find(const struct symtab *table, uint64_t file_offset, bool *ret_plt);

/* Gives the table the debug information of its image or debug file, which it owns from now on. */
void symtab_set_inlines(struct symtab *table, struct inlines *inlines);

/* As inlines_find(), at a file offset; 0 without debug information. */
uint32_t symtab_inlines_find(const struct symtab *table, uint64_t file_offset,
			     struct inline_place ret_places[INLINES_MAX]);

/* Offsets count from the address of this symbol from now on, as those of kernel frames do from
 * _text: 0, or -ENOENT when .symtab has no such symbol. */
int symtab_rebase(struct symtab *table, const char *name);

/* The first section of a type (SHT_SYMTAB, ...), or by name; NULL when there is none. */
Elf_Scn *section_by_type(Elf *elf, uint32_t type, GElf_Shdr *ret_header);
Elf_Scn *section_by_name(Elf *elf, const char *name, GElf_Shdr *ret_header);

/* The strings of a section of names: NULL when they are not usable. An offset below *ret_bytes
 * names a terminated string. */
const char *section_strings(Elf *elf, size_t index, size_t *ret_bytes);

#endif
