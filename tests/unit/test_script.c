// SPDX-License-Identifier: MIT
/* The grammar of perf-script text, line by line: every form that perf prints, and lines that only
 * look like one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "parse/perf/script.h"

static struct dwell_slice slice(const char *text)
{
	return (struct dwell_slice){ text, (uint32_t)strlen(text) };
}

static void assert_slice(struct dwell_slice text, const char *expected)
{
	assert_int_equal(text.bytes, strlen(expected));
	assert_memory_equal(text.at, expected, text.bytes);
}

/* What a header line must say; zero means not printed. */
struct header_case {
	const char *line, *comm, *event, *rest;
	int32_t pid, tid;
	uint32_t cpu;
	bool timed, period_shown;
	uint64_t time_ns, period;
};

enum { NO = DWELL_SCRIPT_NO_ID };
#define NO_CPU DWELL_SCRIPT_NO_CPU

static const struct header_case headers[] = {
	{ "perf 12/13 [001] 5.000001:     250000 cpu-clock: ", "perf", "cpu-clock", "", 12, 13, 1,
	  true, true, 5000001000, 250000 },
	{ "java  8192 [000]  5076.100000: cpu-clock: ", "java", "cpu-clock", "", NO, 8192, 0, true,
	  false, 5076100000000, 0 },
	{ "func_ab 15285 28075374.517811: cpu-clock:", "func_ab", "cpu-clock", "", NO, 15285,
	  NO_CPU, true, false, 28075374517811000, 0 },
	{ "a 1 [000] 1.123456789: 1 cycles:u: ", "a", "cycles:u", "", NO, 1, 0, true, true,
	  1123456789, 1 },
	{ "func_ab 15294 cpu-clock: ", "func_ab", "cpu-clock", "", NO, 15294, NO_CPU, false, false,
	  0, 0 },
	{ "Thread 7 12/13     [002] 7.5:          1 cycles:", "Thread 7", "cycles", "", 12, 13, 2,
	  true, true, 7500000000, 1 },
	{ "kworker/0:1    18 [000] 1.0: sched:sched_switch: x", "kworker/0:1", "sched:sched_switch",
	  "x", NO, 18, 0, true, false, 1000000000, 0 },
	{ "a [1] 2: 3 [003] 4.5: 1 cycles:", "a [1] 2:", "cycles", "", NO, 3, 3, true, true,
	  4500000000, 1 },
	/* A comm that is a header itself. */
	{ "x 1 1.5: e: 7/8 [000] 2.5: 1 cycles:", "x 1 1.5: e:", "cycles", "", 7, 8, 0, true, true,
	  2500000000, 1 },
	/* A time in trace text is not the line's. */
	{ "a 3 [000] 4.5: ftrace:print: b 9 [001] 6.5: bla", "a", "ftrace:print",
	  "b 9 [001] 6.5: bla", NO, 3, 0, true, false, 4500000000, 0 },
	{ ":-1   106/-1    [-01]    10.482799:          1 cycles:", ":-1", "cycles", "", 106, -1,
	  NO_CPU, true, true, 10482799000, 1 },
	{ "  2/2\t\t[000] 0.0:\t\t\t1 event_name: properties", "", "event_name", "properties", 2, 2,
	  0, true, true, 0, 1 },
	{ "Gecko\t25122 [007] 115539.936601:\t\t1000000 task-clock:u:", "Gecko", "task-clock:u", "",
	  NO, 25122, 7, true, true, 115539936601000, 1000000 },
	{ "perf 12 [001] K     5.0: 1 cycles:", "perf", "cycles", "", NO, 12, 1, true, true,
	  5000000000, 1 },
	{ "VM: 1234 VCPU:003 perf 12 [001] 5.0: 1 cycles:", "perf", "cycles", "", NO, 12, 1, true,
	  true, 5000000000, 1 },
	{ "a 1 [000] 1.0: 7 raw 0x533079:  ffff", "a", "raw 0x533079", "ffff", NO, 1, 0, true, true,
	  1000000000, 7 },
	{ "a 1 [000] 1.0: 7 cpu/event=0x3c,umask=0/: ", "a", "cpu/event=0x3c,umask=0/", "", NO, 1,
	  0, true, true, 1000000000, 7 },
	{ "a 1970-01-02 00:00:01.5 1.0: 7 cycles:", "a", "cycles", "", NO, NO, NO_CPU, true, true,
	  1000000000, 7 },
	{ "a 1 [000] 1970-01-02 00:00:01.500000 7 cycles: ", "a", "cycles", "", NO, 1, 0, true,
	  true, 86401500000000, 7 },
	{ "a 12       1000 cycles: ", "a", "cycles", "", NO, 12, NO_CPU, false, true, 0, 1000 },
	{ "Thread 7 12 cycles: ", "Thread 7", "cycles", "", NO, 12, NO_CPU, false, false, 0, 0 },
	{ "a 1 [000] 1.0:", "a", "", "", NO, 1, 0, true, false, 1000000000, 0 },
	{ "a 1.0: cycles:", "a", "cycles", "", NO, NO, NO_CPU, true, false, 1000000000, 0 },
	{ "a 1 [000] 1.0: cycles:\r", "a", "cycles", "", NO, 1, 0, true, false, 1000000000, 0 },
};

static void test_headers(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		const struct header_case *c = &headers[i];
		struct dwell_script_header h;

		print_message("# %s\n", c->line);
		assert_true(dwell_script_header_parse(slice(c->line), &h));
		assert_slice(h.comm, c->comm);
		assert_slice(h.event, c->event);
		assert_slice(h.rest, c->rest);
		assert_int_equal(h.pid, c->pid);
		assert_int_equal(h.tid, c->tid);
		assert_int_equal(h.cpu, c->cpu);
		assert_int_equal(h.has_time, c->timed);
		assert_int_equal(h.has_period, c->period_shown);
		if (c->timed)
			assert_int_equal(h.time_ns, c->time_ns);
		if (c->period_shown)
			assert_int_equal(h.period, c->period);
	}
}

static void test_no_headers(void **state)
{
	static const char *const lines[] = {
		"",
		":",
		"\t    7fa4b39f24f8 foo::bar (/usr/lib/libc.so.6)",
		"  main.c:12",
		"foo: bar",
		"PERF_RECORD_MMAP2 12/12: [0x301000(0x1000) @ 0 00:1d 2 1]: r-xp /a",
		"13a80b608e0a LazyCompile:~body_0 evalmachine.<anonymous>:1 (/tmp/perf-1.map)",
		"a 99999999999 cycles: ",
		"a 1 [000] 99999999999.0: x",
	};
	struct dwell_script_header h;

	(void)state;
	for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		print_message("# %s\n", lines[i]);
		assert_false(dwell_script_header_parse(slice(lines[i]), &h));
	}
}

static void test_frames(void **state)
{
	static const struct {
		const char *line, *symbol, *dso;
		bool inlined;
	} cases[] = {
		{ "\tffffffff8104f45a do_x+0x1f ([kernel.kallsyms])", "do_x", "[kernel.kallsyms]",
		  false },
		{ "ffffffff8104f45a do_x ([kernel.kallsyms])", "do_x", "[kernel.kallsyms]", false },
		{ "\t            4005 operator new(unsigned long) (/a b/lib c.so (deleted))",
		  "operator new(unsigned long)", "/a b/lib c.so (deleted)", false },
		{ "\t            4005 [unknown] ([unknown])", "", "", false },
		{ "\t            4005 [unknown] (/usr/lib/libc.so.6)", "", "/usr/lib/libc.so.6",
		  false },
		{ "\t            4005 foo(int) (inlined)", "foo(int)", "", true },
		{ "\t            4005 Lorg/a/B;::c (/tmp/perf-12.map)", "Lorg/a/B;::c",
		  "/tmp/perf-12.map", false },
		{ "\t            4005 f+0x10 (/a/b+0x1234)", "f", "/a/b", false },
		{ "        b3cea6c4\tLock::unlock() (/system/lib/libc.so)", "Lock::unlock()",
		  "/system/lib/libc.so", false },
		{ "\t            4005", "", "", false },
		{ "\t            4005 main", "main", "", false },
		{ "\t            4005 f (/a/we)ird)", "f", "/a/we)ird", false },
		{ "\t            4005 start (/lib/cut", "start", "/lib/cut", false },
		{ "\taddress symbol (module)\r", "symbol", "module", false },
	};
	struct dwell_script_frame frame;
	struct dwell_slice tail;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("# %s\n", cases[i].line);
		assert_true(dwell_script_frame_split(slice(cases[i].line), &tail));
		dwell_script_frame_parse(tail, &frame);
		assert_slice(frame.symbol, cases[i].symbol);
		assert_slice(frame.dso, cases[i].dso);
		assert_int_equal(frame.inlined, cases[i].inlined);
	}
	assert_false(dwell_script_frame_split(slice("  main.c:12"), &tail));
	assert_false(dwell_script_frame_split(slice("\t0123456789abcdef0 too long"), &tail));
	assert_true(dwell_script_frame_split(slice("\t            4005 (cookie)"), &tail));
	dwell_script_frame_parse(tail, &frame);
	assert_true(frame.cookie);
}

static void test_rest_frames(void **state)
{
	struct dwell_slice rest = slice("comm=a pid=3 prio=120 target_cpu=031 ffffffff8bad311d "
					"ttwu (x)");
	struct dwell_slice tail;

	(void)state;
	assert_true(dwell_script_rest_frame(&rest, &tail));
	assert_slice(rest, "comm=a pid=3 prio=120 target_cpu=031");
	assert_slice(tail, " ttwu (x)");
	rest = slice("7fa68b1f2d84 _dl_start+0x4 (/usr/lib/ld.so)");
	assert_true(dwell_script_rest_frame(&rest, &tail));
	assert_slice(tail, " _dl_start+0x4 (/usr/lib/ld.so)");
	rest = slice("comm=fade pid=3 prio=120");
	assert_false(dwell_script_rest_frame(&rest, &tail));
}

static void test_names(void **state)
{
	static const char *const names[][2] = {
		{ "foo(int, char)", "foo" },
		{ "foo", "foo" },
		{ "a::(anonymous namespace)::b(int)", "a::(anonymous namespace)::b" },
		{ "(anonymous namespace)::b()", "(anonymous namespace)::b" },
		{ "std::function<void (int)>::operator()(int) const",
		  "std::function<void (int)>::operator()" },
		{ "operator<(A const&, B const&)", "operator<" },
		{ "A::operator->() const", "A::operator->" },
		{ "net/http.(*Client).Do", "net/http.(*Client).Do" },
		{ "<T as a::B>::c", "<T as a::B>::c" },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_slice(dwell_script_name(slice(names[i][0])), names[i][1]);
}

static void test_switches(void **state)
{
	static const struct {
		const char *text, *prev, *next;
		int32_t prev_tid, next_tid;
		uint8_t state;
		bool preempted;
	} cases[] = {
		{ "prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=b next_pid=2 "
		  "next_prio=120",
		  "a", "b", 1, 2, DWELL_TASK_INTERRUPTIBLE, false },
		{ "prev_comm=x prev_pid=9 y prev_pid=1 prev_prio=120 prev_state=R+ ==> "
		  "next_comm= ==> next_comm= next_pid=2 next_prio=120",
		  "x prev_pid=9 y", " ==> next_comm=", 1, 2, DWELL_TASK_RUNNING, true },
		{ "swapper/0:0 [120] R ==> kworker/0:1:55 [120]", "swapper/0", "kworker/0:1", 0, 55,
		  DWELL_TASK_RUNNING, false },
		{ "a [1] b:7 [120] D ==> c ==> d:8 [98]", "a [1] b", "c ==> d", 7, 8,
		  DWELL_TASK_UNINTERRUPTIBLE, false },
		{ "prev_comm=a prev_pid=1 prev_prio=120 prev_state=D|K ==> next_comm=b next_pid=2 "
		  "next_prio=120",
		  "a", "b", 1, 2, DWELL_TASK_OTHER, false },
	};
	struct dwell_script_switch sw;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("# %s\n", cases[i].text);
		assert_true(dwell_script_switch_parse(slice(cases[i].text), &sw));
		assert_slice(sw.prev_comm, cases[i].prev);
		assert_slice(sw.next_comm, cases[i].next);
		assert_int_equal(sw.prev_tid, cases[i].prev_tid);
		assert_int_equal(sw.next_tid, cases[i].next_tid);
		assert_int_equal(sw.prev_state, cases[i].state);
		assert_int_equal(sw.preempted, cases[i].preempted);
	}
	assert_false(dwell_script_switch_parse(slice(""), &sw));
	assert_false(dwell_script_switch_parse(slice("prev_comm=a next_pid=1"), &sw));
	assert_false(dwell_script_switch_parse(slice("a ==> b"), &sw));
}

static void test_wakings(void **state)
{
	struct dwell_script_waking w;

	(void)state;
	assert_true(dwell_script_waking_parse(
		slice("comm=a pid=9 b pid=243615 prio=120 target_cpu=031"), &w));
	assert_slice(w.comm, "a pid=9 b");
	assert_int_equal(w.tid, 243615);
	assert_int_equal(w.target_cpu, 31);
	assert_true(dwell_script_waking_parse(slice("fi:o:5 [120] success=1 CPU:003"), &w));
	assert_slice(w.comm, "fi:o");
	assert_int_equal(w.tid, 5);
	assert_int_equal(w.target_cpu, 3);
	assert_true(dwell_script_waking_parse(slice("task fio:7 [120] success=1 [002]"), &w));
	assert_slice(w.comm, "fio");
	assert_int_equal(w.tid, 7);
	assert_int_equal(w.target_cpu, 2);
	assert_false(dwell_script_waking_parse(slice("comm=a prio=3"), &w));
}

static void test_records(void **state)
{
	struct dwell_script_record r;

	(void)state;
	assert_true(dwell_script_record_parse(slice("PERF_RECORD_COMM exec: a:b:12/34"), &r));
	assert_int_equal(r.kind, DWELL_SCRIPT_RECORD_COMM);
	assert_true(r.exec);
	assert_slice(r.comm, "a:b");
	assert_int_equal(r.pid, 12);
	assert_int_equal(r.tid, 34);
	assert_true(dwell_script_record_parse(slice("PERF_RECORD_COMM: ls:5/5"), &r));
	assert_false(r.exec);
	assert_true(dwell_script_record_parse(slice("PERF_RECORD_FORK(12:34):(1:2)"), &r));
	assert_int_equal(r.kind, DWELL_SCRIPT_RECORD_FORK);
	assert_int_equal(r.tid, 34);
	assert_int_equal(r.other_tid, 2);
	assert_true(dwell_script_record_parse(
		slice("PERF_RECORD_SWITCH_CPU_WIDE OUT preempt  next pid/tid: 24051/24052"), &r));
	assert_int_equal(r.kind, DWELL_SCRIPT_RECORD_SWITCH_OUT);
	assert_true(r.preempted);
	assert_int_equal(r.other_tid, 24052);
	assert_true(dwell_script_record_parse(slice("PERF_RECORD_SWITCH IN"), &r));
	assert_int_equal(r.kind, DWELL_SCRIPT_RECORD_SWITCH_IN);
	assert_int_equal(r.other_tid, NO);
	assert_true(dwell_script_record_parse(slice("PERF_RECORD_LOST lost 12"), &r));
	assert_int_equal(r.lost, 12);
	assert_true(dwell_script_record_parse(slice("PERF_RECORD_MMAP2 1/1: [0x1"), &r));
	assert_int_equal(r.kind, DWELL_SCRIPT_RECORD_OTHER);
	assert_false(dwell_script_record_parse(slice("PERF"), &r));
}

/* Lines without a time and mostly without a tid. */
static void test_bare(void **state)
{
	static const struct {
		const char *line, *comm, *event, *rest;
		int32_t tid;
		uint64_t period;
		bool framed;
	} cases[] = {
		{ "sh ", "sh", "", "", -1, 0, false },
		{ "Thread 7 12 [001] ", "Thread 7", "", "", 12, 0, false },
		{ "[001]          3 cycles:u: ", "", "cycles:u", "", -1, 3, false },
		{ "sh          3 ", "sh", "", "", -1, 3, false },
		{ "x y:z: p=1     7fe9c487f645 leaf", "x", "y:z", "p=1     7fe9c487f645 leaf", -1,
		  0, true },
		{ "     7fe9c487f645 leaf: it", "", "", "7fe9c487f645 leaf: it", -1, 0, true },
		{ " ffffffff81000001", "", "", "ffffffff81000001", -1, 0, true },
	};
	struct dwell_script_header h;
	bool framed;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(dwell_script_bare_parse(slice(cases[i].line), &h, &framed));
		assert_slice(h.comm, cases[i].comm);
		assert_slice(h.event, cases[i].event);
		assert_slice(h.rest, cases[i].rest);
		assert_int_equal(h.tid, cases[i].tid);
		assert_int_equal(h.has_period ? h.period : 0, cases[i].period);
		assert_int_equal(framed, cases[i].framed);
	}
	/* Longer than any name. */
	assert_false(dwell_script_bare_parse(slice("words that are prose"), &h, &framed));
	assert_true(dwell_script_bare_frame(slice("\t    7fe9c487f645 a")));
	assert_true(dwell_script_bare_frame(slice("\t    7fe9c487f645")));
	assert_false(dwell_script_bare_frame(slice("\t   7fe9c487f645 a"))); /* not its column */
	assert_false(dwell_script_bare_frame(slice("     7fe9c487f645 a")));
	/* One line with a time or a tid before an event, and the text is not bare. */
	assert_true(dwell_script_bare_is(slice("\n\t    7fe9c487f645 a\n\n")));
	assert_false(dwell_script_bare_is(slice("\n\t    7fe9c487f645 a\n\na 1 2.5: x:\n")));
	assert_false(dwell_script_bare_is(slice("")));
}

/* Every prefix of every line, each byte of it replaced: sanitizers watch. */
static void test_hostile(void **state)
{
	static const char bytes[] = "\0\n\t :[]()/.=>0a\xff";

	(void)state;
	for (unsigned i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		size_t length = strlen(headers[i].line);

		for (size_t cut = 0; cut <= length; cut++)
			for (size_t b = 0; b < sizeof(bytes); b++) {
				char *copy = malloc(cut + 1);
				struct dwell_slice line = { copy, (uint32_t)cut }, tail;
				struct dwell_script_header h;
				struct dwell_script_frame frame;
				bool framed;

				assert_non_null(copy);
				memcpy(copy, headers[i].line, cut);
				if (cut)
					copy[cut / 2] = bytes[b];
				if (dwell_script_header_parse(line, &h))
					dwell_script_rest_frame(&h.rest, &tail);
				if (dwell_script_frame_split(line, &tail))
					dwell_script_frame_parse(tail, &frame);
				dwell_script_name(line);
				dwell_script_bare_is(line);
				dwell_script_bare_frame(line);
				dwell_script_bare_parse(line, &h, &framed);
				free(copy);
			}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_headers), cmocka_unit_test(test_no_headers),
		cmocka_unit_test(test_frames),	cmocka_unit_test(test_rest_frames),
		cmocka_unit_test(test_names),	cmocka_unit_test(test_switches),
		cmocka_unit_test(test_wakings), cmocka_unit_test(test_records),
		cmocka_unit_test(test_bare),	cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
