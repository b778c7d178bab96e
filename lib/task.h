/* SPDX-License-Identifier: MIT */
/* Words of the scheduler that stand in the trace and in events alike: what a task does, in which
 * context it was woken, who witnessed its switches. Their numbers are part of the trace format. */
#ifndef DWELL_LIB_TASK_H
#define DWELL_LIB_TASK_H

#include <stdbool.h>
#include <stdint.h>

/* What a thread does when it is not running; letters as in the kernel's sched_switch format.
 * RUNNING is prev_state 0: it would run on (preempted, or yielded). */
enum dwell_task_state {
	DWELL_TASK_RUNNING = 0,	    /* R */
	DWELL_TASK_INTERRUPTIBLE,   /* S */
	DWELL_TASK_UNINTERRUPTIBLE, /* D */
	DWELL_TASK_STOPPED,	    /* T, t */
	DWELL_TASK_DEAD,	    /* X */
	DWELL_TASK_ZOMBIE,	    /* Z */
	DWELL_TASK_PARKED,	    /* P */
	DWELL_TASK_IDLE,	    /* I */
	DWELL_TASK_OTHER,	    /* a letter this version does not know; still off-CPU, not R */
	DWELL_TASK_STATES
};

/* Who called try_to_wake_up(), from the tracepoint's common_flags. */
enum dwell_context {
	DWELL_CONTEXT_TASK = 0, /* the waker is the thread named */
	DWELL_CONTEXT_HARDIRQ,	/* common_flags 0x08: the interrupted thread is not the waker */
	DWELL_CONTEXT_SOFTIRQ,	/* common_flags 0x10: likewise */
	DWELL_CONTEXT_IDLE,	/* the idle task itself (tid 0), outside interrupts */
	DWELL_CONTEXTS
};

/* Which witnesses a CPU's switches have (design.md section 3). On a CPU with records, the times of
 * state changes come from the records and the tracepoint gives stack and prev_state. */
enum dwell_witness {
	DWELL_WITNESS_NONE = 0,
	DWELL_WITNESS_TRACEPOINT, /* sched_switch alone */
	DWELL_WITNESS_RECORD,	  /* PERF_RECORD_SWITCH alone (no privilege for tracepoints) */
	DWELL_WITNESS_BOTH,	  /* both; records decide the times */
};

enum dwell_state_phase {
	DWELL_PHASE_START = 0, /* read after the events were enabled, before anything else */
	DWELL_PHASE_STOP,      /* read just before the events were disabled */
};

/* What /proc said of a thread. */
struct dwell_task_reading {
	uint8_t state;	 /* enum dwell_task_state */
	uint8_t phase;	 /* enum dwell_state_phase */
	bool stable;	 /* switch count the same before and after reading */
	bool counted;	 /* the three schedstat values are valid */
	uint64_t run_ns; /* schedstat, cumulative over the thread's life */
	uint64_t wait_ns;
	uint64_t switches_in;
	uint32_t wchan;	  /* string id */
	int32_t syscall;  /* number, or -1 when not in one or not readable */
	uint64_t args[6]; /* the syscall's arguments, when syscall >= 0 */
};

/* The letter of a task state, as in /proc/PID/stat and sched_switch. */
static inline char dwell_task_state_letter(enum dwell_task_state state)
{
	return (unsigned)state < DWELL_TASK_STATES ? "RSDTXZPI?"[state] : '?';
}

/* The task state of a letter ('t' counts as T); DWELL_TASK_OTHER for letters not known. */
static inline enum dwell_task_state dwell_task_state_of(char letter)
{
	for (unsigned i = 0; i < DWELL_TASK_OTHER; i++)
		if (dwell_task_state_letter(i) == letter)
			return i;
	return letter == 't' ? DWELL_TASK_STOPPED : DWELL_TASK_OTHER;
}

#endif
