/* SPDX-License-Identifier: MIT */
/* The grammar of what `perf script` prints: a line becomes what it says, as slices of the line
 * itself. Nothing is copied, kept or allocated; every function takes any bytes. */
#ifndef DWELL_PARSE_PERF_SCRIPT_H
#define DWELL_PARSE_PERF_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/task.h"

/* Bytes of the line that was parsed; never NUL-terminated. */
struct dwell_slice {
	const char *at;
	uint32_t bytes;
};

/* What is not printed: a pid or tid, a CPU. */
#define DWELL_SCRIPT_NO_ID  (-1)
#define DWELL_SCRIPT_NO_CPU UINT32_MAX

/* The first line of a sample or of a side record:
 * `comm pid/tid [cpu] time: period event: rest`, of which -F may leave out any. */
struct dwell_script_header {
	struct dwell_slice comm;
	int32_t pid, tid; /* a lone number is the tid */
	uint32_t cpu;
	bool has_time, has_period;
	bool is_record; /* rest is "PERF_RECORD_...", there is no event */
	uint64_t time_ns;
	uint64_t period;
	struct dwell_slice event; /* modifiers stay: "cycles:u"; empty when not printed */
	struct dwell_slice rest;  /* trace text, or the sample's only frame, or both */
};

/* True if the line (without its newline) is such a line. It must show a time or a tid. */
bool dwell_script_header_parse(struct dwell_slice line, struct dwell_script_header *ret);

/* Text whose lines show neither times nor tids (-F ip,sym; -F comm,ip,sym), by its first bytes:
 * what tells samples is the column that addresses stand in. */
bool dwell_script_bare_is(struct dwell_slice text);

/* A frame line of such text that stands in that column: it may open a sample. */
bool dwell_script_bare_frame(struct dwell_slice line);

/* The first line of a sample there, `comm tid [cpu] period event: rest` of which any may be
 * missing; *ret_framed: it has a frame in that column itself. Other lines may look the same:
 * without a frame in the line it is one only if a frame or a blank line follows. */
bool dwell_script_bare_parse(struct dwell_slice line, struct dwell_script_header *ret,
			     bool *ret_framed);

/* One line of a call chain: `address symbol+0xoffset (dso)`. */
struct dwell_script_frame {
	struct dwell_slice symbol; /* without offset; empty = "[unknown]" or not printed */
	struct dwell_slice dso;	   /* empty = "[unknown]" or not printed */
	bool inlined;		   /* ` (inlined)` in place of a dso */
	bool cookie; /* a user part that perf could not find: there is no frame here */
};

/* True if the line may be a frame; *ret_tail is all that stands behind the address: equal tails are
 * equal frames. */
bool dwell_script_frame_split(struct dwell_slice line, struct dwell_slice *ret_tail);
/* What a tail says. */
void dwell_script_frame_parse(struct dwell_slice tail, struct dwell_script_frame *ret);

/* The frame at the end of a header's rest, for events sampled without call chains; what is left of
 * the rest is trace text. False if there is none. */
bool dwell_script_rest_frame(struct dwell_slice *rest, struct dwell_slice *ret_tail);

/* How much of a symbol names the function: all but its parameter list. */
struct dwell_slice dwell_script_name(struct dwell_slice symbol);

/* sched:sched_switch, as its own print format or libtraceevent's plugin prints it. */
struct dwell_script_switch {
	struct dwell_slice prev_comm, next_comm;
	int32_t prev_tid, next_tid;
	uint8_t prev_state; /* enum dwell_task_state */
	bool preempted;	    /* "R+" */
};

/* sched:sched_waking, sched_wakeup and sched_wakeup_new. */
struct dwell_script_waking {
	struct dwell_slice comm;
	int32_t tid;
	uint32_t target_cpu; /* or DWELL_SCRIPT_NO_CPU */
};

/* From a header's rest; read from the right, since comms may hold anything. */
bool dwell_script_switch_parse(struct dwell_slice text, struct dwell_script_switch *ret);
bool dwell_script_waking_parse(struct dwell_slice text, struct dwell_script_waking *ret);

enum dwell_script_record_kind {
	DWELL_SCRIPT_RECORD_OTHER = 0,
	DWELL_SCRIPT_RECORD_COMM,
	DWELL_SCRIPT_RECORD_FORK,
	DWELL_SCRIPT_RECORD_EXIT,
	DWELL_SCRIPT_RECORD_SWITCH_IN,
	DWELL_SCRIPT_RECORD_SWITCH_OUT,
	DWELL_SCRIPT_RECORD_LOST,
};

/* `PERF_RECORD_...`, as --show-task-events, --show-switch-events and --show-lost-events print. */
struct dwell_script_record {
	uint8_t kind; /* enum dwell_script_record_kind */
	bool exec;    /* COMM */
	bool preempted;
	int32_t pid, tid;	      /* COMM, FORK (the child), EXIT */
	int32_t other_pid, other_tid; /* FORK: the parent; SWITCH: who else, or NO_ID */
	struct dwell_slice comm;      /* COMM */
	uint64_t lost;		      /* LOST */
};

/* False if the text is not a PERF_RECORD line at all. */
bool dwell_script_record_parse(struct dwell_slice text, struct dwell_script_record *ret);

/* Slices: small tools that the files of this grammar share. */
static inline bool dwell_slice_blank(char c)
{
	return c == ' ' || c == '\t';
}

static inline bool dwell_slice_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool dwell_slice_hex(char c)
{
	return dwell_slice_digit(c) || (c >= 'a' && c <= 'f');
}

/* Without blanks (and the carriage return of CRLF) at both ends. */
static inline struct dwell_slice dwell_slice_trim(struct dwell_slice text)
{
	while (text.bytes &&
	       (dwell_slice_blank(text.at[text.bytes - 1]) || text.at[text.bytes - 1] == '\r'))
		text.bytes--;
	while (text.bytes && dwell_slice_blank(*text.at)) {
		text.at++;
		text.bytes--;
	}
	return text;
}

static inline struct dwell_slice dwell_slice_of(const char *from, const char *to)
{
	return (struct dwell_slice){ from, to > from ? (uint32_t)(to - from) : 0 };
}

bool dwell_slice_equal(struct dwell_slice text, const char *other);
bool dwell_slice_begins(struct dwell_slice text, const char *prefix);
bool dwell_slice_ends(struct dwell_slice text, const char *suffix);

/* A decimal number of the whole slice, with a sign if min allows one. */
bool dwell_slice_i32(struct dwell_slice text, int32_t *ret);
bool dwell_slice_u64(struct dwell_slice text, uint64_t *ret);

#endif
