/* SPDX-License-Identifier: MIT */
/* Call frame information (.eh_frame, .debug_frame) becomes rows: from an address on, where the
 * caller's registers are. An interpreter of its own, since asking libdw for one address at a time
 * runs the same instructions again for every row. Sources: DWARF 5 section 6.4, LSB 5.0 section
 * 10.6 (.eh_frame), the AArch64 DWARF supplement. Internal to this room. */
#ifndef DWELL_PARSE_ELF_CFI_H
#define DWELL_PARSE_ELF_CFI_H

#include <stdbool.h>
#include <stdint.h>

/* DWARF register numbers. */
enum cfi_register {
	CFI_X86_64_RBP = 6,
	CFI_X86_64_RSP = 7,
	CFI_X86_64_RA = 16,
	CFI_AARCH64_X29 = 29, /* the frame pointer */
	CFI_AARCH64_X30 = 30, /* the link register */
	CFI_AARCH64_SP = 31,
};

/* A section of call frame information. Bytes are borrowed. */
struct cfi_section {
	const uint8_t *bytes;
	uint64_t count;
	uint64_t vaddr;	     /* of the section, for pc-relative pointers */
	uint64_t text, data; /* bases of text- and data-relative pointers; 0 = none */
	uint16_t machine;    /* EM_X86_64 or EM_AARCH64 */
	bool is_debug_frame;
	bool swapped; /* the other byte order than this machine's; always 64-bit */
};

/* Where the value of a caller's register is. */
enum cfi_how {
	CFI_SAME = 0,	 /* not changed, or nothing is told of it */
	CFI_UNDEFINED,	 /* lost: for the return address, the outermost frame */
	CFI_AT_CFA,	 /* in memory at CFA + offset */
	CFI_IN_REGISTER, /* in another register, whose number is the offset */
	CFI_OTHER,	 /* an expression, CFA + offset as a value */
};

struct cfi_value {
	uint8_t how; /* enum cfi_how */
	int64_t offset;
};

/* Holds from vaddr on, until the next row of its FDE. */
struct cfi_row {
	uint64_t vaddr;
	uint16_t cfa_register; /* CFA = its value + cfa_offset, unless cfa_expression */
	int64_t cfa_offset;
	const uint8_t *cfa_expression; /* DWARF expression; NULL = none; borrowed of the section */
	uint64_t cfa_expression_bytes;
	struct cfi_value fp, ra;      /* rbp and the return address; x29 and x30. OTHER for a return
				       * address in another column than the ABI's */
	const uint8_t *ra_expression; /* of the return address's place, if it has one; or NULL */
	uint64_t ra_expression_bytes;
	bool ra_signed;	   /* AArch64: the return address carries a pointer authentication code */
	bool signal_frame; /* augmentation 'S': the frame below was interrupted */
};

/* Called for each row in ascending order within an FDE; `end` is where the FDE's range ends (the
 * same for all its rows), and a last call with row NULL closes the FDE, unless it had no row. Where
 * its instructions cannot be right from some address on, that is the `end` of the closing call: the
 * rows hold up to there. Not 0 stops the walk. */
typedef int (*cfi_row_fn)(void *user, const struct cfi_row *row, uint64_t end);

struct cfi_stats {
	uint64_t fdes, rows;
	uint64_t bad; /* CIEs and FDEs that cannot be right, from some address on or at all */
};

/* Walks all FDEs in the order of the section. FDEs of address 0 or without a range are passed over.
 * What cannot be right is counted and passed over; a length that cannot be right ends the walk, and
 * so does the terminator, a length of 0. 0 or what fn returned. Memory: a few kilobytes of stack,
 * whatever the section holds (CIEs are parsed again unless they are the one before). */
int cfi_walk(const struct cfi_section *section, cfi_row_fn fn, void *user,
	     struct cfi_stats *ret_stats);

#endif
