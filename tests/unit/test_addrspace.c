// SPDX-License-Identifier: MIT
/* Tests of parse/elf/addrspace.c: mappings over time against a plain model, sharing across fork,
 * kinds of memory, and /proc/PID/maps as it may look. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "parse/elf/addrspace.h"

struct fixture {
	struct dwell_strings *strings;
	struct dwell_stacks *stacks;
	struct dwell_addrspaces *spaces;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->strings = dwell_strings_new();
	f->stacks = dwell_stacks_new();
	f->spaces = dwell_addrspaces_new(f->strings, f->stacks);
	*state = f;
	return f->spaces ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	dwell_addrspaces_free(f->spaces);
	dwell_stacks_free(f->stacks);
	dwell_strings_free(f->strings);
	free(f);
	return 0;
}

static void map(struct fixture *f, int32_t pid, uint64_t start, uint64_t end, uint64_t offset,
		const char *path)
{
	const struct dwell_mmap m = { .pid = pid,
				      .start = start,
				      .bytes = end - start,
				      .file_offset = offset,
				      .dev_major = 8,
				      .inode = 5,
				      .inode_generation = 3,
				      .path = path };

	assert_int_equal(dwell_addrspaces_map(f->spaces, &m), 0);
}

static const struct dwell_file *file_at(struct fixture *f, int32_t pid, uint64_t address)
{
	const struct dwell_mapping *m = dwell_addrspaces_find(f->spaces, pid, address);

	return m ? dwell_stacks_file(f->stacks, m->file) : NULL;
}

/* Path and file offset of an address; path NULL = no mapping there. */
static void assert_at(struct fixture *f, int32_t pid, uint64_t address, const char *path,
		      uint64_t offset)
{
	const struct dwell_mapping *m = dwell_addrspaces_find(f->spaces, pid, address);

	if (!path) {
		assert_null(m);
		return;
	}
	assert_non_null(m);
	assert_true(m->start <= address && address < m->end);
	assert_string_equal(dwell_strings_get(f->strings, file_at(f, pid, address)->path), path);
	assert_int_equal(address - m->start + m->file_offset, offset);
}

static void newer_mappings_cut_older_ones(void **state)
{
	struct fixture *f = *state;

	map(f, 1, 0x1000, 0x9000, 0x100000, "/a");
	map(f, 1, 0x3000, 0x4000, 0, "/b");
	assert_at(f, 1, 0xfff, NULL, 0);
	assert_at(f, 1, 0x1000, "/a", 0x100000);
	assert_at(f, 1, 0x2fff, "/a", 0x101fff);
	assert_at(f, 1, 0x3000, "/b", 0);
	assert_at(f, 1, 0x4000, "/a", 0x103000);
	assert_at(f, 1, 0x8fff, "/a", 0x107fff);
	assert_at(f, 1, 0x9000, NULL, 0);
	map(f, 1, 0x2000, 0x5000, 0x50, "/c");
	assert_at(f, 1, 0x1fff, "/a", 0x100fff);
	assert_at(f, 1, 0x3800, "/c", 0x1850);
	assert_at(f, 1, 0x5000, "/a", 0x104000);
	map(f, 1, 0, 0x10000, 0, "/d");
	assert_at(f, 1, 0x1000, "/d", 0x1000);
	assert_at(f, 1, 0xffff, "/d", 0xffff);
}

/* Whole huge pages between two parts of one file are its code; what does not fit is not. */
static void code_copied_into_huge_pages(void **state)
{
	struct fixture *f = *state;

	map(f, 1, 0x1ff000, 0x900000, 0x1000, "/a");
	map(f, 1, 0x200000, 0x600000, 0, "//anon");
	assert_at(f, 1, 0x200000, "/a", 0x2000);
	assert_at(f, 1, 0x5fffff, "/a", 0x401fff);
	assert_at(f, 1, 0x600000, "/a", 0x402000);
	map(f, 1, 0x600000, 0x601000, 0, "//anon"); /* no huge page */
	assert_at(f, 1, 0x600000, "//anon", 0x600000);
	/* As /proc/PID/maps tells it, one after the other. */
	map(f, 2, 0x1ff000, 0x200000, 0x1000, "/a");
	map(f, 2, 0x200000, 0x400000, 0, "/anon_hugepage (deleted)");
	assert_int_equal(file_at(f, 2, 0x200000)->kind, DWELL_FILE_JIT);
	map(f, 2, 0x400000, 0x401000, 0x202000, "/a");
	assert_at(f, 2, 0x200010, "/a", 0x2010);
	/* Parts of two files, parts that do not fit to each other, a part alone. */
	map(f, 3, 0x1ff000, 0x200000, 0x1000, "/a");
	map(f, 3, 0x200000, 0x400000, 0, "//anon");
	map(f, 3, 0x400000, 0x600000, 0x202000, "/b");
	map(f, 3, 0x600000, 0x800000, 0, "//anon");
	map(f, 3, 0x800000, 0xa00000, 0x202000, "/b");
	map(f, 3, 0xa00000, 0xc00000, 0, "//anon");
	assert_at(f, 3, 0x200000, "//anon", 0x200000);
	assert_at(f, 3, 0x600000, "//anon", 0x600000);
	assert_at(f, 3, 0xa00000, "//anon", 0xa00000);
}

static int build_id_of(void *user, const struct dwell_mmap *m,
		       uint8_t ret_build_id[DWELL_BUILD_ID_MAX])
{
	uint32_t *asked = user;

	++*asked;
	if (strstr(m->path, "nothing"))
		return 0;
	memset(ret_build_id, 0x33, DWELL_BUILD_ID_MAX);
	return DWELL_BUILD_ID_MAX;
}

/* With a build id the inode does not count, and a memfd is a program. */
static void build_ids_that_are_found_out(void **state)
{
	struct fixture *f = *state;
	uint32_t asked = 0;

	dwell_addrspaces_watch(f->spaces, build_id_of, &asked);
	map(f, 1, 0x1000, 0x2000, 0, "/a");
	map(f, 1, 0x2000, 0x3000, 0, "/memfd:program (deleted)");
	map(f, 1, 0x3000, 0x4000, 0, "/memfd:nothing (deleted)");
	map(f, 1, 0x4000, 0x5000, 0, "/nothing");
	assert_int_equal(asked, 4);
	map(f, 1, 0x5000, 0x6000, 0, "//anon");
	map(f, 1, 0x6000, 0x7000, 0, "[heap]");
	assert_int_equal(asked, 4);
	assert_int_equal(file_at(f, 1, 0x1000)->build_id_bytes, DWELL_BUILD_ID_MAX);
	assert_int_equal(file_at(f, 1, 0x1000)->inode, 0);
	assert_int_equal(file_at(f, 1, 0x2000)->kind, DWELL_FILE_ELF);
	assert_int_equal(file_at(f, 1, 0x3000)->kind, DWELL_FILE_JIT);
	assert_int_equal(file_at(f, 1, 0x4000)->build_id_bytes, 0);
	assert_int_equal(file_at(f, 1, 0x4000)->inode, 5);
}

static void impossible_mappings_change_nothing(void **state)
{
	struct fixture *f = *state;

	map(f, 1, 0x1000, 0x1000, 0, "/a");
	map(f, 1, UINT64_MAX - 5, 5, 0, "/a");
	assert_false(dwell_addrspaces_known(f->spaces, 1));
	map(f, 1, UINT64_MAX - 0x1000, UINT64_MAX, 0, "/a");
	assert_at(f, 1, UINT64_MAX - 1, "/a", 0xfff);
	assert_at(f, 1, UINT64_MAX, NULL, 0);
}

/* Random mappings over 64 pages against an array that says what each page holds. */
static void agrees_with_a_model(void **state)
{
	struct fixture *f = *state;
	enum { PAGES = 64, NONE = -1 };
	int path_of[PAGES];
	uint64_t offset_of[PAGES];
	uint32_t seed = 12345;
	char path[16];

	memset(path_of, NONE, sizeof(path_of));
	for (int round = 0; round < 3000; round++) {
		uint32_t from, pages, name;
		uint64_t offset;

		seed = seed * 1103515245 + 12345;
		from = (seed >> 8) % PAGES;
		pages = 1 + (seed >> 16) % (PAGES - from > 9 ? 9 : PAGES - from);
		name = (seed >> 24) % 5;
		offset = (uint64_t)round << 12;
		snprintf(path, sizeof(path), "/f%u", name);
		map(f, 7, (uint64_t)from << 12, (uint64_t)(from + pages) << 12, offset, path);
		for (uint32_t i = 0; i < pages; i++) {
			path_of[from + i] = (int)name;
			offset_of[from + i] = offset + ((uint64_t)i << 12);
		}
		for (uint32_t i = 0; i < PAGES; i++) {
			snprintf(path, sizeof(path), "/f%d", path_of[i]);
			assert_at(f, 7, ((uint64_t)i << 12) + 7, path_of[i] == NONE ? NULL : path,
				  offset_of[i] + 7);
		}
	}
}

static void fork_exec_exit(void **state)
{
	struct fixture *f = *state;
	uint64_t parent, child;

	assert_false(dwell_addrspaces_known(f->spaces, 1));
	assert_int_equal(dwell_addrspaces_generation(f->spaces, 1), 0);
	map(f, 1, 0x1000, 0x2000, 0, "/a");
	assert_true(dwell_addrspaces_known(f->spaces, 1));
	parent = dwell_addrspaces_generation(f->spaces, 1);
	assert_int_not_equal(parent, 0);
	assert_int_equal(dwell_addrspaces_fork(f->spaces, 1, 2), 0);
	assert_at(f, 2, 0x1000, "/a", 0);

	/* A change of either is not seen by the other. */
	map(f, 2, 0x1000, 0x2000, 0, "/b");
	child = dwell_addrspaces_generation(f->spaces, 2);
	assert_int_not_equal(child, parent);
	assert_int_equal(dwell_addrspaces_generation(f->spaces, 1), parent);
	assert_at(f, 1, 0x1000, "/a", 0);
	assert_at(f, 2, 0x1000, "/b", 0);
	map(f, 1, 0x2000, 0x3000, 0, "/c");
	assert_int_not_equal(dwell_addrspaces_generation(f->spaces, 1), parent);
	assert_at(f, 2, 0x2000, NULL, 0);

	/* A change of the parent while shared leaves the child's set. */
	assert_int_equal(dwell_addrspaces_fork(f->spaces, 1, 3), 0);
	map(f, 1, 0x1000, 0x3000, 0, "/d");
	assert_at(f, 3, 0x2000, "/c", 0);

	assert_int_equal(dwell_addrspaces_exec(f->spaces, 3), 0);
	assert_true(dwell_addrspaces_known(f->spaces, 3));
	assert_int_not_equal(dwell_addrspaces_generation(f->spaces, 3), 0);
	assert_at(f, 3, 0x2000, NULL, 0);
	assert_at(f, 1, 0x2000, "/d", 0x1000);

	dwell_addrspaces_exit(f->spaces, 1);
	dwell_addrspaces_exit(f->spaces, 1);
	assert_false(dwell_addrspaces_known(f->spaces, 1));
	assert_at(f, 1, 0x2000, NULL, 0);
	assert_at(f, 2, 0x1000, "/b", 0);
	/* The child of a process never heard of is not known either. */
	assert_int_equal(dwell_addrspaces_fork(f->spaces, 99, 2), 0);
	assert_false(dwell_addrspaces_known(f->spaces, 2));
	assert_int_equal(dwell_addrspaces_fork(f->spaces, 3, 3), 0);
	assert_true(dwell_addrspaces_known(f->spaces, 3));
}

static void many_processes_come_and_go(void **state)
{
	struct fixture *f = *state;

	for (int32_t round = 0; round < 3; round++) {
		for (int32_t pid = 1; pid <= 2000; pid++)
			map(f, pid, (uint64_t)pid << 12, (uint64_t)(pid + 1) << 12, 0, "/x");
		for (int32_t pid = 1; pid <= 2000; pid += 2)
			dwell_addrspaces_exit(f->spaces, pid);
		for (int32_t pid = 1; pid <= 2000; pid++)
			assert_at(f, pid, (uint64_t)pid << 12, pid % 2 ? NULL : "/x", 0);
	}
	assert_int_equal(dwell_stacks_file_count(f->stacks), 1);
}

static void the_number_of_mappings_is_bounded(void **state)
{
	struct fixture *f = *state;
	enum { LIMIT = 65530 };

	for (uint64_t i = 0; i < LIMIT + 10; i++)
		map(f, 1, i * 0x2000, i * 0x2000 + 0x1000, 0, "/x");
	assert_at(f, 1, (LIMIT - 1) * 0x2000ull, "/x", 0);
	assert_at(f, 1, LIMIT * 0x2000ull, NULL, 0);
	/* Replacing still works. */
	map(f, 1, 0, 0x1000, 0, "/y");
	assert_at(f, 1, 0, "/y", 0);
}

static void kinds_of_memory(void **state)
{
	static const struct {
		const char *path;
		uint8_t kind;
	} cases[] = {
		{ "", DWELL_FILE_JIT },
		{ "//anon", DWELL_FILE_JIT },
		{ "/dev/zero (deleted)", DWELL_FILE_JIT },
		{ "[heap]", DWELL_FILE_JIT },
		{ "[stack]", DWELL_FILE_JIT },
		{ "[stack:123]", DWELL_FILE_JIT },
		{ "[anon:v8]", DWELL_FILE_JIT },
		{ "/anon_hugepage (deleted)", DWELL_FILE_JIT },
		{ "/memfd:doublemapper (deleted)", DWELL_FILE_JIT },
		{ "/SYSV00000000 (deleted)", DWELL_FILE_JIT },
		{ "[vdso]", DWELL_FILE_VDSO },
		{ "[vsyscall]", DWELL_FILE_ELF },
		{ "[uprobes]", DWELL_FILE_ELF },
		{ "/usr/lib/libc.so.6", DWELL_FILE_ELF },
		{ "/usr/lib/libc.so.6 (deleted)", DWELL_FILE_ELF },
		{ "/anon", DWELL_FILE_ELF },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t start = (i + 1) << 20;
		const struct dwell_file *file;
		bool jit = cases[i].kind == DWELL_FILE_JIT;

		map(f, 42, start, start + 0x4000, 0x7000, cases[i].path);
		file = file_at(f, 42, start);
		assert_int_equal(file->kind, cases[i].kind);
		assert_int_equal(file->pid, jit ? 42 : 0);
		assert_int_equal(file->inode, jit ? 0 : 5);
		assert_at(f, 42, start + 1, *cases[i].path ? cases[i].path : "//anon",
			  jit ? start + 1 : 0x7001);
	}
	/* Anonymous memory is the same file under either way of telling it, per process. */
	assert_int_equal(dwell_addrspaces_find(f->spaces, 42, 1 << 20)->file,
			 dwell_addrspaces_find(f->spaces, 42, 2 << 20)->file);
	map(f, 43, 0x1000, 0x2000, 0, "//anon");
	assert_int_not_equal(dwell_addrspaces_find(f->spaces, 42, 1 << 20)->file,
			     dwell_addrspaces_find(f->spaces, 43, 0x1000)->file);
}

static void build_ids_are_kept(void **state)
{
	struct fixture *f = *state;
	struct dwell_mmap m = { .pid = 1,
				.bytes = 0x1000,
				.build_id = (const uint8_t *)"abcdefgh",
				.build_id_bytes = 8,
				.path = "/a" };

	assert_int_equal(dwell_addrspaces_map(f->spaces, &m), 0);
	assert_int_equal(file_at(f, 1, 0)->build_id_bytes, 8);
	assert_memory_equal(file_at(f, 1, 0)->build_id, "abcdefgh\0", 9);
	m.build_id_bytes = 21;
	m.path = "/b";
	assert_int_equal(dwell_addrspaces_map(f->spaces, &m), 0);
	assert_int_equal(file_at(f, 1, 0)->build_id_bytes, 0);
}

static void proc_write(const char *root, int pid, const char *text)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%d", root, pid);
	mkdir(path, 0700);
	strcat(path, "/maps");
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void proc_text(void **state)
{
	struct fixture *f = *state;
	char root[] = "/tmp/test_addrspace_XXXXXX", path[128];
	struct dwell_err err = { 0 };
	const struct dwell_file *file;

	assert_non_null(mkdtemp(root));
	proc_write(root, 5,
		   "00400000-00401000 r-xp 00000000 fd:01 1234   /bin/with space and\\012newline\n"
		   "00401000-00402000 rw-p 00001000 fd:01 1234   /bin/data\n"
		   "00500000-00501000 r-xs 00002000 103:05 18446744073709551615 /x (deleted)\n"
		   "00600000-00601000 rwxp 00000000 00:00 0 \n"
		   "00700000-00701000 rwxp 00000000 00:00 0\n"
		   "garbage\n"
		   "00900000-00800000 r-xp 00000000 00:00 0 /backwards\n"
		   "7fff0000-7fff2000 r-xp 00000000 00:00 0       [vdso]\n"
		   "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]");
	map(f, 5, 0x1000, 0x2000, 0, "/old");
	assert_int_equal(dwell_addrspaces_read_proc(f->spaces, root, 5, &err), 0);
	assert_at(f, 5, 0x1000, NULL, 0);
	assert_at(f, 5, 0x400010, "/bin/with space and\nnewline", 0x10);
	file = file_at(f, 5, 0x400010);
	assert_int_equal(file->dev_major, 0xfd);
	assert_int_equal(file->dev_minor, 1);
	assert_int_equal(file->inode, 1234);
	assert_at(f, 5, 0x401000, NULL, 0);
	assert_at(f, 5, 0x500000, "/x (deleted)", 0x2000);
	assert_int_equal(file_at(f, 5, 0x500000)->inode, UINT64_MAX);
	assert_at(f, 5, 0x600001, "//anon", 0x600001);
	assert_at(f, 5, 0x700001, "//anon", 0x700001);
	assert_at(f, 5, 0x880000, NULL, 0);
	assert_at(f, 5, 0x7fff1000, "[vdso]", 0x1000);
	assert_at(f, 5, 0xffffffffff600000, "[vsyscall]", 0);

	/* A failure leaves what was known. */
	assert_int_equal(dwell_addrspaces_read_proc(f->spaces, root, 6, &err), -ENOENT);
	assert_non_null(strstr(err.msg, "/6/maps"));
	assert_at(f, 5, 0x400010, "/bin/with space and\nnewline", 0x10);
	snprintf(path, sizeof(path), "%s/5/maps", root);
	unlink(path);
	path[strlen(path) - 5] = '\0';
	rmdir(path);
	rmdir(root);
}

static void own_maps(void **state)
{
	struct fixture *f = *state;
	struct dwell_err err = { 0 };
	const struct dwell_file *file;
	struct stat st;

	assert_int_equal(dwell_addrspaces_read_proc(f->spaces, "/proc", getpid(), &err), 0);
	file = file_at(f, getpid(), (uint64_t)(uintptr_t)own_maps);
	assert_non_null(file);
	assert_int_equal(file->kind, DWELL_FILE_ELF);
	assert_int_equal(stat("/proc/self/exe", &st), 0);
	assert_int_equal(file->inode, st.st_ino);
}

/* A process may map files under ever new names: they do not fill the memory. */
static void paths_are_bounded(void **state)
{
	struct fixture *f = *state;
	char path[4096], text[4096];
	const struct dwell_mapping *found;
	uint32_t i = 0;

	memset(path, 'x', sizeof(path) - 1);
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	for (; i < (80u << 20) / sizeof(path); i++) {
		memcpy(text, path, sizeof(text));
		snprintf(text + 4000, 90, "%u", i);
		map(f, 1, 0x1000, 0x2000, 0, text);
	}
	assert_in_range(dwell_addrspaces_left_out(f->spaces), 1, i / 2);
	assert_in_range(dwell_strings_count(f->strings), i / 2, i);
	found = dwell_addrspaces_find(f->spaces, 1, 0x1000);
	assert_string_equal(dwell_strings_get(f->strings,
					      dwell_stacks_file(f->stacks, found->file)->path),
			    "[path left out]");
	/* One that is known needs no room. */
	snprintf(text + 4000, 90, "%u", 0);
	map(f, 1, 0x1000, 0x2000, 0, text);
	found = dwell_addrspaces_find(f->spaces, 1, 0x1000);
	assert_string_equal(dwell_strings_get(f->strings,
					      dwell_stacks_file(f->stacks, found->file)->path),
			    text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(paths_are_bounded),
		TEST(newer_mappings_cut_older_ones),
		TEST(code_copied_into_huge_pages),
		TEST(build_ids_that_are_found_out),
		TEST(impossible_mappings_change_nothing),
		TEST(agrees_with_a_model),
		TEST(fork_exec_exit),
		TEST(many_processes_come_and_go),
		TEST(the_number_of_mappings_is_bounded),
		TEST(kinds_of_memory),
		TEST(build_ids_are_kept),
		TEST(proc_text),
		TEST(own_maps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
