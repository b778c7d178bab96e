// SPDX-License-Identifier: MIT
/* Ring records become trace records: each pass takes what was stamped before it began, in time
 * order, so that every mapping, name, birth and death older than an event is known before it. */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "lib/io.h"
#include "parse/perf/sample.h"
#include "record/recording.h"

enum {
	FLUSH_EVERY = 1024, /* records, until the buffers are looked at */
	/* An event is committed some time after it was stamped; a block's promise leaves this much.
	 */
	SETTLE_NS = 20000000,
	TRAILER_BYTES = 16, /* pid, tid, time */
};

uint64_t recording_now_ns(const struct recording *rec)
{
	return dwell_io_now_ns() + (uint64_t)rec->clock_offset_ns;
}

uint64_t recording_horizon_ns(const struct recording *rec)
{
	return rec->last_pass_ns > SETTLE_NS ? rec->last_pass_ns - SETTLE_NS : 0;
}

/* Of a record that has the trailer TID, TIME. */
static uint32_t trailer_tid(const struct perf_event_header *record)
{
	uint32_t tid;

	memcpy(&tid, (const uint8_t *)record + record->size - TRAILER_BYTES + 4, 4);
	return tid;
}

/* The tid by which the trace knows a thread that a tracepoint names. */
static uint32_t own_tid(const struct recording *rec, int64_t payload_tid)
{
	uint32_t own;

	if (payload_tid <= 0 || payload_tid >= TID_ALIAS)
		return 0;
	if (!rec->pid_namespace)
		return (uint32_t)payload_tid;
	own = dwell_idmap_find(&rec->own_tids, (uint64_t)payload_tid);
	return own ? own : (uint32_t)payload_tid + TID_ALIAS;
}

/* Inside a pid namespace: this thread (as the sample names it, or 0) is that of the tracepoint. */
static int learn_tid(struct recording *rec, uint64_t time_ns, int64_t payload_tid, uint32_t tid,
		     int32_t pid)
{
	uint32_t alias = (uint32_t)payload_tid + TID_ALIAS;
	int rc;

	if (!rec->pid_namespace || !tid || tid >= TID_ALIAS || payload_tid <= 0 ||
	    payload_tid >= TID_ALIAS ||
	    dwell_idmap_find(&rec->own_tids, (uint64_t)payload_tid) == tid)
		return 0;
	rc = dwell_idmap_set(&rec->own_tids, (uint64_t)payload_tid, tid);
	rec->foreign -= rec->foreign && tids_slot(&rec->tids, alias)->declared;
	if (rc || tids_slot(&rec->tids, tid)->declared || !tids_slot(&rec->tids, alias)->declared)
		return rc;
	rc = tids_begin(&rec->tids, tid, pid, rec->config->all && targets_want(rec, pid));
	if (rc)
		return rc;
	tids_end(&rec->tids, alias);
	rc = trace_writer_retid(rec->writer, time_ns, (int32_t)alias, (int32_t)tid);
	return rc ? rc : targets_declare(rec, time_ns, tid, pid, NULL);
}

/* The stack of a sample's callchain, in the process that the sample names. */
static int sample_stack(struct recording *rec, const struct dwell_perf_sample *sample, int32_t pid,
			enum dwell_callchain_part part, uint32_t *ret_stack)
{
	*ret_stack = 0;
	if (!sample->chain_count && !sample->user_regs)
		return 0;
	if (pid > 0 && !dwell_addrspaces_known(rec->spaces, pid) &&
	    dwell_addrspaces_read_proc(rec->spaces, "/proc", pid, NULL))
		dwell_addrspaces_exec(rec->spaces, pid); /* gone: known to have nothing */
	if (pid > 0 && jitcode_until(&rec->identify.jit, rec->spaces, pid, sample->time_ns))
		return -ENOMEM;
	return chains_stack(rec->chains, pid, sample, part, ret_stack);
}

static void comm_copy(char comm[32], const struct dwell_perf_sample *sample, uint16_t offset,
		      uint16_t bytes)
{
	char raw[32] = "";

	if (bytes < sizeof(raw) && (uint32_t)offset + bytes <= sample->raw_bytes)
		memcpy(raw, sample->raw + offset, bytes);
	dwell_printable(comm, 32, raw);
}

/* Makes sure that the trace has a thread before an event names it. */
static int declare_from(struct recording *rec, uint64_t time_ns, uint32_t tid, int32_t pid,
			const struct dwell_perf_sample *sample, uint16_t comm_at,
			uint16_t comm_bytes)
{
	char comm[32];

	if (!tid || tids_slot(&rec->tids, tid)->declared)
		return 0;
	comm_copy(comm, sample, comm_at, comm_bytes);
	return targets_declare(rec, time_ns, tid, pid, comm);
}

static bool observed(const struct recording *rec, uint32_t tid)
{
	return tids_slot(&rec->tids, tid)->observed;
}

/* An exiting thread's record of its switch-in has no tid: whoever leaves next is who came. */
static int put_nameless_in(struct recording *rec, uint32_t cpu, uint32_t tid)
{
	struct trace_record record = { .time_ns = rec->cpus[cpu].nameless_in_ns,
				       .kind = DWELL_REC_IN,
				       .tid = tid };
	struct tid_slot *slot = tids_slot(&rec->tids, tid);

	rec->cpus[cpu].nameless_in_ns = 0;
	if (!slot->exiting || !slot->declared || !slot->observed)
		return 0;
	return trace_writer_put(rec->writer, cpu, &record);
}

/* A thread gives its tid back some time before its last switch: is prev, who leaves the CPU, an
 * earlier owner of the tid than the one born last? */
static bool former_life(const struct recording *rec, const struct cpu_intake *c, uint32_t prev)
{
	return c->chained && c->current == prev && c->births != tids_slot(&rec->tids, prev)->births;
}

static int take_switch(struct recording *rec, uint32_t cpu, const struct dwell_perf_sample *sample)
{
	const struct dwell_sched_switch *sw = &rec->facts.sched_switch;
	struct cpu_intake *c = &rec->cpus[cpu];
	int64_t prev_tid = dwell_tracepoint_number(&sw->prev_pid, sample->raw, sample->raw_bytes);
	int64_t next_tid = dwell_tracepoint_number(&sw->next_pid, sample->raw, sample->raw_bytes);
	uint64_t state =
		(uint64_t)dwell_tracepoint_number(&sw->prev_state, sample->raw, sample->raw_bytes);
	struct trace_record record = {
		.time_ns = sample->time_ns,
		.kind = DWELL_REC_SWITCH,
		.state = dwell_sched_switch_state(sw, state),
		.preempted = state & sw->preempted_mask,
	};
	int32_t pid = (int32_t)sample->pid;
	bool former, dies;
	int rc = learn_tid(rec, sample->time_ns, prev_tid, sample->tid, pid);

	if (rc)
		return rc;
	record.tid = own_tid(rec, prev_tid);
	record.other = own_tid(rec, next_tid);
	if (sample->time_ns < rec->overlap_until_ns && c->prev == record.tid &&
	    c->next == record.other && c->current == record.other)
		return 0; /* the other filtered event's copy */
	dies = record.state == DWELL_TASK_DEAD || record.state == DWELL_TASK_ZOMBIE;
	rc = exec_seen(rec, cpu, record.tid, dies ? DWELL_SIGHT_DIES : DWELL_SIGHT_RUNS,
		       sample->time_ns);
	if (!rc)
		rc = exec_comes(rec, cpu, record.other, sample->time_ns);
	if (!rc)
		rc = witness_check(rec, cpu, record.tid);
	if (rc)
		return rc;
	if (c->nameless_in_ns) {
		rc = put_nameless_in(rec, cpu, record.tid);
		if (rc)
			return rc;
	}
	former = former_life(rec, c, record.tid);
	c->leaving = true;
	c->prev = record.tid;
	c->next = c->current = c->tracepoint_next = record.other;
	c->births = tids_slot(&rec->tids, record.other)->births;
	c->chained = true;
	if (!former)
		tids_slot(&rec->tids, record.tid)->out_ns = sample->time_ns;
	tids_slot(&rec->tids, record.other)->out_ns = 0;
	if (!rec->config->all && !observed(rec, record.tid) && !observed(rec, record.other)) {
		rec->passed_over++;
		return 0;
	}
	/* A dying thread's last switch names no process. */
	if (pid <= 0)
		pid = tids_slot(&rec->tids, record.tid)->pid;
	rc = declare_from(rec, sample->time_ns, record.tid, pid, sample, sw->prev_comm,
			  sw->comm_bytes);
	if (!rc)
		rc = declare_from(rec, sample->time_ns, record.other, 0, sample, sw->next_comm,
				  sw->comm_bytes);
	if (!rc && record.tid && observed(rec, record.tid))
		rc = sample_stack(rec, sample, pid, DWELL_CALLCHAIN_ALL, &record.stack);
	if (!rc)
		rc = trace_writer_put(rec->writer, cpu, &record);
	if (!former && dies) {
		pid = tids_slot(&rec->tids, record.tid)->pid;
		if (tids_end(&rec->tids, record.tid))
			dwell_addrspaces_exit(rec->spaces, pid);
	}
	return rc;
}

static int take_waking(struct recording *rec, uint32_t cpu, const struct dwell_perf_sample *sample,
		       const struct dwell_sched_waking *waking, unsigned kind)
{
	struct cpu_intake *c = &rec->cpus[cpu];
	int64_t waker =
		dwell_tracepoint_number(&waking->common_pid, sample->raw, sample->raw_bytes);
	int64_t woken = dwell_tracepoint_number(&waking->pid, sample->raw, sample->raw_bytes);
	uint64_t flags = (uint64_t)dwell_tracepoint_number(&waking->common_flags, sample->raw,
							   sample->raw_bytes);
	enum dwell_context context = dwell_tracepoint_context(flags);
	struct trace_record record = { .time_ns = sample->time_ns, .kind = (uint8_t)kind };
	uint32_t child;
	int rc = learn_tid(rec, sample->time_ns, waker, sample->tid, (int32_t)sample->pid);

	/* A parent wakes the child that it made last: so the child's tid here is learnt. */
	child = rec->pid_namespace && kind == DWELL_REC_WAKEUP_NEW
			? dwell_idmap_find(&rec->forks, sample->tid)
			: 0;
	if (!rc && child) {
		dwell_idmap_remove(&rec->forks, sample->tid);
		rc = learn_tid(rec, sample->time_ns, woken, child,
			       tids_slot(&rec->tids, child)->pid);
	}
	if (rc)
		return rc;
	record.tid = own_tid(rec, woken);
	record.other = own_tid(rec, waker);
	record.cpu = waking->target_cpu.bytes
			     ? (uint32_t)dwell_tracepoint_number(&waking->target_cpu, sample->raw,
								 sample->raw_bytes)
			     : cpu;
	rc = exec_seen(rec, cpu, record.other, DWELL_SIGHT_RUNS, sample->time_ns);
	if (!rc && kind == DWELL_REC_WAKEUP_NEW && context == DWELL_CONTEXT_TASK)
		rc = loss_birth(rec, sample->time_ns, record.other, record.tid);
	if (rc)
		return rc;
	if (!rec->config->all && !observed(rec, record.tid)) {
		rec->passed_over++;
		return 0;
	}
	/* Whoever is woken again has gone to sleep again. */
	if (sample->time_ns < rec->overlap_until_ns && c->woken == record.tid &&
	    c->woken_out_ns == tids_slot(&rec->tids, record.tid)->out_ns)
		return 0; /* the other filtered event's copy */
	c->woken = record.tid;
	c->woken_out_ns = tids_slot(&rec->tids, record.tid)->out_ns;
	if (context == DWELL_CONTEXT_TASK && !record.other)
		context = DWELL_CONTEXT_IDLE;
	record.state = (uint8_t)context;
	rc = declare_from(rec, sample->time_ns, record.tid, 0, sample, waking->comm,
			  waking->comm_bytes);
	if (!rc && context == DWELL_CONTEXT_TASK && record.other &&
	    !tids_slot(&rec->tids, record.other)->declared)
		rc = targets_declare(rec, sample->time_ns, record.other, (int32_t)sample->pid,
				     NULL);
	if (!rc)
		rc = sample_stack(rec, sample, (int32_t)sample->pid,
				  context == DWELL_CONTEXT_TASK ? DWELL_CALLCHAIN_ALL
								: DWELL_CALLCHAIN_INTERRUPT,
				  &record.stack);
	return rc ? rc : trace_writer_put(rec->writer, cpu, &record);
}

static int take_clock(struct recording *rec, uint32_t cpu, const struct dwell_perf_sample *sample)
{
	struct trace_record record = { .time_ns = sample->time_ns,
				       .kind = DWELL_REC_SAMPLE,
				       .tid = sample->tid,
				       .other = rec->event_index[RECORD_CLOCK] };
	int rc;

	/* An exiting thread's sample has tid -1: its time is in its switches all the same. */
	if (!sample->tid || sample->tid >= TID_ALIAS)
		return 0;
	/* Taken in the midst of a switch, it may still name who left; but not for ever. */
	rc = sample->tid == rec->cpus[cpu].prev && tids_slot(&rec->tids, record.tid)->alive
		     ? 0
		     : exec_seen(rec, cpu, record.tid, DWELL_SIGHT_RUNS, sample->time_ns);
	if (rc || (!rec->config->all && !observed(rec, record.tid)))
		return rc;
	if (!tids_slot(&rec->tids, record.tid)->declared) {
		if (rec->pid_namespace) /* not learnt yet under which tid switches name it */
			return 0;
		rc = targets_declare(rec, sample->time_ns, record.tid, (int32_t)sample->pid, NULL);
		if (rc)
			return rc;
	}
	rc = sample_stack(rec, sample, (int32_t)sample->pid, DWELL_CALLCHAIN_ALL, &record.stack);
	return rc ? rc : trace_writer_put(rec->writer, cpu, &record);
}

/* context-switches: the stack of the switch-out record that follows. */
static int take_stack(struct recording *rec, uint32_t cpu, const struct dwell_perf_sample *sample)
{
	rec->cpus[cpu].pending_tid = sample->tid;
	return sample_stack(rec, sample, (int32_t)sample->pid, DWELL_CALLCHAIN_ALL,
			    &rec->cpus[cpu].pending_stack);
}

/* What lost records would have told of the thread that a sample is of. */
static int learn_from(struct recording *rec, uint32_t cpu, const struct dwell_perf_sample *sample,
		      uint16_t type)
{
	const struct dwell_sched_switch *sw = &rec->facts.sched_switch;
	char comm[32];

	if (type != sw->id || !loss_doubts_names(rec))
		return loss_learn(rec, cpu, sample, NULL);
	comm_copy(comm, sample, sw->prev_comm, sw->comm_bytes);
	return loss_learn(rec, cpu, sample, comm);
}

/* With or without a copy of the user stack: what lies behind the rest of a record tells. */
static bool sample_decode(const struct recording *rec, const struct perf_event_header *record,
			  struct dwell_perf_sample *ret_sample)
{
	uint32_t bytes = record->size - (uint32_t)sizeof(*record);

	*ret_sample = (struct dwell_perf_sample){ 0 };
	return (rec->config->stack_bytes &&
		dwell_perf_sample_decode(&rec->events.copied, record + 1, bytes, ret_sample)) ||
	       dwell_perf_sample_decode(&rec->events.layout, record + 1, bytes, ret_sample);
}

/* Every sample counts as read; one stamped outside the window goes no further. */
static int take_sample(struct recording *rec, uint32_t cpu, const struct perf_event_header *record,
		       bool outside)
{
	struct event_count *counts = rec->events.cpus[cpu].counts;
	struct dwell_perf_sample sample;
	uint16_t type = 0;

	if (!sample_decode(rec, record, &sample))
		return dwell_err_set(&rec->err, -EBADMSG,
				     "the kernel's sample does not have the layout asked for");
	if (!rec->facts.tracepoints) {
		bool clock = sample.period != 1;

		counts[clock ? RECORD_CLOCK : RECORD_STACKS].parsed++;
		return outside ? 0
		       : clock ? take_clock(rec, cpu, &sample)
			       : take_stack(rec, cpu, &sample);
	}
	if (sample.raw_bytes >= 8) /* else no tracepoint: four bytes of padding */
		memcpy(&type, sample.raw, sizeof(type));
	if (!outside) {
		int rc = learn_from(rec, cpu, &sample, type);

		if (rc)
			return rc;
	}
	if (type == rec->facts.sched_switch.id) {
		counts[RECORD_SWITCH].parsed++;
		return outside ? 0 : take_switch(rec, cpu, &sample);
	}
	if (type == rec->facts.waking.id) {
		counts[RECORD_WAKING].parsed++;
		return outside ? 0
			       : take_waking(rec, cpu, &sample, &rec->facts.waking,
					     DWELL_REC_WAKING);
	}
	if (type == rec->facts.wakeup_new.id) {
		counts[RECORD_WAKEUP_NEW].parsed++;
		return outside ? 0
			       : take_waking(rec, cpu, &sample, &rec->facts.wakeup_new,
					     DWELL_REC_WAKEUP_NEW);
	}
	counts[RECORD_CLOCK].parsed++;
	return outside ? 0 : take_clock(rec, cpu, &sample);
}

/* PERF_RECORD_SWITCH and SWITCH_CPU_WIDE. */
static int take_switch_record(struct recording *rec, uint32_t cpu,
			      const struct perf_event_header *header, uint64_t time_ns)
{
	struct cpu_intake *c = &rec->cpus[cpu];
	bool out = header->misc & PERF_RECORD_MISC_SWITCH_OUT;
	/* The tracepoint comes first, and has made next the current one. */
	bool same = out && c->leaving;
	uint32_t leaving = same ? c->prev : c->current;
	struct trace_record record = {
		.time_ns = time_ns,
		.kind = out ? DWELL_REC_OUT : DWELL_REC_IN,
		.preempted = header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT,
	};
	struct tid_slot *slot;
	int rc;

	if (header->size < sizeof(*header) + TRAILER_BYTES)
		return -EBADMSG;
	record.tid = trailer_tid(header);
	rec->events.cpus[cpu].counts[RECORD_RECORDS].parsed++;
	c->leaving = false;
	if (record.tid >= TID_ALIAS) { /* -1: an exiting thread; the tracepoint named it */
		record.tid = out ? leaving : c->tracepoint_next;
		if (!out && !tids_slot(&rec->tids, record.tid)->exiting) {
			c->nameless_in_ns = time_ns;
			return 0;
		}
	}
	if (same && exec_renamed(rec, leaving, record.tid))
		record.tid = leaving; /* between the two witnesses of its switch */
	/* A thread of another namespace has no tid here: the tracepoint's alias. */
	if (rec->pid_namespace && !record.tid && c->chained) {
		uint32_t told = out ? leaving : c->current;

		record.tid = told >= TID_ALIAS ? told : 0;
	}
	rc = out ? 0 : exec_comes(rec, cpu, record.tid, time_ns);
	if (!rc && out && !rec->facts.tracepoints)
		rc = exec_seen(rec, cpu, record.tid, DWELL_SIGHT_RUNS, time_ns);
	if (rc)
		return rc;
	if (!out) {
		/* No tracepoint told of this one: this CPU's idle task does hide them. */
		if (rec->config->all && record.tid && !c->tracepoint_next)
			rec->events.cpus[cpu].provisional = false;
		c->current = record.tid;
		c->births = tids_slot(&rec->tids, record.tid)->births;
		c->chained = true;
	}
	slot = tids_slot(&rec->tids, record.tid);
	if (!rec->config->all && !slot->observed)
		return 0;
	if (record.tid && !slot->declared && slot->exiting)
		return 0; /* the record behind a thread's last switch */
	if (out && c->pending_stack && c->pending_tid == record.tid)
		record.stack = c->pending_stack;
	c->pending_stack = 0;
	if (record.tid && !slot->declared && !out) {
		rc = targets_declare(rec, time_ns, record.tid, 0, NULL);
		if (rc)
			return rc;
	}
	return trace_writer_put(rec->writer, cpu, &record);
}

static int take_main(struct recording *rec, uint32_t cpu, const struct perf_event_header *record,
		     uint64_t time_ns)
{
	/* Before the window opens, some CPUs' events run already and others' do not yet: what a
	 * thread does there makes no whole. */
	bool outside = (rec->end_ns && time_ns > rec->end_ns) || time_ns < rec->start_ns;
	int rc;

	rec->records++;
	if (outside &&
	    (record->type == PERF_RECORD_SWITCH || record->type == PERF_RECORD_SWITCH_CPU_WIDE ||
	     (rec->end_ns && record->type != PERF_RECORD_SAMPLE &&
	      record->type != PERF_RECORD_LOST)))
		return 0;
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		rc = take_sample(rec, cpu, record, outside);
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		rc = take_switch_record(rec, cpu, record, time_ns);
		break;
	case PERF_RECORD_LOST:
		rc = loss_main(rec, cpu, record, time_ns);
		break;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		rc = trace_writer_throttle(rec->writer, time_ns, cpu,
					   record->type == PERF_RECORD_THROTTLE,
					   rec->event_index[RECORD_CLOCK]);
		break;
	default:
		rc = side_record(rec, cpu, record, time_ns);
		break;
	}
	if (time_ns > rec->cpus[cpu].last_ns)
		rec->cpus[cpu].last_ns = time_ns;
	return rc;
}

static int take_side(struct recording *rec, uint32_t cpu, const struct perf_event_header *record,
		     uint64_t time_ns)
{
	int rc = 0;

	rec->records++;
	if (record->type == PERF_RECORD_LOST)
		rc = loss_side(rec, cpu, record, time_ns);
	else if (!rec->end_ns || time_ns <= rec->end_ns)
		rc = side_record(rec, cpu, record, time_ns);
	rec->cpus[cpu].side_ns = time_ns;
	return rc;
}

/* The heads are noted one after the other: a ring noted late may show what follows from a record
 * that the ring noted first did not show yet (a thread's COMM without its FORK). What was stamped
 * before the first note is whole. When the window is closed nothing more comes. */
static int rings_note(struct recording *rec)
{
	int rc = 0;

	rec->last_pass_ns = rec->pass_ns;
	rec->pass_ns = recording_now_ns(rec);
	merge_start(&rec->merge, rec->end_ns ? UINT64_MAX : rec->pass_ns);
	for (uint32_t cpu = 0; !rc && cpu < rec->events.cpu_count; cpu++) {
		struct cpu_events *c = &rec->events.cpus[cpu];

		for (struct ring *ring = &c->main; !rc && ring;
		     ring = ring == &c->main ? &c->side : NULL) {
			if (!ring->page)
				continue;
			ring_note(ring);
			if (ring == &c->side)
				loss_look(rec, cpu);
			rc = merge_add(&rec->merge, ring, cpu, ring == &c->side);
		}
	}
	return rc;
}

static int rings_check(struct recording *rec)
{
	for (uint32_t cpu = 0; cpu < rec->events.cpu_count; cpu++)
		if (rec->events.cpus[cpu].main.broken || rec->events.cpus[cpu].side.broken)
			return dwell_err_set(&rec->err, -EBADMSG,
					     "the ring buffer of CPU %u is corrupt", cpu);
	return 0;
}

int intake_pass(struct recording *rec)
{
	const struct merge_head *head;
	int rc = rings_note(rec);

	if (!rc)
		rc = jitcode_more(&rec->identify.jit);
	for (uint32_t n = 1; !rc && (head = merge_peek(&rec->merge)); n++) {
		rc = (head->side ? take_side : take_main)(rec, head->cpu, head->record,
							  head->time_ns);
		merge_pop(&rec->merge);
		if (!rc && n % FLUSH_EVERY == 0 && trace_writer_full(rec->writer))
			rc = trace_writer_flush(rec->writer, recording_horizon_ns(rec), &rec->err);
	}
	if (!rc)
		rc = rings_check(rec);
	if (rc && !rec->err.code)
		dwell_err_sys(&rec->err, rc, "cannot record");
	return rc;
}
