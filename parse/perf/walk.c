// SPDX-License-Identifier: MIT
/* Pass one: a segment's bytes, read once from front to back, become an index of runs and what the
 * records say about the recording. Reading stops at the first byte that cannot be right. */
#include <errno.h>
#include <stdlib.h>

#include "lib/unzstd.h"
#include "parse/perf/data_impl.h"

enum {
	RUN_MAX_BYTES = 1 << 30,
	SIMPLEPERF_TYPES = 1 << 15,
	SIMPLEPERF_TRACING_DATA = SIMPLEPERF_TYPES + 9,
	/* Of PERF_RECORD_LOST_SAMPLES: filtered by a BPF program, which is no loss. */
	LOST_SAMPLES_BPF = 1 << 15,
};

struct walk {
	struct dwell_perf_data *data;
	struct dwell_err *err;
	uint32_t segment;
	uint64_t at, end; /* offsets in the segment: of the next record, and where records end */
	uint8_t *buffer;
	uint32_t used, filled; /* buffer[used] is the byte at `at` */
	struct run run;	       /* open unless 0 bytes long */
	uint64_t stamp;	       /* of the last kernel record */
	bool broken;	       /* the next record does not go on with the run */
	bool stopped;
	bool unpacked;		     /* the segment is a spool of what was compressed */
	struct walk *inner;	     /* over what was compressed here; NULL = nothing yet */
	struct dwell_unzstd *unzstd; /* the inner one's */
};

static int run_close(struct walk *walk)
{
	struct dwell_perf_data *data = walk->data;

	if (!walk->run.bytes)
		return 0;
	if (dwell_array_grow(&data->runs))
		return dwell_err_sys(walk->err, -ENOMEM, "cannot index '%s'", data->path);
	data->runs.data[data->runs.count++] = walk->run;
	walk->run.bytes = 0;
	return 0;
}

/* Puts a record of that stamp at walk->at into the index. */
static inline int run_add(struct walk *walk, uint64_t stamp, uint32_t bytes)
{
	struct run *run = &walk->run;
	int rc;

	if (stamp < walk->stamp || walk->broken || !run->bytes || run->bytes >= RUN_MAX_BYTES) {
		rc = run_close(walk);
		if (rc)
			return rc;
		*run = (struct run){ stamp, walk->at, walk->segment, 0 };
		walk->broken = false;
	}
	walk->stamp = stamp;
	run->bytes = (uint32_t)(walk->at + bytes - run->offset);
	return 0;
}

/* What a stamped record says about the recording. */
static inline void note_stamped(struct dwell_perf_data_info *info, uint32_t type,
				const struct record_place *place)
{
	/* simpleperf stamps mappings of its JIT files by when the code was made, which may be days
	 * before. */
	if (type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2)
		return;
	if (place->stamp < info->start_ns)
		info->start_ns = place->stamp;
	if (place->stamp > info->end_ns)
		info->end_ns = place->stamp;
	if (place->cpu) {
		uint32_t cpu = load_u32(place->cpu, info->swapped);

		if (cpu >= info->cpus_seen && cpu < CPUS_MAX)
			info->cpus_seen = cpu + 1;
	}
	if (place->tid && !load_u32(place->tid + 4, info->swapped) &&
	    (type == PERF_RECORD_SAMPLE || type == PERF_RECORD_SWITCH ||
	     type == PERF_RECORD_SWITCH_CPU_WIDE))
		info->idle_seen = true;
}

static void note_rare(struct dwell_perf_data_info *info, uint32_t type, uint16_t misc,
		      const uint8_t *payload)
{
	if (type == PERF_RECORD_SWITCH_CPU_WIDE)
		info->switch_cpu_wide_seen = true;
	if (type == PERF_RECORD_LOST_SAMPLES && !(misc & LOST_SAMPLES_BPF))
		info->lost_samples += load_u64(payload, info->swapped);
}

static inline int kernel_record(struct walk *walk, uint32_t type, uint16_t misc,
				const uint8_t *payload, uint32_t bytes)
{
	struct dwell_perf_data_info *info = &walk->data->info;
	struct record_place place;
	uint64_t stamp;

	if (!kernel_forms[type].widths) {
		info->records[0]++;
		info->unknown_records++;
		return 0;
	}
	if (!record_find(walk->data, type, payload, bytes, &place)) {
		info->bad_records++;
		return 0;
	}
	info->records[type]++;
	info->unknown_ids += place.unknown_id;
	if (type == PERF_RECORD_SAMPLE && place.event < walk->data->events.count)
		walk->data->events.data[place.event].samples++;
	if (place.stamped && place.stamp && place.stamp < TIME_NONE_NS)
		note_stamped(info, type, &place);
	if (type > PERF_RECORD_SAMPLE)
		note_rare(info, type, misc, payload);
	if (type == DWELL_PERF_CALLCHAIN_DEFERRED &&
	    deferred_add(walk->data, walk->segment, walk->at + RECORD_HEADER_BYTES, payload, bytes,
			 &place))
		return dwell_err_sys(walk->err, -ENOMEM, "cannot index '%s'", walk->data->path);
	stamp = place.stamped ? place.stamp : walk->stamp;
	return run_add(walk, stamp, bytes + RECORD_HEADER_BYTES);
}

static int walk_stop(struct walk *walk, bool damaged)
{
	walk->stopped = true;
	walk->data->info.damaged |= damaged;
	return 0;
}

/* Passes over bytes that are not records. */
static void walk_skip(struct walk *walk, uint64_t count)
{
	uint64_t here = walk->filled - walk->used;

	walk->broken = true;
	if (count > walk->end - walk->at) {
		walk->data->info.unread_bytes += count - (walk->end - walk->at);
		count = walk->end - walk->at;
		walk_stop(walk, false);
	}
	walk->at += count;
	walk->used += (uint32_t)(count < here ? count : here);
}

static int walk_buffer(struct walk *walk);

/* Passes over a record and the bytes behind it that are not records. */
static void walk_pass(struct walk *walk, uint32_t bytes, uint64_t extra)
{
	walk->used += bytes;
	walk->at += bytes;
	if (bytes % 8)
		walk->broken = true;
	if (extra)
		walk_skip(walk, extra);
}

/* Tracing data stand behind their record, whose size does not count them; simpleperf's are in it.
 */
static int walk_tracing(struct walk *walk, const uint8_t *record, uint32_t bytes)
{
	enum { AT_BYTES = 8, AT_INSIDE = 12, RECORD_BYTES = 16 };
	struct dwell_perf_data *data = walk->data;
	uint64_t extra;
	uint8_t *body;
	int rc;

	if (bytes < AT_INSIDE)
		return walk_stop(walk, true);
	extra = load_u32(record + AT_BYTES, data->info.swapped);
	if (bytes > RECORD_BYTES) {
		rc = extra > bytes - AT_INSIDE
			     ? -EINVAL
			     : tracing_data_decode(data, record + AT_INSIDE, extra);
		extra = 0;
	} else {
		rc = segment_load(data, walk->segment, walk->at + bytes, extra, &body, walk->err);
		if (!rc) {
			rc = tracing_data_decode(data, body, extra);
			free(body);
		}
	}
	data->info.bad_features += rc == -EINVAL;
	walk_pass(walk, bytes, extra);
	return rc == -EINVAL ? 0 : rc;
}

static struct walk *walk_new(struct dwell_perf_data *data, struct dwell_err *err, uint32_t segment,
			     uint64_t offset, uint64_t end)
{
	struct walk *walk = calloc(1, sizeof(*walk));

	if (walk)
		*walk = (struct walk){
			.data = data, .err = err, .segment = segment, .at = offset, .end = end
		};
	if (walk)
		walk->buffer = malloc(PIECE_BYTES);
	if (!walk || !walk->buffer) {
		free(walk);
		dwell_err_sys(err, -ENOMEM, "cannot read '%s'", data->path);
		return NULL;
	}
	return walk;
}

static void walk_free(struct walk *walk)
{
	if (!walk)
		return;
	dwell_unzstd_free(walk->unzstd);
	free(walk->buffer);
	free(walk);
}

/* What is compressed in one file is one stream, whose records go on from one to the next. */
static int inner_open(struct walk *walk)
{
	struct dwell_perf_data *data = walk->data;
	int rc;

	if (!data->unpacked_segment) {
		rc = segments_add_spool(data, &data->unpacked_segment, walk->err);
		if (rc)
			return rc;
	}
	walk->inner = walk_new(data, walk->err, data->unpacked_segment,
			       data->segments.data[data->unpacked_segment].bytes, UINT64_MAX);
	if (!walk->inner)
		return -ENOMEM;
	walk->inner->unpacked = true;
	walk->inner->unzstd = dwell_unzstd_new();
	return walk->inner->unzstd
		       ? 0
		       : dwell_err_sys(walk->err, -ENOMEM, "cannot read '%s'", data->path);
}

/* Unpacks as much as fits behind what is left in the buffer. 1, 0 when nothing came, or -errno. */
static int inner_fill(struct walk *inner, const uint8_t **src, const uint8_t *end)
{
	struct dwell_perf_data *data = inner->data;
	struct segment *spool = &data->segments.data[inner->segment];
	uint64_t passed;
	int64_t n;
	int rc;

	memmove(inner->buffer, inner->buffer + inner->used, inner->filled - inner->used);
	inner->filled -= inner->used;
	inner->used = 0;
	n = dwell_unzstd_feed(inner->unzstd, src, end, inner->buffer + inner->filled,
			      PIECE_BYTES - inner->filled);
	if (n <= 0)
		return (int)n;
	/* Bytes that are no records may still be passed over from the piece before. */
	passed = inner->at > spool->bytes ? inner->at - spool->bytes : 0;
	data->info.decompressed_bytes += (uint64_t)n;
	rc = segment_append(spool, inner->buffer + inner->filled, (uint64_t)n, inner->err);
	if (rc)
		return rc;
	inner->filled += (uint32_t)n;
	inner->used += (uint32_t)(passed < (uint64_t)n ? passed : (uint64_t)n);
	return 1;
}

/* The records inside of a compressed one. */
static int walk_compressed(struct walk *walk, uint32_t type, const uint8_t *record, uint32_t bytes)
{
	enum { V2_BYTES = 16 };
	const uint8_t *at = record + RECORD_HEADER_BYTES, *end = record + bytes;
	int rc = 0;

	if (walk->unpacked)
		return walk_stop(walk, true);
	if (type == DWELL_PERF_COMPRESSED2) {
		uint64_t payload =
			bytes < V2_BYTES ? UINT64_MAX : load_u64(at, walk->data->info.swapped);

		if (payload > bytes - V2_BYTES)
			return walk_stop(walk, true);
		at = record + V2_BYTES;
		end = at + payload;
	}
	if (!walk->inner)
		rc = inner_open(walk);
	walk->data->info.compressed_bytes += (uint64_t)(end - at);
	while (!rc && !walk->inner->stopped) {
		rc = inner_fill(walk->inner, &at, end);
		if (rc <= 0)
			break;
		rc = walk_buffer(walk->inner);
	}
	if (rc && rc != -EBADMSG)
		return rc;
	if (rc || walk->inner->stopped)
		return walk_stop(walk, true);
	walk_pass(walk, bytes, 0);
	walk->broken = true;
	return 0;
}

/* One record of perf's own. Behind some stand bytes that are not records. */
static int walk_user(struct walk *walk, uint32_t type, uint32_t bytes)
{
	enum { AUXTRACE_MIN_BYTES = 16 };
	struct dwell_perf_data *data = walk->data;
	const uint8_t *record = walk->buffer + walk->used;
	uint64_t extra = 0;
	int rc = 0;

	if (type == DWELL_PERF_HEADER_TRACING_DATA) {
		rc = walk_tracing(walk, record, bytes);
	} else if (type == DWELL_PERF_COMPRESSED || type == DWELL_PERF_COMPRESSED2) {
		rc = walk_compressed(walk, type, record, bytes);
	} else if (type == DWELL_PERF_AUXTRACE) {
		if (bytes < AUXTRACE_MIN_BYTES)
			return walk_stop(walk, true);
		extra = load_u64(record + RECORD_HEADER_BYTES, data->info.swapped);
		data->info.aux_bytes += extra < walk->end - walk->at ? extra : walk->end - walk->at;
		walk_pass(walk, bytes, extra);
	} else {
		rc = user_record(data, type, record, bytes);
		data->info.bad_records += rc == -EINVAL;
		rc = rc == -EINVAL ? 0 : rc;
		walk_pass(walk, bytes, 0);
	}
	return rc ? dwell_err_sys(walk->err, rc, "cannot read '%s'", data->path) : 0;
}

/* simpleperf's own records: sizes have 32 bits there, the upper ones in the place of misc. Tracing
 * data are one of them. */
static int walk_simpleperf(struct walk *walk, uint32_t type, uint32_t bytes)
{
	struct dwell_perf_data *data = walk->data;
	uint64_t at = walk->at + RECORD_HEADER_BYTES + sizeof(uint32_t);
	uint8_t *body;
	int rc = 0;

	if (bytes < RECORD_HEADER_BYTES)
		return walk_stop(walk, true);
	if (type == SIMPLEPERF_TRACING_DATA && bytes > RECORD_HEADER_BYTES + sizeof(uint32_t)) {
		uint64_t body_bytes = bytes - (at - walk->at);

		rc = segment_load(data, walk->segment, at, body_bytes, &body, walk->err);
		if (!rc) {
			rc = tracing_data_decode(data, body, body_bytes);
			free(body);
		}
		data->info.bad_features += rc == -EINVAL;
	} else {
		data->info.records[0]++;
		data->info.unknown_records++;
	}
	walk_pass(walk, RECORD_HEADER_BYTES, bytes - RECORD_HEADER_BYTES);
	return rc && rc != -EINVAL ? dwell_err_sys(walk->err, rc, "cannot read '%s'", data->path)
				   : 0;
}

/* Takes in the whole records in the buffer. */
static int walk_buffer(struct walk *walk)
{
	bool swapped = walk->data->info.swapped;
	int rc = 0;

	while (!rc && !walk->stopped && walk->filled - walk->used >= RECORD_HEADER_BYTES) {
		const uint8_t *record = walk->buffer + walk->used;
		uint32_t type = load_u32(record, swapped);
		uint16_t misc = load_u16(record + 4, swapped);
		uint32_t bytes = load_u16(record + 6, swapped);

		if (type >= SIMPLEPERF_TYPES) {
			rc = walk_simpleperf(walk, type, (uint32_t)misc << 16 | bytes);
			continue;
		}
		if (bytes < RECORD_HEADER_BYTES || (bytes % 8 && type < DWELL_PERF_USER_TYPES))
			return walk_stop(walk, true);
		if (bytes > walk->filled - walk->used)
			return 0;
		if (type >= DWELL_PERF_USER_TYPES) {
			rc = walk_user(walk, type, bytes);
			continue;
		}
		rc = kernel_record(walk, type, misc, record + RECORD_HEADER_BYTES,
				   bytes - RECORD_HEADER_BYTES);
		walk->used += bytes;
		walk->at += bytes;
	}
	return rc;
}

/* Reads the next piece behind what is left in the buffer; none = the end. */
static int walk_fill(struct walk *walk)
{
	uint64_t left = walk->end - walk->at, room;
	uint32_t rest = walk->filled - walk->used;
	int64_t n;

	memmove(walk->buffer, walk->buffer + walk->used, rest);
	walk->used = 0;
	walk->filled = rest;
	room = PIECE_BYTES - rest;
	n = segment_read(walk->data, walk->segment, walk->at + rest, walk->buffer + rest,
			 left - rest < room ? left - rest : room, walk->err);
	if (n < 0)
		return (int)n;
	if (n == 0)
		walk_stop(walk, false);
	walk->filled += (uint32_t)n;
	return 0;
}

/* Closes what is open; bytes behind the last whole record stay unread. */
static int walk_end(struct walk *walk)
{
	int rc = run_close(walk);

	if (!rc && walk->inner) {
		walk->data->info.unread_bytes += walk->inner->filled - walk->inner->used;
		rc = run_close(walk->inner);
	}
	return rc;
}

int walk_segment(struct dwell_perf_data *data, uint32_t segment, uint64_t offset, uint64_t end,
		 struct dwell_err *err)
{
	struct walk *walk = walk_new(data, err, segment, offset, end);
	int rc = 0;

	if (!walk)
		return -ENOMEM;
	while (!rc && !walk->stopped) {
		rc = walk_fill(walk);
		if (!rc && !walk->stopped)
			rc = walk_buffer(walk);
	}
	if (!rc)
		rc = walk_end(walk);
	data->info.unread_bytes += end - walk->at;
	data->info.data_bytes += end - offset;
	walk_free(walk->inner);
	walk_free(walk);
	return rc;
}
