/* SPDX-License-Identifier: MIT */
/* perf.data in memory, in either byte order: records made by hand, and the header of a file or a
 * pipe around them. For unit tests and fuzzing; out of memory aborts. */
#ifndef DWELL_TESTS_SYNTH_PERFFILE_H
#define DWELL_TESTS_SYNTH_PERFFILE_H

#include <byteswap.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "parse/perf/data.h"

/* Bytes being written, in the other byte order than this machine's if swapped. */
struct perf_bytes {
	uint8_t *data;
	uint32_t count, room;
	bool swapped;
};

static inline void perf_put(struct perf_bytes *b, const void *bytes, size_t count)
{
	if (dwell_array_reserve(b, (uint64_t)b->count + count))
		abort();
	if (count)
		memcpy(b->data + b->count, bytes, count);
	b->count += (uint32_t)count;
}

static inline void perf_u16(struct perf_bytes *b, uint16_t value)
{
	value = b->swapped ? bswap_16(value) : value;
	perf_put(b, &value, sizeof(value));
}

static inline void perf_u32(struct perf_bytes *b, uint32_t value)
{
	value = b->swapped ? bswap_32(value) : value;
	perf_put(b, &value, sizeof(value));
}

static inline void perf_u64(struct perf_bytes *b, uint64_t value)
{
	value = b->swapped ? bswap_64(value) : value;
	perf_put(b, &value, sizeof(value));
}

static inline void perf_zeros(struct perf_bytes *b, size_t count)
{
	static const uint8_t zero;

	while (count--)
		perf_put(b, &zero, 1);
}

/* A text with its NUL and zeros behind it up to a multiple of 8. */
static inline void perf_name(struct perf_bytes *b, const char *name)
{
	size_t bytes = strlen(name) + 1;

	perf_put(b, name, bytes);
	perf_zeros(b, (8 - bytes % 8) % 8);
}

/* A record's header; perf_end() sets its size. */
static inline uint32_t perf_begin(struct perf_bytes *b, uint32_t type, uint16_t misc)
{
	uint32_t at = b->count;

	perf_u32(b, type);
	perf_u16(b, misc);
	perf_u16(b, 0);
	return at;
}

static inline void perf_end(struct perf_bytes *b, uint32_t at)
{
	uint16_t bytes = (uint16_t)(b->count - at);

	bytes = b->swapped ? bswap_16(bytes) : bytes;
	memcpy(b->data + at + 6, &bytes, sizeof(bytes));
}

/* What the events of these files sample. */
#define PERF_TEST_TYPES                                                                 \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_CPU)

/* Ids of event 0 are 100 and 101, of event 1 200 and 201. */
enum { PERF_TEST_IDS = 2 };

static inline void perf_sample(struct perf_bytes *b, uint64_t id, uint64_t ip, uint32_t tid,
			       uint64_t time_ns, uint32_t cpu)
{
	uint32_t at = perf_begin(b, PERF_RECORD_SAMPLE, 2);

	perf_u64(b, id);
	perf_u64(b, ip);
	perf_u32(b, tid);
	perf_u32(b, tid);
	perf_u64(b, time_ns);
	perf_u32(b, cpu);
	perf_u32(b, 0);
	perf_end(b, at);
}

static inline void perf_trailer(struct perf_bytes *b, uint32_t tid, uint64_t time_ns, uint32_t cpu,
				uint64_t id)
{
	perf_u32(b, tid);
	perf_u32(b, tid);
	perf_u64(b, time_ns);
	perf_u32(b, cpu);
	perf_u32(b, 0);
	perf_u64(b, id);
}

static inline void perf_comm(struct perf_bytes *b, uint32_t tid, const char *name, uint64_t time_ns)
{
	uint32_t at = perf_begin(b, PERF_RECORD_COMM, 0);

	perf_u32(b, tid);
	perf_u32(b, tid);
	perf_name(b, name);
	perf_trailer(b, tid, time_ns, 0, time_ns ? 100 : 0);
	perf_end(b, at);
}

/* A record of perf's own without a payload. */
static inline void perf_mark(struct perf_bytes *b, uint32_t type)
{
	perf_end(b, perf_begin(b, type, 0));
}

static inline void perf_attr(struct perf_bytes *b, uint32_t attr_bytes, uint32_t type,
			     uint64_t config, uint64_t sample_type)
{
	uint64_t flags = DWELL_PERF_ATTR_SAMPLE_ID_ALL | DWELL_PERF_ATTR_COMM;
	uint8_t stored[8], bit;
	uint32_t from = b->count;

	perf_u32(b, type);
	perf_u32(b, attr_bytes);
	perf_u64(b, config);
	perf_u64(b, 1);
	perf_u64(b, sample_type);
	perf_u64(b, 0);
	/* Bit fields fill each byte from the other end there. */
	for (int i = 0; i < 8; i++) {
		stored[i] = 0;
		for (bit = 0; bit < 8; bit++)
			if (flags >> (8 * i + bit) & 1)
				stored[i] |= (uint8_t)(1 << (b->swapped ? 7 - bit : bit));
	}
	perf_put(b, stored, sizeof(stored));
	perf_zeros(b, attr_bytes - (b->count - from));
}

/* A string of a feature: its length, which counts padding, and a NUL-terminated text. */
static inline void perf_string(struct perf_bytes *b, const char *text)
{
	uint32_t bytes = ((uint32_t)strlen(text) + 64) / 64 * 64;

	perf_u32(b, bytes);
	perf_put(b, text, strlen(text));
	perf_zeros(b, bytes - strlen(text));
}

static inline uint64_t perf_test_config(uint32_t event)
{
	return event ? 316 : 0;
}

/* EVENT_DESC: "first" and "second". */
static inline void perf_event_desc(struct perf_bytes *b, uint32_t events, uint32_t attr_bytes)
{
	perf_u32(b, events);
	perf_u32(b, attr_bytes);
	for (uint32_t i = 0; i < events; i++) {
		perf_attr(b, attr_bytes, i ? PERF_TYPE_TRACEPOINT : PERF_TYPE_SOFTWARE,
			  perf_test_config(i), PERF_TEST_TYPES);
		perf_u32(b, PERF_TEST_IDS);
		perf_string(b, i ? "second" : "first");
		for (uint32_t id = 0; id < PERF_TEST_IDS; id++)
			perf_u64(b, 100 * (i + 1) + id);
	}
}

/* A stream of tracing data with one format: sched:sched_switch of id 316. */
static inline void perf_tracing(struct perf_bytes *b)
{
	static const uint8_t magic[] = { 23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
	static const char format[] = "name: sched_switch\nID: 316\nformat:\n";

	perf_put(b, magic, sizeof(magic));
	perf_put(b, "0.6", 4);
	perf_put(b, b->swapped ? "\1" : "\0", 1);
	perf_put(b, "\4", 1); /* bytes of a long */
	perf_u32(b, 4096);
	perf_put(b, "header_page", 12);
	perf_u64(b, 3);
	perf_put(b, "abc", 3);
	perf_put(b, "header_event", 13);
	perf_u64(b, 0);
	perf_u32(b, 1); /* of ftrace's own */
	perf_u64(b, 5);
	perf_put(b, "ID: 1", 5);
	perf_u32(b, 1); /* systems */
	perf_put(b, "sched", 6);
	perf_u32(b, 1);
	perf_u64(b, sizeof(format) - 1);
	perf_put(b, format, sizeof(format) - 1);
	perf_u32(b, 0);
	perf_u32(b, 0);
	perf_u64(b, 0);
}

static inline void perf_build_id(struct perf_bytes *b, const char *path, bool sized)
{
	uint32_t at = perf_begin(b, DWELL_PERF_HEADER_BUILD_ID, (uint16_t)(2 | sized << 15));

	perf_u32(b, 77);
	for (uint8_t i = 1; i <= 20; i++)
		perf_put(b, &i, 1);
	perf_put(b, "\x10\0\0\0", 4); /* 16 bytes, where sized */
	perf_name(b, path);
	perf_end(b, at);
}

struct perf_feature {
	uint32_t bit;
	struct perf_bytes body;
};

/* What stands around the records of a file. */
struct perf_form {
	bool swapped, pipe, attrs_behind;
	bool unfinished; /* no data size, and so no features */
	uint32_t header_bytes, attr_bytes, events;
	struct perf_feature *features; /* in ascending order of their bits */
	uint32_t feature_count;
};

static inline void perf_attrs(struct perf_bytes *b, const struct perf_form *form, uint64_t ids_at)
{
	for (uint32_t i = 0; i < form->events; i++) {
		perf_attr(b, form->attr_bytes, i ? PERF_TYPE_TRACEPOINT : PERF_TYPE_SOFTWARE,
			  perf_test_config(i), PERF_TEST_TYPES);
		perf_u64(b, ids_at + 8 * PERF_TEST_IDS * i);
		perf_u64(b, 8 * PERF_TEST_IDS);
	}
}

static inline void perf_ids(struct perf_bytes *b, const struct perf_form *form)
{
	for (uint32_t i = 0; i < form->events; i++)
		for (uint32_t id = 0; id < PERF_TEST_IDS; id++)
			perf_u64(b, 100 * (i + 1) + id);
}

/* The table of features and their bodies. */
static inline void perf_features(struct perf_bytes *b, const struct perf_form *form)
{
	uint64_t at = b->count + 16 * form->feature_count;

	for (uint32_t i = 0; i < form->feature_count; i++) {
		perf_u64(b, at);
		perf_u64(b, form->features[i].body.count);
		at += form->features[i].body.count;
	}
	for (uint32_t i = 0; i < form->feature_count; i++)
		perf_put(b, form->features[i].body.data, form->features[i].body.count);
}

static inline void perf_magic(struct perf_bytes *b)
{
	perf_u64(b, 0x32454c4946524550ull); /* "PERFILE2" from a little-endian machine */
}

/* A file of these records: header, attrs, ids, records, features; or the attrs last. */
static inline void perf_file(struct perf_bytes *b, const struct perf_form *form,
			     const struct perf_bytes *records)
{
	uint32_t header = form->header_bytes ? form->header_bytes : 104;
	uint64_t attrs_bytes = form->events * (form->attr_bytes + 16ull),
		 ids_bytes = form->events * 8ull * PERF_TEST_IDS, features_bytes = 0,
		 bitmap[4] = { 0 };
	uint64_t attrs_at = header, data_at = header + attrs_bytes + ids_bytes;

	b->swapped = form->swapped;
	for (uint32_t i = 0; i < form->feature_count; i++) {
		features_bytes += 16 + form->features[i].body.count;
		bitmap[form->features[i].bit / 64] |= 1ull << form->features[i].bit % 64;
	}
	if (form->attrs_behind) {
		data_at = header;
		attrs_at = header + records->count + features_bytes;
	}
	perf_magic(b);
	perf_u64(b, header);
	perf_u64(b, form->attr_bytes + 16);
	perf_u64(b, attrs_at);
	perf_u64(b, attrs_bytes);
	perf_u64(b, data_at);
	perf_u64(b, form->unfinished ? 0 : records->count);
	perf_zeros(b, 16);
	if (header > 72) {
		for (int i = 0; i < 4; i++)
			perf_u64(b, bitmap[i]);
		perf_zeros(b, header - 104);
	}
	if (!form->attrs_behind) {
		perf_attrs(b, form, attrs_at + attrs_bytes);
		perf_ids(b, form);
	}
	perf_put(b, records->data, records->count);
	perf_features(b, form);
	if (form->attrs_behind) {
		perf_attrs(b, form, attrs_at + attrs_bytes);
		perf_ids(b, form);
	}
}

/* A pipe: everything that a file has around its records stands in records of its own. */
static inline void perf_pipe(struct perf_bytes *b, const struct perf_form *form,
			     const struct perf_bytes *records)
{
	uint32_t at;

	b->swapped = form->swapped;
	perf_magic(b);
	perf_u64(b, 16);
	for (uint32_t i = 0; i < form->events; i++) {
		at = perf_begin(b, DWELL_PERF_HEADER_ATTR, 0);
		perf_attr(b, form->attr_bytes, i ? PERF_TYPE_TRACEPOINT : PERF_TYPE_SOFTWARE,
			  perf_test_config(i), PERF_TEST_TYPES);
		for (uint32_t id = 0; id < PERF_TEST_IDS; id++)
			perf_u64(b, 100 * (i + 1) + id);
		perf_end(b, at);
	}
	for (uint32_t i = 0; i < form->feature_count; i++) {
		at = perf_begin(b, DWELL_PERF_HEADER_FEATURE, 0);
		perf_u64(b, form->features[i].bit);
		perf_put(b, form->features[i].body.data, form->features[i].body.count);
		perf_end(b, at);
	}
	perf_put(b, records->data, records->count);
}

static inline void perf_make(struct perf_bytes *b, const struct perf_form *form,
			     const struct perf_bytes *records)
{
	if (form->pipe)
		perf_pipe(b, form, records);
	else
		perf_file(b, form, records);
}

#endif
