// SPDX-License-Identifier: MIT
/* Tids come and go: the table keeps one entry per life. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "parse/thread.h"

static void test_idle(void **state)
{
	struct dwell_threads *threads = dwell_threads_new();
	uint32_t index = 99;

	(void)state;
	assert_int_equal(dwell_threads_count(threads), 1);
	assert_int_equal(dwell_threads_find(threads, 0), DWELL_THREAD_IDLE);
	assert_int_equal(dwell_threads_need(threads, 0, 0, &index), 0);
	assert_int_equal(index, DWELL_THREAD_IDLE);
	assert_int_equal(dwell_threads_get(threads, 0)->tid, 0);
	assert_false(dwell_threads_get(threads, 0)->observed);
	dwell_threads_free(threads);
}

static void test_lives(void **state)
{
	struct dwell_threads *threads = dwell_threads_new();
	uint32_t first, again, second, third;

	(void)state;
	assert_int_equal(dwell_threads_find(threads, 7), DWELL_THREAD_NONE);
	assert_int_equal(dwell_threads_need(threads, -1, 7, &first), 0);
	assert_int_equal(dwell_threads_get(threads, first)->pid, -1);
	assert_int_equal(dwell_threads_need(threads, 5, 7, &again), 0);
	assert_int_equal(again, first);
	assert_int_equal(dwell_threads_get(threads, first)->pid, 5);
	assert_int_equal(dwell_threads_get(threads, first)->incarnation, 1);
	assert_int_equal(dwell_threads_get(threads, first)->parent, DWELL_THREAD_NONE);

	dwell_threads_get(threads, first)->died_ns = 100;
	assert_int_equal(dwell_threads_need(threads, 6, 7, &second), 0);
	assert_int_not_equal(second, first);
	assert_int_equal(dwell_threads_get(threads, second)->incarnation, 2);
	assert_int_equal(dwell_threads_find(threads, 7), second);

	assert_int_equal(dwell_threads_add(threads, 6, 7, 300, &third), 0);
	assert_int_equal(dwell_threads_find(threads, 7), third);
	assert_int_equal(dwell_threads_get(threads, third)->born_ns, 300);
	assert_int_equal(dwell_threads_get(threads, third)->incarnation, 3);
	dwell_threads_free(threads);
}

static void test_retid(void **state)
{
	struct dwell_threads *threads = dwell_threads_new();
	uint32_t leader, other, next;

	(void)state;
	assert_int_equal(dwell_threads_add(threads, 7, 7, 0, &leader), 0);
	assert_int_equal(dwell_threads_add(threads, 7, 8, 0, &other), 0);
	assert_int_equal(dwell_threads_retid(threads, other, 7), 0);
	assert_int_equal(dwell_threads_find(threads, 7), other);
	assert_int_equal(dwell_threads_find(threads, 8), leader); /* on its last steps */
	assert_int_equal(dwell_threads_get(threads, other)->tid, 7);
	assert_int_equal(dwell_threads_get(threads, leader)->tid, 7);
	assert_int_equal(dwell_threads_get(threads, leader)->last_tid, 8);
	dwell_threads_get(threads, leader)->died_ns = 100;
	assert_int_equal(dwell_threads_need(threads, 9, 8, &next), 0);
	assert_int_not_equal(next, leader);
	assert_int_equal(dwell_threads_get(threads, next)->joined_ns, 100);
	/* A leader that has died gets no tid. */
	dwell_threads_get(threads, other)->died_ns = 200;
	assert_int_equal(dwell_threads_add(threads, 7, 11, 0, &next), 0);
	assert_int_equal(dwell_threads_retid(threads, next, 7), 0);
	assert_int_equal(dwell_threads_find(threads, 7), next);
	assert_int_equal(dwell_threads_find(threads, 11), DWELL_THREAD_NONE);
	assert_true(dwell_threads_retid(threads, 99, 7) < 0);
	dwell_threads_free(threads);
}

/* A tid that an exec left behind was somebody's: who has it next is another life of it. */
static void test_lives_left_behind(void **state)
{
	struct dwell_threads *threads = dwell_threads_new();
	uint32_t index, next;

	(void)state;
	assert_int_equal(dwell_threads_add(threads, 7, 8, 10, &index), 0);
	assert_int_equal(dwell_threads_retid(threads, index, 7), 0); /* 7 was never seen */
	assert_int_equal(dwell_threads_find(threads, 8), DWELL_THREAD_NONE);
	for (uint32_t life = 2; life < 5; life++) {
		assert_int_equal(dwell_threads_add(threads, 7, 8, 10 + life, &next), 0);
		assert_int_equal(dwell_threads_get(threads, next)->incarnation, life);
	}
	dwell_threads_free(threads);
}

static void test_many(void **state)
{
	struct dwell_threads *threads = dwell_threads_new();
	struct dwell_thread *early;
	uint32_t index;

	(void)state;
	assert_int_equal(dwell_threads_add(threads, 1, 1, 0, &index), 0);
	early = dwell_threads_get(threads, index);
	for (int tid = 2; tid < 5000; tid++) {
		assert_int_equal(dwell_threads_add(threads, 1, tid, 0, &index), 0);
		assert_int_equal(index, tid);
	}
	assert_ptr_equal(dwell_threads_get(threads, 1), early);
	assert_int_equal(dwell_threads_get(threads, 4321)->tid, 4321);
	dwell_threads_get(threads, 5000)->observed = true; /* out of range: reads as zeroes */
	assert_false(dwell_threads_get(threads, UINT32_MAX)->observed);
	dwell_threads_free(threads);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idle),  cmocka_unit_test(test_lives),
		cmocka_unit_test(test_retid), cmocka_unit_test(test_lives_left_behind),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
