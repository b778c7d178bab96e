// SPDX-License-Identifier: MIT
/* Results become JSON objects: schema and origin first, how far to trust them next, then the
 * lines. Every string is made valid UTF-8, whatever bytes a name has. */
#include "report/json.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"

enum { WARNING_BYTES = 4096 };

/* Collects -ENOMEM, so that building reads as a list of keys. */
struct builder {
	struct json_object *object;
	int failed;
};

static void put(struct builder *b, const char *key, struct json_object *value)
{
	if (!b->object || !value || json_object_object_add(b->object, key, value)) {
		json_object_put(value);
		b->failed = -ENOMEM;
	}
}

static void put_u64(struct builder *b, const char *key, uint64_t value)
{
	put(b, key, json_object_new_uint64(value));
}

static void put_bool(struct builder *b, const char *key, bool value)
{
	put(b, key, json_object_new_boolean(value));
}

static void put_text(struct builder *b, const char *key, const char *text)
{
	size_t room = text ? 3 * strlen(text) + 1 : 0; /* U+FFFD takes three bytes */
	char *clean;

	if (!text) {
		if (!b->object || json_object_object_add(b->object, key, NULL))
			b->failed = -ENOMEM;
		return;
	}
	clean = malloc(room);
	if (!clean) {
		b->failed = -ENOMEM;
		return;
	}
	dwell_text_clean(clean, room, text, "\xef\xbf\xbd");
	put(b, key, json_object_new_string(clean));
	free(clean);
}

/* Moves the inner one's object into b. */
static void put_object(struct builder *b, const char *key, const struct builder *inner)
{
	put(b, key, inner->object);
	if (inner->failed)
		b->failed = inner->failed;
}

/* Moves row's object to the end of an array that goes into b. */
static void put_row(struct builder *b, struct json_object *array, const struct builder *row)
{
	if (row->object && !row->failed && !json_object_array_add(array, row->object))
		return;
	json_object_put(row->object);
	b->failed = -ENOMEM;
}

static void put_labels(struct builder *b, const struct dwell_analysis *analysis)
{
	struct builder labels = { .object = json_object_new_object() };
	const char *key, *value;

	for (uint32_t i = 0; (key = dwell_analysis_label(analysis, i, &value)) != NULL; i++) {
		char clean[256];

		dwell_text_clean(clean, sizeof(clean), key, "\xef\xbf\xbd");
		put_text(&labels, clean, value);
	}
	put_object(b, "labels", &labels);
}

static void put_origin(struct builder *b, const struct dwell_analysis *analysis)
{
	const struct dwell_source_info *info = &analysis->info;

	put_text(b, "dwell_version", DWELL_VERSION);
	put_text(b, "format", info->format_name);
	put_text(b, "host", dwell_analysis_fact(analysis, "host.name"));
	put_text(b, "kernel", dwell_analysis_fact(analysis, "kernel.release"));
	put_text(b, "command", dwell_analysis_fact(analysis, "command"));
	put_labels(b, analysis);
	put_u64(b, "start_ns", info->start_ns);
	put_u64(b, "end_ns", info->end_ns);
	put_u64(b, "window_ns", analysis->window_ns);
	put_bool(b, "untimed", analysis->info.untimed);
	put_bool(b, "whole_system", info->all_threads);
	put_u64(b, "cpus", info->cpus);
	put_u64(b, "file_bytes", info->file_bytes);
	put_u64(b, "recorder_cpu_ns", info->recorder_cpu_ns);
}

static void put_events(struct builder *b, const struct dwell_analysis *analysis)
{
	struct json_object *array = json_object_new_array();
	const struct dwell_event_desc *desc;

	for (uint32_t i = 0; array && (desc = dwell_analysis_event(analysis, i)) != NULL; i++) {
		struct builder row = { .object = json_object_new_object() };

		put_text(&row, "name", dwell_strings_get(analysis->tables.strings, desc->name));
		put_u64(&row, "period", desc->period);
		put_u64(&row, "freq_hz", desc->freq_hz);
		put_text(&row, "unit", desc->unit == DWELL_UNIT_NS ? "ns" : "count");
		put_bool(&row, "clock", desc->is_clock);
		put_u64(&row, "samples", dwell_analysis_event_count(analysis, i));
		put_row(b, array, &row);
	}
	put(b, "events", array);
}

static void put_coverage(struct builder *b, const struct dwell_analysis *analysis,
			 const struct dwell_health *health)
{
	struct json_object *array = json_object_new_array();
	const struct dwell_coverage *coverage;

	if (health->kernel_count)
		put(b, "coverage", json_object_new_double(dwell_health_coverage(health)));
	else
		put_text(b, "coverage", NULL);
	for (uint32_t i = 0; array && analysis->source &&
			     (coverage = dwell_source_coverage(analysis->source, i)) != NULL;
	     i++) {
		const struct dwell_event_desc *desc =
			dwell_analysis_event(analysis, coverage->event);
		struct builder row = { .object = json_object_new_object() };

		put_text(&row, "event",
			 desc ? dwell_strings_get(analysis->tables.strings, desc->name) : NULL);
		put_u64(&row, "cpu", coverage->cpu);
		put_u64(&row, "kernel_count", coverage->kernel_count);
		put_u64(&row, "parsed", coverage->parsed);
		put_u64(&row, "lost", coverage->lost);
		put_bool(&row, "blind_idle", coverage->blind_idle);
		put_row(b, array, &row);
	}
	put(b, "coverage_rows", array);
}

static void put_unknown(struct builder *b, const uint64_t *unknown_ns)
{
	static const char *const keys[DWELL_UNKNOWNS] = {
		[DWELL_UNKNOWN_NEVER_SEEN] = "never_seen_ns",
		[DWELL_UNKNOWN_LOST] = "lost_ns",
		[DWELL_UNKNOWN_MISSED] = "missed_switch_ns",
		[DWELL_UNKNOWN_STOPPED] = "not_observed_ns",
		[DWELL_UNKNOWN_OFFLINE] = "offline_ns",
	};
	struct builder object = { .object = json_object_new_object() };

	for (unsigned why = 0; why < DWELL_UNKNOWNS; why++)
		put_u64(&object, keys[why], unknown_ns[why]);
	put_object(b, "unknown", &object);
}

/* Absent when no user stacks were copied. */
static void put_stacks(struct builder *b, const struct dwell_health *health)
{
	static const char *const keys[DWELL_STACKS_ENDS] = {
		[DWELL_STACKS_COMPLETE] = "complete",	    [DWELL_STACKS_JOINED] = "joined",
		[DWELL_STACKS_TRUNCATED] = "truncated",	    [DWELL_STACKS_BROKEN] = "broken",
		[DWELL_STACKS_NOT_UNWOUND] = "not_unwound",
	};
	struct builder object = { 0 };

	if (!dwell_health_stacks(health))
		return;
	object.object = json_object_new_object();
	for (unsigned end = 0; end < DWELL_STACKS_ENDS; end++)
		put_u64(&object, keys[end], health->stacks[end]);
	put_object(b, "user_stacks", &object);
}

static void put_warning(void *user, const char *text)
{
	char clean[WARNING_BYTES];
	struct json_object *value;

	dwell_text_clean(clean, sizeof(clean), text, "\xef\xbf\xbd");
	value = json_object_new_string(clean);
	if (!value || json_object_array_add(user, value))
		json_object_put(value);
}

static void put_health(struct builder *b, const struct dwell_view *view,
		       const struct dwell_health *health)
{
	struct json_object *warnings = json_object_new_array();

	put_coverage(b, &view->analysis, health);
	put_events(b, &view->analysis);
	put_text(b, "counted_event", health->counted);
	put_bool(b, "finished", health->finished);
	put_bool(b, "damaged", health->damaged);
	put_u64(b, "unread_bytes", health->unread_bytes);
	put_u64(b, "lost", health->lost);
	put_u64(b, "side_lost", health->side_lost);
	put_u64(b, "late", health->late);
	put_u64(b, "wakings_dropped", health->wakings_dropped);
	put_u64(b, "contradictions", health->contradictions);
	put_u64(b, "chain_breaks", health->chain_breaks);
	put_u64(b, "missed_switches", health->missed_switches);
	put_u64(b, "untold_switches", health->untold_switches);
	put_bool(b, "has_switches", health->has_switches);
	put_bool(b, "has_wakings", health->has_wakings);
	put_bool(b, "balanced", !health->law);
	put_text(b, "imbalance", health->law);
	put_unknown(b, health->unknown_ns);
	put_stacks(b, health);
	if (warnings) {
		dwell_health_warnings(health, put_warning, warnings);
		dwell_health_symbols(view->symbols, put_warning, warnings);
	}
	put(b, "warnings", warnings);
}

/* The object that every view starts with; .object is NULL when out of memory. */
static struct builder open_view(const char *schema, const struct dwell_view *view,
				const struct dwell_health *health)
{
	struct builder b = { .object = json_object_new_object() };

	put_text(&b, "schema", schema);
	put_u64(&b, "schema_version", 1);
	put_origin(&b, &view->analysis);
	put_health(&b, view, health);
	return b;
}

/* b's object as text, owned by it; NULL with b->failed set when out of memory. */
static const char *builder_text(struct builder *b)
{
	const char *text = NULL;

	if (!b->failed)
		text = json_object_to_json_string_ext(
			b->object, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
	if (!text)
		b->failed = -ENOMEM;
	return text;
}

/* Prints and frees b's object. */
static int close_view(struct builder *b, FILE *out)
{
	const char *text = builder_text(b);

	if (text)
		fprintf(out, "%s\n", text);
	json_object_put(b->object);
	return b->failed;
}

/* Prints the object as an element of an array in the outermost object, and frees it. Strings have
 * no line breaks of their own in JSON. */
static int print_element(struct builder *b, bool first, FILE *out)
{
	const char *text = builder_text(b);

	if (text)
		fputs(first ? "\n    " : ",\n    ", out);
	for (; text && *text; text++) {
		putc(*text, out);
		if (*text == '\n')
			fputs("    ", out);
	}
	json_object_put(b->object);
	return b->failed;
}

static void put_states(struct builder *b, const uint64_t *ns)
{
	put_u64(b, "on_cpu_ns", ns[DWELL_STATE_ON_CPU]);
	put_u64(b, "runnable_ns", ns[DWELL_STATE_RUNNABLE]);
	put_u64(b, "blocked_ns", ns[DWELL_STATE_BLOCKED]);
	put_u64(b, "unknown_ns", ns[DWELL_STATE_UNKNOWN]);
}

static void put_asides(struct builder *b, const struct dwell_summary *summary)
{
	static const char *const keys[SUMMARY_ASIDES] = {
		[SUMMARY_KERNEL_ASLEEP] = "kernel_threads_asleep",
		[SUMMARY_NEVER_RAN] = "threads_asleep_throughout",
		[SUMMARY_RECORDER] = "recorder",
	};
	struct builder asides = { .object = json_object_new_object() };

	for (unsigned i = 0; i < SUMMARY_ASIDES; i++) {
		struct builder aside = { .object = json_object_new_object() };

		put_u64(&aside, "threads", summary->asides[i].threads);
		put_u64(&aside, "ns", summary->asides[i].ns);
		put_object(&asides, keys[i], &aside);
	}
	put_object(b, "not_listed", &asides);
}

/* The lines of a summary whose analysis counts. */
static void put_sample_lines(struct builder *b, const struct dwell_view *view,
			     const struct dwell_summary *summary)
{
	struct json_object *array = json_object_new_array();

	for (uint32_t i = 0; array && i < summary->lines.count; i++) {
		const struct summary_line *line = &summary->lines.data[i];
		struct builder row = { .object = json_object_new_object() };

		put_text(&row, "comm",
			 dwell_strings_get(view->analysis.tables.strings, line->comm));
		put_text(&row, "where", dwell_strings_get(summary->where, line->where));
		put_u64(&row, "samples", line->count);
		put_row(b, array, &row);
	}
	put(b, "sample_lines", array);
}

int json_print_summary(const struct dwell_view *view, const struct dwell_summary *summary,
		       const struct dwell_health *health, FILE *out)
{
	struct builder b = open_view("dwell-summary", view, health);
	struct json_object *array = json_object_new_array();

	put_u64(&b, "thread_count", summary->threads);
	put_u64(&b, "observed_ns", summary->observed_ns);
	put_states(&b, summary->state_ns);
	put_asides(&b, summary);
	for (uint32_t i = 0; array && !health->counted && i < summary->lines.count; i++) {
		const struct summary_line *line = &summary->lines.data[i];
		struct builder row = { .object = json_object_new_object() };

		put_text(&row, "state", summary_state_name(line->state));
		put_text(&row, "comm",
			 dwell_strings_get(view->analysis.tables.strings, line->comm));
		put_text(&row, "where", dwell_strings_get(summary->where, line->where));
		put_u64(&row, "ns", line->ns);
		put_u64(&row, "count", line->count);
		put_u64(&row, "longest_ns", line->longest_ns);
		put_bool(&row, "longest_censored", line->censored);
		put_row(&b, array, &row);
	}
	put(&b, "lines", array);
	if (health->counted)
		put_sample_lines(&b, view, summary);
	return close_view(&b, out);
}

static int print_thread(const struct dwell_analysis *analysis, uint32_t index, bool first,
			FILE *out)
{
	const struct dwell_account *account = dwell_timeline_account(analysis->timeline, index);
	const struct dwell_books *books = dwell_analysis_books(analysis, index);
	const struct dwell_off_books *off = dwell_analysis_off_books(analysis, index);
	const struct dwell_thread *thread = dwell_threads_get(analysis->tables.threads, index);
	struct builder b = { .object = json_object_new_object() };

	put(&b, "pid", json_object_new_int(thread->pid));
	put(&b, "tid", json_object_new_int(thread->tid));
	put_text(&b, "comm", dwell_strings_get(analysis->tables.strings, thread->comm));
	put_text(&b, "cgroup",
		 thread->cgroup ? dwell_strings_get(analysis->tables.strings, thread->cgroup)
				: NULL);
	put_u64(&b, "observed_ns", books->observed_ns);
	put_states(&b, books->ns);
	put_unknown(&b, off->unknown_ns);
	put_u64(&b, "switches_voluntary", account->switches_voluntary);
	put_u64(&b, "switches_involuntary", account->switches_involuntary);
	put_u64(&b, "samples", dwell_thread_samples(analysis, index));
	put_u64(&b, "longest_blocked_ns", off->longest_blocked_ns);
	put_bool(&b, "longest_blocked_censored", off->longest_censored);
	put_bool(&b, "started_in_window", thread->born_ns > analysis->info.start_ns);
	put_bool(&b, "ended_in_window", thread->died_ns != 0);
	put_bool(&b, "recorder", thread->recorder);
	put_bool(&b, "kernel", thread->kernel);
	return print_element(&b, first, out);
}

/* There may be hundreds of thousands of threads: each is printed and forgotten. */
int json_print_threads(const struct dwell_view *view, const struct dwell_thread_list *list,
		       const struct dwell_health *health, FILE *out)
{
	struct builder b = open_view("dwell-threads", view, health);
	const char *head = builder_text(&b);
	int rc = b.failed;

	if (!rc)
		fprintf(out, "%.*s,\n  \"threads\":[", (int)(strlen(head) - strlen("\n}")), head);
	json_object_put(b.object);
	for (uint32_t i = 0; !rc && i < list->threads.count; i++)
		rc = print_thread(&view->analysis, list->threads.data[i], i == 0, out);
	if (!rc)
		fputs(list->threads.count ? "\n  ]\n}\n" : "]\n}\n", out);
	return rc;
}
