/* SPDX-License-Identifier: MIT */
/* struct perf_event_attr as a file holds it, of any size and byte order, becomes the members that
 * reading needs. Source of offsets and sizes: include/uapi/linux/perf_event.h. */
#ifndef DWELL_PARSE_PERF_ATTR_H
#define DWELL_PARSE_PERF_ATTR_H

#include <stdbool.h>
#include <stdint.h>

enum {
	DWELL_PERF_ATTR_BYTES_MIN = 64,	  /* PERF_ATTR_SIZE_VER0 */
	DWELL_PERF_ATTR_BYTES_MAX = 4096, /* no kernel's is larger than a page */
};

/* Bits of dwell_perf_attr.flags: position in the kernel's bit field, whatever the byte order. */
#define DWELL_PERF_ATTR_INHERIT	       (1ull << 1)
#define DWELL_PERF_ATTR_COMM	       (1ull << 9)
#define DWELL_PERF_ATTR_FREQ	       (1ull << 10)
#define DWELL_PERF_ATTR_ENABLE_ON_EXEC (1ull << 12)
#define DWELL_PERF_ATTR_TASK	       (1ull << 13)
#define DWELL_PERF_ATTR_SAMPLE_ID_ALL  (1ull << 18)
#define DWELL_PERF_ATTR_USE_CLOCKID    (1ull << 25)
#define DWELL_PERF_ATTR_CONTEXT_SWITCH (1ull << 26)

/* Members that the recorder's kernel did not know yet are 0. */
struct dwell_perf_attr {
	uint32_t type; /* PERF_TYPE_* or a PMU's number */
	uint32_t bytes;
	uint64_t config, config1, config2;
	uint64_t period; /* or the frequency in Hz, with DWELL_PERF_ATTR_FREQ */
	uint64_t sample_type, read_format, branch_sample_type;
	uint64_t regs_user, regs_intr;
	uint64_t flags; /* DWELL_PERF_ATTR_* */
	int32_t clockid;
};

/* Decodes the first `bytes` bytes of an attr; what lies beyond them is 0. False when there are
 * fewer than DWELL_PERF_ATTR_BYTES_MIN. */
bool dwell_perf_attr_decode(const uint8_t *attr, uint32_t bytes, bool swapped,
			    struct dwell_perf_attr *ret_attr);

/* The name by which perf shows an event that the file does not name: "cycles", "cpu-clock",
 * "raw 0x...". Never NULL; dst is of at least 64 bytes. */
void dwell_perf_attr_name(const struct dwell_perf_attr *attr, char *dst, uint32_t dst_bytes);

/* Is it a clock (cpu-clock, task-clock), whose periods are nanoseconds on a CPU? */
bool dwell_perf_attr_is_clock(const struct dwell_perf_attr *attr);

#endif
