// SPDX-License-Identifier: MIT
/* Call frame instructions become rows: one for each address at which they say something new. Of
 * the registers, only what unwinding needs is followed: CFA, frame pointer, return address. */
#include "parse/elf/cfi_program.h"

#include <dwarf.h>
#include <elf.h>

enum {
	OPERAND = 0x3f, /* the bits of an instruction byte that its primary opcode leaves */
	/* AArch64: as negate_ra_state, with the instruction's address in the code besides. */
	AARCH64_NEGATE_RA_STATE_WITH_PC = 0x2c,
};

static bool row_is_known(const struct cfi_row *row)
{
	return row->cfa_expression || row->cfa_register != CFI_NO_REGISTER;
}

/* The row that ends at an address, unless it is empty. */
static int advance_to(struct cfi_program *program, uint64_t vaddr)
{
	struct cfi_row *row = &program->row;
	int rc;

	if (!program->fn || vaddr < row->vaddr || !row_is_known(row)) {
		program->in.bad = true;
		return 0;
	}
	if (vaddr == row->vaddr)
		return 0;
	rc = program->fn(program->user, row, program->end);
	program->rows++;
	row->vaddr = vaddr;
	if (vaddr >= program->end)
		program->in.at = program->in.end; /* nothing more can matter */
	return rc;
}

static int advance(struct cfi_program *program, uint64_t units)
{
	uint64_t bytes, vaddr;

	if (__builtin_mul_overflow(units, program->cie->code_align, &bytes) ||
	    __builtin_add_overflow(program->row.vaddr, bytes, &vaddr))
		vaddr = program->end;
	return advance_to(program, vaddr);
}

static void value_set(struct cfi_program *program, uint64_t column, enum cfi_how how,
		      int64_t offset)
{
	const struct cfi_value value = { (uint8_t)how, offset };

	if (column == program->cie->fp_column) {
		program->row.fp = value;
	} else if (column == program->cie->ra_column) {
		program->row.ra = value;
		program->row.ra_expression = NULL;
		program->row.ra_expression_bytes = 0;
	}
}

/* A number of units of the CIE's data alignment in bytes. What overflows is no offset of any use,
 * but no harm either. */
static int64_t scaled(const struct cfi_program *program, uint64_t units)
{
	return (int64_t)(units * (uint64_t)program->cie->data_align);
}

static void value_restore(struct cfi_program *program, uint64_t column)
{
	const struct cfi_row *initial = &program->cie->initial;

	if (!program->fn) {
		program->in.bad = true; /* a CIE has nothing to go back to */
	} else if (column == program->cie->fp_column) {
		program->row.fp = initial->fp;
	} else if (column == program->cie->ra_column) {
		program->row.ra = initial->ra;
		program->row.ra_expression = initial->ra_expression;
		program->row.ra_expression_bytes = initial->ra_expression_bytes;
	}
}

static const uint8_t *block_take(struct cfi_cursor *in, uint64_t *ret_bytes)
{
	uint64_t bytes = cfi_uleb(in);
	const uint8_t *block = in->at;

	if (bytes > (uint64_t)(in->end - in->at)) {
		in->bad = true;
		bytes = 0;
	}
	in->at += bytes;
	*ret_bytes = bytes;
	return block;
}

static void value_expression(struct cfi_program *program, bool is_place)
{
	uint64_t column = cfi_uleb(&program->in), bytes;
	const uint8_t *expression = block_take(&program->in, &bytes);

	value_set(program, column, CFI_OTHER, 0);
	if (is_place && column == program->cie->ra_column) {
		program->row.ra_expression = expression;
		program->row.ra_expression_bytes = bytes;
	}
}

static void cfa_register_set(struct cfi_program *program, uint64_t column)
{
	if (column >= CFI_NO_REGISTER)
		program->in.bad = true;
	else
		program->row.cfa_register = (uint16_t)column;
}

/* Half of a rule can only be changed when the rule has halves. */
static void cfa_needs_register(struct cfi_program *program)
{
	if (program->row.cfa_expression || program->row.cfa_register == CFI_NO_REGISTER)
		program->in.bad = true;
}

static void cfa_set(struct cfi_program *program, uint64_t column, int64_t offset)
{
	cfa_register_set(program, column);
	program->row.cfa_offset = offset;
	program->row.cfa_expression = NULL;
	program->row.cfa_expression_bytes = 0;
}

/* Instructions about the CFA; others cannot be right. */
static void run_cfa(struct cfi_program *program, uint8_t opcode)
{
	struct cfi_cursor *in = &program->in;
	struct cfi_row *row = &program->row;
	uint64_t column;

	switch (opcode) {
	case DW_CFA_def_cfa:
		column = cfi_uleb(in);
		cfa_set(program, column, (int64_t)cfi_uleb(in));
		break;
	case DW_CFA_def_cfa_sf:
		column = cfi_uleb(in);
		cfa_set(program, column, scaled(program, (uint64_t)cfi_sleb(in)));
		break;
	case DW_CFA_def_cfa_register:
		cfa_needs_register(program);
		cfa_register_set(program, cfi_uleb(in));
		break;
	case DW_CFA_def_cfa_offset:
		cfa_needs_register(program);
		row->cfa_offset = (int64_t)cfi_uleb(in);
		break;
	case DW_CFA_def_cfa_offset_sf:
		cfa_needs_register(program);
		row->cfa_offset = scaled(program, (uint64_t)cfi_sleb(in));
		break;
	case DW_CFA_def_cfa_expression:
		row->cfa_expression = block_take(in, &row->cfa_expression_bytes);
		break;
	default:
		in->bad = true;
	}
}

/* Instructions about one register, or else about the CFA. */
static void run_register(struct cfi_program *program, uint8_t opcode)
{
	struct cfi_cursor *in = &program->in;
	uint64_t column;

	switch (opcode) {
	case DW_CFA_offset_extended:
		column = cfi_uleb(in);
		value_set(program, column, CFI_AT_CFA, scaled(program, cfi_uleb(in)));
		break;
	case DW_CFA_offset_extended_sf:
		column = cfi_uleb(in);
		value_set(program, column, CFI_AT_CFA, scaled(program, (uint64_t)cfi_sleb(in)));
		break;
	case DW_CFA_GNU_negative_offset_extended:
		column = cfi_uleb(in);
		value_set(program, column, CFI_AT_CFA, scaled(program, 0 - cfi_uleb(in)));
		break;
	case DW_CFA_restore_extended:
		value_restore(program, cfi_uleb(in));
		break;
	case DW_CFA_undefined:
		value_set(program, cfi_uleb(in), CFI_UNDEFINED, 0);
		break;
	case DW_CFA_same_value:
		value_set(program, cfi_uleb(in), CFI_SAME, 0);
		break;
	case DW_CFA_register:
		column = cfi_uleb(in);
		value_set(program, column, CFI_IN_REGISTER, (int64_t)cfi_uleb(in));
		break;
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		value_set(program, cfi_uleb(in), CFI_OTHER, 0);
		cfi_uleb(in); /* as long with a sign as without */
		break;
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		value_expression(program, opcode == DW_CFA_expression);
		break;
	default:
		run_cfa(program, opcode);
	}
}

static void state_remember(struct cfi_program *program)
{
	if (program->depth == CFI_STATES_MAX)
		program->in.bad = true;
	else
		program->saved[program->depth++] = program->row;
}

static void state_restore(struct cfi_program *program)
{
	uint64_t vaddr = program->row.vaddr;

	if (!program->depth) {
		program->in.bad = true;
		return;
	}
	program->row = program->saved[--program->depth];
	program->row.vaddr = vaddr;
}

/* One instruction whose opcode takes the whole byte. */
static int run_extended(struct cfi_program *program, uint8_t opcode)
{
	struct cfi_cursor *in = &program->in;

	switch (opcode) {
	case DW_CFA_nop:
		return 0;
	case DW_CFA_set_loc:
		return advance_to(program,
				  cfi_pointer(program->section, in, program->cie->encoding));
	case DW_CFA_advance_loc1:
		return advance(program, cfi_u8(in));
	case DW_CFA_advance_loc2:
		return advance(program, cfi_u16(in));
	case DW_CFA_advance_loc4:
		return advance(program, cfi_u32(in));
	case DW_CFA_MIPS_advance_loc8:
		return advance(program, cfi_u64(in));
	case DW_CFA_remember_state:
		state_remember(program);
		return 0;
	case DW_CFA_restore_state:
		state_restore(program);
		return 0;
	case DW_CFA_GNU_args_size:
		cfi_uleb(in);
		return 0;
	case DW_CFA_AARCH64_negate_ra_state:
	case AARCH64_NEGATE_RA_STATE_WITH_PC:
		if (program->section->machine == EM_AARCH64)
			program->row.ra_signed = !program->row.ra_signed;
		else
			in->bad = true;
		return 0;
	default:
		run_register(program, opcode);
		return 0;
	}
}

static int run_one(struct cfi_program *program)
{
	uint8_t byte = cfi_u8(&program->in);

	switch (byte & ~OPERAND) {
	case DW_CFA_advance_loc:
		return advance(program, byte & OPERAND);
	case DW_CFA_offset:
		value_set(program, byte & OPERAND, CFI_AT_CFA,
			  scaled(program, cfi_uleb(&program->in)));
		return 0;
	case DW_CFA_restore:
		value_restore(program, byte & OPERAND);
		return 0;
	default:
		return run_extended(program, byte);
	}
}

int cfi_program_run(struct cfi_program *program)
{
	int rc = 0;

	while (!rc && !program->in.bad && program->in.at < program->in.end)
		rc = run_one(program);
	if (!rc && program->fn && !program->in.bad && program->row.vaddr < program->end)
		rc = advance_to(program, program->end);
	return rc;
}
