// SPDX-License-Identifier: MIT
/* Tests of lib/opt.c: options in any place, operands in order, values with their units, and
 * messages that name the word at fault. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/array.h"
#include "lib/opt.h"

static const struct dwell_opt opts[] = {
	{ "all", 'a', NULL, "everything" },
	{ "output", 'o', "FILE", "where to" },
	{ "long-only", 0, "N", "no letter" },
	{ "an-option-with-a-rather-long-name", 0, "VALUE", "in two lines" },
	{ 0 },
};

static const struct dwell_opt_usage usage = { "test", "dwell test [OPTION]...", "Tests." };

struct parsed {
	char log[256]; /* "all output=x " */
	struct dwell_err err;
	int rc;
	char *argv[16];
	int argc;
};

static int take(void *user, unsigned index, const char *value, struct dwell_err *err)
{
	struct parsed *p = user;
	size_t used = strlen(p->log);

	if (value && !strcmp(value, "bad"))
		return dwell_err_set(err, -EINVAL, "'%s' is not good", value);
	snprintf(p->log + used, sizeof(p->log) - used, "%s%s%s ", opts[index].name,
		 value ? "=" : "", value ? value : "");
	return 0;
}

/* Parses words separated by blanks. */
static void parse(struct parsed *p, const char *words, int stop_at_operand)
{
	static char text[256], name[] = "test";
	char *rest = text, *word;

	*p = (struct parsed){ .argc = 1, .argv = { name } };
	snprintf(text, sizeof(text), "%s", words);
	while ((word = strsep(&rest, " ")) != NULL)
		if (*word)
			p->argv[p->argc++] = word;
	p->rc = dwell_opt_parse(opts, &usage, p->argc, p->argv, stop_at_operand, take, p, &p->err);
}

static void assert_operands(const struct parsed *p, const char *const *operands)
{
	int i = p->rc;

	assert_true(p->rc >= 1);
	for (; *operands; operands++, i++)
		assert_string_equal(p->argv[i], *operands);
	assert_null(p->argv[i]);
}

static void options_stand_anywhere(void **state)
{
	struct parsed p;

	(void)state;
	parse(&p, "one -a two --output=x three -oy --long-only 5 -- -a four", 0);
	assert_string_equal(p.log, "all output=x output=y long-only=5 ");
	assert_operands(&p, (const char *const[]){ "one", "two", "three", "-a", "four", NULL });
	parse(&p, "", 0);
	assert_operands(&p, (const char *const[]){ NULL });
	parse(&p, "-ao x -", 0);
	assert_string_equal(p.log, "all output=x ");
	assert_operands(&p, (const char *const[]){ "-", NULL });
	parse(&p, "--out x", 0); /* a beginning that is not ambiguous */
	assert_string_equal(p.log, "output=x ");
}

static void a_command_keeps_its_own_options(void **state)
{
	struct parsed p;

	(void)state;
	parse(&p, "-a ls -a --output=x", 1);
	assert_string_equal(p.log, "all ");
	assert_operands(&p, (const char *const[]){ "ls", "-a", "--output=x", NULL });
	parse(&p, "-a -- ls -a", 1);
	assert_operands(&p, (const char *const[]){ "ls", "-a", NULL });
}

static void assert_message(const char *words, const char *message)
{
	struct parsed p;

	parse(&p, words, 0);
	assert_int_equal(p.rc, -EINVAL);
	assert_int_equal(p.err.code, -EINVAL);
	assert_string_equal(p.err.msg, message);
}

static void mistakes_name_the_word(void **state)
{
	(void)state;
	assert_message("--nope", "unknown option '--nope'; see 'dwell test --help'");
	assert_message("-x", "unknown option '-x'; see 'dwell test --help'");
	assert_message("-xa", "unknown option '-x'; see 'dwell test --help'");
	assert_message("-ax", "unknown option '-x'; see 'dwell test --help'");
	assert_message("one --nope=5 two", "unknown option '--nope=5'; see 'dwell test --help'");
	assert_message("-o", "option '-o' needs a value; see 'dwell test --help'");
	assert_message("-ao", "option '-o' needs a value; see 'dwell test --help'");
	assert_message("--output", "option '--output' needs a value; see 'dwell test --help'");
	assert_message("-o bad", "option '--output': 'bad' is not good");
	assert_message("--all=5", "option '--all=5' takes no value; see 'dwell test --help'");
}

/* The column of what, in a text where `before` stands at the beginning of its line or of the one
 * above. */
static size_t column(const char *text, const char *before, const char *what)
{
	const char *at = strstr(text, before), *line;

	assert_non_null(at);
	assert_int_equal(at[-1], '\n');
	line = at;
	at = strstr(at, what);
	assert_non_null(at);
	for (const char *p = line; p < at; p++)
		line = *p == '\n' ? p + 1 : line;
	assert_true(at - line < 80);
	return (size_t)(at - line);
}

static void help_has_every_option(void **state)
{
	char *text = NULL;
	size_t bytes, help;
	FILE *out = open_memstream(&text, &bytes);

	(void)state;
	assert_non_null(out);
	dwell_opt_help(out, opts, &usage);
	fclose(out);
	assert_ptr_equal(strstr(text, "usage: dwell test [OPTION]...\n\nTests.\n"), text);
	help = column(text, "  -a, --all ", "everything\n");
	assert_int_equal(column(text, "  -o, --output FILE ", "where to\n"), help);
	assert_int_equal(column(text, "      --long-only N ", "no letter\n"), help);
	assert_int_equal(column(text, "      --an-option-with-a-rather-long-name VALUE\n",
				"in two lines\n"),
			 help);
	assert_int_equal(column(text, "  -h, --help ", "this text\n"), help);
	free(text);
}

static void whole_numbers(void **state)
{
	static const char *const bad[] = { "",	   "-1",  "+5", " 5", "5 ",
					   "0x10", "5.0", "21", "4",  "99999999999999999999999" };
	struct dwell_err err = { 0 };
	uint64_t n = 77;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(dwell_opt_u64(bad[i], 5, 20, &n, &err), -EINVAL);
		assert_int_equal(n, 77);
	}
	assert_string_equal(err.msg, "'' is not a whole number between 5 and 20");
	assert_int_equal(dwell_opt_u64("20", 5, 20, &n, &err), 0);
	assert_int_equal(n, 20);
	assert_int_equal(dwell_opt_u64("18446744073709551615", 0, UINT64_MAX, &n, &err), 0);
	assert_true(n == UINT64_MAX);
}

static void times_and_sizes(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} times[] = { { "5", 5000000000 },     { "5s", 5000000000 },
		      { "1.5m", 90000000000 }, { "2min", 120000000000 },
		      { "1h", 3600000000000 }, { "200ms", 200000000 },
		      { "50us", 50000 },       { "7ns", 7 },
		      { ".5", 500000000 },     { "0", 0 } };
	static const char *const bad[] = { "",	  "s",	  "-5",	 "5 s",	  "5x",		 "nan",
					   "inf", "1e99", "5ss", "0x5s ", "10000000000h" };
	uint64_t n = 77;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(dwell_opt_time_ns(bad[i], &n, NULL), -EINVAL);
		assert_int_equal(dwell_opt_bytes(bad[i], &n, NULL), -EINVAL);
		assert_int_equal(n, 77);
	}
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		assert_int_equal(dwell_opt_time_ns(times[i].text, &n, NULL), 0);
		assert_true(n == times[i].ns);
	}
	assert_int_equal(dwell_opt_bytes("4096", &n, NULL), 0);
	assert_int_equal(n, 4096);
	assert_int_equal(dwell_opt_bytes("64k", &n, NULL), 0);
	assert_int_equal(n, 65536);
	assert_int_equal(dwell_opt_bytes("1.5G", &n, NULL), 0);
	assert_true(n == 3ull << 29);
}

typedef DWELL_ARRAY(int32_t) ids_t;

static int id_take(void *user, int32_t id)
{
	ids_t *ids = user;

	if (id == 13)
		return -ESRCH;
	assert_int_equal(dwell_array_grow(ids), 0);
	ids->data[ids->count++] = id;
	return 0;
}

static void lists_of_ids(void **state)
{
	static const char *const bad[] = { "",
					   ",",
					   "1,",
					   ",1",
					   "1,,2",
					   "1 2",
					   "0",
					   "-1",
					   "1;2",
					   "2147483648",
					   "99999999999999999999" };
	struct dwell_err err = { 0 };
	ids_t ids = { 0 };

	(void)state;
	assert_int_equal(dwell_opt_id_list("1,22,2147483647", id_take, &ids, &err), 0);
	assert_int_equal(ids.count, 3);
	assert_true(ids.data[0] == 1 && ids.data[1] == 22 && ids.data[2] == INT32_MAX);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(dwell_opt_id_list(bad[i], id_take, &ids, NULL), -EINVAL);
	assert_int_equal(dwell_opt_id_list("12,13", id_take, &ids, &err), -ESRCH);
	assert_string_equal(err.msg, "'12,13': No such process");
	dwell_array_release(&ids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_stand_anywhere),
		cmocka_unit_test(a_command_keeps_its_own_options),
		cmocka_unit_test(mistakes_name_the_word),
		cmocka_unit_test(help_has_every_option),
		cmocka_unit_test(whole_numbers),
		cmocka_unit_test(times_and_sizes),
		cmocka_unit_test(lists_of_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
