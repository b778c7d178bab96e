// SPDX-License-Identifier: MIT
/* Events in memory become folded text, which is compared byte by byte: states, escaping, order,
 * summing, and that the files agree with each other and with the books. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/folded.h"
#include "tests/synth/events.h"

struct fold {
	struct filter_opts opts;
	enum dwell_group_by by;
	enum dwell_mode mode;
};

/* The folded text of s; the caller frees it. */
static char *fold(struct synth *s, const struct fold *how)
{
	struct dwell_err err = { 0 };
	struct folded folded = { 0 };
	struct dwell_view view;
	char *text = NULL;
	size_t bytes = 0;

	synth_view(s, &how->opts, how->by, &view);
	folded.out = open_memstream(&text, &bytes);
	assert_non_null(folded.out);
	assert_int_equal(dwell_sink_walk(&view, how->mode, how->opts.filter.states != 0,
					 &folded_ops, &folded, &err),
			 0);
	fclose(folded.out);
	folded_release(&folded);
	dwell_view_release(&view);
	return text;
}

static void assert_fold(struct synth *s, struct fold how, const char *expected)
{
	char *text = fold(s, &how);

	assert_string_equal(text, expected);
	free(text);
	dwell_filter_release(&how.opts.filter);
}

static uint64_t sum_of(struct synth *s, struct fold how)
{
	char *text = fold(s, &how), *line = text, *end;
	uint64_t sum = 0;

	for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		*end = '\0';
		sum += strtoull(strrchr(line, ' ') + 1, NULL, 10);
	}
	free(text);
	dwell_filter_release(&how.opts.filter);
	return sum;
}

static struct fold with_states(enum dwell_mode mode, const char *states)
{
	struct fold how = { .mode = mode };

	assert_int_equal(dwell_filter_add_states(&how.opts.filter, states, NULL), 0);
	return how;
}

/* One worker: runs [1000, 1400), waits for a lock [1400, 2000), for a CPU [2000, 2100), runs to
 * 2500 and is preempted to the window's end at 3000. The other thread has the CPU between. */
static void build_worker(struct synth *s)
{
	uint32_t worker, other, lock, loop;

	synth_init(s, 1000, 3000);
	worker = synth_thread(s, 10, 11, "worker");
	other = synth_thread(s, 20, 20, "other");
	dwell_threads_get(s->tables.threads, other)->observed = false;
	lock = synth_stack(s, "main|lock|k:futex_wait");
	loop = synth_stack(s, "main|loop");
	synth_switch(s, 1000, other, DWELL_TASK_INTERRUPTIBLE, 0, worker);
	synth_sample(s, 1100, worker, loop, 300);
	synth_sample(s, 1200, worker, synth_stack(s, "main|j:jitted"), 100);
	synth_switch(s, 1400, worker, DWELL_TASK_INTERRUPTIBLE, lock, other);
	synth_waking(s, 2000, worker, other);
	synth_switch(s, 2100, other, DWELL_TASK_INTERRUPTIBLE, 0, worker);
	synth_switch(s, 2500, worker, DWELL_TASK_RUNNING, loop, other);
}

static void test_wall(void **state)
{
	struct synth s;

	(void)state;
	build_worker(&s);
	assert_fold(&s, (struct fold){ .mode = DWELL_MODE_WALL },
		    "worker;[blocked];main;lock;futex_wait_[k] 600\n"
		    "worker;[on-cpu];main;jitted_[j] 200\n"
		    "worker;[on-cpu];main;loop 600\n"
		    "worker;[runnable];main;lock;futex_wait_[k] 100\n"
		    "worker;[runnable];main;loop 500\n");
	synth_release(&s);
}

static void test_on_and_off(void **state)
{
	struct synth s;

	(void)state;
	build_worker(&s);
	assert_fold(&s, (struct fold){ .mode = DWELL_MODE_ON },
		    "worker;main;jitted_[j] 200\nworker;main;loop 600\n");
	assert_fold(&s, (struct fold){ .mode = DWELL_MODE_OFF },
		    "worker;main;lock;futex_wait_[k] 600\n");
	assert_fold(&s, with_states(DWELL_MODE_OFF, "runnable"),
		    "worker;main;lock;futex_wait_[k] 100\nworker;main;loop 500\n");
	assert_fold(&s, with_states(DWELL_MODE_OFF, "D"), "");
	synth_release(&s);
}

static void test_groups(void **state)
{
	struct synth s;

	(void)state;
	build_worker(&s);
	assert_fold(&s, (struct fold){ .mode = DWELL_MODE_OFF, .by = DWELL_BY_PROCESS },
		    "worker-10;main;lock;futex_wait_[k] 600\n");
	assert_fold(&s, (struct fold){ .mode = DWELL_MODE_OFF, .by = DWELL_BY_THREAD },
		    "worker-10/11;main;lock;futex_wait_[k] 600\n");
	assert_fold(&s, (struct fold){ .mode = DWELL_MODE_OFF, .by = DWELL_BY_CGROUP },
		    "[no cgroup];main;lock;futex_wait_[k] 600\n");
	dwell_threads_get(s.tables.threads, 1)->cgroup = synth_string(&s, "/system.slice/app;1");
	assert_fold(&s, (struct fold){ .mode = DWELL_MODE_OFF, .by = DWELL_BY_CGROUP },
		    "/system.slice/app:1;main;lock;futex_wait_[k] 600\n");
	synth_release(&s);
}

static void test_user_and_kernel(void **state)
{
	struct synth s;

	(void)state;
	build_worker(&s);
	assert_fold(&s, (struct fold){ .mode = DWELL_MODE_OFF, .opts.user_only = true },
		    "worker;main;lock 600\n");
	assert_fold(&s, (struct fold){ .mode = DWELL_MODE_OFF, .opts.kernel_only = true },
		    "worker;futex_wait_[k] 600\n");
	assert_fold(&s, (struct fold){ .mode = DWELL_MODE_OFF, .opts.delimited = true },
		    "worker;main;lock;-;futex_wait_[k] 600\n");
	assert_fold(&s, (struct fold){ .mode = DWELL_MODE_ON, .opts.kernel_only = true },
		    "worker 800\n");
	synth_release(&s);
}

/* A comm spelled like a kernel frame changes nothing about that frame. */
static void test_names_lie(void **state)
{
	struct synth s;
	uint32_t thread;

	(void)state;
	synth_init(&s, 0, 100);
	thread = synth_thread(&s, 1, 1, "futex_wait_[k]");
	synth_switch(&s, 0, thread, DWELL_TASK_INTERRUPTIBLE, synth_stack(&s, "main|k:futex_wait"),
		     DWELL_THREAD_IDLE);
	assert_fold(&s, (struct fold){ .mode = DWELL_MODE_OFF, .opts.user_only = true },
		    "futex_wait_[k];main 100\n");
	assert_fold(&s, (struct fold){ .mode = DWELL_MODE_OFF, .opts.delimited = true },
		    "futex_wait_[k];main;-;futex_wait_[k] 100\n");
	synth_release(&s);
}

/* The law of the files: the states' parts sum to the wall, and the wall to the observed time. */
static void test_files_agree(void **state)
{
	struct synth s;
	struct dwell_event *gap;
	uint64_t wall;

	(void)state;
	build_worker(&s);
	gap = synth_event(&s, 2900, DWELL_EVENT_GAP, DWELL_THREAD_NONE);
	gap->u.gap.from_ns = 2700;
	gap->u.gap.lost = 5;
	wall = sum_of(&s, (struct fold){ .mode = DWELL_MODE_WALL });
	assert_int_equal(wall, 2000);
	assert_true(sum_of(&s, with_states(DWELL_MODE_WALL, "unknown")) > 0);
	assert_int_equal(sum_of(&s, (struct fold){ .mode = DWELL_MODE_ON }) +
				 sum_of(&s, (struct fold){ .mode = DWELL_MODE_OFF }) +
				 sum_of(&s, with_states(DWELL_MODE_OFF, "runnable")) +
				 sum_of(&s, with_states(DWELL_MODE_OFF, "unknown")),
			 wall);
	synth_release(&s);
}

/* Never switched, no reading of /proc: nothing is known, and that is said. */
static void test_unknown(void **state)
{
	struct synth s;

	(void)state;
	synth_init(&s, 0, 500);
	synth_thread(&s, 1, 1, "ghost");
	assert_fold(&s, (struct fold){ .mode = DWELL_MODE_WALL },
		    "ghost;[unknown];[never seen] 500\n");
	synth_release(&s);
}

static void test_not_sampled(void **state)
{
	struct synth s;
	uint32_t a, b;

	(void)state;
	synth_init(&s, 0, 300);
	a = synth_thread(&s, 1, 1, "a");
	b = synth_thread(&s, 2, 2, "b");
	synth_switch(&s, 0, b, DWELL_TASK_INTERRUPTIBLE, 0, a);
	synth_switch(&s, 100, a, DWELL_TASK_UNINTERRUPTIBLE, 0, b);
	synth_sample(&s, 200, b, 0, 100);
	assert_fold(&s, (struct fold){ .mode = DWELL_MODE_WALL },
		    "a;[blocked];[no stack] 200\n"
		    "a;[on-cpu];[not sampled] 100\n"
		    "b;[blocked];[no stack] 100\n"
		    "b;[on-cpu];[no stack] 200\n");
	synth_release(&s);
}

/* Names that would break the format, in comms and in frames. */
static void test_escaping(void **state)
{
	static const struct {
		const char *comm, *frame, *expected;
	} cases[] = {
		{ "a;b", "std::v<int;4>", "a:b;std::v<int:4> 100\n" },
		{ "tab\there", "new\nline\x1b[31m", "tab?here;new?line?[31m 100\n" },
		{ "web 12", "foo 7", "web 12_;foo 7_ 100\n" },
		{ "web12", "foo7", "web12;foo7 100\n" },
		{ "", "12", ":1;12 100\n" }, /* nobody told its name */
		{ "caf\xc3\xa9", "bad\xff\xc3", "caf\xc3\xa9;bad?? 100\n" },
		{ "csi\xc2\x9bm", "surrogate\xed\xa0\x80", "csi?m;surrogate??? 100\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct synth s;
		uint32_t thread, stack;

		synth_init(&s, 0, 100);
		thread = synth_thread(&s, 1, 1, cases[i].comm);
		stack = synth_stack(&s, cases[i].frame);
		synth_switch(&s, 0, thread, DWELL_TASK_INTERRUPTIBLE, stack, DWELL_THREAD_IDLE);
		assert_fold(&s, (struct fold){ .mode = DWELL_MODE_OFF }, cases[i].expected);
		synth_release(&s);
	}
}

/* Frames of one function at other offsets are one line; lines differ where bytes do. */
/* Times that no clock shows: the sum of two threads' does not fit, and must not wrap. */
static void test_no_sum_wraps(void **state)
{
	struct filter_opts opts = { 0 };
	struct dwell_analysis_options options = { 0 };
	struct dwell_analysis analysis = { 0 };
	struct dwell_err err = { 0 };
	struct synth s;

	(void)state;
	synth_init(&s, 0, UINT64_MAX);
	synth_thread(&s, 1, 1, "one");
	synth_thread(&s, 2, 2, "two");
	assert_int_equal(dwell_analysis_begin(&analysis, &s.tables, &s.info, &opts.filter, &options,
					      &err),
			 0);
	assert_int_equal(dwell_analysis_finish(&analysis, &s.info, &err), -EOVERFLOW);
	dwell_analysis_release(&analysis);
	synth_release(&s);
}

static void test_summing_and_order(void **state)
{
	static const char *const stacks[] = { "z", "a|b", "a", "ab", "a!", "a|b", "A|b" };
	struct synth s;
	uint64_t at = 0;
	uint32_t thread;

	(void)state;
	synth_init(&s, 0, 7 * 30);
	thread = synth_thread(&s, 1, 1, "t");
	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++, at += 30) {
		uint32_t stack = synth_stack_at(&s, stacks[i], i);

		synth_switch(&s, at, thread, DWELL_TASK_INTERRUPTIBLE, stack, DWELL_THREAD_IDLE);
		synth_switch(&s, at + 10 + i, DWELL_THREAD_IDLE, DWELL_TASK_RUNNING, 0, thread);
	}
	assert_fold(&s, (struct fold){ .mode = DWELL_MODE_OFF },
		    "t;A;b 16\n"
		    "t;a 12\n"
		    "t;a! 14\n"
		    "t;a;b 26\n"
		    "t;ab 13\n"
		    "t;z 10\n");
	synth_release(&s);
}

/* The text must not depend on the order in which rows came to be. */
static void test_deterministic(void **state)
{
	static const char *const names[] = { "m|x", "m|y", "m|k:z" };
	char *texts[2];

	(void)state;
	for (int turn = 0; turn < 2; turn++) {
		struct fold how = { .mode = DWELL_MODE_WALL };
		struct synth s;

		synth_init(&s, 0, 100);
		for (int i = 0; i < 3; i++) {
			int at = turn ? 2 - i : i;
			uint32_t thread = synth_thread(&s, 1, 10 + at, "same");
			struct dwell_event *event = synth_event(&s, 0, DWELL_EVENT_SWITCH, thread);

			event->cpu = (uint32_t)at;
			event->stack = synth_stack(&s, names[at]);
			event->u.sw.next = DWELL_THREAD_IDLE;
			event->u.sw.prev_state = DWELL_TASK_INTERRUPTIBLE;
		}
		texts[turn] = fold(&s, &how);
		synth_release(&s);
	}
	assert_string_equal(texts[0], texts[1]);
	assert_non_null(strstr(texts[0], "same;[blocked];m;z_[k] 100\n"));
	free(texts[0]);
	free(texts[1]);
}

/* --time clips, --min looks at whole intervals, --comm at names. */
static void test_filters(void **state)
{
	struct fold how = { .mode = DWELL_MODE_WALL };
	struct synth s;

	(void)state;
	build_worker(&s);
	how.opts.filter.from_ns = 1900;
	how.opts.filter.to_ns = 2050;
	assert_fold(&s, how,
		    "worker;[blocked];main;lock;futex_wait_[k] 100\n"
		    "worker;[runnable];main;lock;futex_wait_[k] 50\n");
	how = (struct fold){ .mode = DWELL_MODE_OFF, .opts.filter.min_ns = 601 };
	assert_fold(&s, how, "");
	how = (struct fold){ .mode = DWELL_MODE_OFF };
	assert_int_equal(dwell_filter_add_comms(&how.opts.filter, "x*", NULL), 0);
	assert_fold(&s, how, "");
	synth_release(&s);
}

/* Samples without scheduler events: each stands for its period. */
static void test_samples_alone(void **state)
{
	struct synth s;
	uint32_t thread;

	(void)state;
	synth_init(&s, 0, 1000);
	s.info.has_switches = s.info.has_wakings = false;
	thread = synth_thread(&s, 1, 1, "t");
	synth_sample(&s, 100, thread, synth_stack(&s, "main|a"), 100);
	synth_sample(&s, 200, thread, synth_stack(&s, "main|b"), 100);
	synth_sample(&s, 900, thread, synth_stack(&s, "main|a"), 100);
	assert_fold(&s, (struct fold){ .mode = DWELL_MODE_WALL },
		    "t;[on-cpu];main;a 200\nt;[on-cpu];main;b 100\n");
	synth_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wall),
		cmocka_unit_test(test_on_and_off),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_user_and_kernel),
		cmocka_unit_test(test_names_lie),
		cmocka_unit_test(test_files_agree),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_not_sampled),
		cmocka_unit_test(test_escaping),
		cmocka_unit_test(test_no_sum_wraps),
		cmocka_unit_test(test_summing_and_order),
		cmocka_unit_test(test_deterministic),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_samples_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
