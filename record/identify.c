// SPDX-License-Identifier: MIT
/* Files become build ids, run-time code becomes names, through the process that runs them: its own
 * view of the file tree is gone when it is. */
#include "record/identify.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/io.h"
#include "parse/elf/buildid.h"
#include "parse/elf/perfmap.h"

/* Anybody may write maps, as large as they like and as many: so much is read of all together. */
#define MAP_BYTES_MAX (256ull << 20)

void identify_release(struct identify *identify)
{
	dwell_array_release(&identify->looked_at);
	dwell_array_release(&identify->code);
}

int identify_open(const struct identify *identify, int32_t pid, const struct dwell_mapping *map)
{
	const struct dwell_file *file = dwell_stacks_file(identify->stacks, map->file);
	char path[PATH_MAX];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", pid,
		 (unsigned long long)map->start, (unsigned long long)map->end);
	fd = dwell_io_open_regular(path, 0);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/root%s", pid,
		 dwell_strings_get(identify->strings, file->path));
	fd = dwell_io_open_regular(path, 0);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) || (file->inode && st.st_ino != file->inode)) {
		close(fd);
		return -ENOENT;
	}
	return fd;
}

static int identify_file(struct identify *identify, int32_t pid, const struct dwell_mapping *map)
{
	const struct dwell_file *file = dwell_stacks_file(identify->stacks, map->file);
	uint8_t build_id[DWELL_BUILD_ID_MAX];
	int fd, bytes;

	if (map->file >= identify->looked_at.count) {
		uint32_t before = identify->looked_at.count;

		if (dwell_array_reserve(&identify->looked_at, (uint64_t)map->file + 1))
			return -ENOMEM;
		identify->looked_at.count = map->file + 1;
		memset(identify->looked_at.data + before, 0, map->file + 1 - before);
	}
	if (identify->looked_at.data[map->file] || file->kind != DWELL_FILE_ELF ||
	    file->build_id_bytes)
		return 0;
	identify->looked_at.data[map->file] = 1;
	fd = identify_open(identify, pid, map);
	if (fd < 0)
		return 0; /* gone, or not ours to read: told by inode then */
	bytes = dwell_build_id_read(fd, build_id);
	close(fd);
	if (bytes <= 0)
		return 0;
	dwell_stacks_set_build_id(identify->stacks, map->file, build_id, (uint8_t)bytes);
	return trace_writer_build_id(identify->writer, map->file);
}

int identify_frame(struct identify *identify, int32_t pid, const struct dwell_mapping *map,
		   uint32_t frame)
{
	const struct dwell_file *file = dwell_stacks_file(identify->stacks, map->file);

	if (file->kind != DWELL_FILE_JIT)
		return identify_file(identify, pid, map);
	if (dwell_array_grow(&identify->code))
		return -ENOMEM;
	identify->code.data[identify->code.count++] =
		(struct identify_code){ frame, file->pid,
					dwell_stacks_frame(identify->stacks, frame)->offset };
	return 0;
}

/* One process's run-time code, by address. */
struct naming {
	struct identify *identify;
	struct identify_code *code; /* gathered in the list, in order */
	uint32_t count;
};

static int code_name(void *user, uint32_t index, const char *name)
{
	const struct naming *naming = user;
	struct identify *identify = naming->identify;
	struct identify_code *code = &naming->code[index];
	uint32_t id;
	int rc = dwell_strings_add(identify->strings, name, strlen(name), &id);

	if (rc)
		return rc;
	dwell_stacks_set_symbol(identify->stacks, code->frame, id);
	return trace_writer_symbol(identify->writer, code->frame);
}

static int code_compare(const void *a, const void *b)
{
	const struct identify_code *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* Moves the code of pid to `from` on in the list, in ascending order: how much it is. */
static uint32_t code_gather(struct identify *identify, uint32_t from, int32_t pid)
{
	struct identify_code *code = identify->code.data + from;
	uint32_t count = 0;

	for (uint32_t i = 0; i < identify->code.count - from; i++) {
		struct identify_code moved = code[i];

		if (moved.pid != pid)
			continue;
		code[i] = code[count];
		code[count++] = moved;
	}
	if (count)
		qsort(code, count, sizeof(*code), code_compare);
	return count;
}

/* Names one process's code, which is looked for from *from on, and takes it off the list, also what
 * has no name there. Without a map it stays, and *from moves behind it. */
static int code_of(struct identify *identify, int32_t pid, uint32_t *from)
{
	struct naming naming = { identify, identify->code.data + *from,
				 code_gather(identify, *from, pid) };
	uint64_t *addresses, left;
	int rc;

	if (!naming.count)
		return 0;
	addresses = malloc(naming.count * sizeof(*addresses));
	if (!addresses)
		return -ENOMEM;
	for (uint32_t i = 0; i < naming.count; i++)
		addresses[i] = naming.code[i].address;
	left = MAP_BYTES_MAX - identify->map_bytes;
	rc = dwell_perfmap_name(pid, addresses, naming.count, &left, code_name, &naming);
	identify->map_bytes = MAP_BYTES_MAX - left;
	free(addresses);
	identify->maps_unread += rc == -EFBIG;
	if (rc == -ENOENT || rc == -EPERM) {
		*from += naming.count;
		return 0;
	}
	identify->code.count -= naming.count;
	memmove(naming.code, naming.code + naming.count,
		(identify->code.count - *from) * sizeof(*identify->code.data));
	return rc == -ENOMEM ? rc : 0;
}

int identify_code_of(struct identify *identify, int32_t pid)
{
	uint32_t from = 0;
	int rc = pid < 0 ? 0 : code_of(identify, pid, &from);

	while (!rc && pid < 0 && from < identify->code.count)
		rc = code_of(identify, identify->code.data[from].pid, &from);
	return rc;
}
