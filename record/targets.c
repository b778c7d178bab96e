// SPDX-License-Identifier: MIT
/* What the user asked for becomes a set of observed tids, their mappings and their names in the
 * trace, and a filter that keeps everybody else's events out of the rings. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/cgroups.h"
#include "record/procfs.h"
#include "record/recording.h"

enum {
	TIDS_AHEAD = 4096,   /* tids that a filter covers beyond the newest, across the wrap */
	TIDS_RESERVED = 300, /* where tids begin again: RESERVED_PIDS, kernel/pid.c */
};

bool targets_want(struct recording *rec, int32_t pid)
{
	struct proc_ids ids;

	if (rec->config->uid < 0)
		return true;
	return !proc_read_ids(pid, pid, &ids) && ids.uid == rec->config->uid;
}

int targets_declare(struct recording *rec, uint64_t time_ns, uint32_t tid, int32_t pid,
		    const char *comm)
{
	struct tid_slot *slot = tids_slot(&rec->tids, tid);
	struct trace_thread thread = { .pid = pid > 0 ? pid : -1,
				       .tid = (int32_t)tid,
				       .uid = UINT32_MAX };
	struct proc_stat stat = { 0 };
	struct proc_ids ids = { .uid = UINT32_MAX };
	char cgroup[PATH_MAX];
	int rc = 0;

	if (slot->declared)
		return 0;
	if (tid < TID_ALIAS && pid <= 0)
		thread.pid = pid = slot->pid > 0 ? slot->pid : proc_tgid_of((int32_t)tid);
	if (pid <= 0)
		thread.pid = -1;
	if (!slot->alive) {
		rc = tids_begin(&rec->tids, tid, pid > 0 ? pid : 0,
				rec->config->all && tid < TID_ALIAS &&
					(rec->config->uid < 0 ||
					 (pid > 0 && targets_want(rec, pid))));
		if (rc)
			return rc;
		rec->foreign += rec->config->all && tid >= TID_ALIAS;
	}
	if (pid > 0 && !proc_read_stat(pid, (int32_t)tid, &stat)) {
		slot->kernel = stat.kernel;
		thread.flags |= stat.kernel ? DWELL_THREAD_FLAG_KERNEL : 0;
		proc_read_ids(pid, (int32_t)tid, &ids);
		if (!proc_read_cgroup(pid, cgroup, sizeof(cgroup)))
			rc = dwell_strings_add(rec->strings, cgroup, strlen(cgroup),
					       &thread.cgroup);
	}
	/* The name in the event is of its moment, /proc's of now. */
	if (!comm || !*comm)
		comm = slot->comm ? dwell_strings_get(rec->strings, slot->comm) : stat.comm;
	if (!rc)
		rc = dwell_strings_add(rec->strings, comm, strlen(comm), &slot->comm);
	if (rc)
		return rc;
	thread.comm = slot->comm;
	thread.uid = ids.uid;
	thread.ns_pid = ids.ns_pid;
	thread.ns_tid = ids.ns_tid;
	thread.flags |= slot->observed ? DWELL_THREAD_FLAG_OBSERVED : 0;
	thread.flags |= slot->joined ? DWELL_THREAD_FLAG_JOINED : 0;
	thread.flags |= pid == rec->own_pid ? DWELL_THREAD_FLAG_RECORDER : 0;
	thread.flags |=
		rec->config->cpus && events_roams(&rec->events, tid) ? DWELL_THREAD_FLAG_ROAMS : 0;
	slot->declared = true;
	return trace_writer_thread(rec->writer, time_ns, &thread);
}

int targets_add(struct recording *rec, int32_t pid, int32_t tid)
{
	struct tid_slot *slot = tids_slot(&rec->tids, (uint32_t)tid);
	struct dwell_err err = { 0 };
	uint64_t now_ns;
	int rc;

	if (!dwell_addrspaces_known(rec->spaces, pid)) {
		rc = dwell_addrspaces_read_proc(rec->spaces, "/proc", pid, &err);
		if (rc == -ENOMEM)
			return rc;
		if (rc) /* gone, or a kernel thread, or not ours: nothing is mapped */
			dwell_addrspaces_exec(rec->spaces, pid);
	}
	if (slot->alive && slot->observed)
		return 0;
	rc = tids_begin(&rec->tids, (uint32_t)tid, pid, true);
	if (rc)
		return rc;
	slot->joined = !rec->config->all && rec->start_ns;
	if (!rec->facts.tracepoints) {
		rc = events_open_task(&rec->events, tid, &rec->err);
		if (rc == -ESRCH) {
			tids_end(&rec->tids, (uint32_t)tid);
			return rc;
		}
		if (rc)
			return rc;
	}
	now_ns = recording_now_ns(rec);
	rc = targets_declare(rec, now_ns, (uint32_t)tid, pid, NULL);
	return rc ? rc : targets_cover(rec, now_ns, (uint32_t)tid);
}

static int collect_tid(void *user, int32_t pid, int32_t tid)
{
	int rc = targets_add(user, pid, tid);

	return rc == -ESRCH ? 0 : rc;
}

static int collect_pid(void *user, int32_t pid)
{
	int rc = proc_each_tid(pid, collect_tid, user);

	return rc == -ENOENT || rc == -ESRCH ? 0 : rc;
}

static int collect_wanted_pid(void *user, int32_t pid)
{
	return targets_want(user, pid) ? collect_pid(user, pid) : 0;
}

/* While it goes on, a recording looks for its targets again; those that have ended since are no
 * error. */
static bool may_be_gone(const struct recording *rec)
{
	return rec->start_ns != 0;
}

static int living_find(void *user, int32_t pid, int32_t tid)
{
	struct proc_stat stat;
	bool *ret_living = user;

	*ret_living |= !proc_read_stat(pid, tid, &stat) && stat.state != 'Z' && stat.state != 'X';
	return 0;
}

/* Are all threads of a process dead, and does it only wait for its parent? */
static bool has_ended(int32_t pid)
{
	bool living = false;

	return !proc_each_tid(pid, living_find, &living) && !living;
}

static int collect_pids(struct recording *rec, struct dwell_err *err)
{
	for (uint32_t i = 0; i < rec->config->pids.count; i++) {
		int32_t pid = rec->config->pids.data[i];
		int rc = proc_each_tid(pid, collect_tid, rec);

		if ((rc == -ENOENT || rc == -ESRCH) && may_be_gone(rec))
			continue;
		if (rc == -ENOENT && proc_tgid_of(pid) > 0)
			return dwell_err_set(err, -ESRCH,
					     "%d is a thread of process %d; use -t %d, or -p %d",
					     pid, proc_tgid_of(pid), pid, proc_tgid_of(pid));
		if (rc == -ENOENT)
			return dwell_err_set(err, -ESRCH, "there is no process %d", pid);
		if (!rc && !rec->start_ns && has_ended(pid))
			return dwell_err_set(err, -ESRCH,
					     "process %d has ended: it is a zombie, and waits for "
					     "its parent",
					     pid);
		if (rc)
			return rc;
	}
	return 0;
}

static int collect_tids(struct recording *rec, struct dwell_err *err)
{
	for (uint32_t i = 0; i < rec->config->tids.count; i++) {
		int32_t tid = rec->config->tids.data[i], pid = proc_tgid_of(tid);
		int rc = pid > 0 ? targets_add(rec, pid, tid) : -ESRCH;

		if (rc == -ESRCH && may_be_gone(rec))
			continue;
		if (rc == -ESRCH)
			return dwell_err_set(err, rc, "there is no thread %d", tid);
		if (rc)
			return rc;
	}
	return 0;
}

/* The processes of the targets, as a set. */
static int target_pids(struct recording *rec, struct dwell_idmap *pids)
{
	uint32_t count;
	const uint32_t *tids = tids_sorted(&rec->tids, &count);
	int rc = 0;

	for (uint32_t i = 0; !rc && i < count; i++)
		if (tids[i] < TID_ALIAS && tids_slot(&rec->tids, tids[i])->pid > 0)
			rc = dwell_idmap_set(pids, (uint64_t)tids_slot(&rec->tids, tids[i])->pid,
					     1);
	return rc;
}

struct offspring {
	struct recording *rec;
	struct dwell_idmap pids; /* of targets */
};

static int collect_offspring_pid(void *user, int32_t pid)
{
	struct offspring *offspring = user;
	int32_t leader, parent;

	if (!dwell_idmap_find(&offspring->pids, (uint64_t)pid) &&
	    (proc_read_family(pid, &leader, &parent) || parent <= 0 ||
	     !dwell_idmap_find(&offspring->pids, (uint64_t)parent)))
		return 0;
	return collect_pid(offspring->rec, pid);
}

int targets_collect_offspring(struct recording *rec)
{
	uint32_t before;
	int rc;

	if (rec->config->all || !rec->config->inherit || rec->config->tids.count)
		return 0;
	do { /* a child's children come after it is known */
		struct offspring offspring = { .rec = rec };

		before = rec->tids.observed_alive;
		rc = target_pids(rec, &offspring.pids);
		if (!rc)
			rc = proc_each_pid(collect_offspring_pid, &offspring);
		dwell_idmap_release(&offspring.pids);
	} while (!rc && rec->tids.observed_alive > before);
	return rc;
}

int targets_collect(struct recording *rec, struct dwell_err *err)
{
	char folder[PATH_MAX];
	int rc = 0;

	if (rec->config->all)
		rc = proc_each_pid(collect_wanted_pid, rec);
	if (!rc)
		rc = collect_pids(rec, err);
	if (!rc)
		rc = collect_tids(rec, err);
	if (!rc && rec->config->cgroup) {
		rc = cgroups_find("/proc/self/mountinfo", rec->config->cgroup, folder,
				  sizeof(folder), may_be_gone(rec) ? NULL : err);
		if (rc && may_be_gone(rec)) /* its processes with it; it may come back */
			return 0;
		if (!rc)
			rc = cgroups_each_pid(folder, collect_pid, rec);
	}
	if (rc && rec->err.code && err && !err->code)
		*err = rec->err;
	return rc ? dwell_err_sys(err, rc, "cannot take in the targets") : 0;
}

bool targets_next_covered(const struct recording *rec, uint32_t tid)
{
	uint32_t ahead = tid + TIDS_AHEAD / 2;

	if (ahead > rec->pid_max)
		ahead = ahead - rec->pid_max + TIDS_RESERVED;
	return tidfilter_covers(&rec->filter, ahead);
}

int targets_cover(struct recording *rec, uint64_t time_ns, uint32_t tid)
{
	if (!rec->filtering || tidfilter_covers(&rec->filter, tid))
		return 0;
	rec->refilter = true;
	if (dwell_array_grow(&rec->uncovered))
		return -ENOMEM;
	rec->uncovered.data[rec->uncovered.count++] = tid;
	return trace_writer_stopped(rec->writer, time_ns, (int32_t)tid);
}

/* The filter in force lets it through now: it is observed again, and how often it was switched in
 * until here is the kernel's word. */
static int target_covered(struct recording *rec, uint32_t tid)
{
	struct tid_slot *slot = tids_slot(&rec->tids, tid);
	int rc;

	if (!slot->alive || !slot->observed)
		return 0; /* it ended unheard */
	slot->joined = true;
	slot->declared = false;
	rc = targets_declare(rec, recording_now_ns(rec), tid, slot->pid, NULL);
	return rc ? rc : snapshot_count(rec, tid);
}

void targets_prune(struct recording *rec)
{
	uint32_t count;
	const uint32_t *tids = tids_sorted(&rec->tids, &count);

	for (uint32_t i = 0; i < count; i++) {
		struct tid_slot *slot = tids_slot(&rec->tids, tids[i]);
		struct proc_stat stat;

		if (tids[i] >= TID_ALIAS || slot->pid <= 0)
			return;
		if (!proc_read_stat(slot->pid, (int32_t)tids[i], &stat) && stat.state != 'Z' &&
		    stat.state != 'X')
			return;
		/* What it did last may still be in the rings: it ends at the next look. */
		if (!slot->gone) {
			slot->gone = true;
			continue;
		}
		if (tids_end(&rec->tids, tids[i]))
			dwell_addrspaces_exit(rec->spaces, slot->pid);
	}
}

/* Is one of the targets of this process? */
static bool process_has_target(const struct recording *rec, const uint32_t *tids, uint32_t count,
			       int32_t pid)
{
	for (uint32_t i = 0; i < count; i++)
		if (tids_slot(&rec->tids, tids[i])->pid == pid)
			return true;
	return false;
}

/* A young tid whose birth was not told yet: may it be a target's offspring? Gone or not seen yet
 * counts as yes; a filter may let through too much, never too little. */
static bool may_be_offspring(const struct recording *rec, const uint32_t *tids, uint32_t count,
			     uint32_t tid)
{
	int32_t pid, parent_pid;

	if (tids_slot(&rec->tids, tid)->alive)
		return false; /* told: a target is in the list, another is none */
	return proc_read_family((int32_t)tid, &pid, &parent_pid) ||
	       process_has_target(rec, tids, count, pid) ||
	       process_has_target(rec, tids, count, parent_pid);
}

int targets_filter(struct recording *rec, struct tidfilter *ret_filter)
{
	/* Forks that have their tid and have not told of it yet are among so many last tids. */
	enum { IN_FLIGHT = 64 };
	int64_t wrapped;
	int64_t newest = rec->config->inherit ? proc_last_pid() : -1;
	uint32_t count, all, *list;
	const uint32_t *tids;
	int rc = intake_pass(rec); /* all births up to newest */

	if (rc)
		return rc;
	tids = tids_sorted(&rec->tids, &count);
	list = malloc((count + IN_FLIGHT + TIDS_AHEAD) * sizeof(*list));
	if (!list)
		return -ENOMEM;
	memcpy(list, tids, count * sizeof(*list));
	all = count;
	for (int64_t tid = newest - IN_FLIGHT + 1; tid <= newest; tid++)
		if (tid > 0 && may_be_offspring(rec, tids, count, (uint32_t)tid))
			list[all++] = (uint32_t)tid;
	/* Behind the highest tid come the lowest again. */
	wrapped = newest < 0 ? 0 : newest + TIDS_AHEAD - rec->pid_max;
	for (int64_t i = 0; i < wrapped && i < TIDS_AHEAD; i++)
		list[all++] = (uint32_t)(TIDS_RESERVED + i);
	tidfilter_build(ret_filter, list, tids_sort(list, all), newest);
	free(list);
	rec->refilter = false;
	return 0;
}

int targets_refilter(struct recording *rec)
{
	enum { OVERLAP_NS = 1000000 };
	struct tidfilter filter;
	int rc = targets_filter(rec, &filter);

	rec->passed_over = 0;
	if (!rc)
		rc = events_refilter(&rec->events, &filter, &rec->err);
	rec->overlap_until_ns = recording_now_ns(rec) + OVERLAP_NS;
	if (!rc)
		rec->filter = filter;
	for (uint32_t i = 0; !rc && i < rec->uncovered.count; i++)
		rc = target_covered(rec, rec->uncovered.data[i]);
	rec->uncovered.count = 0;
	return rc;
}
