/* SPDX-License-Identifier: MIT */
/* Views as JSON, for programs; the only user of json-c. Keys are documented in dwell-report(1):
 * they are added to, never changed, within a schema version. */
#ifndef DWELL_REPORT_JSON_H
#define DWELL_REPORT_JSON_H

#include <stdio.h>

#include "report/health.h"
#include "report/summary.h"
#include "report/threads.h"

/* Each prints one object and a newline. 0 or -ENOMEM; write errors stay in out's error flag. */
int json_print_summary(const struct dwell_view *view, const struct dwell_summary *summary,
		       const struct dwell_health *health, FILE *out);
int json_print_threads(const struct dwell_view *view, const struct dwell_thread_list *list,
		       const struct dwell_health *health, FILE *out);

#endif
