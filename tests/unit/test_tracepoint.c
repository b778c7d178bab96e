// SPDX-License-Identifier: MIT
/* Tests of parse/perf/tracepoint.c: format texts of kernels old and new, and texts that are none,
 * become field places and state letters, or an error. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "parse/perf/tracepoint.h"
#include "tests/synth/formats.h"

/* 4.9: raw task->state, "+" from TASK_STATE_MAX given as a plain number, other letters. */
static const char switch_4[] =
	"name: sched_switch\nID: 270\n" COMMON SWITCH_FIELDS SWITCH_PRINT
	"REC->prev_state & (1024-1) ? __print_flags(REC->prev_state & (1024-1), \"|\", "
	"{ 1, \"S\"} , { 2, \"D\" }, { 4, \"T\" }, { 8, \"t\" }, { 16, \"Z\" }, { 32, \"X\" }, "
	"{ 64, \"x\" }, { 128, \"K\" }, { 256, \"W\" }, { 512, \"P\" }) : \"R\", "
	"REC->prev_state & 1024 ? \"+\" : \"\", REC->next_comm, REC->next_pid, REC->next_prio\n";

static void assert_letters(const struct dwell_sched_switch *sw, const char *letters)
{
	assert_int_equal(dwell_sched_switch_state(sw, 0), DWELL_TASK_RUNNING);
	for (unsigned bit = 0; letters[bit]; bit++)
		assert_int_equal(dwell_task_state_letter(dwell_sched_switch_state(sw, 1u << bit)),
				 letters[bit]);
}

static void assert_places(const struct dwell_sched_switch *sw)
{
	assert_true(sw->prev_pid.offset == 24 && sw->prev_pid.bytes == 4 && sw->prev_pid.is_signed);
	assert_true(sw->next_pid.offset == 56 && sw->next_pid.bytes == 4);
	assert_true(sw->prev_state.offset == 32 && sw->prev_state.bytes == 8);
	assert_true(sw->common_flags.offset == 2 && sw->common_flags.bytes == 1);
	assert_true(!sw->common_flags.is_signed);
	assert_true(sw->prev_comm == 8 && sw->next_comm == 40 && sw->comm_bytes == 16);
}

static void kernels_of_today(void **state)
{
	struct dwell_sched_switch sw;
	struct dwell_err err = { 0 };

	(void)state;
	assert_int_equal(dwell_sched_switch_parse(switch_6, &sw, &err), 0);
	assert_int_equal(sw.id, 372);
	assert_places(&sw);
	assert_int_equal(sw.preempted_mask, 0x100);
	assert_int_equal(sw.state_count, 8);
	assert_letters(&sw, "SDTTXZPI");
	assert_int_equal(dwell_sched_switch_state(&sw, 0x100), DWELL_TASK_RUNNING);
	assert_int_equal(dwell_sched_switch_state(&sw, 0x101), DWELL_TASK_INTERRUPTIBLE);
	assert_int_equal(dwell_sched_switch_state(&sw, 3), DWELL_TASK_OTHER);
}

static void kernels_with_raw_states(void **state)
{
	struct dwell_sched_switch sw;
	struct dwell_err err = { 0 };

	(void)state;
	assert_int_equal(dwell_sched_switch_parse(switch_4, &sw, &err), 0);
	assert_int_equal(sw.id, 270);
	assert_places(&sw);
	assert_int_equal(sw.preempted_mask, 1024);
	assert_int_equal(sw.state_count, 10);
	assert_letters(&sw, "SDTTZX???P");
	assert_int_equal(dwell_sched_switch_state(&sw, 1024), DWELL_TASK_RUNNING);
	/* TASK_KILLABLE: two bits, a state this version has no letter for. */
	assert_int_equal(dwell_sched_switch_state(&sw, 128 | 2), DWELL_TASK_OTHER);
}

static void wakings(void **state)
{
	struct dwell_sched_waking waking;
	struct dwell_err err = { 0 };

	(void)state;
	assert_int_equal(dwell_sched_waking_parse(waking_6, "sched_waking", &waking, &err), 0);
	assert_int_equal(waking.id, 375);
	assert_true(waking.pid.offset == 24 && waking.common_pid.offset == 4);
	assert_true(waking.target_cpu.offset == 32 && waking.target_cpu.is_signed);
	assert_true(waking.comm == 8 && waking.comm_bytes == 16);
}

static void numbers_of_every_size(void **state)
{
	static const uint8_t raw[] = { 0x80, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	static const struct {
		struct dwell_tracepoint_field field;
		int64_t value;
	} cases[] = {
		{ { 0, 1, false, false }, 0x80 },
		{ { 0, 1, true, false }, -128 },
		{ { 0, 2, false, false }, 0xff80 },
		{ { 0, 2, true, false }, -128 },
		{ { 0, 4, false, false }, 0xffffff80 },
		{ { 0, 4, true, false }, -128 },
		{ { 0, 8, true, false }, -128 },
		{ { 1, 8, true, false }, 0 },
		{ { 7, 1, false, false }, 0xff },
		{ { 8, 1, false, false }, 0 },
		{ { 0, 0, true, false }, 0 },
		{ { 4096, 4, true, false }, 0 },
		{ { 0, 2, false, true }, 0x80ff },
		{ { 1, 2, true, true }, -1 },
		{ { 0, 4, true, true }, (int32_t)0x80ffffff },
		{ { 0, 1, true, true }, -128 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_true(dwell_tracepoint_number(&cases[i].field, raw, sizeof(raw)) ==
			    cases[i].value);
	assert_int_equal(dwell_tracepoint_context(0x08 | 0x10), DWELL_CONTEXT_HARDIRQ);
	assert_int_equal(dwell_tracepoint_context(0x10 | 0x04), DWELL_CONTEXT_SOFTIRQ);
	assert_int_equal(dwell_tracepoint_context(0x05), DWELL_CONTEXT_TASK);
}

/* The text with one part replaced by another; the caller frees it. */
static char *changed(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);
	char *out = NULL;

	assert_non_null(at);
	assert_true(asprintf(&out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) > 0);
	return out;
}

static void assert_refused(const char *from, const char *to)
{
	struct dwell_sched_switch sw = { .id = 77 };
	struct dwell_err err = { 0 };
	char *text = changed(switch_6, from, to);

	assert_int_equal(dwell_sched_switch_parse(text, &sw, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "sched_switch"));
	assert_int_equal(sw.id, 77);
	free(text);
}

static void texts_that_lack_something_are_refused(void **state)
{
	struct dwell_sched_waking waking;
	struct dwell_sched_switch sw;
	struct dwell_err err = { 0 };

	(void)state;
	assert_refused("pid_t prev_pid", "pid_t something");
	assert_refused("pid_t next_pid", "pid_t something");
	assert_refused("long prev_state", "long something");
	assert_refused("\toffset:24;\tsize:4;", "\toffset:24;\tsize:3;");
	assert_refused("\toffset:24;\tsize:4;", "\toffset:5000;\tsize:4;");
	assert_refused("__print_flags", "__print_what");
	assert_refused("name: sched_switch", "");
	assert_int_equal(dwell_sched_switch_parse("", &sw, &err), -EINVAL);
	err = (struct dwell_err){ 0 };
	assert_int_equal(dwell_sched_waking_parse(switch_6, "sched_waking", &waking, &err),
			 -EINVAL);
	assert_string_equal(err.msg, "the format of tracepoint 'sched_waking' lacks pid");
}

static void cut_texts_are_refused_or_whole(void **state)
{
	struct dwell_sched_switch sw;
	size_t bytes = strlen(switch_6);

	(void)state;
	for (size_t cut = 0; cut < bytes; cut++) {
		char *text = strndup(switch_6, cut);

		assert_non_null(text);
		if (!dwell_sched_switch_parse(text, &sw, NULL))
			assert_places(&sw);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_of_today),
		cmocka_unit_test(kernels_with_raw_states),
		cmocka_unit_test(wakings),
		cmocka_unit_test(numbers_of_every_size),
		cmocka_unit_test(texts_that_lack_something_are_refused),
		cmocka_unit_test(cut_texts_are_refused_or_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
