// SPDX-License-Identifier: MIT
/* Sample bytes become fields: one table says in which order the kernel writes them (its order is
 * not that of the sample_type bits), and two walks read it. */
#include "parse/perf/sample.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>

enum field_form { FORM_U64, FORM_U32_PAIR, FORM_U32_FIRST, FORM_CHAIN, FORM_RAW };

struct sample_field {
	uint64_t type; /* PERF_SAMPLE_* */
	uint8_t form;  /* enum field_form */
	uint8_t at;    /* offset in struct dwell_perf_sample */
};

#define AT(member) offsetof(struct dwell_perf_sample, member)

/* In the order of a SAMPLE record. The trailer has its own order: that of trailer_fields. */
static const struct sample_field sample_fields[] = {
	{ PERF_SAMPLE_IDENTIFIER, FORM_U64, AT(id) },
	{ PERF_SAMPLE_IP, FORM_U64, AT(ip) },
	{ PERF_SAMPLE_TID, FORM_U32_PAIR, AT(pid) },
	{ PERF_SAMPLE_TIME, FORM_U64, AT(time_ns) },
	{ PERF_SAMPLE_ADDR, FORM_U64, AT(addr) },
	{ PERF_SAMPLE_ID, FORM_U64, AT(id) },
	{ PERF_SAMPLE_STREAM_ID, FORM_U64, AT(stream_id) },
	{ PERF_SAMPLE_CPU, FORM_U32_FIRST, AT(cpu) },
	{ PERF_SAMPLE_PERIOD, FORM_U64, AT(period) },
	{ PERF_SAMPLE_CALLCHAIN, FORM_CHAIN, AT(chain) },
	{ PERF_SAMPLE_RAW, FORM_RAW, AT(raw) },
};

static const struct sample_field trailer_fields[] = {
	{ PERF_SAMPLE_TID, FORM_U32_PAIR, AT(pid) },
	{ PERF_SAMPLE_TIME, FORM_U64, AT(time_ns) },
	{ PERF_SAMPLE_ID, FORM_U64, AT(id) },
	{ PERF_SAMPLE_STREAM_ID, FORM_U64, AT(stream_id) },
	{ PERF_SAMPLE_CPU, FORM_U32_FIRST, AT(cpu) },
	{ PERF_SAMPLE_IDENTIFIER, FORM_U64, AT(id) },
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* Reads one field at *at; false when it does not fit before end. */
static bool field_read(const struct sample_field *field, const uint8_t **at, const uint8_t *end,
		       struct dwell_perf_sample *sample)
{
	uint8_t *member = (uint8_t *)sample + field->at;
	uint64_t count;
	uint32_t raw_bytes;

	if (end - *at < 8)
		return false;
	switch (field->form) {
	case FORM_U64:
	case FORM_U32_PAIR:
		memcpy(member, *at, 8);
		break;
	case FORM_U32_FIRST:
		memcpy(member, *at, 4);
		break;
	case FORM_CHAIN:
		memcpy(&count, *at, 8);
		if (count > (uint64_t)(end - *at - 8) / 8)
			return false;
		sample->chain = (const uint64_t *)(const void *)(*at + 8);
		sample->chain_count = count;
		*at += 8 * count;
		break;
	case FORM_RAW: /* u32 size, then bytes; together a multiple of 8 */
		memcpy(&raw_bytes, *at, 4);
		if (raw_bytes > (uint64_t)(end - *at - 4))
			return false;
		sample->raw = *at + 4;
		sample->raw_bytes = raw_bytes;
		*at += 4 + raw_bytes;
		return true;
	}
	*at += 8;
	return true;
}

bool dwell_perf_sample_decode(uint64_t sample_type, const void *payload, uint32_t bytes,
			      struct dwell_perf_sample *ret_sample)
{
	const uint8_t *at = payload, *end = at + bytes;

	for (unsigned i = 0; i < COUNT(sample_fields); i++)
		if ((sample_type & sample_fields[i].type) &&
		    !field_read(&sample_fields[i], &at, end, ret_sample))
			return false;
	return true;
}

uint32_t dwell_perf_trailer_bytes(uint64_t sample_type)
{
	uint32_t bytes = 0;

	for (unsigned i = 0; i < COUNT(trailer_fields); i++)
		bytes += sample_type & trailer_fields[i].type ? 8 : 0;
	return bytes;
}

bool dwell_perf_trailer_decode(uint64_t sample_type, const void *payload, uint32_t bytes,
			       struct dwell_perf_sample *ret_sample)
{
	uint32_t trailer_bytes = dwell_perf_trailer_bytes(sample_type);
	const uint8_t *end = (const uint8_t *)payload + bytes, *at = end - trailer_bytes;

	if (bytes < trailer_bytes)
		return false;
	for (unsigned i = 0; i < COUNT(trailer_fields); i++)
		if ((sample_type & trailer_fields[i].type) &&
		    !field_read(&trailer_fields[i], &at, end, ret_sample))
			return false;
	return true;
}
