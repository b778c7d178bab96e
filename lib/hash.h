/* SPDX-License-Identifier: MIT */
/* Hashing: 64-bit mixing for integer keys and byte strings. Not cryptographic; tables that take
 * keys from strangers seed it (dwell_hash_seed()). */
#ifndef DWELL_LIB_HASH_H
#define DWELL_LIB_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Folds the 128-bit product of a and b: one multiplication mixes every bit of both. */
static inline uint64_t dwell_hash_mix(uint64_t a, uint64_t b)
{
	__uint128_t product = (__uint128_t)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t dwell_hash_u64(uint64_t key)
{
	return dwell_hash_mix(key ^ 0x9e3779b97f4a7c15ull, 0xd6e8feb86659fd93ull);
}

static inline uint64_t dwell_hash_pair(uint64_t a, uint64_t b)
{
	return dwell_hash_mix(a ^ 0x9e3779b97f4a7c15ull, b ^ 0xd6e8feb86659fd93ull);
}

/* Hash of `count` 64-bit words, as in a callchain. */
static inline uint64_t dwell_hash_words(const uint64_t *words, size_t count, uint64_t seed)
{
	uint64_t h = seed ^ count;

	for (size_t i = 0; i < count; i++)
		h = dwell_hash_mix(h ^ words[i], 0x9fb21c651e98df25ull) + words[i];
	return h ^ (h >> 29);
}

static inline uint64_t dwell_hash_bytes(const void *bytes, size_t count, uint64_t seed)
{
	const unsigned char *p = bytes;
	uint64_t h = seed ^ (count * 0x9fb21c651e98df25ull), word;

	for (; count >= 8; p += 8, count -= 8) {
		memcpy(&word, p, 8);
		h = dwell_hash_mix(h ^ word, 0xd6e8feb86659fd93ull);
	}
	word = 0;
	memcpy(&word, p, count);
	return dwell_hash_mix(h ^ word, 0x9e3779b97f4a7c15ull);
}

/* A random seed for this process (getrandom, else the clock). */
uint64_t dwell_hash_seed(void);

#endif
