// SPDX-License-Identifier: MIT
/* Trace records become varint streams per CPU, streams and new table entries become checked,
 * compressed blocks. Nothing is written that a reader could not use at once. */
#include "record/trace_writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "lib/array.h"
#include "lib/io.h"
#include "lib/varint.h"
#include "record/trace_file.h"

enum {
	BLOCK_TARGET_BYTES = 512 << 10, /* flush when this much is buffered */
	RECORD_MAX_BYTES = 160,		/* of one encoded record: STATE is the longest */
	WINDOW = 8,			/* records held back per CPU to sort nested interrupts */
	RAW_BELOW_BYTES = 96,		/* smaller payloads are not worth compressing */
	ROUND_MAX_BYTES = DWELL_TRACE_RAW_MAX_BYTES / 2,
	ZSTD_LEVEL = 1, /* within 8 % of level 3 here, at a third of its cost */
};

typedef DWELL_ARRAY(uint8_t) bytes_t;
typedef DWELL_ARRAY(uint32_t) ids_t;

struct cpu_stream {
	bytes_t bytes;
	uint64_t base_ns, last_ns; /* of the open section; base 0 = section empty */
	uint32_t current;	   /* tid that runs on the CPU, as far as this section tells */
	struct trace_record window[WINDOW];
	uint32_t held;
};

struct side_record {
	uint64_t time_ns;
	uint32_t offset, bytes, order; /* in side_bytes */
};

struct trace_writer {
	int fd;
	bool failed;
	uint64_t written; /* file offset of the end of the last whole block */
	struct dwell_strings *strings;
	struct dwell_stacks *stacks;
	uint32_t strings_done, files_done, frames_done, nodes_done; /* ids written */
	ids_t symbols, build_ids; /* frames and files that gained theirs late */
	uint64_t horizon_ns;	  /* the last one promised */
	struct cpu_stream *cpus;
	uint32_t cpu_count;
	bytes_t side_bytes, info, events, coverage, payload, packed;
	DWELL_ARRAY(struct side_record) side;
	ZSTD_CCtx *zstd;
};

static int bytes_add(bytes_t *out, const void *bytes, size_t count)
{
	int rc = dwell_array_reserve(out, (uint64_t)out->count + count);

	if (rc)
		return rc;
	memcpy(out->data + out->count, bytes, count);
	out->count += (uint32_t)count;
	return 0;
}

static int bytes_text(bytes_t *out, const char *text, size_t count)
{
	uint8_t head[DWELL_VARINT_MAX_BYTES];
	int rc = bytes_add(out, head, (size_t)(dwell_varint_put(head, count) - head));

	return rc ? rc : bytes_add(out, text, count);
}

static int bytes_varint(bytes_t *out, uint64_t value)
{
	uint8_t head[DWELL_VARINT_MAX_BYTES];

	return bytes_add(out, head, (size_t)(dwell_varint_put(head, value) - head));
}

int trace_writer_open(const char *path, uint32_t cpus, struct dwell_strings *strings,
		      struct dwell_stacks *stacks, struct trace_writer **ret_writer,
		      struct dwell_err *err)
{
	struct dwell_trace_header header = {
		.magic = DWELL_TRACE_MAGIC_BYTES,
		.version = DWELL_TRACE_VERSION,
		.header_bytes = sizeof(header),
		.byte_order = DWELL_TRACE_BYTE_ORDER,
		.clockid = 1, /* CLOCK_MONOTONIC */
	};
	struct trace_writer *writer = calloc(1, sizeof(*writer));
	int rc = -ENOMEM;

	if (!writer)
		return dwell_err_sys(err, -ENOMEM, "cannot start the trace");
	writer->fd = -1;
	writer->strings = strings;
	writer->stacks = stacks;
	writer->strings_done = writer->frames_done = writer->nodes_done = 1;
	writer->cpus = calloc(cpus, sizeof(*writer->cpus));
	writer->cpu_count = cpus;
	writer->zstd = ZSTD_createCCtx();
	if (!writer->cpus || !writer->zstd)
		goto fail;
	header.crc32 = (uint32_t)crc32(0, (const Bytef *)&header,
				       offsetof(struct dwell_trace_header, crc32));
	rc = trace_file_create(path, &writer->fd, err);
	if (rc)
		goto fail;
	rc = dwell_io_write(writer->fd, &header, sizeof(header));
	if (rc)
		goto fail;
	writer->written = sizeof(header);
	*ret_writer = writer;
	return 0;
fail:
	trace_writer_close(writer);
	return dwell_err_sys(err, rc, "cannot write '%s'", path);
}

void trace_writer_close(struct trace_writer *writer)
{
	if (!writer)
		return;
	if (writer->fd >= 0)
		close(writer->fd);
	for (uint32_t i = 0; writer->cpus && i < writer->cpu_count; i++)
		dwell_array_release(&writer->cpus[i].bytes);
	free(writer->cpus);
	dwell_array_release(&writer->side_bytes);
	dwell_array_release(&writer->info);
	dwell_array_release(&writer->events);
	dwell_array_release(&writer->coverage);
	dwell_array_release(&writer->payload);
	dwell_array_release(&writer->packed);
	dwell_array_release(&writer->side);
	dwell_array_release(&writer->symbols);
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

/* Encodes the fields behind tag and dt, and returns the tag's flags in *flags. */
static uint8_t *encode_fields(struct cpu_stream *stream, uint32_t cpu, const struct trace_record *r,
			      uint8_t *at, unsigned *flags)
{
	switch (r->kind) {
	case DWELL_REC_SWITCH:
		if (r->tid != stream->current) {
			*flags |= DWELL_SWITCH_PREV;
			at = dwell_varint_put(at, r->tid);
		}
		if (r->state != DWELL_TASK_INTERRUPTIBLE || r->preempted) {
			*flags |= DWELL_SWITCH_STATE;
			*at++ = r->state | (r->preempted ? 0x80 : 0);
		}
		if (r->other)
			at = dwell_varint_put(at, r->other);
		else
			*flags |= DWELL_SWITCH_IDLE;
		stream->current = r->other;
		return dwell_varint_put(at, r->stack);
	case DWELL_REC_IN:
	case DWELL_REC_OUT:
		if (r->tid != stream->current) {
			*flags |= DWELL_REC_TID;
			at = dwell_varint_put(at, r->tid);
		}
		if (r->kind == DWELL_REC_IN) {
			stream->current = r->tid;
			return at;
		}
		*flags |= r->preempted ? DWELL_OUT_PREEMPT : 0;
		if (!r->stack)
			return at;
		*flags |= DWELL_OUT_STACK;
		return dwell_varint_put(at, r->stack);
	case DWELL_REC_WAKING:
	case DWELL_REC_WAKEUP_NEW:
		at = dwell_varint_put(at, r->tid);
		if (r->other != stream->current) {
			*flags |= DWELL_WAKING_WAKER;
			at = dwell_varint_put(at, r->other);
		}
		*flags |= (unsigned)r->state << DWELL_WAKING_CONTEXT_SHIFT;
		at = dwell_varint_put(at, dwell_zigzag((int64_t)r->cpu - cpu));
		return dwell_varint_put(at, r->stack);
	case DWELL_REC_SAMPLE:
		if (r->tid != stream->current) {
			*flags |= DWELL_REC_TID;
			at = dwell_varint_put(at, r->tid);
		}
		at = dwell_varint_put(at, r->other);
		if (r->value) {
			*flags |= DWELL_SAMPLE_WEIGHT;
			at = dwell_varint_put(at, r->value);
		}
		return dwell_varint_put(at, r->stack);
	default: /* DWELL_REC_GAP */
		at = dwell_varint_put(at, r->time_ns - r->value);
		return dwell_varint_put(at, r->lost);
	}
}

static int stream_encode(struct trace_writer *writer, uint32_t cpu, const struct trace_record *r)
{
	struct cpu_stream *stream = &writer->cpus[cpu];
	uint8_t fields[RECORD_MAX_BYTES], *end, *at;
	unsigned flags = 0;
	int rc = dwell_array_reserve(&stream->bytes,
				     (uint64_t)stream->bytes.count + RECORD_MAX_BYTES);

	if (rc)
		return rc;
	if (!stream->bytes.count) {
		stream->base_ns = stream->last_ns = r->time_ns;
		stream->current = 0;
	}
	end = encode_fields(stream, cpu, r, fields, &flags);
	at = stream->bytes.data + stream->bytes.count;
	if (r->time_ns >= stream->last_ns) {
		*at++ = (uint8_t)(r->kind | flags);
		at = dwell_varint_put(at, r->time_ns - stream->last_ns);
	} else {
		*at++ = DWELL_REC_BACK;
		at = dwell_varint_put(at, stream->last_ns - r->time_ns);
		*at++ = (uint8_t)(r->kind | flags);
	}
	stream->last_ns = r->time_ns;
	memcpy(at, fields, (size_t)(end - fields));
	at += end - fields;
	stream->bytes.count = (uint32_t)(at - stream->bytes.data);
	return 0;
}

int trace_writer_put(struct trace_writer *writer, uint32_t cpu, const struct trace_record *record)
{
	struct cpu_stream *stream = &writer->cpus[cpu];
	uint32_t i;
	int rc = 0;

	if (stream->held == WINDOW) {
		rc = stream_encode(writer, cpu, &stream->window[0]);
		stream->held--;
		memmove(stream->window, stream->window + 1, stream->held * sizeof(*record));
	}
	for (i = stream->held; i > 0 && stream->window[i - 1].time_ns > record->time_ns; i--)
		stream->window[i] = stream->window[i - 1];
	stream->window[i] = *record;
	stream->held++;
	return rc;
}

/* Opens a record of stream 0: room at *ret_at, tag written; close with side_end(). */
static uint8_t *side_begin(struct trace_writer *writer, unsigned tag)
{
	uint8_t *at;

	if (dwell_array_reserve(&writer->side_bytes,
				(uint64_t)writer->side_bytes.count + RECORD_MAX_BYTES) ||
	    dwell_array_grow(&writer->side))
		return NULL;
	at = writer->side_bytes.data + writer->side_bytes.count;
	*at++ = (uint8_t)tag;
	return at;
}

static int side_end(struct trace_writer *writer, uint64_t time_ns, const uint8_t *end)
{
	uint32_t offset = writer->side_bytes.count;
	uint32_t bytes = (uint32_t)(end - writer->side_bytes.data) - offset;

	writer->side.data[writer->side.count] =
		(struct side_record){ time_ns, offset, bytes, writer->side.count };
	writer->side.count++;
	writer->side_bytes.count += bytes;
	return 0;
}

static uint8_t *put_svarint(uint8_t *at, int64_t value)
{
	return dwell_varint_put(at, dwell_zigzag(value));
}

int trace_writer_thread(struct trace_writer *writer, uint64_t time_ns,
			const struct trace_thread *thread)
{
	uint8_t *at = side_begin(writer, DWELL_REC_THREAD);

	if (!at)
		return -ENOMEM;
	at = put_svarint(at, thread->pid);
	at = dwell_varint_put(at, (uint32_t)thread->tid);
	at = put_svarint(at, thread->ns_pid);
	at = put_svarint(at, thread->ns_tid);
	at = dwell_varint_put(at, thread->comm);
	at = dwell_varint_put(at, thread->cgroup);
	at = dwell_varint_put(at, (uint32_t)(thread->uid + 1));
	at = dwell_varint_put(at, thread->flags);
	return side_end(writer, time_ns, at);
}

int trace_writer_fork(struct trace_writer *writer, uint64_t time_ns, int32_t pid, int32_t tid,
		      int32_t parent_tid, bool observed)
{
	uint8_t *at = side_begin(writer, DWELL_REC_FORK | (observed ? DWELL_FORK_OBSERVED : 0));

	if (!at)
		return -ENOMEM;
	at = put_svarint(at, pid);
	at = dwell_varint_put(at, (uint32_t)tid);
	at = dwell_varint_put(at, (uint32_t)parent_tid);
	return side_end(writer, time_ns, at);
}

/* The common shape: a tag, a tid, one more number. */
static int side_pair(struct trace_writer *writer, uint64_t time_ns, unsigned tag, int more,
		     uint64_t first, uint64_t second)
{
	uint8_t *at = side_begin(writer, tag);

	if (!at)
		return -ENOMEM;
	if (more)
		*at++ = (uint8_t)more;
	at = dwell_varint_put(at, first);
	at = dwell_varint_put(at, second);
	return side_end(writer, time_ns, at);
}

int trace_writer_comm(struct trace_writer *writer, uint64_t time_ns, int32_t tid, uint32_t comm,
		      bool exec)
{
	return side_pair(writer, time_ns, DWELL_REC_COMM | (exec ? DWELL_COMM_EXEC : 0), 0,
			 (uint32_t)tid, comm);
}

int trace_writer_count(struct trace_writer *writer, uint64_t time_ns, int32_t tid,
		       uint64_t switches_in)
{
	return side_pair(writer, time_ns, DWELL_REC_COUNT, 0, (uint32_t)tid, switches_in);
}

int trace_writer_cgroup(struct trace_writer *writer, uint64_t time_ns, int32_t tid, uint32_t path)
{
	return side_pair(writer, time_ns, DWELL_REC_MORE, DWELL_MORE_CGROUP, (uint32_t)tid, path);
}

int trace_writer_retid(struct trace_writer *writer, uint64_t time_ns, int32_t old_tid,
		       int32_t new_tid)
{
	return side_pair(writer, time_ns, DWELL_REC_MORE, DWELL_MORE_RETID, (uint32_t)old_tid,
			 (uint32_t)new_tid);
}

int trace_writer_exit(struct trace_writer *writer, uint64_t time_ns, int32_t tid)
{
	uint8_t *at = side_begin(writer, DWELL_REC_EXIT);

	if (!at)
		return -ENOMEM;
	return side_end(writer, time_ns, dwell_varint_put(at, (uint32_t)tid));
}

int trace_writer_stopped(struct trace_writer *writer, uint64_t time_ns, int32_t tid)
{
	uint8_t *at = side_begin(writer, DWELL_REC_MORE);

	if (!at)
		return -ENOMEM;
	*at++ = DWELL_MORE_STOPPED;
	return side_end(writer, time_ns, dwell_varint_put(at, (uint32_t)tid));
}

int trace_writer_cpu(struct trace_writer *writer, uint64_t time_ns, uint32_t cpu,
		     enum dwell_witness witness, bool online)
{
	uint8_t *at = side_begin(writer, DWELL_REC_MORE);

	if (!at)
		return -ENOMEM;
	*at++ = DWELL_MORE_CPU;
	at = dwell_varint_put(at, cpu);
	*at++ = (uint8_t)witness;
	*at++ = online;
	return side_end(writer, time_ns, at);
}

int trace_writer_throttle(struct trace_writer *writer, uint64_t time_ns, uint32_t cpu, bool on,
			  uint32_t event)
{
	uint8_t *at = side_begin(writer, DWELL_REC_MORE);

	if (!at)
		return -ENOMEM;
	*at++ = DWELL_MORE_THROTTLE;
	*at++ = on;
	at = dwell_varint_put(at, event);
	return side_end(writer, time_ns, dwell_varint_put(at, cpu));
}

int trace_writer_state(struct trace_writer *writer, int32_t tid, const struct dwell_event *event)
{
	unsigned tag = DWELL_REC_STATE;
	uint8_t *at;

	tag |= event->u.state.phase == DWELL_PHASE_STOP ? DWELL_STATE_STOP : 0;
	tag |= event->u.state.stable ? DWELL_STATE_STABLE : 0;
	tag |= event->u.state.counted ? DWELL_STATE_COUNTED : 0;
	at = side_begin(writer, tag);
	if (!at)
		return -ENOMEM;
	at = dwell_varint_put(at, (uint32_t)tid);
	*at++ = (uint8_t)dwell_task_state_letter(event->u.state.state);
	at = dwell_varint_put(at, event->u.state.run_ns);
	at = dwell_varint_put(at, event->u.state.wait_ns);
	at = dwell_varint_put(at, event->u.state.switches_in);
	at = dwell_varint_put(at, event->u.state.wchan);
	at = put_svarint(at, event->u.state.syscall);
	for (int i = 0; event->u.state.syscall >= 0 && i < 6; i++)
		at = dwell_varint_put(at, event->u.state.args[i]);
	at = dwell_varint_put(at, event->stack);
	return side_end(writer, event->time_ns, at);
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
	return round_bytes(writer) >= BLOCK_TARGET_BYTES;
}

/* Writes one block; on failure cuts the file back to its last whole block. */
static int block_write(struct trace_writer *writer, enum dwell_trace_block_type type,
		       const bytes_t *payload, struct dwell_err *err)
{
	struct dwell_trace_block block = {
		.magic = DWELL_TRACE_BLOCK_MAGIC,
		.type = (uint8_t)type,
		.stored_bytes = payload->count,
		.raw_bytes = payload->count,
	};
	bytes_t *out = &writer->packed;
	size_t bound = ZSTD_compressBound(payload->count);
	int rc = dwell_array_reserve(out, sizeof(block) + bound);

	if (rc)
		return dwell_err_sys(err, rc, "cannot write the trace");
	if (payload->count >= RAW_BELOW_BYTES) {
		size_t packed = ZSTD_compressCCtx(writer->zstd, out->data + sizeof(block), bound,
						  payload->data, payload->count, ZSTD_LEVEL);

		if (!ZSTD_isError(packed) && packed < payload->count &&
		    payload->count / DWELL_TRACE_RATIO_MAX < packed) {
			block.stored_bytes = (uint32_t)packed;
			block.flags = DWELL_TRACE_BLOCK_ZSTD;
		}
	}
	if (!(block.flags & DWELL_TRACE_BLOCK_ZSTD) && payload->count)
		memcpy(out->data + sizeof(block), payload->data, payload->count);
	block.payload_crc32 =
		(uint32_t)crc32(0, out->data + sizeof(block), (uInt)block.stored_bytes);
	block.header_crc32 = (uint32_t)crc32(0, (const Bytef *)&block,
					     offsetof(struct dwell_trace_block, header_crc32));
	memcpy(out->data, &block, sizeof(block));
	rc = writer->failed
		     ? -EIO
		     : dwell_io_write(writer->fd, out->data, sizeof(block) + block.stored_bytes);
	if (rc) {
		/* A pipe cannot be cut back; a reader then finds a cut tail. */
		if (ftruncate(writer->fd, (off_t)writer->written) == 0)
			lseek(writer->fd, (off_t)writer->written, SEEK_SET);
		else
			writer->failed = true;
		return dwell_err_sys(err, rc, "cannot write the trace");
	}
	writer->written += sizeof(block) + block.stored_bytes;
	return 0;
}

/* Writes payload if there is any, and empties it. Payloads above the format's limit do not arise:
 * each caller flushes long before. */
static int block_flush(struct trace_writer *writer, enum dwell_trace_block_type type,
		       bytes_t *payload, struct dwell_err *err)
{
	int rc = payload->count ? block_write(writer, type, payload, err) : 0;

	payload->count = 0;
	return rc;
}

static int defs_file(bytes_t *out, const struct dwell_file *file)
{
	const uint64_t rest[] = { file->dev_major, file->dev_minor, file->inode,
				  file->inode_generation, dwell_zigzag(file->pid) };
	int rc = bytes_varint(out, DWELL_DEF_FILE);

	if (!rc)
		rc = bytes_varint(out, file->path);
	if (!rc)
		rc = bytes_varint(out, file->kind);
	if (!rc)
		rc = bytes_text(out, (const char *)file->build_id, file->build_id_bytes);
	for (unsigned i = 0; !rc && i < sizeof(rest) / sizeof(*rest); i++)
		rc = bytes_varint(out, rest[i]);
	return rc;
}

/* When a DEFS payload has grown to a block's size, writes it. */
static int defs_step(struct trace_writer *writer, struct dwell_err *err)
{
	return writer->payload.count >= BLOCK_TARGET_BYTES
		       ? block_flush(writer, DWELL_BLOCK_DEFS, &writer->payload, err)
		       : 0;
}

static int defs_numbers(struct trace_writer *writer, unsigned count, const uint64_t *numbers,
			struct dwell_err *err)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < count; i++)
		rc = bytes_varint(&writer->payload, numbers[i]);
	return rc ? rc : defs_step(writer, err);
}

/* Names and build ids that became known after their frame or file was written. */
static int defs_late(struct trace_writer *writer, struct dwell_err *err)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < writer->symbols.count; i++) {
		uint32_t frame = writer->symbols.data[i];

		rc = defs_numbers(writer, 3,
				  (uint64_t[]){ DWELL_DEF_SYMBOL, frame,
						dwell_stacks_frame(writer->stacks, frame)->symbol },
				  err);
	}
	for (uint32_t i = 0; !rc && i < writer->build_ids.count; i++) {
		uint32_t id = writer->build_ids.data[i];
		const struct dwell_file *file = dwell_stacks_file(writer->stacks, id);

		rc = defs_numbers(writer, 2, (uint64_t[]){ DWELL_DEF_BUILD_ID, id }, err);
		if (!rc)
			rc = bytes_text(&writer->payload, (const char *)file->build_id,
					file->build_id_bytes);
	}
	writer->symbols.count = writer->build_ids.count = 0;
	return rc;
}

/* Everything the tables gained since the last flush. */
static int defs_flush(struct trace_writer *writer, struct dwell_err *err)
{
	bytes_t *out = &writer->payload;
	int rc = 0;

	out->count = 0;
	for (; !rc && writer->strings_done < dwell_strings_count(writer->strings);
	     writer->strings_done++) {
		const char *text = dwell_strings_get(writer->strings, writer->strings_done);

		rc = bytes_varint(out, DWELL_DEF_STRING);
		if (!rc)
			rc = bytes_text(out, text, strlen(text));
		if (!rc)
			rc = defs_step(writer, err);
	}
	for (; !rc && writer->files_done < dwell_stacks_file_count(writer->stacks);
	     writer->files_done++) {
		rc = defs_file(out, dwell_stacks_file(writer->stacks, writer->files_done));
		if (!rc)
			rc = defs_step(writer, err);
	}
	for (; !rc && writer->frames_done < dwell_stacks_frame_count(writer->stacks);
	     writer->frames_done++) {
		const struct dwell_frame *frame =
			dwell_stacks_frame(writer->stacks, writer->frames_done);

		rc = defs_numbers(writer, 4,
				  (uint64_t[]){ DWELL_DEF_FRAME, frame->file, frame->offset,
						frame->symbol },
				  err);
	}
	for (; !rc && writer->nodes_done < dwell_stacks_node_count(writer->stacks);
	     writer->nodes_done++) {
		const struct dwell_stack_node *node =
			dwell_stacks_node(writer->stacks, writer->nodes_done);

		rc = defs_numbers(writer, 3,
				  (uint64_t[]){ DWELL_DEF_NODE,
						node->parent ? writer->nodes_done - node->parent
							     : 0,
						node->frame },
				  err);
	}
	if (!rc)
		rc = defs_late(writer, err);
	if (rc)
		return dwell_err_sys(err, rc, "cannot write the trace");
	return block_flush(writer, DWELL_BLOCK_DEFS, out, err);
}

static int late_add(ids_t *late, uint32_t id)
{
	if (dwell_array_grow(late))
		return -ENOMEM;
	late->data[late->count++] = id;
	return 0;
}

int trace_writer_symbol(struct trace_writer *writer, uint32_t frame)
{
	return late_add(&writer->symbols, frame);
}

int trace_writer_build_id(struct trace_writer *writer, uint32_t file)
{
	return late_add(&writer->build_ids, file);
}

static int round_section(bytes_t *out, uint32_t stream, uint64_t base_ns, uint64_t bytes)
{
	int rc = bytes_varint(out, stream);

	if (!rc)
		rc = bytes_varint(out, base_ns);
	return rc ? rc : bytes_varint(out, bytes);
}

static int side_compare(const void *a, const void *b)
{
	const struct side_record *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* Stream 0: records sorted by time, each written as tag, dt, fields. */
static int round_side(struct trace_writer *writer, bytes_t *scratch, bytes_t *out)
{
	uint64_t last_ns;
	int rc = 0;

	if (!writer->side.count)
		return 0;
	qsort(writer->side.data, writer->side.count, sizeof(*writer->side.data), side_compare);
	scratch->count = 0;
	last_ns = writer->side.data[0].time_ns;
	for (uint32_t i = 0; !rc && i < writer->side.count; i++) {
		const struct side_record *r = &writer->side.data[i];
		const uint8_t *bytes = writer->side_bytes.data + r->offset;

		rc = bytes_add(scratch, bytes, 1);
		if (!rc)
			rc = bytes_varint(scratch, r->time_ns - last_ns);
		if (!rc)
			rc = bytes_add(scratch, bytes + 1, r->bytes - 1);
		last_ns = r->time_ns;
	}
	if (!rc)
		rc = round_section(out, 0, writer->side.data[0].time_ns, scratch->count);
	if (!rc)
		rc = bytes_add(out, scratch->data, scratch->count);
	writer->side.count = 0;
	writer->side_bytes.count = 0;
	return rc;
}

/* Encodes the held records stamped before horizon_ns (all of them when it is UINT64_MAX). */
static int stream_settle(struct trace_writer *writer, uint32_t cpu, uint64_t horizon_ns)
{
	struct cpu_stream *stream = &writer->cpus[cpu];
	uint32_t done = 0;
	int rc = 0;

	while (!rc && done < stream->held && stream->window[done].time_ns < horizon_ns)
		rc = stream_encode(writer, cpu, &stream->window[done++]);
	stream->held -= done;
	memmove(stream->window, stream->window + done, stream->held * sizeof(*stream->window));
	return rc;
}

/* Streams that grew large in one long pass are spread over several blocks, and then none of them
 * may promise the new horizon. */
static int round_flush(struct trace_writer *writer, uint64_t horizon_ns, struct dwell_err *err)
{
	bytes_t *out = &writer->payload;
	int rc;

	if (round_bytes(writer) > ROUND_MAX_BYTES)
		horizon_ns = writer->horizon_ns;
	writer->horizon_ns = horizon_ns;
	out->count = 0;
	rc = bytes_varint(out, horizon_ns);
	if (!rc)
		rc = round_side(writer, &writer->packed, out);
	for (uint32_t i = 0; !rc && i < writer->cpu_count; i++) {
		struct cpu_stream *stream = &writer->cpus[i];

		if (!stream->bytes.count)
			continue;
		if (out->count >= ROUND_MAX_BYTES) {
			rc = block_flush(writer, DWELL_BLOCK_ROUND, out, err);
			if (!rc)
				rc = bytes_varint(out, horizon_ns);
		}
		if (!rc)
			rc = round_section(out, i + 1, stream->base_ns, stream->bytes.count);
		if (!rc)
			rc = bytes_add(out, stream->bytes.data, stream->bytes.count);
		stream->bytes.count = 0;
	}
	if (rc)
		return dwell_err_sys(err, rc, "cannot write the trace");
	return block_flush(writer, DWELL_BLOCK_ROUND, out, err);
}

int trace_writer_flush(struct trace_writer *writer, uint64_t horizon_ns, struct dwell_err *err)
{
	bool any = writer->side.count > 0;
	int rc = block_flush(writer, DWELL_BLOCK_INFO, &writer->info, err);

	if (!rc)
		rc = block_flush(writer, DWELL_BLOCK_EVENTS, &writer->events, err);
	for (uint32_t i = 0; !rc && i < writer->cpu_count; i++) {
		rc = stream_settle(writer, i, horizon_ns);
		any |= writer->cpus[i].bytes.count > 0;
	}
	if (!rc)
		rc = defs_flush(writer, err);
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
		rc = block_flush(writer, DWELL_BLOCK_COVERAGE, &writer->coverage, err);
	return rc ? rc : block_write(writer, DWELL_BLOCK_END, &writer->info, err);
}

uint64_t trace_writer_bytes(const struct trace_writer *writer)
{
	return writer->written;
}
