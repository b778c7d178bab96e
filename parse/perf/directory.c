// SPDX-License-Identifier: MIT
/* The files beside `data` in a perf.data directory become segments of their own: `data.N` are
 * records without any header, one file for each thread of the recorder, numbered from 0. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/io.h"
#include "parse/perf/data_impl.h"

/* The number of "data.N"; false for any other name. */
static bool file_number(const char *name, uint32_t *ret_number)
{
	static const char prefix[] = "data.";
	const char *digits = name + sizeof(prefix) - 1;
	char *end;

	if (strncmp(name, prefix, sizeof(prefix) - 1) || *digits < '0' || *digits > '9')
		return false;
	errno = 0;
	*ret_number = (uint32_t)strtoul(digits, &end, 10);
	return !*end && !errno && strlen(digits) < 10;
}

static int number_compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static int file_add(struct dwell_perf_data *data, uint32_t number, struct dwell_err *err)
{
	struct stat st;
	char *path;
	int fd, rc;

	if (asprintf(&path, "%s/data.%u", data->path, number) < 0)
		return dwell_err_sys(err, -ENOMEM, "cannot read '%s'", data->path);
	fd = dwell_io_open_regular(path, 0);
	rc = fd < 0 ? fd : 0;
	if (!rc && fstat(fd, &st))
		rc = -errno;
	if (!rc)
		rc = segments_add(data, fd, true, (uint64_t)st.st_size);
	if (!rc)
		data->info.input_bytes += (uint64_t)st.st_size;
	if (rc) {
		dwell_err_sys(err, rc, "cannot read '%s'", path);
		if (fd >= 0)
			close(fd);
	}
	free(path);
	return rc;
}

static int kcore_find(struct dwell_perf_data *data)
{
	char *path;

	if (asprintf(&path, "%s/kcore_dir", data->path) < 0)
		return -ENOMEM;
	if (access(path, F_OK)) {
		free(path);
		return 0;
	}
	data->info.kcore_dir = path;
	return 0;
}

int directory_add(struct dwell_perf_data *data, struct dwell_err *err)
{
	DWELL_ARRAY(uint32_t) numbers = { 0 };
	DIR *dir = opendir(data->path);
	const struct dirent *entry;
	uint32_t number;
	int rc;

	if (!dir)
		return dwell_err_sys(err, -errno, "cannot read '%s'", data->path);
	rc = kcore_find(data);
	while (!rc && (entry = readdir(dir))) {
		if (!file_number(entry->d_name, &number))
			continue;
		rc = dwell_array_grow(&numbers);
		if (!rc)
			numbers.data[numbers.count++] = number;
	}
	closedir(dir);
	if (rc)
		dwell_err_sys(err, rc, "cannot read '%s'", data->path);
	if (numbers.count)
		qsort(numbers.data, numbers.count, sizeof(*numbers.data), number_compare);
	for (uint32_t i = 0; !rc && i < numbers.count; i++)
		rc = file_add(data, numbers.data[i], err);
	data->info.missing_files =
		numbers.count ? numbers.data[numbers.count - 1] + 1 - numbers.count : 1;
	dwell_array_release(&numbers);
	return rc;
}
