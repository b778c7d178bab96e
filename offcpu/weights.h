/* SPDX-License-Identifier: MIT */
/* Sums of weights by (group, stack): a hash table whose entries are the sums, so that a sample
 * touches one cache line. */
#ifndef DWELL_OFFCPU_WEIGHTS_H
#define DWELL_OFFCPU_WEIGHTS_H

#include <stdint.h>

struct dwell_weights_entry {
	uint64_t key; /* group << 32 | stack */
	uint64_t weight;
	uint64_t samples; /* 0 = free */
};

/* Zero-initialised it is empty. Owns entries; open addressing, at most 3/4 full. */
struct dwell_weights {
	struct dwell_weights_entry *entries;
	uint32_t count, mask; /* mask + 1 entries when that is not NULL */
};

/* Adds a sample. Sums must not exceed 64 bits: the caller sees to that. 0 or -ENOMEM. */
int dwell_weights_add(struct dwell_weights *weights, uint32_t group, uint32_t stack,
		      uint64_t weight);
void dwell_weights_release(struct dwell_weights *weights);

#endif
