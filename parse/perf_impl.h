/* SPDX-License-Identifier: MIT */
/* What the parts of the perf.data source share: the file's description becomes facts and the event
 * table (perf_facts.c), samples of scheduler events become switches and wakings (perf_sched.c),
 * other records mappings, names, births and deaths (perf_records.c), counts of a group one sample
 * each (perf_group.c), copied user stacks callchains (perf_unwind.c), and perf_source.c runs all in
 * the right order. */
#ifndef DWELL_PARSE_PERF_IMPL_H
#define DWELL_PARSE_PERF_IMPL_H

#include "parse/elf/addrspace.h"
#include "parse/elf/callchain.h"
#include "parse/elf/unwinder.h"
#include "parse/perf/data.h"
#include "parse/perf/tracepoint.h"
#include "parse/perf_kernel.h"
#include "parse/source_impl.h"

/* What a sample of an event is for the join. */
enum perf_role {
	PERF_ROLE_SAMPLE = 0, /* nothing but a sample */
	PERF_ROLE_SWITCH,     /* sched:sched_switch */
	PERF_ROLE_WAKING,     /* sched:sched_waking, else sched:sched_wakeup */
	PERF_ROLE_WAKEUP_NEW, /* sched:sched_wakeup_new */
	PERF_ROLE_STACK,      /* context-switches: the stack of the SWITCH record that follows */
	PERF_ROLE_OFF_CPU,    /* offcpu-time of perf record --off-cpu */
};

enum { PERF_JOINED_MAX = 1024 };

struct perf_cpu {
	uint32_t running;   /* thread that runs as far as switches tell, or DWELL_THREAD_NONE */
	uint32_t left;	    /* who left in the switch whose records may still come */
	uint64_t last_ns;   /* stamp of the last record */
	uint32_t stack;	    /* of the last PERF_ROLE_STACK sample, ... */
	uint32_t stack_tid; /* ... which was of this thread; 0 = none */
};

/* The counts that a sample of a group read, one event each, being handed out. */
struct perf_group {
	const struct dwell_perf_layout *layout;
	struct dwell_perf_sample sample; /* into the record at hand */
	uint64_t next;			 /* of its counts; group_count = all handed out */
	struct dwell_event event;	 /* what all of them have in common */
	uint64_t seed;
	struct dwell_idmap places;  /* hash of id, and tid where inherited -> last + 1 */
	DWELL_ARRAY(uint64_t) last; /* counts read before */
};

/* source->format of a perf.data. */
struct perf_source {
	struct dwell_perf_data *data;
	const struct dwell_perf_data_info *info;
	struct dwell_addrspaces *spaces;
	struct dwell_callchains *chains;
	struct perf_kernel kernel;
	struct dwell_idmap build_ids; /* path (string id) -> build id's index + 1 */
	DWELL_ARRAY(uint8_t) roles;   /* enum perf_role, by event */
	struct dwell_sched_switch sched_switch;
	struct dwell_sched_waking waking, wakeup_new;
	DWELL_ARRAY(struct perf_cpu) cpus;
	struct perf_cpu nowhere; /* for records without a CPU */
	uint32_t cpus_told;	 /* EVENT_CPU handed out for these */
	uint8_t witness;	 /* enum dwell_witness of every CPU */
	bool switch_records;	 /* PERF_RECORD_SWITCH decide who runs */
	DWELL_ARRAY(bool) seen;	 /* by thread: an event of the window named it */
	bool timed;		 /* the record at hand lies in the window */
	uint32_t not_unwound_frame;
	uint64_t bad_samples;		  /* whose fields do not fit their record */
	struct dwell_unwinder *unwinder;  /* NULL = nobody said where binaries are */
	uint64_t not_unwound;		  /* user stacks that were copied, for that reason */
	struct dwell_idmap cgroups;	  /* kernel's id -> path (string id) */
	uint64_t joined[PERF_JOINED_MAX]; /* a chain and its user part that came later */
	struct perf_group group;
	struct dwell_event event; /* the one handed out */
};

/* Facts and event table from the file's description; roles of events. 0, -ENOMEM. */
int perf_facts_read(struct dwell_source *source, struct dwell_err *err);

/* The thread of tid now (pid -1 = not told), added when not known or, unless may_be_dead, when it
 * has died. In a recording of targets it is observed if it is a target; in one of all threads, from
 * the window's start, once an event of the window names it: that perf found it in /proc before says
 * nothing of what it did. */
int perf_thread(struct dwell_source *source, int32_t pid, int32_t tid, bool may_be_dead,
		bool target, uint32_t *ret_index);

/* The state of a CPU; never NULL. 0 or -ENOMEM. */
int perf_cpu_of(struct perf_source *perf, uint32_t cpu, struct perf_cpu **ret_cpu);

/* The thread of tid that leaves a CPU: see source_leaving(). 0 or -ENOMEM. */
int perf_thread_leaving(struct dwell_source *source, const struct perf_cpu *cpu, int32_t pid,
			int32_t tid, bool is_record, uint32_t *ret_index);

/* Records become events in perf->event: 0, 1 = only tables learnt something, -ENOMEM. */
int perf_take_sample(struct dwell_source *source, const struct dwell_perf_record *record);
int perf_take_record(struct dwell_source *source, const struct dwell_perf_record *record);

/* The stack of a sample. 0 or -ENOMEM. */
int perf_stack(struct dwell_source *source, const struct dwell_perf_record *record,
	       const struct dwell_perf_sample *sample, enum dwell_callchain_part part,
	       uint32_t *ret_stack);

/* The sample at hand, whose event stands in perf->event, read the counts of a group. */
void perf_group_begin(struct perf_source *perf, const struct dwell_perf_layout *layout,
		      const struct dwell_perf_sample *sample);
/* The next event of the group that has counted anything since its last sample becomes perf->event:
 * 0, 1 when there is none, or -ENOMEM. */
int perf_group_next(struct perf_source *perf);
void perf_group_release(struct perf_group *group);

/* Where binaries are looked for from now on. 0, -EINVAL when that was said before, or -ENOMEM. */
int perf_unwind_open(struct dwell_source *source, const struct dwell_symbols_options *options);
/* Unwinds the sample's copied user stack: true, and *chain and *count, which come in as the
 * kernel's chain, are as dwell_unwinder_chain() makes them. */
bool perf_unwind(struct perf_source *perf, const struct dwell_perf_layout *layout,
		 const struct dwell_perf_sample *sample, int32_t pid, const uint64_t **chain,
		 uint64_t *count, uint32_t *ret_root);

/* A sample of a scheduler event. */
int perf_sched_switch(struct dwell_source *source, const struct dwell_perf_record *record,
		      const struct dwell_perf_sample *sample);
int perf_sched_waking(struct dwell_source *source, const struct dwell_perf_record *record,
		      const struct dwell_perf_sample *sample,
		      const struct dwell_sched_waking *waking, uint8_t kind);

#endif
