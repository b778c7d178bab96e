// SPDX-License-Identifier: MIT
/* Feature sections, bodies told apart by their bit, become what is known of the recording's machine
 * and of its events; those that nobody here needs are told from unknown ones. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "parse/perf/data_impl.h"

/* u32 length, which counts the padding, then a NUL-terminated text. *ret_text is not owned. */
static bool string_take(struct bytes *body, const char **ret_text, size_t *ret_length)
{
	uint32_t bytes = bytes_u32(body);
	const uint8_t *text = bytes_take(body, bytes);

	if (body->bad)
		return false;
	*ret_text = (const char *)text;
	*ret_length = strnlen((const char *)text, bytes);
	return true;
}

static int decode_string(struct bytes *body, char **member)
{
	const char *text;
	size_t length;

	if (!string_take(body, &text, &length))
		return -EINVAL;
	if (*member)
		return 0;
	*member = strndup(text, length);
	return *member ? 0 : -ENOMEM;
}

static int decode_cpus(struct dwell_perf_data *data, struct bytes *body)
{
	uint32_t available = bytes_u32(body), online = bytes_u32(body);

	if (body->bad)
		return -EINVAL;
	data->info.cpus_available = available;
	data->info.cpus_online = online;
	return 0;
}

static int decode_memory(struct dwell_perf_data *data, struct bytes *body)
{
	uint64_t kib = bytes_u64(body);

	if (body->bad)
		return -EINVAL;
	data->info.total_memory_kib = kib;
	return 0;
}

static int decode_cmdline(struct dwell_perf_data *data, struct bytes *body)
{
	uint32_t words = bytes_u32(body);
	char *line, *end;

	if (body->bad)
		return -EINVAL;
	if (data->info.cmdline)
		return 0;
	/* Each word stands behind 4 bytes of length, so its space fits as well. */
	line = malloc(bytes_left(body) + 1);
	if (!line)
		return -ENOMEM;
	end = line;
	for (uint32_t i = 0; i < words; i++) {
		const char *word;
		size_t length;

		if (!string_take(body, &word, &length)) {
			free(line);
			return -EINVAL;
		}
		if (i)
			*end++ = ' ';
		memcpy(end, word, length);
		end += length;
	}
	*end = '\0';
	data->info.cmdline = line;
	return 0;
}

/* The one place where a file has the names of its events, in the order of the attrs. */
static int decode_event_desc(struct dwell_perf_data *data, struct bytes *body)
{
	uint32_t events = bytes_u32(body), attr_bytes = bytes_u32(body);
	char *name = NULL;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < events && i < data->events.count; i++) {
		uint32_t ids;

		bytes_take(body, attr_bytes);
		ids = bytes_u32(body);
		rc = decode_string(body, &name);
		if (!rc)
			rc = event_table_set_name(data, i, name);
		free(name);
		name = NULL;
		for (; !rc && ids && bytes_left(body) >= 8; ids--)
			rc = event_table_add_id(data, bytes_u64(body), i);
		if (!rc && ids)
			rc = -EINVAL;
	}
	return rc ? rc : body->bad ? -EINVAL : 0;
}

static int decode_sample_time(struct dwell_perf_data *data, struct bytes *body)
{
	uint64_t first = bytes_u64(body), last = bytes_u64(body);

	if (body->bad)
		return -EINVAL;
	data->info.first_sample_ns = first;
	data->info.last_sample_ns = last;
	return 0;
}

static int decode_clock_data(struct dwell_perf_data *data, struct bytes *body)
{
	uint32_t version = bytes_u32(body), clockid = bytes_u32(body);
	uint64_t wall_ns = bytes_u64(body), clock_ns = bytes_u64(body);

	if (body->bad || version != 1)
		return -EINVAL;
	data->info.has_wall_clock = true;
	data->info.clockid = (int32_t)clockid;
	data->info.wall_ns = wall_ns;
	data->info.clock_ns = clock_ns;
	return 0;
}

static int decode_tracing(struct dwell_perf_data *data, struct bytes *body)
{
	return tracing_data_decode(data, body->at, bytes_left(body));
}

#define INFO(member) offsetof(struct dwell_perf_data_info, member)

/* By bit (tools/perf/util/header.h). Of those with neither a decoder nor a string nothing is
 * needed. */
static const struct feature {
	bool known;
	int (*decode)(struct dwell_perf_data *data, struct bytes *body);
	uint16_t string; /* offset in the info, where the body is one string */
} features[] = {
	[1] = { true, decode_tracing, 0 },
	[2] = { true, build_ids_decode, 0 },
	[3] = { true, NULL, INFO(hostname) },
	[4] = { true, NULL, INFO(osrelease) },
	[5] = { true, NULL, INFO(version) },
	[6] = { true, NULL, INFO(arch) },
	[7] = { true, decode_cpus, 0 },
	[8] = { true, NULL, INFO(cpudesc) },
	[9] = { true, NULL, INFO(cpuid) },
	[10] = { true, decode_memory, 0 },
	[11] = { true, decode_cmdline, 0 },
	[12] = { true, decode_event_desc, 0 },
	[13] = { true, NULL, 0 }, /* CPU_TOPOLOGY */
	[14] = { true, NULL, 0 }, /* NUMA_TOPOLOGY */
	[15] = { true, NULL, 0 }, /* BRANCH_STACK */
	[16] = { true, NULL, 0 }, /* PMU_MAPPINGS */
	[17] = { true, NULL, 0 }, /* GROUP_DESC */
	[18] = { true, NULL, 0 }, /* AUXTRACE */
	[19] = { true, NULL, 0 }, /* STAT */
	[20] = { true, NULL, 0 }, /* CACHE */
	[21] = { true, decode_sample_time, 0 },
	[22] = { true, NULL, 0 }, /* MEM_TOPOLOGY */
	[23] = { true, NULL, 0 }, /* CLOCKID: its resolution */
	[24] = { true, NULL, 0 }, /* DIR_FORMAT */
	[25] = { true, NULL, 0 }, /* BPF_PROG_INFO */
	[26] = { true, NULL, 0 }, /* BPF_BTF */
	[27] = { true, NULL, 0 }, /* COMPRESSED: of its records more is known than it says */
	[28] = { true, NULL, 0 }, /* CPU_PMU_CAPS */
	[29] = { true, decode_clock_data, 0 },
	[30] = { true, NULL, 0 }, /* HYBRID_TOPOLOGY */
	[31] = { true, NULL, 0 }, /* PMU_CAPS */
	[32] = { true, NULL, 0 }, /* CPU_DOMAIN_INFO */
	[33] = { true, NULL, 0 }, /* E_MACHINE */
	[34] = { true, NULL, 0 }, /* CLN_SIZE */
	/* simpleperf's (its record_file_format.h) */
	[128] = { true, NULL, 0 }, /* FILE: symbols */
	[129] = { true, simpleperf_meta_decode, 0 },
	[130] = { true, NULL, 0 }, /* DEBUG_UNWIND */
	[131] = { true, NULL, 0 }, /* DEBUG_UNWIND_FILE */
	[132] = { true, NULL, 0 }, /* FILE2 */
	[133] = { true, NULL, 0 }, /* ETM_BRANCH_LIST */
	[134] = { true, NULL, 0 }, /* INIT_MAP */
};

#define FEATURES (sizeof(features) / sizeof(*features))

bool feature_is_known(uint32_t bit)
{
	return bit < FEATURES && features[bit].known;
}

bool feature_is_needed(uint32_t bit)
{
	return bit < FEATURES && (features[bit].decode || features[bit].string);
}

int feature_decode(struct dwell_perf_data *data, uint32_t bit, const uint8_t *body, uint64_t bytes)
{
	struct bytes from = { body, body + bytes, data->info.swapped, false };

	if (features[bit].decode)
		return features[bit].decode(data, &from);
	return decode_string(&from, (char **)((char *)&data->info + features[bit].string));
}
