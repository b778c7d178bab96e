/* SPDX-License-Identifier: MIT */
/* How large the rings may be. Sizes are of the data, without the page of head and tail. */
#ifndef DWELL_RECORD_RINGSIZE_H
#define DWELL_RECORD_RINGSIZE_H

#include <stdint.h>

enum {
	/* A thread's life takes some 150 bytes of a side ring, a program's some 1.5 kB. */
	SIDE_RING_MIN_BYTES = 512 << 10,
	SIDE_RING_MAX_BYTES = 4 << 20,
	RING_MAX_BYTES = 8 << 20,
	RING_MAX_BYTES_COPIES = 32 << 20, /* where each event brings kilobytes of stack */
	RING_MIN_BYTES_COPIES = 4 << 20,  /* some 500 events */
	RING_MIN_BYTES = 64 << 10,
	/* All rings together take at most this part of the memory that is available. */
	RING_MEMORY_PART = 16,
};

/* The size of the side ring of each of `cpus` CPUs, a power of two: what memory allows. */
uint64_t ring_side_bytes_choose(uint32_t cpus);

/* The size of the main ring of each of `cpus` CPUs, a power of two: `wanted`, or if that is 0 what
 * memory allows, max_bytes at most; never more than what may be locked beside a side ring of
 * side_bytes (0 = none). */
uint64_t ring_bytes_choose(uint64_t wanted, uint64_t max_bytes, uint32_t cpus, uint64_t side_bytes);

#endif
