// SPDX-License-Identifier: MIT
/* Fuzzing of perf-script text: bytes are read as a file would be, by one thread or two, and run
 * through the timeline. Events stay inside their tables, and the books balance. */
#include <stdio.h>

#include "lib/trace_format.h"
#include "offcpu/timeline.h"
#include "tests/synth/script.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void event_check(struct dwell_source *source, const struct dwell_event *event)
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

static int interval(void *user, const struct dwell_interval *i)
{
	(void)user;
	return i->end_ns < i->start_ns ? -EBADMSG : 0;
}

static void read_all(struct dwell_source *source)
{
	static const struct dwell_timeline_ops ops = { .interval = interval };
	const struct dwell_source_info *facts = dwell_source_info(source);
	struct dwell_timeline *timeline =
		dwell_timeline_new(dwell_source_threads(source), facts->start_ns,
				   facts->all_threads, &ops, NULL);
	const struct dwell_event *event;
	struct dwell_err err = { 0 };
	uint64_t last_ns = 0;
	int rc;

	if (!timeline)
		return;
	while ((rc = dwell_source_next(source, &event, &err)) == 1) {
		event_check(source, event);
		if (event->time_ns < last_ns || dwell_timeline_feed(timeline, event))
			abort();
		last_ns = event->time_ns;
	}
	if (rc || facts->end_ns < facts->start_ns ||
	    dwell_timeline_finish(timeline, facts->end_ns) ||
	    dwell_timeline_check(timeline, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		abort();
	}
	dwell_timeline_free(timeline);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct script_memory memory = { (const char *)bytes + 1, count - 1, 0 };
	struct dwell_source *source;

	if (count < 1)
		return 0;
	if (!script_memory_open(&memory, 1 + (bytes[0] & 1), &source, NULL)) {
		read_all(source);
		dwell_source_close(source);
	}
	return 0;
}
