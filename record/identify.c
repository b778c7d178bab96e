// SPDX-License-Identifier: MIT
/* Files become build ids, through the process that runs them: its own view of the file tree is gone
 * when it is. */
#include "record/identify.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/io.h"
#include "parse/elf/buildid.h"

void identify_init(struct identify *identify, struct dwell_strings *strings,
		   struct dwell_stacks *stacks)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	*identify = (struct identify){ .strings = strings, .stacks = stacks };
	identify->jit = (struct jitcode){ .strings = strings,
					  .stacks = stacks,
					  .since_ns = (uint64_t)now.tv_sec * 1000000000u };
}

void identify_release(struct identify *identify)
{
	dwell_array_release(&identify->looked_at);
	jitcode_release(&identify->jit);
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
	return jitcode_frame(&identify->jit, file->pid, frame);
}
