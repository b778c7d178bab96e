// SPDX-License-Identifier: MIT
/* A row of call frame information becomes the rule that an unwinder follows without looking
 * anything up. The few expressions that every program has are known by their bytes. */
#include <elf.h>
#include <string.h>

#include "parse/elf/unwind_input.h"

static bool fits(int64_t value)
{
	return value == (int32_t)value;
}

static bool equal(const uint8_t *bytes, uint64_t count, const void *expected,
		  uint64_t expected_count)
{
	return bytes && count == expected_count && memcmp(bytes, expected, count) == 0;
}

/* glibc's __restore_rt: the CFA is the rsp that the ucontext has at rsp + 160, the return address
 * its rip at rsp + 168. Before Linux 5.8 the vdso of AArch64 describes its own the other way: as a
 * frame record, which the kernel puts on top of the ucontext. */
static bool is_signal_return(const struct cfi_row *row, uint16_t machine)
{
	/* DW_OP_breg7 (160), DW_OP_deref; DW_OP_breg7 (168) */
	static const uint8_t cfa[] = { 0x77, 0xa0, 0x01, 0x06 }, ra[] = { 0x77, 0xa8, 0x01 };

	if (!row->signal_frame)
		return false;
	if (machine == EM_AARCH64)
		return !row->cfa_expression && row->cfa_register == CFI_AARCH64_X29 &&
		       row->cfa_offset == 0 && row->fp.how == CFI_AT_CFA && row->fp.offset == 0 &&
		       row->ra.how == CFI_AT_CFA && row->ra.offset == 8;
	return equal(row->cfa_expression, row->cfa_expression_bytes, cfa, sizeof(cfa)) &&
	       equal(row->ra_expression, row->ra_expression_bytes, ra, sizeof(ra));
}

/* What linkers say of .plt: rsp + 8 + ((rip & 15) >= LIMIT) * 8. The limit is 11, and 9 where each
 * stub begins with endbr64. -1 = something else. */
static int plt_limit(const struct cfi_row *row)
{
	/* DW_OP_breg7 (8), DW_OP_breg16 (0), DW_OP_lit15, DW_OP_and, DW_OP_lit(LIMIT), DW_OP_ge,
	 * DW_OP_lit3, DW_OP_shl, DW_OP_plus */
	static const uint8_t head[] = { 0x77, 8, 0x80, 0, 0x3f, 0x1a };
	static const uint8_t tail[] = { 0x2a, 0x33, 0x24, 0x22 };
	enum { LIT0 = 0x30, LIMIT_AT = sizeof(head), TAIL_AT = LIMIT_AT + 1, LIMITS = 16 };
	const uint8_t *bytes = row->cfa_expression;

	if (row->cfa_expression_bytes != TAIL_AT + sizeof(tail) ||
	    memcmp(bytes, head, sizeof(head)) != 0 ||
	    memcmp(bytes + TAIL_AT, tail, sizeof(tail)) != 0 || bytes[LIMIT_AT] < LIT0 ||
	    bytes[LIMIT_AT] >= LIT0 + LIMITS)
		return -1;
	return bytes[LIMIT_AT] - LIT0;
}

static bool make_cfa(const struct cfi_row *row, uint16_t machine, struct dwell_unwind_rule *rule)
{
	int limit;

	if (!row->cfa_expression) {
		*rule = (struct dwell_unwind_rule){ .kind = DWELL_UNWIND_CFA,
						    .cfa_register = row->cfa_register,
						    .cfa_offset = (int32_t)row->cfa_offset };
		return fits(row->cfa_offset);
	}
	limit = machine == EM_X86_64 ? plt_limit(row) : -1;
	*rule = (struct dwell_unwind_rule){ .kind = DWELL_UNWIND_PLT,
					    .cfa_register = CFI_X86_64_RSP,
					    .cfa_offset = limit };
	return limit >= 0;
}

static bool make_values(const struct cfi_row *row, uint16_t machine, struct dwell_unwind_rule *rule)
{
	if (row->fp.how == CFI_AT_CFA && fits(row->fp.offset)) {
		rule->flags |= DWELL_UNWIND_FP_SAVED;
		rule->fp_offset = (int32_t)row->fp.offset;
	} else if (row->fp.how != CFI_SAME) {
		rule->flags |= DWELL_UNWIND_FP_LOST;
	}
	if (row->ra.how == CFI_AT_CFA) {
		rule->flags |= DWELL_UNWIND_RA_SAVED;
		rule->ra_offset = (int32_t)row->ra.offset;
		return fits(row->ra.offset);
	}
	if (row->ra.how == CFI_IN_REGISTER) {
		rule->flags |= DWELL_UNWIND_RA_IN_REGISTER;
		rule->ra_offset = (int32_t)row->ra.offset;
		return row->ra.offset >= 0 && row->ra.offset < DWELL_UNWIND_REGISTERS;
	}
	return row->ra.how == CFI_SAME && machine == EM_AARCH64;
}

void unwind_rule_make(const struct cfi_row *row, uint16_t machine,
		      struct dwell_unwind_rule *ret_rule)
{
	if (row->ra.how == CFI_UNDEFINED) {
		*ret_rule = (struct dwell_unwind_rule){ .kind = DWELL_UNWIND_END };
	} else if (is_signal_return(row, machine)) {
		*ret_rule = (struct dwell_unwind_rule){ .kind = DWELL_UNWIND_SIGNAL,
							.flags = DWELL_UNWIND_INTERRUPTED };
	} else if (make_cfa(row, machine, ret_rule) && make_values(row, machine, ret_rule)) {
		ret_rule->flags |= (row->ra_signed ? DWELL_UNWIND_RA_SIGNED : 0) |
				   (row->signal_frame ? DWELL_UNWIND_INTERRUPTED : 0);
	} else {
		*ret_rule = (struct dwell_unwind_rule){ .kind = DWELL_UNWIND_ODD };
	}
}
