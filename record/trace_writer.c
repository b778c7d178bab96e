// SPDX-License-Identifier: MIT
/* Sections, definitions and facts become checked, compressed blocks. Nothing is written that a
 * reader could not use at once. */
#include "record/trace_writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "lib/io.h"
#include "record/trace_file.h"
#include "record/trace_writer_impl.h"

enum {
	RAW_BELOW_BYTES = 96, /* smaller payloads are not worth compressing */
	ZSTD_LEVEL_MOST = 15, /* a quarter less, at 20 times the cost: when no event waits */
	ZSTD_LEVEL = 1,	      /* within 8 % of level 3 here, at a third of its cost */
	QUIET_ROUND_NS = 1000000000,
};

int trace_writer_new(uint32_t cpus, struct dwell_strings *strings, struct dwell_stacks *stacks,
		     struct trace_writer **ret_writer, struct dwell_err *err)
{
	struct trace_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return dwell_err_sys(err, -ENOMEM, "cannot start the trace");
	writer->fd = -1;
	writer->strings = strings;
	writer->stacks = stacks;
	writer->strings_done = writer->frames_done = writer->nodes_done = 1;
	writer->cpus = calloc(cpus, sizeof(*writer->cpus));
	writer->cpu_count = cpus;
	writer->zstd = ZSTD_createCCtx();
	if (!writer->cpus || !writer->zstd) {
		trace_writer_close(writer);
		return dwell_err_sys(err, -ENOMEM, "cannot start the trace");
	}
	*ret_writer = writer;
	return 0;
}

int trace_writer_open(struct trace_writer *writer, const char *path, struct dwell_err *err)
{
	struct dwell_trace_header header = {
		.magic = DWELL_TRACE_MAGIC_BYTES,
		.version = DWELL_TRACE_VERSION,
		.header_bytes = sizeof(header),
		.byte_order = DWELL_TRACE_BYTE_ORDER,
		.clockid = 1, /* CLOCK_MONOTONIC */
	};
	int rc;

	header.crc32 = (uint32_t)crc32(0, (const Bytef *)&header,
				       offsetof(struct dwell_trace_header, crc32));
	writer->may_cut = strcmp(path, "-") != 0;
	rc = trace_file_create(path, &writer->fd, err);
	if (rc)
		return rc;
	rc = dwell_io_write(writer->fd, &header, sizeof(header));
	if (rc && writer->may_cut && ftruncate(writer->fd, 0))
		writer->may_cut = false;
	if (rc)
		return dwell_err_sys(err, rc, "cannot write '%s'", path);
	writer->written = sizeof(header);
	return 0;
}

void trace_writer_close(struct trace_writer *writer)
{
	if (!writer)
		return;
	if (writer->fd >= 0)
		close(writer->fd);
	for (uint32_t i = 0; writer->cpus && i < writer->cpu_count; i++) {
		dwell_array_release(&writer->cpus[i].bytes);
		dwell_array_release(&writer->cpus[i].sections);
	}
	free(writer->cpus);
	dwell_array_release(&writer->side_bytes);
	dwell_array_release(&writer->info);
	dwell_array_release(&writer->events);
	dwell_array_release(&writer->coverage);
	dwell_array_release(&writer->sorted);
	dwell_array_release(&writer->payload);
	dwell_array_release(&writer->packed);
	dwell_array_release(&writer->side);
	dwell_array_release(&writer->symbols);
	dwell_array_release(&writer->placed);
	dwell_array_release(&writer->build_ids);
	ZSTD_freeCCtx(writer->zstd);
	free(writer);
}

int trace_writer_info(struct trace_writer *writer, const char *key, const char *value)
{
	int rc = bytes_text(&writer->info, key, strlen(key));

	return rc ? rc : bytes_text(&writer->info, value, strlen(value));
}

int trace_writer_info_u64(struct trace_writer *writer, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return trace_writer_info(writer, key, text);
}

int trace_writer_event(struct trace_writer *writer, const char *name, const char *format,
		       bool is_clock, uint64_t period, uint32_t freq_hz)
{
	const uint64_t numbers[] = { is_clock, is_clock, period, freq_hz };
	int rc = bytes_text(&writer->events, name, strlen(name));

	if (!rc)
		rc = bytes_text(&writer->events, format, strlen(format));
	for (unsigned i = 0; !rc && i < sizeof(numbers) / sizeof(*numbers); i++)
		rc = bytes_varint(&writer->events, numbers[i]);
	return rc;
}

int trace_writer_coverage(struct trace_writer *writer, uint32_t event, uint32_t cpu,
			  uint64_t kernel_count, uint64_t parsed, uint64_t lost, bool blind_idle)
{
	const uint64_t numbers[] = { event, cpu, kernel_count, parsed, lost, blind_idle };
	int rc = 0;

	for (unsigned i = 0; !rc && i < sizeof(numbers) / sizeof(*numbers); i++)
		rc = bytes_varint(&writer->coverage, numbers[i]);
	return rc;
}

int trace_writer_put(struct trace_writer *writer, uint32_t cpu, const struct trace_record *record)
{
	struct cpu_stream *stream = &writer->cpus[cpu];
	uint32_t i;
	int rc = 0;

	if (stream->held == TRACE_WINDOW) {
		rc = trace_encode(writer, cpu, &stream->window[0]);
		stream->held--;
		memmove(stream->window, stream->window + 1, stream->held * sizeof(*record));
	}
	for (i = stream->held; i > 0 && stream->window[i - 1].time_ns > record->time_ns; i--)
		stream->window[i] = stream->window[i - 1];
	stream->window[i] = *record;
	stream->held++;
	return rc;
}

/* What is buffered for this round and not yet written. */
static uint64_t round_bytes(const struct trace_writer *writer)
{
	uint64_t bytes = writer->side_bytes.count;

	for (uint32_t i = 0; i < writer->cpu_count; i++)
		bytes += writer->cpus[i].bytes.count;
	return bytes;
}

bool trace_writer_full(const struct trace_writer *writer)
{
	return round_bytes(writer) - writer->side_held >= TRACE_BLOCK_TARGET_BYTES;
}

/* Puts payload behind room for a header in writer->packed, compressed if that pays. */
static int block_pack(struct trace_writer *writer, const bytes_t *payload,
		      struct dwell_trace_block *block)
{
	bytes_t *out = &writer->packed;
	size_t bound = ZSTD_compressBound(payload->count), packed = 0;
	uint8_t *stored;

	if (dwell_array_reserve(out, sizeof(*block) + bound))
		return -ENOMEM;
	stored = out->data + sizeof(*block);
	if (payload->count >= RAW_BELOW_BYTES)
		packed = ZSTD_compressCCtx(writer->zstd, stored, bound, payload->data,
					   payload->count,
					   writer->unhurried ? ZSTD_LEVEL_MOST : ZSTD_LEVEL);
	if (packed && !ZSTD_isError(packed) && packed < payload->count &&
	    payload->count / DWELL_TRACE_RATIO_MAX < packed) {
		block->stored_bytes = (uint32_t)packed;
		block->flags = DWELL_TRACE_BLOCK_ZSTD;
	} else if (payload->count) {
		memcpy(stored, payload->data, payload->count);
	}
	block->payload_crc32 = (uint32_t)crc32(0, stored, (uInt)block->stored_bytes);
	block->header_crc32 = (uint32_t)crc32(0, (const Bytef *)block,
					      offsetof(struct dwell_trace_block, header_crc32));
	memcpy(out->data, block, sizeof(*block));
	return 0;
}

/* Writes one block; on failure cuts the file back to its last whole block, which stays the last. */
static int block_write(struct trace_writer *writer, enum dwell_trace_block_type type,
		       const bytes_t *payload, struct dwell_err *err)
{
	struct dwell_trace_block block = {
		.magic = DWELL_TRACE_BLOCK_MAGIC,
		.type = (uint8_t)type,
		.stored_bytes = payload->count,
		.raw_bytes = payload->count,
	};
	int rc = writer->failed				      ? -EIO
		 : payload->count > DWELL_TRACE_RAW_MAX_BYTES ? -EFBIG
							      : block_pack(writer, payload, &block);

	if (!rc) {
		rc = dwell_io_write(writer->fd, writer->packed.data,
				    sizeof(block) + block.stored_bytes);
		/* What cannot be cut back, such as a pipe, ends in a piece of a block. */
		if (rc && writer->may_cut && ftruncate(writer->fd, (off_t)writer->written))
			writer->may_cut = false;
	}
	if (rc) {
		writer->failed = true;
		return dwell_err_sys(err, rc, "cannot write the trace");
	}
	writer->written += sizeof(block) + block.stored_bytes;
	return 0;
}

int trace_block_flush(struct trace_writer *writer, enum dwell_trace_block_type type,
		      bytes_t *payload, struct dwell_err *err)
{
	int rc = payload->count ? block_write(writer, type, payload, err) : 0;

	payload->count = 0;
	return rc;
}

/* Adds a section to the round in writer->payload. A round that would grow too large is written
 * first: so no round has two sections of a stream. */
static int round_section(struct trace_writer *writer, uint32_t stream, uint64_t base_ns,
			 const uint8_t *bytes, uint32_t count, struct dwell_err *err)
{
	const uint64_t head[] = { stream, base_ns, count };
	bytes_t *out = &writer->payload;
	int rc = 0;

	if (out->count && out->count + (uint64_t)count > TRACE_ROUND_MAX_BYTES)
		rc = trace_block_flush(writer, DWELL_BLOCK_ROUND, out, err);
	if (!rc && !out->count)
		rc = bytes_varint(out, writer->horizon_ns);
	for (unsigned i = 0; !rc && i < sizeof(head) / sizeof(*head); i++)
		rc = bytes_varint(out, head[i]);
	return rc ? rc : bytes_add(out, bytes, count);
}

static int side_compare(const void *a, const void *b)
{
	const struct side_record *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* Drops the first `done` records of stream 0 and closes up. */
static int side_keep(struct trace_writer *writer, uint32_t done)
{
	bytes_t *kept = &writer->sorted;
	int rc = 0;

	kept->count = 0;
	for (uint32_t i = done; !rc && i < writer->side.count; i++) {
		struct side_record r = writer->side.data[i];

		rc = bytes_add(kept, writer->side_bytes.data + r.offset, r.bytes);
		r.offset = kept->count - r.bytes;
		r.order = i - done;
		writer->side.data[r.order] = r;
	}
	if (kept->count)
		memcpy(writer->side_bytes.data, kept->data, kept->count);
	writer->side.count -= done;
	writer->side_bytes.count = writer->side_held = kept->count;
	return rc;
}

/* Stream 0: records stamped before horizon_ns sorted by time, each written as tag, dt, fields. The
 * others wait: one stamped before them may still come. */
static int round_side(struct trace_writer *writer, uint64_t horizon_ns, struct dwell_err *err)
{
	bytes_t *out = &writer->sorted;
	uint64_t base_ns = 0, last_ns = 0;
	uint32_t done;
	int rc = 0;

	if (writer->side.count)
		qsort(writer->side.data, writer->side.count, sizeof(*writer->side.data),
		      side_compare);
	out->count = 0;
	for (done = 0; !rc && done < writer->side.count; done++) {
		const struct side_record *r = &writer->side.data[done];
		const uint8_t *bytes = writer->side_bytes.data + r->offset;

		if (r->time_ns >= horizon_ns)
			break;
		if (out->count >= TRACE_ROUND_MAX_BYTES) {
			rc = round_section(writer, 0, base_ns, out->data, out->count, err);
			out->count = 0;
		}
		if (!out->count)
			base_ns = last_ns = r->time_ns;
		if (!rc)
			rc = bytes_add(out, bytes, 1);
		if (!rc)
			rc = bytes_varint(out, r->time_ns - last_ns);
		if (!rc)
			rc = bytes_add(out, bytes + 1, r->bytes - 1);
		last_ns = r->time_ns;
	}
	if (!rc && out->count)
		rc = round_section(writer, 0, base_ns, out->data, out->count, err);
	return rc ? rc : side_keep(writer, done);
}

static int round_stream(struct trace_writer *writer, uint32_t cpu, struct dwell_err *err)
{
	struct cpu_stream *stream = &writer->cpus[cpu];
	int rc = 0;

	for (uint32_t i = 0; !rc && i < stream->sections.count; i++) {
		const struct cpu_section *section = &stream->sections.data[i];
		uint32_t end =
			i + 1 < stream->sections.count ? section[1].offset : stream->bytes.count;

		rc = round_section(writer, cpu + 1, section->base_ns,
				   stream->bytes.data + section->offset, end - section->offset,
				   err);
	}
	stream->bytes.count = stream->sections.count = 0;
	return rc;
}

/* Encodes the held records stamped before horizon_ns (all of them when it is UINT64_MAX). */
static int stream_settle(struct trace_writer *writer, uint32_t cpu, uint64_t horizon_ns)
{
	struct cpu_stream *stream = &writer->cpus[cpu];
	uint32_t done = 0;
	int rc = 0;

	while (!rc && done < stream->held && stream->window[done].time_ns < horizon_ns)
		rc = trace_encode(writer, cpu, &stream->window[done++]);
	stream->held -= done;
	memmove(stream->window, stream->window + done, stream->held * sizeof(*stream->window));
	return rc;
}

/* Streams that grew large in one long pass are spread over several blocks, and then none of them
 * may promise the new horizon. */
static int round_flush(struct trace_writer *writer, uint64_t horizon_ns, struct dwell_err *err)
{
	uint64_t most_bytes = round_bytes(writer) +
			      DWELL_VARINT_MAX_BYTES * ((uint64_t)writer->side.count +
							3 * ((uint64_t)writer->cpu_count + 2));
	int rc;

	if (most_bytes <= TRACE_ROUND_MAX_BYTES)
		writer->horizon_ns = horizon_ns;
	writer->payload.count = 0;
	rc = round_side(writer, horizon_ns, err);
	for (uint32_t i = 0; !rc && i < writer->cpu_count; i++)
		rc = round_stream(writer, i, err);
	if (!rc && !writer->payload.count)
		rc = bytes_varint(&writer->payload, writer->horizon_ns);
	if (rc)
		return dwell_err_sys(err, rc, "cannot write the trace");
	return trace_block_flush(writer, DWELL_BLOCK_ROUND, &writer->payload, err);
}

int trace_writer_flush(struct trace_writer *writer, uint64_t horizon_ns, struct dwell_err *err)
{
	bool any = writer->side.count > 0;
	int rc = trace_block_flush(writer, DWELL_BLOCK_INFO, &writer->info, err);

	if (!rc)
		rc = trace_block_flush(writer, DWELL_BLOCK_EVENTS, &writer->events, err);
	for (uint32_t i = 0; !rc && i < writer->cpu_count; i++) {
		rc = stream_settle(writer, i, horizon_ns);
		any |= writer->cpus[i].bytes.count > 0;
	}
	if (!rc)
		rc = trace_defs_flush(writer, err);
	/* Now and then a round that only tells that nothing happened: targets may sleep for long.
	 */
	any |= horizon_ns != UINT64_MAX && horizon_ns > writer->horizon_ns + QUIET_ROUND_NS;
	if (!rc && any)
		rc = round_flush(writer, horizon_ns, err);
	return rc;
}

int trace_writer_finish(struct trace_writer *writer, struct dwell_err *err)
{
	bytes_t facts = writer->info;
	int rc;

	writer->info = (bytes_t){ 0 };
	rc = trace_writer_flush(writer, UINT64_MAX, err);
	dwell_array_release(&writer->info);
	writer->info = facts;
	if (!rc)
		rc = trace_block_flush(writer, DWELL_BLOCK_COVERAGE, &writer->coverage, err);
	return rc ? rc : block_write(writer, DWELL_BLOCK_END, &writer->info, err);
}

uint64_t trace_writer_bytes(const struct trace_writer *writer)
{
	return writer->written;
}
