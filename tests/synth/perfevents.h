/* SPDX-License-Identifier: MIT */
/* perf.data with events for the join, made in memory as a pipe would hold them, and what the source
 * tells of it. For unit tests; failures are assertions. */
#ifndef DWELL_TESTS_SYNTH_PERFEVENTS_H
#define DWELL_TESTS_SYNTH_PERFEVENTS_H

#include <unistd.h>

#include "lib/io.h"
#include "tests/synth/formats.h"
#include "tests/synth/perffile.h"
#include "tests/synth/reading.h"

enum {
	SWITCH = 372, /* ids of the tracepoints in formats.h */
	WAKING = 375,
	BPF_OUTPUT = 10,
	ID_SWITCH = 1,
	ID_WAKING,
	ID_CLOCK,
	ID_OFF_CPU,
};

#define TYPES                                                                           \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)
#define FLAGS (DWELL_PERF_ATTR_SAMPLE_ID_ALL | DWELL_PERF_ATTR_TASK | DWELL_PERF_ATTR_COMM)

/* A pipe being written: its header stands already. */
static inline void pipe_begin(struct perf_bytes *b, bool swapped)
{
	*b = (struct perf_bytes){ .swapped = swapped };
	perf_magic(b);
	perf_u64(b, 16);
}

static inline void event_add(struct perf_bytes *b, uint32_t type, uint64_t config, uint64_t period,
			     uint64_t sample_type, uint64_t flags, uint64_t id, const char *name)
{
	uint32_t at = perf_begin(b, DWELL_PERF_HEADER_ATTR, 0), from = b->count;

	perf_u32(b, type);
	perf_u32(b, 112);
	perf_u64(b, config);
	perf_u64(b, period);
	perf_u64(b, sample_type);
	perf_u64(b, sample_type & PERF_SAMPLE_READ ? PERF_FORMAT_GROUP | PERF_FORMAT_ID : 0);
	for (unsigned byte = 0; byte < 8; byte++) {
		uint8_t stored = 0;

		for (unsigned bit = 0; bit < 8; bit++)
			if (flags >> (8 * byte + bit) & 1)
				stored |= (uint8_t)(1 << (b->swapped ? 7 - bit : bit));
		perf_put(b, &stored, 1);
	}
	perf_zeros(b, 112 - (b->count - from));
	perf_u64(b, id);
	perf_end(b, at);
	at = perf_begin(b, DWELL_PERF_EVENT_UPDATE, 0);
	perf_u64(b, 2); /* a name */
	perf_u64(b, id);
	perf_name(b, name);
	perf_end(b, at);
}

/* Tracing data with the formats of both tracepoints. */
static inline void formats_add(struct perf_bytes *b)
{
	static const uint8_t magic[] = { 23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
	static const char *const texts[] = { switch_6, waking_6 };
	struct perf_bytes s = { .swapped = b->swapped };
	uint32_t at;

	perf_put(&s, magic, sizeof(magic));
	perf_put(&s, "0.6", 4);
	perf_put(&s, b->swapped ? "\1" : "\0", 1);
	perf_put(&s, "\10", 1);
	perf_u32(&s, 4096);
	perf_put(&s, "header_page", 12);
	perf_u64(&s, 0);
	perf_put(&s, "header_event", 13);
	perf_u64(&s, 0);
	perf_u32(&s, 0);
	perf_u32(&s, 1);
	perf_put(&s, "sched", 6);
	perf_u32(&s, 2);
	for (unsigned i = 0; i < 2; i++) {
		perf_u64(&s, strlen(texts[i]));
		perf_put(&s, texts[i], strlen(texts[i]));
	}
	perf_u32(&s, 0);
	perf_u32(&s, 0);
	perf_u64(&s, 0);
	perf_zeros(&s, (8 - s.count % 8) % 8);
	at = perf_begin(b, DWELL_PERF_HEADER_TRACING_DATA, 0);
	perf_u32(b, s.count);
	perf_u32(b, 0);
	perf_end(b, at);
	perf_put(b, s.data, s.count);
	dwell_array_release(&s);
}

static inline void sched_events(struct perf_bytes *b, uint64_t switch_period, uint64_t switch_flags)
{
	event_add(b, PERF_TYPE_TRACEPOINT, SWITCH, switch_period,
		  TYPES | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW, FLAGS | switch_flags, ID_SWITCH,
		  "sched:sched_switch");
	event_add(b, PERF_TYPE_TRACEPOINT, WAKING, 1,
		  TYPES | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW, FLAGS, ID_WAKING,
		  "sched:sched_waking");
	formats_add(b);
}

static inline uint32_t sample_begin(struct perf_bytes *b, uint64_t id, uint32_t tid,
				    uint64_t time_ns, uint32_t cpu)
{
	uint32_t at = perf_begin(b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);

	perf_u64(b, id);
	perf_u64(b, 0x401000);
	perf_u32(b, tid == UINT32_MAX ? tid : tid / 10 * 10);
	perf_u32(b, tid);
	perf_u64(b, time_ns);
	perf_u32(b, cpu);
	perf_u32(b, 0);
	perf_u64(b, 1);
	return at;
}

static inline void chain_add(struct perf_bytes *b)
{
	perf_u64(b, 4);
	perf_u64(b, PERF_CONTEXT_KERNEL);
	perf_u64(b, 0xffffffff81000100);
	perf_u64(b, PERF_CONTEXT_USER);
	perf_u64(b, 0x401000);
}

static inline void comm_raw(struct perf_bytes *b, const char *comm)
{
	perf_put(b, comm, strlen(comm));
	perf_zeros(b, 16 - strlen(comm));
}

static inline void switch_add(struct perf_bytes *b, uint64_t time_ns, uint32_t cpu, uint32_t prev,
			      uint64_t state, uint32_t next)
{
	uint32_t at = sample_begin(b, ID_SWITCH, prev, time_ns, cpu);

	chain_add(b);
	perf_u32(b, 68); /* RAW; its size and it are a multiple of 8 */
	perf_u16(b, SWITCH);
	perf_put(b, "\0\0", 2);
	perf_u32(b, prev);
	comm_raw(b, "prev");
	perf_u32(b, prev);
	perf_u32(b, 120);
	perf_u64(b, state);
	comm_raw(b, "next");
	perf_u32(b, next);
	perf_u32(b, 120);
	perf_zeros(b, 4);
	perf_end(b, at);
}

static inline void waking_add(struct perf_bytes *b, uint64_t time_ns, uint32_t cpu, uint32_t waker,
			      uint32_t woken)
{
	uint32_t at = sample_begin(b, ID_WAKING, waker, time_ns, cpu);

	perf_u64(b, 0);
	perf_u32(b, 36);
	perf_u16(b, WAKING);
	perf_put(b, "\0\0", 2);
	perf_u32(b, waker);
	comm_raw(b, "woken");
	perf_u32(b, woken);
	perf_u32(b, 120);
	perf_u32(b, 1);
	perf_end(b, at);
}

static inline void trailer_add(struct perf_bytes *b, uint32_t tid, uint64_t time_ns, uint32_t cpu,
			       uint64_t id)
{
	perf_u32(b, tid == UINT32_MAX ? tid : tid / 10 * 10);
	perf_u32(b, tid);
	perf_u64(b, time_ns);
	perf_u32(b, cpu);
	perf_u32(b, 0);
	perf_u64(b, id);
}

static inline void record_add(struct perf_bytes *b, uint64_t time_ns, uint32_t cpu, uint32_t tid,
			      uint16_t misc, uint32_t other)
{
	uint32_t at = perf_begin(b, PERF_RECORD_SWITCH_CPU_WIDE, misc);

	perf_u32(b, other == UINT32_MAX ? other : other / 10 * 10);
	perf_u32(b, other);
	trailer_add(b, tid, time_ns, cpu, ID_SWITCH);
	perf_end(b, at);
}

static inline void exec_add(struct perf_bytes *b, uint32_t cpu, uint32_t tid, const char *comm,
			    uint64_t time_ns)
{
	uint32_t at = perf_begin(b, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);

	perf_u32(b, tid / 10 * 10);
	perf_u32(b, tid);
	perf_name(b, comm);
	trailer_add(b, tid, time_ns, cpu, ID_SWITCH);
	perf_end(b, at);
}

static inline void comm_add(struct perf_bytes *b, uint32_t tid, const char *comm, uint64_t time_ns)
{
	uint32_t at = perf_begin(b, PERF_RECORD_COMM, 0);

	perf_u32(b, tid / 10 * 10);
	perf_u32(b, tid);
	perf_name(b, comm);
	trailer_add(b, tid, time_ns, 0, time_ns ? ID_SWITCH : 0);
	perf_end(b, at);
}

static inline void task_add(struct perf_bytes *b, uint32_t type, uint32_t tid, uint32_t parent,
			    uint64_t time_ns)
{
	uint32_t at = perf_begin(b, type, 0);

	perf_u32(b, tid / 10 * 10);
	perf_u32(b, parent / 10 * 10);
	perf_u32(b, tid);
	perf_u32(b, parent);
	perf_u64(b, time_ns);
	trailer_add(b, parent, time_ns, 0, time_ns ? ID_SWITCH : 0);
	perf_end(b, at);
}

static inline void map_add_at(struct perf_bytes *b, uint32_t pid, uint64_t start, uint64_t pgoff,
			      const char *path, uint64_t time_ns)
{
	bool kernel = pid == UINT32_MAX;
	uint32_t at = perf_begin(b, PERF_RECORD_MMAP,
				 kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER);

	perf_u32(b, pid);
	perf_u32(b, pid);
	perf_u64(b, start);
	perf_u64(b, 0x10000);
	perf_u64(b, pgoff);
	perf_name(b, path);
	trailer_add(b, 0, time_ns, 0, 0);
	perf_end(b, at);
}

static inline void map_add(struct perf_bytes *b, uint32_t pid, uint64_t start, uint64_t pgoff,
			   const char *path)
{
	map_add_at(b, pid, start, pgoff, path, 0);
}

static inline void maps_add(struct perf_bytes *b)
{
	map_add(b, UINT32_MAX, 0xffffffff81000000, 0xffffffff81000000, "[kernel.kallsyms]_text");
	map_add(b, 10, 0x400000, 0, "/bin/app");
	comm_add(b, 11, "app", 0);
	comm_add(b, 99, "quiet", 0);
}

/* Opens the bytes as a file; the source owns what it needs of it. */
static inline struct dwell_source *open_bytes(struct perf_bytes *b)
{
	char path[] = "/tmp/dwell-perf-XXXXXX";
	struct dwell_source *source = NULL;
	struct dwell_err err = { 0 };
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(dwell_io_write(fd, b->data, b->count), 0);
	close(fd);
	if (dwell_source_open(path, &source, &err))
		fail_msg("%s", err.msg);
	unlink(path);
	dwell_array_release(b);
	return source;
}

/* Reads to the end: the events must be these lines. Closes. */
static inline void assert_events(struct dwell_source *source, const char *const *lines)
{
	const struct dwell_event *event;
	int rc;

	while ((rc = dwell_source_next(source, &event, NULL)) == 1) {
		char *text = event_text(source, event);

		if (!*lines)
			fail_msg("one more: %s", text);
		assert_string_equal(text, *lines);
		lines++;
		free(text);
	}
	assert_int_equal(rc, 0);
	if (*lines)
		fail_msg("missing: %s", *lines);
	dwell_source_close(source);
}

#endif
