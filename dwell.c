// SPDX-License-Identifier: MIT
/* The command line becomes a call of one command. Commands live in their rooms; this file only
 * knows their names. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/command.h"
#include "lib/err.h"
#include "parse/cmd.h"
#include "record/cmd.h"
#include "report/cmd.h"

enum { PATH_BYTES = 4096 };

/* Records, then shows what came out of it. */
static int cmd_record(int argc, char **argv)
{
	char path[PATH_BYTES] = "";
	int status = dwell_cmd_record(argc, argv, path, sizeof(path));
	struct dwell_err err = { 0 };

	if (!*path)
		return status;
	if (dwell_report_summary(path, stderr, &err)) {
		fprintf(stderr, "dwell: %s\n", err.msg);
		return status ? status : DWELL_EXIT_FAILED;
	}
	return status;
}

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "record", cmd_record, "record where threads spend their time" },
	{ "report", dwell_cmd_report, "say where the time went" },
	{ "fold", dwell_cmd_fold, "print folded stacks, in ns, for flame graphs" },
	{ "dump", dwell_cmd_dump, "print every event of a recording, in time order" },
};

enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

static void print_usage(FILE *out)
{
	fprintf(out, "usage: dwell COMMAND [OPTION]...\n\ncommands:\n");
	for (unsigned i = 0; i < COMMAND_COUNT; i++)
		fprintf(out, "  %-10s%s\n", commands[i].name, commands[i].help);
	fprintf(out, "\n'dwell help COMMAND' or 'dwell COMMAND --help' tells its options.\n");
}

static const struct command *find_command(const char *name)
{
	for (unsigned i = 0; i < COMMAND_COUNT; i++)
		if (!strcmp(name, commands[i].name))
			return &commands[i];
	return NULL;
}

static int unknown_command(const char *name)
{
	char shown[256];

	fprintf(stderr, "dwell: unknown command '%s'; 'dwell help' lists them\n",
		dwell_printable(shown, sizeof(shown), name));
	return DWELL_EXIT_USAGE;
}

static int help(int argc, char **argv)
{
	char option[] = "--help", *args[] = { NULL, option, NULL };
	const struct command *command;

	if (argc < 3) {
		print_usage(stdout);
		return DWELL_EXIT_OK;
	}
	command = find_command(argv[2]);
	if (!command)
		return unknown_command(argv[2]);
	args[0] = argv[2];
	return command->run(2, args);
}

/* A file opened later must not take the number of a standard stream that the caller closed: then
 * messages would go into it. What is put there fails as a closed stream does. */
static int streams_hold(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			return -1;
	return 0;
}

/* Help that could not be printed is a failure, too. */
static int finish(int status)
{
	struct dwell_err err = { 0 };

	if (status != DWELL_EXIT_OK || dwell_output_close(stdout, NULL, &err) == 0)
		return status;
	return dwell_command_fail(&err, DWELL_EXIT_FAILED);
}

int main(int argc, char **argv)
{
	const struct command *command;

	if (streams_hold())
		return DWELL_EXIT_FAILED;
	if (argc < 2) {
		print_usage(stderr);
		return DWELL_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("dwell %s\n", DWELL_VERSION);
		return finish(DWELL_EXIT_OK);
	}
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return finish(help(argc, argv));
	command = find_command(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	return finish(command->run(argc - 1, argv + 1));
}
