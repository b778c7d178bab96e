// SPDX-License-Identifier: MIT
/* /proc becomes STATE and COUNT records: what each target does at the recording's start and end,
 * and how often it was switched in after a loss. A reading counts only if the thread did not run
 * meanwhile. */
#include <errno.h>
#include <string.h>

#include "record/procfs.h"
#include "record/recording.h"

enum {
	/* Reading one thread takes tens of microseconds; the rings are looked at this often. */
	DRAIN_EVERY = 64,
	COUNT_TRIES = 3,
	STOP_MAX_NS = 250000000, /* for readings once it is asked to end */
	STOP_GRACE_NS = 20000000,
	STOP_PART = 8, /* the part of a given duration that may go to readings at its end */
};

static int state_text(struct recording *rec, int32_t pid, int32_t tid,
		      struct dwell_task_reading *reading, uint32_t *ret_stack)
{
	struct proc_stack_frame frames[PROC_STACK_MAX];
	struct proc_syscall call;
	char wchan[PROC_SYMBOL_BYTES];
	int count, rc;

	proc_read_syscall(pid, tid, &call);
	reading->syscall = call.number;
	memcpy(reading->args, call.args, sizeof(call.args));
	rc = proc_read_wchan(pid, tid, wchan, sizeof(wchan))
		     ? 0
		     : dwell_strings_add(rec->strings, wchan, strlen(wchan), &reading->wchan);
	count = proc_read_stack(pid, tid, frames);
	if (!rc && count > 0)
		rc = chains_proc_stack(rec->chains, frames, count, ret_stack);
	return rc;
}

static int state_read(struct recording *rec, int32_t pid, int32_t tid, enum dwell_state_phase phase)
{
	struct dwell_task_reading reading = { 0 };
	uint32_t stack = 0;
	struct proc_schedstat before = { 0 }, after = { 0 };
	struct proc_stat stat;
	uint64_t time_ns;
	int rc;

	reading.counted = !proc_read_schedstat(pid, tid, &before);
	reading.syscall = -1;
	if (proc_read_stat(pid, tid, &stat))
		return 0; /* gone */
	reading.state = (uint8_t)dwell_task_state_of(stat.state);
	reading.phase = (uint8_t)phase;
	if (reading.state != DWELL_TASK_RUNNING && pid != rec->own_pid) {
		rc = state_text(rec, pid, tid, &reading, &stack);
		if (rc)
			return rc;
	}
	time_ns = recording_now_ns(rec); /* between two equal counts: that count holds then */
	reading.counted &= !proc_read_schedstat(pid, tid, &after);
	reading.stable = reading.counted && before.switches_in == after.switches_in;
	reading.run_ns = after.run_ns;
	reading.wait_ns = after.wait_ns;
	reading.switches_in = after.switches_in;
	if (!reading.stable)
		time_ns = recording_now_ns(rec); /* after what it says was so */
	return trace_writer_state(rec->writer, time_ns, tid, &reading, stack);
}

/* A count that holds at its time: read before and after, and the same. Of a thread that switches
 * all the time there is none; its next event tells. */
static int count_read(struct recording *rec, int32_t pid, int32_t tid, enum dwell_state_phase phase)
{
	struct proc_schedstat before, after;
	uint64_t time_ns;

	(void)phase;
	if (proc_read_schedstat(pid, tid, &after))
		return 0; /* gone */
	for (int i = 0; i < COUNT_TRIES; i++) {
		before = after;
		time_ns = recording_now_ns(rec);
		if (proc_read_schedstat(pid, tid, &after))
			return 0;
		if (before.switches_in == after.switches_in)
			return trace_writer_count(rec->writer, time_ns, tid, after.switches_in);
	}
	return 0;
}

/* Reads something of each living thread, and what the rings get meanwhile: births move the list.
 * What is not read by until_ns is left out. */
static int threads_read(struct recording *rec, enum dwell_state_phase phase, uint64_t until_ns,
			int (*thread_read)(struct recording *rec, int32_t pid, int32_t tid,
					   enum dwell_state_phase phase))
{
	uint32_t count, *tids;
	const uint32_t *sorted = tids_sorted(&rec->tids, &count);
	int rc = 0;

	tids = malloc((count + 1) * sizeof(*tids));
	if (!tids)
		return -ENOMEM;
	memcpy(tids, sorted, count * sizeof(*tids));
	for (uint32_t i = 0; !rc && i < count && recording_now_ns(rec) < until_ns; i++) {
		const struct tid_slot *slot = tids_slot(&rec->tids, tids[i]);

		if (tids[i] < TID_ALIAS && slot->alive && slot->pid > 0)
			rc = thread_read(rec, slot->pid, (int32_t)tids[i], phase);
		if (!rc && i % DRAIN_EVERY == DRAIN_EVERY - 1)
			rc = intake_pass(rec);
	}
	free(tids);
	return rc;
}

int snapshot_start(struct recording *rec)
{
	uint64_t before_ns = recording_now_ns(rec);
	int rc = threads_read(rec, DWELL_PHASE_START, rec->until_ns ? rec->until_ns : UINT64_MAX,
			      state_read);

	rec->states_ns = recording_now_ns(rec) - before_ns;
	return rc;
}

/* The window ends behind the last reading. */
uint64_t snapshot_due_ns(const struct recording *rec)
{
	uint64_t most_ns = rec->config->duration_ns / STOP_PART;

	return rec->until_ns - (rec->states_ns < most_ns ? rec->states_ns : most_ns);
}

int snapshot_stop(struct recording *rec)
{
	uint64_t now_ns = recording_now_ns(rec), until_ns = now_ns + STOP_MAX_NS;

	if (rec->until_ns) /* or a little later, where there is little to read */
		until_ns = (rec->until_ns > now_ns ? rec->until_ns : now_ns) + STOP_GRACE_NS;
	return threads_read(rec, DWELL_PHASE_STOP, until_ns, state_read);
}

int snapshot_count(struct recording *rec, uint32_t tid)
{
	const struct tid_slot *slot = tids_slot(&rec->tids, tid);

	return slot->alive && slot->pid > 0
		       ? count_read(rec, slot->pid, (int32_t)tid, DWELL_PHASE_START)
		       : 0;
}

int snapshot_counts(struct recording *rec)
{
	rec->recount = false; /* a loss meanwhile asks again */
	return threads_read(rec, DWELL_PHASE_START, UINT64_MAX, count_read);
}
