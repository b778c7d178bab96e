/* SPDX-License-Identifier: MIT */
/* What the recorder knows of each tid at the moment: one slot per possible tid, in memory that is
 * only touched where tids exist. */
#ifndef DWELL_RECORD_TIDS_H
#define DWELL_RECORD_TIDS_H

#include <stdbool.h>
#include <stdint.h>

struct tid_slot {
	uint64_t exec_ns;     /* time of its last COMM by exec */
	uint64_t switches_in; /* switch-ins parsed since count_base was read */
	uint64_t count_base;  /* schedstat's count when parsing began */
	int32_t pid;	      /* 0 = not known */
	uint32_t comm;	      /* string id */
	bool declared;	      /* the trace has a THREAD or FORK record of this life */
	bool observed;	      /* a target */
	bool counted;	      /* count_base is known */
	bool alive;
};

struct tids {
	struct tid_slot *slots;
	uint32_t room;
	uint32_t observed_alive; /* threads */
};

/* Room for tids 0 .. max (a kernel's pid_max is at most 4,194,304). 0 or -ENOMEM. */
int tids_init(struct tids *tids);
void tids_release(struct tids *tids);

/* The slot of tid; slot 0 for tids that cannot be. */
static inline struct tid_slot *tids_slot(const struct tids *tids, uint32_t tid)
{
	return &tids->slots[tid < tids->room ? tid : 0];
}

/* A new life begins in the slot. */
void tids_begin(struct tids *tids, uint32_t tid, int32_t pid, bool observed);
/* The life ends. */
void tids_end(struct tids *tids, uint32_t tid);

#endif
