// SPDX-License-Identifier: MIT
/* Files become build ids, run-time code becomes names, through the process that runs them: its own
 * view of the file tree is gone when it is. */
#include "record/identify.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/io.h"
#include "parse/elf/buildid.h"
#include "parse/elf/perfmap.h"

void identify_release(struct identify *identify)
{
	dwell_array_release(&identify->looked_at);
	dwell_array_release(&identify->code);
}

/* Opens what is mapped: by the mapping itself, which finds deleted and replaced files too, else by
 * name in the process's own file tree if that is still the same file. -errno when neither can be.
 */
static int mapped_open(const struct dwell_strings *strings, const struct dwell_file *file,
		       int32_t pid, const struct dwell_mapping *map)
{
	char path[PATH_MAX];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", pid,
		 (unsigned long long)map->start, (unsigned long long)map->end);
	fd = dwell_io_open_regular(path, 0);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/root%s", pid,
		 dwell_strings_get(strings, file->path));
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
	fd = mapped_open(identify->strings, file, pid, map);
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

static int code_name(struct identify *identify, const struct dwell_perfmap *names,
		     const struct identify_code *code)
{
	const char *name = dwell_perfmap_find(names, code->address);
	uint32_t id;
	int rc;

	if (!name)
		return 0;
	rc = dwell_strings_add(identify->strings, name, strlen(name), &id);
	if (rc)
		return rc;
	dwell_stacks_set_symbol(identify->stacks, code->frame, id);
	return trace_writer_symbol(identify->writer, code->frame);
}

/* Names one process's code and takes it off the list; without a map it stays on. */
static int code_of(struct identify *identify, int32_t pid)
{
	struct identify_code *code = identify->code.data;
	struct dwell_perfmap *names;
	uint32_t kept = 0;
	int rc = 0;

	if (dwell_perfmap_read(pid, NULL, &names))
		return 0;
	for (uint32_t i = 0; i < identify->code.count; i++) {
		if (code[i].pid != pid)
			code[kept++] = code[i];
		else if (!rc)
			rc = code_name(identify, names, &code[i]);
	}
	dwell_perfmap_free(names);
	identify->code.count = kept;
	return rc;
}

int identify_code_of(struct identify *identify, int32_t pid)
{
	uint32_t i = 0;
	int rc = 0;

	while (!rc && i < identify->code.count) {
		int32_t whose = identify->code.data[i].pid;
		uint32_t before = identify->code.count;

		if (pid < 0 || whose == pid)
			rc = code_of(identify, whose);
		if (pid >= 0 && whose == pid)
			break;
		if (identify->code.count == before) /* no map: pass over all of this process */
			while (i < identify->code.count && identify->code.data[i].pid == whose)
				i++;
	}
	return rc;
}
