/* SPDX-License-Identifier: MIT */
/* Code that processes make at run time: its frames become names, from perf-PID.map and
 * jit-PID.dump files, while the process lives or, by what was held open of it, just after. */
#ifndef DWELL_RECORD_JITCODE_H
#define DWELL_RECORD_JITCODE_H

#include <stdint.h>

#include "lib/array.h"
#include "lib/idmap.h"
#include "parse/elf/addrspace.h"
#include "parse/elf/jitdump.h"
#include "parse/elf/perfmap.h"
#include "parse/stack.h"
#include "record/trace_writer.h"

struct jitcode_frame {
	uint32_t frame;
	int32_t pid;
	uint32_t epoch;
	uint64_t address;
};

struct jitcode_process {
	int32_t pid; /* 0 = a free entry */
	struct dwell_perfmap_place place;
	struct dwell_jitdump *dump; /* NULL = none */
	bool placed;		    /* place has been looked for */
};

/* Zero-initialised, with the borrowed members set, it is ready. */
struct jitcode {
	struct dwell_strings *strings;
	struct dwell_stacks *stacks;
	struct trace_writer *writer;
	uint64_t since_ns;			  /* CLOCK_REALTIME: the recording's start */
	DWELL_ARRAY(struct jitcode_frame) frames; /* without a name yet */
	DWELL_ARRAY(struct jitcode_process) processes;
	struct dwell_idmap by_pid; /* pid -> index + 1 */
	uint32_t dumps, placed;	   /* processes with a dump, with a place */
	uint64_t map_bytes;	   /* read of perf-PID.map files, */
	uint64_t dump_bytes;	   /* ... and of jit-PID.dump files */
	uint64_t maps_unread;	   /* files that were too large for what is left */
	uint64_t dumps_unread;	   /* not to be opened or believed, or of another clock */
	uint64_t late;		   /* code replaced earlier than its dump told */
};

void jitcode_release(struct jitcode *jit);

/* A frame in memory of process pid was met for the first time. 0 or -ENOMEM. */
int jitcode_frame(struct jitcode *jit, int32_t pid, uint32_t frame);

/* Process pid has mapped a jit-PID.dump; fd is that file, and taken over, or an errno. 0 or
 * -ENOMEM. */
int jitcode_dump(struct jitcode *jit, int32_t pid, int fd);

/* Reads what dumps have gained. To be called before the events of a pass are taken. 0 or -ENOMEM.
 */
int jitcode_more(struct jitcode *jit);

/* From here on what happens in pid happens at time_ns or later: code that took the place of other
 * code until then is another file. 0 or -ENOMEM. */
int jitcode_until(struct jitcode *jit, struct dwell_addrspaces *spaces, int32_t pid,
		  uint64_t time_ns);

/* A process pid is born: what is still held of another one goes. */
void jitcode_born(struct jitcode *jit, int32_t pid);

/* Names the frames of pid (-1 = of all processes): before the process is gone, and at the end. What
 * has no name there will not get one. 0 or -ENOMEM. */
int jitcode_name(struct jitcode *jit, int32_t pid);

#endif
