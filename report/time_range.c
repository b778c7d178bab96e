// SPDX-License-Identifier: MIT
/* The two ends of --time become ns on the trace's clock: offsets, shares of the window, wall-clock
 * times, or perf's timestamps. */
#include "report/time_range.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/opt.h"

#define NS_PER_S 1000000000ull

bool time_range_needs_end(const char *text)
{
	return strchr(text, '%');
}

static int bad_time(const char *text, struct dwell_err *err)
{
	return dwell_err_set(err, -EINVAL,
			     "'%s' is not a time such as 2s, 10%%, 14:30:05 or 8123.456789", text);
}

/* ".25" and the like: a fraction of a second in ns; digits beyond the ninth are cut. */
static int parse_fraction(const char *text, uint64_t *ret_ns)
{
	uint64_t ns = 0, unit = NS_PER_S / 10;

	if (*text && *text != '.')
		return -EINVAL;
	for (text += *text == '.'; *text; text++, unit /= 10) {
		if (*text < '0' || *text > '9')
			return -EINVAL;
		ns += (uint64_t)(*text - '0') * unit;
	}
	*ret_ns = ns;
	return 0;
}

/* HH:MM:SS[.frac] on the day of the recording; before the start by more than half a day means the
 * day after (a recording over midnight). */
static int parse_clock(const char *text, const struct time_base *base, uint64_t *ret_ns,
		       struct dwell_err *err)
{
	time_t start_s = (time_t)(base->realtime_ns / NS_PER_S);
	int hour, minute, second, used = 0;
	uint64_t fraction_ns, at_ns, half_day_ns = 12 * 3600 * NS_PER_S;
	struct tm day;

	if (sscanf(text, "%2d:%2d:%2d%n", &hour, &minute, &second, &used) != 3 || hour < 0 ||
	    hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60 ||
	    parse_fraction(text + used, &fraction_ns))
		return bad_time(text, err);
	if (!base->realtime_ns || !localtime_r(&start_s, &day))
		return dwell_err_set(err, -EINVAL,
				     "'%s': the recording does not tell its wall-clock time", text);
	day.tm_hour = hour;
	day.tm_min = minute;
	day.tm_sec = second;
	day.tm_isdst = -1;
	at_ns = (uint64_t)mktime(&day) * NS_PER_S + fraction_ns;
	if (at_ns + half_day_ns < base->realtime_ns)
		at_ns += 2 * half_day_ns;
	if (at_ns < base->realtime_ns)
		*ret_ns = base->start_ns > base->realtime_ns - at_ns
				  ? base->start_ns - (base->realtime_ns - at_ns)
				  : 0;
	else
		*ret_ns = base->start_ns + (at_ns - base->realtime_ns);
	return 0;
}

static int parse_point(const char *text, const struct time_base *base, uint64_t *ret_ns,
		       struct dwell_err *err)
{
	char *end;
	uint64_t number, fraction_ns, ns;

	if (*text < '0' || *text > '9')
		return bad_time(text, err);
	if (strchr(text, ':'))
		return parse_clock(text, base, ret_ns, err);
	if (text[strlen(text) - 1] == '%') {
		double share = strtod(text, &end) / 100;

		if (strcmp(end, "%") || !(share >= 0 && share <= 1))
			return bad_time(text, err);
		*ret_ns = base->start_ns +
			  (uint64_t)((double)(base->end_ns - base->start_ns) * share);
		return 0;
	}
	number = strtoull(text, &end, 10);
	if (!parse_fraction(end, &fraction_ns) && number < UINT64_MAX / NS_PER_S - 1) {
		ns = number * NS_PER_S + fraction_ns;
		/* perf prints microseconds: a start rounded down is still the start. */
		*ret_ns = ns + 1000 > base->start_ns ? ns : base->start_ns + ns;
		return 0;
	}
	if (dwell_opt_time_ns(text, &ns, NULL))
		return bad_time(text, err);
	*ret_ns = base->start_ns + ns;
	return 0;
}

/* Cuts "FROM,TO" (or "FROM-TO") into its points, "" for one left out. */
struct time_points {
	char text[128];
	const char *from, *to;
};

static int split_range(const char *text, struct time_points *points, struct dwell_err *err)
{
	char *comma;

	if (strlen(text) < sizeof(points->text)) {
		strcpy(points->text, text);
		comma = strpbrk(points->text, ",-");
		if (comma && strlen(text) > 1) {
			*comma = '\0';
			points->from = points->text;
			points->to = comma + 1;
			return 0;
		}
	}
	return dwell_err_set(err, -EINVAL, "'%s' is not FROM,TO", text);
}

/* Points of one kind can be compared whatever the recording's time is, but for clock times: the
 * second may be of the day after. */
static bool comparable(const char *from, const char *to)
{
	char a = from[strlen(from) - 1], b = to[strlen(to) - 1];
	bool bare_a = (a >= '0' && a <= '9') || a == '.',
	     bare_b = (b >= '0' && b <= '9') || b == '.';

	return !strchr(from, ':') && !strchr(to, ':') && bare_a == bare_b &&
	       (a == '%') == (b == '%');
}

static int backwards(const char *text, struct dwell_err *err)
{
	return dwell_err_set(err, -EINVAL, "'%s' ends before it starts", text);
}

int time_range_check(const char *text, struct dwell_err *err)
{
	struct time_base any = { .start_ns = 0, .end_ns = NS_PER_S, .realtime_ns = 1 };
	struct time_points points;
	uint64_t from_ns = 0, to_ns = 0;
	int rc = split_range(text, &points, err);

	if (!rc && *points.from)
		rc = parse_point(points.from, &any, &from_ns, err);
	if (!rc && *points.to)
		rc = parse_point(points.to, &any, &to_ns, err);
	if (!rc && *points.from && *points.to && comparable(points.from, points.to) &&
	    to_ns <= from_ns)
		return backwards(text, err);
	return rc;
}

int time_range_resolve(const char *text, const struct time_base *base, uint64_t *ret_from_ns,
		       uint64_t *ret_to_ns, struct dwell_err *err)
{
	struct time_points points;
	uint64_t from_ns = 0, to_ns = 0;
	int rc = split_range(text, &points, err);

	if (!rc && *points.from)
		rc = parse_point(points.from, base, &from_ns, err);
	if (!rc && *points.to)
		rc = parse_point(points.to, base, &to_ns, err);
	if (rc)
		return rc;
	if (*points.to && to_ns <= from_ns)
		return backwards(text, err);
	*ret_from_ns = from_ns;
	*ret_to_ns = to_ns;
	return 0;
}
