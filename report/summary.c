// SPDX-License-Identifier: MIT
/* Rows per thread become lines per (comm, state, place). Threads that only slept are put aside
 * where they would bury the answer, but never one that hangs in uninterruptible sleep. */
#include "report/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/idmap.h"
#include "report/short_stack.h"

enum { WHERE_BYTES = 1024, WHERE_BITS = 29 };

/* What building needs besides the result. */
struct builder {
	const struct dwell_view *view;
	struct dwell_summary *summary;
	struct dwell_idmap places; /* name node -> string id + 1 of its short form */
	struct dwell_idmap lines;  /* comm, state, place -> line + 1 */
};

const char *summary_state_name(enum summary_state state)
{
	static const char *const names[SUMMARY_STATES] = { "running", "runnable", "blocked",
							   "blocked D", "unknown" };

	return (unsigned)state < SUMMARY_STATES ? names[state] : "?";
}

static enum summary_state state_of(const struct dwell_row *row)
{
	switch (row->state) {
	case DWELL_STATE_ON_CPU:
		return SUMMARY_RUNNING;
	case DWELL_STATE_RUNNABLE:
		return SUMMARY_RUNNABLE;
	case DWELL_STATE_BLOCKED:
		return row->detail == DWELL_TASK_UNINTERRUPTIBLE ? SUMMARY_BLOCKED_D
								 : SUMMARY_BLOCKED;
	}
	return SUMMARY_UNKNOWN;
}

/* Where a row's time goes: an aside or the list. */
static unsigned aside_of(const struct dwell_analysis *analysis, uint32_t index,
			 enum summary_state state)
{
	const struct dwell_thread *thread = dwell_threads_get(analysis->tables.threads, index);
	const struct dwell_account *account = dwell_timeline_account(analysis->timeline, index);

	if (analysis->counting)
		return SUMMARY_LISTED;
	if (thread->recorder)
		return SUMMARY_RECORDER;
	if (state != SUMMARY_BLOCKED)
		return SUMMARY_LISTED;
	if (thread->kernel)
		return SUMMARY_KERNEL_ASLEEP;
	if (analysis->info.all_threads && !account->switches_in &&
	    !account->ns[DWELL_STATE_ON_CPU] && !account->ns[DWELL_STATE_RUNNABLE])
		return SUMMARY_NEVER_RAN;
	return SUMMARY_LISTED;
}

/* The string id of a row's place. */
static int place_of(struct builder *b, const struct dwell_row *row, uint32_t *ret_where)
{
	char text[WHERE_BYTES];
	uint32_t node, where;
	int rc = dwell_view_stack(b->view, row, &node);

	if (rc)
		return rc;
	where = dwell_idmap_find(&b->places, node);
	if (!where) {
		dwell_short_stack(b->view->names, node, text, sizeof(text));
		rc = dwell_strings_add(b->summary->where, text, strlen(text), &where);
		if (!rc)
			rc = dwell_idmap_set(&b->places, node, ++where);
		if (rc)
			return rc;
	}
	*ret_where = where - 1;
	return 0;
}

static int add_line(struct builder *b, const struct dwell_row *row, uint32_t comm)
{
	struct dwell_summary *summary = b->summary;
	enum summary_state state = state_of(row);
	/* How long a thread ran at a time is not known per place: samples tell only how often. */
	uint64_t longest_ns = state == SUMMARY_RUNNING ? 0 : row->longest_ns;
	bool censored = longest_ns && row->censored_ns >= longest_ns;
	struct summary_line *line;
	uint32_t where, index;
	uint64_t key;
	int rc = place_of(b, row, &where);

	if (rc || where >> WHERE_BITS)
		return rc ? rc : -ENOMEM;
	key = (uint64_t)comm << 32 | (uint64_t)state << WHERE_BITS | where;
	index = dwell_idmap_find(&b->lines, key);
	if (!index) {
		if (dwell_array_grow(&summary->lines) ||
		    dwell_idmap_set(&b->lines, key, summary->lines.count + 1))
			return -ENOMEM;
		index = ++summary->lines.count;
		summary->lines.data[index - 1] = (struct summary_line){ .comm = comm,
									.where = where,
									.state = (uint8_t)state };
	}
	line = &summary->lines.data[index - 1];
	line->ns += row->ns;
	line->count += row->count;
	if (longest_ns > line->longest_ns || (longest_ns == line->longest_ns && censored)) {
		line->longest_ns = longest_ns;
		line->censored = censored;
	}
	return 0;
}

static int add_row(struct builder *b, const struct dwell_row *row, uint8_t *seen)
{
	const struct dwell_analysis *analysis = &b->view->analysis;
	const struct dwell_group *group = dwell_profile_group(analysis->profile, row->group);
	unsigned aside = aside_of(analysis, group->thread, state_of(row));

	if (!row->ns)
		return 0;
	if (aside == SUMMARY_LISTED) {
		b->summary->listed_ns += row->ns;
		return add_line(b, row, group->comm);
	}
	b->summary->asides[aside].ns += row->ns;
	/* Each thread counts once per aside, whatever its number of rows. */
	b->summary->asides[aside].threads += !(seen[group->thread] >> aside & 1);
	seen[group->thread] |= (uint8_t)(1 << aside);
	return 0;
}

static int compare_lines(const void *a, const void *b)
{
	const struct summary_line *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->state != y->state)
		return x->state < y->state ? -1 : 1;
	if (x->comm != y->comm)
		return x->comm < y->comm ? -1 : 1;
	return (x->where > y->where) - (x->where < y->where);
}

static void add_books(const struct dwell_analysis *analysis, struct dwell_summary *summary)
{
	for (uint32_t i = 0; i < analysis->books.count; i++) {
		const struct dwell_books *books = &analysis->books.data[i];

		summary->threads += books->observed_ns || books->samples;
		summary->observed_ns += books->observed_ns;
		for (unsigned state = 0; state < DWELL_STATES; state++)
			summary->state_ns[state] += books->ns[state];
	}
}

int dwell_summary_build(const struct dwell_view *view, struct dwell_summary *ret)
{
	const struct dwell_profile *profile = view->analysis.profile;
	struct builder b = { .view = view, .summary = ret };
	uint8_t *seen = calloc((size_t)dwell_threads_count(view->analysis.tables.threads) + 1, 1);
	int rc = 0;

	memset(ret, 0, sizeof(*ret));
	ret->where = dwell_strings_new();
	if (!ret->where || !seen)
		rc = -ENOMEM;
	for (uint32_t i = 0; !rc && i < dwell_profile_count(profile); i++)
		rc = add_row(&b, dwell_profile_row(profile, i), seen);
	if (!rc && ret->lines.count)
		qsort(ret->lines.data, ret->lines.count, sizeof(*ret->lines.data), compare_lines);
	add_books(&view->analysis, ret);
	dwell_idmap_release(&b.places);
	dwell_idmap_release(&b.lines);
	free(seen);
	return rc;
}

void dwell_summary_release(struct dwell_summary *summary)
{
	dwell_strings_free(summary->where);
	dwell_array_release(&summary->lines);
	memset(summary, 0, sizeof(*summary));
}
