// SPDX-License-Identifier: MIT
/* Facts of a recording become the options that tell the search for symbols which machine and which
 * kernel to believe in. */
#include "parse/recorded.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void dwell_recorded_options(const struct dwell_source *source, const char *path,
			    struct dwell_symbols_options *options)
{
	const char *text = dwell_source_fact(source, "kernel.text");
	struct stat st;

	options->host_name = dwell_source_fact(source, "host.name");
	options->machine = dwell_source_fact(source, "arch");
	options->kernel_release = dwell_source_fact(source, "kernel.release");
	options->kcore_dir = dwell_source_fact(source, "kernel.kcore_dir");
	options->kernel_text = text ? strtoull(text, NULL, 16) : 0;
	options->path = path && strcmp(path, "-") != 0 ? path : NULL;
	options->recorded_ns = 0;
	if (path && strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode))
		options->recorded_ns =
			(uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
}

int dwell_recorded_binaries(struct dwell_source *source, const char *path,
			    const struct dwell_symbols_options *options, struct dwell_err *err)
{
	struct dwell_symbols_options all = *options;
	int rc;

	dwell_recorded_options(source, path, &all);
	rc = dwell_source_binaries(source, &all);
	return rc ? dwell_err_sys(err, rc, "cannot read '%s'", path) : 0;
}
