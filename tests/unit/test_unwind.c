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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(frame_pointers_lead, setup, teardown),
		cmocka_unit_test_setup_teardown(ends, setup, teardown),
		cmocka_unit_test_setup_teardown(leaf_without_frame, setup, teardown),
		cmocka_unit_test_setup_teardown(registers_of_others, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
