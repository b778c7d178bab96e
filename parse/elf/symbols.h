/* SPDX-License-Identifier: MIT */
/* Frames become names: ELF symbol tables, PLT stubs, vdso, kernel symbols, perf-PID.map files, and
 * the names that the recording machine stored in the trace. Each distinct frame is looked up once;
 * the result is kept. Only analysis uses this. */
#ifndef DWELL_PARSE_ELF_SYMBOLS_H
#define DWELL_PARSE_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/utsname.h>

#include "lib/strings.h"
#include "parse/stack.h"

/* Why a frame has no name. */
enum dwell_symbol_status {
	DWELL_SYMBOL_OK = 0,
	DWELL_SYMBOL_NO_MAPPING,  /* no file mapped at that address when it was recorded */
	DWELL_SYMBOL_NO_FILE,	  /* the file cannot be opened here */
	DWELL_SYMBOL_CHANGED,	  /* the file here has another build id or inode */
	DWELL_SYMBOL_NOT_PROVEN,  /* nothing tells that the file here is the recorded one */
	DWELL_SYMBOL_STRIPPED,	  /* no symbol covers the address */
	DWELL_SYMBOL_KPTR,	  /* kernel addresses were hidden (kptr_restrict) */
	DWELL_SYMBOL_NO_KERNEL,	  /* no symbols of that kernel or module are here */
	DWELL_SYMBOL_NO_MAP_FILE, /* JIT code without a perf-PID.map entry */
	DWELL_SYMBOL_BAD_FILE,	  /* not a usable ELF file */
	DWELL_SYMBOL_STATUSES
};

/* Which name a frame gets:
 * - one set by the recorder (dwell_stacks_set_symbol) wins, but for frames in files: there it
 * counts, with the recorder's inlined functions and lines, where the file is not to be found here.
 * Pseudo frames are their own name.
 * - Functions come from .symtab, .dynsym and the separate debug file with the same build id
 *   (/usr/lib/debug/.build-id, .gnu_debuglink), which is opened only if the file has no .symtab
 *   or no debug information.
 *   The innermost symbol that holds the address is taken. Symbols without a size reach to the next
 *   one, never past their section; labels inside functions do not count.
 * - Of several names for one range: functions before labels, then the one with fewer leading
 *   underscores, global or weak before local, global before weak, the shorter, the first in byte
 *   order. So "write" is shown for __libc_write, where perf shows the longer name.
 *   Go programs without .symtab are named by the table of their runtime (.gopclntab).
 * - PLT stubs are "name@plt". Symbol versions ("@@GLIBC_2.14") are cut off.
 * - C++ and Rust names are demangled without parameter lists ("ns::function<int>"), the form that
 *   folded stacks are read in; kernel names are shown as they are. Names are cut at 4,096 bytes.
 * - Code made at run time is looked up in perf-PID.map (perfmap.h): in the directory given, else in
 *   that of the recording's file; then in /tmp below the symfs, or without one in the process's and
 *   this machine's /tmp, unless the recording is of another host.
 *
 * Functions inlined at a frame come from DWARF debug information, of the file or else of its debug
 * file, also where that shares parts with others (dwz, found by build id) or has the rest in .dwo
 * files (not below a symfs). The outermost function is named by the symbol table all the same. Not
 * from kernel modules, nor for names that the recorder set. At most 64 levels are told.
 *
 * Which file it is taken from; one that is not certainly the recorded one is refused:
 * - Looked for are the recorded path (below the symfs), then "elf" in perf's build-id cache. Where
 *   the recording has a build id, that of the file must be the same. Else below a symfs the user
 *   vouches for files, of the recording's machine at least. Else the inode must be the same,
 *   unless the recording is of another host. Else, as with the MMAP records of old perf versions,
 *   the recording must be known to be of this host and younger than the last change of the file.
 * - Without .symtab it is joined by its debug file, which needs the same build id: /usr/lib/debug/
 *   .build-id, .gnu_debuglink (beside the file, in .debug/, below /usr/lib/debug), "debug" in the
 *   build-id cache; else by the table packed into .gnu_debugdata. A debug file alone does not do:
 *   it does not tell how the file was mapped.
 * - With a symfs nothing outside of it is used, but the build-id cache if that is given.
 * - The vdso is that of this process if the build id or else host and kernel release are the same,
 *   or "vdso" in the build-id cache.
 * - The kernel without recorded names: kallsyms if given, else kcore_dir/kallsyms, then by build id
 *   the copy of kallsyms in the build-id cache, /proc/kallsyms of the running kernel (its id is in
 *   /sys/kernel/notes), a vmlinux named by release in the usual places, below /usr/lib/debug/
 *   .build-id, in the cache. Without a recorded build id only the first two, or /proc/kallsyms if
 *   the recording is of this boot: same host, release and address of _text, made since the start.
 * - Modules: by name in kallsyms if given, else in kcore_dir; then in /proc/kallsyms if the module
 *   loaded here has the recorded build id (or, without one, if the recording is of this boot); else
 *   the .ko file (plain or .xz) with the build id: by its path, in the cache, by name in
 *   modules.dep of the release, or its debug file. Offsets count from the page of the first
 *   function in kallsyms where no file "modules" beside that tells the start, and from the first
 *   code section in .ko files. Modules packed with gzip or zstd are not read. */
struct dwell_symbols; /* opaque */

/* Strings are copied. */
struct dwell_symbols_options {
	bool raw;	 /* do not demangle */
	bool no_inlines; /* read no debug information, unless lines are wanted */
	bool lines;	 /* tell files and lines of source */

	/* What the user says. */
	const char *symfs;	  /* prefix for file paths; NULL = none */
	const char *kallsyms;	  /* symbols of the recorded kernel; NULL = none */
	const char *build_id_dir; /* perf's build-id cache; NULL = $HOME/.debug, without symfs */
	const char *perf_map_dir; /* of perf-PID.map files; NULL = that of the recording's file */

	/* What the recording tells of itself; NULL or 0 = not told. */
	const char *kcore_dir;	    /* holds kallsyms and modules of the recorded kernel */
	const char *path;	    /* of its file */
	const char *kernel_release; /* as `uname -r` */
	const char *machine;	    /* as `uname -m` */
	const char *host_name;	    /* as `uname -n` */
	uint64_t kernel_text;	    /* address of _text at that time */
	uint64_t recorded_ns;	    /* end of the recording at the latest, on CLOCK_REALTIME */

	/* Opens a file that is not to be found by path any more, as who held it open can: a
	 * descriptor, which is taken over, or -errno. NULL = nobody. */
	int (*open)(void *user, const struct dwell_file *file);
	void *user;
};

/* The machine that a recording is made on: sets what the recording would tell of it. Strings are
 * host's. 0 or -errno. */
int dwell_symbols_here(struct utsname *host, struct dwell_symbols_options *options);

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

/* A function at a frame's instruction. */
struct dwell_symbol_place {
	const char *name; /* as dwell_symbols_name(); valid until free */
	const char *file; /* where in it: the file's base name; NULL = not known, or not wanted */
	uint32_t line;
};

/* The frame's own function, named as dwell_symbols_name() does, and then those inlined into it, the
 * innermost last. Never NULL; valid until the next call for a frame not asked for before.
 * *ret_count is at least 1. *ret_status may be NULL. */
const struct dwell_symbol_place *dwell_symbols_places(struct dwell_symbols *symbols, uint32_t frame,
						      uint32_t *ret_count,
						      enum dwell_symbol_status *ret_status);

/* One sentence for people, e.g. "file changed since it was recorded". */
const char *dwell_symbol_status_text(enum dwell_symbol_status status);

/* Frames looked up so far without a name, by reason and file: how many per (file, status).
 * Walks by index; NULL past the last. */
struct dwell_symbol_failure {
	uint32_t file;
	enum dwell_symbol_status status;
	uint32_t frames;
	const char *why; /* what was refused, as in "/bin/sh has build id ..."; "" = no more */
};
const struct dwell_symbol_failure *dwell_symbols_failure(struct dwell_symbols *symbols,
							 uint32_t index);

/* Demangles a C++ or Rust name, without parameters and clone suffixes: a malloc'd string, or NULL
 * if it is not a mangled name, longer than 4,096 bytes, or readable only at more than 16 KiB. */
char *dwell_demangle(const char *name);

#endif
