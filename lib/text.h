/* SPDX-License-Identifier: MIT */
/* Text from other users' processes becomes safe to print. Nothing is allocated: everything goes
 * into buffers of the caller's. */
#ifndef DWELL_LIB_TEXT_H
#define DWELL_LIB_TEXT_H

#include <stddef.h>

/* Copies src into dst of dst_bytes as valid UTF-8, NUL-terminated: control characters (C0, DEL,
 * C1) become '?', bytes that are not UTF-8 become `invalid` ("?" or U+FFFD). Cut at a character's
 * border. Returns the number of bytes written. */
size_t dwell_text_clean(char *dst, size_t dst_bytes, const char *src, const char *invalid);

#endif
