/* SPDX-License-Identifier: MIT */
/* Which intervals count: the common filters of the command line as one predicate. */
#ifndef DWELL_OFFCPU_FILTER_H
#define DWELL_OFFCPU_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"
#include "lib/strings.h"
#include "offcpu/interval.h"
#include "parse/thread.h"

/* Zero-initialised it passes everything. Owns what the add functions allocate. */
struct dwell_filter {
	char **comms, **exclude_comms, **cgroups; /* globs, NULL-terminated arrays or NULL */
	int32_t *pids, *tids;			  /* with counts below */
	uint32_t pid_count, tid_count;
	uint64_t *cpu_mask; /* bitmap of cpu_words words, NULL = all */
	uint32_t cpu_words;
	uint32_t states;	 /* made by dwell_filter_add_states(); 0 = all */
	uint64_t min_ns, max_ns; /* of an interval; max 0 = no limit */
	uint64_t from_ns, to_ns; /* absolute times on the trace's clock; to 0 = no limit */
};

/* --state values: on, runnable, preempted, woken, blocked, S, D, T, unknown, ... */
int dwell_filter_add_states(struct dwell_filter *filter, const char *list, struct dwell_err *err);
/* Comma-separated lists; globs as in fnmatch(3). 0, -EINVAL or -ENOMEM with err set. */
int dwell_filter_add_comms(struct dwell_filter *filter, const char *list, struct dwell_err *err);
int dwell_filter_exclude_comms(struct dwell_filter *filter, const char *list,
			       struct dwell_err *err);
int dwell_filter_add_cgroups(struct dwell_filter *filter, const char *list, struct dwell_err *err);
int dwell_filter_add_pids(struct dwell_filter *filter, const char *list, struct dwell_err *err);
int dwell_filter_add_tids(struct dwell_filter *filter, const char *list, struct dwell_err *err);
/* "0,2-3" */
int dwell_filter_add_cpus(struct dwell_filter *filter, const char *list, struct dwell_err *err);
/* Do the states chosen include any off the CPU? */
bool dwell_filter_wants_off(const struct dwell_filter *filter);
void dwell_filter_release(struct dwell_filter *filter);

/* Does the interval count? Clips it to [from_ns, to_ns) first (a clipped end is not censored:
 * min/max look at the whole interval). threads and strings give names. */
bool dwell_filter_clip(const struct dwell_filter *filter, const struct dwell_threads *threads,
		       const struct dwell_strings *strings, struct dwell_interval *interval);

#endif
