// SPDX-License-Identifier: MIT
/* Bytes of strangers become valid UTF-8 that no terminal takes for a command. One decoder serves
 * messages, tables, folded stacks and JSON, so that none of them knows less than the others. */
#include "lib/text.h"

#include <string.h>

/* Length of the well-formed UTF-8 character at p (RFC 3629), 0 when it is none. */
static size_t utf8_bytes(const unsigned char *p)
{
	size_t count = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

	if (p[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < count; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return count;
}

static int is_control(const unsigned char *p)
{
	return p[0] < 0x20 || p[0] == 0x7f || (p[0] == 0xc2 && p[1] < 0xa0);
}

size_t dwell_text_clean(char *dst, size_t dst_bytes, const char *src, const char *invalid)
{
	const unsigned char *p = (const unsigned char *)src;
	size_t used = 0;

	if (!dst_bytes)
		return 0;
	while (*p) {
		size_t count = utf8_bytes(p), put_bytes = count;
		const char *put = (const char *)p;

		if (!count || is_control(p)) {
			put = count ? "?" : invalid;
			put_bytes = strlen(put);
		}
		if (used + put_bytes >= dst_bytes)
			break;
		memcpy(dst + used, put, put_bytes);
		used += put_bytes;
		p += count ? count : 1;
	}
	dst[used] = '\0';
	return used;
}
