/* SPDX-License-Identifier: MIT */
/* A recording in memory with an event table: events built by hand and the table of a source become
 * an analysed view. For unit tests; failures are assertions. */
#ifndef DWELL_TESTS_SYNTH_COUNTING_H
#define DWELL_TESTS_SYNTH_COUNTING_H

#include "parse/source_impl.h"
#include "tests/synth/events.h"

/* The source of a view under way owns the synth's tables. */
struct counting {
	struct synth s;
	struct dwell_source *source;
};

static inline void counting_init(struct counting *c)
{
	c->source = source_new();
	assert_non_null(c->source);
	c->s = (struct synth){
		.tables = { c->source->strings, c->source->stacks, c->source->threads },
		.info = { .format_name = "memory", .end_ns = 1000000, .cpus = 2, .finished = true },
	};
}

/* Adds an entry to the event table and returns its index. A clock's unit is ns. */
static inline uint32_t counting_event(struct counting *c, const char *name, bool clock)
{
	assert_int_equal(dwell_array_grow(&c->source->events), 0);
	c->source->events.data[c->source->events.count] =
		(struct dwell_event_desc){ .name = synth_string(&c->s, name),
					   .period = clock ? 1000 : 1,
					   .unit = clock ? DWELL_UNIT_NS : DWELL_UNIT_COUNT,
					   .is_clock = clock };
	return c->source->events.count++;
}

static inline void counting_sample(struct counting *c, uint32_t event, uint32_t thread,
				   const char *stack, uint64_t weight)
{
	synth_sample(&c->s, 1000 + c->s.events.count, thread, stack ? synth_stack(&c->s, stack) : 0,
		     weight);
	c->s.events.data[c->s.events.count - 1].u.sample.event = event;
}

/* Feeds what was added since the last call: the table may grow between calls. */
static inline void counting_feed(struct counting *c, struct dwell_view *view)
{
	struct dwell_err err = { 0 };

	for (uint32_t i = 0; i < c->s.events.count; i++)
		assert_int_equal(dwell_analysis_feed(&view->analysis, &c->s.events.data[i], &err),
				 0);
	c->s.events.count = 0;
}

static inline void counting_begin(struct counting *c, const struct filter_opts *opts,
				  const struct dwell_analysis_options *options,
				  struct dwell_view *ret)
{
	struct dwell_err err = { 0 };

	memset(ret, 0, sizeof(*ret));
	ret->analysis.source = c->source;
	assert_int_equal(dwell_analysis_begin(&ret->analysis, &c->s.tables, &c->s.info,
					      &opts->filter, options, &err),
			 0);
}

/* What finishing says; with names when that is 0. Release the view afterwards: it takes the source
 * and its tables along. */
static inline int counting_finish(struct counting *c, const struct filter_opts *opts,
				  const struct dwell_analysis_options *options,
				  struct dwell_view *view, struct dwell_err *err)
{
	int rc;

	counting_feed(c, view);
	dwell_array_release(&c->s.events);
	rc = dwell_analysis_finish(&view->analysis, &c->s.info, err);
	if (!rc)
		rc = dwell_analysis_allows(&view->analysis, options, err);
	if (!rc)
		assert_int_equal(dwell_view_name(view, opts, err), 0);
	return rc;
}

#endif
