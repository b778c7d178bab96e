// SPDX-License-Identifier: MIT
/* What a chunk says for the first time goes into the source's tables. Files are told by their dso
 * alone: text has no build ids and no inodes, and its names are final. */
#include "parse/script_tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES_MAX = 4096 };

void script_map_release(struct script_map *map)
{
	dwell_array_release(&map->names);
	dwell_array_release(&map->paths);
	dwell_array_release(&map->path_frames);
	dwell_array_release(&map->stacks);
}

static struct dwell_slice base_of(struct dwell_slice path)
{
	const char *slash = memrchr(path.at, '/', path.bytes);

	/* "//anon" and "[anon:x/y]" are no paths. */
	if (!slash || dwell_slice_begins(path, "//") || *path.at == '[' ||
	    slash + 1 == path.at + path.bytes)
		return path;
	return dwell_slice_of(slash + 1, path.at + path.bytes);
}

static bool is_module(struct dwell_slice base)
{
	return dwell_slice_ends(base, ".ko") || dwell_slice_ends(base, ".ko.gz") ||
	       dwell_slice_ends(base, ".ko.xz") || dwell_slice_ends(base, ".ko.zst") ||
	       dwell_slice_begins(base, "bpf_prog_");
}

/* "perf-123.map", "jitted-123-4.so", "[JIT] tid 123": code made at run time. */
static bool is_jit(struct dwell_slice base)
{
	return (dwell_slice_begins(base, "perf-") && dwell_slice_ends(base, ".map")) ||
	       dwell_slice_begins(base, "jitted-") || dwell_slice_begins(base, "[JIT]");
}

/* In brackets stand modules, and areas of memory without a file. */
static uint8_t bracket_kind(struct dwell_slice dso)
{
	static const char *const areas[] = { "[heap",	  "[stack", "[anon",   "[unknown",
					     "[vsyscall", "[vvar",  "[uprobes" };

	if (dwell_slice_begins(dso, "[kernel") || dwell_slice_begins(dso, "[guest.kernel"))
		return DWELL_FILE_KERNEL;
	if (dwell_slice_begins(dso, "[vdso"))
		return DWELL_FILE_VDSO;
	for (unsigned i = 0; i < sizeof(areas) / sizeof(areas[0]); i++)
		if (dwell_slice_begins(dso, areas[i]))
			return DWELL_FILE_ELF;
	return dwell_slice_ends(dso, "]") ? DWELL_FILE_MODULE : DWELL_FILE_ELF;
}

static uint8_t file_kind(const struct dwell_script_frame *frame)
{
	struct dwell_slice base = base_of(frame->dso);

	if (frame->inlined)
		return DWELL_FILE_INLINED;
	if (!base.bytes)
		return DWELL_FILE_UNKNOWN;
	if (is_jit(base))
		return DWELL_FILE_JIT;
	if (*base.at == '[')
		return bracket_kind(base);
	if (is_module(base))
		return DWELL_FILE_MODULE;
	return dwell_slice_begins(base, "vmlinux") || dwell_slice_equal(base, "kcore")
		       ? DWELL_FILE_KERNEL
		       : DWELL_FILE_ELF;
}

/* The name of a frame without symbol, as a recording's have it. */
static int unknown_name(struct dwell_source *source, struct dwell_slice dso, uint32_t *ret_name)
{
	struct dwell_slice base = base_of(dso);
	char text[NAME_BYTES_MAX + 16];
	int n;

	if (base.bytes > NAME_BYTES_MAX)
		base.bytes = NAME_BYTES_MAX;
	n = base.bytes ? snprintf(text, sizeof(text), "[unknown] (%.*s)", (int)base.bytes, base.at)
		       : snprintf(text, sizeof(text), "[unknown]");
	return dwell_strings_add(source->strings, text, (size_t)n, ret_name);
}

/* A Java class's "Lorg/x/Y;::method" without the L of its descriptor. */
static struct dwell_slice java_name(struct dwell_slice name)
{
	uint32_t i = 1;

	if (name.bytes < 2 || *name.at != 'L' || name.at[1] < 'a' || name.at[1] > 'z')
		return name;
	while (i < name.bytes && (dwell_slice_digit(name.at[i]) || name.at[i] == '_' ||
				  (unsigned)((name.at[i] | 0x20) - 'a') < 26))
		i++;
	if (i < name.bytes && name.at[i] == '/')
		return dwell_slice_of(name.at + 1, name.at + name.bytes);
	return name;
}

static int frame_add(struct script_map *map, struct dwell_source *source, uint32_t file,
		     uint32_t name)
{
	uint32_t frame;
	int rc = dwell_stacks_add_frame(source->stacks, file, name, &frame);

	if (!rc && dwell_array_grow(&map->path_frames))
		rc = -ENOMEM;
	if (rc)
		return rc;
	dwell_stacks_set_symbol(source->stacks, frame, name);
	map->path_frames.data[map->path_frames.count++] = frame;
	return 0;
}

/* Run-time compilers join the names of what they inlined by "->", callers first. */
static int symbol_add(struct script_map *map, struct dwell_source *source,
		      const struct dwell_script_frame *frame, struct dwell_file file)
{
	struct dwell_slice left = frame->symbol;
	bool more = true, run_time = file.kind == DWELL_FILE_JIT || file.kind == DWELL_FILE_UNKNOWN;
	bool joined = dwell_slice_begins(base_of(frame->dso), "perf-") && run_time;
	uint32_t id, name;
	int rc;

	while (more) {
		const char *arrow = joined ? memmem(left.at, left.bytes, "->", 2) : NULL;
		struct dwell_slice part = left;

		more = arrow && arrow > left.at && arrow + 2 < left.at + left.bytes;
		if (more) {
			part = dwell_slice_of(left.at, arrow);
			left = dwell_slice_of(arrow + 2, left.at + left.bytes);
		}
		part = dwell_script_name(part);
		if (run_time)
			part = java_name(part);
		rc = dwell_stacks_add_file(source->stacks, &file, &id);
		if (!rc)
			rc = dwell_strings_add(source->strings, part.at, part.bytes, &name);
		if (!rc && !name) /* its first byte is NUL */
			rc = dwell_strings_add(source->strings, "?", 1, &name);
		if (!rc)
			rc = frame_add(map, source, id, name);
		if (rc)
			return rc;
		file.kind = DWELL_FILE_INLINED;
	}
	return 0;
}

static int path_add(struct script_map *map, struct dwell_source *source, struct dwell_slice tail)
{
	uint32_t first = map->path_frames.count, id, name;
	struct dwell_script_frame frame;
	struct dwell_file file = { 0 };
	int rc;

	dwell_script_frame_parse(tail, &frame);
	file.kind = file_kind(&frame);
	rc = dwell_strings_add(source->strings, frame.dso.at, frame.dso.bytes, &file.path);
	if (!rc && !frame.cookie && frame.symbol.bytes) {
		rc = symbol_add(map, source, &frame, file);
	} else if (!rc && !frame.cookie) {
		rc = dwell_stacks_add_file(source->stacks, &file, &id);
		if (!rc)
			rc = unknown_name(source, frame.dso, &name);
		if (!rc)
			rc = frame_add(map, source, id, name);
	}
	if (rc || dwell_array_grow(&map->paths))
		return -ENOMEM;
	map->paths.data[map->paths.count++] =
		(struct script_path){ first, map->path_frames.count - first };
	return 0;
}

static int stack_add(struct script_map *map, struct dwell_source *source, const uint32_t *ids,
		     uint32_t count)
{
	uint32_t node = 0;

	while (count--) {
		const struct script_path *path = &map->paths.data[ids[count] - 1];

		for (uint32_t i = 0; i < path->count; i++)
			if (dwell_stacks_add_node(source->stacks, node,
						  map->path_frames.data[path->first + i], &node))
				return -ENOMEM;
	}
	if (dwell_array_grow(&map->stacks))
		return -ENOMEM;
	map->stacks.data[map->stacks.count++] = node;
	return 0;
}

int script_map_add(struct script_map *map, struct dwell_source *source,
		   const struct script_chunk *chunk)
{
	int rc = 0;

	if (chunk->forget)
		map->names.count = map->paths.count = map->path_frames.count = map->stacks.count =
			0;
	for (uint32_t i = 0; !rc && i < chunk->new_names.count; i++) {
		struct dwell_slice name = chunk->new_names.data[i];
		uint32_t string;

		if (dwell_array_grow(&map->names) ||
		    dwell_strings_add(source->strings, name.at, name.bytes, &string))
			return -ENOMEM;
		map->names.data[map->names.count++] = (struct script_name){ string, 0 };
	}
	for (uint32_t i = 0; !rc && i < chunk->new_frames.count; i++)
		rc = path_add(map, source, chunk->new_frames.data[i]);
	for (uint32_t i = 0; !rc && i < chunk->new_stacks.count; i++) {
		const struct script_stack *stack = &chunk->new_stacks.data[i];

		rc = stack_add(map, source, chunk->stack_frames.data + stack->first, stack->count);
	}
	return rc;
}

uint32_t script_map_string(const struct script_map *map, uint32_t id)
{
	return id ? map->names.data[id - 1].string : 0;
}

/* "cpu-clock:u" and "cpu-clock" are clocks. */
static bool is_clock(const char *name)
{
	static const char *const clocks[] = { "cpu-clock", "task-clock" };

	for (unsigned i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		size_t bytes = strlen(clocks[i]);

		if (!strncmp(name, clocks[i], bytes) && (!name[bytes] || name[bytes] == ':'))
			return true;
	}
	return false;
}

int script_map_event(struct script_map *map, struct dwell_source *source,
		     struct dwell_idmap *entries, const struct script_record *record,
		     uint32_t *ret_entry)
{
	static const char unnamed[] = "unnamed"; /* -F without event */
	struct script_name *name = &map->names.data[record->event - 1];
	struct dwell_event_desc desc = { 0 };

	if (!name->event)
		name->event = dwell_idmap_find(entries, name->string);
	if (!name->event) {
		desc.name = name->string;
		if (!desc.name &&
		    dwell_strings_add(source->strings, unnamed, sizeof(unnamed) - 1, &desc.name))
			return -ENOMEM;
		desc.is_clock = record->has_period &&
				is_clock(dwell_strings_get(source->strings, name->string));
		desc.unit = desc.is_clock ? DWELL_UNIT_NS : DWELL_UNIT_COUNT;
		if (dwell_array_grow(&source->events))
			return -ENOMEM;
		source->events.data[source->events.count++] = desc;
		name->event = source->events.count;
		if (dwell_idmap_set(entries, name->string, name->event))
			return -ENOMEM;
	}
	*ret_entry = name->event - 1;
	return 0;
}
