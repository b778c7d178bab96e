// SPDX-License-Identifier: MIT
/* The books of threads become a sorted list and a table. */
#include "report/threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/summary_text.h"
#include "report/table.h"
#include "report/text.h"

enum sort_key {
	SORT_CPU = 0, /* on-CPU and runnable: the time it wanted a CPU */
	SORT_OBSERVED,
	SORT_ON,
	SORT_RUNNABLE,
	SORT_BLOCKED,
	SORT_UNKNOWN,
	SORT_SWITCHES,
	SORT_SAMPLES,
	SORT_LONGEST,
	SORT_PID,
	SORT_TID,
	SORT_COMM,
	SORT_KEYS
};

static const char *const sort_names[SORT_KEYS] = {
	"cpu",	    "observed", "on",	   "runnable", "blocked", "unknown",
	"switches", "samples",	"longest", "pid",      "tid",	  "comm",
};

int dwell_thread_sort_key(const char *name, struct dwell_err *err)
{
	for (int key = 0; key < SORT_KEYS; key++)
		if (!strcmp(name, sort_names[key]))
			return key;
	return dwell_err_set(err, -EINVAL,
			     "'%s' is not cpu, observed, on, runnable, blocked, unknown, switches, "
			     "samples, longest, pid, tid or comm",
			     name);
}

uint64_t dwell_thread_samples(const struct dwell_analysis *analysis, uint32_t index)
{
	if (analysis->info.has_switches && !analysis->counting)
		return dwell_timeline_account(analysis->timeline, index)->samples;
	return dwell_analysis_books(analysis, index)->samples;
}

static uint64_t sort_value(const struct dwell_analysis *analysis, uint32_t index, int key)
{
	const struct dwell_account *account = dwell_timeline_account(analysis->timeline, index);
	const struct dwell_books *books = dwell_analysis_books(analysis, index);
	const struct dwell_thread *thread = dwell_threads_get(analysis->tables.threads, index);

	switch (key) {
	case SORT_CPU:
		return books->ns[DWELL_STATE_ON_CPU] + books->ns[DWELL_STATE_RUNNABLE];
	case SORT_OBSERVED:
		return books->observed_ns;
	case SORT_ON:
		return books->ns[DWELL_STATE_ON_CPU];
	case SORT_RUNNABLE:
		return books->ns[DWELL_STATE_RUNNABLE];
	case SORT_BLOCKED:
		return books->ns[DWELL_STATE_BLOCKED];
	case SORT_UNKNOWN:
		return books->ns[DWELL_STATE_UNKNOWN];
	case SORT_SWITCHES:
		return account->switches_voluntary + account->switches_involuntary;
	case SORT_SAMPLES:
		return dwell_thread_samples(analysis, index);
	case SORT_LONGEST:
		return dwell_analysis_off_books(analysis, index)->longest_blocked_ns;
	case SORT_PID: /* ascending */
		return UINT64_MAX - (uint32_t)thread->pid;
	}
	return 0; /* tid: what ties fall back to */
}

/* What the comparison needs; glibc before 2.37 sorts stably only by luck, so ties end by tid. */
struct sort {
	const struct dwell_analysis *analysis;
	int key;
};

static int compare_threads(const void *a, const void *b, void *user)
{
	const struct sort *sort = user;
	const struct dwell_tables *tables = &sort->analysis->tables;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct dwell_thread *x = dwell_threads_get(tables->threads, i);
	const struct dwell_thread *y = dwell_threads_get(tables->threads, j);
	uint64_t value_x = sort_value(sort->analysis, i, sort->key);
	uint64_t value_y = sort_value(sort->analysis, j, sort->key);
	int order = 0;

	if (value_x != value_y)
		return value_x > value_y ? -1 : 1;
	if (sort->key == SORT_COMM)
		order = strcmp(dwell_strings_get(tables->strings, x->comm),
			       dwell_strings_get(tables->strings, y->comm));
	if (order)
		return order;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return i < j ? -1 : i > j;
}

int dwell_thread_list_build(const struct dwell_analysis *analysis, int sort_key,
			    struct dwell_thread_list *ret)
{
	/* There is no time to order by where samples are counted. */
	bool untimed = analysis->counting && sort_key <= SORT_LONGEST;
	struct sort sort = { analysis, untimed ? SORT_SAMPLES : sort_key };

	memset(ret, 0, sizeof(*ret));
	for (uint32_t i = 0; i < analysis->books.count; i++) {
		if (!analysis->books.data[i].observed_ns && !analysis->books.data[i].samples)
			continue;
		if (dwell_array_grow(&ret->threads))
			return -ENOMEM;
		ret->threads.data[ret->threads.count++] = i;
	}
	if (ret->threads.count)
		qsort_r(ret->threads.data, ret->threads.count, sizeof(*ret->threads.data),
			compare_threads, &sort);
	return 0;
}

void dwell_thread_list_release(struct dwell_thread_list *list)
{
	dwell_array_release(&list->threads);
}

static const struct table_column columns[] = {
	{ .title = "pid/tid", .right = true },	{ .title = "thread", .gives = true },
	{ .title = "observed", .right = true }, { .title = "on-CPU", .right = true },
	{ .title = "", .right = true },		{ .title = "runnable", .right = true },
	{ .title = "blocked", .right = true },	{ .title = "unknown", .right = true },
	{ .title = "vol", .right = true },	{ .title = "invol", .right = true },
	{ .title = "longest", .right = true },
};

/* Without the scheduler's events only time on a CPU is known, or only samples. */
static const struct table_column columns_samples[] = {
	{ .title = "pid/tid", .right = true }, { .title = "thread", .gives = true },
	{ .title = "share", .right = true },   { .title = "samples", .right = true },
	{ .title = "on-CPU", .right = true },
};

enum { COLUMNS_COUNTED = 4 }; /* of columns_samples, where there is no time */

static void add_samples(const struct dwell_analysis *analysis, uint32_t index, struct table *table)
{
	const struct dwell_books *books = dwell_analysis_books(analysis, index);
	char number[TEXT_NUMBER_BYTES];

	table_add(table, analysis->counting
				 ? text_share(number, books->samples, analysis->total)
				 : text_share(number, books->observed_ns, analysis->total_ns));
	table_add(table, text_count(number, books->samples));
	if (!analysis->counting)
		table_add(table, text_duration(number, books->ns[DWELL_STATE_ON_CPU]));
}

static void add_thread(const struct dwell_analysis *analysis, uint32_t index, struct table *table)
{
	const struct dwell_account *account = dwell_timeline_account(analysis->timeline, index);
	const struct dwell_books *books = dwell_analysis_books(analysis, index);
	const struct dwell_off_books *off = dwell_analysis_off_books(analysis, index);
	const struct dwell_thread *thread = dwell_threads_get(analysis->tables.threads, index);
	char text[256], number[TEXT_NUMBER_BYTES];

	if (thread->pid < 0 && thread->tid < 0) /* a text that shows no tids */
		snprintf(text, sizeof(text), "-");
	else if (thread->pid < 0) /* ... or no pids */
		snprintf(text, sizeof(text), "-/%d", thread->tid);
	else if (thread->pid == thread->tid)
		snprintf(text, sizeof(text), "%d", thread->tid);
	else
		snprintf(text, sizeof(text), "%d/%d", thread->pid, thread->tid);
	table_add(table, text);
	text_name(text, sizeof(text), dwell_strings_get(analysis->tables.strings, thread->comm));
	table_add(table, text);
	if (analysis->counting || !analysis->info.has_switches) {
		add_samples(analysis, index, table);
		return;
	}
	table_add(table, text_duration(number, books->observed_ns));
	table_add(table, text_duration(number, books->ns[DWELL_STATE_ON_CPU]));
	for (unsigned state = 0; state < DWELL_STATES; state++)
		table_add(table, text_share(number, books->ns[state], books->observed_ns));
	table_add(table, text_count(number, account->switches_voluntary));
	table_add(table, text_count(number, account->switches_involuntary));
	snprintf(text, sizeof(text), "%s%s", off->longest_censored ? ">=" : "",
		 text_duration(number, off->longest_blocked_ns));
	table_add(table, off->longest_blocked_ns ? text : "-");
}

int threads_text_print(const struct dwell_view *view, const struct dwell_thread_list *list,
		       const struct dwell_health *health, FILE *out)
{
	struct table table = { .columns = columns,
			       .column_count = sizeof(columns) / sizeof(columns[0]) };
	bool timed = view->analysis.info.has_switches && !view->analysis.counting;
	int rc;

	if (!timed) {
		table.columns = columns_samples;
		table.column_count = view->analysis.counting
					     ? COLUMNS_COUNTED
					     : sizeof(columns_samples) / sizeof(columns_samples[0]);
	}
	text_print_origin(&view->analysis, out);
	for (uint32_t i = 0; i < list->threads.count; i++)
		add_thread(&view->analysis, list->threads.data[i], &table);
	rc = table.failed;
	if (!rc && !list->threads.count) {
		text_print_nothing(&view->analysis, out);
	} else if (!rc) {
		table_print(&table, out, NULL);
		if (timed)
			fprintf(out, "vol, invol: switches in the whole recording, whatever the "
				     "filter\n");
	}
	table_release(&table);
	if (!rc)
		text_print_warnings(view, health, out);
	return rc;
}
