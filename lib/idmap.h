/* SPDX-License-Identifier: MIT */
/* A hash map from u64 keys to u32 values: open addressing, linear probing, at most 3/4 full.
 * Any key is allowed; the value 0 is reserved for "absent". */
#ifndef DWELL_LIB_IDMAP_H
#define DWELL_LIB_IDMAP_H

#include <stdint.h>

struct dwell_idmap_slot {
	uint64_t key;
	uint32_t value; /* 0 = free */
};

/* Zero-initialised it is empty. Owns slots. */
struct dwell_idmap {
	struct dwell_idmap_slot *slots;
	uint32_t count, mask; /* mask + 1 slots when slots is not NULL */
};

void dwell_idmap_release(struct dwell_idmap *map);

/* The value of key, or 0. */
uint32_t dwell_idmap_find(const struct dwell_idmap *map, uint64_t key);

/* Sets key to value (not 0), replacing an older value. 0 or -ENOMEM. */
int dwell_idmap_set(struct dwell_idmap *map, uint64_t key, uint32_t value);

/* Removes key if present. */
void dwell_idmap_remove(struct dwell_idmap *map, uint64_t key);

#endif
