/* SPDX-License-Identifier: MIT */
/* A recorder without a kernel: tables with one stack, and a writer to a temporary file. For unit
 * tests; failures are assertions. */
#ifndef DWELL_TESTS_SYNTH_RECORDER_H
#define DWELL_TESTS_SYNTH_RECORDER_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/io.h"
#include "record/trace_writer.h"

/* The tables that a writer is given, and the writer. */
struct recorder {
	struct dwell_strings *strings;
	struct dwell_stacks *stacks;
	struct trace_writer *writer;
	uint32_t stack; /* main+10|kernel+20 */
	uint32_t frame, file;
	struct dwell_err err;
	char path[64];
};

static inline uint32_t string(struct recorder *rec, const char *text)
{
	uint32_t id;

	assert_int_equal(dwell_strings_add(rec->strings, text, strlen(text), &id), 0);
	return id;
}

static inline int recorder_open(struct recorder *rec, uint32_t cpus)
{
	struct dwell_file app = { .kind = DWELL_FILE_ELF, .dev_major = 8, .inode = 1u << 31 };
	struct dwell_file kernel = { .kind = DWELL_FILE_KERNEL };
	uint32_t file, frame, node;

	memset(rec, 0, sizeof(*rec));
	snprintf(rec->path, sizeof(rec->path), "/tmp/dwell-test-%d.data", (int)getpid());
	unlink(rec->path);
	rec->strings = dwell_strings_new();
	rec->stacks = dwell_stacks_new();
	assert_non_null(rec->strings);
	assert_non_null(rec->stacks);
	app.path = string(rec, "/bin/app");
	kernel.path = string(rec, "[kernel]");
	assert_int_equal(dwell_stacks_add_file(rec->stacks, &app, &rec->file), 0);
	assert_int_equal(dwell_stacks_add_frame(rec->stacks, rec->file, 0x10, &frame), 0);
	assert_int_equal(dwell_stacks_add_node(rec->stacks, 0, frame, &node), 0);
	assert_int_equal(dwell_stacks_add_file(rec->stacks, &kernel, &file), 0);
	assert_int_equal(dwell_stacks_add_frame(rec->stacks, file, 0x20, &rec->frame), 0);
	assert_int_equal(dwell_stacks_add_node(rec->stacks, node, rec->frame, &rec->stack), 0);
	assert_int_equal(trace_writer_new(cpus, rec->strings, rec->stacks, &rec->writer, &rec->err),
			 0);
	return trace_writer_open(rec->writer, rec->path, &rec->err);
}

/* The facts that stand before all events. */
static inline int recorder_begin(struct recorder *rec, uint64_t start_ns)
{
	assert_int_equal(trace_writer_info_u64(rec->writer, "window.start_ns", start_ns), 0);
	assert_int_equal(trace_writer_info_u64(rec->writer, "cpus", 2), 0);
	assert_int_equal(trace_writer_info(rec->writer, "mode.switches", "1"), 0);
	assert_int_equal(trace_writer_info(rec->writer, "label.stage", "first"), 0);
	assert_int_equal(trace_writer_event(rec->writer, "cpu-clock", "", true, 1000, 0), 0);
	assert_int_equal(trace_writer_event(rec->writer, "sched:x", "name: x", false, 1, 99), 0);
	return trace_writer_flush(rec->writer, start_ns, &rec->err);
}

static inline void recorder_release(struct recorder *rec)
{
	trace_writer_close(rec->writer);
	dwell_stacks_free(rec->stacks);
	dwell_strings_free(rec->strings);
	unlink(rec->path);
}

static inline void put(struct recorder *rec, uint32_t cpu, struct trace_record record)
{
	assert_int_equal(trace_writer_put(rec->writer, cpu, &record), 0);
}

static inline void slurp(const char *path, char **ret_bytes, size_t *ret_count)
{
	assert_int_equal(dwell_io_read_file(path, 64 << 20, ret_bytes, ret_count), 0);
}

#endif
