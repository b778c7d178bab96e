// SPDX-License-Identifier: MIT
/* Format texts become field offsets, through libtraceevent, and the table of state letters, from
 * the print format. */
#include "parse/perf/tracepoint.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <event-parse.h>

static const char print_begin[] = "\nprint fmt:";

/* The parsed fields of a text; *ret_tep owns the event. libtraceevent never sees the print format:
 * it crashes on those that are cut, or name fields and helpers that do not exist. */
static int format_parse(const char *text, const char *name, struct tep_handle **ret_tep,
			struct tep_event **ret_event, struct dwell_err *err)
{
	const char *print = strstr(text, print_begin);
	struct tep_event *event = NULL;
	struct tep_handle *tep;
	char *fields = NULL;
	int rc = 0;

	if (!print)
		return dwell_err_set(err, -EINVAL, "the format of tracepoint '%s' is cut", name);
	tep = tep_alloc();
	if (!tep ||
	    asprintf(&fields, "%.*s%s \"\"\n", (int)(print - text), text, print_begin) < 0) {
		tep_free(tep);
		return dwell_err_sys(err, -ENOMEM, "cannot parse the format of '%s'", name);
	}
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_long_size(tep, sizeof(long));
	if (tep_parse_format(tep, &event, fields, strlen(fields), "sched") || !event) {
		tep_free(tep);
		rc = dwell_err_set(err, -EINVAL, "cannot parse the format of tracepoint '%s'",
				   name);
	}
	free(fields);
	if (rc)
		return rc;
	*ret_tep = tep;
	*ret_event = event;
	return 0;
}

static struct dwell_tracepoint_field number_field(struct tep_event *event, const char *name)
{
	struct tep_format_field *field = tep_find_any_field(event, name);
	struct dwell_tracepoint_field place = { 0 };

	if (!field || field->offset < 0 || field->offset > 4096 ||
	    (field->size != 1 && field->size != 2 && field->size != 4 && field->size != 8))
		return place;
	place.offset = (uint16_t)field->offset;
	place.bytes = (uint8_t)field->size;
	place.is_signed = field->flags & TEP_FIELD_IS_SIGNED;
	return place;
}

static void comm_field(struct tep_event *event, const char *name, uint16_t *ret_offset,
		       uint16_t *ret_bytes)
{
	struct tep_format_field *field = tep_find_any_field(event, name);

	*ret_offset = *ret_bytes = 0;
	if (!field || field->offset < 0 || field->offset > 4096 || field->size < 1 ||
	    field->size > 256 || (field->flags & TEP_FIELD_IS_DYNAMIC))
		return;
	*ret_offset = (uint16_t)field->offset;
	*ret_bytes = (uint16_t)field->size;
}

/* How tightly an operator binds, as in C; 0 = none that is known. */
static unsigned operator_level(const char *at)
{
	switch (*at) {
	case '|':
		return 1;
	case '&':
		return 2;
	case '<':
		return at[1] == '<' ? 3 : 0;
	case '+':
	case '-':
		return 4;
	default:
		return 0;
	}
}

static bool operator_apply(char op, uint64_t right, uint64_t *value)
{
	switch (op) {
	case '|':
		*value |= right;
		return true;
	case '&':
		*value &= right;
		return true;
	case '<':
		*value = right < 64 ? *value << right : 0;
		return right < 64;
	case '+':
		*value += right;
		return true;
	default: /* '-' */
		*value -= right;
		return true;
	}
}

/* Reads a constant expression as the kernel's macros leave it, of operators of at least `level`. */
static bool constant_read(const char **at, unsigned depth, unsigned level, uint64_t *ret_value)
{
	uint64_t value, right;
	char *end;

	*at += strspn(*at, " ");
	if (depth > 64)
		return false;
	if (**at == '(') {
		(*at)++;
		if (!constant_read(at, depth + 1, 1, &value) || **at != ')')
			return false;
		(*at)++;
	} else {
		if (!isdigit((unsigned char)**at))
			return false;
		value = strtoull(*at, &end, 0);
		*at = end + strspn(end, "UL");
	}
	for (;;) {
		char op;
		unsigned bound;

		*at += strspn(*at, " ");
		op = **at;
		bound = operator_level(*at);
		if (!bound || bound < level)
			break;
		*at += op == '<' ? 2 : 1;
		if (!constant_read(at, depth + 1, bound + 1, &right) ||
		    !operator_apply(op, right, &value))
			return false;
	}
	*ret_value = value;
	return true;
}

/* The letters: __print_flags(REC->prev_state & ..., "|", { 0x1, "S" }, { 0x2, "D" } ...). */
static void letters_read(const char *print, struct dwell_sched_switch *sw)
{
	const char *at = strstr(print, "__print_flags(");

	at = at ? strchr(at, '{') : NULL;
	while (at && *at == '{' && sw->state_count < DWELL_SCHED_STATES_MAX) {
		uint64_t value;

		at++;
		if (!constant_read(&at, 0, 1, &value))
			return;
		at += strspn(at, " ,");
		if (*at != '"' || !at[1] || at[1] == '"')
			return;
		sw->states[sw->state_count].value = value;
		sw->states[sw->state_count].state = (uint8_t)dwell_task_state_of(at[1]);
		sw->state_count++;
		at = strchr(at + 2, '}');
		at = at ? at + 1 + strspn(at + 1, " ,") : NULL;
	}
}

/* The bit that says preempted: REC->prev_state & MASK ? "+" : "". */
static void preempted_read(const char *print, struct dwell_sched_switch *sw)
{
	static const char state_and[] = "prev_state & ";
	const char *plus = strstr(print, "? \"+\""), *at = print, *next;

	if (!plus)
		return;
	while ((next = strstr(at, state_and)) && next < plus)
		at = next + strlen(state_and);
	if (!constant_read(&at, 0, 1, &sw->preempted_mask) || at != plus)
		sw->preempted_mask = 0;
}

int dwell_sched_switch_parse(const char *text, struct dwell_sched_switch *ret,
			     struct dwell_err *err)
{
	struct dwell_sched_switch sw = { 0 };
	struct tep_handle *tep;
	struct tep_event *event;
	uint16_t next_bytes;
	int rc = format_parse(text, "sched_switch", &tep, &event, err);

	if (rc)
		return rc;
	sw.id = (uint32_t)event->id;
	sw.common_flags = number_field(event, "common_flags");
	sw.prev_pid = number_field(event, "prev_pid");
	sw.prev_state = number_field(event, "prev_state");
	sw.next_pid = number_field(event, "next_pid");
	comm_field(event, "prev_comm", &sw.prev_comm, &sw.comm_bytes);
	comm_field(event, "next_comm", &sw.next_comm, &next_bytes);
	if (next_bytes < sw.comm_bytes)
		sw.comm_bytes = next_bytes;
	tep_free(tep);
	letters_read(strstr(text, print_begin), &sw);
	preempted_read(strstr(text, print_begin), &sw);
	if (!sw.prev_pid.bytes || !sw.next_pid.bytes || !sw.prev_state.bytes || !sw.state_count)
		return dwell_err_set(err, -EINVAL,
				     "the format of tracepoint 'sched_switch' lacks prev_pid, "
				     "next_pid, prev_state or its letters");
	*ret = sw;
	return 0;
}

int dwell_sched_waking_parse(const char *text, const char *name, struct dwell_sched_waking *ret,
			     struct dwell_err *err)
{
	struct dwell_sched_waking waking = { 0 };
	struct tep_handle *tep;
	struct tep_event *event;
	int rc = format_parse(text, name, &tep, &event, err);

	if (rc)
		return rc;
	waking.id = (uint32_t)event->id;
	waking.common_flags = number_field(event, "common_flags");
	waking.common_pid = number_field(event, "common_pid");
	waking.pid = number_field(event, "pid");
	waking.target_cpu = number_field(event, "target_cpu");
	comm_field(event, "comm", &waking.comm, &waking.comm_bytes);
	tep_free(tep);
	if (!waking.pid.bytes || !waking.common_pid.bytes)
		return dwell_err_set(err, -EINVAL, "the format of tracepoint '%s' lacks pid", name);
	*ret = waking;
	return 0;
}
