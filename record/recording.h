/* SPDX-License-Identifier: MIT */
/* The state of one recording, shared by the files of this room: what was asked, the open events,
 * the tables, the trace, and what was met so far. */
#ifndef DWELL_RECORD_RECORDING_H
#define DWELL_RECORD_RECORDING_H

#include "lib/exec.h"
#include "lib/idmap.h"
#include "parse/elf/addrspace.h"
#include "record/chains.h"
#include "record/config.h"
#include "record/events.h"
#include "record/merge.h"
#include "record/tids.h"
#include "record/trace_writer.h"

/* What the event stream of a CPU told last. */
struct cpu_intake {
	uint64_t last_ns;	 /* time of the last record */
	uint32_t current;	 /* tid running, as far as known */
	uint32_t births;	 /* current's slot->births when it came */
	bool chained;		 /* current is known from a switch */
	bool leaving;		 /* a sched_switch was read, the record of its switch-out not yet */
	uint64_t nameless_in_ns; /* a switch-in of an exiting thread that the next switch will name
				  */
	uint32_t tracepoint_next;
	uint32_t idle_exits;
	uint64_t told_lost; /* by LOST records of the main ring */
	uint64_t side_ns;   /* time of the side ring's last record */
	uint64_t side_told; /* lost by its LOST records, ... */
	uint64_t side_lost; /* ... and known by the kernel's count as well */
	uint64_t alive_ns;  /* until then its events are known to have run */
	uint64_t switches,
		breaks; /* switches read; those whose switch-in never came, without a loss */
	/* The last switch and waking, to drop what two filtered events both delivered. */
	uint32_t prev, next, woken;
	uint64_t woken_out_ns; /* the woken one's slot->out_ns then */
	/* A switch-out's stack that came ahead of its record. */
	uint32_t pending_tid, pending_stack;
};

/* What all side rings lost. */
struct side_loss {
	uint64_t records;
	uint64_t from_ns, to_ns; /* all within */
	uint64_t written;	 /* of the records, when the trace was told last */
};

struct recording {
	const struct record_config *config;
	struct record_facts facts;
	struct events events;
	struct dwell_strings *strings;
	struct dwell_stacks *stacks;
	struct dwell_addrspaces *spaces;
	struct chains *chains;
	struct identify identify;
	struct tids tids;
	struct trace_writer *writer;
	struct merge merge;
	struct cpu_intake *cpus;
	uint32_t event_index[RECORD_EVENTS]; /* in the trace's event table */
	struct dwell_err err;		     /* the first failure */

	bool filtering;	 /* tracepoints carry a tid filter */
	int64_t pid_max; /* the highest tid + 1 */
	struct tidfilter filter;
	bool refilter;			 /* a target is outside the filter: make a new one */
	DWELL_ARRAY(uint32_t) uncovered; /* targets outside the filter */
	uint64_t overlap_until_ns;	 /* two filtered events may deliver the same until then */
	uint64_t passed_over; /* events of threads that are no targets, since the last look */

	bool pid_namespace;	     /* tracepoint tids are not ours */
	struct dwell_idmap own_tids; /* root namespace tid -> ours */
	uint64_t frames_unnamed;     /* for which there was no time at the end */
	uint64_t foreign;	     /* threads that have no tid of ours, as far as known */
	struct dwell_idmap forks;    /* our parent tid -> our child tid, until its first wakeup */

	int64_t clock_offset_ns;	/* kernel's CLOCK_MONOTONIC - ours */
	uint64_t start_ns, end_ns;	/* window, on the trace's clock; 0 = open */
	uint64_t until_ns;		/* when it is to end; 0 = not known */
	uint64_t states_ns;		/* how long reading all states took at the start */
	uint64_t pass_ns, last_pass_ns; /* when this pass and the one before noted the rings */

	bool recount;	    /* events were lost: read switch counts */
	bool rescan;	    /* side records were lost: read /proc again */
	bool names_doubted; /* ... and a thread may have another name than we know */
	struct side_loss side_loss;
	uint64_t records; /* read from the rings */
	uint64_t lost;
	uint64_t loss_ns; /* end of the last gap */
	int32_t own_pid;
};

/* Now, on the trace's clock. */
uint64_t recording_now_ns(const struct recording *rec);

/* No record that is still to come is stamped before this: what a flush may promise. */
uint64_t recording_horizon_ns(const struct recording *rec);

/* --- intake.c: one pass over the rings. 0 or -errno with rec->err set. */
int intake_pass(struct recording *rec);

/* --- loss.c: what is missing from the rings. Each: 0 or -errno. */
/* A LOST record of a main ring: its CPU has a gap. */
int loss_main(struct recording *rec, uint32_t cpu, const struct perf_event_header *header,
	      uint64_t time_ns);
/* One of a side ring: births, names, deaths or mappings are missing. */
int loss_side(struct recording *rec, uint32_t cpu, const struct perf_event_header *record,
	      uint64_t time_ns);
/* Was the side ring just noted so full that something may be lost behind its last record? Then the
 * kernel's count is read. */
void loss_look(struct recording *rec, uint32_t cpu);
/* When all is read: what was lost after a ring's last record becomes a gap, or counts as such. */
int loss_last(struct recording *rec);
/* A parent that wakes its new child proves the birth, if no FORK told of it. */
int loss_birth(struct recording *rec, uint64_t time_ns, uint32_t parent, uint32_t child);
/* May threads have other names than we know? */
static inline bool loss_doubts_names(const struct recording *rec)
{
	return rec->names_doubted || rec->merge.losing;
}
/* A sample of a thread tells its process, and a switch-out its name (comm, else NULL), where
 * records that would have told it may be lost. */
int loss_learn(struct recording *rec, uint32_t cpu, const struct dwell_perf_sample *sample,
	       const char *comm);
/* Reads from /proc what names and processes its targets have. */
int loss_reread(struct recording *rec);

/* --- side.c: mappings, names, births and deaths. 0 or -errno. */
int side_record(struct recording *rec, uint32_t cpu, const struct perf_event_header *record,
		uint64_t time_ns);

/* --- witness.c: prev left the CPU, as a tracepoint told. 0 or -errno. */
int witness_check(struct recording *rec, uint32_t cpu, uint32_t prev);

/* --- exec.c: exec by a thread other than the leader. If what is told proves one, it and the leader
 * exchange their tids, in the books and in the trace. 0 or -errno. */
/* tid is seen on the CPU that it came to before. */
int exec_seen(struct recording *rec, uint32_t cpu, uint32_t tid, enum dwell_sight sight,
	      uint64_t time_ns);
/* tid comes to the CPU. */
int exec_comes(struct recording *rec, uint32_t cpu, uint32_t tid, uint64_t time_ns);
/* May an exec have given the thread `before` the tid `after`? */
bool exec_renamed(const struct recording *rec, uint32_t before, uint32_t after);
/* Process pid execs. */
int exec_comm(struct recording *rec, uint32_t cpu, uint32_t pid, uint64_t time_ns);

/* --- targets.c */
/* Makes the threads asked for targets, reads their mappings, and puts them into the trace. May be
 * called again: takes in what is new. 0, or -errno with err set (no such process). */
int targets_collect(struct recording *rec, struct dwell_err *err);
/* Births were lost: makes targets of the threads that targets bore, as far as /proc tells them (a
 * thread's parent is a process there, so not with single threads as targets). 0 or -errno. */
int targets_collect_offspring(struct recording *rec);
/* Makes one thread a target. -ESRCH when it is gone. */
int targets_add(struct recording *rec, int32_t pid, int32_t tid);
/* Is a thread of this process to be observed in a whole-system recording? */
bool targets_want(struct recording *rec, int32_t pid);
/* The trace learns that tid exists, before the first event that names it. comm may be NULL. */
int targets_declare(struct recording *rec, uint64_t time_ns, uint32_t tid, int32_t pid,
		    const char *comm);
/* A filter that lets through the targets of now and, with inherit, all that they may bear from now
 * on. Takes a pass over the rings: a birth that is not read yet would fall between the two. */
int targets_filter(struct recording *rec, struct tidfilter *ret_filter);
/* Does the filter in force let through the tids that come next after this one? */
bool targets_next_covered(const struct recording *rec, uint32_t tid);
/* A target came at time_ns. If it is outside the filter in force, the trace says that it is not
 * observed until another filter is, which is asked for. 0 or -ENOMEM. */
int targets_cover(struct recording *rec, uint64_t time_ns, uint32_t tid);
/* Ends targets that are gone though their last switch was not seen, until one is met that lives: so
 * the recording ends with the last of them. Gone at two looks, with a pass over the rings between.
 */
void targets_prune(struct recording *rec);
/* Builds the filter for the targets of now and puts it in force. */
int targets_refilter(struct recording *rec);

/* --- snapshot.c: states of all targets from /proc, draining the rings meanwhile. Without a reading
 * a thread is what its events tell: so the window's end is not put off for long. */
int snapshot_start(struct recording *rec);
/* When snapshot_stop() should begin, for the window to end as asked for; 0 = no matter. */
uint64_t snapshot_due_ns(const struct recording *rec);
int snapshot_stop(struct recording *rec);
/* Switch counts of all targets, after a loss; of one. */
int snapshot_counts(struct recording *rec);
int snapshot_count(struct recording *rec, uint32_t tid);

#endif
