/* SPDX-License-Identifier: MIT */
/* Makes sections of call frame information in memory for tests: CIEs and FDEs one after the other,
 * in either byte order. Between begin and end, instructions are put byte by byte. */
#ifndef DWELL_TESTS_UNIT_CFIMAKE_H
#define DWELL_TESTS_UNIT_CFIMAKE_H

#include <dwarf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { CFIMAKE_VADDR = 0x10000, CFIMAKE_ROOM = 8192 };

struct cfimake {
	uint8_t bytes[CFIMAKE_ROOM];
	size_t count, open; /* where the length of the open entry is */
	bool big, debug_frame, wide;
	bool augmented;	  /* FDEs have augmentation data: none */
	uint8_t encoding; /* of their addresses */
	uint64_t vaddr;	  /* of the section */
};

/* A number of so many bytes. */
static inline void cfimake_put(struct cfimake *make, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		make->bytes[make->count++] =
			(uint8_t)(value >> 8 * (make->big ? bytes - 1 - i : i));
}

static inline void cfimake_bytes(struct cfimake *make, const void *bytes, size_t count)
{
	if (count)
		memcpy(make->bytes + make->count, bytes, count);
	make->count += count;
}

static inline void cfimake_uleb(struct cfimake *make, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		make->bytes[make->count++] = (uint8_t)(value | 0x80);
	make->bytes[make->count++] = (uint8_t)value;
}

static inline void cfimake_sleb(struct cfimake *make, int64_t value)
{
	for (; value < -64 || value > 63; value >>= 7)
		make->bytes[make->count++] = (uint8_t)(value | 0x80);
	make->bytes[make->count++] = (uint8_t)value & 0x7f;
}

/* An address, in the encoding of the section (DW_EH_PE_absptr, or pcrel with sdata4). */
static inline void cfimake_address(struct cfimake *make, uint64_t vaddr)
{
	if (make->encoding == DW_EH_PE_absptr)
		cfimake_put(make, vaddr, 8);
	else
		cfimake_put(make, vaddr - make->vaddr - make->count, 4);
}

/* The length, to be filled in, and the id. */
static inline void cfimake_open(struct cfimake *make)
{
	make->open = make->count;
	if (make->wide)
		cfimake_put(make, UINT32_MAX, 4);
	cfimake_put(make, 0, make->wide ? 8 : 4);
}

/* Pads with DW_CFA_nop and fills in the length. */
static inline void cfimake_end(struct cfimake *make)
{
	size_t end, head = make->wide ? 12 : 4;

	while (make->count % 8)
		cfimake_put(make, DW_CFA_nop, 1);
	end = make->count;
	make->count = make->open + head - (make->wide ? 8 : 4);
	cfimake_put(make, end - make->open - head, make->wide ? 8 : 4);
	make->count = end;
}

/* The offset of a new CIE, whose instructions follow. Data is that of the augmentation. */
static inline uint64_t cfimake_cie(struct cfimake *make, uint8_t version, const char *letters,
				   const void *data, size_t data_bytes, unsigned code_align,
				   int data_align, unsigned ra_column)
{
	cfimake_open(make);
	cfimake_put(make, make->debug_frame ? UINT64_MAX : 0,
		    make->debug_frame && make->wide ? 8 : 4);
	cfimake_put(make, version, 1);
	cfimake_bytes(make, letters, strlen(letters) + 1);
	if (version == 4) {
		cfimake_put(make, 8, 1); /* bytes of an address */
		cfimake_put(make, 0, 1); /* of a segment selector */
	}
	cfimake_uleb(make, code_align);
	cfimake_sleb(make, data_align);
	cfimake_uleb(make, ra_column);
	make->augmented = *letters == 'z';
	if (make->augmented)
		cfimake_uleb(make, data_bytes);
	cfimake_bytes(make, data, data_bytes);
	return make->open;
}

/* A new FDE, whose instructions follow. */
static inline void cfimake_fde(struct cfimake *make, uint64_t cie, uint64_t start, uint64_t bytes)
{
	cfimake_open(make);
	if (make->debug_frame)
		cfimake_put(make, cie, make->wide ? 8 : 4);
	else
		cfimake_put(make, make->count - cie, 4);
	cfimake_address(make, start);
	cfimake_put(make, bytes, make->encoding == DW_EH_PE_absptr ? 8 : 4);
	if (make->augmented)
		cfimake_uleb(make, 0);
}

/* An empty section with the x86-64 CIE that every program has, at offset 0: CFA = rsp + 8, and the
 * return address right below. */
static inline void cfimake_x86_64(struct cfimake *make, bool big)
{
	static const uint8_t encoding[] = { DW_EH_PE_pcrel | DW_EH_PE_sdata4 };
	static const uint8_t program[] = { DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1 };

	memset(make, 0, sizeof(*make));
	make->big = big;
	make->vaddr = CFIMAKE_VADDR;
	make->encoding = encoding[0];
	cfimake_cie(make, 1, "zR", encoding, sizeof(encoding), 1, -8, 16);
	cfimake_bytes(make, program, sizeof(program));
	cfimake_end(make);
}

/* The same for AArch64: CFA = sp, the return address in its register. */
static inline void cfimake_aarch64(struct cfimake *make, bool big)
{
	static const uint8_t encoding[] = { DW_EH_PE_pcrel | DW_EH_PE_sdata4 };
	static const uint8_t program[] = { DW_CFA_def_cfa, 31, 0 };

	memset(make, 0, sizeof(*make));
	make->big = big;
	make->vaddr = CFIMAKE_VADDR;
	make->encoding = encoding[0];
	cfimake_cie(make, 1, "zR", encoding, sizeof(encoding), 4, -8, 30);
	cfimake_bytes(make, program, sizeof(program));
	cfimake_end(make);
}

#endif
