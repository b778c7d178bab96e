/* SPDX-License-Identifier: MIT */
/* Kernel addresses become {file, offset} and names, on the recording machine or with a copy of its
 * /proc/kallsyms (image, modules, BPF programs), which is read into a sorted table. */
#ifndef DWELL_PARSE_ELF_KALLSYMS_H
#define DWELL_PARSE_ELF_KALLSYMS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"

struct dwell_kallsyms; /* opaque, immutable once read */

struct dwell_kernel_symbol {
	/* [start, end): end = next symbol; where that is of another module, the end of the page.
	 * Of several names for one address the same is taken as in user files (symbols.h). */
	uint64_t start, end;
	const char *name;   /* raw */
	const char *module; /* "" for the kernel image; else "ext4", "bpf", "__builtin__ftrace" */
	uint64_t base;	    /* lowest symbol of its module; _text for the image */
};

/* Reads text in the form of /proc/kallsyms. 0, -ENOMEM or -errno with err set. When all addresses
 * are 0 (kptr_restrict) it succeeds with an empty table and dwell_kallsyms_hidden() is true. */
int dwell_kallsyms_read(const char *path, struct dwell_kallsyms **ret_syms, struct dwell_err *err);
int dwell_kallsyms_parse(const char *text, uint64_t bytes, struct dwell_kallsyms **ret_syms);
void dwell_kallsyms_free(struct dwell_kallsyms *syms);

bool dwell_kallsyms_hidden(const struct dwell_kallsyms *syms);
/* The address of _text (or _stext), 0 when hidden. */
uint64_t dwell_kallsyms_text(const struct dwell_kallsyms *syms);

/* The function that holds address: true and *ret. Strings are owned by syms. */
bool dwell_kallsyms_find(const struct dwell_kallsyms *syms, uint64_t address,
			 struct dwell_kernel_symbol *ret);

/* The first function of that name (of the image before modules): true and *ret. Linear: callers
 * keep what they found. */
bool dwell_kallsyms_find_name(const struct dwell_kallsyms *syms, const char *name,
			      struct dwell_kernel_symbol *ret);

/* The lowest function of a module: true and *ret_base. */
bool dwell_kallsyms_module(const struct dwell_kallsyms *syms, const char *module,
			   uint64_t *ret_base);

#endif
