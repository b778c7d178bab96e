// SPDX-License-Identifier: MIT
/* Rows of cells become lines of text within a width. */
#include "report/table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report/text.h"

enum { CELL_BYTES = 1024, NARROWEST = 8, NARROWEST_TERMINAL = 60, WIDEST = 100 };

/* How wide things come out; gaps shrink before a column has to give. */
struct layout {
	size_t widths[TABLE_COLUMNS_MAX];
	int gap;
};

void table_add(struct table *table, const char *text)
{
	char *copy = strdup(text);

	if (!copy || dwell_array_grow(&table->cells)) {
		free(copy);
		table->failed = -ENOMEM;
		return;
	}
	table->cells.data[table->cells.count++] = copy;
}

/* Does the table fit? */
static bool measure(const struct table *table, size_t available, struct layout *layout)
{
	size_t *widths = layout->widths, gaps = table->column_count - 1, total = 0;

	for (unsigned c = 0; c < table->column_count; c++)
		widths[c] = text_columns(table->columns[c].title);
	for (uint32_t i = 0; i < table->cells.count; i++) {
		size_t columns = text_columns(table->cells.data[i]);

		if (columns > widths[i % table->column_count])
			widths[i % table->column_count] = columns;
	}
	for (unsigned c = 0; c < table->column_count; c++)
		total += widths[c];
	layout->gap = total + 2 * gaps > available ? 1 : 2;
	total += (size_t)layout->gap * gaps;
	for (unsigned c = 0; c < table->column_count && total > available; c++) {
		size_t give = total - available;

		if (!table->columns[c].gives || widths[c] <= NARROWEST)
			continue;
		if (give > widths[c] - NARROWEST)
			give = widths[c] - NARROWEST;
		widths[c] -= give;
		total -= give;
	}
	return total <= available;
}

static void print_cell(const struct table *table, const struct layout *layout, FILE *out,
		       unsigned c, const char *text, table_paint_fn paint)
{
	const char *colour = paint ? paint(c, text) : NULL;
	size_t width = layout->widths[c], columns = text_columns(text);
	int pad = columns < width ? (int)(width - columns) : 0;
	char fitted[CELL_BYTES];

	text_fit(fitted, sizeof(fitted), text, columns < width ? columns : width);
	fprintf(out, "%*s%*s%s%s%s", c ? layout->gap : 0, "", table->columns[c].right ? pad : 0, "",
		colour ? colour : "", fitted, colour ? "\033[0m" : "");
	if (c + 1 == table->column_count)
		putc('\n', out);
	else if (!table->columns[c].right)
		fprintf(out, "%*s", pad, "");
}

void table_print(const struct table *table, FILE *out, table_paint_fn paint)
{
	struct layout layout;

	/* Where lines must break anyhow, names are better whole. */
	if (!measure(table, table_width(out), &layout))
		measure(table, WIDEST, &layout);
	for (unsigned c = 0; c < table->column_count; c++)
		print_cell(table, &layout, out, c, table->columns[c].title, NULL);
	for (uint32_t i = 0; i < table->cells.count; i++) {
		unsigned c = i % table->column_count;

		print_cell(table, &layout, out, c, table->cells.data[i], paint);
	}
}

void table_release(struct table *table)
{
	for (uint32_t i = 0; i < table->cells.count; i++)
		free(table->cells.data[i]);
	dwell_array_release(&table->cells);
}

unsigned table_width(FILE *out)
{
	struct winsize size;

	/* A terminal that does not know its size says 0. */
	if (ioctl(fileno(out), TIOCGWINSZ, &size) || !size.ws_col || size.ws_col > WIDEST)
		return WIDEST;
	return size.ws_col < NARROWEST_TERMINAL ? NARROWEST_TERMINAL : size.ws_col;
}

bool table_wants_colour(FILE *out)
{
	const char *no = getenv("NO_COLOR");

	return !(no && *no) && isatty(fileno(out)) == 1;
}

void text_wrap(FILE *out, const char *text)
{
	size_t column = 0, width = table_width(out);

	while (*text) {
		size_t bytes = strcspn(text, " "), columns = text_columns_of(text, bytes);

		if (column && column + 1 + columns > width) {
			fputs("\n  ", out);
			column = 2;
		} else if (column) {
			putc(' ', out);
			column++;
		}
		fwrite(text, 1, bytes, out);
		column += columns;
		text += bytes;
		text += strspn(text, " ");
	}
	putc('\n', out);
}
