/* SPDX-License-Identifier: MIT */
/* One option table per command, over getopt_long: parsing and --help come from the same table, and
 * `make lint` holds the man pages against it. Values are parsed by the typed helpers below. */
#ifndef DWELL_LIB_OPT_H
#define DWELL_LIB_OPT_H

#include <stdint.h>
#include <stdio.h>

#include "lib/err.h"

struct dwell_opt {
	const char *name; /* long name without "--"; NULL ends the table */
	char letter;	  /* short name, 0 = none */
	const char *arg;  /* name of the argument for --help, NULL = a flag */
	const char *help; /* one line, lower case, no stop */
};

/* What a command's handler is given: index of the option in the table, and the value (NULL for a
 * flag). Returns 0, or -EINVAL with err set: "option '--x': ...". */
typedef int (*dwell_opt_fn)(void *user, unsigned index, const char *value, struct dwell_err *err);

struct dwell_opt_usage {
	const char *command; /* "record" */
	const char *line;    /* "dwell record [OPTION]... [-- COMMAND [ARG]...]" */
	const char *about;   /* one or two sentences */
};

/* Parses argv[1..]; options end at "--" or (stop_at_operand) at the first operand. Returns the
 * index of the first operand in argv, or -EINVAL with err set, or -ECANCELED when --help was
 * printed. */
int dwell_opt_parse(const struct dwell_opt *opts, const struct dwell_opt_usage *usage, int argc,
		    char **argv, int stop_at_operand, dwell_opt_fn fn, void *user,
		    struct dwell_err *err);

void dwell_opt_help(FILE *out, const struct dwell_opt *opts, const struct dwell_opt_usage *usage);

/* Typed values. Each: 0, or -EINVAL with err naming the value and what was expected. */
int dwell_opt_u64(const char *value, uint64_t min, uint64_t max, uint64_t *ret,
		  struct dwell_err *err);
/* "5" and "5s" = seconds; ns, us, ms, m, h; decimals allowed. */
int dwell_opt_time_ns(const char *value, uint64_t *ret_ns, struct dwell_err *err);
/* Bytes: "4096", "64k", "16M", "2G" (powers of 1024). */
int dwell_opt_bytes(const char *value, uint64_t *ret_bytes, struct dwell_err *err);
/* A file or folder that can be read. Nothing is returned: callers keep the name. */
int dwell_opt_readable(const char *value, struct dwell_err *err);
/* "1,2,30": calls fn for each number. */
int dwell_opt_id_list(const char *value, int (*fn)(void *user, int32_t id), void *user,
		      struct dwell_err *err);

#endif
