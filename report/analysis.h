/* SPDX-License-Identifier: MIT */
/* A recording becomes results: source -> timeline -> filter -> profile, in one pass, and the
 * books of every thread as far as the filter lets them count. Where one event is to be counted, or
 * nothing else is possible, its samples go from the source to the profile directly. */
#ifndef DWELL_REPORT_ANALYSIS_H
#define DWELL_REPORT_ANALYSIS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/array.h"
#include "offcpu/filter.h"
#include "offcpu/profile.h"
#include "offcpu/timeline.h"
#include "parse/event_index.h"
#include "parse/source.h"
#include "report/event_choice.h"

/* A thread's time after filters: ns[] sums to observed_ns. */
struct dwell_books {
	uint64_t observed_ns;
	uint64_t ns[DWELL_STATES];
	uint64_t samples; /* that count; of no use where there are scheduler events */
};

/* What only threads have that were seen off a CPU. */
struct dwell_off_books {
	uint64_t unknown_ns[DWELL_UNKNOWNS]; /* sums to ns[DWELL_STATE_UNKNOWN] */
	uint64_t longest_blocked_ns;
	bool longest_censored; /* the longest wait is really longer */
};

/* Where ids in events point to. Borrowed. */
struct dwell_tables {
	struct dwell_strings *strings;
	struct dwell_stacks *stacks;
	struct dwell_threads *threads;
};

/* What a recording must allow, or reading it is refused with the reason. */
enum dwell_need {
	DWELL_NEED_TIME = 1 << 0,  /* time of any kind: scheduler events or a clock */
	DWELL_NEED_WAITS = 1 << 1, /* scheduler events */
	DWELL_NEED_WALL = 1 << 2, /* on-CPU time alone will do, but not if switches are half told */
};

struct dwell_analysis_options {
	const char *time; /* --time, NULL = all */
	enum dwell_group_by by;
	unsigned needs;	   /* enum dwell_need, combined */
	bool count;	   /* add up one event's samples instead of time: */
	const char *event; /* its name or a glob, NULL = the default one */
	enum dwell_weigh weigh;
	const struct dwell_symbols_options *symbols; /* where binaries are; NULL = not told */
};

struct dwell_analysis {
	struct dwell_source *source; /* owned; NULL when events were fed from memory */
	struct dwell_source_info info;
	struct dwell_tables tables;
	struct dwell_filter filter; /* the given one with --time resolved; borrows its lists */
	bool filtered;		    /* the filter can drop something */
	struct dwell_timeline *timeline;
	struct dwell_profile *profile;
	struct dwell_event_index index;
	DWELL_ARRAY(uint64_t) event_counts; /* by entry of the event table: how many were read */
	struct event_choice choice;	    /* without source: nothing is chosen */
	bool counting;	       /* rows are sums of the chosen event's weights, not of time */
	bool implied;	       /* nobody asked for that: there is nothing else */
	bool unusable;	       /* it failed for what the command line asked: exit status 2 */
	uint64_t total;	       /* while counting: of all rows */
	DWELL_ARRAY(bool) met; /* by thread index: has it been named? */
	DWELL_ARRAY(struct dwell_books) books;	       /* by thread index */
	DWELL_ARRAY(struct dwell_off_books) off_books; /* by thread index */
	uint64_t total_ns;    /* of all books: so no sum of rows overflows */
	uint64_t window_ns;   /* the part looked at */
	struct dwell_err law; /* code set: the books do not balance */
};

/* Opens path ("-" = standard input), reads it to its end and fills *ret. 0, or -errno with err
 * set. Release with dwell_analysis_release(), also after a failure. filter's lists must
 * outlive it. */
int dwell_analysis_run(const char *path, const struct dwell_filter *filter,
		       const struct dwell_analysis_options *options, struct dwell_analysis *ret,
		       struct dwell_err *err);

/* The same in steps, for events that are in memory: begin with info's start_ns, all_threads and
 * has_switches set, feed in time order, finish with info's end_ns. */
int dwell_analysis_begin(struct dwell_analysis *analysis, const struct dwell_tables *tables,
			 const struct dwell_source_info *info, const struct dwell_filter *filter,
			 const struct dwell_analysis_options *options, struct dwell_err *err);
int dwell_analysis_feed(struct dwell_analysis *analysis, const struct dwell_event *event,
			struct dwell_err *err);
int dwell_analysis_finish(struct dwell_analysis *analysis, const struct dwell_source_info *info,
			  struct dwell_err *err);

/* Does the recording allow what options need? Known for sure once finished. 0, or -ENOTSUP with err
 * set. */
int dwell_analysis_allows(const struct dwell_analysis *analysis,
			  const struct dwell_analysis_options *options, struct dwell_err *err);

void dwell_analysis_release(struct dwell_analysis *analysis);

/* A header fact, or NULL. */
const char *dwell_analysis_fact(const struct dwell_analysis *analysis, const char *key);
/* The same as a number; 0 when absent or not a number. */
uint64_t dwell_analysis_fact_u64(const struct dwell_analysis *analysis, const char *key);

/* The index-th label's key, NULL past the last. */
const char *dwell_analysis_label(const struct dwell_analysis *analysis, uint32_t index,
				 const char **ret_value);

/* A recorded event's description, NULL past the last. */
const struct dwell_event_desc *dwell_analysis_event(const struct dwell_analysis *analysis,
						    uint32_t index);

/* How many of the index-th event were read, filtered or not. */
uint64_t dwell_analysis_event_count(const struct dwell_analysis *analysis, uint32_t index);

/* The name of the event that is counted, NULL when time is told. */
const char *dwell_analysis_counted(const struct dwell_analysis *analysis);

/* The books of a thread; zeroes if nothing of it counts. */
const struct dwell_books *dwell_analysis_books(const struct dwell_analysis *analysis,
					       uint32_t thread);

const struct dwell_off_books *dwell_analysis_off_books(const struct dwell_analysis *analysis,
						       uint32_t thread);

/* Why a time is unknown, as a frame: "[lost]", "[never seen]", ... */
const char *dwell_unknown_frame(enum dwell_unknown why);

#endif
