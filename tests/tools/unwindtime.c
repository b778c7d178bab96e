// SPDX-License-Identifier: MIT
/* A perf.data with copied user stacks becomes a line: how long unwinding takes a frame. Each stack
 * is timed on its own; those of the file's first half are not counted, since tables are made there.
 *
 *   unwindtime FILE */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/array.h"
#include "lib/io.h"
#include "parse/elf/unwinder.h"
#include "parse/recorded.h"
#include "parse/source.h"

struct stack_time {
	uint64_t ns, frames;
};

static struct {
	DWELL_ARRAY(struct stack_time) stacks;
} times;

/* The linker puts this before the function of the library (Makefile: --wrap). */
bool __real_dwell_unwinder_chain(struct dwell_unwinder *unwinder, int32_t pid, int32_t tid,
				 const struct dwell_copied_stack *copied, const uint64_t **chain,
				 uint64_t *count, uint32_t *ret_root);
bool __wrap_dwell_unwinder_chain(struct dwell_unwinder *unwinder, int32_t pid, int32_t tid,
				 const struct dwell_copied_stack *copied, const uint64_t **chain,
				 uint64_t *count, uint32_t *ret_root);

bool __wrap_dwell_unwinder_chain(struct dwell_unwinder *unwinder, int32_t pid, int32_t tid,
				 const struct dwell_copied_stack *copied, const uint64_t **chain,
				 uint64_t *count, uint32_t *ret_root)
{
	uint64_t begin_ns = dwell_io_now_ns(), at = 0;
	bool unwound =
		__real_dwell_unwinder_chain(unwinder, pid, tid, copied, chain, count, ret_root);
	struct stack_time time = { .ns = dwell_io_now_ns() - begin_ns };

	while (unwound && at < *count && (*chain)[at] != (uint64_t)PERF_CONTEXT_USER)
		at++;
	time.frames = *count - at - 1;
	if (unwound && !dwell_array_grow(&times.stacks))
		times.stacks.data[times.stacks.count++] = time;
	return unwound;
}

static int read_all(const char *path, struct dwell_err *err)
{
	struct dwell_symbols_options options = { 0 };
	const struct dwell_event *event;
	struct dwell_source *source;
	int rc = dwell_source_open(path, &source, err);

	if (rc)
		return rc;
	rc = dwell_recorded_binaries(source, path, &options, err);
	while (!rc && (rc = dwell_source_next(source, &event, err)) > 0)
		rc = 0;
	dwell_source_close(source);
	return rc;
}

int main(int argc, char **argv)
{
	struct dwell_err err = { 0 };
	uint64_t ns = 0, frames = 0;
	uint32_t first;

	if (argc != 2)
		return 2;
	if (read_all(argv[1], &err)) {
		fprintf(stderr, "unwindtime: %s\n", err.msg);
		return 1;
	}
	first = times.stacks.count / 2;
	for (uint32_t i = first; i < times.stacks.count; i++) {
		ns += times.stacks.data[i].ns;
		frames += times.stacks.data[i].frames;
	}
	if (!frames) {
		fprintf(stderr, "unwindtime: nothing to unwind\n");
		return 1;
	}
	printf("stacks %" PRIu32 " frames %" PRIu64 " ns/frame %.1f\n", times.stacks.count - first,
	       frames, (double)ns / (double)frames);
	dwell_array_release(&times.stacks);
	return 0;
}
