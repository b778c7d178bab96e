/* SPDX-License-Identifier: MIT */
/* What a recording tells of the machine it was made on, for the search for symbols. */
#ifndef DWELL_PARSE_RECORDED_H
#define DWELL_PARSE_RECORDED_H

#include "parse/elf/symbols.h"
#include "parse/source.h"

/* Fills the members of options that the recording decides, from the facts "host.name",
 * "arch", "kernel.release", "kernel.text" (hexadecimal) and "kernel.kcore_dir", and the
 * place and time of the file at path ("-" or NULL = not told). Strings are the source's. */
void dwell_recorded_options(const struct dwell_source *source, const char *path,
			    struct dwell_symbols_options *options);

/* dwell_source_binaries() with these options and what the recording decides. 0, or -errno with err
 * set. */
int dwell_recorded_binaries(struct dwell_source *source, const char *path,
			    const struct dwell_symbols_options *options, struct dwell_err *err);

#endif
