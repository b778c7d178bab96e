// SPDX-License-Identifier: MIT
/* Mappings told by the kernel become sorted arrays per process, shared by reference counts across
 * fork. An address becomes the mapping that holds it by binary search, or at once when it lies in
 * the mapping found last. */
#include "parse/elf/addrspace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/idmap.h"

/* The kernel's own default limit of mappings of a process (vm.max_map_count); of these, the
 * executable ones are few. Further ones are not kept, so that a process cannot make its recorder
 * grow without end: their addresses have no mapping. */
enum { MAPPINGS_MAX = 65530, PATH_BYTES_MAX = 64 << 20 };

/* One set of mappings, sorted by start and disjoint; immutable while shared. */
struct space {
	DWELL_ARRAY(struct dwell_mapping) maps;
	uint32_t users;
	uint64_t generation;
};

struct process {
	struct space *space; /* NULL: a free entry */
	uint32_t last;	     /* index of the mapping found last */
	uint32_t next_free;  /* free entries: index + 1 of the next one */
};

struct dwell_addrspaces {
	struct dwell_strings *strings;
	struct dwell_stacks *stacks;
	struct dwell_idmap by_pid; /* pid -> index + 1 */
	DWELL_ARRAY(struct process) processes;
	uint32_t first_free;
	uint64_t generation;		 /* the latest one given out */
	uint64_t mappings, mappings_max; /* of all spaces */
	uint64_t left_out;
	uint64_t path_bytes; /* of all paths that were added */
	dwell_mapped_fn mapped;
	void *user;
};

struct dwell_addrspaces *dwell_addrspaces_new(struct dwell_strings *strings,
					      struct dwell_stacks *stacks)
{
	struct dwell_addrspaces *spaces = calloc(1, sizeof(*spaces));

	if (spaces) {
		spaces->strings = strings;
		spaces->stacks = stacks;
		spaces->mappings_max = UINT64_MAX;
	}
	return spaces;
}

void dwell_addrspaces_limit(struct dwell_addrspaces *spaces, uint64_t mappings_max)
{
	spaces->mappings_max = mappings_max;
}

void dwell_addrspaces_watch(struct dwell_addrspaces *spaces, dwell_mapped_fn mapped, void *user)
{
	spaces->mapped = mapped;
	spaces->user = user;
}

uint64_t dwell_addrspaces_left_out(const struct dwell_addrspaces *spaces)
{
	return spaces->left_out;
}

static void space_put(struct dwell_addrspaces *spaces, struct space *space)
{
	if (!space || --space->users)
		return;
	spaces->mappings -= space->maps.count;
	dwell_array_release(&space->maps);
	free(space);
}

void dwell_addrspaces_free(struct dwell_addrspaces *spaces)
{
	if (!spaces)
		return;
	for (uint32_t i = 0; i < spaces->processes.count; i++)
		space_put(spaces, spaces->processes.data[i].space);
	dwell_array_release(&spaces->processes);
	dwell_idmap_release(&spaces->by_pid);
	free(spaces);
}

static struct space *space_new(struct dwell_addrspaces *spaces)
{
	struct space *space = calloc(1, sizeof(*space));

	if (space) {
		space->users = 1;
		space->generation = ++spaces->generation;
	}
	return space;
}

static struct process *process_find(const struct dwell_addrspaces *spaces, int32_t pid)
{
	uint32_t index = dwell_idmap_find(&spaces->by_pid, (uint32_t)pid);

	return index ? &spaces->processes.data[index - 1] : NULL;
}

/* Makes space, whose reference is taken over (also on failure), the one of pid. */
static int process_set(struct dwell_addrspaces *spaces, int32_t pid, struct space *space)
{
	struct process *process = process_find(spaces, pid);
	uint32_t index = spaces->first_free;

	if (process) {
		space_put(spaces, process->space);
		*process = (struct process){ .space = space };
		return 0;
	}
	if (!index) {
		if (dwell_array_grow(&spaces->processes))
			goto fail;
		index = spaces->processes.count + 1;
	}
	if (dwell_idmap_set(&spaces->by_pid, (uint32_t)pid, index))
		goto fail;
	if (index > spaces->processes.count)
		spaces->processes.count++;
	else
		spaces->first_free = spaces->processes.data[index - 1].next_free;
	spaces->processes.data[index - 1] = (struct process){ .space = space };
	return 0;
fail:
	space_put(spaces, space);
	return -ENOMEM;
}

static bool has_prefix(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Executable memory behind which there is no file that one could read symbols from: anonymous
 * memory under the names the kernel gives it. */
static bool path_is_jit(const char *path)
{
	static const char *const prefixes[] = { "//anon",    "/anon_hugepage", "[anon",
						"/dev/zero", "/memfd:",	       "/SYSV",
						"[heap]",    "[stack",	       "/dmabuf" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (has_prefix(path, prefixes[i]))
			return true;
	return false;
}

/* Adds a path, while there is room for more of them: any process may map files under as many names
 * as it likes, and names stay. */
static int path_add(struct dwell_addrspaces *spaces, const char *path, uint32_t *ret_id)
{
	static const char left_out[] = "[path left out]";
	size_t bytes = strlen(path);

	if (dwell_strings_find(spaces->strings, path, bytes, ret_id))
		return 0;
	if (spaces->path_bytes + bytes > PATH_BYTES_MAX) {
		spaces->left_out++;
		return dwell_strings_add(spaces->strings, left_out, sizeof(left_out) - 1, ret_id);
	}
	spaces->path_bytes += bytes;
	return dwell_strings_add(spaces->strings, path, bytes, ret_id);
}

/* The build id of what is mapped, as it is told or found out: its bytes, 0 for none, or -ENOMEM. */
static int mapping_build_id(struct dwell_addrspaces *spaces, const struct dwell_mmap *map,
			    uint8_t ret_build_id[DWELL_BUILD_ID_MAX])
{
	if (map->build_id && map->build_id_bytes <= DWELL_BUILD_ID_MAX) {
		memcpy(ret_build_id, map->build_id, map->build_id_bytes);
		return map->build_id_bytes;
	}
	if (!spaces->mapped || map->path[0] != '/' || map->path[1] == '/')
		return 0;
	return spaces->mapped(spaces->user, map, ret_build_id);
}

/* The file of a mapping. *ret_offset is the offset its start has in frames. */
static int mapping_file(struct dwell_addrspaces *spaces, const struct dwell_mmap *map,
			uint32_t *ret_file, uint64_t *ret_offset)
{
	/* /proc/PID/maps leaves the name of anonymous memory empty, MMAP2 records do not. */
	const char *path = *map->path ? map->path : "//anon";
	struct dwell_file file = { .kind = DWELL_FILE_ELF };
	uint64_t offset = map->file_offset;
	int rc = mapping_build_id(spaces, map, file.build_id);

	if (rc < 0)
		return rc;
	file.build_id_bytes = (uint8_t)rc;
	if (!file.build_id_bytes && path_is_jit(path)) {
		file.kind = DWELL_FILE_JIT;
		file.pid = map->pid;
		offset = map->start;
	} else if (strcmp(path, "[vdso]") == 0) {
		file.kind = DWELL_FILE_VDSO;
	}
	/* "[vsyscall]", "[uprobes]" and the like: files of that name, which nobody finds. The
	 * generation is left out: records have it, /proc/PID/maps has not; and records tell either
	 * the build id or the inode. One file must not become two. */
	if (file.kind != DWELL_FILE_JIT && !file.build_id_bytes) {
		file.dev_major = map->dev_major;
		file.dev_minor = map->dev_minor;
		file.inode = map->inode;
	}
	rc = path_add(spaces, path, &file.path);
	if (!rc)
		rc = dwell_stacks_add_file(spaces->stacks, &file, ret_file);
	if (!rc)
		*ret_offset = offset;
	return rc;
}

/* How many of the count sorted mappings start at or below address. */
static uint32_t maps_below(const struct dwell_mapping *maps, uint32_t count, uint64_t address)
{
	uint32_t low = 0;

	while (low < count) {
		uint32_t mid = low + (count - low) / 2;

		if (maps[mid].start <= address)
			low = mid + 1;
		else
			count = mid;
	}
	return low;
}

/* Some programs copy the middle of their code into huge pages, which leaves anonymous memory of
 * whole ones (2 MiB) between two parts of a file that fit to each other: it is that file's code
 * still. */
static void text_restore(const struct dwell_addrspaces *spaces, struct space *space,
			 uint32_t middle)
{
	enum { HUGE_PAGE_BYTES = 2 << 20 };
	struct dwell_mapping *map = &space->maps.data[middle];
	const struct dwell_mapping *before = map - 1, *after = map + 1;

	if (!middle || middle + 1 >= space->maps.count || before->file != after->file ||
	    before->file == map->file || before->end != map->start || map->end != after->start ||
	    map->start % HUGE_PAGE_BYTES || map->end % HUGE_PAGE_BYTES ||
	    after->file_offset - before->file_offset != after->start - before->start ||
	    dwell_stacks_file(spaces->stacks, map->file)->kind != DWELL_FILE_JIT ||
	    dwell_stacks_file(spaces->stacks, before->file)->kind != DWELL_FILE_ELF)
		return;
	map->file = before->file;
	map->file_offset = before->file_offset + (map->start - before->start);
}

/* Puts map in, over whatever it overlaps: that is cut at the front, at the back, or in two. */
static int space_insert(struct dwell_addrspaces *spaces, struct space *space,
			const struct dwell_mapping *map)
{
	struct dwell_mapping piece[3], *maps;
	uint32_t first, last, pieces = 0, kept;

	if (dwell_array_reserve(&space->maps, (uint64_t)space->maps.count + 2))
		return -ENOMEM;
	maps = space->maps.data;
	/* [first, last) are the mappings that overlap. */
	first = maps_below(maps, space->maps.count, map->start);
	if (first && maps[first - 1].end > map->start)
		first--;
	last = maps_below(maps, space->maps.count, map->end - 1);
	if (first < last && maps[first].start < map->start) {
		piece[pieces] = maps[first];
		piece[pieces++].end = map->start;
	}
	piece[pieces++] = *map;
	if (first < last && maps[last - 1].end > map->end) {
		piece[pieces] = maps[last - 1];
		piece[pieces].file_offset += map->end - piece[pieces].start;
		piece[pieces++].start = map->end;
	}
	kept = space->maps.count - last;
	if (first + pieces + kept > MAPPINGS_MAX || spaces->mappings >= spaces->mappings_max) {
		spaces->left_out++;
		return 0;
	}
	spaces->mappings += first + pieces + kept - (uint64_t)space->maps.count;
	memmove(&maps[first + pieces], &maps[last], kept * sizeof(*maps));
	memcpy(&maps[first], piece, pieces * sizeof(*maps));
	space->maps.count = first + pieces + kept;
	/* Which of the three comes last depends on who tells. */
	for (uint32_t i = first ? first - 1 : 0; i < first + pieces + 1 && i < space->maps.count;
	     i++)
		text_restore(spaces, space, i);
	return 0;
}

/* A copy of from's mappings for one user, under a generation of its own. */
static struct space *space_copy(struct dwell_addrspaces *spaces, const struct space *from)
{
	struct space *space = space_new(spaces);

	if (!space)
		return NULL;
	if (dwell_array_reserve(&space->maps, (uint64_t)from->maps.count + 2)) {
		space_put(spaces, space);
		return NULL;
	}
	if (from->maps.count)
		memcpy(space->maps.data, from->maps.data,
		       from->maps.count * sizeof(*space->maps.data));
	space->maps.count = from->maps.count;
	spaces->mappings += space->maps.count;
	return space;
}

static int mapping_make(struct dwell_addrspaces *spaces, const struct dwell_mmap *map,
			struct dwell_mapping *ret_mapping)
{
	struct dwell_mapping mapping = { .start = map->start, .end = map->start + map->bytes };
	int rc = mapping_file(spaces, map, &mapping.file, &mapping.file_offset);

	if (!rc)
		*ret_mapping = mapping;
	return rc;
}

static bool mmap_ok(const struct dwell_mmap *map)
{
	return map->bytes && map->start + map->bytes > map->start;
}

/* The space of pid, its own and not shared. *ret_space is NULL where a copy would exceed what all
 * spaces may hold. 0 or -ENOMEM. */
static int space_own(struct dwell_addrspaces *spaces, int32_t pid, struct space **ret_space)
{
	struct process *process = process_find(spaces, pid);
	struct space *space;

	*ret_space = NULL;
	if (process && process->space->users == 1) {
		process->space->generation = ++spaces->generation;
		*ret_space = process->space;
		return 0;
	}
	if (process && spaces->mappings + process->space->maps.count > spaces->mappings_max) {
		spaces->left_out++;
		return 0;
	}
	space = process ? space_copy(spaces, process->space) : space_new(spaces);
	if (!space || process_set(spaces, pid, space))
		return -ENOMEM;
	*ret_space = space;
	return 0;
}

int dwell_addrspaces_map_file(struct dwell_addrspaces *spaces, int32_t pid,
			      const struct dwell_mapping *mapping)
{
	struct space *space;
	int rc;

	if (mapping->end <= mapping->start)
		return 0;
	rc = space_own(spaces, pid, &space);
	return rc || !space ? rc : space_insert(spaces, space, mapping);
}

int dwell_addrspaces_map(struct dwell_addrspaces *spaces, const struct dwell_mmap *map)
{
	struct dwell_mapping mapping;
	int rc;

	if (!mmap_ok(map))
		return 0;
	rc = mapping_make(spaces, map, &mapping);
	return rc ? rc : dwell_addrspaces_map_file(spaces, map->pid, &mapping);
}

int dwell_addrspaces_fork(struct dwell_addrspaces *spaces, int32_t parent_pid, int32_t child_pid)
{
	struct process *parent = process_find(spaces, parent_pid);

	if (parent_pid == child_pid)
		return 0;
	if (!parent) {
		dwell_addrspaces_exit(spaces, child_pid);
		return 0;
	}
	parent->space->users++;
	return process_set(spaces, child_pid, parent->space);
}

int dwell_addrspaces_exec(struct dwell_addrspaces *spaces, int32_t pid)
{
	struct space *space = space_new(spaces);

	return space ? process_set(spaces, pid, space) : -ENOMEM;
}

void dwell_addrspaces_exit(struct dwell_addrspaces *spaces, int32_t pid)
{
	struct process *process = process_find(spaces, pid);

	if (!process)
		return;
	space_put(spaces, process->space);
	*process = (struct process){ .next_free = spaces->first_free };
	spaces->first_free = (uint32_t)(process - spaces->processes.data) + 1;
	dwell_idmap_remove(&spaces->by_pid, (uint32_t)pid);
}

bool dwell_addrspaces_known(const struct dwell_addrspaces *spaces, int32_t pid)
{
	return process_find(spaces, pid) != NULL;
}

uint64_t dwell_addrspaces_generation(const struct dwell_addrspaces *spaces, int32_t pid)
{
	const struct process *process = process_find(spaces, pid);

	return process ? process->space->generation : 0;
}

const struct dwell_mapping *dwell_addrspaces_find(const struct dwell_addrspaces *spaces,
						  int32_t pid, uint64_t address)
{
	struct process *process = process_find(spaces, pid);
	const struct dwell_mapping *map;
	uint32_t below;

	if (!process || !process->space->maps.count)
		return NULL;
	/* The last hit may come from a set that has changed or shrunk meanwhile. */
	if (process->last < process->space->maps.count) {
		map = &process->space->maps.data[process->last];
		if (address - map->start < map->end - map->start)
			return map;
	}
	below = maps_below(process->space->maps.data, process->space->maps.count, address);
	if (!below)
		return NULL;
	map = &process->space->maps.data[below - 1];
	if (address >= map->end)
		return NULL;
	process->last = below - 1;
	return map;
}

/* A number in the given base that ends with the character after; moves *at behind that. */
static bool number_take(char **at, int base, char after, uint64_t *ret_value)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(*at, &end, base);
	if (end == *at || *end != after || errno)
		return false;
	*at = end + 1;
	*ret_value = value;
	return true;
}

/* Newlines in paths are written as \012 in /proc, and nothing else is escaped. */
static void path_unescape(char *path)
{
	char *to = path;

	for (const char *from = path; *from; to++) {
		bool newline = strncmp(from, "\\012", 4) == 0;

		*to = newline ? '\n' : *from;
		from += newline ? 4 : 1;
	}
	*to = '\0';
}

/* One line of /proc/PID/maps: true and *ret_map if it is an executable mapping. The path points
 * into line. */
static bool line_parse(char *line, int32_t pid, struct dwell_mmap *ret_map)
{
	struct dwell_mmap map = { .pid = pid };
	uint64_t end, major, minor;
	char *at = line;

	line[strcspn(line, "\n")] = '\0';
	if (!number_take(&at, 16, '-', &map.start) || !number_take(&at, 16, ' ', &end) ||
	    strlen(at) < 5 || at[2] != 'x' || at[4] != ' ')
		return false;
	at += 5;
	if (!number_take(&at, 16, ' ', &map.file_offset) || !number_take(&at, 16, ':', &major) ||
	    !number_take(&at, 16, ' ', &minor))
		return false;
	map.inode = strtoull(at, &at, 10);
	at += strspn(at, " ");
	path_unescape(at);
	map.path = at;
	map.bytes = end - map.start;
	map.dev_major = (uint32_t)major;
	map.dev_minor = (uint32_t)minor;
	if (end <= map.start)
		return false;
	*ret_map = map;
	return true;
}

int dwell_addrspaces_read_proc(struct dwell_addrspaces *spaces, const char *proc_root, int32_t pid,
			       struct dwell_err *err)
{
	char path[256], *line = NULL;
	struct dwell_mapping mapping;
	struct space *space = NULL;
	struct dwell_mmap map;
	size_t room = 0;
	FILE *file;
	int rc = 0;

	snprintf(path, sizeof(path), "%s/%d/maps", proc_root, pid);
	file = fopen(path, "re");
	if (!file)
		return dwell_err_sys(err, -errno, "cannot open '%s'", path);
	space = space_new(spaces);
	if (!space)
		rc = -ENOMEM;
	while (!rc && space->maps.count < MAPPINGS_MAX && getline(&line, &room, file) > 0) {
		if (!line_parse(line, pid, &map))
			continue;
		rc = mapping_make(spaces, &map, &mapping);
		if (!rc)
			rc = space_insert(spaces, space, &mapping);
	}
	/* A process that has no memory any more (a zombie) reads as empty; one that ends while
	 * it is read, as ESRCH. */
	if (!rc && ferror(file))
		rc = errno ? -errno : -EIO;
	fclose(file);
	free(line);
	if (rc) {
		space_put(spaces, space);
		return dwell_err_sys(err, rc, "cannot read '%s'", path);
	}
	return process_set(spaces, pid, space);
}
