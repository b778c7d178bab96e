// SPDX-License-Identifier: MIT
/* Execs by threads that are not their process's leader become exchanges of tids, in the books and
 * in the trace, at the first event that proves them (lib/exec.h). */
#include "record/recording.h"

static bool runs_elsewhere(const struct recording *rec, uint32_t cpu, uint32_t tid)
{
	for (uint32_t i = 0; i < rec->events.cpu_count; i++)
		if (i != cpu && rec->cpus[i].chained && rec->cpus[i].current == tid)
			return true;
	return false;
}

static struct dwell_exec_thread exec_thread(const struct recording *rec, uint32_t tid)
{
	const struct tid_slot *slot = tids_slot(&rec->tids, tid);

	return (struct dwell_exec_thread){ .pid = slot->pid,
					   .tid = (int32_t)tid,
					   .exiting = slot->exiting,
					   .ended = !slot->alive };
}

static uint32_t tid_exchanged(uint32_t tid, uint32_t a, uint32_t b)
{
	return tid == a ? b : tid == b ? a : tid;
}

/* Whoever runs goes on running. */
static void cpus_exchange(struct recording *rec, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < rec->events.cpu_count; i++) {
		struct cpu_intake *c = &rec->cpus[i];
		uint32_t current = tid_exchanged(c->current, a, b);

		c->tracepoint_next = tid_exchanged(c->tracepoint_next, a, b);
		if (current == c->current)
			continue;
		c->current = current;
		c->births = tids_slot(&rec->tids, current)->births;
	}
}

/* The thread tid goes on as the leader of its process, and the leader, unless it ended, as tid. */
static int exec_exchange(struct recording *rec, uint32_t tid, uint32_t leader, uint64_t time_ns)
{
	const struct tid_slot *slot = tids_slot(&rec->tids, tid);
	int rc = 0;

	if (tids_slot(&rec->tids, leader)->declared)
		rc = targets_declare(rec, time_ns, tid, (int32_t)leader, NULL);
	if (!rc && slot->declared)
		rc = trace_writer_retid(rec->writer, time_ns, (int32_t)tid, (int32_t)leader);
	if (!rc)
		rc = tids_exchange(&rec->tids, tid, leader);
	if (rc)
		return rc;
	cpus_exchange(rec, tid, leader);
	return tids_slot(&rec->tids, leader)->observed ? targets_cover(rec, time_ns, leader) : 0;
}

/* What strangers do is hidden by the filter: who was seen last on a CPU may be gone. */
static bool chain_holds(const struct recording *rec, uint32_t tid)
{
	return rec->config->all || tids_slot(&rec->tids, tid)->observed;
}

int exec_seen(struct recording *rec, uint32_t cpu, uint32_t tid, enum dwell_sight sight,
	      uint64_t time_ns)
{
	const struct cpu_intake *c = &rec->cpus[cpu];
	uint32_t current = c->chained && chain_holds(rec, c->current) ? c->current : 0;
	struct dwell_exec_thread running, named, leader;
	bool leads;

	if (!tid || tid == current || tid >= TID_ALIAS || current >= TID_ALIAS)
		return 0;
	named = exec_thread(rec, tid);
	leads = named.pid > 0 && (uint32_t)named.pid != tid;
	if (!current && (!leads || !tids_slot(&rec->tids, (uint32_t)named.pid)->exiting))
		return 0; /* the common case */
	running = exec_thread(rec, current);
	/* A slot without a life does not tell whose it was. */
	if (named.ended && running.pid == (int32_t)tid)
		named.pid = (int32_t)tid;
	/* EXIT is never told late: the leader still is, and a switch-out was missed. */
	if (sight == DWELL_SIGHT_EXECS && !named.ended && !named.exiting)
		return 0;
	leader = exec_thread(rec, leads ? (uint32_t)named.pid : 0);
	if (leads && leader.exiting)
		named.elsewhere = runs_elsewhere(rec, cpu, tid);
	switch (dwell_exec_proven(current ? &running : NULL, &named,
				  !leads			    ? NULL
				  : (uint32_t)leader.tid == current ? &running
								    : &leader,
				  sight)) {
	case DWELL_EXECER_RUNNING:
		return exec_exchange(rec, current, tid, time_ns);
	case DWELL_EXECER_NAMED:
		return exec_exchange(rec, tid, (uint32_t)leader.tid, time_ns);
	default:
		return 0;
	}
}

bool exec_renamed(const struct recording *rec, uint32_t before, uint32_t after)
{
	int32_t pid = tids_slot(&rec->tids, before)->pid;

	return before != after && pid > 0 && pid == tids_slot(&rec->tids, after)->pid &&
	       ((uint32_t)pid == before || (uint32_t)pid == after);
}

int exec_comes(struct recording *rec, uint32_t cpu, uint32_t tid, uint64_t time_ns)
{
	const struct tid_slot *slot = tids_slot(&rec->tids, tid), *leader;

	if (!tid || tid >= TID_ALIAS || slot->pid <= 0 || (uint32_t)slot->pid == tid ||
	    !slot->alive || slot->exiting)
		return 0;
	leader = tids_slot(&rec->tids, (uint32_t)slot->pid);
	if (!leader->alive || !leader->exiting || !runs_elsewhere(rec, cpu, tid))
		return 0;
	return exec_exchange(rec, tid, (uint32_t)slot->pid, time_ns);
}

int exec_comm(struct recording *rec, uint32_t cpu, uint32_t pid, uint64_t time_ns)
{
	const struct tid_slot *leader = tids_slot(&rec->tids, pid);
	uint32_t survivor;
	int rc = exec_seen(rec, cpu, pid, DWELL_SIGHT_EXECS, time_ns);

	if (rc || (leader->alive && !leader->exiting))
		return rc;
	/* Nothing told who ran: it is the one thread of the process that did not exit. */
	survivor = tids_survivor(&rec->tids, (int32_t)pid);
	return survivor ? exec_exchange(rec, survivor, pid, time_ns) : 0;
}
