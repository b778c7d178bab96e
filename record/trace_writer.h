/* SPDX-License-Identifier: MIT */
/* Records become dwell.data: encodes into one buffer per CPU and one for records of no CPU, interns
 * through the tables it is given, and writes whole blocks only. A file cut at any byte is readable
 * up to its last whole block. */
#ifndef DWELL_RECORD_TRACE_WRITER_H
#define DWELL_RECORD_TRACE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"
#include "lib/strings.h"
#include "lib/task.h"
#include "lib/trace_format.h"
#include "parse/stack.h"

struct trace_writer; /* opaque */

/* Takes facts, tables and records from now on. Tables are borrowed: what they gain is written
 * before its first use. */
int trace_writer_new(uint32_t cpus, struct dwell_strings *strings, struct dwell_stacks *stacks,
		     struct trace_writer **ret_writer, struct dwell_err *err);
/* Creates path: mode 0600, never through a symbolic link, an older file kept as path.old; "-" is
 * standard output. Goes before the first flush, and late: a recording that cannot start should
 * leave the older file where it is. */
int trace_writer_open(struct trace_writer *writer, const char *path, struct dwell_err *err);
/* Frees the writer and closes its file as it is: without trace_writer_finish() it counts as cut. */
void trace_writer_close(struct trace_writer *writer);

/* Facts, kept until the next flush. 0 or -ENOMEM. */
int trace_writer_info(struct trace_writer *writer, const char *key, const char *value);
int trace_writer_info_u64(struct trace_writer *writer, const char *key, uint64_t value);

/* Adds an entry to the event table; entries are numbered from 0 in this order. */
int trace_writer_event(struct trace_writer *writer, const char *name, const char *format,
		       bool is_clock, uint64_t period, uint32_t freq_hz);

/* One event of a CPU's stream or of stream 0; tids stand where struct dwell_event has indexes. */
struct trace_record {
	uint64_t time_ns;
	uint8_t kind;  /* enum dwell_trace_record: SWITCH .. GAP */
	uint8_t state; /* SWITCH: enum dwell_task_state; WAKING: enum dwell_context */
	bool preempted;
	uint32_t tid;	/* SWITCH: prev; IN, OUT, SAMPLE: itself; WAKING: the woken one */
	uint32_t other; /* SWITCH: next; WAKING: waker; SAMPLE: event */
	uint32_t cpu;	/* WAKING: target_cpu */
	uint32_t stack;
	uint64_t value; /* SAMPLE: weight; GAP: its end (time_ns is its start) */
	uint64_t lost;	/* GAP */
};

/* Adds a record to CPU cpu's stream. Records may come a little out of time order (an interrupt's
 * sample inside another event's): a short window sorts them. 0 or -ENOMEM. */
int trace_writer_put(struct trace_writer *writer, uint32_t cpu, const struct trace_record *record);

/* Records of stream 0; sorted by time, written when the horizon has passed. Each: 0 or -ENOMEM. */
struct trace_thread {
	int32_t pid, tid, ns_pid, ns_tid;
	uint32_t comm, cgroup; /* string ids */
	uint32_t uid;	       /* UINT32_MAX = not known */
	uint32_t flags;	       /* DWELL_THREAD_FLAG_* */
};
int trace_writer_thread(struct trace_writer *writer, uint64_t time_ns,
			const struct trace_thread *thread);
int trace_writer_fork(struct trace_writer *writer, uint64_t time_ns, int32_t pid, int32_t tid,
		      int32_t parent_tid, bool observed);
int trace_writer_comm(struct trace_writer *writer, uint64_t time_ns, int32_t tid, uint32_t comm,
		      bool exec);
int trace_writer_exit(struct trace_writer *writer, uint64_t time_ns, int32_t tid);
int trace_writer_count(struct trace_writer *writer, uint64_t time_ns, int32_t tid,
		       uint64_t switches_in);
/* reading->wchan is a string id, stack the stack that /proc showed. */
int trace_writer_state(struct trace_writer *writer, uint64_t time_ns, int32_t tid,
		       const struct dwell_task_reading *reading, uint32_t stack);
int trace_writer_cpu(struct trace_writer *writer, uint64_t time_ns, uint32_t cpu,
		     enum dwell_witness witness, bool online);
int trace_writer_stopped(struct trace_writer *writer, uint64_t time_ns, int32_t tid);
int trace_writer_cgroup(struct trace_writer *writer, uint64_t time_ns, int32_t tid, uint32_t path);
int trace_writer_retid(struct trace_writer *writer, uint64_t time_ns, int32_t old_tid,
		       int32_t new_tid);
int trace_writer_throttle(struct trace_writer *writer, uint64_t time_ns, uint32_t cpu, bool on,
			  uint32_t event);

int trace_writer_coverage(struct trace_writer *writer, uint32_t event, uint32_t cpu,
			  uint64_t kernel_count, uint64_t parsed, uint64_t lost, bool blind_idle);

/* The window is over: from now on small counts more than soon. */
void trace_writer_unhurried(struct trace_writer *writer);

/* A frame's symbol or places, or a file's build id, were set after it was added. 0 or -ENOMEM. */
int trace_writer_symbol(struct trace_writer *writer, uint32_t frame);
int trace_writer_places(struct trace_writer *writer, uint32_t frame);
int trace_writer_build_id(struct trace_writer *writer, uint32_t file);

/* True when enough is buffered for a block. */
bool trace_writer_full(const struct trace_writer *writer);

/* Writes what is buffered. horizon_ns: no record put later is stamped before it. 0, or -errno with
 * err set; after a failed write the file is cut back to its last whole block (standard output is
 * left as it is), and every later write fails: what it would refer to is missing. */
int trace_writer_flush(struct trace_writer *writer, uint64_t horizon_ns, struct dwell_err *err);

/* Flushes, then writes coverage and the END block with the facts added since. */
int trace_writer_finish(struct trace_writer *writer, struct dwell_err *err);

/* Bytes written so far. */
uint64_t trace_writer_bytes(const struct trace_writer *writer);

#endif
