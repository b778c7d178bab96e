// SPDX-License-Identifier: MIT
/* A recorded kernel module becomes the symbols of its .ko file, where one with the recorded build
 * id is found: by its path, in perf's cache, by name in modules.dep, among debug files. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io.h"
#include "parse/elf/binary.h"
#include "parse/elf/kernel.h"

enum { DEP_BYTES_MAX = 16 << 20 };

void module_name(const char *path, char ret_name[MODULE_NAME_BYTES])
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *end;
	size_t bytes;

	if (*name == '[')
		name++;
	end = strstr(name, ".ko");
	bytes = end ? (size_t)(end - name) : strcspn(name, "]");
	if (bytes >= MODULE_NAME_BYTES)
		bytes = MODULE_NAME_BYTES - 1;
	for (size_t i = 0; i < bytes; i++)
		ret_name[i] = name[i] == '-' ? '_' : name[i];
	ret_name[bytes] = '\0';
}

/* The path of a module below the symfs by name: lines of modules.dep are "PATH: PATH...". */
static bool dep_find(const struct places *places, const char *name, char ret_path[PATH_MAX])
{
	char dir[PATH_MAX], found[MODULE_NAME_BYTES], *text, *next, *save = NULL;
	bool done = false;
	size_t bytes;

	if (!*places->release || strchr(places->release, '/') ||
	    snprintf(dir, sizeof(dir), "%s/lib/modules/%s/modules.dep", places->symfs,
		     places->release) >= (int)sizeof(dir) ||
	    dwell_io_read_file(dir, DEP_BYTES_MAX, &text, &bytes))
		return false;
	*(strrchr(dir, '/') + 1) = '\0';
	for (next = strtok_r(text, "\n", &save); next && !done;
	     next = strtok_r(NULL, "\n", &save)) {
		next[strcspn(next, ":")] = '\0';
		module_name(next, found);
		done = strcmp(found, name) == 0 &&
		       snprintf(ret_path, PATH_MAX, "%s%s", *next == '/' ? places->symfs : dir,
				next) < PATH_MAX;
	}
	free(text);
	return done;
}

static bool image_load(const struct places *places, const struct dwell_file *file, const char *path,
		       struct image *image, struct symtab **ret_table, struct why *why)
{
	if (!image_identified(image, path, file->build_id, file->build_id_bytes, why)) {
		image_close(image);
		return false;
	}
	return binary_load_image(places, image, NULL, ret_table) == DWELL_SYMBOL_OK;
}

bool module_load(const struct places *places, const struct dwell_file *file, const char *path,
		 struct symtab **ret_table, struct why *why)
{
	char full[PATH_MAX], hex[BUILD_ID_HEX], name[MODULE_NAME_BYTES];
	struct image image;

	if (path[0] == '/' &&
	    snprintf(full, sizeof(full), "%s%s", places->symfs, path) < (int)sizeof(full) &&
	    !image_open(full, &image) && image_load(places, file, full, &image, ret_table, why))
		return true;
	if (!cache_open(places, file->build_id, file->build_id_bytes, "elf", &image) &&
	    image_load(places, file, path, &image, ret_table, why))
		return true;
	module_name(path, name);
	if (dep_find(places, name, full) && !image_open(full, &image) &&
	    image_load(places, file, full, &image, ret_table, why))
		return true;
	build_id_hex(file->build_id, file->build_id_bytes, hex);
	return snprintf(full, sizeof(full), "%s/usr/lib/debug/.build-id/%.2s/%s.debug",
			places->symfs, hex, hex + 2) < (int)sizeof(full) &&
	       !image_open(full, &image) && image_load(places, file, full, &image, ret_table, why);
}
