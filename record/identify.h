/* SPDX-License-Identifier: MIT */
/* What can only be learnt while the recorded processes live: build ids of the files they run, and
 * names of the code they made. Learnt once per file and frame, and put into the trace. */
#ifndef DWELL_RECORD_IDENTIFY_H
#define DWELL_RECORD_IDENTIFY_H

#include <stdint.h>

#include "lib/array.h"
#include "parse/elf/addrspace.h"
#include "parse/stack.h"
#include "record/jitcode.h"
#include "record/trace_writer.h"

/* A file as it was when its build id was read. */
struct identify_known {
	uint64_t device, inode, changed_ns;
	uint8_t build_id_bytes; /* 0 = it has none */
	uint8_t build_id[DWELL_BUILD_ID_MAX];
};

/* How often a file was tried to be opened, and through which process last: the next that maps it
 * may still live. */
struct identify_try {
	uint32_t count;
	int32_t pid;
};

/* A file of which frames were met, open. */
struct identify_held {
	uint32_t file;
	int fd;
};

struct identify {
	struct dwell_strings *strings;
	struct dwell_stacks *stacks;
	struct trace_writer *writer;
	DWELL_ARRAY(struct identify_try) tries;	  /* by file id */
	DWELL_ARRAY(struct identify_known) known; /* build ids that were read */
	struct dwell_idmap known_of;		  /* hash of device, inode, change -> index + 1 */
	DWELL_ARRAY(struct identify_held) held;	  /* 256 at most */
	struct jitcode jit;
};

/* Tables are borrowed, and so are the writers to be set before the first event. */
void identify_init(struct identify *identify, struct dwell_strings *strings,
		   struct dwell_stacks *stacks);
void identify_release(struct identify *identify);

/* A mapping of process map->pid is new, or known anew (dwell_mapped_fn, user is the identify):
 * finds its build id in the file that is mapped, and opens a jit-PID.dump. */
int identify_mapped(void *user, const struct dwell_mmap *map,
		    uint8_t ret_build_id[DWELL_BUILD_ID_MAX]);

/* A frame in a mapping of pid was met for the first time. 0 or -ENOMEM. */
int identify_frame(struct identify *identify, int32_t pid, const struct dwell_mapping *map,
		   uint32_t frame);

/* Finds the build id of the file that pid has mapped, and keeps it open for the end, unless that
 * was done: again through another process where the first was gone. 0 or -ENOMEM. */
int identify_file(struct identify *identify, int32_t pid, const struct dwell_mapping *map);

/* Opens the file that pid has mapped: by the mapping itself, which finds deleted and replaced files
 * too, else by name in the process's own file tree if that is still the same file. A descriptor, or
 * -errno when neither can be. */
int identify_open(const struct identify *identify, int32_t pid, const struct dwell_mapping *map);

/* Opens a file again that is held since frames of it were met (dwell_symbols_options.open, user is
 * the identify; file is an entry of its table). A descriptor, or -errno. */
int identify_reopen(void *user, const struct dwell_file *file);

#endif
