/* SPDX-License-Identifier: MIT */
/* What an unwind table is made from: an ELF file's sections of call frame information, and the
 * segments that tell where in the file an address is. Internal to unwind_*.c. */
#ifndef DWELL_PARSE_ELF_UNWIND_INPUT_H
#define DWELL_PARSE_ELF_UNWIND_INPUT_H

#include <libelf.h>
#include <stdint.h>

#include "lib/err.h"
#include "parse/elf/cfi.h"
#include "parse/elf/unwind_table.h"

enum { UNWIND_SEGMENTS_MAX = 64, UNWIND_SECTIONS_MAX = 2 };

/* An executable segment: addresses from vaddr on are in the file from offset on. */
struct unwind_segment {
	uint64_t vaddr;
	uint32_t offset, bytes; /* offset + bytes does not overflow */
};

struct unwind_input {
	uint16_t machine;
	struct unwind_segment segments[UNWIND_SEGMENTS_MAX];
	uint32_t segment_count;
	struct cfi_section sections[UNWIND_SECTIONS_MAX]; /* first .eh_frame, if there is one */
	uint32_t section_count;
};

/* Bytes stay those of the Elf handle. Code beyond the first 4 GiB of a file is left out. 0, or
 * -ENOEXEC when it is not a 64-bit file of a known machine. */
int unwind_input_read(Elf *elf, struct unwind_input *ret_input, struct dwell_err *err);

/* The segment that holds an address, or NULL. */
const struct unwind_segment *unwind_input_segment(const struct unwind_input *input, uint64_t vaddr);

/* The rule that a row says (unwind_rule.c). */
void unwind_rule_make(const struct cfi_row *row, uint16_t machine,
		      struct dwell_unwind_rule *ret_rule);

#endif
