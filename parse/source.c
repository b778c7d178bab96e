// SPDX-License-Identifier: MIT
/* A path becomes a source: the file is opened, its format told by its first bytes, and the format's
 * reader put behind the front door. */
#include "parse/source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/io.h"
#include "lib/trace_format.h"
#include "parse/perf/data.h"
#include "parse/source_impl.h"

enum {
	FACTS_MAX = 4096,
	FACTS_SET_MAX = 4 * FACTS_MAX, /* replaced ones too: each is searched for */
	HEAD_BYTES = 16,
};

struct dwell_source *source_new(void)
{
	struct dwell_source *source = calloc(1, sizeof(*source));

	if (!source)
		return NULL;
	source->fd = -1;
	source->strings = dwell_strings_new();
	source->stacks = dwell_stacks_new();
	source->threads = dwell_threads_new();
	if (!source->strings || !source->stacks || !source->threads) {
		dwell_source_close(source);
		return NULL;
	}
	return source;
}

void dwell_source_close(struct dwell_source *source)
{
	if (!source)
		return;
	if (source->ops)
		source->ops->close(source);
	if (source->fd > STDIN_FILENO)
		close(source->fd);
	for (uint32_t i = 0; i < source->facts.count; i++) {
		free(source->facts.data[i].key);
		free(source->facts.data[i].value);
	}
	dwell_array_release(&source->facts);
	dwell_array_release(&source->events);
	dwell_array_release(&source->coverage);
	dwell_strings_free(source->strings);
	dwell_stacks_free(source->stacks);
	dwell_threads_free(source->threads);
	free(source);
}

/* A directory is a perf.data in directory form, or nothing that is read: its `data` is opened. */
static int source_open_directory(const char *path, struct dwell_source *source,
				 struct dwell_err *err)
{
	char *data;
	int fd;

	if (asprintf(&data, "%s/data", path) < 0)
		return dwell_err_sys(err, -ENOMEM, "cannot open '%s'", path);
	fd = dwell_io_open_regular(data, 0);
	free(data);
	if (fd == -EINVAL)
		return dwell_err_set(err, fd, "cannot read '%s': its 'data' is no regular file",
				     path);
	if (fd < 0)
		return dwell_err_sys(err, fd == -ENOENT ? -EISDIR : fd, "cannot read '%s'", path);
	close(source->fd);
	source->fd = fd;
	return 0;
}

static int source_open_fd(const char *path, struct dwell_source *source, bool *ret_directory,
			  struct dwell_err *err)
{
	struct stat st;
	int rc;

	source->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	if (source->fd < 0 || fstat(source->fd, &st)) {
		rc = -errno;
		if (rc == -ENOENT && !strcmp(path, "dwell.data") && !access("perf.data", F_OK))
			return dwell_err_set(err, rc,
					     "cannot open '%s': %s; there is a 'perf.data' here, "
					     "to be named",
					     path, strerror(-rc));
		return dwell_err_sys(err, rc, "cannot open '%s'", path);
	}
	*ret_directory = S_ISDIR(st.st_mode);
	if (*ret_directory) {
		rc = source_open_directory(path, source, err);
		if (rc)
			return rc;
		if (fstat(source->fd, &st))
			return dwell_err_sys(err, -errno, "cannot read '%s'", path);
	}
	if (S_ISREG(st.st_mode)) {
		source->info.file_bytes = (uint64_t)st.st_size;
		posix_fadvise(source->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	}
	return 0;
}

/* Whole files that some other program compressed are for that program to unpack. */
static int compressed_refuse(const char *path, const uint8_t *head, uint32_t head_bytes,
			     struct dwell_err *err)
{
	static const struct {
		const char *magic, *program;
	} programs[] = {
		{ "\x1f\x8b", "gzip" },
		{ "\xfd"
		  "7zXZ",
		  "xz" },
		{ "\x28\xb5\x2f\xfd", "zstd" },
		{ "BZh", "bzip2" },
	};

	for (unsigned i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		size_t bytes = strlen(programs[i].magic);

		if (bytes <= head_bytes && !memcmp(head, programs[i].magic, bytes))
			return dwell_err_set(err, -EINVAL,
					     "cannot read '%s': it is compressed; `%s -dc FILE | "
					     "dwell ... -` reads it",
					     path, programs[i].program);
	}
	return 0;
}

/* Puts the format's reader behind source: told by the first bytes. */
static int source_open_format(const char *path, struct dwell_source *source, bool directory,
			      struct dwell_err *err)
{
	static const uint8_t magic[] = DWELL_TRACE_MAGIC_BYTES;
	uint8_t head[HEAD_BYTES];
	int64_t n = dwell_io_read(source->fd, head, sizeof(head));
	int rc;

	if (n < 0)
		return dwell_err_sys(err, (int)n, "cannot read '%s'", path);
	if (n == 0)
		return dwell_err_set(err, -EINVAL, "cannot read '%s': the file is empty", path);
	if (!memcmp(head, magic, (size_t)n < sizeof(magic) ? (size_t)n : sizeof(magic)))
		return trace_source_open(source, head, (uint32_t)n, err);
	if (dwell_perf_data_is(head, (uint32_t)n))
		return perf_source_open(source, path, directory, head, (uint32_t)n, err);
	if (directory)
		return dwell_err_sys(err, -EISDIR, "cannot read '%s'", path);
	rc = compressed_refuse(path, head, (uint32_t)n, err);
	if (rc)
		return rc;
	return script_source_open(source, 0, head, (uint32_t)n, err);
}

int dwell_source_open(const char *path, struct dwell_source **ret_source, struct dwell_err *err)
{
	struct dwell_source *source = source_new();
	bool directory = false;
	int rc;

	if (!source)
		return dwell_err_sys(err, -ENOMEM, "cannot open '%s'", path);
	rc = source_open_fd(path, source, &directory, err);
	if (!rc) {
		rc = source_open_format(path, source, directory, err);
		if (rc && err && !strstr(err->msg, path))
			dwell_err_wrap(err, "cannot read '%s'", path);
	}
	if (rc) {
		dwell_source_close(source);
		return rc;
	}
	*ret_source = source;
	return 0;
}

int dwell_source_next(struct dwell_source *source, const struct dwell_event **ret_event,
		      struct dwell_err *err)
{
	return source->ops->next(source, ret_event, err);
}

int dwell_source_binaries(struct dwell_source *source, const struct dwell_symbols_options *options)
{
	return source->ops->binaries ? source->ops->binaries(source, options) : 0;
}

const struct dwell_source_info *dwell_source_info(const struct dwell_source *source)
{
	return &source->info;
}

int source_fact_set(struct dwell_source *source, const char *key, uint64_t key_bytes,
		    const char *value, uint64_t value_bytes)
{
	struct source_fact fact;

	if (source->facts.count >= FACTS_MAX || ++source->facts_set > FACTS_SET_MAX)
		return -EBADMSG;
	fact = (struct source_fact){ strndup(key, key_bytes), strndup(value, value_bytes) };
	if (!fact.key || !fact.value || dwell_array_grow(&source->facts)) {
		free(fact.key);
		free(fact.value);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < source->facts.count; i++) {
		struct source_fact *old = &source->facts.data[i];

		if (strcmp(old->key, fact.key))
			continue;
		free(old->key);
		free(old->value);
		*old = fact;
		return 0;
	}
	source->facts.data[source->facts.count++] = fact;
	return 0;
}

int source_fact_set_text(struct dwell_source *source, const char *key, const char *value)
{
	if (!value || !*value)
		return 0;
	return source_fact_set(source, key, strlen(key), value, strlen(value));
}

int source_fact_set_u64(struct dwell_source *source, const char *key, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return source_fact_set_text(source, key, text);
}

const char *dwell_source_fact(const struct dwell_source *source, const char *key)
{
	for (uint32_t i = 0; i < source->facts.count; i++)
		if (!strcmp(source->facts.data[i].key, key))
			return source->facts.data[i].value;
	return NULL;
}

uint64_t dwell_source_fact_u64(const struct dwell_source *source, const char *key)
{
	const char *value = dwell_source_fact(source, key);

	return value ? strtoull(value, NULL, 10) : 0;
}

const char *dwell_source_fact_at(const struct dwell_source *source, uint32_t index,
				 const char **ret_value)
{
	if (index >= source->facts.count)
		return NULL;
	*ret_value = source->facts.data[index].value;
	return source->facts.data[index].key;
}

struct dwell_strings *dwell_source_strings(struct dwell_source *source)
{
	return source->strings;
}

struct dwell_stacks *dwell_source_stacks(struct dwell_source *source)
{
	return source->stacks;
}

struct dwell_threads *dwell_source_threads(struct dwell_source *source)
{
	return source->threads;
}

const struct dwell_event_desc *dwell_source_event_desc(const struct dwell_source *source,
						       uint32_t index)
{
	return index < source->events.count ? &source->events.data[index] : NULL;
}

const struct dwell_coverage *dwell_source_coverage(const struct dwell_source *source,
						   uint32_t index)
{
	return index < source->coverage.count ? &source->coverage.data[index] : NULL;
}
