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

enum { EVENT_CLOCKS_MAX = 3 }; /* user, kernel, hypervisor */

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
	/* Without wanted: clocks (string ids) that never tick at the same moment, as cpu-clock:u
	 * and cpu-clock:k do, so that their samples add up; the chosen one is the first. */
	uint32_t clocks[EVENT_CLOCKS_MAX];
	uint32_t clock_count;
	unsigned modes;	    /* of CPUs, in which one of them ticks */
	uint32_t same_time; /* the first clock that is none of these, 0 = none */
	bool waits;	    /* some event tells of waits that are over (perf record --off-cpu) */
};

/* Looks at the entries that are new. Was something (else) chosen? Then what was summed up so far
 * belongs to an event that is not wanted. */
bool event_choice_follow(struct event_choice *choice, struct dwell_source *source);

/* Are samples of the event of this name time that adds up with that of the chosen one? */
bool event_choice_is_clock(const struct event_choice *choice, uint32_t name);

/* At the end: is one event chosen, and can it be weighed as asked? 0, -EINVAL with err set when
 * the command line is to blame, or -ENODATA when there is no event at all. */
int event_choice_check(const struct event_choice *choice, struct dwell_source *source,
		       struct dwell_err *err);

/* "samples", "period", "time". -EINVAL with err set for others. */
int event_choice_weigh(const char *value, enum dwell_weigh *ret, struct dwell_err *err);

#endif
