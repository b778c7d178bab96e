// SPDX-License-Identifier: MIT
/* Byte strings become ids: copies in chunked memory behind a table of hashes that is at most half
 * full. */
#include "parse/script_memo.h"

enum { CHUNK_BYTES = 64 << 10, SLOTS_FIRST = 1 << 10 };

static int slots_init(struct memo *memo, uint64_t slots)
{
	struct memo_slot *data = calloc(slots, sizeof(*data));

	if (!data)
		return -ENOMEM;
	free(memo->slots);
	memo->slots = data;
	memo->mask = (uint32_t)(slots - 1);
	return 0;
}

int memo_init(struct memo *memo, uint64_t seed)
{
	memo->seed = seed;
	return slots_init(memo, SLOTS_FIRST);
}

static void strings_release(struct memo *memo)
{
	for (uint32_t i = 0; i < memo->chunks.count; i++)
		free(memo->chunks.data[i]);
	dwell_array_release(&memo->chunks);
	dwell_array_release(&memo->entries);
	memo->chunk_left = 0;
	memo->bytes = 0;
}

void memo_release(struct memo *memo)
{
	strings_release(memo);
	free(memo->slots);
	memo->slots = NULL;
}

int memo_reset(struct memo *memo)
{
	strings_release(memo);
	return slots_init(memo, SLOTS_FIRST);
}

static void slots_put(struct memo *memo, uint64_t hash, uint32_t id)
{
	uint32_t i = (uint32_t)hash & memo->mask;

	while (memo->slots[i].id)
		i = (i + 1) & memo->mask;
	memo->slots[i] = (struct memo_slot){ (uint32_t)(hash >> 32), id };
}

static int slots_grow(struct memo *memo)
{
	uint64_t slots = 2 * ((uint64_t)memo->mask + 1);

	if (memo->entries.count <= memo->mask / 2)
		return 0;
	if (slots > 1u << 30 || slots_init(memo, slots))
		return -ENOMEM;
	for (uint32_t id = 1; id <= memo->entries.count; id++) {
		const struct memo_entry *e = &memo->entries.data[id - 1];

		slots_put(memo, memo_hash(memo, e->at, e->bytes), id);
	}
	return 0;
}

/* A copy that lives until the memo is reset; NULL when out of memory. */
static const char *string_keep(struct memo *memo, const void *bytes, uint32_t count)
{
	char *copy;

	if (!count)
		return "";
	if (memo->chunk_left < count) {
		uint32_t room = count > CHUNK_BYTES ? count : CHUNK_BYTES;

		if (dwell_array_grow(&memo->chunks))
			return NULL;
		copy = malloc(room);
		if (!copy)
			return NULL;
		memo->chunks.data[memo->chunks.count++] = copy;
		memo->chunk_at = copy;
		memo->chunk_left = room;
		memo->bytes += room;
	}
	copy = memo->chunk_at;
	memcpy(copy, bytes, count);
	memo->chunk_at += count;
	memo->chunk_left -= count;
	return copy;
}

uint32_t memo_add(struct memo *memo, const void *bytes, uint32_t count, uint64_t hash)
{
	const char *copy;

	if (dwell_array_grow(&memo->entries) || slots_grow(memo))
		return 0;
	copy = string_keep(memo, bytes, count);
	if (!copy)
		return 0;
	memo->bytes += sizeof(struct memo_entry) + 2 * sizeof(struct memo_slot);
	memo->entries.data[memo->entries.count++] = (struct memo_entry){ copy, count };
	slots_put(memo, hash, memo->entries.count);
	return memo->entries.count;
}
