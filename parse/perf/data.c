// SPDX-License-Identifier: MIT
/* A perf.data becomes its description and its kernel records in time order: opening runs pass one
 * over every segment, next() (order.c) is pass two. */
#include "parse/perf/data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "parse/perf/data_impl.h"

/* Pass one over everything. */
static int data_index(struct dwell_perf_data *data, struct dwell_err *err)
{
	uint64_t offset, end;
	uint32_t files;
	bool pipe;
	int rc = header_read(data, &offset, &end, &pipe, err);

	if (rc)
		return rc;
	if (pipe)
		data->info.form = "pipe";
	files = data->segments.count;
	rc = walk_segment(data, 0, offset, end, err);
	for (uint32_t i = 1; !rc && i < files; i++)
		rc = walk_segment(data, i, 0, data->segments.data[i].bytes, err);
	return rc;
}

static int data_finish(struct dwell_perf_data *data, struct dwell_err *err)
{
	int rc;

	if (!data->events.count)
		return dwell_err_set(err, -EINVAL, "'%s' describes no event", data->path);
	if (data->info.start_ns > data->info.end_ns)
		data->info.start_ns = data->info.end_ns;
	rc = event_table_finish(data);
	if (!rc)
		rc = order_new(data);
	return rc ? dwell_err_sys(err, rc, "cannot read '%s'", data->path) : 0;
}

int dwell_perf_data_open(int fd, const char *path, bool is_directory, const uint8_t *head,
			 uint32_t head_bytes, struct dwell_perf_data **ret_data,
			 struct dwell_err *err)
{
	struct dwell_perf_data *data = calloc(1, sizeof(*data));
	int rc;

	if (!data)
		return dwell_err_sys(err, -ENOMEM, "cannot read '%s'", path);
	data->info.form = is_directory ? "directory" : "file";
	data->info.start_ns = UINT64_MAX;
	data->id_seed = dwell_hash_seed();
	data->path = strdup(path);
	if (!data->path) {
		rc = dwell_err_sys(err, -ENOMEM, "cannot read '%s'", path);
		goto fail;
	}
	rc = segments_add_input(data, fd, head, head_bytes, err);
	if (!rc && is_directory)
		rc = directory_add(data, err);
	if (!rc)
		rc = data_index(data, err);
	if (!rc)
		rc = data_finish(data, err);
	if (rc)
		goto fail;
	*ret_data = data;
	return 0;
fail:
	dwell_perf_data_free(data);
	return rc;
}

void dwell_perf_data_free(struct dwell_perf_data *data)
{
	struct dwell_perf_data_info *info;

	if (!data)
		return;
	info = &data->info;
	order_free(data->order);
	segments_release(data);
	event_table_release(data);
	formats_release(data);
	build_ids_release(data);
	dwell_array_release(&data->runs);
	dwell_array_release(&data->deferred);
	dwell_idmap_release(&data->cookies);
	free(info->hostname);
	free(info->osrelease);
	free(info->version);
	free(info->arch);
	free(info->cpudesc);
	free(info->cpuid);
	free(info->cmdline);
	free(info->kcore_dir);
	free(data->path);
	free(data);
}

const struct dwell_perf_data_info *dwell_perf_data_info(const struct dwell_perf_data *data)
{
	return &data->info;
}

const struct dwell_perf_event *dwell_perf_data_event(const struct dwell_perf_data *data,
						     uint32_t index)
{
	return index < data->events.count ? &data->events.data[index] : NULL;
}

int64_t dwell_perf_data_event_of(const struct dwell_perf_data *data, uint64_t id)
{
	return (int64_t)dwell_idmap_find(&data->ids, id ^ data->id_seed) - 1;
}

const struct dwell_perf_format *dwell_perf_data_format(const struct dwell_perf_data *data,
						       uint32_t index)
{
	return index < data->formats.count ? &data->formats.data[index] : NULL;
}

const struct dwell_perf_build_id *dwell_perf_data_build_id(const struct dwell_perf_data *data,
							   uint32_t index)
{
	return index < data->build_ids.count ? &data->build_ids.data[index] : NULL;
}
