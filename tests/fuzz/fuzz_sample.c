// SPDX-License-Identifier: MIT
/* Fuzzing of samples: any payload is decoded with any sample type; a sample accepted points only
 * into its payload, and every byte it names can be read. */
#include <stdlib.h>
#include <string.h>

#include "parse/perf/sample.h"

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
	uint64_t type;

	if (count < sizeof(type))
		return 0;
	memcpy(&type, bytes, sizeof(type));
	count -= sizeof(type);
	payload = malloc(count ? count : 1); /* aligned, and no byte longer */
	if (!payload)
		return 0;
	memcpy(payload, bytes + sizeof(type), count);
	if (dwell_perf_sample_decode(type, payload, (uint32_t)count, &sample)) {
		inside(sample.chain, 8 * sample.chain_count, payload, count);
		inside(sample.raw, sample.raw_bytes, payload, count);
	}
	if (dwell_perf_trailer_decode(type, payload, (uint32_t)count, &sample) &&
	    dwell_perf_trailer_bytes(type) > count)
		abort();
	free(payload);
	return 0;
}
