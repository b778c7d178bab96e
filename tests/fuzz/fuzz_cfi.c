// SPDX-License-Identifier: MIT
/* Fuzzing of call frame information: bytes become a section whose rows must ascend within their
 * FDE, and an ELF file whose unwind table is looked up all over. Whatever the bytes say, nothing
 * may crash, hang or grow. */
#include <elf.h>
#include <stdlib.h>

#include "parse/elf/cfi.h"
#include "parse/elf/image.h"
#include "parse/elf/unwind_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

struct rows {
	uint64_t last, end; /* of the open FDE */
	bool is_open;
};

static int row_check(void *user, const struct cfi_row *row, uint64_t end)
{
	struct rows *rows = user;

	if (!row) {
		if (!rows->is_open || end <= rows->last || end > rows->end)
			abort();
		rows->is_open = false;
		return 0;
	}
	if (row->vaddr >= end || (rows->is_open && (row->vaddr <= rows->last || end != rows->end)))
		abort();
	*rows = (struct rows){ row->vaddr, end, true };
	return 0;
}

static void section_walk(const uint8_t *bytes, size_t count)
{
	struct cfi_stats stats;
	struct rows rows;

	for (int form = 0; form < 8; form++) {
		const struct cfi_section section = {
			.bytes = bytes,
			.count = count,
			.vaddr = 0x10000,
			.data = 0x20000,
			.machine = form & 1 ? EM_AARCH64 : EM_X86_64,
			.is_debug_frame = form & 2,
			.swapped = form & 4,
		};

		rows = (struct rows){ 0 };
		if (cfi_walk(&section, row_check, &rows, &stats) || rows.is_open)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct dwell_unwind_table *table;
	unsigned kinds = 0;
	Elf *elf;

	section_walk(bytes, count);
	if (image_open_memory(bytes, count, &elf))
		return 0;
	if (!dwell_unwind_table_new(elf, &table, NULL)) {
		for (uint64_t offset = 0; offset < 2 * count; offset += 5)
			kinds |= 1u << dwell_unwind_table_find(table, offset)->kind;
		if (kinds >> (DWELL_UNWIND_ODD + 1) ||
		    dwell_unwind_table_find(table, UINT64_MAX)->kind != DWELL_UNWIND_NONE)
			abort();
		dwell_unwind_table_free(table);
	}
	elf_end(elf);
	return 0;
}
