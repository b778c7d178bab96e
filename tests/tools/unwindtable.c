// SPDX-License-Identifier: MIT
/* An ELF file becomes its unwind table, and the table a line of figures: how much there is, what it
 * takes, how long it takes to make and to look up. Then rows are compared with libdw's.
 *
 *   unwindtable FILE [EVERY]      EVERY: compare one row of so many, 1 unless given; 0 = none */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/io.h"
#include "parse/elf/image.h"
#include "parse/elf/unwind_input.h"
#include "tests/unit/cfioracle.h"

enum { LOOKUPS = 4 << 20 };

struct compare {
	Dwarf_CFI *cfi;
	struct cfi_row last;
	uint16_t machine;
	uint64_t every, seen, compared, different;
};

static void compare_at(struct compare *compare, uint64_t vaddr)
{
	struct cfioracle oracle;

	compare->compared++;
	if (cfioracle_ask(compare->cfi, vaddr, compare->machine, &oracle) &&
	    cfioracle_agrees(&oracle, &compare->last))
		return;
	if (compare->different++ < 10)
		printf("different at %#" PRIx64 "\n", vaddr);
}

/* Each row is compared at its first and at its last byte. */
static int compare_row(void *user, const struct cfi_row *row, uint64_t end)
{
	struct compare *compare = user;

	if (compare->last.vaddr && compare->seen++ % compare->every == 0) {
		compare_at(compare, compare->last.vaddr);
		compare_at(compare, (row ? row->vaddr : end) - 1);
	}
	compare->last = row ? *row : (struct cfi_row){ 0 };
	return 0;
}

static void compare_all(Elf *elf, uint64_t every)
{
	struct compare compare = { .cfi = dwarf_getcfi_elf(elf), .every = every };
	struct unwind_input input;
	struct cfi_stats stats;
	uint64_t begin_ns = dwell_io_now_ns();

	if (!compare.cfi || unwind_input_read(elf, &input, NULL) || !input.section_count)
		return;
	compare.machine = input.machine;
	cfi_walk(&input.sections[0], compare_row, &compare, &stats);
	printf("rows of all instructions %" PRIu64 " compared %" PRIu64 " different %" PRIu64
	       " in %.1f s\n",
	       stats.rows, compare.compared, compare.different,
	       (double)(dwell_io_now_ns() - begin_ns) / 1e9);
	dwarf_cfi_end(compare.cfi);
}

/* Looks offsets up all over the code: in random order, and again and again in one function. */
static void lookups_time(const struct dwell_unwind_table *table, const struct unwind_input *input)
{
	uint64_t begin_ns, far_ns, near_ns, random = 1, kinds = 0;
	const struct unwind_segment *segment = &input->segments[0];

	for (uint32_t i = 1; i < input->segment_count; i++)
		if (input->segments[i].bytes > segment->bytes)
			segment = &input->segments[i];
	if (!input->segment_count || !segment->bytes)
		return;
	begin_ns = dwell_io_now_ns();
	for (int i = 0; i < LOOKUPS; i++) {
		random = random * 6364136223846793005ull + 1442695040888963407ull;
		kinds += dwell_unwind_table_find(table,
						 segment->offset + (random >> 33) % segment->bytes)
				 ->kind;
	}
	far_ns = dwell_io_now_ns();
	for (int i = 0; i < LOOKUPS; i++) {
		random = random * 6364136223846793005ull + 1442695040888963407ull;
		kinds += dwell_unwind_table_find(table, segment->offset + segment->bytes / 2 +
								(random >> 33) % 8192)
				 ->kind;
	}
	near_ns = dwell_io_now_ns();
	printf("lookup far %.1f ns near %.1f ns (mean kind %.3f)\n",
	       (double)(far_ns - begin_ns) / LOOKUPS, (double)(near_ns - far_ns) / LOOKUPS,
	       (double)kinds / 2 / LOOKUPS);
}

static int show(Elf *elf, uint64_t every, struct dwell_err *err)
{
	const struct dwell_unwind_table_stats *stats;
	struct dwell_unwind_table *table;
	struct unwind_input input;
	uint64_t begin_ns = dwell_io_now_ns(), first_ns, again_ns;
	int rc = dwell_unwind_table_new(elf, &table, err);

	if (rc)
		return rc;
	first_ns = dwell_io_now_ns();
	dwell_unwind_table_free(table);
	again_ns = dwell_io_now_ns();
	rc = dwell_unwind_table_new(elf, &table, err);
	if (rc)
		return rc;
	printf("built in %.2f ms, again in %.2f ms\n", (double)(first_ns - begin_ns) / 1e6,
	       (double)(dwell_io_now_ns() - again_ns) / 1e6);
	stats = dwell_unwind_table_stats(table);
	printf("fdes %" PRIu64 " rows %" PRIu64 " rules %" PRIu32 " bad %" PRIu64 " odd %" PRIu64
	       " bytes %" PRIu64 " frame pointers %.1f%%\n",
	       stats->fdes, stats->rows, stats->rules, stats->bad, stats->odd, stats->bytes,
	       stats->framed_bytes
		       ? 100.0 * (double)stats->pointed_bytes / (double)stats->framed_bytes
		       : 0);
	rc = unwind_input_read(elf, &input, err);
	if (!rc)
		lookups_time(table, &input);
	if (!rc && every)
		compare_all(elf, every);
	dwell_unwind_table_free(table);
	return rc;
}

int main(int argc, char **argv)
{
	struct dwell_err err = { 0 };
	struct image image;
	int rc;

	if (argc < 2 || argc > 3)
		return DWELL_EXIT_USAGE;
	rc = image_open(argv[1], &image);
	if (rc) {
		fprintf(stderr, "unwindtable: cannot read '%s'\n", argv[1]);
		return DWELL_EXIT_FAILED;
	}
	rc = show(image.elf, argc == 3 ? strtoull(argv[2], NULL, 10) : 1, &err);
	image_close(&image);
	if (rc)
		fprintf(stderr, "unwindtable: %s\n", err.msg);
	return rc ? DWELL_EXIT_FAILED : DWELL_EXIT_OK;
}
