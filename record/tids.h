/* SPDX-License-Identifier: MIT */
/* What the recorder knows of each tid at the moment: one slot per possible tid, in memory that is
 * only touched where tids exist. */
#ifndef DWELL_RECORD_TIDS_H
#define DWELL_RECORD_TIDS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/array.h"

struct tid_slot {
	uint64_t exec_ns; /* time of its last COMM by exec */
	int32_t pid;	  /* 0 = not known */
	uint32_t comm;	  /* string id */
	bool declared;	  /* the trace has a THREAD or FORK record of this life */
	bool observed;	  /* a target */
	bool joined;	  /* ... that was none when it was born, or the recording began */
	uint64_t out_ns;  /* its last switch-out, 0 = it was switched in since */
	bool alive;
	bool kernel;	  /* one of the kernel's own */
	bool exiting;	  /* EXIT was seen: it is about to end */
	bool gone;	  /* /proc does not know it any more */
	uint32_t threads; /* of a leader's slot: living threads of its process */
	uint32_t births;  /* forks that got this tid; tells its lives apart */
};

/* Inside a pid namespace tracepoints name threads by tids of the root namespace. Such a tid, until
 * its own one is learnt, stands above all real tids. */
enum { TID_ALIAS = 4 << 20 };

struct tids {
	struct tid_slot *slots;
	uint32_t room;
	uint32_t observed_alive;	/* threads */
	DWELL_ARRAY(uint32_t) observed; /* their tids, perhaps with some that ended */
};

/* Room for tids 0 .. max (a kernel's pid_max is at most 4,194,304). 0 or -ENOMEM. */
int tids_init(struct tids *tids);
void tids_release(struct tids *tids);

/* The slot of tid; slot 0 for tids that cannot be. */
static inline struct tid_slot *tids_slot(const struct tids *tids, uint32_t tid)
{
	return &tids->slots[tid < tids->room ? tid : 0];
}

/* A new life begins in the slot. 0 or -ENOMEM. */
int tids_begin(struct tids *tids, uint32_t tid, int32_t pid, bool observed);
/* A life's process, 0 so far, becomes known. */
void tids_learn(struct tids *tids, uint32_t tid, int32_t pid);
/* The life ends. True when it was the last thread of its process. */
bool tids_end(struct tids *tids, uint32_t tid);

/* The lives of two tids go on under each other's, as far as they are alive. 0 or -ENOMEM. */
int tids_exchange(struct tids *tids, uint32_t a, uint32_t b);
/* The one thread of process pid that is observed, alive and not exiting, the leader aside; 0 when
 * there is none, or not one alone. */
uint32_t tids_survivor(const struct tids *tids, int32_t pid);

/* The tids observed and alive, sorted; valid until the next begin. */
const uint32_t *tids_sorted(struct tids *tids, uint32_t *ret_count);

/* Sorts a list of tids and drops doubles; the number left. */
uint32_t tids_sort(uint32_t *tids, uint32_t count);

#endif
