// SPDX-License-Identifier: MIT
/* Tests of the intake inside a pid namespace: tracepoints name threads by tids of the root
 * namespace, samples by ours, and each pair that is met tells which is which. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/synth/rings.h"

/* What the root namespace calls A, A1, B and C. */
enum { ROOT_A = 500, ROOT_A1, ROOT_B, ROOT_C };

#define ALIAS(tid) ((uint32_t)(tid) + TID_ALIAS)

static int setup(void **state)
{
	struct rings *r = rings_new(true);

	r->rec.pid_namespace = true;
	*state = r;
	return 0;
}

static void a_sample_tells_its_threads_tid(void **state)
{
	struct rings *r = *state;

	target(r, A);
	switch_named(r, 0, 1000, IDLE, IDLE, R, ROOT_A); /* whoever that is */
	switch_named(r, 0, 1100, A, ROOT_A, S, IDLE);
	switch_named(r, 0, 1200, IDLE, IDLE, R, ROOT_A);
	waking_named(r, 1, 1300, ID_WAKING, C, ROOT_C, 0, ROOT_A);
	pass(r);
	assert_int_equal(r->rec.passed_over, 1);
	assert_int_equal(dwell_idmap_find(&r->rec.own_tids, ROOT_A), A);
	assert_int_equal(dwell_idmap_find(&r->rec.own_tids, ROOT_C), C);
	assert_trace(r, "1100 0 switch 4000010.1 S >0.1\n"
			"1200 0 switch 0.1 R >4000010.1\n"
			"1300 1 waking 4000010.1 by 4000030.1 0 at 1\n");
}

/* In a whole-system recording it has an alias until then, which it was all the time. */
static void an_alias_becomes_the_tid(void **state)
{
	struct rings *r = *state;
	const struct dwell_threads *threads;

	r->config.all = true;
	switch_named(r, 0, 1000, IDLE, IDLE, R, ROOT_B);
	clock_sample(r, 0, 1050, B); /* under which tid switches name it is not known yet */
	waking_named(r, 0, 1060, ID_WAKING, IDLE, IDLE, HARDIRQ, ROOT_C);
	pass(r);
	assert_true(tids_slot(&r->rec.tids, ALIAS(ROOT_B))->alive);
	switch_named(r, 0, 1100, B, ROOT_B, S, IDLE);
	clock_sample(r, 0, 1150, B);
	pass(r);
	assert_false(tids_slot(&r->rec.tids, ALIAS(ROOT_B))->alive);
	assert_true(tids_slot(&r->rec.tids, B)->observed);
	assert_int_equal(tids_slot(&r->rec.tids, B)->pid, B);
	assert_true(tids_slot(&r->rec.tids, ALIAS(ROOT_C))->alive);
	assert_trace(r, "1000 0 switch 0.1 R >4194806.1\n"
			"1060 0 waking 4194807.1 by 0.1 1 at 1\n"
			"1100 0 switch 4000020.1 S >0.1\n"
			"1150 0 sample 4000020.1 0 1000\n");
	threads = dwell_source_threads(r->reading.source);
	assert_int_equal(dwell_threads_count(threads), 3); /* idle, B, C */
	assert_int_equal(dwell_threads_find(threads, (int32_t)ALIAS(ROOT_B)), DWELL_THREAD_NONE);
}

static void a_child_is_told_by_its_first_wakeup(void **state)
{
	struct rings *r = *state;

	target(r, A);
	forks(r, 0, 1000, A, B);
	waking_named(r, 0, 1050, ID_WAKING, A, ROOT_A, 0, ROOT_A1); /* of somebody older */
	waking_named(r, 0, 1100, ID_NEW, A, ROOT_A, 0, ROOT_B);
	switch_named(r, 1, 1200, IDLE, IDLE, R, ROOT_B);
	/* A second one without a fork is of a child in another namespace. */
	waking_named(r, 0, 1300, ID_NEW, A, ROOT_A, 0, ROOT_C);
	switch_named(r, 1, 1400, B, ROOT_B, S, IDLE);
	pass(r);
	assert_int_equal(dwell_idmap_find(&r->rec.own_tids, ROOT_B), B);
	assert_int_equal(dwell_idmap_find(&r->rec.own_tids, ROOT_C), 0);
	assert_int_equal(dwell_idmap_find(&r->rec.forks, A), 0);
	assert_trace(r, "1000 -1 fork 4000020.1 of 4000010.1\n"
			"1100 0 new 4000020.1 by 4000010.1 0 at 1\n"
			"1200 1 switch 0.1 R >4000020.1\n"
			"1400 1 switch 4000020.1 S >0.1\n");
}

/* A root tid used again is somebody else, as soon as a sample says so. */
static void a_root_tid_used_again(void **state)
{
	struct rings *r = *state;

	target(r, A);
	target(r, B);
	switch_named(r, 0, 1000, A, ROOT_A, S, IDLE);
	switch_named(r, 0, 1100, B, ROOT_A, S, IDLE);
	pass(r);
	assert_int_equal(dwell_idmap_find(&r->rec.own_tids, ROOT_A), B);
	assert_trace(r, "1000 0 switch 4000010.1 S >0.1\n"
			"1100 0 switch 4000020.1 S >0.1\n");
}

/* Threads of other namespaces have no tid here: 0 in samples and records, 0 or -1 when forked. */
static void threads_of_other_namespaces(void **state)
{
	struct rings *r = *state;

	r->config.all = true;
	r->rec.events.cpus[0].records = true;
	switch_named(r, 0, 1000, IDLE, IDLE, R, ROOT_C);
	comes(r, 0, 1001, IDLE);
	switch_named(r, 0, 1100, IDLE, ROOT_C, S, IDLE);
	leaves(r, 0, 1101, IDLE);
	comes(r, 0, 1102, IDLE); /* and this is the idle task */
	leaves(r, 0, 1150, IDLE);
	task_record(r, 1, 1200, PERF_RECORD_FORK, A, IDLE);
	task_record(r, 1, 1300, PERF_RECORD_FORK, A, GONE);
	pass(r);
	assert_int_equal(dwell_idmap_find(&r->rec.own_tids, ROOT_C), 0);
	assert_int_equal(r->rec.forks.count, 0);
	assert_trace(r, "1000 0 switch 0.1 R >4194807.1\n"
			"1001 0 in 4194807.1 none\n"
			"1100 0 switch 4194807.1 S >0.1\n"
			"1101 0 out 4194807.1 none\n"
			"1102 0 in 0.1 none\n"
			"1150 0 out 0.1 none\n");
}

static void tids_that_cannot_be_are_nobody(void **state)
{
	struct rings *r = *state;

	r->config.all = true;
	target(r, A);
	switch_named(r, 0, 1000, A, -5, S, TID_ALIAS);
	pass(r);
	assert_int_equal(r->rec.own_tids.count, 0);
	assert_trace(r, "1000 0 switch 0.1 S >0.1\n");
}

#define NAMESPACE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, rings_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		NAMESPACE_TEST(a_sample_tells_its_threads_tid),
		NAMESPACE_TEST(an_alias_becomes_the_tid),
		NAMESPACE_TEST(a_child_is_told_by_its_first_wakeup),
		NAMESPACE_TEST(a_root_tid_used_again),
		NAMESPACE_TEST(threads_of_other_namespaces),
		NAMESPACE_TEST(tids_that_cannot_be_are_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
