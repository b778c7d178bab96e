/* SPDX-License-Identifier: MIT */
/* perf-script text in memory: opened as a file would be. For unit tests and fuzzing; out of memory
 * aborts. */
#ifndef DWELL_TESTS_SYNTH_SCRIPT_H
#define DWELL_TESTS_SYNTH_SCRIPT_H

#include <stdlib.h>

#include "parse/script_reader.h"
#include "parse/source_impl.h"
#include "tests/synth/memory.h"

/* memory must outlive the source. 0, or -errno with err set. */
static inline int script_memory_open(struct memory_input *memory, unsigned threads,
				     struct dwell_source **ret_source, struct dwell_err *err)
{
	struct script_input input = { memory_read, memory };
	struct dwell_source *source = source_new();
	uint32_t head_bytes = memory->bytes < 16 ? (uint32_t)memory->bytes : 16;
	int rc;

	if (!source)
		abort();
	memory->at = head_bytes;
	rc = script_source_open_input(source, &input, threads, memory->data, head_bytes, err);
	if (rc)
		dwell_source_close(source);
	else
		*ret_source = source;
	return rc;
}

#endif
