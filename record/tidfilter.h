/* SPDX-License-Identifier: MIT */
/* Sets of tids become tracepoint filters: ranges merged until the text fits what the kernel takes.
 * A filter may let through too much, never too little; the recorder is exact afterwards. */
#ifndef DWELL_RECORD_TIDFILTER_H
#define DWELL_RECORD_TIDFILTER_H

#include <stdbool.h>
#include <stdint.h>

enum {
	TIDFILTER_TEXT_BYTES = 4096, /* PERF_EVENT_IOC_SET_FILTER copies one page at most */
	TIDFILTER_RANGES_MAX = 40,   /* two fields a range, at most 45 bytes each */
};

struct tid_range {
	uint32_t low, high; /* both included */
};

struct tidfilter {
	struct tid_range
		ranges[TIDFILTER_RANGES_MAX + 1]; /* ascending, apart; one for newer tids */
	uint32_t count;
};

/* Ranges over tids (sorted, distinct) and, when newer_than >= 0, everything above it up to the
 * highest pid. The nearest ranges are merged until they fit. */
void tidfilter_build(struct tidfilter *filter, const uint32_t *tids, uint32_t count,
		     int64_t newer_than);

bool tidfilter_covers(const struct tidfilter *filter, uint32_t tid);

/* "(field>=a&&field<=b)||field==c||field>=d" over one or two fields (second NULL = one). Returns
 * text. */
const char *tidfilter_text(const struct tidfilter *filter, const char *first, const char *second,
			   char text[TIDFILTER_TEXT_BYTES]);

#endif
