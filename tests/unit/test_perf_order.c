// SPDX-License-Identifier: MIT
/* Tests of the order in which a perf.data's records come out: by stamp, equal stamps by their place
 * in the file, those without a stamp behind the one before them; against a stable sort. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/synth/perfread.h"

enum { TID = 42, RECORDS = 3000, ROUNDS = 60 };

static const struct perf_form one_event = { .attr_bytes = 136, .events = 1 };

/* ip is the place in the file. */
struct expected {
	uint64_t time_ns, ip;
};

static int expected_compare(const void *a, const void *b)
{
	const struct expected *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->ip < y->ip ? -1 : x->ip > y->ip;
}

static void assert_order(const struct perf_bytes *records, struct expected *expected,
			 uint32_t count)
{
	struct perf_reading reading;
	struct perf_bytes b = { 0 };

	perf_make(&b, &one_event, records);
	perf_read_all(&reading, &b);
	assert_int_equal(reading.rc, 0);
	assert_int_equal(reading.seen.count, count);
	if (count)
		qsort(expected, count, sizeof(*expected), expected_compare);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(reading.seen.data[i].time_ns, expected[i].time_ns);
		assert_int_equal(reading.seen.data[i].ip, expected[i].ip);
	}
	perf_close(&reading);
	dwell_array_release(&b);
}

/* Streams of CPUs written in turns, with stamps that are often equal; among them marks of perf's.
 */
static void merges_random_runs(void **state)
{
	static struct expected expected[RECORDS];

	(void)state;
	srand(1);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct perf_bytes records = { 0 };
		uint64_t now[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
		uint32_t count = 0, cpus = 1 + round % 8, length = 1 + (uint32_t)rand() % 90;

		while (count < RECORDS) {
			uint32_t cpu = (uint32_t)rand() % cpus, n = 1 + (uint32_t)rand() % length;

			for (; n && count < RECORDS; n--, count++) {
				now[cpu] += (uint64_t)rand() % 3;
				expected[count] = (struct expected){ now[cpu], count };
				perf_sample(&records, 100, count, TID, now[cpu], cpu);
			}
			if (rand() % 4 == 0)
				perf_mark(&records, DWELL_PERF_FINISHED_ROUND);
		}
		assert_order(&records, expected, RECORDS);
		dwell_array_release(&records);
	}
}

/* The worst order that there is: each record a run of its own. */
static void merges_a_reversed_file(void **state)
{
	static struct expected expected[RECORDS];
	struct perf_bytes records = { 0 };

	(void)state;
	for (uint32_t i = 0; i < RECORDS; i++) {
		expected[i] = (struct expected){ RECORDS - i, i };
		perf_sample(&records, 100, i, TID, RECORDS - i, 0);
	}
	assert_order(&records, expected, RECORDS);
	dwell_array_release(&records);
}

/* Many runs at once, all longer than what is read of one at a time. */
static void merges_long_runs(void **state)
{
	enum { RUNS = 5, LONG = 6000 };
	static struct expected expected[RUNS * LONG];
	struct perf_bytes records = { 0 };
	uint32_t count = 0;

	(void)state;
	for (uint32_t run = 0; run < RUNS; run++)
		for (uint32_t i = 0; i < LONG; i++, count++) {
			expected[count] = (struct expected){ 10 + RUNS * i + run, count };
			perf_sample(&records, 100, count, TID, 10 + RUNS * i + run, run);
		}
	assert_order(&records, expected, count);
	dwell_array_release(&records);
}

static void places_odd_stamps(void **state)
{
	static const uint64_t stamps[] = { 500, UINT64_MAX, 0, 400, 0xffffffff00000001ull, 500, 0 };
	struct perf_bytes records = { 0 }, b = { 0 };
	struct perf_reading reading;

	(void)state;
	for (uint32_t i = 0; i < 7; i++)
		perf_sample(&records, 100, i, TID, stamps[i], 0);
	perf_make(&b, &one_event, &records);
	perf_read_all(&reading, &b);
	assert_int_equal(reading.seen.count, 7);
	assert_int_equal(reading.info->start_ns, 400);
	assert_int_equal(reading.info->end_ns, 500);
	for (uint32_t i = 0; i < 7; i++) {
		uint64_t stamp = stamps[reading.seen.data[i].ip];

		assert_int_equal(reading.seen.data[i].time_ns, stamp);
		assert_int_equal(reading.seen.data[i].timed, stamp && stamp != UINT64_MAX);
		if (i)
			assert_true(reading.seen.data[i - 1].time_ns <= stamp);
	}
	perf_close(&reading);
	dwell_array_release(&records);
	dwell_array_release(&b);
}

/* An event without sample_id_all: only samples are stamped, others go with the one before. */
static void keeps_unstamped_in_place(void **state)
{
	struct perf_bytes records = { 0 }, b = { 0 };
	struct perf_reading reading;
	uint32_t at;

	(void)state;
	for (uint32_t i = 0; i < 6; i++) {
		/* 0, then pairs: 300, 100, 200 */
		if (i % 2)
			perf_sample(&records, 100, i, TID,
				    ((const uint64_t[]){ 300, 100, 200 })[i / 2], 0);
		at = perf_begin(&records, PERF_RECORD_COMM, 0);
		perf_u32(&records, i);
		perf_u32(&records, i);
		perf_name(&records, ((const char *const[]){ "0", "1", "2", "3", "4", "5" })[i]);
		perf_end(&records, at);
	}
	perf_make(&b, &one_event, &records);
	b.data[104 + 40 + 2] = 0; /* sample_id_all, bit 18 of the attr's flags */
	perf_read_all(&reading, &b);
	assert_int_equal(reading.rc, 0);
	assert_int_equal(reading.seen.count, 9);
	for (uint32_t i = 0; i < 9; i++) {
		static const struct {
			uint64_t time_ns;
			const char *comm;
		} expected[] = { { 0, "0" },   { 100, "" }, { 100, "3" }, { 100, "4" }, { 200, "" },
				 { 200, "5" }, { 300, "" }, { 300, "1" }, { 300, "2" } };

		assert_int_equal(reading.seen.data[i].time_ns, expected[i].time_ns);
		assert_string_equal(reading.seen.data[i].comm, expected[i].comm);
		assert_int_equal(reading.seen.data[i].timed, !*expected[i].comm);
	}
	perf_close(&reading);
	dwell_array_release(&records);
	dwell_array_release(&b);
}

/* Runs of big records: more than is read at once, and more than a run's buffer. */
static void passes_big_records(void **state)
{
	enum { BIG = 100, BIG_BYTES = 65528 - 64 };
	struct perf_bytes records = { 0 }, b = { 0 };
	struct perf_reading reading;

	(void)state;
	for (uint32_t i = 0; i < BIG; i++) {
		uint32_t at = perf_begin(&records, 20 /* TEXT_POKE */, 0);

		for (uint32_t done = 0; done < BIG_BYTES; done += 8)
			perf_u64(&records, i);
		perf_trailer(&records, TID, 10 + i % 3, 0, 100);
		perf_end(&records, at);
	}
	perf_make(&b, &one_event, &records);
	perf_read_all(&reading, &b);
	assert_int_equal(reading.rc, 0);
	assert_int_equal(reading.seen.count, BIG);
	for (uint32_t i = 0; i < BIG; i++)
		assert_int_equal(reading.seen.data[i].time_ns, i < 34 ? 10 : i < 67 ? 11 : 12);
	perf_close(&reading);
	dwell_array_release(&records);
	dwell_array_release(&b);
}

/* An event and no record of it. */
static void ends_at_once(void **state)
{
	struct perf_bytes records = { 0 };

	(void)state;
	assert_order(&records, NULL, 0);
	perf_mark(&records, DWELL_PERF_FINISHED_INIT);
	assert_order(&records, NULL, 0);
	dwell_array_release(&records);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merges_random_runs),
		cmocka_unit_test(merges_a_reversed_file),
		cmocka_unit_test(merges_long_runs),
		cmocka_unit_test(places_odd_stamps),
		cmocka_unit_test(keeps_unstamped_in_place),
		cmocka_unit_test(passes_big_records),
		cmocka_unit_test(ends_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
