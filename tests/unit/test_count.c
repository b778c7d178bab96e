// SPDX-License-Identifier: MIT
/* Events of a table in memory become folded counts: which event is chosen, what a sample adds, whom
 * it belongs to, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/folded.h"
#include "tests/synth/counting.h"

static const struct filter_opts no_filter;

/* Folds what was begun; the view and the source end here. */
static void assert_folded(struct counting *c, struct dwell_view *view,
			  const struct filter_opts *opts,
			  const struct dwell_analysis_options *options, const char *expected)
{
	struct dwell_err err = { 0 };
	struct folded folded = { 0 };
	char *text = NULL;
	size_t bytes;

	assert_int_equal(counting_finish(c, opts, options, view, &err), 0);
	folded.out = open_memstream(&text, &bytes);
	assert_non_null(folded.out);
	assert_int_equal(dwell_sink_walk(view, DWELL_MODE_ON, false, &folded_ops, &folded, &err),
			 0);
	fclose(folded.out);
	assert_string_equal(text, expected);
	free(text);
	folded_release(&folded);
	dwell_view_release(view);
}

static void assert_counted(struct counting *c, const struct dwell_analysis_options *options,
			   const char *expected)
{
	struct dwell_view view;

	counting_begin(c, &no_filter, options, &view);
	assert_folded(c, &view, &no_filter, options, expected);
}

/* Finishing fails, says `part`, and it is the command line's fault or not. */
static void assert_refused(struct counting *c, const struct dwell_analysis_options *options,
			   bool unusable, const char *part)
{
	struct dwell_err err = { 0 };
	struct dwell_view view;

	counting_begin(c, &no_filter, options, &view);
	assert_true(counting_finish(c, &no_filter, options, &view, &err) < 0);
	if (!strstr(err.msg, part))
		fail_msg("'%s' does not say '%s'", err.msg, part);
	assert_int_equal(view.analysis.unusable, unusable);
	dwell_view_release(&view);
}

/* Two counters and a clock; a thread that samples of each hit. */
static void build_three(struct counting *c)
{
	uint32_t cycles, faults, clock, thread;

	counting_init(c);
	counting_event(c, "dummy:HG", false);
	cycles = counting_event(c, "cycles", false);
	faults = counting_event(c, "page-faults", false);
	clock = counting_event(c, "cpu-clock", true);
	thread = synth_thread(&c->s, 10, 11, "app");
	counting_sample(c, cycles, thread, "main|a", 700);
	counting_sample(c, cycles, thread, "main|a", 300);
	counting_sample(c, cycles, thread, "main|b", 50);
	counting_sample(c, faults, thread, "main|f", 2);
	counting_sample(c, clock, thread, "main|a", 1000);
	counting_sample(c, clock, thread, "main|b", 1000);
	counting_sample(c, clock, thread, "main|b", 1001);
}

static void test_weights(void **state)
{
	static const struct {
		struct dwell_analysis_options options;
		const char *expected;
	} cases[] = {
		{ { .event = "cycles" }, "app;main;a 2\napp;main;b 1\n" },
		{ { .event = "cycles", .weigh = DWELL_WEIGH_SAMPLES },
		  "app;main;a 2\napp;main;b 1\n" },
		{ { .event = "cycles", .weigh = DWELL_WEIGH_PERIOD },
		  "app;main;a 1000\napp;main;b 50\n" },
		{ { .event = "page-*" }, "app;main;f 1\n" },
		{ { .event = "cpu-clock" }, "app;main;a 1000\napp;main;b 2001\n" },
		{ { .event = "cpu-clock", .weigh = DWELL_WEIGH_TIME },
		  "app;main;a 1000\napp;main;b 2001\n" },
		{ { .event = "cpu-clock", .weigh = DWELL_WEIGH_SAMPLES },
		  "app;main;a 1\napp;main;b 2\n" },
		/* The default event is the clock. */
		{ { .weigh = DWELL_WEIGH_SAMPLES }, "app;main;a 1\napp;main;b 2\n" },
		{ { .event = "dummy:HG" }, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dwell_analysis_options options = cases[i].options;
		struct counting c;

		options.count = true;
		build_three(&c);
		assert_counted(&c, &options, cases[i].expected);
	}
}

static void test_refused(void **state)
{
	static const struct {
		struct dwell_analysis_options options;
		const char *part;
	} cases[] = {
		{ { .event = "nope" },
		  "no event 'nope' in the file; it has dummy:HG, cycles, page-faults, cpu-clock" },
		{ { .event = "*c*" }, "fits several events" },
		{ { .event = "cycles", .weigh = DWELL_WEIGH_TIME }, "something else than time" },
	};
	struct counting c;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dwell_analysis_options options = cases[i].options;

		options.count = true;
		build_three(&c);
		assert_refused(&c, &options, true, cases[i].part);
	}
	counting_init(&c);
	assert_refused(&c, &(struct dwell_analysis_options){ .count = true }, false, "no events");
}

/* A name without what perf puts around it; a whole name wins over that, a glob never does. */
static void test_short_names(void **state)
{
	static const struct {
		const char *names[2], *wanted, *expected;
	} cases[] = {
		{ { "cycles:ppp", "instructions:u" }, "cycles", "t;a 1\n" },
		{ { "cycles:P", "instructions:u" }, "instructions", "t;b 1\n" },
		{ { "cycles:P", "cycles" }, "cycles", "t;b 1\n" },
		{ { "cycles:u", "cycles:k" }, "cycles:k", "t;b 1\n" },
		{ { "sched:sched_process_exit", "x:sched_process_exit" },
		  "sched_process_exit",
		  "t;a 1\n" },
		{ { "irq:softirq_entry", "irq" }, "irq", "t;b 1\n" },
		/* How it is counted does not make it another event, in which mode does. */
		{ { "cycles:P", "instructions" }, "cycles:HG", "t;a 1\n" },
		{ { "instructions", "cycles" }, "cycles:ppp", "t;b 1\n" },
		{ { "cycles:u", "cycles:kP" }, "cycles:k", "t;b 1\n" },
		{ { "cpu_atom/cycles:Pu/", "cpu_core/cycles:Pu/" }, "cpu_core/cycles/", "t;b 1\n" },
		{ { "cpu/cycles/k", "cpu/cycles/u" }, "cpu/cycles/u", "t;b 1\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dwell_analysis_options options = { .count = true, .event = cases[i].wanted };
		struct counting c;
		uint32_t thread;

		counting_init(&c);
		thread = synth_thread(&c.s, 1, 1, "t");
		for (int at = 0; at < 2; at++)
			counting_sample(&c, counting_event(&c, cases[i].names[at], false), thread,
					at ? "b" : "a", 1);
		assert_counted(&c, &options, cases[i].expected);
	}
	for (int turn = 0; turn < 3; turn++) {
		static const char *const wanted[] = { "cycles", "softirq_entry", "cycles:u" };
		struct dwell_analysis_options options = { .count = true, .event = wanted[turn] };
		struct counting c;

		counting_init(&c);
		counting_event(&c, turn ? "irq:softirq_entry" : "cycles:u", false);
		counting_event(&c, "cycles:k", false);
		assert_refused(&c, &options, true, turn ? "no event" : "fits several");
	}
}

/* Entries of one name, as a hybrid machine has them, are one event. */
static void test_same_name(void **state)
{
	struct counting c;
	uint32_t thread;

	(void)state;
	counting_init(&c);
	thread = synth_thread(&c.s, 1, 1, "t");
	for (int i = 0; i < 2; i++)
		counting_sample(&c, counting_event(&c, "cycles", false), thread, "a", 1);
	assert_counted(&c, &(struct dwell_analysis_options){ .count = true, .event = "cy*" },
		       "t;a 2\n");
}

/* The scheduler's events belong to who ran, the idle task included. */
static void build_scheduler(struct counting *c)
{
	struct dwell_event *event;
	uint32_t a, b;

	counting_init(c);
	c->s.info.has_switches = c->s.info.has_wakings = true;
	counting_event(c, "cpu-clock", true);
	counting_event(c, "sched:sched_switch", false);
	a = synth_thread(&c->s, 1, 1, "a");
	b = synth_thread(&c->s, 2, 2, "b");
	synth_switch(&c->s, 10, a, DWELL_TASK_INTERRUPTIBLE, synth_stack(&c->s, "main|k:nap"), 0);
	synth_switch(&c->s, 20, 0, DWELL_TASK_RUNNING, synth_stack(&c->s, "k:do_idle"), b);
	synth_switch(&c->s, 30, b, DWELL_TASK_RUNNING, synth_stack(&c->s, "main"), a);
	synth_waking(&c->s, 40, a, b);
	c->s.events.data[c->s.events.count - 1].stack = synth_stack(&c->s, "main|wake");
	event = synth_event(&c->s, 50, DWELL_EVENT_WAKEUP_NEW, b);
	event->u.wake.waker = DWELL_THREAD_IDLE;
	event = synth_event(&c->s, 60, DWELL_EVENT_WAKEUP_NEW, b);
	event->u.wake.waker = DWELL_THREAD_NONE;
}

static void test_scheduler_events(void **state)
{
	static const struct {
		const char *waking, *event, *expected;
	} cases[] = {
		{ "sched:sched_waking", "sched:sched_switch",
		  "a;main;nap_[k] 1\nb;main 1\nswapper;do_idle_[k] 1\n" },
		{ "sched:sched_waking", "sched_waking", "b;main;wake 1\n" },
		{ "sched:sched_wakeup", "sched_wakeup", "b;main;wake 1\n" },
		{ "sched:sched_waking", "*new", "[no name];[no stack] 1\nswapper;[no stack] 1\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dwell_analysis_options options = { .count = true,
							  .event = cases[i].event,
							  .weigh = DWELL_WEIGH_SAMPLES };
		struct counting c;

		build_scheduler(&c);
		counting_event(&c, cases[i].waking, false);
		counting_event(&c, "sched:sched_wakeup_new", false);
		assert_counted(&c, &options, cases[i].expected);
	}
}

/* Every event read has its count, whatever is folded. */
static void test_event_counts(void **state)
{
	static const uint64_t expected[] = { 0, 3, 1, 2 };
	struct dwell_analysis_options options = { 0 };
	struct dwell_err err = { 0 };
	struct dwell_view view;
	struct counting c;

	(void)state;
	build_scheduler(&c);
	counting_event(&c, "sched:sched_waking", false);
	counting_event(&c, "sched:sched_wakeup_new", false);
	counting_begin(&c, &no_filter, &options, &view);
	assert_int_equal(counting_finish(&c, &no_filter, &options, &view, &err), 0);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(dwell_analysis_event_count(&view.analysis, i), expected[i]);
	assert_int_equal(dwell_analysis_event_count(&view.analysis, 4), 0);
	assert_null(dwell_analysis_counted(&view.analysis));
	dwell_view_release(&view);
}

/* Neither scheduler events nor a clock: the first event that is no dummy is counted, and where time
 * is needed that is refused. */
static void test_implied(void **state)
{
	struct dwell_analysis_options options = { .needs = DWELL_NEED_WALL };
	struct counting c;

	(void)state;
	for (int turn = 0; turn < 3; turn++) {
		counting_init(&c);
		counting_event(&c, "dummy", false);
		counting_event(&c, "cycles", false);
		counting_event(&c, "instructions", false);
		for (uint32_t event = 1; event <= 2; event++)
			counting_sample(&c, event, synth_thread(&c.s, 5, 5, ""), "main", 9);
		if (turn == 0) {
			assert_counted(&c, &options, ":5;main 1\n");
			options.needs = DWELL_NEED_TIME;
		} else {
			assert_refused(&c, &options, false,
				       turn == 1 ? "`dwell fold --event 'cycles'`"
						 : "no scheduler events");
			options.needs = DWELL_NEED_WAITS;
		}
	}
}

/* Switches that are half told: no off-CPU time, whatever the events say. */
static void test_reason(void **state)
{
	struct dwell_analysis_options options = { .needs = DWELL_NEED_WALL };
	struct counting c;

	(void)state;
	for (int turn = 0; turn < 2; turn++) {
		build_scheduler(&c);
		c.s.info.has_switches = false;
		c.s.info.no_switches_reason = "only switch-outs; record with -a";
		counting_sample(&c, 0, synth_thread(&c.s, 1, 1, "a"), "main|loop", 10);
		if (turn == 0)
			assert_refused(&c, &options, false, "only switch-outs; record with -a");
		options.needs = DWELL_NEED_TIME; /* --on */
	}
	assert_counted(&c, &options, "a;main;loop 10\n");
}

/* The table of a text grows while it is read: what is chosen by then is counted from its first
 * sample on, and a clock turns counting into time. */
static void test_table_grows(void **state)
{
	struct dwell_analysis_options options = { .count = true, .event = "*fault*" };
	struct dwell_view view;
	struct counting c;
	uint32_t thread;

	(void)state;
	counting_init(&c);
	counting_begin(&c, &no_filter, &options, &view);
	thread = synth_thread(&c.s, 1, 1, "t");
	counting_sample(&c, counting_event(&c, "cycles", false), thread, "a", 1);
	counting_feed(&c, &view);
	counting_sample(&c, counting_event(&c, "page-faults", false), thread, "b", 1);
	assert_folded(&c, &view, &no_filter, &options, "t;b 1\n");

	options = (struct dwell_analysis_options){ .needs = DWELL_NEED_TIME };
	counting_init(&c);
	counting_begin(&c, &no_filter, &options, &view);
	thread = synth_thread(&c.s, 1, 1, "t");
	counting_sample(&c, counting_event(&c, "cycles", false), thread, "a", 1);
	counting_feed(&c, &view);
	assert_string_equal(dwell_analysis_counted(&view.analysis), "cycles");
	counting_sample(&c, counting_event(&c, "task-clock", true), thread, "b", 70);
	counting_sample(&c, 0, thread, "a", 1);
	/* Another clock tells the same time once more. */
	counting_sample(&c, counting_event(&c, "cpu-clock", true), thread, "c", 70);
	assert_folded(&c, &view, &no_filter, &options, "t;b 70\n");
}

static void test_groups_and_filters(void **state)
{
	struct dwell_analysis_options options = { .count = true, .by = DWELL_BY_THREAD };
	struct filter_opts opts = { 0 };
	struct dwell_view view;
	struct counting c;
	uint32_t cycles;

	(void)state;
	assert_int_equal(dwell_filter_add_comms(&opts.filter, "w*", NULL), 0);
	assert_int_equal(dwell_filter_add_cpus(&opts.filter, "1", NULL), 0);
	opts.filter.from_ns = 1001;
	opts.kernel_only = true;
	counting_init(&c);
	cycles = counting_event(&c, "cycles", false);
	counting_begin(&c, &opts, &options, &view);
	/* Too early; passes; other CPU; other name. */
	for (int i = 0; i < 4; i++) {
		counting_sample(&c, cycles, synth_thread(&c.s, 7, 7 + i, i < 3 ? "web" : "app"),
				"main|k:fault", 1);
		c.s.events.data[i].cpu = i != 2;
	}
	assert_folded(&c, &view, &opts, &options, "web-7/8;fault_[k] 1\n");
	dwell_filter_release(&opts.filter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_weights),		 cmocka_unit_test(test_refused),
		cmocka_unit_test(test_short_names),	 cmocka_unit_test(test_same_name),
		cmocka_unit_test(test_scheduler_events), cmocka_unit_test(test_event_counts),
		cmocka_unit_test(test_implied),		 cmocka_unit_test(test_reason),
		cmocka_unit_test(test_table_grows),	 cmocka_unit_test(test_groups_and_filters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
