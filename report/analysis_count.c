// SPDX-License-Identifier: MIT
/* Events become counts per entry of the event table, and those of the chosen event rows of the
 * profile: a path without timeline. */
#include "report/analysis_count.h"

#include <errno.h>
#include <string.h>

void analysis_count_begin(struct dwell_analysis *analysis,
			  const struct dwell_analysis_options *options)
{
	analysis->choice =
		(struct event_choice){ .wanted = options->event, .weigh = options->weigh };
	if (!analysis->source)
		return;
	event_choice_follow(&analysis->choice, analysis->source);
	analysis->implied = !options->count && !analysis->info.has_switches &&
			    !analysis->choice.clock && !analysis->choice.waits;
	analysis->counting = options->count || analysis->implied;
}

/* Another event is chosen, or a clock was found: rows and books start anew. */
static int start_anew(struct dwell_analysis *analysis)
{
	enum dwell_group_by by = dwell_profile_by(analysis->profile);

	dwell_profile_free(analysis->profile);
	analysis->profile = dwell_profile_new(analysis->tables.threads, by);
	analysis->books.count = analysis->off_books.count = 0;
	analysis->total = 0;
	if (analysis->implied && (analysis->choice.clock || analysis->choice.waits))
		analysis->counting = analysis->implied = false;
	return analysis->profile ? 0 : -ENOMEM;
}

/* Who ran when the event happened: the one in whose context it was taken. */
static uint32_t thread_of(const struct dwell_event *event)
{
	bool waking = event->kind == DWELL_EVENT_WAKING || event->kind == DWELL_EVENT_WAKEUP_NEW;

	return waking ? event->u.wake.waker : event->thread;
}

static uint64_t weight_of(const struct dwell_analysis *analysis,
			  const struct dwell_event_desc *desc, const struct dwell_event *event)
{
	enum dwell_weigh weigh = analysis->choice.weigh;

	if (weigh == DWELL_WEIGH_SAMPLES ||
	    (weigh == DWELL_WEIGH_DEFAULT && !desc->is_clock && !desc->is_wait))
		return 1;
	if (event->kind == DWELL_EVENT_SAMPLE)
		return event->u.sample.weight;
	return desc->period ? desc->period : 1;
}

static int add_weight(struct dwell_analysis *analysis, const struct dwell_event *event,
		      uint64_t weight)
{
	uint32_t thread = thread_of(event), comm;
	int rc = analysis_thread_name(analysis, thread);

	if (rc)
		return rc;
	comm = dwell_threads_get(analysis->tables.threads, thread)->comm;
	if (!analysis_sample_counts(analysis, event, thread, comm))
		return 0;
	if (__builtin_add_overflow(analysis->total, weight, &analysis->total))
		return -EOVERFLOW;
	if (thread != DWELL_THREAD_NONE) {
		if (analysis_books_reach(analysis, thread))
			return -ENOMEM;
		analysis->books.data[thread].samples++;
	}
	return dwell_profile_add_weight(analysis->profile, thread, comm, event->stack, weight);
}

/* Takes in what the table has up to entry, which was not seen before. 0, 1 when there is no such
 * entry, or -ENOMEM. */
static int table_reach(struct dwell_analysis *analysis, uint32_t entry)
{
	uint32_t have = analysis->event_counts.count;

	if (!dwell_source_event_desc(analysis->source, entry))
		return 1;
	if (dwell_array_reserve(&analysis->event_counts, (uint64_t)entry + 1))
		return -ENOMEM;
	memset(analysis->event_counts.data + have, 0,
	       (size_t)(entry + 1 - have) * sizeof(*analysis->event_counts.data));
	analysis->event_counts.count = entry + 1;
	return event_choice_follow(&analysis->choice, analysis->source) ? start_anew(analysis) : 0;
}

int analysis_count_feed(struct dwell_analysis *analysis, const struct dwell_event *event)
{
	uint32_t entry = dwell_event_index_find(&analysis->index, analysis->source, event);
	const struct dwell_event_desc *desc;

	if (entry >= analysis->event_counts.count) {
		int rc = table_reach(analysis, entry);

		if (rc)
			return rc < 0 ? rc : 0;
	}
	analysis->event_counts.data[entry]++;
	if (!analysis->counting)
		return 0;
	desc = dwell_source_event_desc(analysis->source, entry);
	if (desc->name != analysis->choice.name)
		return 0;
	return add_weight(analysis, event, weight_of(analysis, desc, event));
}

int analysis_count_finish(struct dwell_analysis *analysis, struct dwell_err *err)
{
	int rc;

	if (!analysis->counting || analysis->implied)
		return 0;
	if (event_choice_follow(&analysis->choice, analysis->source)) {
		rc = start_anew(analysis);
		if (rc)
			return dwell_err_sys(err, rc, "cannot analyse");
	}
	rc = event_choice_check(&analysis->choice, analysis->source, err);
	analysis->unusable = rc == -EINVAL;
	return rc;
}

int dwell_analysis_allows(const struct dwell_analysis *analysis,
			  const struct dwell_analysis_options *options, struct dwell_err *err)
{
	const struct dwell_source_info *info = &analysis->info;
	unsigned needs = options->needs;

	if (info->no_switches_reason && needs & (DWELL_NEED_WAITS | DWELL_NEED_WALL))
		return dwell_err_set(err, -ENOTSUP, "%s", info->no_switches_reason);
	if (!info->has_switches && !analysis->choice.waits && needs & DWELL_NEED_WAITS)
		return dwell_err_set(err, -ENOTSUP,
				     "the recording has no scheduler events: off-CPU time cannot "
				     "be told (--on is what there is); record with `dwell record` "
				     "or `perf record -e sched:sched_switch -a -g`");
	if (analysis->implied && analysis->choice.rank && needs & DWELL_NEED_TIME)
		return dwell_err_set(
			err, -ENOTSUP,
			"the recording has neither scheduler events nor a clock with "
			"periods: time cannot be told; `dwell fold --event '%s'` counts samples",
			dwell_analysis_counted(analysis));
	return 0;
}

uint64_t dwell_analysis_event_count(const struct dwell_analysis *analysis, uint32_t index)
{
	return index < analysis->event_counts.count ? analysis->event_counts.data[index] : 0;
}

const char *dwell_analysis_counted(const struct dwell_analysis *analysis)
{
	if (!analysis->counting || !analysis->choice.rank)
		return NULL;
	return dwell_strings_get(analysis->tables.strings, analysis->choice.name);
}
