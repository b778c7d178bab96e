// SPDX-License-Identifier: MIT
/* The same lookup as that of the analysis, with names as they are in the files. */
#include "record/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io.h"
#include "parse/elf/symbols.h"

#define PATIENCE_NS 2000000000ull

static int frame_store(struct recording *rec, struct dwell_symbols *symbols, uint32_t frame)
{
	struct dwell_place stored[DWELL_PLACES_MAX] = { 0 };
	enum dwell_symbol_status status;
	uint32_t count;
	const struct dwell_symbol_place *places =
		dwell_symbols_places(symbols, frame, &count, &status);
	int rc = 0;

	if (status != DWELL_SYMBOL_OK)
		return 0;
	count = count < DWELL_PLACES_MAX ? count : DWELL_PLACES_MAX;
	for (uint32_t i = 0; !rc && i < count; i++) {
		stored[i].line = places[i].line;
		rc = dwell_strings_add(rec->strings, places[i].name, strlen(places[i].name),
				       &stored[i].name);
		if (!rc && places[i].file)
			rc = dwell_strings_add(rec->strings, places[i].file, strlen(places[i].file),
					       &stored[i].file);
	}
	if (!rc && count == 1 && !stored[0].file) {
		dwell_stacks_set_symbol(rec->stacks, frame, stored[0].name);
		return trace_writer_symbol(rec->writer, frame);
	}
	if (!rc)
		rc = dwell_stacks_set_places(rec->stacks, frame, stored, count);
	return rc ? rc : trace_writer_places(rec->writer, frame);
}

/* A frame in a file. */
struct entry {
	uint32_t frame, file;
	uint64_t offset;
};

static int entry_compare(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Those in files, as they lie there: so names that are alike come one after the other, and pack to
 * a third less. */
static int entries_sort(const struct dwell_stacks *stacks, struct entry **ret_entries,
			uint32_t *ret_count)
{
	uint32_t frames = dwell_stacks_frame_count(stacks), count = 0;
	struct entry *entries = malloc((size_t)frames * sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	for (uint32_t id = 1; id < frames; id++) {
		const struct dwell_frame *frame = dwell_stacks_frame(stacks, id);
		uint8_t kind = dwell_stacks_file(stacks, frame->file)->kind;

		if (kind == DWELL_FILE_ELF || kind == DWELL_FILE_VDSO)
			entries[count++] = (struct entry){ id, frame->file, frame->offset };
	}
	qsort(entries, count, sizeof(*entries), entry_compare);
	*ret_entries = entries;
	*ret_count = count;
	return 0;
}

int names_store(struct recording *rec)
{
	uint64_t deadline_ns = dwell_io_now_ns() + PATIENCE_NS;
	struct dwell_symbols_options options = {
		.raw = true, .lines = true, .open = identify_reopen, .user = &rec->identify
	};
	struct dwell_symbols *symbols = NULL;
	struct entry *entries = NULL;
	struct utsname host;
	uint32_t count = 0;
	int rc;

	if (dwell_symbols_here(&host, &options))
		return 0;
	rc = entries_sort(rec->stacks, &entries, &count);
	if (!rc)
		symbols = dwell_symbols_new(rec->strings, rec->stacks, &options);
	if (!rc && !symbols)
		rc = -ENOMEM;
	trace_writer_unhurried(rec->writer);
	for (uint32_t i = 0; !rc && i < count; i++)
		if (dwell_io_now_ns() < deadline_ns)
			rc = frame_store(rec, symbols, entries[i].frame);
		else
			rec->frames_unnamed++;
	dwell_symbols_free(symbols);
	free(entries);
	return rc;
}
