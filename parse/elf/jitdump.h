/* SPDX-License-Identifier: MIT */
/* Code made at run time, over time: a jit-PID.dump file (the kernel's
 * tools/perf/Documentation/jitdump-specification.txt) becomes names of places in memory, told apart
 * where memory is used again. The file may still be growing. Usable while recording and afterwards.
 */
#ifndef DWELL_PARSE_ELF_JITDUMP_H
#define DWELL_PARSE_ELF_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Epochs: code that stands where no other stood before has epoch 0, code that takes the place of
 * other code an epoch more than that. So {epoch, address} has one name, whenever it is asked for.
 * Memory that is used more often than DWELL_JIT_EPOCHS times keeps its last epoch, and the latest
 * name of that. */
enum { DWELL_JIT_EPOCHS = 1024 };

struct dwell_jitdump; /* opaque */

/* Is path named as compilers name their dump, "jit-PID.dump"? They map its first page executable,
 * so that the kernel tells of it: nothing else needs such a mapping. */
bool dwell_jitdump_named(const char *path);

/* May the open file be believed about a process of `user`? Anybody may write files of that name:
 * only a regular one of root, the caller or that user. 0, -EPERM, -EINVAL or -ENOENT. */
int dwell_jitdump_owner(int fd, uid_t user);

/* A dump of which nothing has been read yet; owns fd, also on failure. 0 or -ENOMEM. */
int dwell_jitdump_new(int fd, struct dwell_jitdump **ret_dump);
void dwell_jitdump_free(struct dwell_jitdump *dump);

/* Reads the records that the file, of either byte order, has gained: those that are whole, by
 * pread, code itself being skipped. At most 1 Mi pieces of code and 64 MiB of names count. Bytes
 * read are taken off *budget_bytes, and at 0 reading ends. 0, -EINVAL (no dump), -EOPNOTSUPP (its
 * times are of a CPU's own clock, which nothing relates to a recording's) or -ENOMEM: then it is
 * over with this file. An empty file may become a dump later: 0. */
int dwell_jitdump_more(struct dwell_jitdump *dump, uint64_t *budget_bytes);

/* Memory that from time_ns (CLOCK_MONOTONIC) on holds other code than before. */
struct dwell_jit_change {
	uint64_t time_ns, start, end;
	uint32_t epoch;
};

/* The next change that was read, stamped until_ns at the latest: true and *ret_change. Each is told
 * once. Changes that were read after a later until_ns was asked for come too late for what happened
 * meanwhile: they are counted. */
bool dwell_jitdump_change(struct dwell_jitdump *dump, uint64_t until_ns,
			  struct dwell_jit_change *ret_change);
uint64_t dwell_jitdump_late(const struct dwell_jitdump *dump);

/* The name of the code at address, of that epoch; NULL when no record read so far tells. Valid
 * until the next more(); control characters as in the file. */
const char *dwell_jitdump_find(const struct dwell_jitdump *dump, uint32_t epoch, uint64_t address);

#endif
