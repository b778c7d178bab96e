// SPDX-License-Identifier: MIT
/* Tests of lib/varint.h: numbers come back, and bytes that are no number set bad and nothing else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "lib/varint.h"

static void numbers_come_back(void **state)
{
	(void)state;
	for (unsigned bit = 0; bit <= 64; bit++) {
		for (int near = -1; near <= 1; near++) {
			uint64_t value = (bit < 64 ? 1ull << bit : 0) + (uint64_t)near;
			uint8_t bytes[DWELL_VARINT_MAX_BYTES];
			uint8_t *end = dwell_varint_put(bytes, value);
			struct dwell_cursor c = { bytes, end, false };

			assert_in_range(end - bytes, 1, DWELL_VARINT_MAX_BYTES);
			assert_true(dwell_cursor_varint(&c) == value);
			assert_true(!c.bad && c.at == end);
			/* Each byte less is too short. */
			for (uint8_t *cut = bytes; cut < end; cut++) {
				c = (struct dwell_cursor){ bytes, cut, false };
				assert_true(dwell_cursor_varint(&c) == 0);
				assert_true(c.bad && c.at == cut);
			}
			assert_true(dwell_unzigzag(dwell_zigzag((int64_t)value)) == (int64_t)value);
		}
	}
	assert_true(dwell_zigzag(-1) == 1 && dwell_zigzag(1) == 2);
	assert_true(dwell_zigzag(INT64_MIN) == UINT64_MAX);
}

static void more_than_64_bits_are_refused(void **state)
{
	static const uint8_t most[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1 };
	static const uint8_t more[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2 };
	static const uint8_t longer[] = { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
					  0x80, 0x80, 0x80, 0x80, 0 };
	struct dwell_cursor c = { most, most + sizeof(most), false };

	(void)state;
	assert_true(dwell_cursor_varint(&c) == UINT64_MAX && !c.bad);
	c = (struct dwell_cursor){ more, more + sizeof(more), false };
	assert_true(dwell_cursor_varint(&c) == 0 && c.bad);
	c = (struct dwell_cursor){ longer, longer + sizeof(longer), false };
	assert_true(dwell_cursor_varint(&c) == 0 && c.bad && c.at == c.end);
}

static void narrow_numbers_are_checked(void **state)
{
	uint8_t bytes[2 * DWELL_VARINT_MAX_BYTES];
	uint8_t *end = dwell_varint_put(dwell_varint_put(bytes, UINT32_MAX), 1ull << 32);
	struct dwell_cursor c = { bytes, end, false };

	(void)state;
	assert_true(dwell_cursor_u32(&c) == UINT32_MAX && !c.bad);
	assert_true(dwell_cursor_u32(&c) == 0 && c.bad);
}

static void bytes_within_the_end_only(void **state)
{
	static const uint8_t bytes[] = { 1, 2, 3 };
	struct dwell_cursor c = { bytes, bytes + 3, false };

	(void)state;
	assert_ptr_equal(dwell_cursor_bytes(&c, 2), bytes);
	assert_int_equal(dwell_cursor_byte(&c), 3);
	assert_ptr_equal(dwell_cursor_bytes(&c, 0), bytes + 3);
	assert_false(c.bad);
	assert_int_equal(dwell_cursor_byte(&c), 0);
	assert_true(c.bad);
	c = (struct dwell_cursor){ bytes, bytes + 3, false };
	assert_null(dwell_cursor_bytes(&c, UINT64_MAX));
	assert_true(c.bad && c.at == c.end);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_come_back),
		cmocka_unit_test(more_than_64_bits_are_refused),
		cmocka_unit_test(narrow_numbers_are_checked),
		cmocka_unit_test(bytes_within_the_end_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
