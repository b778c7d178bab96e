/* SPDX-License-Identifier: MIT */
/* Traces in memory: header and blocks made by hand with right checksums, and a source that reads
 * from memory. For unit tests and fuzzing; out of memory aborts. */
#ifndef DWELL_TESTS_SYNTH_TRACE_H
#define DWELL_TESTS_SYNTH_TRACE_H

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "lib/array.h"
#include "lib/trace_format.h"
#include "lib/varint.h"
#include "parse/source_impl.h"
#include "parse/trace_reader.h"
#include "tests/synth/memory.h"

/* Bytes of a trace, or of a payload. Release with dwell_array_release(). */
struct blob {
	uint8_t *data;
	uint32_t count, room;
};

static inline void blob_put(struct blob *blob, const void *bytes, size_t count)
{
	if (dwell_array_reserve(blob, (uint64_t)blob->count + count))
		abort();
	if (count)
		memcpy(blob->data + blob->count, bytes, count);
	blob->count += (uint32_t)count;
}

static inline void blob_varint(struct blob *blob, uint64_t value)
{
	uint8_t bytes[DWELL_VARINT_MAX_BYTES];

	blob_put(blob, bytes, (size_t)(dwell_varint_put(bytes, value) - bytes));
}

static inline void blob_text(struct blob *blob, const char *text)
{
	blob_varint(blob, strlen(text));
	blob_put(blob, text, strlen(text));
}

static inline struct dwell_trace_header trace_header(void)
{
	return (struct dwell_trace_header){ .magic = DWELL_TRACE_MAGIC_BYTES,
					    .version = DWELL_TRACE_VERSION,
					    .header_bytes = sizeof(struct dwell_trace_header),
					    .byte_order = DWELL_TRACE_BYTE_ORDER,
					    .clockid = 1 };
}

static inline void blob_header(struct blob *blob, struct dwell_trace_header header)
{
	header.crc32 = (uint32_t)crc32(0, (const Bytef *)&header,
				       offsetof(struct dwell_trace_header, crc32));
	blob_put(blob, &header, sizeof(header));
}

/* A block as it stands in the file: stored bytes, and how many it claims to be unpacked. */
static inline void blob_block(struct blob *blob, uint8_t type, uint8_t flags, const void *stored,
			      uint32_t stored_bytes, uint32_t raw_bytes)
{
	struct dwell_trace_block block = { .magic = DWELL_TRACE_BLOCK_MAGIC,
					   .type = type,
					   .flags = flags,
					   .stored_bytes = stored_bytes,
					   .raw_bytes = raw_bytes };

	block.payload_crc32 = (uint32_t)crc32(0, stored, (uInt)stored_bytes);
	block.header_crc32 = (uint32_t)crc32(0, (const Bytef *)&block,
					     offsetof(struct dwell_trace_block, header_crc32));
	blob_put(blob, &block, sizeof(block));
	blob_put(blob, stored, stored_bytes);
}

/* Writes payload as a raw block and empties it. */
static inline void blob_flush(struct blob *blob, uint8_t type, struct blob *payload)
{
	blob_block(blob, type, 0, payload->count ? (const void *)payload->data : "", payload->count,
		   payload->count);
	payload->count = 0;
}

/* Opens a trace in memory as dwell_source_open() would a file; input must outlive the source. */
static inline int memory_open(struct memory_input *input, struct dwell_source **ret_source,
			      struct dwell_err *err)
{
	struct trace_input reader = { memory_read, input };
	struct dwell_source *source = source_new();
	uint32_t head_bytes = input->bytes < 16 ? (uint32_t)input->bytes : 16;
	int rc;

	if (!source)
		abort();
	source->info.file_bytes = input->bytes;
	input->at = head_bytes;
	rc = trace_source_open_input(source, &reader,
				     head_bytes ? input->data : (const uint8_t *)"", head_bytes,
				     err);
	if (rc)
		dwell_source_close(source);
	else
		*ret_source = source;
	return rc;
}

#endif
