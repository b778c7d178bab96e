// SPDX-License-Identifier: MIT
/* Tests of parse/stack.c: equal files, frames and nodes get one id, different ones never share
 * one, at any size of table, and ids that do not exist are refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "parse/stack.h"

static int setup(void **state)
{
	*state = dwell_stacks_new();
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	dwell_stacks_free(*state);
	return 0;
}

static void files_by_identity(void **state)
{
	struct dwell_stacks *stacks = *state;
	const struct dwell_file base = { .path = 7, .dev_major = 8, .dev_minor = 1, .inode = 99 };
	struct dwell_file other[] = { base, base, base, base, base, base, base };
	uint32_t id, first;

	other[0].path = 8;
	other[1].kind = DWELL_FILE_JIT;
	other[2].dev_major = 9;
	other[3].dev_minor = 2;
	other[4].inode = 100;
	other[5].inode_generation = 1;
	other[6].pid = 5;
	assert_int_equal(dwell_stacks_add_file(stacks, &base, &first), 0);
	assert_int_equal(first, 0);
	for (uint32_t i = 0; i < 7; i++) {
		assert_int_equal(dwell_stacks_add_file(stacks, &other[i], &id), 0);
		assert_int_equal(id, i + 1);
	}
	assert_int_equal(dwell_stacks_add_file(stacks, &base, &id), 0);
	assert_int_equal(id, first);
	assert_int_equal(dwell_stacks_file_count(stacks), 8);
	assert_int_equal(dwell_stacks_file(stacks, 5)->inode, 100);
	assert_int_equal(dwell_stacks_file(stacks, 8)->inode, 0);
}

static void build_ids_tell_files_apart(void **state)
{
	struct dwell_stacks *stacks = *state;
	struct dwell_file file = { .path = 7 };
	uint32_t a, b, id;

	assert_int_equal(dwell_stacks_add_file(stacks, &file, &a), 0);
	file.build_id_bytes = 20;
	memset(file.build_id, 0xaa, 20);
	assert_int_equal(dwell_stacks_add_file(stacks, &file, &id), 0);
	assert_int_equal(id, a);
	assert_int_equal(dwell_stacks_file(stacks, a)->build_id_bytes, 20);
	assert_int_equal(dwell_stacks_file(stacks, a)->build_id[19], 0xaa);

	file.build_id[19] = 0xbb;
	assert_int_equal(dwell_stacks_add_file(stacks, &file, &b), 0);
	assert_int_not_equal(b, a);
	file.build_id_bytes = 0;
	assert_int_equal(dwell_stacks_add_file(stacks, &file, &id), 0);
	assert_int_equal(id, a);

	dwell_stacks_set_build_id(stacks, b, (const uint8_t *)"12345678", 8);
	assert_int_equal(dwell_stacks_file(stacks, b)->build_id_bytes, 8);
	assert_memory_equal(dwell_stacks_file(stacks, b)->build_id, "12345678\0\0\0\0", 12);
	dwell_stacks_set_build_id(stacks, b, (const uint8_t *)"123456789012345678901", 21);
	assert_int_equal(dwell_stacks_file(stacks, b)->build_id_bytes, 8);
}

static void refuses_what_does_not_exist(void **state)
{
	struct dwell_stacks *stacks = *state;
	struct dwell_file file = { .kind = DWELL_FILE_KINDS };
	uint32_t id = 77;

	assert_int_equal(dwell_stacks_add_file(stacks, &file, &id), -EINVAL);
	file = (struct dwell_file){ .build_id_bytes = DWELL_BUILD_ID_MAX + 1 };
	assert_int_equal(dwell_stacks_add_file(stacks, &file, &id), -EINVAL);
	assert_int_equal(dwell_stacks_add_frame(stacks, 0, 1, &id), -EINVAL);
	assert_int_equal(dwell_stacks_add_node(stacks, 0, 1, &id), -EINVAL);
	assert_int_equal(id, 77);
	file.build_id_bytes = 0;
	assert_int_equal(dwell_stacks_add_file(stacks, &file, &id), 0);
	assert_int_equal(dwell_stacks_add_frame(stacks, 0, 1, &id), 0);
	assert_int_equal(id, 1);
	assert_int_equal(dwell_stacks_add_node(stacks, 0, 0, &id), -EINVAL);
	assert_int_equal(dwell_stacks_add_node(stacks, 1, 1, &id), -EINVAL);
	assert_int_equal(dwell_stacks_add_node(stacks, 0, 1, &id), 0);
	assert_int_equal(id, 1);
	assert_int_equal(dwell_stacks_frame(stacks, 2)->offset, 0);
	assert_int_equal(dwell_stacks_node(stacks, 2)->frame, 0);
	dwell_stacks_set_symbol(stacks, 2, 5);
	dwell_stacks_set_symbol(stacks, 0, 5);
	assert_int_equal(dwell_stacks_frame(stacks, 0)->symbol, 0);
}

static void many_entries_stay_distinct(void **state)
{
	struct dwell_stacks *stacks = *state;
	enum { FILES = 200, FRAMES = 100000 };
	uint32_t id, parent = 0;

	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < FILES; i++) {
			struct dwell_file file = { .path = i };

			assert_int_equal(dwell_stacks_add_file(stacks, &file, &id), 0);
			assert_int_equal(id, i);
		}
		for (uint32_t i = 0; i < FRAMES; i++) {
			assert_int_equal(dwell_stacks_add_frame(stacks, i % FILES, i / FILES, &id),
					 0);
			assert_int_equal(id, i + 1);
		}
		/* A tree: a chain of 1,000 nodes, then leaves upon each of its first nodes. */
		parent = 0;
		for (uint32_t i = 1; i <= 1000; i++) {
			assert_int_equal(dwell_stacks_add_node(stacks, parent, i, &id), 0);
			assert_int_equal(id, i);
			assert_int_equal(dwell_stacks_node(stacks, id)->parent, parent);
			parent = id;
		}
		for (uint32_t i = 0; i < FRAMES; i++) {
			assert_int_equal(
				dwell_stacks_add_node(stacks, i % 100, FRAMES - i / 100, &id), 0);
			assert_int_equal(id, 1001 + i);
		}
	}
	assert_int_equal(dwell_stacks_frame_count(stacks), FRAMES + 1);
	assert_int_equal(dwell_stacks_node_count(stacks), FRAMES + 1001);
	assert_int_equal(dwell_stacks_frame(stacks, FRAMES)->offset, (FRAMES - 1) / FILES);
	assert_int_equal(dwell_stacks_frame(stacks, FRAMES)->file, (FRAMES - 1) % FILES);
}

static void symbols_and_pseudo_frames(void **state)
{
	struct dwell_stacks *stacks = *state;
	struct dwell_strings *strings = dwell_strings_new();
	const struct dwell_file *file;
	uint32_t cut, again, other;

	assert_non_null(strings);
	assert_int_equal(dwell_stacks_add_pseudo(stacks, strings, DWELL_FRAME_TRUNCATED, &cut), 0);
	assert_int_equal(dwell_stacks_add_pseudo(stacks, strings, DWELL_FRAME_NO_STACK, &other), 0);
	assert_int_equal(dwell_stacks_add_pseudo(stacks, strings, DWELL_FRAME_TRUNCATED, &again),
			 0);
	assert_int_equal(cut, again);
	assert_int_not_equal(cut, other);
	file = dwell_stacks_file(stacks, dwell_stacks_frame(stacks, cut)->file);
	assert_int_equal(file->kind, DWELL_FILE_PSEUDO);
	assert_string_equal(dwell_strings_get(strings, file->path), DWELL_FRAME_TRUNCATED);
	dwell_stacks_set_symbol(stacks, cut, 42);
	assert_int_equal(dwell_stacks_frame(stacks, cut)->symbol, 42);
	assert_int_equal(dwell_stacks_frame(stacks, other)->symbol, 0);
	dwell_strings_free(strings);
}

static void places_of_frames(void **state)
{
	const struct dwell_place places[DWELL_PLACES_MAX + 1] = { { 7, 0, 12 }, { 8, 9, 34 } };
	struct dwell_stacks *stacks = *state;
	struct dwell_file file = { .kind = DWELL_FILE_ELF };
	const struct dwell_place *found;
	uint32_t id, frame, other, count = 5;

	assert_int_equal(dwell_stacks_add_file(stacks, &file, &id), 0);
	assert_int_equal(dwell_stacks_add_frame(stacks, id, 0x10, &frame), 0);
	assert_int_equal(dwell_stacks_add_frame(stacks, id, 0x20, &other), 0);
	assert_int_equal(dwell_stacks_set_places(stacks, frame, places, 2), 0);
	assert_int_equal(dwell_stacks_frame(stacks, frame)->symbol, 7);
	found = dwell_stacks_places(stacks, frame, &count);
	assert_int_equal(count, 2);
	assert_memory_equal(found, places, 2 * sizeof(*places));
	assert_null(dwell_stacks_places(stacks, other, &count));
	assert_int_equal(count, 0);
	/* Once, of a frame there is, and no more than can be. */
	assert_int_equal(dwell_stacks_set_places(stacks, frame, places, 1), -EINVAL);
	assert_int_equal(dwell_stacks_set_places(stacks, 0, places, 1), -EINVAL);
	assert_int_equal(dwell_stacks_set_places(stacks, other + 1, places, 1), -EINVAL);
	assert_int_equal(dwell_stacks_set_places(stacks, other, places, 0), -EINVAL);
	assert_int_equal(dwell_stacks_set_places(stacks, other, places, DWELL_PLACES_MAX + 1),
			 -EINVAL);
	assert_int_equal(dwell_stacks_set_places(stacks, other, places, DWELL_PLACES_MAX), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(files_by_identity, setup, teardown),
		cmocka_unit_test_setup_teardown(build_ids_tell_files_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(refuses_what_does_not_exist, setup, teardown),
		cmocka_unit_test_setup_teardown(many_entries_stay_distinct, setup, teardown),
		cmocka_unit_test_setup_teardown(symbols_and_pseudo_frames, setup, teardown),
		cmocka_unit_test_setup_teardown(places_of_frames, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
