/* SPDX-License-Identifier: MIT */
/* The part of an analysis that counts: how many of each event were read and, where one event is
 * folded instead of time, its rows. Only analysis.c includes this. */
#ifndef DWELL_REPORT_ANALYSIS_COUNT_H
#define DWELL_REPORT_ANALYSIS_COUNT_H

#include "report/analysis.h"

/* Decides whether to count, by options and by what the source has. */
void analysis_count_begin(struct dwell_analysis *analysis,
			  const struct dwell_analysis_options *options);

/* Counts an event of analysis->source. A clock that shows up late may end an implied counting: then
 * the event is for who tells time. 0, -ENOMEM or -EOVERFLOW. */
int analysis_count_feed(struct dwell_analysis *analysis, const struct dwell_event *event);

/* 0, or -EINVAL with err and analysis->unusable set: the event asked for is not there. */
int analysis_count_finish(struct dwell_analysis *analysis, struct dwell_err *err);

/* What analysis.c shares. */

/* A thread whose name nobody told is called by its tid, as perf does it: names it when it is met
 * first. 0 or -ENOMEM. */
int analysis_thread_meet(struct dwell_analysis *analysis, uint32_t index);
static inline int analysis_thread_name(struct dwell_analysis *analysis, uint32_t index)
{
	bool met = index < analysis->met.count && analysis->met.data[index];

	return met ? 0 : analysis_thread_meet(analysis, index);
}
/* Books for every thread index up to `thread`, zeroed. 0 or -ENOMEM. */
int analysis_books_reach(struct dwell_analysis *analysis, uint32_t thread);
/* Does a sample pass the filter? It spreads time of intervals whose length is not known yet, so
 * --min and --max do not look at samples. */
bool analysis_sample_counts(const struct dwell_analysis *analysis, const struct dwell_event *event,
			    uint32_t thread, uint32_t comm);

#endif
