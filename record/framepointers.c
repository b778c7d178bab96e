// SPDX-License-Identifier: MIT
/* A file's unwind table tells how much of its code leaves its frames by the frame pointer. */
#include "record/framepointers.h"

#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/io.h"
#include "parse/elf/image.h"
#include "parse/elf/unwind_table.h"
#include "record/command.h"

enum { PROGRAMS_MAX = 64 };

/* With frame pointers 85 to 97 % of gcc's code is told by them, at any -O and also where leaf
 * functions have none; without, 0.3 to 17 %. */
static bool file_keeps(const char *path, const char *name, char *ret_why)
{
	struct dwell_unwind_table *table;
	struct image image = { .fd = dwell_io_open_regular(path, 0) };
	uint64_t framed = 0, pointed = 0;

	if (image.fd >= 0 && !image_open_fd(image.fd, &image.elf) &&
	    !dwell_unwind_table_new(image.elf, &table, NULL)) {
		framed = dwell_unwind_table_stats(table)->framed_bytes;
		pointed = dwell_unwind_table_stats(table)->pointed_bytes;
		dwell_unwind_table_free(table);
	}
	image_close(&image);
	if (pointed >= framed / 2)
		return true;
	snprintf(ret_why, FRAMEPOINTERS_WHY_BYTES, "%u%% of %s keeps frame pointers",
		 (unsigned)(100 * pointed / framed), name);
	return false;
}

static int find_libc(struct dl_phdr_info *info, size_t bytes, void *user)
{
	const char **path = user, *slash = strrchr(info->dlpi_name, '/');

	(void)bytes;
	if (!slash || (strncmp(slash, "/libc.so.", 9) && strncmp(slash, "/ld-musl-", 9)))
		return 0;
	*path = info->dlpi_name;
	return 1;
}

/* A process's or thread's, by way of /proc: it may be deleted, or in a container. */
static bool program_keeps(int32_t id, char *ret_why)
{
	char path[48], name[PATH_MAX] = "";
	ssize_t bytes;

	snprintf(path, sizeof(path), "/proc/%d/exe", id);
	bytes = readlink(path, name, sizeof(name) - 1);
	if (bytes <= 0)
		return true;
	name[bytes] = '\0';
	return file_keeps(path, name, ret_why);
}

bool framepointers_kept(const struct record_config *config, char ret_why[FRAMEPOINTERS_WHY_BYTES])
{
	const char *libc = NULL;
	char path[PATH_MAX];

	dl_iterate_phdr(find_libc, &libc);
	if (libc && !file_keeps(libc, libc, ret_why))
		return false;
	if (config->command && !command_find(config->command[0], path) &&
	    !file_keeps(path, path, ret_why))
		return false;
	for (uint32_t i = 0; i < config->pids.count && i < PROGRAMS_MAX; i++)
		if (!program_keeps(config->pids.data[i], ret_why))
			return false;
	for (uint32_t i = 0; i < config->tids.count && i < PROGRAMS_MAX; i++)
		if (!program_keeps(config->tids.data[i], ret_why))
			return false;
	return true;
}
