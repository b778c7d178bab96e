// SPDX-License-Identifier: MIT
/* Fuzzing of the tracing data stream: any bytes, in either byte order, become formats that have an
 * id, or are refused. */
#include <stdlib.h>
#include <string.h>

#include "parse/perf/data_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct dwell_perf_data data = { 0 };
	uint8_t *stream = malloc(count ? count : 1); /* no byte longer */
	size_t length = 0;

	if (!stream)
		return 0;
	memcpy(stream, bytes, count);
	for (int swapped = 0; swapped < 2; swapped++) {
		data.info.swapped = swapped;
		tracing_data_decode(&data, stream, count);
	}
	for (uint32_t i = 0; i < data.formats.count; i++)
		length += strlen(data.formats.data[i].system) + strlen(data.formats.data[i].text);
	if (length > 2 * count)
		abort();
	formats_release(&data);
	free(stream);
	return 0;
}
