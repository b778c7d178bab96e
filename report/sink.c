// SPDX-License-Identifier: MIT
/* The rows of a profile become calls of a sink, with group, state and stack as name nodes. */
#include "report/sink.h"

#include <errno.h>
#include <stdlib.h>

static bool mode_takes(enum dwell_mode mode, bool any_state, const struct dwell_row *row)
{
	if (!row->ns)
		return false;
	switch (mode) {
	case DWELL_MODE_ON:
		return row->state == DWELL_STATE_ON_CPU;
	case DWELL_MODE_OFF:
		return any_state ? row->state != DWELL_STATE_ON_CPU
				 : row->state == DWELL_STATE_BLOCKED;
	case DWELL_MODE_WALL:
		break;
	}
	return true;
}

/* The node of a row's group and, in wall mode, state. */
static int row_prefix(const struct dwell_view *view, enum dwell_mode mode,
		      const struct dwell_row *row, uint32_t *ret_node)
{
	static const char *const states[DWELL_STATES] = { "[on-cpu]", "[runnable]", "[blocked]",
							  "[unknown]" };
	char name[4096];
	uint32_t node;
	int rc;

	dwell_view_group_name(view, row->group, name, sizeof(name));
	rc = dwell_names_child(view->names, 0, name, &node);
	if (!rc && mode == DWELL_MODE_WALL)
		rc = dwell_names_child(view->names, node, states[row->state], &node);
	if (!rc)
		*ret_node = node;
	return rc;
}

int dwell_sink_walk(const struct dwell_view *view, enum dwell_mode mode, bool any_state,
		    const struct dwell_sink_ops *ops, void *user, struct dwell_err *err)
{
	const struct dwell_profile *profile = view->analysis.profile;
	struct dwell_health health;
	int rc = ops->begin(user, view, err);

	for (uint32_t i = 0; !rc && i < dwell_profile_count(profile); i++) {
		struct dwell_sink_row out = { .row = dwell_profile_row(profile, i) };

		if (!mode_takes(mode, any_state, out.row))
			continue;
		rc = row_prefix(view, mode, out.row, &out.prefix);
		if (!rc)
			rc = dwell_view_stack(view, out.row, &out.stack);
		rc = rc ? dwell_err_sys(err, rc, "cannot name stacks") : ops->row(user, &out, err);
	}
	if (rc)
		return rc;
	dwell_health_read(&view->analysis, &health);
	rc = ops->lost(user, &health, err);
	return rc ? rc : ops->end(user, err);
}
