// SPDX-License-Identifier: MIT
/* Tests of parse/perf/sample.c: records laid out as the kernel does are decoded field by field, and
 * none that is too short for what it claims is accepted. */
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "parse/perf/sample.h"

enum { WORDS = 48 };

/* What the recorder asks for, and more: all fields that stand before RAW. */
#define TYPES_TO_RAW                                                                    \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |  \
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW)

/* The layout of an event with this sample_type and the trailer. */
static const struct dwell_perf_layout *layout_of(uint64_t sample_type)
{
	static struct dwell_perf_layout layout;
	const struct dwell_perf_attr attr = { .sample_type = sample_type,
					      .flags = DWELL_PERF_ATTR_SAMPLE_ID_ALL };

	dwell_perf_layout_init(&layout, &attr, false);
	return &layout;
}

/* A payload being laid out in the order of perf_output_sample(). */
struct payload {
	uint64_t words[WORDS];
	uint32_t count;
};

static void word(struct payload *p, uint64_t value)
{
	assert_true(p->count < WORDS);
	p->words[p->count++] = value;
}

static uint64_t pair(uint32_t low, uint32_t high)
{
	return low | (uint64_t)high << 32;
}

/* Everything that is decoded, chain of 3 and 20 raw bytes at the end. */
static void payload_full(struct payload *p)
{
	*p = (struct payload){ 0 };
	word(p, 1);	      /* IDENTIFIER */
	word(p, 2);	      /* IP */
	word(p, pair(3, 4));  /* TID */
	word(p, 5);	      /* TIME */
	word(p, 6);	      /* ADDR */
	word(p, 1);	      /* ID */
	word(p, 8);	      /* STREAM_ID */
	word(p, pair(9, 99)); /* CPU, reserved */
	word(p, 10);	      /* PERIOD */
	word(p, 3);	      /* CALLCHAIN */
	word(p, PERF_CONTEXT_KERNEL);
	word(p, 0xffffffff81000000);
	word(p, 0x400000);
	word(p, pair(20, 0x44434241)); /* RAW: size, then "ABCD..." */
	word(p, 0x4c4b4a4948474645);
	word(p, 0x54535251504f4e4d);
}

static void every_field_in_the_kernels_order(void **state)
{
	struct dwell_perf_sample s = { 0 };
	struct payload p;

	(void)state;
	payload_full(&p);
	assert_true(dwell_perf_sample_decode(layout_of(TYPES_TO_RAW), p.words, p.count * 8, &s));
	assert_int_equal(s.id, 1);
	assert_int_equal(s.ip, 2);
	assert_int_equal(s.pid, 3);
	assert_int_equal(s.tid, 4);
	assert_int_equal(s.time_ns, 5);
	assert_int_equal(s.addr, 6);
	assert_int_equal(s.stream_id, 8);
	assert_int_equal(s.cpu, 9);
	assert_int_equal(s.period, 10);
	assert_int_equal(s.chain_count, 3);
	assert_true(s.chain == p.words + 10);
	assert_int_equal(s.raw_bytes, 20);
	assert_memory_equal(s.raw, "ABCDEFGHIJKLMNOPQRST", 20);
}

static void fields_not_asked_for_are_left_alone(void **state)
{
	struct dwell_perf_sample s = { .id = 77, .cpu = 78, .period = 79 };
	struct payload p = { 0 };

	(void)state;
	word(&p, pair(3, 4));
	word(&p, 5);
	assert_true(dwell_perf_sample_decode(layout_of(PERF_SAMPLE_TID | PERF_SAMPLE_TIME), p.words,
					     16, &s));
	assert_true(s.pid == 3 && s.tid == 4 && s.time_ns == 5);
	assert_true(s.id == 77 && s.cpu == 78 && s.period == 79 && !s.chain);
	assert_true(dwell_perf_sample_decode(layout_of(0), p.words, 0, &s));
}

/* Decodes a copy of exactly `bytes` bytes: reading past it is seen by the sanitizer. */
static bool decode_cut(const struct payload *p, uint32_t bytes, bool trailer)
{
	void *copy = malloc(bytes ? bytes : 1);
	struct dwell_perf_sample s = { 0 };
	bool good;

	assert_non_null(copy);
	memcpy(copy, p->words, bytes);
	good = trailer ? dwell_perf_trailer_decode(layout_of(TYPES_TO_RAW), copy, bytes, &s)
		       : dwell_perf_sample_decode(layout_of(TYPES_TO_RAW), copy, bytes, &s);
	free(copy);
	return good;
}

static void short_records_are_refused(void **state)
{
	struct payload p;

	(void)state;
	payload_full(&p);
	for (uint32_t bytes = 0; bytes < p.count * 8; bytes++)
		assert_false(decode_cut(&p, bytes, false));
	assert_true(decode_cut(&p, p.count * 8, false));
}

static void lengths_that_lie_are_refused(void **state)
{
	static const uint64_t counts[] = { 7, 1ull << 61, UINT64_MAX, UINT64_MAX / 8 };
	struct payload p;

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		payload_full(&p);
		p.words[9] = counts[i];
		assert_false(decode_cut(&p, p.count * 8, false));
	}
	payload_full(&p);
	p.words[13] = pair(21, 0);
	assert_false(decode_cut(&p, p.count * 8, false));
	p.words[13] = pair(UINT32_MAX, 0);
	assert_false(decode_cut(&p, p.count * 8, false));
	p.words[9] = 0; /* then the raw data begins at the chain's first entry: size 0xffffff80 */
	assert_false(decode_cut(&p, p.count * 8, false));
}

static void trailers_are_read_from_the_end(void **state)
{
	const uint64_t type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			      PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_IP;
	struct dwell_perf_sample s = { 0 };
	struct payload p = { 0 };

	(void)state;
	assert_int_equal(dwell_perf_trailer_bytes(layout_of(type)), 32);
	assert_int_equal(dwell_perf_trailer_bytes(layout_of(0)), 0);
	assert_int_equal(dwell_perf_trailer_bytes(layout_of(TYPES_TO_RAW)), 48);
	word(&p, 0x1111); /* the record's own fields */
	word(&p, 0x2222);
	word(&p, pair(3, 4));
	word(&p, 5);
	word(&p, pair(9, 0));
	word(&p, 1);
	assert_true(dwell_perf_trailer_decode(layout_of(type), p.words, p.count * 8, &s));
	assert_true(s.pid == 3 && s.tid == 4 && s.time_ns == 5 && s.cpu == 9 && s.id == 1);
	assert_true(s.ip == 0 && !s.chain);
	for (uint32_t bytes = 0; bytes < 48; bytes++)
		assert_false(decode_cut(&p, bytes, true));
}

/* Everything from READ on that stands behind the fixed fields, each with a length of its own. */
static const struct dwell_perf_attr attr_behind = {
	.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN |
		       PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |
		       PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_REGS_INTR |
		       1ull << 20 | 1ull << 21,
	.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED,
	.branch_sample_type = 1ull << 17,
	.regs_user = 0x5,
	.regs_intr = 0x1,
};

static void payload_behind(struct payload *p)
{
	*p = (struct payload){ 0 };
	word(p, 5);   /* TIME */
	word(p, 2);   /* READ: a group of two, */
	word(p, 100); /* enabled, */
	for (uint64_t i = 0; i < 2; i++) {
		word(p, i); /* value */
		word(p, i); /* id */
	}
	word(p, 2); /* CALLCHAIN */
	word(p, PERF_CONTEXT_USER);
	word(p, 0x400000);
	word(p, 1);	     /* BRANCH_STACK, */
	word(p, UINT64_MAX); /* hw_idx */
	for (unsigned i = 0; i < 3; i++)
		word(p, 0xb);
	word(p, 2); /* REGS_USER: ABI, two registers */
	word(p, 0x11);
	word(p, 0x12);
	word(p, 16); /* STACK_USER: 16 bytes, 8 of them used */
	word(p, 0x21);
	word(p, 0x22);
	word(p, 8);
	word(p, 7);  /* WEIGHT */
	word(p, 8);  /* DATA_SRC */
	word(p, 0);  /* REGS_INTR: none */
	word(p, 77); /* CGROUP */
	word(p, 8);  /* AUX */
	word(p, 0xaa);
}

static void fields_of_own_length_are_passed(void **state)
{
	struct dwell_perf_sample s = { 0 };
	struct dwell_perf_layout layout;
	struct payload p;

	(void)state;
	dwell_perf_layout_init(&layout, &attr_behind, false);
	payload_behind(&p);
	assert_true(dwell_perf_sample_decode(&layout, p.words, p.count * 8, &s));
	assert_int_equal(s.chain_count, 2);
	assert_int_equal(s.chain[1], 0x400000);
	assert_int_equal(s.user_regs_abi, 2);
	assert_int_equal(s.user_regs[8], 0x12);
	assert_int_equal(s.user_stack[0], 0x21);
	assert_int_equal(s.user_stack_bytes, 8);
	assert_int_equal(s.cgroup, 77);
	for (uint32_t bytes = 0; bytes < p.count * 8; bytes++)
		assert_false(dwell_perf_sample_decode(&layout, p.words, bytes, &s));
}

static void no_stack_has_no_used_size(void **state)
{
	const struct dwell_perf_attr attr = { .sample_type = PERF_SAMPLE_REGS_USER |
							     PERF_SAMPLE_STACK_USER | 1ull << 21,
					      .regs_user = 0xff };
	struct dwell_perf_sample s = { 0 };
	struct dwell_perf_layout layout;
	struct payload p = { 0 };

	(void)state;
	dwell_perf_layout_init(&layout, &attr, false);
	word(&p, 0);  /* REGS_USER: ABI none, so no registers */
	word(&p, 0);  /* STACK_USER: nothing, so no used size */
	word(&p, 77); /* CGROUP */
	assert_true(dwell_perf_sample_decode(&layout, p.words, p.count * 8, &s));
	assert_true(!s.user_regs && !s.user_stack);
	assert_int_equal(s.cgroup, 77);
}

static void other_byte_order(void **state)
{
	const struct dwell_perf_attr attr = { .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
							     PERF_SAMPLE_CPU |
							     PERF_SAMPLE_CALLCHAIN,
					      .flags = DWELL_PERF_ATTR_SAMPLE_ID_ALL };
	struct dwell_perf_sample s = { 0 };
	struct dwell_perf_layout layout;
	struct payload p = { 0 };

	(void)state;
	dwell_perf_layout_init(&layout, &attr, true);
	word(&p, pair(__builtin_bswap32(3), __builtin_bswap32(4)));
	word(&p, __builtin_bswap64(5));
	word(&p, pair(__builtin_bswap32(9), 0));
	word(&p, __builtin_bswap64(1));
	word(&p, __builtin_bswap64(0x400000));
	assert_true(dwell_perf_sample_decode(&layout, p.words, p.count * 8, &s));
	assert_true(s.pid == 3 && s.tid == 4 && s.time_ns == 5 && s.cpu == 9);
	assert_int_equal(s.chain_count, 1);
	assert_int_equal(s.chain[0], 0x400000);
	s = (struct dwell_perf_sample){ 0 };
	assert_true(dwell_perf_trailer_decode(&layout, p.words, 24, &s));
	assert_true(s.pid == 3 && s.tid == 4 && s.time_ns == 5 && s.cpu == 9);
}

static void places_of_what_ordering_needs(void **state)
{
	const struct dwell_perf_layout *layout = layout_of(TYPES_TO_RAW);

	(void)state;
	assert_int_equal(layout->id_at, 0);
	assert_int_equal(layout->tid_at, 16);
	assert_int_equal(layout->time_at, 24);
	assert_int_equal(layout->cpu_at, 56);
	assert_int_equal(layout->trailer_id_at, 8);
	assert_int_equal(layout->trailer_cpu_at, 16);
	assert_int_equal(layout->trailer_time_at, 40);
	assert_int_equal(layout->trailer_tid_at, 48);
	layout = layout_of(PERF_SAMPLE_CALLCHAIN);
	assert_true(layout->time_at < 0 && layout->id_at < 0 && layout->trailer_time_at < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_in_the_kernels_order),
		cmocka_unit_test(fields_not_asked_for_are_left_alone),
		cmocka_unit_test(short_records_are_refused),
		cmocka_unit_test(lengths_that_lie_are_refused),
		cmocka_unit_test(trailers_are_read_from_the_end),
		cmocka_unit_test(fields_of_own_length_are_passed),
		cmocka_unit_test(no_stack_has_no_used_size),
		cmocka_unit_test(other_byte_order),
		cmocka_unit_test(places_of_what_ordering_needs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
