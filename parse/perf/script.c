// SPDX-License-Identifier: MIT
/* A header line of perf-script text becomes its fields. Comms hold blanks, digits, colons and
 * brackets, so the line is anchored on its timestamp and read to the left from there. */
#include "parse/perf/script.h"

#include <string.h>

enum {
	COMM_BYTES = 15,    /* what the kernel keeps of a name */
	ANCHOR_BYTES = 512, /* a header's time stands within them */
	IDS_BYTES = 64,	    /* pid, tid, CPU, flags and time behind a comm */
	PERIOD_WIDTH = 10,  /* of perf's column */
	ADDRESS_WIDTH = 16, /* of perf's column, behind a blank or a tab */
	FAR_DIGITS = 9,	    /* of addresses that are hardly any other number */
	SECOND_DIGITS = 10, /* 10^10 s in ns fit in 64 bits */
};

bool dwell_slice_equal(struct dwell_slice text, const char *other)
{
	return strlen(other) == text.bytes && !memcmp(text.at, other, text.bytes);
}

bool dwell_slice_begins(struct dwell_slice text, const char *prefix)
{
	size_t bytes = strlen(prefix);

	return bytes <= text.bytes && !memcmp(text.at, prefix, bytes);
}

bool dwell_slice_ends(struct dwell_slice text, const char *suffix)
{
	size_t bytes = strlen(suffix);

	return bytes <= text.bytes && !memcmp(text.at + text.bytes - bytes, suffix, bytes);
}

bool dwell_slice_u64(struct dwell_slice text, uint64_t *ret)
{
	uint64_t value = 0;

	if (!text.bytes)
		return false;
	for (uint32_t i = 0; i < text.bytes; i++)
		if (!dwell_slice_digit(text.at[i]) || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(text.at[i] - '0'), &value))
			return false;
	*ret = value;
	return true;
}

bool dwell_slice_i32(struct dwell_slice text, int32_t *ret)
{
	bool negative = text.bytes && *text.at == '-';
	uint64_t value;

	if (!dwell_slice_u64((struct dwell_slice){ text.at + negative, text.bytes - negative },
			     &value) ||
	    value > INT32_MAX)
		return false;
	*ret = negative ? -(int32_t)value : (int32_t)value;
	return true;
}

/* Cuts the last word off *text: blanks behind it go, those before it stay. */
static struct dwell_slice word_cut(struct dwell_slice *text)
{
	uint32_t end = text->bytes, begin;

	while (end && dwell_slice_blank(text->at[end - 1]))
		end--;
	for (begin = end; begin && !dwell_slice_blank(text->at[begin - 1]); begin--)
		;
	text->bytes = begin;
	return (struct dwell_slice){ text->at + begin, end - begin };
}

/* "12.345678": seconds and a fraction of any length up to ns. */
static bool time_parse(struct dwell_slice word, uint64_t *ret_ns)
{
	const char *dot = memchr(word.at, '.', word.bytes);
	struct dwell_slice whole, fraction;
	uint64_t seconds, part;

	if (!dot)
		return false;
	whole = dwell_slice_of(word.at, dot);
	fraction = dwell_slice_of(dot + 1, word.at + word.bytes);
	if (whole.bytes > SECOND_DIGITS || fraction.bytes > 9 ||
	    !dwell_slice_u64(whole, &seconds) || !dwell_slice_u64(fraction, &part))
		return false;
	for (uint32_t digits = fraction.bytes; digits < 9; digits++)
		part *= 10;
	*ret_ns = seconds * 1000000000u + part;
	return true;
}

/* Digits and one kind of separator: "2021-02-18", "12:34:56". */
static bool three_numbers(struct dwell_slice word, char separator, uint64_t ret[3])
{
	for (unsigned i = 0; i < 3; i++) {
		const char *end = i < 2 ? memchr(word.at, separator, word.bytes) : NULL;
		struct dwell_slice part = word;

		if (i < 2 && !end)
			return false;
		if (end)
			part = dwell_slice_of(word.at, end);
		if (part.bytes > 4 || !dwell_slice_u64(part, &ret[i]))
			return false;
		if (end)
			word = dwell_slice_of(end + 1, word.at + word.bytes);
	}
	return true;
}

/* Days from 1970-01-01 to a day of the Gregorian calendar. */
static uint64_t days_of(uint64_t year, uint64_t month, uint64_t day)
{
	uint64_t months = year * 12 + month - 3, y = months / 12; /* years begin in March */

	return y * 365 + y / 4 - y / 100 + y / 400 + (months % 12 * 153 + 2) / 5 + day - 1 - 719468;
}

/* Cuts a wall-clock time (-F tod: "2021-02-18 12:34:56.123456") off the end of *prefix. It is taken
 * as UTC: only distances matter. */
static bool tod_cut(struct dwell_slice *prefix, uint64_t *ret_ns)
{
	struct dwell_slice left = *prefix, clock = word_cut(&left), date = word_cut(&left);
	const char *dot = memchr(clock.at, '.', clock.bytes);
	uint64_t d[3], t[3], part;
	struct dwell_slice fraction;

	if (!dot)
		return false;
	fraction = dwell_slice_of(dot + 1, clock.at + clock.bytes);
	if (!three_numbers(date, '-', d) || !three_numbers(dwell_slice_of(clock.at, dot), ':', t) ||
	    fraction.bytes > 9 || !dwell_slice_u64(fraction, &part) || d[0] < 1970 || d[0] > 2500 ||
	    d[1] < 1 || d[1] > 12 || d[2] < 1 || d[2] > 31)
		return false;
	for (uint32_t digits = fraction.bytes; digits < 9; digits++)
		part *= 10;
	*ret_ns = ((days_of(d[0], d[1], d[2]) * 24 + t[0]) * 60 + t[1]) * 60000000000u +
		  t[2] * 1000000000u + part;
	*prefix = left;
	return true;
}

/* "[003]"; "[-01]" where the event was not of one CPU. */
static bool cpu_parse(struct dwell_slice word, uint32_t *ret_cpu)
{
	int32_t cpu;

	if (word.bytes < 3 || word.at[0] != '[' || word.at[word.bytes - 1] != ']' ||
	    !dwell_slice_i32((struct dwell_slice){ word.at + 1, word.bytes - 2 }, &cpu))
		return false;
	*ret_cpu = cpu < 0 ? DWELL_SCRIPT_NO_CPU : (uint32_t)cpu;
	return true;
}

/* "tid" or "pid/tid". */
static bool ids_parse(struct dwell_slice word, struct dwell_script_header *h)
{
	const char *slash = memchr(word.at, '/', word.bytes);

	h->pid = DWELL_SCRIPT_NO_ID;
	if (!slash)
		return dwell_slice_i32(word, &h->tid);
	return dwell_slice_i32(dwell_slice_of(word.at, slash), &h->pid) &&
	       dwell_slice_i32(dwell_slice_of(slash + 1, word.at + word.bytes), &h->tid);
}

/* The flags column (-F misc): the letters that perf prints for the modes of a record. */
static bool is_misc(struct dwell_slice word)
{
	for (uint32_t i = 0; i < word.bytes; i++)
		if (!memchr("KUHGgMSETpFD", word.at[i], 12))
			return false;
	return word.bytes > 0;
}

/* Guests: "VM:  1234 VCPU:003 " stands before the comm. */
static struct dwell_slice guest_cut(struct dwell_slice text)
{
	static const char *const labels[] = { "VM:", "VCPU:" };

	for (unsigned i = 0; i < 2; i++) {
		struct dwell_slice left = dwell_slice_trim(text);
		uint32_t digits = 0;

		if (!dwell_slice_begins(left, labels[i]))
			continue;
		left.at += strlen(labels[i]);
		left.bytes -= (uint32_t)strlen(labels[i]);
		left = dwell_slice_trim(left);
		while (digits < left.bytes && dwell_slice_digit(left.at[digits]))
			digits++;
		if (digits && digits < left.bytes && dwell_slice_blank(left.at[digits]))
			text = (struct dwell_slice){ left.at + digits, left.bytes - digits };
	}
	return text;
}

/* What stands before the time (or the event): comm, ids, CPU. True if there are ids. */
static bool prefix_parse(struct dwell_slice prefix, struct dwell_script_header *h)
{
	struct dwell_slice left = prefix, word = word_cut(&left), before = left, next;
	uint32_t cpu;

	h->pid = h->tid = DWELL_SCRIPT_NO_ID;
	h->cpu = DWELL_SCRIPT_NO_CPU;
	if (is_misc(word)) {
		struct dwell_script_header probe = { 0 };

		next = word_cut(&before);
		if (cpu_parse(next, &cpu) || ids_parse(next, &probe)) {
			word = next;
			left = before;
		}
	}
	if (cpu_parse(word, &h->cpu)) {
		prefix = left;
		word = word_cut(&left);
	}
	if (ids_parse(word, h)) {
		h->comm = dwell_slice_trim(left);
		return true;
	}
	h->pid = h->tid = DWELL_SCRIPT_NO_ID;
	h->comm = dwell_slice_trim(prefix);
	return false;
}

/* Is there a word that ends with the colon at line[i]? Events and times end so. */
static bool colon_ends_word(struct dwell_slice line, uint32_t i)
{
	return line.at[i] == ':' && i && (i + 1 == line.bytes || dwell_slice_blank(line.at[i + 1]));
}

/* Where the word that ends before `end` begins. */
static uint32_t word_begin(struct dwell_slice line, uint32_t end)
{
	while (end && !dwell_slice_blank(line.at[end - 1]))
		end--;
	return end;
}

/* Finds the time: the last one behind a comm that the kernel could have kept, else the first. The
 * offset behind its colon, 0 if there is none. */
static uint32_t time_find(struct dwell_slice line, struct dwell_script_header *ret)
{
	uint32_t found = 0, limit = line.bytes < ANCHOR_BYTES ? line.bytes : ANCHOR_BYTES;
	bool has_ids = false;

	for (uint32_t i = 0; i < limit; i++) {
		const char *colon = memchr(line.at + i, ':', limit - i);
		struct dwell_script_header h = *ret;
		struct dwell_slice prefix;
		uint64_t tod_ns;
		bool ids;

		if (!colon)
			break;
		i = (uint32_t)(colon - line.at);
		if (!colon_ends_word(line, i) || !dwell_slice_digit(line.at[i - 1]))
			continue;
		prefix = (struct dwell_slice){ line.at, word_begin(line, i) };
		if (!time_parse(dwell_slice_of(line.at + prefix.bytes, colon), &h.time_ns))
			continue;
		tod_cut(&prefix, &tod_ns);
		ids = prefix_parse(prefix, &h);
		if (found && (has_ids >= ids) && !(ids && h.comm.bytes <= COMM_BYTES))
			continue;
		h.has_time = true;
		*ret = h;
		found = i + 1;
		has_ids |= ids;
		/* A later one would leave a longer comm. */
		if (ids && limit > i + IDS_BYTES)
			limit = i + IDS_BYTES;
	}
	return found;
}

/* `period event: rest`: the event ends at the first colon before a blank. */
static void body_parse(struct dwell_slice body, struct dwell_script_header *h)
{
	const char *at, *end, *digits;

	body = dwell_slice_trim(body);
	at = body.at;
	end = body.at + body.bytes;
	h->rest = body;
	if (dwell_slice_begins(body, "PERF_RECORD_")) {
		h->is_record = true;
		return;
	}
	for (digits = at; digits < end && dwell_slice_digit(*digits); digits++)
		;
	if (digits > at && (digits == end || dwell_slice_blank(*digits)) &&
	    dwell_slice_u64(dwell_slice_of(at, digits), &h->period)) {
		while (digits < end && dwell_slice_blank(*digits))
			digits++;
	} else {
		digits = at;
	}
	for (const char *colon = digits; (colon = memchr(colon, ':', (size_t)(end - colon)));
	     colon++) {
		if (colon == digits || (colon + 1 < end && !dwell_slice_blank(colon[1])))
			continue;
		h->has_period = digits > at;
		h->event = dwell_slice_of(digits, colon);
		h->rest = dwell_slice_of(colon + 1, end);
		return;
	}
	if (digits > at && digits == end) { /* a period, and no event */
		h->has_period = true;
		h->rest = dwell_slice_of(end, end);
	}
}

/* `comm tid [cpu] [period] event: rest` (-F without time). Two numbers before the event are tid and
 * period only if the second stands in a column as wide as a period's, or behind the CPU. */
static bool untimed_parse(struct dwell_slice line, struct dwell_script_header *h)
{
	uint32_t limit = line.bytes < ANCHOR_BYTES ? line.bytes : ANCHOR_BYTES;

	for (uint32_t i = 1; i < limit; i++) {
		struct dwell_slice prefix = { line.at, word_begin(line, i) }, left, word;
		uint32_t event = prefix.bytes;

		if (!colon_ends_word(line, i) || event == i)
			continue;
		left = prefix;
		word = word_cut(&left);
		if (dwell_slice_equal(word, "raw")) { /* "raw 0x1a8:" */
			event = left.bytes;
			prefix = left;
			word = word_cut(&left);
		} else if (dwell_slice_digit(line.at[event])) { /* a time that is none */
			continue;
		}
		if (dwell_slice_u64(word, &h->period)) {
			struct dwell_slice before = left, dated = left, cpu = word_cut(&before);
			uint32_t width = left.bytes - (before.bytes + cpu.bytes) + word.bytes;
			uint32_t ignored;

			h->has_period = cpu_parse(cpu, &ignored) || width > PERIOD_WIDTH ||
					tod_cut(&dated, &h->time_ns);
			if (h->has_period)
				prefix = left;
		}
		h->has_time = tod_cut(&prefix, &h->time_ns);
		if (!prefix_parse(prefix, h))
			continue;
		h->event = dwell_slice_of(line.at + event, line.at + i);
		h->rest = dwell_slice_trim(dwell_slice_of(line.at + i + 1, line.at + line.bytes));
		return true;
	}
	return false;
}

bool dwell_script_header_parse(struct dwell_slice line, struct dwell_script_header *ret)
{
	struct dwell_script_header h = { .pid = DWELL_SCRIPT_NO_ID,
					 .tid = DWELL_SCRIPT_NO_ID,
					 .cpu = DWELL_SCRIPT_NO_CPU };
	uint32_t body;

	line = guest_cut(dwell_slice_trim(line));
	h.event = h.rest = dwell_slice_of(line.at, line.at);
	body = time_find(line, &h);
	if (body)
		body_parse((struct dwell_slice){ line.at + body, line.bytes - body }, &h);
	else if (dwell_slice_begins(line, "PERF_RECORD_") || !untimed_parse(line, &h))
		return false;
	h.rest = dwell_slice_trim(h.rest);
	*ret = h;
	return true;
}

/* The word of hexadecimal digits that ends a column as wide as an address's. False if none does. */
static bool address_find(struct dwell_slice line, uint32_t *ret_at, uint32_t *ret_digits)
{
	uint32_t gap = 0; /* where the blanks before a word begin */

	for (uint32_t i = 0; i < line.bytes;) {
		uint32_t end;

		if (dwell_slice_blank(line.at[i])) {
			i++;
			continue;
		}
		for (end = i; end < line.bytes && dwell_slice_hex(line.at[end]); end++)
			;
		if (end > i && end - i <= ADDRESS_WIDTH && end - gap > ADDRESS_WIDTH &&
		    (end == line.bytes || dwell_slice_blank(line.at[end]))) {
			*ret_at = i;
			*ret_digits = end - i;
			return true;
		}
		while (i < line.bytes && !dwell_slice_blank(line.at[i]))
			i++;
		gap = i;
	}
	return false;
}

bool dwell_script_bare_frame(struct dwell_slice line)
{
	uint32_t at, digits;

	return line.bytes && *line.at == '\t' && address_find(line, &at, &digits) &&
	       at + digits == ADDRESS_WIDTH + 1;
}

bool dwell_script_bare_is(struct dwell_slice text)
{
	uint32_t lines = 0, framed = 0, at, digits;
	bool tabs = false, far = false;

	while (text.bytes) {
		const char *newline = memchr(text.at, '\n', text.bytes);
		const char *end = newline ? newline : text.at + text.bytes;
		struct dwell_slice line = dwell_slice_of(text.at, end);
		struct dwell_script_header h;

		text = dwell_slice_of(newline ? end + 1 : end, text.at + text.bytes);
		if (line.bytes && line.at[line.bytes - 1] == '\r')
			line.bytes--;
		if (!dwell_slice_trim(line).bytes || *line.at == '#')
			continue;
		if (dwell_script_header_parse(line, &h))
			return false;
		if (!newline && lines) /* cut */
			break;
		lines++;
		tabs |= dwell_script_bare_frame(line);
		if (!address_find(line, &at, &digits))
			continue;
		framed++;
		far |= digits >= FAR_DIGITS;
	}
	return tabs || (far && framed == lines);
}

/* `comm tid [cpu] period`, of which any may be missing. */
static bool bare_prefix(struct dwell_slice prefix, struct dwell_script_header *h)
{
	struct dwell_slice left = prefix, word = word_cut(&left), before = left;
	uint32_t ignored;

	if (dwell_slice_u64(word, &h->period) &&
	    (!dwell_slice_trim(left).bytes || cpu_parse(word_cut(&before), &ignored) ||
	     left.bytes - before.bytes + word.bytes > PERIOD_WIDTH)) {
		h->has_period = dwell_slice_trim(left).bytes;
		prefix = h->has_period ? left : prefix;
	}
	prefix_parse(prefix, h);
	return h->comm.bytes <= COMM_BYTES;
}

bool dwell_script_bare_parse(struct dwell_slice line, struct dwell_script_header *ret,
			     bool *ret_framed)
{
	struct dwell_script_header h = { .pid = DWELL_SCRIPT_NO_ID,
					 .tid = DWELL_SCRIPT_NO_ID,
					 .cpu = DWELL_SCRIPT_NO_CPU };
	const char *end = line.at + line.bytes;
	uint32_t at = line.bytes, digits;
	bool framed = address_find(line, &at, &digits);
	struct dwell_slice head = { line.at, at }, before;

	h.event = dwell_slice_of(line.at, line.at);
	h.rest = dwell_slice_trim(dwell_slice_of(line.at + at, end));
	for (uint32_t i = 1; i < head.bytes && i < ANCHOR_BYTES; i++) {
		uint32_t event = word_begin(line, i);

		if (!colon_ends_word(line, i) || event == i)
			continue;
		before = (struct dwell_slice){ line.at, event };
		if (dwell_slice_equal(word_cut(&before), "raw")) /* "raw 0x1a8:" */
			event = before.bytes;
		h.event = dwell_slice_of(line.at + event, line.at + i);
		h.rest = dwell_slice_trim(dwell_slice_of(line.at + i + 1, end));
		head.bytes = event;
		break;
	}
	if (!bare_prefix(dwell_slice_trim(head), &h))
		return false;
	*ret = h;
	*ret_framed = framed;
	return true;
}
