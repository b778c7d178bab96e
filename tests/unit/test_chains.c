// SPDX-License-Identifier: MIT
/* Tests of record/chains.c: chains as the kernel writes them become stacks, junk is cut, chains
 * that are too long or go in circles stay bounded, and a changed mapping is never missed. */
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/chains.h"

#define USER   ((uint64_t)PERF_CONTEXT_USER)
#define KERNEL ((uint64_t)PERF_CONTEXT_KERNEL)

enum { PID = 5, START = 0x1000000, LONG = 5000 };

struct fixture {
	struct dwell_strings *strings;
	struct dwell_stacks *stacks;
	struct dwell_addrspaces *spaces;
	struct identify identify; /* its writer writes to nowhere */
	struct chains *chains;
	char text[4096];
};

static void map(struct fixture *f, uint64_t start, const char *path)
{
	struct dwell_mmap mapping = { .pid = PID,
				      .start = start,
				      .bytes = 0x10000,
				      .file_offset = 0x1000,
				      .dev_major = 8,
				      .inode = 1,
				      .path = path };

	assert_int_equal(dwell_addrspaces_map(f->spaces, &mapping), 0);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct dwell_err err = { 0 };

	if (!f)
		return -1;
	f->strings = dwell_strings_new();
	f->stacks = dwell_stacks_new();
	f->spaces = dwell_addrspaces_new(f->strings, f->stacks);
	*state = f;
	if (!f->strings || !f->stacks || !f->spaces ||
	    trace_writer_new(1, f->strings, f->stacks, &f->identify.writer, &err) ||
	    trace_writer_open(f->identify.writer, "/dev/null", &err))
		return -1;
	f->identify.strings = f->strings;
	f->identify.stacks = f->stacks;
	f->identify.jit = (struct jitcode){ .strings = f->strings, .stacks = f->stacks };
	if (chains_new(f->strings, f->stacks, f->spaces, &f->identify, "/proc/kallsyms", false,
		       &f->chains, &err))
		return -1;
	map(f, START, "/bin/a");
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	chains_free(f->chains);
	trace_writer_close(f->identify.writer);
	identify_release(&f->identify);
	dwell_addrspaces_free(f->spaces);
	dwell_stacks_free(f->stacks);
	dwell_strings_free(f->strings);
	free(f);
	return 0;
}

/* "|PATH+OFFSET|..." from the root; kernel frames as "|k". */
static void text_add(struct fixture *f, uint32_t stack)
{
	const struct dwell_stack_node *node = dwell_stacks_node(f->stacks, stack);
	const struct dwell_frame *frame = dwell_stacks_frame(f->stacks, node->frame);
	const struct dwell_file *file = dwell_stacks_file(f->stacks, frame->file);
	size_t used;

	if (!stack)
		return;
	text_add(f, node->parent);
	used = strlen(f->text);
	if (dwell_file_is_kernel(file))
		snprintf(f->text + used, sizeof(f->text) - used, "|k");
	else
		snprintf(f->text + used, sizeof(f->text) - used, "|%s+%llx",
			 dwell_strings_get(f->strings, file->path),
			 (unsigned long long)frame->offset);
}

static uint32_t stack_of(struct fixture *f, int32_t pid, const uint64_t *chain, uint64_t count,
			 enum dwell_callchain_part part)
{
	const struct dwell_perf_sample sample = { .chain = chain, .chain_count = count };
	uint32_t stack = 77;

	assert_int_equal(chains_stack(f->chains, pid, &sample, part, &stack), 0);
	return stack;
}

static const char *text(struct fixture *f, int32_t pid, const uint64_t *chain, uint64_t count,
			enum dwell_callchain_part part)
{
	uint32_t stack = stack_of(f, pid, chain, count, part);

	f->text[0] = '\0';
	text_add(f, stack);
	return f->text;
}

static uint32_t depth(struct fixture *f, const uint64_t *chain, uint64_t count)
{
	uint32_t stack = stack_of(f, PID, chain, count, DWELL_CALLCHAIN_ALL), n = 0;

	for (; stack; stack = dwell_stacks_node(f->stacks, stack)->parent)
		n++;
	return n;
}

static void return_addresses_lie_in_the_call(void **state)
{
	const uint64_t chain[] = { USER, START + 0x100, START + 0x205, START + 0x300 };
	struct fixture *f = *state;

	assert_string_equal(text(f, PID, chain, 4, DWELL_CALLCHAIN_ALL),
			    "|/bin/a+12ff|/bin/a+1204|/bin/a+1100");
	assert_string_equal(text(f, PID, chain, 2, DWELL_CALLCHAIN_ALL), "|/bin/a+1100");
	assert_string_equal(text(f, PID, chain, 1, DWELL_CALLCHAIN_ALL), "");
	assert_string_equal(text(f, PID, chain, 0, DWELL_CALLCHAIN_ALL), "");
	assert_int_equal(chains_stats(f->chains)->junk_cut, 0);
}

/* What was told by an earlier chain is marked, if we joined it and not whoever wrote the chain. */
static void joined_chains_are_marked(void **state)
{
	const uint64_t chain[] = { USER, START + 0x100, DWELL_CALLCHAIN_JOINED, START + 0x205 };
	struct fixture *f = *state;

	assert_string_equal(text(f, PID, chain, 4, DWELL_CALLCHAIN_UNWOUND),
			    "|/bin/a+1204|[joined]+0|/bin/a+1100");
	assert_string_equal(text(f, PID, chain, 4, DWELL_CALLCHAIN_ALL), "|/bin/a+1100");
}

static void junk_ends_a_chain(void **state)
{
	const uint64_t chain[] = { USER, START + 0x100, 0xdead, START + 0x205 };
	const uint64_t lost[] = { USER, 0xdead, START + 0x205 };
	const uint64_t zero[] = { USER, START + 0x100, 0 };
	struct fixture *f = *state;

	assert_string_equal(text(f, PID, chain, 4, DWELL_CALLCHAIN_ALL), "|/bin/a+1100");
	assert_int_equal(chains_stats(f->chains)->junk_cut, 1);
	/* Where it was is not known, but that it was there is. */
	assert_string_equal(text(f, PID, lost, 3, DWELL_CALLCHAIN_ALL), "|+0");
	assert_string_equal(text(f, PID, zero, 3, DWELL_CALLCHAIN_ALL), "|/bin/a+1100");
	assert_int_equal(chains_stats(f->chains)->junk_cut, 3);
}

static void each_part_where_it_is_known(void **state)
{
	const uint64_t chain[] = { KERNEL, 0xffffffff81000100, 0xffffffff81000205,
				   USER,   START + 0x100,      START + 0x205 };
	struct fixture *f = *state;

	assert_string_equal(text(f, PID, chain, 6, DWELL_CALLCHAIN_ALL),
			    "|/bin/a+1204|/bin/a+1100|k|k");
	assert_string_equal(text(f, -1, chain, 6, DWELL_CALLCHAIN_ALL), "|k|k");
	assert_string_equal(text(f, PID, chain, 6, DWELL_CALLCHAIN_INTERRUPT), "|k|k");
	assert_string_equal(text(f, PID + 1, chain, 6, DWELL_CALLCHAIN_ALL), "|+0|k|k");
	/* Addresses without a marker before them are of no part. */
	assert_string_equal(text(f, PID, chain + 1, 2, DWELL_CALLCHAIN_ALL), "");
}

static void circles_and_endless_chains_stay_bounded(void **state)
{
	uint64_t *chain = malloc(LONG * sizeof(*chain));
	struct fixture *f = *state;

	assert_non_null(chain);
	chain[0] = USER;
	for (uint32_t i = 1; i < LONG; i++)
		chain[i] = START + 0x100;
	assert_in_range(depth(f, chain, LONG), 2, 12);
	for (uint32_t i = 1; i < LONG; i++)
		chain[i] = START + i;
	assert_in_range(depth(f, chain, LONG), 1000, 1030);
	for (uint32_t i = 0; i < LONG; i++)
		chain[i] = UINT64_MAX - i % 4095;
	assert_int_equal(depth(f, chain, LONG), 0); /* markers alone */
	free(chain);
}

/* A function that calls itself has one return address again and again. */
static void recursion_is_whole(void **state)
{
	uint64_t chain[42] = { USER };
	struct fixture *f = *state;

	for (uint32_t i = 1; i < 41; i++)
		chain[i] = START + 0x100;
	chain[41] = START + 0x200;
	assert_int_equal(depth(f, chain, 42), 41);
	assert_int_equal(chains_stats(f->chains)->junk_cut, 0);
}

static void a_cut_chain_says_so_at_its_root(void **state)
{
	uint32_t max = (uint32_t)proc_number("/proc/sys/kernel/perf_event_max_stack", 127);
	uint64_t *chain = malloc(((size_t)max + 1) * sizeof(*chain));
	struct fixture *f = *state;

	assert_non_null(chain);
	chain[0] = USER;
	for (uint32_t i = 1; i <= max; i++)
		chain[i] = START + 16 * i;
	/* The marker does not count. */
	assert_null(strstr(text(f, PID, chain, max, DWELL_CALLCHAIN_ALL), DWELL_FRAME_TRUNCATED));
	assert_ptr_equal(strstr(text(f, PID, chain, max + 1, DWELL_CALLCHAIN_ALL),
				"|" DWELL_FRAME_TRUNCATED),
			 f->text);
	/* Cut by junk first: the kernel's end was not reached. */
	chain[2] = 0xdead;
	assert_string_equal(text(f, PID, chain, max + 1, DWELL_CALLCHAIN_ALL), "|/bin/a+1010");
	assert_int_equal(chains_stats(f->chains)->truncated, 1);
	free(chain);
}

static void a_changed_mapping_is_seen(void **state)
{
	const uint64_t chain[] = { USER, START + 0x100 };
	struct fixture *f = *state;
	uint32_t first = stack_of(f, PID, chain, 2, DWELL_CALLCHAIN_ALL);

	assert_int_equal(stack_of(f, PID, chain, 2, DWELL_CALLCHAIN_ALL), first);
	map(f, START, "/bin/b");
	assert_string_equal(text(f, PID, chain, 2, DWELL_CALLCHAIN_ALL), "|/bin/b+1100");
	assert_int_equal(dwell_addrspaces_exec(f->spaces, PID), 0);
	assert_string_equal(text(f, PID, chain, 2, DWELL_CALLCHAIN_ALL), "|+0");
	map(f, START, "/bin/a");
	assert_int_equal(stack_of(f, PID, chain, 2, DWELL_CALLCHAIN_ALL), first);
}

static void frames_of_proc_stack(void **state)
{
	struct proc_stack_frame frames[2] = { { "vfs_read", 0x10 }, { "no_such_function_", 0x20 } };
	struct fixture *f = *state;
	uint32_t stack = 77;

	assert_int_equal(chains_proc_stack(f->chains, frames, 2, &stack), 0);
	f->text[0] = '\0';
	text_add(f, stack);
	assert_string_equal(f->text, chains_kernel_hidden(f->chains) ? "" : "|k");
	if (stack)
		assert_string_equal(
			dwell_strings_get(
				f->strings,
				dwell_stacks_frame(f->stacks,
						   dwell_stacks_node(f->stacks, stack)->frame)
					->symbol),
			"vfs_read");
}

#define CHAINS_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHAINS_TEST(return_addresses_lie_in_the_call),
		CHAINS_TEST(joined_chains_are_marked),
		CHAINS_TEST(junk_ends_a_chain),
		CHAINS_TEST(each_part_where_it_is_known),
		CHAINS_TEST(circles_and_endless_chains_stay_bounded),
		CHAINS_TEST(recursion_is_whole),
		CHAINS_TEST(a_cut_chain_says_so_at_its_root),
		CHAINS_TEST(a_changed_mapping_is_seen),
		CHAINS_TEST(frames_of_proc_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
