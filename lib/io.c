// SPDX-License-Identifier: MIT
/* File descriptors become bytes and back, whole: loops over short reads and writes. */
#include "lib/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#ifdef SYS_openat2
#include <linux/openat2.h>
#endif

int dwell_io_write(int fd, const void *bytes, size_t count)
{
	const char *at = bytes;

	while (count) {
		ssize_t n = write(fd, at, count);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		at += n;
		count -= (size_t)n;
	}
	return 0;
}

int64_t dwell_io_read(int fd, void *bytes, size_t count)
{
	size_t done = 0;

	while (done < count) {
		ssize_t n = read(fd, (char *)bytes + done, count - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (int64_t)done;
}

int dwell_io_read_file(const char *path, size_t max_bytes, char **ret_text, size_t *ret_bytes)
{
	size_t room = max_bytes < 4096 ? max_bytes + 1 : 4096, used = 0;
	char *text = NULL, *grown;
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;

	if (fd < 0)
		return -errno;
	for (;;) {
		int64_t n;

		grown = realloc(text, room + 1);
		if (!grown) {
			rc = -ENOMEM;
			break;
		}
		text = grown;
		n = dwell_io_read(fd, text + used, room - used);
		if (n < 0) {
			rc = (int)n;
			break;
		}
		used += (size_t)n;
		if (used > max_bytes) {
			rc = -EFBIG;
			break;
		}
		if (used < room)
			break;
		/* One byte more than allowed tells a file that is too large. */
		room = room < max_bytes / 2 ? room * 2 : max_bytes + 1;
	}
	close(fd);
	if (rc) {
		free(text);
		return rc;
	}
	text[used] = '\0';
	*ret_text = text;
	*ret_bytes = used;
	return 0;
}

int64_t dwell_io_read_small(const char *path, char *text, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int64_t n;

	if (fd < 0)
		return -errno;
	n = dwell_io_read(fd, text, room - 1);
	close(fd);
	if (n >= 0)
		text[n] = '\0';
	return n;
}

/* Opens for reading what `place` (taken over; a negative one is an errno) holds, if it is a regular
 * file. */
static int place_open(int place)
{
	char name[32];
	struct stat st;
	int fd;

	if (place < 0)
		return place;
	if (fstat(place, &st) || !S_ISREG(st.st_mode)) {
		close(place);
		return -EINVAL;
	}
	snprintf(name, sizeof(name), "/proc/self/fd/%d", place);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	close(place);
	return fd;
}

int dwell_io_open_regular(const char *path, int flags)
{
	int place = open(path, O_PATH | O_CLOEXEC | flags); /* opens nothing, only holds it */
	int fd = place_open(place < 0 ? -errno : place);

	/* No /proc here: as good as it gets. */
	if (fd == -ENOENT && place >= 0) {
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);
		fd = fd < 0 ? -errno : fd;
	}
	return fd;
}

int dwell_io_open_below(int root, const char *path, int flags)
{
	int place = -1;

#ifdef SYS_openat2
	struct open_how how = { .flags = (uint64_t)(O_PATH | O_CLOEXEC | flags),
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };

	place = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	if (place >= 0 || (errno != ENOSYS && errno != EPERM))
		return place_open(place < 0 ? -errno : place);
#endif
	path += strspn(path, "/");
	place = openat(root, *path ? path : ".", O_PATH | O_CLOEXEC | O_NOFOLLOW);
	return place_open(place < 0 ? -errno : place);
}

uint64_t dwell_io_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
