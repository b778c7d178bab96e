// SPDX-License-Identifier: MIT
/* Format texts become field offsets, and the table of state letters from the print format. Texts
 * come out of files too, so nothing in them is taken for granted. */
#include "parse/perf/tracepoint.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

enum {
	FIELD_OFFSET_MAX = 4096,
	COMM_BYTES_MAX = 256,
};

static const char print_begin[] = "\nprint fmt:";

/* The text of one field: "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;". */
struct field_line {
	const char *type, *name; /* of the declaration; [type, name) is "pid_t " */
	uint32_t type_bytes, name_bytes;
	uint64_t offset, size;
	bool is_signed;
};

/* The number behind "key:" in [at, end); false when there is none. */
static bool number_after(const char *at, const char *end, const char *key, uint64_t *ret_value)
{
	uint64_t key_bytes = strlen(key), value = 0;

	for (; (uint64_t)(end - at) > key_bytes; at++)
		if (!memcmp(at, key, key_bytes))
			break;
	if ((uint64_t)(end - at) <= key_bytes || !isdigit((unsigned char)at[key_bytes]))
		return false;
	for (at += key_bytes; at < end && isdigit((unsigned char)*at) && value < UINT32_MAX; at++)
		value = 10 * value + (uint64_t)(*at - '0');
	*ret_value = value;
	return true;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The declaration [at, end): the name is its last word, before what is in square brackets. */
static bool declaration_read(const char *at, const char *end, struct field_line *field)
{
	const char *bracket = memchr(at, '[', (size_t)(end - at)), *name_end, *name;

	name_end = bracket ? bracket : end;
	while (name_end > at && name_end[-1] == ' ')
		name_end--;
	name = name_end;
	while (name > at && is_word(name[-1]))
		name--;
	field->type = at;
	field->type_bytes = (uint32_t)(name - at);
	field->name = name;
	field->name_bytes = (uint32_t)(name_end - name);
	return field->name_bytes && field->type_bytes;
}

static bool has_word(const struct field_line *field, const char *word)
{
	uint64_t bytes = strlen(word);

	for (uint32_t i = 0; i + bytes <= field->type_bytes; i++)
		if (!memcmp(field->type + i, word, bytes))
			return true;
	return false;
}

/* Takes a line apart; false when it is not that of a field. */
static bool field_line_read(const char *line, const char *end, struct field_line *ret)
{
	static const char begin[] = "field:";
	const char *declaration_end;
	uint64_t is_signed;

	while (line < end && (*line == ' ' || *line == '\t'))
		line++;
	if ((uint64_t)(end - line) < sizeof(begin) || memcmp(line, begin, strlen(begin)))
		return false;
	line += strlen(begin);
	declaration_end = memchr(line, ';', (size_t)(end - line));
	if (!declaration_end || !declaration_read(line, declaration_end, ret) ||
	    !number_after(declaration_end, end, "offset:", &ret->offset) ||
	    !number_after(declaration_end, end, "size:", &ret->size))
		return false;
	/* Kernels before 2.6.34 do not tell. */
	ret->is_signed = number_after(declaration_end, end, "signed:", &is_signed)
				 ? is_signed != 0
				 : !has_word(ret, "unsigned");
	return true;
}

/* The field of that name in a text with a print format; false when there is none. */
static bool field_find(const char *text, const char *name, struct field_line *ret)
{
	const char *line = text, *print = strstr(text, print_begin);
	uint64_t name_bytes = strlen(name);

	while (print && line < print) {
		const char *end = strchr(line, '\n');

		if (field_line_read(line, end, ret) && ret->name_bytes == name_bytes &&
		    !memcmp(ret->name, name, name_bytes))
			return true;
		line = end + 1;
	}
	return false;
}

/* The number behind "ID:", which opens a line of its own. */
static int format_id(const char *text, const char *name, uint32_t *ret_id, struct dwell_err *err)
{
	const char *id = strstr(text, "\nID:"), *print = strstr(text, print_begin);
	char *end;
	uint64_t value;

	if (!print)
		return dwell_err_set(err, -EINVAL, "the format of tracepoint '%s' is cut", name);
	if (strncmp(text, "name:", 5) || !id || id > print)
		return dwell_err_set(err, -EINVAL,
				     "the format of tracepoint '%s' has no name or ID", name);
	value = strtoull(id + strlen("\nID:"), &end, 10);
	if (*end != '\n' || value > UINT32_MAX)
		return dwell_err_set(err, -EINVAL, "the format of tracepoint '%s' has a bad ID",
				     name);
	*ret_id = (uint32_t)value;
	return 0;
}

static struct dwell_tracepoint_field number_field(const char *text, const char *name)
{
	struct dwell_tracepoint_field place = { 0 };
	struct field_line field;

	if (!field_find(text, name, &field) || field.offset > FIELD_OFFSET_MAX ||
	    (field.size != 1 && field.size != 2 && field.size != 4 && field.size != 8))
		return place;
	place.offset = (uint16_t)field.offset;
	place.bytes = (uint8_t)field.size;
	place.is_signed = field.is_signed;
	return place;
}

static void comm_field(const char *text, const char *name, uint16_t *ret_offset,
		       uint16_t *ret_bytes)
{
	struct field_line field;

	*ret_offset = *ret_bytes = 0;
	if (!field_find(text, name, &field) || field.offset > FIELD_OFFSET_MAX || !field.size ||
	    field.size > COMM_BYTES_MAX || has_word(&field, "_loc "))
		return;
	*ret_offset = (uint16_t)field.offset;
	*ret_bytes = (uint16_t)field.size;
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
	uint16_t next_bytes;
	int rc = format_id(text, "sched_switch", &sw.id, err);

	if (rc)
		return rc;
	sw.common_flags = number_field(text, "common_flags");
	sw.prev_pid = number_field(text, "prev_pid");
	sw.prev_state = number_field(text, "prev_state");
	sw.next_pid = number_field(text, "next_pid");
	comm_field(text, "prev_comm", &sw.prev_comm, &sw.comm_bytes);
	comm_field(text, "next_comm", &sw.next_comm, &next_bytes);
	if (next_bytes < sw.comm_bytes)
		sw.comm_bytes = next_bytes;
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
	int rc = format_id(text, name, &waking.id, err);

	if (rc)
		return rc;
	waking.common_flags = number_field(text, "common_flags");
	waking.common_pid = number_field(text, "common_pid");
	waking.pid = number_field(text, "pid");
	waking.target_cpu = number_field(text, "target_cpu");
	comm_field(text, "comm", &waking.comm, &waking.comm_bytes);
	if (!waking.pid.bytes || !waking.common_pid.bytes)
		return dwell_err_set(err, -EINVAL, "the format of tracepoint '%s' lacks pid", name);
	*ret = waking;
	return 0;
}

void dwell_sched_switch_swap(struct dwell_sched_switch *sw)
{
	sw->common_flags.swapped = sw->prev_pid.swapped = true;
	sw->prev_state.swapped = sw->next_pid.swapped = true;
}

void dwell_sched_waking_swap(struct dwell_sched_waking *waking)
{
	waking->common_flags.swapped = waking->common_pid.swapped = true;
	waking->pid.swapped = waking->target_cpu.swapped = true;
}
