// SPDX-License-Identifier: MIT
/* Fuzzing of demangling: any bytes as a name give a readable name or none, in bounded time, memory
 * and stack. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "parse/elf/symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	char *name = malloc(count + 3);

	if (!name)
		return 0;
	memcpy(name, "_Z", 2);
	memcpy(name + 2, bytes, count);
	name[count + 2] = '\0';
	free(dwell_demangle(name));
	name[1] = 'R';
	free(dwell_demangle(name));
	free(name);
	return 0;
}
