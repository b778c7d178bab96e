// SPDX-License-Identifier: MIT
/* Fuzzing of ELF reading: bytes become a build id, symbol lists and PLT stubs, each looked up at
 * the edges of what was found. Whatever the bytes say, nothing may crash, hang or grow. */
#include <stdlib.h>
#include <string.h>

#include "parse/elf/image.h"
#include "parse/elf/symbols.h"
#include "parse/elf/symtab.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	uint8_t build_id[DWELL_BUILD_ID_MAX];
	const struct symbol *symbol;
	struct symtab *table;
	bool plt;
	Elf *elf;

	if (image_open_memory(bytes, count, &elf))
		return 0;
	image_build_id(elf, build_id);
	if (symtab_load(elf, NULL, &table)) {
		elf_end(elf);
		return 0;
	}
	for (uint64_t offset = 0; offset < count; offset += 7) {
		symbol = symtab_find(table, offset, &plt);
		if (symbol && symbol->name[0] == '_')
			free(dwell_demangle(symbol->name));
	}
	symtab_free(table);
	return 0;
}
