// SPDX-License-Identifier: MIT
/* A cgroup's name becomes its folder, a folder becomes pids: of the unified hierarchy (v2) or one
 * of v1, wherever it is mounted. */
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

#include "lib/array.h"
#include "lib/io.h"

enum {
	DEPTH_MAX = 32,
	ID_PREFIX_MIN = 6,
	PROCS_MAX_BYTES = 16 << 20,
	MOUNTS_MAX_BYTES = 16 << 20,
};

/* Which hierarchy tells best what belongs together: the later. */
enum mount_kind { MOUNT_OTHER, MOUNT_V1, MOUNT_PERF_EVENT, MOUNT_UNIFIED };

/* Where a hierarchy, or what is below root of it, is mounted. */
struct cgroup_mount {
	char *root, *folder; /* inside the text */
	enum mount_kind kind;
};

struct cgroup_mounts {
	char *text; /* of mountinfo */
	DWELL_ARRAY(struct cgroup_mount) list;
};

/* Spaces and such are octal in mountinfo; in place. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *at = text; *at; at++) {
		if (at[0] == '\\' && strspn(at + 1, "01234567") >= 3) {
			*to++ = (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0'));
			at += 3;
		} else {
			*to++ = *at;
		}
	}
	*to = '\0';
}

/* 41 31 0:38 /root /mount/point rw,relatime shared:9 - cgroup2 source options */
static struct cgroup_mount mount_parse(char *line)
{
	struct cgroup_mount mount = { 0 };
	char *save = NULL, *words[5], *behind = strstr(line, " - "), *type, *options;

	if (!behind)
		return mount;
	*behind = '\0';
	for (unsigned i = 0; i < 5; i++) {
		words[i] = strtok_r(i ? NULL : line, " ", &save);
		if (!words[i])
			return mount;
	}
	type = strtok_r(behind + 3, " ", &save);
	if (!type || !strtok_r(NULL, " ", &save))
		return mount;
	options = strtok_r(NULL, " ", &save);
	mount.root = words[3];
	mount.folder = words[4];
	unescape(mount.root);
	unescape(mount.folder);
	if (!strcmp(type, "cgroup2"))
		mount.kind = MOUNT_UNIFIED;
	else if (!strcmp(type, "cgroup"))
		mount.kind = options && strstr(options, "perf_event") ? MOUNT_PERF_EVENT : MOUNT_V1;
	return mount;
}

static void mounts_release(struct cgroup_mounts *mounts)
{
	dwell_array_release(&mounts->list);
	free(mounts->text);
}

/* The best kind first. */
static int mounts_read(const char *mountinfo, struct cgroup_mounts *ret)
{
	struct cgroup_mounts mounts = { 0 };
	char *save = NULL, *line;
	uint32_t at;
	size_t bytes;
	int rc = dwell_io_read_file(mountinfo, MOUNTS_MAX_BYTES, &mounts.text, &bytes);

	if (rc)
		return rc;
	for (line = strtok_r(mounts.text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct cgroup_mount mount = mount_parse(line);

		if (mount.kind == MOUNT_OTHER)
			continue;
		if (dwell_array_grow(&mounts.list)) {
			mounts_release(&mounts);
			return -ENOMEM;
		}
		for (at = mounts.list.count++; at && mounts.list.data[at - 1].kind < mount.kind;
		     at--)
			mounts.list.data[at] = mounts.list.data[at - 1];
		mounts.list.data[at] = mount;
	}
	*ret = mounts;
	return 0;
}

/* What is behind the folder in the path; NULL when the path is not below it. */
static const char *path_below(const char *path, const char *folder)
{
	size_t bytes = strlen(folder);

	while (bytes && folder[bytes - 1] == '/')
		bytes--;
	return strncmp(path, folder, bytes) || (path[bytes] && path[bytes] != '/') ? NULL
										   : path + bytes;
}

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

static bool find_path(const struct cgroup_mounts *mounts, const char *name, char *ret_folder,
		      uint32_t folder_bytes)
{
	if (!*name || strstr(name, ".."))
		return false;
	for (uint32_t i = 0; i < mounts->list.count; i++) {
		const struct cgroup_mount *mount = &mounts->list.data[i];
		const char *below = *name == '/' ? path_below(name, mount->root) : name;

		if (*name == '/' && path_below(name, mount->folder) && is_cgroup(name)) {
			snprintf(ret_folder, folder_bytes, "%s", name);
			return true;
		}
		if (below &&
		    (size_t)snprintf(ret_folder, folder_bytes, "%s/%s", mount->folder,
				     below + (*below == '/')) < folder_bytes &&
		    is_cgroup(ret_folder))
			return true;
	}
	return false;
}

static uint32_t find_id(const struct cgroup_mounts *mounts, const char *name, char *ret_folder,
			uint32_t folder_bytes)
{
	struct id_search search = { name, ret_folder, folder_bytes, 0 };

	for (uint32_t i = 0; is_container_id(name) && !search.found && i < mounts->list.count; i++)
		folders_each(mounts->list.data[i].folder, 0, id_match, &search);
	return search.found;
}

int cgroups_find(const char *mountinfo, const char *name, char *ret_folder, uint32_t folder_bytes,
		 struct dwell_err *err)
{
	struct cgroup_mounts mounts;
	char folder[PATH_MAX];
	uint32_t found;
	int rc = mounts_read(mountinfo, &mounts);

	if (rc)
		return dwell_err_sys(err, rc, "cannot read '%s'", mountinfo);
	found = find_path(&mounts, name, folder, sizeof(folder))
			? 1
			: find_id(&mounts, name, folder, sizeof(folder));
	mounts_release(&mounts);
	if (found > 1)
		return dwell_err_set(err, -ENOTUNIQ,
				     "the container id '%s' stands for %u cgroups; give more of it",
				     name, found);
	if (!found || strlen(folder) >= folder_bytes)
		return dwell_err_set(
			err, -ENOENT,
			"there is no cgroup '%s' (a path in a mounted hierarchy, or the "
			"first characters of a container id)",
			name);
	strcpy(ret_folder, folder);
	return 0;
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
