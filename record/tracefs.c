// SPDX-License-Identifier: MIT
/* tracefs becomes a descriptor, a tracepoint's name becomes its format text. */
#include "record/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/io.h"

enum { FORMAT_MAX_BYTES = 64 << 10 };

#define TRACEFS_PATH "/sys/kernel/tracing"

/* Is this folder a tracefs that we may read? */
static int tracefs_try(const char *path)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (faccessat(fd, "events/sched/sched_switch/format", R_OK, AT_EACCESS)) {
		int rc = -errno;

		close(fd);
		return rc;
	}
	return fd;
}

/* A mount without a place in the file tree. */
static int tracefs_mount_detached(void)
{
#if defined(SYS_fsopen) && defined(SYS_fsconfig) && defined(SYS_fsmount)
	enum { CLOEXEC = 1, CMD_CREATE = 6 }; /* FSOPEN_CLOEXEC, FSCONFIG_CMD_CREATE */
	int context = (int)syscall(SYS_fsopen, "tracefs", CLOEXEC), fd = -1;

	if (context < 0)
		return -errno;
	if (syscall(SYS_fsconfig, context, CMD_CREATE, NULL, NULL, 0) == 0)
		fd = (int)syscall(SYS_fsmount, context, CLOEXEC, 0);
	if (fd < 0)
		fd = -errno;
	close(context);
	return fd;
#else
	return -ENOSYS;
#endif
}

int tracefs_open(int *ret_fd, struct dwell_err *err)
{
	int fd = tracefs_try(TRACEFS_PATH), other;

	if (fd < 0) {
		other = tracefs_try("/sys/kernel/debug/tracing");
		fd = other >= 0 ? other : fd;
	}
	if (fd < 0 && fd != -EACCES)
		fd = tracefs_mount_detached();
	if (fd < 0 && fd != -EACCES && mount("nodev", TRACEFS_PATH, "tracefs", 0, NULL) == 0)
		fd = tracefs_try(TRACEFS_PATH);
	if (fd == -EACCES)
		return dwell_err_set(err, fd,
				     "cannot read tracefs: Permission denied; run as root, or give "
				     "CAP_PERFMON and 'chmod -R a+rX " TRACEFS_PATH "'");
	if (fd < 0)
		return dwell_err_set(err, fd,
				     "cannot mount tracefs: %s; run as root, or "
				     "'mount -t tracefs nodev " TRACEFS_PATH "'",
				     strerror(-fd));
	*ret_fd = fd;
	return 0;
}

int tracefs_format(int tracefs_fd, const char *name, char **ret_text, struct dwell_err *err)
{
	char path[128], *text;
	int64_t n;
	int fd;

	snprintf(path, sizeof(path), "events/%s/format", name);
	fd = openat(tracefs_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return dwell_err_sys(err, -errno, "cannot read the format of tracepoint '%s'",
				     name);
	text = malloc(FORMAT_MAX_BYTES);
	n = text ? dwell_io_read(fd, text, FORMAT_MAX_BYTES - 1) : -ENOMEM;
	close(fd);
	if (n < 0) {
		free(text);
		return dwell_err_sys(err, (int)n, "cannot read the format of tracepoint '%s'",
				     name);
	}
	text[n] = '\0';
	*ret_text = text;
	return 0;
}
