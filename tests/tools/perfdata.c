// SPDX-License-Identifier: MIT
/* A perf.data becomes lines of what was understood of it, for scripts to compare: its description,
 * its events, and how many records of each type came out in time order.
 *
 *   perfdata [-b] FILE|-      -b: only how long each pass took, on standard error */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/io.h"
#include "parse/perf/data.h"

static void print_text(const char *key, const char *text)
{
	char clean[512];

	if (text)
		printf("%s %s\n", key, dwell_printable(clean, sizeof(clean), text));
}

static void print_info(const struct dwell_perf_data_info *info)
{
	printf("form %s\nswapped %d\nlong_32 %d\n", info->form, info->swapped,
	       info->long_is_32_bit);
	print_text("hostname", info->hostname);
	print_text("osrelease", info->osrelease);
	print_text("version", info->version);
	print_text("arch", info->arch);
	print_text("cpudesc", info->cpudesc);
	print_text("cpuid", info->cpuid);
	print_text("cmdline", info->cmdline);
	print_text("kcore", info->kcore_dir);
	printf("cpus %" PRIu32 " available %" PRIu32 " online %" PRIu32 " seen\n",
	       info->cpus_available, info->cpus_online, info->cpus_seen);
	printf("memory_kib %" PRIu64 "\n", info->total_memory_kib);
	printf("sample_time %" PRIu64 " %" PRIu64 "\n", info->first_sample_ns,
	       info->last_sample_ns);
	if (info->has_wall_clock)
		printf("wall_clock %" PRId32 " %" PRIu64 " %" PRIu64 "\n", info->clockid,
		       info->wall_ns, info->clock_ns);
	printf("time %" PRIu64 " %" PRIu64 "\n", info->start_ns, info->end_ns);
	printf("idle %d\ncpu_wide %d\n", info->idle_seen, info->switch_cpu_wide_seen);
	printf("lost_samples %" PRIu64 "\n", info->lost_samples);
	printf("compressed %" PRIu64 " %" PRIu64 "\n", info->compressed_bytes,
	       info->decompressed_bytes);
	printf("unknown records %" PRIu64 " features %" PRIu64 " ids %" PRIu64 "\n",
	       info->unknown_records, info->unknown_features, info->unknown_ids);
	printf("bad records %" PRIu64 " features %" PRIu64 "\n", info->bad_records,
	       info->bad_features);
	printf("bytes %" PRIu64 " unread %" PRIu64 "\n", info->data_bytes, info->unread_bytes);
	printf("unfinished %d\ndamaged %d\n", info->unfinished, info->damaged);
}

static void print_tables(const struct dwell_perf_data *data)
{
	const struct dwell_perf_build_id *build_id;
	const struct dwell_perf_format *format;
	const struct dwell_perf_event *event;
	char clean[512];

	for (uint32_t i = 0; (event = dwell_perf_data_event(data, i)); i++)
		printf("event %" PRIu32 " type %" PRIu32 " config %" PRIu64 " bytes %" PRIu32
		       " sample_type 0x%" PRIx64 " %s\n",
		       i, event->attr.type, event->attr.config, event->attr.bytes,
		       event->attr.sample_type, dwell_printable(clean, sizeof(clean), event->name));
	for (uint32_t i = 0; (format = dwell_perf_data_format(data, i)); i++)
		printf("format %" PRIu32 " %s %zu\n", format->id,
		       dwell_printable(clean, sizeof(clean), format->system), strlen(format->text));
	for (uint32_t i = 0; (build_id = dwell_perf_data_build_id(data, i)); i++) {
		printf("build_id ");
		for (uint32_t j = 0; j < build_id->bytes; j++)
			printf("%02x", build_id->id[j]);
		printf(" %u %" PRId32 " %s\n", build_id->cpumode, build_id->pid,
		       dwell_printable(clean, sizeof(clean), build_id->path));
	}
}

/* Reads all records: counts what came by type, and what was not in order or could not be decoded.
 */
static int read_records(struct dwell_perf_data *data, uint64_t given[DWELL_PERF_USER_TYPES],
			uint64_t *ret_backward, uint64_t *ret_undecoded, struct dwell_err *err)
{
	struct dwell_perf_record record;
	uint64_t last_ns = 0;
	int rc;

	while ((rc = dwell_perf_data_next(data, &record, err)) == 1) {
		const struct dwell_perf_event *event = dwell_perf_data_event(data, record.event);
		struct dwell_perf_sample sample = { 0 };

		given[record.type]++;
		*ret_backward += record.time_ns < last_ns;
		last_ns = record.time_ns;
		if (record.type == PERF_RECORD_SAMPLE)
			*ret_undecoded += !dwell_perf_sample_decode(&event->layout, record.payload,
								    record.bytes, &sample);
		else
			*ret_undecoded += !dwell_perf_trailer_decode(&event->layout, record.payload,
								     record.bytes, &sample);
	}
	return rc;
}

static int read_only(struct dwell_perf_data *data, struct dwell_err *err)
{
	struct dwell_perf_record record;
	int rc;

	do
		rc = dwell_perf_data_next(data, &record, err);
	while (rc == 1);
	return rc;
}

static int show(struct dwell_perf_data *data, struct dwell_err *err)
{
	const struct dwell_perf_data_info *info = dwell_perf_data_info(data);
	uint64_t given[DWELL_PERF_USER_TYPES] = { 0 }, backward = 0, undecoded = 0;
	int rc = read_records(data, given, &backward, &undecoded, err);

	if (rc)
		return rc;
	print_info(info);
	print_tables(data);
	for (uint32_t type = 1; type < DWELL_PERF_USER_TYPES; type++)
		if (given[type] || info->records[type])
			printf("type %" PRIu32 " %" PRIu64 " %" PRIu64 "\n", type,
			       info->records[type], given[type]);
	printf("backward %" PRIu64 "\nundecoded %" PRIu64 "\n", backward, undecoded);
	return 0;
}

static int run(int fd, const char *path, bool is_directory, bool timed, struct dwell_err *err)
{
	uint64_t begin_ns = dwell_io_now_ns(), open_ns, records = 0;
	const struct dwell_perf_data_info *info;
	struct dwell_perf_data *data;
	int rc = dwell_perf_data_open(fd, path, is_directory, NULL, 0, &data, err);

	if (rc)
		return rc;
	open_ns = dwell_io_now_ns();
	rc = timed ? read_only(data, err) : show(data, err);
	info = dwell_perf_data_info(data);
	for (uint32_t type = 1; type < DWELL_PERF_USER_TYPES; type++)
		records += info->records[type];
	if (!rc && timed && records)
		fprintf(stderr, "%" PRIu64 " records, %.1f ns each to index, %.1f ns to merge\n",
			records, (double)(open_ns - begin_ns) / (double)records,
			(double)(dwell_io_now_ns() - open_ns) / (double)records);
	dwell_perf_data_free(data);
	return rc;
}

int main(int argc, char **argv)
{
	bool timed = argc == 3 && !strcmp(argv[1], "-b"), is_directory;
	struct dwell_err err = { 0 };
	struct stat st;
	char *inside = NULL;
	const char *path;
	int fd = STDIN_FILENO, rc;

	if (argc != 2 + timed)
		return DWELL_EXIT_USAGE;
	path = argv[1 + timed];
	is_directory = !stat(path, &st) && S_ISDIR(st.st_mode);
	if (asprintf(&inside, "%s%s", path, is_directory ? "/data" : "") < 0)
		return DWELL_EXIT_FAILED;
	if (strcmp(path, "-"))
		fd = open(inside, O_RDONLY | O_CLOEXEC);
	rc = fd < 0 ? dwell_err_sys(&err, -errno, "cannot open '%s'", inside)
		    : run(fd, path, is_directory, timed, &err);
	if (fd > STDIN_FILENO)
		close(fd);
	free(inside);
	if (rc)
		fprintf(stderr, "perfdata: %s\n", err.msg);
	return rc ? DWELL_EXIT_FAILED : DWELL_EXIT_OK;
}
