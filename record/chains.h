/* SPDX-License-Identifier: MIT */
/* Callchains of the running system become interned stacks (parse/elf/callchain.h), with the names
 * of kernel functions and the build ids of files that only this machine knows. */
#ifndef DWELL_RECORD_CHAINS_H
#define DWELL_RECORD_CHAINS_H

#include <stdint.h>

#include "lib/err.h"
#include "lib/strings.h"
#include "parse/elf/addrspace.h"
#include "parse/elf/callchain.h"
#include "parse/elf/unwinder.h"
#include "parse/stack.h"
#include "parse/perf/sample.h"
#include "record/identify.h"
#include "record/procfs.h"

struct chains; /* opaque */

/* Tables and the path are borrowed. Reads kallsyms_path ("/proc/kallsyms"). With `unwinding`,
 * copied user stacks can be given. 0, -ENOMEM or -errno with err set. */
int chains_new(struct dwell_strings *strings, struct dwell_stacks *stacks,
	       struct dwell_addrspaces *spaces, struct identify *identify,
	       const char *kallsyms_path, bool unwinding, struct chains **ret_chains,
	       struct dwell_err *err);
void chains_free(struct chains *chains);

/* The stack of a sample's callchain with its context markers, in process pid (-1 = not known:
 * kernel part only). Where a copy of the user stack came with it, that tells the user part. 0 or
 * -ENOMEM.
 */
int chains_stack(struct chains *chains, int32_t pid, const struct dwell_perf_sample *sample,
		 enum dwell_callchain_part part, uint32_t *ret_stack);

/* The stack of frames from /proc/PID/task/TID/stack, leaf first. 0 or -ENOMEM. */
int chains_proc_stack(struct chains *chains, const struct proc_stack_frame *frames, int count,
		      uint32_t *ret_stack);

/* Kernel code that is no function of the image or a module (a BPF program, a trampoline) stands at
 * start from now on; name NULL: no more. 0 or -ENOMEM. */
int chains_kernel_code(struct chains *chains, uint64_t start, uint64_t bytes, const char *name);

/* Are kernel addresses hidden here (kptr_restrict)? */
bool chains_kernel_hidden(const struct chains *chains);
const struct dwell_callchain_stats *chains_stats(const struct chains *chains);
/* NULL without unwinding. */
const struct dwell_unwinder_stats *chains_unwound(const struct chains *chains);

/* At the recording's end: reads kallsyms again for kernel frames without a name (modules that came
 * meanwhile), and calls named() for each frame that got one. */
int chains_finish(struct chains *chains, int (*named)(void *user, uint32_t frame), void *user);

#endif
