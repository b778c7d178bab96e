/* SPDX-License-Identifier: MIT */
/* The recorded kernel's address space, as MMAP records of the kernel and KSYMBOL records tell it:
 * an address becomes a frame {kernel, module or program; offset}, so that KASLR is taken out and a
 * name can be found on any machine that has that kernel. */
#ifndef DWELL_PARSE_PERF_KERNEL_H
#define DWELL_PARSE_PERF_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/idmap.h"
#include "lib/strings.h"
#include "parse/elf/addrspace.h"
#include "parse/elf/callchain.h"
#include "parse/stack.h"

/* With the borrowed members set and the rest zero it knows nothing. */
struct perf_kernel {
	struct dwell_strings *strings;
	struct dwell_stacks *stacks;
	struct dwell_addrspaces *spaces; /* the kernel's is that of pid -1 */
	struct dwell_callchains *chains; /* told when addresses change their meaning */
	struct dwell_idmap frames;	 /* addresses seen since -> frame */
	struct dwell_idmap names;	 /* file -> the name (string id) that all of it has */
	uint64_t image_base;		 /* offsets in the image count from here */
	uint32_t image_file;		 /* + 1; 0 = no mapping of the image was recorded */
};

void perf_kernel_release(struct perf_kernel *kernel);

/* An MMAP or MMAP2 record of the kernel (pid -1): "[kernel.kallsyms]_text", "[ext4]",
 * "/lib/modules/.../ext4.ko". build_id may be NULL. *ret_reference gets the address and name of the
 * image's reference symbol, NULL for modules. 0 or -ENOMEM. */
int perf_kernel_map(struct perf_kernel *kernel, uint64_t start, uint64_t bytes, uint64_t pgoff,
		    const char *path, const uint8_t *build_id, uint8_t build_id_bytes,
		    const char **ret_reference);

/* A KSYMBOL record: code made at run time came. 0 or -ENOMEM. */
int perf_kernel_symbol(struct perf_kernel *kernel, uint64_t start, uint32_t bytes,
		       const char *name);

/* The frame of a kernel address. 0 or -ENOMEM. */
int perf_kernel_frame(struct perf_kernel *kernel, uint64_t address, uint32_t *ret_frame);

#endif
