/* SPDX-License-Identifier: MIT */
/* A piece of perf-script text that holds whole samples becomes records. Names, frame lines and
 * stacks are numbered by the parser that met them; a chunk tells which numbers are new, so that
 * chunks taken in the order of the text define everything before it is used. */
#ifndef DWELL_PARSE_SCRIPT_CHUNK_H
#define DWELL_PARSE_SCRIPT_CHUNK_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/array.h"
#include "parse/perf/script.h"
#include "parse/script_memo.h"

enum script_kind {
	SCRIPT_SAMPLE = 0,
	SCRIPT_SWITCH,
	SCRIPT_WAKING,
	SCRIPT_WAKEUP, /* sched_wakeup: counts where there is no sched_waking */
	SCRIPT_WAKEUP_NEW,
	SCRIPT_COMM,
	SCRIPT_FORK,
	SCRIPT_EXIT,
	SCRIPT_SWITCH_IN,
	SCRIPT_SWITCH_OUT,
	SCRIPT_LOST,
	SCRIPT_KINDS
};

/* A header line with what belongs to it. Ids are the parser's, 0 = none. */
struct script_record {
	uint64_t time_ns, period; /* period: SCRIPT_LOST: records lost */
	int32_t pid, tid;	  /* whose line it is; DWELL_SCRIPT_NO_ID */
	uint32_t cpu;
	uint32_t comm, event, stack;
	int32_t prev_tid;		/* SWITCH */
	int32_t other_pid, other_tid;	/* next, woken, new comm's or child's; who else switches */
	int32_t parent_pid, parent_tid; /* FORK */
	uint32_t other_comm;
	uint32_t target_cpu;
	uint8_t kind;  /* enum script_kind */
	uint8_t state; /* SWITCH: enum dwell_task_state */
	bool has_time, has_period, preempted, exec;
};

/* Local ids of frames, leaf first. */
struct script_stack {
	uint32_t first, count; /* in stack_frames */
};

struct script_chunk {
	char *text; /* owned */
	uint32_t bytes, room;
	uint32_t parser; /* index of who parsed it */
	bool forget;	 /* that parser began anew: its older ids mean nothing any more */
	int rc;		 /* -ENOMEM: the records are not complete */
	uint64_t known,
		unknown; /* lines that the grammar knows as headers; that it does not know */
	uint64_t comments;
	DWELL_ARRAY(struct script_record) records;
	/* What the ids that are new in this chunk stand for, in their order; slices of text. */
	DWELL_ARRAY(struct dwell_slice) new_names;
	DWELL_ARRAY(struct dwell_slice) new_frames; /* tails */
	DWELL_ARRAY(struct script_stack) new_stacks;
	DWELL_ARRAY(uint32_t) stack_frames;
	DWELL_ARRAY(struct dwell_slice) facts; /* `# key : value` lines, the first of them */
};

void script_chunk_release(struct script_chunk *chunk);

/* What one thread knows while it parses chunk after chunk. */
struct script_parser {
	uint32_t index;
	struct memo names, frames, stacks;
	DWELL_ARRAY(uint8_t) name_kinds; /* by name id - 1: enum script_kind of an event's name */
	DWELL_ARRAY(uint32_t) open;	 /* frames of the sample that is open */
	bool is_open;
	bool bare;			   /* text without times and tids: */
	struct dwell_script_header opener; /* what may be a sample's first line, ... */
	bool has_opener;		   /* ... if the next line agrees */
	struct script_chunk *chunk;
};

int script_parser_init(struct script_parser *parser, uint32_t index, bool bare);
void script_parser_release(struct script_parser *parser);

/* Parses chunk->text, filling the rest of the chunk. */
void script_chunk_parse(struct script_parser *parser, struct script_chunk *chunk);

#endif
