/* SPDX-License-Identifier: MIT */
/* How far a result can be trusted: what was lost, not covered, contradictory or unbalanced, as
 * numbers and as one warning line each. */
#ifndef DWELL_REPORT_HEALTH_H
#define DWELL_REPORT_HEALTH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "parse/elf/symbols.h"
#include "report/analysis.h"

enum { DWELL_TELLINGS = 9 };

/* User stacks that were copied and unwound, by how they ended. */
enum dwell_health_stacks {
	DWELL_STACKS_COMPLETE = 0,
	DWELL_STACKS_JOINED,
	DWELL_STACKS_TRUNCATED,
	DWELL_STACKS_BROKEN,
	DWELL_STACKS_NOT_UNWOUND,
	DWELL_STACKS_ENDS
};

struct dwell_health {
	uint64_t lost, late, wakings_dropped;
	uint64_t side_lost;		/* records of births, deaths, names and mappings */
	uint64_t side_from_ns, side_ns; /* from the window's start on, and for how long */
	uint64_t kernel_count, parsed;	/* of all coverage rows with a kernel count */
	uint64_t observed_ns;		/* of all threads, after filters */
	uint64_t unknown_ns[DWELL_UNKNOWNS];
	uint64_t unread_bytes;
	uint64_t switches_unused, unknown_lines; /* of perf-script text */
	uint64_t contradictions, chain_breaks, missed_switches, untold_switches;
	uint64_t blind_cpus;
	uint32_t cpus;
	bool finished, damaged;
	uint64_t stacks[DWELL_STACKS_ENDS];
	bool untimed;		       /* as in struct dwell_source_info */
	uint64_t aux_bytes;	       /* of hardware trace, passed over */
	uint64_t told[DWELL_TELLINGS]; /* counts of what was passed over */
	bool has_switches, has_wakings;
	bool has_waits;			/* without switches: some event tells of waits */
	bool asked_count;		/* one event's samples were asked for, not time */
	const char *no_switches_reason; /* as in struct dwell_source_info */
	const char *counted;		/* the event that is counted, NULL for time; borrowed */
	const char *only_cpus;		/* the list that was recorded, NULL for all; borrowed */
	const char *away_cpus;		/* the list of those that went or came; borrowed */
	const char *same_time;		/* a clock that is not added up; NULL = none; borrowed */
	const char *clock;		/* ... besides this one */
	const char *law; /* what a broken law says, NULL when the books balance; borrowed */
};

void dwell_health_read(const struct dwell_analysis *analysis, struct dwell_health *ret);

/* parsed / kernel_count, at most 1; 1 when the kernel counted nothing. */
double dwell_health_coverage(const struct dwell_health *health);

/* All user stacks that were copied; 0 = none were. */
uint64_t dwell_health_stacks(const struct dwell_health *health);

/* Is anything missing that was asked for (exit 4 under --strict)? */
bool dwell_health_lossy(const struct dwell_health *health);

/* The exit status that the input deserves after everything readable of it was shown: 3 when it is
 * damaged, 4 when it is lossy and strict, else 0. */
int dwell_health_status(const struct dwell_health *health, bool strict);

/* Calls fn with each warning: one line, no stop. */
typedef void (*dwell_warning_fn)(void *user, const char *text);
void dwell_health_warnings(const struct dwell_health *health, dwell_warning_fn fn, void *user);

/* The same for frames without a name: one line per reason. */
void dwell_health_symbols(struct dwell_symbols *symbols, dwell_warning_fn fn, void *user);

/* A dwell_warning_fn: "dwell: warning: ..." on user (a FILE), wrapped to its width. */
void dwell_warn(void *user, const char *text);

#endif
