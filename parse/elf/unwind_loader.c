// SPDX-License-Identifier: MIT
/* One list of jobs: given, made in the order given, and taken. */
#include "parse/elf/unwind_loader.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

struct job {
	struct job *next;
	uint32_t key;
	struct image image;
	struct dwell_unwind_table *table;
};

struct list {
	struct job *first, **end;
};

struct unwind_loader {
	pthread_mutex_t lock;	/* of all below */
	pthread_cond_t changed; /* waits by CLOCK_MONOTONIC */
	pthread_t thread;
	bool running, quit, making;
	struct list given, made;
};

static void list_add(struct list *list, struct job *job)
{
	job->next = NULL;
	*list->end = job;
	list->end = &job->next;
}

static struct job *list_take(struct list *list)
{
	struct job *job = list->first;

	if (!job)
		return NULL;
	list->first = job->next;
	if (!list->first)
		list->end = &list->first;
	return job;
}

struct unwind_loader *unwind_loader_new(void)
{
	struct unwind_loader *loader = calloc(1, sizeof(*loader));
	pthread_condattr_t attr;

	if (!loader)
		return NULL;
	loader->given.end = &loader->given.first;
	loader->made.end = &loader->made.first;
	pthread_mutex_init(&loader->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&loader->changed, &attr);
	pthread_condattr_destroy(&attr);
	return loader;
}

static void list_free(struct list *list)
{
	struct job *job;

	while ((job = list_take(list)) != NULL) {
		image_close(&job->image);
		dwell_unwind_table_free(job->table);
		free(job);
	}
}

void unwind_loader_free(struct unwind_loader *loader)
{
	if (!loader)
		return;
	if (loader->running) {
		pthread_mutex_lock(&loader->lock);
		loader->quit = true;
		pthread_cond_broadcast(&loader->changed);
		pthread_mutex_unlock(&loader->lock);
		pthread_join(loader->thread, NULL);
	}
	list_free(&loader->given);
	list_free(&loader->made);
	pthread_cond_destroy(&loader->changed);
	pthread_mutex_destroy(&loader->lock);
	free(loader);
}

static void *make(void *arg)
{
	struct unwind_loader *loader = arg;
	struct job *job;

	pthread_mutex_lock(&loader->lock);
	for (;;) {
		while (!loader->quit && !loader->given.first)
			pthread_cond_wait(&loader->changed, &loader->lock);
		if (loader->quit)
			break;
		job = list_take(&loader->given);
		loader->making = true;
		pthread_mutex_unlock(&loader->lock);
		if (dwell_unwind_table_new(job->image.elf, &job->table, NULL))
			job->table = NULL;
		image_close(&job->image);
		pthread_mutex_lock(&loader->lock);
		loader->making = false;
		list_add(&loader->made, job);
		pthread_cond_broadcast(&loader->changed);
	}
	pthread_mutex_unlock(&loader->lock);
	return NULL;
}

/* Signals are the other threads'. */
static int start(struct unwind_loader *loader)
{
	sigset_t all, before;
	int rc;

	if (loader->running)
		return 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = -pthread_create(&loader->thread, NULL, make, loader);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	loader->running = !rc;
	return rc;
}

int unwind_loader_give(struct unwind_loader *loader, uint32_t key, struct image *image)
{
	struct job *job = calloc(1, sizeof(*job));
	int rc = job ? start(loader) : -ENOMEM;

	if (rc) {
		free(job);
		return rc;
	}
	job->key = key;
	job->image = *image;
	*image = (struct image){ .fd = -1 };
	pthread_mutex_lock(&loader->lock);
	list_add(&loader->given, job);
	pthread_cond_broadcast(&loader->changed);
	pthread_mutex_unlock(&loader->lock);
	return 0;
}

bool unwind_loader_take(struct unwind_loader *loader, uint64_t deadline_ns, uint32_t *ret_key,
			struct dwell_unwind_table **ret_table)
{
	const struct timespec deadline = {
		.tv_sec = (time_t)(deadline_ns / 1000000000),
		.tv_nsec = (long)(deadline_ns % 1000000000),
	};
	struct job *job;
	int rc = deadline_ns ? 0 : ETIMEDOUT;

	pthread_mutex_lock(&loader->lock);
	while (!loader->made.first && (loader->given.first || loader->making) && !rc)
		rc = pthread_cond_timedwait(&loader->changed, &loader->lock, &deadline);
	job = list_take(&loader->made);
	pthread_mutex_unlock(&loader->lock);
	if (!job)
		return false;
	*ret_key = job->key;
	*ret_table = job->table;
	free(job);
	return true;
}
