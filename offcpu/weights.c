// SPDX-License-Identifier: MIT
/* Samples become sums by linear probing. */
#include "offcpu/weights.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/hash.h"

/* The entry of key, or the free one where it belongs. */
static struct dwell_weights_entry *entry_find(const struct dwell_weights *weights, uint64_t key)
{
	uint32_t i = (uint32_t)dwell_hash_u64(key) & weights->mask;

	while (weights->entries[i].samples && weights->entries[i].key != key)
		i = (i + 1) & weights->mask;
	return &weights->entries[i];
}

static int weights_widen(struct dwell_weights *weights)
{
	uint64_t room = weights->entries ? 2 * ((uint64_t)weights->mask + 1) : 64;
	struct dwell_weights wider = { .count = weights->count, .mask = (uint32_t)room - 1 };

	if (room > 1u << 31)
		return -ENOMEM;
	wider.entries = calloc(room, sizeof(*wider.entries));
	if (!wider.entries)
		return -ENOMEM;
	for (uint64_t i = 0; weights->entries && i <= weights->mask; i++)
		if (weights->entries[i].samples)
			*entry_find(&wider, weights->entries[i].key) = weights->entries[i];
	free(weights->entries);
	*weights = wider;
	return 0;
}

int dwell_weights_add(struct dwell_weights *weights, uint32_t group, uint32_t stack,
		      uint64_t weight)
{
	struct dwell_weights_entry *entry;

	if (!weights->entries ||
	    (uint64_t)weights->count * 4 >= ((uint64_t)weights->mask + 1) * 3) {
		int rc = weights_widen(weights);

		if (rc)
			return rc;
	}
	entry = entry_find(weights, (uint64_t)group << 32 | stack);
	weights->count += !entry->samples;
	entry->key = (uint64_t)group << 32 | stack;
	entry->weight += weight;
	entry->samples++;
	return 0;
}

void dwell_weights_release(struct dwell_weights *weights)
{
	free(weights->entries);
	*weights = (struct dwell_weights){ 0 };
}
