// SPDX-License-Identifier: MIT
// Runs a command and appends what it used to a file: user and system time in seconds, wall time,
// and peak memory in KiB, one line.
//
//   usage FILE COMMAND [ARG...]
#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	struct timespec begin, end;
	struct rusage usage;
	int status;
	pid_t pid;
	FILE *f;

	if (argc < 3)
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	pid = fork();
	if (!pid) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
		return 3;
	clock_gettime(CLOCK_MONOTONIC, &end);
	f = fopen(argv[1], "a");
	if (!f)
		return 3;
	fprintf(f, "%.3f %.3f %.3f %ld\n", seconds(usage.ru_utime), seconds(usage.ru_stime),
		(double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9,
		usage.ru_maxrss);
	fclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
