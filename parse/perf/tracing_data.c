// SPDX-License-Identifier: MIT
/* The stream of tracing data (tools/perf/util/trace-event-info.c), as a feature or behind a record,
 * becomes the format texts of the tracepoints that were recorded. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "parse/perf/data_impl.h"

static const uint8_t magic[] = { 23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g' };

/* "ID: 316" stands in a line of its own. False when there is none. */
static bool format_id(const char *text, uint32_t *ret_id)
{
	static const char key[] = "\nID: ";
	const char *line = strstr(text, key);
	char *end;
	unsigned long id;

	if (!line)
		return false;
	line += sizeof(key) - 1;
	errno = 0;
	id = strtoul(line, &end, 10);
	if (end == line || errno || id > UINT32_MAX)
		return false;
	*ret_id = (uint32_t)id;
	return true;
}

/* Takes in a text; one that is no format is passed over. */
static int format_add(struct dwell_perf_data *data, const char *system, const uint8_t *text,
		      uint64_t bytes)
{
	struct dwell_perf_format format = { .text = strndup((const char *)text, bytes) };

	if (!format.text)
		return -ENOMEM;
	if (!format_id(format.text, &format.id)) {
		free(format.text);
		return 0;
	}
	format.system = strdup(system);
	if (!format.system || dwell_array_grow(&data->formats)) {
		free(format.system);
		free(format.text);
		return -ENOMEM;
	}
	data->formats.data[data->formats.count++] = format;
	return 0;
}

/* u64 length and text. */
static const uint8_t *text_take(struct bytes *body, uint64_t *ret_bytes)
{
	*ret_bytes = bytes_u64(body);
	return bytes_take(body, *ret_bytes);
}

static int system_decode(struct dwell_perf_data *data, struct bytes *body)
{
	const char *system = bytes_text(body);
	uint32_t count = bytes_u32(body);
	int rc = 0;

	while (!rc && count-- && !body->bad) {
		uint64_t bytes;
		const uint8_t *text = text_take(body, &bytes);

		if (text)
			rc = format_add(data, system, text, bytes);
	}
	return rc;
}

/* Kernel symbols, printk formats and names of tasks follow; nothing here needs them. */
int tracing_data_decode(struct dwell_perf_data *data, const uint8_t *stream, uint64_t stream_bytes)
{
	struct bytes body = { stream, stream + stream_bytes, data->info.swapped, false };
	const uint8_t *head = bytes_take(&body, sizeof(magic));
	uint8_t long_bytes;
	uint64_t bytes;
	uint32_t count;
	int rc = 0;

	if (!head || memcmp(head, magic, sizeof(magic)))
		return -EINVAL;
	bytes_text(&body); /* version */
	bytes_u8(&body);   /* byte order: that of the file */
	long_bytes = bytes_u8(&body);
	bytes_u32(&body);  /* bytes of a page */
	bytes_text(&body); /* "header_page" */
	text_take(&body, &bytes);
	bytes_text(&body); /* "header_event" */
	text_take(&body, &bytes);
	for (count = bytes_u32(&body); count && !body.bad; count--)
		text_take(&body,
			  &bytes); /* formats of ftrace's own events: no perf event has them */
	for (count = bytes_u32(&body); !rc && count && !body.bad; count--)
		rc = system_decode(data, &body);
	if (long_bytes == 4)
		data->info.long_is_32_bit = true;
	return rc ? rc : body.bad ? -EINVAL : 0;
}

void formats_release(struct dwell_perf_data *data)
{
	for (uint32_t i = 0; i < data->formats.count; i++) {
		free(data->formats.data[i].system);
		free(data->formats.data[i].text);
	}
	dwell_array_release(&data->formats);
}
