// SPDX-License-Identifier: MIT
/* Tids become lives: entries in pages that never move, and a map from each tid to the latest
 * life that has it. */
#include "parse/thread.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/array.h"
#include "lib/idmap.h"

enum { PAGE_THREADS = 1024 };

struct dwell_threads {
	DWELL_ARRAY(struct dwell_thread *) pages;
	uint32_t count;
	struct dwell_idmap latest;  /* tid -> index of the life that has it (never 0) */
	struct dwell_idmap lives;   /* tid -> lives so far, where latest does not say it is one */
	struct dwell_thread absent; /* what indexes out of range read as */
};

static int threads_append(struct dwell_threads *threads, const struct dwell_thread *thread)
{
	if (threads->count == threads->pages.count * (uint64_t)PAGE_THREADS) {
		struct dwell_thread *page;

		if (dwell_array_grow(&threads->pages))
			return -ENOMEM;
		page = calloc(PAGE_THREADS, sizeof(*page));
		if (!page)
			return -ENOMEM;
		threads->pages.data[threads->pages.count++] = page;
	}
	if (threads->count >= DWELL_THREAD_NONE - 1)
		return -ENOMEM;
	threads->pages.data[threads->count / PAGE_THREADS][threads->count % PAGE_THREADS] = *thread;
	threads->count++;
	return 0;
}

struct dwell_threads *dwell_threads_new(void)
{
	struct dwell_thread idle = { .incarnation = 1,
				     .parent = DWELL_THREAD_NONE,
				     .kernel = true };
	struct dwell_threads *threads = calloc(1, sizeof(*threads));

	if (!threads)
		return NULL;
	if (threads_append(threads, &idle)) {
		dwell_threads_free(threads);
		return NULL;
	}
	return threads;
}

void dwell_threads_free(struct dwell_threads *threads)
{
	if (!threads)
		return;
	for (uint32_t i = 0; i < threads->pages.count; i++)
		free(threads->pages.data[i]);
	dwell_array_release(&threads->pages);
	dwell_idmap_release(&threads->latest);
	dwell_idmap_release(&threads->lives);
	free(threads);
}

uint32_t dwell_threads_count(const struct dwell_threads *threads)
{
	return threads->count;
}

struct dwell_thread *dwell_threads_get(const struct dwell_threads *threads, uint32_t index)
{
	if (index >= threads->count) {
		struct dwell_thread *absent = (struct dwell_thread *)&threads->absent;

		*absent = (struct dwell_thread){ 0 }; /* whatever a caller wrote there */
		return absent;
	}
	return &threads->pages.data[index / PAGE_THREADS][index % PAGE_THREADS];
}

uint32_t dwell_threads_find(const struct dwell_threads *threads, int32_t tid)
{
	uint32_t index;

	if (tid == 0)
		return DWELL_THREAD_IDLE;
	index = dwell_idmap_find(&threads->latest, (uint32_t)tid);
	return index ? index : DWELL_THREAD_NONE;
}

int dwell_threads_need(struct dwell_threads *threads, int32_t pid, int32_t tid, uint32_t *ret_index)
{
	uint32_t index = dwell_threads_find(threads, tid);
	struct dwell_thread *thread;
	uint64_t died_ns;
	int rc;

	thread = dwell_threads_get(threads, index);
	died_ns = index == DWELL_THREAD_IDLE ? 0 : thread->died_ns;
	if (index == DWELL_THREAD_NONE || died_ns) {
		rc = dwell_threads_add(threads, pid, tid, 0, ret_index);
		if (!rc)
			dwell_threads_get(threads, *ret_index)->joined_ns = died_ns;
		return rc;
	}
	if (thread->pid < 0)
		thread->pid = pid;
	*ret_index = index;
	return 0;
}

static uint32_t lives_of(const struct dwell_threads *threads, int32_t tid)
{
	uint32_t lives = dwell_idmap_find(&threads->lives, (uint32_t)tid);

	return lives ? lives : dwell_idmap_find(&threads->latest, (uint32_t)tid) != 0;
}

int dwell_threads_add(struct dwell_threads *threads, int32_t pid, int32_t tid, uint64_t born_ns,
		      uint32_t *ret_index)
{
	struct dwell_thread thread = {
		.pid = pid,
		.tid = tid,
		.incarnation = lives_of(threads, tid) + 1,
		.parent = DWELL_THREAD_NONE,
		.uid = UINT32_MAX,
		.born_ns = born_ns,
	};
	uint32_t index = threads->count;
	int rc = 0;

	if (thread.incarnation > 1)
		rc = dwell_idmap_set(&threads->lives, (uint32_t)tid, thread.incarnation);
	if (!rc)
		rc = threads_append(threads, &thread);
	if (!rc)
		rc = dwell_idmap_set(&threads->latest, (uint32_t)tid, index);
	if (!rc)
		*ret_index = index;
	return rc;
}

int dwell_threads_retid(struct dwell_threads *threads, uint32_t index, int32_t tid)
{
	struct dwell_thread *thread, *leader;
	uint32_t former;
	int rc;

	if (index == DWELL_THREAD_IDLE || index >= threads->count || tid == 0)
		return -EINVAL;
	former = dwell_idmap_find(&threads->latest, (uint32_t)tid);
	rc = dwell_idmap_set(&threads->latest, (uint32_t)tid, index);
	if (rc)
		return rc;
	thread = dwell_threads_get(threads, index);
	if (thread->tid == tid)
		return 0;
	if (dwell_idmap_find(&threads->latest, (uint32_t)thread->tid) == index) {
		leader = former ? dwell_threads_get(threads, former) : NULL;
		if (leader && leader->tid == leader->pid && leader->pid == thread->pid &&
		    !leader->died_ns) {
			leader->last_tid = thread->tid;
			rc = dwell_idmap_set(&threads->latest, (uint32_t)thread->tid, former);
		} else {
			rc = dwell_idmap_set(&threads->lives, (uint32_t)thread->tid,
					     lives_of(threads, thread->tid));
			if (rc)
				return rc;
			dwell_idmap_remove(&threads->latest, (uint32_t)thread->tid);
		}
	}
	thread->tid = tid;
	return rc;
}
