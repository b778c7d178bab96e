// SPDX-License-Identifier: MIT
/* Lists in, verdicts out; and what is wrong with a list is said. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "offcpu/filter.h"

struct fixture {
	struct dwell_threads *threads;
	struct dwell_strings *strings;
	struct dwell_filter filter;
	struct dwell_interval interval; /* [1000, 1100) of thread 1: pid 10, tid 11, "nginx" */
};

static void init(struct fixture *f)
{
	uint32_t index, comm, cgroup;

	memset(f, 0, sizeof(*f));
	f->threads = dwell_threads_new();
	f->strings = dwell_strings_new();
	assert_int_equal(dwell_threads_add(f->threads, 10, 11, 0, &index), 0);
	assert_int_equal(dwell_strings_add(f->strings, "nginx", 5, &comm), 0);
	assert_int_equal(dwell_strings_add(f->strings, "/web/a", 6, &cgroup), 0);
	dwell_threads_get(f->threads, index)->cgroup = cgroup;
	f->interval = (struct dwell_interval){ .start_ns = 1000,
					       .end_ns = 1100,
					       .thread = index,
					       .comm = comm,
					       .cpu = 3,
					       .state = DWELL_STATE_BLOCKED,
					       .detail = DWELL_TASK_UNINTERRUPTIBLE,
					       .censored_start = true,
					       .censored_end = true };
}

static void release(struct fixture *f)
{
	dwell_filter_release(&f->filter);
	dwell_strings_free(f->strings);
	dwell_threads_free(f->threads);
}

static bool passes(struct fixture *f)
{
	struct dwell_interval interval = f->interval;

	return dwell_filter_clip(&f->filter, f->threads, f->strings, &interval);
}

/* Whether the interval passes a filter with one list. */
static bool with(struct fixture *f,
		 int (*add)(struct dwell_filter *filter, const char *list, struct dwell_err *err),
		 const char *list)
{
	struct dwell_err err = { 0 };
	bool pass;

	assert_int_equal(add(&f->filter, list, &err), 0);
	pass = passes(f);
	dwell_filter_release(&f->filter);
	return pass;
}

static void test_lists(void **state)
{
	struct fixture f;

	(void)state;
	init(&f);
	assert_true(passes(&f));
	assert_true(with(&f, dwell_filter_add_comms, "apache,ng*"));
	assert_false(with(&f, dwell_filter_add_comms, "ngin"));
	assert_false(with(&f, dwell_filter_exclude_comms, "n?inx"));
	assert_true(with(&f, dwell_filter_exclude_comms, "bash"));
	assert_true(with(&f, dwell_filter_add_cgroups, "/web/*"));
	assert_false(with(&f, dwell_filter_add_cgroups, "/db"));
	assert_true(with(&f, dwell_filter_add_pids, "9,10"));
	assert_false(with(&f, dwell_filter_add_pids, "11"));
	assert_true(with(&f, dwell_filter_add_tids, "11"));
	assert_false(with(&f, dwell_filter_add_tids, "10"));
	assert_true(with(&f, dwell_filter_add_cpus, "0,2-3"));
	assert_false(with(&f, dwell_filter_add_cpus, "0-2,4,67"));
	f.interval.cpu = 67;
	assert_true(with(&f, dwell_filter_add_cpus, "1,66-68"));
	f.interval.cpu = DWELL_CPU_NONE;
	assert_false(with(&f, dwell_filter_add_cpus, "0-9"));
	release(&f);
}

static void test_states(void **state)
{
	struct fixture f;

	(void)state;
	init(&f);
	assert_true(with(&f, dwell_filter_add_states, "blocked"));
	assert_true(with(&f, dwell_filter_add_states, "off"));
	assert_true(with(&f, dwell_filter_add_states, "on,D"));
	assert_false(with(&f, dwell_filter_add_states, "on,runnable,unknown,S"));
	f.interval.detail = DWELL_TASK_OTHER;
	assert_true(with(&f, dwell_filter_add_states, "blocked"));
	assert_false(with(&f, dwell_filter_add_states, "D"));
	f.interval.state = DWELL_STATE_RUNNABLE;
	f.interval.detail = DWELL_RUNNABLE_WOKEN;
	assert_true(with(&f, dwell_filter_add_states, "woken"));
	assert_true(with(&f, dwell_filter_add_states, "runnable"));
	assert_true(with(&f, dwell_filter_add_states, "off"));
	assert_false(with(&f, dwell_filter_add_states, "preempted,new,throttled,blocked,R"));
	f.interval.detail = DWELL_RUNNABLE_THROTTLED;
	assert_true(with(&f, dwell_filter_add_states, "R"));
	f.interval.state = DWELL_STATE_ON_CPU;
	f.interval.detail = 0;
	assert_true(with(&f, dwell_filter_add_states, "on"));
	assert_false(with(&f, dwell_filter_add_states, "off"));
	f.interval.state = DWELL_STATE_UNKNOWN;
	assert_true(with(&f, dwell_filter_add_states, "unknown"));
	assert_false(with(&f, dwell_filter_add_states, "on,off"));
	release(&f);
}

static void test_times(void **state)
{
	struct fixture f;
	struct dwell_interval interval;

	(void)state;
	init(&f);
	f.filter.min_ns = 100;
	f.filter.max_ns = 100;
	f.filter.from_ns = 1090; /* min and max look at the whole interval */
	assert_true(passes(&f));
	f.filter.min_ns = 101;
	assert_false(passes(&f));
	f.filter.min_ns = 0;
	f.filter.max_ns = 99;
	assert_false(passes(&f));
	f.filter = (struct dwell_filter){ .from_ns = 1010, .to_ns = 1020 };
	interval = f.interval;
	assert_true(dwell_filter_clip(&f.filter, f.threads, f.strings, &interval));
	assert_int_equal(interval.start_ns, 1010);
	assert_int_equal(interval.end_ns, 1020);
	assert_false(interval.censored_start);
	assert_false(interval.censored_end);
	f.filter = (struct dwell_filter){ .from_ns = 1000, .to_ns = 1100 };
	interval = f.interval;
	assert_true(dwell_filter_clip(&f.filter, f.threads, f.strings, &interval));
	assert_true(interval.censored_start && interval.censored_end);
	f.filter = (struct dwell_filter){ .from_ns = 1100 };
	assert_false(passes(&f));
	f.filter = (struct dwell_filter){ .to_ns = 1000 };
	assert_false(passes(&f));
	release(&f);
}

static void test_errors(void **state)
{
	static const struct {
		int (*add)(struct dwell_filter *filter, const char *list, struct dwell_err *err);
		const char *list;
	} bad[] = {
		{ dwell_filter_add_states, "running" },	 { dwell_filter_add_states, "" },
		{ dwell_filter_add_states, "q" },	 { dwell_filter_add_comms, "a,,b" },
		{ dwell_filter_add_pids, "-1" },	 { dwell_filter_add_pids, "12x" },
		{ dwell_filter_add_tids, "2147483648" }, { dwell_filter_add_cpus, "3-2" },
		{ dwell_filter_add_cpus, "65536" },	 { dwell_filter_add_cpus, "1-" },
	};
	struct fixture f;

	(void)state;
	init(&f);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct dwell_err err = { 0 };

		assert_int_equal(bad[i].add(&f.filter, bad[i].list, &err), -EINVAL);
		assert_int_equal(err.code, -EINVAL);
		assert_true(err.msg[0]);
	}
	release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
