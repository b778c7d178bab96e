// SPDX-License-Identifier: MIT
/* Tests of record/intake.c over rings in memory: records as the kernel writes them become the
 * events of a trace, in time order, of targets only, with the stacks that were valid then. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "tests/synth/rings.h"

static void one_order_of_all_rings(void **state)
{
	struct rings *r = *state;

	r->config.all = true;
	target(r, A);
	target(r, B);
	switches(r, 0, 1100, IDLE, R, A);
	switches(r, 0, 1400, A, S, IDLE);
	switches(r, 1, 1200, IDLE, R, B);
	wakes(r, 1, 1500, B, 0, A);
	switches(r, 1, 1600, B, PREEMPTED, IDLE);
	forks(r, 1, 1300, B, C);
	switches(r, 2, 1350, IDLE, R, C);
	names_itself(r, 2, 1360, C, 0, "child");
	pass(r);
	assert_int_equal(r->rec.records, 8);
	assert_trace(r, "1100 0 switch 0.1 R >4000010.1\n"
			"1200 1 switch 0.1 R >4000020.1\n"
			"1300 -1 fork 4000030.1 of 4000020.1\n"
			"1350 2 switch 0.1 R >4000030.1\n"
			"1360 -1 comm 4000030.1 child\n"
			"1400 0 switch 4000010.1 S >0.1\n"
			"1500 1 waking 4000010.1 by 4000020.1 0 at 1\n"
			"1600 1 switch 4000020.1 R+ >0.1\n");
}

static void what_is_newer_than_the_pass_waits(void **state)
{
	struct rings *r = *state;

	target(r, A);
	switches(r, 0, 1100, IDLE, R, A);
	/* As if stamped while the pass goes on: by a clock that is ahead of ours. */
	switches(r, 0, recording_now_ns(&r->rec) + 3600000000000, A, S, IDLE);
	pass(r);
	assert_int_equal(r->rec.records, 1);
	/* With the window closed nothing more comes: all of it is taken. */
	r->rec.end_ns = 2000;
	pass(r);
	assert_int_equal(r->rec.records, 2);
	assert_trace(r, "1100 0 switch 0.1 R >4000010.1\n");
}

static void threads_that_are_no_targets_are_passed_over(void **state)
{
	struct rings *r = *state;

	target(r, A);
	switches(r, 0, 1100, IDLE, R, B);
	clock_sample(r, 0, 1150, B);
	switches(r, 0, 1200, B, S, A); /* one of the two is enough */
	wakes(r, 0, 1300, A, 0, B);
	clock_sample(r, 0, 1350, A);
	switches(r, 0, 1400, A, S, B);
	switches(r, 0, 1500, B, S, IDLE);
	wakes(r, 0, 1600, IDLE, HARDIRQ, B);
	pass(r);
	assert_int_equal(r->rec.passed_over, 4);
	assert_int_equal(r->rec.events.cpus[0].counts[RECORD_SWITCH].parsed, 4);
	assert_int_equal(r->rec.events.cpus[0].counts[RECORD_WAKING].parsed, 2);
	assert_int_equal(r->rec.events.cpus[0].counts[RECORD_CLOCK].parsed, 2);
	assert_trace(r, "1200 0 switch 4000020.1 S >4000010.1\n"
			"1350 0 sample 4000010.1 0 1000\n"
			"1400 0 switch 4000010.1 S >4000020.1\n");
}

static void every_state_of_a_thread_that_leaves(void **state)
{
	static const int64_t states[] = { R, S, D, PREEMPTED, 3 };
	struct rings *r = *state;

	target(r, A);
	for (uint32_t i = 0; i < 5; i++) {
		switches(r, 0, 1000 + 20 * i, IDLE, R, A);
		switches(r, 0, 1010 + 20 * i, A, states[i], IDLE);
	}
	pass(r);
	assert_trace(r, "1000 0 switch 0.1 R >4000010.1\n"
			"1010 0 switch 4000010.1 R >0.1\n"
			"1020 0 switch 0.1 R >4000010.1\n"
			"1030 0 switch 4000010.1 S >0.1\n"
			"1040 0 switch 0.1 R >4000010.1\n"
			"1050 0 switch 4000010.1 D >0.1\n"
			"1060 0 switch 0.1 R >4000010.1\n"
			"1070 0 switch 4000010.1 R+ >0.1\n"
			"1080 0 switch 0.1 R >4000010.1\n"
			"1090 0 switch 4000010.1 ? >0.1\n");
}

/* Only a target that leaves has a stack: the idle task's would say nothing. */
static void stacks_of_those_who_leave(void **state)
{
	struct rings *r = *state;

	target(r, A);
	mapped(r, A, 0x10000, "/bin/a");
	CHAIN(r, KERNEL, SCHEDULE + 0x10);
	switches(r, 0, 1000, IDLE, R, A);
	CHAIN(r, KERNEL, SCHEDULE + 0x10, SYSCALL + 0x20, USER, 0x10100, 0x10200, 0xdead, 0x10300);
	switches(r, 0, 1100, A, S, B);
	CHAIN(r, KERNEL, SCHEDULE + 0x10);
	switches(r, 0, 1200, B, S, A);
	pass(r);
	assert_trace(r, "1000 0 switch 0.1 R >4000010.1\n"
			"1100 0 switch 4000010.1 S >4000020.1 "
			"|/bin/a+1ff|/bin/a+100|[kernel]+51f|[kernel]+110\n"
			"1200 0 switch 4000020.1 S >4000010.1\n");
	assert_int_equal(chains_stats(r->rec.chains)->junk_cut, 1);
}

/* A chain of as many addresses as the kernel takes goes on where nobody sees it, unless it ended in
 * junk before. */
static void chains_cut_by_the_kernel_or_gone_in_circles(void **state)
{
	uint64_t max = (uint64_t)proc_number("/proc/sys/kernel/perf_event_max_stack", 127);
	uint64_t chain[399] = { USER, 0x10101, 0x10201 };
	struct rings *r = *state;
	char *deep;

	if (max >= 399)
		skip();
	target(r, A);
	mapped(r, A, 0x10000, "/bin/a");
	for (uint64_t i = 3; i <= max; i++)
		chain[i] = 0xdead;
	r->chain = chain;
	r->chain_count = max + 1;
	clock_sample(r, 0, 1000, A);
	for (uint64_t i = 2; i <= max; i++)
		chain[i] = 0x10201; /* the same again and again */
	r->chain = chain;
	r->chain_count = max + 1;
	clock_sample(r, 0, 1100, A);
	pass(r);
	for (uint64_t i = 2; i <= max; i++)
		chain[i] = 0x10201 + 16 * (i % 2);
	r->chain = chain;
	r->chain_count = max; /* with its marker */
	clock_sample(r, 0, 1200, A);
	r->chain = chain;
	r->chain_count = max + 1;
	clock_sample(r, 0, 1300, A);
	pass(r);
	assert_int_equal(chains_stats(r->rec.chains)->junk_cut, 2);
	assert_int_equal(chains_stats(r->rec.chains)->truncated, 2);
	rings_read(r);
	assert_int_equal(r->reading.lines.count, 4);
	assert_string_equal(r->reading.lines.data[0],
			    "1000 0 sample 4000010.1 0 1000 |/bin/a+200|/bin/a+101");
	assert_non_null(strstr(r->reading.lines.data[1], "|[truncated]+0|/bin/a+200|/bin/a+200|"));
	assert_in_range(strlen(r->reading.lines.data[1]), 100, 200);
	assert_null(strstr(r->reading.lines.data[2], "[truncated]"));
	deep = r->reading.lines.data[3];
	assert_non_null(strstr(deep, "1000 |[truncated]+0|/bin/a+2"));
	assert_non_null(strstr(deep, "|/bin/a+200|/bin/a+101"));
}

static void wakers_in_every_context(void **state)
{
	struct rings *r = *state;

	target(r, A);
	mapped(r, B, 0x10000, "/bin/b");
	CHAIN(r, KERNEL, WAKE_UP + 0x10, SYSCALL + 0x20, USER, 0x10100);
	wakes(r, 0, 1000, B, 0, A);
	CHAIN(r, KERNEL, WAKE_UP + 0x10, INTERRUPT + 0x20, SYSCALL + 0x30, USER, 0x10100);
	wakes(r, 0, 1100, B, HARDIRQ, A);
	CHAIN(r, KERNEL, WAKE_UP + 0x10, SOFTIRQS + 0x20, INTERRUPT + 0x20, USER, 0x10100);
	wakes(r, 0, 1200, B, SOFTIRQ, A);
	wakes(r, 0, 1300, B, SOFTIRQ | HARDIRQ, A);
	CHAIN(r, KERNEL, WAKE_UP + 0x10, SCHEDULE + 0x20);
	wakes(r, 2, 1400, IDLE, 0, A);
	wakes(r, 2, 1500, IDLE, HARDIRQ, A);
	waking_named(r, 0, 1600, ID_NEW, B, B, 0, A);
	pass(r);
	assert_int_equal(r->rec.events.cpus[0].counts[RECORD_WAKEUP_NEW].parsed, 1);
	assert_trace(r, "1000 0 waking 4000010.1 by 4000020.1 0 at 1 "
			"|/bin/b+100|[kernel]+51f|[kernel]+210\n"
			"1100 0 waking 4000010.1 by 4000020.1 1 at 1 |[kernel]+31f|[kernel]+210\n"
			"1200 0 waking 4000010.1 by 4000020.1 2 at 1 |[kernel]+41f|[kernel]+210\n"
			"1300 0 waking 4000010.1 by 4000020.1 1 at 1\n"
			"1400 2 waking 4000010.1 by 0.1 3 at 1 |[kernel]+11f|[kernel]+210\n"
			"1500 2 waking 4000010.1 by 0.1 1 at 1\n"
			"1600 0 new 4000010.1 by 4000020.1 0 at 1\n");
}

/* While a new filter takes the old one's place two events deliver the same. */
static void copies_of_two_filters_are_one_event(void **state)
{
	struct rings *r = *state;

	target(r, A);
	r->rec.overlap_until_ns = 1100000;
	for (int copy = 0; copy < 2; copy++)
		switches(r, 0, 1000 + copy, IDLE, R, A);
	for (int copy = 0; copy < 2; copy++)
		switches(r, 0, 1010 + copy, A, S, IDLE);
	for (int copy = 0; copy < 2; copy++)
		wakes(r, 0, 1020 + copy, B, 0, A);
	for (int copy = 0; copy < 2; copy++)
		switches(r, 0, 1030 + copy, IDLE, R, A);
	for (int copy = 0; copy < 2; copy++)
		wakes(r, 0, 50000 + copy, B, 0, A); /* a second one, as real as the first */
	wakes(r, 1, 50010, B, 0, A);		    /* of another CPU: no copy */
	for (int again = 0; again < 2; again++)
		wakes(r, 0, 1200000 + again, B, 0, A); /* the overlap is over */
	pass(r);
	assert_int_equal(r->rec.events.cpus[0].counts[RECORD_SWITCH].parsed, 6);
	assert_trace(r, "1000 0 switch 0.1 R >4000010.1\n"
			"1010 0 switch 4000010.1 S >0.1\n"
			"1020 0 waking 4000010.1 by 4000020.1 0 at 1\n"
			"1030 0 switch 0.1 R >4000010.1\n"
			"50000 0 waking 4000010.1 by 4000020.1 0 at 1\n"
			"50010 1 waking 4000010.1 by 4000020.1 0 at 1\n"
			"1200000 0 waking 4000010.1 by 4000020.1 0 at 1\n"
			"1200001 0 waking 4000010.1 by 4000020.1 0 at 1\n");
}

/* Woken, run elsewhere, asleep and woken again within microseconds, by the same CPU. */
static void a_waking_of_a_new_sleep_is_no_copy(void **state)
{
	struct rings *r = *state;

	target(r, A);
	r->rec.overlap_until_ns = 1100000;
	for (int copy = 0; copy < 2; copy++)
		wakes(r, 0, 1000 + copy, B, 0, A);
	switches(r, 1, 2000, IDLE, R, A);
	switches(r, 1, 3000, A, S, IDLE);
	for (int copy = 0; copy < 2; copy++)
		wakes(r, 0, 4000 + 30000 * copy, B, 0, A); /* however slow the machine */
	pass(r);
	assert_trace(r, "1000 0 waking 4000010.1 by 4000020.1 0 at 1\n"
			"2000 1 switch 0.1 R >4000010.1\n"
			"3000 1 switch 4000010.1 S >0.1\n"
			"4000 0 waking 4000010.1 by 4000020.1 0 at 1\n");
}

/* Where idle hides its switches, the same one comes twice when a record told of it in between. */
static void a_real_repeat_is_no_copy(void **state)
{
	struct rings *r = *state;

	target(r, A);
	r->rec.events.cpus[0].records = true;
	r->rec.overlap_until_ns = 1100000;
	for (int copy = 0; copy < 2; copy++)
		switches(r, 0, 1000 + copy, A, S, IDLE);
	comes(r, 0, 1050, A);
	for (int copy = 0; copy < 2; copy++)
		switches(r, 0, 1100 + copy, A, S, IDLE);
	pass(r);
	assert_trace(r, "1000 0 switch 4000010.1 S >0.1\n"
			"1050 0 in 4000010.1 none\n"
			"1100 0 switch 4000010.1 S >0.1\n");
}

static void what_comes_after_the_window_is_counted_only(void **state)
{
	struct rings *r = *state;

	target(r, A);
	switches(r, 0, 1400, IDLE, R, A);
	r->rec.end_ns = 1500;
	wakes(r, 0, 1500, A, 0, A);
	switches(r, 0, 1600, A, S, IDLE);
	wakes(r, 0, 1601, A, 0, A);
	waking_named(r, 0, 1602, ID_NEW, A, A, 0, A);
	clock_sample(r, 0, 1603, A);
	leaves(r, 0, 1604, A);
	forks(r, 0, 1605, A, B);
	pass(r);
	assert_int_equal(r->rec.records, 8);
	assert_int_equal(r->rec.events.cpus[0].counts[RECORD_SWITCH].parsed, 2);
	assert_int_equal(r->rec.events.cpus[0].counts[RECORD_WAKING].parsed, 2);
	assert_int_equal(r->rec.events.cpus[0].counts[RECORD_WAKEUP_NEW].parsed, 1);
	assert_int_equal(r->rec.events.cpus[0].counts[RECORD_CLOCK].parsed, 1);
	assert_trace(r, "1400 0 switch 0.1 R >4000010.1\n"
			"1500 0 waking 4000010.1 by 4000010.1 0 at 1\n");
}

static void samples_declare_their_threads(void **state)
{
	struct rings *r = *state;

	r->config.all = true;
	clock_sample(r, 0, 1000, B1);
	clock_sample(r, 0, 1100, IDLE);
	clock_sample(r, 0, 1200, GONE);
	wakes(r, 1, 1300, C, 0, A);
	pass(r);
	assert_int_equal(tids_slot(&r->rec.tids, B1)->pid, B);
	assert_int_equal(tids_slot(&r->rec.tids, C)->pid, C);
	assert_true(tids_slot(&r->rec.tids, A)->observed);
	assert_string_equal(dwell_strings_get(r->rec.strings, tids_slot(&r->rec.tids, A)->comm),
			    "woken");
	assert_trace(r, "1000 0 sample 4000021.1 0 1000\n"
			"1300 1 waking 4000010.1 by 4000030.1 0 at 1\n");
}

static void clocks_that_are_throttled(void **state)
{
	struct rings *r = *state;

	trailed(ring_main(r, 1), PERF_RECORD_THROTTLE, 0, (uint64_t[3]){ 0 }, 24, IDLE, 1000);
	trailed(ring_main(r, 1), PERF_RECORD_UNTHROTTLE, 0, (uint64_t[3]){ 0 }, 24, IDLE, 1100);
	pass(r);
	assert_trace(r, "1000 1 throttle none 1\n1100 1 throttle none 0\n");
}

/* A switch-in is missed now and then; missed again and again, the CPU's idle task hides them, and
 * SWITCH records are asked for. The kernel gives us none here. */
static void missed_switch_ins_ask_for_records(void **state)
{
	struct rings *r = *state;
	struct rlimit limit, none;
	int rc;

	r->config.all = true;
	switches(r, 0, 1000, IDLE, R, A);
	switches(r, 0, 1100, B, S, IDLE);
	pass(r);
	assert_int_equal(r->rec.cpus[0].breaks, 1);
	switches(r, 0, 1200, A, S, IDLE);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){ 0, limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	rc = intake_pass(&r->rec);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_true(rc < 0);
	assert_non_null(strstr(r->rec.err.msg, "cannot open switch records"));
	assert_int_equal(r->rec.err.code, rc);
}

static void a_cpu_seen_whole_needs_no_records(void **state)
{
	struct rings *r = *state;

	target(r, A);
	r->rec.events.cpus[0].records = r->rec.events.cpus[0].provisional = true;
	switches(r, 0, 1000, IDLE, R, A);
	switches(r, 0, 1100, A, S, IDLE);
	pass(r);
	assert_true(r->rec.events.cpus[0].records);
	switches(r, 0, 1200, IDLE, R, A);
	pass(r);
	assert_false(r->rec.events.cpus[0].records);
	assert_false(r->rec.events.cpus[0].provisional);
}

/* The old leader's last switch names the tid of the thread that execs: before COMM tells of it. */
static void a_leaders_last_switch_under_the_execers_tid(void **state)
{
	struct rings *r = *state;

	target(r, A);
	target(r, A1);
	switches(r, 1, 1000, IDLE, R, A);
	switches(r, 0, 1010, IDLE, R, A1);
	exits(r, 1, 1050, A);
	switches(r, 1, 1100, A1, X, IDLE);
	execs(r, 0, 1200, A, "new");
	switches(r, 0, 1300, A, S, IDLE);
	switches(r, 0, 1400, IDLE, R, A);
	pass(r);
	assert_true(tids_slot(&r->rec.tids, A)->alive && tids_slot(&r->rec.tids, A)->observed);
	assert_false(tids_slot(&r->rec.tids, A1)->alive);
	assert_int_equal(r->rec.tids.observed_alive, 1);
	assert_trace(r, "1000 1 switch 0.1 R >4000010.1\n"
			"1010 0 switch 0.1 R >4000011.1\n"
			"1050 -1 exit 4000010.1\n"
			"1100 1 switch 4000010.1 X >0.1\n"
			"1200 -1 comm 4000010.1 new exec\n"
			"1300 0 switch 4000010.1 S >0.1\n"
			"1400 0 switch 0.1 R >4000010.1\n");
	assert_int_equal(dwell_threads_count(dwell_source_threads(r->reading.source)), 3);
}

/* After COMM; and before that a sample already names the leader's tid. */
static void a_leaders_last_switch_behind_the_exec(void **state)
{
	struct rings *r = *state;

	target(r, A);
	target(r, A1);
	switches(r, 1, 1000, IDLE, R, A);
	switches(r, 0, 1010, IDLE, R, A1);
	exits(r, 1, 1050, A);
	clock_sample(r, 0, 1090, A);
	execs(r, 0, 1100, A, "new");
	switches(r, 1, 1200, A1, X, IDLE);
	switches(r, 0, 1300, A, S, IDLE);
	pass(r);
	assert_true(tids_slot(&r->rec.tids, A)->alive);
	assert_false(tids_slot(&r->rec.tids, A1)->alive);
	assert_int_equal(r->rec.cpus[1].breaks + r->rec.cpus[0].breaks, 0);
	assert_trace(r, "1000 1 switch 0.1 R >4000010.1\n"
			"1010 0 switch 0.1 R >4000011.1\n"
			"1050 -1 exit 4000010.1\n"
			"1090 0 sample 4000010.1 0 1000\n"
			"1100 -1 comm 4000010.1 new exec\n"
			"1200 1 switch 4000010.1 X >0.1\n"
			"1300 0 switch 4000010.1 S >0.1\n");
}

/* The leader is preempted on its last steps, and comes back under the other's tid. */
static void a_leader_that_comes_back_under_the_execers_tid(void **state)
{
	struct rings *r = *state;

	target(r, A);
	target(r, A1);
	switches(r, 1, 1000, IDLE, R, A);
	exits(r, 1, 1050, A);
	switches(r, 0, 1060, IDLE, R, A1);
	switches(r, 1, 1070, A, R, IDLE);
	switches(r, 1, 1080, IDLE, R, A1);
	switches(r, 1, 1100, A1, X, IDLE);
	switches(r, 0, 1150, A, S, IDLE);
	pass(r);
	assert_true(tids_slot(&r->rec.tids, A)->alive);
	assert_false(tids_slot(&r->rec.tids, A1)->alive);
	assert_trace(r, "1000 1 switch 0.1 R >4000010.1\n"
			"1050 -1 exit 4000010.1\n"
			"1060 0 switch 0.1 R >4000011.1\n"
			"1070 1 switch 4000010.1 R >0.1\n"
			"1080 1 switch 0.1 R >4000010.1\n"
			"1100 1 switch 4000010.1 X >0.1\n"
			"1150 0 switch 4000010.1 S >0.1\n");
}

/* No switch told who runs where: the one thread that did not exit execs. */
static void an_exec_by_the_one_thread_that_is_left(void **state)
{
	struct rings *r = *state;

	target(r, A);
	target(r, A1);
	exits(r, 1, 1050, A);
	execs(r, 0, 1100, A, "new");
	switches(r, 1, 1200, A1, X, IDLE);
	switches(r, 0, 1300, A, S, IDLE);
	pass(r);
	assert_true(tids_slot(&r->rec.tids, A)->alive);
	assert_false(tids_slot(&r->rec.tids, A1)->alive);
	assert_trace(r, "1050 -1 exit 4000010.1\n"
			"1100 -1 comm 4000010.1 new exec\n"
			"1200 1 switch 4000010.1 X >0.1\n"
			"1300 0 switch 4000010.1 S >0.1\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RINGS_TEST(one_order_of_all_rings),
		RINGS_TEST(what_is_newer_than_the_pass_waits),
		RINGS_TEST(threads_that_are_no_targets_are_passed_over),
		RINGS_TEST(every_state_of_a_thread_that_leaves),
		RINGS_TEST(stacks_of_those_who_leave),
		RINGS_TEST(chains_cut_by_the_kernel_or_gone_in_circles),
		RINGS_TEST(wakers_in_every_context),
		RINGS_TEST(copies_of_two_filters_are_one_event),
		RINGS_TEST(a_waking_of_a_new_sleep_is_no_copy),
		RINGS_TEST(a_real_repeat_is_no_copy),
		RINGS_TEST(what_comes_after_the_window_is_counted_only),
		RINGS_TEST(samples_declare_their_threads),
		RINGS_TEST(clocks_that_are_throttled),
		RINGS_TEST(missed_switch_ins_ask_for_records),
		RINGS_TEST(a_cpu_seen_whole_needs_no_records),
		RINGS_TEST(a_leaders_last_switch_under_the_execers_tid),
		RINGS_TEST(a_leaders_last_switch_behind_the_exec),
		RINGS_TEST(a_leader_that_comes_back_under_the_execers_tid),
		RINGS_TEST(an_exec_by_the_one_thread_that_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
