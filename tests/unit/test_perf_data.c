// SPDX-License-Identifier: MIT
/* Tests of the perf.data reader's forms: files, pipes, directories and compressed ones, in either
 * byte order and with attrs of old and new sizes, say the same. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
#include <zstd.h>
#include <cmocka.h>

#include "tests/synth/perfread.h"

enum { FEATURES_MAX = 16, TID = 42, CONTENT_RECORDS = 8 };

/* Kernel records of the types that most matter, and marks of perf's own between them. */
static void content(struct perf_bytes *b)
{
	uint32_t at;

	perf_comm(b, TID, "before", 0);
	perf_sample(b, 100, 0x1000, TID, 1000, 0);
	perf_mark(b, DWELL_PERF_FINISHED_ROUND);
	perf_comm(b, TID, "name", 1100);
	perf_sample(b, 201, 0x2000, TID, 1200, 1);
	at = perf_begin(b, PERF_RECORD_MMAP2, 0);
	for (uint32_t i = 1; i < 3; i++)
		perf_u32(b, i);
	for (uint32_t i = 3; i < 6; i++)
		perf_u64(b, i);
	for (uint32_t i = 6; i < 8; i++)
		perf_u32(b, i);
	for (uint32_t i = 8; i < 10; i++)
		perf_u64(b, i);
	for (uint32_t i = 10; i < 12; i++)
		perf_u32(b, i);
	perf_name(b, "/bin/true");
	perf_trailer(b, TID, 1300, 0, 101);
	perf_end(b, at);
	at = perf_begin(b, PERF_RECORD_SWITCH, 0);
	perf_trailer(b, 0, 1400, 3, 101);
	perf_end(b, at);
	at = perf_begin(b, PERF_RECORD_LOST_SAMPLES, 0);
	perf_u64(b, 7);
	perf_trailer(b, TID, 0, 0, 0);
	perf_end(b, at);
	perf_sample(b, 999, 0x3000, TID, 1500, 0); /* of an event that nobody described */
}

static void assert_seen(const struct perf_reading *reading, uint32_t i, uint32_t type,
			uint64_t time_ns, uint32_t event, uint64_t ip)
{
	const struct perf_seen *seen = &reading->seen.data[i];

	assert_true(i < reading->seen.count);
	assert_int_equal(seen->type, type);
	assert_int_equal(seen->time_ns, time_ns);
	assert_int_equal(seen->timed, time_ns != 0);
	assert_int_equal(seen->event, event);
	assert_int_equal(seen->ip, ip);
}

static void assert_content(struct perf_reading *reading)
{
	const struct dwell_perf_data_info *info = reading->info;

	assert_int_equal(reading->rc, 0);
	assert_int_equal(reading->seen.count, CONTENT_RECORDS);
	assert_seen(reading, 0, PERF_RECORD_COMM, 0, 0, 0);
	assert_string_equal(reading->seen.data[0].comm, "before");
	assert_seen(reading, 1, PERF_RECORD_LOST_SAMPLES, 0, 0, 0);
	assert_seen(reading, 2, PERF_RECORD_SAMPLE, 1000, 0, 0x1000);
	assert_int_equal(reading->seen.data[2].tid, TID);
	assert_seen(reading, 3, PERF_RECORD_COMM, 1100, 0, 0);
	assert_string_equal(reading->seen.data[3].comm, "name");
	assert_seen(reading, 4, PERF_RECORD_SAMPLE, 1200, 1, 0x2000);
	assert_seen(reading, 5, PERF_RECORD_MMAP2, 1300, 0, 0);
	assert_seen(reading, 6, PERF_RECORD_SWITCH, 1400, 0, 0);
	assert_seen(reading, 7, PERF_RECORD_SAMPLE, 1500, 0, 0x3000);
	assert_int_equal(info->start_ns, 1000);
	assert_int_equal(info->end_ns, 1500);
	assert_int_equal(info->cpus_seen, 4);
	assert_true(info->idle_seen);
	assert_false(info->switch_cpu_wide_seen);
	assert_int_equal(info->lost_samples, 7);
	assert_int_equal(info->records[PERF_RECORD_SAMPLE], 3);
	assert_int_equal(info->records[PERF_RECORD_COMM], 2);
	assert_int_equal(info->unknown_ids, 1);
	assert_int_equal(info->unknown_records, 0);
	assert_int_equal(info->bad_records, 0);
	assert_int_equal(info->bad_features, 0);
	assert_int_equal(info->unread_bytes, 0);
	assert_false(info->damaged);
}

/* The next feature's body. */
static struct perf_bytes *feature(struct perf_form *form, uint32_t bit)
{
	struct perf_feature *next = &form->features[form->feature_count++];

	assert_true(form->feature_count <= FEATURES_MAX);
	next->bit = bit;
	next->body.swapped = form->swapped;
	return &next->body;
}

static void fill(struct perf_form *form)
{
	struct perf_bytes *b;

	perf_tracing(feature(form, 1));
	b = feature(form, 2);
	perf_build_id(b, "[kernel.kallsyms]", false);
	perf_build_id(b, "/bin/true", true);
	perf_string(feature(form, 3), "host");
	perf_string(feature(form, 4), "6.1.0");
	perf_string(feature(form, 5), "6.2");
	perf_string(feature(form, 6), "s390x");
	b = feature(form, 7);
	perf_u32(b, 8);
	perf_u32(b, 6);
	perf_string(feature(form, 8), "CPU");
	perf_string(feature(form, 9), "id,1");
	perf_u64(feature(form, 10), 123456);
	b = feature(form, 11);
	perf_u32(b, 3);
	perf_string(b, "/usr/bin/perf");
	perf_string(b, "record");
	perf_string(b, "-a");
	perf_event_desc(feature(form, 12), form->events, form->attr_bytes);
	b = feature(form, 21);
	perf_u64(b, 1000);
	perf_u64(b, 1500);
	b = feature(form, 29);
	perf_u32(b, 1);
	perf_u32(b, 7);
	perf_u64(b, 5000000);
	perf_u64(b, 900);
	perf_put(feature(form, 63), "new", 3); /* not invented yet */
}

static void assert_info(const struct perf_reading *reading)
{
	const struct dwell_perf_data_info *info = reading->info;
	const struct dwell_perf_build_id *build_id = dwell_perf_data_build_id(reading->data, 1);
	const struct dwell_perf_format *format = dwell_perf_data_format(reading->data, 0);

	assert_string_equal(info->hostname, "host");
	assert_string_equal(info->osrelease, "6.1.0");
	assert_string_equal(info->version, "6.2");
	assert_string_equal(info->arch, "s390x");
	assert_string_equal(info->cpudesc, "CPU");
	assert_string_equal(info->cpuid, "id,1");
	assert_string_equal(info->cmdline, "/usr/bin/perf record -a");
	assert_int_equal(info->cpus_available, 8);
	assert_int_equal(info->cpus_online, 6);
	assert_int_equal(info->total_memory_kib, 123456);
	assert_int_equal(info->first_sample_ns, 1000);
	assert_int_equal(info->last_sample_ns, 1500);
	assert_true(info->has_wall_clock);
	assert_int_equal(info->clockid, 7);
	assert_int_equal(info->wall_ns, 5000000);
	assert_int_equal(info->clock_ns, 900);
	assert_int_equal(info->unknown_features, 1);
	assert_true(info->long_is_32_bit);
	assert_string_equal(dwell_perf_data_event(reading->data, 0)->name, "first");
	assert_string_equal(dwell_perf_data_event(reading->data, 1)->name, "second");
	assert_null(dwell_perf_data_event(reading->data, 2));
	assert_string_equal(format->system, "sched");
	assert_int_equal(format->id, 316);
	assert_null(dwell_perf_data_format(reading->data, 1));
	assert_int_equal(dwell_perf_data_build_id(reading->data, 0)->bytes, 20);
	assert_string_equal(build_id->path, "/bin/true");
	assert_int_equal(build_id->bytes, 16);
	assert_int_equal(build_id->id[15], 16);
	assert_int_equal(build_id->pid, 77);
	assert_int_equal(build_id->cpumode, PERF_RECORD_MISC_USER);
	assert_null(dwell_perf_data_build_id(reading->data, 2));
}

static void reads_every_form(void **state)
{
	static const uint32_t sizes[] = { 64, 72, 80, 96, 104, 112, 128, 136, 200 };

	(void)state;
	for (int pipe = 0; pipe < 2; pipe++)
		for (int swapped = 0; swapped < 2; swapped++)
			for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(*sizes); i++) {
				struct perf_feature features[FEATURES_MAX] = { 0 };
				struct perf_form form = { .swapped = swapped,
							  .pipe = pipe,
							  .attrs_behind = i % 2,
							  .attr_bytes = sizes[i / 2],
							  .events = 2,
							  .features = features };
				struct perf_bytes records = { .swapped = swapped }, b = { 0 };
				struct perf_reading reading;

				fill(&form);
				content(&records);
				perf_make(&b, &form, &records);
				perf_read_all(&reading, &b);
				assert_content(&reading);
				assert_info(&reading);
				assert_int_equal(reading.info->swapped, swapped);
				assert_string_equal(reading.info->form, pipe ? "pipe" : "file");
				assert_false(reading.info->unfinished);
				perf_close(&reading);
				for (uint32_t j = 0; j < form.feature_count; j++)
					dwell_array_release(&features[j].body);
				dwell_array_release(&records);
				dwell_array_release(&b);
			}
}

/* The fields in front of a name are native in what comes out, in both forms of MMAP2. */
static void swaps_fields(void **state)
{
	static const uint8_t id[24] = { 20, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8 };
	struct perf_form form = { .swapped = true, .attr_bytes = 64, .events = 1 };
	struct perf_bytes records = { .swapped = true }, b = { 0 };
	struct dwell_perf_record record;
	struct perf_reading reading;
	uint32_t four, at;
	uint64_t eight;

	(void)state;
	for (uint16_t misc = 0; misc < 2; misc++) {
		at = perf_begin(&records, PERF_RECORD_MMAP2, (uint16_t)(misc << 14));
		for (uint32_t i = 1; i < 3; i++)
			perf_u32(&records, i);
		for (uint32_t i = 3; i < 6; i++)
			perf_u64(&records, i);
		perf_put(&records, id, sizeof(id));
		perf_u32(&records, 10);
		perf_u32(&records, 11);
		perf_name(&records, "x");
		perf_trailer(&records, TID, 10 + misc, 0, 100);
		perf_end(&records, at);
	}
	at = perf_begin(&records, DWELL_PERF_CALLCHAIN_DEFERRED, 0);
	perf_u64(&records, 5);
	perf_u64(&records, 2);
	perf_u64(&records, 6);
	perf_u64(&records, 7);
	perf_trailer(&records, TID, 20, 0, 100);
	perf_end(&records, at);
	perf_make(&b, &form, &records);
	perf_open(&reading, &b);
	assert_int_equal(reading.rc, 0);
	for (uint16_t misc = 0; misc < 2; misc++) {
		assert_int_equal(dwell_perf_data_next(reading.data, &record, NULL), 1);
		assert_int_equal(record.misc, misc << 14);
		memcpy(&four, record.payload + 4, 4);
		assert_int_equal(four, 2);
		memcpy(&eight, record.payload + 24, 8);
		assert_int_equal(eight, 5);
		memcpy(&four, record.payload + 32, 4);
		assert_int_equal(four, misc ? 20 : 20 << 24);
		memcpy(&four, record.payload + 60, 4);
		assert_int_equal(four, 11);
		assert_string_equal((char *)record.payload + 64, "x");
	}
	assert_int_equal(dwell_perf_data_next(reading.data, &record, NULL), 1);
	for (uint32_t i = 0; i < 4; i++) {
		memcpy(&eight, record.payload + 8 * i, 8);
		assert_int_equal(eight, ((const uint64_t[]){ 5, 2, 6, 7 })[i]);
	}
	perf_close(&reading);
	dwell_array_release(&records);
	dwell_array_release(&b);
}

/* A real pipe, with bytes that were read from it already; tracing data and features make what
 * follows them stand at odd offsets. */
static void reads_a_pipe(void **state)
{
	static const struct perf_form form = { .pipe = true, .attr_bytes = 136, .events = 2 };
	struct perf_bytes records = { 0 }, tracing = { 0 }, b = { 0 };
	struct perf_reading reading = { 0 };
	uint8_t head[64];
	int ends[2];
	uint32_t at;

	(void)state;
	perf_tracing(&tracing);
	perf_zeros(&tracing, (8 - tracing.count % 8) % 8 + 4);
	at = perf_begin(&records, DWELL_PERF_HEADER_TRACING_DATA, 0);
	perf_u32(&records, tracing.count);
	perf_end(&records, at);
	perf_put(&records, tracing.data, tracing.count);
	at = perf_begin(&records, DWELL_PERF_EVENT_UPDATE, 0);
	perf_u64(&records, 2);
	perf_u64(&records, 100);
	perf_name(&records, "renamed");
	perf_end(&records, at);
	at = perf_begin(&records, DWELL_PERF_HEADER_FEATURE, 0);
	perf_u64(&records, 3);
	perf_string(&records, "host");
	perf_end(&records, at);
	at = perf_begin(&records, DWELL_PERF_AUXTRACE, 0);
	perf_u64(&records, 5);
	perf_zeros(&records, 32);
	perf_end(&records, at);
	perf_put(&records, "12345", 5); /* no record */
	content(&records);
	perf_build_id(&records, "/bin/true", true);
	perf_make(&b, &form, &records);
	assert_int_equal(pipe(ends), 0);
	assert_true(fcntl(ends[1], F_SETPIPE_SZ, b.count) >= (int)b.count);
	assert_int_equal(dwell_io_write(ends[1], b.data, b.count), 0);
	close(ends[1]);
	assert_int_equal(dwell_io_read(ends[0], head, sizeof(head)), sizeof(head));
	reading.fd = ends[0];
	assert_int_equal(dwell_perf_data_open(ends[0], "-", false, head, sizeof(head),
					      &reading.data, &reading.err),
			 0);
	reading.info = dwell_perf_data_info(reading.data);
	perf_read(&reading);
	assert_content(&reading);
	assert_string_equal(reading.info->form, "pipe");
	assert_string_equal(reading.info->hostname, "host");
	assert_string_equal(dwell_perf_data_event(reading.data, 0)->name, "renamed");
	assert_string_equal(dwell_perf_data_event(reading.data, 1)->name, "sched:sched_switch");
	assert_string_equal(dwell_perf_data_build_id(reading.data, 0)->path, "/bin/true");
	perf_close(&reading);
	dwell_array_release(&tracing);
	dwell_array_release(&records);
	dwell_array_release(&b);
}

/* Compresses content as perf does: one stream, flushed wherever a piece ends. */
static void compress(struct perf_bytes *b, const struct perf_bytes *raw, uint32_t piece,
		     uint32_t type)
{
	ZSTD_CStream *zstd = ZSTD_createCStream();
	uint8_t packed[4096];
	uint32_t at;

	ZSTD_initCStream(zstd, 1);
	for (uint32_t from = 0; from < raw->count; from += piece) {
		ZSTD_inBuffer in = { raw->data + from,
				     raw->count - from < piece ? raw->count - from : piece, 0 };
		ZSTD_outBuffer out = { packed, sizeof(packed), 0 };

		assert_int_equal(ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_flush), 0);
		at = perf_begin(b, type, 0);
		if (type == DWELL_PERF_COMPRESSED2)
			perf_u64(b, out.pos);
		perf_put(b, packed, out.pos);
		if (type == DWELL_PERF_COMPRESSED2)
			perf_zeros(b, (8 - out.pos % 8) % 8);
		perf_end(b, at);
	}
	ZSTD_freeCStream(zstd);
}

static void reads_compressed(void **state)
{
	(void)state;
	for (int swapped = 0; swapped < 2; swapped++)
		for (uint32_t piece = 1; piece < 600; piece += 13)
			for (int second = 0; second < 2; second++) {
				struct perf_form form = { .swapped = swapped,
							  .attr_bytes = 136,
							  .events = 2 };
				struct perf_bytes raw = { .swapped = swapped },
						  records = { .swapped = swapped }, b = { 0 };
				struct perf_reading reading;

				content(&raw);
				compress(&records, &raw, piece,
					 second ? DWELL_PERF_COMPRESSED2 : DWELL_PERF_COMPRESSED);
				perf_make(&b, &form, &records);
				perf_read_all(&reading, &b);
				assert_content(&reading);
				assert_int_equal(reading.info->decompressed_bytes, raw.count);
				assert_in_range(reading.info->compressed_bytes, 1, records.count);
				perf_close(&reading);
				dwell_array_release(&raw);
				dwell_array_release(&records);
				dwell_array_release(&b);
			}
}

static void write_file(const char *dir, const char *name, const struct perf_bytes *b)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(dwell_io_write(fd, b->data, b->count), 0);
	close(fd);
}

/* Records of one thread's file: some there, some compressed, as stream of its own. */
static void thread_file(struct perf_bytes *b, uint64_t from_ns)
{
	struct perf_bytes raw = { 0 };

	perf_sample(b, 100, from_ns, TID, from_ns, 0);
	for (uint32_t i = 1; i < 10; i++)
		perf_sample(&raw, 100, from_ns + 10 * i, TID, from_ns + 10 * i, 0);
	compress(b, &raw, 50, DWELL_PERF_COMPRESSED);
	dwell_array_release(&raw);
}

static void reads_a_directory(void **state)
{
	static const char *const names[] = { "data", "data.0", "data.2", "data.10", "kcore_dir" };
	static const struct perf_form form = { .attr_bytes = 136, .events = 1 };
	char dir[] = "/tmp/dwell-test-XXXXXX", path[256];
	struct perf_reading reading = { 0 };

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (uint32_t i = 0; i < 5; i++) {
		struct perf_bytes b = { 0 }, records = { 0 };

		if (!i) {
			perf_comm(&records, TID, "first", 0);
			perf_make(&b, &form, &records);
		} else {
			thread_file(&b, 1000 + i);
		}
		write_file(dir, names[i], &b);
		dwell_array_release(&records);
		dwell_array_release(&b);
	}
	snprintf(path, sizeof(path), "%s/data", dir);
	reading.fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(dwell_perf_data_open(reading.fd, dir, true, NULL, 0, &reading.data,
					      &reading.err),
			 0);
	reading.info = dwell_perf_data_info(reading.data);
	perf_read(&reading);
	assert_int_equal(reading.rc, 0);
	assert_string_equal(reading.info->form, "directory");
	assert_int_equal(reading.info->missing_files, 8); /* data.1, data.3 to data.9 */
	assert_true(reading.info->kcore_dir && strstr(reading.info->kcore_dir, "/kcore_dir"));
	assert_int_equal(reading.seen.count, 1 + 3 * 10);
	assert_string_equal(reading.seen.data[0].comm, "first");
	for (uint32_t i = 1; i < reading.seen.count; i++)
		assert_int_equal(reading.seen.data[i].time_ns,
				 1001 + (i - 1) % 3 + 10 * ((i - 1) / 3));
	perf_close(&reading);
	for (uint32_t i = 0; i < 5; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	assert_int_equal(rmdir(dir), 0);
}

/* Killed while recording: no size of the data, and so no features and no names. */
static void reads_what_was_killed(void **state)
{
	struct perf_form form = { .attr_bytes = 136, .events = 2, .unfinished = true };
	struct perf_bytes records = { 0 }, b = { 0 };
	struct perf_reading reading;

	(void)state;
	content(&records);
	perf_make(&b, &form, &records);
	perf_put(&b, "\11\0\0\0\2\0\60\0part", 12); /* of a record that was being written */
	perf_read_all(&reading, &b);
	assert_int_equal(reading.info->unread_bytes, 12);
	assert_true(reading.info->unfinished);
	assert_false(reading.info->damaged);
	assert_int_equal(reading.seen.count, CONTENT_RECORDS);
	assert_string_equal(dwell_perf_data_event(reading.data, 0)->name, "cpu-clock");
	assert_string_equal(dwell_perf_data_event(reading.data, 1)->name, "tracepoint 316");
	perf_close(&reading);
	dwell_array_release(&records);
	dwell_array_release(&b);
}

/* The header of before 2.6.32, without a feature bitmap. */
static void reads_the_old_header(void **state)
{
	struct perf_form form = { .attr_bytes = 64, .events = 2, .header_bytes = 72 };
	struct perf_bytes records = { 0 }, b = { 0 };
	struct perf_reading reading;

	(void)state;
	content(&records);
	perf_make(&b, &form, &records);
	perf_read_all(&reading, &b);
	assert_content(&reading);
	assert_null(reading.info->hostname);
	perf_close(&reading);
	dwell_array_release(&records);
	dwell_array_release(&b);
}

/* simpleperf: names in its own feature, tracing data in its own record, sizes of 32 bits. */
static void reads_simpleperf(void **state)
{
	static const char meta[] = "clockid\0monotonic\0event_type_info\0junk\n"
				   "sched:sched_switch,2,316\ncpu-clock:u,1,0\n";
	struct perf_feature features[] = { { .bit = 129 } };
	struct perf_form form = {
		.attr_bytes = 112, .events = 2, .features = features, .feature_count = 1
	};
	struct perf_bytes records = { 0 }, tracing = { 0 }, b = { 0 };
	struct perf_reading reading;

	(void)state;
	perf_put(&features[0].body, meta, sizeof(meta));
	perf_tracing(&tracing);
	perf_zeros(&tracing, 100000 - tracing.count);
	perf_u32(&records, 32777);
	perf_u16(&records, (8 + 4 + 100000) >> 16);
	perf_u16(&records, (8 + 4 + 100000) & 0xffff);
	perf_u32(&records, tracing.count);
	perf_put(&records, tracing.data, tracing.count);
	content(&records);
	perf_make(&b, &form, &records);
	perf_read_all(&reading, &b);
	assert_content(&reading);
	assert_string_equal(dwell_perf_data_event(reading.data, 0)->name, "cpu-clock:u");
	assert_string_equal(dwell_perf_data_event(reading.data, 1)->name, "sched:sched_switch");
	assert_int_equal(dwell_perf_data_format(reading.data, 0)->id, 316);
	perf_close(&reading);
	dwell_array_release(&features[0].body);
	dwell_array_release(&tracing);
	dwell_array_release(&records);
	dwell_array_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_every_form),	cmocka_unit_test(swaps_fields),
		cmocka_unit_test(reads_a_pipe),		cmocka_unit_test(reads_compressed),
		cmocka_unit_test(reads_a_directory),	cmocka_unit_test(reads_what_was_killed),
		cmocka_unit_test(reads_the_old_header), cmocka_unit_test(reads_simpleperf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
