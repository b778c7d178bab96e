/* SPDX-License-Identifier: MIT */
/* The perf events of a recording: attributes, descriptors, rings, filters, counts. CPU-wide where
 * tracepoints may be used; per task and CPU where not. */
#ifndef DWELL_RECORD_EVENTS_H
#define DWELL_RECORD_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/array.h"
#include "lib/err.h"
#include "parse/perf/sample.h"
#include "parse/perf/tracepoint.h"
#include "record/config.h"
#include "record/ring.h"
#include "record/tidfilter.h"

enum record_event {
	RECORD_CLOCK = 0,  /* cpu-clock: on-CPU stacks; owns the main ring */
	RECORD_SWITCH,	   /* sched:sched_switch */
	RECORD_WAKING,	   /* sched:sched_waking */
	RECORD_WAKEUP_NEW, /* sched:sched_wakeup_new */
	RECORD_STACKS,	   /* context-switches: switch-out stacks without tracepoints */
	RECORD_RECORDS,	   /* dummy with context_switch: PERF_RECORD_SWITCH */
	RECORD_SIDE,	   /* dummy with mmap2, comm, task: a ring of its own */
	RECORD_EVENTS
};

/* What the running kernel and our privileges allow. */
struct record_facts {
	bool tracepoints;   /* raw tracepoints, CPU-wide */
	bool kernel_chains; /* perf_event_paranoid <= 1 or CAP_PERFMON */
	struct dwell_sched_switch sched_switch;
	struct dwell_sched_waking waking, wakeup_new;
	char *switch_format, *waking_format, *wakeup_new_format; /* texts, owned */
	char why_not[512]; /* why tracepoints may not be used, and what would help */
};

/* Probes. 0 or -ENOMEM; lack of privilege is not an error here. */
int record_facts_read(struct record_facts *facts, struct dwell_err *err);
void record_facts_release(struct record_facts *facts);

struct event_fd {
	int fd;
	uint8_t event; /* enum record_event */
	uint32_t cpu;
};

struct event_count {
	uint64_t kernel, parsed, lost;
	bool counts_lost; /* the kernel does: since Linux 6.0 */
};

struct cpu_events {
	bool wanted;	  /* to be recorded (-C) */
	bool up;	  /* the kernel said at the last look that it is online */
	bool online;	  /* is recorded, or was until it went */
	bool blind;	  /* no tracepoint arrives while the idle task is current */
	bool records;	  /* SWITCH records are on */
	bool provisional; /* ... until the CPU is seen not to be blind: it could not be tested */
	bool away;	  /* went or came while it was recorded */
	bool gone;	  /* was taken offline: its events are dead, also when it is back */
	uint64_t ran_ns;  /* how long the ring's owner had been running at the last look */
	int owner_fd;	  /* owns the main ring */
	struct ring main, side;
	struct event_count counts[RECORD_EVENTS];
};

struct events {
	const struct record_config *config;
	const struct record_facts *facts;
	struct cpu_events *cpus;
	uint32_t cpu_count;
	uint64_t ring_bytes, side_bytes;
	uint32_t test_next;		 /* CPU to be tested next, modulo their number */
	struct dwell_perf_layout layout; /* of the records in the rings */
	struct dwell_perf_layout copied; /* ... of samples that carry a copy of the user stack */
	DWELL_ARRAY(struct event_fd) fds;
};

/* How samples in the main rings are laid out, from config and facts; events_init() does it too. */
void events_layout_init(struct events *events);

/* Opens nothing yet: finds the CPUs. 0 or -errno with err set. */
int events_init(struct events *events, const struct record_config *config,
		const struct record_facts *facts, struct dwell_err *err);
void events_release(struct events *events);

/* May thread tid run on a CPU that is not recorded (-C)? */
bool events_roams(const struct events *events, uint32_t tid);

/* Tests each CPU for tracepoints that do not arrive while its idle task runs. */
int events_test_cpus(struct events *events, struct dwell_err *err);

/* Tests again some of the CPUs that were too busy before (provisional), others at the next call: 0
 * or -errno. Whose test tells now is provisional no more. */
int events_test_again(struct events *events);

/* Opens the side events and starts them, so that mappings are followed before /proc is read. */
int events_open_side(struct events *events, struct dwell_err *err);
/* Opens the main events of every CPU, disabled; filter NULL = no filter. */
int events_open_cpu_wide(struct events *events, const struct tidfilter *filter,
			 struct dwell_err *err);
/* The same for one thread and, if inherit, its children: for the unprivileged levels. -ESRCH when
 * the thread is gone. */
int events_open_task(struct events *events, int32_t tid, struct dwell_err *err);
/* Puts events with another filter in the place of the filtered ones. */
int events_refilter(struct events *events, const struct tidfilter *filter, struct dwell_err *err);
/* Turns SWITCH records on for a CPU while recording. */
int events_add_records(struct events *events, uint32_t cpu, struct dwell_err *err);

/* How long a CPU's CPU-wide events ran since the last look, UINT64_MAX if that cannot be read. The
 * kernel takes them off their CPU when that goes offline, and tells nobody: enabled they may stay,
 * or become later, but they run no more. */
uint64_t events_ran_ns(struct events *events, uint32_t cpu);

/* How many records the CPU's side ring had no room for, since the recording began; 0 where the
 * kernel does not count them. */
uint64_t events_side_lost(const struct events *events, uint32_t cpu);

/* Reads which CPUs are up. 0 or -errno. */
int events_look_up(struct events *events);

/* Opens the events of a CPU that has come, or is back, and enables them. What its rings still have
 * is gone. -errno: as before, without events. */
int events_reopen(struct events *events, uint32_t cpu, const struct tidfilter *filter);

/* Turns them off again. */
void events_drop_records(struct events *events, uint32_t cpu);

int events_enable(struct events *events, struct dwell_err *err);
/* Disables everything and adds the kernel's counts to counts[]. */
void events_disable(struct events *events);

/* "perf_event_paranoid is 2; ..." for an error of perf_event_open; `enough` is the value at which
 * it would have worked. */
void events_explain(int code, int enough, char *text, uint32_t text_bytes);

#endif
