// SPDX-License-Identifier: MIT
/* The shared options of analysing commands become a filter and a way to show stacks. */
#include "report/filter_opts.h"

#include <errno.h>

#include "report/time_range.h"

enum filter_opt {
	OPT_INPUT,
	OPT_COMM,
	OPT_EXCLUDE_COMM,
	OPT_PID,
	OPT_TID,
	OPT_CGROUP,
	OPT_CPU,
	OPT_STATE,
	OPT_TIME,
	OPT_MIN,
	OPT_MAX,
	OPT_USER_ONLY,
	OPT_KERNEL_ONLY,
	OPT_DELIMITED,
	OPT_SYMBOL_OPTS,
	OPT_STRICT = OPT_SYMBOL_OPTS + SYMBOL_OPTS,
};

int filter_opts_set(struct filter_opts *opts, unsigned index, const char *value,
		    struct dwell_err *err)
{
	struct dwell_filter *filter = &opts->filter;

	switch (index) {
	case OPT_INPUT:
		opts->input = value;
		return 0;
	case OPT_COMM:
		return dwell_filter_add_comms(filter, value, err);
	case OPT_EXCLUDE_COMM:
		return dwell_filter_exclude_comms(filter, value, err);
	case OPT_PID:
		return dwell_filter_add_pids(filter, value, err);
	case OPT_TID:
		return dwell_filter_add_tids(filter, value, err);
	case OPT_CGROUP:
		return dwell_filter_add_cgroups(filter, value, err);
	case OPT_CPU:
		return dwell_filter_add_cpus(filter, value, err);
	case OPT_STATE:
		return dwell_filter_add_states(filter, value, err);
	case OPT_TIME:
		opts->time = value;
		return time_range_check(value, err);
	case OPT_MIN:
		return dwell_opt_time_ns(value, &filter->min_ns, err);
	case OPT_MAX:
		return dwell_opt_time_ns(value, &filter->max_ns, err);
	case OPT_USER_ONLY:
		opts->user_only = true;
		return 0;
	case OPT_KERNEL_ONLY:
		opts->kernel_only = true;
		return 0;
	case OPT_DELIMITED:
		opts->delimited = true;
		return 0;
	case OPT_STRICT:
		opts->strict = true;
		return 0;
	}
	return symbol_opts_set(&opts->symbols, index - OPT_SYMBOL_OPTS, value, err);
}

int filter_opts_finish(struct filter_opts *opts, char **operands, struct dwell_err *err)
{
	if (operands[0] && opts->input)
		return dwell_err_set(err, -EINVAL, "'%s': the input is already '%s'", operands[0],
				     opts->input);
	if (operands[0] && operands[1])
		return dwell_err_set(err, -EINVAL, "'%s': only one file can be read", operands[1]);
	if (operands[0])
		opts->input = operands[0];
	if (!opts->input)
		opts->input = "dwell.data";
	if (opts->user_only && opts->kernel_only)
		return dwell_err_set(err, -EINVAL, "--user-only and --kernel-only leave no frames");
	if (opts->filter.max_ns && opts->filter.max_ns < opts->filter.min_ns)
		return dwell_err_set(err, -EINVAL, "--max is below --min");
	return 0;
}

void filter_opts_release(struct filter_opts *opts)
{
	dwell_filter_release(&opts->filter);
}
