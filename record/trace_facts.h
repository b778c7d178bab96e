/* SPDX-License-Identifier: MIT */
/* The facts of a recording that its trace carries beside the events: dwell-data(5) lists them. */
#ifndef DWELL_RECORD_TRACE_FACTS_H
#define DWELL_RECORD_TRACE_FACTS_H

#include "record/recording.h"

/* Each: 0 or -ENOMEM. They are written with the next flush. */

/* Host, kernel, command, rates, labels, and the event table; fills rec->event_index. */
int trace_facts_begin(struct recording *rec);
/* The window's start, the clocks then, and every CPU's witness. */
int trace_facts_window(struct recording *rec);
/* What the kernel counted against what was read. */
int trace_facts_coverage(struct recording *rec);
/* What the side rings lost, so far. */
int trace_facts_loss(struct recording *rec);
/* The window's end, the clocks then, the recorder's own cost. */
int trace_facts_end(struct recording *rec, uint64_t cpu_ns);

#endif
