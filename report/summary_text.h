/* SPDX-License-Identifier: MIT */
/* The summary as one screen of text. */
#ifndef DWELL_REPORT_SUMMARY_TEXT_H
#define DWELL_REPORT_SUMMARY_TEXT_H

#include <stdio.h>

#include "report/health.h"
#include "report/summary.h"

/* Prints the screen. path names the input. 0 or -ENOMEM; write errors stay in out's error flag. */
int summary_text_print(const struct dwell_view *view, const struct dwell_summary *summary,
		       const struct dwell_health *health, const char *path, FILE *out);

/* The line that every text of this room opens with: host, kernel, window, command. */
void text_print_origin(const struct dwell_analysis *analysis, FILE *out);

/* Says instead of a table why there is none. */
void text_print_nothing(const struct dwell_analysis *analysis, FILE *out);

/* Prints the warnings of health and of names, wrapped, "! " before each. */
void text_print_warnings(const struct dwell_view *view, const struct dwell_health *health,
			 FILE *out);

#endif
