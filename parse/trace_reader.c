// SPDX-License-Identifier: MIT
/* A byte stream becomes blocks whose checksums hold. Reading stops at the first byte that cannot be
 * right: what came before is good, what comes after is not looked at. */
#include "parse/trace_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "lib/unzstd.h"

enum { STORED_MAX_BYTES = DWELL_TRACE_RAW_MAX_BYTES + (64 << 10) };

struct trace_reader {
	struct trace_input input;
	const uint8_t *head; /* bytes read ahead, not yet consumed */
	uint32_t head_left;
	uint8_t head_copy[sizeof(struct dwell_trace_header)];
	uint64_t offset, tail_bytes;
	bool damaged, ended;
	uint8_t *stored, *raw; /* raw may be taken away */
	struct dwell_unzstd *unzstd;
};

/* Reads up to count bytes, from the head first. */
static int64_t reader_read(struct trace_reader *reader, void *bytes, uint64_t count)
{
	uint64_t done = reader->head_left < count ? reader->head_left : count;
	int64_t n;

	memcpy(bytes, reader->head, done);
	reader->head += done;
	reader->head_left -= (uint32_t)done;
	if (done == count)
		return (int64_t)done;
	n = reader->input.read(reader->input.user, (uint8_t *)bytes + done, count - done);
	return n < 0 ? n : n + (int64_t)done;
}

static int header_check(const struct dwell_trace_header *header, struct dwell_err *err)
{
	static const uint8_t magic[] = DWELL_TRACE_MAGIC_BYTES;

	if (memcmp(header->magic, magic, sizeof(magic)))
		return dwell_err_set(err, -EINVAL, "not a dwell trace");
	if (header->byte_order != DWELL_TRACE_BYTE_ORDER)
		return dwell_err_set(
			err, -EINVAL,
			"the trace is of a byte order that this machine does not have");
	if (header->crc32 !=
	    crc32(0, (const Bytef *)header, offsetof(struct dwell_trace_header, crc32)))
		return dwell_err_set(err, -EINVAL, "the trace's header is damaged (checksum)");
	if (header->version == 0 || header->version > DWELL_TRACE_VERSION)
		return dwell_err_set(err, -EINVAL,
				     "the trace has format version %u, this dwell reads up to %u; "
				     "use a newer dwell",
				     header->version, (unsigned)DWELL_TRACE_VERSION);
	if (header->must_understand)
		return dwell_err_set(err, -EINVAL,
				     "the trace uses features (0x%llx) that this dwell does not "
				     "know; use a newer dwell",
				     (unsigned long long)header->must_understand);
	if (header->header_bytes != sizeof(*header))
		return dwell_err_set(err, -EINVAL, "the trace's header has a length of %u bytes",
				     header->header_bytes);
	return 0;
}

int trace_reader_new(const struct trace_input *input, const uint8_t *head, uint32_t head_bytes,
		     struct trace_reader **ret_reader, struct dwell_err *err)
{
	struct trace_reader *reader = calloc(1, sizeof(*reader));
	struct dwell_trace_header header;
	int64_t n;
	int rc = -ENOMEM;

	if (!reader)
		return dwell_err_sys(err, -ENOMEM, "cannot read the trace");
	reader->input = *input;
	reader->head_left =
		head_bytes < sizeof(reader->head_copy) ? head_bytes : sizeof(reader->head_copy);
	memcpy(reader->head_copy, head, reader->head_left);
	reader->head = reader->head_copy;
	reader->stored = malloc(STORED_MAX_BYTES);
	reader->unzstd = dwell_unzstd_new();
	if (!reader->stored || !reader->unzstd) {
		dwell_err_sys(err, rc, "cannot read the trace");
		goto fail;
	}
	n = reader_read(reader, &header, sizeof(header));
	if (n < 0) {
		rc = dwell_err_sys(err, (int)n, "cannot read the trace");
		goto fail;
	}
	if ((uint64_t)n < sizeof(header)) {
		rc = dwell_err_set(err, -EINVAL, "the trace is cut within its header");
		goto fail;
	}
	rc = header_check(&header, err);
	if (rc)
		goto fail;
	reader->offset = sizeof(header);
	*ret_reader = reader;
	return 0;
fail:
	trace_reader_free(reader);
	return rc;
}

void trace_reader_free(struct trace_reader *reader)
{
	if (!reader)
		return;
	free(reader->stored);
	free(reader->raw);
	dwell_unzstd_free(reader->unzstd);
	free(reader);
}

static int reader_stop(struct trace_reader *reader, bool damaged, uint64_t tail_bytes)
{
	reader->ended = true;
	reader->damaged = damaged;
	reader->tail_bytes = tail_bytes;
	return 0;
}

static bool block_header_good(const struct dwell_trace_block *block)
{
	if (block->magic != DWELL_TRACE_BLOCK_MAGIC ||
	    block->header_crc32 != crc32(0, (const Bytef *)block,
					 offsetof(struct dwell_trace_block, header_crc32)))
		return false;
	if (block->raw_bytes > DWELL_TRACE_RAW_MAX_BYTES || block->stored_bytes > STORED_MAX_BYTES)
		return false;
	if (block->flags & DWELL_TRACE_BLOCK_ZSTD)
		return block->raw_bytes / DWELL_TRACE_RATIO_MAX <= block->stored_bytes;
	return block->raw_bytes == block->stored_bytes;
}

/* The payload in reader->stored becomes reader->raw. */
static bool block_unpack(struct trace_reader *reader, const struct dwell_trace_block *block)
{
	if (!(block->flags & DWELL_TRACE_BLOCK_ZSTD)) {
		memcpy(reader->raw, reader->stored, block->raw_bytes);
		return true;
	}
	return dwell_unzstd_frame(reader->unzstd, reader->raw, block->raw_bytes, reader->stored,
				  block->stored_bytes) == block->raw_bytes;
}

int trace_reader_next(struct trace_reader *reader, struct trace_block *ret_block,
		      struct dwell_err *err)
{
	struct dwell_trace_block block;
	int64_t n;

	if (reader->ended)
		return 0;
	n = reader_read(reader, &block, sizeof(block));
	if (n < 0)
		return dwell_err_sys(err, (int)n, "cannot read the trace");
	if ((uint64_t)n < sizeof(block))
		return reader_stop(reader, false, (uint64_t)n);
	if (!block_header_good(&block))
		return reader_stop(reader, true, sizeof(block));
	n = reader_read(reader, reader->stored, block.stored_bytes);
	if (n < 0)
		return dwell_err_sys(err, (int)n, "cannot read the trace");
	if (n < block.stored_bytes)
		return reader_stop(reader, false, sizeof(block) + (uint64_t)n);
	if (block.payload_crc32 != crc32(0, reader->stored, (uInt)block.stored_bytes))
		return reader_stop(reader, true, sizeof(block) + block.stored_bytes);
	if ((block.flags & DWELL_TRACE_BLOCK_MUST_UNDERSTAND) &&
	    (block.type == 0 || block.type > DWELL_BLOCK_END))
		return dwell_err_set(err, -EINVAL,
				     "the trace has a block of type %u at byte %llu that this "
				     "dwell must understand and does not; use a newer dwell",
				     block.type, (unsigned long long)reader->offset);
	free(reader->raw);
	reader->raw = malloc(block.raw_bytes ? block.raw_bytes : 1);
	if (!reader->raw)
		return dwell_err_sys(err, -ENOMEM, "cannot read the trace");
	if (!block_unpack(reader, &block))
		return reader_stop(reader, true, sizeof(block) + block.stored_bytes);
	*ret_block =
		(struct trace_block){ block.type, reader->offset, reader->raw, block.raw_bytes };
	reader->offset += sizeof(block) + block.stored_bytes;
	return 1;
}

bool trace_reader_damaged(const struct trace_reader *reader)
{
	return reader->damaged;
}

uint64_t trace_reader_offset(const struct trace_reader *reader)
{
	return reader->offset;
}

uint64_t trace_reader_tail_bytes(const struct trace_reader *reader)
{
	return reader->tail_bytes;
}

uint8_t *trace_reader_take(struct trace_reader *reader)
{
	uint8_t *raw = reader->raw;

	reader->raw = NULL;
	return raw;
}
