/* SPDX-License-Identifier: MIT */
/* What the files behind events.h share: opening one event. */
#ifndef DWELL_RECORD_EVENTS_IMPL_H
#define DWELL_RECORD_EVENTS_IMPL_H

#include <linux/perf_event.h>

#include "record/events.h"

/* perf_event_open(2), without what an older kernel does not know. The descriptor, or -errno. */
int event_open(struct perf_event_attr *attr, int32_t tid, int cpu);
/* The attributes of an event of this recording, disabled. */
void event_attr_fill(const struct events *events, enum record_event event,
		     struct perf_event_attr *attr);
/* Fills err: "cannot open WHAT: why"; returns code. */
int event_open_failed(struct dwell_err *err, int code, int enough, const char *what);

#endif
