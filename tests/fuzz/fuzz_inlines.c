// SPDX-License-Identifier: MIT
/* Fuzzing of debug information: an ELF file, or sections that become one, is indexed and asked for
 * inlined functions and lines all over. Whatever the bytes say, nothing may crash, hang or grow. */
#include <string.h>

#include "parse/elf/inlines.h"
#include "tests/unit/elfmake.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void image_ask(struct image *image)
{
	char nowhere[] = "/nowhere", none[] = "";
	const struct places places = { .symfs = nowhere, .build_id_dir = none };
	struct inline_place found[INLINES_MAX];
	struct inlines *inlines;

	if (!inlines_open(image, &places, true, &inlines)) {
		for (uint64_t address = 0; address < 0x8000; address += 61)
			inlines_find(inlines, address, found);
		inlines_free(inlines);
	}
	image_close(image);
}

/* The bytes are cut into the sections of debug information, of the lengths in the first ones, so
 * that a fuzzer need not keep an ELF file in order. */
static void sections_ask(const uint8_t *bytes, size_t count)
{
	static const char *const names[] = { ".debug_info",   ".debug_abbrev",	".debug_str",
					     ".debug_ranges", ".debug_line",	".debug_rnglists",
					     ".debug_addr",   ".debug_line_str" };
	enum { SECTIONS = sizeof(names) / sizeof(*names) };
	struct image image = { .fd = -1 };
	struct elfmake make;

	if (count < 2 * SECTIONS || count > ELFMAKE_ROOM / 2)
		return;
	elfmake_begin(&make, 62, 16, 0);
	for (size_t i = 0, at = 2 * SECTIONS; i < SECTIONS; i++) {
		size_t length = (size_t)bytes[2 * i] << 8 | bytes[2 * i + 1];

		if (length > count - at)
			length = count - at;
		elfmake_section(&make, names[i], SHT_PROGBITS, 0, bytes + at, length);
		at += length;
	}
	elfmake_end(&make);
	if (!image_open_memory(make.bytes, make.used, &image.elf))
		image_ask(&image);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct image image = { .fd = -1 };

	if (!image_open_memory(bytes, count, &image.elf))
		image_ask(&image);
	else
		sections_ask(bytes, count);
	return 0;
}
