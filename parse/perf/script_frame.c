// SPDX-License-Identifier: MIT
/* A frame line of perf-script text becomes a symbol and a file. Symbols hold blanks and
 * parentheses, and so do the names of files, so both are told apart from the right. */
#include "parse/perf/script.h"

#include <string.h>

enum { ADDRESS_DIGITS = 16, ADDRESS_COLUMN = 17 };

/* The digits of an address at the text's begin; 0 when it is something else. */
static uint32_t address_digits(struct dwell_slice text)
{
	uint32_t n = 0;

	while (n < text.bytes && dwell_slice_hex(text.at[n]))
		n++;
	if (n > ADDRESS_DIGITS || (n < text.bytes && !dwell_slice_blank(text.at[n])))
		return 0;
	return n;
}

/* Tools that print as perf does write words where the address was. */
static uint32_t word_bytes(struct dwell_slice text)
{
	uint32_t n = 0;

	while (n < text.bytes && (dwell_slice_digit(text.at[n]) || text.at[n] == '_' ||
				  (unsigned)((text.at[n] | 0x20) - 'a') < 26))
		n++;
	if (n == text.bytes || !dwell_slice_blank(text.at[n]) || !dwell_slice_ends(text, ")"))
		return 0;
	return n;
}

bool dwell_script_frame_split(struct dwell_slice line, struct dwell_slice *ret_tail)
{
	struct dwell_slice text = dwell_slice_trim(line);
	uint32_t n = address_digits(text);

	if (!n)
		n = word_bytes(text);
	if (!n)
		return false;
	*ret_tail = (struct dwell_slice){ text.at + n, text.bytes - n };
	return true;
}

/* Where the parenthesis that the last one closes opens, if blanks or nothing stand before it. */
static bool opening_find(struct dwell_slice text, uint32_t *ret_at)
{
	uint32_t depth = 0;

	for (uint32_t i = text.bytes; i--;) {
		if (text.at[i] == ')')
			depth++;
		else if (text.at[i] == '(' && --depth == 0) {
			*ret_at = i;
			return i == 0 || dwell_slice_blank(text.at[i - 1]);
		}
	}
	/* A file's name with a parenthesis too many. */
	for (uint32_t i = text.bytes; i--;)
		if (text.at[i] == '(' && (i == 0 || dwell_slice_blank(text.at[i - 1]))) {
			*ret_at = i;
			return true;
		}
	return false;
}

/* Without "+0x1f" at its end. */
static struct dwell_slice offset_cut(struct dwell_slice text)
{
	uint32_t n = text.bytes;

	while (n && dwell_slice_hex(text.at[n - 1]))
		n--;
	if (n < text.bytes && n >= 3 && !memcmp(text.at + n - 3, "+0x", 3))
		text.bytes = n - 3;
	return text;
}

static struct dwell_slice known(struct dwell_slice text)
{
	if (dwell_slice_equal(text, "[unknown]"))
		text.bytes = 0;
	return text;
}

void dwell_script_frame_parse(struct dwell_slice tail, struct dwell_script_frame *ret)
{
	static const char inlined[] = "(inlined)";
	struct dwell_slice text = dwell_slice_trim(tail);
	struct dwell_script_frame frame = { .dso = { text.at, 0 } };
	uint32_t open;

	if (dwell_slice_ends(text, inlined)) {
		text.bytes -= sizeof(inlined) - 1;
		frame.inlined = true;
	} else if (dwell_slice_ends(text, ")") && opening_find(text, &open)) {
		frame.dso = (struct dwell_slice){ text.at + open + 1, text.bytes - open - 2 };
		text.bytes = open;
	} else {
		/* The text may be cut inside a file's name. */
		for (uint32_t i = text.bytes; i-- > 1;) {
			if (text.at[i] == ')')
				break;
			if (text.at[i] != '(' || !dwell_slice_blank(text.at[i - 1]))
				continue;
			frame.dso = (struct dwell_slice){ text.at + i + 1, text.bytes - i - 1 };
			text.bytes = i;
			break;
		}
	}
	frame.symbol = known(offset_cut(dwell_slice_trim(text)));
	frame.dso = known(offset_cut(dwell_slice_trim(frame.dso)));
	frame.cookie = !frame.symbol.bytes && dwell_slice_equal(frame.dso, "cookie");
	*ret = frame;
}

bool dwell_script_rest_frame(struct dwell_slice *rest, struct dwell_slice *ret_tail)
{
	struct dwell_slice found = { 0 };
	uint32_t text_bytes = 0, last_end = 0;

	for (uint32_t i = 0; i < rest->bytes;) {
		struct dwell_slice word = { rest->at + i, rest->bytes - i };
		uint32_t digits;

		if (dwell_slice_blank(rest->at[i])) {
			i++;
			continue;
		}
		digits = address_digits(word);
		/* perf prints addresses in a column of 16, behind a blank. */
		if (digits && (i == 0 || i - last_end + digits >= ADDRESS_COLUMN)) {
			found = (struct dwell_slice){ word.at + digits, word.bytes - digits };
			text_bytes = last_end;
		}
		while (i < rest->bytes && !dwell_slice_blank(rest->at[i]))
			i++;
		last_end = i;
	}
	if (!found.at)
		return false;
	rest->bytes = text_bytes;
	*ret_tail = found;
	return true;
}

/* "operator()" and "operator<": their signs are no brackets. The bytes of such a name at text[i].
 */
static uint32_t operator_bytes(struct dwell_slice text, uint32_t i)
{
	static const char word[] = "operator";
	static const char *const signs[] = { "()", "->*", "->",	 "<=>", "<<=", "<<",
					     "<=", "<",	  ">>=", ">>",	">=",  ">" };
	struct dwell_slice left = { text.at + i, text.bytes - i };

	if (!dwell_slice_begins(left, word))
		return 0;
	left.at += sizeof(word) - 1;
	left.bytes -= sizeof(word) - 1;
	for (unsigned s = 0; s < sizeof(signs) / sizeof(signs[0]); s++)
		if (dwell_slice_begins(left, signs[s]))
			return (uint32_t)(sizeof(word) - 1 + strlen(signs[s]));
	return sizeof(word) - 1;
}

/* Go: "net/http.(*Client).Do" has its receiver in parentheses. */
static bool is_go_method(struct dwell_slice text)
{
	bool open = false;

	for (uint32_t i = 1; i + 1 < text.bytes; i++) {
		open |= text.at[i] == '(' && text.at[i - 1] == '.';
		if (open && text.at[i] == ')' && text.at[i + 1] == '.')
			return true;
	}
	return false;
}

struct dwell_slice dwell_script_name(struct dwell_slice symbol)
{
	uint32_t depth = 0;

	if (!memchr(symbol.at, '(', symbol.bytes) || is_go_method(symbol))
		return symbol;
	for (uint32_t i = 0; i < symbol.bytes;) {
		struct dwell_slice left = { symbol.at + i, symbol.bytes - i };
		char c = symbol.at[i];
		uint32_t skip;

		if (c == 'o' && (skip = operator_bytes(symbol, i)) != 0) {
			i += skip;
			continue;
		}
		if (c == '(' && dwell_slice_begins(left, "(anonymous namespace)")) {
			i += sizeof("(anonymous namespace)") - 1;
			continue;
		}
		if (c == '(' && !depth && i)
			return dwell_slice_trim((struct dwell_slice){ symbol.at, i });
		if (c == '<')
			depth++;
		else if (c == '>' && depth && symbol.at[i - 1] != '-')
			depth--;
		i++;
	}
	return symbol;
}
