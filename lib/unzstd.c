// SPDX-License-Identifier: MIT
/* zstd frames and streams become bytes: the only file that decompresses. */
#include "lib/unzstd.h"

#include <errno.h>
#include <zstd.h>

/* The library's context under our own name: nothing has to stand beside it. */
static ZSTD_DCtx *context(struct dwell_unzstd *unzstd)
{
	return (ZSTD_DCtx *)unzstd;
}

struct dwell_unzstd *dwell_unzstd_new(void)
{
	return (struct dwell_unzstd *)ZSTD_createDCtx();
}

void dwell_unzstd_free(struct dwell_unzstd *unzstd)
{
	ZSTD_freeDCtx(context(unzstd));
}

int64_t dwell_unzstd_frame(struct dwell_unzstd *unzstd, void *dst, uint64_t dst_bytes,
			   const void *src, uint64_t src_bytes)
{
	size_t n = ZSTD_decompressDCtx(context(unzstd), dst, dst_bytes, src, src_bytes);

	return ZSTD_isError(n) ? -EBADMSG : (int64_t)n;
}

void dwell_unzstd_restart(struct dwell_unzstd *unzstd)
{
	ZSTD_DCtx_reset(context(unzstd), ZSTD_reset_session_only);
}

int64_t dwell_unzstd_feed(struct dwell_unzstd *unzstd, const uint8_t **src, const uint8_t *end,
			  void *dst, uint64_t dst_bytes)
{
	ZSTD_inBuffer in = { *src, (size_t)(end - *src), 0 };
	ZSTD_outBuffer out = { dst, dst_bytes, 0 };

	do {
		size_t before = in.pos + out.pos;

		if (ZSTD_isError(ZSTD_decompressStream(context(unzstd), &out, &in)))
			return -EBADMSG;
		if (in.pos + out.pos == before)
			break;
	} while (out.pos < out.size);
	*src += in.pos;
	return (int64_t)out.pos;
}
