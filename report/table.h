/* SPDX-License-Identifier: MIT */
/* Cells become an aligned table that fits a width: columns are as wide as their widest cell, and
 * one column gives way. */
#ifndef DWELL_REPORT_TABLE_H
#define DWELL_REPORT_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/array.h"

enum { TABLE_COLUMNS_MAX = 16 };

/* Columns that out has for text: 100, or a narrower terminal's, but no fewer than 60. */
unsigned table_width(FILE *out);

struct table_column {
	const char *title;
	bool right; /* aligned */
	bool gives; /* shortened when the table would be too wide */
};

/* Zero-initialise, set columns and column_count. Owns the cells' texts. */
struct table {
	const struct table_column *columns;
	unsigned column_count;
	DWELL_ARRAY(char *) cells; /* row by row; valid UTF-8 */
	int failed;		   /* -ENOMEM: a cell could not be added */
};

/* Adds the next cell. */
void table_add(struct table *table, const char *text);

/* Prints titles and rows. paint (may be NULL) returns the escape sequence for a cell, or NULL. */
typedef const char *(*table_paint_fn)(unsigned column, const char *text);
void table_print(const struct table *table, FILE *out, table_paint_fn paint);

void table_release(struct table *table);

/* Does out want colour: a terminal, and NO_COLOR not set? */
bool table_wants_colour(FILE *out);

/* Prints text broken at spaces to table_width() columns; further lines are indented. */
void text_wrap(FILE *out, const char *text);

#endif
