// SPDX-License-Identifier: MIT
/* u64 -> u32 map: keys become slots by a mixed hash and linear probing. Removal shifts the
 * following run back, so there are no tombstones. */
#include "lib/idmap.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/hash.h"

static uint32_t slot_home(const struct dwell_idmap *map, uint64_t key)
{
	return (uint32_t)dwell_hash_u64(key) & map->mask;
}

/* The slot of key, or the free slot where it belongs. */
static uint32_t slot_find(const struct dwell_idmap *map, uint64_t key)
{
	uint32_t i = slot_home(map, key);

	while (map->slots[i].value && map->slots[i].key != key)
		i = (i + 1) & map->mask;
	return i;
}

static int idmap_rehash(struct dwell_idmap *map)
{
	struct dwell_idmap old = *map, wider;
	uint64_t slots = old.slots ? 2 * ((uint64_t)old.mask + 1) : 64;

	if (slots > 1u << 31)
		return -ENOMEM;
	wider = (struct dwell_idmap){ calloc(slots, sizeof(*wider.slots)), old.count,
				      (uint32_t)slots - 1 };
	if (!wider.slots)
		return -ENOMEM;
	for (uint64_t i = 0; old.slots && i <= old.mask; i++)
		if (old.slots[i].value)
			wider.slots[slot_find(&wider, old.slots[i].key)] = old.slots[i];
	free(old.slots);
	*map = wider;
	return 0;
}

void dwell_idmap_release(struct dwell_idmap *map)
{
	free(map->slots);
	*map = (struct dwell_idmap){ 0 };
}

uint32_t dwell_idmap_find(const struct dwell_idmap *map, uint64_t key)
{
	return map->slots ? map->slots[slot_find(map, key)].value : 0;
}

int dwell_idmap_set(struct dwell_idmap *map, uint64_t key, uint32_t value)
{
	uint32_t i;

	if (!map->slots || (uint64_t)map->count * 4 >= ((uint64_t)map->mask + 1) * 3) {
		int rc = idmap_rehash(map);

		if (rc)
			return rc;
	}
	i = slot_find(map, key);
	map->count += !map->slots[i].value;
	map->slots[i] = (struct dwell_idmap_slot){ key, value };
	return 0;
}

void dwell_idmap_remove(struct dwell_idmap *map, uint64_t key)
{
	uint32_t hole, i;

	if (!map->slots)
		return;
	hole = slot_find(map, key);
	if (!map->slots[hole].value)
		return;
	map->slots[hole].value = 0;
	map->count--;
	for (i = (hole + 1) & map->mask; map->slots[i].value; i = (i + 1) & map->mask) {
		uint32_t home = slot_home(map, map->slots[i].key);

		/* An entry may move into the hole unless its home lies after the hole. */
		if (((i - home) & map->mask) < ((i - hole) & map->mask))
			continue;
		map->slots[hole] = map->slots[i];
		map->slots[i].value = 0;
		hole = i;
	}
}
