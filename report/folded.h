/* SPDX-License-Identifier: MIT */
/* The folded sink: `frame;frame N` lines in ns, equal lines summed, sorted bytewise. */
#ifndef DWELL_REPORT_FOLDED_H
#define DWELL_REPORT_FOLDED_H

#include <stdio.h>

#include "lib/array.h"
#include "lib/idmap.h"
#include "report/sink.h"

struct folded_line {
	uint32_t prefix, stack;
	uint64_t ns;
	const char *text;
	size_t bytes;
};

/* Zero-initialise, set out; release after the walk. Owns lines. */
struct folded {
	FILE *out; /* borrowed */
	const struct dwell_view *view;
	DWELL_ARRAY(struct folded_line) lines;
	struct dwell_idmap index; /* prefix << 32 | stack -> line + 1 */
};

extern const struct dwell_sink_ops folded_ops; /* user = struct folded */

void folded_release(struct folded *folded);

#endif
