// SPDX-License-Identifier: MIT
/* Events in memory become lines, compared byte by byte: every kind, hostile names, unknown threads,
 * times before the window. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "parse/dump_line.h"
#include "parse/source_impl.h"

enum { START_NS = 1000000000, MAIN = 1, WORKER = 2 };

static uint32_t string(struct dwell_source *s, const char *text)
{
	uint32_t id;

	assert_int_equal(dwell_strings_add(s->strings, text, strlen(text), &id), 0);
	return id;
}

static void thread(struct dwell_source *s, int32_t pid, int32_t tid, const char *comm)
{
	uint32_t index;

	assert_int_equal(dwell_threads_need(s->threads, pid, tid, &index), 0);
	dwell_threads_get(s->threads, index)->comm = string(s, comm);
}

/* Threads 1 "main" and 2 "worker", a clock and a counting event, a stack of a kernel function above
 * a user function above the truncation mark. */
static int setup(void **state)
{
	struct dwell_source *s = source_new();
	struct dwell_file kernel = { .kind = DWELL_FILE_KERNEL }, elf = { .kind = DWELL_FILE_ELF };
	uint32_t file, frames[3], node = 0;

	assert_non_null(s);
	s->info.start_ns = START_NS;
	thread(s, 10, 10, "main");
	thread(s, 10, 11, "worker");
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(dwell_array_grow(&s->events), 0);
		s->events.data[s->events.count++] =
			(struct dwell_event_desc){ .name = string(s, i ? "faults" : "cpu-clock"),
						   .unit = i ? DWELL_UNIT_COUNT : DWELL_UNIT_NS };
	}
	kernel.path = string(s, "[kernel]");
	elf.path = string(s, "/bin/a\033pp");
	assert_int_equal(dwell_stacks_add_pseudo(s->stacks, s->strings, DWELL_FRAME_TRUNCATED,
						 &frames[0]),
			 0);
	assert_int_equal(dwell_stacks_add_file(s->stacks, &elf, &file), 0);
	assert_int_equal(dwell_stacks_add_frame(s->stacks, file, 0x1234, &frames[1]), 0);
	assert_int_equal(dwell_stacks_add_file(s->stacks, &kernel, &file), 0);
	assert_int_equal(dwell_stacks_add_frame(s->stacks, file, 0xabc, &frames[2]), 0);
	dwell_stacks_set_symbol(s->stacks, frames[2], string(s, "schedule"));
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(dwell_stacks_add_node(s->stacks, node, frames[i], &node), 0);
	assert_int_equal(node, 3);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	dwell_source_close(*state);
	return 0;
}

static void assert_styled(struct dwell_source *s, struct dump_style style, struct dwell_event event,
			  const char *expected)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	dump_event(out, s, &style, &event);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, expected);
	assert_int_equal(strlen(text), bytes);
	free(text);
}

/* The line behind the columns of time, CPU and thread. */
static void assert_fields(struct dwell_source *s, struct dwell_event event, const char *expected)
{
	char line[512];

	event.time_ns = START_NS + 5;
	event.cpu = 3;
	event.thread = MAIN;
	snprintf(line, sizeof(line),
		 "0.000000005      cpu 3  main             10/10           %s\n", expected);
	assert_styled(s, (struct dump_style){ 0 }, event, line);
}

static void columns(void **state)
{
	struct dwell_source *s = *state;
	struct dwell_event event = { .time_ns = START_NS + 12345678901,
				     .cpu = DWELL_CPU_NONE,
				     .thread = WORKER,
				     .kind = DWELL_EVENT_EXIT };

	assert_styled(s, (struct dump_style){ 0 }, event,
		      "12.345678901     cpu -  worker           10/11           exit\n");
	assert_styled(s, (struct dump_style){ .absolute = true }, event,
		      "13345678901      cpu -  worker           10/11           exit\n");
	event.time_ns = START_NS - 1;
	event.thread = DWELL_THREAD_NONE;
	event.kind = DWELL_EVENT_GAP;
	event.u.gap.lost = 7;
	event.u.gap.from_ns = START_NS - 2;
	assert_styled(s, (struct dump_style){ 0 }, event,
		      "-0.000000001     cpu -  -                                "
		      "gap from=-0.000000002 lost=7\n");
	assert_styled(s, (struct dump_style){ .absolute = true }, event,
		      "999999999        cpu -  -                                "
		      "gap from=999999998 lost=7\n");
}

static void scheduling(void **state)
{
	struct dwell_source *s = *state;
	struct dwell_event e = { .kind = DWELL_EVENT_SWITCH, .stack = 3 };

	e.u.sw.next = WORKER;
	e.u.sw.prev_state = DWELL_TASK_UNINTERRUPTIBLE;
	assert_fields(s, e, "switch state=D next=10/11 worker stack=3");
	e.u.sw.prev_state = DWELL_TASK_RUNNING;
	e.u.sw.preempted = true;
	e.u.sw.next = DWELL_THREAD_IDLE;
	e.stack = 0;
	assert_fields(s, e, "switch state=R+ next=0/0 [idle]");

	e = (struct dwell_event){ .kind = DWELL_EVENT_SWITCH_IN };
	e.u.rec.other = DWELL_THREAD_NONE;
	assert_fields(s, e, "switch-in");
	e.u.rec.other = WORKER;
	assert_fields(s, e, "switch-in prev=10/11 worker");
	e.kind = DWELL_EVENT_SWITCH_OUT;
	assert_fields(s, e, "switch-out next=10/11 worker");
	e.u.rec.preempted = true;
	assert_fields(s, e, "switch-out preempted next=10/11 worker");

	e = (struct dwell_event){ .kind = DWELL_EVENT_WAKING };
	e.u.wake.waker = WORKER;
	e.u.wake.target_cpu = 1;
	assert_fields(s, e, "waking target_cpu=1 by=10/11 worker");
	e.u.wake.context = DWELL_CONTEXT_HARDIRQ;
	assert_fields(s, e, "waking target_cpu=1 by=hardirq");
	e.u.wake.context = DWELL_CONTEXT_SOFTIRQ;
	e.u.wake.target_cpu = DWELL_CPU_NONE;
	assert_fields(s, e, "waking by=softirq");
	e.kind = DWELL_EVENT_WAKEUP_NEW;
	e.u.wake.context = DWELL_CONTEXT_IDLE;
	assert_fields(s, e, "wakeup-new by=[idle]");
}

static void samples_and_lives(void **state)
{
	struct dwell_source *s = *state;
	struct dwell_event e = { .kind = DWELL_EVENT_SAMPLE };

	e.u.sample.weight = 10101010;
	assert_fields(s, e, "sample event=cpu-clock weight=10101010ns");
	e.u.sample.event = 1;
	assert_fields(s, e, "sample event=faults weight=10101010");
	e.u.sample.event = 2;
	assert_fields(s, e, "sample event=? weight=10101010");

	e = (struct dwell_event){ .kind = DWELL_EVENT_FORK };
	e.u.fork.parent = WORKER;
	assert_fields(s, e, "fork parent=10/11 worker");
	e = (struct dwell_event){ .kind = DWELL_EVENT_COMM };
	e.u.comm.comm = string(s, "new\nname \x1b[2J\xc2\x9b\x9b");
	assert_fields(s, e, "comm comm=new?name ?[2J??");
	e.u.comm.exec = true;
	assert_fields(s, e, "comm exec comm=new?name ?[2J??");
	e = (struct dwell_event){ .kind = DWELL_EVENT_CGROUP };
	e.u.cgroup.path = string(s, "/a/b");
	assert_fields(s, e, "cgroup path=/a/b");
	assert_fields(s, (struct dwell_event){ .kind = DWELL_EVENT_STOPPED }, "stopped");
	assert_fields(s, (struct dwell_event){ .kind = DWELL_EVENT_KINDS }, "?");
}

static void knowledge(void **state)
{
	struct dwell_source *s = *state;
	struct dwell_event e = { .kind = DWELL_EVENT_CPU };

	e.u.cpu.witness = DWELL_WITNESS_BOTH;
	assert_fields(s, e, "cpu witness=both offline");
	e.u.cpu.witness = 9;
	e.u.cpu.online = true;
	assert_fields(s, e, "cpu witness=? online");
	e = (struct dwell_event){ .kind = DWELL_EVENT_COUNT };
	e.u.count.switches_in = UINT64_MAX;
	assert_fields(s, e, "count switches_in=18446744073709551615");
	e = (struct dwell_event){ .kind = DWELL_EVENT_THROTTLE };
	assert_fields(s, e, "throttle off");
	e.u.throttle.on = true;
	assert_fields(s, e, "throttle on");

	e = (struct dwell_event){ .kind = DWELL_EVENT_STATE };
	e.u.state.state = DWELL_TASK_INTERRUPTIBLE;
	e.u.state.syscall = -1;
	assert_fields(s, e, "state at=start state=S");
	e.u.state.phase = DWELL_PHASE_STOP;
	e.u.state.stable = e.u.state.counted = true;
	e.u.state.run_ns = 1;
	e.u.state.wait_ns = 2;
	e.u.state.switches_in = 3;
	e.u.state.wchan = string(s, "futex_wait");
	e.u.state.syscall = 202;
	e.u.state.args[0] = 0x7fff0000;
	e.u.state.args[5] = UINT64_MAX;
	assert_fields(s, e,
		      "state at=stop state=S stable run_ns=1 wait_ns=2 switches_in=3 "
		      "wchan=futex_wait syscall=202 args=0x7fff0000,0x0,0x0,0x0,0x0,"
		      "0xffffffffffffffff");
}

static void frames(void **state)
{
	struct dwell_source *s = *state;
	struct dwell_event event = {
		.time_ns = START_NS, .cpu = 0, .thread = MAIN, .kind = DWELL_EVENT_EXIT, .stack = 3
	};

	assert_styled(s, (struct dump_style){ .stacks = true }, event,
		      "0.000000000      cpu 0  main             10/10           exit stack=3\n"
		      "        [kernel]+0xabc  schedule\n"
		      "        /bin/a?pp+0x1234\n"
		      "        [truncated]\n");
	event.stack = 0;
	assert_styled(s, (struct dump_style){ .stacks = true }, event,
		      "0.000000000      cpu 0  main             10/10           exit\n");
}

/* Names of any length neither overflow nor lose the line's end; a thread may be unknown. */
static void hostile(void **state)
{
	struct dwell_source *s = *state;
	struct dwell_event event = { .time_ns = START_NS, .thread = 3, .kind = DWELL_EVENT_CGROUP };
	char *name = malloc(100000), *text = NULL;
	struct dump_style style = { 0 };
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(name);
	assert_non_null(out);
	thread(s, -1, 77, "");
	assert_styled(s, style, event,
		      "0.000000000      cpu 0  ?                ?/77            cgroup path=\n");
	memset(name, 'x', 99999);
	name[99999] = '\0';
	dwell_threads_get(s->threads, 3)->comm = string(s, name);
	event.u.cgroup.path = string(s, name);
	dump_event(out, s, &style, &event);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(text[bytes - 1], '\n');
	assert_ptr_equal(strchr(text, '\n'), text + bytes - 1);
	assert_in_range(bytes, 2 * 4095, 2 * 4096 + 100);
	free(text);
	free(name);
}

static void names_of_kinds(void **state)
{
	(void)state;
	for (unsigned i = 1; i < DWELL_EVENT_KINDS; i++) {
		assert_string_not_equal(dump_kind_name(i), "?");
		for (unsigned j = 1; j < i; j++)
			assert_string_not_equal(dump_kind_name(i), dump_kind_name(j));
	}
	assert_string_equal(dump_kind_name(0), "?");
	assert_string_equal(dump_kind_name(DWELL_EVENT_KINDS), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(columns, setup, teardown),
		cmocka_unit_test_setup_teardown(scheduling, setup, teardown),
		cmocka_unit_test_setup_teardown(samples_and_lives, setup, teardown),
		cmocka_unit_test_setup_teardown(knowledge, setup, teardown),
		cmocka_unit_test_setup_teardown(frames, setup, teardown),
		cmocka_unit_test_setup_teardown(hostile, setup, teardown),
		cmocka_unit_test(names_of_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
