// SPDX-License-Identifier: MIT
/* The options of `dwell record` become a configuration, a session, an exit status. Everything a
 * person sees of a recording while it runs is printed here. */
#include "record/cmd.h"
#include "record/cpulist.h"

#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/opt.h"
#include "parse/elf/unwind.h"
#include "record/framepointers.h"
#include "record/ringsize.h"
#include "record/session.h"

enum {
	FREQ_DEFAULT_HZ = 99,
	FREQ_MAX_HZ = 20000,
	RING_SIZE_MIN_BYTES = 4096,
	/* As perf's. The kernel takes words, and records have 16 bits of length. */
	STACK_BYTES_DEFAULT = 8192,
	STACK_BYTES_MIN = 256,
	STACK_BYTES_MAX = 65528 - 1024,
	/* Facts have to fit into one block, and into what a reader takes of them. */
	LABELS_MAX = 256,
	LABEL_KEY_BYTES = 64,
	LABEL_VALUE_BYTES = 4096,
	COMMAND_LINE_BYTES = 64 << 10,
};

enum record_option {
	OPT_ALL,
	OPT_PID,
	OPT_TID,
	OPT_CGROUP,
	OPT_OUTPUT,
	OPT_FREQ,
	OPT_DURATION,
	OPT_DELAY,
	OPT_CALLS,
	OPT_CALL_GRAPH,
	OPT_NO_WAKERS,
	OPT_NO_INHERIT,
	OPT_CPU,
	OPT_UID,
	OPT_MAX_SIZE,
	OPT_RING_SIZE,
	OPT_LABEL,
	OPT_NO_SUMMARY,
	OPT_QUIET,
	OPT_VERBOSE,
};

static const struct dwell_opt record_opts[] = {
	[OPT_ALL] = { "all", 'a', NULL, "record every thread of the system" },
	[OPT_PID] = { "pid", 'p', "PID,...", "record these processes, and what they start" },
	[OPT_TID] = { "tid", 't', "TID,...", "record these threads, and what they start" },
	[OPT_CGROUP] = { "cgroup", 'G', "CGROUP", "record a cgroup (path or container-id prefix)" },
	[OPT_OUTPUT] = { "output", 'o', "FILE", "write the trace here (dwell.data; - = stdout)" },
	[OPT_FREQ] = { "freq", 'F', "HZ", "on-CPU samples a second and CPU (99; 0 = none)" },
	[OPT_DURATION] = { "duration", 'd', "TIME", "stop after this time (10s, 500ms, 2m)" },
	[OPT_DELAY] = { "delay", 'D', "TIME", "begin this long after the command" },
	[OPT_CALLS] = { "callchains", 'g', NULL, "record stacks (the default)" },
	[OPT_CALL_GRAPH] = { "call-graph", 0, "HOW",
			     "user stacks: auto (default), fp, dwarf[,BYTES], none" },
	[OPT_NO_WAKERS] = { "no-wakers", 0, NULL, "do not record who ended a wait (cheaper)" },
	[OPT_NO_INHERIT] = { "no-inherit", 0, NULL, "do not follow new threads and processes" },
	[OPT_CPU] = { "cpu", 'C', "LIST", "record on these CPUs only (0,2-3); with -a" },
	[OPT_UID] = { "uid", 'u', "USER", "record processes of this user only; with -a" },
	[OPT_MAX_SIZE] = { "max-size", 0, "SIZE", "stop when the trace has grown to this" },
	[OPT_RING_SIZE] = { "ring-size", 0, "SIZE",
			    "ring buffer per CPU (8M, or what memory allows)" },
	[OPT_LABEL] = { "label", 0, "KEY=VALUE", "keep a label with the trace" },
	[OPT_NO_SUMMARY] = { "no-summary", 0, NULL, "no summary at the end" },
	[OPT_QUIET] = { "quiet", 'q', NULL, "print nothing but errors" },
	[OPT_VERBOSE] = { "verbose", 'v', NULL, "say more about the recording" },
	{ 0 },
};

static const struct dwell_opt_usage record_usage = {
	"record",
	"dwell record [OPTION]... [-a | -p PID,... | -t TID,... | -G CGROUP | -- COMMAND [ARG]...]",
	"Records what threads do with wall-clock time: running, waiting for a CPU, blocked.\n"
	"(-d is a duration here; perf's -d is --data.)",
};

/* Everything the options fill. */
struct record_command {
	struct record_config config;
	bool no_summary;
	bool progress_shown;
};

/* The one mutable global: set by the signal handler, read by the session's stop(). */
static volatile sig_atomic_t stop_flag;

static void stop_handler(int signal_number)
{
	(void)signal_number;
	stop_flag = 1;
}

static int add_pid(void *user, int32_t id)
{
	struct record_config *config = user;

	if (dwell_array_grow(&config->pids))
		return -ENOMEM;
	config->pids.data[config->pids.count++] = id;
	return 0;
}

static int add_tid(void *user, int32_t id)
{
	struct record_config *config = user;

	if (dwell_array_grow(&config->tids))
		return -ENOMEM;
	config->tids.data[config->tids.count++] = id;
	return 0;
}

static int add_label(struct record_config *config, const char *value, struct dwell_err *err)
{
	const char *equals = strchr(value, '=');
	char *key;

	if (!equals || equals == value || equals - value > LABEL_KEY_BYTES)
		return dwell_err_set(err, -EINVAL, "'%s' is not KEY=VALUE", value);
	if (config->labels.count == LABELS_MAX || strlen(equals + 1) > LABEL_VALUE_BYTES)
		return dwell_err_set(err, -EINVAL,
				     "more than %d labels, or a value of over %d bytes", LABELS_MAX,
				     LABEL_VALUE_BYTES);
	key = strndup(value, (size_t)(equals - value));
	if (!key || dwell_array_grow(&config->labels)) {
		free(key);
		return dwell_err_sys(err, -ENOMEM, "'%s'", value);
	}
	config->labels.data[config->labels.count++] = (struct record_label){ key, equals + 1 };
	return 0;
}

/* "dwarf" or "dwarf,BYTES": the place of the bytes, or of the end. NULL = another word. */
static const char *after_word(const char *value, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(value, word, length) || (value[length] && value[length] != ','))
		return NULL;
	return value[length] ? value + length + 1 : value + length;
}

static int set_call_graph(struct record_config *config, const char *value, struct dwell_err *err)
{
	uint64_t bytes = STACK_BYTES_DEFAULT;
	const char *size = after_word(value, "auto");

	config->callchains = strcmp(value, "none") != 0;
	config->stacks_auto = size != NULL;
	config->stack_bytes = 0;
	if (!strcmp(value, "fp") || !config->callchains)
		return 0;
	if (!size)
		size = after_word(value, "dwarf");
	if (!size)
		return dwell_err_set(err, -EINVAL,
				     "'%s' is not one of auto[,BYTES], fp, dwarf[,BYTES], none",
				     value);
	if ((*size || size[-1] == ',') && dwell_opt_bytes(size, &bytes, err))
		return -EINVAL;
	if (bytes < STACK_BYTES_MIN || bytes > STACK_BYTES_MAX)
		return dwell_err_set(err, -EINVAL, "'%s': %d to %d bytes of stack can be copied",
				     value, STACK_BYTES_MIN, STACK_BYTES_MAX);
	if (!DWELL_UNWIND_REGS_MASK && !config->stacks_auto)
		return dwell_err_set(err, -EINVAL,
				     "'%s': unwinding is not implemented for this machine; use fp",
				     value);
	config->stack_bytes = (uint32_t)(bytes + 7) & ~7u;
	return 0;
}

/* A limit that the parser took; 0 would mean none further down. */
static int limit_check(uint64_t limit, const char *value, struct dwell_err *err)
{
	return limit ? 0 : dwell_err_set(err, -EINVAL, "'%s' is nothing to record", value);
}

/* A number, or a user's name. */
static int set_uid(struct record_config *config, const char *value, struct dwell_err *err)
{
	const struct passwd *user;
	uint64_t number;

	if (*value < '0' || *value > '9') {
		user = getpwnam(value);
		if (!user)
			return dwell_err_set(err, -EINVAL, "there is no user '%s'", value);
		config->uid = user->pw_uid;
		return 0;
	}
	if (dwell_opt_u64(value, 0, UINT32_MAX - 1, &number, err))
		return -EINVAL;
	config->uid = (int64_t)number;
	return 0;
}

static int option_number(unsigned index, struct record_config *config, const char *value,
			 struct dwell_err *err)
{
	uint64_t number = 0;
	int rc;

	if (index == OPT_FREQ) {
		rc = dwell_opt_u64(value, 0, FREQ_MAX_HZ, &number, err);
		config->freq_hz = (uint32_t)number;
		return rc;
	}
	if (index == OPT_UID)
		return set_uid(config, value, err);
	if (index == OPT_MAX_SIZE) {
		rc = dwell_opt_bytes(value, &config->max_bytes, err);
		return rc ? rc : limit_check(config->max_bytes, value, err);
	}
	rc = dwell_opt_bytes(value, &config->ring_bytes, err);
	if (!rc && (config->ring_bytes < RING_SIZE_MIN_BYTES || config->ring_bytes > 1u << 30))
		return dwell_err_set(err, -EINVAL, "'%s' is not between 4k and 1G", value);
	return rc;
}

static int record_option(void *user, unsigned index, const char *value, struct dwell_err *err)
{
	struct record_command *command = user;
	struct record_config *config = &command->config;
	int rc;

	switch (index) {
	case OPT_ALL:
		config->all = true;
		return 0;
	case OPT_PID:
		return dwell_opt_id_list(value, add_pid, config, err);
	case OPT_TID:
		return dwell_opt_id_list(value, add_tid, config, err);
	case OPT_CGROUP:
		config->cgroup = value;
		return *value ? 0 : dwell_err_set(err, -EINVAL, "the name is empty");
	case OPT_OUTPUT:
		config->output = value;
		return *value ? 0 : dwell_err_set(err, -EINVAL, "the name is empty");
	case OPT_DURATION:
		rc = dwell_opt_time_ns(value, &config->duration_ns, err);
		return rc ? rc : limit_check(config->duration_ns, value, err);
	case OPT_DELAY:
		return dwell_opt_time_ns(value, &config->delay_ns, err);
	case OPT_CALLS:
		config->callchains = true;
		return 0;
	case OPT_CALL_GRAPH:
		return set_call_graph(config, value, err);
	case OPT_NO_WAKERS:
		config->wakers = false;
		return 0;
	case OPT_NO_INHERIT:
		config->inherit = false;
		return 0;
	case OPT_CPU:
		config->cpus = value;
		return cpulist_each(value, UINT32_MAX, NULL, NULL)
			       ? dwell_err_set(err, -EINVAL,
					       "'%s' is not a list of CPUs such as 0,2-3", value)
			       : 0;
	case OPT_LABEL:
		return add_label(config, value, err);
	case OPT_NO_SUMMARY:
		command->no_summary = true;
		return 0;
	case OPT_QUIET:
		config->quiet = true;
		return 0;
	case OPT_VERBOSE:
		config->verbose = true;
		return 0;
	default:
		return option_number(index, config, value, err);
	}
}

/* One target, or a command: which is it, and do the options fit it? */
static int config_check(struct record_config *config, struct dwell_err *err)
{
	int kinds = config->all + (config->pids.count > 0) + (config->tids.count > 0) +
		    (config->cgroup != NULL);

	if (!kinds && !config->command)
		return dwell_err_set(err, -EINVAL,
				     "nothing to record: give -a, -p, -t, -G or -- COMMAND; see "
				     "'dwell record --help'");
	if (kinds > 1)
		return dwell_err_set(err, -EINVAL, "-a, -p, -t and -G exclude each other");
	if (kinds && config->command && !config->all)
		return dwell_err_set(
			err, -EINVAL,
			"-p, -t and -G record what runs already: no COMMAND with them");
	if ((config->cpus || config->uid >= 0) && !config->all)
		return dwell_err_set(err, -EINVAL, "-C and -u go with -a");
	return 0;
}

static void progress_print(void *user, const struct session_progress *p)
{
	struct record_command *command = user;
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
	double bytes = (double)p->bytes;
	unsigned unit = 0;

	for (; bytes >= 1000 && unit < 4; unit++)
		bytes /= 1000;
	fprintf(stderr, "\r\033[K%5.1f s  %u threads  %.0f events/s  %.1f %s  lost %llu",
		(double)p->elapsed_ns / 1e9, p->threads,
		(double)p->records / ((double)p->elapsed_ns / 1e9), bytes, units[unit],
		(unsigned long long)p->lost);
	command->progress_shown = true;
}

static void progress_clear(struct record_command *command)
{
	if (command->progress_shown)
		fprintf(stderr, "\r\033[K");
	command->progress_shown = false;
}

static void notice_print(void *user, const char *line)
{
	struct record_command *command = user;

	if (command->config.quiet)
		return;
	progress_clear(command);
	fprintf(stderr, "dwell: %s\n", line);
}

/* --call-graph auto: by frame pointers where programs keep them, and where buffers could not hold
 * the copies of stacks (an ordinary user's). */
static void stacks_choose(struct record_command *command)
{
	struct record_config *config = &command->config;
	uint32_t cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	char why[FRAMEPOINTERS_WHY_BYTES] = "programs keep frame pointers";
	char line[FRAMEPOINTERS_WHY_BYTES + 64];

	if (!config->stacks_auto)
		return;
	if (!DWELL_UNWIND_REGS_MASK) {
		config->stack_bytes = 0;
		snprintf(why, sizeof(why), "this machine's are not unwound");
	} else if (ring_bytes_choose(config->ring_bytes, RING_MAX_BYTES_COPIES, cpus,
				     SIDE_RING_MIN_BYTES) < RING_MIN_BYTES_COPIES) {
		config->stack_bytes = 0;
		snprintf(why, sizeof(why), "buffers may not be large enough for copies");
	} else if (framepointers_kept(config, why)) {
		config->stack_bytes = 0;
	}
	snprintf(line, sizeof(line), "user stacks are taken by %s: %s",
		 config->stack_bytes ? "unwind information" : "frame pointers", why);
	if (config->verbose)
		notice_print(command, line);
}

static bool stop_wanted(void *user)
{
	(void)user;
	return stop_flag;
}

static void signals_set(struct record_config *config)
{
	static const int stops[] = { SIGTERM, SIGHUP };
	/* No SA_RESTART: a signal must end the wait for records. */
	struct sigaction action = { .sa_handler = stop_handler }, before;

	for (unsigned i = 0; i < sizeof(stops) / sizeof(*stops); i++)
		/* nohup ignores some: so do we then. */
		if (sigaction(stops[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(stops[i], &action, NULL);
	/* Background jobs of scripts start with SIGINT ignored, and scripts end recorders by it. */
	config->ignored_int =
		sigaction(SIGINT, &action, &before) == 0 && before.sa_handler == SIG_IGN;
	signal(SIGPIPE, SIG_IGN); /* a write fails instead, and what can be kept is kept */
	signal(SIGXFSZ, SIG_IGN);
}

/* argv as one line, for the trace's header; cut where nobody reads on. */
static char *command_line(int argc, char **argv)
{
	char *line = malloc(COMMAND_LINE_BYTES);
	int used = line ? snprintf(line, COMMAND_LINE_BYTES, "dwell") : 0;

	for (int i = 0; line && i < argc && used < COMMAND_LINE_BYTES; i++)
		used += snprintf(line + used, (size_t)(COMMAND_LINE_BYTES - used), " %s", argv[i]);
	if (used >= COMMAND_LINE_BYTES)
		memcpy(line + COMMAND_LINE_BYTES - 4, "...", 4);
	return line;
}

static void config_release(struct record_config *config)
{
	for (uint32_t i = 0; i < config->labels.count; i++)
		free(config->labels.data[i].key);
	dwell_array_release(&config->labels);
	dwell_array_release(&config->pids);
	dwell_array_release(&config->tids);
}

static int record_fail(const struct dwell_err *err, int status)
{
	fprintf(stderr, "dwell: %s\n", err->msg);
	return status;
}

int dwell_cmd_record(int argc, char **argv, char *ret_summary_path, unsigned long path_bytes)
{
	struct record_command command = {
		.config = { .output = "dwell.data",
			    .freq_hz = FREQ_DEFAULT_HZ,
			    .callchains = true,
			    .stacks_auto = true,
			    .stack_bytes = STACK_BYTES_DEFAULT,
			    .wakers = true,
			    .inherit = true,
			    .uid = -1 },
	};
	struct session_ops ops = { .notice = notice_print, .stop = stop_wanted, .user = &command };
	struct session_result result = { 0 };
	struct dwell_err err = { 0 };
	struct stat st;
	char *line = command_line(argc, argv);
	int operand, rc, status;

	*ret_summary_path = '\0';
	operand = dwell_opt_parse(record_opts, &record_usage, argc, argv, 1, record_option,
				  &command, &err);
	if (operand >= 0 && operand < argc)
		command.config.command = argv + operand;
	rc = operand < 0 ? operand : config_check(&command.config, &err);
	if (rc) {
		config_release(&command.config);
		free(line);
		return rc == -ECANCELED ? DWELL_EXIT_OK : record_fail(&err, DWELL_EXIT_USAGE);
	}
	command.config.command_line = line ? line : "dwell record";
	if (isatty(STDERR_FILENO) && !command.config.quiet)
		ops.progress = progress_print;
	stacks_choose(&command);
	signals_set(&command.config);
	rc = session_run(&command.config, &ops, &result, &err);
	progress_clear(&command);
	status = rc ? record_fail(&err, DWELL_EXIT_FAILED) : result.command_status;
	if (rc && command.config.command && !result.recorded && (rc == -ENOENT || rc == -EACCES) &&
	    strstr(err.msg, "cannot run"))
		status = rc == -ENOENT ? 127 : 126;
	/* What went through a pipe cannot be read again. */
	if (result.recorded && !command.config.quiet && !command.no_summary &&
	    strcmp(command.config.output, "-") && stat(command.config.output, &st) == 0 &&
	    S_ISREG(st.st_mode))
		snprintf(ret_summary_path, path_bytes, "%s", command.config.output);
	config_release(&command.config);
	free(line);
	return status;
}
