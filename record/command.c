// SPDX-License-Identifier: MIT
/* argv becomes a child that waits on a pipe until the recording has begun, then becomes the
 * command. */
#include "record/command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STOP_WAIT_MS = 2000, CANNOT_RUN = 126, NOT_FOUND = 127 };

static int program_check(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	return S_ISREG(st.st_mode) && access(path, X_OK) == 0 ? 0 : -EACCES;
}

int command_find(const char *name, char ret_path[PATH_MAX])
{
	const char *search = getenv("PATH");
	char path[PATH_MAX];
	int rc = -ENOENT;

	if (!search)
		search = "/usr/local/bin:/usr/bin:/bin";
	if (strchr(name, '/')) {
		snprintf(path, sizeof(path), "%s", name);
		rc = program_check(name);
		search = "";
	}
	while (rc && *search) {
		size_t n = strcspn(search, ":");
		int found;

		snprintf(path, sizeof(path), "%.*s/%s", n ? (int)n : 1, n ? search : ".", name);
		found = program_check(path);
		rc = found == 0 || found == -EACCES ? found : rc;
		search += n + (search[n] == ':');
	}
	if (!rc)
		memcpy(ret_path, path, sizeof(path));
	return rc;
}

/* Ours are handlers, which exec would reset too late: a signal must end the child while it waits.
 * What the caller had ignored (nohup) stays ignored, as we left it. */
static void child_signal_default(int signal_number)
{
	struct sigaction action;

	if (sigaction(signal_number, NULL, &action) == 0 && action.sa_handler != SIG_IGN)
		signal(signal_number, SIG_DFL);
}

/* The child: signals as they were before us, then the command. */
static void child_run(char **argv, struct command_setup setup, bool ignores_children, int go_fd,
		      int error_fd)
{
	sigset_t none;
	char byte;
	ssize_t n;
	int code;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGINT, setup.ignore_int ? SIG_IGN : SIG_DFL);
	child_signal_default(SIGTERM);
	child_signal_default(SIGHUP);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	if (ignores_children)
		signal(SIGCHLD, SIG_IGN);
	if (setup.to_stderr && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		close(STDOUT_FILENO);
	while ((n = read(go_fd, &byte, 1)) < 0 && errno == EINTR)
		;
	if (n != 1) /* the recorder is gone: nothing may run unrecorded */
		_exit(CANNOT_RUN);
	if (byte == 's') { /* a pid namespace: one sleep shows under which tid switches name us */
		const struct timespec nap = { 0, 1000 };

		nanosleep(&nap, NULL);
	}
	execvp(argv[0], argv);
	code = errno;
	if (write(error_fd, &code, sizeof(code)) < 0)
		_exit(NOT_FOUND);
	_exit(code == ENOENT ? NOT_FOUND : CANNOT_RUN);
}

int command_fork(struct command *command, char **argv, struct command_setup setup,
		 struct dwell_err *err)
{
	int go[2] = { -1, -1 }, error[2] = { -1, -1 };
	struct sigaction was = { .sa_handler = SIG_DFL };
	pid_t pid;

	if (pipe2(go, O_CLOEXEC) || pipe2(error, O_CLOEXEC))
		return dwell_err_sys(err, -errno, "cannot start '%s'", argv[0]);
	/* Whose parent ignored SIGCHLD does so too, and then no child leaves a status. */
	sigaction(SIGCHLD, NULL, &was);
	signal(SIGCHLD, SIG_DFL);
	pid = fork();
	if (pid < 0)
		return dwell_err_sys(err, -errno, "cannot start '%s'", argv[0]);
	if (pid == 0) {
		close(go[1]);
		close(error[0]);
		child_run(argv, setup, was.sa_handler == SIG_IGN, go[0], error[1]);
	}
	close(go[0]);
	close(error[1]);
	*command = (struct command){ .pid = pid, .go_fd = go[1], .error_fd = error[0] };
	return 0;
}

int command_go(struct command *command, const char *name, bool nap, struct dwell_err *err)
{
	int code = 0;
	ssize_t n;

	if (write(command->go_fd, nap ? "s" : "g", 1) != 1)
		return dwell_err_sys(err, -errno, "cannot start '%s'", name);
	close(command->go_fd);
	while ((n = read(command->error_fd, &code, sizeof(code))) < 0 && errno == EINTR)
		;
	close(command->error_fd);
	if (n != sizeof(code))
		return 0;
	return dwell_err_sys(err, -code, "cannot run '%s'", name);
}

bool command_poll(struct command *command)
{
	int status;

	if (!command->pid || command->ended)
		return command->ended;
	if (waitpid(command->pid, &status, WNOHANG) != command->pid)
		return false;
	command->ended = true;
	command->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return true;
}

void command_stop(struct command *command)
{
	const struct timespec tick = { 0, 10000000 };

	if (!command->pid || command_poll(command))
		return;
	kill(command->pid, SIGTERM);
	for (int waited_ms = 0; waited_ms < STOP_WAIT_MS && !command_poll(command); waited_ms += 10)
		nanosleep(&tick, NULL);
}
