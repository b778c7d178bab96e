// SPDX-License-Identifier: MIT
/* Recordings without scheduler events become reports: what there is is shown, what is missing is
 * said, and no nanoseconds appear where nothing measured time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "report/json.h"
#include "report/summary_text.h"
#include "tests/synth/counting.h"

static const struct filter_opts no_filter;

enum form { SUMMARY, THREADS, SUMMARY_JSON, THREADS_JSON };

/* The view as it is printed; the caller frees it. Ends c. */
static char *print(struct counting *c, enum form form)
{
	bool threads = form == THREADS || form == THREADS_JSON;
	struct dwell_analysis_options options = { .by = threads ? DWELL_BY_COMM : DWELL_BY_THREAD };
	struct dwell_err err = { 0 };
	struct dwell_thread_list list;
	struct dwell_summary summary;
	struct dwell_health health;
	struct dwell_view view;
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	counting_begin(c, &no_filter, &options, &view);
	assert_int_equal(counting_finish(c, &no_filter, &options, &view, &err), 0);
	dwell_health_read(&view.analysis, &health);
	assert_int_equal(dwell_summary_build(&view, &summary), 0);
	assert_int_equal(dwell_thread_list_build(&view.analysis, 0, &list), 0);
	if (form == SUMMARY)
		summary_text_print(&view, &summary, &health, "perf.data", out);
	else if (form == SUMMARY_JSON)
		json_print_summary(&view, &summary, &health, out);
	else if (form == THREADS)
		threads_text_print(&view, &list, &health, out);
	else
		json_print_threads(&view, &list, &health, out);
	fclose(out);
	dwell_summary_release(&summary);
	dwell_thread_list_release(&list);
	dwell_view_release(&view);
	return text;
}

static void assert_printed(struct counting *c, enum form form, const char *expected)
{
	char *text = print(c, form);

	assert_string_equal(text, expected);
	free(text);
}

/* Without a clock: two events, of which the first is what counts. */
static void build_counters(struct counting *c)
{
	uint32_t web, idle = DWELL_THREAD_IDLE;

	counting_init(c);
	counting_event(c, "cyc\033les", false);
	c->source->events.data[0].period = 250000;
	counting_event(c, "page-faults", false);
	web = synth_thread(&c->s, 40, 41, "web");
	for (int i = 0; i < 6; i++)
		counting_sample(c, 0, web, i < 4 ? "main|serve" : "main|k:copy", 250000);
	counting_sample(c, 0, synth_thread(&c->s, 50, 50, ""), "main|serve", 250000);
	counting_sample(c, 0, idle, "k:do_idle", 250000);
	counting_sample(c, 1, web, "main|k:fault", 1);
}

/* With one: 700 of 1000 us on a CPU. */
static void build_clock(struct counting *c, const char *reason)
{
	uint32_t web;

	counting_init(c);
	c->s.info.no_switches_reason = reason;
	counting_event(c, "cpu-clock", true);
	web = synth_thread(&c->s, 40, 41, "web");
	for (int i = 0; i < 6; i++)
		counting_sample(c, 0, web, i < 4 ? "main|serve" : "main|k:copy", 100000);
	counting_sample(c, 0, synth_thread(&c->s, 50, 50, ""), "main|serve", 100000);
	for (uint32_t i = 0; i < c->s.events.count; i++)
		c->s.events.data[i].time_ns = 100000 * (i + 1);
}

static void test_counters_text(void **state)
{
	struct counting c;

	(void)state;
	build_counters(&c);
	assert_printed(
		&c, SUMMARY,
		"memory, 1.0 ms\n"
		"3 threads:  8 samples of cyc?les\n"
		"\n"
		"share  thread   where, innermost first  samples\n"
		"  50%  web      serve < main                  4\n"
		"  25%  web      main                          2\n"
		"  12%  :50      serve < main                  1\n"
		"  12%  swapper  do_idle                       1\n"
		"\n"
		"lost 0, coverage not known, sampled every 250,000, perf.data\n"
		"events: cyc?les 8, page-faults 1\n"
		"! no clock and no scheduler events: samples of 'cyc?les' are counted, not time\n"
		"more: dwell report threads perf.data, dwell fold perf.data\n");
	build_counters(&c);
	assert_printed(
		&c, THREADS,
		"memory, 1.0 ms\n"
		"pid/tid  thread   share  samples\n"
		"  40/41  web        75%        6\n"
		"      0  swapper    12%        1\n"
		"     50  :50        12%        1\n"
		"! no clock and no scheduler events: samples of 'cyc?les' are counted, not time\n");
}

static void test_clock_text(void **state)
{
	struct counting c;

	(void)state;
	build_clock(&c, NULL);
	assert_printed(&c, SUMMARY,
		       "memory, 1.0 ms\n"
		       "2 threads:  0.70 running   (on average)\n"
		       "\n"
		       "state    share  thread  where, innermost first  times  longest\n"
		       "running    57%  web     serve < main                4        -\n"
		       "running    29%  web     main                        2        -\n"
		       "running    14%  :50     serve < main                1        -\n"
		       "\n"
		       "lost 0, coverage not known, sampled every 1.0 us, perf.data\n"
		       "events: cpu-clock 7\n"
		       "! no scheduler events were recorded: on-CPU time is sample periods, and "
		       "nothing is known of waits\n"
		       "more: dwell report threads perf.data, dwell fold --on perf.data\n");
	build_clock(&c, "sched_switch was sampled by frequency; record with -c 1");
	assert_printed(&c, THREADS,
		       "memory, 1.0 ms\n"
		       "pid/tid  thread  share  samples  on-CPU\n"
		       "  40/41  web       86%        6  600 us\n"
		       "     50  :50       14%        1  100 us\n"
		       "! sched_switch was sampled by frequency; record with -c 1\n");
}

/* Clocks of different modes add up; one that tells the same time again does not, and that is said.
 */
static void test_clocks(void **state)
{
	static const struct {
		const char *names[3], *on_cpu, *said;
	} cases[] = {
		{ { "cpu-clock:u", "cpu-clock:k", "page-faults" }, "300 us", NULL },
		{ { "cpu-clock:u", "cpu-clock:k", "task-clock" },
		  "300 us",
		  "! samples of 'task-clock' are not added up: 'cpu-clock:u' tells the same" },
		{ { "task-clock/freq=99/u", "cpu-clock:uP", "cpu-clock:kh" },
		  "500 us",
		  "! samples of 'cpu-clock:uP' are not added up: 'task-clock/freq=99/u' tells" },
		{ { "cpu-clock", "cpu-clock:u", "cpu-clock:k" }, "100 us", "'cpu-clock:u' are" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct counting c;
		uint32_t web;
		char *text;

		counting_init(&c);
		web = synth_thread(&c.s, 40, 41, "web");
		for (uint32_t at = 0; at < 3; at++) {
			counting_event(&c, cases[i].names[at],
				       strstr(cases[i].names[at], "clock") != NULL);
			counting_sample(&c, at, web, "main", 100000 << at);
		}
		for (uint32_t at = 0; at < 3; at++)
			c.s.events.data[at].time_ns = 200000 * (at + 1);
		text = print(&c, THREADS);
		if (!strstr(text, cases[i].on_cpu))
			fail_msg("no %s in:\n%s", cases[i].on_cpu, text);
		if (cases[i].said ? !strstr(text, cases[i].said) : !!strstr(text, "added up"))
			fail_msg("not said or said: %s in:\n%s", cases[i].said, text);
		free(text);
	}
}

/* Two clocks of one rate are sampled at one rate. */
static void test_rates(void **state)
{
	struct counting c;
	char *text, *found;

	(void)state;
	build_clock(&c, NULL);
	counting_event(&c, "cpu-clock:u", true);
	text = print(&c, SUMMARY);
	found = strstr(text, "sampled every");
	assert_non_null(found);
	assert_null(strstr(found + 1, "sampled every"));
	free(text);
}

static struct json_object *parsed(struct counting *c, enum form form)
{
	char *text = print(c, form);
	struct json_object *object = json_tokener_parse(text);

	assert_non_null(object);
	free(text);
	return object;
}

static struct json_object *member(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	if (!json_object_object_get_ex(object, key, &value))
		fail_msg("no key '%s'", key);
	return value;
}

/* Without times there is no window that time could be a share of. */
static void test_untimed(void **state)
{
	struct json_object *object;
	struct counting c;
	char *text;

	(void)state;
	build_clock(&c, NULL);
	c.s.info.untimed = true;
	text = print(&c, SUMMARY);
	assert_memory_equal(text, "memory, no times\n2 threads:  700 us running   (in all)\n", 55);
	assert_non_null(strstr(text, "! the samples have no times: there is no window"));
	free(text);
	build_clock(&c, NULL);
	c.s.info.untimed = true;
	object = parsed(&c, SUMMARY_JSON);
	assert_true(json_object_get_boolean(member(object, "untimed")));
	json_object_put(object);
}

/* An empty name is as folded stacks have it, a thread without a tid has none. */
static void test_nameless(void **state)
{
	struct counting c;
	char *text;

	(void)state;
	for (int form = SUMMARY; form <= THREADS; form++) {
		counting_init(&c);
		counting_event(&c, "cycles", false);
		counting_sample(&c, 0, synth_thread(&c.s, -1, -1, ""), "main", 1);
		text = print(&c, (enum form)form);
		assert_non_null(strstr(text, form == SUMMARY ? " 100%  [no name]  main"
							     : "      -  [no name]   100%"));
		free(text);
	}
}

static void print_line(void *user, const char *text)
{
	fprintf(user, "%s\n", text);
}

static void test_warnings(void **state)
{
	static const struct {
		struct dwell_health health;
		const char *expected;
	} cases[] = {
		{ { .counted = "cpu-clock" },
		  "no periods and no scheduler events: samples of 'cpu-clock' are counted, not "
		  "time\n" },
		{ { .counted = "cycles", .no_switches_reason = "half told" },
		  "half told\n"
		  "no clock and no usable scheduler events: samples of 'cycles' are counted, not "
		  "time\n" },
		{ { .no_switches_reason = "half told" }, "half told\n" },
		{ { .no_switches_reason = "half told", .has_switches = true, .has_wakings = true },
		  "half told\n" },
		/* Who asks for an event's samples misses nothing. */
		{ { .asked_count = true, .counted = "cycles" }, "" },
		{ { .asked_count = true, .counted = "cycles", .has_switches = true }, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dwell_health health = cases[i].health;
		char *text;
		size_t bytes;
		FILE *out = open_memstream(&text, &bytes);

		assert_non_null(out);
		health.finished = true;
		dwell_health_warnings(&health, print_line, out);
		fclose(out);
		assert_string_equal(text, cases[i].expected);
		free(text);
	}
}

static void test_counters_json(void **state)
{
	static const char *const times[] = { "observed_ns", "on_cpu_ns", "runnable_ns",
					     "blocked_ns", "unknown_ns" };
	struct json_object *object, *row;
	struct counting c;

	(void)state;
	build_counters(&c);
	object = parsed(&c, SUMMARY_JSON);
	assert_string_equal(json_object_get_string(member(object, "counted_event")), "cyc?les");
	assert_int_equal(json_object_array_length(member(object, "lines")), 0);
	assert_int_equal(json_object_array_length(member(object, "sample_lines")), 4);
	row = json_object_array_get_idx(member(object, "sample_lines"), 0);
	assert_string_equal(json_object_get_string(member(row, "comm")), "web");
	assert_string_equal(json_object_get_string(member(row, "where")), "serve < main");
	assert_int_equal(json_object_get_int64(member(row, "samples")), 4);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		assert_int_equal(json_object_get_int64(member(object, times[i])), 0);
	row = json_object_array_get_idx(member(object, "events"), 1);
	assert_string_equal(json_object_get_string(member(row, "name")), "page-faults");
	assert_int_equal(json_object_get_int64(member(row, "samples")), 1);
	assert_false(json_object_get_boolean(member(row, "clock")));
	json_object_put(object);

	build_counters(&c);
	object = parsed(&c, THREADS_JSON);
	row = json_object_array_get_idx(member(object, "threads"), 0);
	assert_int_equal(json_object_get_int64(member(row, "samples")), 6);
	assert_int_equal(json_object_get_int64(member(row, "observed_ns")), 0);
	json_object_put(object);
}

static void test_clock_json(void **state)
{
	struct json_object *object;
	struct counting c;

	(void)state;
	build_clock(&c, NULL);
	object = parsed(&c, SUMMARY_JSON);
	assert_null(member(object, "counted_event"));
	assert_false(json_object_object_get_ex(object, "sample_lines", NULL));
	assert_int_equal(json_object_array_length(member(object, "lines")), 3);
	assert_int_equal(json_object_get_int64(member(object, "on_cpu_ns")), 700000);
	json_object_put(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counters_text), cmocka_unit_test(test_clock_text),
		cmocka_unit_test(test_clocks),	      cmocka_unit_test(test_rates),
		cmocka_unit_test(test_untimed),	      cmocka_unit_test(test_nameless),
		cmocka_unit_test(test_warnings),      cmocka_unit_test(test_counters_json),
		cmocka_unit_test(test_clock_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
