// SPDX-License-Identifier: MIT
/* Encoded records become events, one struct dwell_event each, with tids turned into threads as of
 * that moment. Fields: see lib/trace_format.h. */
#include <errno.h>

#include "lib/trace_format.h"
#include "parse/trace_impl.h"

/* The thread that has tid now. In a whole-system recording every thread is observed. */
static int thread_need(struct dwell_source *source, int32_t pid, uint64_t tid, bool may_be_dead,
		       uint32_t *ret_index)
{
	uint32_t count = dwell_threads_count(source->threads);
	int rc;

	if (tid > INT32_MAX)
		return -EBADMSG;
	*ret_index =
		may_be_dead ? dwell_threads_find(source->threads, (int32_t)tid) : DWELL_THREAD_NONE;
	if (*ret_index != DWELL_THREAD_NONE)
		return 0;
	rc = dwell_threads_need(source->threads, pid, (int32_t)tid, ret_index);
	if (!rc && dwell_threads_count(source->threads) != count && !trace_tables_fit(source))
		return -EBADMSG;
	if (!rc && source->info.all_threads && *ret_index != DWELL_THREAD_IDLE)
		dwell_threads_get(source->threads, *ret_index)->observed = true;
	return rc;
}

/* SWITCH_OUT comes behind the switch's tracepoint, where there is one. */
static int thread_leaving(struct dwell_source *source, const struct trace_stream *s, uint32_t tid,
			  bool is_record, uint32_t *ret_index)
{
	*ret_index =
		source_leaving(source, is_record ? s->left : DWELL_THREAD_NONE, s->running, tid);
	return *ret_index == DWELL_THREAD_NONE ? thread_need(source, -1, tid, is_record, ret_index)
					       : 0;
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
	rc = thread_leaving(source, s, prev, false, &event->thread);
	if (!rc)
		rc = thread_need(source, -1, next, false, &event->u.sw.next);
	if (rc)
		return rc;
	s->left = event->thread;
	s->running = event->u.sw.next;
	if (event->thread != DWELL_THREAD_IDLE && (event->u.sw.prev_state == DWELL_TASK_DEAD ||
						   event->u.sw.prev_state == DWELL_TASK_ZOMBIE))
		dwell_threads_get(source->threads, event->thread)->died_ns = event->time_ns;
	return 0;
}

static int record_in_out(struct dwell_source *source, struct trace_stream *s, unsigned kind,
			 unsigned flags, struct dwell_event *event)
{
	uint32_t tid = flags & DWELL_REC_TID ? dwell_cursor_u32(&s->cursor) : s->current;
	int rc;

	event->u.rec.other = DWELL_THREAD_NONE;
	if (kind == DWELL_REC_OUT) {
		event->kind = DWELL_EVENT_SWITCH_OUT;
		event->u.rec.preempted = flags & DWELL_OUT_PREEMPT;
		event->stack = flags & DWELL_OUT_STACK ? dwell_cursor_u32(&s->cursor) : 0;
		return thread_leaving(source, s, tid, true, &event->thread);
	}
	s->current = tid;
	event->kind = DWELL_EVENT_SWITCH_IN;
	rc = thread_need(source, -1, tid, false, &event->thread);
	if (rc)
		return rc;
	s->running = event->thread;
	s->left = DWELL_THREAD_NONE;
	return 0;
}

static int record_waking(struct dwell_source *source, struct trace_stream *s, unsigned kind,
			 unsigned flags, struct dwell_event *event)
{
	struct dwell_cursor *c = &s->cursor;
	uint32_t target = dwell_cursor_u32(c);
	uint32_t waker = flags & DWELL_WAKING_WAKER ? dwell_cursor_u32(c) : s->current;
	/* Unsigned: a distance that makes no sense wraps to a CPU that does not exist. */
	uint64_t cpu = event->cpu + (uint64_t)dwell_cursor_svarint(c);
	int rc;

	event->kind = kind == DWELL_REC_WAKING ? DWELL_EVENT_WAKING : DWELL_EVENT_WAKEUP_NEW;
	event->stack = dwell_cursor_u32(c);
	event->u.wake.context = (flags >> DWELL_WAKING_CONTEXT_SHIFT) & 3;
	event->u.wake.target_cpu = cpu < DWELL_TRACE_CPUS_MAX ? (uint32_t)cpu : DWELL_CPU_NONE;
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

	/* It stands where it begins: what other CPUs' events seem to prove meanwhile must wait. */
	s->running = s->left = DWELL_THREAD_NONE;
	event->kind = DWELL_EVENT_GAP;
	event->u.gap.from_ns = s->time_ns;
	event->time_ns = span_ns < UINT64_MAX - s->time_ns ? s->time_ns + span_ns : UINT64_MAX;
	event->u.gap.lost = dwell_cursor_varint(&s->cursor);
	return 0;
}

/* The life that THREAD tells of. One that joins again may have ended meanwhile. */
static int thread_told(struct dwell_source *source, int32_t pid, uint64_t tid, bool joins,
		       uint32_t *ret_index)
{
	uint32_t latest = joins && tid <= INT32_MAX
				  ? dwell_threads_find(source->threads, (int32_t)tid)
				  : DWELL_THREAD_NONE;
	bool again =
		latest != DWELL_THREAD_NONE && dwell_threads_get(source->threads, latest)->stopped;

	return thread_need(source, pid, tid, again, ret_index);
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
	rc = thread_told(source, (int32_t)pid, tid, flags & DWELL_THREAD_FLAG_JOINED, &index);
	if (rc)
		return rc;
	thread = dwell_threads_get(source->threads, index);
	thread->pid = (int32_t)pid;
	thread->ns_pid = (int32_t)ns_pid;
	thread->ns_tid = (int32_t)ns_tid;
	thread->comm = string_of(trace, comm);
	if (cgroup) /* what its FORK told holds until better is known */
		thread->cgroup = string_of(trace, cgroup);
	if (uid)
		thread->uid = (uint32_t)uid - 1;
	if ((!thread->observed || thread->stopped) && flags & DWELL_THREAD_FLAG_JOINED) {
		thread->joined_ns = s->time_ns;
		thread->stopped = false;
	}
	thread->observed |= flags & DWELL_THREAD_FLAG_OBSERVED;
	thread->kernel |= flags & DWELL_THREAD_FLAG_KERNEL;
	thread->recorder |= flags & DWELL_THREAD_FLAG_RECORDER;
	thread->roams = flags & DWELL_THREAD_FLAG_ROAMS;
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

	if (c->bad || tid == 0 || tid > INT32_MAX || pid < -1 || pid > INT32_MAX ||
	    !trace_tables_fit(source))
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
	thread->roams = parent->roams;
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
	int rc = s->cursor.bad ? -EBADMSG : thread_need(source, -1, tid, true, &event->thread);

	if (!rc && flags & DWELL_COMM_EXEC)
		rc = source_exec_life(source, event->time_ns, &event->thread);
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
		return first < DWELL_TRACE_CPUS_MAX && event->u.cpu.witness <= DWELL_WITNESS_BOTH
			       ? 0
			       : -EBADMSG;
	case DWELL_MORE_STOPPED:
		event->kind = DWELL_EVENT_STOPPED;
		rc = thread_need(source, -1, first, true, &event->thread);
		if (!rc)
			dwell_threads_get(source->threads, event->thread)->stopped = true;
		return rc;
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

static int record_fields(struct dwell_source *source, struct trace_stream *s,
			 struct dwell_event *event)
{
	unsigned kind = s->tag & 15, flags = s->tag & 0xf0;

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
	case DWELL_REC_EXIT: {
		int rc = thread_need(source, -1, dwell_cursor_varint(&s->cursor), true,
				     &event->thread);

		event->kind = DWELL_EVENT_EXIT;
		if (!rc)
			dwell_threads_get(source->threads, event->thread)->exiting = true;
		return rc;
	}
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

int trace_record_decode(struct dwell_source *source, struct trace_stream *s,
			struct dwell_event *event)
{
	int rc;

	*event = (struct dwell_event){ .time_ns = s->time_ns,
				       .cpu = s->id ? s->id - 1 : DWELL_CPU_NONE,
				       .thread = DWELL_THREAD_NONE };
	rc = record_fields(source, s, event);
	if (!rc && event->stack && event->stack >= dwell_stacks_node_count(source->stacks))
		return -EBADMSG;
	return rc;
}
