/* SPDX-License-Identifier: MIT */
/* Bytes of a section become numbers and pointers, and the instructions of one entry become rows.
 * Internal to cfi.c and those who find the sections for it. */
#ifndef DWELL_PARSE_ELF_CFI_PROGRAM_H
#define DWELL_PARSE_ELF_CFI_PROGRAM_H

#include <byteswap.h>
#include <string.h>

#include "parse/elf/cfi.h"

/* Bytes yet to be read. Once something does not fit, `bad` stays set and reads give 0. */
struct cfi_cursor {
	const uint8_t *at, *end;
	bool swapped, bad;
};

static inline bool cfi_take(struct cfi_cursor *in, void *to, size_t bytes)
{
	if ((size_t)(in->end - in->at) < bytes) {
		in->at = in->end;
		in->bad = true;
		return false;
	}
	memcpy(to, in->at, bytes);
	in->at += bytes;
	return true;
}

static inline uint8_t cfi_u8(struct cfi_cursor *in)
{
	uint8_t value = 0;

	cfi_take(in, &value, sizeof(value));
	return value;
}

static inline uint16_t cfi_u16(struct cfi_cursor *in)
{
	uint16_t value = 0;

	cfi_take(in, &value, sizeof(value));
	return in->swapped ? bswap_16(value) : value;
}

static inline uint32_t cfi_u32(struct cfi_cursor *in)
{
	uint32_t value = 0;

	cfi_take(in, &value, sizeof(value));
	return in->swapped ? bswap_32(value) : value;
}

static inline uint64_t cfi_u64(struct cfi_cursor *in)
{
	uint64_t value = 0;

	cfi_take(in, &value, sizeof(value));
	return in->swapped ? bswap_64(value) : value;
}

/* LEB128 of up to 64 bits; *ret_bits is where its last byte ended, for the sign. */
static inline uint64_t cfi_leb(struct cfi_cursor *in, unsigned *ret_bits)
{
	uint64_t value = 0;
	unsigned bits = 0;
	uint8_t byte;

	do {
		byte = cfi_u8(in);
		if (bits > 63) {
			in->bad = true;
			break;
		}
		value |= (uint64_t)(byte & 0x7f) << bits;
		bits += 7;
	} while (byte & 0x80);
	*ret_bits = bits;
	return value;
}

static inline uint64_t cfi_uleb(struct cfi_cursor *in)
{
	unsigned bits;

	return cfi_leb(in, &bits);
}

static inline int64_t cfi_sleb(struct cfi_cursor *in)
{
	unsigned bits;
	uint64_t value = cfi_leb(in, &bits);

	if (bits < 64 && value >> (bits - 1))
		value |= ~0ull << bits;
	return (int64_t)value;
}

/* A pointer of a section in an encoding of exception headers (DW_EH_PE_*). 0 with in->bad set when
 * it cannot be told from the file alone. */
uint64_t cfi_pointer(const struct cfi_section *section, struct cfi_cursor *in, uint8_t encoding);

/* What many entries have in common. */
struct cfi_cie {
	uint64_t code_align;
	int64_t data_align;
	uint64_t fp_column, ra_column; /* the registers whose values are told */
	uint8_t encoding;	       /* of addresses: DW_EH_PE_* */
	bool augmented;		       /* its FDEs have augmentation data */
	struct cfi_row initial;	       /* after its own instructions */
};

/* States that DW_CFA_remember_state keeps; compilers nest one or two. */
enum { CFI_STATES_MAX = 32 };

/* In initial.cfa_register: no instruction has told the CFA yet. */
enum { CFI_NO_REGISTER = UINT16_MAX };

/* Where one program runs. The caller sets it up. */
struct cfi_program {
	const struct cfi_section *section;
	const struct cfi_cie *cie;
	struct cfi_cursor in;  /* the instructions */
	uint64_t end;	       /* of the range: no row begins there or after it */
	struct cfi_row row;    /* what holds from row.vaddr on */
	struct cfi_row *saved; /* room for CFI_STATES_MAX */
	unsigned depth;
	cfi_row_fn fn; /* NULL: a CIE's own program, which has no rows */
	void *user;
	uint64_t rows; /* that fn was called for */
};

/* Runs all instructions. Rows before an instruction that cannot be right hold, and program->in.bad
 * is set. 0 or what fn returned. */
int cfi_program_run(struct cfi_program *program);

#endif
