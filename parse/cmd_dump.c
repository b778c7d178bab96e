// SPDX-License-Identifier: MIT
/* `dwell dump`: a recording becomes its headers and a line for every event, in time order. What is
 * good of a damaged or cut file is printed, then what is wrong with it is said. */
#include "parse/cmd.h"

#include <errno.h>
#include <string.h>

#include "lib/array.h"
#include "lib/command.h"
#include "lib/opt.h"
#include "parse/dump_line.h"
#include "parse/event_index.h"
#include "parse/recorded.h"
#include "parse/source.h"
#include "parse/symbol_opts.h"

static const struct dwell_opt opts_table[] = {
	{ "input", 'i', "FILE", "read FILE instead of dwell.data; - is standard input" },
	{ "headers", 0, NULL, "print only the headers" },
	{ "formats", 0, NULL, "print the tracepoints' format texts with the event table" },
	{ "events", 0, "KIND,...", "print only events of these kinds" },
	{ "tid", 0, "TID,...", "print only events of these threads" },
	{ "absolute", 0, NULL, "print times in ns as recorded, not since the window's start" },
	{ "stacks", 'g', NULL, "print frames below each event, innermost first" },
	{ "symbols", 0, NULL, "resolve the names of frames; implies --stacks" },
	DWELL_SYMBOL_OPTS,
	{ "output", 'o', "FILE", "write to FILE instead of standard output" },
	{ "strict", 0, NULL, "exit with status 4 when the recording has losses" },
	{ 0 },
};

enum {
	OPT_INPUT,
	OPT_HEADERS,
	OPT_FORMATS,
	OPT_EVENTS,
	OPT_TID,
	OPT_ABSOLUTE,
	OPT_STACKS,
	OPT_SYMBOLS,
	OPT_SYMBOL_OPTS,
	OPT_OUTPUT = OPT_SYMBOL_OPTS + SYMBOL_OPTS,
	OPT_STRICT,
};

enum { OUTPUT_BUFFER_BYTES = 1 << 18 };

static const struct dwell_opt_usage usage = {
	.command = "dump",
	.line = "dwell dump [OPTION]... [FILE]",
	.about = "Prints a recording as it is: its headers, then every event in time order, one "
		 "line each.\nFILE is a dwell trace, a perf.data or the "
		 "text of perf script.",
};

struct dump_opts {
	const char *input, *output;
	struct dwell_symbols_options symbols;
	struct dump_style style;
	DWELL_ARRAY(int32_t) tids;
	uint32_t kinds; /* bit per enum dwell_event_kind; 0 = all */
	bool headers, formats, resolve, strict;
};

static int add_tid(void *user, int32_t tid)
{
	struct dump_opts *opts = user;

	if (dwell_array_grow(&opts->tids))
		return -ENOMEM;
	opts->tids.data[opts->tids.count++] = tid;
	return 0;
}

static int set_kinds(struct dump_opts *opts, const char *value, struct dwell_err *err)
{
	for (const char *at = value;; at++) {
		size_t bytes = strcspn(at, ",");
		unsigned kind = 1;

		while (kind < DWELL_EVENT_KINDS && (strncmp(dump_kind_name(kind), at, bytes) ||
						    dump_kind_name(kind)[bytes] || !bytes))
			kind++;
		if (kind == DWELL_EVENT_KINDS)
			return dwell_err_set(err, -EINVAL, "'%.*s' is no kind of event", (int)bytes,
					     at);
		opts->kinds |= 1u << kind;
		at += bytes;
		if (!*at)
			return 0;
	}
}

static int set_option(void *user, unsigned index, const char *value, struct dwell_err *err)
{
	struct dump_opts *opts = user;

	switch (index) {
	case OPT_INPUT:
		opts->input = value;
		return 0;
	case OPT_HEADERS:
		opts->headers = true;
		return 0;
	case OPT_FORMATS:
		opts->formats = true;
		return 0;
	case OPT_EVENTS:
		return set_kinds(opts, value, err);
	case OPT_TID:
		return dwell_opt_id_list(value, add_tid, opts, err);
	case OPT_ABSOLUTE:
		opts->style.absolute = true;
		return 0;
	case OPT_SYMBOLS:
		opts->resolve = true;
		opts->style.stacks = true;
		return 0;
	case OPT_STACKS:
		opts->style.stacks = true;
		return 0;
	case OPT_OUTPUT:
		opts->output = value;
		return 0;
	case OPT_STRICT:
		opts->strict = true;
		return 0;
	}
	return symbol_opts_set(&opts->symbols, index - OPT_SYMBOL_OPTS, value, err);
}

static void print_text(FILE *out, const char *text)
{
	char printable[4096];

	fputs(dwell_printable(printable, sizeof(printable), text), out);
}

/* Facts from index `from` on; returns where they end. */
static uint32_t print_facts(FILE *out, const struct dwell_source *source, uint32_t from)
{
	const char *key, *value;

	for (; (key = dwell_source_fact_at(source, from, &value)) != NULL; from++) {
		fputs("# ", out);
		print_text(out, key);
		fputs(": ", out);
		print_text(out, value);
		putc('\n', out);
	}
	return from;
}

/* A text of several lines, each behind a mark. */
static void print_format(FILE *out, const char *text)
{
	while (*text) {
		char line[4096];
		size_t bytes = strcspn(text, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)bytes, text);
		for (char *at = line; *at; at++)
			if (*at == '\t')
				*at = ' ';
		fputs("#     ", out);
		print_text(out, line);
		putc('\n', out);
		text += bytes + (text[bytes] == '\n');
	}
}

/* Entries from index `from` on; returns where they end. */
static uint32_t print_event_table(FILE *out, struct dwell_source *source, uint32_t from,
				  bool formats)
{
	struct dwell_strings *strings = dwell_source_strings(source);
	const struct dwell_event_desc *desc;

	for (; (desc = dwell_source_event_desc(source, from)) != NULL; from++) {
		fprintf(out, "# event %u: ", from);
		print_text(out, dwell_strings_get(strings, desc->name));
		fprintf(out, " period=%llu%s", (unsigned long long)desc->period,
			desc->unit == DWELL_UNIT_NS ? "ns" : "");
		if (desc->freq_hz)
			fprintf(out, " freq=%uHz", desc->freq_hz);
		fputs(desc->is_clock ? " clock\n" : "\n", out);
		if (formats)
			print_format(out, dwell_strings_get(strings, desc->format));
	}
	return from;
}

/* How many of each event the file holds. */
struct dump_counts {
	struct dwell_event_index index;
	DWELL_ARRAY(uint64_t) read; /* by entry of the event table */
};

static int count_event(struct dump_counts *counts, struct dwell_source *source,
		       const struct dwell_event *event)
{
	uint32_t entry = dwell_event_index_find(&counts->index, source, event);

	if (!dwell_source_event_desc(source, entry))
		return 0;
	while (entry >= counts->read.count) {
		if (dwell_array_grow(&counts->read))
			return -ENOMEM;
		counts->read.data[counts->read.count++] = 0;
	}
	counts->read.data[entry]++;
	return 0;
}

static void print_counts(FILE *out, struct dwell_source *source, const struct dump_counts *counts)
{
	const struct dwell_event_desc *desc;

	for (uint32_t i = 0; (desc = dwell_source_event_desc(source, i)) != NULL; i++) {
		uint64_t read = i < counts->read.count ? counts->read.data[i] : 0;

		fprintf(out, "# read of event %u: ", i);
		print_text(out, dwell_strings_get(dwell_source_strings(source), desc->name));
		fprintf(out, " samples=%llu\n", (unsigned long long)read);
	}
}

static void print_coverage(FILE *out, struct dwell_source *source)
{
	const struct dwell_coverage *row;

	for (uint32_t i = 0; (row = dwell_source_coverage(source, i)) != NULL; i++) {
		const struct dwell_event_desc *desc = dwell_source_event_desc(source, row->event);

		fprintf(out, "# coverage cpu %u: ", row->cpu);
		print_text(out, desc ? dwell_strings_get(dwell_source_strings(source), desc->name)
				     : "?");
		fprintf(out, " kernel_count=%llu parsed=%llu lost=%llu%s\n",
			(unsigned long long)row->kernel_count, (unsigned long long)row->parsed,
			(unsigned long long)row->lost, row->blind_idle ? " blind_idle" : "");
	}
}

/* Is the thread of this index one of --tid's? */
static bool thread_wanted(const struct dump_opts *opts, struct dwell_source *source, uint32_t index)
{
	int32_t tid;

	if (index == DWELL_THREAD_NONE)
		return false;
	tid = dwell_threads_get(dwell_source_threads(source), index)->tid;
	for (uint32_t i = 0; i < opts->tids.count; i++)
		if (opts->tids.data[i] == tid)
			return true;
	return false;
}

/* The second thread that an event names. */
static uint32_t event_other(const struct dwell_event *event)
{
	switch (event->kind) {
	case DWELL_EVENT_SWITCH:
		return event->u.sw.next;
	case DWELL_EVENT_SWITCH_IN:
	case DWELL_EVENT_SWITCH_OUT:
		return event->u.rec.other;
	case DWELL_EVENT_WAKING:
	case DWELL_EVENT_WAKEUP_NEW:
		return event->u.wake.context == DWELL_CONTEXT_TASK ? event->u.wake.waker
								   : DWELL_THREAD_NONE;
	case DWELL_EVENT_FORK:
		return event->u.fork.parent;
	default:
		return DWELL_THREAD_NONE;
	}
}

static bool event_wanted(const struct dump_opts *opts, struct dwell_source *source,
			 const struct dwell_event *event)
{
	if (opts->headers || (opts->kinds && !(opts->kinds & 1u << event->kind)))
		return false;
	return !opts->tids.count || thread_wanted(opts, source, event->thread) ||
	       thread_wanted(opts, source, event_other(event));
}

/* Names are asked for once events come: what a pipe tells of its machine has come before. */
static int symbols_open(struct dump_opts *opts, struct dwell_source *source, struct dwell_err *err)
{
	if (!opts->resolve || opts->style.symbols)
		return 0;
	dwell_recorded_options(source, opts->input, &opts->symbols);
	opts->style.symbols = dwell_symbols_new(dwell_source_strings(source),
						dwell_source_stacks(source), &opts->symbols);
	return opts->style.symbols ? 0 : dwell_err_sys(err, -ENOMEM, "cannot resolve symbols");
}

static int print_source(struct dump_opts *opts, struct dwell_source *source, FILE *out,
			struct dwell_err *err)
{
	const struct dwell_event *event;
	struct dump_counts counts = { 0 };
	uint32_t facts, events;
	int rc;

	fprintf(out, "# format: %s\n", dwell_source_info(source)->format_name);
	facts = print_facts(out, source, 0);
	events = print_event_table(out, source, 0, opts->formats);
	while ((rc = dwell_source_next(source, &event, err)) == 1) {
		rc = count_event(&counts, source, event);
		if (rc) {
			dwell_err_sys(err, rc, "cannot dump");
			break;
		}
		if (event_wanted(opts, source, event)) {
			rc = symbols_open(opts, source, err);
			if (rc)
				break;
			dump_event(out, source, &opts->style, event);
		}
		if (ferror(out))
			break; /* told when the output is closed */
	}
	print_facts(out, source, facts);
	print_event_table(out, source, events, opts->formats);
	print_counts(out, source, &counts);
	print_coverage(out, source);
	dwell_array_release(&counts.read);
	return rc < 0 ? rc : 0;
}

/* What is wrong with the recording, in one line, and the exit status for that. */
static int judge(const struct dwell_source *source, bool strict)
{
	const struct dwell_source_info *info = dwell_source_info(source);
	int cut_status = strict ? DWELL_EXIT_LOSS : DWELL_EXIT_OK;

	if (info->damaged) {
		fprintf(stderr,
			"dwell: the file is damaged: %llu bytes behind the damage were "
			"not read\n",
			(unsigned long long)info->unread_bytes);
		return DWELL_EXIT_FAILED;
	}
	if (!info->finished) {
		fprintf(stderr, "dwell: warning: the file was cut off: it ends before the "
				"recording did\n");
		return cut_status;
	}
	return info->lost || info->late || info->wakings_dropped ||
			       dwell_source_fact_u64(source, "side.lost")
		       ? cut_status
		       : DWELL_EXIT_OK;
}

static int dump(struct dump_opts *opts)
{
	struct dwell_source *source = NULL;
	struct dwell_err err = { 0 };
	FILE *out = NULL;
	int status, closed, rc;

	rc = dwell_source_open(opts->input, &source, &err);
	if (!rc)
		rc = dwell_recorded_binaries(source, opts->input, &opts->symbols, &err);
	if (!rc)
		rc = dwell_output_open(opts->output, opts->input, &out, &err);
	if (!rc) {
		setvbuf(out, NULL, _IOFBF, OUTPUT_BUFFER_BYTES);
		rc = print_source(opts, source, out, &err);
		closed = dwell_output_close(out, opts->output, &err);
		rc = rc ? rc : closed;
	}
	status = rc ? dwell_command_fail(&err, DWELL_EXIT_FAILED) : judge(source, opts->strict);
	dwell_symbols_free(opts->style.symbols);
	dwell_source_close(source);
	return status;
}

static int operands_take(struct dump_opts *opts, char **operands, struct dwell_err *err)
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
	return 0;
}

int dwell_cmd_dump(int argc, char **argv)
{
	struct dump_opts opts = { 0 };
	struct dwell_err err = { 0 };
	int status, rc;

	rc = dwell_opt_parse(opts_table, &usage, argc, argv, 0, set_option, &opts, &err);
	if (rc > 0 && !operands_take(&opts, argv + rc, &err))
		status = dump(&opts);
	else
		status = rc == -ECANCELED ? DWELL_EXIT_OK
					  : dwell_command_fail(&err, DWELL_EXIT_USAGE);
	dwell_array_release(&opts.tids);
	return status;
}
