// SPDX-License-Identifier: MIT
/* Fuzzing of Go's table of functions: any bytes become symbols whose names end within them. */
#include <stdlib.h>
#include <string.h>

#include "parse/elf/gopclntab.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct symlist list = { 0 };

	if (gopclntab_read(bytes, count, 0x1000, &list))
		abort();
	for (uint32_t i = 0; i < list.all.count; i++) {
		const char *name = list.all.data[i].name;

		if (list.all.data[i].end <= list.all.data[i].start || name < (const char *)bytes ||
		    name + strlen(name) >= (const char *)bytes + count)
			abort();
	}
	symlist_finish(&list);
	symlist_find(&list, 0x1010);
	dwell_array_release(&list.all);
	return 0;
}
