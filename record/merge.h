/* SPDX-License-Identifier: MIT */
/* The rings of all CPUs as one stream of records in time order, so that what the recorder knows of
 * a thread is never ahead of the record at hand. */
#ifndef DWELL_RECORD_MERGE_H
#define DWELL_RECORD_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/array.h"
#include "record/ring.h"

/* The oldest record of a ring that is not taken yet. */
struct merge_head {
	uint64_t time_ns;
	const struct perf_event_header *record; /* valid until merge_pop() */
	struct ring *ring;
	uint32_t cpu;
	uint32_t taken; /* of this ring in this pass */
	bool side;
};

/* All zero = empty. */
struct merge {
	DWELL_ARRAY(struct merge_head) heap; /* a binary heap: the first is the earliest */
	uint64_t before_ns;
	uint32_t losing; /* side rings of which something older than their next record was lost */
};

/* Empties it; from now on records stamped before before_ns are taken. */
void merge_start(struct merge *merge, uint64_t before_ns);
/* Takes part with what the ring had when it was noted. 0 or -ENOMEM. */
int merge_add(struct merge *merge, struct ring *ring, uint32_t cpu, bool side);
/* The earliest record, at equal times a side ring's; NULL = no more. */
const struct merge_head *merge_peek(const struct merge *merge);
/* Is done with the earliest record; gives its room back to the kernel now and then. */
void merge_pop(struct merge *merge);
void merge_release(struct merge *merge);

#endif
