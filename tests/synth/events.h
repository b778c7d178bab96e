/* SPDX-License-Identifier: MIT */
/* A recording in memory: threads, stacks and events built by hand become an analysed view, without
 * any file. For unit tests; failures are assertions. */
#ifndef DWELL_TESTS_SYNTH_EVENTS_H
#define DWELL_TESTS_SYNTH_EVENTS_H

#include <stdlib.h>
#include <string.h>

#include "report/view.h"

struct synth {
	struct dwell_tables tables;
	struct dwell_source_info info;
	DWELL_ARRAY(struct dwell_event) events;
};

static inline void synth_init(struct synth *s, uint64_t start_ns, uint64_t end_ns)
{
	*s = (struct synth){
		.tables = { dwell_strings_new(), dwell_stacks_new(), dwell_threads_new() },
		.info = { .format_name = "memory",
			  .start_ns = start_ns,
			  .end_ns = end_ns,
			  .cpus = 1,
			  .has_switches = true,
			  .has_wakings = true,
			  .finished = true },
	};
	assert_non_null(s->tables.strings);
	assert_non_null(s->tables.stacks);
	assert_non_null(s->tables.threads);
}

static inline void synth_release(struct synth *s)
{
	dwell_array_release(&s->events);
	dwell_threads_free(s->tables.threads);
	dwell_stacks_free(s->tables.stacks);
	dwell_strings_free(s->tables.strings);
}

static inline uint32_t synth_string(struct synth *s, const char *text)
{
	uint32_t id;

	assert_int_equal(dwell_strings_add(s->tables.strings, text, strlen(text), &id), 0);
	return id;
}

/* An observed thread that is older than the recording. */
static inline uint32_t synth_thread(struct synth *s, int32_t pid, int32_t tid, const char *comm)
{
	struct dwell_thread *thread;
	uint32_t index;

	assert_int_equal(dwell_threads_need(s->tables.threads, pid, tid, &index), 0);
	thread = dwell_threads_get(s->tables.threads, index);
	thread->comm = synth_string(s, comm);
	thread->observed = true;
	return index;
}

/* A frame by name: "k:NAME" in the kernel, "j:NAME" by a JIT, "[NAME]" made by dwell, else in a
 * file. Each call with another `offset` is another frame of that name. */
static inline uint32_t synth_frame(struct synth *s, const char *name, uint64_t offset)
{
	struct dwell_file file = { .kind = DWELL_FILE_ELF, .path = synth_string(s, "/bin/app") };
	uint32_t id, frame;

	if (*name == '[') {
		assert_int_equal(dwell_stacks_add_pseudo(s->tables.stacks, s->tables.strings, name,
							 &frame),
				 0);
		return frame;
	}
	if ((*name == 'k' || *name == 'j') && name[1] == ':') {
		file.kind = *name == 'k' ? DWELL_FILE_KERNEL : DWELL_FILE_JIT;
		file.path = synth_string(s, *name == 'k' ? "[kernel]" : "[jit]");
		name += 2;
	}
	for (const char *p = name; *p; p++)
		offset = offset * 131 + (unsigned char)*p;
	assert_int_equal(dwell_stacks_add_file(s->tables.stacks, &file, &id), 0);
	assert_int_equal(dwell_stacks_add_frame(s->tables.stacks, id, offset, &frame), 0);
	dwell_stacks_set_symbol(s->tables.stacks, frame, synth_string(s, name));
	return frame;
}

/* A stack of frame names, the root first: "main|serve|k:futex". */
static inline uint32_t synth_stack_at(struct synth *s, const char *names, uint64_t offset)
{
	char *copy = strdup(names), *rest = copy, *name;
	uint32_t node = 0;

	assert_non_null(copy);
	while ((name = strsep(&rest, "|")) != NULL)
		assert_int_equal(dwell_stacks_add_node(s->tables.stacks, node,
						       synth_frame(s, name, offset), &node),
				 0);
	free(copy);
	return node;
}

static inline uint32_t synth_stack(struct synth *s, const char *names)
{
	return synth_stack_at(s, names, 0);
}

static inline struct dwell_event *synth_event(struct synth *s, uint64_t time_ns,
					      enum dwell_event_kind kind, uint32_t thread)
{
	struct dwell_event *event;

	assert_int_equal(dwell_array_grow(&s->events), 0);
	event = &s->events.data[s->events.count++];
	*event =
		(struct dwell_event){ .time_ns = time_ns, .kind = (uint8_t)kind, .thread = thread };
	return event;
}

static inline void synth_switch(struct synth *s, uint64_t time_ns, uint32_t prev,
				enum dwell_task_state state, uint32_t stack, uint32_t next)
{
	struct dwell_event *event = synth_event(s, time_ns, DWELL_EVENT_SWITCH, prev);

	event->stack = stack;
	event->u.sw.next = next;
	event->u.sw.prev_state = (uint8_t)state;
}

static inline void synth_waking(struct synth *s, uint64_t time_ns, uint32_t thread, uint32_t waker)
{
	struct dwell_event *event = synth_event(s, time_ns, DWELL_EVENT_WAKING, thread);

	event->u.wake.waker = waker;
	event->u.wake.target_cpu = 0;
}

static inline void synth_sample(struct synth *s, uint64_t time_ns, uint32_t thread, uint32_t stack,
				uint64_t weight)
{
	struct dwell_event *event = synth_event(s, time_ns, DWELL_EVENT_SAMPLE, thread);

	event->stack = stack;
	event->u.sample.weight = weight;
}

/* Analyses all events into view, with names. Release the view before the synth. */
static inline void synth_view(struct synth *s, const struct filter_opts *opts,
			      enum dwell_group_by by, struct dwell_view *ret)
{
	struct dwell_analysis_options options = { .by = by };
	struct dwell_err err = { 0 };

	memset(ret, 0, sizeof(*ret));
	assert_int_equal(dwell_analysis_begin(&ret->analysis, &s->tables, &s->info, &opts->filter,
					      &options, &err),
			 0);
	for (uint32_t i = 0; i < s->events.count; i++)
		assert_int_equal(dwell_analysis_feed(&ret->analysis, &s->events.data[i], &err), 0);
	assert_int_equal(dwell_analysis_finish(&ret->analysis, &s->info, &err), 0);
	assert_int_equal(dwell_view_name(ret, opts, &err), 0);
}

#endif
