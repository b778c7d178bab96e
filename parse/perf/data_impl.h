/* SPDX-License-Identifier: MIT */
/* What the parts of the perf.data reader share: where the bytes are (segments), which events there
 * are, and the index of runs. A walk (walk.c) fills them, a merge (order.c) reads them. */
#ifndef PARSE_PERF_DATA_IMPL_H
#define PARSE_PERF_DATA_IMPL_H

#include "lib/array.h"
#include "lib/idmap.h"
#include "parse/perf/bytes.h"
#include "parse/perf/data.h"

enum {
	RECORD_HEADER_BYTES = 8, /* u32 type, u16 misc, u16 size */
	RECORD_MAX_BYTES = 1 << 16,
	PIECE_BYTES = 1 << 20, /* read at once while indexing */
	EVENTS_MAX = 1 << 16,  /* as perf's own limit */
	CPUS_MAX = 1 << 20,
};

/* Stamps from here on belong to aggregates that have no point in time (`perf record --off-cpu`
 * before Linux 6.16) or, ~0, to nothing: they sort last. */
#define TIME_NONE_NS 0xffffffff00000000ull

/* Where records are: the input itself, a file of a directory, or a spool. */
struct segment {
	int fd;
	bool owned;	/* close it */
	uint64_t bytes; /* when it was opened; a spool's so far */
};

/* A contiguous stretch of records, each a multiple of 8 bytes long, whose stamps do not go back. */
struct run {
	uint64_t first_ns, offset;
	uint32_t segment, bytes;
};

/* A user callchain that was taken after the sample it belongs to. */
struct deferred {
	uint64_t offset; /* of its first address */
	uint32_t segment, count, tid;
};

enum { DEFERRED_FIXED_BYTES = 16 }; /* cookie, count */

/* Bytes from the start of a sample's payload, and back from the end of any other's, to what order
 * needs; -1 = it has none. From struct dwell_perf_layout, in one cache line. */
struct places {
	int16_t time, id, tid, cpu;
	int16_t end_time, end_id, end_tid, end_cpu;
	uint16_t sample_bytes; /* least that a sample must have for the places to be inside */
	uint16_t trailer_bytes;
};

/* The form of a kernel record: which fields its payload opens with. */
struct kernel_form {
	const char *
		widths; /* bytes of each fixed field, '*' = u64 up to the trailer; NULL = unknown */
	uint8_t bytes;	/* least payload without the trailer */
	bool named;	/* a NUL-terminated string ends it: its NUL counts in bytes */
};

/* ---- kernel_form.c */

extern const struct kernel_form kernel_forms[DWELL_PERF_USER_TYPES];

/* Both take the payload without its trailer, at least as long as its form says. */
void kernel_record_swap(uint32_t type, uint16_t misc, uint8_t *payload, uint32_t bytes);
/* Makes sure of the NUL of a name, cutting its last byte where there is none. */
void kernel_record_terminate(uint32_t type, uint8_t *payload, uint32_t bytes);

struct order;

struct dwell_perf_data {
	struct dwell_perf_data_info info;
	char *path;
	DWELL_ARRAY(struct segment) segments;
	uint32_t unpacked_segment; /* the spool of all that was compressed; 0 = none yet */
	DWELL_ARRAY(struct dwell_perf_event) events;
	DWELL_ARRAY(struct places) places; /* of each event */
	bool same_places;		   /* all alike: no id needed to find the stamp */
	bool same_id, same_end_id;	   /* the id stands at the same place in all */
	bool features_expected;
	struct dwell_idmap ids; /* id ^ id_seed -> event + 1 */
	uint64_t id_seed;
	DWELL_ARRAY(struct dwell_perf_format) formats;
	DWELL_ARRAY(struct dwell_perf_build_id) build_ids;
	DWELL_ARRAY(struct deferred) deferred;
	struct dwell_idmap cookies; /* cookie ^ id_seed -> deferred + 1 */
	DWELL_ARRAY(struct run) runs;
	struct order *order;
};

/* ---- segments.c */

/* Adds the input: itself when it can be positioned, else a spooled copy of it. */
int segments_add_input(struct dwell_perf_data *data, int fd, const uint8_t *head,
		       uint32_t head_bytes, struct dwell_err *err);
int segments_add(struct dwell_perf_data *data, int fd, bool owned, uint64_t bytes);
/* Adds an empty spool; its index is ret_segment. */
int segments_add_spool(struct dwell_perf_data *data, uint32_t *ret_segment, struct dwell_err *err);
/* Appends to a spool. */
int segment_append(struct segment *segment, const void *bytes, uint64_t count,
		   struct dwell_err *err);
/* Reads up to count bytes, fewer only at the end of what was there when it was opened or where the
 * file was cut meanwhile. The number read, or -errno with err set. */
int64_t segment_read(const struct dwell_perf_data *data, uint32_t segment, uint64_t offset,
		     void *bytes, uint64_t count, struct dwell_err *err);
/* A part of a segment in memory of its own. 0, -EINVAL when it is not wholly there, or -errno with
 * err set. */
int segment_load(const struct dwell_perf_data *data, uint32_t segment, uint64_t offset,
		 uint64_t count, uint8_t **ret_bytes, struct dwell_err *err);
void segments_release(struct dwell_perf_data *data);

/* ---- directory.c */

/* Adds what stands beside the input in its directory: data.N, and kcore_dir to the info. */
int directory_add(struct dwell_perf_data *data, struct dwell_err *err);

/* ---- event.c */

/* Adds an event of these attr bytes. 0, -EINVAL when it cannot be one, or -ENOMEM. */
int event_table_add(struct dwell_perf_data *data, const uint8_t *attr, uint32_t bytes);
int event_table_add_id(struct dwell_perf_data *data, uint64_t id, uint32_t event);
/* Names the event, unless it has a name already. */
int event_table_set_name(struct dwell_perf_data *data, uint32_t event, const char *name);
/* Names those without one: by the tracepoint formats, else by their attr. */
int event_table_finish(struct dwell_perf_data *data);
void event_table_release(struct dwell_perf_data *data);

/* The event of an id: its index, or -1 when nobody knows the id. */
static inline int64_t event_table_find(const struct dwell_perf_data *data, uint64_t id)
{
	return id ? (int64_t)dwell_idmap_find(&data->ids, id ^ data->id_seed) - 1 : 0;
}

/* ---- header.c, features.c, tracing_data.c */

/* Reads the header of segment 0: *ret_offset and *ret_end are where its records are, *ret_pipe says
 * that everything else is among them. */
int header_read(struct dwell_perf_data *data, uint64_t *ret_offset, uint64_t *ret_end,
		bool *ret_pipe, struct dwell_err *err);
/* Takes in the body of a feature section. 0, -EINVAL when it is damaged, or -ENOMEM. */
int feature_decode(struct dwell_perf_data *data, uint32_t bit, const uint8_t *body, uint64_t bytes);
/* Is there anything known about the bit? Is it of use here? Only then it may be decoded. */
bool feature_is_known(uint32_t bit);
bool feature_is_needed(uint32_t bit);
int tracing_data_decode(struct dwell_perf_data *data, const uint8_t *body, uint64_t bytes);
void formats_release(struct dwell_perf_data *data);

/* ---- build_ids.c */

/* A record, header included; a feature section full of them. */
int build_id_decode(struct dwell_perf_data *data, const uint8_t *record, uint32_t bytes);
int build_ids_decode(struct dwell_perf_data *data, struct bytes *body);
void build_ids_release(struct dwell_perf_data *data);

/* ---- simpleperf.c */

int simpleperf_meta_decode(struct dwell_perf_data *data, struct bytes *body);

/* ---- walk.c, user.c */

/* Indexes the records of a segment from offset to end. */
int walk_segment(struct dwell_perf_data *data, uint32_t segment, uint64_t offset, uint64_t end,
		 struct dwell_err *err);
/* Takes in a record that perf itself wrote. 0, -EINVAL when it is damaged, or -ENOMEM. */
int user_record(struct dwell_perf_data *data, uint32_t type, const uint8_t *record, uint32_t bytes);

/* ---- order.c */

int order_new(struct dwell_perf_data *data);
void order_free(struct order *order);

/* ---- what both passes ask of a kernel record */

struct record_place {
	uint64_t stamp;		  /* its own; meaningless unless stamped */
	const uint8_t *tid, *cpu; /* where they stand, NULL = nowhere */
	uint32_t event;
	uint32_t trailer_bytes;
	bool stamped, unknown_id;
};

/* Which event a record is of. Id 0 (records that perf made up) is the first one's. */
static inline uint32_t record_event(const struct dwell_perf_data *data, bool sample,
				    const uint8_t *payload, uint32_t bytes, bool *ret_unknown)
{
	const struct places *places = data->places.data;
	int64_t event = -1;

	if (data->events.count < 2)
		return 0;
	if (sample && data->same_id && places->id >= 0 && (uint32_t)places->id + 8 <= bytes)
		event = event_table_find(data, load_u64(payload + places->id, data->info.swapped));
	else if (!sample && !places->trailer_bytes)
		return 0;
	else if (!sample && data->same_end_id && places->end_id >= 0 &&
		 (uint32_t)places->end_id <= bytes)
		event = event_table_find(data, load_u64(payload + bytes - places->end_id,
							data->info.swapped));
	*ret_unknown = event < 0;
	return event < 0 ? 0 : (uint32_t)event;
}

/* Finds what order needs of a kernel record of a known type. False when it is too short. */
static inline bool record_find(const struct dwell_perf_data *data, uint32_t type,
			       const uint8_t *payload, uint32_t bytes,
			       struct record_place *ret_place)
{
	bool sample = type == PERF_RECORD_SAMPLE;
	const struct places *places = data->places.data;
	struct record_place place = { 0 };

	if (bytes < kernel_forms[type].bytes)
		return false;
	if (data->events.count) {
		place.event = record_event(data, sample, payload, bytes, &place.unknown_id);
		if (!data->same_places)
			places += place.event;
		if (sample) {
			if (bytes < places->sample_bytes)
				return false;
			place.tid = places->tid < 0 ? NULL : payload + places->tid;
			place.cpu = places->cpu < 0 ? NULL : payload + places->cpu;
			place.stamped = places->time >= 0;
			if (place.stamped)
				place.stamp = load_u64(payload + places->time, data->info.swapped);
		} else {
			const uint8_t *end = payload + bytes;

			if (bytes < (uint32_t)kernel_forms[type].bytes + places->trailer_bytes)
				return false;
			place.trailer_bytes = places->trailer_bytes;
			place.tid = places->end_tid < 0 ? NULL : end - places->end_tid;
			place.cpu = places->end_cpu < 0 ? NULL : end - places->end_cpu;
			place.stamped = places->end_time >= 0;
			if (place.stamped)
				place.stamp = load_u64(end - places->end_time, data->info.swapped);
		}
	}
	*ret_place = place;
	return true;
}

/* ---- deferred.c */

/* Notes a CALLCHAIN_DEFERRED record whose payload stands at offset. 0 or -ENOMEM. */
int deferred_add(struct dwell_perf_data *data, uint32_t segment, uint64_t offset,
		 const uint8_t *payload, uint32_t bytes, const struct record_place *place);

#endif
