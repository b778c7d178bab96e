// SPDX-License-Identifier: MIT
/* Tests of the interpreter of call frame information on hand-made sections: what each instruction
 * and each form of entry says, in both byte orders, and that bytes which lie do no harm. On the
 * libraries of this machine, every row is what libdw says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <endian.h>
#include <errno.h>
#include <link.h>

#include "parse/elf/cfi_program.h"
#include "parse/elf/image.h"
#include "parse/elf/unwind_input.h"
#include "tests/unit/cfimake.h"
#include "tests/unit/cfioracle.h"

enum { START = 0x401000, ROWS = 64 };

/* What a walk gave. */
struct walked {
	struct cfi_row rows[ROWS];
	uint32_t count, closed;
	uint64_t end; /* of the last FDE closed */
	struct cfi_stats stats;
};

static int take(void *user, const struct cfi_row *row, uint64_t end)
{
	struct walked *walked = user;

	walked->end = end;
	if (!row) {
		walked->closed++;
		return 0;
	}
	assert_true(walked->count < ROWS);
	assert_true(row->vaddr < end);
	walked->rows[walked->count++] = *row;
	return 0;
}

static struct cfi_section section_of(const struct cfimake *make, uint16_t machine)
{
	return (struct cfi_section){ .bytes = make->bytes,
				     .count = make->count,
				     .vaddr = make->vaddr,
				     .machine = machine,
				     .is_debug_frame = make->debug_frame,
				     .swapped = make->big == (BYTE_ORDER == LITTLE_ENDIAN) };
}

/* The walk of exactly the section's bytes: anything read beyond is seen by a sanitizer. */
static void walk(const struct cfi_section *section, struct walked *walked)
{
	uint8_t *copy = malloc(section->count ? section->count : 1);
	struct cfi_section exact = *section;

	assert_non_null(copy);
	memcpy(copy, section->bytes, section->count);
	exact.bytes = copy;
	memset(walked, 0, sizeof(*walked));
	assert_int_equal(cfi_walk(&exact, take, walked, &walked->stats), 0);
	assert_int_equal(walked->stats.rows, walked->count);
	free(copy);
}

static void walk_x86_64(const struct cfimake *make, struct walked *walked)
{
	const struct cfi_section section = section_of(make, EM_X86_64);

	walk(&section, walked);
}

/* The rows of one FDE of 0x1000 bytes with such a program behind the common x86-64 CIE. */
static void walk_program(const void *program, size_t count, struct walked *walked)
{
	static struct cfimake make;

	cfimake_x86_64(&make, false);
	cfimake_fde(&make, 0, START, 0x1000);
	cfimake_bytes(&make, program, count);
	cfimake_end(&make);
	walk_x86_64(&make, walked);
}

#define WALK(walked, ...)                                                                        \
	walk_program((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }), \
		     walked)

static void assert_cfa(const struct cfi_row *row, uint16_t column, int64_t offset)
{
	assert_null(row->cfa_expression);
	assert_int_equal(row->cfa_register, column);
	assert_int_equal(row->cfa_offset, offset);
}

static void assert_value(struct cfi_value value, enum cfi_how how, int64_t offset)
{
	assert_int_equal(value.how, how);
	assert_int_equal(value.offset, offset);
}

static void a_usual_function(void **state)
{
	struct walked walked;

	(void)state;
	WALK(&walked, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2,
	     DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register, 6, DW_CFA_advance_loc1, 0x80,
	     DW_CFA_restore | 6, DW_CFA_def_cfa, 7, 8);
	assert_int_equal(walked.count, 4);
	assert_int_equal(walked.closed, 1);
	assert_int_equal(walked.end, START + 0x1000);
	assert_int_equal(walked.stats.fdes, 1);
	assert_int_equal(walked.stats.bad, 0);
	assert_int_equal(walked.rows[0].vaddr, START);
	assert_cfa(&walked.rows[0], 7, 8);
	assert_value(walked.rows[0].fp, CFI_SAME, 0);
	assert_value(walked.rows[0].ra, CFI_AT_CFA, -8);
	assert_int_equal(walked.rows[1].vaddr, START + 1);
	assert_cfa(&walked.rows[1], 7, 16);
	assert_value(walked.rows[1].fp, CFI_AT_CFA, -16);
	assert_int_equal(walked.rows[2].vaddr, START + 4);
	assert_cfa(&walked.rows[2], 6, 16);
	assert_int_equal(walked.rows[3].vaddr, START + 0x84);
	assert_cfa(&walked.rows[3], 7, 8);
	assert_value(walked.rows[3].fp, CFI_SAME, 0);
	assert_value(walked.rows[3].ra, CFI_AT_CFA, -8);
}

/* Every way to advance, with operands of all sizes, in both byte orders. */
static void advances(bool big)
{
	static struct cfimake make;
	struct walked walked;
	static const uint64_t at[] = {
		0, 4 * 5, 4 * 0xf5, 4 * 0x12f5, 0x123456, 0x1234d2, 0x2000000
	};

	cfimake_aarch64(&make, big);
	cfimake_fde(&make, 0, START, 0x3000000);
	cfimake_put(&make, DW_CFA_advance_loc | 5, 1);
	cfimake_put(&make, DW_CFA_advance_loc1, 1);
	cfimake_put(&make, 0xf0, 1);
	cfimake_put(&make, DW_CFA_advance_loc2, 1);
	cfimake_put(&make, 0x1200, 2);
	cfimake_put(&make, DW_CFA_set_loc, 1);
	cfimake_address(&make, START + 0x123456);
	cfimake_put(&make, DW_CFA_advance_loc4, 1);
	cfimake_put(&make, 0x1f, 4);
	cfimake_put(&make, DW_CFA_MIPS_advance_loc8, 1);
	cfimake_put(&make, (0x2000000 - 0x1234d2) / 4, 8);
	cfimake_put(&make, DW_CFA_advance_loc, 1); /* by nothing: no row */
	cfimake_end(&make);
	{
		const struct cfi_section section = section_of(&make, EM_AARCH64);

		walk(&section, &walked);
	}
	assert_int_equal(walked.stats.bad, 0);
	assert_int_equal(walked.count, sizeof(at) / sizeof(*at));
	for (uint32_t i = 0; i < walked.count - 1; i++)
		assert_int_equal(walked.rows[i].vaddr, START + at[i]);
	/* In units of 4 from 0x1234d2, which is no multiple. */
	assert_int_equal(walked.rows[6].vaddr, START + 0x1234d2 + (0x2000000 - 0x1234d2) / 4 * 4);
	assert_value(walked.rows[0].ra, CFI_SAME, 0);
	assert_cfa(&walked.rows[0], CFI_AARCH64_SP, 0);
}

static void all_advances(void **state)
{
	(void)state;
	advances(false);
	advances(true);
}

static void advances_stop_at_the_end(void **state)
{
	struct walked walked;

	(void)state;
	/* Past the end, by overflow too: what follows does not matter. */
	WALK(&walked, DW_CFA_advance_loc2, 0x00, 0x20, 0x3f);
	assert_int_equal(walked.count, 1);
	assert_int_equal(walked.stats.bad, 0);
	WALK(&walked, DW_CFA_MIPS_advance_loc8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	     0x3f);
	assert_int_equal(walked.count, 1);
	assert_int_equal(walked.end, START + 0x1000);
	assert_int_equal(walked.stats.bad, 0);
	WALK(&walked, DW_CFA_advance_loc2, 0xff, 0x0f);
	assert_int_equal(walked.count, 2);
	assert_int_equal(walked.rows[1].vaddr, START + 0xfff);
}

static void every_cfa(void **state)
{
	struct walked walked;

	(void)state;
	WALK(&walked, DW_CFA_def_cfa, 6, 0x90, 1);
	assert_cfa(&walked.rows[0], 6, 0x90);
	WALK(&walked, DW_CFA_def_cfa_sf, 10, 0x7e);
	assert_cfa(&walked.rows[0], 10, 16);
	WALK(&walked, DW_CFA_def_cfa_register, 0x83, 1);
	assert_cfa(&walked.rows[0], 0x83, 8);
	WALK(&walked, DW_CFA_def_cfa_offset, 0x80, 0x80, 4);
	assert_cfa(&walked.rows[0], 7, 0x10000);
	WALK(&walked, DW_CFA_def_cfa_offset_sf, 2);
	assert_cfa(&walked.rows[0], 7, -16);
	WALK(&walked, DW_CFA_def_cfa_expression, 2, 0x77, 5, DW_CFA_advance_loc | 1, DW_CFA_def_cfa,
	     7, 24);
	assert_int_equal(walked.count, 2);
	assert_non_null(walked.rows[0].cfa_expression);
	assert_int_equal(walked.rows[0].cfa_expression_bytes, 2);
	assert_cfa(&walked.rows[1], 7, 24);
	/* An expression has no halves. */
	WALK(&walked, DW_CFA_def_cfa_expression, 2, 0x77, 5, DW_CFA_def_cfa_offset, 24);
	assert_int_equal(walked.count, 0);
	assert_int_equal(walked.stats.bad, 1);
	WALK(&walked, DW_CFA_def_cfa_expression, 2, 0x77, 5, DW_CFA_def_cfa_register, 6);
	assert_int_equal(walked.stats.bad, 1);
	WALK(&walked, DW_CFA_def_cfa_register, 0xff, 0xff, 3);
	assert_int_equal(walked.stats.bad, 1);
}

static void every_register_rule(void **state)
{
	static const struct {
		uint8_t program[8];
		size_t count;
		enum cfi_how fp_how;
		int64_t fp;
		enum cfi_how ra_how;
		int64_t ra;
	} cases[] = {
		{ { DW_CFA_offset | 6, 3 }, 2, CFI_AT_CFA, -24, CFI_AT_CFA, -8 },
		{ { DW_CFA_offset | 16, 3 }, 2, CFI_SAME, 0, CFI_AT_CFA, -24 },
		{ { DW_CFA_offset | 3, 3 }, 2, CFI_SAME, 0, CFI_AT_CFA, -8 },
		{ { DW_CFA_offset_extended, 6, 0x80, 1 }, 4, CFI_AT_CFA, -1024, CFI_AT_CFA, -8 },
		{ { DW_CFA_offset_extended_sf, 6, 0x7f }, 3, CFI_AT_CFA, 8, CFI_AT_CFA, -8 },
		{ { DW_CFA_GNU_negative_offset_extended, 6, 4 },
		  3,
		  CFI_AT_CFA,
		  32,
		  CFI_AT_CFA,
		  -8 },
		{ { DW_CFA_undefined, 16 }, 2, CFI_SAME, 0, CFI_UNDEFINED, 0 },
		{ { DW_CFA_undefined, 6 }, 2, CFI_UNDEFINED, 0, CFI_AT_CFA, -8 },
		{ { DW_CFA_same_value, 16 }, 2, CFI_SAME, 0, CFI_SAME, 0 },
		{ { DW_CFA_register, 16, 1 }, 3, CFI_SAME, 0, CFI_IN_REGISTER, 1 },
		{ { DW_CFA_register, 6, 9 }, 3, CFI_IN_REGISTER, 9, CFI_AT_CFA, -8 },
		{ { DW_CFA_val_offset, 6, 2 }, 3, CFI_OTHER, 0, CFI_AT_CFA, -8 },
		{ { DW_CFA_val_offset_sf, 6, 0x7f }, 3, CFI_OTHER, 0, CFI_AT_CFA, -8 },
		{ { DW_CFA_val_expression, 6, 2, 0x77, 0 }, 5, CFI_OTHER, 0, CFI_AT_CFA, -8 },
		{ { DW_CFA_expression, 6, 2, 0x77, 0 }, 5, CFI_OTHER, 0, CFI_AT_CFA, -8 },
		{ { DW_CFA_undefined, 16, DW_CFA_restore | 16 }, 3, CFI_SAME, 0, CFI_AT_CFA, -8 },
		{ { DW_CFA_undefined, 16, DW_CFA_restore_extended, 16 },
		  4,
		  CFI_SAME,
		  0,
		  CFI_AT_CFA,
		  -8 },
		{ { DW_CFA_GNU_args_size, 0x90, 1 }, 3, CFI_SAME, 0, CFI_AT_CFA, -8 },
	};
	struct walked walked;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		walk_program(cases[i].program, cases[i].count, &walked);
		assert_int_equal(walked.count, 1);
		assert_int_equal(walked.stats.bad, 0);
		assert_value(walked.rows[0].fp, cases[i].fp_how, cases[i].fp);
		assert_value(walked.rows[0].ra, cases[i].ra_how, cases[i].ra);
		assert_null(walked.rows[0].ra_expression);
	}
	WALK(&walked, DW_CFA_expression, 16, 3, 0x77, 0xa8, 1, DW_CFA_advance_loc | 1,
	     DW_CFA_val_expression, 16, 1, 0x30);
	assert_int_equal(walked.count, 2);
	assert_non_null(walked.rows[0].ra_expression);
	assert_int_equal(walked.rows[0].ra_expression_bytes, 3);
	assert_null(walked.rows[1].ra_expression); /* a value, not a place */
	assert_value(walked.rows[1].ra, CFI_OTHER, 0);
}

static void states_are_remembered(void **state)
{
	struct walked walked;
	uint8_t deep[CFI_STATES_MAX + 1];

	(void)state;
	WALK(&walked, DW_CFA_def_cfa, 6, 16, DW_CFA_remember_state, DW_CFA_advance_loc | 1,
	     DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 6, 2, DW_CFA_undefined, 16,
	     DW_CFA_advance_loc | 1, DW_CFA_restore_state);
	assert_int_equal(walked.count, 3);
	assert_cfa(&walked.rows[1], 7, 8);
	assert_value(walked.rows[1].ra, CFI_UNDEFINED, 0);
	assert_cfa(&walked.rows[2], 6, 16);
	assert_value(walked.rows[2].fp, CFI_SAME, 0);
	assert_value(walked.rows[2].ra, CFI_AT_CFA, -8);
	assert_int_equal(walked.rows[2].vaddr, START + 2);

	WALK(&walked, DW_CFA_advance_loc | 1, DW_CFA_restore_state);
	assert_int_equal(walked.stats.bad, 1);
	/* More than any program nests. */
	memset(deep, DW_CFA_remember_state, sizeof(deep));
	walk_program(deep, CFI_STATES_MAX, &walked);
	assert_int_equal(walked.stats.bad, 0);
	walk_program(deep, CFI_STATES_MAX + 1, &walked);
	assert_int_equal(walked.stats.bad, 1);
	assert_int_equal(walked.count, 0);
}

static void return_addresses_are_signed(void **state)
{
	static struct cfimake make;
	static const uint8_t program[] = { DW_CFA_advance_loc | 1, DW_CFA_AARCH64_negate_ra_state,
					   DW_CFA_remember_state,  DW_CFA_advance_loc | 1,
					   DW_CFA_offset | 29,	   4,
					   DW_CFA_offset | 30,	   3,
					   DW_CFA_advance_loc | 1, 0x2c,
					   DW_CFA_advance_loc | 1, DW_CFA_restore_state };
	static const bool is_signed[] = { false, true, true, false, true };
	struct cfi_section section;
	struct walked walked;

	(void)state;
	cfimake_aarch64(&make, false);
	cfimake_fde(&make, 0, START, 0x1000);
	cfimake_bytes(&make, program, sizeof(program));
	cfimake_end(&make);
	section = section_of(&make, EM_AARCH64);
	walk(&section, &walked);
	assert_int_equal(walked.count, 5);
	for (int i = 0; i < 5; i++)
		assert_int_equal(walked.rows[i].ra_signed, is_signed[i]);
	assert_value(walked.rows[2].fp, CFI_AT_CFA, -32);
	assert_value(walked.rows[2].ra, CFI_AT_CFA, -24);
	assert_int_equal(walked.rows[2].vaddr, START + 8);
	/* There is no such thing on x86-64. */
	WALK(&walked, DW_CFA_AARCH64_negate_ra_state);
	assert_int_equal(walked.stats.bad, 1);
}

/* One FDE behind a CIE with such an augmentation. */
static void walk_augmented(const char *letters, const void *data, size_t count, uint8_t encoding,
			   struct walked *walked)
{
	static const uint8_t program[] = { DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1 };
	static struct cfimake make;
	uint64_t cie;

	memset(&make, 0, sizeof(make));
	make.vaddr = CFIMAKE_VADDR;
	make.encoding = encoding;
	cfimake_put(&make, 4, 4); /* an entry in front, so that the CIE is not at 0 */
	cfimake_put(&make, 0, 4);
	cie = cfimake_cie(&make, 1, letters, data, count, 1, -8, 16);
	cfimake_bytes(&make, program, sizeof(program));
	cfimake_end(&make);
	cfimake_fde(&make, cie, START, 0x20);
	cfimake_end(&make);
	walk_x86_64(&make, walked);
	walked->stats.bad--; /* the entry in front is no CIE */
}

static void augmentations(void **state)
{
	static const uint8_t relative = DW_EH_PE_pcrel | DW_EH_PE_sdata4;
	static const uint8_t all[] = { 0x9b, 1, 2, 3, 4, 0x1b, DW_EH_PE_pcrel | DW_EH_PE_sdata4 };
	struct walked walked;

	(void)state;
	walk_augmented("zPLR", all, sizeof(all), relative, &walked);
	assert_int_equal(walked.count, 1);
	assert_int_equal(walked.stats.bad, 0);
	walk_augmented("zR", &relative, 1, relative, &walked);
	assert_int_equal(walked.count, 1);
	assert_int_equal(walked.rows[0].vaddr, START);
	assert_int_equal(walked.end, START + 0x20);
	assert_false(walked.rows[0].signal_frame);
	walk_augmented("zRS", &relative, 1, relative, &walked);
	assert_int_equal(walked.count, 1);
	assert_true(walked.rows[0].signal_frame);
	walk_augmented("zRB", &relative, 1, relative, &walked);
	assert_int_equal(walked.count, 1);
	walk_augmented("", NULL, 0, DW_EH_PE_absptr, &walked);
	assert_int_equal(walked.count, 1);
	walk_augmented("S", NULL, 0, DW_EH_PE_absptr, &walked);
	assert_true(walked.count == 1 && walked.rows[0].signal_frame);
	/* Unknown letters, and data that does not fit. */
	walk_augmented("zRQ", &relative, 1, relative, &walked);
	assert_true(walked.count == 0 && walked.stats.bad == 2);
	walk_augmented("zRL", &relative, 1, relative, &walked);
	assert_true(walked.count == 0 && walked.stats.bad == 2);
	walk_augmented("zP", all, 2, DW_EH_PE_absptr, &walked);
	assert_true(walked.count == 0 && walked.stats.bad == 2);
}

/* A section of one CIE and one FDE in each form that entries have. */
static void entry_form(bool big, bool wide, bool debug_frame, uint8_t version)
{
	static const uint8_t program[] = { DW_CFA_def_cfa, 31, 16, DW_CFA_offset | 30, 1 };
	static struct cfimake make;
	struct cfi_section section;
	struct walked walked;
	uint64_t cie;

	memset(&make, 0, sizeof(make));
	make.big = big;
	make.wide = wide;
	make.debug_frame = debug_frame;
	cfimake_fde(&make, 0, START, 0x20); /* its CIE is itself: cannot be right */
	cfimake_end(&make);
	cie = cfimake_cie(&make, version, "", NULL, 0, 1, -8, 30);
	cfimake_bytes(&make, program, sizeof(program));
	cfimake_end(&make);
	cfimake_fde(&make, cie, START, 0x20);
	cfimake_end(&make);
	section = section_of(&make, EM_AARCH64);
	walk(&section, &walked);
	assert_int_equal(walked.stats.bad, 1);
	assert_int_equal(walked.count, 1);
	assert_int_equal(walked.rows[0].vaddr, START);
	assert_value(walked.rows[0].ra, CFI_AT_CFA, -8);
}

static void entry_forms(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++) {
		for (int wide = 0; wide < 2; wide++) {
			entry_form(big, wide, false, 1);
			entry_form(big, wide, true, 1);
			entry_form(big, wide, true, 3);
			entry_form(big, wide, true, 4);
		}
	}
}

static void addresses_of_other_sizes(void **state)
{
	static struct cfimake make;
	struct walked walked;

	(void)state;
	memset(&make, 0, sizeof(make));
	make.debug_frame = true;
	cfimake_cie(&make, 4, "", NULL, 0, 1, -8, 16);
	cfimake_bytes(&make, (uint8_t[]){ DW_CFA_def_cfa, 7, 8 }, 3);
	cfimake_end(&make);
	cfimake_fde(&make, 0, START, 0x20);
	cfimake_end(&make);
	walk_x86_64(&make, &walked);
	assert_int_equal(walked.count, 1);
	make.bytes[10] = 4; /* bytes of an address */
	walk_x86_64(&make, &walked);
	assert_true(walked.count == 0 && walked.stats.bad == 2);
	make.bytes[10] = 8;
	make.bytes[11] = 1; /* of a segment selector */
	walk_x86_64(&make, &walked);
	assert_true(walked.count == 0 && walked.stats.bad == 2);
	make.bytes[11] = 0;
	make.bytes[8] = 2; /* no such version */
	walk_x86_64(&make, &walked);
	assert_true(walked.count == 0 && walked.stats.bad == 2);
}

/* A pointer of 8 bytes at most, 8 bytes behind the start of its section. */
static uint64_t pointer(uint8_t encoding, uint64_t text, uint64_t data, bool *ret_bad,
			size_t *ret_bytes)
{
	static const uint8_t bytes[24] = { [9] = 0x82, 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f };
	const struct cfi_section section = { .bytes = bytes,
					     .count = sizeof(bytes),
					     .vaddr = CFIMAKE_VADDR,
					     .text = text,
					     .data = data,
					     .swapped = BYTE_ORDER != LITTLE_ENDIAN };
	struct cfi_cursor in = { bytes + 9, bytes + 17, section.swapped, false };
	uint64_t value = cfi_pointer(&section, &in, encoding);

	*ret_bad = in.bad;
	*ret_bytes = (size_t)(in.at - bytes) - 9;
	return value;
}

static void pointer_encodings(void **state)
{
	static const struct {
		uint8_t encoding;
		uint64_t value; /* without a base */
		size_t bytes;
	} formats[] = {
		{ DW_EH_PE_absptr, 0x7f80808080808182, 8 },
		{ DW_EH_PE_signed, 0x7f80808080808182, 8 },
		{ DW_EH_PE_udata8, 0x7f80808080808182, 8 },
		{ DW_EH_PE_sdata8, 0x7f80808080808182, 8 },
		{ DW_EH_PE_udata4, 0x80808182, 4 },
		{ DW_EH_PE_sdata4, 0xffffffff80808182, 4 },
		{ DW_EH_PE_udata2, 0x8182, 2 },
		{ DW_EH_PE_sdata2, 0xffffffffffff8182, 2 },
		{ DW_EH_PE_uleb128, 2 | 1 << 7 | 0x7full << 49, 8 },
		{ DW_EH_PE_sleb128, 2 | 1 << 7 | ~0ull << 49, 8 },
	};
	static const struct {
		uint8_t base;
		uint64_t value;
	} bases[] = { { 0, 0 },
		      { DW_EH_PE_pcrel, CFIMAKE_VADDR + 9 },
		      { DW_EH_PE_textrel, 0x1000 },
		      { DW_EH_PE_datarel, 0x2000 } };
	static const uint8_t refused[] = { DW_EH_PE_omit,
					   DW_EH_PE_indirect,
					   DW_EH_PE_funcrel,
					   DW_EH_PE_aligned | DW_EH_PE_udata4,
					   0x05,
					   0x0f,
					   0x60 };
	size_t bytes;
	bool bad;

	(void)state;
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		for (size_t j = 0; j < sizeof(bases) / sizeof(*bases); j++) {
			assert_int_equal(pointer(formats[i].encoding | bases[j].base, 0x1000,
						 0x2000, &bad, &bytes),
					 formats[i].value + bases[j].value);
			assert_false(bad);
			assert_int_equal(bytes, formats[i].bytes);
		}
	}
	for (size_t i = 0; i < sizeof(refused); i++) {
		assert_int_equal(pointer(refused[i], 0x1000, 0x2000, &bad, &bytes), 0);
		assert_true(bad);
	}
	pointer(DW_EH_PE_textrel | DW_EH_PE_udata2, 0, 0x2000, &bad, &bytes);
	assert_true(bad); /* no base known */
	pointer(DW_EH_PE_datarel | DW_EH_PE_udata2, 0x1000, 0, &bad, &bytes);
	assert_true(bad);
	pointer(DW_EH_PE_aligned, 0, 0, &bad, &bytes); /* 7 bytes more: does not fit */
	assert_true(bad);
}

static void numbers_of_many_bytes(void **state)
{
	static const uint8_t minus_one[] = { 0xff, 0xff, 0xff, 0xff, 0xff,
					     0xff, 0xff, 0xff, 0xff, 0x7f };
	static const uint8_t long_one[] = { 0x81, 0x80, 0x80, 0x80, 0x80, 0x80,
					    0x80, 0x80, 0x80, 0x80, 0x00 };
	struct cfi_cursor in = { .at = minus_one, .end = minus_one + sizeof(minus_one) };

	(void)state;
	assert_true(cfi_sleb(&in) == -1 && !in.bad);
	in.at = minus_one;
	assert_true(cfi_uleb(&in) == UINT64_MAX && !in.bad);
	in = (struct cfi_cursor){ .at = long_one, .end = long_one + sizeof(long_one) };
	cfi_uleb(&in);
	assert_true(in.bad); /* more than 64 bits */
	in = (struct cfi_cursor){ .at = minus_one, .end = minus_one + 3 };
	cfi_sleb(&in);
	assert_true(in.bad);
}

/* What holds before a bad instruction holds no further than where it stands. */
static void a_program_breaks(void **state)
{
	static const uint8_t bad[][5] = {
		{ 0x3e },				    /* no such instruction */
		{ DW_CFA_set_loc, 0, 0, 0, 0 },		    /* back */
		{ DW_CFA_def_cfa, 0x80, 0x80, 0x80, 0x80 }, /* cut */
		{ DW_CFA_expression, 16, 0x70, 0, 0 },	    /* longer than the rest */
	};
	struct walked walked;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		/* Ends where its entry ends, of which the size is a multiple of 8. */
		uint8_t program[15] = { DW_CFA_advance_loc | 5, DW_CFA_def_cfa_offset, 16,
					DW_CFA_advance_loc | 6 };

		memcpy(program + sizeof(program) - sizeof(bad[i]), bad[i], sizeof(bad[i]));
		walk_program(program, sizeof(program), &walked);
		assert_int_equal(walked.stats.bad, 1);
		assert_int_equal(walked.count, 2);
		assert_int_equal(walked.rows[1].vaddr, START + 5);
		assert_int_equal(walked.closed, 1);
		assert_int_equal(walked.end, START + 11);
	}
	WALK(&walked, 0x3e); /* not even one row */
	assert_true(walked.count == 0 && walked.closed == 0 && walked.stats.bad == 1);
}

static void entries_passed_over(void **state)
{
	static struct cfimake make;
	struct walked walked;
	size_t terminator;

	(void)state;
	cfimake_x86_64(&make, false);
	cfimake_fde(&make, 0, 0, 0x20); /* of a function that is not there */
	cfimake_end(&make);
	cfimake_fde(&make, 0, START, 0); /* empty */
	cfimake_end(&make);
	cfimake_fde(&make, 4, START, 0x20); /* its CIE is no entry */
	cfimake_end(&make);
	cfimake_fde(&make, 0x100000, START, 0x20); /* or not in the section */
	cfimake_end(&make);
	cfimake_fde(&make, 0, UINT64_MAX - 8, 0x20); /* around the end of addresses */
	cfimake_end(&make);
	cfimake_fde(&make, 0, START, 0x20);
	cfimake_end(&make);
	terminator = make.count;
	cfimake_put(&make, 0, 4);
	cfimake_fde(&make, 0, START + 0x100, 0x20);
	cfimake_end(&make);
	walk_x86_64(&make, &walked);
	assert_int_equal(walked.count, 1);
	assert_int_equal(walked.closed, 1);
	assert_int_equal(walked.stats.fdes, 1);
	assert_int_equal(walked.stats.bad, 3);
	/* A length that cannot be right ends the walk as well. */
	memset(make.bytes + terminator, 0xf0, 4);
	walk_x86_64(&make, &walked);
	assert_int_equal(walked.count, 1);
	assert_int_equal(walked.stats.bad, 4);
}

static void common_entries_cannot_be_right(void **state)
{
	static const struct {
		uint8_t program[4];
		size_t count;
	} cases[] = {
		{ { DW_CFA_def_cfa, 7, 8, DW_CFA_advance_loc | 1 }, 4 },
		{ { DW_CFA_def_cfa, 7, 8, DW_CFA_restore | 6 }, 4 },
		{ { DW_CFA_def_cfa_offset, 8 }, 2 }, /* of no register */
		{ { DW_CFA_nop }, 1 },		     /* no CFA: only the FDE is bad */
	};
	static struct cfimake make;
	struct walked walked;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		memset(&make, 0, sizeof(make));
		cfimake_cie(&make, 1, "", NULL, 0, 1, -8, 16);
		cfimake_bytes(&make, cases[i].program, cases[i].count);
		cfimake_end(&make);
		cfimake_fde(&make, 0, START, 0x20);
		cfimake_end(&make);
		walk_x86_64(&make, &walked);
		assert_int_equal(walked.count, 0);
		assert_int_equal(walked.stats.bad, i == 3 ? 1 : 2);
	}
	/* Right before the section. */
	memset(&make, 0, sizeof(make));
	cfimake_fde(&make, UINT64_MAX, START, 0x20);
	cfimake_end(&make);
	walk_x86_64(&make, &walked);
	assert_true(walked.count == 0 && walked.stats.bad == 1);
	/* Of a return address in a column of its own nothing is known. */
	memset(&make, 0, sizeof(make));
	cfimake_cie(&make, 1, "", NULL, 0, 1, -8, 20);
	cfimake_bytes(&make, (uint8_t[]){ DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1 }, 5);
	cfimake_end(&make);
	cfimake_fde(&make, 0, START, 0x20);
	cfimake_end(&make);
	walk_x86_64(&make, &walked);
	assert_int_equal(walked.count, 1);
	assert_value(walked.rows[0].ra, CFI_OTHER, 0);
}

/* Cut anywhere, and with any byte changed, a section gives rows of its own range or none. */
static void cut_and_changed(void **state)
{
	static const uint8_t program[] = { DW_CFA_advance_loc | 1,
					   DW_CFA_def_cfa_expression,
					   2,
					   0x77,
					   5,
					   DW_CFA_advance_loc4,
					   1,
					   0,
					   0,
					   0,
					   DW_CFA_expression,
					   16,
					   3,
					   0x77,
					   0xa8,
					   1,
					   DW_CFA_remember_state,
					   DW_CFA_set_loc,
					   0,
					   0,
					   0,
					   0,
					   DW_CFA_restore_state };
	static struct cfimake make;
	struct cfi_section section;
	struct walked walked;
	size_t full;

	(void)state;
	cfimake_x86_64(&make, false);
	cfimake_fde(&make, 0, START, 0x1000);
	cfimake_bytes(&make, program, sizeof(program));
	cfimake_end(&make);
	full = make.count;
	for (size_t count = 0; count < full; count++) {
		section = section_of(&make, EM_X86_64);
		section.count = count;
		walk(&section, &walked);
		assert_int_equal(walked.count, 0);
	}
	for (size_t at = 0; at < full; at++) {
		uint8_t was = make.bytes[at];

		for (int value = 0; value < 256; value++) {
			make.bytes[at] = (uint8_t)value;
			walk_x86_64(&make, &walked);
		}
		make.bytes[at] = was;
	}
}

static int stop(void *user, const struct cfi_row *row, uint64_t end)
{
	int *left = user;

	(void)row;
	(void)end;
	return --*left ? 0 : -ECANCELED;
}

static void a_walk_is_stopped(void **state)
{
	static struct cfimake make;
	struct cfi_stats stats = { 1, 2, 3 };
	struct cfi_section section;
	int left;

	(void)state;
	cfimake_x86_64(&make, false);
	for (int i = 0; i < 3; i++) {
		cfimake_fde(&make, 0, START, 0x1000);
		cfimake_end(&make);
	}
	section = section_of(&make, EM_X86_64);
	for (int calls = 1; calls <= 6; calls++) { /* a row and a close for each */
		left = calls;
		assert_int_equal(cfi_walk(&section, stop, &left, &stats), -ECANCELED);
		assert_int_equal(left, 0);
		assert_true(stats.fdes == 1 && stats.rows == 2 && stats.bad == 3);
	}
	left = 7;
	assert_int_equal(cfi_walk(&section, stop, &left, &stats), 0);
	assert_int_equal(left, 1);
	assert_int_equal(stats.fdes, 3);
}

/* Rows of a real file against libdw's. */
struct compare {
	Dwarf_CFI *cfi;
	struct cfi_row last; /* vaddr 0: none */
	uint64_t compared;
};

static void compare_at(struct compare *compare, uint64_t vaddr)
{
	struct cfioracle oracle;

	assert_true(cfioracle_ask(compare->cfi, vaddr, EM_X86_64, &oracle));
	if (!cfioracle_agrees(&oracle, &compare->last))
		fail_msg("libdw says another thing of %#llx", (unsigned long long)vaddr);
	compare->compared++;
}

static int compare_row(void *user, const struct cfi_row *row, uint64_t end)
{
	struct compare *compare = user;

	if (compare->last.vaddr) {
		compare_at(compare, compare->last.vaddr);
		compare_at(compare, (row ? row->vaddr : end) - 1);
	}
	compare->last = row ? *row : (struct cfi_row){ 0 };
	return 0;
}

static void compare_file(const char *path, uint64_t rows_min)
{
	struct compare compare = { 0 };
	struct unwind_input input;
	struct cfi_stats stats;
	struct image image;

	assert_int_equal(image_open(path, &image), 0);
	assert_int_equal(unwind_input_read(image.elf, &input, NULL), 0);
	assert_true(input.machine == EM_X86_64 && input.section_count);
	compare.cfi = dwarf_getcfi_elf(image.elf);
	assert_non_null(compare.cfi);
	assert_int_equal(cfi_walk(&input.sections[0], compare_row, &compare, &stats), 0);
	assert_int_equal(stats.bad, 0);
	assert_true(stats.rows >= rows_min);
	assert_int_equal(compare.compared, 2 * stats.rows);
	dwarf_cfi_end(compare.cfi);
	image_close(&image);
}

/* The file of a library, as the dynamic linker finds it. False when there is none. */
static bool compare_library(const char *name, uint64_t rows_min)
{
	void *library = dlopen(name, RTLD_LAZY);
	struct link_map *map;

	if (!library)
		return false;
	assert_int_equal(dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
	compare_file(map->l_name, rows_min);
	dlclose(library);
	return true;
}

static void every_row_is_that_of_libdw(void **state)
{
	(void)state;
#ifndef __x86_64__
	skip();
#endif
	compare_file("/proc/self/exe", 100);
	assert_true(compare_library("libc.so.6", 10000));
	compare_library("libstdc++.so.6", 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_usual_function),
		cmocka_unit_test(all_advances),
		cmocka_unit_test(advances_stop_at_the_end),
		cmocka_unit_test(every_cfa),
		cmocka_unit_test(every_register_rule),
		cmocka_unit_test(states_are_remembered),
		cmocka_unit_test(return_addresses_are_signed),
		cmocka_unit_test(augmentations),
		cmocka_unit_test(entry_forms),
		cmocka_unit_test(addresses_of_other_sizes),
		cmocka_unit_test(pointer_encodings),
		cmocka_unit_test(numbers_of_many_bytes),
		cmocka_unit_test(a_program_breaks),
		cmocka_unit_test(entries_passed_over),
		cmocka_unit_test(common_entries_cannot_be_right),
		cmocka_unit_test(cut_and_changed),
		cmocka_unit_test(a_walk_is_stopped),
		cmocka_unit_test(every_row_is_that_of_libdw),
	};

	return cmocka_run_group_tests_name("cfi", tests, NULL, NULL);
}
