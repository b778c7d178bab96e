// SPDX-License-Identifier: MIT
/* Tests of unwind tables on small ELF files made here: which rule holds at which file offset, where
 * the sections come from, and what headers that lie do. On the libraries of this machine, every
 * rule is what libdw says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <zlib.h>

#include "parse/elf/image.h"
#include "parse/elf/unwind_input.h"
#include "tests/unit/cfimake.h"
#include "tests/unit/cfioracle.h"
#include "tests/unit/elfconvert.h"

enum {
	TEXT_BYTES = 0x1000,
	TEXT = ELFMAKE_TEXT,		    /* file offset */
	CODE = ELFMAKE_TEXT + ELFMAKE_BIAS, /* address */
	FRAMES = CODE + TEXT_BYTES,	    /* address of the first section behind the code */
};

static struct dwell_unwind_table *table_of_bytes(const void *bytes, size_t count)
{
	struct image image = { .fd = -1 };
	struct dwell_unwind_table *table;

	assert_int_equal(image_open_memory(bytes, count, &image.elf), 0);
	assert_int_equal(dwell_unwind_table_new(image.elf, &table, NULL), 0);
	image_close(&image);
	return table;
}

/* The table of a file with such sections; either may be NULL. */
static struct dwell_unwind_table *table_of(uint16_t machine, const struct cfimake *frames,
					   const struct cfimake *debug)
{
	static struct elfmake make;

	elfmake_begin(&make, machine, TEXT_BYTES, 0);
	if (frames)
		elfmake_section(&make, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, frames->bytes,
				frames->count);
	if (debug)
		elfmake_section(&make, ".debug_frame", SHT_PROGBITS, 0, debug->bytes, debug->count);
	elfmake_end(&make);
	return table_of_bytes(make.bytes, make.used);
}

static void frames_begin(struct cfimake *frames, uint16_t machine, bool big)
{
	if (machine == EM_AARCH64)
		cfimake_aarch64(frames, big);
	else
		cfimake_x86_64(frames, big);
	frames->vaddr = FRAMES;
}

/* An FDE of so many bytes of code from an offset in .text on. */
#define FDE(frames, at, bytes, ...)                                \
	do {                                                       \
		const uint8_t program_[] = { __VA_ARGS__ };        \
		cfimake_fde(frames, 0, CODE + (at), bytes);        \
		cfimake_bytes(frames, program_, sizeof(program_)); \
		cfimake_end(frames);                               \
	} while (0)

static const struct dwell_unwind_rule *find(const struct dwell_unwind_table *table, uint64_t at)
{
	return dwell_unwind_table_find(table, TEXT + at);
}

static void assert_rule(const struct dwell_unwind_rule *rule, enum dwell_unwind_kind kind,
			int flags, uint16_t cfa_register, int32_t cfa_offset, int32_t fp_offset,
			int32_t ra_offset)
{
	assert_int_equal(rule->kind, kind);
	assert_int_equal(rule->flags, flags);
	assert_int_equal(rule->cfa_register, cfa_register);
	assert_int_equal(rule->cfa_offset, cfa_offset);
	assert_int_equal(rule->fp_offset, fp_offset);
	assert_int_equal(rule->ra_offset, ra_offset);
}

static void assert_kind(const struct dwell_unwind_rule *rule, enum dwell_unwind_kind kind)
{
	assert_rule(rule, kind, 0, 0, 0, 0, 0);
}

static void rows_and_gaps(void **state)
{
	const struct dwell_unwind_table_stats *stats;
	static struct cfimake frames;
	struct dwell_unwind_table *table;

	(void)state;
	frames_begin(&frames, EM_X86_64, false);
	FDE(&frames, 0x200, 0x10, DW_CFA_advance_loc | 1); /* out of order, and one row only */
	FDE(&frames, 0x100, 0x20, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16,
	    DW_CFA_offset | 6, 2, DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register, 6,
	    DW_CFA_advance_loc | 4, DW_CFA_offset | 3, 3);
	FDE(&frames, 0x210, 0x10, DW_CFA_advance_loc | 8, DW_CFA_undefined, 6);
	table = table_of(EM_X86_64, &frames, NULL);
	assert_int_equal(dwell_unwind_table_machine(table), EM_X86_64);
	assert_kind(find(table, 0), DWELL_UNWIND_NONE);
	assert_kind(find(table, 0xff), DWELL_UNWIND_NONE);
	for (int at = 0x100; at < 0x120; at++) {
		const struct dwell_unwind_rule *rule = find(table, (uint64_t)at);

		if (at == 0x100)
			assert_rule(rule, DWELL_UNWIND_CFA, DWELL_UNWIND_RA_SAVED, 7, 8, 0, -8);
		else
			assert_rule(rule, DWELL_UNWIND_CFA,
				    DWELL_UNWIND_RA_SAVED | DWELL_UNWIND_FP_SAVED,
				    at < 0x104 ? 7 : 6, 16, -16, -8);
	}
	assert_kind(find(table, 0x120), DWELL_UNWIND_NONE);
	assert_kind(find(table, 0x1ff), DWELL_UNWIND_NONE);
	assert_rule(find(table, 0x200), DWELL_UNWIND_CFA, DWELL_UNWIND_RA_SAVED, 7, 8, 0, -8);
	assert_rule(find(table, 0x217), DWELL_UNWIND_CFA, DWELL_UNWIND_RA_SAVED, 7, 8, 0, -8);
	assert_rule(find(table, 0x21f), DWELL_UNWIND_CFA,
		    DWELL_UNWIND_RA_SAVED | DWELL_UNWIND_FP_LOST, 7, 8, 0, -8);
	assert_kind(find(table, 0x220), DWELL_UNWIND_NONE);
	assert_kind(find(table, 0xffff), DWELL_UNWIND_NONE);
	assert_kind(find(table, UINT64_MAX - TEXT), DWELL_UNWIND_NONE);
	stats = dwell_unwind_table_stats(table);
	assert_int_equal(stats->fdes, 3);
	/* Before all; 3 rules and a gap; 2 rules and the end. */
	assert_int_equal(stats->rows, 8);
	assert_int_equal(stats->rules, 2 + 4); /* with those of every table */
	assert_true(stats->bad == 0 && stats->odd == 0 && stats->bytes > 8 * 4);
	dwell_unwind_table_free(table);
}

static uint32_t random_below(uint64_t *seed, uint32_t below)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*seed >> 33) % below;
}

/* What nothing has been said of yet of [from, to): its CFA offset. */
static void paint(int32_t *painted, uint32_t from, uint32_t to, int32_t offset)
{
	for (; from < to; from++)
		if (!painted[from])
			painted[from] = offset;
}

static void random_fde(struct cfimake *frames, uint64_t *seed, int32_t *painted)
{
	uint32_t at = 1 + random_below(seed, 0x600), bytes = 1 + random_below(seed, 0x80);
	uint32_t units, end;
	int32_t offset = 8;

	if (random_below(seed, 8) == 0)
		bytes *= 8;
	end = at + bytes;
	cfimake_fde(frames, 0, CODE + at, bytes);
	for (uint32_t steps = random_below(seed, 5); steps; steps--) {
		units = random_below(seed, 0x3f);
		paint(painted, at, at + units < end ? at + units : end, offset);
		at += units;
		offset = 8 + 8 * (int32_t)random_below(seed, 4);
		cfimake_put(frames, DW_CFA_advance_loc | units, 1);
		cfimake_put(frames, DW_CFA_def_cfa_offset, 1);
		cfimake_uleb(frames, (uint64_t)offset);
	}
	paint(painted, at, end, offset);
	cfimake_end(frames);
}

/* FDEs in any order that overlap in all ways: the first in the file holds, and .eh_frame before
 * .debug_frame. */
static void the_first_one_wins(void **state)
{
	enum { ROUNDS = 300, SPACE = 0x1000 };
	static struct cfimake frames, debug;
	static int32_t painted[SPACE];
	uint64_t seed = 1;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct dwell_unwind_table *table;

		memset(painted, 0, sizeof(painted));
		frames_begin(&frames, EM_X86_64, false);
		for (uint32_t left = random_below(&seed, 40); left; left--)
			random_fde(&frames, &seed, painted);
		memset(&debug, 0, sizeof(debug));
		debug.debug_frame = true;
		cfimake_cie(&debug, 4, "", NULL, 0, 1, -8, 16);
		cfimake_bytes(&debug, (uint8_t[]){ DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1 },
			      5);
		cfimake_end(&debug);
		for (uint32_t left = random_below(&seed, 8); left; left--)
			random_fde(&debug, &seed, painted);
		table = table_of(EM_X86_64, &frames, &debug);
		for (uint32_t at = 0; at < SPACE; at++) {
			const struct dwell_unwind_rule *rule = find(table, at);

			assert_int_equal(rule->cfa_offset, painted[at]);
			assert_int_equal(rule->kind,
					 painted[at] ? DWELL_UNWIND_CFA : DWELL_UNWIND_NONE);
		}
		dwell_unwind_table_free(table);
	}
}

/* The rule of an FDE that is one row, with a CIE of its own augmentation. */
static struct dwell_unwind_rule rule_of(uint16_t machine, const char *letters, const void *program,
					size_t count)
{
	static const uint8_t relative = DW_EH_PE_pcrel | DW_EH_PE_sdata4;
	static struct cfimake frames;
	struct dwell_unwind_table *table;
	struct dwell_unwind_rule rule;
	uint64_t cie;

	frames_begin(&frames, machine, false);
	cie = cfimake_cie(&frames, 1, letters, &relative, 1, 1, -8,
			  machine == EM_AARCH64 ? CFI_AARCH64_X30 : CFI_X86_64_RA);
	cfimake_end(&frames);
	cfimake_fde(&frames, cie, CODE, 0x10);
	cfimake_bytes(&frames, program, count);
	cfimake_end(&frames);
	table = table_of(machine, &frames, NULL);
	rule = *find(table, 0);
	assert_int_equal(dwell_unwind_table_stats(table)->odd, rule.kind == DWELL_UNWIND_ODD);
	dwell_unwind_table_free(table);
	return rule;
}

#define RULE_OF(machine, letters, ...)                              \
	rule_of(machine, letters, (const uint8_t[]){ __VA_ARGS__ }, \
		sizeof((const uint8_t[]){ __VA_ARGS__ }))

/* CFA = rsp + 8, return address at CFA - 8, as usual. */
#define USUAL DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1

static void rules_of_x86_64(void **state)
{
	struct dwell_unwind_rule rule;

	(void)state;
	rule = RULE_OF(EM_X86_64, "zR", USUAL, DW_CFA_def_cfa, 10, 0);
	assert_rule(&rule, DWELL_UNWIND_CFA, DWELL_UNWIND_RA_SAVED, 10, 0, 0, -8);
	rule = RULE_OF(EM_X86_64, "zR", USUAL, DW_CFA_register, 6, 9);
	assert_rule(&rule, DWELL_UNWIND_CFA, DWELL_UNWIND_RA_SAVED | DWELL_UNWIND_FP_LOST, 7, 8, 0,
		    -8);
	rule = RULE_OF(EM_X86_64, "zRS", USUAL);
	assert_rule(&rule, DWELL_UNWIND_CFA, DWELL_UNWIND_RA_SAVED | DWELL_UNWIND_INTERRUPTED, 7, 8,
		    0, -8);
	rule = RULE_OF(EM_X86_64, "zR", USUAL, DW_CFA_undefined, 16);
	assert_kind(&rule, DWELL_UNWIND_END);
	rule = RULE_OF(EM_X86_64, "zR", USUAL, DW_CFA_register, 16, 5);
	assert_rule(&rule, DWELL_UNWIND_CFA, DWELL_UNWIND_RA_IN_REGISTER, 7, 8, 0, 5);
	rule = RULE_OF(EM_X86_64, "zR", USUAL, DW_CFA_register, 16, DWELL_UNWIND_REGISTERS);
	assert_kind(&rule, DWELL_UNWIND_ODD);
	rule = RULE_OF(EM_X86_64, "zR", DW_CFA_def_cfa, 7, 8); /* no return address */
	assert_kind(&rule, DWELL_UNWIND_ODD);
	rule = RULE_OF(EM_X86_64, "zR", USUAL, DW_CFA_def_cfa_expression, 3, 0x77, 8, 6);
	assert_kind(&rule, DWELL_UNWIND_ODD);
	/* Offsets of more than 32 bits. */
	rule = RULE_OF(EM_X86_64, "zR", USUAL, DW_CFA_def_cfa_offset, 0x80, 0x80, 0x80, 0x80, 8);
	assert_kind(&rule, DWELL_UNWIND_ODD);
	rule = RULE_OF(EM_X86_64, "zR", USUAL, DW_CFA_offset | 16, 0x81, 0x80, 0x80, 0x80, 1);
	assert_kind(&rule, DWELL_UNWIND_ODD);
	rule = RULE_OF(EM_X86_64, "zR", USUAL, DW_CFA_offset | 6, 0x81, 0x80, 0x80, 0x80, 1);
	assert_rule(&rule, DWELL_UNWIND_CFA, DWELL_UNWIND_RA_SAVED | DWELL_UNWIND_FP_LOST, 7, 8, 0,
		    -8);
	rule = RULE_OF(EM_X86_64, "zR", USUAL, DW_CFA_offset | 16, 0x80, 0x80, 0x80, 0x80, 1);
	assert_rule(&rule, DWELL_UNWIND_CFA, DWELL_UNWIND_RA_SAVED, 7, 8, 0, INT32_MIN);
}

#define PLT(limit, shift)                                                                         \
	USUAL, DW_CFA_def_cfa_expression, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x30 + (limit), 0x2a, \
		0x30 + (shift), 0x24, 0x22

static void plt_stubs(void **state)
{
	struct dwell_unwind_rule rule;

	(void)state;
	rule = RULE_OF(EM_X86_64, "zR", PLT(11, 3));
	assert_rule(&rule, DWELL_UNWIND_PLT, DWELL_UNWIND_RA_SAVED, 7, 11, 0, -8);
	rule = RULE_OF(EM_X86_64, "zR", PLT(9, 3));
	assert_rule(&rule, DWELL_UNWIND_PLT, DWELL_UNWIND_RA_SAVED, 7, 9, 0, -8);
	rule = RULE_OF(EM_X86_64, "zR", PLT(16, 3)); /* never reached by rip & 15 */
	assert_kind(&rule, DWELL_UNWIND_ODD);
	rule = RULE_OF(EM_X86_64, "zR", PLT(11, 4));
	assert_kind(&rule, DWELL_UNWIND_ODD);
	rule = RULE_OF(EM_AARCH64, "zR", PLT(11, 3));
	assert_kind(&rule, DWELL_UNWIND_ODD);
}

/* As glibc has it: rsp at 160, rip at 168. */
#define SIGNAL_CFA DW_CFA_def_cfa_expression, 4, 0x77, 0xa0, 1, 6
#define SIGNAL_RA  DW_CFA_expression, 16, 3, 0x77, 0xa8, 1

static void signal_returns(void **state)
{
	struct dwell_unwind_rule rule;

	(void)state;
	rule = RULE_OF(EM_X86_64, "zRS", SIGNAL_CFA, SIGNAL_RA);
	assert_rule(&rule, DWELL_UNWIND_SIGNAL, DWELL_UNWIND_INTERRUPTED, 0, 0, 0, 0);
	rule = RULE_OF(EM_X86_64, "zR", SIGNAL_CFA, SIGNAL_RA);
	assert_kind(&rule, DWELL_UNWIND_ODD);
	rule = RULE_OF(EM_X86_64, "zRS", SIGNAL_CFA, USUAL, SIGNAL_RA);
	assert_kind(&rule, DWELL_UNWIND_ODD);
	rule = RULE_OF(EM_AARCH64, "zRS", DW_CFA_def_cfa, 29, 0, DW_CFA_offset | 29, 0,
		       DW_CFA_offset_extended_sf, 30, 0x7f);
	assert_rule(&rule, DWELL_UNWIND_SIGNAL, DWELL_UNWIND_INTERRUPTED, 0, 0, 0, 0);
}

static void rules_of_aarch64(void **state)
{
	struct dwell_unwind_rule rule;

	(void)state;
	rule = RULE_OF(EM_AARCH64, "zR", DW_CFA_def_cfa, 31, 0);
	assert_rule(&rule, DWELL_UNWIND_CFA, 0, 31, 0, 0, 0);
	rule = RULE_OF(EM_AARCH64, "zR", DW_CFA_def_cfa, 29, 32, DW_CFA_AARCH64_negate_ra_state,
		       DW_CFA_offset | 29, 4, DW_CFA_offset | 30, 3);
	assert_rule(&rule, DWELL_UNWIND_CFA,
		    DWELL_UNWIND_FP_SAVED | DWELL_UNWIND_RA_SAVED | DWELL_UNWIND_RA_SIGNED, 29, 32,
		    -32, -24);
	rule = RULE_OF(EM_AARCH64, "zR", DW_CFA_def_cfa, 31, 0, DW_CFA_undefined, 30);
	assert_kind(&rule, DWELL_UNWIND_END);
	rule = RULE_OF(EM_AARCH64, "zR", DW_CFA_def_cfa, 31, 0, DW_CFA_register, 30, 1);
	assert_rule(&rule, DWELL_UNWIND_CFA, DWELL_UNWIND_RA_IN_REGISTER, 31, 0, 0, 1);
}

static void a_file_of_the_other_byte_order(void **state)
{
	static const uint8_t program[] = { DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 32 };
	static unsigned char file[ELFMAKE_ROOM];
	struct dwell_unwind_table *table;
	static struct cfimake frames;
	static struct elfmake make;

	(void)state;
	frames_begin(&frames, EM_AARCH64, true);
	cfimake_fde(&frames, 0, CODE + 0x40, 0x20);
	cfimake_bytes(&frames, program, sizeof(program));
	cfimake_end(&frames);
	elfmake_begin(&make, EM_AARCH64, TEXT_BYTES, 0);
	elfmake_section(&make, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, frames.bytes, frames.count);
	elfmake_end(&make);
	table = table_of_bytes(file, elfconvert(&make, true, true, file));
	assert_kind(find(table, 0x3f), DWELL_UNWIND_NONE);
	assert_rule(find(table, 0x43), DWELL_UNWIND_CFA, 0, 31, 0, 0, 0);
	assert_rule(find(table, 0x44), DWELL_UNWIND_CFA, 0, 31, 32, 0, 0);
	assert_kind(find(table, 0x60), DWELL_UNWIND_NONE);
	dwell_unwind_table_free(table);
}

static void section_types(void **state)
{
	static const struct {
		uint32_t type;
		bool usable;
	} cases[] = { { SHT_PROGBITS, true }, { 0x70000001, true }, { SHT_NOBITS, false } };
	struct dwell_unwind_table *table;
	static struct cfimake frames;
	static struct elfmake make;

	(void)state;
	frames_begin(&frames, EM_X86_64, false);
	FDE(&frames, 0, 0x10, DW_CFA_nop);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		elfmake_begin(&make, EM_X86_64, TEXT_BYTES, 0);
		elfmake_section(&make, ".eh_frame", cases[i].type, SHF_ALLOC, frames.bytes,
				frames.count);
		elfmake_end(&make);
		table = table_of_bytes(make.bytes, make.used);
		assert_int_equal(find(table, 0)->kind,
				 cases[i].usable ? DWELL_UNWIND_CFA : DWELL_UNWIND_NONE);
		dwell_unwind_table_free(table);
	}
	table = table_of(EM_X86_64, NULL, NULL);
	assert_kind(find(table, 0), DWELL_UNWIND_NONE);
	assert_int_equal(dwell_unwind_table_stats(table)->fdes, 0);
	dwell_unwind_table_free(table);
}

static void compressed_debug_frame(void **state)
{
	static uint8_t packed[sizeof(Elf64_Chdr) + CFIMAKE_ROOM];
	Elf64_Chdr head = { .ch_type = ELFCOMPRESS_ZLIB, .ch_addralign = 1 };
	static struct cfimake debug;
	static struct elfmake make;
	struct dwell_unwind_table *table;
	uLongf count = CFIMAKE_ROOM;

	(void)state;
	memset(&debug, 0, sizeof(debug));
	debug.debug_frame = true;
	cfimake_cie(&debug, 3, "", NULL, 0, 1, -8, 16);
	cfimake_bytes(&debug, (uint8_t[]){ USUAL }, 5);
	cfimake_end(&debug);
	cfimake_fde(&debug, 0, CODE, 0x10);
	cfimake_end(&debug);
	assert_int_equal(compress(packed + sizeof(head), &count, debug.bytes, debug.count), Z_OK);
	for (int lies = 0; lies < 2; lies++) {
		head.ch_size = lies ? 1ull << 40 : debug.count;
		memcpy(packed, &head, sizeof(head));
		elfmake_begin(&make, EM_X86_64, TEXT_BYTES, 0);
		elfmake_section(&make, ".debug_frame", SHT_PROGBITS, SHF_COMPRESSED, packed,
				sizeof(head) + count);
		elfmake_end(&make);
		table = table_of_bytes(make.bytes, make.used);
		assert_int_equal(find(table, 0)->kind, lies ? DWELL_UNWIND_NONE : DWELL_UNWIND_CFA);
		dwell_unwind_table_free(table);
	}
}

/* A file without section headers: so many bytes of call frame information behind the headers, found
 * by .eh_frame_hdr, and executable segments of which none has bytes of its own. */
struct stripped {
	uint8_t *bytes;
	size_t count;
};

enum { STRIPPED_SEGMENTS = 2, STRIPPED_HDR = 0x200, STRIPPED_FRAMES = 0x220 };

static struct stripped strip(const void *frames, size_t count, const Elf64_Phdr *code)
{
	const Elf64_Ehdr head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
					       EV_CURRENT },
				  .e_type = ET_DYN,
				  .e_machine = EM_X86_64,
				  .e_version = EV_CURRENT,
				  .e_phoff = sizeof(head),
				  .e_ehsize = sizeof(head),
				  .e_phentsize = sizeof(Elf64_Phdr),
				  .e_phnum = STRIPPED_SEGMENTS + 2 };
	const Elf64_Phdr headers[] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = STRIPPED_FRAMES + count },
		{ .p_type = PT_GNU_EH_FRAME, .p_vaddr = STRIPPED_HDR, .p_filesz = 12 },
		code[0],
		code[1],
	};
	const uint8_t hdr[] = { 1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_omit, DW_EH_PE_omit,
				STRIPPED_FRAMES - STRIPPED_HDR - 4 };
	struct stripped file = { calloc(1, STRIPPED_FRAMES + count), STRIPPED_FRAMES + count };

	assert_non_null(file.bytes);
	memcpy(file.bytes, &head, sizeof(head));
	memcpy(file.bytes + sizeof(head), headers, sizeof(headers));
	memcpy(file.bytes + STRIPPED_HDR, hdr, sizeof(hdr));
	memcpy(file.bytes + STRIPPED_FRAMES, frames, count);
	return file;
}

static struct dwell_unwind_table *table_of_stripped(const struct cfimake *frames,
						    const Elf64_Phdr *code)
{
	struct stripped file = strip(frames->bytes, frames->count, code);
	struct dwell_unwind_table *table = table_of_bytes(file.bytes, file.count);

	free(file.bytes);
	return table;
}

static void segments_say_where(void **state)
{
	static const Elf64_Phdr code[] = {
		{ .p_type = PT_LOAD,
		  .p_flags = PF_X,
		  .p_vaddr = 0x400000,
		  .p_offset = 0x10000,
		  .p_filesz = 0x1000 },
		{ .p_type = PT_LOAD,
		  .p_flags = PF_X,
		  .p_vaddr = 0x700000,
		  .p_offset = 0xf0000000,
		  .p_filesz = 0x20000000 },
	};
	static struct cfimake frames;
	struct dwell_unwind_table *table;

	(void)state;
	cfimake_x86_64(&frames, false);
	frames.vaddr = STRIPPED_FRAMES;
	cfimake_fde(&frames, 0, 0x400ff0, 0x20); /* longer than its segment */
	cfimake_bytes(&frames,
		      (uint8_t[]){ DW_CFA_advance_loc | 8, DW_CFA_def_cfa_offset, 16,
				   DW_CFA_advance_loc | 8, DW_CFA_def_cfa_offset, 24 },
		      6);
	cfimake_end(&frames);
	cfimake_fde(&frames, 0, 0x500000, 0x20); /* in no segment */
	cfimake_end(&frames);
	cfimake_fde(&frames, 0, 0x700010, 0x20);
	cfimake_end(&frames);
	cfimake_fde(&frames, 0, 0x700000 + 0x0ffffffe, 0x20); /* up to 4 GiB of the file */
	cfimake_end(&frames);
	cfimake_fde(&frames, 0, 0x700000 + 0x10000000, 0x20); /* from there on nothing */
	cfimake_end(&frames);
	cfimake_put(&frames, 0, 4);
	cfimake_put(&frames, 0x1234567, 4); /* what comes behind the sections */
	table = table_of_stripped(&frames, code);
	assert_int_equal(dwell_unwind_table_find(table, 0x10fef)->kind, DWELL_UNWIND_NONE);
	assert_int_equal(dwell_unwind_table_find(table, 0x10ff0)->cfa_offset, 8);
	assert_int_equal(dwell_unwind_table_find(table, 0x10fff)->cfa_offset, 16);
	assert_int_equal(dwell_unwind_table_find(table, 0x11000)->kind, DWELL_UNWIND_NONE);
	assert_int_equal(dwell_unwind_table_find(table, 0xf000000f)->kind, DWELL_UNWIND_NONE);
	assert_int_equal(dwell_unwind_table_find(table, 0xf0000010)->kind, DWELL_UNWIND_CFA);
	assert_int_equal(dwell_unwind_table_find(table, 0xf0000030)->kind, DWELL_UNWIND_NONE);
	assert_int_equal(dwell_unwind_table_find(table, 0xfffffffe)->kind, DWELL_UNWIND_CFA);
	assert_int_equal(dwell_unwind_table_find(table, 0x100000000)->kind, DWELL_UNWIND_NONE);
	assert_int_equal(dwell_unwind_table_find(table, 0x1f0000010)->kind, DWELL_UNWIND_NONE);
	assert_int_equal(dwell_unwind_table_stats(table)->bad, 0);
	/* Few rows in 4 GiB do not take an index of all of it. */
	assert_true(dwell_unwind_table_stats(table)->bytes < 512 << 10);
	dwell_unwind_table_free(table);
}

/* More distinct rules than a row can name: those over it are odd, and nothing else changes. */
static void too_many_rules(void **state)
{
	enum { RULES = 70000, ROW_BYTES = 6, HEAD = 64 };
	static const Elf64_Phdr code[] = {
		{ .p_type = PT_LOAD, .p_flags = PF_X, .p_vaddr = 0x400000, .p_filesz = 0x100000 },
		{ 0 }
	};
	static uint8_t bytes[HEAD + RULES * ROW_BYTES + 8];
	static struct cfimake head;
	struct dwell_unwind_table *table;
	struct stripped file;
	uint8_t *at = bytes;
	uint32_t length;

	(void)state;
	cfimake_x86_64(&head, false);
	head.vaddr = STRIPPED_FRAMES;
	cfimake_fde(&head, 0, 0x400000, RULES);
	memcpy(at, head.bytes, head.count);
	at += head.count;
	for (uint32_t i = 1; i < RULES; i++) {
		*at++ = DW_CFA_advance_loc | 1;
		*at++ = DW_CFA_def_cfa_offset;
		*at++ = (uint8_t)(i | 0x80);
		*at++ = (uint8_t)(i >> 7 | 0x80);
		*at++ = (uint8_t)(i >> 14);
	}
	length = (uint32_t)(at - bytes - head.open - 4);
	memcpy(bytes + head.open, &length, 4);
	file = strip(bytes, sizeof(bytes), code);
	table = table_of_bytes(file.bytes, file.count);
	assert_int_equal(dwell_unwind_table_stats(table)->rules, 65536);
	for (uint32_t i = 1; i < RULES; i++) {
		const struct dwell_unwind_rule *rule = dwell_unwind_table_find(table, i);

		/* Rule 8 is that of the start again, and two are there before. */
		if (i <= 65536 - 2)
			assert_int_equal(rule->cfa_offset, i);
		else
			assert_kind(rule, DWELL_UNWIND_ODD);
	}
	assert_kind(dwell_unwind_table_find(table, RULES), DWELL_UNWIND_NONE);
	dwell_unwind_table_free(table);
	free(file.bytes);
}

static void refuse(const void *bytes, size_t count)
{
	struct dwell_unwind_table *table = NULL;
	struct image image = { .fd = -1 };
	struct dwell_err err = { 0 };

	assert_int_equal(image_open_memory(bytes, count, &image.elf), 0);
	assert_int_equal(dwell_unwind_table_new(image.elf, &table, &err), -ENOEXEC);
	assert_null(table);
	assert_int_equal(err.code, -ENOEXEC);
	image_close(&image);
}

static void other_machines(void **state)
{
	static unsigned char file[ELFMAKE_ROOM];
	static struct elfmake make;

	(void)state;
	elfmake_begin(&make, EM_RISCV, TEXT_BYTES, 0);
	elfmake_end(&make);
	refuse(make.bytes, make.used);
	elfmake_begin(&make, EM_X86_64, TEXT_BYTES, 0);
	elfmake_end(&make);
	refuse(file, elfconvert(&make, false, false, file)); /* x32 */
	dwell_unwind_table_free(NULL);
}

/* Rules of a real file against libdw's. */
struct compare {
	const struct unwind_input *input;
	const struct dwell_unwind_table *table;
	Dwarf_CFI *cfi;
	uint64_t last; /* address; 0: none */
	uint64_t compared, kinds[DWELL_UNWIND_ODD + 1];
};

static void compare_at(struct compare *compare, uint64_t vaddr)
{
	const struct unwind_segment *segment = unwind_input_segment(compare->input, vaddr);
	const struct dwell_unwind_rule *rule;
	struct dwell_unwind_rule expected = { 0 };
	struct cfioracle oracle;

	assert_non_null(segment);
	rule = dwell_unwind_table_find(compare->table, vaddr - segment->vaddr + segment->offset);
	if (cfioracle_ask(compare->cfi, vaddr, EM_X86_64, &oracle))
		expected = cfioracle_rule(&oracle);
	if (memcmp(rule, &expected, sizeof(expected)) != 0)
		fail_msg("libdw says another thing of %#llx", (unsigned long long)vaddr);
	compare->compared++;
	compare->kinds[rule->kind]++;
}

static int compare_row(void *user, const struct cfi_row *row, uint64_t end)
{
	struct compare *compare = user;

	if (compare->last) {
		compare_at(compare, compare->last);
		compare_at(compare, (row ? row->vaddr : end) - 1);
	}
	/* A gap, or the next function. */
	if (!row && unwind_input_segment(compare->input, end))
		compare_at(compare, end);
	compare->last = row ? row->vaddr : 0;
	return 0;
}

/* Each row at its first and its last byte. */
static void compare_file(const char *path, uint64_t rows_min, struct compare *compare)
{
	struct dwell_unwind_table *table;
	struct unwind_input input;
	struct cfi_stats stats;
	struct image image;

	assert_int_equal(image_open(path, &image), 0);
	assert_int_equal(dwell_unwind_table_new(image.elf, &table, NULL), 0);
	assert_int_equal(unwind_input_read(image.elf, &input, NULL), 0);
	assert_int_equal(dwell_unwind_table_stats(table)->bad, 0);
	memset(compare, 0, sizeof(*compare));
	compare->input = &input;
	compare->table = table;
	compare->cfi = dwarf_getcfi_elf(image.elf);
	assert_non_null(compare->cfi);
	assert_int_equal(cfi_walk(&input.sections[0], compare_row, compare, &stats), 0);
	assert_true(stats.rows >= rows_min);
	assert_in_range(compare->compared, 2 * stats.rows + 1, 2 * stats.rows + stats.fdes);
	dwarf_cfi_end(compare->cfi);
	dwell_unwind_table_free(table);
	image_close(&image);
}

/* The file of a library, as the dynamic linker finds it. False when there is none. */
static bool compare_library(const char *name, uint64_t rows_min, struct compare *compare)
{
	void *library = dlopen(name, RTLD_LAZY);
	struct link_map *map;

	if (!library)
		return false;
	assert_int_equal(dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
	compare_file(map->l_name, rows_min, compare);
	dlclose(library);
	return true;
}

static void every_rule_is_that_of_libdw(void **state)
{
	struct compare compare;

	(void)state;
#ifndef __x86_64__
	skip();
#endif
	compare_file("/proc/self/exe", 100, &compare);
	assert_true(compare.kinds[DWELL_UNWIND_END]); /* _start */
	assert_true(compare_library("libc.so.6", 10000, &compare));
	assert_true(compare.kinds[DWELL_UNWIND_SIGNAL]);
	assert_true(compare.kinds[DWELL_UNWIND_NONE]);
	compare_library("libstdc++.so.6", 10000, &compare);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_and_gaps),
		cmocka_unit_test(the_first_one_wins),
		cmocka_unit_test(rules_of_x86_64),
		cmocka_unit_test(plt_stubs),
		cmocka_unit_test(signal_returns),
		cmocka_unit_test(rules_of_aarch64),
		cmocka_unit_test(a_file_of_the_other_byte_order),
		cmocka_unit_test(section_types),
		cmocka_unit_test(compressed_debug_frame),
		cmocka_unit_test(segments_say_where),
		cmocka_unit_test(too_many_rules),
		cmocka_unit_test(other_machines),
		cmocka_unit_test(every_rule_is_that_of_libdw),
	};

	return cmocka_run_group_tests_name("unwind_table", tests, NULL, NULL);
}
