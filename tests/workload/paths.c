// SPDX-License-Identifier: MIT
/* Threads block at the end of known paths, one way of blocking each, without frame pointers: thread
 * NAME waits below paths_NAME, which paths_thread called. What must be found on their stacks is in
 * the scripts. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { ROUNDS = 40, NAP_NS = 1000000, LEVELS = 300, CONTEXT_BYTES = 64 << 10 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, condition_mutex;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int pipe_read[2], pipe_epoll[2];
static volatile int done;
static volatile unsigned sink;

__attribute__((noinline)) static void paths_nap(void)
{
	const struct timespec nap = { 0, NAP_NS };

	nanosleep(&nap, NULL);
	sink++;
}

__attribute__((noinline)) static void paths_lock(void)
{
	pthread_mutex_lock(&mutex);
	sink++;
	pthread_mutex_unlock(&mutex);
	paths_nap();
}

__attribute__((noinline)) static void paths_condvar(void)
{
	pthread_mutex_lock(&condition_mutex);
	if (!done)
		pthread_cond_wait(&condition, &condition_mutex);
	pthread_mutex_unlock(&condition_mutex);
	sink++;
}

__attribute__((noinline)) static void paths_read(void)
{
	char byte;

	if (read(pipe_read[0], &byte, 1) == 1)
		sink++;
}

__attribute__((noinline)) static void paths_epoll(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	char byte;

	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, pipe_epoll[0], &event) ||
	    epoll_wait(epoll_fd, &event, 1, -1) != 1 || read(pipe_epoll[0], &byte, 1) != 1)
		sink++;
	close(epoll_fd);
}

/* The return address is in a register while the child has the stack. */
__attribute__((noinline)) static void paths_vfork(void)
{
	pid_t child = vfork();

	if (!child) {
		usleep(NAP_NS / 1000);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	sink++;
}

/* On a stack of its own, whose outermost frame is libc's. */
static void paths_coroutine(void)
{
	paths_nap();
	sink++;
}

__attribute__((noinline)) static void paths_context(void)
{
	static char stack[CONTEXT_BYTES];
	ucontext_t here, there;

	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	there.uc_link = &here;
	makecontext(&there, paths_coroutine, 0);
	swapcontext(&here, &there);
}

/* Naps on the way down, at first where the copied stack holds all, at last far from there. */
__attribute__((noinline)) static void paths_deep(unsigned level)
{
	volatile char room[64];

	room[level % sizeof(room)] = 1;
	if (level % 20 == 0)
		paths_nap();
	if (level < LEVELS)
		paths_deep(level + 1);
	sink += (unsigned)room[level % sizeof(room)];
}

__attribute__((noinline)) static void paths_levels(void)
{
	paths_deep(1);
}

static const struct path {
	const char *name;
	void (*run)(void);
	int rounds;
} all[] = {
	{ "lock", paths_lock, ROUNDS },	      { "condvar", paths_condvar, ROUNDS },
	{ "read", paths_read, ROUNDS },	      { "epoll", paths_epoll, ROUNDS },
	{ "context", paths_context, ROUNDS }, { "levels", paths_levels, 3 },
	{ "vfork", paths_vfork, ROUNDS },
};

enum { PATHS = sizeof(all) / sizeof(all[0]) };

static void *paths_thread(void *arg)
{
	const struct path *path = arg;

	prctl(PR_SET_NAME, path->name);
	for (int i = 0; i < path->rounds; i++)
		path->run();
	return NULL;
}

int main(void)
{
	pthread_t threads[PATHS];

	if (pipe(pipe_read) || pipe(pipe_epoll) || pthread_mutex_init(&condition_mutex, NULL))
		return 1;
	for (unsigned i = 0; i < PATHS; i++)
		if (pthread_create(&threads[i], NULL, paths_thread, (void *)&all[i]))
			return 1;
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&mutex);
		paths_nap();
		pthread_mutex_unlock(&mutex);
		paths_nap();
		pthread_cond_signal(&condition);
		if (write(pipe_read[1], "", 1) != 1 || write(pipe_epoll[1], "", 1) != 1)
			return 1;
	}
	done = 1;
	pthread_mutex_lock(&condition_mutex);
	pthread_cond_broadcast(&condition);
	pthread_mutex_unlock(&condition_mutex);
	close(pipe_read[1]);
	for (unsigned i = 0; i < PATHS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
