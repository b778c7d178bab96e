// SPDX-License-Identifier: MIT
/* Fuzzing of perf.data: bytes are opened as a file and, told by their header, as a pipe. Whatever
 * they say, records come in time order, whole, and inside their tables. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/io.h"
#include "parse/perf/data.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void tables_check(const struct dwell_perf_data *data)
{
	const struct dwell_perf_build_id *build_id;
	const struct dwell_perf_format *format;
	const struct dwell_perf_event *event;
	size_t length = 0;

	for (uint32_t i = 0; (event = dwell_perf_data_event(data, i)); i++)
		length += strlen(event->name);
	for (uint32_t i = 0; (format = dwell_perf_data_format(data, i)); i++)
		length += strlen(format->system) + strlen(format->text);
	for (uint32_t i = 0; (build_id = dwell_perf_data_build_id(data, i)); i++) {
		length += strlen(build_id->path);
		if (build_id->bytes > sizeof(build_id->id))
			abort();
	}
	if (length > 1u << 30)
		abort();
}

/* Where the name of a record begins, or 0. */
static uint32_t name_at(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_MMAP:
		return 32;
	case PERF_RECORD_COMM:
		return 8;
	case PERF_RECORD_MMAP2:
		return 64;
	case 17: /* KSYMBOL */
		return 16;
	case 19: /* CGROUP */
		return 8;
	default:
		return 0;
	}
}

static void record_check(const struct dwell_perf_data *data, const struct dwell_perf_record *record)
{
	const struct dwell_perf_event *event = dwell_perf_data_event(data, record->event);
	struct dwell_perf_sample sample = { 0 };

	if (!event || (uintptr_t)record->payload % 8 || record->type == 0 ||
	    record->type >= DWELL_PERF_USER_TYPES)
		abort();
	for (uint32_t i = 0; i < record->bytes; i++)
		(void)*(volatile uint8_t *)&record->payload[i];
	if (record->type == PERF_RECORD_SAMPLE) {
		dwell_perf_sample_decode(&event->layout, record->payload, record->bytes, &sample);
		return;
	}
	if (!dwell_perf_trailer_decode(&event->layout, record->payload, record->bytes, &sample))
		abort();
	if (name_at(record->type) && !memchr(record->payload + name_at(record->type), 0,
					     record->bytes - name_at(record->type)))
		abort();
}

static void read_all(struct dwell_perf_data *data)
{
	uint64_t last_ns = 0;
	struct dwell_perf_record record;
	int rc;

	tables_check(data);
	while ((rc = dwell_perf_data_next(data, &record, NULL)) == 1) {
		record_check(data, &record);
		if (record.time_ns < last_ns)
			abort();
		last_ns = record.time_ns;
	}
	if (rc)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct dwell_perf_data *data;

	if (fd < 0 || dwell_io_write(fd, bytes, count))
		abort();
	if (!dwell_perf_data_open(fd, "fuzz", false, NULL, 0, &data, NULL)) {
		read_all(data);
		dwell_perf_data_free(data);
	}
	close(fd);
	return 0;
}
