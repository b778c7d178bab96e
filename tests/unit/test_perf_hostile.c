// SPDX-License-Identifier: MIT
/* Tests of perf.data that is cut, damaged or made to hurt: what was before the damage comes out,
 * the info says what was passed over, and nothing is read or allocated that is not there. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/synth/perfread.h"

enum { TID = 42, SAMPLES = 12, HEADER = 104, ATTR_BYTES = 136, FEATURES = 3 };

/* A file or pipe of samples, with everything around them that can be damaged. */
static void make(struct perf_bytes *b, bool pipe, bool swapped)
{
	struct perf_feature features[FEATURES] = { { .bit = 1 }, { .bit = 3 }, { .bit = 12 } };
	struct perf_form form = { .pipe = pipe,
				  .swapped = swapped,
				  .attr_bytes = ATTR_BYTES,
				  .events = 2,
				  .features = features,
				  .feature_count = FEATURES };
	struct perf_bytes records = { .swapped = swapped };

	for (uint32_t i = 0; i < FEATURES; i++)
		features[i].body.swapped = swapped;
	perf_tracing(&features[0].body);
	perf_string(&features[1].body, "host");
	perf_event_desc(&features[2].body, 2, ATTR_BYTES);
	for (uint32_t i = 0; i < SAMPLES; i++) {
		perf_sample(&records, 100 + 100 * (i % 2), i, TID, 1000 + i, 0);
		if (i % 4 == 0)
			perf_comm(&records, TID, "comm", 1000 + i);
	}
	perf_make(b, &form, &records);
	for (uint32_t i = 0; i < FEATURES; i++)
		dwell_array_release(&features[i].body);
	dwell_array_release(&records);
}

/* Whatever was done to it, it opens or says why not, and its records are in order. */
static uint32_t survive(const struct perf_bytes *b)
{
	struct perf_reading reading;
	uint32_t count;

	perf_read_all(&reading, b);
	count = reading.seen.count;
	if (reading.rc)
		assert_true(reading.err.msg[0]);
	for (uint32_t i = 1; i < count; i++)
		assert_true(reading.seen.data[i - 1].time_ns <= reading.seen.data[i].time_ns);
	perf_close(&reading);
	return count;
}

static void survives_any_cut(void **state)
{
	(void)state;
	for (int form = 0; form < 4; form++) {
		struct perf_bytes b = { 0 };
		uint32_t most = 0, all;

		make(&b, form & 1, form & 2);
		all = b.count;
		for (b.count = 0; b.count <= all; b.count++) {
			uint32_t count = survive(&b);

			assert_true(count >= most);
			most = count;
			if (b.count == all)
				break;
		}
		assert_int_equal(most, SAMPLES + SAMPLES / 4);
		dwell_array_release(&b);
	}
}

static void survives_any_byte(void **state)
{
	static const uint8_t flips[] = { 0x01, 0x80, 0xff };

	(void)state;
	for (int form = 0; form < 4; form++) {
		struct perf_bytes b = { 0 };

		make(&b, form & 1, form & 2);
		for (uint32_t i = 0; i < b.count; i++)
			for (size_t f = 0; f < sizeof(flips); f++) {
				b.data[i] ^= flips[f];
				survive(&b);
				b.data[i] ^= flips[f];
			}
		dwell_array_release(&b);
	}
}

static void set_u64(struct perf_bytes *b, uint32_t at, uint64_t value)
{
	memcpy(b->data + at, &value, sizeof(value));
}

static void assert_refused(const struct perf_bytes *b, const char *why)
{
	struct perf_reading reading;

	perf_open(&reading, b);
	assert_int_equal(reading.rc, -EINVAL);
	if (!strstr(reading.err.msg, why))
		fail_msg("'%s' does not say '%s'", reading.err.msg, why);
	perf_close(&reading);
}

static void refuses_what_is_none(void **state)
{
	struct perf_bytes b = { 0 };

	(void)state;
	assert_refused(&b, "not a perf.data");
	perf_put(&b, "PERFILE3\0\0\0\0\0\0\0\0", 16);
	assert_false(dwell_perf_data_is(b.data, b.count));
	assert_refused(&b, "not a perf.data");
	memcpy(b.data, "PERFFILE", 8);
	assert_true(dwell_perf_data_is(b.data, b.count));
	assert_refused(&b, "first format");
	memcpy(b.data, "PERFILE2", 8);
	assert_refused(&b, "header");
	b.data[8] = 16;
	assert_refused(&b, "no event");
	dwell_array_release(&b);
}

static void refuses_attrs_that_are_not_there(void **state)
{
	struct perf_bytes b = { 0 };

	(void)state;
	make(&b, false, false);
	set_u64(&b, 16, 0); /* attr size */
	assert_refused(&b, "no event");
	set_u64(&b, 16, UINT64_MAX);
	assert_refused(&b, "no event");
	set_u64(&b, 16, ATTR_BYTES + 16);
	set_u64(&b, 24, b.count); /* offset */
	assert_refused(&b, "behind its end");
	set_u64(&b, 24, UINT64_MAX);
	assert_refused(&b, "behind its end");
	set_u64(&b, 24, HEADER);
	set_u64(&b, 32, UINT64_MAX); /* size */
	assert_refused(&b, "65536 events");
	set_u64(&b, 32, 1000 * (ATTR_BYTES + 16));
	assert_refused(&b, "behind its end");
	dwell_array_release(&b);
}

/* Sections of ids and features outside of the file, or the same ids for every event. */
static void passes_over_bad_sections(void **state)
{
	struct perf_bytes b = { 0 };
	struct perf_reading reading;
	uint64_t data_at, data_bytes;

	(void)state;
	make(&b, false, false);
	memcpy(&data_at, b.data + 40, 8);
	memcpy(&data_bytes, b.data + 48, 8);
	set_u64(&b, HEADER + ATTR_BYTES, b.count - 4);
	set_u64(&b, HEADER + ATTR_BYTES + 16 + ATTR_BYTES + 8, UINT64_MAX);
	set_u64(&b, (uint32_t)(data_at + data_bytes), b.count + 1ull);
	set_u64(&b, (uint32_t)(data_at + data_bytes) + 16 + 8, UINT64_MAX);
	perf_read_all(&reading, &b);
	assert_int_equal(reading.rc, 0);
	assert_int_equal(reading.info->bad_features, 4);
	assert_null(reading.info->hostname);
	assert_int_equal(reading.info->unknown_ids, 0); /* EVENT_DESC has them too */
	assert_int_equal(reading.seen.count, SAMPLES + SAMPLES / 4);
	assert_false(reading.info->damaged);
	perf_close(&reading);
	dwell_array_release(&b);
}

static const struct perf_form two_events = { .attr_bytes = ATTR_BYTES, .events = 2 };

static void stops_at_damage(void **state)
{
	struct perf_bytes records = { 0 }, b = { 0 };
	struct perf_reading reading;

	(void)state;
	perf_sample(&records, 100, 1, TID, 10, 0);
	perf_zeros(&records, 16); /* a size of 0 */
	perf_sample(&records, 100, 2, TID, 20, 0);
	perf_make(&b, &two_events, &records);
	perf_read_all(&reading, &b);
	assert_int_equal(reading.rc, 0);
	assert_true(reading.info->damaged);
	assert_int_equal(reading.info->unread_bytes, 16 + 48);
	assert_int_equal(reading.seen.count, 1);
	perf_close(&reading);
	/* A size that is no multiple of 8. */
	b.data[b.count - 48 - 16 + 6] = 12;
	b.data[b.count - 48 - 16] = 3;
	perf_read_all(&reading, &b);
	assert_true(reading.info->damaged);
	assert_int_equal(reading.info->unread_bytes, 16 + 48);
	perf_close(&reading);
	dwell_array_release(&records);
	dwell_array_release(&b);
}

/* Types that nobody knows, of the kernel's and of perf's; records too short for what they are. */
static void counts_what_it_passes_over(void **state)
{
	static const uint32_t unknown[] = { 0, 40, 63, 90, 300, 32775, UINT32_MAX };
	struct perf_bytes records = { 0 }, b = { 0 };
	struct perf_reading reading;
	uint32_t at;

	(void)state;
	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++) {
		at = perf_begin(&records, unknown[i], 0);
		perf_u64(&records, 1);
		perf_end(&records, at);
		perf_sample(&records, 100, i, TID, 10 + i, 0);
	}
	at = perf_begin(&records, PERF_RECORD_MMAP2, 0); /* no room for the trailer */
	perf_zeros(&records, 72);
	perf_end(&records, at);
	at = perf_begin(&records, PERF_RECORD_SAMPLE, 0); /* no room for TIME */
	perf_zeros(&records, 24);
	perf_end(&records, at);
	at = perf_begin(&records, DWELL_PERF_HEADER_BUILD_ID, 0);
	perf_zeros(&records, 16);
	perf_end(&records, at);
	perf_make(&b, &two_events, &records);
	perf_read_all(&reading, &b);
	assert_int_equal(reading.rc, 0);
	assert_int_equal(reading.info->unknown_records, 7);
	assert_int_equal(reading.info->records[0], 7);
	assert_int_equal(reading.info->bad_records, 3);
	assert_int_equal(reading.seen.count, 7);
	perf_close(&reading);
	dwell_array_release(&records);
	dwell_array_release(&b);
}

/* A name that fills its record up to the trailer loses its last byte to a NUL. */
static void ends_names(void **state)
{
	struct perf_bytes records = { 0 }, b = { 0 };
	struct perf_reading reading;
	uint32_t at;

	(void)state;
	at = perf_begin(&records, PERF_RECORD_COMM, 0);
	perf_u64(&records, 0);
	perf_put(&records, "abcdefgh", 8);
	perf_trailer(&records, TID, 10, 0, 100);
	perf_end(&records, at);
	perf_make(&b, &two_events, &records);
	perf_read_all(&reading, &b);
	assert_int_equal(reading.seen.count, 1);
	assert_string_equal(reading.seen.data[0].comm, "abcdefg");
	assert_int_equal(reading.seen.data[0].tid, TID);
	perf_close(&reading);
	dwell_array_release(&records);
	dwell_array_release(&b);
}

/* Bytes outside of records that claim to be more than there are. */
static void bounds_what_stands_outside(void **state)
{
	(void)state;
	for (uint32_t type = DWELL_PERF_HEADER_TRACING_DATA; type <= DWELL_PERF_AUXTRACE;
	     type += 5) {
		struct perf_bytes records = { 0 }, b = { 0 };
		struct perf_reading reading;
		uint32_t at;

		perf_sample(&records, 100, 1, TID, 10, 0);
		at = perf_begin(&records, type, 0);
		perf_u64(&records, type == DWELL_PERF_AUXTRACE ? UINT64_MAX - 7 : UINT32_MAX);
		perf_end(&records, at);
		perf_sample(&records, 100, 2, TID, 20, 0);
		perf_make(&b, &two_events, &records);
		perf_read_all(&reading, &b);
		assert_int_equal(reading.rc, 0);
		assert_int_equal(reading.seen.count, 1);
		perf_close(&reading);
		dwell_array_release(&records);
		dwell_array_release(&b);
	}
}

/* The file is cut, or becomes another one, between the passes. */
static void notices_a_change(void **state)
{
	struct perf_reading reading;
	struct perf_bytes b = { 0 };

	(void)state;
	make(&b, false, false);
	perf_open(&reading, &b);
	assert_int_equal(reading.rc, 0);
	assert_int_equal(ftruncate(reading.fd, b.count / 2), 0);
	perf_read(&reading);
	assert_int_equal(reading.rc, -EIO);
	assert_non_null(strstr(reading.err.msg, "changed"));
	perf_close(&reading);
	perf_open(&reading, &b);
	memset(b.data, 0xff, b.count);
	assert_int_equal(pwrite(reading.fd, b.data, b.count, 0), b.count);
	perf_read(&reading);
	assert_int_equal(reading.rc, -EIO);
	perf_close(&reading);
	dwell_array_release(&b);
}

/* perf of 2010 wrote build ids without a pid. */
static void reads_the_oldest_build_ids(void **state)
{
	struct perf_feature features[] = { { .bit = 2 } };
	struct perf_form form = {
		.attr_bytes = 64, .events = 1, .features = features, .feature_count = 1
	};
	struct perf_bytes records = { 0 }, b = { 0 }, *body = &features[0].body;
	struct perf_reading reading;
	uint32_t at = perf_begin(body, 0, 1);

	(void)state;
	for (uint8_t i = 1; i <= 24; i++)
		perf_put(body, &i, 1);
	perf_name(body, "[kernel.kallsyms]");
	perf_end(body, at);
	perf_sample(&records, 100, 1, TID, 10, 0);
	perf_make(&b, &form, &records);
	perf_open(&reading, &b);
	assert_int_equal(reading.rc, 0);
	assert_string_equal(dwell_perf_data_build_id(reading.data, 0)->path, "[kernel.kallsyms]");
	assert_int_equal(dwell_perf_data_build_id(reading.data, 0)->id[0], 1);
	assert_int_equal(dwell_perf_data_build_id(reading.data, 0)->id[19], 20);
	perf_close(&reading);
	dwell_array_release(body);
	dwell_array_release(&records);
	dwell_array_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(survives_any_cut),
		cmocka_unit_test(survives_any_byte),
		cmocka_unit_test(refuses_what_is_none),
		cmocka_unit_test(refuses_attrs_that_are_not_there),
		cmocka_unit_test(passes_over_bad_sections),
		cmocka_unit_test(stops_at_damage),
		cmocka_unit_test(counts_what_it_passes_over),
		cmocka_unit_test(ends_names),
		cmocka_unit_test(bounds_what_stands_outside),
		cmocka_unit_test(notices_a_change),
		cmocka_unit_test(reads_the_oldest_build_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
