/* SPDX-License-Identifier: MIT */
/* The options that every analysing command shares: input, filters, presentation of stacks. A
 * command ends its table with DWELL_FILTER_OPTS and hands indexes past its own to
 * filter_opts_set(). */
#ifndef DWELL_REPORT_FILTER_OPTS_H
#define DWELL_REPORT_FILTER_OPTS_H

#include <stdbool.h>

#include "lib/err.h"
#include "lib/opt.h"
#include "offcpu/filter.h"
#include "parse/symbol_opts.h"

/* In this order: enum filter_opt in filter_opts.c numbers them. */
#define DWELL_FILTER_OPTS                                                                         \
	{ "input", 'i', "FILE", "read FILE instead of dwell.data; - is standard input" },         \
		{ "comm", 0, "NAME,...", "only threads of these names (globs)" },                 \
		{ "exclude-comm", 0, "NAME,...", "no threads of these names (globs)" },           \
		{ "pid", 0, "PID,...", "only these processes" },                                  \
		{ "tid", 0, "TID,...", "only these threads" },                                    \
		{ "cgroup", 0, "PATH,...", "only threads in these cgroups (globs)" },             \
		{ "cpu", 0, "LIST", "only intervals on these CPUs, as in 0,2-3" },                \
		{ "state", 0, "STATE,...", "only these states: on, runnable, blocked, D, ..." },  \
		{ "time", 0, "FROM,TO", "only this part: 2s,5s, 10%-20%, 14:30:05,14:30:07" },    \
		{ "min", 0, "TIME", "only intervals at least this long" },                        \
		{ "max", 0, "TIME", "only intervals at most this long" },                         \
		{ "user-only", 'U', NULL, "leave kernel frames out" },                            \
		{ "kernel-only", 'K', NULL, "leave user frames out" },                            \
		{ "delimited", 0, NULL, "a - frame between user and kernel frames" },             \
		DWELL_SYMBOL_OPTS, { "strict", 0, NULL, "exit 4 when the recording has losses" }, \
	{                                                                                         \
		NULL, 0, NULL, NULL                                                               \
	}

/* Zero-initialised it is "no filter". Owns filter; strings are borrowed from argv. */
struct filter_opts {
	const char *input; /* NULL = not given yet */
	const char *time;
	struct dwell_symbols_options symbols;
	struct dwell_filter filter;
	bool user_only, kernel_only, delimited, strict;
};

/* Takes option `index` (counted from the start of DWELL_FILTER_OPTS). 0, or -EINVAL or -ENOMEM
 * with err set. */
int filter_opts_set(struct filter_opts *opts, unsigned index, const char *value,
		    struct dwell_err *err);

/* Takes the operands left, at most one FILE, and checks options against each other. */
int filter_opts_finish(struct filter_opts *opts, char **operands, struct dwell_err *err);

void filter_opts_release(struct filter_opts *opts);

#endif
