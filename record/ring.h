/* SPDX-License-Identifier: MIT */
/* A perf ring buffer: the kernel writes records, we read up to a noted head and give the space
 * back. Works over any block of memory laid out so, hence tests need no kernel. */
#ifndef DWELL_RECORD_RING_H
#define DWELL_RECORD_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

enum { RING_RECORD_MAX_BYTES = 1 << 16 };

struct ring {
	struct perf_event_mmap_page *page; /* NULL = not mapped */
	uint8_t *data;
	uint64_t data_bytes; /* a power of two */
	uint64_t head;	     /* noted by ring_note() */
	uint64_t tail;	     /* read so far */
	uint8_t *scratch;    /* for a record that wraps; RING_RECORD_MAX_BYTES, owned */
	bool broken;	     /* a header that cannot be: reading of this ring stopped */
};

/* Maps data_bytes (a power of two) of fd. 0 or -errno. */
int ring_map(struct ring *ring, int fd, uint64_t data_bytes);
/* Lays a ring over memory of the caller's: page, then data. For tests. 0 or -ENOMEM. */
int ring_wrap(struct ring *ring, void *page, void *data, uint64_t data_bytes);
void ring_unmap(struct ring *ring);

/* Notes how far the kernel has written. */
void ring_note(struct ring *ring);

/* The next record before the noted head, contiguous and 8-byte aligned, valid until the next call;
 * NULL when there is none. Does not consume: ring_consume() does. */
const struct perf_event_header *ring_peek(struct ring *ring);
void ring_consume(struct ring *ring, const struct perf_event_header *record);

/* Gives the space read so far back to the kernel. */
void ring_release(struct ring *ring);

#endif
