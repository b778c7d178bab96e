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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_open_regular) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
