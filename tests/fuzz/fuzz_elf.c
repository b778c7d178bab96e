// SPDX-License-Identifier: MIT
/* Fuzzing of ELF reading: bytes, plain or packed, become a build id, symbol lists and PLT
 * stubs, which are looked up all over the file. Whatever the bytes say, nothing may crash, hang or
 * grow. */
#include <stdlib.h>
#include <string.h>

#include "parse/elf/debugfile.h"
#include "parse/elf/symbols.h"
#include "parse/elf/symtab.h"
#include "parse/elf/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* The symbols of one image, which is taken over. */
static void image_walk(struct image *image, size_t count)
{
	char nowhere[] = "/nowhere", none[] = "";
	const struct places places = { .symfs = nowhere, .build_id_dir = none };
	struct image debug = { .fd = -1 };
	uint8_t build_id[DWELL_BUILD_ID_MAX];
	const struct symbol *symbol;
	struct symtab *table;
	bool plt;

	image_build_id(image->elf, build_id);
	debugfile_open(image->elf, &places, "", &debug);
	if (symtab_load(image, &debug, &table)) {
		image_close(image);
		image_close(&debug);
		return;
	}
	symtab_rebase(table, "_text");
	for (uint64_t offset = 0; offset < count; offset += 7) {
		symbol = symtab_find(table, offset, &plt);
		if (symbol && symbol->name[0] == '_')
			free(dwell_demangle(symbol->name));
	}
	symtab_free(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct image image = { .fd = -1 };
	uint8_t build_id[DWELL_BUILD_ID_MAX];
	void *unpacked;
	size_t unpacked_count;

	build_id_of_notes(bytes, count, build_id);
	if (!image_open_memory(bytes, count, &image.elf)) {
		image_walk(&image, count);
		return 0;
	}
	if (unpack_bytes(bytes, count, &unpacked, &unpacked_count))
		return 0;
	if (image_open_owned(unpacked, unpacked_count, &image))
		free(unpacked);
	else
		image_walk(&image, count);
	return 0;
}
