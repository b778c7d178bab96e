// SPDX-License-Identifier: MIT
/* Tids become slots by plain indexing; the kernel hands out zero pages only for the slots in use.
 */
#include "record/tids.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

enum { TID_MAX = 4 << 20 }; /* PID_MAX_LIMIT, include/linux/threads.h */

int tids_init(struct tids *tids)
{
	void *slots = mmap(NULL, (TID_MAX + 1) * sizeof(struct tid_slot), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (slots == MAP_FAILED)
		return -ENOMEM;
	*tids = (struct tids){ slots, TID_MAX + 1, 0 };
	return 0;
}

void tids_release(struct tids *tids)
{
	if (tids->slots)
		munmap(tids->slots, (TID_MAX + 1) * sizeof(struct tid_slot));
	*tids = (struct tids){ 0 };
}

void tids_begin(struct tids *tids, uint32_t tid, int32_t pid, bool observed)
{
	struct tid_slot *slot = tids_slot(tids, tid);

	tids_end(tids, tid);
	*slot = (struct tid_slot){ .pid = pid, .observed = observed, .alive = true };
	tids->observed_alive += observed;
}

void tids_end(struct tids *tids, uint32_t tid)
{
	struct tid_slot *slot = tids_slot(tids, tid);

	if (slot->alive && slot->observed)
		tids->observed_alive--;
	slot->alive = slot->declared = slot->observed = slot->counted = false;
}
