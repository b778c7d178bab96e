/* SPDX-License-Identifier: MIT */
/* THE contract of dwell.data between recorder and reader; dwell-data(5) says the same in prose.
 * A file is a header and blocks; a block is checked as a whole, and everything in it is defined
 * before it is used. Ids and numbers here are never reused for something else. */
#ifndef DWELL_LIB_TRACE_FORMAT_H
#define DWELL_LIB_TRACE_FORMAT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define DWELL_TRACE_MAGIC_BYTES                        \
	{                                              \
		'D', 'W', 'E', 'L', 'L', 'T', 'R', 'C' \
	}

enum {
	DWELL_TRACE_VERSION = 1,
	DWELL_TRACE_BYTE_ORDER = 0x0a0b0c0d,  /* reads so on a little-endian machine */
	DWELL_TRACE_BLOCK_MAGIC = 0x4b4c4244, /* "DBLK" */
};

/* All fixed-width members are little-endian. */
struct dwell_trace_header {
	uint8_t magic[8];
	uint16_t version;      /* a reader refuses versions above its own */
	uint16_t header_bytes; /* blocks begin here */
	uint32_t byte_order;
	uint64_t may_ignore;	  /* feature bits that a reader may pass over */
	uint64_t must_understand; /* feature bits without which the books would not balance */
	uint32_t clockid;	  /* clock of every time in the file: CLOCK_MONOTONIC */
	uint8_t reserved[24];	  /* 0 */
	uint32_t crc32;		  /* of the bytes before */
};
static_assert(sizeof(struct dwell_trace_header) == 64, "the header is 64 bytes");

struct dwell_trace_block {
	uint32_t magic;
	uint8_t type;		/* enum dwell_trace_block_type */
	uint8_t flags;		/* DWELL_TRACE_BLOCK_* */
	uint16_t reserved;	/* 0 */
	uint32_t stored_bytes;	/* of the payload in the file */
	uint32_t raw_bytes;	/* of the payload decompressed */
	uint32_t payload_crc32; /* of the stored payload */
	uint32_t header_crc32;	/* of the 20 bytes before */
};
static_assert(sizeof(struct dwell_trace_block) == 24, "a block header is 24 bytes");

enum {
	DWELL_TRACE_BLOCK_ZSTD = 1,	       /* payload is one zstd frame */
	DWELL_TRACE_BLOCK_MUST_UNDERSTAND = 2, /* refuse the file if the type is not known */
};

/* Limits that bound what a reader allocates for a file of a given size. A writer stores a payload
 * raw when it would compress better than DWELL_TRACE_RATIO_MAX. */
enum {
	DWELL_TRACE_RAW_MAX_BYTES = 4 << 20,
	DWELL_TRACE_RATIO_MAX = 64,
	DWELL_TRACE_CPUS_MAX = 8192,
};

enum dwell_trace_block_type {
	DWELL_BLOCK_INFO = 1, /* {text key, text value} ...: facts about the recording */
	DWELL_BLOCK_EVENTS,   /* the event table: see below */
	DWELL_BLOCK_DEFS,     /* definitions: strings, files, frames, stack nodes */
	DWELL_BLOCK_ROUND,    /* events */
	DWELL_BLOCK_COVERAGE, /* per event and CPU: counted, parsed, lost */
	DWELL_BLOCK_END,      /* the recorder closed the file; payload as in INFO */
};

/* Payloads are sequences of varints (lib/varint.h: LEB128), "svarint" = zigzag, and "text" = varint
 * length + bytes.
 *
 * EVENTS: { text name, text format, varint unit, varint flags (1 = clock), varint period,
 *           varint freq_hz } ...            the event's index counts from 0 over the file
 * COVERAGE: { varint event, varint cpu, varint kernel_count, varint parsed, varint lost,
 *             varint flags (1 = blind while idle) } ...
 * DEFS: { byte enum dwell_trace_def, fields } ...
 * ROUND: varint horizon_ns, then sections { varint stream, varint base_ns, varint bytes, records }.
 *   No later block holds a record stamped before horizon_ns. Stream 0 holds records of no CPU,
 *   stream 1 + n those of CPU n. Times are deltas within a section: the first to base_ns, then
 *   each to the record before; a stream is in time order, but for single records (see BACK). */
enum dwell_trace_def {
	DWELL_DEF_STRING = 1, /* text                                     next string id, from 1 */
	DWELL_DEF_FILE,	 /* varint path, kind, text build_id, varint dev_major, dev_minor, inode,
			  * generation, svarint pid                  next file id, from 0 */
	DWELL_DEF_FRAME, /* varint file, varint offset, varint symbol (string, 0 = none)
			  *                                          next frame id, from 1 */
	DWELL_DEF_NODE,	 /* varint (node - parent, 0 = root), varint frame   next node id, from 1 */
	DWELL_DEF_SYMBOL,   /* varint frame, varint string: its name on the recording machine */
	DWELL_DEF_BUILD_ID, /* varint file, text build_id */
	DWELL_DEF_PLACES,   /* varint frame, count, of each: name, file (strings), line: the
			     * functions there, the frame's own one first */
};

/* A record starts with a tag byte: kind in the low 4 bits, flags in the high 4; then varint dt_ns.
 * "tid if flagged": left out when it is the thread current on the CPU, that is the next tid of the
 * last SWITCH or the tid of the last IN record of the stream (0 at a section's start). */
enum dwell_trace_record {
	DWELL_REC_SWITCH = 1, /* [varint prev if PREV], [byte state if STATE], [varint next unless
			       * IDLE], varint stack. Without STATE prev_state is S. */
	DWELL_REC_IN,	      /* [varint tid if TID] */
	DWELL_REC_OUT,	      /* [varint tid if TID], varint stack if STACK; PREEMPT */
	DWELL_REC_WAKING,     /* varint target, [varint waker if WAKER], svarint target_cpu - cpu,
			       * varint stack; context in CONTEXT */
	DWELL_REC_WAKEUP_NEW, /* as WAKING */
	DWELL_REC_SAMPLE, /* [varint tid if TID], varint event, [varint weight if WEIGHT, else the
			   * event's period], varint stack */
	DWELL_REC_GAP,	  /* varint time to the gap's end, varint lost; dt is to its start */
	DWELL_REC_BACK,	  /* dt goes back; then the record's own tag, without dt of its own */
	DWELL_REC_THREAD, /* svarint pid, varint tid, svarint ns_pid, svarint ns_tid, varint comm,
			   * varint cgroup, varint uid + 1, varint DWELL_THREAD_FLAG_* */
	DWELL_REC_FORK,	  /* svarint pid, varint tid, varint parent tid; OBSERVED */
	DWELL_REC_COMM,	  /* varint tid, varint comm; EXEC */
	DWELL_REC_EXIT,	  /* varint tid */
	DWELL_REC_STATE,  /* varint tid, byte letter, varint run_ns, varint wait_ns,
			   * varint switches_in, varint wchan, svarint syscall, 6 x varint args
			   * if syscall >= 0, varint stack; STOP, STABLE, COUNTED */
	DWELL_REC_COUNT,  /* varint tid, varint switches_in */
	DWELL_REC_MORE,	  /* byte enum dwell_trace_more, fields */
};

enum dwell_trace_more {
	DWELL_MORE_CPU = 1,  /* varint cpu, byte enum dwell_witness, byte online */
	DWELL_MORE_STOPPED,  /* varint tid: it is not observed, until a THREAD with JOINED */
	DWELL_MORE_THROTTLE, /* byte on, varint event, varint cpu */
	DWELL_MORE_CGROUP,   /* varint tid, varint path */
	DWELL_MORE_RETID,    /* varint old tid, varint new tid: exec by a thread not the leader */
};

enum {
	DWELL_SWITCH_PREV = 0x10,
	DWELL_SWITCH_STATE = 0x20, /* byte: enum dwell_task_state | 0x80 if preempted ("+") */
	DWELL_SWITCH_IDLE = 0x40,  /* next is tid 0 */

	DWELL_REC_TID = 0x10, /* IN, OUT, SAMPLE */
	DWELL_OUT_PREEMPT = 0x20,
	DWELL_OUT_STACK = 0x40,
	DWELL_SAMPLE_WEIGHT = 0x20,

	DWELL_WAKING_WAKER = 0x10,
	DWELL_WAKING_CONTEXT_SHIFT = 5, /* two bits: enum dwell_context */

	DWELL_FORK_OBSERVED = 0x10,
	DWELL_COMM_EXEC = 0x10,
	DWELL_STATE_STOP = 0x10,
	DWELL_STATE_STABLE = 0x20,
	DWELL_STATE_COUNTED = 0x40,

	DWELL_THREAD_FLAG_OBSERVED = 1,
	DWELL_THREAD_FLAG_KERNEL = 2,
	DWELL_THREAD_FLAG_RECORDER = 4,
	DWELL_THREAD_FLAG_ROAMS = 8,   /* may run on CPUs that are not recorded */
	DWELL_THREAD_FLAG_JOINED = 16, /* observed from this record's time on, not before; again,
					* after STOPPED */
};

#endif
