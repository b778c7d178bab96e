/* SPDX-License-Identifier: MIT */
/* Where threads are seen becomes proof of an exchange of tids. A thread that execs and is not its
 * process's leader waits until the leader has announced its exit, and then the kernel exchanges the
 * tids of both (de_thread(), fs/exec.c): no record tells when. From there the one that execs is
 * seen under the leader's tid, though it came to its CPU under its own; and the leader leaves its
 * CPU for the last time, before COMM tells of the exec or after, under the tid of the one that
 * execs. */
#ifndef DWELL_LIB_EXEC_H
#define DWELL_LIB_EXEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is known of a thread by then. */
struct dwell_exec_thread {
	int32_t pid, tid;
	bool exiting;	/* it announced its exit */
	bool ended;	/* its last switch was seen */
	bool elsewhere; /* it runs on another CPU than the one looked at */
};

/* How a tid is seen on a CPU. */
enum dwell_sight {
	DWELL_SIGHT_RUNS, /* it comes, leaves, is sampled or wakes somebody there */
	DWELL_SIGHT_DIES, /* it leaves for ever */
	DWELL_SIGHT_EXECS /* COMM by exec: all other threads of its process are gone */
};

/* Which of two threads execs and so exchanges tids with its leader. */
enum dwell_execer {
	DWELL_EXECER_NONE = 0, /* nothing is proven */
	DWELL_EXECER_RUNNING,
	DWELL_EXECER_NAMED,
};

static inline bool dwell_exec_may(const struct dwell_exec_thread *thread,
				  const struct dwell_exec_thread *leader)
{
	return leader->tid > 0 && leader->tid == leader->pid && thread->pid == leader->pid &&
	       thread->tid != leader->tid && !thread->exiting && !thread->ended;
}

/* The thread `named` by its tid is seen on a CPU where running is known to run by the switches
 * (NULL = not known); leader is that of named (NULL = not known), the same object as running if it
 * is. */
static inline enum dwell_execer dwell_exec_proven(const struct dwell_exec_thread *running,
						  const struct dwell_exec_thread *named,
						  const struct dwell_exec_thread *leader,
						  enum dwell_sight sight)
{
	bool dies = sight == DWELL_SIGHT_DIES;

	if (running && dwell_exec_may(running, named) &&
	    (named->exiting || named->ended || sight == DWELL_SIGHT_EXECS))
		return DWELL_EXECER_RUNNING;
	if (!leader || leader->ended || !dwell_exec_may(named, leader))
		return DWELL_EXECER_NONE;
	/* Nobody dies who did not announce it, but the leader did. */
	if (leader->exiting && (dies || running == leader || named->elsewhere))
		return DWELL_EXECER_NAMED;
	/* Where exits are not told at all. */
	return dies && running == leader && named->elsewhere ? DWELL_EXECER_NAMED
							     : DWELL_EXECER_NONE;
}

#endif
