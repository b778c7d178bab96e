// SPDX-License-Identifier: MIT
/* Tests of parse/elf/kallsyms.c: text in the form of /proc/kallsyms becomes functions with the
 * right ends, modules and names; hidden addresses and damaged lines are told and survived. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "parse/elf/kallsyms.h"

static const char sample[] = "ffffffff81000000 T startup_64\n"
			     "ffffffff81000000 T _stext\n"
			     "ffffffff81000000 T _text\n"
			     "0000000000001000 A percpu_thing\n"
			     "ffffffff81000100 t __pfx_do_work\n"
			     "ffffffff81000110 t do_work\n"
			     "ffffffff81000110 T __ia32_work\n"
			     "ffffffff81000200 W weak_fn\n"
			     "ffffffff81000200 T strong_fn\n"
			     "ffffffff81000300 D some_data\n"
			     "ffffffff81000400 T last_fn\n"
			     "ffffffff81001800 T _etext\n"
			     "ffffffff81005000 T _sinittext\n"
			     "ffffffffa0002080 t mod_b\t[ext4]\n"
			     "ffffffffa0002000 t mod_a\t[ext4]\n"
			     "ffffffffa0009000 t other\t[nf tables]\n"
			     "ffffffffc0001000 t bpf_prog_1234_x\t[bpf]\n";

static struct dwell_kallsyms *parse(const char *text, size_t bytes)
{
	struct dwell_kallsyms *syms;

	assert_int_equal(dwell_kallsyms_parse(text, bytes, &syms), 0);
	return syms;
}

static void assert_name(const struct dwell_kallsyms *syms, uint64_t address, const char *name)
{
	struct dwell_kernel_symbol symbol;

	if (!name) {
		assert_false(dwell_kallsyms_find(syms, address, &symbol));
		return;
	}
	assert_true(dwell_kallsyms_find(syms, address, &symbol));
	assert_string_equal(symbol.name, name);
	assert_true(symbol.start <= address && address < symbol.end);
}

static void finds_functions(void **state)
{
	struct dwell_kallsyms *syms = parse(sample, sizeof(sample) - 1);
	struct dwell_kernel_symbol symbol;

	(void)state;
	assert_false(dwell_kallsyms_hidden(syms));
	assert_int_equal(dwell_kallsyms_text(syms), 0xffffffff81000000);
	assert_name(syms, 0xffffffff80ffffff, NULL);
	assert_name(syms, 0xffffffff81000000, "startup_64");
	assert_name(syms, 0xffffffff8100010f, "startup_64");
	assert_name(syms, 0xffffffff81000110, "do_work");
	assert_name(syms, 0xffffffff810001ff, "do_work");
	assert_name(syms, 0xffffffff81000200, "strong_fn");
	assert_name(syms, 0xffffffff81000300, "strong_fn");
	assert_name(syms, 0xffffffff810017ff, "last_fn");
	assert_name(syms, 0xffffffff81001800, NULL);
	assert_name(syms, 0xffffffff81004fff, NULL);
	assert_true(dwell_kallsyms_find(syms, 0xffffffff81000250, &symbol));
	assert_string_equal(symbol.module, "");
	assert_int_equal(symbol.base, 0xffffffff81000000);
	assert_int_equal(symbol.start, 0xffffffff81000200);
	assert_int_equal(symbol.end, 0xffffffff81000400);
	dwell_kallsyms_free(syms);
}

static void modules_do_not_reach_into_each_other(void **state)
{
	struct dwell_kallsyms *syms = parse(sample, sizeof(sample) - 1);
	struct dwell_kernel_symbol symbol;

	(void)state;
	assert_name(syms, 0xffffffff81005fff, "_sinittext");
	assert_name(syms, 0xffffffff81006000, NULL);
	assert_true(dwell_kallsyms_find(syms, 0xffffffffa0002fff, &symbol));
	assert_string_equal(symbol.name, "mod_b");
	assert_string_equal(symbol.module, "ext4");
	assert_int_equal(symbol.base, 0xffffffffa0002000);
	assert_name(syms, 0xffffffffa0003000, NULL);
	assert_true(dwell_kallsyms_find(syms, 0xffffffffa0009004, &symbol));
	assert_string_equal(symbol.module, "nf tables");
	assert_true(dwell_kallsyms_find(syms, 0xffffffffc0001001, &symbol));
	assert_string_equal(symbol.module, "bpf");
	assert_name(syms, 0xffffffffc0002000, NULL);
	dwell_kallsyms_free(syms);
}

static void hidden_addresses(void **state)
{
	static const char text[] = "0000000000000000 T _text\n0000000000000000 t foo\t[ext4]\n";
	struct dwell_kallsyms *syms = parse(text, sizeof(text) - 1);

	(void)state;
	assert_true(dwell_kallsyms_hidden(syms));
	assert_int_equal(dwell_kallsyms_text(syms), 0);
	assert_name(syms, 0, NULL);
	assert_name(syms, 1, NULL);
	dwell_kallsyms_free(syms);

	syms = parse("", 0);
	assert_false(dwell_kallsyms_hidden(syms));
	assert_name(syms, 0xffffffff81000000, NULL);
	dwell_kallsyms_free(syms);
}

static void damaged_lines(void **state)
{
	static const char text[] =
		"T foo\n\n \nzz T bar\n10 T\n20 T \n30 Tx y\n40 T ok\n50 t \t[m]\n"
		"fffffffffffffff0 T top\n60 T \0\n70 T cut";
	struct dwell_kallsyms *syms = parse(text, sizeof(text) - 1);
	struct dwell_kernel_symbol symbol;

	(void)state;
	assert_name(syms, 0x20, NULL);
	assert_name(syms, 0x40, "ok");
	assert_name(syms, 0x6f, "ok");
	assert_name(syms, 0x70, "cut");
	assert_true(dwell_kallsyms_find(syms, 0xfffffffffffffff0, &symbol));
	assert_int_equal(symbol.end, UINT64_MAX);
	assert_int_equal(symbol.base, 0x40);
	dwell_kallsyms_free(syms);
}

static void aliases_do_not_depend_on_order(void **state)
{
	static const char *const lines[] = { "1000 t _b\n", "1000 W b2\n", "1000 T bbb\n",
					     "1000 t b\n", "1000 T bba\n" };
	char text[128];

	(void)state;
	for (unsigned first = 0; first < 5; first++) {
		struct dwell_kallsyms *syms;

		text[0] = '\0';
		for (unsigned i = 0; i < 5; i++)
			strcat(text, lines[(first + i * 2) % 5]);
		syms = parse(text, strlen(text));
		assert_name(syms, 0x1000, "bba");
		dwell_kallsyms_free(syms);
	}
}

static void reads_files(void **state)
{
	char path[] = "/tmp/test_kallsyms_XXXXXX";
	struct dwell_kallsyms *syms = NULL;
	struct dwell_err err = { 0 };
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, sample, sizeof(sample) - 1), sizeof(sample) - 1);
	close(fd);
	assert_int_equal(dwell_kallsyms_read(path, &syms, &err), 0);
	assert_name(syms, 0xffffffff81000111, "do_work");
	dwell_kallsyms_free(syms);
	unlink(path);
	syms = NULL;
	assert_int_equal(dwell_kallsyms_read(path, &syms, &err), -ENOENT);
	assert_null(syms);
	assert_non_null(strstr(err.msg, path));

	err = (struct dwell_err){ 0 };
	assert_int_equal(dwell_kallsyms_read("/proc/kallsyms", &syms, &err), 0);
	assert_true(dwell_kallsyms_hidden(syms) || dwell_kallsyms_text(syms));
	dwell_kallsyms_free(syms);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_functions),
		cmocka_unit_test(modules_do_not_reach_into_each_other),
		cmocka_unit_test(hidden_addresses),
		cmocka_unit_test(damaged_lines),
		cmocka_unit_test(aliases_do_not_depend_on_order),
		cmocka_unit_test(reads_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
