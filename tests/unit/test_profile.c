// SPDX-License-Identifier: MIT
/* Intervals and samples in, rows out: sums to the ns, whatever the samples say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "offcpu/profile.h"

struct fixture {
	struct dwell_threads *threads;
	struct dwell_profile *profile;
};

/* Threads 1 and 2 of process 10, thread 3 of process 20. */
static void init(struct fixture *f, enum dwell_group_by by)
{
	uint32_t index;

	f->threads = dwell_threads_new();
	assert_int_equal(dwell_threads_add(f->threads, 10, 10, 0, &index), 0);
	assert_int_equal(dwell_threads_add(f->threads, 10, 11, 0, &index), 0);
	assert_int_equal(dwell_threads_add(f->threads, 20, 20, 0, &index), 0);
	dwell_threads_get(f->threads, 3)->cgroup = 9;
	f->profile = dwell_profile_new(f->threads, by);
}

static void release(struct fixture *f)
{
	dwell_profile_free(f->profile);
	dwell_threads_free(f->threads);
}

static void add(struct fixture *f, uint32_t thread, uint32_t comm, int state, uint32_t stack,
		uint64_t ns, bool censored)
{
	struct dwell_interval interval = { .start_ns = 1000,
					   .end_ns = 1000 + ns,
					   .thread = thread,
					   .comm = comm,
					   .state = (uint8_t)state,
					   .stack = stack,
					   .censored_end = censored };

	assert_int_equal(dwell_profile_add(f->profile, &interval), 0);
}

static void sample(struct fixture *f, uint32_t thread, uint32_t comm, uint32_t stack,
		   uint64_t weight)
{
	struct dwell_event event = { .thread = thread, .stack = stack, .u.sample.weight = weight };

	assert_int_equal(dwell_profile_add_sample(f->profile, &event, comm), 0);
}

static const struct dwell_row *find(struct fixture *f, uint32_t comm, int state, uint32_t stack,
				    bool not_sampled)
{
	for (uint32_t i = 0; i < dwell_profile_count(f->profile); i++) {
		const struct dwell_row *row = dwell_profile_row(f->profile, i);

		if (dwell_profile_group(f->profile, row->group)->comm == comm &&
		    row->state == state && row->stack == stack && row->not_sampled == not_sampled)
			return row;
	}
	return NULL;
}

static void test_off_rows(void **state)
{
	struct fixture f;
	const struct dwell_row *row;

	(void)state;
	init(&f, DWELL_BY_COMM);
	add(&f, 1, 5, DWELL_STATE_BLOCKED, 7, 100, false);
	add(&f, 2, 5, DWELL_STATE_BLOCKED, 7, 300, true);
	add(&f, 2, 5, DWELL_STATE_BLOCKED, 8, 1, false);
	add(&f, 2, 5, DWELL_STATE_BLOCKED, 8, 0, false);
	add(&f, 3, 6, DWELL_STATE_RUNNABLE, 7, 1ull << 60, false);
	assert_int_equal(dwell_profile_finish(f.profile), 0);
	assert_int_equal(dwell_profile_count(f.profile), 3);
	row = find(&f, 5, DWELL_STATE_BLOCKED, 7, false);
	assert_int_equal(row->ns, 400);
	assert_int_equal(row->count, 2);
	assert_int_equal(row->longest_ns, 300);
	assert_int_equal(row->censored_ns, 300);
	assert_int_equal(row->histogram[6], 1);
	assert_int_equal(row->histogram[8], 1);
	row = find(&f, 5, DWELL_STATE_BLOCKED, 8, false);
	assert_int_equal(row->count, 1);
	assert_int_equal(row->histogram[0], 1);
	row = find(&f, 6, DWELL_STATE_RUNNABLE, 7, false);
	assert_int_equal(row->histogram[DWELL_HISTOGRAM_BUCKETS - 1], 1);
	release(&f);
}

static void test_spread(void **state)
{
	struct fixture f;

	(void)state;
	init(&f, DWELL_BY_COMM);
	sample(&f, 1, 5, 30, 1);
	sample(&f, 1, 5, 20, 1);
	add(&f, 1, 5, DWELL_STATE_ON_CPU, 0, 60, false);
	sample(&f, 1, 5, 10, 1);
	add(&f, 1, 5, DWELL_STATE_ON_CPU, 0, 40, true);
	add(&f, 2, 5, DWELL_STATE_ON_CPU, 0, 1000, false); /* never sampled: keeps its own time */
	assert_int_equal(dwell_profile_finish(f.profile), 0);
	/* 100 by three: the ns over goes to the lowest id. */
	assert_int_equal(find(&f, 5, DWELL_STATE_ON_CPU, 10, false)->ns, 34);
	assert_int_equal(find(&f, 5, DWELL_STATE_ON_CPU, 20, false)->ns, 33);
	assert_int_equal(find(&f, 5, DWELL_STATE_ON_CPU, 30, false)->ns, 33);
	assert_int_equal(find(&f, 5, DWELL_STATE_ON_CPU, 10, false)->censored_ns +
				 find(&f, 5, DWELL_STATE_ON_CPU, 20, false)->censored_ns +
				 find(&f, 5, DWELL_STATE_ON_CPU, 30, false)->censored_ns,
			 40);
	assert_int_equal(find(&f, 5, DWELL_STATE_ON_CPU, 30, false)->count, 1);
	assert_null(find(&f, 5, DWELL_STATE_ON_CPU, 10, false)->histogram);
	assert_int_equal(find(&f, 5, DWELL_STATE_ON_CPU, 0, true)->ns, 1000);
	assert_int_equal(find(&f, 5, DWELL_STATE_ON_CPU, 0, true)->longest_ns, 1000);
	assert_int_equal(dwell_profile_count(f.profile), 4);
	release(&f);
}

static void test_spread_is_exact(void **state)
{
	(void)state;
	for (uint64_t total = 1; total < 3000; total = total * 3 + 1) {
		struct fixture f;
		uint64_t sum = 0;

		init(&f, DWELL_BY_THREAD);
		for (uint32_t i = 1; i <= 50; i++)
			sample(&f, 1, 5, i, i * i * 0x123456789ull);
		sample(&f, 1, 5, 51, UINT64_MAX); /* an absurd weight takes its part, no more */
		add(&f, 1, 5, DWELL_STATE_ON_CPU, 0, total, true);
		assert_int_equal(dwell_profile_end_thread(f.profile, 1), 0);
		for (uint32_t i = 0; i < dwell_profile_count(f.profile); i++) {
			const struct dwell_row *row = dwell_profile_row(f.profile, i);

			sum += row->ns;
			assert_int_equal(row->ns, row->censored_ns);
		}
		assert_int_equal(sum, total);
		assert_int_equal(dwell_profile_finish(f.profile), 0);
		release(&f);
	}
}

static void test_comms_have_their_own_samples(void **state)
{
	struct fixture f;

	(void)state;
	init(&f, DWELL_BY_COMM);
	sample(&f, 1, 5, 10, 1);
	sample(&f, 1, 6, 11, 1); /* exec: the interval of the old comm follows */
	add(&f, 1, 5, DWELL_STATE_ON_CPU, 0, 70, false);
	add(&f, 1, 6, DWELL_STATE_ON_CPU, 0, 30, false);
	sample(&f, 1, 7, 12, 1);
	sample(&f, 1, 8, 13, 1);
	add(&f, 1, 8, DWELL_STATE_ON_CPU, 0, 5, false);
	assert_int_equal(dwell_profile_end_thread(f.profile, 1), 0);
	assert_int_equal(find(&f, 5, DWELL_STATE_ON_CPU, 10, false)->ns, 70);
	assert_int_equal(find(&f, 6, DWELL_STATE_ON_CPU, 11, false)->ns, 30);
	assert_int_equal(find(&f, 8, DWELL_STATE_ON_CPU, 13, false)->ns, 5);
	assert_int_equal(dwell_profile_count(f.profile), 3);
	release(&f);
}

static uint32_t groups_of(enum dwell_group_by by)
{
	struct fixture f;
	uint32_t groups = 0;

	init(&f, by);
	assert_int_equal(dwell_profile_by(f.profile), by);
	for (uint32_t thread = 1; thread <= 3; thread++)
		add(&f, thread, 5, DWELL_STATE_BLOCKED, 7, 10, false);
	add(&f, 1, 6, DWELL_STATE_BLOCKED, 7, 10, false);
	for (uint32_t i = 0; i < dwell_profile_count(f.profile); i++)
		if (dwell_profile_row(f.profile, i)->group >= groups)
			groups = dwell_profile_row(f.profile, i)->group + 1;
	if (by == DWELL_BY_CGROUP)
		assert_int_equal(dwell_profile_group(f.profile, 1)->comm, 9);
	release(&f);
	return groups;
}

static void test_groups(void **state)
{
	(void)state;
	assert_int_equal(groups_of(DWELL_BY_COMM), 2);
	assert_int_equal(groups_of(DWELL_BY_PROCESS), 3);
	assert_int_equal(groups_of(DWELL_BY_THREAD), 4);
	assert_int_equal(groups_of(DWELL_BY_CGROUP), 2);
}

static void test_many_rows(void **state)
{
	struct fixture f;

	(void)state;
	init(&f, DWELL_BY_COMM);
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t stack = 0; stack < 5000; stack++)
			add(&f, 1, 5, DWELL_STATE_BLOCKED, stack, stack + 1, false);
	assert_int_equal(dwell_profile_count(f.profile), 5000);
	assert_int_equal(find(&f, 5, DWELL_STATE_BLOCKED, 4321, false)->ns, 2 * 4322);
	release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_off_rows),
		cmocka_unit_test(test_spread),
		cmocka_unit_test(test_spread_is_exact),
		cmocka_unit_test(test_comms_have_their_own_samples),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_many_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
