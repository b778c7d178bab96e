// SPDX-License-Identifier: MIT
/* Attr bytes become members: read at their offsets, zero where the recorder's kernel ended before
 * them, and with the flag bits in one order whatever the byte order. */
#include "parse/perf/attr.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "parse/perf/bytes.h"

enum attr_offset {
	AT_TYPE = 0,
	AT_CONFIG = 8,
	AT_PERIOD = 16,
	AT_SAMPLE_TYPE = 24,
	AT_READ_FORMAT = 32,
	AT_FLAGS = 40,
	AT_CONFIG1 = 56,
	AT_CONFIG2 = 64,
	AT_BRANCH_SAMPLE_TYPE = 72,
	AT_REGS_USER = 80,
	AT_CLOCKID = 92,
	AT_REGS_INTR = 96,
	ATTR_KNOWN_BYTES = 104,
};

/* Compilers fill bit fields from the low bit on little-endian machines and from the high bit on
 * big-endian ones: byte by byte, the bits stand in reverse. */
static uint64_t attr_flags(const uint8_t *attr, bool swapped)
{
	uint64_t flags = 0;

	for (unsigned i = 0; i < 8; i++) {
		uint8_t byte = attr[AT_FLAGS + i], reversed = 0;

		for (unsigned bit = 0; bit < 8; bit++)
			reversed = (uint8_t)(reversed | ((byte >> bit & 1) << (7 - bit)));
		flags |= (uint64_t)(swapped ? reversed : byte) << 8 * i;
	}
	return flags;
}

bool dwell_perf_attr_decode(const uint8_t *attr, uint32_t bytes, bool swapped,
			    struct dwell_perf_attr *ret_attr)
{
	uint8_t known[ATTR_KNOWN_BYTES] = { 0 };

	if (bytes < DWELL_PERF_ATTR_BYTES_MIN)
		return false;
	memcpy(known, attr, bytes < sizeof(known) ? bytes : sizeof(known));
	*ret_attr = (struct dwell_perf_attr){
		.type = load_u32(known + AT_TYPE, swapped),
		.bytes = bytes,
		.config = load_u64(known + AT_CONFIG, swapped),
		.config1 = load_u64(known + AT_CONFIG1, swapped),
		.config2 = load_u64(known + AT_CONFIG2, swapped),
		.period = load_u64(known + AT_PERIOD, swapped),
		.sample_type = load_u64(known + AT_SAMPLE_TYPE, swapped),
		.read_format = load_u64(known + AT_READ_FORMAT, swapped),
		.branch_sample_type = load_u64(known + AT_BRANCH_SAMPLE_TYPE, swapped),
		.regs_user = load_u64(known + AT_REGS_USER, swapped),
		.regs_intr = load_u64(known + AT_REGS_INTR, swapped),
		.flags = attr_flags(known, swapped),
		.clockid = (int32_t)load_u32(known + AT_CLOCKID, swapped),
	};
	return true;
}

static const char *const hardware_names[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};

static const char *const software_names[] = {
	"cpu-clock",	    "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",	    "bpf-output",   "cgroup-switches",
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static bool cache_name(uint64_t config, char *dst, uint32_t dst_bytes)
{
	static const char *const caches[] = { "L1-dcache", "L1-icache", "LLC", "dTLB",
					      "iTLB",	   "branch",	"node" };
	static const char *const operations[] = { "load", "store", "prefetch" };
	uint64_t cache = config & 0xff, operation = config >> 8 & 0xff,
		 result = config >> 16 & 0xff;

	if (cache >= COUNT(caches) || operation >= COUNT(operations) || result > 1)
		return false;
	snprintf(dst, dst_bytes, result ? "%s-%s-misses" : "%s-%ss", caches[cache],
		 operations[operation]);
	return true;
}

void dwell_perf_attr_name(const struct dwell_perf_attr *attr, char *dst, uint32_t dst_bytes)
{
	const char *name = NULL;

	if (attr->type == PERF_TYPE_HARDWARE && (attr->config & 0xffffffff) < COUNT(hardware_names))
		name = hardware_names[attr->config & 0xffffffff];
	if (attr->type == PERF_TYPE_SOFTWARE && attr->config < COUNT(software_names))
		name = software_names[attr->config];
	if (name)
		snprintf(dst, dst_bytes, "%s", name);
	else if (attr->type == PERF_TYPE_TRACEPOINT)
		snprintf(dst, dst_bytes, "tracepoint %" PRIu64, attr->config);
	else if (attr->type == PERF_TYPE_BREAKPOINT)
		snprintf(dst, dst_bytes, "mem:0x%" PRIx64, attr->config1);
	else if (attr->type == PERF_TYPE_RAW)
		snprintf(dst, dst_bytes, "raw 0x%" PRIx64, attr->config);
	else if (attr->type != PERF_TYPE_HW_CACHE || !cache_name(attr->config, dst, dst_bytes))
		snprintf(dst, dst_bytes, "type %" PRIu32 " config 0x%" PRIx64, attr->type,
			 attr->config);
}

bool dwell_perf_attr_is_clock(const struct dwell_perf_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
						    attr->config == PERF_COUNT_SW_TASK_CLOCK);
}
