/* SPDX-License-Identifier: MIT */
/* --time FROM,TO becomes absolute times on the trace's clock. Either end may be left out. */
#ifndef DWELL_REPORT_TIME_RANGE_H
#define DWELL_REPORT_TIME_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"

/* What the recording says about its time. */
struct time_base {
	uint64_t start_ns, end_ns; /* the window; end_ns is read only for shares (10%-20%) */
	uint64_t realtime_ns;	   /* wall-clock time at start_ns, 0 = not known */
};

/* Does resolving `text` need base.end_ns? */
bool time_range_needs_end(const char *text);

/* Is text written as resolve wants it? For errors before any file is opened. 0, or -EINVAL with
 * err set. */
int time_range_check(const char *text, struct dwell_err *err);

/* "2s,5s" and "2,5" (offsets), "10%-20%", "14:30:05,14:30:07.5" (this machine's time zone), or
 * perf's timestamps: a bare number not below the recording's start. *ret_to_ns is 0 when there is
 * no end. 0, or -EINVAL with err set. */
int time_range_resolve(const char *text, const struct time_base *base, uint64_t *ret_from_ns,
		       uint64_t *ret_to_ns, struct dwell_err *err);

#endif
