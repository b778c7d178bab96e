// SPDX-License-Identifier: MIT
/* Fuzzing of perf-PID.map files: any text becomes a table, in which the lowest and highest
 * addresses and every small one may be looked up. */
#include <stdint.h>
#include <string.h>

#include "parse/elf/perfmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct dwell_perfmap *map;
	volatile size_t total = 0;

	if (dwell_perfmap_parse((const char *)bytes, count, &map))
		return 0;
	for (uint64_t i = 0; i < 600; i++) {
		const char *name = dwell_perfmap_find(map, i < 300 ? i : 300 - i);

		total += name ? strlen(name) : 0;
	}
	dwell_perfmap_free(map);
	return 0;
}
