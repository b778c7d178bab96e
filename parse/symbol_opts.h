/* SPDX-License-Identifier: MIT */
/* The options that say where names of frames come from: the same for every command that names
 * them. A command has DWELL_SYMBOL_OPTS in its table and hands their indexes, counted from the
 * first of them, to symbol_opts_set(). */
#ifndef DWELL_PARSE_SYMBOL_OPTS_H
#define DWELL_PARSE_SYMBOL_OPTS_H

#include "lib/err.h"
#include "lib/opt.h"
#include "parse/elf/symbols.h"

enum { SYMBOL_OPTS = 7 };

/* In this order: symbol_opts.c numbers them. */
#define DWELL_SYMBOL_OPTS                                                                    \
	{ "symfs", 0, "DIR", "look for the recorded binaries below DIR" },                   \
		{ "kallsyms", 0, "FILE", "names of kernel frames, as in /proc/kallsyms" },   \
		{ "buildid-dir", 0, "DIR", "look in this build-id cache, not in ~/.debug" }, \
		{ "perf-map-dir", 0, "DIR", "look for perf-PID.map files in DIR" },          \
		{ "no-inline", 0, NULL, "show no functions that the compiler inlined" },     \
		{ "srcline", 0, NULL, "put file and line behind the names of functions" },   \
	{                                                                                    \
		"no-demangle", 0, NULL, "print C++ and Rust names as they are in the file"   \
	}

/* The value is borrowed. 0, or -EINVAL or another -errno with err set. */
int symbol_opts_set(struct dwell_symbols_options *options, unsigned index, const char *value,
		    struct dwell_err *err);

#endif
