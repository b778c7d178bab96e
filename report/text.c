// SPDX-License-Identifier: MIT
/* Text is fitted to columns; integers become durations, counts, sizes and shares that a person
 * reads at a glance. */
#include "report/text.h"

#include <stdio.h>
#include <string.h>

size_t text_columns(const char *text)
{
	size_t columns = 0;

	for (; *text; text++)
		columns += (*text & 0xc0) != 0x80;
	return columns;
}

void text_fit(char *dst, size_t dst_bytes, const char *src, size_t columns)
{
	size_t have = text_columns(src), keep = have > columns ? columns - 1 : have, used = 0;

	while (*src && (keep || (*src & 0xc0) == 0x80) && used + 1 < dst_bytes) {
		if ((*src & 0xc0) != 0x80)
			keep--;
		dst[used++] = *src++;
	}
	if (have > columns && used + 1 < dst_bytes)
		dst[used++] = '~';
	for (; have < columns && used + 1 < dst_bytes; have++)
		dst[used++] = ' ';
	dst[used] = '\0';
}

char *text_duration(char dst[TEXT_NUMBER_BYTES], uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" }, { 1, "ns" } };
	uint64_t s = ns / 1000000000;
	unsigned i = 0;

	if (s >= 3600) {
		snprintf(dst, TEXT_NUMBER_BYTES, "%llu h %llu min", (unsigned long long)(s / 3600),
			 (unsigned long long)(s / 60 % 60));
		return dst;
	}
	if (s >= 60) {
		snprintf(dst, TEXT_NUMBER_BYTES, "%llu min %llu s", (unsigned long long)(s / 60),
			 (unsigned long long)(s % 60));
		return dst;
	}
	while (i < 3 && ns < units[i].ns)
		i++;
	if (ns / units[i].ns < 10 && i < 3)
		snprintf(dst, TEXT_NUMBER_BYTES, "%llu.%llu %s",
			 (unsigned long long)(ns / units[i].ns),
			 (unsigned long long)(ns % units[i].ns * 10 / units[i].ns), units[i].name);
	else
		snprintf(dst, TEXT_NUMBER_BYTES, "%llu %s", (unsigned long long)(ns / units[i].ns),
			 units[i].name);
	return dst;
}

char *text_count(char dst[TEXT_NUMBER_BYTES], uint64_t count)
{
	char digits[TEXT_NUMBER_BYTES];
	int bytes = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count), used = 0;

	for (int i = 0; i < bytes; i++) {
		if (i && (bytes - i) % 3 == 0)
			dst[used++] = ',';
		dst[used++] = digits[i];
	}
	dst[used] = '\0';
	return dst;
}

char *text_bytes(char dst[TEXT_NUMBER_BYTES], uint64_t bytes)
{
	static const char *const units[] = { "kB", "MB", "GB", "TB" };
	double value = (double)bytes / 1e3;
	unsigned i = 0;

	if (bytes < 1000) {
		snprintf(dst, TEXT_NUMBER_BYTES, "%llu B", (unsigned long long)bytes);
		return dst;
	}
	for (; value >= 999.5 && i < 3; i++)
		value /= 1e3;
	snprintf(dst, TEXT_NUMBER_BYTES, value < 9.95 ? "%.1f %s" : "%.0f %s", value, units[i]);
	return dst;
}

char *text_share(char dst[TEXT_NUMBER_BYTES], uint64_t part, uint64_t whole)
{
	double percent = whole ? 100.0 * (double)part / (double)whole : 0;

	if (!part)
		strcpy(dst, "0%");
	else if (part == whole)
		strcpy(dst, "100%");
	else if (percent < 0.1)
		strcpy(dst, "<0.1%");
	else if (percent < 9.95)
		snprintf(dst, TEXT_NUMBER_BYTES, "%.1f%%", percent);
	else if (percent < 99)
		snprintf(dst, TEXT_NUMBER_BYTES, "%.0f%%", percent);
	else if (percent < 99.9)
		snprintf(dst, TEXT_NUMBER_BYTES, "%.1f%%", percent);
	else
		strcpy(dst, ">99.9%");
	return dst;
}
