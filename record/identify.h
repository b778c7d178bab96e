/* SPDX-License-Identifier: MIT */
/* What can only be learnt while the recorded processes live: build ids of the files they run, and
 * names of the code they made. Learnt once per file and frame, and put into the trace. */
#ifndef DWELL_RECORD_IDENTIFY_H
#define DWELL_RECORD_IDENTIFY_H

#include <stdint.h>

#include "lib/array.h"
#include "parse/elf/addrspace.h"
#include "parse/stack.h"
#include "record/trace_writer.h"

struct identify_code {
	uint32_t frame;
	int32_t pid;
	uint64_t address;
};

/* Zero-initialised, with the borrowed members set, it is ready. */
struct identify {
	struct dwell_strings *strings;
	struct dwell_stacks *stacks;
	struct trace_writer *writer;
	DWELL_ARRAY(uint8_t) looked_at;		/* by file id */
	DWELL_ARRAY(struct identify_code) code; /* run-time code without a name yet */
	uint64_t map_bytes;			/* read of perf-PID.map files */
	uint64_t maps_unread;			/* files that were too large for what is left */
};

void identify_release(struct identify *identify);

/* A frame in a mapping of pid was met for the first time. 0 or -ENOMEM. */
int identify_frame(struct identify *identify, int32_t pid, const struct dwell_mapping *map,
		   uint32_t frame);

/* Opens the file that pid has mapped: by the mapping itself, which finds deleted and replaced files
 * too, else by name in the process's own file tree if that is still the same file. A descriptor, or
 * -errno when neither can be. */
int identify_open(const struct identify *identify, int32_t pid, const struct dwell_mapping *map);

/* Names the run-time code of pid from its perf-PID.map (pid -1 = of all processes): before the
 * process is gone, and at the end. 0 or -ENOMEM. */
int identify_code_of(struct identify *identify, int32_t pid);

#endif
