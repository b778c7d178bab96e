/* SPDX-License-Identifier: MIT */
/* What the parts of the trace writer share: records become bytes (trace_encode.c), tables become
 * definitions (trace_defs.c), and trace_writer.c puts both into blocks. */
#ifndef DWELL_RECORD_TRACE_WRITER_IMPL_H
#define DWELL_RECORD_TRACE_WRITER_IMPL_H

#include <string.h>
#include <zstd.h>

#include "lib/array.h"
#include "lib/varint.h"
#include "record/trace_writer.h"

enum {
	TRACE_BLOCK_TARGET_BYTES = 512 << 10, /* flush when this much is buffered */
	/* No section or round is cut off later than this: leaves room for one more record. */
	TRACE_ROUND_MAX_BYTES = DWELL_TRACE_RAW_MAX_BYTES / 2,
	TRACE_WINDOW = 8, /* records held back per CPU to sort nested interrupts */
};

typedef DWELL_ARRAY(uint8_t) bytes_t;
typedef DWELL_ARRAY(uint32_t) ids_t;

/* Records of a CPU that go into the file in one piece. */
struct cpu_section {
	uint64_t base_ns;
	uint32_t offset; /* in the stream's bytes; ends where the next section begins */
};

struct cpu_stream {
	bytes_t bytes;
	DWELL_ARRAY(struct cpu_section) sections;
	uint64_t last_ns; /* of the last section */
	uint32_t current; /* tid that runs on the CPU, as far as the last section tells */
	struct trace_record window[TRACE_WINDOW];
	uint32_t held;
};

struct side_record {
	uint64_t time_ns;
	uint32_t offset, bytes, order; /* in side_bytes */
};

struct trace_writer {
	int fd;
	bool may_cut;	  /* the file is our own from its first byte */
	bool unhurried;	  /* no event waits any more: what is left is packed well */
	bool failed;	  /* a block was lost: what refers to it must not be written */
	uint64_t written; /* file offset of the end of the last whole block */
	struct dwell_strings *strings;
	struct dwell_stacks *stacks;
	uint32_t strings_done, files_done, frames_done, nodes_done; /* ids written */
	ids_t symbols, placed, build_ids; /* frames and files that gained theirs late */
	uint64_t horizon_ns;		  /* the last one promised */
	struct cpu_stream *cpus;
	uint32_t cpu_count;
	bytes_t side_bytes, info, events, coverage;
	bytes_t sorted, payload, packed; /* one block's way: records of no CPU, raw, stored */
	DWELL_ARRAY(struct side_record) side;
	uint32_t side_held; /* of side_bytes: held back by the last flush */
	ZSTD_CCtx *zstd;
};

static inline int bytes_add(bytes_t *out, const void *bytes, size_t count)
{
	int rc = dwell_array_reserve(out, (uint64_t)out->count + count);

	if (rc)
		return rc;
	memcpy(out->data + out->count, bytes, count);
	out->count += (uint32_t)count;
	return 0;
}

static inline int bytes_text(bytes_t *out, const char *text, size_t count)
{
	uint8_t head[DWELL_VARINT_MAX_BYTES];
	int rc = bytes_add(out, head, (size_t)(dwell_varint_put(head, count) - head));

	return rc ? rc : bytes_add(out, text, count);
}

static inline int bytes_varint(bytes_t *out, uint64_t value)
{
	uint8_t head[DWELL_VARINT_MAX_BYTES];

	return bytes_add(out, head, (size_t)(dwell_varint_put(head, value) - head));
}

/* Appends a record to the CPU's open section. 0 or -ENOMEM. */
int trace_encode(struct trace_writer *writer, uint32_t cpu, const struct trace_record *record);

/* Writes payload as a block if there is any, and empties it. 0, or -errno with err set. */
int trace_block_flush(struct trace_writer *writer, enum dwell_trace_block_type type,
		      bytes_t *payload, struct dwell_err *err);

/* Writes everything the tables gained since the last flush. 0, or -errno with err set. */
int trace_defs_flush(struct trace_writer *writer, struct dwell_err *err);

#endif
