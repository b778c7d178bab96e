/* SPDX-License-Identifier: MIT */
/* A source read to its end through the timeline: whatever the input says, events stay inside their
 * tables and the books balance, or the program aborts. For fuzzing. */
#ifndef DWELL_TESTS_SYNTH_FEEDING_H
#define DWELL_TESTS_SYNTH_FEEDING_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/trace_format.h"
#include "offcpu/timeline.h"
#include "parse/source.h"

static inline void feeding_check(struct dwell_source *source, const struct dwell_event *event)
{
	uint32_t threads = dwell_threads_count(dwell_source_threads(source));

	if (event->kind == 0 || event->kind >= DWELL_EVENT_KINDS ||
	    (event->stack &&
	     event->stack >= dwell_stacks_node_count(dwell_source_stacks(source))) ||
	    (event->thread >= threads && event->thread != DWELL_THREAD_NONE) ||
	    (event->cpu >= DWELL_TRACE_CPUS_MAX && event->cpu != DWELL_CPU_NONE) ||
	    (event->kind == DWELL_EVENT_SWITCH && event->u.sw.next >= threads) ||
	    (event->kind == DWELL_EVENT_SAMPLE &&
	     !dwell_source_event_desc(source, event->u.sample.event)))
		abort();
}

static int feeding_interval(void *user, const struct dwell_interval *interval)
{
	(void)user;
	return interval->end_ns < interval->start_ns ? -EBADMSG : 0;
}

/* ordered: the source hands nothing out that goes back. may_fail: reading may end with an error. */
static inline void feeding_all(struct dwell_source *source, bool ordered, bool may_fail)
{
	static const struct dwell_timeline_ops ops = { .interval = feeding_interval };
	const struct dwell_source_info *info = dwell_source_info(source);
	struct dwell_timeline *timeline =
		dwell_timeline_new(dwell_source_threads(source), info->start_ns, info->all_threads,
				   &ops, NULL);
	const struct dwell_event *event;
	struct dwell_err err = { 0 };
	uint64_t last_ns = 0;
	int rc;

	if (!timeline)
		return;
	while ((rc = dwell_source_next(source, &event, &err)) == 1) {
		feeding_check(source, event);
		if ((ordered && event->time_ns < last_ns) || dwell_timeline_feed(timeline, event))
			abort();
		last_ns = event->time_ns;
	}
	if ((rc && !may_fail) || (!rc && (info->end_ns < info->start_ns ||
					  dwell_timeline_finish(timeline, info->end_ns) ||
					  dwell_timeline_check(timeline, &err)))) {
		fprintf(stderr, "%s\n", err.msg);
		abort();
	}
	dwell_timeline_free(timeline);
}

#endif
