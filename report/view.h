/* SPDX-License-Identifier: MIT */
/* An analysis with names: what every view and export starts from. */
#ifndef DWELL_REPORT_VIEW_H
#define DWELL_REPORT_VIEW_H

#include "parse/elf/symbols.h"
#include "report/analysis.h"
#include "report/filter_opts.h"
#include "report/names.h"

struct dwell_view {
	struct dwell_analysis analysis;
	struct dwell_symbols *symbols;
	struct dwell_names *names;
};

/* Analyses opts->input; options->time is opts'. 0, or -errno with err set. Release also after a
 * failure. */
int dwell_view_open(const struct filter_opts *opts, const struct dwell_analysis_options *options,
		    struct dwell_view *ret, struct dwell_err *err);

/* Adds names to an analysis that is finished (view->analysis). 0 or -ENOMEM. */
int dwell_view_name(struct dwell_view *view, const struct filter_opts *opts, struct dwell_err *err);

void dwell_view_release(struct dwell_view *view);

/* The name of a profile's group: comm, comm-PID, comm-PID/TID or the cgroup's path. */
void dwell_view_group_name(const struct dwell_view *view, uint32_t group, char *dst,
			   size_t dst_bytes);

/* The node of a row's stack; where no stack is known, of a frame in brackets that says why. 0 or
 * -ENOMEM. */
int dwell_view_stack(const struct dwell_view *view, const struct dwell_row *row,
		     uint32_t *ret_node);

#endif
