// SPDX-License-Identifier: MIT
/* perf-script text becomes events: chunks come parsed and in order, and their records are handed
 * out one by one with the threads, stacks and events of the source's tables. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io.h"
#include "lib/trace_format.h"
#include "parse/script_impl.h"

enum { HEAD_BYTES = 64 << 10 }; /* enough to tell the form of a text */

static int source_take(struct dwell_source *source, struct script_source *script)
{
	const struct script_chunk *chunk;
	int rc = script_reader_next(script->reader, &chunk);

	if (rc <= 0)
		return rc;
	script->chunk = chunk;
	script->next_record = 0;
	source->info.unknown_lines += chunk->unknown;
	rc = script_map_add(&script->maps[chunk->parser], source, chunk);
	return rc ? rc : 1;
}

/* The time to hand an event out with: never before the last one's. */
static uint64_t event_time(struct dwell_source *source, struct script_source *script,
			   const struct script_record *r)
{
	if (!r->has_time) {
		script->last_ns++;
	} else if (r->time_ns >= script->last_ns) {
		script->last_ns = r->time_ns;
	} else if (r->event || r->time_ns) { /* else perf made it up for what was there before */
		source->info.late++;
	}
	return script->last_ns;
}

static int input_ended(struct dwell_source *source, struct script_source *script)
{
	source->info.finished = true;
	source->info.end_ns = script->last_ns;
	return 0;
}

static int script_source_next(struct dwell_source *source, const struct dwell_event **ret_event,
			      struct dwell_err *err)
{
	struct script_source *script = source->format;

	for (;;) {
		const struct script_record *r;
		int rc;

		if (script->pending_count) {
			*ret_event = &script->pending[--script->pending_count];
			return 1;
		}
		if (!script->chunk || script->next_record == script->chunk->records.count) {
			rc = source_take(source, script);
			if (rc == 0)
				return input_ended(source, script);
			if (rc < 0)
				return dwell_err_sys(err, rc, "cannot read the text");
			continue;
		}
		r = &script->chunk->records.data[script->next_record++];
		rc = script_record_take(source, script, r, event_time(source, script, r));
		if (rc)
			return dwell_err_sys(err, rc, "cannot read the text");
	}
}

static void script_source_close(struct dwell_source *source)
{
	struct script_source *script = source->format;

	script_reader_free(script->reader);
	for (unsigned i = 0; i < SCRIPT_THREADS_MAX; i++)
		script_map_release(&script->maps[i]);
	dwell_idmap_release(&script->entries);
	dwell_array_release(&script->cpus);
	free(script);
}

/* `perf script --header`: "# hostname : name". */
static int facts_take(struct dwell_source *source, const struct script_chunk *chunk)
{
	static const struct {
		const char *key, *fact;
	} facts[] = {
		{ "hostname", "host.name" },
		{ "os release", "kernel.release" },
		{ "cmdline", "command" },
	};

	for (uint32_t i = 0; i < chunk->facts.count; i++) {
		struct dwell_slice line = chunk->facts.data[i], key, value;
		const char *colon = memchr(line.at, ':', line.bytes);

		if (!colon)
			continue;
		key = dwell_slice_trim(dwell_slice_of(line.at + 1, colon));
		value = dwell_slice_trim(dwell_slice_of(colon + 1, line.at + line.bytes));
		for (unsigned f = 0; f < sizeof(facts) / sizeof(facts[0]); f++)
			if (dwell_slice_equal(key, facts[f].key) &&
			    !dwell_source_fact(source, facts[f].fact) &&
			    source_fact_set(source, facts[f].fact, strlen(facts[f].fact), value.at,
					    value.bytes) == -ENOMEM)
				return -ENOMEM;
	}
	return 0;
}

static void info_set(struct dwell_source *source, struct script_source *script,
		     const struct script_probe *probe)
{
	struct dwell_source_info *info = &source->info;

	info->format_name = "perf-script text";
	info->start_ns = info->end_ns = script->last_ns = probe->start_ns;
	info->no_switches_reason = script_probe_reason(probe);
	info->has_switches = script_probe_switches(probe);
	info->all_threads = info->has_switches && script_probe_all_threads(probe);
	info->untimed = !probe->started;
	info->named_frames = true;
	script->wakeup_wakes = !probe->counts[SCRIPT_WAKING];
	info->has_wakings = info->has_switches &&
			    (probe->counts[SCRIPT_WAKING] || probe->counts[SCRIPT_WAKEUP]);
	script->two_witnesses = probe->counts[SCRIPT_SWITCH] && probe->counts[SCRIPT_SWITCH_IN];
}

/* Lines that show no time are easily something else. */
static bool is_text(const struct script_probe *probe)
{
	uint64_t each = probe->started ? UNKNOWN_LINES_EACH : 1;

	return probe->known &&
	       probe->unknown <= probe->known * each + (probe->started ? UNKNOWN_LINES : each);
}

/* Looks at the first chunks. 0, or -errno with err set if this is no such text. */
static int source_probe(struct dwell_source *source, struct script_source *script,
			struct dwell_err *err)
{
	struct script_probe probe = { 0 };
	const struct script_chunk *chunk;
	int rc = 0;

	for (uint32_t i = 0; i < SCRIPT_PEEK_MAX; i++) {
		rc = script_reader_peek(script->reader, i, &chunk);
		if (rc <= 0)
			break;
		rc = script_probe_add(&probe, chunk);
		if (!rc)
			rc = facts_take(source, chunk);
		/* A file of another kind is not searched for lines that happen to look right. */
		if (rc || (!probe.known && !probe.comments))
			break;
	}
	if (rc < 0)
		rc = dwell_err_sys(err, rc, "cannot read the text");
	else if (!is_text(&probe))
		rc = dwell_err_set(err, -EINVAL,
				   "not a dwell trace, perf.data or perf-script text");
	else
		info_set(source, script, &probe);
	script_probe_release(&probe);
	return rc;
}

/* As many threads as there are CPUs for this process (taskset and cpusets count). */
static unsigned threads_default(void)
{
	cpu_set_t cpus;
	int count = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : CPU_COUNT(&cpus);

	return count > SCRIPT_THREADS_MAX ? SCRIPT_THREADS_MAX : (unsigned)count;
}

/* A reader that has seen enough of the text to know its form. 0 or -errno. */
static int reader_open(struct script_source *script, const struct script_input *input,
		       unsigned threads, const uint8_t *head, uint32_t head_bytes)
{
	char *text = malloc((size_t)head_bytes + HEAD_BYTES);
	int64_t more;
	int rc = -ENOMEM;

	if (text) {
		memcpy(text, head, head_bytes);
		more = input->read(input->user, text + head_bytes, HEAD_BYTES);
		rc = more < 0 ? (int)more
			      : script_reader_new(input, threads, text, head_bytes + (uint32_t)more,
						  &script->reader);
	}
	free(text);
	return rc;
}

int script_source_open_input(struct dwell_source *source, const struct script_input *input,
			     unsigned threads, const uint8_t *head, uint32_t head_bytes,
			     struct dwell_err *err)
{
	static const struct source_ops ops = { .next = script_source_next,
					       .close = script_source_close };
	static const uint8_t mark[] = { 0xef, 0xbb, 0xbf }; /* UTF-8's byte order mark */
	struct script_source *script = calloc(1, sizeof(*script));
	int rc;

	if (!script)
		return dwell_err_sys(err, -ENOMEM, "cannot read the text");
	if (head_bytes >= sizeof(mark) && !memcmp(head, mark, sizeof(mark))) {
		head += sizeof(mark);
		head_bytes -= (uint32_t)sizeof(mark);
	}
	rc = reader_open(script, input, threads ? threads : threads_default(), head, head_bytes);
	if (rc) {
		free(script);
		return dwell_err_sys(err, rc, "cannot read the text");
	}
	source->format = script;
	source->ops = &ops;
	return source_probe(source, script, err);
}

static int64_t input_read_fd(void *user, void *bytes, uint64_t count)
{
	const struct dwell_source *source = user;

	return dwell_io_read(source->fd, bytes, count);
}

int script_source_open(struct dwell_source *source, unsigned threads, const uint8_t *head,
		       uint32_t head_bytes, struct dwell_err *err)
{
	struct script_input input = { input_read_fd, source };

	return script_source_open_input(source, &input, threads, head, head_bytes, err);
}
