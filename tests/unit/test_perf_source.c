// SPDX-License-Identifier: MIT
/* Tests of parse/perf_source.c and what stands behind it: perf.data made in memory, in both byte
 * orders, becomes the events that the join needs, or a reason why it cannot. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/synth/perfevents.h"

#define STACK " |/bin/app+1000|[kernel.kallsyms]+100"

static void switches_and_wakings(void **state)
{
	static const char *const lines[] = {
		"100 0 cpu none 1 1",
		"100 1 cpu none 1 1",
		"100 0 switch 11.1 S >0.1" STACK,
		"150 1 waking 11.1 by 20.1 0 at 1 |+0", /* no chain: its ip, which lies in no file
							 */
		"200 1 switch 20.1 R+ >11.1 |+0|[kernel.kallsyms]+100",
		"300 1 switch 11.1 Z >20.1" STACK,
		"400 0 switch 0.1 R >20.1 |[kernel.kallsyms]+100",
		NULL,
	};
	struct perf_bytes b;

	(void)state;
	for (int swapped = 0; swapped < 2; swapped++) {
		struct dwell_source *source;

		pipe_begin(&b, swapped);
		sched_events(&b, 1, 0);
		/* CPU 1 was written first. */
		waking_add(&b, 150, 1, 20, 11);
		switch_add(&b, 200, 1, 20, 0x100, 11);
		switch_add(&b, 300, 1, 11, 0x20, 20);
		switch_add(&b, 100, 0, 11, 1, 0);
		switch_add(&b, 400, 0, 0, 0, 20);
		maps_add(&b);
		source = open_bytes(&b);
		assert_true(dwell_source_info(source)->has_switches);
		assert_true(dwell_source_info(source)->has_wakings);
		assert_int_equal(dwell_source_info(source)->start_ns, 100);
		assert_events(source, lines);
	}
}

/* A switch of tid 0 shows that the events are CPU-wide: then whoever has an event is observed. */
static void who_is_observed(void **state)
{
	const struct dwell_event *event;
	struct dwell_source *source;
	struct dwell_threads *threads;
	struct perf_bytes b;

	(void)state;
	pipe_begin(&b, false);
	sched_events(&b, 1, 0);
	maps_add(&b);
	switch_add(&b, 100, 0, 0, 0, 11);
	switch_add(&b, 200, 0, 11, 1, 0);
	source = open_bytes(&b);
	assert_true(dwell_source_info(source)->all_threads);
	while (dwell_source_next(source, &event, NULL) == 1)
		;
	threads = dwell_source_threads(source);
	assert_true(dwell_threads_get(threads, dwell_threads_find(threads, 11))->observed);
	assert_false(dwell_threads_get(threads, dwell_threads_find(threads, 99))->observed);
	assert_int_equal(dwell_source_info(source)->end_ns, 200);
	dwell_source_close(source);
}

static void threads_that_gave_their_tid_back(void **state)
{
	static const char *const lines[] = {
		"100 0 cpu none 3 1",
		"100 0 switch 0.1 R >11.1 |[kernel.kallsyms]+100",
		"101 0 out 0.1 none",
		"102 0 in 11.1 none",
		"150 0 exit 11.1",
		"200 0 switch 11.1 X >0.1" STACK,
		"201 0 out 11.1 0.1",
		"202 0 in 0.1 none",
		NULL,
	};
	struct perf_bytes b;
	struct dwell_source *source;

	(void)state;
	pipe_begin(&b, false);
	sched_events(&b, 1, DWELL_PERF_ATTR_CONTEXT_SWITCH);
	maps_add(&b);
	switch_add(&b, 100, 0, 0, 0, 11);
	record_add(&b, 101, 0, 0, PERF_RECORD_MISC_SWITCH_OUT, UINT32_MAX);
	record_add(&b, 102, 0, UINT32_MAX, 0, UINT32_MAX);
	task_add(&b, PERF_RECORD_EXIT, 11, 11, 150);
	switch_add(&b, 200, 0, 11, 0x10, 0);
	record_add(&b, 201, 0, UINT32_MAX, PERF_RECORD_MISC_SWITCH_OUT, 0);
	record_add(&b, 202, 0, 0, 0, UINT32_MAX);
	source = open_bytes(&b);
	assert_true(dwell_source_info(source)->has_switches);
	assert_events(source, lines);
}

/* perf lists its own thread before, and the kernel tells of its birth then: one life. */
static void births(void **state)
{
	static const char *const lines[] = {
		"100 0 cpu none 1 1",
		"100 0 fork 12.1 of 11.1",
		"150 0 switch 12.1 S >0.1" STACK,
		"200 0 fork 12.2 of 11.1",
		"300 0 gap none from 200 7",
		NULL,
	};
	struct perf_bytes b;
	uint32_t at;

	(void)state;
	pipe_begin(&b, false);
	sched_events(&b, 1, 0);
	maps_add(&b);
	task_add(&b, PERF_RECORD_FORK, 12, 11, 0);
	task_add(&b, PERF_RECORD_FORK, 12, 11, 100);
	switch_add(&b, 150, 0, 12, 1, 0);
	task_add(&b, PERF_RECORD_FORK, 12, 11, 200);
	at = perf_begin(&b, PERF_RECORD_LOST, 0);
	perf_u64(&b, ID_SWITCH);
	perf_u64(&b, 7);
	trailer_add(&b, 12, 300, 0, ID_SWITCH);
	perf_end(&b, at);
	assert_events(open_bytes(&b), lines);
}

/* Who leaves is who came, though the tid is another's by then. */
static void last_switch_of_a_former_life(void **state)
{
	static const char *const lines[] = {
		"100 0 cpu none 1 1",
		"100 0 switch 0.1 R >12.1 |[kernel.kallsyms]+100",
		"150 0 exit 12.1",
		"160 0 fork 12.2 of 11.1",
		"200 0 switch 12.1 X >0.1" STACK,
		NULL,
	};
	struct perf_bytes b;

	(void)state;
	pipe_begin(&b, false);
	sched_events(&b, 1, 0);
	maps_add(&b);
	switch_add(&b, 100, 0, 0, 0, 12);
	task_add(&b, PERF_RECORD_EXIT, 12, 11, 150);
	task_add(&b, PERF_RECORD_FORK, 12, 11, 160);
	switch_add(&b, 200, 0, 12, 0x10, 0);
	assert_events(open_bytes(&b), lines);
}

/* 11 execs while the leader, 10, is on its last steps on the other CPU: the leader's last switch
 * has the tid 11, before COMM tells of the exec or after. */
static void exec_exchanges_tids(void **state)
{
	static const char *const before[] = {
		"100 0 cpu none 1 1",
		"100 1 cpu none 1 1",
		"100 1 switch 0.1 R >10.1 |[kernel.kallsyms]+100",
		"110 0 switch 0.1 R >11.1 |[kernel.kallsyms]+100",
		"150 0 exit 10.1",
		"200 1 switch 10.1 X >0.1" STACK,
		"210 0 comm 10.1 new exec",
		"300 0 switch 10.1 S >0.1 |+0|[kernel.kallsyms]+100",
		"400 0 switch 0.1 R >10.1 |[kernel.kallsyms]+100",
		NULL,
	};
	static const char *const after[] = {
		"100 0 cpu none 1 1",
		"100 1 cpu none 1 1",
		"100 1 switch 0.1 R >10.1 |[kernel.kallsyms]+100",
		"110 0 switch 0.1 R >11.1 |[kernel.kallsyms]+100",
		"150 0 exit 10.1",
		"190 0 comm 10.1 new exec",
		"200 1 switch 10.1 X >0.1 |+0|[kernel.kallsyms]+100",
		"300 0 switch 10.1 S >0.1 |+0|[kernel.kallsyms]+100",
		"400 0 switch 0.1 R >10.1 |[kernel.kallsyms]+100",
		NULL,
	};

	(void)state;
	for (int late = 0; late < 2; late++) {
		struct perf_bytes b;

		pipe_begin(&b, false);
		sched_events(&b, 1, 0);
		maps_add(&b);
		switch_add(&b, 100, 1, 0, 0, 10);
		switch_add(&b, 110, 0, 0, 0, 11);
		task_add(&b, PERF_RECORD_EXIT, 10, 10, 150);
		exec_add(&b, 0, 10, "new", late ? 190 : 210);
		switch_add(&b, 200, 1, 11, 0x10, 0);
		switch_add(&b, 300, 0, 10, 1, 0);
		switch_add(&b, 400, 0, 0, 0, 10);
		assert_events(open_bytes(&b), late ? after : before);
	}
}

static const char *reason(uint64_t period, uint64_t flags, uint32_t first_tid,
			  struct dwell_source **ret_source)
{
	struct perf_bytes b;

	pipe_begin(&b, false);
	sched_events(&b, period, flags);
	maps_add(&b);
	switch_add(&b, 100, 0, first_tid, 1, 21);
	switch_add(&b, 200, 0, 11, 1, 21); /* nobody saw 21 go, or 11 come */
	*ret_source = open_bytes(&b);
	assert_false(dwell_source_info(*ret_source)->has_switches);
	assert_non_null(dwell_source_info(*ret_source)->no_switches_reason);
	return dwell_source_info(*ret_source)->no_switches_reason;
}

static void switches_that_cannot_be_joined(void **state)
{
	struct dwell_source *source;

	(void)state;
	assert_non_null(strstr(reason(1, 0, 11, &source), "per process"));
	dwell_source_close(source);
	assert_non_null(strstr(reason(99, DWELL_PERF_ATTR_FREQ, 0, &source), "sampled"));
	dwell_source_close(source);
	assert_non_null(strstr(reason(5, 0, 0, &source), "sampled"));
	dwell_source_close(source);
}

/* simpleperf stamps a mapping by when its code was made: that opens no window. */
static void mappings_of_other_times(void **state)
{
	struct dwell_source *source;
	struct perf_bytes b;

	(void)state;
	pipe_begin(&b, false);
	sched_events(&b, 1, 0);
	maps_add(&b);
	map_add_at(&b, 10, 0x500000, 0, "/bin/early", 7);
	map_add_at(&b, 10, 0x600000, 0, "/bin/late", 9000);
	switch_add(&b, 100, 0, 11, 1, 0);
	switch_add(&b, 400, 0, 0, 0, 11);
	source = open_bytes(&b);
	assert_int_equal(dwell_source_info(source)->start_ns, 100);
	assert_events(source, (const char *const[]){
				      "100 0 cpu none 1 1",
				      "100 0 switch 11.1 S >0.1" STACK,
				      "400 0 switch 0.1 R >11.1 |[kernel.kallsyms]+100",
				      NULL,
			      });
}

/* Without a switch, or with hardly any, nobody can tell whose would have been recorded: unless it
 * was a command's. */
static void switches_too_few_to_tell(void **state)
{
	static const struct {
		uint64_t flags;
		bool one;
		const char *said;
	} cases[] = {
		{ 0, false, "too few" },
		{ 0, true, "too few" },
		{ DWELL_PERF_ATTR_ENABLE_ON_EXEC, false, "per process" },
		{ DWELL_PERF_ATTR_ENABLE_ON_EXEC, true, "per process" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dwell_source *source;
		struct perf_bytes b;

		pipe_begin(&b, false);
		sched_events(&b, 1, cases[i].flags);
		maps_add(&b);
		if (cases[i].one)
			switch_add(&b, 100, 0, 11, 1, 21);
		source = open_bytes(&b);
		assert_false(dwell_source_info(source)->has_switches);
		assert_non_null(dwell_source_info(source)->no_switches_reason);
		assert_non_null(
			strstr(dwell_source_info(source)->no_switches_reason, cases[i].said));
		assert_false(dwell_source_info(source)->untimed);
		dwell_source_close(source);
	}
}

/* Samples without stamps (perf record --no-timestamp, --per-thread) say that they have none. */
static void samples_without_times(void **state)
{
	struct dwell_source *source;
	struct perf_bytes b;
	uint32_t at;

	(void)state;
	pipe_begin(&b, false);
	event_add(&b, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1000,
		  PERF_SAMPLE_IP | PERF_SAMPLE_TID, FLAGS, ID_CLOCK, "cpu-clock");
	at = perf_begin(&b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	perf_u64(&b, 0x401000);
	perf_u32(&b, 10);
	perf_u32(&b, 10);
	perf_end(&b, at);
	source = open_bytes(&b);
	assert_true(dwell_source_info(source)->untimed);
	dwell_source_close(source);
}

/* Of all threads, though the idle task is never seen: the chain of switches shows it. */
static void chains_without_idle(void **state)
{
	struct dwell_source *source;
	struct perf_bytes b;

	(void)state;
	pipe_begin(&b, false);
	sched_events(&b, 1, 0);
	maps_add(&b);
	for (uint64_t round = 0; round < 10; round++) {
		switch_add(&b, 100 + 100 * round, 0, 11, 1, 21);
		switch_add(&b, 110 + 100 * round, 0, 21, 1, 31);
		switch_add(&b, 120 + 100 * round, 0, 31, 1, 0);
	}
	source = open_bytes(&b);
	assert_true(dwell_source_info(source)->has_switches);
	assert_true(dwell_source_info(source)->all_threads);
	dwell_source_close(source);
}

/* What a copied user stack holds is not unwound, and says so; without a chain the ip is the stack.
 */
static void samples(void **state)
{
	static const char *const lines[] = {
		"100 0 cpu none 1 1",
		"100 0 sample 11.1 0 1 |[not unwound]+0|/bin/app+1000",
		NULL,
	};
	struct dwell_source *source;
	struct perf_bytes b;
	uint32_t at;

	(void)state;
	pipe_begin(&b, true);
	event_add(&b, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1000,
		  TYPES | PERF_SAMPLE_STACK_USER, FLAGS, ID_CLOCK, "cpu-clock");
	maps_add(&b);
	at = sample_begin(&b, ID_CLOCK, 11, 100, 0);
	perf_u64(&b, 8);
	perf_u64(&b, 0x401000);
	perf_u64(&b, 8);
	perf_end(&b, at);
	source = open_bytes(&b);
	assert_false(dwell_source_info(source)->has_switches);
	assert_null(dwell_source_info(source)->no_switches_reason);
	assert_true(dwell_source_event_desc(source, 0)->is_clock);
	assert_events(source, lines);
}

/* A period that no counter counts is no sample; an event without samples is known for one. */
static void periods_and_nothing(void **state)
{
	static const char *const lines[] = {
		"100 0 cpu none 1 1",
		"200 0 sample 11.1 1 1 |/bin/app+1000",
		NULL,
	};
	struct dwell_source *source;
	struct perf_bytes b;

	(void)state;
	pipe_begin(&b, false);
	event_add(&b, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 1000, TYPES, FLAGS, 77,
		  "instructions");
	event_add(&b, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1000, TYPES, FLAGS, ID_CLOCK,
		  "cpu-clock");
	maps_add(&b);
	perf_end(&b, sample_begin(&b, ID_CLOCK, 11, 100, 0));
	memset(b.data + b.count - 8, 0xff, 8);
	perf_end(&b, sample_begin(&b, ID_CLOCK, 11, 200, 0));
	source = open_bytes(&b);
	assert_true(dwell_source_event_desc(source, 0)->is_empty);
	assert_false(dwell_source_event_desc(source, 1)->is_empty);
	assert_events(source, lines);
}

/* The user part of a chain that comes when the thread goes back to user mode. */
static void callchains_that_come_later(void **state)
{
	static const char *const lines[] = {
		"100 0 cpu none 1 1",
		"100 0 sample 11.1 0 1 |/bin/app+1fff|/bin/app+1000|[kernel.kallsyms]+100",
		"150 0 sample 12.1 0 1 |[kernel.kallsyms]+100", /* another thread's cookie */
		"160 0 sample 11.1 0 1 |[kernel.kallsyms]+100", /* it never came */
		NULL,
	};
	const uint64_t cookies[] = { 77, 77, 78 };
	const uint32_t tids[] = { 11, 12, 11 };
	const uint64_t times[] = { 100, 150, 160 };
	struct perf_bytes b;
	uint32_t at;

	(void)state;
	for (int swapped = 0; swapped < 2; swapped++) {
		pipe_begin(&b, swapped);
		event_add(&b, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1000,
			  TYPES | PERF_SAMPLE_CALLCHAIN, FLAGS, ID_CLOCK, "cpu-clock");
		maps_add(&b);
		for (unsigned i = 0; i < 3; i++) {
			at = sample_begin(&b, ID_CLOCK, tids[i], times[i], 0);
			perf_u64(&b, 4);
			perf_u64(&b, PERF_CONTEXT_KERNEL);
			perf_u64(&b, 0xffffffff81000100);
			perf_u64(&b, (uint64_t)-640);
			perf_u64(&b, cookies[i]);
			perf_end(&b, at);
		}
		at = perf_begin(&b, DWELL_PERF_CALLCHAIN_DEFERRED, 0);
		perf_u64(&b, 77);
		perf_u64(&b, 2);
		perf_u64(&b, 0x401000);
		perf_u64(&b, 0x402000);
		trailer_add(&b, 11, 200, 0, ID_CLOCK);
		perf_end(&b, at);
		assert_events(open_bytes(&b), lines);
	}
}

/* perf record --off-cpu: as callchains with stamps that are none, or raw with ids either way. */
static void waits_measured_by_perf(void **state)
{
	static const char *const old_form[] = {
		"100 0 cpu none 1 1",
		"100 0 sample 11.1 1 1 |/bin/app+1000",
		"100 -1 sample 11.1 0 5000 |/bin/app+1000",
		NULL,
	};
	static const char *const raw_form[] = {
		"100 0 cpu none 1 1",
		"100 0 sample 11.1 1 1 |/bin/app+1000",
		"100 -1 sample 11.1 0 7000 |/bin/app+1000",
		"100 -1 sample 11.1 0 8000 |/bin/app+1000",
		NULL,
	};
	const uint64_t aggregate_ns = 0xffffffff00000000;
	struct perf_bytes b;
	uint32_t at;

	(void)state;
	for (int raw = 0; raw < 2; raw++) {
		struct dwell_source *source;

		pipe_begin(&b, false);
		event_add(&b, PERF_TYPE_SOFTWARE, BPF_OUTPUT, 1,
			  raw ? TYPES | PERF_SAMPLE_RAW : TYPES | PERF_SAMPLE_CALLCHAIN, FLAGS,
			  ID_OFF_CPU, "offcpu-time");
		event_add(&b, PERF_TYPE_HARDWARE, 0, 1, TYPES, FLAGS, ID_CLOCK, "cycles");
		maps_add(&b);
		at = sample_begin(&b, ID_CLOCK, 11, 100, 0);
		perf_end(&b, at);
		if (!raw) {
			at = sample_begin(&b, ID_OFF_CPU, 11, aggregate_ns, 0);
			b.data[b.count - 8] = 0x88; /* PERIOD 5000 */
			b.data[b.count - 7] = 0x13;
			perf_u64(&b, 2);
			perf_u64(&b, PERF_CONTEXT_USER);
			perf_u64(&b, 0x401000);
			perf_end(&b, at);
		}
		for (int i = 0; raw && i < 2; i++) {
			at = sample_begin(&b, ID_OFF_CPU, 0, aggregate_ns + (uint64_t)i, 0);
			perf_u32(&b, 52);
			perf_u32(&b, i ? 11 : 10);
			perf_u32(&b, i ? 10 : 11);
			perf_u64(&b, i ? 8000 : 7000);
			perf_u64(&b, 2);
			perf_u64(&b, PERF_CONTEXT_USER);
			perf_u64(&b, 0x401000);
			perf_u64(&b, 1); /* cgroup */
			perf_u32(&b, 0);
			perf_end(&b, at);
		}
		source = open_bytes(&b);
		assert_true(dwell_source_event_desc(source, 0)->is_wait);
		assert_events(source, raw ? raw_form : old_form);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(switches_and_wakings),
		cmocka_unit_test(who_is_observed),
		cmocka_unit_test(threads_that_gave_their_tid_back),
		cmocka_unit_test(births),
		cmocka_unit_test(last_switch_of_a_former_life),
		cmocka_unit_test(exec_exchanges_tids),
		cmocka_unit_test(switches_that_cannot_be_joined),
		cmocka_unit_test(mappings_of_other_times),
		cmocka_unit_test(switches_too_few_to_tell),
		cmocka_unit_test(samples_without_times),
		cmocka_unit_test(chains_without_idle),
		cmocka_unit_test(samples),
		cmocka_unit_test(periods_and_nothing),
		cmocka_unit_test(callchains_that_come_later),
		cmocka_unit_test(waits_measured_by_perf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
