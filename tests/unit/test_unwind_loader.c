// SPDX-License-Identifier: MIT
/* Tests of parse/elf/unwind_loader.c: tables made beside are those made at once, and what nobody
 * takes is freed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/io.h"
#include "parse/elf/unwind_loader.h"

#define MINUTE_NS 60000000000ull

static void give(struct unwind_loader *loader, uint32_t key)
{
	struct image image;

	assert_int_equal(image_open("/proc/self/exe", &image), 0);
	assert_int_equal(unwind_loader_give(loader, key, &image), 0);
	assert_null(image.elf);
}

static void tables_come_in_order(void **state)
{
	struct unwind_loader *loader = unwind_loader_new();
	struct dwell_unwind_table *table, *at_once;
	struct image image;
	uint32_t key;

	(void)state;
	assert_non_null(loader);
	/* Nobody waits for what is not to come. */
	assert_false(unwind_loader_take(loader, dwell_io_now_ns() + MINUTE_NS, &key, &table));
	assert_int_equal(image_open("/proc/self/exe", &image), 0);
	assert_int_equal(dwell_unwind_table_new(image.elf, &at_once, NULL), 0);
	image_close(&image);
	for (uint32_t i = 1; i <= 3; i++)
		give(loader, i);
	for (uint32_t i = 1; i <= 3; i++) {
		assert_true(
			unwind_loader_take(loader, dwell_io_now_ns() + MINUTE_NS, &key, &table));
		assert_int_equal(key, i);
		assert_non_null(table);
		assert_int_equal(dwell_unwind_table_stats(table)->rows,
				 dwell_unwind_table_stats(at_once)->rows);
		dwell_unwind_table_free(table);
	}
	assert_false(unwind_loader_take(loader, dwell_io_now_ns() + MINUTE_NS, &key, &table));
	dwell_unwind_table_free(at_once);
	unwind_loader_free(loader);
}

/* An ELF file of another machine has no table; a sanitizer sees what is left behind. */
static void others_have_none(void **state)
{
	static const unsigned char header[64] = {
		0x7f, 'E', 'L', 'F', 2, 1, 1, [16] = 3, [18] = 22, [20] = 1, [52] = 64,
	};
	struct unwind_loader *loader = unwind_loader_new();
	void *bytes = malloc(sizeof(header));
	struct dwell_unwind_table *table;
	struct image image;
	uint32_t key;

	(void)state;
	assert_non_null(bytes);
	memcpy(bytes, header, sizeof(header));
	assert_int_equal(image_open_owned(bytes, sizeof(header), &image), 0);
	assert_int_equal(unwind_loader_give(loader, 7, &image), 0);
	assert_true(unwind_loader_take(loader, dwell_io_now_ns() + MINUTE_NS, &key, &table));
	assert_int_equal(key, 7);
	assert_null(table);
	give(loader, 8);
	give(loader, 9);
	unwind_loader_free(loader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_come_in_order),
		cmocka_unit_test(others_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
