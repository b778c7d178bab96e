/* SPDX-License-Identifier: MIT */
/* Events in, intervals out: the join of switches, wakings, samples and /proc readings into what
 * each thread did, by the accounting rules of Documentation/design.md. A pure state machine: no
 * file, no clock, no output. Memory: one slot per thread and per CPU, nothing per event.
 *
 * Laws, checked by dwell_timeline_check():
 *   per thread: on_cpu + runnable + blocked + unknown = observed, to the ns;
 *   per CPU (whole-system recordings): threads + idle + unknown = window. */
#ifndef DWELL_OFFCPU_TIMELINE_H
#define DWELL_OFFCPU_TIMELINE_H

#include <stdint.h>

#include "lib/err.h"
#include "offcpu/interval.h"
#include "parse/event.h"
#include "parse/thread.h"

/* Where intervals and clock samples go. Called in the order the timeline learns of them: per
 * thread in time order. A non-zero return stops feeding and is returned to the caller. */
struct dwell_timeline_ops {
	int (*interval)(void *user, const struct dwell_interval *interval);
	/* A sample of an observed thread (kind SAMPLE), to spread on-CPU time; may be NULL. */
	int (*sample)(void *user, const struct dwell_event *event, uint32_t comm);
	/* The thread's last interval was emitted (it died); may be NULL. */
	int (*thread_end)(void *user, uint32_t thread);
};

/* One thread's books. */
struct dwell_account {
	uint64_t observed_ns;		     /* [born or window start, died or window end] */
	uint64_t ns[DWELL_STATES];	     /* sums to observed_ns */
	uint64_t unknown_ns[DWELL_UNKNOWNS]; /* sums to ns[DWELL_STATE_UNKNOWN] */
	uint64_t switches_voluntary;	     /* switch-outs in a state other than R */
	uint64_t switches_involuntary;	     /* switch-outs in R */
	uint64_t switches_in;		     /* switch-ins seen */
	uint64_t samples;		     /* clock samples */
	uint64_t longest_blocked_ns;
};

struct dwell_cpu_account {
	uint64_t busy_ns, idle_ns, unknown_ns; /* sum to the window, if the CPU was online for it */
	uint64_t breaks; /* next of one switch was not prev of the following one */
};

struct dwell_timeline_stats {
	uint64_t contradictions; /* closed with unknown */
	/* Switch-ins and switch-outs that no event told of, as what follows proves, where no event
	 * ever told of who ran before: closed with unknown as well. */
	uint64_t missed_switches;
	uint64_t chain_breaks; /* sum of the CPUs' breaks */
	uint64_t late_events;  /* stamped before their thread's last event: taken as of then */
	uint64_t duplicate_wakings, useless_wakings;
	uint64_t waits; /* blocked intervals that ended inside the window */
	uint64_t waits_with_waking;
	uint64_t gaps, lost;
	/* Switch-ins that the kernel counted and no event told of, though no loss was told either:
	 * the times of their threads are off by what those would have told. */
	uint64_t untold_switches;
};

struct dwell_timeline; /* opaque */

/* threads is borrowed and must outlive the timeline (observed, born_ns, comm are read from it).
 * start_ns is the window's start. NULL when out of memory. */
struct dwell_timeline *dwell_timeline_new(const struct dwell_threads *threads, uint64_t start_ns,
					  bool all_threads, const struct dwell_timeline_ops *ops,
					  void *user);
void dwell_timeline_free(struct dwell_timeline *timeline);

/* Takes the next event; events come in time order. A GAP should come in the order of its from_ns
 * where the source can tell (its time_ns, the end, then lies ahead), at the latest at its end: what
 * other CPUs' events proved in between stands then. A COUNT holds at its time_ns, and so does a
 * stable STATE; one that is not holds before. 0, -ENOMEM, or what a callback returned. */
int dwell_timeline_feed(struct dwell_timeline *timeline, const struct dwell_event *event);

/* Closes every open interval at end_ns, censored. Observed threads without any event are
 * accounted for too. 0, -ENOMEM, or what a callback returned. */
int dwell_timeline_finish(struct dwell_timeline *timeline, uint64_t end_ns);

/* Books of a thread (zeroes if never seen) and of a CPU; final after finish. */
const struct dwell_account *dwell_timeline_account(const struct dwell_timeline *timeline,
						   uint32_t thread);
const struct dwell_cpu_account *dwell_timeline_cpu(const struct dwell_timeline *timeline,
						   uint32_t cpu);
uint32_t dwell_timeline_cpus(const struct dwell_timeline *timeline);
const struct dwell_timeline_stats *dwell_timeline_stats(const struct dwell_timeline *timeline);

/* Checks both laws after finish: 0, or -EBADMSG with err naming the thread or CPU and by how many
 * ns its books are off. */
int dwell_timeline_check(const struct dwell_timeline *timeline, struct dwell_err *err);

#endif
