/* SPDX-License-Identifier: MIT */
/* A perf.data in memory becomes its records, through the reader. For unit tests. */
#ifndef DWELL_TESTS_SYNTH_PERFREAD_H
#define DWELL_TESTS_SYNTH_PERFREAD_H

#include <sys/mman.h>
#include <unistd.h>

#include "lib/io.h"
#include "tests/synth/perffile.h"

/* A file of these bytes that nobody else sees. */
static inline int perf_fd(const struct perf_bytes *b)
{
	int fd = memfd_create("perf.data", MFD_CLOEXEC);

	if (fd < 0 || dwell_io_write(fd, b->data, b->count))
		abort();
	return fd;
}

/* What came out: of a sample its ip, of any other record its type and tid. */
struct perf_seen {
	uint64_t time_ns, ip;
	uint32_t type, tid, event;
	bool timed;
	char comm[16];
};

struct perf_reading {
	int fd;
	struct dwell_perf_data *data;
	const struct dwell_perf_data_info *info;
	DWELL_ARRAY(struct perf_seen) seen;
	struct dwell_err err;
	int rc; /* of open, else of the last next() */
};

static inline void perf_see(struct perf_reading *reading, const struct dwell_perf_record *record)
{
	const struct dwell_perf_event *event = dwell_perf_data_event(reading->data, record->event);
	struct dwell_perf_sample sample = { 0 };
	struct perf_seen seen = { .time_ns = record->time_ns,
				  .type = record->type,
				  .event = record->event,
				  .timed = record->timed };
	bool good;

	if ((uintptr_t)record->payload % 8)
		abort();
	good = record->type == PERF_RECORD_SAMPLE
		       ? dwell_perf_sample_decode(&event->layout, record->payload, record->bytes,
						  &sample)
		       : dwell_perf_trailer_decode(&event->layout, record->payload, record->bytes,
						   &sample);
	if (good) {
		seen.ip = sample.ip;
		seen.tid = sample.tid;
	}
	if (record->type == PERF_RECORD_COMM)
		snprintf(seen.comm, sizeof(seen.comm), "%s", (const char *)record->payload + 8);
	if (dwell_array_grow(&reading->seen))
		abort();
	reading->seen.data[reading->seen.count++] = seen;
}

static inline void perf_open(struct perf_reading *reading, const struct perf_bytes *b)
{
	*reading = (struct perf_reading){ .fd = perf_fd(b) };
	reading->rc = dwell_perf_data_open(reading->fd, "perf.data", false, NULL, 0, &reading->data,
					   &reading->err);
	if (!reading->rc)
		reading->info = dwell_perf_data_info(reading->data);
}

/* Reads what is left; rc is 0 at the end. */
static inline void perf_read(struct perf_reading *reading)
{
	struct dwell_perf_record record;

	if (reading->rc)
		return;
	while ((reading->rc = dwell_perf_data_next(reading->data, &record, &reading->err)) == 1)
		perf_see(reading, &record);
}

static inline void perf_read_all(struct perf_reading *reading, const struct perf_bytes *b)
{
	perf_open(reading, b);
	perf_read(reading);
}

static inline void perf_close(struct perf_reading *reading)
{
	dwell_perf_data_free(reading->data);
	dwell_array_release(&reading->seen);
	close(reading->fd);
}

#endif
