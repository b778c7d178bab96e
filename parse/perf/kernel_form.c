// SPDX-License-Identifier: MIT
/* Which fields the payload of each kernel record opens with: one table, by which payloads of the
 * other byte order are swapped in place. Source: include/uapi/linux/perf_event.h. */
#include "parse/perf/data_impl.h"

const struct kernel_form kernel_forms[DWELL_PERF_USER_TYPES] = {
	[PERF_RECORD_MMAP] = { "44888", 33, true },
	[PERF_RECORD_LOST] = { "88", 16, false },
	[PERF_RECORD_COMM] = { "44", 9, true },
	[PERF_RECORD_EXIT] = { "44448", 24, false },
	[PERF_RECORD_THROTTLE] = { "888", 24, false },
	[PERF_RECORD_UNTHROTTLE] = { "888", 24, false },
	[PERF_RECORD_FORK] = { "44448", 24, false },
	[PERF_RECORD_READ] = { "44*", 8, false },
	[PERF_RECORD_SAMPLE] = { "", 0, false }, /* as its event's layout says */
	[PERF_RECORD_MMAP2] = { "44888448844", 65, true },
	[PERF_RECORD_AUX] = { "888", 24, false },
	[PERF_RECORD_ITRACE_START] = { "44", 8, false },
	[PERF_RECORD_LOST_SAMPLES] = { "8", 8, false },
	[PERF_RECORD_SWITCH] = { "", 0, false },
	[PERF_RECORD_SWITCH_CPU_WIDE] = { "44", 8, false },
	[16 /* NAMESPACES */] = { "448*", 16, false },
	[17 /* KSYMBOL */] = { "8422", 17, true },
	[18 /* BPF_EVENT */] = { "224", 16, false },
	[19 /* CGROUP */] = { "8", 9, true },
	[20 /* TEXT_POKE */] = { "822", 12, false },
	[21 /* AUX_OUTPUT_HW_ID */] = { "8", 8, false },
	[DWELL_PERF_CALLCHAIN_DEFERRED] = { "88*", 16, false },
};

/* Names a build id instead of device and inode: PERF_RECORD_MISC_MMAP_BUILD_ID of Linux 5.12. */
#define MMAP_BUILD_ID (1u << 14)

static uint8_t *field_swap(uint8_t *at, char width)
{
	uint16_t two;
	uint32_t four;
	uint64_t eight;

	switch (width) {
	case '2':
		two = load_u16(at, true);
		memcpy(at, &two, sizeof(two));
		return at + sizeof(two);
	case '4':
		four = load_u32(at, true);
		memcpy(at, &four, sizeof(four));
		return at + sizeof(four);
	default:
		eight = load_u64(at, true);
		memcpy(at, &eight, sizeof(eight));
		return at + sizeof(eight);
	}
}

void kernel_record_swap(uint32_t type, uint16_t misc, uint8_t *payload, uint32_t bytes)
{
	const char *width = kernel_forms[type].widths;
	uint8_t *end = payload + bytes;

	if (type == PERF_RECORD_MMAP2 && (misc & MMAP_BUILD_ID))
		width = "44888"; /* then bytes, and protection and flags, below */
	for (; *width && *width != '*'; width++)
		payload = field_swap(payload, *width);
	if (type == PERF_RECORD_MMAP2 && (misc & MMAP_BUILD_ID))
		field_swap(field_swap(payload + 24, '4'), '4');
	while (*width == '*' && end - payload >= 8)
		payload = field_swap(payload, '8');
}

void kernel_record_terminate(uint32_t type, uint8_t *payload, uint32_t bytes)
{
	uint32_t fixed = kernel_forms[type].bytes - 1;

	if (!memchr(payload + fixed, 0, bytes - fixed))
		payload[bytes - 1] = '\0';
}
