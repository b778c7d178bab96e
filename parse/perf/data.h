/* SPDX-License-Identifier: MIT */
/* A perf.data in any of its forms (file, pipe, directory; compressed or not; either byte order)
 * becomes its description and its kernel records in time order. Opening reads everything once: the
 * records that describe the recording are taken in, wherever they stand, and the others get an
 * index of runs that are in time order already; reading merges the runs by a heap. Nothing is
 * sorted but that index, and memory does not grow with the file but for it and the tables. */
#ifndef DWELL_PARSE_PERF_DATA_H
#define DWELL_PARSE_PERF_DATA_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"
#include "parse/perf/attr.h"
#include "parse/perf/sample.h"

/* Record types that perf itself writes (tools/lib/perf/include/perf/event.h) and the kernel's that
 * this machine's header may lack. */
enum dwell_perf_record_type {
	DWELL_PERF_CALLCHAIN_DEFERRED = 22,
	DWELL_PERF_USER_TYPES = 64, /* types from here on are perf's */
	DWELL_PERF_HEADER_ATTR = 64,
	DWELL_PERF_HEADER_EVENT_TYPE = 65,
	DWELL_PERF_HEADER_TRACING_DATA = 66,
	DWELL_PERF_HEADER_BUILD_ID = 67,
	DWELL_PERF_FINISHED_ROUND = 68,
	DWELL_PERF_ID_INDEX = 69,
	DWELL_PERF_AUXTRACE_INFO = 70,
	DWELL_PERF_AUXTRACE = 71,
	DWELL_PERF_AUXTRACE_ERROR = 72,
	DWELL_PERF_THREAD_MAP = 73,
	DWELL_PERF_CPU_MAP = 74,
	DWELL_PERF_EVENT_UPDATE = 78,
	DWELL_PERF_TIME_CONV = 79,
	DWELL_PERF_HEADER_FEATURE = 80,
	DWELL_PERF_COMPRESSED = 81,
	DWELL_PERF_FINISHED_INIT = 82,
	DWELL_PERF_COMPRESSED2 = 83,
};

/* One event (perf's evsel): what was asked for, and under which name. */
struct dwell_perf_event {
	struct dwell_perf_attr attr;
	struct dwell_perf_layout layout; /* of its records, ready for decoding */
	char *name;			 /* as the file names it, else dwell_perf_attr_name() */
	uint32_t id_count;		 /* of its ids that are known */
	uint64_t samples;
};

/* The text of a tracepoint's format, as in tracefs. */
struct dwell_perf_format {
	char *system;
	char *text;  /* NUL-terminated */
	uint32_t id; /* attr.config of its events, from its "ID:" line */
};

struct dwell_perf_build_id {
	char *path; /* "[kernel.kallsyms]", "/usr/lib/...", "[vdso]" */
	uint8_t id[20];
	uint8_t bytes;
	uint8_t cpumode; /* PERF_RECORD_MISC_KERNEL, _USER, ...: 0 = not told */
	int32_t pid;
};

/* Everything known about the recording; final once open returned. Strings are NULL when the file
 * does not have them. */
struct dwell_perf_data_info {
	const char *form; /* "file", "pipe", "directory" */
	bool swapped;	  /* of the other byte order than this machine */
	bool long_is_32_bit;
	char *hostname, *osrelease, *version, *arch, *cpudesc, *cpuid;
	char *cmdline;	 /* words joined by spaces */
	char *kcore_dir; /* path of DIR/kcore_dir when there is one */
	uint32_t cpus_available, cpus_online;
	uint64_t total_memory_kib;
	uint64_t first_sample_ns, last_sample_ns; /* feature SAMPLE_TIME; 0 = not told */
	bool has_wall_clock;			  /* wall = time - clock_ns + wall_ns, on clockid */
	int32_t clockid;
	uint64_t wall_ns, clock_ns;

	/* What the records say, seen while indexing. */
	/* First and last stamp of kernel records but mappings, 0 and ~0 left out. */
	uint64_t start_ns, end_ns;
	uint32_t cpus_seen; /* highest CPU named + 1; 0 = records do not name CPUs */
	bool idle_seen;	    /* a sample or switch of tid 0: CPU-wide events */
	bool switch_cpu_wide_seen;
	uint64_t records[DWELL_PERF_USER_TYPES]; /* by type; [0] = types that nobody knows */
	uint64_t lost_samples; /* by LOST_SAMPLES; LOST records are the reader's to add */
	uint64_t compressed_bytes, decompressed_bytes;

	/* What was passed over or is missing. */
	uint64_t unknown_records, unknown_features, bad_features;
	uint64_t unknown_ids;	/* records of an event that the file does not describe */
	uint64_t bad_records;	/* too short for what they claim: passed over */
	uint64_t unread_bytes;	/* behind the place where reading had to stop, or said and not there
				 */
	uint64_t aux_bytes;	/* of hardware traces (AUXTRACE), which are not decoded */
	uint64_t data_bytes;	/* of records, as stored */
	uint64_t input_bytes;	/* of all files of the input, 0 for a pipe */
	uint32_t missing_files; /* of a directory's data.N, told by gaps in their numbers */
	bool unfinished;	/* the recorder was killed: no data size, no features */
	bool damaged;		/* reading stopped at bytes that cannot be right */
};

/* A kernel record in native byte order but for what stands behind a sample's header (decode with
 * the event's layout, which swaps). Valid until the next call of next(). */
struct dwell_perf_record {
	uint32_t type; /* PERF_RECORD_* */
	uint16_t misc;
	uint32_t bytes;	  /* of the payload, sample_id trailer included */
	uint8_t *payload; /* 8-byte aligned, writable: decoding may swap in place */
	uint32_t event;	  /* index of its event; the first one's when the file cannot tell */
	uint64_t time_ns; /* of the record; that of the one before it when it has none */
	bool timed;	  /* it has a stamp of its own other than 0 and ~0 */
};

struct dwell_perf_data; /* opaque */

/* Do these first bytes of a file (16 are enough) open a perf.data? */
bool dwell_perf_data_is(const uint8_t *head, uint32_t head_bytes);

/* Reads the whole input once. fd is borrowed and stays open; head are bytes already read from it
 * where it cannot be positioned (a pipe), which is spooled to an unlinked temporary file ($TMPDIR,
 * else /tmp). path is for messages, and for a directory (fd is its `data`) where its other files
 * are. 0, or -errno with err set: not a perf.data, an unusable header, no event, out of memory. A
 * file that is cut or damaged further on opens, and says so in its info. */
int dwell_perf_data_open(int fd, const char *path, bool is_directory, const uint8_t *head,
			 uint32_t head_bytes, struct dwell_perf_data **ret_data,
			 struct dwell_err *err);
void dwell_perf_data_free(struct dwell_perf_data *data);

const struct dwell_perf_data_info *dwell_perf_data_info(const struct dwell_perf_data *data);
/* NULL past the last. */
const struct dwell_perf_event *dwell_perf_data_event(const struct dwell_perf_data *data,
						     uint32_t index);
/* The index of the event that an id of the file belongs to, -1 when the file does not tell. */
int64_t dwell_perf_data_event_of(const struct dwell_perf_data *data, uint64_t id);
const struct dwell_perf_format *dwell_perf_data_format(const struct dwell_perf_data *data,
						       uint32_t index);
const struct dwell_perf_build_id *dwell_perf_data_build_id(const struct dwell_perf_data *data,
							   uint32_t index);

/* The next kernel record in time order: 1 and *ret_record, 0 at the end, -errno with err set when
 * the file can no longer be read. Records stamped 0 (perf's own, about what was there before) come
 * first, equal stamps in file order; a record without a stamp keeps its place behind the one before
 * it in the file. */
int dwell_perf_data_next(struct dwell_perf_data *data, struct dwell_perf_record *ret_record,
			 struct dwell_err *err);

/* The user callchain that came later for a sample of thread tid (Linux 7: attr.defer_callchain):
 * its addresses, innermost first, at most `room`. How many, 0 when it never came, or -errno with
 * err set. */
int64_t dwell_perf_data_deferred(struct dwell_perf_data *data, uint64_t cookie, uint32_t tid,
				 uint64_t *chain, uint32_t room, struct dwell_err *err);

/* The next record is the first one again. 0 or -ENOMEM (then nothing can be read any more). */
int dwell_perf_data_rewind(struct dwell_perf_data *data);

#endif
