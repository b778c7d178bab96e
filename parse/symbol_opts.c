// SPDX-License-Identifier: MIT
/* Options of the command line become places where symbols are looked for. */
#include "parse/symbol_opts.h"

#include <errno.h>

enum {
	OPT_SYMFS,
	OPT_KALLSYMS,
	OPT_BUILD_ID_DIR,
	OPT_PERF_MAP_DIR,
	OPT_NO_INLINE,
	OPT_SRCLINE,
	OPT_NO_DEMANGLE,
};

int symbol_opts_set(struct dwell_symbols_options *options, unsigned index, const char *value,
		    struct dwell_err *err)
{
	switch (index) {
	case OPT_SYMFS:
		options->symfs = value;
		return dwell_opt_readable(value, err);
	case OPT_KALLSYMS:
		options->kallsyms = value;
		return dwell_opt_readable(value, err);
	case OPT_BUILD_ID_DIR:
		options->build_id_dir = value;
		return dwell_opt_readable(value, err);
	case OPT_PERF_MAP_DIR:
		options->perf_map_dir = value;
		return dwell_opt_readable(value, err);
	case OPT_NO_INLINE:
		options->no_inlines = true;
		return 0;
	case OPT_SRCLINE:
		options->lines = true;
		return 0;
	case OPT_NO_DEMANGLE:
		options->raw = true;
		return 0;
	}
	return dwell_err_set(err, -EINVAL, "unknown option");
}
