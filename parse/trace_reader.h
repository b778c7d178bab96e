/* SPDX-License-Identifier: MIT */
/* Bytes of dwell.data become checked blocks: header, magic, lengths, checksums, decompression.
 * Memory is bounded by the format's limits whatever the bytes say. */
#ifndef DWELL_PARSE_TRACE_READER_H
#define DWELL_PARSE_TRACE_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"
#include "lib/trace_format.h"

/* Where bytes come from: a file, a pipe, a buffer in tests. */
struct trace_input {
	/* Reads up to count bytes, fewer only at the end. The number read, or -errno. */
	int64_t (*read)(void *user, void *bytes, uint64_t count);
	void *user;
};

struct trace_block {
	enum dwell_trace_block_type type;
	uint64_t offset;     /* of the block in the file */
	const uint8_t *data; /* payload, decompressed; valid until the next call */
	uint32_t bytes;
};

struct trace_reader; /* opaque */

/* Reads and checks the file header; `head` are the first head_bytes bytes, read already to tell the
 * format. 0, or -EINVAL (not usable, with the reason), -errno, -ENOMEM. */
int trace_reader_new(const struct trace_input *input, const uint8_t *head, uint32_t head_bytes,
		     struct trace_reader **ret_reader, struct dwell_err *err);
void trace_reader_free(struct trace_reader *reader);

/* The next block: 1; 0 at the end, where a cut or damaged file ends too (see the two below);
 * -errno with err set when reading failed or the file needs a newer dwell. */
int trace_reader_next(struct trace_reader *reader, struct trace_block *ret_block,
		      struct dwell_err *err);

/* After next() returned 0: did it stop at bytes that cannot be right, and where? Otherwise the file
 * simply ends there. */
bool trace_reader_damaged(const struct trace_reader *reader);
uint64_t trace_reader_offset(const struct trace_reader *reader);
/* Bytes at the end that do not make a whole block (cut), as far as they were read. */
uint64_t trace_reader_tail_bytes(const struct trace_reader *reader);
/* Pins the payload of the last block: it becomes the caller's malloc'd memory. */
uint8_t *trace_reader_take(struct trace_reader *reader);

#endif
