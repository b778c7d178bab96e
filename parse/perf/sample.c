// SPDX-License-Identifier: MIT
/* Sample bytes become fields: one table says in which order the kernel writes them (its order is
 * not that of the sample_type bits), a layout picks those that an event has, and two walks read
 * them. */
#include "parse/perf/sample.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>

#include "parse/perf/bytes.h"

/* Of branch_sample_type and of kernels newer than this machine's header. */
#define BRANCH_HW_INDEX (1ull << 17)
#define BRANCH_COUNTERS (1ull << 19)
#define READ_LOST	(1ull << 4)

enum field_form {
	FORM_U64,
	FORM_U32_PAIR,
	FORM_U32_FIRST,
	FORM_READ,
	FORM_CHAIN,
	FORM_RAW,
	FORM_BRANCHES,
	FORM_USER_REGS,
	FORM_STACK,
	FORM_SKIP, /* one u64 that nobody here needs */
	FORM_INTR_REGS,
	FORM_AUX,
};

struct sample_field {
	uint64_t type; /* PERF_SAMPLE_*; any of several bits */
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
	{ PERF_SAMPLE_READ, FORM_READ, 0 },
	{ PERF_SAMPLE_CALLCHAIN, FORM_CHAIN, 0 },
	{ PERF_SAMPLE_RAW, FORM_RAW, 0 },
	{ PERF_SAMPLE_BRANCH_STACK, FORM_BRANCHES, 0 },
	{ PERF_SAMPLE_REGS_USER, FORM_USER_REGS, 0 },
	{ PERF_SAMPLE_STACK_USER, FORM_STACK, 0 },
	{ PERF_SAMPLE_WEIGHT | 1ull << 24 /* WEIGHT_STRUCT */, FORM_SKIP, 0 },
	{ PERF_SAMPLE_DATA_SRC, FORM_SKIP, 0 },
	{ PERF_SAMPLE_TRANSACTION, FORM_SKIP, 0 },
	{ PERF_SAMPLE_REGS_INTR, FORM_INTR_REGS, 0 },
	{ PERF_SAMPLE_PHYS_ADDR, FORM_SKIP, 0 },
	{ 1ull << 21 /* CGROUP */, FORM_U64, AT(cgroup) },
	{ 1ull << 22 /* DATA_PAGE_SIZE */, FORM_SKIP, 0 },
	{ 1ull << 23 /* CODE_PAGE_SIZE */, FORM_SKIP, 0 },
	{ 1ull << 20 /* AUX */, FORM_AUX, 0 },
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

/* Sample types up to here stand in the table. */
#define KNOWN_TYPES ((1ull << 25) - 1)

static void layout_place(int16_t *place, int16_t at, bool wanted)
{
	if (wanted && *place < 0)
		*place = at;
}

/* The fixed fields that come first are eight bytes each. */
static void layout_sample(struct dwell_perf_layout *layout)
{
	bool fixed = true;

	for (uint8_t i = 0; i < COUNT(sample_fields); i++) {
		const struct sample_field *field = &sample_fields[i];
		int16_t at = (int16_t)(8 * layout->sample_field_count);

		if (!(layout->sample_type & field->type))
			continue;
		layout->sample_fields[layout->sample_field_count++] = i;
		fixed = fixed && field->form <= FORM_U32_FIRST;
		layout_place(&layout->time_at, at, fixed && field->type == PERF_SAMPLE_TIME);
		layout_place(&layout->tid_at, at, fixed && field->type == PERF_SAMPLE_TID);
		layout_place(&layout->cpu_at, at, fixed && field->type == PERF_SAMPLE_CPU);
		layout_place(&layout->id_at, at, fixed && field->at == AT(id));
	}
}

static void layout_trailer(struct dwell_perf_layout *layout)
{
	int16_t at = 0;

	if (!layout->has_trailer)
		return;
	for (uint8_t i = COUNT(trailer_fields); i--;) {
		const struct sample_field *field = &trailer_fields[i];

		if (!(layout->sample_type & field->type))
			continue;
		at = (int16_t)(at + 8);
		layout_place(&layout->trailer_time_at, at, field->type == PERF_SAMPLE_TIME);
		layout_place(&layout->trailer_tid_at, at, field->type == PERF_SAMPLE_TID);
		layout_place(&layout->trailer_cpu_at, at, field->type == PERF_SAMPLE_CPU);
		layout_place(&layout->trailer_id_at, at, field->at == AT(id));
	}
	for (uint8_t i = 0; i < COUNT(trailer_fields); i++)
		if (layout->sample_type & trailer_fields[i].type)
			layout->trailer_fields[layout->trailer_field_count++] = i;
}

void dwell_perf_layout_init(struct dwell_perf_layout *layout, const struct dwell_perf_attr *attr,
			    bool swapped)
{
	*layout = (struct dwell_perf_layout){
		.sample_type = attr->sample_type,
		.read_format = attr->read_format,
		.branch_sample_type = attr->branch_sample_type,
		.regs_user = attr->regs_user,
		.regs_intr = attr->regs_intr,
		.swapped = swapped,
		.has_trailer = attr->flags & DWELL_PERF_ATTR_SAMPLE_ID_ALL,
		.has_unknown = attr->sample_type & ~KNOWN_TYPES,
		.time_at = -1,
		.id_at = -1,
		.tid_at = -1,
		.cpu_at = -1,
		.trailer_time_at = -1,
		.trailer_id_at = -1,
		.trailer_tid_at = -1,
		.trailer_cpu_at = -1,
	};
	layout_sample(layout);
	layout_trailer(layout);
}

/* What is left of the payload. */
struct rest {
	const uint8_t *at, *end;
};

/* Moves past count items; false when they do not fit. */
static bool pass(struct rest *rest, uint64_t count, uint32_t item_bytes)
{
	if (count > (uint64_t)(rest->end - rest->at) / item_bytes)
		return false;
	rest->at += count * item_bytes;
	return true;
}

/* A count or size in front of what it counts. */
static bool pass_count(const struct dwell_perf_layout *layout, struct rest *rest,
		       uint64_t *ret_count)
{
	if (rest->end - rest->at < 8)
		return false;
	*ret_count = load_u64(rest->at, layout->swapped);
	rest->at += 8;
	return true;
}

/* Words for one event in read_format: value, id, lost. */
static uint32_t read_words(uint64_t format)
{
	return 1 + !!(format & PERF_FORMAT_ID) + !!(format & READ_LOST);
}

/* read_format: a value, or those of a group behind their number. */
static bool read_counts(const struct dwell_perf_layout *layout, struct rest *rest,
			struct dwell_perf_sample *sample)
{
	uint64_t format = layout->read_format, count = 1;
	uint32_t times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			 !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);

	if ((format & PERF_FORMAT_GROUP) && !pass_count(layout, rest, &count))
		return false;
	if (!pass(rest, times, 8))
		return false;
	sample->group = rest->at;
	sample->group_count = format & PERF_FORMAT_GROUP ? count : 0;
	return pass(rest, count, 8 * read_words(format));
}

void dwell_perf_sample_count(const struct dwell_perf_layout *layout,
			     const struct dwell_perf_sample *sample, uint64_t i, uint64_t *ret_id,
			     uint64_t *ret_value)
{
	uint64_t format = layout->read_format;
	const uint8_t *words = sample->group + i * 8 * read_words(format);

	*ret_value = load_u64(words, layout->swapped);
	*ret_id = format & PERF_FORMAT_ID ? load_u64(words + 8, layout->swapped) : 0;
}

static bool read_chain(const struct dwell_perf_layout *layout, struct rest *rest,
		       struct dwell_perf_sample *sample)
{
	uint64_t count, *entries;

	if (!pass_count(layout, rest, &count))
		return false;
	entries = (uint64_t *)(uintptr_t)rest->at;
	if (!pass(rest, count, 8))
		return false;
	for (uint64_t i = 0; layout->swapped && i < count; i++)
		entries[i] = bswap_64(entries[i]);
	sample->chain = entries;
	sample->chain_count = count;
	return true;
}

/* u32 size, then bytes; together a multiple of 8. */
static bool read_raw(const struct dwell_perf_layout *layout, struct rest *rest,
		     struct dwell_perf_sample *sample)
{
	uint32_t bytes;

	if (rest->end - rest->at < 8)
		return false;
	bytes = load_u32(rest->at, layout->swapped);
	sample->raw = rest->at + 4;
	sample->raw_bytes = bytes;
	rest->at += 4;
	return pass(rest, bytes, 1);
}

static bool pass_branches(const struct dwell_perf_layout *layout, struct rest *rest)
{
	enum { BRANCH_BYTES = 24 };
	uint64_t count;

	if (!pass_count(layout, rest, &count))
		return false;
	if ((layout->branch_sample_type & BRANCH_HW_INDEX) && !pass(rest, 1, 8))
		return false;
	return pass(rest, count, BRANCH_BYTES) &&
	       (!(layout->branch_sample_type & BRANCH_COUNTERS) || pass(rest, count, 8));
}

/* An ABI of 0 says that there are no registers. */
static bool read_regs(const struct dwell_perf_layout *layout, struct rest *rest, uint64_t mask,
		      uint64_t *ret_abi, const uint8_t **ret_regs)
{
	if (!pass_count(layout, rest, ret_abi))
		return false;
	*ret_regs = *ret_abi ? rest->at : NULL;
	return pass(rest, *ret_abi ? (uint64_t)__builtin_popcountll(mask) : 0, 8);
}

/* u64 size, and unless it is 0, that many bytes and how many of them mean something. */
static bool read_stack(const struct dwell_perf_layout *layout, struct rest *rest,
		       struct dwell_perf_sample *sample)
{
	const uint8_t *stack;
	uint64_t bytes, used;

	if (!pass_count(layout, rest, &bytes))
		return false;
	if (!bytes)
		return true;
	stack = rest->at;
	if (!pass(rest, bytes, 1) || !pass_count(layout, rest, &used))
		return false;
	sample->user_stack = stack;
	sample->user_stack_bytes = used < bytes ? used : bytes;
	return true;
}

/* Reads one field; false when it does not fit. */
static bool field_read(const struct dwell_perf_layout *layout, const struct sample_field *field,
		       struct rest *rest, struct dwell_perf_sample *sample)
{
	uint8_t *member = (uint8_t *)sample + field->at;
	const uint8_t *regs;
	uint64_t value;
	uint32_t low, high;

	switch (field->form) {
	case FORM_READ:
		return read_counts(layout, rest, sample);
	case FORM_CHAIN:
		return read_chain(layout, rest, sample);
	case FORM_RAW:
		return read_raw(layout, rest, sample);
	case FORM_BRANCHES:
		return pass_branches(layout, rest);
	case FORM_USER_REGS:
		return read_regs(layout, rest, layout->regs_user, &sample->user_regs_abi,
				 &sample->user_regs);
	case FORM_INTR_REGS:
		return read_regs(layout, rest, layout->regs_intr, &value, &regs);
	case FORM_STACK:
		return read_stack(layout, rest, sample);
	case FORM_AUX:
		return pass_count(layout, rest, &value) && pass(rest, value, 1);
	default:
		break;
	}
	if (rest->end - rest->at < 8)
		return false;
	if (field->form == FORM_U64) {
		value = load_u64(rest->at, layout->swapped);
		memcpy(member, &value, sizeof(value));
	} else if (field->form != FORM_SKIP) {
		low = load_u32(rest->at, layout->swapped);
		high = load_u32(rest->at + 4, layout->swapped);
		memcpy(member, &low, sizeof(low));
		if (field->form == FORM_U32_PAIR)
			memcpy(member + sizeof(low), &high, sizeof(high));
	}
	rest->at += 8;
	return true;
}

bool dwell_perf_sample_decode(const struct dwell_perf_layout *layout, const void *payload,
			      uint32_t bytes, struct dwell_perf_sample *ret_sample)
{
	struct rest rest = { payload, (const uint8_t *)payload + bytes };

	for (unsigned i = 0; i < layout->sample_field_count; i++)
		if (!field_read(layout, &sample_fields[layout->sample_fields[i]], &rest,
				ret_sample))
			return false;
	return true;
}

uint32_t dwell_perf_trailer_bytes(const struct dwell_perf_layout *layout)
{
	return 8u * layout->trailer_field_count;
}

bool dwell_perf_trailer_decode(const struct dwell_perf_layout *layout, const void *payload,
			       uint32_t bytes, struct dwell_perf_sample *ret_sample)
{
	uint32_t trailer_bytes = dwell_perf_trailer_bytes(layout);
	struct rest rest = { (const uint8_t *)payload + bytes - trailer_bytes,
			     (const uint8_t *)payload + bytes };

	if (bytes < trailer_bytes)
		return false;
	for (unsigned i = 0; i < layout->trailer_field_count; i++)
		if (!field_read(layout, &trailer_fields[layout->trailer_fields[i]], &rest,
				ret_sample))
			return false;
	return true;
}
