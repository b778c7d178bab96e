/* SPDX-License-Identifier: MIT */
/* The layout of PERF_RECORD_SAMPLE and of the sample_id trailer, in one table each: bytes become a
 * struct dwell_perf_sample. Source of the order: include/uapi/linux/perf_event.h. Shared by the
 * recorder (rings) and the perf.data reader. */
#ifndef DWELL_PARSE_PERF_SAMPLE_H
#define DWELL_PARSE_PERF_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

struct dwell_perf_sample {
	uint64_t id; /* PERF_SAMPLE_IDENTIFIER, else PERF_SAMPLE_ID */
	uint64_t ip, time_ns, addr, stream_id, period;
	uint32_t pid, tid, cpu;
	const uint64_t *chain; /* callchain with its context markers; into the record */
	uint64_t chain_count;
	const uint8_t *raw; /* tracepoint bytes; into the record */
	uint32_t raw_bytes;
};

/* The sample types whose fields are decoded; a type beyond them ends decoding. */
#define DWELL_PERF_SAMPLE_TYPES                                                         \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |  \
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW)

/* Decodes the payload of a SAMPLE record (behind its 8-byte header), 8-byte aligned, of an event
 * with sample_type. Members not in sample_type are left alone. False when the record is too short
 * for what it claims; then the sample is not to be used. */
bool dwell_perf_sample_decode(uint64_t sample_type, const void *payload, uint32_t bytes,
			      struct dwell_perf_sample *ret_sample);

/* Decodes the sample_id trailer of any other record, from its end. False when too short. */
bool dwell_perf_trailer_decode(uint64_t sample_type, const void *payload, uint32_t bytes,
			       struct dwell_perf_sample *ret_sample);

/* Bytes of the trailer for sample_type. */
uint32_t dwell_perf_trailer_bytes(uint64_t sample_type);

#endif
