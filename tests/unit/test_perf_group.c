// SPDX-License-Identifier: MIT
/* Tests of parse/perf_group.c: the counts that samples of a group read become samples of each of
 * its events, in both byte orders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/synth/perfevents.h"

enum { ID_LEADER = 7, ID_MEMBER, ID_NOBODY };

#define GROUP_TYPES                                                                     \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ)

static void group_add(struct perf_bytes *b, uint32_t tid, uint64_t time_ns, uint64_t leader,
		      uint64_t member)
{
	uint32_t at = sample_begin(b, ID_LEADER, tid, time_ns, 0);

	perf_u64(b, 3);
	perf_u64(b, leader);
	perf_u64(b, ID_LEADER);
	perf_u64(b, member);
	perf_u64(b, ID_MEMBER);
	perf_u64(b, 77);
	perf_u64(b, ID_NOBODY);
	perf_end(b, at);
}

static void group_events(struct perf_bytes *b, uint64_t flags)
{
	event_add(b, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1000, GROUP_TYPES, flags,
		  ID_LEADER, "cpu-clock");
	event_add(b, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0, GROUP_TYPES, flags,
		  ID_MEMBER, "page-faults");
}

/* A count tells what was counted since the sample before; nothing counted is no sample. */
static void one_sample_of_each(void **state)
{
	static const char *const lines[] = {
		"100 0 cpu none 1 1",
		"100 0 sample 11.1 0 1000 |/bin/app+1000",
		"100 0 sample 11.1 1 3 |/bin/app+1000",
		"200 0 sample 11.1 0 1500 |/bin/app+1000",
		"300 0 sample 12.1 0 10 |/bin/app+1000",
		"300 0 sample 12.1 1 2 |/bin/app+1000",
		NULL,
	};
	struct perf_bytes b;

	(void)state;
	for (int swapped = 0; swapped < 2; swapped++) {
		pipe_begin(&b, swapped);
		group_events(&b, FLAGS);
		maps_add(&b);
		group_add(&b, 11, 100, 1000, 3);
		group_add(&b, 11, 200, 2500, 3);
		group_add(&b, 12, 300, 2510, 5);
		assert_events(open_bytes(&b), lines);
	}
}

/* An inherited counter has a count for each thread under one id. */
static void inherited_counts(void **state)
{
	static const char *const lines[] = {
		"100 0 cpu none 1 1",
		"100 0 sample 11.1 0 1000 |/bin/app+1000",
		"100 0 sample 11.1 1 3 |/bin/app+1000",
		"200 0 sample 12.1 0 400 |/bin/app+1000",
		"200 0 sample 12.1 1 1 |/bin/app+1000",
		"300 0 sample 11.1 0 1 |/bin/app+1000",
		NULL,
	};
	struct perf_bytes b;

	(void)state;
	pipe_begin(&b, false);
	group_events(&b, FLAGS | DWELL_PERF_ATTR_INHERIT);
	maps_add(&b);
	group_add(&b, 11, 100, 1000, 3);
	group_add(&b, 12, 200, 400, 1);
	group_add(&b, 11, 300, 1001, 3);
	assert_events(open_bytes(&b), lines);
}

/* A count of groups that is larger than the record is no sample. */
static void counts_that_do_not_fit(void **state)
{
	static const char *const lines[] = { "100 0 cpu none 1 1", NULL };
	struct perf_bytes b;
	uint32_t at;

	(void)state;
	pipe_begin(&b, false);
	group_events(&b, FLAGS);
	at = sample_begin(&b, ID_LEADER, 11, 100, 0);
	perf_u64(&b, UINT64_MAX / 16 + 2);
	perf_u64(&b, 1);
	perf_u64(&b, ID_LEADER);
	perf_end(&b, at);
	assert_events(open_bytes(&b), lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_sample_of_each),
		cmocka_unit_test(inherited_counts),
		cmocka_unit_test(counts_that_do_not_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
