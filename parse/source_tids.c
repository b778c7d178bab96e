// SPDX-License-Identifier: MIT
/* Tids that pass from one thread to another become threads all the same: by who came to a CPU, and
 * by what an exec does to the tids of its process. */
#include "parse/source_impl.h"

static int32_t tid_now(const struct dwell_source *source, uint32_t index)
{
	const struct dwell_thread *thread = dwell_threads_get(source->threads, index);

	return thread->last_tid ? thread->last_tid : thread->tid;
}

uint32_t source_leaving(const struct dwell_source *source, uint32_t left, uint32_t running,
			int64_t tid)
{
	const uint32_t known[] = { left, running };

	for (unsigned i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i] != DWELL_THREAD_NONE && tid_now(source, known[i]) == tid)
			return known[i];
	return DWELL_THREAD_NONE;
}

void source_switched(const struct dwell_source *source, uint32_t prev, uint32_t next, uint32_t cpu)
{
	if (prev != DWELL_THREAD_NONE)
		dwell_threads_get(source->threads, prev)->cpu = 0;
	if (next != DWELL_THREAD_NONE && next != DWELL_THREAD_IDLE)
		dwell_threads_get(source->threads, next)->cpu = cpu + 1; /* none: 0 */
}

static struct dwell_exec_thread exec_thread(const struct dwell_source *source, uint32_t index,
					    uint32_t cpu)
{
	const struct dwell_thread *thread = dwell_threads_get(source->threads, index);

	return (struct dwell_exec_thread){
		.pid = thread->pid,
		.tid = thread->tid,
		.exiting = thread->exiting,
		.ended = thread->died_ns != 0,
		.elsewhere = thread->cpu && thread->cpu != cpu + 1,
	};
}

int source_exec_seen(const struct dwell_source *source, uint32_t cpu, uint32_t running, int64_t tid,
		     enum dwell_sight sight)
{
	struct dwell_exec_thread threads[3];
	uint32_t named, leader;
	enum dwell_execer execer;
	bool runs = running != DWELL_THREAD_NONE && running != DWELL_THREAD_IDLE, leads;
	int32_t pid;

	if (tid <= 0 || tid > INT32_MAX || (runs && tid_now(source, running) == tid))
		return 0;
	named = dwell_threads_find(source->threads, (int32_t)tid);
	if (named == DWELL_THREAD_NONE)
		return 0;
	pid = dwell_threads_get(source->threads, named)->pid;
	leader = pid > 0 ? dwell_threads_find(source->threads, pid) : DWELL_THREAD_NONE;
	leads = leader != DWELL_THREAD_NONE && leader != named;
	if (!runs && (!leads || !dwell_threads_get(source->threads, leader)->exiting))
		return 0; /* the common case */
	threads[0] = exec_thread(source, running, cpu);
	threads[1] = exec_thread(source, named, cpu);
	threads[2] = exec_thread(source, leader, cpu);
	execer = dwell_exec_proven(runs ? &threads[0] : NULL, &threads[1],
				   !leads	       ? NULL
				   : leader == running ? &threads[0]
						       : &threads[2],
				   sight);
	if (execer == DWELL_EXECER_NONE)
		return 0;
	return execer == DWELL_EXECER_RUNNING
		       ? dwell_threads_retid(source->threads, running, (int32_t)tid)
		       : dwell_threads_retid(source->threads, named, pid);
}

int source_exec_life(const struct dwell_source *source, uint64_t time_ns, uint32_t *index)
{
	struct dwell_thread *thread = dwell_threads_get(source->threads, *index), *former;
	uint32_t former_index = *index;
	int rc;

	if (*index == DWELL_THREAD_IDLE || !thread->died_ns)
		return 0;
	rc = dwell_threads_add(source->threads, thread->pid, thread->tid, 0, index);
	if (rc)
		return rc;
	former = dwell_threads_get(source->threads, former_index);
	thread = dwell_threads_get(source->threads, *index);
	thread->joined_ns = time_ns;
	thread->comm = former->comm;
	thread->cgroup = former->cgroup;
	thread->uid = former->uid;
	thread->observed = former->observed;
	thread->roams = former->roams;
	return 0;
}
