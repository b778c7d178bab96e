// SPDX-License-Identifier: MIT
/* Tests of parse/elf/unwind.c: hand-made stacks, mappings of this program's own file for code, and
 * how chains end. What its own tables say is compared elsewhere (test_unwind_table.c, and end to
 * end with perf's unwinder). */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "parse/elf/unwind.h"
#include "parse/elf/unwind_join.h"

enum { PID = 7, PERF_ABI_64 = 2, WORDS = 64 };

#define CODE 0x400000ull
#define SP   0x7000000ull

struct fixture {
	struct dwell_strings *strings;
	struct dwell_stacks *stacks;
	struct dwell_addrspaces *spaces;
	uint64_t stack[WORDS];
	struct dwell_unwind_start start;
	struct dwell_unwound unwound;
};

static int setup(void **state)
{
	const struct dwell_mmap map = {
		.pid = PID, .start = CODE, .bytes = 0x10000, .path = "/bin/none"
	};
	struct fixture *f = calloc(1, sizeof(*f));

	f->strings = dwell_strings_new();
	f->stacks = dwell_stacks_new();
	f->spaces = dwell_addrspaces_new(f->strings, f->stacks);
	*state = f;
	return dwell_addrspaces_map(f->spaces, &map);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	dwell_addrspaces_free(f->spaces);
	dwell_stacks_free(f->stacks);
	dwell_strings_free(f->strings);
	free(f);
	return 0;
}

/* No file has a table here: frame pointers lead. */
static const struct dwell_unwind_table *no_table(void *user, int32_t pid,
						 const struct dwell_mapping *map)
{
	(void)user;
	assert_int_equal(pid, PID);
	assert_int_equal(map->start, CODE);
	return NULL;
}

/* bp, sp and ip as perf copies them. */
static void begin(struct fixture *f, uint64_t fp, uint64_t pc)
{
	const uint64_t regs[] = { fp, SP, pc };

	assert_true(dwell_unwind_start_set(&f->start, EM_X86_64, PERF_ABI_64, 7 << 6,
					   (const uint8_t *)regs, false));
	f->start.stack = (const uint8_t *)f->stack;
	f->start.stack_bytes = sizeof(f->stack);
}

static void run(struct fixture *f)
{
	dwell_unwind(&f->start, f->spaces, PID, no_table, NULL, &f->unwound);
}

static void frame_set(struct fixture *f, unsigned word, uint64_t fp, uint64_t ra)
{
	f->stack[word] = fp;
	f->stack[word + 1] = ra;
}

static void frame_pointers_lead(void **state)
{
	struct fixture *f = *state;

	begin(f, SP + 16, CODE + 0x100);
	frame_set(f, 2, SP + 80, CODE + 0x200);
	frame_set(f, 10, 0, CODE + 0x300);
	run(f);
	assert_int_equal(f->unwound.end, DWELL_UNWIND_COMPLETE);
	assert_int_equal(f->unwound.count, 3);
	assert_int_equal(f->unwound.addresses[0], CODE + 0x100);
	assert_int_equal(f->unwound.addresses[1], CODE + 0x200);
	assert_int_equal(f->unwound.addresses[2], CODE + 0x300);
	assert_int_equal(f->unwound.cfas[0], SP + 32);
	assert_int_equal(f->unwound.cfas[1], SP + 96);
}

static void ends(void **state)
{
	struct fixture *f = *state;

	/* Where the copy ends. */
	begin(f, SP + 16, CODE + 0x100);
	frame_set(f, 2, SP + sizeof(f->stack), CODE + 0x200);
	run(f);
	assert_int_equal(f->unwound.end, DWELL_UNWIND_TRUNCATED);
	assert_int_equal(f->unwound.count, 2);
	/* Down the stack: nobody calls so. */
	frame_set(f, 2, SP + 8, CODE + 0x200);
	run(f);
	assert_int_equal(f->unwound.end, DWELL_UNWIND_NO_INFO);
	/* To what is no code. */
	frame_set(f, 2, SP + 80, 0x1234);
	frame_set(f, 10, 0, CODE + 0x300);
	run(f);
	assert_int_equal(f->unwound.end, DWELL_UNWIND_NO_INFO);
	assert_int_equal(f->unwound.count, 1);
	/* At an address where nothing is mapped. */
	begin(f, SP + 16, 0x1234);
	run(f);
	assert_int_equal(f->unwound.end, DWELL_UNWIND_NO_MAP);
	assert_int_equal(f->unwound.count, 1);
	/* Without any stack. */
	begin(f, SP + 16, CODE + 0x100);
	f->start.stack = NULL;
	f->start.stack_bytes = 0;
	run(f);
	assert_int_equal(f->unwound.end, DWELL_UNWIND_TRUNCATED);
}

/* Before a function without information has set up its frame, its caller is on top of the stack. */
static void leaf_without_frame(void **state)
{
	struct fixture *f = *state;

	begin(f, 0x99, CODE + 0x100);
	f->stack[0] = CODE + 0x200;
	run(f);
	assert_int_equal(f->unwound.count, 2);
	assert_int_equal(f->unwound.addresses[1], CODE + 0x200);
	assert_int_equal(f->unwound.end, DWELL_UNWIND_NO_INFO);
}

static void registers_of_others(void **state)
{
	struct fixture *f = *state;
	const uint64_t regs[33] = { 0 };

	/* A 32-bit program, a machine without tables, no stack pointer. */
	assert_false(dwell_unwind_start_set(&f->start, EM_X86_64, 1, 7 << 6, (const uint8_t *)regs,
					    false));
	assert_false(dwell_unwind_start_set(&f->start, EM_S390, PERF_ABI_64, 7 << 6,
					    (const uint8_t *)regs, false));
	assert_false(dwell_unwind_start_set(&f->start, EM_X86_64, PERF_ABI_64, 1 << 8,
					    (const uint8_t *)regs, false));
	assert_true(dwell_unwind_start_set(&f->start, EM_AARCH64, PERF_ABI_64, (1ull << 33) - 1,
					   (const uint8_t *)regs, true));
	/* AArch64's frame record, in the other byte order, with an authentication code. */
	f->start.pc = CODE + 0x100;
	f->start.registers[31] = SP;
	f->start.registers[29] = SP + 16;
	f->start.stack = (const uint8_t *)f->stack;
	f->start.stack_bytes = sizeof(f->stack);
	frame_set(f, 2, 0, __builtin_bswap64((CODE + 0x200) | 0x55ull << 48));
	run(f);
	assert_int_equal(f->unwound.end, DWELL_UNWIND_COMPLETE);
	assert_int_equal(f->unwound.count, 2);
	assert_int_equal(f->unwound.addresses[1], CODE + 0x200);
}

enum { GENERATION = 3, TID = 9, DEEPER = 25 };

/* Five frames, the outermost at word 40; and the same seen from DEEPER words further down, from
 * where the copy does not reach it. */
static void outer_frames(struct fixture *f)
{
	static const uint8_t words[] = { 2, 10, 20, 30, 40 };

	for (unsigned i = 0; i < sizeof(words); i++)
		frame_set(f, words[i], i < 4 ? SP + words[i + 1] * 8 : 0, CODE + 0x1000 + i);
}

static void run_deeper(struct fixture *f)
{
	const uint64_t sp = SP - DEEPER * 8;

	memmove(f->stack + DEEPER, f->stack, (WORDS - DEEPER) * sizeof(f->stack[0]));
	begin(f, sp + 16, CODE + 0x500);
	f->start.registers[7] = sp; /* rsp */
	frame_set(f, 2, SP + 16, CODE + 0x600);
	run(f);
	assert_int_equal(f->unwound.end, DWELL_UNWIND_TRUNCATED);
	assert_int_equal(f->unwound.count, 6);
}

static void truncated_chains_are_joined(void **state)
{
	struct unwind_joins *joins = unwind_joins_new();
	struct fixture *f = *state;
	struct dwell_unwound truncated;

	assert_non_null(joins);
	outer_frames(f);
	begin(f, SP + 16, CODE + 0x100);
	run(f);
	assert_int_equal(f->unwound.end, DWELL_UNWIND_COMPLETE);
	assert_int_equal(f->unwound.count, 6);
	unwind_joins_keep(joins, GENERATION, TID, &f->unwound);

	run_deeper(f);
	truncated = f->unwound;
	assert_int_equal(unwind_joins_append(joins, GENERATION, TID, &f->unwound), 6);
	assert_int_equal(f->unwound.count, 7);
	assert_int_equal(f->unwound.addresses[5], CODE + 0x1003);
	assert_int_equal(f->unwound.addresses[6], CODE + 0x1004);

	/* Another thread, another program, or the same frames elsewhere on the stack. */
	f->unwound = truncated;
	assert_int_equal(unwind_joins_append(joins, GENERATION, TID + 1, &f->unwound), 0);
	assert_int_equal(unwind_joins_append(joins, GENERATION, TID + 1024, &f->unwound), 0);
	assert_int_equal(unwind_joins_append(joins, GENERATION + 1, TID, &f->unwound), 0);
	f->unwound.cfas[2] += 8;
	assert_int_equal(unwind_joins_append(joins, GENERATION, TID, &f->unwound), 0);
	f->unwound = truncated;
	f->unwound.addresses[3]++;
	assert_int_equal(unwind_joins_append(joins, GENERATION, TID, &f->unwound), 0);
	assert_int_equal(f->unwound.count, 6);
	/* What is behind the three frames that must agree does not matter. */
	f->unwound = truncated;
	f->unwound.addresses[2]++;
	assert_int_equal(unwind_joins_append(joins, GENERATION, TID, &f->unwound), 6);
	unwind_joins_free(joins);
}

static void long_chains_are_kept_from_outside(void **state)
{
	struct unwind_joins *joins = unwind_joins_new();
	struct fixture *f = *state;
	struct dwell_unwound *unwound = &f->unwound;

	assert_non_null(joins);
	for (uint32_t i = 0; i < DWELL_UNWIND_FRAMES_MAX; i++) {
		unwound->addresses[i] = CODE + i;
		unwound->cfas[i] = SP + 16ull * i;
	}
	unwound->count = DWELL_UNWIND_FRAMES_MAX;
	unwind_joins_keep(joins, GENERATION, TID, unwound);
	unwound->count = DWELL_UNWIND_FRAMES_MAX - 10;
	assert_int_equal(unwind_joins_append(joins, GENERATION, TID, unwound),
			 DWELL_UNWIND_FRAMES_MAX - 10);
	assert_int_equal(unwound->count, DWELL_UNWIND_FRAMES_MAX);
	/* No more than there is room for. */
	memmove(unwound->addresses + 1, unwound->addresses,
		(DWELL_UNWIND_FRAMES_MAX - 1) * sizeof(unwound->addresses[0]));
	memmove(unwound->cfas + 1, unwound->cfas,
		(DWELL_UNWIND_FRAMES_MAX - 1) * sizeof(unwound->cfas[0]));
	unwound->count = DWELL_UNWIND_FRAMES_MAX - 9;
	assert_int_equal(unwind_joins_append(joins, GENERATION, TID, unwound), 0);
	assert_int_equal(unwound->count, DWELL_UNWIND_FRAMES_MAX - 9);
	/* Of the innermost nothing is kept. */
	memmove(unwound->addresses, unwound->addresses + 1, 100 * sizeof(unwound->addresses[0]));
	memmove(unwound->cfas, unwound->cfas + 1, 100 * sizeof(unwound->cfas[0]));
	unwound->count = 100;
	assert_int_equal(unwind_joins_append(joins, GENERATION, TID, unwound), 0);
	unwind_joins_free(joins);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(frame_pointers_lead, setup, teardown),
		cmocka_unit_test_setup_teardown(ends, setup, teardown),
		cmocka_unit_test_setup_teardown(leaf_without_frame, setup, teardown),
		cmocka_unit_test_setup_teardown(registers_of_others, setup, teardown),
		cmocka_unit_test_setup_teardown(truncated_chains_are_joined, setup, teardown),
		cmocka_unit_test_setup_teardown(long_chains_are_kept_from_outside, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
