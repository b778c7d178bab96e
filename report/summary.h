/* SPDX-License-Identifier: MIT */
/* A profile by thread becomes the few lines that answer "where did the time go": equal places are
 * one line, sleepers that nobody asked about are counted apart, and nothing disappears. */
#ifndef DWELL_REPORT_SUMMARY_H
#define DWELL_REPORT_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/array.h"
#include "report/view.h"

enum summary_state {
	SUMMARY_RUNNING = 0,
	SUMMARY_RUNNABLE,
	SUMMARY_BLOCKED,
	SUMMARY_BLOCKED_D, /* uninterruptible: disk, NFS, a kernel lock */
	SUMMARY_UNKNOWN,
	SUMMARY_STATES
};

/* Time that is summed up instead of listed. */
enum summary_aside {
	SUMMARY_KERNEL_ASLEEP = 0, /* kernel threads waiting for work */
	SUMMARY_NEVER_RAN,	   /* whole-system recordings: user threads asleep throughout */
	SUMMARY_RECORDER,	   /* threads of dwell record */
	SUMMARY_ASIDES,
	SUMMARY_LISTED = SUMMARY_ASIDES
};

struct summary_line {
	uint32_t comm, where;		/* string ids of the source and of the summary */
	uint8_t state;			/* enum summary_state */
	bool censored;			/* the longest one is really longer */
	uint64_t ns, count, longest_ns; /* ns: of the weights where the analysis counts */
};

struct summary_sum {
	uint64_t ns;
	uint32_t threads;
};

/* Owns where and lines. */
struct dwell_summary {
	struct dwell_strings *where;
	DWELL_ARRAY(struct summary_line) lines; /* largest first */
	struct summary_sum asides[SUMMARY_ASIDES];
	uint64_t observed_ns, state_ns[DWELL_STATES]; /* of all threads, asides included */
	uint64_t listed_ns;			      /* observed_ns less the asides */
	uint32_t threads;
};

/* view must have been analysed with DWELL_BY_THREAD. lines' ns and asides' ns sum to observed_ns.
 * 0 or -ENOMEM; release also after a failure. */
int dwell_summary_build(const struct dwell_view *view, struct dwell_summary *ret);
void dwell_summary_release(struct dwell_summary *summary);

/* "running", "runnable", "blocked", "blocked D", "unknown". */
const char *summary_state_name(enum summary_state state);

#endif
