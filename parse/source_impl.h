/* SPDX-License-Identifier: MIT */
/* What the front door and the formats behind it share: the tables and facts that every format
 * fills, and the operations a format supplies. Only parse/ includes this. */
#ifndef DWELL_PARSE_SOURCE_IMPL_H
#define DWELL_PARSE_SOURCE_IMPL_H

#include "lib/array.h"
#include "lib/exec.h"
#include "parse/source.h"

struct source_fact {
	char *key, *value;
};

struct source_ops {
	/* As dwell_source_next(). */
	int (*next)(struct dwell_source *source, const struct dwell_event **ret_event,
		    struct dwell_err *err);
	void (*close)(struct dwell_source *source);
	/* As dwell_source_binaries(); NULL = of no use. */
	int (*binaries)(struct dwell_source *source, const struct dwell_symbols_options *options);
};

struct dwell_source {
	int fd;
	const struct source_ops *ops; /* NULL until a format took the file */
	void *format;		      /* its own state */
	struct dwell_source_info info;
	struct dwell_strings *strings;
	struct dwell_stacks *stacks;
	struct dwell_threads *threads;
	DWELL_ARRAY(struct source_fact) facts;
	uint32_t facts_set; /* how often one was set */
	DWELL_ARRAY(struct dwell_event_desc) events;
	DWELL_ARRAY(struct dwell_coverage) coverage;
};

/* Sets a fact, replacing an older value. Bytes need not be NUL-terminated. 0, -ENOMEM, or
 * -EBADMSG when there are more than any recorder writes. */
int source_fact_set(struct dwell_source *source, const char *key, uint64_t key_bytes,
		    const char *value, uint64_t value_bytes);
/* The same with a NUL-terminated text (NULL or empty: nothing is set), and with a number. */
int source_fact_set_text(struct dwell_source *source, const char *key, const char *value);
int source_fact_set_u64(struct dwell_source *source, const char *key, uint64_t value);

/* Who leaves a CPU is who came to it, though its tid may have passed to another by then: a thread
 * gives it back some time before its last switch. running came last to the CPU; left is who left it
 * in a switch whose record may still come, else DWELL_THREAD_NONE. The one of both that has tid, or
 * DWELL_THREAD_NONE: then the thread table tells. */
uint32_t source_leaving(const struct dwell_source *source, uint32_t left, uint32_t running,
			int64_t tid);

/* next comes to cpu, prev leaves it; either may be DWELL_THREAD_NONE. */
void source_switched(const struct dwell_source *source, uint32_t prev, uint32_t next, uint32_t cpu);

/* A tid is seen on cpu, where running runs as far as the switches tell (or DWELL_THREAD_NONE): if
 * that proves an exec by a thread that is not its process's leader, it and the leader exchange
 * their tids in the thread table (lib/exec.h). 0 or -ENOMEM. */
int source_exec_seen(const struct dwell_source *source, uint32_t cpu, uint32_t running, int64_t tid,
		     enum dwell_sight sight);

/* The thread *index execs at time_ns, though its life has ended: another has begun, whose first
 * part is not known. *index becomes that. 0 or -ENOMEM. */
int source_exec_life(const struct dwell_source *source, uint64_t time_ns, uint32_t *index);

/* A source without input, for a format (or a test) to fill. NULL when out of memory. */
struct dwell_source *source_new(void);

/* Opens the own trace format on source->fd; head are the bytes already read. */
int trace_source_open(struct dwell_source *source, const uint8_t *head, uint32_t head_bytes,
		      struct dwell_err *err);

struct trace_input;
/* The same from any input: tests and fuzzing read from memory. */
int trace_source_open_input(struct dwell_source *source, const struct trace_input *input,
			    const uint8_t *head, uint32_t head_bytes, struct dwell_err *err);

/* Opens perf-script text on source->fd. threads: how many parse, 0 = as many as there are CPUs. */
int script_source_open(struct dwell_source *source, unsigned threads, const uint8_t *head,
		       uint32_t head_bytes, struct dwell_err *err);

struct script_input;
/* The same from any input, whose user must outlive the source. */
int script_source_open_input(struct dwell_source *source, const struct script_input *input,
			     unsigned threads, const uint8_t *head, uint32_t head_bytes,
			     struct dwell_err *err);

/* What a sample may weigh: in ns two years, and more than any counter counts between two samples.
 */
#define SOURCE_WEIGHT_MAX (1ull << 56)

/* Opens a perf.data on source->fd (of a directory: its `data`); head are the bytes already read. */
int perf_source_open(struct dwell_source *source, const char *path, bool is_directory,
		     const uint8_t *head, uint32_t head_bytes, struct dwell_err *err);

#endif
