// SPDX-License-Identifier: MIT
/* Tests of parse/perf/attr.c: attrs of every size and either byte order become the same members,
 * and events that a file does not name get the names that perf shows. */
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/synth/perffile.h"

static void decodes_every_size(void **state)
{
	static const uint32_t sizes[] = { 64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 4096 };
	struct dwell_perf_attr attr;

	(void)state;
	for (int swapped = 0; swapped < 2; swapped++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			struct perf_bytes b = { .swapped = swapped };

			perf_attr(&b, sizes[i], PERF_TYPE_TRACEPOINT, 316, PERF_TEST_TYPES);
			assert_int_equal(b.count, sizes[i]);
			assert_true(dwell_perf_attr_decode(b.data, b.count, swapped, &attr));
			assert_int_equal(attr.type, PERF_TYPE_TRACEPOINT);
			assert_int_equal(attr.bytes, sizes[i]);
			assert_int_equal(attr.config, 316);
			assert_int_equal(attr.period, 1);
			assert_int_equal(attr.sample_type, PERF_TEST_TYPES);
			assert_int_equal(attr.flags,
					 DWELL_PERF_ATTR_SAMPLE_ID_ALL | DWELL_PERF_ATTR_COMM);
			assert_int_equal(attr.regs_user, 0);
			dwell_array_release(&b);
		}
}

/* What an old kernel's attr ends before is 0, not what stands behind it in the file. */
static void ends_where_it_ends(void **state)
{
	struct dwell_perf_attr attr;
	struct perf_bytes b = { 0 };

	(void)state;
	perf_attr(&b, 128, PERF_TYPE_RAW, 5, 0);
	memset(b.data + 64, 0xff, 64);
	assert_true(dwell_perf_attr_decode(b.data, 64, false, &attr));
	assert_int_equal(attr.config2, 0);
	assert_int_equal(attr.regs_user, 0);
	assert_true(dwell_perf_attr_decode(b.data, 72, false, &attr));
	assert_int_equal(attr.config2, UINT64_MAX);
	assert_int_equal(attr.regs_user, 0);
	assert_true(dwell_perf_attr_decode(b.data, 128, false, &attr));
	assert_int_equal(attr.regs_user, UINT64_MAX);
	assert_int_equal(attr.clockid, -1);
	assert_false(dwell_perf_attr_decode(b.data, 63, false, &attr));
	dwell_array_release(&b);
}

static void names_events(void **state)
{
	static const struct {
		uint32_t type;
		uint64_t config;
		const char *name;
	} events[] = {
		{ PERF_TYPE_HARDWARE, 0, "cycles" },
		{ PERF_TYPE_HARDWARE, 3, "cache-misses" },
		{ PERF_TYPE_SOFTWARE, 0, "cpu-clock" },
		{ PERF_TYPE_SOFTWARE, 9, "dummy" },
		{ PERF_TYPE_TRACEPOINT, 316, "tracepoint 316" },
		{ PERF_TYPE_RAW, 0x1a2, "raw 0x1a2" },
		{ PERF_TYPE_HW_CACHE, 0x10002, "LLC-load-misses" },
		{ PERF_TYPE_HW_CACHE, 0x0100, "L1-dcache-stores" },
		{ PERF_TYPE_HW_CACHE, 0xff, "type 3 config 0xff" },
		{ 9, 0x20, "type 9 config 0x20" },
	};
	char name[64];

	(void)state;
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		struct dwell_perf_attr attr = { .type = events[i].type,
						.config = events[i].config };

		dwell_perf_attr_name(&attr, name, sizeof(name));
		assert_string_equal(name, events[i].name);
	}
}

static void knows_clocks(void **state)
{
	struct dwell_perf_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_TASK_CLOCK };

	(void)state;
	assert_true(dwell_perf_attr_is_clock(&attr));
	attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	assert_false(dwell_perf_attr_is_clock(&attr));
	attr = (struct dwell_perf_attr){ .type = PERF_TYPE_HARDWARE };
	assert_false(dwell_perf_attr_is_clock(&attr));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decodes_every_size),
		cmocka_unit_test(ends_where_it_ends),
		cmocka_unit_test(names_events),
		cmocka_unit_test(knows_clocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
