/* SPDX-License-Identifier: MIT */
/* The call frame information of a file becomes a table that tells for any instruction, in some 20
 * ns, how its frame is left: compiled once per file, a few bytes for each row, shared by all
 * processes that map the file, read by any number of threads. */
#ifndef DWELL_PARSE_ELF_UNWIND_TABLE_H
#define DWELL_PARSE_ELF_UNWIND_TABLE_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/err.h"

enum { DWELL_UNWIND_REGISTERS = 33 }; /* DWARF numbers; x86-64: 0 to 16, AArch64: 0 to 31 and pc */

enum dwell_unwind_kind {
	DWELL_UNWIND_NONE = 0, /* no call frame information covers the address */
	DWELL_UNWIND_CFA,      /* CFA = register + cfa_offset */
	DWELL_UNWIND_PLT,    /* PLT stubs: CFA = rsp + 8, and 8 more where (rip & 15) >= cfa_offset,
			      * which is 11, or 9 where stubs begin with endbr64 */
	DWELL_UNWIND_SIGNAL, /* the frame of a signal handler's return: registers are in the
			      * ucontext, at fixed distances from sp */
	DWELL_UNWIND_END,    /* the outermost frame: its return address is undefined */
	DWELL_UNWIND_ODD,    /* a rule that none of the others can say */
};

enum dwell_unwind_flags {
	DWELL_UNWIND_FP_SAVED = 1,     /* the caller's frame pointer is at CFA + fp_offset */
	DWELL_UNWIND_RA_SAVED = 2,     /* the return address is at CFA + ra_offset; else in the link
					* register (AArch64) */
	DWELL_UNWIND_RA_SIGNED = 4,    /* it carries a pointer authentication code */
	DWELL_UNWIND_FP_LOST = 8,      /* the caller's frame pointer is not known any more */
	DWELL_UNWIND_INTERRUPTED = 16, /* augmentation 'S': the frame below is not a call */
	DWELL_UNWIND_RA_IN_REGISTER = 32, /* it is in the register with number ra_offset */
};

struct dwell_unwind_rule {
	uint8_t kind;				  /* enum dwell_unwind_kind */
	uint8_t flags;				  /* enum dwell_unwind_flags */
	uint16_t cfa_register;			  /* DWARF number */
	int32_t cfa_offset, fp_offset, ra_offset; /* bytes */
};

struct dwell_unwind_table; /* opaque */

struct dwell_unwind_table_stats {
	uint64_t fdes, rows; /* rows kept: equal neighbours are one */
	uint32_t rules;	     /* distinct, with NONE and ODD; when over 65,536, the rest are ODD */
	uint64_t bad, odd;   /* entries that cannot be right; rows of kind ODD */
	uint64_t framed_bytes, pointed_bytes; /* of code in frames, and of it with frame pointers */
	uint64_t bytes;			      /* of the table in memory */
};

/* Compiles .eh_frame and, where that has nothing, .debug_frame of an x86-64 or AArch64 file, with
 * or without section headers. Of FDEs that overlap, the first in the file holds. The file may be
 * closed afterwards. A file without either gives an empty table; code beyond 4 GiB of a file is not
 * covered. Meanwhile it takes some 4 times the memory of the sections, and never more than 10
 * times; the table itself is about as large as they are. 0, -ENOEXEC (another machine, damaged
 * headers), -ENOMEM. */
int dwell_unwind_table_new(Elf *elf, struct dwell_unwind_table **ret_table, struct dwell_err *err);
void dwell_unwind_table_free(struct dwell_unwind_table *table);

/* The rule for the instruction at a file offset (not an address: frames have those, and mappings
 * tell them without another look at the file). Never NULL: kind NONE where nothing is known. */
const struct dwell_unwind_rule *dwell_unwind_table_find(const struct dwell_unwind_table *table,
							uint64_t file_offset);

/* EM_X86_64 or EM_AARCH64. */
uint16_t dwell_unwind_table_machine(const struct dwell_unwind_table *table);
const struct dwell_unwind_table_stats *dwell_unwind_table_stats(
	const struct dwell_unwind_table *table);

#endif
