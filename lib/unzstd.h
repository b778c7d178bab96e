/* SPDX-License-Identifier: MIT */
/* zstd becomes bytes: single frames, and streams that arrive in pieces. */
#ifndef DWELL_LIB_UNZSTD_H
#define DWELL_LIB_UNZSTD_H

#include <stdint.h>

struct dwell_unzstd; /* opaque; keeps what a stream refers back to, at most 128 MiB */

/* NULL when out of memory. */
struct dwell_unzstd *dwell_unzstd_new(void);
void dwell_unzstd_free(struct dwell_unzstd *unzstd);

/* Unpacks one whole frame. The number of bytes that it was, or -EBADMSG, also when it does not fit
 * into dst. */
int64_t dwell_unzstd_frame(struct dwell_unzstd *unzstd, void *dst, uint64_t dst_bytes,
			   const void *src, uint64_t src_bytes);

/* Makes the next feed the first of a stream. */
void dwell_unzstd_restart(struct dwell_unzstd *unzstd);

/* Unpacks from *src on, which moves to where reading ended, as much as fits into dst. The number
 * of bytes written (fewer than dst_bytes once everything up to end was unpacked), or -EBADMSG. */
int64_t dwell_unzstd_feed(struct dwell_unzstd *unzstd, const uint8_t **src, const uint8_t *end,
			  void *dst, uint64_t dst_bytes);

#endif
