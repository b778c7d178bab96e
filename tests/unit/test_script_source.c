// SPDX-License-Identifier: MIT
/* perf-script text in memory becomes events: kinds, threads, weights, windows, and what is told
 * before the first event. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/synth/script.h"

/* Opened text: what it becomes is read with next(). */
struct opened {
	struct memory_input memory;
	struct dwell_source *source;
	const struct dwell_source_info *info;
};

static struct opened *text_open(const char *text, unsigned threads)
{
	struct opened *o = calloc(1, sizeof(*o));

	assert_non_null(o);
	o->memory = (struct memory_input){ (const uint8_t *)text, strlen(text), 0 };
	assert_int_equal(script_memory_open(&o->memory, threads, &o->source, NULL), 0);
	o->info = dwell_source_info(o->source);
	return o;
}

static void text_close(struct opened *o)
{
	dwell_source_close(o->source);
	free(o);
}

static const struct dwell_event *next(struct opened *o, uint8_t kind)
{
	const struct dwell_event *event;

	assert_int_equal(dwell_source_next(o->source, &event, NULL), 1);
	assert_int_equal(event->kind, kind);
	return event;
}

static void end(struct opened *o)
{
	const struct dwell_event *event;

	assert_int_equal(dwell_source_next(o->source, &event, NULL), 0);
	assert_true(o->info->finished);
}

static const char *string(struct opened *o, uint32_t id)
{
	return dwell_strings_get(dwell_source_strings(o->source), id);
}

static const struct dwell_thread *thread_of(struct opened *o, uint32_t index)
{
	return dwell_threads_get(dwell_source_threads(o->source), index);
}

/* The frames of a stack, leaf first, as "name,name". */
static const char *stack_text(struct opened *o, uint32_t stack)
{
	static char text[256];
	struct dwell_stacks *stacks = dwell_source_stacks(o->source);

	text[0] = '\0';
	for (; stack; stack = dwell_stacks_node(stacks, stack)->parent) {
		uint32_t frame = dwell_stacks_node(stacks, stack)->frame;

		if (text[0])
			strcat(text, ",");
		strcat(text, string(o, dwell_stacks_frame(stacks, frame)->symbol));
	}
	return text;
}

static void test_samples(void **state)
{
	struct opened *o =
		text_open("# hostname : box\n"
			  "a b 10/11 [001] 5.000001:     250000 cpu-clock: \n"
			  "\tffffffff8104f45a k+0x1 ([kernel.kallsyms])\n"
			  "\t            4005 f(int)+0x10 (/bin/a)\n"
			  "\t            4006 [unknown] (/bin/a)\n"
			  "\n"
			  "a b 10/11 [001] 5.000002:     250000 cycles:u: \r\n"
			  "\t            4005 f(int)+0x99 (/bin/a)\r\n"
			  "\r\n"
			  "c 0 [000] 5.000003: cycles:u:  ffffffff8104f45a k ([kernel.kallsyms])\n"
			  "nothing that is known\n"
			  "d 12 [000] 5.000004:          7 cycles:u:",
			  1);
	const struct dwell_event *event = next(o, DWELL_EVENT_SAMPLE);
	const struct dwell_event_desc *desc;
	uint32_t clock = event->u.sample.event;

	(void)state;
	assert_string_equal(dwell_source_fact(o->source, "host.name"), "box");
	assert_int_equal(o->info->start_ns, 5000001000);
	assert_false(o->info->has_switches);
	assert_int_equal(event->time_ns, 5000001000);
	assert_int_equal(event->cpu, 1);
	assert_int_equal(event->u.sample.weight, 250000);
	assert_int_equal(thread_of(o, event->thread)->pid, 10);
	assert_int_equal(thread_of(o, event->thread)->tid, 11);
	assert_string_equal(string(o, thread_of(o, event->thread)->comm), "a b");
	assert_string_equal(stack_text(o, event->stack), "k,f,[unknown] (a)");
	event = next(o, DWELL_EVENT_SAMPLE);
	assert_string_equal(stack_text(o, event->stack), "f");
	event = next(o, DWELL_EVENT_SAMPLE);
	assert_int_equal(event->thread, DWELL_THREAD_IDLE);
	assert_int_equal(event->u.sample.weight, 1);
	assert_string_equal(stack_text(o, event->stack), "k");
	event = next(o, DWELL_EVENT_SAMPLE);
	assert_int_equal(event->u.sample.weight, 7);
	assert_int_equal(event->stack, 0);
	desc = dwell_source_event_desc(o->source, clock);
	assert_string_equal(string(o, desc->name), "cpu-clock");
	assert_true(desc->is_clock);
	assert_int_equal(desc->unit, DWELL_UNIT_NS);
	desc = dwell_source_event_desc(o->source, event->u.sample.event);
	assert_string_equal(string(o, desc->name), "cycles:u");
	assert_int_equal(desc->unit, DWELL_UNIT_COUNT);
	end(o);
	assert_int_equal(o->info->end_ns, 5000004000);
	assert_int_equal(o->info->unknown_lines, 1);
	text_close(o);
}

static void test_inlined(void **state)
{
	struct opened *o = text_open("java 1 [000] 1.0: 1 cycles: \n"
				     "\t            4005 a->b->c (/tmp/perf-1.map)\n"
				     "\t            4006 in (inlined)\n"
				     "\t            4006 Lx/y/Z;::m (/tmp/perf-1.map)\n\n",
				     1);
	const struct dwell_event *event = next(o, DWELL_EVENT_SAMPLE);
	struct dwell_stacks *stacks = dwell_source_stacks(o->source);
	uint32_t frame = dwell_stacks_node(stacks, event->stack)->frame;

	(void)state;
	assert_string_equal(stack_text(o, event->stack), "c,b,a,in,x/y/Z;::m");
	assert_int_equal(dwell_stacks_file(stacks, dwell_stacks_frame(stacks, frame)->file)->kind,
			 DWELL_FILE_INLINED);
	text_close(o);
}

static const char switches[] =
	"swapper 0 [000] 1.0: sched:sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 "
	"prev_state=R ==> next_comm=a next_pid=7 next_prio=120\n"
	"a 7 [000] 2.0: sched:sched_waking: comm=b pid=8 prio=120 target_cpu=001\n"
	"a 7 [000] 3.0: sched:sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=X ==> "
	"next_comm=b next_pid=8 next_prio=120\n"
	"b 8 [000] 4.0: sched:sched_wakeup: comm=a pid=7 prio=120 target_cpu=000\n"
	"b 8 [000] 3.5: PERF_RECORD_LOST lost 5\n";

static void test_switches(void **state)
{
	struct opened *o = text_open(switches, 1);
	const struct dwell_event *event = next(o, DWELL_EVENT_SWITCH);
	uint32_t a;

	(void)state;
	assert_true(o->info->has_switches);
	assert_true(o->info->all_threads);
	assert_true(o->info->has_wakings);
	assert_null(o->info->no_switches_reason);
	assert_int_equal(event->thread, DWELL_THREAD_IDLE);
	a = event->u.sw.next;
	assert_int_equal(thread_of(o, a)->tid, 7);
	event = next(o, DWELL_EVENT_WAKING);
	assert_int_equal(event->u.wake.waker, a);
	assert_int_equal(event->u.wake.target_cpu, 1);
	assert_int_equal(thread_of(o, event->thread)->tid, 8);
	event = next(o, DWELL_EVENT_SWITCH);
	assert_int_equal(event->thread, a);
	assert_int_equal(event->u.sw.prev_state, DWELL_TASK_DEAD);
	assert_int_equal(thread_of(o, a)->died_ns, 3000000000);
	next(o, DWELL_EVENT_SAMPLE); /* there is sched_waking: a wakeup wakes nobody */
	event = next(o, DWELL_EVENT_GAP);
	assert_int_equal(event->time_ns, 4000000000); /* never back in time */
	assert_int_equal(event->u.gap.lost, 5);
	end(o);
	assert_int_equal(o->info->lost, 5);
	text_close(o);
}

static void test_no_waits(void **state)
{
	/* Of one process: it leaves and leaves, and never comes. */
	struct opened *o =
		text_open("a 7 [000] 1.0: sched:sched_switch: prev_comm=a prev_pid=7 prev_prio=120 "
			  "prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n"
			  "a 7 [000] 2.0: sched:sched_switch: prev_comm=a prev_pid=7 prev_prio=120 "
			  "prev_state=S ==> next_comm=b next_pid=9 next_prio=120\n"
			  "a 7 [000] 3.0: sched:sched_switch: prev_comm=a prev_pid=7 prev_prio=120 "
			  "prev_state=S ==> next_comm=b next_pid=9 next_prio=120\n",
			  1);

	(void)state;
	assert_false(o->info->has_switches);
	assert_non_null(strstr(o->info->no_switches_reason, "processes' own switches"));
	next(o, DWELL_EVENT_SWITCH);
	text_close(o);
	/* The switch alone does not tell whether it would have been that of any thread. */
	o = text_open("a 7 [000] 1.0: sched:sched_switch: a:7 [120] S ==> b:9 [120]\n", 1);
	assert_false(o->info->has_switches);
	assert_non_null(strstr(o->info->no_switches_reason, "too few"));
	text_close(o);
	/* Sampled by frequency. */
	o = text_open(
		"swapper 0 [000] 1.0: 3 sched:sched_switch: swapper/0:0 [120] R ==> a:7 [120]", 1);
	assert_false(o->info->has_switches);
	assert_non_null(o->info->no_switches_reason);
	text_close(o);
}

/* Switches out of idle among them, and hardly ever one that follows the one before: sampled, though
 * the text shows no period. */
static void test_sampled(void **state)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	struct opened *o;

	(void)state;
	assert_non_null(out);
	for (unsigned i = 1; i < 40; i++)
		fprintf(out,
			"a %u [000] 1.%06u: sched:sched_switch: a:%u [120] S ==> b:%u [120]\n\n"
			"swapper 0 [000] 1.%06u: sched:sched_switch: swapper:0 [120] R ==> c:%u [120]\n\n",
			i, 2 * i, i, i + 1000, 2 * i + 1, i + 2000);
	assert_int_equal(fclose(out), 0);
	o = text_open(text, 1);
	assert_false(o->info->has_switches);
	assert_non_null(strstr(o->info->no_switches_reason, "sampled"));
	text_close(o);
	free(text);
}

/* What is not printed gets a name; what cannot be is counted. */
static void test_odd_samples(void **state)
{
	static const char text[] = "a 7 1.000001:  4000 f (x)\n\n"
				   "a 7 1.000002: 18446744073709551615 cycles:\n\n"
				   "a 7 1.000003: 72057594037927936 cycles:\n"
				   "\tffffffff81000000 g ([kernel.kallsyms])\n"
				   "  [kernel.kallsyms][ffffffff81000000]\n\n";
	struct opened *o = text_open(text, 1);
	const struct dwell_event *event = next(o, DWELL_EVENT_SAMPLE);

	(void)state;
	assert_int_equal(event->time_ns, 1000001000);
	assert_string_equal(string(o, dwell_source_event_desc(o->source, 0)->name), "unnamed");
	event = next(o, DWELL_EVENT_SAMPLE);
	assert_int_equal(event->u.sample.weight, 1ull << 56);
	end(o);
	assert_int_equal(o->info->unknown_lines, 1);
	text_close(o);
}

/* ":8" stands for a name that perf does not know: it is nobody's, and no child inherits it. */
static void test_no_comm(void **state)
{
	static const char text[] = ":7 7/7 1.000001: 1 cycles:\n\n"
				   ":7 7/7 1.000002: PERF_RECORD_FORK(8:8):(7:7)\n"
				   "kid 8/8 1.000003: 1 cycles:\n\n"
				   ":8 8/8 1.000004: 1 cycles:\n\n";
	struct opened *o = text_open(text, 1);
	const struct dwell_event *event;

	(void)state;
	event = next(o, DWELL_EVENT_SAMPLE);
	assert_string_equal(string(o, thread_of(o, event->thread)->comm), ":7");
	event = next(o, DWELL_EVENT_FORK);
	assert_string_equal(string(o, thread_of(o, event->thread)->comm), "");
	event = next(o, DWELL_EVENT_SAMPLE);
	assert_string_equal(string(o, thread_of(o, event->thread)->comm), "kid");
	event = next(o, DWELL_EVENT_SAMPLE);
	assert_string_equal(string(o, thread_of(o, event->thread)->comm), "kid");
	end(o);
	text_close(o);
}

/* What the samples of a text without times and tids are, as "comm event stack;...". */
static void assert_bare(const char *text, const char *expected)
{
	struct opened *o = text_open(text, 1);
	const struct dwell_event *event;
	char said[512] = "";
	uint32_t comm = 0;
	int rc;

	assert_true(o->info->untimed);
	while ((rc = dwell_source_next(o->source, &event, NULL)) == 1) {
		if (event->kind == DWELL_EVENT_COMM)
			comm = event->u.comm.comm;
		if (event->kind != DWELL_EVENT_SAMPLE)
			continue;
		comm = comm ? comm : thread_of(o, event->thread)->comm;
		snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s %s %s;",
			 string(o, comm),
			 string(o, dwell_source_event_desc(o->source, event->u.sample.event)->name),
			 stack_text(o, event->stack));
		comm = 0;
	}
	assert_int_equal(rc, 0);
	assert_string_equal(said, expected);
	assert_int_equal(o->info->unknown_lines, 0);
	text_close(o);
}

static void test_bare(void **state)
{
	(void)state;
	/* -F ip,sym: the first line of a sample is empty. */
	assert_bare("\n\t    7fe9c487f645 leaf\n\tffffffff81000001 root (inlined)\n\n"
		    "\n\t           2724a main\n\n",
		    " unnamed leaf,root; unnamed main;");
	assert_bare("sh \n\t    7fe9c487f645 leaf\n\ndd add \n\n"
		    "a b c \n\t           2724a main\n\n",
		    "sh unnamed leaf;dd add unnamed ;a b c unnamed main;");
	assert_bare("cycles:u: \n\t    7fe9c487f645 leaf\n\nraw 0x1a8: \n\t               1 b\n",
		    " cycles:u leaf; raw 0x1a8 b;");
	assert_bare("a b          2 x:y: p=1 q:  \n\t    7fe9c487f645 leaf\n  a.c:12\n\n",
		    "a b x:y leaf;");
	/* Without call chains a sample is one line. */
	assert_bare("     7fe9c487f645 leaf\n ffffffff81000001 root\n",
		    " unnamed leaf; unnamed root;");
	assert_bare("              sh      7fe9c487f645 leaf\n"
		    "          a 1 b ffffffff81000001 x: y\n",
		    "sh unnamed leaf;a 1 b unnamed x: y;");
}

/* What is hardly text of perf is refused. */
static void test_hardly_text(void **state)
{
	static const char *const texts[] = {
		"Words.\n\nOf 4 threads:\nmore\nand more\nof it.\n",
		"name                          12 x\nb                              7 y\n",
		"\taddress\n\t0000 x\n",
		"total 5\n              sh      7fe9c487f645 leaf\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct memory_input memory = { (const uint8_t *)texts[i], strlen(texts[i]), 0 };
		struct dwell_source *source;

		if (!script_memory_open(&memory, 1, &source, NULL))
			fail_msg("taken for text: %s", texts[i]);
	}
}

/* A thread that exits has tid -1 in its last lines: the switch before tells who it is. Before any
 * switch nobody can tell, and a record about nobody is none. */
static void test_exited(void **state)
{
	struct opened *o = text_open(
		":-1 -1/-1 [001] 0.5: PERF_RECORD_SWITCH_CPU_WIDE OUT next pid/tid: 8/8\n"
		"w 7/7 [001] 1.0: PERF_RECORD_SWITCH_CPU_WIDE IN prev pid/tid: 0/0\n"
		":-1 -1/-1 [001] 2.0: 250000 cpu-clock:\n\t1 f\n\n"
		":-1 -1/-1 [001] 2.5: sched:sched_waking: comm=v pid=9 prio=120 target_cpu=001\n\n"
		":-1 -1 [001] 3.0: sched:sched_switch: prev_comm=w prev_pid=7 prev_prio=120 "
		"prev_state=X ==> next_comm=v next_pid=8 next_prio=120\n\n"
		":-1 -1/-1 [001] 3.1: PERF_RECORD_SWITCH_CPU_WIDE OUT next pid/tid: 8/8\n"
		"v 8/8 [001] 3.2: PERF_RECORD_SWITCH_CPU_WIDE IN prev pid/tid: 7/-1\n",
		1);
	uint32_t w;

	(void)state;
	next(o, DWELL_EVENT_CPU);
	w = next(o, DWELL_EVENT_SWITCH_IN)->thread;
	assert_int_equal(thread_of(o, w)->tid, 7);
	assert_int_equal(next(o, DWELL_EVENT_SAMPLE)->thread, w);
	assert_int_equal(next(o, DWELL_EVENT_WAKING)->u.wake.waker, w);
	assert_int_equal(next(o, DWELL_EVENT_SWITCH)->thread, w);
	assert_int_equal(next(o, DWELL_EVENT_SWITCH_OUT)->thread, w);
	assert_int_equal(thread_of(o, next(o, DWELL_EVENT_SWITCH_IN)->thread)->tid, 8);
	end(o);
	assert_string_equal(string(o, thread_of(o, w)->comm), "w");
	assert_int_equal(dwell_threads_find(dwell_source_threads(o->source), -1),
			 DWELL_THREAD_NONE);
	text_close(o);
}

static void test_records(void **state)
{
	struct opened *o = text_open("swapper 0 [000] 0.0: PERF_RECORD_COMM: init:1/1\n"
				     "a 7/7 [000] 1.0: PERF_RECORD_SWITCH OUT\n"
				     "a 7/7 [000] 2.0: PERF_RECORD_SWITCH IN\n"
				     "a 7/7 [000] 3.0: PERF_RECORD_FORK(8:8):(7:7)\n"
				     "a 8/8 [000] 4.0: PERF_RECORD_COMM exec: b:8/8\n"
				     "b 8/8 [000] 5.0: PERF_RECORD_EXIT(8:8):(7:7)\n",
				     1);
	const struct dwell_event *event = next(o, DWELL_EVENT_SWITCH_OUT);

	(void)state;
	assert_true(o->info->has_switches);
	assert_int_equal(o->info->late, 0);
	next(o, DWELL_EVENT_SWITCH_IN);
	event = next(o, DWELL_EVENT_FORK);
	assert_int_equal(thread_of(o, event->u.fork.parent)->tid, 7);
	event = next(o, DWELL_EVENT_COMM);
	assert_true(event->u.comm.exec);
	assert_string_equal(string(o, event->u.comm.comm), "b");
	event = next(o, DWELL_EVENT_EXIT);
	assert_int_equal(thread_of(o, event->thread)->tid, 8);
	end(o);
	text_close(o);
}

static void test_not_text(void **state)
{
	static const char *const texts[] = { "hello\nworld\n", "x", "a;b;c 12\n",
					     "# only : this\n" };
	struct dwell_source *source;

	(void)state;
	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct memory_input memory = { (const uint8_t *)texts[i], strlen(texts[i]), 0 };
		struct dwell_err err = { 0 };

		assert_int_equal(script_memory_open(&memory, 1, &source, &err), -EINVAL);
		assert_non_null(strstr(err.msg, "not a dwell trace"));
	}
}

/* Many chunks, two threads: nothing is lost at the cuts, and all is in order. */
static void test_threads(void **state)
{
	enum { SAMPLES = 40000, BYTES = 200 };
	char *text = malloc((size_t)SAMPLES * BYTES), *at = text;

	(void)state;
	assert_non_null(text);
	for (int i = 0; i < SAMPLES; i++)
		at += sprintf(at,
			      "t %d [000] %d.%06d: 1 cycles: \n"
			      "\tffffffff81000000 leaf_%d ([kernel.kallsyms])\n"
			      "\t            4005 root (/bin/a)\n\n",
			      100 + i % 7, i / 1000000 + 1, i % 1000000, i % 1000);
	for (unsigned threads = 1; threads <= 3; threads++) {
		struct opened *o = text_open(text, threads);

		for (int i = 0; i < SAMPLES; i++) {
			const struct dwell_event *event = next(o, DWELL_EVENT_SAMPLE);
			char name[64];

			snprintf(name, sizeof(name), "leaf_%d,root", i % 1000);
			assert_string_equal(stack_text(o, event->stack), name);
			assert_int_equal(thread_of(o, event->thread)->tid, 100 + i % 7);
		}
		end(o);
		assert_int_equal(o->info->unknown_lines, 0);
		text_close(o);
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),	 cmocka_unit_test(test_inlined),
		cmocka_unit_test(test_switches), cmocka_unit_test(test_no_waits),
		cmocka_unit_test(test_bare),	 cmocka_unit_test(test_hardly_text),
		cmocka_unit_test(test_exited),	 cmocka_unit_test(test_records),
		cmocka_unit_test(test_not_text), cmocka_unit_test(test_threads),
		cmocka_unit_test(test_sampled),	 cmocka_unit_test(test_odd_samples),
		cmocka_unit_test(test_no_comm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
