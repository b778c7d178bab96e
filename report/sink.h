/* SPDX-License-Identifier: MIT */
/* One walk over a profile's rows for every stack-shaped output: a format is a table of four
 * functions. Rows come in the profile's order; a sink that needs another one sorts. */
#ifndef DWELL_REPORT_SINK_H
#define DWELL_REPORT_SINK_H

#include "report/health.h"
#include "report/view.h"

enum dwell_mode { DWELL_MODE_WALL = 0, DWELL_MODE_ON, DWELL_MODE_OFF };

struct dwell_sink_row {
	const struct dwell_row *row;
	uint32_t prefix; /* name node: the group, and in wall mode the state below it */
	uint32_t stack;	 /* name node of the stack, not below prefix */
};

/* Each: 0, or -errno with err set, which ends the walk. lost() comes once, after the rows. */
struct dwell_sink_ops {
	int (*begin)(void *user, const struct dwell_view *view, struct dwell_err *err);
	int (*row)(void *user, const struct dwell_sink_row *row, struct dwell_err *err);
	int (*lost)(void *user, const struct dwell_health *health, struct dwell_err *err);
	int (*end)(void *user, struct dwell_err *err);
};

/* Walks the rows of mode: WALL all, ON on-CPU, OFF blocked, or with any_state all that are not
 * on-CPU (the filter chose). */
int dwell_sink_walk(const struct dwell_view *view, enum dwell_mode mode, bool any_state,
		    const struct dwell_sink_ops *ops, void *user, struct dwell_err *err);

#endif
