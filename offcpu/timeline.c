// SPDX-License-Identifier: MIT
/* Events in, intervals out: hands each event to the CPU and the thread that it concerns, closes
 * everything at the window's end, and checks that the books balance. */
#include "offcpu/timeline.h"

#include <inttypes.h>
#include <stdlib.h>

#include "offcpu/slot.h"

struct dwell_timeline *dwell_timeline_new(const struct dwell_threads *threads, uint64_t start_ns,
					  bool all_threads, const struct dwell_timeline_ops *ops,
					  void *user)
{
	struct dwell_timeline *tl = calloc(1, sizeof(*tl));

	if (!tl)
		return NULL;
	tl->threads = threads;
	tl->ops = *ops;
	tl->user = user;
	tl->start_ns = tl->now_ns = start_ns;
	tl->all_threads = all_threads;
	return tl;
}

void dwell_timeline_free(struct dwell_timeline *timeline)
{
	if (!timeline)
		return;
	dwell_array_release(&timeline->slots);
	dwell_array_release(&timeline->cpus);
	dwell_array_release(&timeline->gaps);
	free(timeline);
}

static void feed_sample(struct dwell_timeline *tl, const struct dwell_event *event,
			uint64_t time_ns)
{
	struct slot *slot;

	cpu_sample(tl, event, time_ns);
	slot = slot_get(tl, event->thread);
	if (!slot || slot->state == SLOT_ENDED)
		return;
	slot->heard = true;
	slot->account.samples++;
	if (tl->ops.sample && !tl->rc)
		tl->rc = tl->ops.sample(tl->user, event, slot->comm);
}

/* Who wakes somebody runs at that moment. */
static void feed_waking(struct dwell_timeline *tl, const struct dwell_event *event,
			uint64_t time_ns)
{
	struct cpu *cpu = event->cpu < tl->cpus.count ? &tl->cpus.data[event->cpu] : NULL;
	struct slot *waker;

	if (cpu && event->u.wake.context == DWELL_CONTEXT_TASK && !cpu->in_due &&
	    cpu->current == event->u.wake.waker && cpu->evidence_ns < time_ns) {
		cpu->evidence_ns = time_ns;
		waker = slot_get(tl, event->u.wake.waker);
		if (waker)
			waker->heard = true;
	}
	slot_waking(tl, event, time_ns);
}

static void feed_exit(struct dwell_timeline *tl, const struct dwell_event *event, uint64_t time_ns)
{
	struct slot *slot = slot_get(tl, event->thread);

	if (slot)
		slot->exit_ns = time_ns;
}

static void feed_count(struct dwell_timeline *tl, const struct dwell_event *event, uint64_t time_ns)
{
	struct slot *slot = slot_get(tl, event->thread);

	if (slot && !slot->stopped && slot->state != SLOT_ENDED)
		slot_count(tl, slot, event->u.count.switches_in, time_ns);
}

int dwell_timeline_feed(struct dwell_timeline *timeline, const struct dwell_event *event)
{
	struct dwell_timeline *tl = timeline;
	uint64_t time_ns = event->time_ns < tl->start_ns ? tl->start_ns : event->time_ns;

	if (tl->now_ns < time_ns && event->kind != DWELL_EVENT_GAP)
		tl->now_ns = time_ns;
	if (tl->now_ns >= tl->gap_end_ns)
		tl->gap_open = tl->gap_count;
	switch (event->kind) {
	case DWELL_EVENT_SWITCH:
		cpu_switch(tl, event, time_ns);
		break;
	case DWELL_EVENT_SWITCH_IN:
		cpu_record_in(tl, event, time_ns);
		break;
	case DWELL_EVENT_SWITCH_OUT:
		cpu_record_out(tl, event, time_ns);
		break;
	case DWELL_EVENT_WAKING:
		feed_waking(tl, event, time_ns);
		break;
	case DWELL_EVENT_WAKEUP_NEW:
	case DWELL_EVENT_FORK:
		slot_born(tl, event, time_ns);
		break;
	case DWELL_EVENT_SAMPLE:
		feed_sample(tl, event, time_ns);
		break;
	case DWELL_EVENT_COMM:
		slot_comm(tl, event, time_ns);
		break;
	case DWELL_EVENT_EXIT:
		feed_exit(tl, event, time_ns);
		break;
	case DWELL_EVENT_CPU:
		cpu_known(tl, event, time_ns);
		break;
	case DWELL_EVENT_GAP:
		cpu_gap(tl, event, time_ns);
		break;
	case DWELL_EVENT_COUNT:
		feed_count(tl, event, time_ns);
		break;
	case DWELL_EVENT_STATE:
		slot_reading(tl, event, time_ns);
		break;
	case DWELL_EVENT_STOPPED:
		slot_stopped(tl, event, time_ns);
		break;
	default: /* cgroups and throttling change no thread's state */
		break;
	}
	return tl->rc;
}

int dwell_timeline_finish(struct dwell_timeline *timeline, uint64_t end_ns)
{
	struct dwell_timeline *tl = timeline;
	uint32_t threads = dwell_threads_count(tl->threads);
	bool may_run = false;

	for (uint32_t i = 0; i < tl->cpus.count; i++) {
		cpu_flush(tl, &tl->cpus.data[i]);
		may_run |= tl->cpus.data[i].current == CPU_UNKNOWN &&
			   tl->cpus.data[i].since_ns == tl->start_ns;
	}
	tl->end_ns = end_ns > tl->now_ns ? end_ns : tl->now_ns;
	if (tl->end_ns < tl->gap_end_ns)
		tl->end_ns = tl->gap_end_ns;
	tl->closing = true;
	for (uint32_t thread = 1; thread < threads && !tl->rc; thread++) {
		struct slot *slot = slot_get(tl, thread);

		if (slot && slot->state != SLOT_ENDED)
			slot_finish(tl, slot, may_run);
	}
	for (uint32_t i = 0; i < tl->cpus.count; i++) {
		cpu_book(&tl->cpus.data[i], tl->end_ns);
		tl->stats.chain_breaks += tl->cpus.data[i].account.breaks;
	}
	return tl->rc;
}

const struct dwell_account *dwell_timeline_account(const struct dwell_timeline *timeline,
						   uint32_t thread)
{
	static const struct dwell_account none;

	return thread < timeline->slots.count ? &timeline->slots.data[thread].account : &none;
}

const struct dwell_cpu_account *dwell_timeline_cpu(const struct dwell_timeline *timeline,
						   uint32_t cpu)
{
	static const struct dwell_cpu_account none;

	return cpu < timeline->cpus.count ? &timeline->cpus.data[cpu].account : &none;
}

uint32_t dwell_timeline_cpus(const struct dwell_timeline *timeline)
{
	return timeline->cpus.count;
}

const struct dwell_timeline_stats *dwell_timeline_stats(const struct dwell_timeline *timeline)
{
	return &timeline->stats;
}

int dwell_timeline_check(const struct dwell_timeline *timeline, struct dwell_err *err)
{
	uint64_t window_ns = timeline->end_ns - timeline->start_ns;

	for (uint32_t i = 0; i < timeline->slots.count; i++) {
		const struct dwell_account *a = &timeline->slots.data[i].account;
		uint64_t sum_ns = 0, unknown_ns = 0;

		for (unsigned s = 0; s < DWELL_STATES; s++)
			sum_ns += a->ns[s];
		for (unsigned u = 0; u < DWELL_UNKNOWNS; u++)
			unknown_ns += a->unknown_ns[u];
		if (sum_ns != a->observed_ns || unknown_ns != a->ns[DWELL_STATE_UNKNOWN])
			return dwell_err_set(err, -EBADMSG,
					     "the books of thread %" PRId32 " are off by %" PRId64
					     " ns",
					     dwell_threads_get(timeline->threads, i)->tid,
					     (int64_t)(sum_ns - a->observed_ns));
	}
	for (uint32_t i = 0; timeline->all_threads && i < timeline->cpus.count; i++) {
		const struct dwell_cpu_account *a = &timeline->cpus.data[i].account;
		uint64_t sum_ns = a->busy_ns + a->idle_ns + a->unknown_ns;

		if (sum_ns != window_ns)
			return dwell_err_set(err, -EBADMSG,
					     "the books of CPU %" PRIu32 " are off by %" PRId64
					     " ns",
					     i, (int64_t)(sum_ns - window_ns));
	}
	return 0;
}
