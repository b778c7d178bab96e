/* SPDX-License-Identifier: MIT */
/* A trace read to its end becomes lines of text, one an event, that name no ids: two readings can
 * be compared. For unit tests; failures are assertions. */
#ifndef DWELL_TESTS_SYNTH_READING_H
#define DWELL_TESTS_SYNTH_READING_H

#include <stdio.h>

#include "tests/synth/trace.h"

static const char *const kinds[DWELL_EVENT_KINDS] = {
	[DWELL_EVENT_SWITCH] = "switch",     [DWELL_EVENT_SWITCH_IN] = "in",
	[DWELL_EVENT_SWITCH_OUT] = "out",    [DWELL_EVENT_WAKING] = "waking",
	[DWELL_EVENT_WAKEUP_NEW] = "new",    [DWELL_EVENT_SAMPLE] = "sample",
	[DWELL_EVENT_FORK] = "fork",	     [DWELL_EVENT_COMM] = "comm",
	[DWELL_EVENT_EXIT] = "exit",	     [DWELL_EVENT_CPU] = "cpu",
	[DWELL_EVENT_GAP] = "gap",	     [DWELL_EVENT_COUNT] = "count",
	[DWELL_EVENT_STATE] = "state",	     [DWELL_EVENT_STOPPED] = "stopped",
	[DWELL_EVENT_THROTTLE] = "throttle", [DWELL_EVENT_CGROUP] = "cgroup",
};

static inline void stack_print(FILE *out, struct dwell_source *source, uint32_t stack)
{
	const struct dwell_stacks *stacks = dwell_source_stacks(source);
	const struct dwell_stack_node *node = dwell_stacks_node(stacks, stack);
	const struct dwell_frame *frame = dwell_stacks_frame(stacks, node->frame);
	const struct dwell_file *file = dwell_stacks_file(stacks, frame->file);

	if (!stack)
		return;
	stack_print(out, source, node->parent);
	fprintf(out, "|%s+%llx", dwell_strings_get(dwell_source_strings(source), file->path),
		(unsigned long long)frame->offset);
}

/* A thread by tid, and which life of it. */
static const char *who(struct dwell_source *source, uint32_t index, char text[32])
{
	const struct dwell_thread *thread = dwell_threads_get(dwell_source_threads(source), index);

	if (index == DWELL_THREAD_NONE)
		return "none";
	snprintf(text, 32, "%d.%u", thread->tid, thread->incarnation);
	return text;
}

static inline void state_print(FILE *out, struct dwell_source *source,
			       const struct dwell_event *event)
{
	fprintf(out, " %c %s%s%s %llu %llu %llu %s %d",
		dwell_task_state_letter(event->u.state.state),
		event->u.state.phase == DWELL_PHASE_STOP ? "stop" : "start",
		event->u.state.stable ? " stable" : "", event->u.state.counted ? " counted" : "",
		(unsigned long long)event->u.state.run_ns,
		(unsigned long long)event->u.state.wait_ns,
		(unsigned long long)event->u.state.switches_in,
		dwell_strings_get(dwell_source_strings(source), event->u.state.wchan),
		event->u.state.syscall);
	for (int i = 0; i < 6; i++)
		fprintf(out, " %llx", (unsigned long long)event->u.state.args[i]);
}

static inline void fields_print(FILE *out, struct dwell_source *source,
				const struct dwell_event *event)
{
	const struct dwell_strings *strings = dwell_source_strings(source);
	char text[32];

	switch (event->kind) {
	case DWELL_EVENT_SWITCH:
		fprintf(out, " %c%s >%s", dwell_task_state_letter(event->u.sw.prev_state),
			event->u.sw.preempted ? "+" : "", who(source, event->u.sw.next, text));
		break;
	case DWELL_EVENT_SWITCH_IN:
	case DWELL_EVENT_SWITCH_OUT:
		fprintf(out, " %s%s", event->u.rec.preempted ? "preempted " : "",
			who(source, event->u.rec.other, text));
		break;
	case DWELL_EVENT_WAKING:
	case DWELL_EVENT_WAKEUP_NEW:
		fprintf(out, " by %s %u at %d", who(source, event->u.wake.waker, text),
			event->u.wake.context, (int)event->u.wake.target_cpu);
		break;
	case DWELL_EVENT_SAMPLE:
		fprintf(out, " %u %llu", event->u.sample.event,
			(unsigned long long)event->u.sample.weight);
		break;
	case DWELL_EVENT_FORK:
		fprintf(out, " of %s", who(source, event->u.fork.parent, text));
		break;
	case DWELL_EVENT_COMM:
		fprintf(out, " %s%s", dwell_strings_get(strings, event->u.comm.comm),
			event->u.comm.exec ? " exec" : "");
		break;
	case DWELL_EVENT_CPU:
		fprintf(out, " %u %d", event->u.cpu.witness, event->u.cpu.online);
		break;
	case DWELL_EVENT_GAP:
		fprintf(out, " from %llu %llu", (unsigned long long)event->u.gap.from_ns,
			(unsigned long long)event->u.gap.lost);
		break;
	case DWELL_EVENT_COUNT:
		fprintf(out, " %llu", (unsigned long long)event->u.count.switches_in);
		break;
	case DWELL_EVENT_STATE:
		state_print(out, source, event);
		break;
	case DWELL_EVENT_THROTTLE:
		fprintf(out, " %d", event->u.throttle.on);
		break;
	case DWELL_EVENT_CGROUP:
		fprintf(out, " %s", dwell_strings_get(strings, event->u.cgroup.path));
		break;
	default:
		break;
	}
}

/* "TIME CPU KIND THREAD FIELDS STACK": everything an event says, without ids. */
static inline char *event_text(struct dwell_source *source, const struct dwell_event *event)
{
	char *text = NULL, thread[32];
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	assert_in_range(event->kind, 1, DWELL_EVENT_KINDS - 1);
	fprintf(out, "%llu %d %s %s", (unsigned long long)event->time_ns, (int)event->cpu,
		kinds[event->kind], who(source, event->thread, thread));
	fields_print(out, source, event);
	if (event->stack)
		fprintf(out, " ");
	stack_print(out, source, event->stack);
	fclose(out);
	return text;
}

/* What reading a trace to its end gave. */
struct reading {
	DWELL_ARRAY(char *) lines;
	struct dwell_source_info info;
	struct dwell_source *source; /* NULL when it could not be opened */
	struct memory_input input;
	struct dwell_err err;
	int rc;
};

static inline void reading_events(struct reading *r, bool texts)
{
	const struct dwell_event *event;

	while ((r->rc = dwell_source_next(r->source, &event, &r->err)) == 1) {
		assert_int_equal(dwell_array_grow(&r->lines), 0);
		r->lines.data[r->lines.count++] = texts ? event_text(r->source, event) : NULL;
	}
	r->info = *dwell_source_info(r->source);
	/* The end stays the end. */
	if (!r->rc)
		assert_int_equal(dwell_source_next(r->source, &event, &r->err), 0);
}

static inline void read_memory(struct reading *r, const void *data, uint64_t bytes)
{
	*r = (struct reading){ .input = { data, bytes, 0 } };
	r->rc = memory_open(&r->input, &r->source, &r->err);
	if (!r->rc)
		reading_events(r, true);
	if (r->rc) {
		assert_int_equal(r->err.code, r->rc);
		assert_true(r->err.msg[0]);
	}
}

static inline void reading_release(struct reading *r)
{
	for (uint32_t i = 0; i < r->lines.count; i++)
		free(r->lines.data[i]);
	dwell_array_release(&r->lines);
	dwell_source_close(r->source);
}

static inline void assert_prefix(const struct reading *part, const struct reading *whole)
{
	assert_true(part->lines.count <= whole->lines.count);
	for (uint32_t i = 0; i < part->lines.count; i++)
		assert_string_equal(part->lines.data[i], whole->lines.data[i]);
}

static inline uint64_t random_next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

#endif
