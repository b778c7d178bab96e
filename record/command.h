/* SPDX-License-Identifier: MIT */
/* The command that is recorded: forked early, started once the events are enabled, its exit status
 * passed through. */
#ifndef DWELL_RECORD_COMMAND_H
#define DWELL_RECORD_COMMAND_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/err.h"

struct command {
	pid_t pid;    /* 0 = none */
	int go_fd;    /* writing here lets it run */
	int error_fd; /* says why it could not */
	bool ended;
	int status; /* exit status, 128 + signal, 126 or 127 */
};

/* The file that a command's name means, by PATH. 0, or -ENOENT, -EACCES. */
int command_find(const char *name, char ret_path[PATH_MAX]);
/* How the command differs from the recorder's own surroundings. */
struct command_setup {
	bool ignore_int; /* as our caller had it, who may be a script's background job */
	bool to_stderr;	 /* its output: our standard output is the trace's */
};

/* Forks; the child waits to be let go. 0 or -errno with err set. */
int command_fork(struct command *command, char **argv, struct command_setup setup,
		 struct dwell_err *err);
/* Lets it run; nap: it sleeps once before exec, so that a switch names it. 0, or -errno with err
 * set when exec failed (status is 126 or 127 then). */
int command_go(struct command *command, const char *name, bool nap, struct dwell_err *err);
/* Has it ended? Does not wait. */
bool command_poll(struct command *command);
/* Ends it (SIGTERM) if it still runs, and waits a moment for it. */
void command_stop(struct command *command);

#endif
