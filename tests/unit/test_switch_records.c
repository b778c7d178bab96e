// SPDX-License-Identifier: MIT
/* Tests of the intake's PERF_RECORD_SWITCH: beside tracepoints, where the idle task hides them, and
 * alone, where tracepoints may not be used. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/synth/rings.h"

static void records_beside_tracepoints(void **state)
{
	struct rings *r = *state;

	r->rec.events.cpus[0].records = true;
	target(r, A);
	comes(r, 0, 1000, A); /* idle's tracepoint is hidden */
	switches(r, 0, 1100, A, PREEMPTED, B);
	switch_record(r, 0, 1101, A,
		      PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
	comes(r, 0, 1102, B);
	switches(r, 0, 1200, B, S, IDLE);
	leaves(r, 0, 1201, B);
	comes(r, 0, 1202, IDLE);
	leaves(r, 0, 1300, IDLE);
	comes(r, 0, 1301, A);
	pass(r);
	assert_int_equal(r->rec.events.cpus[0].counts[RECORD_RECORDS].parsed, 7);
	assert_trace(r, "1000 0 in 4000010.1 none\n"
			"1100 0 switch 4000010.1 R+ >4000020.1\n"
			"1101 0 out 4000010.1 preempted none\n"
			"1301 0 in 4000010.1 none\n");
}

static void all_threads_are_declared_when_they_come(void **state)
{
	struct rings *r = *state;

	r->config.all = true;
	r->rec.events.cpus[0].records = r->rec.events.cpus[0].provisional = true;
	leaves(r, 0, 1000, IDLE);
	comes(r, 0, 1001, B);
	pass(r);
	assert_true(tids_slot(&r->rec.tids, B)->declared);
	/* No tracepoint told of it: this CPU does hide them. */
	assert_false(r->rec.events.cpus[0].provisional);
	assert_true(r->rec.events.cpus[0].records);
	assert_trace(r, "1000 0 out 0.1 none\n1001 0 in 4000020.1 none\n");
}

/* A dying thread has no tid any more in its last sample and in the record behind it. */
static void the_last_switch_of_a_thread(void **state)
{
	struct rings *r = *state;

	r->rec.events.cpus[0].records = true;
	target(r, A);
	target(r, A1);
	mapped(r, A, 0x10000, "/bin/a");
	comes(r, 0, 1000, A1);
	exits(r, 0, 1050, A1);
	CHAIN(r, KERNEL, SCHEDULE + 0x10, USER, 0x10100);
	switch_named(r, 0, 1100, GONE, A1, X, A);
	leaves(r, 0, 1101, GONE);
	comes(r, 0, 1102, A);
	pass(r);
	assert_false(tids_slot(&r->rec.tids, A1)->alive);
	assert_trace(r, "1000 0 in 4000011.1 none\n"
			"1050 -1 exit 4000011.1\n"
			"1100 0 switch 4000011.1 X >4000010.1 |/bin/a+100|[kernel]+110\n"
			"1102 0 in 4000010.1 none\n");
}

/* Its tid may have another thread by then: the record behind the last switch is nobody's. */
static void the_record_behind_the_last_switch(void **state)
{
	struct rings *r = *state;

	r->config.all = true;
	r->rec.events.cpus[0].records = true;
	target(r, A);
	comes(r, 0, 1000, A);
	exits(r, 0, 1050, A);
	switch_named(r, 0, 1100, GONE, A, X, IDLE);
	leaves(r, 0, 1101, GONE);
	comes(r, 0, 1102, IDLE);
	pass(r);
	assert_trace(r, "1000 0 in 4000010.1 none\n"
			"1050 -1 exit 4000010.1\n"
			"1100 0 switch 4000010.1 X >0.1\n"
			"1102 0 in 0.1 none\n");
}

/* Preempted between its EXIT and its last switch: whoever comes without a tid is told by the
 * tracepoint of the switch that brings it, or else by the one that takes it away. */
static void a_dying_thread_that_is_preempted(void **state)
{
	struct rings *r = *state;

	r->rec.events.cpus[0].records = true;
	target(r, A1);
	comes(r, 0, 1000, A1);
	exits(r, 0, 1050, A1);
	switch_named(r, 0, 1100, GONE, A1, PREEMPTED, B);
	leaves(r, 0, 1101, GONE);
	comes(r, 0, 1102, B);
	switches(r, 0, 1200, B, S, A1);
	leaves(r, 0, 1201, B);
	comes(r, 0, 1202, GONE);
	switch_named(r, 0, 1300, GONE, A1, PREEMPTED, IDLE);
	leaves(r, 0, 1301, GONE);
	comes(r, 0, 1302, IDLE);
	comes(r, 0, 1400, GONE);
	switch_named(r, 0, 1500, GONE, A1, X, IDLE);
	leaves(r, 0, 1501, GONE);
	pass(r);
	assert_false(tids_slot(&r->rec.tids, A1)->alive);
	assert_trace(r, "1000 0 in 4000011.1 none\n"
			"1050 -1 exit 4000011.1\n"
			"1100 0 switch 4000011.1 R+ >4000020.1\n"
			"1101 0 out 4000011.1 none\n"
			"1200 0 switch 4000020.1 S >4000011.1\n"
			"1202 0 in 4000011.1 none\n"
			"1300 0 switch 4000011.1 R+ >0.1\n"
			"1301 0 out 4000011.1 none\n"
			"1400 0 in 4000011.1 none\n"
			"1500 0 switch 4000011.1 X >0.1\n");
}

/* Who came without a tid was another than who leaves: nothing is made up. */
static void a_nameless_stranger(void **state)
{
	struct rings *r = *state;

	r->rec.events.cpus[0].records = true;
	target(r, A);
	comes(r, 0, 1000, GONE);
	switches(r, 0, 1100, A, S, IDLE);
	pass(r);
	assert_int_equal(r->rec.cpus[0].nameless_in_ns, 0);
	assert_trace(r, "1100 0 switch 4000010.1 S >0.1\n");
}

static void stacks_ahead_of_their_records(void **state)
{
	struct rings *r = *state;

	target(r, A);
	target(r, B);
	mapped(r, A, 0x10000, "/bin/a");
	comes(r, 0, 1000, A);
	CHAIN(r, KERNEL, SCHEDULE + 0x10, USER, 0x10100);
	stack_sample(r, 0, 1100, A);
	leaves(r, 0, 1101, A);
	comes(r, 0, 1200, A);
	leaves(r, 0, 1300, A); /* without one: the last is used up */
	comes(r, 0, 1400, A);
	CHAIN(r, KERNEL, SCHEDULE + 0x10);
	stack_sample(r, 0, 1500, B);
	leaves(r, 0, 1501, A); /* not its own */
	comes(r, 0, 1600, A);
	CHAIN(r, KERNEL, SCHEDULE + 0x10);
	stack_sample(r, 0, 1700, A);
	loses(ring_main(r, 0), 1750, 2);
	leaves(r, 0, 1800, A);	     /* perhaps of another time */
	stack_sample(r, 1, 1900, C); /* a stranger's record goes no further */
	leaves(r, 1, 1901, C);
	pass(r);
	assert_int_equal(r->rec.events.cpus[0].counts[RECORD_STACKS].parsed, 3);
	assert_int_equal(r->rec.events.cpus[0].counts[RECORD_RECORDS].parsed, 8);
	assert_trace(r, "1000 0 in 4000010.1 none\n"
			"1101 0 out 4000010.1 none |/bin/a+100|[kernel]+110\n"
			"1200 0 in 4000010.1 none\n"
			"1300 0 out 4000010.1 none\n"
			"1400 0 in 4000010.1 none\n"
			"1501 0 out 4000010.1 none\n"
			"1600 0 in 4000010.1 none\n"
			"1750 0 gap none from 1700 2\n"
			"1800 0 out 4000010.1 none\n");
}

static void clocks_are_told_by_their_period(void **state)
{
	struct rings *r = *state;

	target(r, A);
	mapped(r, A, 0x10000, "/bin/a");
	CHAIN(r, USER, 0x10100);
	clock_sample(r, 0, 1000, A);
	forks(r, 0, 1100, A, A1);
	clock_sample(r, 0, 1200, A1);
	clock_sample(r, 0, 1300, C);
	pass(r);
	assert_int_equal(r->rec.events.cpus[0].counts[RECORD_CLOCK].parsed, 3);
	assert_int_equal(r->rec.events.cpus[0].counts[RECORD_STACKS].parsed, 0);
	assert_trace(r, "1000 0 sample 4000010.1 0 1000 |/bin/a+100\n"
			"1100 -1 fork 4000011.1 of 4000010.1\n"
			"1200 0 sample 4000011.1 0 1000\n");
}

/* A thread's own events end with its EXIT record. */
static void exit_is_the_end_of_it(void **state)
{
	struct rings *r = *state;

	target(r, A);
	target(r, A1);
	comes(r, 0, 1000, A);
	exits(r, 1, 1100, A1);
	pass(r);
	assert_int_equal(r->rec.tids.observed_alive, 1);
	assert_true(dwell_addrspaces_known(r->rec.spaces, A));
	exits(r, 0, 1200, A);
	pass(r);
	assert_int_equal(r->rec.tids.observed_alive, 0);
	assert_false(dwell_addrspaces_known(r->rec.spaces, A));
	assert_trace(r, "1000 0 in 4000010.1 none\n"
			"1100 -1 exit 4000011.1\n"
			"1200 -1 exit 4000010.1\n");
}

/* When a process executes what it may not be watched doing, the kernel ends the observation with
 * an EXIT record: the process itself goes on. This one does. */
static void observation_that_the_kernel_ends(void **state)
{
	struct rings *r = *state;
	int32_t own = getpid();
	char expected[512];

	target(r, own);
	target(r, A);
	execs(r, 0, 1000000, own, "new");
	execs(r, 0, 1000001, A, "new");
	exits(r, 0, 1000500, own);
	exits(r, 0, 1000600, A); /* is not there */
	pass(r);
	snprintf(expected, sizeof(expected),
		 "1000000 -1 comm %d.1 new exec\n"
		 "1000001 -1 comm 4000010.1 new exec\n"
		 "1000500 -1 stopped %d.1\n"
		 "1000600 -1 exit 4000010.1\n",
		 own, own);
	assert_trace(r, expected);
}

static void exit_long_after_exec_is_an_exit(void **state)
{
	struct rings *r = *state;
	int32_t own = getpid();
	char expected[512];

	target(r, own);
	execs(r, 0, 1000000, own, "new");
	exits(r, 0, 2000000, own);
	pass(r);
	snprintf(expected, sizeof(expected),
		 "1000000 -1 comm %d.1 new exec\n2000000 -1 exit %d.1\n", own, own);
	assert_trace(r, expected);
}

/* With tracepoints the whole CPU is watched: EXIT is the end. */
static void exit_with_tracepoints_is_an_exit(void **state)
{
	struct rings *r = *state;
	int32_t own = getpid();
	char expected[512];

	target(r, own);
	execs(r, 0, 1000000, own, "new");
	exits(r, 0, 1000500, own);
	pass(r);
	snprintf(expected, sizeof(expected),
		 "1000000 -1 comm %d.1 new exec\n1000500 -1 exit %d.1\n", own, own);
	assert_trace(r, expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RINGS_TEST(records_beside_tracepoints),
		RINGS_TEST(all_threads_are_declared_when_they_come),
		RINGS_TEST(the_last_switch_of_a_thread),
		RINGS_TEST(the_record_behind_the_last_switch),
		RINGS_TEST(a_dying_thread_that_is_preempted),
		RINGS_TEST(a_nameless_stranger),
		TASKS_TEST(stacks_ahead_of_their_records),
		TASKS_TEST(clocks_are_told_by_their_period),
		TASKS_TEST(exit_is_the_end_of_it),
		TASKS_TEST(observation_that_the_kernel_ends),
		TASKS_TEST(exit_long_after_exec_is_an_exit),
		RINGS_TEST(exit_with_tracepoints_is_an_exit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
