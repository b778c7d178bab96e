/* SPDX-License-Identifier: MIT */
/* Makes jit-PID.dump files for tests: records of code become the bytes of a file, of either byte
 * order. */
#ifndef DWELL_TESTS_UNIT_JITMAKE_H
#define DWELL_TESTS_UNIT_JITMAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { JITMAKE_ROOM = 1 << 17 };

struct jitmake {
	bool swapped;
	size_t used;
	uint8_t bytes[JITMAKE_ROOM];
};

static inline void jitmake_u32(struct jitmake *make, uint32_t value)
{
	if (make->swapped)
		value = __builtin_bswap32(value);
	memcpy(make->bytes + make->used, &value, sizeof(value));
	make->used += sizeof(value);
}

static inline void jitmake_u64(struct jitmake *make, uint64_t value)
{
	if (make->swapped)
		value = __builtin_bswap64(value);
	memcpy(make->bytes + make->used, &value, sizeof(value));
	make->used += sizeof(value);
}

static inline void jitmake_begin(struct jitmake *make, bool swapped, uint64_t flags)
{
	const uint32_t words[] = { 0x4a695444, 1, 40, 62, 0, 4711 };

	make->swapped = swapped;
	make->used = 0;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		jitmake_u32(make, words[i]);
	jitmake_u64(make, 1);
	jitmake_u64(make, flags);
}

static inline void jitmake_record(struct jitmake *make, uint32_t id, uint32_t bytes,
				  uint64_t time_ns)
{
	jitmake_u32(make, id);
	jitmake_u32(make, bytes);
	jitmake_u64(make, time_ns);
}

/* JIT_CODE_LOAD, with so many bytes of code behind the name. */
static inline void jitmake_load(struct jitmake *make, uint64_t time_ns, uint64_t address,
				uint64_t code_bytes, const char *name)
{
	jitmake_record(make, 0, (uint32_t)(56 + strlen(name) + 1 + code_bytes), time_ns);
	jitmake_u32(make, 4711);
	jitmake_u32(make, 4711);
	jitmake_u64(make, address);
	jitmake_u64(make, address);
	jitmake_u64(make, code_bytes);
	jitmake_u64(make, 0);
	memcpy(make->bytes + make->used, name, strlen(name) + 1);
	make->used += strlen(name) + 1;
	memset(make->bytes + make->used, 0x90, code_bytes);
	make->used += code_bytes;
}

static inline void jitmake_move(struct jitmake *make, uint64_t time_ns, uint64_t from, uint64_t to,
				uint64_t code_bytes)
{
	jitmake_record(make, 1, 64, time_ns);
	jitmake_u32(make, 4711);
	jitmake_u32(make, 4711);
	jitmake_u64(make, to);
	jitmake_u64(make, from);
	jitmake_u64(make, to);
	jitmake_u64(make, code_bytes);
	jitmake_u64(make, 0);
}

/* A record that tells of no code, with a body of so many bytes of 0xff. */
static inline void jitmake_other(struct jitmake *make, uint32_t id, uint32_t body_bytes)
{
	jitmake_record(make, id, 16 + body_bytes, 5);
	memset(make->bytes + make->used, 0xff, body_bytes);
	make->used += body_bytes;
}

#endif
