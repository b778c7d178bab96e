// SPDX-License-Identifier: MIT
/* A build id or a debug link becomes the open debug file that carries the same build id. Names in
 * links are not trusted: they stay file names, and the build id decides. */
#include "parse/elf/debugfile.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/io.h"
#include "parse/elf/image.h"
#include "parse/elf/symtab.h"

#define DEBUG_DIR "/usr/lib/debug"

struct wanted {
	uint8_t build_id[DWELL_BUILD_ID_MAX];
	int bytes;
};

/* A formatted path, or "" when it would be too long. */
#define PATH_FORMAT(path, ...)                                         \
	do {                                                           \
		if (snprintf(path, PATH_MAX, __VA_ARGS__) >= PATH_MAX) \
			(path)[0] = '\0';                              \
	} while (0)

static int candidate_open(const char *path, const struct wanted *wanted, int *ret_fd,
			  Elf **ret_debug)
{
	uint8_t build_id[DWELL_BUILD_ID_MAX];
	int fd = dwell_io_open_regular(path, 0);
	Elf *elf;

	if (fd < 0)
		return -ENOENT;
	if (image_open_fd(fd, &elf)) {
		close(fd);
		return -ENOENT;
	}
	if (image_build_id(elf, build_id) != wanted->bytes ||
	    memcmp(build_id, wanted->build_id, (size_t)wanted->bytes) != 0) {
		elf_end(elf);
		close(fd);
		return -ENOENT;
	}
	*ret_fd = fd;
	*ret_debug = elf;
	return 0;
}

static int build_id_open(const struct wanted *wanted, const char *symfs, int *ret_fd,
			 Elf **ret_debug)
{
	char path[PATH_MAX], hex[2 * DWELL_BUILD_ID_MAX + 1];

	for (int i = 0; i < wanted->bytes; i++)
		snprintf(hex + 2 * i, 3, "%02x", wanted->build_id[i]);
	PATH_FORMAT(path, "%s" DEBUG_DIR "/.build-id/%.2s/%s.debug", symfs, hex, hex + 2);
	return candidate_open(path, wanted, ret_fd, ret_debug);
}

/* The file name in .gnu_debuglink, or NULL. */
static const char *link_name(Elf *elf)
{
	GElf_Shdr sh;
	Elf_Scn *section = section_by_name(elf, ".gnu_debuglink", &sh);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	const char *name = data ? data->d_buf : NULL;

	if (!name || !data->d_size || strnlen(name, data->d_size) == data->d_size || !*name ||
	    strchr(name, '/'))
		return NULL;
	return name;
}

static int link_open(Elf *elf, const struct wanted *wanted, const char *symfs, const char *file,
		     int *ret_fd, Elf **ret_debug)
{
	static const char *const places[][2] = { { "", "" }, { "", ".debug/" }, { DEBUG_DIR, "" } };
	const char *name = link_name(elf), *slash = strrchr(file, '/');
	int rc = -ENOENT, dir_bytes = slash ? (int)(slash - file) + 1 : 0;
	char path[PATH_MAX];

	for (size_t i = 0; name && rc && i < sizeof(places) / sizeof(*places); i++) {
		PATH_FORMAT(path, "%s%s%.*s%s%s", symfs, places[i][0], dir_bytes, file,
			    places[i][1], name);
		rc = candidate_open(path, wanted, ret_fd, ret_debug);
	}
	return rc;
}

int debugfile_open(Elf *elf, const char *symfs, const char *path, int *ret_fd, Elf **ret_debug)
{
	struct wanted wanted;
	int rc;

	wanted.bytes = image_build_id(elf, wanted.build_id);
	if (wanted.bytes <= 0)
		return -ENOENT;
	rc = build_id_open(&wanted, symfs, ret_fd, ret_debug);
	return rc ? link_open(elf, &wanted, symfs, path, ret_fd, ret_debug) : 0;
}
