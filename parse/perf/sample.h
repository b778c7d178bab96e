/* SPDX-License-Identifier: MIT */
/* The layout of PERF_RECORD_SAMPLE and of the sample_id trailer, in one table each: bytes become a
 * struct dwell_perf_sample. Source of the order: include/uapi/linux/perf_event.h. Shared by the
 * recorder (rings) and the perf.data reader. */
#ifndef DWELL_PARSE_PERF_SAMPLE_H
#define DWELL_PARSE_PERF_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "parse/perf/attr.h"

struct dwell_perf_sample {
	uint64_t id; /* PERF_SAMPLE_IDENTIFIER, else PERF_SAMPLE_ID */
	uint64_t ip, time_ns, addr, stream_id, period, cgroup;
	uint32_t pid, tid, cpu;
	const uint64_t *chain; /* callchain with its context markers; into the record */
	uint64_t chain_count;
	const uint8_t *raw; /* tracepoint bytes, in the recorder's byte order; into the record */
	uint32_t raw_bytes;
	/* What follows points into the record without being aligned, in the file's byte order. */
	const uint8_t *group;	   /* counts of all events of a group: dwell_perf_sample_count() */
	uint64_t group_count;	   /* 0 = no group was read */
	const uint8_t *user_regs;  /* popcount(regs_user) values; NULL when there are none */
	uint64_t user_regs_abi;	   /* PERF_SAMPLE_REGS_ABI_* */
	const uint8_t *user_stack; /* what was copied of the user stack; NULL when nothing */
	uint64_t user_stack_bytes;
};

enum { DWELL_PERF_FIELDS_MAX = 32 };

/* How the records of an event are laid out, worked out once. */
struct dwell_perf_layout {
	uint64_t sample_type, read_format, branch_sample_type, regs_user, regs_intr;
	uint8_t sample_fields[DWELL_PERF_FIELDS_MAX]; /* indexes into the table in sample.c */
	uint8_t sample_field_count;
	uint8_t trailer_fields[8];
	uint8_t trailer_field_count;
	bool swapped;	  /* the other byte order than this machine's */
	bool has_trailer; /* sample_id_all */
	bool has_unknown; /* sample types that nobody knows: what lies behind them is not decoded */
	int16_t time_at;  /* bytes from the payload's start to TIME in a sample, -1 = none */
	int16_t id_at;	  /* the same of IDENTIFIER or ID */
	int16_t tid_at, cpu_at;
	int16_t trailer_time_at; /* bytes from the payload's end back to each, -1 = none */
	int16_t trailer_id_at, trailer_tid_at, trailer_cpu_at;
};

void dwell_perf_layout_init(struct dwell_perf_layout *layout, const struct dwell_perf_attr *attr,
			    bool swapped);

/* Decodes the payload of a SAMPLE record (behind its 8-byte header), 8-byte aligned. Where the
 * layout is swapped, the payload must be writable, and its callchain is swapped in place: decode it
 * once. Members that the layout does not have are left alone. False when the record is too short
 * for what it claims; then the sample is not to be used. */
bool dwell_perf_sample_decode(const struct dwell_perf_layout *layout, const void *payload,
			      uint32_t bytes, struct dwell_perf_sample *ret_sample);

/* The count of a group's event i < group_count, and the id of the event; 0 when it is not told. */
void dwell_perf_sample_count(const struct dwell_perf_layout *layout,
			     const struct dwell_perf_sample *sample, uint64_t i, uint64_t *ret_id,
			     uint64_t *ret_value);

/* Decodes the sample_id trailer of any other record, from its end. False when too short. */
bool dwell_perf_trailer_decode(const struct dwell_perf_layout *layout, const void *payload,
			       uint32_t bytes, struct dwell_perf_sample *ret_sample);

/* Bytes of the trailer; 0 without sample_id_all. */
uint32_t dwell_perf_trailer_bytes(const struct dwell_perf_layout *layout);

#endif
