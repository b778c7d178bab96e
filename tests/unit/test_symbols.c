// SPDX-License-Identifier: MIT
/* Tests of dwell_symbols: the display name and status of frames of every kind, of this program and
 * of files made here, with debug files, changed files and files that cannot be used. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <cmocka.h>
#include <lzma.h>

#include "parse/elf/addrspace.h"
#include "parse/elf/symbols.h"
#include "tests/unit/elfmake.h"

struct fixture {
	struct dwell_strings *strings;
	struct dwell_stacks *stacks;
	struct dwell_symbols *symbols;
	char root[32]; /* a folder for files, and the symfs */
};

static void symbols_open(struct fixture *f, const struct dwell_symbols_options *options)
{
	dwell_symbols_free(f->symbols);
	f->symbols = dwell_symbols_new(f->strings, f->stacks, options);
	assert_non_null(f->symbols);
}

static void symbols_new(struct fixture *f, const char *symfs, bool raw)
{
	const struct dwell_symbols_options options = { .symfs = symfs, .raw = raw };

	symbols_open(f, &options);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->strings = dwell_strings_new();
	f->stacks = dwell_stacks_new();
	strcpy(f->root, "/tmp/test_symbols_XXXXXX");
	if (!mkdtemp(f->root))
		return -1;
	symbols_new(f, f->root, false);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", f->root);
	assert_int_equal(system(command), 0);
	dwell_symbols_free(f->symbols);
	dwell_stacks_free(f->stacks);
	dwell_strings_free(f->strings);
	free(f);
	return 0;
}

static uint32_t add_string(struct fixture *f, const char *text)
{
	uint32_t id;

	assert_int_equal(dwell_strings_add(f->strings, text, strlen(text), &id), 0);
	return id;
}

/* A frame of a file, with a name from the recorder unless NULL. */
static uint32_t add_frame(struct fixture *f, struct dwell_file file, const char *path,
			  uint64_t offset, const char *symbol)
{
	uint32_t id, frame;

	file.path = add_string(f, path);
	assert_int_equal(dwell_stacks_add_file(f->stacks, &file, &id), 0);
	assert_int_equal(dwell_stacks_add_frame(f->stacks, id, offset, &frame), 0);
	if (symbol)
		dwell_stacks_set_symbol(f->stacks, frame, add_string(f, symbol));
	return frame;
}

static void assert_name(struct fixture *f, uint32_t frame, const char *name,
			enum dwell_symbol_status status)
{
	enum dwell_symbol_status got = DWELL_SYMBOL_STATUSES;

	/* Twice: looked up, then remembered. */
	for (int i = 0; i < 2; i++) {
		assert_string_equal(dwell_symbols_name(f->symbols, frame, &got), name);
		assert_int_equal(got, status);
	}
}

static void file_write(struct fixture *f, const char *name, const void *bytes, size_t count)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", f->root, name);
	for (char *slash = strchr(path + strlen(f->root) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, count), count);
	close(fd);
}

/* A program with one function of 16 bytes in a text of 256, or with none if name is NULL. */
static void program_write(struct fixture *f, const char *path, const char *name, uint8_t id,
			  const char *debug_link)
{
	static struct elfmake make;

	elfmake_begin(&make, EM_X86_64, 0x100, id);
	if (name) {
		const Elf64_Sym symbol =
			elfmake_symbol(&make, name, 0x10, 0x10, STB_GLOBAL, STT_FUNC);

		elfmake_symbols(&make, SHT_SYMTAB, &symbol, 1);
	}
	if (debug_link)
		elfmake_section(&make, ".gnu_debuglink", SHT_PROGBITS, 0, debug_link,
				strlen(debug_link) + 1);
	elfmake_end(&make);
	file_write(f, path, make.bytes, make.used);
}

static struct dwell_file with_id(uint8_t id)
{
	struct dwell_file file = { .build_id_bytes = 20 };

	memset(file.build_id, id, 20);
	return file;
}

__attribute__((noinline)) static int here_is_a_function(int x)
{
	return x * 3;
}

static void this_program(void **state)
{
	struct fixture *f = *state;
	struct dwell_addrspaces *spaces = dwell_addrspaces_new(f->strings, f->stacks);
	const struct {
		uintptr_t address;
		const char *name;
	} cases[] = {
		{ (uintptr_t)here_is_a_function, "here_is_a_function" },
		{ (uintptr_t)here_is_a_function + 1, "here_is_a_function" },
		{ (uintptr_t)dwell_demangle, "dwell_demangle" },
		{ (uintptr_t)qsort, "qsort" },
	};

	symbols_new(f, NULL, false);
	assert_int_equal(here_is_a_function(1), 3);
	assert_int_equal(dwell_addrspaces_read_proc(spaces, "/proc", getpid(), NULL), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct dwell_mapping *map =
			dwell_addrspaces_find(spaces, getpid(), cases[i].address);
		uint32_t frame;

		assert_non_null(map);
		assert_int_equal(dwell_stacks_add_frame(
					 f->stacks, map->file,
					 cases[i].address - map->start + map->file_offset, &frame),
				 0);
		assert_name(f, frame, cases[i].name, DWELL_SYMBOL_OK);
	}
	dwell_addrspaces_free(spaces);
}

static void the_vdso(void **state)
{
	struct fixture *f = *state;
	const struct dwell_file file = { .kind = DWELL_FILE_VDSO };
	struct dwell_symbols_options options = { .symfs = f->root };
	struct dwell_file other = with_id(1);
	struct utsname uts;
	bool found = false;

	if (!getauxval(AT_SYSINFO_EHDR))
		skip();
	assert_int_equal(uname(&uts), 0);
	options.host_name = uts.nodename;
	options.kernel_release = uts.release;
	symbols_open(f, &options);
	for (uint64_t at = 0; at < 0x4000 && !found; at += 4)
		found = strstr(dwell_symbols_name(f->symbols,
						  add_frame(f, file, "[vdso]", at, NULL), NULL),
			       "clock_gettime") != NULL;
	assert_true(found);
	/* The vdso of another kernel is not ours. */
	other.kind = DWELL_FILE_VDSO;
	other.inode = 1;
	assert_name(f, add_frame(f, other, "[vdso]", 0x800, NULL), "[unknown] ([vdso])",
		    DWELL_SYMBOL_CHANGED);
	/* Nor is one without a build id, of another release. */
	options.kernel_release = "0.1";
	symbols_open(f, &options);
	assert_name(f, add_frame(f, file, "[vdso]", 0x800, NULL), "[unknown] ([vdso])",
		    DWELL_SYMBOL_NOT_PROVEN);
}

static void names_from_the_recorder(void **state)
{
	struct fixture *f = *state;
	const struct dwell_file kernel = { .kind = DWELL_FILE_KERNEL };
	const struct dwell_file module = { .kind = DWELL_FILE_MODULE };
	const struct dwell_file jit = { .kind = DWELL_FILE_JIT, .pid = 1 };
	uint32_t cut;

	assert_name(f, add_frame(f, kernel, "[kernel]", 1, "schedule"), "schedule",
		    DWELL_SYMBOL_OK);
	assert_name(f, add_frame(f, kernel, "[kernel]", 2, NULL), "[unknown] ([kernel])",
		    DWELL_SYMBOL_KPTR);
	/* Kernel names are shown as the kernel has them. */
	assert_name(f, add_frame(f, kernel, "[kernel]", 3, "_RNvC3foo3bar"), "_RNvC3foo3bar",
		    DWELL_SYMBOL_OK);
	assert_name(f, add_frame(f, module, "[ext4]", 1, "ext4_sync"), "ext4_sync",
		    DWELL_SYMBOL_OK);
	assert_name(f, add_frame(f, module, "[ext4]", 2, NULL), "[unknown] ([ext4])",
		    DWELL_SYMBOL_NO_KERNEL);
	assert_name(f, add_frame(f, jit, "//anon", 1, "LazyCompile:~foo"), "LazyCompile:~foo",
		    DWELL_SYMBOL_OK);
	assert_int_equal(
		dwell_stacks_add_pseudo(f->stacks, f->strings, DWELL_FRAME_TRUNCATED, &cut), 0);
	assert_name(f, cut, "[truncated]", DWELL_SYMBOL_OK);
	assert_name(f, add_frame(f, (struct dwell_file){ .kind = DWELL_FILE_UNKNOWN }, "", 0, NULL),
		    "[unknown]", DWELL_SYMBOL_NO_MAPPING);
	assert_name(f, 0, "[unknown]", DWELL_SYMBOL_NO_MAPPING);
	assert_name(f, 100000, "[unknown]", DWELL_SYMBOL_NO_MAPPING);
}

static void files_and_why_not(void **state)
{
	struct fixture *f = *state;
	const struct dwell_file plain = { 0 };

	program_write(f, "bin/prog", "_ZN3foo3barEv", 0x11, NULL);
	program_write(f, "bin/versioned", "memcpy@@GLIBC_2.14", 0, NULL);
	program_write(f, "bin/none", NULL, 0x12, NULL);
	file_write(f, "bin/script", "#!/bin/sh\n", 10);
	file_write(f, "bin/cut", "\177ELF\2\1\1", 7);
	assert_name(f, add_frame(f, plain, "/bin/prog", 0x1010, NULL), "foo::bar", DWELL_SYMBOL_OK);
	assert_name(f, add_frame(f, plain, "/bin/prog", 0x1020, NULL), "[unknown] (prog)",
		    DWELL_SYMBOL_STRIPPED);
	assert_name(f, add_frame(f, plain, "/bin/versioned", 0x1010, NULL), "memcpy",
		    DWELL_SYMBOL_OK);
	assert_name(f, add_frame(f, plain, "/bin/none", 0x1010, NULL), "[unknown] (none)",
		    DWELL_SYMBOL_STRIPPED);
	assert_name(f, add_frame(f, plain, "/bin/script", 0x1010, NULL), "[unknown] (script)",
		    DWELL_SYMBOL_BAD_FILE);
	assert_name(f, add_frame(f, plain, "/bin/cut", 0x1010, NULL), "[unknown] (cut)",
		    DWELL_SYMBOL_BAD_FILE);
	assert_name(f, add_frame(f, plain, "/bin", 0x1010, NULL), "[unknown] (bin)",
		    DWELL_SYMBOL_BAD_FILE);
	assert_name(f, add_frame(f, plain, "/bin/gone (deleted)", 0x1010, NULL),
		    "[unknown] (gone (deleted))", DWELL_SYMBOL_NO_FILE);
	assert_name(f, add_frame(f, plain, "[uprobes]", 0, NULL), "[unknown] ([uprobes])",
		    DWELL_SYMBOL_NO_FILE);
	/* A name in the trace does for files as well. */
	assert_name(f, add_frame(f, plain, "/bin/gone (deleted)", 0x20, "_Z3runv"), "run",
		    DWELL_SYMBOL_OK);
	symbols_new(f, f->root, true);
	assert_name(f, add_frame(f, plain, "/bin/prog", 0x1010, NULL), "_ZN3foo3barEv",
		    DWELL_SYMBOL_OK);
}

static void changed_files(void **state)
{
	struct fixture *f = *state;
	struct dwell_file by_inode = { .dev_major = 1, .dev_minor = 2 };
	char path[64];
	struct stat st;

	program_write(f, "bin/prog", "run", 0x11, NULL);
	program_write(f, "bin/no_id", "run", 0, NULL);
	assert_name(f, add_frame(f, with_id(0x11), "/bin/prog", 0x1010, NULL), "run",
		    DWELL_SYMBOL_OK);
	assert_name(f, add_frame(f, with_id(0x12), "/bin/prog", 0x1010, NULL), "[unknown] (prog)",
		    DWELL_SYMBOL_CHANGED);
	/* Both ids are told. */
	assert_non_null(strstr(dwell_symbols_failure(f->symbols, 0)->why, "build id 11111111"));
	assert_non_null(strstr(dwell_symbols_failure(f->symbols, 0)->why, "recorded was 12121212"));
	assert_name(f, add_frame(f, with_id(0x12), "/bin/no_id", 0x1010, NULL), "[unknown] (no_id)",
		    DWELL_SYMBOL_CHANGED);

	/* Inodes count only where files are looked up as the process named them. */
	snprintf(path, sizeof(path), "%s/bin/prog", f->root);
	assert_int_equal(stat(path, &st), 0);
	by_inode.inode = st.st_ino + 1;
	assert_name(f, add_frame(f, by_inode, "/bin/prog", 0x1010, NULL), "run", DWELL_SYMBOL_OK);
	symbols_new(f, NULL, false);
	assert_name(f, add_frame(f, by_inode, path, 0x1010, NULL), "[unknown] (prog)",
		    DWELL_SYMBOL_CHANGED);
	by_inode.inode = st.st_ino;
	assert_name(f, add_frame(f, by_inode, path, 0x1010, NULL), "run", DWELL_SYMBOL_OK);
}

/* Nothing but a path was recorded: the file here does if it is of this host and has not changed. */
static void known_by_path_alone(void **state)
{
	struct fixture *f = *state;
	const struct dwell_file plain = { 0 };
	struct dwell_file by_inode = { .inode = 1 };
	struct dwell_symbols_options options = { 0 };
	struct utsname uts;
	struct stat st;
	char path[64];

	assert_int_equal(uname(&uts), 0);
	program_write(f, "bin/prog", "run", 0x11, NULL);
	snprintf(path, sizeof(path), "%s/bin/prog", f->root);
	assert_int_equal(stat(path, &st), 0);
	by_inode.inode = st.st_ino;
	symbols_open(f, &options);
	assert_name(f, add_frame(f, plain, path, 0x1010, NULL), "[unknown] (prog)",
		    DWELL_SYMBOL_NOT_PROVEN);
	assert_name(f, add_frame(f, by_inode, path, 0x1010, NULL), "run", DWELL_SYMBOL_OK);
	options.host_name = "elsewhere.invalid";
	symbols_open(f, &options);
	assert_name(f, add_frame(f, plain, path, 0x1010, NULL), "[unknown] (prog)",
		    DWELL_SYMBOL_NOT_PROVEN);
	assert_name(f, add_frame(f, by_inode, path, 0x1010, NULL), "[unknown] (prog)",
		    DWELL_SYMBOL_NOT_PROVEN);
	assert_non_null(strstr(dwell_symbols_failure(f->symbols, 0)->why, "another host"));
	options.host_name = uts.nodename;
	symbols_open(f, &options);
	assert_name(f, add_frame(f, plain, path, 0x1010, NULL), "run", DWELL_SYMBOL_OK);
	options.recorded_ns =
		(uint64_t)st.st_ctim.tv_sec * 1000000000u + (uint64_t)st.st_ctim.tv_nsec;
	symbols_open(f, &options);
	assert_name(f, add_frame(f, plain, path, 0x1010, NULL), "run", DWELL_SYMBOL_OK);
	options.recorded_ns--;
	symbols_open(f, &options);
	assert_name(f, add_frame(f, plain, path, 0x1010, NULL), "[unknown] (prog)",
		    DWELL_SYMBOL_CHANGED);
	/* A symfs vouches for files, of the recording's machine. */
	options.symfs = f->root;
	symbols_open(f, &options);
	assert_name(f, add_frame(f, plain, "/bin/prog", 0x1010, NULL), "run", DWELL_SYMBOL_OK);
	options.machine = "armv7l";
	symbols_open(f, &options);
	assert_name(f, add_frame(f, plain, "/bin/prog", 0x1010, NULL), "[unknown] (prog)",
		    DWELL_SYMBOL_CHANGED);
	assert_non_null(strstr(dwell_symbols_failure(f->symbols, 0)->why, "armv7l"));
}

#define ID_22 "22/22222222222222222222222222222222222222"

/* perf's cache: a link by build id to a folder of files, before Linux 4.3 to the file itself. */
static void build_id_cache(void **state)
{
	struct fixture *f = *state;
	const struct dwell_file known = with_id(0x22);
	struct dwell_symbols_options options = { 0 };
	char cache[64], link[160];

	snprintf(cache, sizeof(cache), "%s/cache", f->root);
	options.build_id_dir = cache;
	program_write(f, "cache/gone/bin/x/elf", "of_another_build", 0x23, NULL);
	file_write(f, "cache/.build-id/22/x", "", 0);
	snprintf(link, sizeof(link), "%s/.build-id/" ID_22, cache);
	assert_int_equal(symlink("../../gone/bin/x", link), 0);
	symbols_open(f, &options);
	assert_name(f, add_frame(f, known, "/gone/bin/x", 0x1010, NULL), "[unknown] (x)",
		    DWELL_SYMBOL_NO_FILE);
	program_write(f, "cache/gone/bin/x/elf", "cached", 0x22, NULL);
	symbols_open(f, &options);
	assert_name(f, add_frame(f, known, "/gone/bin/x", 0x1010, NULL), "cached", DWELL_SYMBOL_OK);
	/* Without a build id nothing is found there. */
	assert_name(f, add_frame(f, (struct dwell_file){ .inode = 9 }, "/gone/bin/x", 0x1010, NULL),
		    "[unknown] (x)", DWELL_SYMBOL_NO_FILE);
	/* Its debug file; a symfs leaves the cache that the user names in use. */
	program_write(f, "cache/gone/bin/x/elf", NULL, 0x22, NULL);
	program_write(f, "cache/gone/bin/x/debug", "of_another_build", 0x23, NULL);
	symbols_open(f, &options);
	assert_name(f, add_frame(f, known, "/gone/bin/x", 0x1010, NULL), "[unknown] (x)",
		    DWELL_SYMBOL_STRIPPED);
	program_write(f, "cache/gone/bin/x/debug", "cached_debug", 0x22, NULL);
	options.symfs = f->root;
	symbols_open(f, &options);
	assert_name(f, add_frame(f, known, "/gone/bin/x", 0x1010, NULL), "cached_debug",
		    DWELL_SYMBOL_OK);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(symlink("../../old", link), 0);
	program_write(f, "cache/old", "old_form", 0x22, NULL);
	symbols_open(f, &options);
	assert_name(f, add_frame(f, known, "/gone/bin/x", 0x1010, NULL), "old_form",
		    DWELL_SYMBOL_OK);
}

/* $HOME/.debug is the cache unless another is named or a symfs shuts this machine out. */
static void default_cache(void **state)
{
	struct fixture *f = *state;
	const struct dwell_file known = with_id(0x22);
	struct dwell_symbols_options options = { 0 };
	char *home = getenv("HOME"), *before = home ? strdup(home) : NULL;

	program_write(f, ".debug/.build-id/" ID_22 "/elf", "at_home", 0x22, NULL);
	assert_int_equal(setenv("HOME", f->root, 1), 0);
	symbols_open(f, &options);
	assert_name(f, add_frame(f, known, "/gone/bin/x", 0x1010, NULL), "at_home",
		    DWELL_SYMBOL_OK);
	options.symfs = "/nowhere";
	symbols_open(f, &options);
	assert_name(f, add_frame(f, known, "/gone/bin/x", 0x1010, NULL), "[unknown] (x)",
		    DWELL_SYMBOL_NO_FILE);
	if (before)
		setenv("HOME", before, 1);
	else
		unsetenv("HOME");
	free(before);
}

/* The program's own small table, xz-packed; .dynsym has the rest. */
static void packed_symbols(void **state)
{
	struct fixture *f = *state;
	static struct elfmake make, inner;
	uint8_t packed[ELFMAKE_ROOM];
	size_t packed_bytes = 0;

	elfmake_begin(&inner, EM_X86_64, 0x100, 0);
	{
		const Elf64_Sym symbol =
			elfmake_symbol(&inner, "packed", 0x10, 0x10, STB_LOCAL, STT_FUNC);

		elfmake_symbols(&inner, SHT_SYMTAB, &symbol, 1);
	}
	elfmake_end(&inner);
	assert_int_equal(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC64, NULL, inner.bytes, inner.used,
						 packed, &packed_bytes, sizeof(packed)),
			 LZMA_OK);
	for (int damaged = 0; damaged < 2; damaged++) {
		packed[packed_bytes / 2] ^= damaged;
		elfmake_begin(&make, EM_X86_64, 0x100, 0x22);
		const Elf64_Sym symbol =
			elfmake_symbol(&make, "exported", 0x30, 0x10, STB_GLOBAL, STT_FUNC);

		elfmake_symbols(&make, SHT_DYNSYM, &symbol, 1);
		elfmake_section(&make, ".gnu_debugdata", SHT_PROGBITS, 0, packed, packed_bytes);
		elfmake_end(&make);
		file_write(f, "bin/prog", make.bytes, make.used);
		symbols_new(f, f->root, false);
		assert_name(f, add_frame(f, with_id(0x22), "/bin/prog", 0x1010, NULL),
			    damaged ? "[unknown] (prog)" : "packed",
			    damaged ? DWELL_SYMBOL_STRIPPED : DWELL_SYMBOL_OK);
		assert_name(f, add_frame(f, with_id(0x22), "/bin/prog", 0x1030, NULL), "exported",
			    DWELL_SYMBOL_OK);
	}
}

static void debug_files(void **state)
{
	struct fixture *f = *state;
	static const char *const places[] = { "lib/a.dbg", "lib/.debug/a.dbg",
					      "usr/lib/debug/lib/a.dbg",
					      "usr/lib/debug/.build-id/22/"
					      "22222222222222222222222222222222222222.debug" };
	char path[160];

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		program_write(f, "lib/stripped", NULL, 0x22, "a.dbg");
		symbols_new(f, f->root, false);
		assert_name(f, add_frame(f, with_id(0x22), "/lib/stripped", 0x1010, NULL),
			    "[unknown] (stripped)", DWELL_SYMBOL_STRIPPED);
		program_write(f, places[i], "of_another_build", 0x23, NULL);
		symbols_new(f, f->root, false);
		assert_name(f, add_frame(f, with_id(0x22), "/lib/stripped", 0x1010, NULL),
			    "[unknown] (stripped)", DWELL_SYMBOL_STRIPPED);
		program_write(f, places[i], "from_debug_file", 0x22, NULL);
		symbols_new(f, f->root, false);
		assert_name(f, add_frame(f, with_id(0x22), "/lib/stripped", 0x1010, NULL),
			    "from_debug_file", DWELL_SYMBOL_OK);
		snprintf(path, sizeof(path), "%s/%s", f->root, places[i]);
		assert_int_equal(unlink(path), 0);
	}
	/* A link is a name, not a path. */
	program_write(f, "lib/stripped", NULL, 0x22, "../a.dbg");
	program_write(f, "a.dbg", "out_of_reach", 0x22, NULL);
	symbols_new(f, f->root, false);
	assert_name(f, add_frame(f, with_id(0x22), "/lib/stripped", 0x1010, NULL),
		    "[unknown] (stripped)", DWELL_SYMBOL_STRIPPED);
}

static void code_made_at_run_time(void **state)
{
	struct fixture *f = *state;
	static const char map[] = "1000 10 py::run:/x.py\n2000 10 _ZN1a1bEv\n";
	const struct dwell_file jit = { .kind = DWELL_FILE_JIT, .pid = 77 };
	const struct dwell_file other = { .kind = DWELL_FILE_JIT, .pid = 78 };
	const struct dwell_file mine = { .kind = DWELL_FILE_JIT, .pid = getpid() };
	struct dwell_symbols_options options = { 0 };
	struct utsname uts;
	char path[64];
	int fd;

	file_write(f, "tmp/perf-77.map", map, sizeof(map) - 1);
	assert_name(f, add_frame(f, jit, "//anon", 0x1008, NULL), "py::run:/x.py", DWELL_SYMBOL_OK);
	assert_name(f, add_frame(f, jit, "[heap]", 0x2000, NULL), "a::b", DWELL_SYMBOL_OK);
	assert_name(f, add_frame(f, jit, "//anon", 0x1009, "recorded"), "recorded",
		    DWELL_SYMBOL_OK);
	assert_name(f, add_frame(f, jit, "//anon", 0x3000, NULL), "[unknown] (//anon)",
		    DWELL_SYMBOL_NO_MAP_FILE);
	assert_name(f, add_frame(f, other, "[anon:v8/code]", 0x1008, NULL),
		    "[unknown] ([anon:v8/code])", DWELL_SYMBOL_NO_MAP_FILE);
	/* The process of that number here is another one than on the host of the recording. */
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, map, sizeof(map) - 1), sizeof(map) - 1);
	close(fd);
	assert_int_equal(uname(&uts), 0);
	for (int same = 0; same < 2; same++) {
		options.host_name = same ? uts.nodename : "elsewhere.invalid";
		symbols_open(f, &options);
		assert_name(f, add_frame(f, mine, "//anon", 0x1008, NULL),
			    same ? "py::run:/x.py" : "[unknown] (//anon)",
			    same ? DWELL_SYMBOL_OK : DWELL_SYMBOL_NO_MAP_FILE);
	}
	unlink(path);
}

static void failures_are_counted(void **state)
{
	struct fixture *f = *state;
	const struct dwell_file file = { 0 };
	const struct dwell_symbol_failure *failure;
	uint32_t frame;

	program_write(f, "bin/prog", "run", 0, NULL);
	assert_null(dwell_symbols_failure(f->symbols, 0));
	for (uint64_t at = 0x1000; at < 0x1020; at += 4)
		dwell_symbols_name(f->symbols, add_frame(f, file, "/bin/prog", at, NULL), NULL);
	for (uint64_t at = 0; at < 3; at++) {
		frame = add_frame(f, file, "/bin/gone", at, NULL);
		dwell_symbols_name(f->symbols, frame, NULL);
		dwell_symbols_name(f->symbols, frame, NULL);
	}
	failure = dwell_symbols_failure(f->symbols, 0);
	assert_int_equal(failure->status, DWELL_SYMBOL_STRIPPED);
	assert_int_equal(failure->frames, 4);
	assert_int_equal(failure->file, 0);
	failure = dwell_symbols_failure(f->symbols, 1);
	assert_int_equal(failure->status, DWELL_SYMBOL_NO_FILE);
	assert_int_equal(failure->frames, 3);
	assert_int_equal(failure->file, 1);
	assert_null(dwell_symbols_failure(f->symbols, 2));
	for (int status = 0; status < DWELL_SYMBOL_STATUSES; status++)
		for (int other = 0; other < status; other++)
			assert_string_not_equal(dwell_symbol_status_text(status),
						dwell_symbol_status_text(other));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(this_program),
		TEST(the_vdso),
		TEST(names_from_the_recorder),
		TEST(files_and_why_not),
		TEST(changed_files),
		TEST(known_by_path_alone),
		TEST(build_id_cache),
		TEST(default_cache),
		TEST(packed_symbols),
		TEST(debug_files),
		TEST(code_made_at_run_time),
		TEST(failures_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
