// SPDX-License-Identifier: MIT
/* Kernel mappings become an address space like a process's; an address is looked for once and its
 * frame kept until a mapping changes. */
#include "parse/perf_kernel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { KERNEL_PID = -1 };

/* How perf names the image: "[kernel.kallsyms]" and the symbol that its mapping's pgoff stands for
 * (tools/perf/util/machine.c). Android's simpleperf leaves the symbol out. */
static const char *image_reference(const char *path)
{
	static const char *const images[] = { "[kernel.kallsyms]", "[kernel.vmlinux]",
					      "[guest.kernel.kallsyms]" };

	for (size_t i = 0; i < sizeof(images) / sizeof(*images); i++)
		if (!strncmp(path, images[i], strlen(images[i])))
			return path + strlen(images[i]);
	return NULL;
}

void perf_kernel_release(struct perf_kernel *kernel)
{
	dwell_idmap_release(&kernel->frames);
	dwell_idmap_release(&kernel->names);
}

/* What was resolved before may lie in the new range. */
static int range_add(struct perf_kernel *kernel, uint64_t start, uint64_t bytes, uint64_t base,
		     uint32_t file)
{
	const struct dwell_mapping mapping = {
		.start = start,
		.end = bytes < UINT64_MAX - start ? start + bytes : UINT64_MAX,
		.file_offset = start - base,
		.file = file,
	};

	dwell_idmap_release(&kernel->frames);
	dwell_callchains_forget(kernel->chains);
	return dwell_addrspaces_map_file(kernel->spaces, KERNEL_PID, &mapping);
}

static int file_add(struct perf_kernel *kernel, uint8_t kind, const char *path,
		    const uint8_t *build_id, uint8_t build_id_bytes, uint32_t *ret_file)
{
	struct dwell_file file = { .kind = kind };
	int rc = dwell_strings_add(kernel->strings, path, strlen(path), &file.path);

	if (build_id && build_id_bytes <= DWELL_BUILD_ID_MAX) {
		memcpy(file.build_id, build_id, build_id_bytes);
		file.build_id_bytes = build_id_bytes;
	}
	return rc ? rc : dwell_stacks_add_file(kernel->stacks, &file, ret_file);
}

int perf_kernel_map(struct perf_kernel *kernel, uint64_t start, uint64_t bytes, uint64_t pgoff,
		    const char *path, const uint8_t *build_id, uint8_t build_id_bytes,
		    const char **ret_reference)
{
	const char *reference = image_reference(path);
	uint32_t file;
	int rc = file_add(kernel, reference ? DWELL_FILE_KERNEL : DWELL_FILE_MODULE,
			  reference ? "[kernel.kallsyms]" : path, build_id, build_id_bytes, &file);

	*ret_reference = reference;
	if (rc)
		return rc;
	if (!reference)
		return range_add(kernel, start, bytes, start, file);
	/* A pgoff of 0 means that the kernel's addresses were hidden (kptr_restrict). */
	kernel->image_base = pgoff ? pgoff : start;
	kernel->image_file = file + 1;
	return range_add(kernel, start, bytes, kernel->image_base, file);
}

int perf_kernel_symbol(struct perf_kernel *kernel, uint64_t start, uint32_t bytes, const char *name)
{
	uint32_t file, symbol;
	char path[80];
	int rc;

	if (!*name)
		return 0;
	snprintf(path, sizeof(path), "[%.70s]", name);
	rc = file_add(kernel, DWELL_FILE_MODULE, path, NULL, 0, &file);
	if (!rc)
		rc = dwell_strings_add(kernel->strings, name, strlen(name), &symbol);
	if (!rc)
		rc = dwell_idmap_set(&kernel->names, file + 1ull, symbol);
	return rc ? rc : range_add(kernel, start, bytes, start, file);
}

int perf_kernel_frame(struct perf_kernel *kernel, uint64_t address, uint32_t *ret_frame)
{
	uint32_t frames = dwell_stacks_frame_count(kernel->stacks), file, symbol;
	uint32_t known = dwell_idmap_find(&kernel->frames, address);
	const struct dwell_mapping *map;
	uint64_t offset = address;
	int rc = 0;

	if (known) {
		*ret_frame = known;
		return 0;
	}
	map = dwell_addrspaces_find(kernel->spaces, KERNEL_PID, address);
	if (map) {
		file = map->file;
		offset += map->file_offset - map->start;
	} else if (kernel->image_file) { /* its init code lies outside of what perf tells of */
		file = kernel->image_file - 1;
		offset -= kernel->image_base;
	} else {
		rc = file_add(kernel, DWELL_FILE_KERNEL, "[kernel.kallsyms]", NULL, 0, &file);
	}
	if (!rc)
		rc = dwell_stacks_add_frame(kernel->stacks, file, offset, ret_frame);
	if (rc)
		return rc;
	symbol = dwell_idmap_find(&kernel->names, file + 1ull);
	if (symbol && *ret_frame >= frames)
		dwell_stacks_set_symbol(kernel->stacks, *ret_frame, symbol);
	return dwell_idmap_set(&kernel->frames, address, *ret_frame);
}
