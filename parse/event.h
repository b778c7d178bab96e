/* SPDX-License-Identifier: MIT */
/* The one event type that every later room reads. Every input format becomes a time-ordered
 * stream of struct dwell_event; ids in it index tables owned by the source. */
#ifndef DWELL_PARSE_EVENT_H
#define DWELL_PARSE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/task.h"

/* Thread index 0 is the idle task of every CPU (tid 0): never a waiter. */
#define DWELL_THREAD_IDLE 0u
/* No thread: a waker that is not known, or an event without subject. */
#define DWELL_THREAD_NONE UINT32_MAX
/* An event that does not belong to one CPU. */
#define DWELL_CPU_NONE UINT32_MAX

enum dwell_event_kind {
	DWELL_EVENT_SWITCH = 1, /* tracepoint sched_switch: thread = prev, stack = prev's stack */
	DWELL_EVENT_SWITCH_IN, /* PERF_RECORD_SWITCH(_CPU_WIDE), in: thread starts running on cpu */
	DWELL_EVENT_SWITCH_OUT, /* the same, out: thread stops running; u.out.preempted */
	DWELL_EVENT_WAKING,	/* sched_waking: thread = the one woken, stack = the waker's */
	DWELL_EVENT_WAKEUP_NEW, /* sched_wakeup_new: thread = the new one, waker = its parent */
	DWELL_EVENT_SAMPLE,	/* any sampled event, cpu-clock first of all: u.sample */
	DWELL_EVENT_FORK,	/* thread = child (a new incarnation), u.fork.parent */
	DWELL_EVENT_COMM,	/* thread has a new comm; u.comm.exec if by exec */
	DWELL_EVENT_EXIT,     /* PERF_RECORD_EXIT: the thread is about to end (runs on a little) */
	DWELL_EVENT_CPU,      /* what is known of a CPU from here on: u.cpu */
	DWELL_EVENT_GAP,      /* events of a CPU were lost: u.gap, time_ns = its end */
	DWELL_EVENT_COUNT,    /* thread's switch count, read from /proc after a loss: u.count */
	DWELL_EVENT_STATE,    /* thread's state, read from /proc at start or stop: u.state */
	DWELL_EVENT_STOPPED,  /* thread is not observed from here on (exec of a setuid program; a
				 filter) */
	DWELL_EVENT_THROTTLE, /* the kernel throttled (on = true) or resumed an event on cpu */
	DWELL_EVENT_CGROUP,   /* thread's process is in u.cgroup.path from here on */
	DWELL_EVENT_KINDS
};

/* Where a stack comes from, kept with the interval. */
enum dwell_origin {
	DWELL_ORIGIN_NONE = 0,
	DWELL_ORIGIN_SWITCH, /* taken at the switch-out that began the interval */
	DWELL_ORIGIN_SAMPLE, /* a sample */
	DWELL_ORIGIN_LATE,   /* read from /proc/PID/task/TID/stack while the thread was off */
};

struct dwell_event {
	uint64_t time_ns; /* on the trace's clock */
	uint32_t cpu;	  /* or DWELL_CPU_NONE */
	uint32_t thread;  /* index in the thread table, or DWELL_THREAD_NONE */
	uint32_t stack;	  /* stack node id, 0 = none */
	uint8_t kind;	  /* enum dwell_event_kind */
	union {
		struct {
			uint32_t next;	    /* thread index that starts running on cpu */
			uint8_t prev_state; /* enum dwell_task_state */
			bool preempted;	    /* "R+": preempted inside the kernel */
		} sw;
		struct {
			bool preempted; /* SWITCH_OUT_PREEMPT: its state was running */
			uint32_t other; /* SWITCH_OUT: the next thread; SWITCH_IN: the previous one;
					 * DWELL_THREAD_NONE when the record does not tell */
		} rec;
		struct {
			uint32_t waker;	     /* thread index; meaningless unless context is TASK */
			uint8_t context;     /* enum dwell_context */
			uint32_t target_cpu; /* or DWELL_CPU_NONE */
		} wake;
		struct {
			uint32_t event;	 /* index in the source's event table */
			uint64_t weight; /* in the event's unit; ns for a clock */
		} sample;
		struct {
			uint32_t parent; /* thread index or DWELL_THREAD_NONE */
		} fork;
		struct {
			uint32_t comm; /* string id */
			bool exec;
		} comm;
		struct {
			uint8_t witness; /* enum dwell_witness */
			bool online;
		} cpu;
		struct {
			uint64_t from_ns; /* the last event known on this CPU before the loss */
			uint64_t lost;	  /* records lost; 0 = a break proven otherwise */
		} gap;
		struct {
			uint64_t switches_in; /* third field of schedstat */
		} count;
		struct dwell_task_reading state;
		struct {
			bool on;
		} throttle;
		struct {
			uint32_t path; /* string id */
		} cgroup;
	} u;
};

#endif
