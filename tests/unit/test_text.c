// SPDX-License-Identifier: MIT
/* Bytes that a terminal would obey become harmless, in names and in messages; what is good UTF-8
 * stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/err.h"
#include "lib/text.h"

static void test_clean(void **state)
{
	static const struct {
		const char *raw, *clean;
	} cases[] = {
		{ "worker", "worker" },
		{ "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
		  "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80" },
		{ "\x1b[2J\n\t\x7f", "?[2J???" },
		{ "\xc2\x9b"
		  "31m\xc2\x85",
		  "?31m?" }, /* CSI and NEL in UTF-8 */
		{ "\x9b"
		  "31m",
		  "!31m" },				       /* CSI in one byte */
		{ "\xc0\xaf\xe0\x80\x80", "!!!!!" },	       /* overlong */
		{ "\xed\xa0\x80\xf4\x90\x80\x80", "!!!!!!!" }, /* surrogate, too large */
		{ "cut\xe2\x82", "cut!!" },
	};
	char text[64];

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(dwell_text_clean(text, sizeof(text), cases[i].raw, "!"),
				 strlen(cases[i].clean));
		assert_string_equal(text, cases[i].clean);
	}
	/* Never half a character, and room for the end. */
	assert_int_equal(dwell_text_clean(text, 3, "a\xc3\xa9", "?"), 1);
	assert_string_equal(text, "a");
	assert_int_equal(dwell_text_clean(text, 3, "\xff", "\xef\xbf\xbd"), 0);
	assert_string_equal(text, "");
}

static void test_messages(void **state)
{
	struct dwell_err err = { 0 };

	(void)state;
	dwell_err_set(&err, -1, "cannot read '%s'", "\x1b]0;\x07\n\xc2\x9b\x9b");
	assert_string_equal(err.msg, "cannot read '?]0;?"
				     "??"
				     "?'");
	dwell_err_wrap(&err, "in '%s'", "a\nb\x9b");
	assert_string_equal(err.msg, "in 'a?b?': cannot read '?]0;?"
				     "??"
				     "?'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean),
		cmocka_unit_test(test_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
