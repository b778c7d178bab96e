/* SPDX-License-Identifier: MIT */
/* The insides of the timeline: one slot per thread (what it does now, since when, by what
 * evidence) and one per CPU (who is current, since when). slot.c moves threads, cpu.c moves CPUs
 * and tells threads, timeline.c hands events to both. */
#ifndef DWELL_OFFCPU_SLOT_H
#define DWELL_OFFCPU_SLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/array.h"
#include "offcpu/timeline.h"

/* What a CPU runs, beside a thread index. UNKNOWN: whoever is current has been so ever since
 * since_ns, only the name is missing; the first switch-out or sample tells it. OTHER: somebody,
 * and not always the same one; nothing follows from who is seen there next. */
#define CPU_UNKNOWN (UINT32_MAX - 1)
#define CPU_OTHER   DWELL_THREAD_NONE

enum slot_state {
	SLOT_NONE = 0, /* not observed, or not met yet */
	SLOT_FRESH,    /* was there when the window began; nothing known yet */
	SLOT_START,    /* was R when the window began: on a CPU, or waiting for one */
	SLOT_ON,
	SLOT_RUNNABLE,
	SLOT_BLOCKED,
	SLOT_UNKNOWN,
	SLOT_ENDED,
};

/* since_ns..now is the open interval; everything before it was emitted. */
struct slot {
	uint64_t begin_ns;    /* start of its observed time */
	uint64_t since_ns;    /* start of the open interval */
	uint64_t evidence_ns; /* until here the open state is proven; while UNKNOWN, it was last
			       * seen then. A CPU knows more of the thread current on it */
	uint64_t waking_ns;   /* its last waking */
	uint64_t lost_ns;     /* while ON and lost: its CPU's events are missing from here on */
	uint64_t exit_ns;     /* PERF_RECORD_EXIT came at; UINT64_MAX = not yet */
	uint64_t count_base;  /* while counted: kernel's switch count = this + switch-ins seen */
	uint64_t run_ns, wait_ns; /* schedstat at the window's start, for SLOT_START */
	uint32_t cpu, stack;
	uint32_t comm, open_comm; /* now, and when the open interval began */
	uint32_t waker, waker_stack;
	uint32_t pending_cpu;  /* + 1: its switch there waits for records; may be over */
	uint32_t gap_seen;     /* gaps already answered for, see timeline.gaps */
	uint32_t kept_gap;     /* its CPU's gap in which it did not switch in; 0 = none */
	uint8_t state, detail; /* enum slot_state; as in struct dwell_interval */
	uint8_t origin;	       /* of stack */
	uint8_t witness;       /* of the open interval's start */
	uint8_t waker_context;
	bool woken;   /* the waker made this RUNNABLE. In other states a waking came whose meaning
		       * the next switch tells: while ON, and before BLOCKED began, it was early or
		       * useless; while FRESH or UNKNOWN, that or the end of a wait */
	bool lost;    /* while ON: see lost_ns */
	bool heard;   /* an event came of it while it ran */
	bool counted; /* count_base is valid */
	bool count_near; /* ... or one too low: a switch-in was stamped and not counted yet then */
	bool stopped;	 /* it is not observed from since_ns on, until it joins again */
	bool born;	 /* inside the window */
	bool roams;	 /* it may run on CPUs that are not recorded */
	bool confirmed;	 /* while it roams: it did not run anywhere until the window's end */
	struct dwell_account account;
};

/* How a thread left a CPU. */
struct slot_out {
	uint64_t time_ns;
	uint32_t stack;
	uint8_t state;	 /* enum dwell_task_state */
	uint8_t witness; /* TRACEPOINT or RECORD */
	bool to_idle;
	bool unheard; /* nobody was known to run there: if it did not come, that was not told */
};

struct cpu {
	uint64_t since_ns;    /* start of the open span of the books */
	uint64_t evidence_ns; /* current was last seen running */
	uint32_t index;
	uint32_t current; /* thread index, CPU_UNKNOWN or CPU_OTHER */
	uint32_t prev;	  /* who left last: its samples may straggle in */
	uint32_t gap;	  /* number (from 1) of its last gap */
	uint8_t witness;
	bool in_due; /* current's SWITCH_IN record is still to come */
	bool offline;
	bool pending; /* a sched_switch waits for the records of the same switch */
	struct slot_out pending_out;
	uint32_t pending_prev, pending_next;
	struct dwell_cpu_account account;
};

struct gap {
	uint64_t from_ns;
	uint32_t index; /* counted over all gaps */
};

struct dwell_timeline {
	const struct dwell_threads *threads;
	struct dwell_timeline_ops ops;
	void *user;
	uint64_t start_ns, now_ns; /* now: the latest event so far */
	uint64_t end_ns;	   /* while and after finish() */
	bool all_threads, closing;
	int rc; /* first failure or callback's answer; nothing is called back after it */
	DWELL_ARRAY(struct slot) slots; /* by thread index */
	DWELL_ARRAY(struct cpu) cpus;
	struct cpu nowhere; /* stands in for the CPU of events that name none */
	uint32_t gap_count;
	/* Gaps that began before all later ones, the latest last: one look answers for all gaps
	 * that a thread has not seen. */
	DWELL_ARRAY(struct gap) gaps;
	uint64_t gap_end_ns; /* the latest end of a gap */
	uint32_t gap_open;   /* gaps below are over */
	struct dwell_timeline_stats stats;
};

/* The slot of a thread that is accounted for, else NULL (idle, not observed, out of memory: rc
 * is set then). Valid until the next slot_get. */
struct slot *slot_get(struct dwell_timeline *tl, uint32_t thread);

/* Closes the open interval at from_ns; since then unknown, for that reason. */
void slot_unknown(struct dwell_timeline *tl, struct slot *slot, uint64_t from_ns,
		  enum dwell_unknown why);
/* Counts what ends in unknown time: a switch that was not told, else a contradiction. */
void slot_unproven(struct dwell_timeline *tl, bool missed);
/* Answers for the gaps since the thread's last event: unknown since then, if it may have
 * switched there. */
void slot_settle_gaps(struct dwell_timeline *tl, struct slot *slot);
/* Ends the thread at time_ns. */
void slot_end(struct dwell_timeline *tl, struct slot *slot, uint64_t time_ns);

/* The thread was (with it: is) current on cpu since since_ns, as nobody switched there. False if
 * it was seen elsewhere later. */
bool slot_adopt(struct dwell_timeline *tl, uint32_t thread, const struct cpu *cpu);
/* Seen running on cpu at time_ns, though nothing told of its switching in; unheard: as slot_out's.
 */
void slot_appear(struct dwell_timeline *tl, uint32_t thread, const struct cpu *cpu,
		 uint64_t time_ns, bool unheard);
void slot_in(struct dwell_timeline *tl, uint32_t thread, const struct cpu *cpu, uint64_t time_ns,
	     enum dwell_witness witness);
void slot_out(struct dwell_timeline *tl, uint32_t thread, const struct cpu *cpu,
	      const struct slot_out *out);

/* The events that concern a thread alone; time_ns is the event's, cut to the window. */
void slot_waking(struct dwell_timeline *tl, const struct dwell_event *event, uint64_t time_ns);
void slot_born(struct dwell_timeline *tl, const struct dwell_event *event, uint64_t time_ns);
void slot_comm(struct dwell_timeline *tl, const struct dwell_event *event, uint64_t time_ns);
void slot_count(struct dwell_timeline *tl, struct slot *slot, uint64_t switches_in,
		uint64_t time_ns);
void slot_reading(struct dwell_timeline *tl, const struct dwell_event *event, uint64_t time_ns);
void slot_stopped(struct dwell_timeline *tl, const struct dwell_event *event, uint64_t time_ns);
/* The window ends. may_run: some CPU was never told of, so a thread never seen may run there. */
void slot_finish(struct dwell_timeline *tl, struct slot *slot, bool may_run);

/* The CPU of an index, made when new; a stand-in for DWELL_CPU_NONE; NULL with rc set when out of
 * memory. Valid until the next cpu_get. */
struct cpu *cpu_get(struct dwell_timeline *tl, uint32_t index);
void cpu_switch(struct dwell_timeline *tl, const struct dwell_event *event, uint64_t time_ns);
void cpu_record_out(struct dwell_timeline *tl, const struct dwell_event *event, uint64_t time_ns);
void cpu_record_in(struct dwell_timeline *tl, const struct dwell_event *event, uint64_t time_ns);
void cpu_sample(struct dwell_timeline *tl, const struct dwell_event *event, uint64_t time_ns);
void cpu_known(struct dwell_timeline *tl, const struct dwell_event *event, uint64_t time_ns);
void cpu_gap(struct dwell_timeline *tl, const struct dwell_event *event, uint64_t time_ns);
/* Applies a sched_switch whose records did not come. */
void cpu_flush(struct dwell_timeline *tl, struct cpu *cpu);
/* Books the time since since_ns to whoever is current. */
void cpu_book(struct cpu *cpu, uint64_t time_ns);

#endif
