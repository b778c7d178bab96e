// SPDX-License-Identifier: MIT
/* The debug information of an ELF file becomes lines of text: for each address on standard input
 * the functions there, innermost first and as addr2line -a -i -f prints them, for comparison.
 *
 *   inlinetable FILE [lookups]       lookups: print how long all of them took instead */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "lib/io.h"
#include "parse/elf/inlines.h"

static void print(uint64_t address, const struct inline_place *places, uint32_t count)
{
	printf("0x%016" PRIx64 "\n", address);
	if (!count)
		printf("??\n??:0\n");
	while (count--) {
		const struct inline_place *place = &places[count];

		printf("%s\n", place->name ? place->name : "??");
		if (place->line)
			printf("%s:%" PRIu32 "\n", place->file ? place->file : "??", place->line);
		else
			printf("%s:?\n", place->file ? place->file : "??");
	}
}

int main(int argc, char **argv)
{
	char none[] = "";
	const struct places places = { .symfs = none, .build_id_dir = none };
	struct inline_place found[INLINES_MAX];
	struct inlines *inlines;
	uint64_t spent_ns = 0, lookups = 0, begin_ns;
	struct image image;
	char line[64];
	uint32_t count;

	if (argc < 2 || argc > 3)
		return DWELL_EXIT_USAGE;
	if (image_open(argv[1], &image)) {
		fprintf(stderr, "inlinetable: cannot read '%s'\n", argv[1]);
		return DWELL_EXIT_FAILED;
	}
	if (inlines_open(&image, &places, true, &inlines)) {
		fprintf(stderr, "inlinetable: '%s' has no debug information\n", argv[1]);
		image_close(&image);
		return DWELL_EXIT_FAILED;
	}
	while (fgets(line, sizeof(line), stdin)) {
		uint64_t address = strtoull(line, NULL, 16);

		begin_ns = dwell_io_now_ns();
		count = inlines_find(inlines, address, found);
		spent_ns += dwell_io_now_ns() - begin_ns;
		lookups++;
		if (argc == 2)
			print(address, found, count);
	}
	if (argc == 3)
		printf("%" PRIu64 " lookups, %.1f ns each\n", lookups,
		       lookups ? (double)spent_ns / (double)lookups : 0.0);
	inlines_free(inlines);
	image_close(&image);
	return DWELL_EXIT_OK;
}
