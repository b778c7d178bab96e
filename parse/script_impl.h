/* SPDX-License-Identifier: MIT */
/* What the files behind script_source.c share: the state of a perf-script text that is read. */
#ifndef DWELL_PARSE_SCRIPT_IMPL_H
#define DWELL_PARSE_SCRIPT_IMPL_H

#include "parse/script_probe.h"
#include "parse/script_reader.h"
#include "parse/script_tables.h"

enum {
	/* An event, and before it what it implies: a new comm, a CPU's witness. */
	SCRIPT_PENDING_MAX = 4,
	/* Text in which more lines than these are not known is something else. */
	UNKNOWN_LINES = 100,
	UNKNOWN_LINES_EACH = 64,
};

/* Of one CPU: who came to it and who left it, whatever their tids mean by now. */
struct script_cpu {
	uint32_t running, left; /* thread indexes or DWELL_THREAD_NONE */
	uint64_t last_ns;	/* its last event */
	bool seen;
};

struct script_source {
	struct script_reader *reader;
	struct script_map maps[SCRIPT_THREADS_MAX]; /* by parser */
	const struct script_chunk *chunk;	    /* NULL before the first */
	uint32_t next_record;
	uint64_t last_ns;
	bool wakeup_wakes;	    /* there is no sched_waking: sched_wakeup tells who wakes */
	bool two_witnesses;	    /* both sched_switch and PERF_RECORD_SWITCH */
	struct dwell_idmap entries; /* of events: name (string id) -> entry + 1 */
	DWELL_ARRAY(struct script_cpu) cpus;
	struct dwell_event pending[SCRIPT_PENDING_MAX]; /* to hand out, the last one first */
	uint32_t pending_count;
};

/* Makes the pending events of a record, which may be none. 0 or -ENOMEM. */
int script_record_take(struct dwell_source *source, struct script_source *script,
		       const struct script_record *record, uint64_t time_ns);

#endif
