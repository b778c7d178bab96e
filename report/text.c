// SPDX-License-Identifier: MIT
/* Text is fitted to columns; integers become durations, counts, sizes and shares that a person
 * reads at a glance. */
#include "report/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/text.h"

/* The code point of the valid character at p, and its length. */
static uint32_t utf8_decode(const char *p, size_t *ret_bytes)
{
	const unsigned char *u = (const unsigned char *)p;
	size_t bytes = u[0] < 0xc0 ? 1 : u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : 4;
	uint32_t code = bytes < 2 ? u[0] : u[0] & (0xffu >> (bytes + 1));

	for (size_t i = 1; i < bytes && u[i]; i++)
		code = code << 6 | (u[i] & 0x3f);
	*ret_bytes = strnlen(p, bytes);
	return code;
}

/* Terminals give East Asian characters and pictographs two columns and combining marks none; the C
 * library's wcwidth() would ask the locale, which is not set. */
static size_t code_columns(uint32_t code)
{
	static const struct {
		uint32_t first, last, columns;
	} ranges[] = {
		{ 0x300, 0x36f, 0 },   { 0x1100, 0x115f, 2 },	{ 0x200b, 0x200f, 0 },
		{ 0x2e80, 0xa4cf, 2 }, { 0xac00, 0xd7a3, 2 },	{ 0xf900, 0xfaff, 2 },
		{ 0xfe00, 0xfe0f, 0 }, { 0xfe30, 0xfe6f, 2 },	{ 0xff00, 0xff60, 2 },
		{ 0xffe0, 0xffe6, 2 }, { 0x1f300, 0x1faff, 2 }, { 0x20000, 0x3fffd, 2 },
	};

	for (unsigned i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return ranges[i].columns;
	return 1;
}

size_t text_columns_of(const char *text, size_t count)
{
	size_t columns = 0, bytes;

	for (size_t at = 0; at < count; at += bytes)
		columns += code_columns(utf8_decode(text + at, &bytes));
	return columns;
}

size_t text_columns(const char *text)
{
	return text_columns_of(text, strlen(text));
}

void text_fit(char *dst, size_t dst_bytes, const char *src, size_t columns)
{
	bool cut = text_columns(src) > columns;
	size_t room = cut && columns ? columns - 1 : columns, have = 0, used = 0;

	while (*src) {
		size_t bytes, wide = code_columns(utf8_decode(src, &bytes));

		if (have + wide > room || used + bytes >= dst_bytes)
			break;
		memcpy(dst + used, src, bytes);
		used += bytes;
		have += wide;
		src += bytes;
	}
	if (cut && have < columns && used + 1 < dst_bytes) {
		dst[used++] = '~';
		have++;
	}
	for (; have < columns && used + 1 < dst_bytes; have++)
		dst[used++] = ' ';
	dst[used] = '\0';
}

size_t text_name(char *dst, size_t dst_bytes, const char *name)
{
	return dwell_text_clean(dst, dst_bytes, *name ? name : "[no name]", "?");
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
