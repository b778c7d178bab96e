/* SPDX-License-Identifier: MIT */
/* Bytes of a perf.data in the recorder's byte order become numbers and strings of this machine:
 * single loads, and a cursor that goes bad instead of past the end. */
#ifndef PARSE_PERF_BYTES_H
#define PARSE_PERF_BYTES_H

#include <byteswap.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t load_u16(const uint8_t *at, bool swapped)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return swapped ? bswap_16(value) : value;
}

static inline uint32_t load_u32(const uint8_t *at, bool swapped)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return swapped ? bswap_32(value) : value;
}

static inline uint64_t load_u64(const uint8_t *at, bool swapped)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return swapped ? bswap_64(value) : value;
}

/* Reading past the end sets `bad` and yields 0 from then on: decode everything, then look once. */
struct bytes {
	const uint8_t *at, *end;
	bool swapped, bad;
};

static inline uint64_t bytes_left(const struct bytes *bytes)
{
	return (uint64_t)(bytes->end - bytes->at);
}

/* The next count bytes, or NULL (and bad) when there are fewer. */
static inline const uint8_t *bytes_take(struct bytes *bytes, uint64_t count)
{
	const uint8_t *at = bytes->at;

	if (count > bytes_left(bytes)) {
		bytes->bad = true;
		bytes->at = bytes->end;
		return NULL;
	}
	bytes->at += count;
	return at;
}

static inline uint8_t bytes_u8(struct bytes *bytes)
{
	const uint8_t *at = bytes_take(bytes, 1);

	return at ? *at : 0;
}

static inline uint32_t bytes_u32(struct bytes *bytes)
{
	const uint8_t *at = bytes_take(bytes, 4);

	return at ? load_u32(at, bytes->swapped) : 0;
}

static inline uint64_t bytes_u64(struct bytes *bytes)
{
	const uint8_t *at = bytes_take(bytes, 8);

	return at ? load_u64(at, bytes->swapped) : 0;
}

/* A NUL-terminated string, or NULL (and bad) when no NUL follows. */
static inline const char *bytes_text(struct bytes *bytes)
{
	const uint8_t *at = bytes->at, *nul = memchr(at, 0, bytes_left(bytes));

	if (!nul) {
		bytes->bad = true;
		bytes->at = bytes->end;
		return NULL;
	}
	bytes->at = nul + 1;
	return (const char *)at;
}

#endif
