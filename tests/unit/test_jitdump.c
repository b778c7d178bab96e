// SPDX-License-Identifier: MIT
/* Tests of jit-PID.dump files: what stood at an address when, of both byte orders and of files that
 * are cut or lie; and whose files are believed. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "parse/elf/jitdump.h"
#include "tests/unit/jitmake.h"

/* The bytes as an open file. */
static int file_of(const struct jitmake *make, size_t bytes)
{
	int fd = memfd_create("jitdump", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, make->bytes, bytes), bytes);
	return fd;
}

static int read_cut(const struct jitmake *make, size_t bytes, struct dwell_jitdump **ret_dump)
{
	uint64_t budget = UINT64_MAX;
	int rc;

	assert_int_equal(dwell_jitdump_new(file_of(make, bytes), ret_dump), 0);
	rc = dwell_jitdump_more(*ret_dump, &budget);
	if (rc)
		dwell_jitdump_free(*ret_dump);
	return rc;
}

static struct dwell_jitdump *read_all(const struct jitmake *make)
{
	struct dwell_jitdump *dump;

	assert_int_equal(read_cut(make, make->used, &dump), 0);
	return dump;
}

/* What stands at address in the order of epochs: "first, second". */
static void assert_at(const struct dwell_jitdump *dump, uint64_t address, const char *expected)
{
	char text[256] = "";
	size_t used = 0;

	for (uint32_t epoch = 0; epoch < 8; epoch++) {
		const char *name = dwell_jitdump_find(dump, epoch, address);

		if (name)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
						 used ? ", " : "", name);
	}
	assert_string_equal(text, expected);
}

/* The changes up to then: "40 1000-1010 1; ". */
static void assert_changes(struct dwell_jitdump *dump, uint64_t until_ns, const char *expected)
{
	struct dwell_jit_change change;
	char text[256] = "";
	size_t used = 0;

	while (dwell_jitdump_change(dump, until_ns, &change))
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%llu %llx-%llx %u; ",
					 (unsigned long long)change.time_ns,
					 (unsigned long long)change.start,
					 (unsigned long long)change.end, change.epoch);
	assert_string_equal(text, expected);
}

static void code_by_address_and_time(void **state)
{
	static struct jitmake make;

	(void)state;
	for (int swapped = 0; swapped < 2; swapped++) {
		struct dwell_jitdump *dump;

		jitmake_begin(&make, swapped, 0);
		jitmake_load(&make, 10, 0x1000, 0x100, "first");
		jitmake_other(&make, 2, 24); /* DEBUG_INFO */
		jitmake_other(&make, 4, 40); /* UNWINDING_INFO */
		jitmake_load(&make, 20, 0x1080, 0x100, "second");
		jitmake_load(&make, 30, 0x7f0000001000, 0x10, "far");
		jitmake_move(&make, 40, 0x7f0000001000, 0x1000, 0x10);
		jitmake_other(&make, 3, 0); /* CLOSE */
		dump = read_all(&make);
		assert_at(dump, 0xfff, "");
		assert_at(dump, 0x1000, "first, far");
		assert_at(dump, 0x1010, "first");
		assert_at(dump, 0x1080, "first, second");
		assert_at(dump, 0x1100, "second");
		assert_at(dump, 0x117f, "second");
		assert_at(dump, 0x1180, "");
		assert_at(dump, 0x7f000000100f, "far");
		assert_changes(dump, 19, "");
		assert_changes(dump, 20, "20 1080-1180 1; ");
		assert_changes(dump, 39, "");
		assert_changes(dump, 100, "40 1000-1010 1; ");
		assert_changes(dump, 100, "");
		assert_int_equal(dwell_jitdump_late(dump), 0);
		dwell_jitdump_free(dump);
	}
}

/* Told again is no change; threads write a little out of order, and one time knows an order too. */
static void the_same_name_again(void **state)
{
	static struct jitmake make;
	struct dwell_jitdump *dump;

	(void)state;
	jitmake_begin(&make, false, 0);
	jitmake_load(&make, 30, 0x1000, 0x10, "late");
	jitmake_load(&make, 10, 0x1000, 0x10, "f");
	jitmake_load(&make, 20, 0x1000, 0x10, "f");
	jitmake_load(&make, 40, 0x1000, 0x10, "for a moment");
	jitmake_load(&make, 40, 0x1000, 0x10, "f");
	dump = read_all(&make);
	assert_at(dump, 0x1000, "f, late, for a moment, f");
	assert_changes(dump, UINT64_MAX, "30 1000-1010 1; 40 1000-1010 2; 40 1000-1010 3; ");
	dwell_jitdump_free(dump);
}

/* A file that is still written, or whose writer was killed. */
static void cut_files(void **state)
{
	static struct jitmake make;
	struct dwell_jitdump *dump;
	size_t whole;

	(void)state;
	jitmake_begin(&make, false, 0);
	jitmake_load(&make, 10, 0x1000, 0x10, "first");
	whole = make.used;
	jitmake_load(&make, 20, 0x2000, 0x10, "second");
	for (size_t bytes = 0; bytes < make.used; bytes++) {
		assert_int_equal(read_cut(&make, bytes, &dump), 0);
		assert_at(dump, 0x1000, bytes < whole ? "" : "first");
		assert_at(dump, 0x2000, "");
		dwell_jitdump_free(dump);
	}
}

static void a_file_that_grows(void **state)
{
	static struct jitmake make;
	uint64_t budget = UINT64_MAX;
	struct dwell_jitdump *dump;
	size_t done = 0, step = 7;
	int fd = memfd_create("jitdump", MFD_CLOEXEC), writer = dup(fd);

	(void)state;
	jitmake_begin(&make, false, 0);
	jitmake_load(&make, 10, 0x1000, 0x10, "first");
	jitmake_load(&make, 20, 0x1000, 0x10, "second");
	assert_int_equal(dwell_jitdump_new(fd, &dump), 0);
	while (done < make.used) {
		if (step > make.used - done)
			step = make.used - done;
		assert_int_equal(write(writer, make.bytes + done, step), step);
		done += step;
		assert_int_equal(dwell_jitdump_more(dump, &budget), 0);
	}
	assert_at(dump, 0x1000, "first, second");
	assert_changes(dump, 50, "20 1000-1010 1; ");
	/* What happened at 50 has been named by then: this comes too late for it. */
	make.used = 0;
	jitmake_load(&make, 45, 0x1000, 0x10, "third");
	jitmake_load(&make, 45, 0x3000, 0x10, "where none was");
	jitmake_load(&make, 60, 0x1000, 0x10, "fourth");
	assert_int_equal(write(writer, make.bytes, make.used), make.used);
	close(writer);
	assert_int_equal(dwell_jitdump_more(dump, &budget), 0);
	assert_int_equal(dwell_jitdump_late(dump), 1);
	assert_changes(dump, 50, "45 1000-1010 2; ");
	assert_changes(dump, 60, "60 1000-1010 3; ");
	dwell_jitdump_free(dump);
}

static void files_that_lie(void **state)
{
	static struct jitmake make;
	struct dwell_jitdump *dump;

	(void)state;
	jitmake_begin(&make, false, 1);
	assert_int_equal(read_cut(&make, make.used, &dump), -EOPNOTSUPP);
	jitmake_begin(&make, false, 0);
	make.bytes[0] = 'X';
	assert_int_equal(read_cut(&make, make.used, &dump), -EINVAL);
	assert_int_equal(read_cut(&make, 4, &dump), -EINVAL);
	/* Code beyond the end of all addresses, of no bytes, of too many, without a name; a record
	 * that is smaller than its header ends the file. */
	jitmake_begin(&make, false, 0);
	jitmake_load(&make, 10, UINT64_MAX - 4, 0x10, "wraps");
	jitmake_load(&make, 10, 0x1000, 0, "empty");
	jitmake_load(&make, 10, 0x1000, 0x10, "");
	jitmake_move(&make, 10, 0x9999, 0x1000, 0x10);
	jitmake_load(&make, 10, 0x2000, 0x10, "good");
	jitmake_move(&make, 10, 0x2000, 0x1000, (uint64_t)1 << 40);
	jitmake_record(&make, 0, 15, 20);
	jitmake_load(&make, 30, 0x3000, 0x10, "never read");
	dump = read_all(&make);
	assert_at(dump, UINT64_MAX - 4, "");
	assert_at(dump, 0x1000, "");
	assert_at(dump, 0x2000, "good");
	assert_at(dump, 0x3000, "");
	dwell_jitdump_free(dump);
}

static void no_more_is_read_than_allowed(void **state)
{
	static struct jitmake make;
	struct dwell_jitdump *dump;
	uint64_t budget = 200;

	(void)state;
	jitmake_begin(&make, false, 0);
	jitmake_load(&make, 10, 0x1000, 0x10, "first");
	jitmake_load(&make, 20, 0x2000, 0x1000, "second");
	assert_int_equal(dwell_jitdump_new(file_of(&make, make.used), &dump), 0);
	assert_int_equal(dwell_jitdump_more(dump, &budget), 0);
	assert_int_equal(budget, 0);
	assert_at(dump, 0x1000, "first");
	assert_int_equal(dwell_jitdump_more(dump, &budget), 0);
	assert_at(dump, 0x2000, "");
	dwell_jitdump_free(dump);
}

/* Epochs come to an end: the last one has the latest name. */
static void an_address_used_without_end(void **state)
{
	static struct jitmake make;
	struct dwell_jit_change change = { 0 };
	struct dwell_jitdump *dump;
	char name[8];

	(void)state;
	jitmake_begin(&make, false, 0);
	for (unsigned i = 0; i < DWELL_JIT_EPOCHS + 10; i++) {
		snprintf(name, sizeof(name), "%u", i);
		jitmake_load(&make, i, 0x1000, 1, name);
	}
	dump = read_all(&make);
	assert_string_equal(dwell_jitdump_find(dump, 7, 0x1000), "7");
	assert_string_equal(dwell_jitdump_find(dump, DWELL_JIT_EPOCHS, 0x1000), "1033");
	while (dwell_jitdump_change(dump, UINT64_MAX, &change))
		;
	assert_int_equal(change.epoch, DWELL_JIT_EPOCHS);
	dwell_jitdump_free(dump);
}

static void whose_names_and_files(void **state)
{
	char path[] = "/tmp/dwell-test-jitdump-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	unlink(path);
	assert_true(dwell_jitdump_named("/tmp/.debug/jit/x/jit-4711.dump"));
	assert_true(dwell_jitdump_named("jit-1.dump"));
	assert_false(dwell_jitdump_named("/tmp/jit-.dump"));
	assert_false(dwell_jitdump_named("/tmp/jit-1.dump (deleted)"));
	assert_false(dwell_jitdump_named("/tmp/jit-1a.dump"));
	assert_false(dwell_jitdump_named("/jit-1.dump/x"));
	assert_int_equal(dwell_jitdump_owner(fd, geteuid() + 1), 0);
	if (!geteuid() && !fchown(fd, 4242, 4242)) {
		assert_int_equal(dwell_jitdump_owner(fd, 4243), -EPERM);
		assert_int_equal(dwell_jitdump_owner(fd, 4242), 0);
	}
	close(fd);
	fd = memfd_create("x", 0);
	close(fd);
	assert_int_equal(dwell_jitdump_owner(fd, 0), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_by_address_and_time),
		cmocka_unit_test(the_same_name_again),
		cmocka_unit_test(cut_files),
		cmocka_unit_test(a_file_that_grows),
		cmocka_unit_test(files_that_lie),
		cmocka_unit_test(no_more_is_read_than_allowed),
		cmocka_unit_test(an_address_used_without_end),
		cmocka_unit_test(whose_names_and_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
