/* SPDX-License-Identifier: MIT */
/* Intervals and samples become rows: (group, state, stack) -> ns, count, longest, histogram. On-CPU
 * time comes from intervals, exactly; samples only spread it over stacks, per thread and comm, to
 * the ns (largest remainder). Memory: rows, plus per living thread its samples since its comm was
 * set. */
#ifndef DWELL_OFFCPU_PROFILE_H
#define DWELL_OFFCPU_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "offcpu/interval.h"
#include "parse/event.h"
#include "parse/thread.h"

enum dwell_group_by {
	DWELL_BY_COMM = 0, /* one group per comm */
	DWELL_BY_PROCESS,  /* per process: comm-pid */
	DWELL_BY_THREAD,   /* per thread: comm-pid/tid */
	DWELL_BY_CGROUP,
};

enum { DWELL_HISTOGRAM_BUCKETS = 48 }; /* bucket i counts intervals of [2^i, 2^(i+1)) ns */

struct dwell_row {
	uint32_t group;	  /* index in the group table */
	uint32_t stack;	  /* stack node id; 0 = no stack known */
	uint8_t state;	  /* enum dwell_state */
	uint8_t detail;	  /* as in struct dwell_interval */
	bool not_sampled; /* ON_CPU time of threads that no sample hit: stack is 0 */
	uint64_t ns;
	uint64_t count;	      /* intervals; of sampled ON_CPU rows: samples */
	uint64_t longest_ns;  /* 0 for sampled ON_CPU rows: no interval is one stack's alone */
	uint64_t censored_ns; /* part of ns in intervals cut by the window's ends */
	uint32_t *histogram;  /* DWELL_HISTOGRAM_BUCKETS counts; NULL for ON_CPU */
};

struct dwell_group {
	uint32_t comm;	 /* string id (DWELL_BY_CGROUP: the cgroup's path) */
	uint32_t thread; /* a thread of the group: its pid and tid name it where needed */
};

struct dwell_profile; /* opaque */

/* threads is borrowed. NULL when out of memory. */
struct dwell_profile *dwell_profile_new(const struct dwell_threads *threads,
					enum dwell_group_by by);
void dwell_profile_free(struct dwell_profile *profile);

/* Adds an interval (after filters), a clock sample, a thread's end. 0 or -ENOMEM. */
int dwell_profile_add(struct dwell_profile *profile, const struct dwell_interval *interval);
int dwell_profile_add_sample(struct dwell_profile *profile, const struct dwell_event *event,
			     uint32_t comm);
int dwell_profile_end_thread(struct dwell_profile *profile, uint32_t thread);

/* Adds a sample that stands for itself, of an event that is counted or of a clock that is all there
 * is: its weight is the ns of a row, whatever its unit. A profile takes either these or samples and
 * intervals on a CPU. thread may be DWELL_THREAD_NONE. 0 or -ENOMEM. */
int dwell_profile_add_weight(struct dwell_profile *profile, uint32_t thread, uint32_t comm,
			     uint32_t stack, uint64_t weight);

/* Spreads the on-CPU time of threads still alive, turns weights into rows. Call once, before rows
 * are read. */
int dwell_profile_finish(struct dwell_profile *profile);

uint32_t dwell_profile_count(const struct dwell_profile *profile);
const struct dwell_row *dwell_profile_row(const struct dwell_profile *profile, uint32_t index);
const struct dwell_group *dwell_profile_group(const struct dwell_profile *profile, uint32_t index);
enum dwell_group_by dwell_profile_by(const struct dwell_profile *profile);

#endif
