// SPDX-License-Identifier: MIT
/* Summary lines become one screen: what the threads did on average, the places that took most of
 * their time, what was put aside, and how far to trust it. */
#include "report/summary_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "report/table.h"
#include "report/text.h"

enum { LINES_MAX = 14, NAME_BYTES = 256, EVENTS_LISTED = 32 };

enum { COLUMN_STATE, COLUMN_SHARE, COLUMN_NAME, COLUMN_WHERE, COLUMN_TIMES, COLUMN_LONGEST };

static const struct table_column columns[] = {
	[COLUMN_STATE] = { .title = "state" },
	[COLUMN_SHARE] = { .title = "share", .right = true },
	[COLUMN_NAME] = { .title = "thread" },
	[COLUMN_WHERE] = { .title = "where, innermost first", .gives = true },
	[COLUMN_TIMES] = { .title = "times", .right = true },
	[COLUMN_LONGEST] = { .title = "longest", .right = true },
};

/* Counted samples have neither state nor length. */
static const struct table_column columns_counted[] = {
	{ .title = "share", .right = true },
	{ .title = "thread" },
	{ .title = "where, innermost first", .gives = true },
	{ .title = "samples", .right = true },
};

/* A state that took little time still gets its largest lines: blocked time of many threads would
 * push running and runnable off the screen. */
static const unsigned lines_kept[SUMMARY_STATES] = {
	[SUMMARY_RUNNING] = 3,	 [SUMMARY_RUNNABLE] = 2, [SUMMARY_BLOCKED] = 3,
	[SUMMARY_BLOCKED_D] = 2, [SUMMARY_UNKNOWN] = 1,
};

static const char *paint_state(unsigned column, const char *text)
{
	if (column != COLUMN_STATE)
		return NULL;
	if (!strcmp(text, "running"))
		return "\033[32m";
	if (!strcmp(text, "runnable"))
		return "\033[33m";
	return strncmp(text, "blocked", 7) ? "\033[35m" : "\033[36m";
}

/* Adds a part of the first line, two spaces behind the one before. */
static void origin_add(char *line, size_t line_bytes, const char *before, const char *value)
{
	char clean[512];
	size_t used = strlen(line);

	if (!value || !*value)
		return;
	dwell_text_clean(clean, sizeof(clean), value, "?");
	snprintf(line + used, line_bytes - used, "%s%s%s", used ? "  " : "", before, clean);
}

void text_print_nothing(const struct dwell_analysis *analysis, FILE *out)
{
	const char *passed =
		analysis->counting ? "no sample passed the filters" : "no time passed the filters";

	fprintf(out, "%s\n", analysis->filtered ? passed : "no thread was observed");
}

static void print_labels(const struct dwell_analysis *analysis, FILE *out)
{
	const char *key, *value;
	char line[2048] = "", label[1024];

	for (uint32_t i = 0; (key = dwell_analysis_label(analysis, i, &value)) != NULL; i++) {
		snprintf(label, sizeof(label), "%s=%s", key, value);
		origin_add(line, sizeof(line), i ? "" : "labels: ", label);
	}
	if (*line)
		text_wrap(out, line);
}

void text_print_origin(const struct dwell_analysis *analysis, FILE *out)
{
	char line[2048] = "", fitted[2048], window[128], number[TEXT_NUMBER_BYTES];
	size_t width, available = table_width(out);

	snprintf(window, sizeof(window), "%s, %s%s", analysis->info.format_name,
		 analysis->info.untimed ? "no times" : text_duration(number, analysis->window_ns),
		 analysis->info.all_threads ? ", whole system" : "");
	origin_add(line, sizeof(line), "", dwell_analysis_fact(analysis, "host.name"));
	origin_add(line, sizeof(line), "Linux ", dwell_analysis_fact(analysis, "kernel.release"));
	origin_add(line, sizeof(line), "", window);
	/* Last, since it is what may well be too long. */
	origin_add(line, sizeof(line), "", dwell_analysis_fact(analysis, "command"));
	width = text_columns(line);
	text_fit(fitted, sizeof(fitted), line, width < available ? width : available);
	fprintf(out, "%s\n", fitted);
	print_labels(analysis, out);
}

static void print_averages(const struct dwell_view *view, const struct dwell_summary *summary,
			   FILE *out)
{
	static const char *const names[DWELL_STATES] = { "running", "want a CPU", "blocked",
							 "unknown" };
	const char *counted = dwell_analysis_counted(&view->analysis);
	char number[TEXT_NUMBER_BYTES], name[NAME_BYTES];
	double window_ns = (double)view->analysis.window_ns;

	fprintf(out, "%s thread%s:", text_count(number, summary->threads),
		text_plural(summary->threads));
	if (view->analysis.counting) {
		dwell_text_clean(name, sizeof(name), counted ? counted : "anything", "?");
		fprintf(out, "  %s sample%s of %s\n", text_count(number, view->analysis.total),
			text_plural(view->analysis.total), name);
		return;
	}
	if (view->analysis.info.untimed) {
		fprintf(out, "  %s running   (in all)\n",
			text_duration(number, summary->state_ns[DWELL_STATE_ON_CPU]));
		return;
	}
	/* Without the scheduler's events only running threads are seen. */
	for (unsigned state = 0; state < (view->analysis.info.has_switches ? DWELL_STATES : 1);
	     state++)
		fprintf(out, "  %.2f %s",
			window_ns > 0 ? (double)summary->state_ns[state] / window_ns : 0.0,
			names[state]);
	fprintf(out, "   (on average)\n");
}

/* Closes what was written to memory and prints it wrapped, if it is anything: 0 or -ENOMEM. */
static int paragraph_end(FILE *line, char **text, FILE *out)
{
	int rc = fclose(line) ? -ENOMEM : 0;

	if (!rc && **text)
		text_wrap(out, *text);
	free(*text);
	return rc;
}

/* Marks the lines to show: the largest of each state first, then by size up to LINES_MAX. */
static uint32_t choose_lines(const struct dwell_summary *summary, bool *show)
{
	unsigned kept[SUMMARY_STATES] = { 0 };
	uint32_t shown = 0;

	for (uint32_t i = 0; i < summary->lines.count; i++) {
		const struct summary_line *line = &summary->lines.data[i];

		if (kept[line->state] >= lines_kept[line->state])
			continue;
		kept[line->state]++;
		show[i] = true;
		shown++;
	}
	for (uint32_t i = 0; i < summary->lines.count && shown < LINES_MAX; i++)
		if (!show[i]) {
			show[i] = true;
			shown++;
		}
	return shown;
}

static void add_line(const struct dwell_view *view, const struct dwell_summary *summary,
		     const struct summary_line *line, struct table *table)
{
	char text[NAME_BYTES], number[TEXT_NUMBER_BYTES];
	const char *comm = dwell_strings_get(view->analysis.tables.strings, line->comm);
	bool counting = view->analysis.counting;

	if (!counting)
		table_add(table, summary_state_name(line->state));
	table_add(table, text_share(number, line->ns, summary->listed_ns));
	text_name(text, sizeof(text), comm);
	table_add(table, text);
	table_add(table, dwell_strings_get(summary->where, line->where));
	table_add(table, text_count(number, line->count));
	if (counting)
		return;
	snprintf(text, sizeof(text), "%s%s", line->censored ? ">=" : "",
		 text_duration(number, line->longest_ns));
	table_add(table, line->longest_ns ? text : "-");
}

static int print_lines(const struct dwell_view *view, const struct dwell_summary *summary,
		       FILE *out)
{
	struct table table = { .columns = columns,
			       .column_count = sizeof(columns) / sizeof(columns[0]) };
	bool *show = calloc((size_t)summary->lines.count + 1, sizeof(*show));
	char number[TEXT_NUMBER_BYTES], share[TEXT_NUMBER_BYTES];
	uint64_t rest_ns = 0;
	uint32_t shown;
	int rc;

	if (!show)
		return -ENOMEM;
	if (view->analysis.counting) {
		table.columns = columns_counted;
		table.column_count = sizeof(columns_counted) / sizeof(columns_counted[0]);
	}
	shown = choose_lines(summary, show);
	for (uint32_t i = 0; i < summary->lines.count; i++) {
		if (show[i])
			add_line(view, summary, &summary->lines.data[i], &table);
		else
			rest_ns += summary->lines.data[i].ns;
	}
	rc = table.failed;
	if (!rc && shown)
		table_print(&table, out,
			    table_wants_colour(out) && !view->analysis.counting ? paint_state
										: NULL);
	if (!rc && !summary->threads)
		text_print_nothing(&view->analysis, out);
	if (!rc && shown < summary->lines.count)
		fprintf(out, "%s smaller line%s: %s\n",
			text_count(number, summary->lines.count - shown),
			text_plural(summary->lines.count - shown),
			text_share(share, rest_ns, summary->listed_ns));
	table_release(&table);
	free(show);
	return rc;
}

static int print_asides(const struct dwell_summary *summary, FILE *out)
{
	static const char *const names[SUMMARY_ASIDES] = {
		[SUMMARY_KERNEL_ASLEEP] = "kernel threads asleep",
		[SUMMARY_NEVER_RAN] = "threads asleep throughout",
		[SUMMARY_RECORDER] = "threads of the recorder",
	};
	char number[TEXT_NUMBER_BYTES], share[TEXT_NUMBER_BYTES], *text = NULL;
	const char *before = "not listed, of all time: ";
	size_t bytes;
	FILE *line = open_memstream(&text, &bytes);

	if (!line)
		return -ENOMEM;
	for (unsigned i = 0; i < SUMMARY_ASIDES; i++) {
		if (!summary->asides[i].threads)
			continue;
		fprintf(line, "%s%s %s (%s)", before, names[i],
			text_count(number, summary->asides[i].threads),
			text_share(share, summary->asides[i].ns, summary->observed_ns));
		before = ", ";
	}
	return paragraph_end(line, &text, out);
}

/* Do on-CPU stacks come from this event, or is it the one that is counted? */
static bool is_sampled(const struct dwell_analysis *analysis, uint32_t index,
		       const struct dwell_event_desc *desc)
{
	if (analysis->counting)
		return index == analysis->choice.entry;
	return analysis->info.has_switches || !analysis->source
		       ? desc->is_clock
		       : event_choice_is_clock(&analysis->choice, desc->name);
}

/* Was the rate of the event that index is told before? */
static bool is_told(const struct dwell_analysis *analysis, uint32_t index,
		    const struct dwell_event_desc *desc)
{
	for (uint32_t i = 0; i < index; i++) {
		const struct dwell_event_desc *other = dwell_analysis_event(analysis, i);

		if (is_sampled(analysis, i, other) && other->freq_hz == desc->freq_hz &&
		    other->period == desc->period)
			return true;
	}
	return false;
}

/* ", sampled at 99 Hz" for the events that on-CPU stacks come from, or the one that is counted. */
static void print_rates(const struct dwell_analysis *analysis, FILE *out)
{
	const struct dwell_event_desc *desc;
	char number[TEXT_NUMBER_BYTES];

	for (uint32_t i = 0; (desc = dwell_analysis_event(analysis, i)) != NULL; i++) {
		if (!is_sampled(analysis, i, desc) || is_told(analysis, i, desc))
			continue;
		if (desc->freq_hz)
			fprintf(out, ", sampled at %s Hz", text_count(number, desc->freq_hz));
		else if (desc->unit == DWELL_UNIT_NS)
			fprintf(out, ", sampled every %s", text_duration(number, desc->period));
		else if (desc->period > 1)
			fprintf(out, ", sampled every %s", text_count(number, desc->period));
	}
}

/* Everything that says how far to trust the screen and what it cost, in one paragraph. */
static int print_trust(const struct dwell_view *view, const struct dwell_health *health,
		       const char *path, FILE *out)
{
	const struct dwell_source_info *info = &view->analysis.info;
	uint64_t whole_ns = info->end_ns > info->start_ns ? info->end_ns - info->start_ns : 0;
	char name[NAME_BYTES], number[TEXT_NUMBER_BYTES], *text = NULL;
	size_t bytes;
	FILE *line = open_memstream(&text, &bytes);

	if (!line)
		return -ENOMEM;
	fprintf(line, "lost %s", text_count(number, health->lost));
	if (health->side_lost)
		fprintf(line, " and %s of births, names and mappings",
			text_count(number, health->side_lost));
	fprintf(line, ", coverage %s",
		health->kernel_count ? text_share(number, health->parsed, health->kernel_count)
				     : "not known");
	if (health->late)
		fprintf(line, ", late %s", text_count(number, health->late));
	print_rates(&view->analysis, line);
	if (dwell_health_stacks(health))
		fprintf(line, ", user stacks complete %s",
			text_share(number, health->stacks[DWELL_STACKS_COMPLETE],
				   dwell_health_stacks(health)));
	if (health->stacks[DWELL_STACKS_JOINED])
		fprintf(line, " and joined %s",
			text_share(number, health->stacks[DWELL_STACKS_JOINED],
				   dwell_health_stacks(health)));
	if (info->recorder_cpu_ns)
		fprintf(line, ", cost %s of a CPU",
			text_share(number, info->recorder_cpu_ns, whole_ns));
	dwell_text_clean(name, sizeof(name), strcmp(path, "-") ? path : "standard input", "?");
	fprintf(line, ", %s", name);
	if (info->file_bytes)
		fprintf(line, " %s", text_bytes(number, info->file_bytes));
	return paragraph_end(line, &text, out);
}

/* "events: cpu-clock 1,234, sched:sched_switch 20,000": what was read of each, of the first ones.
 */
static int print_events(const struct dwell_analysis *analysis, FILE *out)
{
	const struct dwell_event_desc *desc;
	char number[TEXT_NUMBER_BYTES], name[NAME_BYTES], *text = NULL;
	const char *before = "events: ";
	size_t bytes;
	FILE *line = open_memstream(&text, &bytes);

	if (!line)
		return -ENOMEM;
	for (uint32_t i = 0; (desc = dwell_analysis_event(analysis, i)) != NULL; i++) {
		if (i == EVENTS_LISTED) {
			fprintf(line, ", ... (`dwell report --json` lists all)");
			break;
		}
		dwell_text_clean(name, sizeof(name),
				 dwell_strings_get(analysis->tables.strings, desc->name), "?");
		fprintf(line, "%s%s %s", before, name,
			text_count(number, dwell_analysis_event_count(analysis, i)));
		before = ", ";
	}
	return paragraph_end(line, &text, out);
}

static void print_warning(void *user, const char *text)
{
	char line[1100];

	snprintf(line, sizeof(line), "! %s", text);
	text_wrap(user, line);
}

void text_print_warnings(const struct dwell_view *view, const struct dwell_health *health,
			 FILE *out)
{
	dwell_health_warnings(health, print_warning, out);
	dwell_health_symbols(view->symbols, print_warning, out);
}

/* The commands that tell more of this file. */
static void print_more(const struct dwell_analysis *analysis, const char *path, FILE *out)
{
	const char *mode = " --wall";
	char clean[NAME_BYTES], line[3 * NAME_BYTES];
	const char *name = !strcmp(path, "dwell.data") ? "" : clean;

	dwell_text_clean(clean, sizeof(clean), path, "?");
	if (!strcmp(path, "-"))
		name = "FILE";
	if (!analysis->info.has_switches)
		mode = analysis->counting ? "" : " --on";
	snprintf(line, sizeof(line), "more: dwell report threads%s%s, dwell fold%s%s%s",
		 *name ? " " : "", name, mode, *name ? " " : "", name);
	text_wrap(out, line);
}

int summary_text_print(const struct dwell_view *view, const struct dwell_summary *summary,
		       const struct dwell_health *health, const char *path, FILE *out)
{
	int rc;

	text_print_origin(&view->analysis, out);
	print_averages(view, summary, out);
	putc('\n', out);
	rc = print_lines(view, summary, out);
	if (rc)
		return rc;
	rc = print_asides(summary, out);
	if (rc)
		return rc;
	putc('\n', out);
	rc = print_trust(view, health, path, out);
	if (!rc)
		rc = print_events(&view->analysis, out);
	if (rc)
		return rc;
	text_print_warnings(view, health, out);
	print_more(&view->analysis, path, out);
	return 0;
}
