// SPDX-License-Identifier: MIT
// The program that `make demo` records: for about 3 s four threads compute, sleep, contend for one
// lock and make a log durable, in functions named after what they do.
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile uint64_t sink;
static time_t stop_at;

static int time_left(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec < stop_at;
}

static void sleep_ms(int ms)
{
	nanosleep(&(struct timespec){ 0, ms * 1000000l }, NULL);
}

__attribute__((noinline)) static void parse_header(int rounds)
{
	uint64_t h = 1;

	for (int i = 0; i < rounds; i++)
		h = h * 6364136223846793005ull + 1442695040888963407ull;
	sink = h;
}

__attribute__((noinline)) static void cache_get(void)
{
	pthread_mutex_lock(&cache_lock);
	parse_header(20000);
	pthread_mutex_unlock(&cache_lock);
}

__attribute__((noinline)) static void cache_refill(void)
{
	pthread_mutex_lock(&cache_lock);
	sleep_ms(30);
	pthread_mutex_unlock(&cache_lock);
}

__attribute__((noinline)) static void log_commit(int file)
{
	static char record[16384];

	if (pwrite(file, record, sizeof(record), 0) != sizeof(record) || fsync(file))
		perror("demo: log");
}

static void *serve(void *arg)
{
	prctl(PR_SET_NAME, "worker");
	while (time_left()) {
		parse_header(400000);
		cache_get();
	}
	return arg;
}

static void *refill(void *arg)
{
	prctl(PR_SET_NAME, "refiller");
	while (time_left()) {
		cache_refill();
		sleep_ms(20);
	}
	return arg;
}

static void *flush(void *arg)
{
	char path[] = "dwell-demo-log-XXXXXX";
	int file = mkstemp(path);

	prctl(PR_SET_NAME, "flusher");
	if (file < 0) {
		perror("demo: log");
		return arg;
	}
	unlink(path);
	while (time_left()) {
		log_commit(file);
		sleep_ms(5);
	}
	close(file);
	return arg;
}

int main(void)
{
	void *(*const roles[])(void *) = { serve, serve, refill, flush };
	pthread_t threads[4];
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	stop_at = now.tv_sec + 3;
	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, roles[i], NULL))
			return 1;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
