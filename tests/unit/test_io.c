// SPDX-License-Identifier: MIT
/* Paths of strangers become descriptors of regular files only; whatever else stands there is not
 * even opened, as an inotify watch sees. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/io.h"

static void test_open_regular(void **state)
{
	char folder[] = "/tmp/dwell-test-XXXXXX", byte, event[4096];
	int fd, watch;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	fd = open("file", O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	assert_int_equal(symlink("file", "link"), 0);
	assert_int_equal(mkfifo("pipe", 0600), 0);

	watch = inotify_init1(IN_NONBLOCK);
	assert_true(inotify_add_watch(watch, ".", IN_OPEN) > 0);
	fd = dwell_io_open_regular("file", 0);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, &byte, 1), 1);
	close(fd);
	fd = dwell_io_open_regular("link", 0);
	assert_true(fd >= 0);
	close(fd);
	assert_true(read(watch, event, sizeof(event)) > 0); /* so the watch can see */
	assert_int_equal(dwell_io_open_regular("link", O_NOFOLLOW), -EINVAL);
	assert_int_equal(dwell_io_open_regular("pipe", 0), -EINVAL);
	assert_int_equal(dwell_io_open_regular("nothing", 0), -ENOENT);
	assert_int_equal(dwell_io_open_regular("/dev/null", 0), -EINVAL);
	assert_int_equal(read(watch, event, sizeof(event)), -1);
	assert_int_equal(errno, EAGAIN);
	close(watch);
	unlink("file");
	unlink("link");
	unlink("pipe");
	rmdir(folder);
}

/* Links lead to what they lead to from within that root, if to anything. */
static void test_open_below(void **state)
{
	char folder[] = "/tmp/dwell-test-XXXXXX", text[8] = "";
	int root, fd;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(mkdir("tmp", 0700), 0);
	fd = open("tmp/file", O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, "inside", 6), 6);
	close(fd);
	assert_int_equal(symlink("/tmp/file", "tmp/link"), 0);
	assert_int_equal(symlink("/etc/passwd", "tmp/outside"), 0);
	assert_int_equal(symlink("../../../../etc", "etc"), 0);
	assert_int_equal(mkfifo("tmp/pipe", 0600), 0);
	root = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(root >= 0);
	fd = dwell_io_open_below(root, "/tmp/file", O_NOFOLLOW);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, text, sizeof(text) - 1), 6);
	assert_string_equal(text, "inside");
	close(fd);
	assert_int_equal(dwell_io_open_below(root, "/tmp/pipe", O_NOFOLLOW), -EINVAL);
	assert_int_equal(dwell_io_open_below(root, "/tmp/nothing", O_NOFOLLOW), -ENOENT);
	assert_true(dwell_io_open_below(root, "/tmp/link", O_NOFOLLOW) < 0);
	assert_true(dwell_io_open_below(root, "/tmp/outside", 0) < 0);
	assert_true(dwell_io_open_below(root, "/tmp/outside", O_NOFOLLOW) < 0);
	assert_true(dwell_io_open_below(root, "/etc/passwd", O_NOFOLLOW) < 0);
	close(root);
	unlink("tmp/file");
	unlink("tmp/link");
	unlink("tmp/outside");
	unlink("tmp/pipe");
	unlink("etc");
	rmdir("tmp");
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_open_regular),
					    cmocka_unit_test(test_open_below) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
