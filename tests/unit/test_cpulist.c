// SPDX-License-Identifier: MIT
/* Tests of record/cpulist.c: lists as users and sysfs write them, and what is none. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "record/cpulist.h"

static void on_cpu(void *user, uint32_t cpu)
{
	char *text = user;

	snprintf(text + strlen(text), 64 - strlen(text), "%u ", cpu);
}

static void lists(void **state)
{
	static const struct {
		const char *list, *cpus;
	} good[] = {
		{ "0", "0 " }, { "0-3\n", "0 1 2 3 " }, { "0,2-3,7", "0 2 3 7 " }, { "7-7\n", "7 " }
	};
	static const char *const bad[] = { "",	  "\n",	  "garbage", "0-",   "-1", "1-0",
					   "0,x", "0-3x", " 0",	     "0, 1", "8",  "0-8" };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		char text[64] = "";

		assert_int_equal(cpulist_each(good[i].list, 8, on_cpu, text), 0);
		assert_string_equal(text, good[i].cpus);
		assert_int_equal(cpulist_each(good[i].list, 8, NULL, NULL), 0);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(cpulist_each(bad[i], 8, NULL, NULL), -EINVAL);
}

static void this_machine(void **state)
{
	char text[64] = "";

	(void)state;
	if (cpulist_read("online", 1 << 16, on_cpu, text) == -ENOENT)
		skip();
	assert_true(strlen(text) > 0);
	assert_int_equal(cpulist_read("no-such-list", 8, NULL, NULL), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists),
		cmocka_unit_test(this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
