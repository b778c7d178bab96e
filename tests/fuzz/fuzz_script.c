// SPDX-License-Identifier: MIT
/* Fuzzing of perf-script text: bytes are read as a file would be, by one thread or two, and run
 * through the timeline. Events stay inside their tables, and the books balance. */
#include "tests/synth/feeding.h"
#include "tests/synth/script.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct memory_input memory = { bytes + 1, count - 1, 0 };
	struct dwell_source *source;

	if (count < 1)
		return 0;
	if (!script_memory_open(&memory, 1 + (bytes[0] & 1), &source, NULL)) {
		feeding_all(source, true, false);
		dwell_source_close(source);
	}
	return 0;
}
