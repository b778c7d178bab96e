/* SPDX-License-Identifier: MIT */
/* What the user asked `dwell record` for: filled by cmd_record.c from the options, read-only after.
 */
#ifndef DWELL_RECORD_CONFIG_H
#define DWELL_RECORD_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/array.h"

struct record_label {
	char *key;
	const char *value;
};

struct record_config {
	bool all;
	DWELL_ARRAY(int32_t) pids;
	DWELL_ARRAY(int32_t) tids;
	const char *cgroup; /* path or container-id prefix */
	char **command;	    /* argv of the command, NULL = none */
	bool ignored_int;   /* SIGINT was ignored when we were started */
	const char *output;
	uint32_t freq_hz;     /* 0 = no on-CPU samples */
	uint64_t duration_ns; /* 0 = until stopped */
	uint64_t delay_ns;
	uint64_t max_bytes;  /* of the trace, 0 = no limit */
	uint64_t ring_bytes; /* per CPU, 0 = chosen */
	bool callchains;
	uint32_t stack_bytes; /* of user stack, copied with samples and switch-outs and unwound; 0 =
			       * user stacks by frame pointer */
	bool stacks_auto;     /* stack_bytes only if it is found to be needed */
	bool wakers;
	bool inherit;
	const char *cpus; /* list, NULL = all */
	int64_t uid;	  /* -1 = any */
	bool quiet, verbose;
	DWELL_ARRAY(struct record_label) labels;
	const char *command_line; /* dwell's own, for the trace */
};

#endif
