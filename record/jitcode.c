// SPDX-License-Identifier: MIT
/* Frames of run-time code are gathered, and named all at once when their process ends: by its dump,
 * which tells what stood where when, else by its map. */
#include "record/jitcode.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Anybody may write maps and dumps, as large as they like and as many: so much is read of all
 * together. Code itself is skipped in dumps. */
#define MAP_BYTES_MAX  (256ull << 20)
#define DUMP_BYTES_MAX (1ull << 30)

/* Processes of which something is held open at most: two descriptors each, and one of a dump. */
enum { PLACES_MAX = 256, DUMPS_MAX = 128 };

static void dump_close(struct jitcode *jit, struct jitcode_process *process)
{
	if (!process->dump)
		return;
	jit->late += dwell_jitdump_late(process->dump);
	dwell_jitdump_free(process->dump);
	process->dump = NULL;
	jit->dumps--;
}

static void process_release(struct jitcode *jit, struct jitcode_process *process)
{
	if (process->placed)
		dwell_perfmap_place_release(&process->place);
	jit->placed -= process->placed;
	dump_close(jit, process);
	dwell_idmap_remove(&jit->by_pid, (uint32_t)process->pid);
	*process = (struct jitcode_process){ 0 };
}

void jitcode_release(struct jitcode *jit)
{
	for (uint32_t i = 0; i < jit->processes.count; i++)
		if (jit->processes.data[i].pid)
			process_release(jit, &jit->processes.data[i]);
	dwell_array_release(&jit->processes);
	dwell_array_release(&jit->frames);
	dwell_idmap_release(&jit->by_pid);
}

static struct jitcode_process *process_find(struct jitcode *jit, int32_t pid)
{
	uint32_t index = dwell_idmap_find(&jit->by_pid, (uint32_t)pid);

	return index ? &jit->processes.data[index - 1] : NULL;
}

/* The entry of a process; NULL when out of memory. */
static struct jitcode_process *process_need(struct jitcode *jit, int32_t pid)
{
	struct jitcode_process *process = process_find(jit, pid);
	uint32_t index = 0;

	if (process)
		return process;
	while (index < jit->processes.count && jit->processes.data[index].pid)
		index++;
	if ((index == jit->processes.count && dwell_array_grow(&jit->processes)) ||
	    dwell_idmap_set(&jit->by_pid, (uint32_t)pid, index + 1))
		return NULL;
	if (index == jit->processes.count)
		jit->processes.count++;
	process = &jit->processes.data[index];
	*process = (struct jitcode_process){ .pid = pid };
	return process;
}

int jitcode_frame(struct jitcode *jit, int32_t pid, uint32_t frame)
{
	const struct dwell_frame *entry = dwell_stacks_frame(jit->stacks, frame);
	const struct dwell_file *file = dwell_stacks_file(jit->stacks, entry->file);
	struct jitcode_process *process = process_need(jit, pid);

	if (!process || dwell_array_grow(&jit->frames))
		return -ENOMEM;
	jit->frames.data[jit->frames.count++] =
		(struct jitcode_frame){ frame, pid, (uint32_t)file->inode_generation,
					entry->offset };
	if (process->placed || jit->placed == PLACES_MAX)
		return 0;
	dwell_perfmap_place_find(pid, jit->since_ns, &process->place);
	process->placed = true;
	jit->placed++;
	return 0;
}

int jitcode_dump(struct jitcode *jit, int32_t pid, int fd)
{
	struct jitcode_process *process;
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (fd >= 0 &&
	    (jit->dumps == DUMPS_MAX || stat(path, &st) || dwell_jitdump_owner(fd, st.st_uid))) {
		close(fd);
		fd = -EPERM;
	}
	if (fd < 0) {
		jit->dumps_unread++;
		return 0;
	}
	process = process_need(jit, pid);
	if (!process) {
		close(fd);
		return -ENOMEM;
	}
	dump_close(jit, process); /* mapped again, or the one of an earlier program */
	if (dwell_jitdump_new(fd, &process->dump))
		return -ENOMEM;
	jit->dumps++;
	return 0;
}

static int dump_more(struct jitcode *jit, struct jitcode_process *process)
{
	uint64_t left = DUMP_BYTES_MAX - jit->dump_bytes;
	int rc = dwell_jitdump_more(process->dump, &left);

	jit->dump_bytes = DUMP_BYTES_MAX - left;
	if (rc == -EINVAL || rc == -EOPNOTSUPP) {
		jit->dumps_unread++;
		dump_close(jit, process);
		rc = 0;
	}
	return rc;
}

int jitcode_more(struct jitcode *jit)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && jit->dumps && i < jit->processes.count; i++)
		if (jit->processes.data[i].dump)
			rc = dump_more(jit, &jit->processes.data[i]);
	return rc;
}

/* The memory gets the file {its process, epoch}: so frames there are others than before. */
static int change_take(struct jitcode *jit, struct dwell_addrspaces *spaces, int32_t pid,
		       const struct dwell_jit_change *change)
{
	const struct dwell_mapping *map = dwell_addrspaces_find(spaces, pid, change->start);
	struct dwell_mapping mapping = { .start = change->start,
					 .end = change->end,
					 .file_offset = change->start };
	struct dwell_file file;
	int rc;

	if (!map)
		return 0;
	file = *dwell_stacks_file(jit->stacks, map->file);
	if (file.kind != DWELL_FILE_JIT || file.pid != pid)
		return 0;
	file.inode_generation = change->epoch;
	rc = dwell_stacks_add_file(jit->stacks, &file, &mapping.file);
	return rc ? rc : dwell_addrspaces_map_file(spaces, pid, &mapping);
}

int jitcode_until(struct jitcode *jit, struct dwell_addrspaces *spaces, int32_t pid,
		  uint64_t time_ns)
{
	struct jitcode_process *process = jit->dumps ? process_find(jit, pid) : NULL;
	struct dwell_jit_change change;
	int rc = 0;

	while (!rc && process && process->dump &&
	       dwell_jitdump_change(process->dump, time_ns, &change))
		rc = change_take(jit, spaces, pid, &change);
	return rc;
}

/* Takes the frame at index off the list. */
static void frame_drop(struct jitcode *jit, uint32_t index)
{
	jit->frames.data[index] = jit->frames.data[--jit->frames.count];
}

void jitcode_born(struct jitcode *jit, int32_t pid)
{
	struct jitcode_process *process = process_find(jit, pid);

	if (!process)
		return;
	for (uint32_t i = 0; i < jit->frames.count;)
		if (jit->frames.data[i].pid == pid)
			frame_drop(jit, i);
		else
			i++;
	process_release(jit, process);
}

static int frame_name(struct jitcode *jit, uint32_t frame, const char *name)
{
	uint32_t id;
	int rc = dwell_strings_add(jit->strings, name, strlen(name), &id);

	if (rc)
		return rc;
	dwell_stacks_set_symbol(jit->stacks, frame, id);
	return trace_writer_symbol(jit->writer, frame);
}

/* One process's frames, by address. */
struct naming {
	struct jitcode *jit;
	struct jitcode_frame *frames; /* the last ones of the list, in order */
	uint32_t count;
};

static int map_named(void *user, uint32_t index, const char *name)
{
	const struct naming *naming = user;

	return frame_name(naming->jit, naming->frames[index].frame, name);
}

static int frame_compare(const void *left, const void *right)
{
	const struct jitcode_frame *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* Takes the frames of pid off the list: those that its dump does not name stand behind the list's
 * end then, in order. */
static int frames_gather(struct jitcode *jit, int32_t pid, const struct dwell_jitdump *dump,
			 struct naming *ret_naming)
{
	struct naming naming = { jit, NULL, 0 };
	uint32_t kept = 0, count = jit->frames.count;
	struct jitcode_frame *all = jit->frames.data;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < count - naming.count;) {
		struct jitcode_frame frame = all[i];
		const char *name;

		if (frame.pid != pid) {
			all[kept++] = frame;
			i++;
			continue;
		}
		name = dump ? dwell_jitdump_find(dump, frame.epoch, frame.address) : NULL;
		if (name) {
			rc = frame_name(jit, frame.frame, name);
			i++;
		} else { /* changes places with one at the end */
			naming.count++;
			all[i] = all[count - naming.count];
			all[count - naming.count] = frame;
		}
	}
	naming.frames = all ? all + count - naming.count : NULL;
	jit->frames.count = kept;
	if (naming.count)
		qsort(naming.frames, naming.count, sizeof(*naming.frames), frame_compare);
	*ret_naming = naming;
	return rc;
}

static int names_by_map(struct jitcode *jit, const struct dwell_perfmap_place *place,
			struct naming *naming)
{
	uint64_t *addresses, left = MAP_BYTES_MAX - jit->map_bytes;
	int rc;

	if (!naming->count)
		return 0;
	addresses = malloc(naming->count * sizeof(*addresses));
	if (!addresses)
		return -ENOMEM;
	for (uint32_t i = 0; i < naming->count; i++)
		addresses[i] = naming->frames[i].address;
	rc = dwell_perfmap_name(place, addresses, naming->count, &left, map_named, naming);
	jit->map_bytes = MAP_BYTES_MAX - left;
	jit->maps_unread += rc == -EFBIG;
	free(addresses);
	return rc == -ENOMEM ? rc : 0;
}

/* Also of one that was not placed, since too many were: its files may still be there. */
static int process_name(struct jitcode *jit, struct jitcode_process *process)
{
	struct naming naming;
	int rc = process->dump ? dump_more(jit, process) : 0;

	if (!rc)
		rc = frames_gather(jit, process->pid, process->dump, &naming);
	if (!rc && naming.count && !process->placed) {
		dwell_perfmap_place_find(process->pid, jit->since_ns, &process->place);
		process->placed = true;
		jit->placed++;
	}
	if (!rc)
		rc = names_by_map(jit, &process->place, &naming);
	if (!rc)
		process_release(jit, process);
	return rc;
}

int jitcode_name(struct jitcode *jit, int32_t pid)
{
	struct jitcode_process *process = pid < 0 ? NULL : process_find(jit, pid);
	int rc = process ? process_name(jit, process) : 0;

	while (!rc && pid < 0 && jit->frames.count)
		rc = process_name(jit, process_find(jit, jit->frames.data[0].pid));
	return rc;
}
