// SPDX-License-Identifier: MIT
/* Each file is opened once: found, compiled, closed. Of a live system, what takes long is compiled
 * beside: events wait for it a moment and no longer, and go by frame pointers until it is there. */
#include "parse/elf/unwinder.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/array.h"
#include "lib/io.h"
#include "parse/elf/binary.h"
#include "parse/elf/callchain.h"
#include "parse/elf/unwind_join.h"
#include "parse/elf/unwind_loader.h"

enum {
	KERNEL_PART_MAX = 512,
	TRIES_MAX = 32,
	LARGE_BYTES = 8 << 20,	/* of a file: its table takes some 10 ms */
	PATIENCE_NS = 50000000, /* with each large file: what rings hold of the busiest CPU */
};

struct entry {
	struct dwell_unwind_table *table;
	uint8_t tries; /* to open the file: the next process that maps it may still live */
	int32_t tried; /* the process of the last one */
	bool awaited;
};

struct dwell_unwinder {
	const struct dwell_strings *strings;
	const struct dwell_stacks *stacks;
	const struct dwell_addrspaces *spaces;
	struct places places;
	dwell_unwinder_open_fn open;
	void *user;
	DWELL_ARRAY(struct entry) entries; /* by file */
	uint32_t truncated_frame, not_unwound_frame;
	struct dwell_unwinder_stats stats;
	struct unwind_joins *joins;
	struct unwind_loader *loader;
	struct dwell_unwound unwound; /* the stack at hand's */
	uint64_t chain[KERNEL_PART_MAX + 2 + DWELL_UNWIND_FRAMES_MAX];
};

int dwell_unwinder_new(struct dwell_strings *strings, struct dwell_stacks *stacks,
		       const struct dwell_addrspaces *spaces,
		       const struct dwell_symbols_options *options, dwell_unwinder_open_fn open,
		       void *user, struct dwell_unwinder **ret_unwinder)
{
	struct dwell_unwinder *unwinder = calloc(1, sizeof(*unwinder));
	int rc;

	if (!unwinder)
		return -ENOMEM;
	unwinder->strings = strings;
	unwinder->stacks = stacks;
	unwinder->spaces = spaces;
	unwinder->open = open;
	unwinder->user = user;
	rc = places_init(&unwinder->places, options);
	unwinder->joins = unwind_joins_new();
	unwinder->loader = unwind_loader_new();
	if (!unwinder->joins || !unwinder->loader)
		rc = -ENOMEM;
	if (!rc)
		rc = dwell_stacks_add_pseudo(stacks, strings, DWELL_FRAME_TRUNCATED,
					     &unwinder->truncated_frame);
	if (!rc)
		rc = dwell_stacks_add_pseudo(stacks, strings, DWELL_FRAME_NOT_UNWOUND,
					     &unwinder->not_unwound_frame);
	if (rc) {
		dwell_unwinder_free(unwinder);
		return rc;
	}
	*ret_unwinder = unwinder;
	return 0;
}

void dwell_unwinder_free(struct dwell_unwinder *unwinder)
{
	if (!unwinder)
		return;
	unwind_loader_free(unwinder->loader);
	for (uint32_t i = 0; i < unwinder->entries.count; i++)
		dwell_unwind_table_free(unwinder->entries.data[i].table);
	dwell_array_release(&unwinder->entries);
	places_release(&unwinder->places);
	unwind_joins_free(unwinder->joins);
	free(unwinder);
}

/* The image of a mapped file. A live process shows what it has mapped; when it is gone, and for the
 * vdso, which is this process's too, files are looked for as for symbols. */
static bool mapped_open(struct dwell_unwinder *unwinder, int32_t pid,
			const struct dwell_mapping *map, const struct dwell_file *file,
			struct image *ret_image)
{
	const char *path = dwell_strings_get(unwinder->strings, file->path);
	struct why why;

	if (unwinder->open && file->kind != DWELL_FILE_VDSO) {
		struct image image = { .fd = unwinder->open(unwinder->user, pid, map) };

		if (image.fd >= 0 && !image_open_fd(image.fd, &image.elf)) {
			*ret_image = image;
			return true;
		}
		image_close(&image);
	}
	return binary_open(&unwinder->places, file, path, ret_image, &why) == DWELL_SYMBOL_OK;
}

/* Takes tables that were made beside, until the one of `awaited` is there or time is up. */
static void tables_take(struct dwell_unwinder *unwinder, const struct entry *awaited,
			uint64_t deadline_ns)
{
	struct dwell_unwind_table *table;
	uint32_t file;

	while (awaited->awaited &&
	       unwind_loader_take(unwinder->loader, deadline_ns, &file, &table)) {
		unwinder->entries.data[file].table = table;
		unwinder->entries.data[file].awaited = false;
	}
}

static void entry_load(struct dwell_unwinder *unwinder, int32_t pid,
		       const struct dwell_mapping *map, struct entry *entry)
{
	const struct dwell_file *file = dwell_stacks_file(unwinder->stacks, map->file);
	struct image image = { .fd = -1 };
	struct stat st;

	/* Of a recording all processes' files are looked for in the same places. */
	entry->tries = unwinder->open ? entry->tries + 1 : TRIES_MAX;
	entry->tried = pid;
	if ((file->kind != DWELL_FILE_ELF && file->kind != DWELL_FILE_VDSO) ||
	    !mapped_open(unwinder, pid, map, file, &image))
		return;
	entry->tries = TRIES_MAX;
	if (unwinder->open && image.fd >= 0 && !fstat(image.fd, &st) && st.st_size > LARGE_BYTES &&
	    !unwind_loader_give(unwinder->loader, map->file, &image)) {
		entry->awaited = true;
		tables_take(unwinder, entry, dwell_io_now_ns() + PATIENCE_NS);
		return;
	}
	if (dwell_unwind_table_new(image.elf, &entry->table, NULL))
		entry->table = NULL;
	image_close(&image);
}

static const struct dwell_unwind_table *table_of(void *user, int32_t pid,
						 const struct dwell_mapping *map)
{
	struct dwell_unwinder *unwinder = user;
	struct entry *entry;

	if (dwell_array_reserve(&unwinder->entries, (uint64_t)map->file + 1))
		return NULL;
	while (unwinder->entries.count <= map->file)
		unwinder->entries.data[unwinder->entries.count++] = (struct entry){ 0 };
	entry = &unwinder->entries.data[map->file];
	if (entry->tries < TRIES_MAX && entry->tried != pid)
		entry_load(unwinder, pid, map, entry);
	else if (entry->awaited)
		tables_take(unwinder, entry, 0);
	return entry->table;
}

/* The kernel's part of a chain, and the addresses that were unwound behind it; those from `told` on
 * are an earlier chain's, if that is not 0. */
static void chain_make(struct dwell_unwinder *unwinder, uint32_t told, const uint64_t **chain,
		       uint64_t *count)
{
	const struct dwell_unwound *unwound = &unwinder->unwound;
	uint64_t kept = 0, *made = unwinder->chain;

	while (kept < *count && kept < KERNEL_PART_MAX &&
	       (*chain)[kept] != (uint64_t)PERF_CONTEXT_USER)
		kept++;
	if (kept)
		memcpy(made, *chain, kept * sizeof(*made));
	made[kept++] = (uint64_t)PERF_CONTEXT_USER;
	for (uint32_t i = 0; i < unwound->count; i++) {
		if (told && i == told)
			made[kept++] = DWELL_CALLCHAIN_JOINED;
		made[kept++] = unwound->addresses[i];
	}
	*chain = made;
	*count = kept;
}

/* Counts how the chain at hand ended, and tells the frame below it. Returns as
 * unwind_joins_append(). */
static uint32_t chain_end(struct dwell_unwinder *unwinder, int32_t pid, int32_t tid,
			  uint32_t *ret_root)
{
	struct dwell_unwound *unwound = &unwinder->unwound;
	uint64_t generation = dwell_addrspaces_generation(unwinder->spaces, pid);
	uint32_t told = 0;

	unwinder->stats.ends[unwound->end]++;
	*ret_root = 0;
	if (unwound->end == DWELL_UNWIND_COMPLETE) {
		unwind_joins_keep(unwinder->joins, generation, tid, unwound);
		return 0;
	}
	if (unwound->end == DWELL_UNWIND_TRUNCATED)
		told = unwind_joins_append(unwinder->joins, generation, tid, unwound);
	if (told)
		unwinder->stats.joined++;
	else
		*ret_root = unwound->end <= DWELL_UNWIND_DEEP ? unwinder->truncated_frame
							      : unwinder->not_unwound_frame;
	return told;
}

bool dwell_unwinder_chain(struct dwell_unwinder *unwinder, int32_t pid, int32_t tid,
			  const struct dwell_copied_stack *copied, const uint64_t **chain,
			  uint64_t *count, uint32_t *ret_root)
{
	struct dwell_unwind_start start;

	if (!copied->regs || pid <= 0 ||
	    !dwell_unwind_start_set(&start, copied->machine, copied->abi, copied->regs_mask,
				    copied->regs, copied->swapped)) {
		unwinder->stats.not_unwound++;
		*ret_root = unwinder->not_unwound_frame;
		return false;
	}
	start.stack = copied->stack;
	start.stack_bytes = copied->stack_bytes;
	dwell_unwind(&start, unwinder->spaces, pid, table_of, unwinder, &unwinder->unwound);
	chain_make(unwinder, chain_end(unwinder, pid, tid, ret_root), chain, count);
	return true;
}

const struct dwell_unwinder_stats *dwell_unwinder_stats(const struct dwell_unwinder *unwinder)
{
	return &unwinder->stats;
}

void dwell_unwinder_counts(const struct dwell_unwinder_stats *stats,
			   struct dwell_unwinder_count ret_counts[DWELL_UNWINDER_COUNTS])
{
	const uint64_t *ends = stats->ends;
	const struct dwell_unwinder_count counts[DWELL_UNWINDER_COUNTS] = {
		{ "stacks.complete", ends[DWELL_UNWIND_COMPLETE] },
		{ "stacks.joined", stats->joined },
		{ "stacks.truncated",
		  ends[DWELL_UNWIND_TRUNCATED] + ends[DWELL_UNWIND_DEEP] - stats->joined },
		{ "stacks.broken", ends[DWELL_UNWIND_NO_MAP] + ends[DWELL_UNWIND_NO_INFO] },
		{ "stacks.not_unwound", stats->not_unwound },
	};

	memcpy(ret_counts, counts, sizeof(counts));
}
