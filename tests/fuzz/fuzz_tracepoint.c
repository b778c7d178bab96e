// SPDX-License-Identifier: MIT
/* Fuzzing of tracepoint formats: a text in the kernel's shape, with any numbers, letters and
 * constant expressions, and any other text at all, is refused or gives fields inside the bounds
 * that decoding relies on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/varint.h"
#include "parse/perf/tracepoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* A constant expression, as the kernel's macros leave them: nested, fully in parentheses. */
static void expression(FILE *out, struct dwell_cursor *c, unsigned depth)
{
	static const char *const operators[] = { "|", "+", "-", "<<", "&", "*", "^", ">>" };
	uint8_t choice = dwell_cursor_byte(c);

	if (depth > 6 || choice < 100 || c->bad) {
		fprintf(out, "0x%llx", (unsigned long long)dwell_cursor_varint(c));
		return;
	}
	fprintf(out, "(");
	expression(out, c, depth + 1);
	fprintf(out, " %s ", operators[choice % 8]);
	expression(out, c, depth + 1);
	fprintf(out, ")");
}

static void field(FILE *out, struct dwell_cursor *c, const char *type_and_name)
{
	static const char *const counts[] = { "", "[1]", "[16]", "[300]" };
	uint8_t choice = dwell_cursor_byte(c);

	if (choice == 255)
		return;
	fprintf(out, "\tfield:%s%s;\toffset:%d;\tsize:%d;\tsigned:%d;\n", type_and_name,
		counts[choice % 4], (int)dwell_cursor_varint(c), (int)dwell_cursor_varint(c),
		choice / 4 % 2);
}

static void switch_text(FILE *out, struct dwell_cursor *c)
{
	fprintf(out, "name: sched_switch\nID: %u\nformat:\n", dwell_cursor_u32(c));
	field(out, c, "unsigned char common_flags");
	field(out, c, "int common_pid");
	fprintf(out, "\n");
	field(out, c, "char prev_comm");
	field(out, c, "pid_t prev_pid");
	field(out, c, "long prev_state");
	field(out, c, "char next_comm");
	field(out, c, "pid_t next_pid");
	field(out, c, "pid_t pid");
	fprintf(out, "\nprint fmt: \"%%s%%s\", REC->prev_state & ");
	expression(out, c, 0);
	fprintf(out, " ? __print_flags(REC->prev_state & ");
	expression(out, c, 0);
	fprintf(out, ", \"|\"");
	for (int n = dwell_cursor_byte(c) % 40; n; n--) {
		uint8_t letter = dwell_cursor_byte(c);

		fprintf(out, ", { 0x%x, \"%c\" }", dwell_cursor_u32(c),
			letter >= '0' && letter <= 'z' && letter != '\\' ? letter : 'S');
	}
	fprintf(out, ") : \"R\", REC->prev_state & ");
	expression(out, c, 0);
	fprintf(out, " ? \"+\" : \"\"\n");
}

static void field_check(const struct dwell_tracepoint_field *at)
{
	static const uint8_t raw[64];

	if (at->offset > 4096 || at->bytes > 8)
		abort();
	if (dwell_tracepoint_number(at, raw, sizeof(raw)) != 0)
		abort();
}

static void text_check(const char *text)
{
	struct dwell_sched_waking waking;
	struct dwell_sched_switch sw;

	if (!dwell_sched_switch_parse(text, &sw, NULL)) {
		field_check(&sw.prev_pid);
		field_check(&sw.next_pid);
		field_check(&sw.prev_state);
		field_check(&sw.common_flags);
		if (sw.state_count > DWELL_SCHED_STATES_MAX || sw.comm_bytes > 256 ||
		    sw.prev_comm > 4096 || sw.next_comm > 4096 ||
		    dwell_sched_switch_state(&sw, 1) >= DWELL_TASK_STATES)
			abort();
	}
	if (!dwell_sched_waking_parse(text, "sched_waking", &waking, NULL)) {
		field_check(&waking.pid);
		field_check(&waking.common_pid);
		field_check(&waking.target_cpu);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct dwell_cursor c = { bytes, bytes + count, false };
	char *text = NULL;
	size_t text_bytes;
	FILE *out = open_memstream(&text, &text_bytes);

	if (!out)
		return 0;
	switch_text(out, &c);
	fclose(out);
	text_check(text);
	free(text);
	text = strndup((const char *)bytes, count);
	if (text)
		text_check(text);
	free(text);
	return 0;
}
