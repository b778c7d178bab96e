// SPDX-License-Identifier: MIT
/* Tests of reading traces that no recorder wrote: from the future, with sizes and horizons that
 * lie, with records that make no sense, and with more than memory should be spent on. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include <cmocka.h>

#include "tests/synth/reading.h"

static void fact(struct blob *payload, const char *key, const char *value)
{
	blob_text(payload, key);
	blob_text(payload, value);
}

/* Header and facts of a trace made by hand. */
static void blob_begin(struct blob *blob)
{
	struct blob payload = { 0 };

	*blob = (struct blob){ 0 };
	blob_header(blob, trace_header());
	fact(&payload, "window.start_ns", "100");
	blob_flush(blob, DWELL_BLOCK_INFO, &payload);
	dwell_array_release(&payload);
}

/* A round with one section. */
static void blob_round(struct blob *blob, uint64_t horizon_ns, uint32_t stream, uint64_t base_ns,
		       const void *records, size_t bytes)
{
	struct blob payload = { 0 };

	blob_varint(&payload, horizon_ns);
	blob_varint(&payload, stream);
	blob_varint(&payload, base_ns);
	blob_varint(&payload, bytes);
	blob_put(&payload, records, bytes);
	blob_flush(blob, DWELL_BLOCK_ROUND, &payload);
	dwell_array_release(&payload);
}

static void read_blob(struct reading *r, struct blob *blob)
{
	read_memory(r, blob->data, blob->count);
}

/* Opens a trace that has only the header; asserts the refusal and a part of its message. */
static void assert_refused(struct dwell_trace_header header, const char *part)
{
	struct blob blob = { 0 };
	struct reading r;

	blob_header(&blob, header);
	read_blob(&r, &blob);
	assert_int_equal(r.rc, -EINVAL);
	assert_non_null(strstr(r.err.msg, part));
	reading_release(&r);
	dwell_array_release(&blob);
}

static void headers_of_others_are_refused(void **state)
{
	struct dwell_trace_header header = trace_header();

	(void)state;
	assert_refused(header, "before its first events");
	header.version = DWELL_TRACE_VERSION + 1;
	assert_refused(header, "newer dwell");
	header.version = 0;
	assert_refused(header, "version 0");
	header = trace_header();
	header.must_understand = 1ull << 63;
	assert_refused(header, "0x8000000000000000");
	header = trace_header();
	header.may_ignore = 0xff;
	assert_refused(header, "before its first events");
	header = trace_header();
	header.byte_order = 0x0d0c0b0a;
	assert_refused(header, "byte order");
	header = trace_header();
	header.header_bytes = 72;
	assert_refused(header, "72 bytes");
	header = trace_header();
	header.magic[7] = 'X';
	assert_refused(header, "not a dwell trace");
}

static void blocks_of_the_future(void **state)
{
	const uint8_t count[] = { DWELL_REC_COUNT, 5, 7, 9 };
	struct reading r;
	struct blob blob;

	(void)state;
	blob_begin(&blob);
	blob_block(&blob, 200, 0, "whatever", 8, 8);
	blob_round(&blob, 0, 0, 200, count, sizeof(count));
	read_blob(&r, &blob);
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.lines.count, 1);
	assert_string_equal(r.lines.data[0], "205 -1 count 7.1 9");
	assert_true(!r.info.damaged && !r.info.finished);
	assert_int_equal(r.info.end_ns, 205);
	reading_release(&r);

	blob_block(&blob, 200, DWELL_TRACE_BLOCK_MUST_UNDERSTAND, "whatever", 8, 8);
	read_blob(&r, &blob);
	assert_int_equal(r.rc, -EINVAL);
	assert_non_null(strstr(r.err.msg, "type 200"));
	reading_release(&r);
	dwell_array_release(&blob);
}

/* A block whose header lies about sizes must end reading, not memory. */
static void assert_block_damages(uint8_t flags, const void *stored, uint32_t stored_bytes,
				 uint32_t raw_bytes)
{
	struct reading r;
	struct blob blob;
	uint32_t before;

	blob_begin(&blob);
	before = blob.count;
	blob_block(&blob, DWELL_BLOCK_INFO, flags, stored, stored_bytes, raw_bytes);
	read_blob(&r, &blob);
	assert_int_equal(r.rc, 0);
	assert_true(r.info.damaged);
	assert_int_equal(r.info.unread_bytes, blob.count - before);
	reading_release(&r);
	dwell_array_release(&blob);
}

static void bombs_are_not_unpacked(void **state)
{
	enum { ZEROES = DWELL_TRACE_RAW_MAX_BYTES };
	size_t bound = ZSTD_compressBound(ZEROES), packed;
	void *zeroes = calloc(1, ZEROES), *stored = malloc(bound);

	(void)state;
	assert_non_null(zeroes);
	assert_non_null(stored);
	packed = ZSTD_compress(stored, bound, zeroes, ZEROES, 3);
	assert_false(ZSTD_isError(packed));
	assert_block_damages(DWELL_TRACE_BLOCK_ZSTD, stored, (uint32_t)packed, ZEROES);
	packed = ZSTD_compress(stored, bound, zeroes, 1000, 3);
	assert_block_damages(DWELL_TRACE_BLOCK_ZSTD, stored, (uint32_t)packed, 999);
	assert_block_damages(DWELL_TRACE_BLOCK_ZSTD, stored, (uint32_t)packed, 1001);
	assert_block_damages(DWELL_TRACE_BLOCK_ZSTD, "nonsense", 8, 100);
	assert_block_damages(DWELL_TRACE_BLOCK_ZSTD, "", 0, 8);
	assert_block_damages(0, zeroes, 8, 9);
	assert_block_damages(0, zeroes, 8, UINT32_MAX);
	assert_block_damages(DWELL_TRACE_BLOCK_ZSTD, zeroes, 8, UINT32_MAX);
	free(zeroes);
	free(stored);
}

static void lies_about_the_horizon_cost_only_order(void **state)
{
	enum { ROUNDS = 300 };
	const uint8_t count[] = { DWELL_REC_COUNT, 0, 7, 9 };
	struct reading r;
	struct blob blob;

	(void)state;
	/* "Nothing earlier will come", and then it does. */
	blob_begin(&blob);
	for (uint32_t i = 0; i < ROUNDS; i++)
		blob_round(&blob, UINT64_MAX, 0, 100000 - i, count, sizeof(count));
	read_blob(&r, &blob);
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.lines.count, ROUNDS);
	assert_int_equal(r.info.late, ROUNDS - 1);
	reading_release(&r);
	dwell_array_release(&blob);

	/* "Anything may still come": rounds are not held back without end. */
	blob_begin(&blob);
	for (uint32_t i = 0; i < ROUNDS; i++)
		blob_round(&blob, 0, 0, 1000 + i, count, sizeof(count));
	read_blob(&r, &blob);
	assert_int_equal(r.lines.count, ROUNDS);
	assert_true(!r.info.damaged && r.info.late == 0);
	reading_release(&r);
	dwell_array_release(&blob);
}

static void strings_told_twice_keep_their_ids(void **state)
{
	const uint8_t comm[] = { DWELL_REC_COMM, 0, 7, 3, DWELL_REC_COMM, 0, 7, 2,
				 DWELL_REC_COMM, 0, 7, 4, DWELL_REC_COMM, 0, 7, 0 };
	const char *const texts[] = { "a", "a", "b" };
	struct blob blob, payload = { 0 };
	struct reading r;

	(void)state;
	blob_begin(&blob);
	for (int i = 0; i < 3; i++) {
		blob_varint(&payload, DWELL_DEF_STRING);
		blob_text(&payload, texts[i]);
	}
	blob_flush(&blob, DWELL_BLOCK_DEFS, &payload);
	blob_round(&blob, 0, 0, 200, comm, sizeof(comm));
	read_blob(&r, &blob);
	assert_int_equal(r.lines.count, 4);
	assert_string_equal(r.lines.data[0], "200 -1 comm 7.1 b");
	assert_string_equal(r.lines.data[1], "200 -1 comm 7.1 a");
	assert_string_equal(r.lines.data[2], "200 -1 comm 7.1 ");
	assert_string_equal(r.lines.data[3], "200 -1 comm 7.1 ");
	reading_release(&r);
	dwell_array_release(&payload);
	dwell_array_release(&blob);
}

/* A good COUNT, then the records: the first is read, the rest of the file is damage. */
static void assert_record_damages(uint32_t stream, const uint8_t *records, size_t bytes)
{
	const uint8_t count[] = { DWELL_REC_COUNT, 0, 7, 9 };
	struct reading r;
	struct blob blob;

	blob_begin(&blob);
	blob_round(&blob, 0, 0, 150, count, sizeof(count));
	blob_round(&blob, 0, stream, 200, records, bytes);
	read_blob(&r, &blob);
	assert_int_equal(r.rc, 0);
	assert_true(r.info.damaged);
	assert_int_equal(r.lines.count, 1);
	assert_string_equal(r.lines.data[0], "150 -1 count 7.1 9");
	reading_release(&r);
	dwell_array_release(&blob);
}

static void records_that_make_no_sense_end_reading(void **state)
{
	static const struct {
		uint32_t stream, bytes;
		uint8_t records[16];
	} bad[] = {
		{ 0, 4, { DWELL_REC_SWITCH, 0, 1, 0 } },	     /* of a CPU, but in stream 0 */
		{ 1, 4, { DWELL_REC_COUNT, 0, 7, 9 } },		     /* the other way round */
		{ 1, 1, { DWELL_REC_IN } },			     /* cut */
		{ 1, 3, { DWELL_REC_IN | DWELL_REC_TID, 0, 0x80 } }, /* cut in a number */
		{ 0, 3, { DWELL_REC_COMM, 0, 7 } },
		{ 0, 3, { DWELL_REC_COUNT, 0, 7 } },
		{ 0, 4, { DWELL_REC_STATE, 0, 7, 'S' } },
		{ 0, 3, { 0, 0, 0 } },					  /* no such kind */
		{ 0, 4, { DWELL_REC_MORE, 0, 99, 1 } },			  /* no such kind of more */
		{ 0, 6, { DWELL_REC_MORE, 0, DWELL_MORE_CPU, 1, 9, 1 } }, /* no such witness */
		{ 0, 7, { DWELL_REC_MORE, 0, DWELL_MORE_CPU, 0x80, 0x40, 1, 1 } }, /* CPU 8192 */
		{ 1, 5, { DWELL_REC_SAMPLE, 0, 0, 0, 0 } },		   /* no such event */
		{ 1, 5, { DWELL_REC_OUT | DWELL_OUT_STACK, 0, 1, 0, 0 } }, /* no such stack */
		{ 1,
		  5,
		  { DWELL_REC_SWITCH | DWELL_SWITCH_STATE, 0, 20, 1, 0 } }, /* no such state */
		{ 0, 5, { DWELL_REC_FORK, 0, 2, 0, 7 } },		    /* a birth of tid 0 */
		{ 0, 8, { DWELL_REC_EXIT, 0, 0xff, 0xff, 0xff, 0xff, 0x0f } }, /* tid 2^32 - 1 */
		{ 8194, 2, { DWELL_REC_IN, 0 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_record_damages(bad[i].stream, bad[i].records, bad[i].bytes);
}

static void a_far_target_cpu_is_no_cpu(void **state)
{
	const uint8_t waking[] = {
		DWELL_REC_WAKING, 0, 7, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0
	};
	struct reading r;
	struct blob blob;

	(void)state;
	blob_begin(&blob);
	blob_round(&blob, 0, 8192, 200, waking, sizeof(waking));
	read_blob(&r, &blob);
	assert_int_equal(r.lines.count, 1);
	assert_string_equal(r.lines.data[0], "200 8191 waking 7.1 by 0.1 0 at -1");
	reading_release(&r);
	dwell_array_release(&blob);
}

static void nothing_is_left_over_in_the_next_event(void **state)
{
	const uint8_t records[] = { DWELL_REC_OUT | DWELL_OUT_PREEMPT | DWELL_REC_TID,
				    1,
				    7,
				    DWELL_REC_IN | DWELL_REC_TID,
				    1,
				    7 };
	struct reading r;
	struct blob blob;

	(void)state;
	blob_begin(&blob);
	blob_round(&blob, 0, 1, 200, records, sizeof(records));
	read_blob(&r, &blob);
	assert_int_equal(r.lines.count, 2);
	assert_string_equal(r.lines.data[0], "201 0 out 7.1 preempted none");
	assert_string_equal(r.lines.data[1], "202 0 in 7.1 none");
	reading_release(&r);
	dwell_array_release(&blob);
}

static void tids_are_lives(void **state)
{
	/* 7 ends as a zombie, then the tid is seen again; idle never ends. */
	const uint8_t records[] = {
		DWELL_REC_SWITCH | DWELL_SWITCH_PREV | DWELL_SWITCH_STATE | DWELL_SWITCH_IDLE,
		1,
		7,
		DWELL_TASK_ZOMBIE,
		0,
		DWELL_REC_SWITCH | DWELL_SWITCH_STATE,
		1,
		DWELL_TASK_DEAD,
		7,
		0,
	};
	struct dwell_threads *threads;
	struct reading r;
	struct blob blob;

	(void)state;
	blob_begin(&blob);
	blob_round(&blob, 0, 1, 200, records, sizeof(records));
	read_blob(&r, &blob);
	assert_int_equal(r.lines.count, 2);
	assert_string_equal(r.lines.data[0], "201 0 switch 7.1 Z >0.1");
	assert_string_equal(r.lines.data[1], "202 0 switch 0.1 X >7.2");
	threads = dwell_source_threads(r.source);
	assert_int_equal(dwell_threads_get(threads, DWELL_THREAD_IDLE)->died_ns, 0);
	reading_release(&r);
	dwell_array_release(&blob);
}

/* Facts set without end would be searched for without end. */
static void floods_of_facts_end_reading(void **state)
{
	struct blob blob, payload = { 0 };
	struct reading r;

	(void)state;
	blob_begin(&blob);
	for (uint32_t i = 0; i < 100000; i++)
		fact(&payload, "k", "v");
	blob_flush(&blob, DWELL_BLOCK_INFO, &payload);
	read_blob(&r, &blob);
	assert_int_equal(r.rc, 0);
	assert_true(r.info.damaged);
	assert_string_equal(dwell_source_fact(r.source, "k"), "v");
	reading_release(&r);
	dwell_array_release(&payload);
	dwell_array_release(&blob);
}

static void a_window_never_ends_before_it_began(void **state)
{
	struct blob blob, payload = { 0 };
	struct reading r;

	(void)state;
	blob_begin(&blob);
	fact(&payload, "window.end_ns", "50");
	fact(&payload, "cpus", "4000000000");
	blob_flush(&blob, DWELL_BLOCK_END, &payload);
	read_blob(&r, &blob);
	assert_int_equal(r.rc, 0);
	assert_true(r.info.finished);
	assert_int_equal(r.info.end_ns, 100);
	assert_int_equal(r.info.cpus, DWELL_TRACE_CPUS_MAX);
	reading_release(&r);
	dwell_array_release(&payload);
	dwell_array_release(&blob);
}

/* Entries that pack well are bounded by the bytes they are packed in. */
static void small_files_make_no_large_tables(void **state)
{
	enum { NOISE = 80000, NODES = 1300000, FORKS = 450000 };
	const uint8_t node[] = { DWELL_DEF_NODE, 1, 1 },
		      fork_record[] = { DWELL_REC_FORK, 0, 2, 7, 8 };
	const uint8_t frame[] = { DWELL_DEF_FILE, 0, 0, 0, 0, 0, 0, 0, 0, DWELL_DEF_FRAME, 0, 16, 0,
				  DWELL_DEF_NODE, 0, 1 };
	struct blob blob, payload = { 0 }, packed = { 0 };
	size_t bytes, bound;
	uint64_t seed = 5;
	struct reading r;

	(void)state;
	blob_begin(&blob);
	blob_varint(&payload, DWELL_DEF_STRING);
	blob_varint(&payload, NOISE);
	for (int i = 0; i < NOISE; i++) {
		uint8_t byte = (uint8_t)(random_next(&seed) >> 20) | 1;

		blob_put(&payload, &byte, 1);
	}
	blob_put(&payload, frame, sizeof(frame));
	for (int i = 0; i < NODES; i++)
		blob_put(&payload, node, sizeof(node));
	bound = ZSTD_compressBound(payload.count);
	assert_int_equal(dwell_array_reserve(&packed, bound), 0);
	bytes = ZSTD_compress(packed.data, bound, payload.data, payload.count, 3);
	assert_in_range(bytes, payload.count / DWELL_TRACE_RATIO_MAX + 1, NOISE + 10000);
	blob_block(&blob, DWELL_BLOCK_DEFS, DWELL_TRACE_BLOCK_ZSTD, packed.data, (uint32_t)bytes,
		   payload.count);
	read_blob(&r, &blob);
	assert_int_equal(r.rc, 0);
	assert_true(r.info.damaged);
	reading_release(&r);
	dwell_array_release(&blob);

	blob_begin(&blob);
	payload.count = 0;
	for (int i = 0; i < FORKS; i++)
		blob_put(&payload, fork_record, sizeof(fork_record));
	blob_round(&blob, 0, 0, 200, payload.data, payload.count);
	read_blob(&r, &blob);
	assert_true(r.info.damaged);
	assert_in_range(r.lines.count, 300000, FORKS - 1);
	reading_release(&r);
	dwell_array_release(&blob);
	dwell_array_release(&payload);
	dwell_array_release(&packed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_of_others_are_refused),
		cmocka_unit_test(blocks_of_the_future),
		cmocka_unit_test(bombs_are_not_unpacked),
		cmocka_unit_test(lies_about_the_horizon_cost_only_order),
		cmocka_unit_test(strings_told_twice_keep_their_ids),
		cmocka_unit_test(records_that_make_no_sense_end_reading),
		cmocka_unit_test(a_far_target_cpu_is_no_cpu),
		cmocka_unit_test(nothing_is_left_over_in_the_next_event),
		cmocka_unit_test(tids_are_lives),
		cmocka_unit_test(floods_of_facts_end_reading),
		cmocka_unit_test(a_window_never_ends_before_it_began),
		cmocka_unit_test(small_files_make_no_large_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
