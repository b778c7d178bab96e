// SPDX-License-Identifier: MIT
/* Records of perf-script text become events: tids become threads as of that moment, and what a
 * line tells besides, a new comm for one, becomes an event of its own before it. */
#include <errno.h>
#include <string.h>

#include "lib/trace_format.h"
#include "parse/script_impl.h"

/* A record on its way. */
struct taking {
	struct dwell_source *source;
	struct script_source *script;
	const struct script_record *record;
	uint64_t time_ns;
	uint32_t cpu;
};

static const struct script_map *map_of(const struct taking *t)
{
	return &t->script->maps[t->script->chunk->parser];
}

static struct dwell_event *event_push(struct taking *t, uint8_t kind, uint32_t thread)
{
	struct dwell_event *event = &t->script->pending[t->script->pending_count++];

	*event = (struct dwell_event){
		.time_ns = t->time_ns, .cpu = t->cpu, .thread = thread, .kind = kind
	};
	return event;
}

/* The CPU's entry; NULL without one. *ret_rc: 0 or -ENOMEM. */
static struct script_cpu *cpu_need(struct taking *t, int *ret_rc)
{
	struct script_source *script = t->script;

	*ret_rc = 0;
	if (t->cpu == DWELL_CPU_NONE)
		return NULL;
	if (dwell_array_reserve(&script->cpus, (uint64_t)t->cpu + 1)) {
		*ret_rc = -ENOMEM;
		return NULL;
	}
	while (script->cpus.count <= t->cpu)
		script->cpus.data[script->cpus.count++] =
			(struct script_cpu){ .running = DWELL_THREAD_NONE,
					     .left = DWELL_THREAD_NONE };
	if (t->source->info.cpus < script->cpus.count)
		t->source->info.cpus = script->cpus.count;
	return &script->cpus.data[t->cpu];
}

/* The thread that has tid now; in a whole system, and where a line is its own, it is observed. */
static int thread_need(struct taking *t, int32_t pid, int32_t tid, bool may_be_dead, bool observed,
		       uint32_t *ret_index)
{
	struct dwell_threads *threads = t->source->threads;
	struct dwell_thread *thread;
	int rc;

	if (tid < 0)
		tid = DWELL_SCRIPT_NO_ID;
	*ret_index = may_be_dead ? dwell_threads_find(threads, tid) : DWELL_THREAD_NONE;
	if (*ret_index == DWELL_THREAD_NONE) {
		rc = dwell_threads_need(threads, pid, tid, ret_index);
		if (rc)
			return rc;
	}
	if (*ret_index == DWELL_THREAD_IDLE)
		return 0;
	thread = dwell_threads_get(threads, *ret_index);
	if (thread->pid < 0)
		thread->pid = pid;
	thread->observed |= observed || t->source->info.all_threads;
	return 0;
}

static int thread_leaving(struct taking *t, const struct script_cpu *cpu, int32_t pid, int32_t tid,
			  bool is_record, uint32_t *ret_index)
{
	*ret_index = cpu ? source_leaving(t->source, is_record ? cpu->left : DWELL_THREAD_NONE,
					  cpu->running, tid)
			 : DWELL_THREAD_NONE;
	return *ret_index == DWELL_THREAD_NONE
		       ? thread_need(t, pid, tid, is_record, true, ret_index)
		       : 0;
}

/* The line's tid on its CPU, or who comes (cpu NULL): see source_exec_seen(). */
static int exec_seen(const struct taking *t, const struct script_cpu *cpu, int32_t tid,
		     enum dwell_sight sight)
{
	return source_exec_seen(t->source, t->cpu, cpu ? cpu->running : DWELL_THREAD_NONE, tid,
				sight);
}

/* ":123" is what perf prints for a name that it does not know. */
static bool is_no_comm(const struct taking *t, uint32_t comm)
{
	const char *name = dwell_strings_get(t->source->strings, comm);

	return name[0] == ':' && name[1] && !name[1 + strspn(name + 1, "-0123456789")];
}

/* A comm that a line shows: the thread's first, or a new one, which is told before the event. */
static void comm_show(struct taking *t, uint32_t index, uint32_t comm)
{
	struct dwell_thread *thread = dwell_threads_get(t->source->threads, index);

	if (index == DWELL_THREAD_IDLE || !comm || thread->comm == comm)
		return;
	if (thread->comm && is_no_comm(t, comm))
		return;
	if (thread->comm)
		event_push(t, DWELL_EVENT_COMM, index)->u.comm.comm = comm;
	thread->comm = comm;
}

/* A comm in a trace text: taken where nothing better is known. */
static void comm_hint(struct taking *t, uint32_t index)
{
	struct dwell_thread *thread = dwell_threads_get(t->source->threads, index);

	if (index != DWELL_THREAD_IDLE && !thread->comm)
		thread->comm = script_map_string(map_of(t), t->record->other_comm);
}

static uint32_t stack_of(const struct taking *t)
{
	return t->record->stack ? map_of(t)->stacks.data[t->record->stack - 1] : 0;
}

static uint32_t comm_of(const struct taking *t)
{
	return script_map_string(map_of(t), t->record->comm);
}

/* The entry of the record's event. 0 or -ENOMEM. */
static int entry_need(struct taking *t, uint32_t *ret_entry)
{
	return script_map_event(&t->script->maps[t->script->chunk->parser], t->source,
				&t->script->entries, t->record, ret_entry);
}

/* The thread of a line that may say who runs. That of a dying one has tid -1, and no line has one
 * where -F left it out: who runs is known by switches. */
static int line_thread(struct taking *t, const struct script_cpu *cpu, uint32_t *ret_index)
{
	const struct script_record *r = t->record;

	if (r->tid < 0 && cpu && cpu->running != DWELL_THREAD_NONE) {
		*ret_index = cpu->running;
		return 0;
	}
	return thread_need(t, r->pid, r->tid, true, true, ret_index);
}

static int take_sample(struct taking *t)
{
	const struct script_record *r = t->record;
	struct dwell_event *event;
	uint32_t thread, entry;
	struct script_cpu *cpu;
	int rc;

	if (r->has_period && r->period > SOURCE_WEIGHT_MAX) {
		t->source->info.unknown_lines++;
		return 0;
	}
	cpu = cpu_need(t, &rc);
	if (!rc)
		rc = entry_need(t, &entry);
	/* Taken in the midst of a switch, it may still name who left. */
	if (!rc && r->tid >= 0 && cpu &&
	    cpu->left != dwell_threads_find(t->source->threads, r->tid))
		rc = exec_seen(t, cpu, r->tid, DWELL_SIGHT_RUNS);
	if (!rc)
		rc = line_thread(t, cpu, &thread);
	if (rc)
		return rc;
	comm_show(t, thread, comm_of(t));
	event = event_push(t, DWELL_EVENT_SAMPLE, thread);
	event->stack = stack_of(t);
	event->u.sample.event = entry;
	event->u.sample.weight = r->has_period ? r->period : 1;
	return 0;
}

/* sched_switch: the join is on the tids in the text. */
static int take_switch(struct taking *t)
{
	const struct script_record *r = t->record;
	struct dwell_event *event;
	uint32_t prev, next, entry;
	struct script_cpu *cpu;
	bool dies = r->state == DWELL_TASK_DEAD || r->state == DWELL_TASK_ZOMBIE;
	int rc = entry_need(t, &entry);

	if (!rc)
		cpu = cpu_need(t, &rc);
	if (!rc)
		rc = exec_seen(t, cpu, r->prev_tid, dies ? DWELL_SIGHT_DIES : DWELL_SIGHT_RUNS);
	if (!rc)
		rc = thread_leaving(t, cpu, r->tid == r->prev_tid ? r->pid : DWELL_SCRIPT_NO_ID,
				    r->prev_tid, false, &prev);
	if (!rc) /* who comes was known to run nowhere */
		rc = exec_seen(t, NULL, r->other_tid, DWELL_SIGHT_RUNS);
	if (!rc)
		rc = thread_need(t, DWELL_SCRIPT_NO_ID, r->other_tid, false, false, &next);
	if (rc)
		return rc;
	source_switched(t->source, prev, next, t->cpu);
	if (cpu) {
		cpu->left = prev;
		cpu->running = next;
	}
	if (r->tid == r->prev_tid)
		comm_show(t, prev, comm_of(t));
	comm_hint(t, next);
	event = event_push(t, DWELL_EVENT_SWITCH, prev);
	event->stack = stack_of(t);
	event->u.sw.next = next;
	event->u.sw.prev_state = r->state;
	event->u.sw.preempted = r->preempted;
	if (prev != DWELL_THREAD_IDLE && dies)
		dwell_threads_get(t->source->threads, prev)->died_ns = t->time_ns;
	if (!t->source->info.has_switches && !t->source->info.no_switches_reason)
		t->source->info.switches_unused++;
	return 0;
}

static int take_waking(struct taking *t)
{
	const struct script_record *r = t->record;
	bool is_new = r->kind == SCRIPT_WAKEUP_NEW;
	struct dwell_event *event;
	uint32_t waker, target, entry;
	struct script_cpu *cpu;
	int rc = entry_need(t, &entry);

	if (!rc)
		cpu = cpu_need(t, &rc);
	if (!rc)
		rc = line_thread(t, cpu, &waker);
	if (!rc)
		rc = thread_need(t, DWELL_SCRIPT_NO_ID, r->other_tid, false, false, &target);
	if (rc)
		return rc;
	comm_show(t, waker, comm_of(t));
	comm_hint(t, target);
	event = event_push(t, is_new ? DWELL_EVENT_WAKEUP_NEW : DWELL_EVENT_WAKING, target);
	event->stack = stack_of(t);
	event->u.wake.waker = waker;
	event->u.wake.context =
		waker == DWELL_THREAD_IDLE ? DWELL_CONTEXT_IDLE : DWELL_CONTEXT_TASK;
	event->u.wake.target_cpu =
		r->target_cpu < DWELL_TRACE_CPUS_MAX ? r->target_cpu : DWELL_CPU_NONE;
	return 0;
}

/* Who comes or leaves without a tid: an exiting thread has none any more, but who it is was told by
 * the tracepoint. DWELL_THREAD_NONE when nothing tells. */
static uint32_t nameless(const struct script_cpu *cpu, bool out)
{
	if (!cpu || (!out && cpu->left == DWELL_THREAD_NONE))
		return DWELL_THREAD_NONE;
	return out && cpu->left != DWELL_THREAD_NONE ? cpu->left : cpu->running;
}

/* Who a PERF_RECORD_SWITCH is about: 0, 1 when nothing tells, or -ENOMEM. */
static int in_out_thread(struct taking *t, struct script_cpu *cpu, bool out, uint32_t *ret_thread)
{
	const struct script_record *r = t->record;
	int rc = 0;

	if (r->tid < 0) {
		*ret_thread = nameless(cpu, out);
		if (cpu && !out)
			cpu->left = DWELL_THREAD_NONE;
		return *ret_thread == DWELL_THREAD_NONE;
	}
	if (!out)
		return thread_need(t, r->pid, r->tid, false, true, ret_thread);
	if (cpu && cpu->left == DWELL_THREAD_NONE)
		rc = exec_seen(t, cpu, r->tid, DWELL_SIGHT_RUNS);
	return rc ? rc : thread_leaving(t, cpu, r->pid, r->tid, true, ret_thread);
}

/* PERF_RECORD_SWITCH: the line's thread comes or leaves. */
static int take_in_out(struct taking *t)
{
	const struct script_record *r = t->record;
	bool out = r->kind == SCRIPT_SWITCH_OUT;
	struct dwell_event *event;
	uint32_t thread, other = DWELL_THREAD_NONE;
	struct script_cpu *cpu;
	int rc;

	cpu = cpu_need(t, &rc);
	if (!rc)
		rc = in_out_thread(t, cpu, out, &thread);
	if (rc == 1)
		return 0;
	if (!rc && r->other_tid >= 0 && r->other_pid >= 0)
		rc = thread_need(t, r->other_pid, r->other_tid, true, false, &other);
	if (rc)
		return rc;
	if (r->tid >= 0 && !out)
		source_switched(t->source, DWELL_THREAD_NONE, thread, t->cpu);
	else if (r->tid >= 0 && cpu && cpu->left == DWELL_THREAD_NONE)
		source_switched(t->source, thread, DWELL_THREAD_NONE, t->cpu);
	if (cpu && !out) {
		cpu->running = thread;
		cpu->left = DWELL_THREAD_NONE;
	}
	comm_show(t, thread, comm_of(t));
	event = event_push(t, out ? DWELL_EVENT_SWITCH_OUT : DWELL_EVENT_SWITCH_IN, thread);
	event->u.rec.preempted = r->preempted;
	event->u.rec.other = other;
	if (!t->source->info.has_switches && !t->source->info.no_switches_reason)
		t->source->info.switches_unused++;
	return 0;
}

/* A thread that perf lists at the start. In a recording of all threads that says nothing of what it
 * did: it is observed once an event names it. */
static int thread_listed(struct taking *t, int32_t pid, int32_t tid, uint32_t *ret_index)
{
	struct dwell_threads *threads = t->source->threads;
	bool observed = dwell_threads_get(threads, dwell_threads_find(threads, tid))->observed;
	int rc = thread_need(t, pid, tid, true, false, ret_index);

	if (!rc && t->source->info.all_threads)
		dwell_threads_get(threads, *ret_index)->observed = observed;
	return rc;
}

static int take_fork(struct taking *t)
{
	const struct script_record *r = t->record;
	struct dwell_thread *thread, *parent;
	uint32_t index, parent_index;
	bool known_before =
		!r->has_time || !r->time_ns; /* perf tells what was there at the start */
	int rc;

	if (r->other_tid <= 0)
		return 0;
	if (known_before)
		return thread_listed(t, r->other_pid, r->other_tid, &index);
	rc = thread_need(t, r->parent_pid, r->parent_tid, true, false, &parent_index);
	if (!rc)
		rc = dwell_threads_add(t->source->threads, r->other_pid, r->other_tid, t->time_ns,
				       &index);
	if (rc)
		return rc;
	thread = dwell_threads_get(t->source->threads, index);
	parent = dwell_threads_get(t->source->threads, parent_index);
	thread->parent = parent_index;
	thread->comm = is_no_comm(t, parent->comm) ? 0 : parent->comm;
	thread->observed = t->source->info.all_threads || parent->observed;
	event_push(t, DWELL_EVENT_FORK, index)->u.fork.parent = parent_index;
	return 0;
}

static int take_comm(struct taking *t)
{
	const struct script_record *r = t->record;
	uint32_t comm = script_map_string(map_of(t), r->other_comm), index;
	bool timed = r->has_time && r->time_ns;
	struct dwell_event *event;
	struct script_cpu *cpu;
	int rc;

	if (r->other_tid <= 0)
		return 0;
	cpu = cpu_need(t, &rc);
	if (!rc && timed && r->exec)
		rc = exec_seen(t, cpu, r->other_tid, DWELL_SIGHT_EXECS);
	if (!rc)
		rc = timed ? thread_need(t, r->other_pid, r->other_tid, true, false, &index)
			   : thread_listed(t, r->other_pid, r->other_tid, &index);
	if (!rc && timed && r->exec)
		rc = source_exec_life(t->source, t->time_ns, &index);
	if (rc)
		return rc;
	dwell_threads_get(t->source->threads, index)->comm = comm;
	if (!timed)
		return 0;
	event = event_push(t, DWELL_EVENT_COMM, index);
	event->u.comm.comm = comm;
	event->u.comm.exec = r->exec;
	return 0;
}

static int take_exit(struct taking *t)
{
	uint32_t index = dwell_threads_find(t->source->threads, t->record->other_tid);

	if (index == DWELL_THREAD_NONE || index == DWELL_THREAD_IDLE)
		return 0;
	event_push(t, DWELL_EVENT_EXIT, index);
	dwell_threads_get(t->source->threads, index)->exiting = true;
	return 0;
}

static int take_lost(struct taking *t)
{
	struct dwell_event *event;
	struct script_cpu *cpu;
	int rc;

	cpu = cpu_need(t, &rc);
	if (rc)
		return rc;
	if (cpu)
		cpu->running = cpu->left = DWELL_THREAD_NONE;
	event = event_push(t, DWELL_EVENT_GAP, DWELL_THREAD_NONE);
	event->u.gap.from_ns = cpu && cpu->seen ? cpu->last_ns : t->source->info.start_ns;
	event->u.gap.lost = t->record->period;
	t->source->info.lost += t->record->period;
	return 0;
}

static int take_any(struct taking *t)
{
	switch (t->record->kind) {
	case SCRIPT_SWITCH:
		return take_switch(t);
	case SCRIPT_WAKEUP:
		return t->script->wakeup_wakes ? take_waking(t) : take_sample(t);
	case SCRIPT_WAKING:
	case SCRIPT_WAKEUP_NEW:
		return take_waking(t);
	case SCRIPT_COMM:
		return take_comm(t);
	case SCRIPT_FORK:
		return take_fork(t);
	case SCRIPT_EXIT:
		return take_exit(t);
	case SCRIPT_SWITCH_IN:
	case SCRIPT_SWITCH_OUT:
		return take_in_out(t);
	case SCRIPT_LOST:
		return take_lost(t);
	default:
		return take_sample(t);
	}
}

/* The first event of a CPU whose switches are told twice. */
static void witness_tell(struct taking *t)
{
	struct dwell_event *event = event_push(t, DWELL_EVENT_CPU, DWELL_THREAD_NONE);

	event->u.cpu.witness = DWELL_WITNESS_BOTH;
	event->u.cpu.online = true;
}

int script_record_take(struct dwell_source *source, struct script_source *script,
		       const struct script_record *record, uint64_t time_ns)
{
	struct taking t = { source, script, record, time_ns,
			    record->cpu < DWELL_TRACE_CPUS_MAX ? record->cpu : DWELL_CPU_NONE };
	struct script_cpu *cpu;
	int rc;

	cpu = cpu_need(&t, &rc);
	if (rc)
		return rc;
	if (cpu && !cpu->seen && script->two_witnesses)
		witness_tell(&t);
	rc = take_any(&t);
	if (rc)
		return rc;
	if (t.cpu != DWELL_CPU_NONE) {
		script->cpus.data[t.cpu].seen = true;
		script->cpus.data[t.cpu].last_ns = time_ns;
	}
	for (uint32_t i = 0; i < script->pending_count / 2; i++) {
		struct dwell_event swap = script->pending[i];

		script->pending[i] = script->pending[script->pending_count - 1 - i];
		script->pending[script->pending_count - 1 - i] = swap;
	}
	return 0;
}
