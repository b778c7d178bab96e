// SPDX-License-Identifier: MIT
/* Samples of scheduler tracepoints become switches and wakings: who they are about stands in the
 * raw bytes, not in the sample's own pid and tid. */
#include <errno.h>
#include <string.h>

#include "lib/text.h"
#include "parse/perf_impl.h"

static int64_t number(const struct dwell_tracepoint_field *field,
		      const struct dwell_perf_sample *sample)
{
	return dwell_tracepoint_number(field, sample->raw, sample->raw_bytes);
}

static int32_t tid_of(int64_t value)
{
	return value > 0 && value <= INT32_MAX ? (int32_t)value : 0;
}

/* A thread first met in a switch has the name that stands there. */
static int comm_learn(struct dwell_source *source, uint32_t thread,
		      const struct dwell_perf_sample *sample, uint16_t at, uint16_t bytes)
{
	char raw[32] = "", comm[32];

	if (thread == DWELL_THREAD_IDLE || dwell_threads_get(source->threads, thread)->comm ||
	    bytes >= sizeof(raw) || (uint32_t)at + bytes > sample->raw_bytes)
		return 0;
	memcpy(raw, sample->raw + at, bytes);
	dwell_printable(comm, sizeof(comm), raw);
	return dwell_strings_add(source->strings, comm, strlen(comm),
				 &dwell_threads_get(source->threads, thread)->comm);
}

int perf_sched_switch(struct dwell_source *source, const struct dwell_perf_record *record,
		      const struct dwell_perf_sample *sample)
{
	struct perf_source *perf = source->format;
	const struct dwell_sched_switch *sw = &perf->sched_switch;
	struct dwell_event *event = &perf->event;
	uint64_t state = (uint64_t)number(&sw->prev_state, sample);
	int32_t prev = tid_of(number(&sw->prev_pid, sample));
	int32_t next = tid_of(number(&sw->next_pid, sample));
	enum dwell_task_state prev_state = dwell_sched_switch_state(sw, state);
	bool dies = prev_state == DWELL_TASK_DEAD || prev_state == DWELL_TASK_ZOMBIE;
	struct perf_cpu *cpu;
	int rc = perf_cpu_of(perf, event->cpu, &cpu);

	if (!rc)
		rc = source_exec_seen(source, event->cpu, cpu->running, prev,
				      dies ? DWELL_SIGHT_DIES : DWELL_SIGHT_RUNS);
	if (!rc)
		rc = perf_thread_leaving(source, cpu, (int32_t)sample->pid, prev, false,
					 &event->thread);
	if (!rc) /* who comes was known to run nowhere */
		rc = source_exec_seen(source, event->cpu, DWELL_THREAD_NONE, next,
				      DWELL_SIGHT_RUNS);
	if (!rc)
		rc = perf_thread(source, -1, next, false, false, &event->u.sw.next);
	if (!rc)
		rc = comm_learn(source, event->thread, sample, sw->prev_comm, sw->comm_bytes);
	if (!rc)
		rc = comm_learn(source, event->u.sw.next, sample, sw->next_comm, sw->comm_bytes);
	if (!rc)
		rc = perf_stack(source, record, sample, DWELL_CALLCHAIN_ALL, &event->stack);
	if (rc)
		return rc;
	event->kind = DWELL_EVENT_SWITCH;
	event->u.sw.prev_state = (uint8_t)prev_state;
	event->u.sw.preempted = state & sw->preempted_mask;
	cpu->left = event->thread;
	cpu->running = event->u.sw.next;
	source_switched(source, event->thread, event->u.sw.next, event->cpu);
	if (event->thread != DWELL_THREAD_IDLE && dies)
		dwell_threads_get(source->threads, event->thread)->died_ns = event->time_ns;
	return 0;
}

int perf_sched_waking(struct dwell_source *source, const struct dwell_perf_record *record,
		      const struct dwell_perf_sample *sample,
		      const struct dwell_sched_waking *waking, uint8_t kind)
{
	struct perf_source *perf = source->format;
	struct dwell_event *event = &perf->event;
	enum dwell_context context =
		dwell_tracepoint_context((uint64_t)number(&waking->common_flags, sample));
	int32_t waker = tid_of(number(&waking->common_pid, sample));
	int32_t woken = tid_of(number(&waking->pid, sample));
	int64_t target_cpu = number(&waking->target_cpu, sample);
	int rc;

	if (!woken)
		return 1;
	if (context == DWELL_CONTEXT_TASK && !waker)
		context = DWELL_CONTEXT_IDLE;
	event->kind = kind;
	event->u.wake.context = (uint8_t)context;
	event->u.wake.target_cpu =
		waking->target_cpu.bytes && target_cpu >= 0 && target_cpu < source->info.cpus
			? (uint32_t)target_cpu
			: DWELL_CPU_NONE;
	rc = perf_thread(source, -1, woken, false, false, &event->thread);
	if (!rc)
		rc = comm_learn(source, event->thread, sample, waking->comm, waking->comm_bytes);
	if (!rc)
		rc = perf_thread(source, (int32_t)sample->pid, waker, true, false,
				 &event->u.wake.waker);
	return rc ? rc
		  : perf_stack(source, record, sample,
			       context == DWELL_CONTEXT_TASK ? DWELL_CALLCHAIN_ALL
							     : DWELL_CALLCHAIN_INTERRUPT,
			       &event->stack);
}
