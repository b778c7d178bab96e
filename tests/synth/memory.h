/* SPDX-License-Identifier: MIT */
/* Bytes in memory that are read as a file would be. For unit tests and fuzzing. */
#ifndef DWELL_TESTS_SYNTH_MEMORY_H
#define DWELL_TESTS_SYNTH_MEMORY_H

#include <stdint.h>
#include <string.h>

struct memory_input {
	const uint8_t *data;
	uint64_t bytes, at;
};

/* The read function of an input whose user is a struct memory_input. */
static inline int64_t memory_read(void *user, void *bytes, uint64_t count)
{
	struct memory_input *input = user;
	uint64_t left = input->bytes - input->at;

	if (count > left)
		count = left;
	if (count)
		memcpy(bytes, input->data + input->at, count);
	input->at += count;
	return (int64_t)count;
}

#endif
