// SPDX-License-Identifier: MIT
/* Trace records become bytes: those of a CPU go behind each other in its section, those of no CPU
 * are kept apart until they can be sorted. Fields: see lib/trace_format.h. */
#include <errno.h>

#include "record/trace_writer_impl.h"

enum { RECORD_MAX_BYTES = 160 }; /* of one encoded record: STATE is the longest */

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
		at = dwell_varint_put(at, r->value - r->time_ns);
		return dwell_varint_put(at, r->lost);
	}
}

static bool section_full(const struct cpu_stream *stream)
{
	uint32_t begin = stream->sections.data[stream->sections.count - 1].offset;

	return stream->bytes.count - begin >= TRACE_ROUND_MAX_BYTES;
}

int trace_encode(struct trace_writer *writer, uint32_t cpu, const struct trace_record *r)
{
	struct cpu_stream *stream = &writer->cpus[cpu];
	uint8_t fields[RECORD_MAX_BYTES], *end, *at;
	unsigned flags = 0;
	int rc = dwell_array_reserve(&stream->bytes,
				     (uint64_t)stream->bytes.count + RECORD_MAX_BYTES);

	if (rc)
		return rc;
	if (!stream->sections.count || section_full(stream)) {
		if (dwell_array_grow(&stream->sections))
			return -ENOMEM;
		stream->sections.data[stream->sections.count++] =
			(struct cpu_section){ r->time_ns, stream->bytes.count };
		stream->last_ns = r->time_ns;
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

int trace_writer_state(struct trace_writer *writer, uint64_t time_ns, int32_t tid,
		       const struct dwell_task_reading *reading, uint32_t stack)
{
	unsigned tag = DWELL_REC_STATE;
	uint8_t *at;

	tag |= reading->phase == DWELL_PHASE_STOP ? DWELL_STATE_STOP : 0;
	tag |= reading->stable ? DWELL_STATE_STABLE : 0;
	tag |= reading->counted ? DWELL_STATE_COUNTED : 0;
	at = side_begin(writer, tag);
	if (!at)
		return -ENOMEM;
	at = dwell_varint_put(at, (uint32_t)tid);
	*at++ = (uint8_t)dwell_task_state_letter(reading->state);
	at = dwell_varint_put(at, reading->run_ns);
	at = dwell_varint_put(at, reading->wait_ns);
	at = dwell_varint_put(at, reading->switches_in);
	at = dwell_varint_put(at, reading->wchan);
	at = put_svarint(at, reading->syscall);
	for (int i = 0; reading->syscall >= 0 && i < 6; i++)
		at = dwell_varint_put(at, reading->args[i]);
	at = dwell_varint_put(at, stack);
	return side_end(writer, time_ns, at);
}
