// SPDX-License-Identifier: MIT
/* Fuzzing of perf-PID.map files: any text becomes a table, in which the lowest and highest
 * addresses and every small one may be looked up; one pass over the text names the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "parse/elf/perfmap.h"

enum { ADDRESSES = 600 };

struct names {
	const struct dwell_perfmap *map;
	const uint64_t *addresses;
	uint32_t count;
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static int named(void *user, uint32_t index, const char *name)
{
	struct names *names = user;
	const char *other = dwell_perfmap_find(names->map, names->addresses[index]);

	if (!other || strcmp(other, name))
		abort();
	names->count++;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	uint64_t addresses[ADDRESSES];
	struct names names = { .addresses = addresses };
	struct dwell_perfmap *map;
	uint32_t found = 0;
	char *copy;

	for (uint64_t i = 0; i < ADDRESSES; i++)
		addresses[i] = i < ADDRESSES / 2 ? i : i - ADDRESSES;
	if (dwell_perfmap_parse((const char *)bytes, count, &map))
		return 0;
	names.map = map;
	for (uint32_t i = 0; i < ADDRESSES; i++)
		found += dwell_perfmap_find(map, addresses[i]) != NULL;
	copy = malloc(count + 1);
	if (copy) {
		memcpy(copy, bytes, count);
		if (dwell_perfmap_name_text(copy, count, addresses, ADDRESSES, named, &names) ||
		    names.count != found)
			abort();
	}
	free(copy);
	dwell_perfmap_free(map);
	return 0;
}
