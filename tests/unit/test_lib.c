// SPDX-License-Identifier: MIT
/* Tests of lib/: strings and the id map against plain arrays, files read and written whole, error
 * messages that keep their first cause and stay printable. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/array.h"
#include "lib/idmap.h"
#include "lib/io.h"
#include "lib/strings.h"

static void equal_strings_have_one_id(void **state)
{
	enum { COUNT = 20000 };
	struct dwell_strings *strings = dwell_strings_new();
	const char *first;
	char text[32];
	uint32_t id;

	(void)state;
	assert_non_null(strings);
	assert_int_equal(dwell_strings_add(strings, "", 0, &id), 0);
	assert_int_equal(id, 0);
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 1; i <= COUNT; i++) {
			int bytes = snprintf(text, sizeof(text), "string %u", i);

			assert_int_equal(dwell_strings_add(strings, text, (size_t)bytes, &id), 0);
			assert_int_equal(id, i);
		}
		if (!round)
			first = dwell_strings_get(strings, 1);
	}
	assert_int_equal(dwell_strings_count(strings), COUNT + 1);
	assert_ptr_equal(dwell_strings_get(strings, 1), first);
	assert_string_equal(dwell_strings_get(strings, COUNT), "string 20000");
	assert_string_equal(dwell_strings_get(strings, COUNT + 1), "");
	assert_string_equal(dwell_strings_get(strings, UINT32_MAX), "");
	dwell_strings_free(strings);
}

static void strings_of_any_bytes_and_length(void **state)
{
	enum { LONG = 300000 };
	struct dwell_strings *strings = dwell_strings_new();
	char *text = malloc(LONG);
	uint32_t id, again;

	(void)state;
	assert_non_null(strings);
	assert_non_null(text);
	memset(text, 'x', LONG);
	assert_int_equal(dwell_strings_add(strings, text, LONG, &id), 0);
	assert_int_equal(strlen(dwell_strings_get(strings, id)), LONG);
	/* A prefix is another string; what follows a NUL is not part of it. */
	assert_int_equal(dwell_strings_add(strings, text, LONG - 1, &again), 0);
	assert_int_not_equal(id, again);
	assert_int_equal(dwell_strings_add(strings, "ab\0cd", 5, &id), 0);
	assert_string_equal(dwell_strings_get(strings, id), "ab");
	assert_int_equal(dwell_strings_add(strings, "\xff\n\x1b[2J", 6, &id), 0);
	assert_string_equal(dwell_strings_get(strings, id), "\xff\n\x1b[2J");
	free(text);
	dwell_strings_free(strings);
}

static void idmap_agrees_with_an_array(void **state)
{
	enum { KEYS = 700, STEPS = 200000 };
	struct dwell_idmap map = { 0 };
	uint32_t *values = calloc(KEYS, sizeof(*values)), seed = 99, count = 0;

	(void)state;
	assert_non_null(values);
	assert_int_equal(dwell_idmap_find(&map, 5), 0);
	dwell_idmap_remove(&map, 5);
	for (uint32_t step = 0; step < STEPS; step++) {
		uint32_t i;
		uint64_t key;

		seed = seed * 1664525 + 1013904223;
		i = (seed >> 8) % KEYS;
		key = i % 2 ? i : (uint64_t)i << 40; /* close together and far apart */
		if (seed >> 31) {
			count += !values[i];
			values[i] = step + 1;
			assert_int_equal(dwell_idmap_set(&map, key, values[i]), 0);
		} else if (seed >> 30) {
			count -= values[i] != 0;
			values[i] = 0;
			dwell_idmap_remove(&map, key);
		}
		assert_int_equal(dwell_idmap_find(&map, key), values[i]);
		assert_int_equal(map.count, count);
	}
	for (uint32_t i = 0; i < KEYS; i++)
		assert_int_equal(dwell_idmap_find(&map, i % 2 ? i : (uint64_t)i << 40), values[i]);
	dwell_idmap_release(&map);
	assert_null(map.slots);
	free(values);
}

static void arrays_refuse_what_cannot_be(void **state)
{
	DWELL_ARRAY(uint64_t) array = { 0 };

	(void)state;
	assert_int_equal(dwell_array_reserve(&array, 1000), 0);
	assert_true(array.room >= 1000);
	assert_int_equal(dwell_array_reserve(&array, UINT64_MAX / 2), -ENOMEM);
	assert_true(array.room >= 1000 && array.data);
	dwell_array_release(&array);
	assert_true(!array.data && !array.room);
}

static void files_are_read_whole_or_refused(void **state)
{
	static const size_t sizes[] = { 0, 1, 4095, 4096, 4097, 8192, 100000 };
	char path[] = "/tmp/dwell-io-XXXXXX", small[8];
	int fd = mkstemp(path);
	char *bytes = malloc(100000);

	(void)state;
	assert_true(fd >= 0);
	assert_non_null(bytes);
	for (int i = 0; i < 100000; i++)
		bytes[i] = (char)(i * 7 + i / 251);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		char *text = NULL;
		size_t count = 77;

		assert_int_equal(ftruncate(fd, 0), 0);
		lseek(fd, 0, SEEK_SET);
		assert_int_equal(dwell_io_write(fd, bytes, sizes[i]), 0);
		assert_int_equal(dwell_io_read_file(path, 1 << 20, &text, &count), 0);
		assert_int_equal(count, sizes[i]);
		assert_memory_equal(text, bytes, count);
		assert_int_equal(text[count], 0);
		free(text);
		assert_int_equal(dwell_io_read_file(path, sizes[i], &text, &count), 0);
		assert_int_equal(count, sizes[i]);
		free(text);
		text = NULL;
		if (!sizes[i])
			continue;
		assert_int_equal(dwell_io_read_file(path, sizes[i] - 1, &text, &count), -EFBIG);
		assert_null(text);
	}
	assert_int_equal(dwell_io_read_small(path, small, sizeof(small)), 7);
	assert_int_equal(small[7], 0);
	assert_memory_equal(small, bytes, 7);
	close(fd);
	unlink(path);
	assert_int_equal(dwell_io_read_small(path, small, sizeof(small)), -ENOENT);
	assert_int_equal(dwell_io_read_small("/", small, sizeof(small)), -EISDIR);
	free(bytes);
}

static void writing_tells_why_it_failed(void **state)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(dwell_io_write(fd, "x", 1), -ENOSPC);
	assert_int_equal(dwell_io_write(fd, "", 0), 0);
	close(fd);
	assert_int_equal(dwell_io_write(fd, "x", 1), -EBADF);
}

static void the_first_cause_wins(void **state)
{
	struct dwell_err err = { 0 };

	(void)state;
	assert_int_equal(dwell_err_sys(&err, -ENOENT, "cannot open '%s'", "a\nb\x1b"), -ENOENT);
	assert_int_equal(dwell_err_set(&err, -EINVAL, "later"), -EINVAL);
	assert_int_equal(err.code, -ENOENT);
	assert_string_equal(err.msg, "cannot open 'a?b?': No such file or directory");
	assert_int_equal(dwell_err_wrap(&err, "run"), -ENOENT);
	assert_string_equal(err.msg, "run: cannot open 'a?b?': No such file or directory");
	assert_int_equal(dwell_err_set(NULL, -EINVAL, "nobody listens"), -EINVAL);
}

static void messages_are_bounded(void **state)
{
	struct dwell_err err = { 0 };
	char text[2000], out[4];

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	dwell_err_sys(&err, -ENOENT, "%s", text);
	assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
	dwell_err_wrap(&err, "%s", text);
	assert_true(strlen(err.msg) < sizeof(err.msg));
	assert_string_equal(dwell_printable(out, sizeof(out), "a\tbcd"), "a?b");
	assert_string_equal(dwell_printable(out, 1, "abc"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_strings_have_one_id),
		cmocka_unit_test(strings_of_any_bytes_and_length),
		cmocka_unit_test(idmap_agrees_with_an_array),
		cmocka_unit_test(arrays_refuse_what_cannot_be),
		cmocka_unit_test(files_are_read_whole_or_refused),
		cmocka_unit_test(writing_tells_why_it_failed),
		cmocka_unit_test(the_first_cause_wins),
		cmocka_unit_test(messages_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
