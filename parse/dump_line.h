/* SPDX-License-Identifier: MIT */
/* One event becomes one line of text, and its stack the lines below it: the format of `dwell dump`,
 * which dwell-dump(1) documents. */
#ifndef DWELL_PARSE_DUMP_LINE_H
#define DWELL_PARSE_DUMP_LINE_H

#include <stdbool.h>
#include <stdio.h>

#include "parse/elf/symbols.h"
#include "parse/source.h"

struct dump_style {
	bool absolute;		       /* raw times in ns, else seconds since the window's start */
	bool stacks;		       /* frames below each event that has a stack */
	struct dwell_symbols *symbols; /* resolves names; NULL = only those that were recorded */
};

/* The name of an event kind: "switch", "switch-in", ... ; "?" for others. */
const char *dump_kind_name(unsigned kind);

/* Prints the event, names as of now: call it before the source's next event. Names are printable,
 * and cut at 4,096 bytes. Errors are the stream's, for the caller to find. */
void dump_event(FILE *out, struct dwell_source *source, const struct dump_style *style,
		const struct dwell_event *event);

#endif
