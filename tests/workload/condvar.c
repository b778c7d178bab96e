// SPDX-License-Identifier: MIT
// A consumer waits on a condition variable for items that a producer makes every 3 ms: the consumer
// is blocked from the wait to the signal, about all of the time.
#include "truth.h"

enum { ITEMS = 150 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static int items;
static uint64_t waited_ns;

static void *consumer(void *arg)
{
	truth_begin(arg, "consumer");
	for (int taken = 0; taken < ITEMS; taken++) {
		uint64_t begin;

		pthread_mutex_lock(&lock);
		begin = truth_now_ns();
		while (!items)
			pthread_cond_wait(&more, &lock);
		waited_ns += truth_now_ns() - begin;
		items--;
		pthread_mutex_unlock(&lock);
	}
	truth_end(arg);
	return NULL;
}

static void *producer(void *arg)
{
	truth_begin(arg, "producer");
	for (int i = 0; i < ITEMS; i++) {
		truth_sleep_ns(3 * MS);
		pthread_mutex_lock(&lock);
		items++;
		pthread_cond_signal(&more);
		pthread_mutex_unlock(&lock);
	}
	truth_end(arg);
	return NULL;
}

int main(void)
{
	struct truth take, make;
	char claims[128];
	pthread_t a = truth_thread(consumer, &take), b = truth_thread(producer, &make);

	pthread_join(a, NULL);
	pthread_join(b, NULL);
	/* The lock itself may make the consumer wait a little, around the wait. */
	snprintf(claims, sizeof(claims), "blocked_max_ns=%llu unknown_max_ns=0",
		 (unsigned long long)waited_ns + ITEMS * MS / 20);
	truth_print(&take, claims);
	snprintf(claims, sizeof(claims), "blocked_min_ns=%llu unknown_max_ns=0", ITEMS * 3 * MS);
	truth_print(&make, claims);
	return 0;
}
