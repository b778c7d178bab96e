// SPDX-License-Identifier: MIT
/* A path becomes a fresh file of the recorder's own. What stood there before is kept as .old, and
 * symbolic links are never followed. */
#include "record/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int file_keep_old(const char *path, struct dwell_err *err)
{
	char old[PATH_MAX];

	if ((size_t)snprintf(old, sizeof(old), "%s.old", path) >= sizeof(old))
		return dwell_err_sys(err, -ENAMETOOLONG, "cannot create '%s'", path);
	if (rename(path, old))
		return dwell_err_sys(err, -errno, "cannot keep '%s' as '%s.old'", path, path);
	return 0;
}

/* A device or a pipe that was there: in a folder that others may write to, somebody may wait for
 * what threads of root do. */
static int existing_check(const char *path, const struct stat *st, struct dwell_err *err)
{
	if (S_ISFIFO(st->st_mode) && st->st_uid != geteuid())
		return dwell_err_set(err, -EPERM,
				     "cannot write '%s': the pipe belongs to another user", path);
	return 0;
}

/* What is open now may be another thing than what was looked at, and is written to as it is. */
static int opened_check(const char *path, int fd, struct dwell_err *err)
{
	struct stat st;

	if (fstat(fd, &st))
		return dwell_err_sys(err, -errno, "cannot create '%s'", path);
	if (S_ISREG(st.st_mode))
		return dwell_err_sys(err, -EEXIST, "cannot create '%s'", path);
	return existing_check(path, &st, err);
}

int trace_file_create(const char *path, int *ret_fd, struct dwell_err *err)
{
	int flags = O_WRONLY | O_CLOEXEC | O_NOFOLLOW, fd, rc;
	struct stat st;

	if (path[0] == '-' && !path[1]) {
		if (isatty(STDOUT_FILENO))
			return dwell_err_set(err, -EINVAL,
					     "a trace is not for a terminal; name a file with -o");
		fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		if (fd < 0)
			return dwell_err_sys(err, -errno, "cannot write standard output");
		*ret_fd = fd;
		return 0;
	}
	if (lstat(path, &st) == 0) {
		if (S_ISLNK(st.st_mode))
			return dwell_err_set(err, -ELOOP,
					     "cannot create '%s': it is a symbolic link", path);
		if (S_ISDIR(st.st_mode))
			return dwell_err_sys(err, -EISDIR, "cannot create '%s'", path);
		rc = S_ISREG(st.st_mode) ? file_keep_old(path, err)
					 : existing_check(path, &st, err);
		if (rc)
			return rc;
		if (S_ISREG(st.st_mode))
			flags |= O_CREAT | O_EXCL;
	} else {
		flags |= O_CREAT | O_EXCL;
	}
	fd = open(path, flags, 0600);
	if (fd < 0)
		return dwell_err_sys(err, -errno, "cannot create '%s'", path);
	rc = flags & O_EXCL ? 0 : opened_check(path, fd, err);
	if (rc) {
		close(fd);
		return rc;
	}
	*ret_fd = fd;
	return 0;
}
