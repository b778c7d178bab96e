// SPDX-License-Identifier: MIT
/* Fuzzing of kernel symbols: any text becomes a table; a symbol found holds the address that was
 * asked for, and its strings are terminated. */
#include <stdlib.h>
#include <string.h>

#include "parse/elf/kallsyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct dwell_kernel_symbol symbol;
	struct dwell_kallsyms *syms;
	volatile size_t total = 0;

	if (dwell_kallsyms_parse((const char *)bytes, count, &syms))
		return 0;
	for (uint64_t i = 0; i < 600; i++) {
		uint64_t address = i < 300 ? i : 300 - i;

		if (!dwell_kallsyms_find(syms, address, &symbol))
			continue;
		if (address < symbol.start || address >= symbol.end)
			abort();
		total += strlen(symbol.name) + strlen(symbol.module);
	}
	dwell_kallsyms_free(syms);
	return 0;
}
