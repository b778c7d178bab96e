// SPDX-License-Identifier: MIT
/* `dwell report`: a recording becomes a view for people, or the same as JSON. */
#include "report/cmd.h"

#include <errno.h>
#include <string.h>

#include "lib/command.h"
#include "report/filter_opts.h"
#include "report/health.h"
#include "report/json.h"
#include "report/summary.h"
#include "report/summary_text.h"
#include "report/threads.h"
#include "report/view.h"

static const struct dwell_opt opts_table[] = {
	{ "json", 0, NULL, "print JSON; the keys are in dwell-report(1)" },
	{ "sort", 0, "KEY", "threads: order by cpu (default), blocked, longest, tid, ..." },
	{ "output", 'o', "FILE", "write to FILE instead of standard output" },
	DWELL_FILTER_OPTS
};

enum { OPT_JSON, OPT_SORT, OPT_OUTPUT, OPT_SHARED };

static const struct dwell_opt_usage usage = {
	.command = "report",
	.line = "dwell report [summary | threads] [OPTION]... [FILE]",
	.about = "Says where threads spent their time: the summary on one screen, or a table of "
		 "threads.\nFILE is a dwell trace, a perf.data or the "
		 "text of perf script.",
};

struct report_opts {
	struct filter_opts filters;
	const char *output;
	bool json;
	int sort_key;
	const struct report_view *view;
	bool maybe_view; /* the file's name stands where a view's may stand */
};

/* Prints one view: 0, or a negative errno. */
typedef int (*report_print_fn)(const struct report_opts *opts, const struct dwell_view *view,
			       const struct dwell_health *health, FILE *out);

struct report_view {
	const char *name;
	struct dwell_analysis_options analysis;
	report_print_fn print;
};

static int print_summary(const struct report_opts *opts, const struct dwell_view *view,
			 const struct dwell_health *health, FILE *out)
{
	struct dwell_summary summary;
	int rc = dwell_summary_build(view, &summary);

	if (!rc)
		rc = opts->json
			     ? json_print_summary(view, &summary, health, out)
			     : summary_text_print(view, &summary, health, opts->filters.input, out);
	dwell_summary_release(&summary);
	return rc;
}

static int print_threads(const struct report_opts *opts, const struct dwell_view *view,
			 const struct dwell_health *health, FILE *out)
{
	struct dwell_thread_list list;
	int rc = dwell_thread_list_build(&view->analysis, opts->sort_key, &list);

	if (!rc)
		rc = opts->json ? json_print_threads(view, &list, health, out)
				: threads_text_print(view, &list, health, out);
	dwell_thread_list_release(&list);
	return rc;
}

/* The first is the default. */
static const struct report_view views[] = {
	{ "summary", { .by = DWELL_BY_THREAD }, print_summary },
	{ "threads",
	  { .by = DWELL_BY_COMM },
	  print_threads }, /* books only: the fewest rows are enough */
};

static int set_option(void *user, unsigned index, const char *value, struct dwell_err *err)
{
	struct report_opts *opts = user;

	switch (index) {
	case OPT_JSON:
		opts->json = true;
		return 0;
	case OPT_SORT:
		opts->sort_key = dwell_thread_sort_key(value, err);
		return opts->sort_key < 0 ? opts->sort_key : 0;
	case OPT_OUTPUT:
		opts->output = value;
		return 0;
	}
	return filter_opts_set(&opts->filters, index - OPT_SHARED, value, err);
}

/* Takes VIEW off the operands. A file of such a name can be given as ./NAME or with -i. */
static int take_operands(struct report_opts *opts, char **operands, struct dwell_err *err)
{
	bool given;

	opts->view = NULL;
	for (unsigned i = 0; *operands && i < sizeof(views) / sizeof(views[0]); i++)
		if (!strcmp(*operands, views[i].name))
			opts->view = &views[i];
	given = opts->view != NULL;
	if (given)
		operands++;
	else if (operands[0] && operands[1])
		return dwell_err_set(err, -EINVAL, "'%s' is not a view: summary or threads",
				     operands[0]);
	else
		opts->view = &views[0];
	opts->maybe_view = !given && *operands && !strchr(*operands, '/');
	return filter_opts_finish(&opts->filters, operands, err);
}

static int print_view(const struct report_opts *opts, const struct dwell_view *view, FILE *out,
		      struct dwell_err *err)
{
	struct dwell_health health;
	int rc;

	dwell_health_read(&view->analysis, &health);
	rc = opts->view->print(opts, view, &health, out);
	return rc ? dwell_err_sys(err, rc, "cannot report") : 0;
}

/* The output is opened once there is something to write: a failed analysis leaves it alone. */
static int report_to_output(const struct report_opts *opts, const struct dwell_view *view,
			    struct dwell_err *err)
{
	FILE *out;
	int rc, closed;

	rc = dwell_output_open(opts->output, opts->filters.input, &out, err);
	if (rc)
		return rc;
	rc = print_view(opts, view, out, err);
	closed = dwell_output_close(out, opts->output, err);
	return rc ? rc : closed;
}

static int report(const struct report_opts *opts)
{
	struct dwell_err err = { 0 };
	struct dwell_health health;
	struct dwell_view view;
	int status = DWELL_EXIT_OK, rc;

	rc = dwell_view_open(&opts->filters, &opts->view->analysis, &view, &err);
	if (!rc)
		rc = report_to_output(opts, &view, &err);
	if (rc == -ENOENT && opts->maybe_view) {
		struct dwell_err hint = { 0 };

		dwell_err_set(&hint, rc, "%s; views are summary and threads", err.msg);
		status = dwell_command_fail(&hint, DWELL_EXIT_FAILED);
	} else if (rc) {
		status = dwell_command_fail(&err, DWELL_EXIT_FAILED);
	} else {
		dwell_health_read(&view.analysis, &health);
		status = dwell_health_status(&health, opts->filters.strict);
		if (health.damaged)
			fprintf(stderr, "dwell: the file is damaged: what stands before the damage "
					"is shown\n");
	}
	dwell_view_release(&view);
	return status;
}

int dwell_cmd_report(int argc, char **argv)
{
	struct report_opts opts = { 0 };
	struct dwell_err err = { 0 };
	int status, rc;

	rc = dwell_opt_parse(opts_table, &usage, argc, argv, 0, set_option, &opts, &err);
	if (rc > 0 && !take_operands(&opts, argv + rc, &err))
		status = report(&opts);
	else
		status = rc == -ECANCELED ? DWELL_EXIT_OK
					  : dwell_command_fail(&err, DWELL_EXIT_USAGE);
	filter_opts_release(&opts.filters);
	return status;
}

int dwell_report_summary(const char *path, FILE *out, struct dwell_err *err)
{
	struct report_opts opts = { .filters.input = path, .view = &views[0] };
	struct dwell_view view;
	int rc = dwell_view_open(&opts.filters, &opts.view->analysis, &view, err);

	if (!rc)
		rc = print_view(&opts, &view, out, err);
	dwell_view_release(&view);
	return rc;
}
