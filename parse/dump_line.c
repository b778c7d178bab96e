// SPDX-License-Identifier: MIT
/* Events become lines: each is put together in a buffer by hand, since a formatted print per field
 * would take longer than decoding the file. */
#include "parse/dump_line.h"

#include <string.h>

enum { NAME_MAX_BYTES = 4096, LINE_BYTES = 4 * NAME_MAX_BYTES, NS_DIGITS = 9 };

struct line {
	uint32_t count;
	char text[LINE_BYTES];
};

static const char *const kind_names[DWELL_EVENT_KINDS] = {
	[DWELL_EVENT_SWITCH] = "switch",
	[DWELL_EVENT_SWITCH_IN] = "switch-in",
	[DWELL_EVENT_SWITCH_OUT] = "switch-out",
	[DWELL_EVENT_WAKING] = "waking",
	[DWELL_EVENT_WAKEUP_NEW] = "wakeup-new",
	[DWELL_EVENT_SAMPLE] = "sample",
	[DWELL_EVENT_FORK] = "fork",
	[DWELL_EVENT_COMM] = "comm",
	[DWELL_EVENT_EXIT] = "exit",
	[DWELL_EVENT_CPU] = "cpu",
	[DWELL_EVENT_GAP] = "gap",
	[DWELL_EVENT_COUNT] = "count",
	[DWELL_EVENT_STATE] = "state",
	[DWELL_EVENT_STOPPED] = "stopped",
	[DWELL_EVENT_THROTTLE] = "throttle",
	[DWELL_EVENT_CGROUP] = "cgroup",
};

const char *dump_kind_name(unsigned kind)
{
	return kind < DWELL_EVENT_KINDS && kind_names[kind] ? kind_names[kind] : "?";
}

static void put_bytes(struct line *line, const char *bytes, size_t count)
{
	if (count > sizeof(line->text) - line->count)
		count = sizeof(line->text) - line->count;
	memcpy(line->text + line->count, bytes, count);
	line->count += (uint32_t)count;
}

static void put(struct line *line, const char *text)
{
	put_bytes(line, text, strlen(text));
}

/* A name that came from another process. */
static void put_name(struct line *line, const char *name)
{
	char text[NAME_MAX_BYTES];

	put(line, dwell_printable(text, sizeof(text), name));
}

/* In decimal or hexadecimal, with leading zeroes up to `digits`. */
static void put_digits(struct line *line, uint64_t value, unsigned base, unsigned digits)
{
	char text[24], *end = text + sizeof(text), *at = end;

	do {
		*--at = "0123456789abcdef"[value % base];
		value /= base;
	} while (value || end - at < digits);
	put_bytes(line, at, (size_t)(end - at));
}

static void put_u64(struct line *line, uint64_t value)
{
	put_digits(line, value, 10, 1);
}

static void put_i64(struct line *line, int64_t value)
{
	if (value < 0)
		put(line, "-");
	put_u64(line, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

static void put_hex(struct line *line, uint64_t value)
{
	put(line, "0x");
	put_digits(line, value, 16, 1);
}

static void pad(struct line *line, uint32_t column)
{
	while (line->count < column && line->count < sizeof(line->text))
		line->text[line->count++] = ' ';
}

static void put_field_u64(struct line *line, const char *name, uint64_t value)
{
	put(line, name);
	put_u64(line, value);
}

/* Seconds since the window's start, which begins later than the first records. */
static void put_time(struct line *line, const struct dump_style *style, uint64_t start_ns,
		     uint64_t time_ns)
{
	uint64_t ns = time_ns >= start_ns ? time_ns - start_ns : start_ns - time_ns;

	if (style->absolute) {
		put_u64(line, time_ns);
		return;
	}
	if (time_ns < start_ns)
		put(line, "-");
	put_u64(line, ns / 1000000000u);
	put(line, ".");
	put_digits(line, ns % 1000000000u, 10, NS_DIGITS);
}

static void put_ids(struct line *line, const struct dwell_thread *thread)
{
	if (thread->pid < 0)
		put(line, "?");
	else
		put_i64(line, thread->pid);
	put(line, "/");
	put_i64(line, thread->tid);
}

static const char *comm_of(struct dwell_source *source, uint32_t index)
{
	const struct dwell_thread *thread = dwell_threads_get(dwell_source_threads(source), index);
	const char *comm = dwell_strings_get(dwell_source_strings(source), thread->comm);

	return index == DWELL_THREAD_IDLE ? "[idle]" : *comm ? comm : "?";
}

/* A second thread of an event: " what=PID/TID COMM". */
static void put_thread(struct line *line, struct dwell_source *source, const char *what,
		       uint32_t index)
{
	if (index == DWELL_THREAD_NONE)
		return;
	put(line, what);
	put_ids(line, dwell_threads_get(dwell_source_threads(source), index));
	put(line, " ");
	put_name(line, comm_of(source, index));
}

static void put_state(struct line *line, uint8_t state, bool preempted)
{
	char letter[] = { ' ', 's', 't', 'a', 't', 'e', '=', dwell_task_state_letter(state), 0 };

	put(line, letter);
	if (preempted)
		put(line, "+");
}

static void put_wake(struct line *line, struct dwell_source *source,
		     const struct dwell_event *event)
{
	static const char *const by[DWELL_CONTEXTS] = { NULL, " by=hardirq", " by=softirq",
							" by=[idle]" };

	if (event->u.wake.target_cpu != DWELL_CPU_NONE)
		put_field_u64(line, " target_cpu=", event->u.wake.target_cpu);
	if (event->u.wake.context == DWELL_CONTEXT_TASK)
		put_thread(line, source, " by=", event->u.wake.waker);
	else if (event->u.wake.context < DWELL_CONTEXTS)
		put(line, by[event->u.wake.context]);
}

static void put_sample(struct line *line, struct dwell_source *source,
		       const struct dwell_event *event)
{
	const struct dwell_event_desc *desc =
		dwell_source_event_desc(source, event->u.sample.event);

	put(line, " event=");
	put_name(line, desc ? dwell_strings_get(dwell_source_strings(source), desc->name) : "?");
	put_field_u64(line, " weight=", event->u.sample.weight);
	if (desc && desc->unit == DWELL_UNIT_NS)
		put(line, "ns");
}

static void put_proc_state(struct line *line, struct dwell_source *source,
			   const struct dwell_event *event)
{
	const char *wchan = dwell_strings_get(dwell_source_strings(source), event->u.state.wchan);

	put(line, event->u.state.phase == DWELL_PHASE_STOP ? " at=stop" : " at=start");
	put_state(line, event->u.state.state, false);
	if (event->u.state.stable)
		put(line, " stable");
	if (event->u.state.counted) {
		put_field_u64(line, " run_ns=", event->u.state.run_ns);
		put_field_u64(line, " wait_ns=", event->u.state.wait_ns);
		put_field_u64(line, " switches_in=", event->u.state.switches_in);
	}
	if (*wchan) {
		put(line, " wchan=");
		put_name(line, wchan);
	}
	if (event->u.state.syscall < 0)
		return;
	put_field_u64(line, " syscall=", (uint64_t)event->u.state.syscall);
	for (unsigned i = 0; i < 6; i++) {
		put(line, i ? "," : " args=");
		put_hex(line, event->u.state.args[i]);
	}
}

static void put_cpu(struct line *line, const struct dwell_event *event)
{
	static const char *const witnesses[] = { "none", "tracepoint", "record", "both" };

	put(line, " witness=");
	put(line, event->u.cpu.witness < 4 ? witnesses[event->u.cpu.witness] : "?");
	put(line, event->u.cpu.online ? " online" : " offline");
}

/* The fields of an event, in the terms of parse/event.h. */
static void put_fields(struct line *line, struct dwell_source *source,
		       const struct dump_style *style, const struct dwell_event *event)
{
	switch ((enum dwell_event_kind)event->kind) {
	case DWELL_EVENT_SWITCH:
		put_state(line, event->u.sw.prev_state, event->u.sw.preempted);
		put_thread(line, source, " next=", event->u.sw.next);
		break;
	case DWELL_EVENT_SWITCH_IN:
		put_thread(line, source, " prev=", event->u.rec.other);
		break;
	case DWELL_EVENT_SWITCH_OUT:
		put(line, event->u.rec.preempted ? " preempted" : "");
		put_thread(line, source, " next=", event->u.rec.other);
		break;
	case DWELL_EVENT_WAKING:
	case DWELL_EVENT_WAKEUP_NEW:
		put_wake(line, source, event);
		break;
	case DWELL_EVENT_SAMPLE:
		put_sample(line, source, event);
		break;
	case DWELL_EVENT_FORK:
		put_thread(line, source, " parent=", event->u.fork.parent);
		break;
	case DWELL_EVENT_COMM:
		put(line, event->u.comm.exec ? " exec comm=" : " comm=");
		put_name(line, dwell_strings_get(dwell_source_strings(source), event->u.comm.comm));
		break;
	case DWELL_EVENT_CPU:
		put_cpu(line, event);
		break;
	case DWELL_EVENT_GAP:
		put(line, " from=");
		put_time(line, style, dwell_source_info(source)->start_ns, event->u.gap.from_ns);
		put_field_u64(line, " lost=", event->u.gap.lost);
		break;
	case DWELL_EVENT_COUNT:
		put_field_u64(line, " switches_in=", event->u.count.switches_in);
		break;
	case DWELL_EVENT_STATE:
		put_proc_state(line, source, event);
		break;
	case DWELL_EVENT_THROTTLE:
		put(line, event->u.throttle.on ? " on" : " off");
		break;
	case DWELL_EVENT_CGROUP:
		put(line, " path=");
		put_name(line,
			 dwell_strings_get(dwell_source_strings(source), event->u.cgroup.path));
		break;
	case DWELL_EVENT_EXIT:
	case DWELL_EVENT_STOPPED:
	case DWELL_EVENT_KINDS:
		break;
	}
}

/* A function at a frame, behind where it is. */
static void put_place(struct line *line, const struct dwell_symbol_place *place, bool inlined)
{
	put(line, "  ");
	put_name(line, place->name);
	if (place->file && place->line) {
		put(line, " (");
		put_name(line, place->file);
		put_field_u64(line, ":", place->line);
		put(line, ")");
	}
	if (inlined)
		put(line, "_[i]");
}

/* The functions of a frame, innermost first. */
static void put_places(struct line *line, struct dwell_symbols *symbols, uint32_t id)
{
	uint32_t count;
	const struct dwell_symbol_place *places = dwell_symbols_places(symbols, id, &count, NULL);

	for (uint32_t i = count - 1; i; i--)
		put_place(line, &places[i], true);
	put_place(line, &places[0], false);
}

/* Where in which file, and a name: the recorded one, or with symbols the one that reports show. */
static void put_frame(struct line *line, struct dwell_source *source,
		      const struct dump_style *style, uint32_t id)
{
	const struct dwell_frame *frame = dwell_stacks_frame(dwell_source_stacks(source), id);
	const struct dwell_file *file = dwell_stacks_file(dwell_source_stacks(source), frame->file);
	const char *path = dwell_strings_get(dwell_source_strings(source), file->path);
	const char *symbol = dwell_strings_get(dwell_source_strings(source), frame->symbol);

	put(line, "        ");
	put_name(line, *path ? path : file->kind == DWELL_FILE_INLINED ? "[inlined]" : "?");
	if (file->kind != DWELL_FILE_PSEUDO) {
		if (!dwell_source_info(source)->named_frames) {
			put(line, "+");
			put_hex(line, frame->offset);
		}
		if (style->symbols)
			put_places(line, style->symbols, id);
	}
	if (!style->symbols && *symbol && file->kind != DWELL_FILE_PSEUDO) {
		put(line, "  ");
		put_name(line, symbol);
	}
}

static void line_print(FILE *out, struct line *line)
{
	if (line->count == sizeof(line->text))
		line->count--;
	line->text[line->count++] = '\n';
	fwrite(line->text, 1, line->count, out);
	line->count = 0;
}

void dump_event(FILE *out, struct dwell_source *source, const struct dump_style *style,
		const struct dwell_event *event)
{
	struct line line;
	uint32_t stack = event->stack;

	line.count = 0;
	put_time(&line, style, dwell_source_info(source)->start_ns, event->time_ns);
	pad(&line, 16);
	if (event->cpu == DWELL_CPU_NONE)
		put(&line, " cpu -");
	else
		put_field_u64(&line, " cpu ", event->cpu);
	pad(&line, 24);
	if (event->thread != DWELL_THREAD_NONE) {
		put_name(&line, comm_of(source, event->thread));
		pad(&line, 40);
		put(&line, " ");
		put_ids(&line, dwell_threads_get(dwell_source_threads(source), event->thread));
	} else {
		put(&line, "-");
	}
	pad(&line, 56);
	put(&line, " ");
	put(&line, dump_kind_name(event->kind));
	put_fields(&line, source, style, event);
	if (stack)
		put_field_u64(&line, " stack=", stack);
	line_print(out, &line);
	while (style->stacks && stack) {
		const struct dwell_stack_node *node =
			dwell_stacks_node(dwell_source_stacks(source), stack);

		put_frame(&line, source, style, node->frame);
		line_print(out, &line);
		stack = node->parent;
	}
}
