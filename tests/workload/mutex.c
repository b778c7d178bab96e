// SPDX-License-Identifier: MIT
// A holder keeps a lock for 40 ms ten times while a waiter waits for it: the waiter is blocked from
// its call to the unlock, the holder while it sleeps.
#include <semaphore.h>

#include "truth.h"

enum { ROUNDS = 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t held, done;
static uint64_t asked_ns[ROUNDS], unlocked_ns[ROUNDS], got_ns[ROUNDS];

__attribute__((noinline)) static void hold_lock(int round)
{
	pthread_mutex_lock(&lock);
	sem_post(&held);
	truth_sleep_ns(40 * MS);
	unlocked_ns[round] = truth_now_ns();
	pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) static void wait_for_lock(int round)
{
	asked_ns[round] = truth_now_ns();
	pthread_mutex_lock(&lock);
	got_ns[round] = truth_now_ns();
	pthread_mutex_unlock(&lock);
}

static void *holder(void *arg)
{
	truth_begin(arg, "holder");
	for (int i = 0; i < ROUNDS; i++) {
		hold_lock(i);
		sem_wait(&done);
	}
	truth_end(arg);
	return NULL;
}

static void *waiter(void *arg)
{
	truth_begin(arg, "waiter");
	for (int i = 0; i < ROUNDS; i++) {
		sem_wait(&held);
		wait_for_lock(i);
		sem_post(&done);
	}
	truth_end(arg);
	return NULL;
}

int main(void)
{
	struct truth hold, wait;
	uint64_t least = 0;
	char claims[128];
	pthread_t a, b;

	sem_init(&held, 0, 0);
	sem_init(&done, 0, 0);
	a = truth_thread(holder, &hold);
	b = truth_thread(waiter, &wait);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	for (int i = 0; i < ROUNDS; i++)
		if (unlocked_ns[i] > asked_ns[i])
			least += unlocked_ns[i] - asked_ns[i];
	snprintf(claims, sizeof(claims), "blocked_min_ns=%llu unknown_max_ns=0", ROUNDS * 40 * MS);
	truth_print(&hold, claims);
	snprintf(claims, sizeof(claims), "blocked_min_ns=%llu unknown_max_ns=0",
		 (unsigned long long)least);
	truth_print(&wait, claims);
	return 0;
}
