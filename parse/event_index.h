/* SPDX-License-Identifier: MIT */
/* Events find their entry in the source's event table: samples name it; the scheduler's
 * tracepoints, which come as kinds of their own, are found by name. */
#ifndef DWELL_PARSE_EVENT_INDEX_H
#define DWELL_PARSE_EVENT_INDEX_H

#include "parse/source.h"

/* The event has no entry: it is no recorded event but a fact about threads or CPUs. */
#define DWELL_EVENT_UNLISTED UINT32_MAX

/* Zero-initialised it knows nothing yet; it follows the table as that grows. */
struct dwell_event_index {
	uint32_t seen; /* entries looked at */
	/* Entry + 1, 0 = not in the table. */
	uint32_t sched_switch, sched_waking, sched_wakeup, sched_wakeup_new;
};

/* The entry of event, or DWELL_EVENT_UNLISTED. */
uint32_t dwell_event_index_find(struct dwell_event_index *index, struct dwell_source *source,
				const struct dwell_event *event);

#endif
