// SPDX-License-Identifier: MIT
/* A dwell trace becomes events: blocks fill the tables, rounds go through the merge, and each
 * record is decoded into a struct dwell_event with tids turned into threads as of that moment. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io.h"
#include "lib/trace_format.h"
#include "parse/source_impl.h"
#include "parse/trace_reader.h"
#include "parse/trace_streams.h"

struct trace_source {
	struct trace_reader *reader;
	struct trace_streams streams;
	struct dwell_event event; /* the one handed out */
	uint64_t last_ns;
	uint32_t *strings; /* trace string id -> ours */
	uint32_t string_count, string_room;
	bool input_ended;
};

static uint32_t string_of(const struct trace_source *trace, uint64_t id)
{
	return id < trace->string_count ? trace->strings[id] : 0;
}

static int text_next(struct dwell_cursor *c, const char **ret_text, uint64_t *ret_bytes)
{
	*ret_bytes = dwell_cursor_varint(c);
	*ret_text = (const char *)dwell_cursor_bytes(c, *ret_bytes);
	return c->bad ? -EBADMSG : 0;
}

static int block_info(struct dwell_source *source, struct dwell_cursor *c)
{
	while (c->at < c->end) {
		const char *key, *value;
		uint64_t key_bytes, value_bytes;
		int rc;

		if (text_next(c, &key, &key_bytes) || text_next(c, &value, &value_bytes))
			return -EBADMSG;
		rc = source_fact_set(source, key, key_bytes, value, value_bytes);
		if (rc)
			return rc;
	}
	return 0;
}

static int block_events(struct dwell_source *source, struct dwell_cursor *c)
{
	while (c->at < c->end) {
		struct dwell_event_desc desc = { 0 };
		const char *name, *format;
		uint64_t name_bytes, format_bytes;
		int rc;

		if (text_next(c, &name, &name_bytes) || text_next(c, &format, &format_bytes))
			return -EBADMSG;
		desc.unit = (uint8_t)(dwell_cursor_varint(c) ? DWELL_UNIT_NS : DWELL_UNIT_COUNT);
		desc.is_clock = dwell_cursor_varint(c) & 1;
		desc.period = dwell_cursor_varint(c);
		desc.freq_hz = dwell_cursor_u32(c);
		if (c->bad)
			return -EBADMSG;
		rc = dwell_strings_add(source->strings, name, name_bytes, &desc.name);
		if (!rc)
			rc = dwell_strings_add(source->strings, format, format_bytes, &desc.format);
		if (!rc)
			rc = dwell_array_grow(&source->events);
		if (rc)
			return rc;
		source->events.data[source->events.count++] = desc;
	}
	return 0;
}

static int block_coverage(struct dwell_source *source, struct dwell_cursor *c)
{
	while (c->at < c->end) {
		struct dwell_coverage row = { 0 };
		int rc;

		row.event = dwell_cursor_u32(c);
		row.cpu = dwell_cursor_u32(c);
		row.kernel_count = dwell_cursor_varint(c);
		row.parsed = dwell_cursor_varint(c);
		row.lost = dwell_cursor_varint(c);
		row.blind_idle = dwell_cursor_varint(c) & 1;
		if (c->bad)
			return -EBADMSG;
		rc = dwell_array_grow(&source->coverage);
		if (rc)
			return rc;
		source->coverage.data[source->coverage.count++] = row;
	}
	return 0;
}

static int def_string(struct dwell_source *source, struct trace_source *trace,
		      struct dwell_cursor *c)
{
	const char *text;
	uint64_t bytes;
	uint32_t id;
	int rc;

	if (text_next(c, &text, &bytes))
		return -EBADMSG;
	rc = dwell_strings_add(source->strings, text, bytes, &id);
	if (rc)
		return rc;
	if (trace->string_count == trace->string_room) {
		uint32_t room = trace->string_room * 2 + 256;
		uint32_t *grown = realloc(trace->strings, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		trace->strings = grown;
		trace->string_room = room;
	}
	if (!trace->string_count)
		trace->strings[trace->string_count++] = 0;
	trace->strings[trace->string_count++] = id;
	return 0;
}

static int def_build_id(struct dwell_cursor *c, uint8_t build_id[DWELL_BUILD_ID_MAX],
			uint8_t *ret_bytes)
{
	const char *text;
	uint64_t bytes;

	if (text_next(c, &text, &bytes) || bytes > DWELL_BUILD_ID_MAX)
		return -EBADMSG;
	memcpy(build_id, text, bytes);
	*ret_bytes = (uint8_t)bytes;
	return 0;
}

static int def_file(struct dwell_source *source, struct trace_source *trace, struct dwell_cursor *c)
{
	struct dwell_file file = { 0 };
	uint32_t expected = dwell_stacks_file_count(source->stacks), id;
	int rc;

	file.path = string_of(trace, dwell_cursor_varint(c));
	file.kind = (uint8_t)dwell_cursor_varint(c);
	if (def_build_id(c, file.build_id, &file.build_id_bytes))
		return -EBADMSG;
	file.dev_major = dwell_cursor_u32(c);
	file.dev_minor = dwell_cursor_u32(c);
	file.inode = dwell_cursor_varint(c);
	file.inode_generation = dwell_cursor_varint(c);
	file.pid = (int32_t)dwell_cursor_svarint(c);
	if (c->bad || file.kind >= DWELL_FILE_KINDS)
		return -EBADMSG;
	rc = dwell_stacks_add_file(source->stacks, &file, &id);
	return rc ? rc : id == expected ? 0 : -EBADMSG;
}

static int def_frame(struct dwell_source *source, struct trace_source *trace,
		     struct dwell_cursor *c)
{
	uint32_t expected = dwell_stacks_frame_count(source->stacks), id;
	uint32_t file = dwell_cursor_u32(c);
	uint64_t offset = dwell_cursor_varint(c), symbol = dwell_cursor_varint(c);
	int rc;

	if (c->bad || file >= dwell_stacks_file_count(source->stacks))
		return -EBADMSG;
	rc = dwell_stacks_add_frame(source->stacks, file, offset, &id);
	if (rc)
		return rc;
	if (id != expected)
		return -EBADMSG;
	if (symbol)
		dwell_stacks_set_symbol(source->stacks, id, string_of(trace, symbol));
	return 0;
}

static int def_node(struct dwell_source *source, struct dwell_cursor *c)
{
	uint32_t expected = dwell_stacks_node_count(source->stacks), id;
	uint64_t back = dwell_cursor_varint(c);
	uint32_t frame = dwell_cursor_u32(c);
	int rc;

	if (c->bad || back >= expected || !frame ||
	    frame >= dwell_stacks_frame_count(source->stacks))
		return -EBADMSG;
	rc = dwell_stacks_add_node(source->stacks, back ? expected - (uint32_t)back : 0, frame,
				   &id);
	return rc ? rc : id == expected ? 0 : -EBADMSG;
}

static int block_defs(struct dwell_source *source, struct dwell_cursor *c)
{
	struct trace_source *trace = source->format;
	int rc = 0;

	while (!rc && c->at < c->end) {
		uint32_t id;

		switch (dwell_cursor_byte(c)) {
		case DWELL_DEF_STRING:
			rc = def_string(source, trace, c);
			break;
		case DWELL_DEF_FILE:
			rc = def_file(source, trace, c);
			break;
		case DWELL_DEF_FRAME:
			rc = def_frame(source, trace, c);
			break;
		case DWELL_DEF_NODE:
			rc = def_node(source, c);
			break;
		case DWELL_DEF_SYMBOL:
			id = dwell_cursor_u32(c);
			if (!id || id >= dwell_stacks_frame_count(source->stacks))
				return -EBADMSG;
			dwell_stacks_set_symbol(source->stacks, id,
						string_of(trace, dwell_cursor_varint(c)));
			break;
		case DWELL_DEF_BUILD_ID: {
			uint8_t build_id[DWELL_BUILD_ID_MAX] = { 0 }, bytes;

			id = dwell_cursor_u32(c);
			if (id >= dwell_stacks_file_count(source->stacks) ||
			    def_build_id(c, build_id, &bytes))
				return -EBADMSG;
			dwell_stacks_set_build_id(source->stacks, id, build_id, bytes);
			break;
		}
		default:
			return -EBADMSG;
		}
	}
	return rc ? rc : c->bad ? -EBADMSG : 0;
}

static void info_update(struct dwell_source *source)
{
	struct dwell_source_info *info = &source->info;

	info->start_ns = source_fact_u64(source, "window.start_ns");
	info->end_ns = source_fact_u64(source, "window.end_ns");
	info->cpus = (uint32_t)source_fact_u64(source, "cpus");
	if (info->cpus > DWELL_TRACE_CPUS_MAX)
		info->cpus = DWELL_TRACE_CPUS_MAX;
	info->all_threads = source_fact_u64(source, "mode.all_threads") != 0;
	info->has_switches = source_fact_u64(source, "mode.switches") != 0;
	info->has_wakings = source_fact_u64(source, "mode.wakings") != 0;
	info->recorder_cpu_ns = source_fact_u64(source, "recorder.cpu_ns");
	info->wakings_dropped = source_fact_u64(source, "wakings.dropped");
}

/* The file ends here, wherever "here" is. */
static void input_end(struct dwell_source *source, bool damaged)
{
	struct trace_source *trace = source->format;
	struct dwell_source_info *info = &source->info;

	trace->input_ended = true;
	trace->streams.horizon_ns = UINT64_MAX;
	info->damaged = damaged || trace_reader_damaged(trace->reader);
	info->unread_bytes = trace_reader_tail_bytes(trace->reader);
	if (info->file_bytes > trace_reader_offset(trace->reader))
		info->unread_bytes = info->file_bytes - trace_reader_offset(trace->reader);
	for (uint32_t i = 0; i < source->coverage.count; i++)
		info->lost += source->coverage.data[i].lost;
}

/* Takes in the next block. 0, or -errno with err set when reading cannot go on. */
static int block_take(struct dwell_source *source, struct dwell_err *err)
{
	struct trace_source *trace = source->format;
	struct trace_block block;
	struct dwell_cursor c;
	int rc = trace_reader_next(trace->reader, &block, err);

	if (rc < 0)
		return rc;
	if (rc == 0) {
		input_end(source, false);
		return 0;
	}
	c = (struct dwell_cursor){ block.data, block.data + block.bytes, false };
	rc = 0;
	switch (block.type) {
	case DWELL_BLOCK_INFO:
	case DWELL_BLOCK_END:
		rc = block_info(source, &c);
		info_update(source);
		source->info.finished |= !rc && block.type == DWELL_BLOCK_END;
		break;
	case DWELL_BLOCK_EVENTS:
		rc = block_events(source, &c);
		break;
	case DWELL_BLOCK_DEFS:
		rc = block_defs(source, &c);
		break;
	case DWELL_BLOCK_ROUND:
		rc = trace_streams_add(&trace->streams, trace_reader_take(trace->reader),
				       block.bytes);
		break;
	case DWELL_BLOCK_COVERAGE:
		rc = block_coverage(source, &c);
		break;
	default: /* a newer kind of block that may be ignored */
		break;
	}
	if (rc == -ENOMEM)
		return dwell_err_sys(err, rc, "cannot read the trace");
	if (rc)
		input_end(source, true);
	return 0;
}

/* The thread that has tid now. In a whole-system recording every thread is observed. */
static int thread_need(struct dwell_source *source, int32_t pid, uint64_t tid, bool may_be_dead,
		       uint32_t *ret_index)
{
	int rc;

	if (tid > INT32_MAX)
		return -EBADMSG;
	*ret_index =
		may_be_dead ? dwell_threads_find(source->threads, (int32_t)tid) : DWELL_THREAD_NONE;
	if (*ret_index != DWELL_THREAD_NONE)
		return 0;
	rc = dwell_threads_need(source->threads, pid, (int32_t)tid, ret_index);
	if (!rc && source->info.all_threads && *ret_index != DWELL_THREAD_IDLE)
		dwell_threads_get(source->threads, *ret_index)->observed = true;
	return rc;
}

/* SWITCH: see lib/trace_format.h for the fields. */
static int record_switch(struct dwell_source *source, struct trace_stream *s, unsigned flags,
			 struct dwell_event *event)
{
	struct dwell_cursor *c = &s->cursor;
	uint32_t prev = flags & DWELL_SWITCH_PREV ? dwell_cursor_u32(c) : s->current, next;
	uint8_t state = DWELL_TASK_INTERRUPTIBLE;
	int rc;

	if (flags & DWELL_SWITCH_STATE)
		state = dwell_cursor_byte(c);
	next = flags & DWELL_SWITCH_IDLE ? 0 : dwell_cursor_u32(c);
	s->current = next;
	event->kind = DWELL_EVENT_SWITCH;
	event->stack = dwell_cursor_u32(c);
	event->u.sw.prev_state = state & 0x7f;
	event->u.sw.preempted = state & 0x80;
	if (c->bad || event->u.sw.prev_state >= DWELL_TASK_STATES)
		return -EBADMSG;
	rc = thread_need(source, -1, prev, false, &event->thread);
	if (!rc)
		rc = thread_need(source, -1, next, false, &event->u.sw.next);
	if (!rc && (event->u.sw.prev_state == DWELL_TASK_DEAD ||
		    event->u.sw.prev_state == DWELL_TASK_ZOMBIE))
		dwell_threads_get(source->threads, event->thread)->died_ns = event->time_ns;
	return rc;
}

static int record_in_out(struct dwell_source *source, struct trace_stream *s, unsigned kind,
			 unsigned flags, struct dwell_event *event)
{
	uint32_t tid = flags & DWELL_REC_TID ? dwell_cursor_u32(&s->cursor) : s->current;

	event->u.rec.other = DWELL_THREAD_NONE;
	if (kind == DWELL_REC_IN) {
		s->current = tid;
		event->kind = DWELL_EVENT_SWITCH_IN;
	} else {
		event->kind = DWELL_EVENT_SWITCH_OUT;
		event->u.rec.preempted = flags & DWELL_OUT_PREEMPT;
		event->stack = flags & DWELL_OUT_STACK ? dwell_cursor_u32(&s->cursor) : 0;
	}
	return thread_need(source, -1, tid, kind == DWELL_REC_OUT, &event->thread);
}

static int record_waking(struct dwell_source *source, struct trace_stream *s, unsigned kind,
			 unsigned flags, struct dwell_event *event)
{
	struct dwell_cursor *c = &s->cursor;
	uint32_t target = dwell_cursor_u32(c);
	uint32_t waker = flags & DWELL_WAKING_WAKER ? dwell_cursor_u32(c) : s->current;
	int64_t cpu = (int64_t)event->cpu + dwell_cursor_svarint(c);
	int rc;

	event->kind = kind == DWELL_REC_WAKING ? DWELL_EVENT_WAKING : DWELL_EVENT_WAKEUP_NEW;
	event->stack = dwell_cursor_u32(c);
	event->u.wake.context = (flags >> DWELL_WAKING_CONTEXT_SHIFT) & 3;
	event->u.wake.target_cpu =
		cpu >= 0 && cpu < DWELL_TRACE_CPUS_MAX ? (uint32_t)cpu : DWELL_CPU_NONE;
	rc = thread_need(source, -1, target, false, &event->thread);
	return rc ? rc : thread_need(source, -1, waker, true, &event->u.wake.waker);
}

static int record_sample(struct dwell_source *source, struct trace_stream *s, unsigned flags,
			 struct dwell_event *event)
{
	struct dwell_cursor *c = &s->cursor;
	uint32_t tid = flags & DWELL_REC_TID ? dwell_cursor_u32(c) : s->current;
	uint32_t index = dwell_cursor_u32(c);
	const struct dwell_event_desc *desc = dwell_source_event_desc(source, index);

	if (!desc)
		return -EBADMSG;
	event->kind = DWELL_EVENT_SAMPLE;
	event->u.sample.event = index;
	event->u.sample.weight =
		flags & DWELL_SAMPLE_WEIGHT ? dwell_cursor_varint(c) : desc->period;
	event->stack = dwell_cursor_u32(c);
	return thread_need(source, -1, tid, true, &event->thread);
}

static int record_gap(struct trace_stream *s, struct dwell_event *event)
{
	uint64_t span_ns = dwell_cursor_varint(&s->cursor);

	event->kind = DWELL_EVENT_GAP;
	event->u.gap.from_ns = span_ns < event->time_ns ? event->time_ns - span_ns : 0;
	event->u.gap.lost = dwell_cursor_varint(&s->cursor);
	return 0;
}

/* THREAD: only the tables learn of it. Returns 1: no event to hand out. */
static int record_thread(struct dwell_source *source, struct trace_stream *s)
{
	struct trace_source *trace = source->format;
	struct dwell_cursor *c = &s->cursor;
	int64_t pid = dwell_cursor_svarint(c);
	uint64_t tid = dwell_cursor_varint(c);
	int64_t ns_pid = dwell_cursor_svarint(c), ns_tid = dwell_cursor_svarint(c);
	uint64_t comm = dwell_cursor_varint(c), cgroup = dwell_cursor_varint(c);
	uint64_t uid = dwell_cursor_varint(c), flags = dwell_cursor_varint(c);
	struct dwell_thread *thread;
	uint32_t index;
	int rc;

	if (c->bad || pid < -1 || pid > INT32_MAX)
		return -EBADMSG;
	rc = thread_need(source, (int32_t)pid, tid, false, &index);
	if (rc)
		return rc;
	thread = dwell_threads_get(source->threads, index);
	thread->pid = (int32_t)pid;
	thread->ns_pid = (int32_t)ns_pid;
	thread->ns_tid = (int32_t)ns_tid;
	thread->comm = string_of(trace, comm);
	thread->cgroup = string_of(trace, cgroup);
	thread->uid = (uint32_t)uid - 1;
	thread->observed |= flags & DWELL_THREAD_FLAG_OBSERVED;
	thread->kernel = flags & DWELL_THREAD_FLAG_KERNEL;
	thread->recorder = flags & DWELL_THREAD_FLAG_RECORDER;
	return 1;
}

static int record_fork(struct dwell_source *source, struct trace_stream *s, unsigned flags,
		       struct dwell_event *event)
{
	struct dwell_cursor *c = &s->cursor;
	int64_t pid = dwell_cursor_svarint(c);
	uint64_t tid = dwell_cursor_varint(c), parent_tid = dwell_cursor_varint(c);
	struct dwell_thread *thread, *parent;
	int rc;

	if (c->bad || tid == 0 || tid > INT32_MAX || pid < -1 || pid > INT32_MAX)
		return -EBADMSG;
	rc = thread_need(source, -1, parent_tid, true, &event->u.fork.parent);
	if (!rc)
		rc = dwell_threads_add(source->threads, (int32_t)pid, (int32_t)tid, event->time_ns,
				       &event->thread);
	if (rc)
		return rc;
	event->kind = DWELL_EVENT_FORK;
	thread = dwell_threads_get(source->threads, event->thread);
	parent = dwell_threads_get(source->threads, event->u.fork.parent);
	thread->parent = event->u.fork.parent;
	thread->comm = parent->comm;
	thread->cgroup = parent->cgroup;
	thread->uid = parent->uid;
	thread->kernel = parent->kernel;
	thread->recorder = parent->recorder && parent->pid == thread->pid;
	thread->observed = source->info.all_threads || flags & DWELL_FORK_OBSERVED;
	return 0;
}

static int record_comm(struct dwell_source *source, struct trace_stream *s, unsigned flags,
		       struct dwell_event *event)
{
	struct trace_source *trace = source->format;
	uint64_t tid = dwell_cursor_varint(&s->cursor);
	uint32_t comm = string_of(trace, dwell_cursor_varint(&s->cursor));
	int rc = thread_need(source, -1, tid, true, &event->thread);

	if (rc)
		return rc;
	event->kind = DWELL_EVENT_COMM;
	event->u.comm.comm = comm;
	event->u.comm.exec = flags & DWELL_COMM_EXEC;
	dwell_threads_get(source->threads, event->thread)->comm = comm;
	return 0;
}

static int record_state(struct dwell_source *source, struct trace_stream *s, unsigned flags,
			struct dwell_event *event)
{
	struct trace_source *trace = source->format;
	struct dwell_cursor *c = &s->cursor;
	uint64_t tid = dwell_cursor_varint(c);
	int64_t syscall;

	event->kind = DWELL_EVENT_STATE;
	event->u.state.state = dwell_task_state_of((char)dwell_cursor_byte(c));
	event->u.state.phase = flags & DWELL_STATE_STOP ? DWELL_PHASE_STOP : DWELL_PHASE_START;
	event->u.state.stable = flags & DWELL_STATE_STABLE;
	event->u.state.counted = flags & DWELL_STATE_COUNTED;
	event->u.state.run_ns = dwell_cursor_varint(c);
	event->u.state.wait_ns = dwell_cursor_varint(c);
	event->u.state.switches_in = dwell_cursor_varint(c);
	event->u.state.wchan = string_of(trace, dwell_cursor_varint(c));
	syscall = dwell_cursor_svarint(c);
	event->u.state.syscall = syscall >= 0 && syscall <= INT32_MAX ? (int32_t)syscall : -1;
	for (int i = 0; syscall >= 0 && i < 6; i++)
		event->u.state.args[i] = dwell_cursor_varint(c);
	event->stack = dwell_cursor_u32(c);
	return thread_need(source, -1, tid, true, &event->thread);
}

static int record_more(struct dwell_source *source, struct trace_stream *s,
		       struct dwell_event *event)
{
	struct trace_source *trace = source->format;
	struct dwell_cursor *c = &s->cursor;
	uint8_t more = dwell_cursor_byte(c), flag = 0;
	uint64_t first, second = 0;
	uint32_t index;
	int rc;

	if (more == DWELL_MORE_THROTTLE)
		flag = dwell_cursor_byte(c);
	first = dwell_cursor_varint(c);
	if (more == DWELL_MORE_CPU) {
		event->u.cpu.witness = dwell_cursor_byte(c);
		event->u.cpu.online = dwell_cursor_byte(c);
	} else if (more != DWELL_MORE_STOPPED) {
		second = dwell_cursor_varint(c);
	}
	if (c->bad)
		return -EBADMSG;
	switch (more) {
	case DWELL_MORE_CPU:
		event->kind = DWELL_EVENT_CPU;
		event->cpu = (uint32_t)first;
		return first < DWELL_TRACE_CPUS_MAX ? 0 : -EBADMSG;
	case DWELL_MORE_STOPPED:
		event->kind = DWELL_EVENT_STOPPED;
		return thread_need(source, -1, first, true, &event->thread);
	case DWELL_MORE_THROTTLE:
		event->kind = DWELL_EVENT_THROTTLE;
		event->u.throttle.on = flag;
		event->cpu = (uint32_t)second;
		return second < DWELL_TRACE_CPUS_MAX ? 0 : -EBADMSG;
	case DWELL_MORE_CGROUP:
		event->kind = DWELL_EVENT_CGROUP;
		event->u.cgroup.path = string_of(trace, second);
		rc = thread_need(source, -1, first, true, &event->thread);
		if (!rc)
			dwell_threads_get(source->threads, event->thread)->cgroup =
				event->u.cgroup.path;
		return rc;
	case DWELL_MORE_RETID:
		rc = thread_need(source, -1, first, true, &index);
		if (!rc && second <= INT32_MAX)
			rc = dwell_threads_retid(source->threads, index, (int32_t)second);
		return rc ? rc : 1;
	default:
		return -EBADMSG;
	}
}

/* Decodes the head record of a stream into event. 0 = an event, 1 = tables only, -EBADMSG, -ENOMEM.
 */
static int record_decode(struct dwell_source *source, struct trace_stream *s,
			 struct dwell_event *event)
{
	unsigned kind = s->tag & 15, flags = s->tag & 0xf0;

	event->time_ns = s->time_ns;
	event->cpu = s->id ? s->id - 1 : DWELL_CPU_NONE;
	event->thread = DWELL_THREAD_NONE;
	event->stack = 0;
	if ((kind <= DWELL_REC_GAP) != (s->id != 0))
		return -EBADMSG;
	switch (kind) {
	case DWELL_REC_SWITCH:
		return record_switch(source, s, flags, event);
	case DWELL_REC_IN:
	case DWELL_REC_OUT:
		return record_in_out(source, s, kind, flags, event);
	case DWELL_REC_WAKING:
	case DWELL_REC_WAKEUP_NEW:
		return record_waking(source, s, kind, flags, event);
	case DWELL_REC_SAMPLE:
		return record_sample(source, s, flags, event);
	case DWELL_REC_GAP:
		return record_gap(s, event);
	case DWELL_REC_THREAD:
		return record_thread(source, s);
	case DWELL_REC_FORK:
		return record_fork(source, s, flags, event);
	case DWELL_REC_COMM:
		return record_comm(source, s, flags, event);
	case DWELL_REC_EXIT:
		event->kind = DWELL_EVENT_EXIT;
		return thread_need(source, -1, dwell_cursor_varint(&s->cursor), true,
				   &event->thread);
	case DWELL_REC_STATE:
		return record_state(source, s, flags, event);
	case DWELL_REC_COUNT: {
		uint64_t tid = dwell_cursor_varint(&s->cursor);

		event->kind = DWELL_EVENT_COUNT;
		event->u.count.switches_in = dwell_cursor_varint(&s->cursor);
		return thread_need(source, -1, tid, true, &event->thread);
	}
	case DWELL_REC_MORE:
		return record_more(source, s, event);
	default:
		return -EBADMSG;
	}
}

/* Records that make no sense behind a good checksum: take nothing more from the file. */
static void streams_abandon(struct dwell_source *source)
{
	struct trace_source *trace = source->format;

	trace_streams_release(&trace->streams);
	if (!trace->input_ended)
		input_end(source, true);
	source->info.damaged = true;
}

static int trace_source_next(struct dwell_source *source, const struct dwell_event **ret_event,
			     struct dwell_err *err)
{
	struct trace_source *trace = source->format;

	for (;;) {
		struct trace_stream *s;
		int rc, rc_advance;

		while (!trace->input_ended && trace_streams_hungry(&trace->streams)) {
			rc = block_take(source, err);
			if (rc)
				return rc;
		}
		s = trace_streams_first(&trace->streams);
		if (!s)
			break;
		rc = record_decode(source, s, &trace->event);
		rc_advance = rc >= 0 ? trace_streams_advance(&trace->streams) : 0;
		if (rc == -ENOMEM || rc_advance == -ENOMEM)
			return dwell_err_sys(err, -ENOMEM, "cannot read the trace");
		if (rc_advance)
			rc = rc_advance;
		if (rc < 0) {
			streams_abandon(source);
			break;
		}
		if (trace->event.time_ns < trace->last_ns)
			source->info.late++;
		else
			trace->last_ns = trace->event.time_ns;
		if (rc == 0) {
			*ret_event = &trace->event;
			return 1;
		}
	}
	if (!source->info.finished || source->info.damaged || source->info.end_ns < trace->last_ns)
		source->info.end_ns = trace->last_ns > source->info.start_ns
					      ? trace->last_ns
					      : source->info.start_ns;
	return 0;
}

static void trace_source_close(struct dwell_source *source)
{
	struct trace_source *trace = source->format;

	trace_streams_release(&trace->streams);
	trace_reader_free(trace->reader);
	free(trace->strings);
	free(trace);
}

static int64_t input_read_fd(void *user, void *bytes, uint64_t count)
{
	const struct dwell_source *source = user;

	return dwell_io_read(source->fd, bytes, count);
}

int trace_source_open_input(struct dwell_source *source, const struct trace_input *input,
			    const uint8_t *head, uint32_t head_bytes, struct dwell_err *err)
{
	static const struct source_ops ops = { trace_source_next, trace_source_close };
	struct trace_source *trace = calloc(1, sizeof(*trace));
	int rc;

	if (!trace)
		return dwell_err_sys(err, -ENOMEM, "cannot read the trace");
	rc = trace_reader_new(input, head, head_bytes, &trace->reader, err);
	if (rc) {
		free(trace);
		return rc;
	}
	source->format = trace;
	source->ops = &ops;
	source->info.format_name = "dwell trace";
	/* The facts stand before the first events. */
	while (!trace->input_ended && !trace->streams.heap_count) {
		rc = block_take(source, err);
		if (rc)
			return rc;
	}
	if (!dwell_source_fact(source, "window.start_ns"))
		return dwell_err_set(
			err, -EINVAL,
			source->info.damaged
				? "the trace is damaged at byte %llu, before its first "
				  "events"
				: "the trace ends at byte %llu, before its first events",
			(unsigned long long)trace_reader_offset(trace->reader));
	return 0;
}

int trace_source_open(struct dwell_source *source, const uint8_t *head, uint32_t head_bytes,
		      struct dwell_err *err)
{
	struct trace_input input = { input_read_fd, source };

	return trace_source_open_input(source, &input, head, head_bytes, err);
}
