/* SPDX-License-Identifier: MIT */
/* Frames become names: ELF symbol tables, PLT stubs, vdso, perf-PID.map files, and the names that
 * the recording machine stored in the trace. Each distinct frame is looked up once; the result is
 * kept. Only analysis uses this. */
#ifndef DWELL_PARSE_ELF_SYMBOLS_H
#define DWELL_PARSE_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/strings.h"
#include "parse/stack.h"

/* Why a frame has no name. */
enum dwell_symbol_status {
	DWELL_SYMBOL_OK = 0,
	DWELL_SYMBOL_NO_MAPPING,  /* no file mapped at that address when it was recorded */
	DWELL_SYMBOL_NO_FILE,	  /* the file cannot be opened here */
	DWELL_SYMBOL_CHANGED,	  /* the file here has another build id or inode */
	DWELL_SYMBOL_STRIPPED,	  /* no symbol covers the address */
	DWELL_SYMBOL_KPTR,	  /* kernel addresses were hidden (kptr_restrict) */
	DWELL_SYMBOL_NO_MAP_FILE, /* JIT code without a perf-PID.map entry */
	DWELL_SYMBOL_BAD_FILE,	  /* not a usable ELF file */
	DWELL_SYMBOL_STATUSES
};

/* Which name a frame gets:
 * - one set by the recorder (dwell_stacks_set_symbol) wins; pseudo frames are their own name.
 * - Functions come from .symtab, .dynsym and the separate debug file with the same build id
 *   (/usr/lib/debug/.build-id, .gnu_debuglink), which is opened only if the file has no .symtab.
 *   The innermost symbol that holds the address is taken. Symbols without a size reach to the next
 *   one, never past their section; labels inside functions do not count.
 * - Of several names for one range: functions before labels, then the one with fewer leading
 *   underscores, global or weak before local, global before weak, the shorter, the first in byte
 *   order. So "write" is shown for __libc_write, where perf shows the longer name.
 * - PLT stubs are "name@plt". Symbol versions ("@@GLIBC_2.14") are cut off.
 * - C++ and Rust names are demangled without parameter lists ("ns::function<int>"), the form that
 *   folded stacks are read in; kernel names are shown as they are. Names are cut at 4,096 bytes.
 * - The file must be the one that was recorded: the build id decides where the trace has it; else
 *   the inode, unless a symfs is given.
 * - Code made at run time is looked up in perf-PID.map (perfmap.h), the vdso in the one that this
 *   process has. */
struct dwell_symbols; /* opaque */

struct dwell_symbols_options {
	const char *symfs; /* prefix for file paths; NULL = none */
	bool raw;	   /* do not demangle */
};

/* Tables are borrowed and may grow meanwhile. NULL when out of memory. */
struct dwell_symbols *dwell_symbols_new(struct dwell_strings *strings,
					const struct dwell_stacks *stacks,
					const struct dwell_symbols_options *options);
void dwell_symbols_free(struct dwell_symbols *symbols);

/* The display name of a frame, never NULL: "function", or "[unknown] (file)" with the file's base
 * name. No annotations (_[k]) and no escaping: sinks add those. *ret_status may be NULL. Valid
 * until free. */
const char *dwell_symbols_name(struct dwell_symbols *symbols, uint32_t frame,
			       enum dwell_symbol_status *ret_status);

/* One sentence for people, e.g. "file changed since it was recorded". */
const char *dwell_symbol_status_text(enum dwell_symbol_status status);

/* Frames looked up so far without a name, by reason and file: how many per (file, status).
 * Walks by index; NULL past the last. */
struct dwell_symbol_failure {
	uint32_t file;
	enum dwell_symbol_status status;
	uint32_t frames;
};
const struct dwell_symbol_failure *dwell_symbols_failure(struct dwell_symbols *symbols,
							 uint32_t index);

/* Demangles a C++ or Rust name, without parameters and clone suffixes: a malloc'd string, or NULL
 * if it is not a mangled name, longer than 4,096 bytes, or readable only at more than 16 KiB. */
char *dwell_demangle(const char *name);

#endif
