/* SPDX-License-Identifier: MIT */
/* One recording from its start to its end: opens, enables, drains, watches for the reasons to stop,
 * closes. */
#ifndef DWELL_RECORD_SESSION_H
#define DWELL_RECORD_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"
#include "record/config.h"

struct session_progress {
	uint64_t elapsed_ns;
	uint64_t records;
	uint64_t lost;
	uint64_t bytes; /* written to the trace */
	uint32_t threads;
};

/* What the commander of a session hears of it. */
struct session_ops {
	/* Once a second; may be NULL. */
	void (*progress)(void *user, const struct session_progress *progress);
	/* Something people should know that is no failure: one line, no stop. */
	void (*notice)(void *user, const char *line);
	/* Asked after each wait: should the recording end? */
	bool (*stop)(void *user);
	void *user;
};

struct session_result {
	bool recorded;	    /* there is a trace that can be read */
	int command_status; /* of the command, when there was one; else 0 */
	uint64_t lost;
};

/* Records as config says. 0, or -errno with err set: ret_result->recorded tells whether there is a
 * trace all the same (a full disk). */
int session_run(const struct record_config *config, const struct session_ops *ops,
		struct session_result *ret_result, struct dwell_err *err);

#endif
