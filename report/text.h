/* SPDX-License-Identifier: MIT */
/* Text for people: names take their place in columns, numbers become short words. Everything writes
 * into buffers of the caller's and NUL-terminates. */
#ifndef DWELL_REPORT_TEXT_H
#define DWELL_REPORT_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Room that a number's text needs. */
enum { TEXT_NUMBER_BYTES = 40 };

/* How many columns of a terminal valid UTF-8 takes: two for a wide character, none for a combining
 * mark, else one. */
size_t text_columns(const char *text);
size_t text_columns_of(const char *text, size_t count);

/* Pads or shortens (with "~" at the end) valid UTF-8 to exactly `columns` columns. */
void text_fit(char *dst, size_t dst_bytes, const char *src, size_t columns);

/* A name as it is shown, cleaned as dwell_text_clean() does; "[no name]" for an empty one.
 * Returns the bytes written. */
size_t text_name(char *dst, size_t dst_bytes, const char *name);

/* "740 ns", "12 us", "48 ms", "2.1 s", "3 min 20 s", "2 h 5 min": never rounded up to a unit that
 * was not reached. Returns dst. */
char *text_duration(char dst[TEXT_NUMBER_BYTES], uint64_t ns);

/* "5,210". Returns dst. */
char *text_count(char dst[TEXT_NUMBER_BYTES], uint64_t count);

/* What makes a noun agree with its count: "s", or "" for one. */
static inline const char *text_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* "1.2 MB" (powers of 1000). Returns dst. */
char *text_bytes(char dst[TEXT_NUMBER_BYTES], uint64_t bytes);

/* Share of part in whole: "61%", "3.4%", "<0.1%", "0%"; 100% only when it is all. Returns dst. */
char *text_share(char dst[TEXT_NUMBER_BYTES], uint64_t part, uint64_t whole);

#endif
