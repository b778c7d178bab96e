// SPDX-License-Identifier: MIT
/* Rows of cells become lines of text within a width. */
#include "report/table.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/text.h"

enum { CELL_BYTES = 1024, NARROWEST = 8 };

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

static void measure(const struct table *table, struct layout *layout)
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
	layout->gap = total + 2 * gaps > TABLE_WIDTH ? 1 : 2;
	total += (size_t)layout->gap * gaps;
	for (unsigned c = 0; c < table->column_count && total > TABLE_WIDTH; c++) {
		size_t give = total - TABLE_WIDTH;

		if (!table->columns[c].gives || widths[c] <= NARROWEST)
			continue;
		if (give > widths[c] - NARROWEST)
			give = widths[c] - NARROWEST;
		widths[c] -= give;
		total -= give;
	}
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

	measure(table, &layout);
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

bool table_wants_colour(FILE *out)
{
	const char *no = getenv("NO_COLOR");

	return !(no && *no) && isatty(fileno(out)) == 1;
}

void text_wrap(FILE *out, const char *text)
{
	size_t column = 0;

	while (*text) {
		size_t bytes = strcspn(text, " "), columns = text_columns_of(text, bytes);

		if (column && column + 1 + columns > TABLE_WIDTH) {
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
