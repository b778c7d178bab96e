// SPDX-License-Identifier: MIT
/* An option table becomes parsed options and --help text. */
#include "lib/opt.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPTS_MAX = 96, HELP_COLUMN = 32, LONG_BASE = 256 };

static int opt_count(const struct dwell_opt *opts)
{
	int n = 0;

	while (opts[n].name)
		n++;
	return n;
}

void dwell_opt_help(FILE *out, const struct dwell_opt *opts, const struct dwell_opt_usage *usage)
{
	fprintf(out, "usage: %s\n\n%s\n\noptions:\n", usage->line, usage->about);
	for (; opts->name; opts++) {
		char left[80];

		snprintf(left, sizeof(left), "  %c%c%s --%s%s%s", opts->letter ? '-' : ' ',
			 opts->letter ? opts->letter : ' ', opts->letter ? "," : " ", opts->name,
			 opts->arg ? " " : "", opts->arg ? opts->arg : "");
		if (strlen(left) >= HELP_COLUMN)
			fprintf(out, "%s\n%*s%s\n", left, HELP_COLUMN, "", opts->help);
		else
			fprintf(out, "%-*s%s\n", HELP_COLUMN, left, opts->help);
	}
	fprintf(out, "  -h, --help%*sthis text\n", HELP_COLUMN - 12, "");
}

/* The table as getopt_long wants it: long options numbered from LONG_BASE. */
static void opt_tables(const struct dwell_opt *opts, int count, int stop_at_operand,
		       struct option *longs, char *shorts)
{
	*shorts++ = stop_at_operand ? '+' : '-';
	*shorts++ = ':';
	for (int i = 0; i < count; i++) {
		longs[i] = (struct option){ opts[i].name, opts[i].arg ? required_argument : 0, NULL,
					    LONG_BASE + i };
		if (!opts[i].letter)
			continue;
		*shorts++ = opts[i].letter;
		if (opts[i].arg)
			*shorts++ = ':';
	}
	*shorts++ = 'h';
	*shorts = '\0';
	longs[count] = (struct option){ "help", 0, NULL, 'h' };
	longs[count + 1] = (struct option){ 0 };
}

/* getopt_long's ':' and '?', with what it left in optopt: a letter, the number of a long option, or
 * 0 for a long one that does not exist. */
static int opt_mistake(int c, const char *word, const struct dwell_opt_usage *usage,
		       struct dwell_err *err)
{
	char letter[3] = { '-', (char)optopt, '\0' };
	bool is_letter = optopt > 0 && optopt < LONG_BASE;
	const char *name = is_letter ? letter : word;

	return dwell_err_set(err, -EINVAL, "%s '%s'%s; see 'dwell %s --help'",
			     c == ':' || optopt >= LONG_BASE ? "option" : "unknown option", name,
			     c == ':'		   ? " needs a value"
			     : optopt >= LONG_BASE ? " takes no value"
						   : "",
			     usage->command);
}

int dwell_opt_parse(const struct dwell_opt *opts, const struct dwell_opt_usage *usage, int argc,
		    char **argv, int stop_at_operand, dwell_opt_fn fn, void *user,
		    struct dwell_err *err)
{
	struct option longs[OPTS_MAX + 2];
	char shorts[2 * OPTS_MAX + 8];
	int count = opt_count(opts), c, operands = 1;

	if (count > OPTS_MAX)
		return dwell_err_set(err, -EINVAL, "too many options in a table");
	opt_tables(opts, count, stop_at_operand, longs, shorts);
	opterr = 0;
	optind = 0;
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		int index = -1;

		if (c == 1) { /* an operand between options: keep it, in order, at the front */
			argv[operands++] = optarg;
			continue;
		}
		if (c == 'h') {
			dwell_opt_help(stdout, opts, usage);
			return -ECANCELED;
		}
		if (c == '?' || c == ':')
			return opt_mistake(c, argv[optind - 1], usage, err);
		for (int i = 0; i < count && index < 0; i++)
			if (c == LONG_BASE + i || c == opts[i].letter)
				index = i;
		if (index < 0)
			return dwell_err_set(err, -EINVAL, "unknown option");
		c = fn(user, (unsigned)index, optarg, err);
		if (c) {
			if (err && err->code)
				dwell_err_wrap(err, "option '--%s'", opts[index].name);
			return c;
		}
	}
	if (stop_at_operand)
		return optind;
	/* Operands met so far were moved to argv[1..]; close the hole up to the rest. */
	for (int from = optind, to = operands; from <= argc; from++, to++)
		argv[to] = from < argc ? argv[from] : NULL;
	return 1;
}

int dwell_opt_u64(const char *value, uint64_t min, uint64_t max, uint64_t *ret,
		  struct dwell_err *err)
{
	char *end;
	unsigned long long number;

	errno = 0;
	number = strtoull(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno || number < min || number > max)
		return dwell_err_set(err, -EINVAL,
				     "'%s' is not a whole number between %llu and %llu", value,
				     (unsigned long long)min, (unsigned long long)max);
	*ret = number;
	return 0;
}

/* A decimal number and its unit from a table of {name, factor}; "" is the default unit. */
struct unit {
	const char *name;
	double factor;
};

static int opt_with_unit(const char *value, const struct unit *units, const char *what,
			 uint64_t *ret, struct dwell_err *err)
{
	const char *past = value + strspn(value, "0123456789.");
	char *end;
	double number = strtod(value, &end);

	if (end == past && end != value) { /* no sign, exponent, inf or hexadecimal */
		for (; units->name; units++) {
			double scaled = number * units->factor;

			if (strcmp(end, units->name))
				continue;
			if (!(scaled >= 0 && scaled < 9e18))
				break;
			*ret = (uint64_t)(scaled + 0.5);
			return 0;
		}
	}
	return dwell_err_set(err, -EINVAL, "'%s' is not %s", value, what);
}

int dwell_opt_time_ns(const char *value, uint64_t *ret_ns, struct dwell_err *err)
{
	static const struct unit units[] = { { "", 1e9 },     { "s", 1e9 },    { "ms", 1e6 },
					     { "us", 1e3 },   { "ns", 1 },     { "m", 60e9 },
					     { "min", 60e9 }, { "h", 3600e9 }, { NULL, 0 } };

	return opt_with_unit(value, units, "a time such as 10s, 1.5m, 200ms, 50us", ret_ns, err);
}

int dwell_opt_bytes(const char *value, uint64_t *ret_bytes, struct dwell_err *err)
{
	static const struct unit units[] = { { "", 1 },	      { "k", 0x1p10 }, { "K", 0x1p10 },
					     { "M", 0x1p20 }, { "G", 0x1p30 }, { "T", 0x1p40 },
					     { NULL, 0 } };

	return opt_with_unit(value, units, "a size such as 4096, 64k, 16M, 2G", ret_bytes, err);
}

int dwell_opt_readable(const char *value, struct dwell_err *err)
{
	if (access(value, R_OK) == 0)
		return 0;
	dwell_err_sys(err, -errno, "cannot read '%s'", value);
	return -EINVAL;
}

int dwell_opt_id_list(const char *value, int (*fn)(void *user, int32_t id), void *user,
		      struct dwell_err *err)
{
	const char *at = value;

	for (;;) {
		char *end;
		long id = strtol(at, &end, 10);
		int rc;

		if (*at < '0' || *at > '9' || id <= 0 || id > INT32_MAX || (*end && *end != ','))
			return dwell_err_set(err, -EINVAL,
					     "'%s' is not a list of ids such as 12,34", value);
		rc = fn(user, (int32_t)id);
		if (rc)
			return dwell_err_sys(err, rc, "'%s'", value);
		if (!*end)
			return 0;
		at = end + 1;
	}
}
