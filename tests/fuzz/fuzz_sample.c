// SPDX-License-Identifier: MIT
/* Fuzzing of samples: any payload is decoded with any sample type; a sample accepted points only
 * into its payload, and every byte it names can be read. */
#include <stdlib.h>
#include <string.h>

#include "parse/perf/sample.h"

enum { ATTR_BYTES = 112 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void inside(const void *part, uint64_t part_bytes, const uint8_t *payload, size_t count)
{
	const uint8_t *begin = part;

	if (!part_bytes)
		return;
	if (begin < payload || begin > payload + count ||
	    part_bytes > (uint64_t)(payload + count - begin))
		abort();
	for (uint64_t i = 0; i < part_bytes; i++)
		(void)*(const volatile uint8_t *)&begin[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct dwell_perf_sample sample = { 0 };
	uint8_t *payload;
	struct dwell_perf_attr attr = { 0 };
	struct dwell_perf_layout layout;
	uint8_t head[ATTR_BYTES + 1];

	if (count < sizeof(head))
		return 0;
	memcpy(head, bytes, sizeof(head));
	if (!dwell_perf_attr_decode(head, ATTR_BYTES, head[ATTR_BYTES] & 1, &attr))
		abort();
	attr.flags |= DWELL_PERF_ATTR_SAMPLE_ID_ALL;
	dwell_perf_layout_init(&layout, &attr, head[ATTR_BYTES] & 1);
	count -= sizeof(head);
	payload = malloc(count ? count : 1); /* aligned, and no byte longer */
	if (!payload)
		return 0;
	memcpy(payload, bytes + sizeof(head), count);
	if (dwell_perf_sample_decode(&layout, payload, (uint32_t)count, &sample)) {
		inside(sample.chain, 8 * sample.chain_count, payload, count);
		inside(sample.raw, sample.raw_bytes, payload, count);
		if (sample.user_regs)
			inside(sample.user_regs, 8 * (uint64_t)__builtin_popcountll(attr.regs_user),
			       payload, count);
		inside(sample.user_stack, sample.user_stack_bytes, payload, count);
	}
	if (dwell_perf_trailer_decode(&layout, payload, (uint32_t)count, &sample) &&
	    dwell_perf_trailer_bytes(&layout) > count)
		abort();
	free(payload);
	return 0;
}
