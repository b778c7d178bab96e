// SPDX-License-Identifier: MIT
/* Results become files that are known to be written, errors become one line and a status. */
#include "lib/command.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

int dwell_command_fail(const struct dwell_err *err, int status)
{
	fprintf(stderr, "dwell: %s\n", err->msg);
	return status;
}

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && S_ISREG(x.st_mode) && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

int dwell_output_open(const char *path, const char *input, FILE **ret_out, struct dwell_err *err)
{
	/* A reader that has seen enough (`| head`) ends us quietly, even where the parent ignores
	 * SIGPIPE and hands that on. */
	signal(SIGPIPE, SIG_DFL);
	if (!path || !strcmp(path, "-")) {
		*ret_out = stdout;
		return 0;
	}
	if (same_file(path, input))
		return dwell_err_set(err, -EINVAL, "cannot write '%s': it is the recording itself",
				     path);
	*ret_out = fopen(path, "we");
	return *ret_out ? 0 : dwell_err_sys(err, -errno, "cannot write '%s'", path);
}

int dwell_output_close(FILE *out, const char *path, struct dwell_err *err)
{
	bool failed = ferror(out);
	int cause = 0;

	if (failed) { /* long ago, errno is gone: one more byte tells why */
		clearerr(out);
		putc('\n', out);
	}
	if (fflush(out)) {
		failed = true;
		cause = errno;
	}
	if (out != stdout && fclose(out)) {
		failed = true;
		cause = cause ? cause : errno;
	}
	if (failed)
		return dwell_err_sys(err, cause ? -cause : -EIO, "cannot write '%s'",
				     out == stdout ? "standard output" : path);
	return 0;
}
