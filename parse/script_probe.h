/* SPDX-License-Identifier: MIT */
/* The first chunks of a text become what must be known of all of it before its first event: its
 * window's start, which scheduler events it has, and whether waits can be told from them. */
#ifndef DWELL_PARSE_SCRIPT_PROBE_H
#define DWELL_PARSE_SCRIPT_PROBE_H

#include "parse/script_chunk.h"
#include "parse/switch_chain.h"

/* Zero-initialise. Owns chain. */
struct script_probe {
	uint64_t counts[SCRIPT_KINDS];
	uint64_t known, unknown, comments;
	uint64_t start_ns;
	uint64_t from_idle;		    /* switches */
	uint64_t without_cpu, with_periods; /* switches without a CPU; sampled by a period */
	bool started;
	struct switch_chain chain;
};

/* 0 or -ENOMEM. */
int script_probe_add(struct script_probe *probe, const struct script_chunk *chunk);
void script_probe_release(struct script_probe *probe);

/* Why waits cannot be told though there are scheduler events; NULL if they can, or if there are
 * none. */
const char *script_probe_reason(const struct script_probe *probe);

bool script_probe_switches(const struct script_probe *probe);
bool script_probe_all_threads(const struct script_probe *probe);

#endif
