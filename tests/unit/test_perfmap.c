// SPDX-License-Identifier: MIT
/* Tests of perf-PID.map files: the forms that JIT compilers write, lines that replace earlier ones
 * against a plain model, and whose files are read. */
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

#include "parse/elf/perfmap.h"

static struct dwell_perfmap *parse(const char *text)
{
	struct dwell_perfmap *map;

	assert_int_equal(dwell_perfmap_parse(text, strlen(text), &map), 0);
	return map;
}

static void assert_at(const struct dwell_perfmap *map, uint64_t address, const char *name)
{
	const char *found = dwell_perfmap_find(map, address);

	if (name) {
		assert_non_null(found);
		assert_string_equal(found, name);
	} else {
		assert_null(found);
	}
}

static void forms_of_lines(void **state)
{
	struct dwell_perfmap *map = parse("7f001000 10 LazyCompile:~foo /a b.js:1\n"
					  "0x7f002000 0x20 void Foo::bar(int)\r\n"
					  "7F003000 A  py::run:/x.py\n"
					  "7f004000 10 last");

	(void)state;
	assert_at(map, 0x7f000fff, NULL);
	assert_at(map, 0x7f001000, "LazyCompile:~foo /a b.js:1");
	assert_at(map, 0x7f00100f, "LazyCompile:~foo /a b.js:1");
	assert_at(map, 0x7f001010, NULL);
	assert_at(map, 0x7f00201f, "void Foo::bar(int)");
	assert_at(map, 0x7f003009, "py::run:/x.py");
	assert_at(map, 0x7f00300a, NULL);
	assert_at(map, 0x7f00400f, "last");
	dwell_perfmap_free(map);
}

static int name_put(void *user, uint32_t index, const char *name)
{
	const char **names = user;

	assert_null(names[index]);
	names[index] = strdup(name);
	assert_non_null(names[index]);
	return 0;
}

/* Only those asked for, of the latest line each. */
static void names_of_some_addresses(void **state)
{
	static const uint64_t addresses[] = { 0xfff, 0x1000, 0x1008, 0x1010, 0x3000, UINT64_MAX };
	static const char *const expected[] = { NULL, "late", "wide", NULL, "high", NULL };
	char text[] = "1000 10 early\n1000 10 wide\n\n3000 1 high\nno line\n1000 8 late";
	char *names[6] = { NULL };

	(void)state;
	assert_int_equal(dwell_perfmap_name_text(text, strlen(text), addresses, 6, name_put, names),
			 0);
	for (unsigned i = 0; i < 6; i++) {
		if (expected[i])
			assert_string_equal(names[i], expected[i]);
		else
			assert_null(names[i]);
		free(names[i]);
	}
}

static void other_lines_are_passed_over(void **state)
{
	struct dwell_perfmap *map = parse("\n\n  \n# comment\n1000\n1000 10\n1000 10 \nxyz 10 a\n"
					  "1000 zz a\n1000 0 empty\n-1000 10 minus\n"
					  "ffffffffffffffff 2 wraps\n"
					  "11111111111111111 10 too_long\n2000 10 good\n");

	(void)state;
	assert_at(map, 0x1000, NULL);
	assert_at(map, UINT64_MAX, NULL);
	assert_at(map, 0, NULL);
	assert_at(map, 0x2000, "good");
	dwell_perfmap_free(map);
	map = parse("");
	assert_at(map, 0, NULL);
	dwell_perfmap_free(map);
}

static void later_lines_replace_earlier_ones(void **state)
{
	enum { LINES = 300, SPACE = 1000 };
	uint32_t owner[SPACE + 100] = { 0 }, seed = 99;
	char text[LINES * 32], name[16];
	struct dwell_perfmap *map;
	size_t used = 0;

	(void)state;
	for (uint32_t i = 1; i <= LINES; i++) {
		uint32_t start, bytes;

		seed = seed * 1103515245 + 12345;
		start = (seed >> 8) % SPACE;
		bytes = 1 + (seed >> 20) % 60;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%x %x n%u\n", start,
					 bytes, i);
		for (uint32_t at = start; at < start + bytes; at++)
			owner[at] = i;
	}
	map = parse(text);
	for (uint32_t at = 0; at < SPACE + 100; at++) {
		snprintf(name, sizeof(name), "n%u", owner[at]);
		assert_at(map, at, owner[at] ? name : NULL);
	}
	dwell_perfmap_free(map);
}

static void file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void files_of_processes(void **state)
{
	char root[] = "/tmp/test_perfmap_XXXXXX", path[64], link[64];
	struct dwell_perfmap *map = NULL;

	(void)state;
	assert_non_null(mkdtemp(root));
	assert_int_equal(dwell_perfmap_read(123, root, &map), -ENOENT);
	snprintf(path, sizeof(path), "%s/tmp", root);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/tmp/perf-123.map", root);
	file_write(path, "10 10 hello\n");
	assert_int_equal(dwell_perfmap_read(123, root, &map), 0);
	assert_at(map, 0x1f, "hello");
	dwell_perfmap_free(map);
	map = NULL;
	*strrchr(path, '/') = '\0';
	assert_int_equal(dwell_perfmap_read_in(path, 123, &map), 0);
	assert_at(map, 0x10, "hello");
	dwell_perfmap_free(map);
	map = NULL;
	assert_int_equal(dwell_perfmap_read_in(root, 123, &map), -ENOENT);
	strcat(path, "/perf-123.map");
	assert_int_equal(dwell_perfmap_read(124, root, &map), -ENOENT);

	/* Neither links nor pipes nor directories, and of strangers nothing at all. */
	snprintf(link, sizeof(link), "%s/tmp/perf-125.map", root);
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(dwell_perfmap_read(125, root, &map), -ENOENT);
	unlink(link);
	assert_int_equal(mkfifo(link, 0600), 0);
	assert_int_equal(dwell_perfmap_read(125, root, &map), -ENOENT);
	unlink(link);
	if (geteuid() == 0) {
		assert_int_equal(chown(path, 12345, 12345), 0);
		assert_int_equal(dwell_perfmap_read(123, root, &map), -EPERM);
	}
	assert_null(map);
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	rmdir(root);
}

static void file_of_a_living_process(void **state)
{
	struct dwell_perfmap *map;
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	file_write(path, "abc0 10 mine\n");
	assert_int_equal(dwell_perfmap_read(getpid(), NULL, &map), 0);
	unlink(path);
	assert_at(map, 0xabc8, "mine");
	dwell_perfmap_free(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms_of_lines),
		cmocka_unit_test(names_of_some_addresses),
		cmocka_unit_test(other_lines_are_passed_over),
		cmocka_unit_test(later_lines_replace_earlier_ones),
		cmocka_unit_test(files_of_processes),
		cmocka_unit_test(file_of_a_living_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
