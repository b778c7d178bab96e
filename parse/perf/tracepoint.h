/* SPDX-License-Identifier: MIT */
/* Tracepoint format texts become field places. Field offsets, the letters of prev_state and the
 * "preempted" bit come from the running kernel's (or the file's) text, never from constants: they
 * changed between kernels. Texts of files are hostile input, which libtraceevent is not made for
 * (it crashes on field lines that are cut): so they are read here. */
#ifndef DWELL_PARSE_PERF_TRACEPOINT_H
#define DWELL_PARSE_PERF_TRACEPOINT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "lib/err.h"
#include "lib/task.h"

/* Where a number stands in the raw bytes. */
struct dwell_tracepoint_field {
	uint16_t offset;
	uint8_t bytes; /* 1, 2, 4 or 8; 0 = the field does not exist */
	bool is_signed;
	bool swapped; /* the recorder's byte order is not this machine's */
};

enum { DWELL_SCHED_STATES_MAX = 16 };

/* sched_switch, taken apart once. */
struct dwell_sched_switch {
	uint32_t id; /* attr.config */
	struct dwell_tracepoint_field common_flags, prev_pid, prev_state, next_pid;
	uint16_t prev_comm, next_comm; /* offsets of the char arrays */
	uint16_t comm_bytes;
	uint64_t preempted_mask; /* "R+", 0 = not told */
	struct {
		uint64_t value;
		uint8_t state; /* enum dwell_task_state */
	} states[DWELL_SCHED_STATES_MAX];
	uint32_t state_count;
};

/* sched_waking, sched_wakeup_new: one shape. */
struct dwell_sched_waking {
	uint32_t id;
	struct dwell_tracepoint_field common_flags, common_pid, pid, target_cpu;
	uint16_t comm, comm_bytes;
};

/* Parses a format text ("name: ...\nID: ...\nformat:..."), as in tracefs. 0, -ENOMEM, or -EINVAL
 * with err set when it lacks a field that the join cannot do without. */
int dwell_sched_switch_parse(const char *text, struct dwell_sched_switch *ret,
			     struct dwell_err *err);
int dwell_sched_waking_parse(const char *text, const char *name, struct dwell_sched_waking *ret,
			     struct dwell_err *err);

/* From now on their raw bytes come from a machine of the other byte order. */
void dwell_sched_switch_swap(struct dwell_sched_switch *sw);
void dwell_sched_waking_swap(struct dwell_sched_waking *waking);

/* The number at field, or 0 when the bytes end before it. */
static inline int64_t dwell_tracepoint_number(const struct dwell_tracepoint_field *field,
					      const uint8_t *raw, uint32_t raw_bytes)
{
	int64_t value = 0;

	if ((uint32_t)field->offset + field->bytes > raw_bytes)
		return 0;
	memcpy(&value, raw + field->offset, field->bytes);
	if (field->swapped && field->bytes)
		value = (int64_t)(__builtin_bswap64((uint64_t)value) >> (64 - 8 * field->bytes));
	if (field->is_signed && field->bytes && field->bytes < 8) {
		unsigned shift = 64 - 8 * field->bytes;

		value = (int64_t)((uint64_t)value << shift) >> shift;
	}
	return value;
}

/* prev_state's letter: 0 is R, one bit is its letter, anything else is OTHER. */
static inline uint8_t dwell_sched_switch_state(const struct dwell_sched_switch *sw, uint64_t value)
{
	value &= ~sw->preempted_mask;
	if (value == 0)
		return DWELL_TASK_RUNNING;
	for (uint32_t i = 0; i < sw->state_count; i++)
		if (sw->states[i].value == value)
			return sw->states[i].state;
	return DWELL_TASK_OTHER;
}

/* Context of a waker from common_flags: TRACE_FLAG_HARDIRQ 0x08, TRACE_FLAG_SOFTIRQ 0x10
 * (include/linux/trace_events.h; the values never changed). */
static inline enum dwell_context dwell_tracepoint_context(uint64_t common_flags)
{
	if (common_flags & 0x08)
		return DWELL_CONTEXT_HARDIRQ;
	return common_flags & 0x10 ? DWELL_CONTEXT_SOFTIRQ : DWELL_CONTEXT_TASK;
}

#endif
