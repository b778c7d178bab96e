// SPDX-License-Identifier: MIT
/* Results become files that are known to be written, errors become one line and a status. */
#include "report/command.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

int command_fail(const struct dwell_err *err, int status)
{
	fprintf(stderr, "dwell: %s\n", err->msg);
	return status;
}

int command_output_open(const char *path, FILE **ret_out, struct dwell_err *err)
{
	/* A reader that has seen enough (`| head`) ends us quietly, even where the parent ignores
	 * SIGPIPE and hands that on. */
	signal(SIGPIPE, SIG_DFL);
	if (!path || !strcmp(path, "-")) {
		*ret_out = stdout;
		return 0;
	}
	*ret_out = fopen(path, "we");
	return *ret_out ? 0 : dwell_err_sys(err, -errno, "cannot write '%s'", path);
}

int command_output_close(FILE *out, const char *path, struct dwell_err *err)
{
	int failed = ferror(out), cause = EIO;

	errno = 0;
	if (fflush(out)) {
		failed = 1;
		cause = errno ? errno : EIO;
	}
	if (out != stdout && fclose(out) && !failed) {
		failed = 1;
		cause = errno ? errno : EIO;
	}
	if (failed)
		return dwell_err_sys(err, -cause, "cannot write '%s'",
				     out == stdout ? "standard output" : path);
	return 0;
}
