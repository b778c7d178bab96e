// SPDX-License-Identifier: MIT
/* A build id or a debug link becomes the open debug file that carries the same build id. Names in
 * links are not trusted: they stay file names, and the build id decides. Or the packed table inside
 * the file becomes one. */
#include "parse/elf/debugfile.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse/elf/symtab.h"
#include "parse/elf/unpack.h"

#define DEBUG_DIR "/usr/lib/debug"

struct wanted {
	const struct places *places;
	uint8_t build_id[DWELL_BUILD_ID_MAX];
	int bytes;
};

/* A formatted path, or "" when it would be too long. */
#define PATH_FORMAT(path, ...)                                         \
	do {                                                           \
		if (snprintf(path, PATH_MAX, __VA_ARGS__) >= PATH_MAX) \
			(path)[0] = '\0';                              \
	} while (0)

static int build_id_open(const struct wanted *wanted, struct image *ret_debug)
{
	char path[PATH_MAX], hex[BUILD_ID_HEX];

	build_id_hex(wanted->build_id, wanted->bytes, hex);
	PATH_FORMAT(path, "%s" DEBUG_DIR "/.build-id/%.2s/%s.debug", wanted->places->symfs, hex,
		    hex + 2);
	return image_open_identified(path, wanted->build_id, wanted->bytes, ret_debug);
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

static int link_open(Elf *elf, const struct wanted *wanted, const char *file,
		     struct image *ret_debug)
{
	static const char *const places[][2] = { { "", "" }, { "", ".debug/" }, { DEBUG_DIR, "" } };
	const char *name = link_name(elf), *slash = strrchr(file, '/');
	int rc = -ENOENT, dir_bytes = slash ? (int)(slash - file) + 1 : 0;
	char path[PATH_MAX];

	for (size_t i = 0; name && rc && i < sizeof(places) / sizeof(*places); i++) {
		PATH_FORMAT(path, "%s%s%.*s%s%s", wanted->places->symfs, places[i][0], dir_bytes,
			    file, places[i][1], name);
		rc = image_open_identified(path, wanted->build_id, wanted->bytes, ret_debug);
	}
	return rc;
}

static int cached_open(const struct wanted *wanted, struct image *ret_debug)
{
	struct image image;
	struct why why;

	if (cache_open(wanted->places, wanted->build_id, wanted->bytes, "debug", &image))
		return -ENOENT;
	if (!image_identified(&image, "", wanted->build_id, wanted->bytes, &why)) {
		image_close(&image);
		return -ENOENT;
	}
	*ret_debug = image;
	return 0;
}

/* An xz-packed ELF file of nothing but a symbol table, which leaves out what .dynsym has. */
static int packed_open(Elf *elf, struct image *ret_debug)
{
	GElf_Shdr sh;
	Elf_Scn *section = section_by_name(elf, ".gnu_debugdata", &sh);
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
	void *bytes;
	size_t count;

	if (!data || !data->d_buf || unpack_bytes(data->d_buf, data->d_size, &bytes, &count))
		return -ENOENT;
	if (image_open_owned(bytes, count, ret_debug)) {
		free(bytes);
		return -ENOENT;
	}
	return 0;
}

int debugfile_open(Elf *elf, const struct places *places, const char *path, struct image *ret_debug)
{
	struct wanted wanted = { .places = places };

	wanted.bytes = image_build_id(elf, wanted.build_id);
	if (wanted.bytes > 0 &&
	    (!build_id_open(&wanted, ret_debug) || !link_open(elf, &wanted, path, ret_debug) ||
	     !cached_open(&wanted, ret_debug)))
		return 0;
	return packed_open(elf, ret_debug);
}
