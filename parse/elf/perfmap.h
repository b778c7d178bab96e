/* SPDX-License-Identifier: MIT */
/* Names of code made at run time: the text of a perf-PID.map file, which JIT compilers write,
 * becomes a table that an address is looked up in. Usable while recording and afterwards. */
#ifndef DWELL_PARSE_ELF_PERFMAP_H
#define DWELL_PARSE_ELF_PERFMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct dwell_perfmap; /* opaque, immutable once read */

/* Reads lines "START SIZE NAME" (hexadecimal, with or without 0x; CR LF allowed). Lines of another
 * form are passed over; later lines replace what they overlap of earlier ones. At most 4 Mi lines
 * count, further ones are left out. 0, -EFBIG (over 128 MiB) or -ENOMEM. */
int dwell_perfmap_parse(const char *text, size_t bytes, struct dwell_perfmap **ret_map);

/* Where the file of a process is. What is held open of a living process outlives it. */
struct dwell_perfmap_place {
	int32_t pid, ns_pid; /* ns_pid: in its innermost pid namespace */
	int root;	     /* its root directory; -1 = not to be had */
	int file;	     /* the file as it was found; -1 = there was none */
	uid_t user;	     /* whose the process is */
	bool alive;	     /* when it was looked for: the above are known */
	uint64_t since_ns; /* CLOCK_REALTIME; a file last written to before that is somebody else's,
			    * of another process with this pid */
};

/* Looks for it: perf-NSPID.map in the process's own /tmp, with the pid it has in there, while it
 * lives. since_ns holds for a process that does not live any more; of one that does, its start. */
void dwell_perfmap_place_find(int32_t pid, uint64_t since_ns,
			      struct dwell_perfmap_place *ret_place);
void dwell_perfmap_place_release(struct dwell_perfmap_place *place);

/* Reads the file of process pid: in its own /tmp while it lives, else /tmp/perf-PID.map. With symfs
 * (a prefix) only that prefix's /tmp/perf-PID.map. Anybody may write to /tmp: only a regular file,
 * no link, owned by root, the process's user or the caller is read. 0, -ENOENT, -EPERM (another
 * owner), -ESTALE (of an earlier process), or as above. */
int dwell_perfmap_read(int32_t pid, const char *symfs, struct dwell_perfmap **ret_map);
/* The same of perf-PID.map in a directory. */
int dwell_perfmap_read_in(const char *directory, int32_t pid, struct dwell_perfmap **ret_map);
void dwell_perfmap_free(struct dwell_perfmap *map);

/* The names of some addresses only, which are in ascending order: named(user, i, name) for each
 * that has one, in any order. One pass over the lines and no memory but for the text, which it
 * writes to and which has room for a NUL behind it. 0, what named returned, or -ENOMEM. */
int dwell_perfmap_name_text(char *text, size_t bytes, const uint64_t *addresses, uint32_t count,
			    int (*named)(void *user, uint32_t index, const char *name), void *user);
/* The same of the file of a process, as dwell_perfmap_read() reads it. Files of more than
 * *budget_bytes are not read; *budget_bytes is lowered by what was. 0, -EFBIG (over the budget or
 * 128 MiB), what named returned, or as above. */
int dwell_perfmap_name(const struct dwell_perfmap_place *place, const uint64_t *addresses,
		       uint32_t count, uint64_t *budget_bytes,
		       int (*named)(void *user, uint32_t index, const char *name), void *user);

/* The name of the code at address, or NULL. Owned by map; control characters as in the file. */
const char *dwell_perfmap_find(const struct dwell_perfmap *map, uint64_t address);

#endif
