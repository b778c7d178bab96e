// SPDX-License-Identifier: MIT
/* Tids become slots by plain indexing; the kernel hands out zero pages only for the slots in use.
 */
#include "record/tids.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { TID_ROOM = 2 * TID_ALIAS + 1 };

int tids_init(struct tids *tids)
{
	void *slots = mmap(NULL, TID_ROOM * sizeof(struct tid_slot), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (slots == MAP_FAILED)
		return -ENOMEM;
	*tids = (struct tids){ .slots = slots, .room = TID_ROOM };
	return 0;
}

void tids_release(struct tids *tids)
{
	if (tids->slots)
		munmap(tids->slots, TID_ROOM * sizeof(struct tid_slot));
	dwell_array_release(&tids->observed);
	*tids = (struct tids){ 0 };
}

/* Drops tids that ended, and doubles, from the sorted list. */
static void observed_compact(struct tids *tids)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < tids->observed.count; i++) {
		uint32_t tid = tids->observed.data[i];
		const struct tid_slot *slot = tids_slot(tids, tid);

		if (slot->alive && slot->observed &&
		    (!kept || tids->observed.data[kept - 1] != tid))
			tids->observed.data[kept++] = tid;
	}
	tids->observed.count = kept;
}

static int tid_compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

uint32_t tids_sort(uint32_t *tids, uint32_t count)
{
	uint32_t kept = 0;

	if (count)
		qsort(tids, count, sizeof(*tids), tid_compare);
	for (uint32_t i = 0; i < count; i++)
		if (!kept || tids[kept - 1] != tids[i])
			tids[kept++] = tids[i];
	return kept;
}

const uint32_t *tids_sorted(struct tids *tids, uint32_t *ret_count)
{
	if (tids->observed.count)
		qsort(tids->observed.data, tids->observed.count, sizeof(uint32_t), tid_compare);
	observed_compact(tids);
	*ret_count = tids->observed.count;
	return tids->observed.data;
}

int tids_begin(struct tids *tids, uint32_t tid, int32_t pid, bool observed)
{
	struct tid_slot *slot = tids_slot(tids, tid);
	uint32_t threads, births, count;

	if (observed) {
		if (tids->observed.count > 2 * (uint64_t)tids->observed_alive + 1024)
			tids_sorted(tids, &count);
		if (dwell_array_grow(&tids->observed))
			return -ENOMEM;
		tids->observed.data[tids->observed.count++] = tid;
	}
	tids_end(tids, tid);
	threads = slot->threads;
	births = slot->births;
	*slot = (struct tid_slot){ .pid = pid, .observed = observed, .alive = true };
	slot->threads = threads;
	slot->births = births;
	if (pid > 0)
		tids_slot(tids, (uint32_t)pid)->threads++;
	tids->observed_alive += observed;
	return 0;
}

void tids_learn(struct tids *tids, uint32_t tid, int32_t pid)
{
	tids_slot(tids, tid)->pid = pid;
	tids_slot(tids, (uint32_t)pid)->threads++;
}

bool tids_end(struct tids *tids, uint32_t tid)
{
	struct tid_slot *slot = tids_slot(tids, tid), *leader = NULL;

	if (slot->alive && slot->observed)
		tids->observed_alive--;
	if (slot->alive && slot->pid > 0)
		leader = tids_slot(tids, (uint32_t)slot->pid);
	slot->alive = slot->declared = slot->observed = false;
	return leader && leader->threads && --leader->threads == 0;
}

static int observed_add(struct tids *tids, uint32_t tid)
{
	if (!tids_slot(tids, tid)->observed)
		return 0;
	if (dwell_array_grow(&tids->observed))
		return -ENOMEM;
	tids->observed.data[tids->observed.count++] = tid; /* doubles are dropped later */
	return 0;
}

int tids_exchange(struct tids *tids, uint32_t a, uint32_t b)
{
	struct tid_slot *x = tids_slot(tids, a), *y = tids_slot(tids, b), was = *x;
	int rc;

	*x = *y;
	x->threads = was.threads;
	x->births = was.births;
	was.threads = y->threads;
	was.births = y->births;
	*y = was;
	rc = observed_add(tids, a);
	return rc ? rc : observed_add(tids, b);
}

uint32_t tids_survivor(const struct tids *tids, int32_t pid)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < tids->observed.count; i++) {
		uint32_t tid = tids->observed.data[i];
		const struct tid_slot *slot = tids_slot(tids, tid);

		if (slot->pid != pid || tid == (uint32_t)pid || tid == found || !slot->alive ||
		    !slot->observed || slot->exiting)
			continue;
		if (found)
			return 0;
		found = tid;
	}
	return found;
}
