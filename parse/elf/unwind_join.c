// SPDX-License-Identifier: MIT
/* A table by tid with one chain in each place: another thread's takes it over. */
#include "parse/elf/unwind_join.h"

#include <stdlib.h>
#include <string.h>

enum {
	SLOTS = 1024, /* a power of two */
	KEPT_MAX = 128,
	AGREE = 3, /* frames, each by its address and its stack pointer */
};

/* Frame i is at addresses[i], and its stack pointer is cfas[i - 1]. */
struct kept {
	uint64_t generation;
	int32_t tid;
	uint32_t count;
	uint64_t addresses[KEPT_MAX], cfas[KEPT_MAX];
};

struct unwind_joins {
	struct kept *slots[SLOTS];
};

struct unwind_joins *unwind_joins_new(void)
{
	return calloc(1, sizeof(struct unwind_joins));
}

void unwind_joins_free(struct unwind_joins *joins)
{
	if (!joins)
		return;
	for (unsigned i = 0; i < SLOTS; i++)
		free(joins->slots[i]);
	free(joins);
}

void unwind_joins_keep(struct unwind_joins *joins, uint64_t generation, int32_t tid,
		       const struct dwell_unwound *unwound)
{
	struct kept **slot = &joins->slots[(uint32_t)tid % SLOTS];
	uint32_t count = unwound->count < KEPT_MAX ? unwound->count : KEPT_MAX;
	uint32_t first = unwound->count - count;
	struct kept *kept = *slot;

	if (tid <= 0 || count <= AGREE)
		return;
	if (!kept)
		kept = *slot = malloc(sizeof(*kept));
	if (!kept)
		return;
	kept->generation = generation;
	kept->tid = tid;
	kept->count = count;
	memcpy(kept->addresses, unwound->addresses + first, count * sizeof(kept->addresses[0]));
	memcpy(kept->cfas, unwound->cfas + first, count * sizeof(kept->cfas[0]));
}

/* Are the last frames of unwound those of kept up to its frame `at`? */
static bool agrees(const struct kept *kept, uint32_t at, const struct dwell_unwound *unwound)
{
	uint32_t last = unwound->count - 1;

	for (uint32_t k = 0; k < AGREE; k++)
		if (kept->addresses[at - k] != unwound->addresses[last - k] ||
		    kept->cfas[at - k - 1] != unwound->cfas[last - k - 1])
			return false;
	return true;
}

uint32_t unwind_joins_append(const struct unwind_joins *joins, uint64_t generation, int32_t tid,
			     struct dwell_unwound *unwound)
{
	const struct kept *kept = joins->slots[(uint32_t)tid % SLOTS];
	uint32_t told = unwound->count, more;

	if (!kept || kept->tid != tid || kept->generation != generation || told <= AGREE)
		return 0;
	for (uint32_t at = AGREE; at + 1 < kept->count; at++) {
		if (!agrees(kept, at, unwound))
			continue;
		more = kept->count - at - 1;
		if (more > DWELL_UNWIND_FRAMES_MAX - told)
			return 0;
		memcpy(unwound->addresses + told, kept->addresses + at + 1,
		       more * sizeof(kept->addresses[0]));
		memcpy(unwound->cfas + told, kept->cfas + at + 1, more * sizeof(kept->cfas[0]));
		unwound->count += more;
		return told;
	}
	return 0;
}
