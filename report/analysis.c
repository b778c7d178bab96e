// SPDX-License-Identifier: MIT
/* Events run through the timeline; the intervals that pass the filter become rows of the profile
 * and entries in the threads' books. */
#include "report/analysis.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse/recorded.h"
#include "report/analysis_count.h"
#include "report/time_range.h"

int analysis_books_reach(struct dwell_analysis *analysis, uint32_t thread)
{
	uint32_t have = analysis->books.count;

	if (thread < have)
		return 0;
	if (dwell_array_reserve(&analysis->books, (uint64_t)thread + 1))
		return -ENOMEM;
	memset(analysis->books.data + have, 0,
	       (size_t)(thread + 1 - have) * sizeof(*analysis->books.data));
	analysis->books.count = thread + 1;
	return 0;
}

/* The books of a thread off a CPU, made when new; NULL when out of memory. */
static struct dwell_off_books *off_books_need(struct dwell_analysis *analysis, uint32_t thread)
{
	uint32_t have = analysis->off_books.count;

	if (thread >= have) {
		if (dwell_array_reserve(&analysis->off_books, (uint64_t)thread + 1))
			return NULL;
		memset(analysis->off_books.data + have, 0,
		       (size_t)(thread + 1 - have) * sizeof(*analysis->off_books.data));
		analysis->off_books.count = thread + 1;
	}
	return &analysis->off_books.data[thread];
}

static int off_books_add(struct dwell_analysis *analysis, const struct dwell_interval *interval,
			 uint64_t ns)
{
	struct dwell_off_books *books = off_books_need(analysis, interval->thread);

	if (!books)
		return -ENOMEM;
	if (interval->state == DWELL_STATE_UNKNOWN && interval->detail < DWELL_UNKNOWNS)
		books->unknown_ns[interval->detail] += ns;
	if (interval->state == DWELL_STATE_BLOCKED && ns > books->longest_blocked_ns) {
		books->longest_blocked_ns = ns;
		books->longest_censored = interval->censored_start || interval->censored_end;
	}
	return 0;
}

static int books_add(struct dwell_analysis *analysis, const struct dwell_interval *interval)
{
	uint64_t ns = interval->end_ns - interval->start_ns;
	struct dwell_books *books;

	if (interval->thread >= analysis->books.count &&
	    analysis_books_reach(analysis, interval->thread))
		return -ENOMEM;
	if (__builtin_add_overflow(analysis->total_ns, ns, &analysis->total_ns))
		return -EOVERFLOW;
	books = &analysis->books.data[interval->thread];
	books->observed_ns += ns;
	books->ns[interval->state] += ns;
	return interval->state == DWELL_STATE_UNKNOWN || interval->state == DWELL_STATE_BLOCKED
		       ? off_books_add(analysis, interval, ns)
		       : 0;
}

static int take_interval(void *user, const struct dwell_interval *whole)
{
	struct dwell_analysis *analysis = user;
	struct dwell_interval interval;
	int rc;

	if (analysis->filtered) {
		interval = *whole;
		if (!dwell_filter_clip(&analysis->filter, analysis->tables.threads,
				       analysis->tables.strings, &interval))
			return 0;
		whole = &interval;
	}
	rc = books_add(analysis, whole);
	return rc ? rc : dwell_profile_add(analysis->profile, whole);
}

bool analysis_sample_counts(const struct dwell_analysis *analysis, const struct dwell_event *event,
			    uint32_t thread, uint32_t comm)
{
	struct dwell_filter filter = analysis->filter;
	struct dwell_interval instant = { .start_ns = event->time_ns,
					  .end_ns = event->time_ns + 1,
					  .thread = thread,
					  .comm = comm,
					  .cpu = event->cpu,
					  .state = DWELL_STATE_ON_CPU,
					  .waker = DWELL_THREAD_NONE };

	if (!analysis->filtered)
		return true;
	filter.min_ns = filter.max_ns = 0;
	return dwell_filter_clip(&filter, analysis->tables.threads, analysis->tables.strings,
				 &instant);
}

static int take_sample(void *user, const struct dwell_event *event, uint32_t comm)
{
	struct dwell_analysis *analysis = user;

	if (!analysis_sample_counts(analysis, event, event->thread, comm))
		return 0;
	return dwell_profile_add_sample(analysis->profile, event, comm);
}

static int take_end(void *user, uint32_t thread)
{
	struct dwell_analysis *analysis = user;

	return dwell_profile_end_thread(analysis->profile, thread);
}

/* Without scheduler events all that is known is the samples: a clock's stands for its period on
 * CPU, that of a wait for its length. */
static int feed_sample_alone(struct dwell_analysis *analysis, const struct dwell_event *event)
{
	const struct dwell_event_desc *desc = dwell_analysis_event(analysis, event->u.sample.event);
	const struct dwell_thread *thread =
		dwell_threads_get(analysis->tables.threads, event->thread);
	uint64_t weight = event->u.sample.weight;
	uint64_t end_ns = event->time_ns > weight ? event->time_ns : weight;
	bool wait = desc && desc->is_wait;
	struct dwell_interval interval = {
		.start_ns = end_ns - weight,
		.end_ns = end_ns,
		.thread = event->thread,
		.comm = thread->comm,
		.cpu = event->cpu,
		.state = wait ? DWELL_STATE_BLOCKED : DWELL_STATE_ON_CPU,
		.detail = wait ? DWELL_TASK_OTHER : 0,
		.stack = wait ? event->stack : 0,
		.waker = DWELL_THREAD_NONE,
	};
	int rc;

	if (event->kind != DWELL_EVENT_SAMPLE || event->thread == DWELL_THREAD_IDLE ||
	    event->thread == DWELL_THREAD_NONE || !weight)
		return 0;
	if (wait)
		return take_interval(analysis, &interval);
	if (!analysis_sample_counts(analysis, event, event->thread, thread->comm))
		return 0;
	rc = books_add(analysis, &interval);
	if (rc)
		return rc;
	analysis->books.data[event->thread].samples++;
	return dwell_profile_add_weight(analysis->profile, event->thread, thread->comm,
					event->stack, weight);
}

int dwell_analysis_begin(struct dwell_analysis *analysis, const struct dwell_tables *tables,
			 const struct dwell_source_info *info, const struct dwell_filter *filter,
			 const struct dwell_analysis_options *options, struct dwell_err *err)
{
	static const struct dwell_timeline_ops ops = { take_interval, take_sample, take_end };
	static const struct dwell_filter none;

	analysis->tables = *tables;
	analysis->info = *info;
	analysis->filter = *filter;
	analysis->filtered = memcmp(&analysis->filter, &none, sizeof(none)) != 0;
	if (info->no_switches_reason)
		analysis->info.has_switches = false;
	analysis->timeline = dwell_timeline_new(tables->threads, info->start_ns, info->all_threads,
						&ops, analysis);
	analysis->profile = dwell_profile_new(tables->threads, options->by);
	if (!analysis->timeline || !analysis->profile)
		return dwell_err_sys(err, -ENOMEM, "cannot analyse");
	analysis_count_begin(analysis, options);
	return 0;
}

/* Only a clock's samples say how time on CPU is spread; others count something else. Where the
 * samples are all there is, another clock may tell the same time once more. */
static bool spreads_time(const struct dwell_analysis *analysis, const struct dwell_event *event)
{
	const struct dwell_event_desc *desc = dwell_analysis_event(analysis, event->u.sample.event);

	if (!desc || analysis->info.has_switches)
		return desc ? desc->is_clock : !analysis->source;
	return desc->is_wait || event_choice_is_clock(&analysis->choice, desc->name);
}

int analysis_thread_meet(struct dwell_analysis *analysis, uint32_t index)
{
	struct dwell_thread *thread = dwell_threads_get(analysis->tables.threads, index);
	uint32_t met = analysis->met.count;
	char name[16] = "swapper";

	if (index >= dwell_threads_count(analysis->tables.threads))
		return 0;
	if (index >= met) {
		if (dwell_array_reserve(&analysis->met, (uint64_t)index + 1))
			return -ENOMEM;
		memset(analysis->met.data + met, 0, index + 1 - met);
		analysis->met.count = index + 1;
	}
	analysis->met.data[index] = true;
	if (thread->comm)
		return 0;
	if (index != DWELL_THREAD_IDLE && thread->tid < 0)
		snprintf(name, sizeof(name), "[no name]"); /* nor a tid */
	else if (index != DWELL_THREAD_IDLE)
		snprintf(name, sizeof(name), ":%d", thread->tid);
	return dwell_strings_add(analysis->tables.strings, name, strlen(name), &thread->comm);
}

int dwell_analysis_feed(struct dwell_analysis *analysis, const struct dwell_event *event,
			struct dwell_err *err)
{
	int rc = analysis_thread_name(analysis, event->thread);

	if (!rc && event->kind == DWELL_EVENT_SWITCH)
		rc = analysis_thread_name(analysis, event->u.sw.next);
	if (!rc && analysis->source)
		rc = analysis_count_feed(analysis, event);
	if (!rc && !analysis->counting &&
	    (event->kind != DWELL_EVENT_SAMPLE || spreads_time(analysis, event)))
		rc = analysis->info.has_switches ? dwell_timeline_feed(analysis->timeline, event)
						 : feed_sample_alone(analysis, event);
	return rc ? dwell_err_sys(err, rc, "cannot analyse") : 0;
}

/* The part of the window that --time leaves. */
static uint64_t window_of(const struct dwell_analysis *analysis)
{
	uint64_t from_ns = analysis->info.start_ns, to_ns = analysis->info.end_ns;

	if (analysis->filter.from_ns > from_ns)
		from_ns = analysis->filter.from_ns;
	if (analysis->filter.to_ns && analysis->filter.to_ns < to_ns)
		to_ns = analysis->filter.to_ns;
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

int dwell_analysis_finish(struct dwell_analysis *analysis, const struct dwell_source_info *info,
			  struct dwell_err *err)
{
	bool has_switches = analysis->info.has_switches; /* events were fed by what it was then */
	bool timed = has_switches && !analysis->counting;
	int rc = 0;

	analysis->info = *info;
	analysis->info.has_switches = has_switches;
	if (timed)
		rc = dwell_timeline_finish(analysis->timeline, info->end_ns);
	if (!rc)
		rc = dwell_profile_finish(analysis->profile);
	if (rc)
		return dwell_err_sys(err, rc, "cannot analyse");
	analysis->window_ns = window_of(analysis);
	if (timed)
		dwell_timeline_check(analysis->timeline, &analysis->law);
	return analysis_count_finish(analysis, err);
}

/* Where the window ends is known only once the whole file was read. */
static int find_end(const char *path, uint64_t *ret_end_ns, struct dwell_err *err)
{
	const struct dwell_event *event;
	struct dwell_source *source;
	int rc;

	if (!strcmp(path, "-"))
		return dwell_err_set(err, -EINVAL,
				     "--time: shares need a file that can be read twice");
	rc = dwell_source_open(path, &source, err);
	if (rc)
		return rc;
	do
		rc = dwell_source_next(source, &event, err);
	while (rc > 0);
	if (!rc)
		*ret_end_ns = dwell_source_info(source)->end_ns;
	dwell_source_close(source);
	return rc;
}

static int resolve_time(const struct dwell_source *source, const char *path, const char *time,
			struct dwell_filter *filter, struct dwell_err *err)
{
	struct time_base base = { .start_ns = dwell_source_info(source)->start_ns,
				  .realtime_ns =
					  dwell_source_fact_u64(source, "clock.realtime_ns") };
	int rc = 0;

	if (dwell_source_info(source)->untimed)
		return dwell_err_set(err, -ENOTSUP,
				     "--time: the samples of the file have no times");
	if (time_range_needs_end(time))
		rc = find_end(path, &base.end_ns, err);
	if (!rc)
		rc = time_range_resolve(time, &base, &filter->from_ns, &filter->to_ns, err);
	return rc;
}

int dwell_analysis_run(const char *path, const struct dwell_filter *filter,
		       const struct dwell_analysis_options *options, struct dwell_analysis *ret,
		       struct dwell_err *err)
{
	struct dwell_analysis_options early = *options;
	struct dwell_filter resolved = *filter;
	const struct dwell_event *event;
	struct dwell_tables tables;
	int rc;

	memset(ret, 0, sizeof(*ret));
	rc = dwell_source_open(path, &ret->source, err);
	if (rc)
		return rc;
	if (options->symbols)
		rc = dwell_recorded_binaries(ret->source, path, options->symbols, err);
	if (!rc && options->time)
		rc = resolve_time(ret->source, path, options->time, &resolved, err);
	tables = (struct dwell_tables){ dwell_source_strings(ret->source),
					dwell_source_stacks(ret->source),
					dwell_source_threads(ret->source) };
	if (!rc)
		rc = dwell_analysis_begin(ret, &tables, dwell_source_info(ret->source), &resolved,
					  options, err);
	if (!rc) { /* a clock may still show up */
		early.needs &= ~(unsigned)DWELL_NEED_TIME;
		rc = dwell_analysis_allows(ret, &early, err);
	}
	while (!rc) {
		rc = dwell_source_next(ret->source, &event, err);
		if (rc <= 0)
			break;
		rc = dwell_analysis_feed(ret, event, err);
	}
	if (!rc)
		rc = dwell_analysis_finish(ret, dwell_source_info(ret->source), err);
	return rc ? rc : dwell_analysis_allows(ret, options, err);
}

void dwell_analysis_release(struct dwell_analysis *analysis)
{
	dwell_timeline_free(analysis->timeline);
	dwell_profile_free(analysis->profile);
	dwell_array_release(&analysis->books);
	dwell_array_release(&analysis->off_books);
	dwell_array_release(&analysis->event_counts);
	dwell_array_release(&analysis->met);
	if (analysis->source)
		dwell_source_close(analysis->source);
	memset(analysis, 0, sizeof(*analysis));
}

const char *dwell_analysis_fact(const struct dwell_analysis *analysis, const char *key)
{
	return analysis->source ? dwell_source_fact(analysis->source, key) : NULL;
}

uint64_t dwell_analysis_fact_u64(const struct dwell_analysis *analysis, const char *key)
{
	return analysis->source ? dwell_source_fact_u64(analysis->source, key) : 0;
}

const char *dwell_analysis_label(const struct dwell_analysis *analysis, uint32_t index,
				 const char **ret_value)
{
	const char *key = NULL, *value;

	if (!analysis->source)
		return NULL;
	for (uint32_t fact = 0; (key = dwell_source_fact_at(analysis->source, fact, &value));
	     fact++)
		if (!strncmp(key, "label.", 6) && !index--)
			break;
	if (!key)
		return NULL;
	*ret_value = value;
	return key + 6;
}

const struct dwell_event_desc *dwell_analysis_event(const struct dwell_analysis *analysis,
						    uint32_t index)
{
	return analysis->source ? dwell_source_event_desc(analysis->source, index) : NULL;
}

const struct dwell_books *dwell_analysis_books(const struct dwell_analysis *analysis,
					       uint32_t thread)
{
	static const struct dwell_books none;

	return thread < analysis->books.count ? &analysis->books.data[thread] : &none;
}

const struct dwell_off_books *dwell_analysis_off_books(const struct dwell_analysis *analysis,
						       uint32_t thread)
{
	static const struct dwell_off_books none;

	return thread < analysis->off_books.count ? &analysis->off_books.data[thread] : &none;
}

const char *dwell_unknown_frame(enum dwell_unknown why)
{
	switch (why) {
	case DWELL_UNKNOWN_NEVER_SEEN:
		return "[never seen]";
	case DWELL_UNKNOWN_LOST:
		return "[lost]";
	case DWELL_UNKNOWN_MISSED:
		return "[missed switch]";
	case DWELL_UNKNOWN_STOPPED:
		return "[not observed]";
	case DWELL_UNKNOWN_OFFLINE:
		return "[offline]";
	case DWELL_UNKNOWNS:
		break;
	}
	return "[other]";
}
