// SPDX-License-Identifier: MIT
/* Error messages: what failed, subject, cause become one bounded line. The first cause wins, so
 * unwinding code may report again without hiding where the trouble began. */
#include "lib/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/text.h"

static int err_vset(struct dwell_err *err, int code, const char *cause, const char *fmt, va_list ap)
{
	char line[sizeof(err->msg)];

	if (!err || err->code)
		return code;
	vsnprintf(line, sizeof(line), fmt, ap);
	dwell_printable(err->msg, sizeof(err->msg), line);
	if (cause) {
		size_t used = strlen(err->msg);

		snprintf(err->msg + used, sizeof(err->msg) - used, ": %s", cause);
	}
	err->code = code;
	return code;
}

int dwell_err_set(struct dwell_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_vset(err, code, NULL, fmt, ap);
	va_end(ap);
	return code;
}

int dwell_err_sys(struct dwell_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_vset(err, code, strerror(-code), fmt, ap);
	va_end(ap);
	return code;
}

int dwell_err_wrap(struct dwell_err *err, const char *fmt, ...)
{
	char what[256], raw[256], old[sizeof(err->msg)];
	va_list ap;

	if (!err)
		return 0;
	va_start(ap, fmt);
	vsnprintf(raw, sizeof(raw), fmt, ap);
	va_end(ap);
	dwell_printable(what, sizeof(what), raw);
	memcpy(old, err->msg, sizeof(old));
	snprintf(err->msg, sizeof(err->msg), "%.200s: %.300s", what, old);
	return err->code;
}

char *dwell_printable(char *dst, unsigned long dst_bytes, const char *src)
{
	dwell_text_clean(dst, dst_bytes, src, "?");
	return dst;
}
