/* SPDX-License-Identifier: MIT */
/* The one event type that every later room reads. Every input format becomes a time-ordered
 * stream of struct dwell_event; ids in it index tables owned by the source. */
#ifndef DWELL_PARSE_EVENT_H
#define DWELL_PARSE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

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
	DWELL_EVENT_STOPPED,  /* the kernel stopped observing thread (exec of a setuid program) */
	DWELL_EVENT_THROTTLE, /* the kernel throttled (on = true) or resumed an event on cpu */
	DWELL_EVENT_CGROUP,   /* thread's process is in u.cgroup.path from here on */
	DWELL_EVENT_KINDS
};

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

/* Where a stack comes from, kept with the interval. */
enum dwell_origin {
	DWELL_ORIGIN_NONE = 0,
	DWELL_ORIGIN_SWITCH, /* taken at the switch-out that began the interval */
	DWELL_ORIGIN_SAMPLE, /* a sample */
	DWELL_ORIGIN_LATE,   /* read from /proc/PID/task/TID/stack while the thread was off */
};

enum dwell_state_phase {
	DWELL_PHASE_START = 0, /* read after the events were enabled, before anything else */
	DWELL_PHASE_STOP,      /* read just before the events were disabled */
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
		struct {
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
		} state;
		struct {
			bool on;
		} throttle;
		struct {
			uint32_t path; /* string id */
		} cgroup;
	} u;
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
