// SPDX-License-Identifier: MIT
/* `dwell fold`: a recording becomes folded stacks in nanoseconds, or those of one of its events. */
#include "report/cmd.h"

#include <errno.h>
#include <string.h>

#include "lib/command.h"
#include "report/filter_opts.h"
#include "report/folded.h"
#include "report/health.h"
#include "report/sink.h"
#include "report/view.h"

static const struct dwell_opt opts_table[] = {
	{ "wall", 0, NULL, "all time, with the state as a frame (default)" },
	{ "on", 0, NULL, "time on a CPU" },
	{ "off", 0, NULL, "time blocked (other states with --state)" },
	{ "event", 0, "NAME", "add up the samples of this event instead of time (a glob)" },
	{ "weight", 0, "WHAT", "what each adds: samples (1), period or time" },
	{ "by", 0, "WHAT", "group by comm (default), process, thread or cgroup" },
	{ "output", 'o', "FILE", "write to FILE instead of standard output" },
	DWELL_FILTER_OPTS
};

enum { OPT_WALL, OPT_ON, OPT_OFF, OPT_EVENT, OPT_WEIGHT, OPT_BY, OPT_OUTPUT, OPT_SHARED };

static const struct dwell_opt_usage usage = {
	.command = "fold",
	.line = "dwell fold [--wall | --on | --off | --event NAME] [OPTION]... [FILE]",
	.about =
		"Prints stacks with the nanoseconds spent in them, one 'frame;frame;frame N' line "
		"each,\nroot first: what flame graph tools read. FILE is a dwell trace, a perf.data or the "
		"text of\nperf script.",
};

struct fold_opts {
	struct filter_opts filters;
	const char *output;
	struct dwell_analysis_options analysis;
	enum dwell_mode mode;
	bool mode_given;
};

static int set_mode(struct fold_opts *opts, enum dwell_mode mode, struct dwell_err *err)
{
	if (opts->mode_given && opts->mode != mode)
		return dwell_err_set(err, -EINVAL, "only one of --wall, --on, --off");
	opts->mode = mode;
	opts->mode_given = true;
	return 0;
}

static int set_by(struct fold_opts *opts, const char *value, struct dwell_err *err)
{
	static const char *const names[] = { "comm", "process", "thread", "cgroup" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(value, names[i])) {
			opts->analysis.by = (enum dwell_group_by)i;
			return 0;
		}
	return dwell_err_set(err, -EINVAL, "'%s' is not comm, process, thread or cgroup", value);
}

static int set_option(void *user, unsigned index, const char *value, struct dwell_err *err)
{
	struct fold_opts *opts = user;

	switch (index) {
	case OPT_WALL:
		return set_mode(opts, DWELL_MODE_WALL, err);
	case OPT_ON:
		return set_mode(opts, DWELL_MODE_ON, err);
	case OPT_OFF:
		return set_mode(opts, DWELL_MODE_OFF, err);
	case OPT_EVENT:
		opts->analysis.event = value;
		opts->analysis.count = true;
		return 0;
	case OPT_WEIGHT:
		opts->analysis.count = true;
		return event_choice_weigh(value, &opts->analysis.weigh, err);
	case OPT_BY:
		return set_by(opts, value, err);
	case OPT_OUTPUT:
		opts->output = value;
		return 0;
	}
	return filter_opts_set(&opts->filters, index - OPT_SHARED, value, err);
}

/* Options against each other, and what they need of a recording. */
static int finish_opts(struct fold_opts *opts, char **operands, struct dwell_err *err)
{
	const struct dwell_filter *filter = &opts->filters.filter;
	bool intervals = filter->states || filter->min_ns || filter->max_ns;
	int rc = filter_opts_finish(&opts->filters, operands, err);

	if (rc)
		return rc;
	if (opts->analysis.count && (opts->mode_given || intervals))
		return dwell_err_set(err, -EINVAL,
				     "--event and --weight look at samples, not at states: not "
				     "with --wall, --on, --off, --state, --min, --max");
	if (opts->analysis.count)
		return 0;
	if (opts->mode_given || intervals)
		opts->analysis.needs |= DWELL_NEED_TIME;
	if (opts->mode == DWELL_MODE_WALL)
		opts->analysis.needs |= DWELL_NEED_WALL;
	if (opts->mode == DWELL_MODE_OFF || dwell_filter_wants_off(filter))
		opts->analysis.needs |= DWELL_NEED_WAITS;
	return 0;
}

static int write_folded(const struct fold_opts *opts, const struct dwell_view *view,
			struct dwell_err *err)
{
	struct folded folded = { 0 };
	int rc, closed;

	rc = dwell_output_open(opts->output, opts->filters.input, &folded.out, err);
	if (rc)
		return rc;
	/* Counted samples have no state to show. */
	rc = dwell_sink_walk(view, view->analysis.counting ? DWELL_MODE_ON : opts->mode,
			     opts->filters.filter.states != 0, &folded_ops, &folded, err);
	if (!rc && !folded.lines.count && !view->analysis.info.damaged)
		dwell_warn(stderr, "no line: nothing was observed, or the filters leave nothing");
	folded_release(&folded);
	closed = dwell_output_close(folded.out, opts->output, err);
	return rc ? rc : closed;
}

static int fold(const struct fold_opts *opts)
{
	struct dwell_err err = { 0 };
	struct dwell_health health;
	struct dwell_view view;
	int status = DWELL_EXIT_OK, rc;

	rc = dwell_view_open(&opts->filters, &opts->analysis, &view, &err);
	if (!rc)
		rc = write_folded(opts, &view, &err);
	if (rc) {
		status = dwell_command_fail(&err, view.analysis.unusable ? DWELL_EXIT_USAGE
									 : DWELL_EXIT_FAILED);
	} else {
		dwell_health_read(&view.analysis, &health);
		status = dwell_health_status(&health, opts->filters.strict);
		if (health.damaged) { /* what else there is to say is small beside that */
			fprintf(stderr, "dwell: the file is damaged: what stands before the damage "
					"is folded\n");
		} else {
			dwell_health_warnings(&health, dwell_warn, stderr);
			dwell_health_symbols(view.symbols, dwell_warn, stderr);
		}
	}
	dwell_view_release(&view);
	return status;
}

int dwell_cmd_fold(int argc, char **argv)
{
	struct fold_opts opts = { 0 };
	struct dwell_err err = { 0 };
	int status, rc;

	rc = dwell_opt_parse(opts_table, &usage, argc, argv, 0, set_option, &opts, &err);
	if (rc > 0 && !finish_opts(&opts, argv + rc, &err))
		status = fold(&opts);
	else
		status = rc == -ECANCELED ? DWELL_EXIT_OK
					  : dwell_command_fail(&err, DWELL_EXIT_USAGE);
	filter_opts_release(&opts.filters);
	return status;
}
