// SPDX-License-Identifier: MIT
/* User callchains that the kernel took later, on the way back to user mode: each is found again by
 * its cookie, which samples carry in the place of the user part. */
#include <errno.h>

#include "parse/perf/data_impl.h"

int deferred_add(struct dwell_perf_data *data, uint32_t segment, uint64_t offset,
		 const uint8_t *payload, uint32_t bytes, const struct record_place *place)
{
	uint64_t cookie = load_u64(payload, data->info.swapped);
	uint64_t count = load_u64(payload + 8, data->info.swapped);
	uint32_t room = (bytes - place->trailer_bytes - DEFERRED_FIXED_BYTES) / 8;

	if (dwell_array_grow(&data->deferred))
		return -ENOMEM;
	data->deferred.data[data->deferred.count++] = (struct deferred){
		.offset = offset + DEFERRED_FIXED_BYTES,
		.segment = segment,
		.count = count < room ? (uint32_t)count : room,
		.tid = place->tid ? load_u32(place->tid + 4, data->info.swapped) : UINT32_MAX,
	};
	return dwell_idmap_set(&data->cookies, cookie ^ data->id_seed, data->deferred.count);
}

int64_t dwell_perf_data_deferred(struct dwell_perf_data *data, uint64_t cookie, uint32_t tid,
				 uint64_t *chain, uint32_t room, struct dwell_err *err)
{
	uint32_t index = dwell_idmap_find(&data->cookies, cookie ^ data->id_seed), count;
	const struct deferred *deferred;
	int64_t n;

	if (!index)
		return 0;
	deferred = &data->deferred.data[index - 1];
	if (deferred->tid != tid)
		return 0;
	count = deferred->count < room ? deferred->count : room;
	n = segment_read(data, deferred->segment, deferred->offset, chain, 8ull * count, err);
	for (int64_t i = 0; data->info.swapped && i < n / 8; i++)
		chain[i] = bswap_64(chain[i]);
	return n < 0 ? n : n / 8;
}
