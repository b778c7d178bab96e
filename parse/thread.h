/* SPDX-License-Identifier: MIT */
/* The thread table: one entry per life of a tid, so a reused tid is a new thread. Entry 0 is the
 * idle task. The source fills it while reading; indexes are stable. */
#ifndef DWELL_PARSE_THREAD_H
#define DWELL_PARSE_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "parse/event.h"

struct dwell_thread {
	int32_t pid, tid; /* in the recorder's root pid namespace, as tracepoints say */
	int32_t last_tid; /* its tid at its end: a leader's, exchanged by an exec; 0 = still tid */
	int32_t ns_pid, ns_tid; /* in the thread's own pid namespace; 0 = not known */
	uint32_t incarnation;	/* 1 for the first life of a tid seen in the trace */
	uint32_t parent;	/* thread index or DWELL_THREAD_NONE */
	uint32_t comm;		/* string id: the latest so far */
	uint32_t cgroup;	/* string id: the latest so far, 0 = not known */
	uint32_t uid;		/* UINT32_MAX = not known */
	uint64_t born_ns;	/* time of its FORK or wakeup_new; 0 = before the recording */
	uint64_t died_ns;	/* time of its last switch-out (X or Z); 0 = not seen to end */
	/* Observed from then on: it became a target, or one again, or its beginning was not told
	 * and the life before it ended then. 0 = from its birth or the recording's begin. */
	uint64_t joined_ns;
	bool observed; /* a target: its time is accounted for. Others only wake targets */
	bool kernel;   /* a kernel thread */
	bool exiting;  /* PERF_RECORD_EXIT was seen */
	bool recorder; /* a thread of dwell record itself */
	bool stopped;  /* STOPPED came, and it did not join since */
	bool roams;    /* may run on CPUs that are not recorded: off ours, nothing is known of it */
	uint32_t cpu;  /* + 1 that it runs on, as far as switches tell (source_switched()); 0 = none
			*/
};

struct dwell_threads; /* opaque */

/* NULL when out of memory. Entry 0 (idle) exists from the start, its comm is string id 0. */
struct dwell_threads *dwell_threads_new(void);
void dwell_threads_free(struct dwell_threads *threads);

uint32_t dwell_threads_count(const struct dwell_threads *threads);

/* The entry of an index; an entry of zeroes if out of range. Valid until the next add. */
struct dwell_thread *dwell_threads_get(const struct dwell_threads *threads, uint32_t index);

/* The thread that has tid now, i.e. its latest life; DWELL_THREAD_NONE when none. tid 0 is the
 * idle task. */
uint32_t dwell_threads_find(const struct dwell_threads *threads, int32_t tid);

/* The thread that has tid now, added (pid = -1 if not known, born_ns = 0) when there is none or
 * when the latest one has died. 0 or -ENOMEM. */
int dwell_threads_need(struct dwell_threads *threads, int32_t pid, int32_t tid,
		       uint32_t *ret_index);

/* A new life of tid, born at born_ns. 0 or -ENOMEM. */
int dwell_threads_add(struct dwell_threads *threads, int32_t pid, int32_t tid, uint64_t born_ns,
		      uint32_t *ret_index);

/* exec by a non-leader thread: the thread `index` goes on under the tid `tid` (its leader's), and
 * the leader, unless it has died, under that of the thread (last_tid): the kernel exchanges both.
 */
int dwell_threads_retid(struct dwell_threads *threads, uint32_t index, int32_t tid);

#endif
