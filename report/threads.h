/* SPDX-License-Identifier: MIT */
/* The threads view: every observed thread with its books, sorted. */
#ifndef DWELL_REPORT_THREADS_H
#define DWELL_REPORT_THREADS_H

#include <stdio.h>

#include "report/health.h"
#include "report/view.h"

/* Indexes in the thread table, in the order to show them. Owns data. */
struct dwell_thread_list {
	DWELL_ARRAY(uint32_t) threads;
};

/* The sort key of a name such as "blocked", or -EINVAL with err naming the keys. */
int dwell_thread_sort_key(const char *name, struct dwell_err *err);

/* Lists threads with time that counts, by a key of dwell_thread_sort_key(). 0 or -ENOMEM. */
int dwell_thread_list_build(const struct dwell_analysis *analysis, int sort_key,
			    struct dwell_thread_list *ret);
void dwell_thread_list_release(struct dwell_thread_list *list);

/* How many samples hit the thread, counted where the timeline does not see them, too. */
uint64_t dwell_thread_samples(const struct dwell_analysis *analysis, uint32_t index);

/* Prints the table. 0 or -ENOMEM. */
int threads_text_print(const struct dwell_view *view, const struct dwell_thread_list *list,
		       const struct dwell_health *health, FILE *out);

#endif
