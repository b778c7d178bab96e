// SPDX-License-Identifier: MIT
/* A section of call frame information becomes its entries: CIEs, which say how to read, and FDEs,
 * whose instructions are run. Every length and offset is held against the section first. */
#include "parse/elf/cfi.h"

#include <dwarf.h>
#include <elf.h>

#include "parse/elf/cfi_program.h"

enum {
	ENCODING_FORMAT = 0x0f, /* the bits of a pointer's encoding: how it is written */
	ENCODING_BASE = 0x70,	/* what it counts from */
	ADDRESS_BYTES = 8,
	/* Real CIEs have less than 100 bytes. Running one for each of the FDEs that could follow
	 * must not take long. */
	CIE_BYTES_MAX = 2048,
};

static uint64_t pointer_read(struct cfi_cursor *in, uint8_t format)
{
	switch (format) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_signed:
	case DW_EH_PE_sdata8:
		return cfi_u64(in);
	case DW_EH_PE_uleb128:
		return cfi_uleb(in);
	case DW_EH_PE_sleb128:
		return (uint64_t)cfi_sleb(in);
	case DW_EH_PE_udata2:
		return cfi_u16(in);
	case DW_EH_PE_sdata2:
		return (uint64_t)(int16_t)cfi_u16(in);
	case DW_EH_PE_udata4:
		return cfi_u32(in);
	case DW_EH_PE_sdata4:
		return (uint64_t)(int32_t)cfi_u32(in);
	default:
		in->bad = true;
		return 0;
	}
}

/* The base of an encoding for a pointer that begins at in->at. */
static uint64_t pointer_base(const struct cfi_section *section, struct cfi_cursor *in,
			     uint8_t encoding)
{
	uint64_t base = 0;

	switch (encoding & ENCODING_BASE) {
	case DW_EH_PE_absptr:
		return 0;
	case DW_EH_PE_pcrel:
		return section->vaddr + (uint64_t)(in->at - section->bytes);
	case DW_EH_PE_textrel:
		base = section->text;
		break;
	case DW_EH_PE_datarel:
		base = section->data;
		break;
	}
	in->bad |= !base;
	return base;
}

uint64_t cfi_pointer(const struct cfi_section *section, struct cfi_cursor *in, uint8_t encoding)
{
	uint64_t base, value;

	/* What an indirect pointer points to is known to the dynamic linker only. */
	if (encoding & DW_EH_PE_indirect) {
		in->bad = true;
		return 0;
	}
	if (encoding == DW_EH_PE_aligned) {
		uint64_t pad = 0 - pointer_base(section, in, DW_EH_PE_pcrel);

		for (pad %= ADDRESS_BYTES; pad; pad--)
			cfi_u8(in);
		encoding = DW_EH_PE_absptr;
	}
	base = pointer_base(section, in, encoding);
	value = pointer_read(in, encoding & ENCODING_FORMAT);
	return in->bad ? 0 : base + value;
}

/* An entry of the section: a CIE, or an FDE with the offset of its CIE. */
struct entry {
	struct cfi_cursor in; /* what follows the id */
	bool is_cie;
	uint64_t cie_at;
};

static struct cfi_cursor cursor_at(const struct cfi_section *section, uint64_t at)
{
	return (struct cfi_cursor){ section->bytes + at, section->bytes + section->count,
				    section->swapped, false };
}

/* Where the next entry begins; 0 when none does: the end, a length of 0, or one that cannot be
 * right, with ret->in.bad set then. */
static uint64_t entry_read(const struct cfi_section *section, uint64_t at, struct entry *ret)
{
	struct cfi_cursor in = cursor_at(section, at);
	uint64_t bytes = cfi_u32(&in), id_at, id;
	bool wide = bytes == UINT32_MAX, wide_id = wide && section->is_debug_frame;

	if (wide)
		bytes = cfi_u64(&in);
	else
		in.bad |= bytes >= 0xfffffff0; /* reserved */
	in.bad |= bytes > (uint64_t)(in.end - in.at);
	ret->in = in;
	if (in.bad || !bytes)
		return 0;
	ret->in.end = in.at + bytes;
	id_at = (uint64_t)(in.at - section->bytes);
	id = wide_id ? cfi_u64(&ret->in) : cfi_u32(&ret->in);
	if (section->is_debug_frame) {
		ret->is_cie = id == (wide_id ? UINT64_MAX : UINT32_MAX);
		ret->cie_at = id;
	} else {
		ret->is_cie = id == 0;
		ret->cie_at = id_at - id;
		ret->in.bad |= id > id_at;
	}
	return (uint64_t)(ret->in.end - section->bytes);
}

struct walk {
	const struct cfi_section *section;
	cfi_row_fn fn;
	void *user;
	struct cfi_stats stats;
	struct cfi_cie cie; /* of the entry at cie_at */
	uint64_t cie_at;    /* UINT64_MAX: none yet */
	bool cie_bad;
	struct cfi_row saved[CFI_STATES_MAX];
};

/* What the letters say of which `in` has the data. Data of an unknown letter could stand in front
 * of that of a known one. */
static void augmentation_read(const struct cfi_section *section, struct cfi_cursor *in,
			      const char *letters, struct cfi_cie *cie)
{
	uint8_t encoding;

	for (; *letters && !in->bad; letters++) {
		switch (*letters) {
		case 'L': /* how FDEs point to data of the language */
			cfi_u8(in);
			break;
		case 'P': /* the function that reads that data */
			encoding = cfi_u8(in);
			if (encoding != DW_EH_PE_aligned)
				encoding &= ENCODING_FORMAT;
			cfi_pointer(section, in, encoding);
			break;
		case 'R':
			cie->encoding = cfi_u8(in);
			break;
		case 'S':
			cie->initial.signal_frame = true;
			break;
		case 'B': /* AArch64: which key signs return addresses */
		case 'G': /* AArch64: the stack frame has memory tags */
			break;
		default:
			in->bad = true;
		}
	}
}

/* Up to the augmentation string; NULL when it has no end. */
static const char *cie_version(struct cfi_cursor *in, uint8_t *ret_version)
{
	const char *letters;
	const uint8_t *end;

	*ret_version = cfi_u8(in);
	if (*ret_version != 1 && *ret_version != 3 && *ret_version != 4)
		in->bad = true;
	letters = (const char *)in->at;
	end = memchr(in->at, '\0', (size_t)(in->end - in->at));
	if (!end) {
		in->bad = true;
		return NULL;
	}
	in->at = end + 1;
	/* The sizes of an address and of a segment. */
	if (*ret_version == 4 && (cfi_u8(in) != ADDRESS_BYTES || cfi_u8(in) != 0))
		in->bad = true;
	return letters;
}

static bool cie_header(const struct cfi_section *section, struct cfi_cursor *in,
		       struct cfi_cie *cie)
{
	uint64_t column, bytes;
	const uint8_t *program;
	uint8_t version;
	const char *letters = cie_version(in, &version);

	if (in->bad)
		return false;
	cie->code_align = cfi_uleb(in);
	cie->data_align = cfi_sleb(in);
	column = version == 1 ? cfi_u8(in) : cfi_uleb(in);
	cie->augmented = *letters == 'z';
	bytes = cie->augmented ? cfi_uleb(in) : 0;
	if (bytes > (uint64_t)(in->end - in->at))
		return false;
	program = in->at + bytes;
	augmentation_read(section, in, letters + cie->augmented, cie);
	if (cie->augmented && in->at > program)
		return false;
	if (cie->augmented)
		in->at = program;
	/* Of a return address elsewhere nothing is followed. */
	cie->ra_column = section->machine == EM_AARCH64 ? CFI_AARCH64_X30 : CFI_X86_64_RA;
	if (column != cie->ra_column) {
		cie->ra_column = UINT64_MAX;
		cie->initial.ra.how = CFI_OTHER;
	}
	return !in->bad;
}

static bool cie_read(struct walk *walk, struct cfi_cursor *in)
{
	const struct cfi_section *section = walk->section;
	struct cfi_cie *cie = &walk->cie;
	struct cfi_program program;

	if (in->end - in->at > CIE_BYTES_MAX)
		return false;
	*cie = (struct cfi_cie){ .initial.cfa_register = CFI_NO_REGISTER };
	cie->fp_column = section->machine == EM_AARCH64 ? CFI_AARCH64_X29 : CFI_X86_64_RBP;
	if (!cie_header(section, in, cie))
		return false;
	program = (struct cfi_program){
		.section = section, .cie = cie, .in = *in, .row = cie->initial, .saved = walk->saved
	};
	cfi_program_run(&program);
	cie->initial = program.row;
	return !program.in.bad;
}

/* Makes walk->cie the one at an offset. */
static void cie_select(struct walk *walk, uint64_t at)
{
	struct entry entry = { .in.bad = true };

	if (walk->cie_at == at)
		return;
	walk->cie_at = at;
	walk->cie_bad = at >= walk->section->count || !entry_read(walk->section, at, &entry) ||
			entry.in.bad || !entry.is_cie || !cie_read(walk, &entry.in);
}

/* Runs an FDE. What it says before it turns out wrong holds up to there. */
static int fde_run(struct walk *walk, struct cfi_program *program)
{
	int rc = cfi_program_run(program);

	walk->stats.fdes++;
	walk->stats.bad += program->in.bad;
	walk->stats.rows += program->rows;
	if (rc || !program->rows)
		return rc;
	return walk->fn(walk->user, NULL, program->in.bad ? program->row.vaddr : program->end);
}

static int fde_walk(struct walk *walk, struct entry *entry)
{
	const struct cfi_section *section = walk->section;
	const struct cfi_cie *cie = &walk->cie;
	struct cfi_cursor *in = &entry->in;
	uint64_t start, range, augmentation, end;
	struct cfi_program program;

	cie_select(walk, entry->cie_at);
	if (walk->cie_bad) {
		walk->stats.bad++;
		return 0;
	}
	start = cfi_pointer(section, in, cie->encoding);
	range = cfi_pointer(section, in, cie->encoding & ENCODING_FORMAT);
	augmentation = cie->augmented ? cfi_uleb(in) : 0;
	if (in->bad || augmentation > (uint64_t)(in->end - in->at) ||
	    __builtin_add_overflow(start, range, &end)) {
		walk->stats.bad++;
		return 0;
	}
	if (!start || !range) /* of a function that the linker left out */
		return 0;
	in->at += augmentation;
	program = (struct cfi_program){ .section = section,
					.cie = cie,
					.in = *in,
					.end = end,
					.row = cie->initial,
					.saved = walk->saved,
					.fn = walk->fn,
					.user = walk->user };
	program.row.vaddr = start;
	return fde_run(walk, &program);
}

int cfi_walk(const struct cfi_section *section, cfi_row_fn fn, void *user,
	     struct cfi_stats *ret_stats)
{
	struct walk walk = { .section = section, .fn = fn, .user = user, .cie_at = UINT64_MAX };
	struct entry entry;
	uint64_t at = 0, next;
	int rc = 0;

	for (; !rc && at < section->count; at = next) {
		next = entry_read(section, at, &entry);
		if (!next) {
			walk.stats.bad += entry.in.bad;
			break;
		}
		if (entry.in.bad) {
			walk.stats.bad++;
		} else if (entry.is_cie) {
			cie_select(&walk, at);
			walk.stats.bad += walk.cie_bad;
		} else {
			rc = fde_walk(&walk, &entry);
		}
	}
	if (!rc)
		*ret_stats = walk.stats;
	return rc;
}
