// SPDX-License-Identifier: MIT
/* Rows become folded lines. Lines are told apart by name nodes, so each text is built once, into
 * one block of memory; a sort of pointers puts them in the order of their bytes. */
#include "report/folded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { WEIGHT_BYTES = 24 }; /* " ", 20 digits, "\n", NUL */

static int folded_begin(void *user, const struct dwell_view *view, struct dwell_err *err)
{
	struct folded *folded = user;

	(void)err;
	folded->view = view;
	return 0;
}

static int folded_row(void *user, const struct dwell_sink_row *row, struct dwell_err *err)
{
	struct folded *folded = user;
	uint64_t key = (uint64_t)row->prefix << 32 | row->stack;
	uint32_t line = dwell_idmap_find(&folded->index, key);

	if (!line) {
		if (dwell_array_grow(&folded->lines) ||
		    dwell_idmap_set(&folded->index, key, folded->lines.count + 1))
			return dwell_err_sys(err, -ENOMEM, "cannot fold");
		line = ++folded->lines.count;
		folded->lines.data[line - 1] =
			(struct folded_line){ .prefix = row->prefix, .stack = row->stack };
	}
	folded->lines.data[line - 1].ns += row->row->ns;
	return 0;
}

/* Losses go to stderr and into other artefacts: a folded file has no place for them. */
static int folded_lost(void *user, const struct dwell_health *health, struct dwell_err *err)
{
	(void)user;
	(void)health;
	(void)err;
	return 0;
}

static int compare_lines(const void *a, const void *b)
{
	const struct folded_line *x = a, *y = b;
	size_t common = x->bytes < y->bytes ? x->bytes : y->bytes;
	int order = memcmp(x->text, y->text, common);

	return order ? order : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static size_t text_room(const struct folded *folded)
{
	const struct dwell_names *names = folded->view->names;
	size_t room = 0;

	for (uint32_t i = 0; i < folded->lines.count; i++) {
		const struct folded_line *line = &folded->lines.data[i];

		room += dwell_names_node(names, line->prefix)->bytes + 1 +
			dwell_names_node(names, line->stack)->bytes + WEIGHT_BYTES;
	}
	return room;
}

static void build_lines(struct folded *folded, char *at)
{
	const struct dwell_names *names = folded->view->names;

	for (uint32_t i = 0; i < folded->lines.count; i++) {
		struct folded_line *line = &folded->lines.data[i];

		line->text = at;
		dwell_names_line(names, line->prefix, at);
		at += dwell_names_node(names, line->prefix)->bytes;
		if (line->stack) {
			*at++ = ';';
			dwell_names_line(names, line->stack, at);
			at += dwell_names_node(names, line->stack)->bytes;
		}
		at += snprintf(at, WEIGHT_BYTES, " %llu\n", (unsigned long long)line->ns);
		line->bytes = (size_t)(at - line->text);
	}
}

static int folded_end(void *user, struct dwell_err *err)
{
	struct folded *folded = user;
	char *text = malloc(text_room(folded) + 1);

	if (!text)
		return dwell_err_sys(err, -ENOMEM, "cannot fold");
	build_lines(folded, text);
	if (folded->lines.count)
		qsort(folded->lines.data, folded->lines.count, sizeof(*folded->lines.data),
		      compare_lines);
	for (uint32_t i = 0; i < folded->lines.count; i++)
		fwrite(folded->lines.data[i].text, 1, folded->lines.data[i].bytes, folded->out);
	free(text);
	return 0;
}

const struct dwell_sink_ops folded_ops = { folded_begin, folded_row, folded_lost, folded_end };

void folded_release(struct folded *folded)
{
	dwell_array_release(&folded->lines);
	dwell_idmap_release(&folded->index);
}
