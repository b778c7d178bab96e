/* SPDX-License-Identifier: MIT */
/* Stripped Go programs keep the table that their runtime prints stacks with (.gopclntab): it
 * becomes symbols. Internal to this room. Source: the Go runtime's symtab.go (moduledata, functab,
 * _func), in the forms since Go 1.2, 1.16, 1.18 and 1.20. */
#ifndef DWELL_PARSE_ELF_GOPCLNTAB_H
#define DWELL_PARSE_ELF_GOPCLNTAB_H

#include "parse/elf/symtab.h"

/* Adds the functions of a file that has such a table; none when that cannot be right. Names are
 * borrowed of elf. 0 or -ENOMEM. */
int gopclntab_gather(Elf *elf, struct symlist *list);

/* The same of the table's bytes, which names are borrowed of. text is the address of .text, which
 * addresses count from where the table does not say itself (position-independent programs). */
int gopclntab_read(const uint8_t *bytes, uint64_t count, uint64_t text, struct symlist *list);

#endif
