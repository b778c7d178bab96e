/* SPDX-License-Identifier: MIT */
/* What libdw makes of call frame information becomes a row or a rule in our own words, for tests
 * that compare. */
#ifndef DWELL_TESTS_UNIT_CFIORACLE_H
#define DWELL_TESTS_UNIT_CFIORACLE_H

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "parse/elf/cfi.h"
#include "parse/elf/unwind_table.h"

/* Expressions are libdw's operations here: borrowed of its Dwarf_CFI. */
struct cfioracle {
	uint64_t start, end; /* of the row that holds at the address */
	bool signal;
	uint16_t cfa_register;
	int64_t cfa_offset;
	struct cfi_value fp, ra;
	const Dwarf_Op *cfa_expression, *ra_expression; /* NULL = none */
	size_t cfa_count, ra_count;
};

static inline struct cfi_value cfioracle_value(Dwarf_Frame *frame, int column,
					       const Dwarf_Op **ret_expression, size_t *ret_count)
{
	Dwarf_Op room[3], *ops;
	size_t count;

	*ret_expression = NULL;
	*ret_count = 0;
	if (dwarf_frame_register(frame, column, room, &ops, &count))
		return (struct cfi_value){ CFI_OTHER, INT64_MIN };
	if (!count)
		return (struct cfi_value){ ops ? CFI_UNDEFINED : CFI_SAME, 0 };
	if (ops == room && ops[0].atom == DW_OP_call_frame_cfa && count == 1)
		return (struct cfi_value){ CFI_AT_CFA, 0 };
	if (ops == room && ops[0].atom == DW_OP_call_frame_cfa && count == 2 &&
	    ops[1].atom == DW_OP_plus_uconst)
		return (struct cfi_value){ CFI_AT_CFA, (int64_t)ops[1].number };
	if (ops == room && ops[0].atom == DW_OP_regx && count == 1)
		return (struct cfi_value){ CFI_IN_REGISTER, (int64_t)ops[0].number };
	if (ops != room) {
		*ret_expression = ops;
		*ret_count = count;
	}
	return (struct cfi_value){ CFI_OTHER, 0 };
}

/* False when libdw has nothing for the address. */
static inline bool cfioracle_ask(Dwarf_CFI *cfi, uint64_t vaddr, uint16_t machine,
				 struct cfioracle *ret)
{
	const Dwarf_Op *ignored;
	Dwarf_Frame *frame;
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_cfi_addrframe(cfi, vaddr, &frame))
		return false;
	memset(ret, 0, sizeof(*ret));
	dwarf_frame_info(frame, &ret->start, &ret->end, &ret->signal);
	if (dwarf_frame_cfa(frame, &ops, &count)) {
		free(frame);
		return false;
	}
	if (count == 1 && ops[0].atom == DW_OP_bregx) {
		ret->cfa_register = (uint16_t)ops[0].number;
		ret->cfa_offset = (int64_t)ops[0].number2;
	} else {
		ret->cfa_expression = ops;
		ret->cfa_count = count;
	}
	ret->fp = cfioracle_value(frame, machine == EM_AARCH64 ? CFI_AARCH64_X29 : CFI_X86_64_RBP,
				  &ignored, &count);
	ret->ra = cfioracle_value(frame, machine == EM_AARCH64 ? CFI_AARCH64_X30 : CFI_X86_64_RA,
				  &ret->ra_expression, &ret->ra_count);
	free(frame);
	return true;
}

/* Does a row say the same? Of expressions only that they are there, and of pointer authentication
 * nothing: libdw does not follow it. */
static inline bool cfioracle_agrees(const struct cfioracle *oracle, const struct cfi_row *row)
{
	if (oracle->signal != row->signal_frame || oracle->fp.how != row->fp.how ||
	    oracle->fp.offset != row->fp.offset || oracle->ra.how != row->ra.how ||
	    oracle->ra.offset != row->ra.offset ||
	    !oracle->cfa_expression != !row->cfa_expression ||
	    !oracle->ra_expression != !row->ra_expression)
		return false;
	return row->cfa_expression ||
	       (oracle->cfa_register == row->cfa_register && oracle->cfa_offset == row->cfa_offset);
}

/* The standard expression of PLT stubs, as operations; -1 = another one. */
static inline int cfioracle_plt_limit(const struct cfioracle *oracle)
{
	static const uint8_t atoms[] = { DW_OP_breg7, DW_OP_breg16, DW_OP_lit15, DW_OP_and, 0,
					 DW_OP_ge,    DW_OP_lit3,   DW_OP_shl,	 DW_OP_plus };
	const Dwarf_Op *ops = oracle->cfa_expression;

	if (!ops || oracle->cfa_count != sizeof(atoms) || ops[0].number != 8 || ops[1].number)
		return -1;
	for (size_t i = 0; i < sizeof(atoms); i++)
		if (atoms[i] && ops[i].atom != atoms[i])
			return -1;
	if (ops[4].atom < DW_OP_lit0 || ops[4].atom > DW_OP_lit15)
		return -1;
	return ops[4].atom - DW_OP_lit0;
}

/* The rule of what libdw says, for x86-64 files. */
static inline struct dwell_unwind_rule cfioracle_rule(const struct cfioracle *oracle)
{
	struct dwell_unwind_rule rule = { .kind = DWELL_UNWIND_CFA,
					  .flags = DWELL_UNWIND_RA_SAVED,
					  .cfa_register = oracle->cfa_register,
					  .cfa_offset = (int32_t)oracle->cfa_offset,
					  .ra_offset = (int32_t)oracle->ra.offset };
	int limit = cfioracle_plt_limit(oracle);

	if (oracle->ra.how == CFI_UNDEFINED)
		return (struct dwell_unwind_rule){ .kind = DWELL_UNWIND_END };
	/* Behind the CFA, which an expression of a register has on its stack. */
	if (oracle->signal && oracle->ra_count == 2 &&
	    oracle->ra_expression[0].atom == DW_OP_call_frame_cfa &&
	    oracle->ra_expression[1].atom == DW_OP_breg7 && oracle->ra_expression[1].number == 168)
		return (struct dwell_unwind_rule){ .kind = DWELL_UNWIND_SIGNAL,
						   .flags = DWELL_UNWIND_INTERRUPTED };
	if (oracle->ra.how == CFI_IN_REGISTER)
		rule.flags = DWELL_UNWIND_RA_IN_REGISTER;
	else if (oracle->ra.how != CFI_AT_CFA)
		return (struct dwell_unwind_rule){ .kind = DWELL_UNWIND_ODD };
	if (oracle->cfa_expression && limit < 0)
		return (struct dwell_unwind_rule){ .kind = DWELL_UNWIND_ODD };
	if (oracle->cfa_expression) {
		rule.kind = DWELL_UNWIND_PLT;
		rule.cfa_register = CFI_X86_64_RSP;
		rule.cfa_offset = limit;
	}
	if (oracle->fp.how == CFI_AT_CFA) {
		rule.flags |= DWELL_UNWIND_FP_SAVED;
		rule.fp_offset = (int32_t)oracle->fp.offset;
	} else if (oracle->fp.how != CFI_SAME) {
		rule.flags |= DWELL_UNWIND_FP_LOST;
	}
	if (oracle->signal)
		rule.flags |= DWELL_UNWIND_INTERRUPTED;
	return rule;
}

#endif
