// SPDX-License-Identifier: MIT
/* Files become build ids, through the process that runs them: its own view of the file tree is gone
 * when it is. */
#include "record/identify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/hash.h"
#include "lib/io.h"
#include "parse/elf/buildid.h"

enum {
	HELD_MAX = 256,
	TRIES_MAX = 32, /* to open a file: the next process that maps it may still live */
};

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
	for (uint32_t i = 0; i < identify->held.count; i++)
		close(identify->held.data[i].fd);
	dwell_array_release(&identify->held);
	dwell_array_release(&identify->tries);
	dwell_array_release(&identify->known);
	dwell_idmap_release(&identify->known_of);
	jitcode_release(&identify->jit);
}

/* Opens what is mapped: by the mapping itself, which finds deleted and replaced files too, else by
 * name in the process's own file tree if that is still the same file. -errno when neither can be.
 */
static int mapped_open(int32_t pid, uint64_t start, uint64_t end, const char *file_path,
		       uint64_t inode)
{
	char path[64];
	struct stat st;
	int fd, root;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", pid, (unsigned long long)start,
		 (unsigned long long)end);
	fd = dwell_io_open_regular(path, 0);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	fd = dwell_io_open_below(root, file_path, 0);
	close(root);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) || (inode && st.st_ino != inode)) {
		close(fd);
		return -ENOENT;
	}
	return fd;
}

int identify_open(const struct identify *identify, int32_t pid, const struct dwell_mapping *map)
{
	const struct dwell_file *file = dwell_stacks_file(identify->stacks, map->file);

	return mapped_open(pid, map->start, map->end,
			   dwell_strings_get(identify->strings, file->path), file->inode);
}

static struct identify_known known_of(const struct stat *st)
{
	return (struct identify_known){
		.device = st->st_dev,
		.inode = st->st_ino,
		.changed_ns =
			(uint64_t)st->st_ctim.tv_sec * 1000000000u + (uint64_t)st->st_ctim.tv_nsec,
	};
}

static uint64_t known_hash(const struct identify_known *known)
{
	return dwell_hash_words(
		(const uint64_t[]){ known->device, known->inode, known->changed_ns }, 3, 0);
}

/* What is known of a file as it is now; NULL = nothing. */
static const struct identify_known *known_find(const struct identify *identify,
					       const struct identify_known *wanted)
{
	uint32_t index = dwell_idmap_find(&identify->known_of, known_hash(wanted));
	const struct identify_known *known = index ? &identify->known.data[index - 1] : NULL;

	return known && known->device == wanted->device && known->inode == wanted->inode &&
			       known->changed_ns == wanted->changed_ns
		       ? known
		       : NULL;
}

/* Many processes map the same files: each is read once, as long as it is not touched. */
static int file_build_id(struct identify *identify, int fd,
			 uint8_t ret_build_id[DWELL_BUILD_ID_MAX])
{
	const struct identify_known *known;
	struct identify_known fresh;
	struct stat st;
	int bytes;

	if (fstat(fd, &st))
		return 0;
	fresh = known_of(&st);
	known = known_find(identify, &fresh);
	if (!known) {
		bytes = dwell_build_id_read(fd, fresh.build_id);
		fresh.build_id_bytes = bytes > 0 ? (uint8_t)bytes : 0;
		if (dwell_array_grow(&identify->known) ||
		    dwell_idmap_set(&identify->known_of, known_hash(&fresh),
				    identify->known.count + 1))
			return -ENOMEM;
		known = &identify->known.data[identify->known.count++];
		identify->known.data[identify->known.count - 1] = fresh;
	}
	memcpy(ret_build_id, known->build_id, DWELL_BUILD_ID_MAX);
	return known->build_id_bytes;
}

int identify_mapped(void *user, const struct dwell_mmap *map,
		    uint8_t ret_build_id[DWELL_BUILD_ID_MAX])
{
	struct identify *identify = user;
	int fd = mapped_open(map->pid, map->start, map->start + map->bytes, map->path, map->inode);
	int bytes;

	if (dwell_jitdump_named(map->path))
		return jitcode_dump(&identify->jit, map->pid, fd);
	if (fd < 0)
		return 0; /* gone, or not ours to read: told by inode then */
	bytes = file_build_id(identify, fd, ret_build_id);
	close(fd);
	return bytes;
}

/* A process that is gone shows nothing, but the file may be at its path in our own tree: if its
 * inode or else its build id is the one that was mapped. */
static int path_open(struct identify *identify, const struct dwell_file *file)
{
	const char *path = dwell_strings_get(identify->strings, file->path);
	int fd = *path == '/' ? dwell_io_open_regular(path, 0) : -ENOENT;
	uint8_t build_id[DWELL_BUILD_ID_MAX];
	struct stat st;
	bool same;

	if (fd < 0)
		return fd;
	if (file->inode)
		same = !fstat(fd, &st) && st.st_ino == file->inode;
	else
		same = file->build_id_bytes &&
		       file_build_id(identify, fd, build_id) == file->build_id_bytes &&
		       !memcmp(build_id, file->build_id, file->build_id_bytes);
	if (same)
		return fd;
	close(fd);
	return -ENOENT;
}

/* Keeps a file for the recording's end, when it may be gone from its path, with its container too.
 */
static int file_hold(struct identify *identify, uint32_t file, int fd)
{
	int rc = identify->held.count < HELD_MAX ? dwell_array_grow(&identify->held) : 0;

	if (rc || identify->held.count == HELD_MAX)
		close(fd);
	else
		identify->held.data[identify->held.count++] = (struct identify_held){ file, fd };
	return rc;
}

int identify_file(struct identify *identify, int32_t pid, const struct dwell_mapping *map)
{
	const struct dwell_file *file = dwell_stacks_file(identify->stacks, map->file);
	uint8_t build_id[DWELL_BUILD_ID_MAX];
	struct identify_try *tried;
	int fd, bytes;

	if (dwell_array_reserve(&identify->tries, (uint64_t)map->file + 1))
		return -ENOMEM;
	while (identify->tries.count <= map->file)
		identify->tries.data[identify->tries.count++] = (struct identify_try){ 0 };
	tried = &identify->tries.data[map->file];
	if (tried->count == TRIES_MAX || tried->pid == pid || file->kind != DWELL_FILE_ELF)
		return 0;
	tried->count++;
	tried->pid = pid;
	fd = identify_open(identify, pid, map);
	if (fd < 0)
		fd = path_open(identify, file);
	if (fd < 0)
		return 0; /* gone, or not ours to read: told by inode then */
	tried->count = TRIES_MAX;
	bytes = file->build_id_bytes ? 0 : file_build_id(identify, fd, build_id);
	if (file_hold(identify, map->file, fd) || bytes < 0)
		return -ENOMEM;
	if (!bytes)
		return 0;
	dwell_stacks_set_build_id(identify->stacks, map->file, build_id, (uint8_t)bytes);
	return trace_writer_build_id(identify->writer, map->file);
}

int identify_reopen(void *user, const struct dwell_file *file)
{
	const struct identify *identify = user;
	char path[64];

	for (uint32_t i = 0; i < identify->held.count; i++) {
		const struct identify_held *held = &identify->held.data[i];

		if (dwell_stacks_file(identify->stacks, held->file) != file)
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", held->fd);
		return dwell_io_open_regular(path, 0);
	}
	return -ENOENT;
}

int identify_frame(struct identify *identify, int32_t pid, const struct dwell_mapping *map,
		   uint32_t frame)
{
	const struct dwell_file *file = dwell_stacks_file(identify->stacks, map->file);

	if (file->kind != DWELL_FILE_JIT)
		return identify_file(identify, pid, map);
	return jitcode_frame(&identify->jit, file->pid, frame);
}
