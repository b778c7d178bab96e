// SPDX-License-Identifier: MIT
/* A cgroup's name becomes its folder, a folder becomes pids: v2, or any hierarchy of v1. */
#include "record/cgroups.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/io.h"

enum { DEPTH_MAX = 32, ID_PREFIX_MIN = 6, PROCS_MAX_BYTES = 16 << 20 };

/* Where hierarchies are mounted, the unified one first; those of v1 are looked at in this order. */
static const char *const roots[] = {
	"/sys/fs/cgroup/unified", "/sys/fs/cgroup",	    "/sys/fs/cgroup/perf_event",
	"/sys/fs/cgroup/systemd", "/sys/fs/cgroup/cpu",	    "/sys/fs/cgroup/memory",
	"/sys/fs/cgroup/pids",	  "/sys/fs/cgroup/cpuset",  "/sys/fs/cgroup/blkio",
	"/sys/fs/cgroup/devices", "/sys/fs/cgroup/freezer",
};

static bool is_cgroup(const char *folder)
{
	char path[PATH_MAX];
	struct stat st;

	return (size_t)snprintf(path, sizeof(path), "%s/cgroup.procs", folder) < sizeof(path) &&
	       stat(path, &st) == 0;
}

/* Calls fn for each folder below `folder`, depth first. */
static int folders_each(const char *folder, unsigned depth,
			int (*fn)(void *user, const char *folder, const char *name), void *user)
{
	DIR *dir = depth < DEPTH_MAX ? opendir(folder) : NULL;
	const struct dirent *entry;
	int rc = 0;

	if (!dir)
		return 0;
	while (!rc && (entry = readdir(dir))) {
		char path[PATH_MAX];

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.' ||
		    (size_t)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) >=
			    sizeof(path))
			continue;
		rc = fn(user, path, entry->d_name);
		if (!rc)
			rc = folders_each(path, depth + 1, fn, user);
	}
	closedir(dir);
	return rc;
}

struct id_search {
	const char *prefix;
	char *folder;
	uint32_t folder_bytes;
	uint32_t found;
};

/* "docker-0123abcd....scope", "cri-containerd-...", or the id alone. */
static int id_match(void *user, const char *folder, const char *name)
{
	struct id_search *search = user;
	const char *at = strstr(name, search->prefix);

	if (!at || (at != name && at[-1] != '-') || !is_cgroup(folder))
		return 0;
	/* Folders inside the container's own are part of it. */
	if (search->found && !strncmp(folder, search->folder, strlen(search->folder)))
		return 0;
	search->found++;
	snprintf(search->folder, search->folder_bytes, "%s", folder);
	return 0;
}

static bool is_container_id(const char *name)
{
	size_t n = strspn(name, "0123456789abcdef");

	return n >= ID_PREFIX_MIN && !name[n];
}

int cgroups_find(const char *name, char *ret_folder, uint32_t folder_bytes, struct dwell_err *err)
{
	char path[PATH_MAX];

	if (!strncmp(name, "/sys/fs/cgroup/", 15) && is_cgroup(name)) {
		snprintf(ret_folder, folder_bytes, "%s", name);
		return 0;
	}
	for (unsigned i = 0; i < sizeof(roots) / sizeof(*roots); i++) {
		if (!*name || strstr(name, "..") ||
		    (size_t)snprintf(path, sizeof(path), "%s/%s", roots[i],
				     name + (*name == '/')) >= sizeof(path) ||
		    !is_cgroup(path))
			continue;
		snprintf(ret_folder, folder_bytes, "%s", path);
		return 0;
	}
	for (unsigned i = 0; is_container_id(name) && i < sizeof(roots) / sizeof(*roots); i++) {
		struct id_search search = { name, ret_folder, folder_bytes, 0 };

		if (!is_cgroup(roots[i]))
			continue;
		folders_each(roots[i], 0, id_match, &search);
		if (search.found > 1)
			return dwell_err_set(err, -ENOTUNIQ,
					     "the container id '%s' stands for %u cgroups; give "
					     "more of it",
					     name, search.found);
		if (search.found)
			return 0;
	}
	return dwell_err_set(err, -ENOENT,
			     "there is no cgroup '%s' (a path below /sys/fs/cgroup, or the first "
			     "characters of a container id)",
			     name);
}

struct pid_walk {
	int (*fn)(void *user, int32_t pid);
	void *user;
};

static int procs_each(void *user, const char *folder, const char *name)
{
	const struct pid_walk *walk = user;
	char path[PATH_MAX + 16], *text, *at, *end;
	size_t bytes;
	int rc = 0;

	(void)name;
	snprintf(path, sizeof(path), "%s/cgroup.procs", folder);
	if (dwell_io_read_file(path, PROCS_MAX_BYTES, &text, &bytes))
		return 0; /* gone meanwhile, or a threaded cgroup */
	for (at = text; !rc; at = end) {
		long pid = strtol(at, &end, 10);

		if (end == at)
			break;
		if (pid > 0) /* 0: a process of another pid namespace */
			rc = walk->fn(walk->user, (int32_t)pid);
	}
	free(text);
	return rc;
}

int cgroups_each_pid(const char *folder, int (*fn)(void *user, int32_t pid), void *user)
{
	struct pid_walk walk = { fn, user };
	int rc = procs_each(&walk, folder, "");

	return rc ? rc : folders_each(folder, 0, procs_each, &walk);
}
