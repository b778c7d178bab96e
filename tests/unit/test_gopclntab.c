// SPDX-License-Identifier: MIT
/* Tests of parse/elf/gopclntab.c: tables of every form, byte order and pointer size that Go wrote
 * become symbols, and what cannot be right becomes none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "parse/elf/gopclntab.h"

enum { TEXT = 0x401000, NAMES_AT = 0x100, RECORDS_AT = 0x200, BYTES = 0x400 };

struct form {
	uint32_t magic;
	unsigned word;
	bool swapped, has_text, split;
};

static uint8_t bytes[BYTES];

static void put(const struct form *form, uint64_t at, unsigned count, uint64_t value)
{
	for (unsigned i = 0; i < count; i++)
		bytes[at + (form->swapped ? count - 1 - i : i)] = (uint8_t)(value >> 8 * i);
}

/* Two functions: one of 0x40 bytes at TEXT, and one of 0x10 behind it. */
static void make(const struct form *form)
{
	static const char *const names[] = { "main.one", "main.(*T).two" };
	static const uint64_t starts[] = { 0, 0x40, 0x50 };
	unsigned entry = form->split ? 4 : form->word, word = form->word;
	bool old = form->magic == 0xfffffffb;
	uint64_t records_at = old ? 0 : RECORDS_AT, at = old ? 8 + word : RECORDS_AT;
	unsigned first = form->split ? 3 : 2;

	memset(bytes, 0, sizeof(bytes));
	put(form, 0, 4, form->magic);
	bytes[6] = 1;
	bytes[7] = (uint8_t)word;
	put(form, 8, word, 2);
	if (!old) {
		put(form, 8 + word, word, 1);
		if (form->split)
			put(form, 8 + 2 * word, word, form->has_text ? TEXT : 0);
		put(form, 8 + first * word, word, NAMES_AT);
		put(form, 8 + (first + 4) * word, word, RECORDS_AT);
	}
	for (unsigned i = 0; i < 3; i++) {
		uint64_t start = starts[i] + (form->split ? 0 : TEXT);
		uint64_t record = 0x300 + 0x20 * i - records_at, name = NAMES_AT + 0x20 * i;

		put(form, at + 2 * i * entry, entry, start);
		if (i == 2)
			break;
		put(form, at + (2 * i + 1) * entry, entry, record);
		put(form, records_at + record, entry, start);
		put(form, records_at + record + entry, 4, old ? name : name - NAMES_AT);
		memcpy(bytes + name, names[i], strlen(names[i]) + 1);
	}
}

static void forms(void **state)
{
	static const struct form all[] = {
		{ 0xfffffffb, 8, false, false, false }, { 0xfffffffb, 4, true, false, false },
		{ 0xfffffffa, 8, false, false, false }, { 0xfffffffa, 8, true, false, false },
		{ 0xfffffff0, 8, false, true, true },	{ 0xfffffff0, 4, true, true, true },
		{ 0xfffffff1, 8, false, true, true },	{ 0xfffffff1, 8, false, false, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct symlist list = { 0 };

		make(&all[i]);
		assert_int_equal(gopclntab_read(bytes, sizeof(bytes), TEXT, &list), 0);
		assert_int_equal(list.all.count, 2);
		assert_int_equal(list.all.data[0].start, TEXT);
		assert_int_equal(list.all.data[0].end, TEXT + 0x40);
		assert_string_equal(list.all.data[0].name, "main.one");
		assert_int_equal(list.all.data[1].start, TEXT + 0x40);
		assert_int_equal(list.all.data[1].end, TEXT + 0x50);
		assert_string_equal(list.all.data[1].name, "main.(*T).two");
		dwell_array_release(&list.all);
	}
}

/* Cut at any byte, and with any byte changed: fewer symbols, never others' bytes. */
static void damage(void **state)
{
	static const struct form form = { 0xfffffff1, 8, false, true, true };

	(void)state;
	for (uint64_t count = 0; count < BYTES; count++) {
		struct symlist list = { 0 };

		make(&form);
		assert_int_equal(gopclntab_read(bytes, count, TEXT, &list), 0);
		assert_true(list.all.count <= 2);
		dwell_array_release(&list.all);
	}
	for (uint64_t at = 0; at < BYTES; at++) {
		struct symlist list = { 0 };

		make(&form);
		bytes[at] ^= 0xff;
		assert_int_equal(gopclntab_read(bytes, sizeof(bytes), TEXT, &list), 0);
		for (uint32_t i = 0; i < list.all.count; i++)
			assert_true(list.all.data[i].start < list.all.data[i].end &&
				    strlen(list.all.data[i].name) < BYTES);
		dwell_array_release(&list.all);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms),
		cmocka_unit_test(damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
