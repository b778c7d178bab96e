/* SPDX-License-Identifier: MIT */
/* Address spaces while recording: which file is mapped where, per process, over time. Turns
 * absolute user addresses into frames {file, offset}. Copy-on-write across fork; cleared by exec;
 * a newer mapping replaces what it overlaps. */
#ifndef DWELL_PARSE_ELF_ADDRSPACE_H
#define DWELL_PARSE_ELF_ADDRSPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"
#include "lib/strings.h"
#include "parse/stack.h"

struct dwell_mapping {
	uint64_t start, end;  /* [start, end) */
	uint64_t file_offset; /* of start */
	uint32_t file;	      /* index in the file table */
};

struct dwell_addrspaces; /* opaque: all processes */

/* Tables are borrowed: files are added to stacks, paths to strings. NULL when out of memory. */
struct dwell_addrspaces *dwell_addrspaces_new(struct dwell_strings *strings,
					      struct dwell_stacks *stacks);
void dwell_addrspaces_free(struct dwell_addrspaces *spaces);

/* Mappings kept of all processes together; without a limit as many as there are. Whoever reads a
 * file sets one that fits its size: forks copy mappings, so that few bytes could ask for much. */
void dwell_addrspaces_limit(struct dwell_addrspaces *spaces, uint64_t mappings_max);
/* How many mappings were not kept, because of that limit or a process's own, or kept under the path
 * "[path left out]", since all paths together may have 64 MiB. */
uint64_t dwell_addrspaces_left_out(const struct dwell_addrspaces *spaces);

/* What a PERF_RECORD_MMAP2 or a line of /proc/PID/maps says. */
struct dwell_mmap {
	int32_t pid;
	uint64_t start, bytes, file_offset;
	uint32_t dev_major, dev_minor;
	uint64_t inode, inode_generation;
	const uint8_t *build_id; /* NULL = not told */
	uint8_t build_id_bytes;
	const char *path; /* as the kernel writes it: "//anon", "[vdso]", "/usr/lib/..." */
};

/* From now on each mapping is shown to `mapped`, before it gets its file, if there may be a file
 * behind it and its build id is not told. It returns how many bytes of build id it put there, 0
 * when it knows none, or -ENOMEM. */
typedef int (*dwell_mapped_fn)(void *user, const struct dwell_mmap *map,
			       uint8_t ret_build_id[DWELL_BUILD_ID_MAX]);
void dwell_addrspaces_watch(struct dwell_addrspaces *spaces, dwell_mapped_fn mapped, void *user);

/* Adds an executable mapping and makes its process known. What memory it is decides the kind of its
 * file: anonymous memory in all its names ("", "//anon", "[heap]", "[stack]", "[anon:...]",
 * "/anon_hugepage", "/dev/zero", "/memfd:...", "/SYSV...") is DWELL_FILE_JIT of this pid with
 * offset = address (a forked child keeps its parent's), unless it has a build id, as a program in a
 * memfd; "[vdso]" is DWELL_FILE_VDSO; everything else DWELL_FILE_ELF, also "[vsyscall]", which no
 * file stands behind. Anonymous memory of whole 2 MiB pages between two parts of one file that fit
 * to each other is that file (code copied into huge pages). A file is known by path and build id,
 * without one by path, device and inode, but for the generation, since /proc/PID/maps does not tell
 * it. A process has at most 65,530 mappings (the kernel's default limit): further ones are left
 * out. 0 or -ENOMEM. */
int dwell_addrspaces_map(struct dwell_addrspaces *spaces, const struct dwell_mmap *map);
/* The same for memory of which the caller knows what it is: file_offset and file are those of the
 * mapping. 0 or -ENOMEM. */
int dwell_addrspaces_map_file(struct dwell_addrspaces *spaces, int32_t pid,
			      const struct dwell_mapping *mapping);
/* fork: child gets a copy of parent's mappings (shared until either changes). */
int dwell_addrspaces_fork(struct dwell_addrspaces *spaces, int32_t parent_pid, int32_t child_pid);
/* exec: the process's mappings are gone. */
int dwell_addrspaces_exec(struct dwell_addrspaces *spaces, int32_t pid);
/* The process ended. */
void dwell_addrspaces_exit(struct dwell_addrspaces *spaces, int32_t pid);

/* Reads the executable lines of /proc/PID/maps (proc_root = "/proc"). 0, -ENOMEM, or -errno when
 * the process is gone or may not be read. Replaces what was known of pid. */
int dwell_addrspaces_read_proc(struct dwell_addrspaces *spaces, const char *proc_root, int32_t pid,
			       struct dwell_err *err);

/* Is the process known? A process never heard of should be read from /proc once. */
bool dwell_addrspaces_known(const struct dwell_addrspaces *spaces, int32_t pid);

/* Changes whenever pid's mappings change: callers key caches of resolved chains by it. 0 for a
 * process not known. Never reused for another set of mappings. */
uint64_t dwell_addrspaces_generation(const struct dwell_addrspaces *spaces, int32_t pid);

/* The mapping that holds address in pid, or NULL. Valid until the next change. O(log n). */
const struct dwell_mapping *dwell_addrspaces_find(const struct dwell_addrspaces *spaces,
						  int32_t pid, uint64_t address);

#endif
