/* SPDX-License-Identifier: MIT */
/* Variable-length integers (LEB128: 7 bits a byte, low first) and zigzag for signed values, as
 * used in trace payloads. */
#ifndef DWELL_LIB_VARINT_H
#define DWELL_LIB_VARINT_H

#include <stdbool.h>
#include <stdint.h>

enum { DWELL_VARINT_MAX_BYTES = 10 };

/* Writes value at out (room for DWELL_VARINT_MAX_BYTES); returns the byte after it. */
static inline uint8_t *dwell_varint_put(uint8_t *out, uint64_t value)
{
	while (value >= 0x80) {
		*out++ = (uint8_t)value | 0x80;
		value >>= 7;
	}
	*out++ = (uint8_t)value;
	return out;
}

static inline uint64_t dwell_zigzag(int64_t value)
{
	return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

static inline int64_t dwell_unzigzag(uint64_t value)
{
	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* A cursor over bytes that are not trusted. Reading past the end, or a varint of more than 64
 * bits, sets `bad` and yields 0 from then on: decode everything, then look at bad once. */
struct dwell_cursor {
	const uint8_t *at, *end;
	bool bad;
};

static inline uint64_t dwell_cursor_varint(struct dwell_cursor *c)
{
	uint64_t value = 0;

	for (unsigned shift = 0; c->at < c->end && shift < 64; shift += 7) {
		uint8_t byte = *c->at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			if (shift == 63 && byte > 1)
				break;
			return value;
		}
	}
	c->bad = true;
	c->at = c->end;
	return 0;
}

static inline uint32_t dwell_cursor_u32(struct dwell_cursor *c)
{
	uint64_t value = dwell_cursor_varint(c);

	if (value > UINT32_MAX) {
		c->bad = true;
		c->at = c->end;
		return 0;
	}
	return (uint32_t)value;
}

static inline int64_t dwell_cursor_svarint(struct dwell_cursor *c)
{
	return dwell_unzigzag(dwell_cursor_varint(c));
}

static inline uint8_t dwell_cursor_byte(struct dwell_cursor *c)
{
	if (c->at < c->end)
		return *c->at++;
	c->bad = true;
	return 0;
}

/* The next `bytes` bytes, or NULL (and bad) when there are fewer. */
static inline const uint8_t *dwell_cursor_bytes(struct dwell_cursor *c, uint64_t bytes)
{
	const uint8_t *p = c->at;

	if (bytes > (uint64_t)(c->end - c->at)) {
		c->bad = true;
		c->at = c->end;
		return 0;
	}
	c->at += bytes;
	return p;
}

#endif
