// SPDX-License-Identifier: MIT
/* Format texts become field offsets and the table of state letters, through libtraceevent. */
#include "parse/perf/tracepoint.h"

#include <errno.h>
#include <stdlib.h>

#include <event-parse.h>

/* The parsed event of a text; *ret_tep owns it. */
static int format_parse(const char *text, const char *name, struct tep_handle **ret_tep,
			struct tep_event **ret_event, struct dwell_err *err)
{
	struct tep_handle *tep = tep_alloc();
	struct tep_event *event = NULL;

	if (!tep)
		return dwell_err_sys(err, -ENOMEM, "cannot parse the format of '%s'", name);
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_long_size(tep, sizeof(long));
	if (tep_parse_format(tep, &event, text, strlen(text), "sched") || !event) {
		tep_free(tep);
		return dwell_err_set(err, -EINVAL, "cannot parse the format of tracepoint '%s'",
				     name);
	}
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

/* The value of a constant expression in a print format; false when it is not constant. */
static bool constant_value(const struct tep_print_arg *arg, unsigned depth, uint64_t *ret_value)
{
	uint64_t left, right;
	const char *op;
	char *end;

	if (!arg || depth > 64)
		return false;
	if (arg->type == TEP_PRINT_ATOM) {
		*ret_value = strtoull(arg->atom.atom, &end, 0);
		return end != arg->atom.atom;
	}
	if (arg->type == TEP_PRINT_TYPE)
		return constant_value(arg->typecast.item, depth + 1, ret_value);
	if (arg->type != TEP_PRINT_OP || !constant_value(arg->op.left, depth + 1, &left) ||
	    !constant_value(arg->op.right, depth + 1, &right))
		return false;
	op = arg->op.op;
	if (!strcmp(op, "|"))
		*ret_value = left | right;
	else if (!strcmp(op, "+"))
		*ret_value = left + right;
	else if (!strcmp(op, "-"))
		*ret_value = left - right;
	else if (!strcmp(op, "<<") && right < 64)
		*ret_value = left << right;
	else if (!strcmp(op, "&"))
		*ret_value = left & right;
	else
		return false;
	return true;
}

/* Looks through an argument for the letters (a flags list) and for `state & MASK ? "+" : ""`. */
static void states_scan(const struct tep_print_arg *arg, unsigned depth,
			struct dwell_sched_switch *sw)
{
	if (!arg || depth > 64)
		return;
	if (arg->type == TEP_PRINT_FLAGS) {
		for (struct tep_print_flag_sym *f = arg->flags.flags;
		     f && sw->state_count < DWELL_SCHED_STATES_MAX; f = f->next) {
			if (!f->value || !f->str || !f->str[0])
				continue;
			sw->states[sw->state_count].value = strtoull(f->value, NULL, 0);
			sw->states[sw->state_count].state = (uint8_t)dwell_task_state_of(f->str[0]);
			sw->state_count++;
		}
		return;
	}
	if (arg->type != TEP_PRINT_OP)
		return;
	if (!strcmp(arg->op.op, "?") && arg->op.right && arg->op.right->type == TEP_PRINT_OP &&
	    arg->op.right->op.left && arg->op.right->op.left->type == TEP_PRINT_ATOM &&
	    !strcmp(arg->op.right->op.left->atom.atom, "+") && arg->op.left &&
	    arg->op.left->type == TEP_PRINT_OP && !strcmp(arg->op.left->op.op, "&")) {
		constant_value(arg->op.left->op.right, 0, &sw->preempted_mask);
		return;
	}
	states_scan(arg->op.left, depth + 1, sw);
	states_scan(arg->op.right, depth + 1, sw);
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
	for (struct tep_print_arg *arg = event->print_fmt.args; arg; arg = arg->next)
		states_scan(arg, 0, &sw);
	tep_free(tep);
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
