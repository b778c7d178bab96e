// SPDX-License-Identifier: MIT
/* A finished analysis gets names for its stacks, groups and unknown times. */
#include "report/view.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "parse/recorded.h"

int dwell_view_name(struct dwell_view *view, const struct filter_opts *opts, struct dwell_err *err)
{
	const struct dwell_tables *tables = &view->analysis.tables;
	struct dwell_symbols_options symbols = opts->symbols;
	struct dwell_names_options names = {
		.user_only = opts->user_only,
		.kernel_only = opts->kernel_only,
		.delimited = opts->delimited,
	};

	if (view->analysis.source)
		dwell_recorded_options(view->analysis.source, opts->input, &symbols);
	view->symbols = dwell_symbols_new(tables->strings, tables->stacks, &symbols);
	if (view->symbols)
		view->names = dwell_names_new(tables->stacks, view->symbols, &names);
	return view->names ? 0 : dwell_err_sys(err, -ENOMEM, "cannot name stacks");
}

int dwell_view_open(const struct filter_opts *opts, const struct dwell_analysis_options *options,
		    struct dwell_view *ret, struct dwell_err *err)
{
	struct dwell_analysis_options all = *options;
	int rc;

	memset(ret, 0, sizeof(*ret));
	all.time = opts->time;
	all.symbols = &opts->symbols;
	rc = dwell_analysis_run(opts->input, &opts->filter, &all, &ret->analysis, err);
	return rc ? rc : dwell_view_name(ret, opts, err);
}

void dwell_view_release(struct dwell_view *view)
{
	dwell_names_free(view->names);
	dwell_symbols_free(view->symbols);
	dwell_analysis_release(&view->analysis);
	memset(view, 0, sizeof(*view));
}

void dwell_view_group_name(const struct dwell_view *view, uint32_t index, char *dst,
			   size_t dst_bytes)
{
	const struct dwell_analysis *analysis = &view->analysis;
	const struct dwell_group *group = dwell_profile_group(analysis->profile, index);
	const struct dwell_thread *thread =
		dwell_threads_get(analysis->tables.threads, group->thread);
	const char *name = dwell_strings_get(analysis->tables.strings, group->comm);

	switch (dwell_profile_by(analysis->profile)) {
	case DWELL_BY_PROCESS:
		snprintf(dst, dst_bytes, "%s-%d", name, thread->pid);
		break;
	case DWELL_BY_THREAD:
		snprintf(dst, dst_bytes, "%s-%d/%d", name, thread->pid, thread->tid);
		break;
	case DWELL_BY_CGROUP:
		snprintf(dst, dst_bytes, "%s", *name ? name : "[no cgroup]");
		break;
	case DWELL_BY_COMM:
		snprintf(dst, dst_bytes, "%s", name);
		break;
	}
}

int dwell_view_stack(const struct dwell_view *view, const struct dwell_row *row, uint32_t *ret_node)
{
	const char *why = DWELL_FRAME_NO_STACK;

	if (row->stack)
		return dwell_names_stack(view->names, row->stack, ret_node);
	if (row->state == DWELL_STATE_UNKNOWN)
		why = dwell_unknown_frame(row->detail);
	else if (row->not_sampled)
		why = DWELL_FRAME_NOT_SAMPLED;
	return dwell_names_child(view->names, 0, why, ret_node);
}
