// SPDX-License-Identifier: MIT
/* Tests of record/side.c and of the targets it makes, over rings in memory: mappings, names, births
 * and deaths are known when, and not before, the record at hand was written. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/synth/rings.h"

static void stack_at(struct rings *r, uint64_t time_ns, int32_t tid)
{
	CHAIN(r, USER, 0x10100);
	clock_sample(r, 0, time_ns, tid);
}

static void a_map_is_not_for_older_samples(void **state)
{
	struct rings *r = *state;

	target(r, A);
	stack_at(r, 1000, A);
	stack_at(r, 1200, A);
	stack_at(r, 1400, A);
	maps(r, 1, 1100, A, 0x10000, "/bin/a");
	maps(r, 2, 1300, A, 0x10000, "/bin/b");
	pass(r);
	assert_trace(r, "1000 0 sample 4000010.1 0 1000 |+0\n"
			"1200 0 sample 4000010.1 0 1000 |/bin/a+100\n"
			"1400 0 sample 4000010.1 0 1000 |/bin/b+100\n");
}

/* Nobody asked for a stack of it yet: all its mappings will be read at once. */
static void maps_of_unknown_processes_are_left_to_proc(void **state)
{
	struct rings *r = *state;

	maps(r, 1, 1100, B, 0x10000, "/bin/b");
	pass(r);
	assert_false(dwell_addrspaces_known(r->rec.spaces, B));
	assert_trace(r, "");
}

static void exec_clears_the_maps(void **state)
{
	struct rings *r = *state;

	target(r, A);
	mapped(r, A, 0x10000, "/bin/a");
	stack_at(r, 1000, A);
	names_itself(r, 1, 1050, A, 0, "named"); /* no exec: nothing is cleared */
	stack_at(r, 1100, A);
	execs(r, 1, 1150, A, "new");
	stack_at(r, 1200, A);
	maps(r, 1, 1250, A, 0x10000, "/bin/new");
	stack_at(r, 1300, A);
	pass(r);
	assert_int_equal(tids_slot(&r->rec.tids, A)->exec_ns, 1150);
	assert_trace(r, "1000 0 sample 4000010.1 0 1000 |/bin/a+100\n"
			"1050 -1 comm 4000010.1 named\n"
			"1100 0 sample 4000010.1 0 1000 |/bin/a+100\n"
			"1150 -1 comm 4000010.1 new exec\n"
			"1200 0 sample 4000010.1 0 1000 |+0\n"
			"1300 0 sample 4000010.1 0 1000 |/bin/new+100\n");
}

/* The build id decides, with or without an inode: two of them are two files. */
static void build_ids_that_the_kernel_tells(void **state)
{
	const struct dwell_stacks *stacks;
	struct rings *r = *state;
	uint32_t found = 0;

	target(r, A);
	maps_identified(r, 1, 1000, A, 0x10000, "/bin/a", 0x11);
	stack_at(r, 1050, A);
	maps_identified(r, 1, 1100, A, 0x10000, "/bin/a", 0x22);
	stack_at(r, 1150, A);
	maps_identified(r, 1, 1200, A, 0x10000, "/bin/a", 0x11);
	stack_at(r, 1250, A);
	pass(r);
	rings_read(r);
	stacks = dwell_source_stacks(r->reading.source);
	for (uint32_t i = 0; i < dwell_stacks_file_count(stacks); i++) {
		const struct dwell_file *file = dwell_stacks_file(stacks, i);

		if (!file->build_id_bytes)
			continue;
		found++;
		assert_int_equal(file->build_id_bytes, 20);
		assert_int_equal(file->build_id[19], found * 0x11);
		assert_int_equal(file->inode, 0);
	}
	assert_int_equal(found, 2);
}

static void kernel_code_comes_and_goes(void **state)
{
	const uint64_t place = KERNEL_TEXT + 0x40000000;
	struct rings *r = *state;

	target(r, A);
	kernel_code(r, 1, 1000, place, false, "bpf_prog_1_first");
	for (uint64_t time_ns = 1050; time_ns < 1400; time_ns += 100) {
		CHAIN(r, KERNEL, place + 0x20, SCHEDULE);
		clock_sample(r, 0, time_ns, A);
	}
	kernel_code(r, 1, 1100, place, true, "bpf_prog_1_first");
	kernel_code(r, 1, 1200, place, false, "bpf_prog_2_second");
	kernel_code(r, 1, 1300, place, false, "bpf_trampoline_3");
	pass(r);
	rings_read(r);
	assert_int_equal(r->reading.lines.count, 4);
	assert_non_null(strstr(r->reading.lines.data[0], "[bpf_prog_1_first]+20"));
	assert_null(strstr(r->reading.lines.data[1], "bpf"));
	assert_non_null(strstr(r->reading.lines.data[2], "[bpf_prog_2_second]+20"));
	assert_non_null(strstr(r->reading.lines.data[3], "[bpf_trampoline_3]+20"));
}

static void fork_copies_the_maps(void **state)
{
	struct rings *r = *state;

	target(r, A);
	mapped(r, A, 0x10000, "/bin/a");
	forks(r, 1, 1000, A, B);
	maps(r, 1, 1100, A, 0x10000, "/bin/parent");
	stack_at(r, 1200, B);
	stack_at(r, 1300, A);
	maps(r, 1, 1400, B, 0x10000, "/bin/child");
	stack_at(r, 1500, B);
	stack_at(r, 1600, A);
	forks(r, 1, 1700, A, A1); /* a thread shares them */
	stack_at(r, 1800, A1);
	pass(r);
	assert_trace(r, "1000 -1 fork 4000020.1 of 4000010.1\n"
			"1200 0 sample 4000020.1 0 1000 |/bin/a+100\n"
			"1300 0 sample 4000010.1 0 1000 |/bin/parent+100\n"
			"1500 0 sample 4000020.1 0 1000 |/bin/child+100\n"
			"1600 0 sample 4000010.1 0 1000 |/bin/parent+100\n"
			"1700 -1 fork 4000011.1 of 4000010.1\n"
			"1800 0 sample 4000011.1 0 1000 |/bin/parent+100\n");
}

/* A1 goes on as A, and is still the thread that it was. */
static void assert_taken_over(struct rings *r, const char *expected)
{
	const struct dwell_threads *threads;

	assert_false(tids_slot(&r->rec.tids, A1)->alive);
	assert_true(tids_slot(&r->rec.tids, A)->observed);
	assert_int_equal(r->rec.tids.observed_alive, 1);
	assert_trace(r, expected);
	threads = dwell_source_threads(r->reading.source);
	/* Nobody's, or the leader's of before, whose last switch is not told without tracepoints.
	 */
	assert_int_not_equal(dwell_threads_find(threads, A1), dwell_threads_find(threads, A));
	assert_int_equal(dwell_threads_count(threads), 3); /* idle and the two of before */
}

/* The kernel ends the other threads, the leader too, and the caller goes on under its tid. */
static void exec_by_another_thread_than_the_leader(void **state)
{
	struct rings *r = *state;

	r->config.all = true;
	target(r, A);
	target(r, A1);
	switches(r, 0, 1000, IDLE, R, A1);
	exits(r, 1, 1050, A);
	switches(r, 1, 1100, A, Z, IDLE);
	execs(r, 0, 1200, A, "new");
	switches(r, 0, 1300, A, S, IDLE);
	switches(r, 0, 1400, IDLE, R, A);
	pass(r);
	assert_int_equal(r->rec.cpus[0].breaks, 0);
	assert_taken_over(r, "1000 0 switch 0.1 R >4000011.1\n"
			     "1050 -1 exit 4000010.1\n"
			     "1100 1 switch 4000010.1 Z >0.1\n"
			     "1200 -1 comm 4000010.1 new exec\n"
			     "1300 0 switch 4000010.1 S >0.1\n"
			     "1400 0 switch 0.1 R >4000010.1\n");
}

/* The same, off the CPU between the leader's end and the new name. */
static void exec_that_is_preempted_half_way(void **state)
{
	struct rings *r = *state;

	target(r, A);
	target(r, A1);
	switches(r, 0, 1000, IDLE, R, A1);
	switches(r, 1, 1100, A, Z, IDLE);
	switches(r, 0, 1150, A, PREEMPTED, IDLE);
	switches(r, 1, 1160, IDLE, R, A);
	execs(r, 1, 1200, A, "new");
	switches(r, 1, 1300, A, S, IDLE);
	pass(r);
	assert_int_equal(r->rec.cpus[0].breaks, 0);
	assert_taken_over(r, "1000 0 switch 0.1 R >4000011.1\n"
			     "1100 1 switch 4000010.1 Z >0.1\n"
			     "1150 0 switch 4000010.1 R+ >0.1\n"
			     "1160 1 switch 0.1 R >4000010.1\n"
			     "1200 -1 comm 4000010.1 new exec\n"
			     "1300 1 switch 4000010.1 S >0.1\n");
}

static void exec_half_way_without_tracepoints(void **state)
{
	struct rings *r = *state;

	target(r, A);
	target(r, A1);
	comes(r, 0, 1000, A1);
	exits(r, 1, 1100, A);
	leaves(r, 0, 1150, A);
	comes(r, 1, 1160, A);
	execs(r, 1, 1200, A, "new");
	leaves(r, 1, 1300, A);
	pass(r);
	assert_taken_over(r, "1000 0 in 4000011.1 none\n"
			     "1100 -1 exit 4000010.1\n"
			     "1150 0 out 4000010.1 none\n"
			     "1160 1 in 4000010.1 none\n"
			     "1200 -1 comm 4000010.1 new exec\n"
			     "1300 1 out 4000010.1 none\n");
}

/* What other threads do on a CPU is hidden by the filter: who was seen there last may be gone. */
static void nobody_takes_over_from_a_thread_that_is_no_target(void **state)
{
	struct rings *r = *state;

	target(r, A);
	forks(r, 1, 900, B, B1);
	switches(r, 0, 1000, A, S, B1);
	switches(r, 0, 1100, B, S, A);
	pass(r);
	assert_true(tids_slot(&r->rec.tids, B1)->alive);
	assert_trace(r, "1000 0 switch 4000010.1 S >4000021.1\n"
			"1100 0 switch 4000020.1 S >4000010.1\n");
}

/* A leader that lives has not been replaced: its sibling left unseen. */
static void nobody_takes_over_from_a_leader_that_lives(void **state)
{
	struct rings *r = *state;

	target(r, A);
	target(r, A1);
	switches(r, 0, 1000, IDLE, R, A1);
	switches(r, 0, 1100, A, S, IDLE);
	switches(r, 0, 1200, IDLE, R, A1);
	pass(r);
	assert_true(tids_slot(&r->rec.tids, A1)->observed);
	assert_trace(r, "1000 0 switch 0.1 R >4000011.1\n"
			"1100 0 switch 4000010.1 S >0.1\n"
			"1200 0 switch 0.1 R >4000011.1\n");
}

/* All in one pass: what the tid meant is told by the time of each record. */
static void a_tid_used_again(void **state)
{
	struct rings *r = *state;

	target(r, A);
	target(r, B);
	mapped(r, A, 0x10000, "/bin/a");
	mapped(r, B, 0x10000, "/bin/b");
	switches(r, 0, 1000, IDLE, R, B);
	exits(r, 0, 1100, B);
	CHAIN(r, KERNEL, SCHEDULE + 0x10);
	switch_named(r, 0, 1200, GONE, B, X, IDLE);
	forks(r, 1, 1300, A, B);
	switches(r, 0, 1400, IDLE, R, B);
	stack_at(r, 1500, B);
	exits(r, 0, 1600, B);
	switch_named(r, 0, 1700, GONE, B, Z, IDLE);
	pass(r);
	assert_int_equal(r->rec.tids.observed_alive, 1);
	assert_false(dwell_addrspaces_known(r->rec.spaces, B));
	assert_trace(r, "1000 0 switch 0.1 R >4000020.1\n"
			"1100 -1 exit 4000020.1\n"
			"1200 0 switch 4000020.1 X >0.1 |[kernel]+110\n"
			"1300 -1 fork 4000020.2 of 4000010.1\n"
			"1400 0 switch 0.1 R >4000020.2\n"
			"1500 0 sample 4000020.2 0 1000 |/bin/a+100\n"
			"1600 -1 exit 4000020.2\n"
			"1700 0 switch 4000020.2 Z >0.1\n");
}

/* The maps go with the last thread, whichever it is. */
static void maps_live_as_long_as_a_thread(void **state)
{
	struct rings *r = *state;

	target(r, A);
	target(r, A1);
	mapped(r, A, 0x10000, "/bin/a");
	switch_named(r, 0, 1000, GONE, A, Z, IDLE);
	pass(r);
	assert_true(dwell_addrspaces_known(r->rec.spaces, A));
	stack_at(r, 1100, A1);
	switch_named(r, 0, 1200, GONE, A1, X, IDLE);
	pass(r);
	assert_false(dwell_addrspaces_known(r->rec.spaces, A));
	assert_int_equal(r->rec.tids.observed_alive, 0);
	assert_trace(r, "1000 0 switch 4000010.1 Z >0.1\n"
			"1100 0 sample 4000011.1 0 1000 |/bin/a+100\n"
			"1200 0 switch 4000011.1 X >0.1\n");
}

static void children_of_targets_are_targets(void **state)
{
	struct rings *r = *state;

	target(r, A);
	forks(r, 0, 1000, A, A1);
	forks(r, 0, 1100, A1, B);
	forks(r, 0, 1200, C, C + 1); /* of a stranger */
	switches(r, 0, 1300, C + 1, S, IDLE);
	switches(r, 0, 1400, IDLE, R, B);
	pass(r);
	assert_int_equal(r->rec.tids.observed_alive, 3);
	assert_true(tids_slot(&r->rec.tids, C + 1)->alive);
	assert_false(r->rec.refilter); /* there is no filter */
	assert_int_equal(tids_slot(&r->rec.tids, B)->comm, tids_slot(&r->rec.tids, A)->comm);
	assert_trace(r, "1000 -1 fork 4000011.1 of 4000010.1\n"
			"1100 -1 fork 4000020.1 of 4000011.1\n"
			"1400 0 switch 0.1 R >4000020.1\n");
}

static void children_are_none_if_so_asked(void **state)
{
	struct rings *r = *state;

	r->config.inherit = false;
	target(r, A);
	forks(r, 0, 1000, A, A1);
	switches(r, 0, 1100, IDLE, R, A1);
	pass(r);
	assert_int_equal(r->rec.tids.observed_alive, 1);
	assert_trace(r, "");
}

static void all_threads_are_wanted_or_one_users(void **state)
{
	struct rings *r = *state;

	r->config.all = true;
	forks(r, 0, 1000, B, B1);
	pass(r);
	r->config.uid = 12345; /* not that of a process that is gone */
	forks(r, 0, 1100, B, C);
	pass(r);
	assert_int_equal(r->rec.tids.observed_alive, 2); /* the parent was met, too */
	assert_trace(r, "1000 -1 fork 4000021.1 of 4000020.1\n");
}

static void children_outside_the_filter_ask_for_another(void **state)
{
	const struct dwell_threads *threads;
	const struct dwell_thread *thread;
	const uint32_t tids[] = { A };
	struct rings *r = *state;

	r->rec.filtering = true;
	tidfilter_build(&r->rec.filter, tids, 1, B1);
	target(r, A);
	forks(r, 0, 1000, A, C); /* newer than those asked for */
	forks(r, 0, 1010, B, B1);
	pass(r);
	assert_false(r->rec.refilter);
	assert_int_equal(r->rec.uncovered.count, 0);
	forks(r, 0, 1100, A, B); /* numbers went round */
	pass(r);
	assert_true(r->rec.refilter);
	assert_int_equal(r->rec.uncovered.count, 1);
	r->config.inherit = false;
	r->rec.passed_over = 77;
	assert_int_equal(targets_refilter(&r->rec), 0);
	assert_false(r->rec.refilter);
	assert_int_equal(r->rec.uncovered.count, 0);
	assert_int_equal(r->rec.passed_over, 0);
	assert_in_range(r->rec.overlap_until_ns, recording_now_ns(&r->rec) - 1000000000,
			recording_now_ns(&r->rec) + 1000000000);
	assert_true(tidfilter_covers(&r->rec.filter, A));
	assert_true(tidfilter_covers(&r->rec.filter, B));
	assert_true(tidfilter_covers(&r->rec.filter, C));
	assert_false(tidfilter_covers(&r->rec.filter, C + 1));
	rings_read(r);
	assert_int_equal(r->reading.lines.count, 3);
	assert_string_equal(r->reading.lines.data[0], "1000 -1 fork 4000030.1 of 4000010.1");
	assert_string_equal(r->reading.lines.data[1], "1100 -1 fork 4000020.1 of 4000010.1");
	assert_string_equal(r->reading.lines.data[2], "1100 -1 stopped 4000020.1");
	threads = dwell_source_threads(r->reading.source);
	thread = dwell_threads_get(threads, dwell_threads_find(threads, B));
	assert_false(thread->stopped); /* the new filter lets it through */
	assert_true(thread->joined_ns >= r->rec.overlap_until_ns - 1000000);
	assert_int_equal(thread->born_ns, 1100);
}

/* Strangers bring the numbers round, too: the filter is made anew before a target is born there. */
static void strangers_near_the_wrap_ask_for_a_filter(void **state)
{
	struct rings *r = *state;

	r->rec.filtering = true;
	r->rec.pid_max = A + 1000;
	tidfilter_build(&r->rec.filter, NULL, 0, A);
	forks(r, 0, 1000, B, B1); /* 1,000 more, and it begins again at 300 */
	pass(r);
	assert_true(r->rec.refilter);
	assert_int_equal(r->rec.uncovered.count, 0);
	r->rec.refilter = false;
	r->rec.pid_max = A + 4000;
	forks(r, 0, 1100, B, B1);
	pass(r);
	assert_false(r->rec.refilter);
}

static void names_are_made_printable(void **state)
{
	struct rings *r = *state;

	target(r, A);
	names_itself(r, 0, 1000, A, 0, "a\x1b[31m\nb");
	names_itself(r, 0, 1100, B, 0, "unheard of");
	pass(r);
	assert_string_equal(dwell_strings_get(r->rec.strings, tids_slot(&r->rec.tids, B)->comm),
			    "unheard of");
	assert_trace(r, "1000 -1 comm 4000010.1 a?[31m?b\n");
}

static void assert_refused(uint32_t type, const void *body, size_t bytes)
{
	struct rings *r = rings_new(true);
	struct dwell_err err;
	int rc;

	ring_put(ring_side(r, 0), type, 0, body, bytes);
	rc = intake_pass(&r->rec);
	err = r->rec.err;
	rings_free(r);
	assert_int_equal(rc, -EBADMSG);
	assert_int_equal(err.code, -EBADMSG);
	assert_non_null(strstr(err.msg, "cannot record"));
}

static void records_too_short_for_what_they_are(void **state)
{
	char endless[128];

	(void)state;
	memset(endless, 'x', sizeof(endless));
	assert_refused(PERF_RECORD_FORK, (uint64_t[2]){ 0 }, 16);
	assert_refused(PERF_RECORD_EXIT, (uint64_t[2]){ 0 }, 16);
	assert_refused(PERF_RECORD_MMAP2, (uint64_t[7]){ 0 }, 56);
	assert_refused(PERF_RECORD_COMM, "", 0);
	/* Times of 'x' come before this pass, and texts of 'x' have no end. */
	memset(endless + 120, 0, 8);
	assert_refused(PERF_RECORD_COMM, endless, 8);
}

static void records_of_no_use_are_passed_by(void **state)
{
	struct rings *r = *state;

	trailed(ring_side(r, 0), PERF_RECORD_NAMESPACES, 0, (uint64_t[4]){ 0 }, 32, A, 1000);
	exits(r, 0, 1100, A); /* never heard of */
	pass(r);
	assert_int_equal(r->rec.records, 2);
	assert_trace(r, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RINGS_TEST(a_map_is_not_for_older_samples),
		RINGS_TEST(maps_of_unknown_processes_are_left_to_proc),
		RINGS_TEST(exec_clears_the_maps),
		RINGS_TEST(build_ids_that_the_kernel_tells),
		RINGS_TEST(kernel_code_comes_and_goes),
		RINGS_TEST(fork_copies_the_maps),
		RINGS_TEST(exec_by_another_thread_than_the_leader),
		RINGS_TEST(exec_that_is_preempted_half_way),
		TASKS_TEST(exec_half_way_without_tracepoints),
		RINGS_TEST(nobody_takes_over_from_a_thread_that_is_no_target),
		RINGS_TEST(nobody_takes_over_from_a_leader_that_lives),
		RINGS_TEST(a_tid_used_again),
		RINGS_TEST(maps_live_as_long_as_a_thread),
		RINGS_TEST(children_of_targets_are_targets),
		RINGS_TEST(children_are_none_if_so_asked),
		RINGS_TEST(all_threads_are_wanted_or_one_users),
		RINGS_TEST(children_outside_the_filter_ask_for_another),
		RINGS_TEST(strangers_near_the_wrap_ask_for_a_filter),
		RINGS_TEST(names_are_made_printable),
		cmocka_unit_test(records_too_short_for_what_they_are),
		RINGS_TEST(records_of_no_use_are_passed_by),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
