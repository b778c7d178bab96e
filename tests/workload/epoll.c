// SPDX-License-Identifier: MIT
// An event loop waits in epoll_wait for an eventfd that a ticker writes every 4 ms, and for
// timeouts of 2 ms between: blocked nearly always, and woken by a thread or by a timer.
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "truth.h"

enum { TICKS = 100 };

static int counter_fd;
static uint64_t waited_ns;

static void *loop(void *arg)
{
	int epoll_fd, seen = 0;
	struct epoll_event event = { .events = EPOLLIN };

	truth_begin(arg, "eventloop");
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_fd < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, counter_fd, &event))
		truth_die("epoll");
	while (seen < TICKS) {
		uint64_t begin = truth_now_ns(), ticks;

		if (epoll_wait(epoll_fd, &event, 1, 2) > 0 &&
		    read(counter_fd, &ticks, sizeof(ticks)) == sizeof(ticks))
			seen += (int)ticks;
		waited_ns += truth_now_ns() - begin;
	}
	truth_end(arg);
	return NULL;
}

static void *ticker(void *arg)
{
	uint64_t one = 1;

	truth_begin(arg, "ticker");
	for (int i = 0; i < TICKS; i++) {
		truth_sleep_ns(4 * MS);
		if (write(counter_fd, &one, sizeof(one)) != sizeof(one))
			truth_die("eventfd");
	}
	truth_end(arg);
	return NULL;
}

int main(void)
{
	struct truth a, b;
	char claims[128];
	pthread_t x, y;

	counter_fd = eventfd(0, EFD_CLOEXEC);
	if (counter_fd < 0)
		truth_die("eventfd");
	x = truth_thread(loop, &a);
	y = truth_thread(ticker, &b);
	pthread_join(x, NULL);
	pthread_join(y, NULL);
	snprintf(claims, sizeof(claims), "blocked_max_ns=%llu unknown_max_ns=0",
		 (unsigned long long)waited_ns);
	truth_print(&a, claims);
	snprintf(claims, sizeof(claims), "blocked_min_ns=%llu unknown_max_ns=0", TICKS * 4 * MS);
	truth_print(&b, claims);
	return 0;
}
