// SPDX-License-Identifier: MIT
/* Strings become ids: bytes are kept once in chunked memory and found again through a table of
 * ids hashed with a seed of this process, since names come from strangers. */
#include "lib/strings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "lib/array.h"
#include "lib/hash.h"

enum { CHUNK_BYTES = 64 << 10 };

struct string_entry {
	const char *text;
	uint32_t bytes, hash;
};

struct dwell_strings {
	DWELL_ARRAY(struct string_entry) entries;
	DWELL_ARRAY(char *) chunks;
	size_t chunk_left;
	char *chunk_at;
	uint32_t *slots, mask; /* ids; 0 = free */
	uint64_t seed;
};

uint64_t dwell_hash_seed(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed)) {
		struct timespec now;

		clock_gettime(CLOCK_MONOTONIC, &now);
		seed = dwell_hash_pair((uint64_t)now.tv_nsec, (uintptr_t)&seed);
	}
	return seed;
}

struct dwell_strings *dwell_strings_new(void)
{
	struct dwell_strings *strings = calloc(1, sizeof(*strings));

	if (!strings)
		return NULL;
	strings->seed = dwell_hash_seed();
	strings->mask = 255;
	strings->slots = calloc(strings->mask + 1, sizeof(*strings->slots));
	if (!strings->slots || dwell_array_grow(&strings->entries)) {
		dwell_strings_free(strings);
		return NULL;
	}
	strings->entries.data[strings->entries.count++] = (struct string_entry){ "", 0, 0 };
	return strings;
}

void dwell_strings_free(struct dwell_strings *strings)
{
	if (!strings)
		return;
	for (uint32_t i = 0; i < strings->chunks.count; i++)
		free(strings->chunks.data[i]);
	dwell_array_release(&strings->chunks);
	dwell_array_release(&strings->entries);
	free(strings->slots);
	free(strings);
}

static int strings_rehash(struct dwell_strings *strings)
{
	uint32_t mask = strings->mask * 2 + 1;
	uint32_t *slots;

	if (strings->mask > UINT32_MAX / 8)
		return -ENOMEM;
	slots = calloc((size_t)mask + 1, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (uint32_t id = 1; id < strings->entries.count; id++) {
		uint32_t i = strings->entries.data[id].hash & mask;

		while (slots[i])
			i = (i + 1) & mask;
		slots[i] = id;
	}
	free(strings->slots);
	strings->slots = slots;
	strings->mask = mask;
	return 0;
}

/* A NUL-terminated copy of text that lives as long as strings; NULL when out of memory. */
static char *strings_copy(struct dwell_strings *strings, const char *text, size_t bytes)
{
	char *copy;

	if (strings->chunk_left < bytes + 1) {
		size_t chunk_bytes = bytes + 1 > CHUNK_BYTES ? bytes + 1 : CHUNK_BYTES;

		if (dwell_array_grow(&strings->chunks))
			return NULL;
		copy = malloc(chunk_bytes);
		if (!copy)
			return NULL;
		strings->chunks.data[strings->chunks.count++] = copy;
		strings->chunk_at = copy;
		strings->chunk_left = chunk_bytes;
	}
	copy = strings->chunk_at;
	memcpy(copy, text, bytes);
	copy[bytes] = '\0';
	strings->chunk_at += bytes + 1;
	strings->chunk_left -= bytes + 1;
	return copy;
}

/* The slot of a text, or the free one where it belongs. */
static uint32_t slot_find(const struct dwell_strings *strings, const char *text, size_t bytes,
			  uint32_t hash)
{
	uint32_t i, id;

	for (i = hash & strings->mask; (id = strings->slots[i]); i = (i + 1) & strings->mask) {
		const struct string_entry *e = &strings->entries.data[id];

		if (e->hash == hash && e->bytes == bytes && !memcmp(e->text, text, bytes))
			break;
	}
	return i;
}

bool dwell_strings_find(const struct dwell_strings *strings, const char *text, size_t bytes,
			uint32_t *ret_id)
{
	uint32_t i;

	bytes = strnlen(text, bytes);
	if (bytes) {
		i = slot_find(strings, text, bytes,
			      (uint32_t)dwell_hash_bytes(text, bytes, strings->seed));
		if (!strings->slots[i])
			return false;
	}
	*ret_id = bytes ? strings->slots[i] : 0;
	return true;
}

int dwell_strings_add(struct dwell_strings *strings, const char *text, size_t bytes,
		      uint32_t *ret_id)
{
	uint32_t hash, i, id;
	char *copy;

	bytes = strnlen(text, bytes);
	if (bytes == 0) {
		*ret_id = 0;
		return 0;
	}
	if (bytes > UINT32_MAX / 2)
		return -ENOMEM;
	hash = (uint32_t)dwell_hash_bytes(text, bytes, strings->seed);
	i = slot_find(strings, text, bytes, hash);
	if (strings->slots[i]) {
		*ret_id = strings->slots[i];
		return 0;
	}
	if (dwell_array_grow(&strings->entries))
		return -ENOMEM;
	copy = strings_copy(strings, text, bytes);
	if (!copy)
		return -ENOMEM;
	id = strings->entries.count++;
	strings->entries.data[id] = (struct string_entry){ copy, (uint32_t)bytes, hash };
	strings->slots[i] = id;
	*ret_id = id;
	if (strings->entries.count > strings->mask / 4 * 3)
		return strings_rehash(strings);
	return 0;
}

const char *dwell_strings_get(const struct dwell_strings *strings, uint32_t id)
{
	return id < strings->entries.count ? strings->entries.data[id].text : "";
}

uint32_t dwell_strings_count(const struct dwell_strings *strings)
{
	return strings->entries.count;
}
