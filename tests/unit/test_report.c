// SPDX-License-Identifier: MIT
/* Views of recordings in memory: the screen and the tables as text, their JSON, and the small
 * pieces they are made of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "parse/source_impl.h"
#include "report/json.h"
#include "report/short_stack.h"
#include "report/summary.h"
#include "report/summary_text.h"
#include "report/table.h"
#include "report/text.h"
#include "report/threads.h"
#include "report/time_range.h"
#include "tests/synth/events.h"

#define MS 1000000ull

/* A server of 10 s: a worker that waits for a lock and runs a little, a flusher in D, a kernel
 * thread asleep, the recorder, and a thread with a hostile name. */
static void add_server(struct synth *s)
{
	uint32_t worker, flusher, kernel, recorder, hostile, stack;

	worker = synth_thread(s, 10, 11, "worker");
	flusher = synth_thread(s, 10, 12, "flusher");
	kernel = synth_thread(s, 2, 2, "kworker/0:1");
	dwell_threads_get(s->tables.threads, kernel)->kernel = true;
	recorder = synth_thread(s, 50, 50, "dwell");
	dwell_threads_get(s->tables.threads, recorder)->recorder = true;
	hostile = synth_thread(s, 60, 60, "\x1b]0;\xff\"\\");
	synth_switch(s, 0, kernel, DWELL_TASK_IDLE, synth_stack(s, "k:kthread|k:schedule"),
		     recorder);
	synth_switch(s, 0, recorder, DWELL_TASK_INTERRUPTIBLE, synth_stack(s, "main|poll"),
		     hostile);
	synth_switch(s, 0, hostile, DWELL_TASK_INTERRUPTIBLE, synth_stack(s, "main|read"), flusher);
	stack = synth_stack(s, "_start|main|log_commit|fsync|k:entry_SYSCALL_64|k:__x64_sys_fsync|"
			       "k:io_schedule");
	synth_switch(s, 0, flusher, DWELL_TASK_UNINTERRUPTIBLE, stack, worker);
	synth_sample(s, 50 * MS, worker, synth_stack(s, "main|serve|parse_header"), MS);
	stack = synth_stack(s, "start_thread|serve|cache_get|pthread_mutex_lock|__lll_lock_wait|"
			       "k:__x64_sys_futex|k:futex_wait|k:schedule|k:__schedule");
	synth_switch(s, 100 * MS, worker, DWELL_TASK_INTERRUPTIBLE, stack, DWELL_THREAD_IDLE);
	synth_waking(s, 2200 * MS, worker, recorder);
	synth_switch(s, 2300 * MS, DWELL_THREAD_IDLE, DWELL_TASK_RUNNING, 0, worker);
	synth_switch(s, 2400 * MS, worker, DWELL_TASK_INTERRUPTIBLE, stack, DWELL_THREAD_IDLE);
	synth_waking(s, 9000 * MS, worker, recorder);
	synth_switch(s, 9000 * MS, DWELL_THREAD_IDLE, DWELL_TASK_RUNNING, 0, worker);
}

static void build_server(struct synth *s)
{
	synth_init(s, 0, 10000 * MS);
	add_server(s);
}

static void test_summary_text(void **state)
{
	struct filter_opts opts = { 0 };
	struct dwell_summary summary;
	struct dwell_health health;
	struct dwell_view view;
	struct synth s;
	char *text, *line, *end;
	size_t bytes;
	FILE *out;

	(void)state;
	build_server(&s);
	synth_view(&s, &opts, DWELL_BY_THREAD, &view);
	assert_int_equal(dwell_summary_build(&view, &summary), 0);
	dwell_health_read(&view.analysis, &health);
	out = open_memstream(&text, &bytes);
	assert_int_equal(summary_text_print(&view, &summary, &health, "x\x1by", out), 0);
	fclose(out);
	assert_string_equal(
		text,
		"memory, 10 s\n"
		"5 threads:  0.12 running  0.01 want a CPU  4.87 blocked  0.00 unknown   (on "
		"average)\n"
		"\n"
		"state      share  thread   where, innermost first                  times  longest\n"
		"blocked      33%  ?]0;?\"\\  read < main                                 1   >=10 s\n"
		"blocked D    33%  flusher  fsync < log_commit < main                   1   >=10 s\n"
		"blocked      29%  worker   pthread_mutex_lock < cache_get < serve      2    6.6 s\n"
		"running     4.0%  worker   parse_header < serve < main                 1        -\n"
		"runnable    0.3%  worker   pthread_mutex_lock < cache_get < serve      1   100 ms\n"
		"not listed, of all time: kernel threads asleep 1 (20%), threads of the recorder 1 (20%)\n"
		"\n"
		"lost 0, coverage not known, x?y\n"
		"more: dwell report threads x?y, dwell fold --wall x?y\n");
	for (line = text; (end = strchr(line, '\n')) != NULL; line = end + 1)
		assert_true(end - line <= 100);
	free(text);
	dwell_summary_release(&summary);
	dwell_view_release(&view);
	synth_release(&s);
}

/* A thread that never switches, in the state that /proc told. */
static void add_sleeper(struct synth *s, int32_t tid, enum dwell_task_state state)
{
	struct dwell_event *event =
		synth_event(s, 0, DWELL_EVENT_STATE, synth_thread(s, tid, tid, "sleeper"));

	event->cpu = DWELL_CPU_NONE;
	event->u.state.state = (uint8_t)state;
	event->u.state.stable = true;
}

/* Nothing disappears: lines and what is put aside sum to the observed time. A sleeper of a
 * whole-system recording is put aside, but never one in uninterruptible sleep. */
static void test_summary_sums(void **state)
{
	struct filter_opts opts = { 0 };
	struct dwell_summary summary;
	struct dwell_view view;
	struct synth s;
	uint64_t sum = 0;
	int hung = 0;

	(void)state;
	synth_init(&s, 0, 10000 * MS);
	s.info.all_threads = true;
	add_sleeper(&s, 70, DWELL_TASK_INTERRUPTIBLE);
	add_sleeper(&s, 71, DWELL_TASK_UNINTERRUPTIBLE);
	add_server(&s);
	synth_view(&s, &opts, DWELL_BY_THREAD, &view);
	assert_int_equal(dwell_summary_build(&view, &summary), 0);
	for (uint32_t i = 0; i < summary.lines.count; i++) {
		const char *comm = dwell_strings_get(s.tables.strings, summary.lines.data[i].comm);

		sum += summary.lines.data[i].ns;
		hung += !strcmp(comm, "sleeper");
	}
	for (unsigned i = 0; i < SUMMARY_ASIDES; i++)
		sum += summary.asides[i].ns;
	assert_int_equal(sum, summary.observed_ns);
	assert_int_equal(sum, 70000 * MS);
	assert_int_equal(hung, 1);
	assert_int_equal(summary.asides[SUMMARY_NEVER_RAN].threads, 1);
	assert_int_equal(summary.asides[SUMMARY_NEVER_RAN].ns, 10000 * MS);
	dwell_summary_release(&summary);
	dwell_view_release(&view);
	synth_release(&s);
}

static json_object *json_of(const char *text, const char *schema)
{
	enum json_tokener_error error;
	json_object *root = json_tokener_parse_verbose(text, &error), *value;

	assert_int_equal(error, json_tokener_success);
	assert_true(json_object_object_get_ex(root, "schema", &value));
	assert_string_equal(json_object_get_string(value), schema);
	assert_true(json_object_object_get_ex(root, "balanced", &value));
	assert_true(json_object_get_boolean(value));
	return root;
}

static int64_t number_of(json_object *object, const char *key)
{
	json_object *value;

	assert_true(json_object_object_get_ex(object, key, &value));
	assert_true(json_object_is_type(value, json_type_int));
	return json_object_get_int64(value);
}

static void test_threads_json(void **state)
{
	struct filter_opts opts = { 0 };
	struct dwell_thread_list list;
	struct dwell_health health;
	struct dwell_view view;
	struct synth s;
	json_object *root, *threads, *thread, *comm, *value;
	char *text;
	size_t bytes;
	FILE *out;

	(void)state;
	build_server(&s);
	synth_view(&s, &opts, DWELL_BY_THREAD, &view);
	assert_int_equal(dwell_thread_list_build(&view.analysis, dwell_thread_sort_key("cpu", NULL),
						 &list),
			 0);
	dwell_health_read(&view.analysis, &health);
	out = open_memstream(&text, &bytes);
	assert_int_equal(json_print_threads(&view, &list, &health, out), 0);
	fclose(out);
	root = json_of(text, "dwell-threads");
	assert_int_equal(number_of(root, "window_ns"), 10000 * MS);
	assert_true(json_object_object_get_ex(root, "threads", &threads));
	assert_int_equal(json_object_array_length(threads), 5);
	for (size_t i = 0; i < 5; i++) {
		thread = json_object_array_get_idx(threads, i);
		assert_int_equal(number_of(thread, "observed_ns"),
				 number_of(thread, "on_cpu_ns") + number_of(thread, "runnable_ns") +
					 number_of(thread, "blocked_ns") +
					 number_of(thread, "unknown_ns"));
		assert_true(json_object_object_get_ex(thread, "longest_blocked_censored", &value));
		assert_int_equal(json_object_get_boolean(value), number_of(thread, "tid") != 11);
		if (number_of(thread, "tid") != 60)
			continue;
		assert_true(json_object_object_get_ex(thread, "comm", &comm));
		assert_string_equal(json_object_get_string(comm), "?]0;\xef\xbf\xbd\"\\");
	}
	thread = json_object_array_get_idx(threads, 0); /* it wanted a CPU most */
	assert_int_equal(number_of(thread, "tid"), 11);
	assert_int_equal(number_of(thread, "on_cpu_ns"), 1200 * MS);
	assert_int_equal(number_of(thread, "runnable_ns"), 100 * MS);
	assert_int_equal(number_of(thread, "switches_voluntary"), 2);
	assert_int_equal(number_of(thread, "longest_blocked_ns"), 6600 * MS);
	json_object_put(root);
	free(text);
	dwell_thread_list_release(&list);
	dwell_view_release(&view);
	synth_release(&s);
}

static void test_summary_json(void **state)
{
	struct filter_opts opts = { 0 };
	struct dwell_summary summary;
	struct dwell_health health;
	struct dwell_view view;
	struct synth s;
	json_object *root, *lines;
	char *text;
	size_t bytes;
	FILE *out;

	(void)state;
	build_server(&s);
	synth_view(&s, &opts, DWELL_BY_THREAD, &view);
	assert_int_equal(dwell_summary_build(&view, &summary), 0);
	dwell_health_read(&view.analysis, &health);
	out = open_memstream(&text, &bytes);
	assert_int_equal(json_print_summary(&view, &summary, &health, out), 0);
	fclose(out);
	root = json_of(text, "dwell-summary");
	assert_int_equal(number_of(root, "thread_count"), 5);
	assert_true(json_object_object_get_ex(root, "lines", &lines));
	assert_int_equal(json_object_array_length(lines), summary.lines.count);
	json_object_put(root);
	free(text);
	dwell_summary_release(&summary);
	dwell_view_release(&view);
	synth_release(&s);
}

/* An empty table is no answer. */
static void test_threads_none(void **state)
{
	static const struct {
		uint64_t min_ns;
		const char *says;
	} cases[] = { { UINT64_MAX, "no time passed the filters" },
		      { 0, "no thread was observed" } };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct dwell_thread_list list;
		struct filter_opts opts = { 0 };
		struct dwell_health health;
		struct dwell_view view;
		struct synth s;
		char *text;
		size_t bytes;
		FILE *out;

		if (cases[i].min_ns)
			build_server(&s);
		else
			synth_init(&s, 0, 100);
		opts.filter.min_ns = cases[i].min_ns;
		synth_view(&s, &opts, DWELL_BY_THREAD, &view);
		assert_int_equal(dwell_thread_list_build(&view.analysis, 0, &list), 0);
		dwell_health_read(&view.analysis, &health);
		out = open_memstream(&text, &bytes);
		assert_int_equal(threads_text_print(&view, &list, &health, out), 0);
		fclose(out);
		assert_non_null(strstr(text, cases[i].says));
		assert_null(strstr(text, "observed  on-CPU"));
		free(text);
		dwell_thread_list_release(&list);
		dwell_view_release(&view);
		synth_release(&s);
	}
}

static void test_threads_text(void **state)
{
	struct filter_opts opts = { 0 };
	struct dwell_thread_list list;
	struct dwell_health health;
	struct dwell_view view;
	struct synth s;
	char *text, *line, *end;
	size_t bytes;
	FILE *out;

	(void)state;
	build_server(&s);
	s.info.finished = false;
	synth_view(&s, &opts, DWELL_BY_THREAD, &view);
	assert_int_equal(dwell_thread_list_build(&view.analysis, dwell_thread_sort_key("pid", NULL),
						 &list),
			 0);
	dwell_health_read(&view.analysis, &health);
	assert_true(dwell_health_lossy(&health));
	out = open_memstream(&text, &bytes);
	assert_int_equal(threads_text_print(&view, &list, &health, out), 0);
	fclose(out);
	for (line = text; (end = strchr(line, '\n')) != NULL; line = end + 1)
		assert_true(end - line <= 100);
	assert_non_null(strstr(text, "! the file was cut off"));
	assert_true(strstr(text, "kworker") < strstr(text, "worker  "));
	assert_true(strstr(text, "flusher") < strstr(text, "dwell  "));
	assert_null(strchr(text, '\x1b'));
	free(text);
	dwell_thread_list_release(&list);
	dwell_view_release(&view);
	synth_release(&s);
	assert_int_equal(dwell_thread_sort_key("nonsense", NULL), -EINVAL);
}

static void collect_warning(void *user, const char *text)
{
	fprintf(user, "%s\n", text);
}

/* What is missing is said, the broken law first; what is fine is not mentioned. */
static void test_warnings(void **state)
{
	struct dwell_health health = { .finished = true,
				       .has_switches = true,
				       .has_wakings = true,
				       .kernel_count = 100,
				       .parsed = 100,
				       .observed_ns = 1000 };
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	(void)state;
	dwell_health_warnings(&health, collect_warning, out);
	assert_false(dwell_health_lossy(&health));
	fflush(out);
	assert_int_equal(bytes, 0);
	health.law = "thread 7 is off by 3 ns";
	health.lost = 1234;
	health.side_lost = 2;
	health.side_ns = 3000000;
	health.side_from_ns = 5000000;
	health.parsed = 94;
	health.wakings_dropped = 5;
	health.damaged = true;
	health.unread_bytes = 2000;
	health.only_cpus = "0\033[1m";
	health.unknown_ns[DWELL_UNKNOWN_LOST] = 20;
	health.unknown_ns[DWELL_UNKNOWN_STOPPED] = 1; /* 0.1 %: not worth a line */
	dwell_health_warnings(&health, collect_warning, out);
	assert_true(dwell_health_lossy(&health));
	fclose(out);
	assert_string_equal(
		text,
		"THE BOOKS DO NOT BALANCE, do not trust these numbers: thread 7 is off by 3 ns\n"
		"the file is damaged: 2.0 kB behind the damage were not read\n"
		"only CPUs 0?[1m were recorded: what threads did elsewhere is unknown, [offline]\n"
		"1,234 events were lost; 2.0% of thread time is unknown for that\n"
		"2 records of births, names, deaths and mappings were lost within 3.0 ms, 5.0 ms "
		"from the start: threads of then may be missing, misnamed or without stacks\n"
		"coverage 94%: the kernel counted 100 events, 94 were read\n"
		"5 wakings were never delivered: runnable is a lower bound\n"
		"[lost]: 20 ns, 2.0% of thread time, is unknown\n");
	free(text);
}

/* One of anything is not many. */
static void test_warnings_of_one(void **state)
{
	struct dwell_health health = { .finished = true,
				       .has_switches = true,
				       .has_wakings = true,
				       .lost = 1,
				       .late = 1,
				       .kernel_count = 9,
				       .parsed = 8, /* the waking */
				       .wakings_dropped = 1,
				       .contradictions = 1 };
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	(void)state;
	dwell_health_warnings(&health, collect_warning, out);
	fclose(out);
	assert_string_equal(text, "1 event was lost; 0% of thread time is unknown for that\n"
				  "1 event came too late to be put in order\n"
				  "1 waking was never delivered: runnable is a lower bound\n"
				  "1 contradiction between events closed with unknown time\n");
	free(text);
}

/* What was passed over is counted in words that fit. */
static void test_told(void **state)
{
	struct dwell_health health = { .finished = true,
				       .has_switches = true,
				       .has_wakings = true,
				       .aux_bytes = 1234567,
				       .away_cpus = "1,3\033",
				       .told = { 1234, 1 },
				       .stacks = { 900, 40, 50, 10, 0 } };
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	(void)state;
	dwell_health_warnings(&health, collect_warning, out);
	fclose(out);
	assert_string_equal(text,
			    "1,234 mappings of files were more than is kept: frames in them have "
			    "no name\n"
			    "1 record of a type not known here was passed over\n"
			    "1.2 MB of hardware trace (AUX) are not decoded\n"
			    "5.0% of the user stacks (50) end where their copy did, [truncated]\n"
			    "CPUs 1,3? went or came meanwhile: what ran there then is unknown\n");
	free(text);
}

/* A long warning is broken between words, as other output is. */
static void test_warning_wraps(void **state)
{
	char *text, words[700] = "";
	size_t bytes, longest = 0;
	FILE *out = open_memstream(&text, &bytes);

	(void)state;
	for (int i = 0; i < 120; i++)
		strcat(words, i ? " word" : "word");
	dwell_warn(out, words);
	fclose(out);
	assert_memory_equal(text, "dwell: warning: word word", 25);
	for (char *at = text, *end; (end = strchr(at, '\n')) != NULL; at = end + 1) {
		longest = (size_t)(end - at) > longest ? (size_t)(end - at) : longest;
		assert_true(at == text || !strncmp(at, "  word", 6));
	}
	assert_in_range(longest, 95, 100);
	free(text);
}

/* Samples of a clock are no events that were counted. */
static void test_coverage(void **state)
{
	const struct dwell_coverage rows[] = {
		{ .event = 0, .kernel_count = 1000, .parsed = 10 },
		{ .event = 1, .kernel_count = 100, .parsed = 90 },
		{ .event = 1, .cpu = 1, .kernel_count = 100, .parsed = 101 },
		{ .event = 1, .cpu = 2, .parsed = 5 }
	};
	struct dwell_source *source = source_new();
	struct filter_opts opts = { 0 };
	struct dwell_health health;
	struct dwell_view view;
	struct synth s;

	(void)state;
	assert_non_null(source);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(dwell_array_grow(&source->events), 0);
		source->events.data[source->events.count++] =
			(struct dwell_event_desc){ .is_clock = i == 0 };
	}
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(dwell_array_grow(&source->coverage), 0);
		source->coverage.data[source->coverage.count++] = rows[i];
	}
	build_server(&s);
	synth_view(&s, &opts, DWELL_BY_THREAD, &view);
	view.analysis.source = source;
	dwell_health_read(&view.analysis, &health);
	view.analysis.source = NULL;
	assert_int_equal(health.kernel_count, 200);
	assert_int_equal(health.parsed, 190);
	dwell_source_close(source);
	dwell_view_release(&view);
	synth_release(&s);
}

/* Each of these alone is a loss to --strict. */
static void test_strict(void **state)
{
	const struct dwell_health fine = { .finished = true, .kernel_count = 9, .parsed = 9 };
	struct dwell_health health;

	(void)state;
	assert_false(dwell_health_lossy(&fine));
	health = fine;
	health.finished = false;
	assert_true(dwell_health_lossy(&health));
	health = fine;
	health.damaged = true;
	assert_true(dwell_health_lossy(&health));
	health = fine;
	health.parsed = 8;
	assert_true(dwell_health_lossy(&health));
	health = fine;
	health.late = 1;
	assert_true(dwell_health_lossy(&health));
	health = fine;
	health.unknown_ns[DWELL_UNKNOWN_MISSED] = 1;
	assert_true(dwell_health_lossy(&health));
	health = fine;
	health.unknown_ns[DWELL_UNKNOWN_NEVER_SEEN] = 1;
	assert_false(dwell_health_lossy(&health));
}

static void test_short_stack(void **state)
{
	static const struct {
		const char *stack, *expected;
	} cases[] = {
		{ "_start|__libc_start_main|main", "main" },
		{ "main|f|f|f|g", "g < f < main" },
		{ "main|a::b(std::vector<int>, char) const", "a::b < main" },
		{ "main|operator()(int)", "operator() < main" },
		{ "main|[unknown] (libc.so.6)|k:do_syscall_64|k:__x64_sys_fsync|k:schedule",
		  "main" },
		{ "main|touch|k:asm_exc_page_fault|k:exc_page_fault|k:io_schedule",
		  "page fault < touch < main" },
		{ "k:ret_from_fork|k:kthread|k:worker_thread|k:schedule|k:__schedule",
		  "worker_thread" },
		{ "k:schedule", "schedule" },
		{ "[no stack]", "[no stack]" },
		{ "[truncated]|main|f", "f < main" },
		{ "main|serve|__lll_lock_wait|k:do_syscall_64|k:__x64_sys_futex|k:futex_do_wait",
		  "futex < serve < main" },
		{ "main|serve|pthread_mutex_lock|__lll_lock_wait|k:__x64_sys_futex|k:schedule",
		  "pthread_mutex_lock < serve < main" },
		{ "main|serve|__lll_lock_wait", "serve < main" },
	};
	struct dwell_names_options none = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dwell_symbols_options raw = { .raw = true };
		struct dwell_symbols *symbols;
		struct dwell_names *names;
		struct synth s;
		uint32_t stack, node;
		char text[256];

		synth_init(&s, 0, 1);
		stack = synth_stack(&s, cases[i].stack);
		symbols = dwell_symbols_new(s.tables.strings, s.tables.stacks, &raw);
		names = dwell_names_new(s.tables.stacks, symbols, &none);
		assert_int_equal(dwell_names_stack(names, stack, &node), 0);
		dwell_short_stack(names, node, text, sizeof(text));
		assert_string_equal(text, cases[i].expected);
		dwell_names_free(names);
		dwell_symbols_free(symbols);
		synth_release(&s);
	}
}

static void test_width(void **state)
{
	static const struct {
		unsigned short columns;
		unsigned expected;
	} cases[] = { { 80, 80 }, { 40, 60 }, { 200, 100 }, { 0, 100 } };
	FILE *file = fopen("/dev/null", "w"), *terminal;
	int fd = posix_openpt(O_RDWR | O_NOCTTY);

	(void)state;
	assert_non_null(file);
	assert_int_equal(table_width(file), 100);
	fclose(file);
	assert_true(fd >= 0);
	assert_int_equal(grantpt(fd), 0);
	assert_int_equal(unlockpt(fd), 0);
	terminal = fopen(ptsname(fd), "w");
	assert_non_null(terminal);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct winsize size = { .ws_col = cases[i].columns };

		assert_int_equal(ioctl(fd, TIOCSWINSZ, &size), 0);
		assert_int_equal(table_width(terminal), cases[i].expected);
	}
	fclose(terminal);
	close(fd);
}

static void test_durations(void **state)
{
	static const struct {
		uint64_t ns;
		const char *expected;
	} cases[] = {
		{ 0, "0 ns" },
		{ 740, "740 ns" },
		{ 1000, "1.0 us" },
		{ 12345, "12 us" },
		{ 999999, "999 us" },
		{ 48 * MS, "48 ms" },
		{ 2199 * MS, "2.1 s" },
		{ 59999 * MS, "59 s" },
		{ 200000 * MS, "3 min 20 s" },
		{ 7500000 * MS, "2 h 5 min" },
	};
	char text[TEXT_NUMBER_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(text_duration(text, cases[i].ns), cases[i].expected);
	assert_string_equal(text_duration(text, UINT64_MAX), "5124095 h 34 min");
}

static void test_numbers(void **state)
{
	char text[TEXT_NUMBER_BYTES];

	(void)state;
	assert_string_equal(text_count(text, 0), "0");
	assert_string_equal(text_count(text, 999), "999");
	assert_string_equal(text_count(text, 5210), "5,210");
	assert_string_equal(text_count(text, 1234567), "1,234,567");
	assert_string_equal(text_share(text, 0, 10), "0%");
	assert_string_equal(text_share(text, 10, 10), "100%");
	assert_string_equal(text_share(text, 999999, 1000000), ">99.9%");
	assert_string_equal(text_share(text, 1, 1000000), "<0.1%");
	assert_string_equal(text_share(text, 61, 100), "61%");
	assert_string_equal(text_share(text, 34, 1000), "3.4%");
	assert_string_equal(text_bytes(text, 12), "12 B");
	assert_string_equal(text_bytes(text, 1234567), "1.2 MB");
	assert_string_equal(text_bytes(text, 999999), "1.0 MB");
}

static void test_fit(void **state)
{
	char text[64];

	(void)state;
	text_fit(text, sizeof(text), "abcdef", 4);
	assert_string_equal(text, "abc~");
	text_fit(text, sizeof(text), "\xc3\xa9\xc3\xa9\xc3\xa9", 2);
	assert_string_equal(text, "\xc3\xa9~");
	text_fit(text, sizeof(text), "ab", 4);
	assert_string_equal(text, "ab  ");
	/* Wide characters take two columns, combining marks none. */
	text_fit(text, sizeof(text), "\xe6\x97\xa5\xe6\x9c\xac", 5);
	assert_string_equal(text, "\xe6\x97\xa5\xe6\x9c\xac ");
	text_fit(text, sizeof(text), "\xe6\x97\xa5\xe6\x9c\xac", 3);
	assert_string_equal(text, "\xe6\x97\xa5~");
	text_fit(text, sizeof(text), "\xe6\x97\xa5\xe6\x9c\xac", 2);
	assert_string_equal(text, "~ ");
	assert_int_equal(text_columns("e\xcc\x81\xf0\x9f\x8e\x89"), 3);
}

static void test_time_range(void **state)
{
	static const struct {
		const char *text;
		uint64_t from_ns, to_ns;
	} cases[] = {
		{ "2s,5s", 102000 * MS, 105000 * MS },
		{ "2,5.5", 102000 * MS, 105500 * MS },
		{ "2s,", 102000 * MS, 0 },
		{ ",500ms", 0, 100500 * MS },
		{ "10%-20%", 101000 * MS, 102000 * MS },
		{ "50%,", 105000 * MS, 0 },
		{ "100.5,101.25", 100500 * MS, 101250 * MS },
		{ "08:00:01,08:00:02.5", 101000 * MS, 102500 * MS },
		{ "07:59:59,08:00:01", 99000 * MS, 101000 * MS },
	};
	static const char *const bad[] = { "",	     ",",     "5",	   "5s",
					   "x,y",    "5s,2s", "25:00:00,", "1%%,",
					   "-1s,2s", "120%,", "2s,5s,7s",  "1:2,3" };
	/* 2001-09-09 08:00:00 UTC */
	struct time_base base = { 100000 * MS, 110000 * MS, 1000022400ull * 1000 * MS };
	uint64_t from_ns, to_ns;

	(void)state;
	setenv("TZ", "UTC", 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		from_ns = to_ns = 0;
		assert_int_equal(time_range_check(cases[i].text, NULL), 0);
		assert_int_equal(time_range_resolve(cases[i].text, &base, &from_ns, &to_ns, NULL),
				 0);
		assert_int_equal(from_ns, cases[i].from_ns);
		assert_int_equal(to_ns, cases[i].to_ns);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(time_range_resolve(bad[i], &base, &from_ns, &to_ns, NULL),
				 -EINVAL);
	/* Wrong whatever the recording's time is, or only by it. */
	assert_int_equal(time_range_check("5s,2s", NULL), -EINVAL);
	assert_int_equal(time_range_check("5,2", NULL), -EINVAL);
	assert_int_equal(time_range_check("20%,20%", NULL), -EINVAL);
	assert_int_equal(time_range_check("23:59:59,00:00:01", NULL), 0);
	assert_int_equal(time_range_check("50%,2s", NULL), 0);
	base.realtime_ns = 0;
	assert_int_equal(time_range_resolve("08:00:01,", &base, &from_ns, &to_ns, NULL), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_summary_text),	cmocka_unit_test(test_summary_sums),
		cmocka_unit_test(test_threads_json),	cmocka_unit_test(test_summary_json),
		cmocka_unit_test(test_threads_text),	cmocka_unit_test(test_warnings),
		cmocka_unit_test(test_warnings_of_one), cmocka_unit_test(test_told),
		cmocka_unit_test(test_warning_wraps),	cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_strict),		cmocka_unit_test(test_short_stack),
		cmocka_unit_test(test_width),		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_numbers),		cmocka_unit_test(test_fit),
		cmocka_unit_test(test_threads_none),	cmocka_unit_test(test_time_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
