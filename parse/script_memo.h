/* SPDX-License-Identifier: MIT */
/* Byte strings become small ids, the same ones when they come again: what makes perf-script text
 * fast, since a few thousand lines make up gigabytes of it. */
#ifndef DWELL_PARSE_SCRIPT_MEMO_H
#define DWELL_PARSE_SCRIPT_MEMO_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "lib/array.h"
#include "lib/hash.h"

struct memo_entry {
	const char *at;
	uint32_t bytes;
};

/* tag: upper half of the hash; id 0 = free. */
struct memo_slot {
	uint32_t tag, id;
};

/* Owns all of it. Ids count up from 1. */
struct memo {
	struct memo_slot *slots; /* mask + 1, at most half taken */
	uint32_t mask;
	uint64_t seed;
	uint64_t bytes; /* of memory taken */
	char *chunk_at;
	uint32_t chunk_left;
	DWELL_ARRAY(struct memo_entry) entries; /* id - 1 */
	DWELL_ARRAY(char *) chunks;
};

/* 0 or -ENOMEM; release in any case. */
int memo_init(struct memo *memo, uint64_t seed);
void memo_release(struct memo *memo);
/* Forgets everything, and gives the memory back. 0 or -ENOMEM. */
int memo_reset(struct memo *memo);

/* Adds what memo_find() did not find: the new id, or 0 when out of memory. */
uint32_t memo_add(struct memo *memo, const void *bytes, uint32_t count, uint64_t hash);

static inline uint64_t memo_hash(const struct memo *memo, const void *bytes, uint32_t count)
{
	return dwell_hash_bytes(bytes, count, memo->seed);
}

/* The id, or 0. */
static inline uint32_t memo_find(const struct memo *memo, const void *bytes, uint32_t count,
				 uint64_t hash)
{
	uint32_t tag = (uint32_t)(hash >> 32), i = (uint32_t)hash & memo->mask;

	for (; memo->slots[i].id; i = (i + 1) & memo->mask) {
		const struct memo_entry *e;

		if (memo->slots[i].tag != tag)
			continue;
		e = &memo->entries.data[memo->slots[i].id - 1];
		if (e->bytes == count && !memcmp(e->at, bytes, count))
			return memo->slots[i].id;
	}
	return 0;
}

#endif
