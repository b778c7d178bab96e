// SPDX-License-Identifier: MIT
/* Fuzzing of jit-PID.dump files: any bytes, read at once and as a file that grows, become names and
 * changes. Each change is of memory that has a name in its epoch. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "parse/elf/jitdump.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void look(struct dwell_jitdump *dump, const uint8_t *bytes, size_t count)
{
	struct dwell_jit_change change;
	uint64_t word;

	while (dwell_jitdump_change(dump, UINT64_MAX, &change))
		if (!change.epoch || change.epoch > DWELL_JIT_EPOCHS ||
		    change.end <= change.start ||
		    !dwell_jitdump_find(dump, change.epoch, change.start))
			abort();
	for (size_t at = 0; at + sizeof(word) <= count && at < 4096; at += 4) {
		memcpy(&word, bytes + at, sizeof(word));
		for (uint32_t epoch = 0; epoch < 3; epoch++)
			dwell_jitdump_find(dump, epoch, word);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC), writer = dup(fd);
	uint64_t budget = UINT64_MAX;
	struct dwell_jitdump *dump;
	size_t half = count / 2;

	if (fd < 0 || writer < 0 || dwell_jitdump_new(fd, &dump))
		abort();
	if (write(writer, bytes, half) != (ssize_t)half)
		abort();
	if (!dwell_jitdump_more(dump, &budget)) {
		look(dump, bytes, half);
		if (write(writer, bytes + half, count - half) != (ssize_t)(count - half))
			abort();
		if (!dwell_jitdump_more(dump, &budget))
			look(dump, bytes, count);
	}
	dwell_jitdump_free(dump);
	close(writer);
	return 0;
}
