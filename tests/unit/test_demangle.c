// SPDX-License-Identifier: MIT
/* Tests of demangling: C++ and both Rust manglings become readable, other names are left alone, and
 * names made to expand without end are given up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "parse/elf/symbols.h"

static void assert_demangled(const char *name, const char *readable)
{
	char *text = dwell_demangle(name);

	if (readable) {
		assert_non_null(text);
		assert_string_equal(text, readable);
	} else {
		assert_null(text);
	}
	free(text);
}

static void readable_names(void **state)
{
	(void)state;
	assert_demangled("_ZN3foo3barEi", "foo::bar");
	assert_demangled("_ZNSt6vectorIiSaIiEE9push_backERKi",
			 "std::vector<int, std::allocator<int> >::push_back");
	assert_demangled("_Z4swapIiEvRT_S1_", "swap<int>");
	assert_demangled("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
			 "core::fmt::Write::write_fmt");
	assert_demangled("_RNvC6_123foo3bar", "123foo::bar");
	assert_demangled("_RNvMs_NtCs1234_7mycrate3fooNtB4_3Bar3run", "<mycrate::foo::Bar>::run");
	/* Identifiers, constants and disambiguators may look like binders of many lifetimes. */
	assert_demangled("_RNvC4G_xx9GLOBAL_ID", "G_xx::GLOBAL_ID");
	/* So many lifetimes that nobody waits for them, in a part that is not printed. */
	assert_null(dwell_demangle("_RNvMINvC1a1bFGzzzzzzzzz_EuEu3foo"));
	assert_demangled("_ZN3FoocviEv", "Foo::operator int");
	assert_demangled("_ZN3fooEv.cold", "foo");
}

static void other_names(void **state)
{
	(void)state;
	assert_demangled("", NULL);
	assert_demangled("main", NULL);
	assert_demangled("_start", NULL);
	assert_demangled("_Z", NULL);
	assert_demangled("_R", NULL);
	assert_demangled("_ZN9999foo", NULL);
	assert_demangled("foo::bar(int)", NULL);
	assert_demangled("i", NULL);
}

/* f<A<int, int>, B<A, A>, B<B<A, A>, ...>>: each argument is twice as long as the one before. */
static void doubling_name(char *name, int levels)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	strcpy(name, "_Z1fI1AIiiE");
	for (int level = 0; level < levels; level++) {
		int id = 2 * level + 1; /* of the argument before, among the substitutions */
		char text[3] = { digits[id / 36], digits[id % 36], '\0' };
		const char *shortest = id < 36 ? text + 1 : text;

		sprintf(name + strlen(name), "1BIS%s_S%s_E", shortest, shortest);
	}
	strcat(name, "Evv");
}

static void exploding_name(void **state)
{
	char name[2048];
	char *text;

	(void)state;
	doubling_name(name, 8);
	text = dwell_demangle(name);
	assert_non_null(text);
	assert_true(strlen(text) > 2048 && strlen(text) < 16384);
	free(text);
	doubling_name(name, 60);
	assert_true(strlen(name) < 1024);
	assert_demangled(name, NULL);
}

static void deep_and_long_names(void **state)
{
	static char name[5000];
	char *text;

	(void)state;
	memset(name, 'P', sizeof(name) - 1);
	memcpy(name, "_Z1f", 4);
	name[4095] = 'i';
	name[4096] = '\0';
	free(dwell_demangle(name)); /* to return at all is the test */
	name[4096] = 'i';
	name[4097] = '\0';
	assert_demangled(name, NULL);
	memset(name, 'a', sizeof(name) - 1);
	memcpy(name, "_ZN3000", 7);
	strcpy(name + 7 + 3000, "Ev");
	text = dwell_demangle(name);
	assert_non_null(text);
	assert_int_equal(strlen(text), 3000);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readable_names),
		cmocka_unit_test(other_names),
		cmocka_unit_test(exploding_name),
		cmocka_unit_test(deep_and_long_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
