/* SPDX-License-Identifier: MIT */
/* What the timeline emits: a span of one thread's time in one state. The intervals of a thread
 * tile its observed time: each starts where the one before ended. */
#ifndef DWELL_OFFCPU_INTERVAL_H
#define DWELL_OFFCPU_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

#include "parse/event.h"

enum dwell_state {
	DWELL_STATE_ON_CPU = 0,
	DWELL_STATE_RUNNABLE,
	DWELL_STATE_BLOCKED,
	DWELL_STATE_UNKNOWN,
	DWELL_STATES
};

enum dwell_runnable {				    /* why a thread waits for a CPU */
		      DWELL_RUNNABLE_PREEMPTED = 0, /* prev_state R or R+ */
		      DWELL_RUNNABLE_WOKEN,	    /* a waking ended its wait */
		      DWELL_RUNNABLE_NEW,	    /* born, never ran yet */
		      DWELL_RUNNABLE_THROTTLED, /* prev_state R, and the CPU went idle: a quota */
		      DWELL_RUNNABLE_START,	/* was runnable when the recording began */
};

enum dwell_unknown { /* why a time is unknown */
		     DWELL_UNKNOWN_NEVER_SEEN =
			     0,		 /* nothing tells what it did since the window began */
		     DWELL_UNKNOWN_LOST, /* events were lost, and the thread did switch meanwhile */
		     DWELL_UNKNOWN_MISSED,  /* a switch must have been missed (contradiction) */
		     DWELL_UNKNOWN_STOPPED, /* the kernel stopped observing it */
		     DWELL_UNKNOWN_OFFLINE, /* its CPU was not observed */
		     DWELL_UNKNOWNS
};

struct dwell_interval {
	uint64_t start_ns, end_ns; /* start <= end; empty intervals are not emitted */
	uint32_t thread;	   /* thread index */
	uint32_t comm;		   /* string id of its comm when the interval began */
	uint32_t cpu;		   /* ran on; was switched out on; DWELL_CPU_NONE if not known */
	uint32_t stack;		   /* BLOCKED, RUNNABLE: stack at switch-out; ON_CPU: 0 */
	uint8_t state;		   /* enum dwell_state */
	uint8_t detail;		   /* RUNNABLE: enum dwell_runnable; UNKNOWN: enum dwell_unknown;
				    * BLOCKED: enum dwell_task_state */
	uint8_t origin;		   /* enum dwell_origin, of stack */
	uint8_t witness;	   /* enum dwell_witness, of the boundary times */
	bool censored_start;	   /* began before the window: really longer */
	bool censored_end;	   /* still going on when the window closed */
	/* Who ended a BLOCKED interval, and made this RUNNABLE (WOKEN, NEW) one begin. */
	uint32_t waker; /* thread index, DWELL_THREAD_NONE = not known */
	uint32_t waker_stack;
	uint8_t waker_context; /* enum dwell_context */
};

#endif
