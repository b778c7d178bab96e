/* SPDX-License-Identifier: MIT */
/* Which event of a file is folded: the one that --event names, else a clock, else the first. The
 * table may grow while the file is read, so the choice may still change then. */
#ifndef DWELL_REPORT_EVENT_CHOICE_H
#define DWELL_REPORT_EVENT_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "parse/source.h"

enum dwell_weigh {
	DWELL_WEIGH_DEFAULT = 0,
	DWELL_WEIGH_SAMPLES,
	DWELL_WEIGH_PERIOD,
	DWELL_WEIGH_TIME
};

/* Zero-initialise, set wanted and weigh. Entries of one name are one event. */
struct event_choice {
	const char *wanted; /* --event; NULL = the default event */
	enum dwell_weigh weigh;
	uint32_t seen;	/* entries of the table looked at */
	unsigned rank;	/* how well the chosen one fits, 0 = nothing is chosen yet */
	uint32_t entry; /* the chosen one's first entry */
	uint32_t name;	/* its string id */
	bool ambiguous; /* wanted fits another name just as well */
	bool clock;
	bool waits; /* some event tells of waits that are over (perf record --off-cpu) */
};

/* Looks at the entries that are new. Was something (else) chosen? Then what was summed up so far
 * belongs to an event that is not wanted. */
bool event_choice_follow(struct event_choice *choice, struct dwell_source *source);

/* At the end: is one event chosen, and can it be weighed as asked? 0, or -EINVAL with err set:
 * the command line is to blame. */
int event_choice_check(const struct event_choice *choice, struct dwell_source *source,
		       struct dwell_err *err);

/* "samples", "period", "time". -EINVAL with err set for others. */
int event_choice_weigh(const char *value, enum dwell_weigh *ret, struct dwell_err *err);

#endif
