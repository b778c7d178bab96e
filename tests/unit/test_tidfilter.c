// SPDX-License-Identifier: MIT
/* Tests of record/tidfilter.c: whatever the tids, a filter covers them all, its text fits a page,
 * and the text means what the filter says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/tidfilter.h"

enum { TIDS_MAX = 3000, HIGHEST = (4 << 20) - 1 };

/* Evaluates "(f>=a&&f<=b)||f==c||f>=d" where first has the value a tid and second is out of reach,
 * or the other way round. */
static bool text_passes(const char *text, const char *field, uint32_t tid)
{
	const char *at = text;
	bool passes = false;

	for (;;) {
		char name[32], again[32];
		unsigned low, high;
		int used = 0;

		if (sscanf(at, "(%31[a-z_]>=%u&&%31[a-z_]<=%u)%n", name, &low, again, &high,
			   &used) == 4)
			assert_string_equal(name, again);
		else if (sscanf(at, "%31[a-z_]==%u%n", name, &low, &used) == 2)
			high = low;
		else if (sscanf(at, "%31[a-z_]>=%u%n", name, &low, &used) == 2)
			high = HIGHEST;
		assert_true(used > 0 && low <= high);
		passes |= !strcmp(name, field) && tid >= low && tid <= high;
		at += used;
		if (!*at)
			return passes;
		assert_true(at[0] == '|' && at[1] == '|');
		at += 2;
	}
}

static void assert_filter(const uint32_t *tids, uint32_t count, int64_t newer_than)
{
	char text[TIDFILTER_TEXT_BYTES];
	struct tidfilter filter;

	memset(text, 'x', sizeof(text));
	tidfilter_build(&filter, tids, count, newer_than);
	assert_in_range(filter.count, 1, TIDFILTER_RANGES_MAX);
	for (uint32_t i = 0; i + 1 < filter.count; i++)
		assert_true(filter.ranges[i].high + 1 < filter.ranges[i + 1].low ||
			    i + 2 == filter.count);
	for (uint32_t i = 0; i < count; i++)
		assert_true(tidfilter_covers(&filter, tids[i]));
	if (newer_than >= 0 && newer_than < HIGHEST) {
		assert_true(tidfilter_covers(&filter, (uint32_t)newer_than + 1));
		assert_true(tidfilter_covers(&filter, HIGHEST));
	}
	assert_ptr_equal(tidfilter_text(&filter, "prev_pid", "next_pid", text), text);
	assert_true(strnlen(text, sizeof(text)) < sizeof(text));
	for (uint32_t i = 0; i < filter.count; i++) {
		uint32_t edges[] = { filter.ranges[i].low, filter.ranges[i].high,
				     filter.ranges[i].low - 1, filter.ranges[i].high + 1 };

		for (int e = 0; e < 4; e++) {
			bool covers = tidfilter_covers(&filter, edges[e]);

			assert_int_equal(text_passes(text, "prev_pid", edges[e]), covers);
			assert_int_equal(text_passes(text, "next_pid", edges[e]), covers);
		}
	}
	tidfilter_text(&filter, "pid", NULL, text);
	assert_int_equal(text_passes(text, "pid", filter.ranges[0].low), 1);
	assert_null(strstr(text, "next"));
}

static void few_tids_are_exact(void **state)
{
	const uint32_t tids[] = { 5, 6, 7, 100, 4000 };
	char text[TIDFILTER_TEXT_BYTES];
	struct tidfilter filter;

	(void)state;
	tidfilter_build(&filter, tids, 5, -1);
	assert_string_equal(tidfilter_text(&filter, "pid", NULL, text),
			    "(pid>=5&&pid<=7)||pid==100||pid==4000");
	assert_false(tidfilter_covers(&filter, 8));
	tidfilter_build(&filter, tids, 5, 200);
	assert_string_equal(tidfilter_text(&filter, "pid", NULL, text),
			    "(pid>=5&&pid<=7)||pid==100||pid>=201");
	tidfilter_build(&filter, NULL, 0, -1);
	assert_int_equal(filter.count, 1);
	assert_false(tidfilter_covers(&filter, 1));
	assert_filter(tids, 5, HIGHEST);
	assert_filter(tids, 0, 0);
}

static void the_nearest_are_merged(void **state)
{
	uint32_t tids[TIDFILTER_RANGES_MAX + 1];
	struct tidfilter filter;

	(void)state;
	for (uint32_t i = 0; i <= TIDFILTER_RANGES_MAX; i++)
		tids[i] = 1000 * (i + 1) - (i == 7 ? 990 : 0); /* 7000 and 7010 are neighbours */
	tidfilter_build(&filter, tids, TIDFILTER_RANGES_MAX, -1);
	assert_true(tidfilter_covers(&filter, 7005));
	assert_false(tidfilter_covers(&filter, 6500));
	assert_false(tidfilter_covers(&filter, 20500));
}

static void random_sets_are_covered(void **state)
{
	static uint32_t tids[TIDS_MAX];
	uint32_t seed = 7;

	(void)state;
	for (uint32_t round = 0; round < 300; round++) {
		uint32_t count = 0, tid = 0, spread = 1u << round % 18;
		int64_t newer_than = -1;

		while (count < TIDS_MAX && count < round * 11) {
			seed = seed * 1664525 + 1013904223;
			tid += 1 + (seed >> 8) % spread;
			if (tid > HIGHEST)
				break;
			tids[count++] = tid;
		}
		if (round % 3 == 1 && count)
			newer_than = tids[count / 2];
		else if (round % 3 == 2)
			newer_than = tid;
		assert_filter(tids, count, newer_than);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_tids_are_exact),
		cmocka_unit_test(the_nearest_are_merged),
		cmocka_unit_test(random_sets_are_covered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
