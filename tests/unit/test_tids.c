// SPDX-License-Identifier: MIT
/* Tests of record/tids.c: lives begin and end, processes end with their last thread, and the sorted
 * list agrees with a plain array after random births and deaths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "record/tids.h"

static int setup(void **state)
{
	static struct tids tids;

	*state = &tids;
	return tids_init(&tids);
}

static int teardown(void **state)
{
	tids_release(*state);
	return 0;
}

static void a_process_ends_with_its_last_thread(void **state)
{
	struct tids *tids = *state;

	assert_int_equal(tids_begin(tids, 10, 10, true), 0);
	assert_int_equal(tids_begin(tids, 11, 10, true), 0);
	assert_int_equal(tids_slot(tids, 10)->threads, 2);
	assert_int_equal(tids->observed_alive, 2);
	/* The leader may end first. */
	assert_false(tids_end(tids, 10));
	assert_true(tids_end(tids, 11));
	assert_false(tids_end(tids, 11));
	assert_int_equal(tids->observed_alive, 0);
	assert_false(tids_slot(tids, 11)->alive);
}

static void a_tid_used_again_is_a_new_life(void **state)
{
	struct tids *tids = *state;

	assert_int_equal(tids_begin(tids, 10, 10, true), 0);
	tids_slot(tids, 10)->exec_ns = 5;
	tids_slot(tids, 10)->declared = tids_slot(tids, 10)->exiting = true;
	assert_int_equal(tids_begin(tids, 10, 10, false), 0);
	assert_int_equal(tids_slot(tids, 10)->exec_ns, 0);
	assert_false(tids_slot(tids, 10)->declared || tids_slot(tids, 10)->exiting);
	assert_false(tids_slot(tids, 10)->observed);
	assert_int_equal(tids->observed_alive, 0);
	assert_int_equal(tids_slot(tids, 10)->threads, 1);
}

static void tids_that_cannot_be_share_slot_zero(void **state)
{
	struct tids *tids = *state;

	assert_ptr_equal(tids_slot(tids, UINT32_MAX), tids_slot(tids, 0));
	assert_ptr_not_equal(tids_slot(tids, TID_ALIAS), tids_slot(tids, 0));
	assert_ptr_not_equal(tids_slot(tids, 2 * TID_ALIAS), tids_slot(tids, 0));
	assert_int_equal(tids_begin(tids, UINT32_MAX, -1, false), 0);
	assert_false(tids_end(tids, UINT32_MAX));
}

static void sorted_agrees_with_an_array(void **state)
{
	enum { TIDS = 500, STEPS = 20000 };
	struct tids *tids = *state;
	bool observed[TIDS] = { false };
	uint32_t seed = 12345, count, alive;

	for (uint32_t step = 0; step < STEPS; step++) {
		uint32_t tid, most;
		const uint32_t *sorted;

		seed = seed * 1664525 + 1013904223;
		tid = 1 + (seed >> 8) % (TIDS - 1);
		if (seed >> 31) {
			observed[tid] = (seed >> 30) & 1;
			assert_int_equal(tids_begin(tids, tid, (int32_t)tid, observed[tid]), 0);
		} else {
			tids_end(tids, tid);
			observed[tid] = false;
		}
		if (step % 997)
			continue;
		sorted = tids_sorted(tids, &count);
		alive = 0;
		for (most = 0; most < TIDS; most++)
			if (observed[most])
				assert_int_equal(sorted[alive++], most);
		assert_int_equal(count, alive);
		assert_int_equal(tids->observed_alive, alive);
	}
	/* The list never holds more than what lives and a little. */
	assert_true(tids->observed.count < 3 * TIDS + 1024);
}

static void a_list_is_sorted_without_doubles(void **state)
{
	uint32_t tids[] = { 9, 3, 9, 1, 3 };

	(void)state;
	assert_int_equal(tids_sort(tids, 5), 3);
	assert_int_equal(tids[0], 1);
	assert_int_equal(tids[1], 3);
	assert_int_equal(tids[2], 9);
	assert_int_equal(tids_sort(NULL, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_is_sorted_without_doubles),
		cmocka_unit_test_setup_teardown(a_process_ends_with_its_last_thread, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_tid_used_again_is_a_new_life, setup, teardown),
		cmocka_unit_test_setup_teardown(tids_that_cannot_be_share_slot_zero, setup,
						teardown),
		cmocka_unit_test_setup_teardown(sorted_agrees_with_an_array, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
