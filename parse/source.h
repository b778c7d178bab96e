/* SPDX-License-Identifier: MIT */
/* The front door of every input format: opens a file, tells the format by content, and yields
 * events in time order. It owns the tables that ids in events point into. */
#ifndef DWELL_PARSE_SOURCE_H
#define DWELL_PARSE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"
#include "lib/strings.h"
#include "parse/elf/symbols.h"
#include "parse/event.h"
#include "parse/stack.h"
#include "parse/thread.h"

enum dwell_unit { DWELL_UNIT_COUNT = 0, DWELL_UNIT_NS };

/* One recorded event, as SAMPLE events name it by index. */
struct dwell_event_desc {
	uint32_t name;	  /* string id: "cpu-clock", "sched:sched_switch", ... */
	uint32_t format;  /* string id of the tracepoint's format text, 0 = none */
	uint64_t period;  /* sample period in the event's unit, 0 = frequency mode */
	uint32_t freq_hz; /* 0 = fixed period */
	uint8_t unit;	  /* enum dwell_unit, of the weights */
	bool is_clock;	  /* its samples are time on CPU: they spread on-CPU time over stacks */
	bool is_empty;	  /* it is known already that none of its samples will come */
	bool is_wait;	  /* its samples are waits that are over, their weight how long they were */
};

/* Delivery of one event on one CPU: what the kernel counted against what was read. */
struct dwell_coverage {
	uint32_t event, cpu;
	uint64_t kernel_count; /* read() of the descriptor when it was closed */
	uint64_t parsed;       /* records read from the ring */
	uint64_t lost;	       /* PERF_RECORD_LOST and PERF_FORMAT_LOST */
	bool blind_idle;       /* tested: no tracepoint arrives while this CPU's idle task runs */
};

/* Facts about the recording. Members marked (end) are final once next() returned 0. */
struct dwell_source_info {
	const char *format_name; /* "dwell trace", "perf.data", ... */
	uint64_t start_ns;	 /* window start on the trace's clock */
	uint64_t end_ns;	 /* (end) window end */
	uint32_t cpus;		 /* number of CPUs, i.e. highest CPU seen + 1 */
	bool all_threads;	 /* the whole system was observed: per-CPU books can balance */
	bool has_switches;	 /* there are scheduler events: off-CPU time can be told */
	bool has_wakings;	 /* wakers were recorded: runnable (woken) can be told */
	/* There are scheduler events, but off-CPU time cannot be told from them (has_switches is
	 * false): one sentence, why, and which command records what can. Else NULL. */
	const char *no_switches_reason;
	bool untimed;		  /* samples have no times: they come in the file's order */
	bool named_frames;	  /* frames are known by name only: their offsets mean nothing */
	bool finished;		  /* (end) the recorder closed the file itself */
	bool damaged;		  /* (end) reading stopped at bytes that cannot be right */
	uint64_t unread_bytes;	  /* (end) bytes behind the place where reading stopped */
	uint64_t lost;		  /* (end) records lost, all CPUs */
	uint64_t late;		  /* (end) events that came out of order beyond repair */
	uint64_t recorder_cpu_ns; /* (end) CPU time the recorder took */
	uint64_t file_bytes;	  /* size of the input, 0 for a pipe */
	uint64_t wakings_dropped; /* (end) wakings that the kernel counted and never delivered */
	uint64_t switches_unused; /* (end) scheduler events that came too late for has_switches */
	uint64_t unknown_lines;	  /* (end) lines of a text that are not understood */
};

struct dwell_source; /* opaque */

/* Opens path ("-" = standard input). 0, or -errno with err set. Release with close. */
int dwell_source_open(const char *path, struct dwell_source **ret_source, struct dwell_err *err);
void dwell_source_close(struct dwell_source *source);

/* Says where binaries are looked for, as for symbols (parse/recorded.h fills in what the recording
 * tells): user stacks that were copied are unwound with them. To be called before the first event
 * is asked for; without it such stacks are DWELL_FRAME_NOT_UNWOUND. 0, -EINVAL the second time, or
 * -ENOMEM. */
int dwell_source_binaries(struct dwell_source *source, const struct dwell_symbols_options *options);

/* The next event in time order: 1 and *ret_event (valid until the next call), 0 at the end,
 * -errno with err set when reading cannot go on at all. A cut or damaged file ends with 0 and
 * info->finished false: what was read is good. */
int dwell_source_next(struct dwell_source *source, const struct dwell_event **ret_event,
		      struct dwell_err *err);

const struct dwell_source_info *dwell_source_info(const struct dwell_source *source);

/* Header facts as key/value text: "host.name", "kernel.release", "command", "clock.realtime_ns",
 * "label.KEY", ... ; NULL when absent. dwell_source_fact_at() walks them: NULL past the last. */
const char *dwell_source_fact(const struct dwell_source *source, const char *key);
/* A fact as a number; 0 when absent or not a number. */
uint64_t dwell_source_fact_u64(const struct dwell_source *source, const char *key);
const char *dwell_source_fact_at(const struct dwell_source *source, uint32_t index,
				 const char **ret_value);

/* Tables; owned by the source, growing while events are read. */
struct dwell_strings *dwell_source_strings(struct dwell_source *source);
struct dwell_stacks *dwell_source_stacks(struct dwell_source *source);
struct dwell_threads *dwell_source_threads(struct dwell_source *source);

/* The event table: NULL past the last. */
const struct dwell_event_desc *dwell_source_event_desc(const struct dwell_source *source,
						       uint32_t index);
/* Coverage rows, final at the end: NULL past the last. */
const struct dwell_coverage *dwell_source_coverage(const struct dwell_source *source,
						   uint32_t index);

#endif
