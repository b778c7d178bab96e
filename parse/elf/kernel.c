// SPDX-License-Identifier: MIT
/* A recorded kernel becomes a table of symbols that is certainly of that kernel: one that the user
 * or the recording names, or one with the same build id here. */
#include "parse/elf/kernel.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/array.h"
#include "lib/io.h"
#include "parse/elf/binary.h"

enum { NOTES_BYTES = 64 << 10, MODULES_BYTES_MAX = 4 << 20, PAGE_BYTES = 4096 };

/* How perf names the kernel of a virtual machine. */
#define GUEST_PATH "[guest."

/* A file in the form of /proc/kallsyms, read once. */
struct table {
	char *path;
	struct dwell_kallsyms *syms; /* NULL: cannot be read */
};

struct kernel {
	const struct places *places;
	DWELL_ARRAY(struct table) tables;
};

struct kernel *kernel_new(const struct places *places)
{
	struct kernel *kernel = calloc(1, sizeof(*kernel));

	if (kernel)
		kernel->places = places;
	return kernel;
}

void kernel_free(struct kernel *kernel)
{
	if (!kernel)
		return;
	for (uint32_t i = 0; i < kernel->tables.count; i++) {
		dwell_kallsyms_free(kernel->tables.data[i].syms);
		free(kernel->tables.data[i].path);
	}
	dwell_array_release(&kernel->tables);
	free(kernel);
}

static const struct dwell_kallsyms *table_get(struct kernel *kernel, const char *path)
{
	struct table table = { 0 };

	for (uint32_t i = 0; i < kernel->tables.count; i++)
		if (strcmp(kernel->tables.data[i].path, path) == 0)
			return kernel->tables.data[i].syms;
	if (dwell_array_grow(&kernel->tables))
		return NULL;
	table.path = strdup(path);
	if (!table.path)
		return NULL;
	if (dwell_kallsyms_read(path, &table.syms, NULL))
		table.syms = NULL;
	kernel->tables.data[kernel->tables.count++] = table;
	return table.syms;
}

/* Where a module starts, from the file in the form of /proc/modules that lies beside a kallsyms:
 * "NAME BYTES USES USERS STATE 0xADDRESS". 0 when that does not tell. */
static uint64_t modules_base(const char *kallsyms, const char *module)
{
	const char *slash = strrchr(kallsyms, '/');
	size_t bytes, name_bytes = strlen(module);
	char path[PATH_MAX], *text, *line;
	unsigned long long base = 0;

	if (snprintf(path, sizeof(path), "%.*smodules", slash ? (int)(slash - kallsyms) + 1 : 0,
		     kallsyms) >= (int)sizeof(path) ||
	    dwell_io_read_file(path, MODULES_BYTES_MAX, &text, &bytes))
		return 0;
	for (line = text; line && *line; line = *line ? line + 1 : line) {
		if (!strncmp(line, module, name_bytes) && line[name_bytes] == ' ' &&
		    sscanf(line + name_bytes, "%*s %*s %*s %*s %llx", &base) == 1)
			break;
		line += strcspn(line, "\n");
	}
	free(text);
	return base;
}

/* Names from a file in the form of /proc/kallsyms, of a module or the image (""). */
static enum dwell_symbol_status table_use(struct kernel *kernel, const char *path,
					  const char *module, struct naming *ret, struct why *why)
{
	struct naming naming = { .syms = table_get(kernel, path) };
	uint64_t lowest;

	if (!naming.syms) {
		why_set(why, "cannot read kernel symbols from '%s'", path);
		return DWELL_SYMBOL_NO_KERNEL;
	}
	if (dwell_kallsyms_hidden(naming.syms)) {
		why_set(why, "all addresses in %s are 0", path);
		return DWELL_SYMBOL_KPTR;
	}
	if (*module) {
		if (!dwell_kallsyms_module(naming.syms, module, &lowest)) {
			why_set(why, "%s has no module %s", path, module);
			return DWELL_SYMBOL_NO_KERNEL;
		}
		/* The code of a module starts on a page, its first function in that. */
		naming.base = modules_base(path, module);
		if (!naming.base)
			naming.base = lowest & ~(uint64_t)(PAGE_BYTES - 1);
		snprintf(naming.module, sizeof(naming.module), "%s", module);
	} else {
		naming.base = dwell_kallsyms_text(naming.syms);
		if (!naming.base) {
			why_set(why, "%s has no _text", path);
			return DWELL_SYMBOL_NO_KERNEL;
		}
	}
	*ret = naming;
	return DWELL_SYMBOL_OK;
}

/* Of files that may well be absent: true when one did. */
static bool table_try(struct kernel *kernel, const char *path, const char *module,
		      struct naming *ret)
{
	struct why why;

	return table_use(kernel, path, module, ret, &why) == DWELL_SYMBOL_OK;
}

static bool kcore_use(struct kernel *kernel, const char *module, struct naming *ret)
{
	char path[PATH_MAX];

	return *kernel->places->kcore_dir &&
	       snprintf(path, sizeof(path), "%s/kallsyms", kernel->places->kcore_dir) <
		       (int)sizeof(path) &&
	       table_try(kernel, path, module, ret);
}

/* perf keeps a copy of /proc/kallsyms by build id; before Linux 4.3 without a folder around it. */
static bool cache_use(struct kernel *kernel, const struct dwell_file *file, struct naming *ret)
{
	char path[PATH_MAX], hex[BUILD_ID_HEX];

	if (!*kernel->places->build_id_dir || !file->build_id_bytes)
		return false;
	build_id_hex(file->build_id, file->build_id_bytes, hex);
	if (snprintf(path, sizeof(path), "%s/[kernel.kallsyms]/%s/kallsyms",
		     kernel->places->build_id_dir, hex) >= (int)sizeof(path))
		return false;
	if (table_try(kernel, path, "", ret))
		return true;
	*strrchr(path, '/') = '\0';
	return table_try(kernel, path, "", ret);
}

/* The build id in a file of notes of the running kernel: its length, 0 when there is none. */
static int running_build_id(const struct places *places, const char *name,
			    uint8_t ret_build_id[DWELL_BUILD_ID_MAX])
{
	char path[PATH_MAX], *notes;
	size_t bytes;
	int found;

	if (snprintf(path, sizeof(path), "%s/sys/%s", places->system, name) >= (int)sizeof(path) ||
	    dwell_io_read_file(path, NOTES_BYTES, &notes, &bytes))
		return 0;
	found = build_id_of_notes(notes, bytes, ret_build_id);
	free(notes);
	return found;
}

/* Is the recording of this boot? On this host, of this release, made since the start, and with the
 * kernel where it is now, which alone would not tell much where it is not moved about at boot. */
static bool same_boot(const struct places *places, const struct dwell_kallsyms *syms)
{
	struct timespec now, up;
	int64_t boot_ns;

	if (!places_same_release(places) || !places->kernel_text ||
	    places->kernel_text != dwell_kallsyms_text(syms))
		return false;
	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &up);
	boot_ns = (int64_t)(now.tv_sec - up.tv_sec) * 1000000000 + (now.tv_nsec - up.tv_nsec);
	return places->recorded_ns && (int64_t)places->recorded_ns > boot_ns;
}

/* The running kernel's symbols, or its module's, if `identified` or of this boot. */
static enum dwell_symbol_status running_use(struct kernel *kernel, const char *module,
					    bool identified, struct naming *ret, struct why *why)
{
	char path[PATH_MAX];
	struct naming naming;
	enum dwell_symbol_status status;

	if (!identified && !places_same_release(kernel->places))
		return DWELL_SYMBOL_NO_KERNEL;
	snprintf(path, sizeof(path), "%s/proc/kallsyms", kernel->places->system);
	status = table_use(kernel, path, module, &naming, why);
	if (status != DWELL_SYMBOL_OK)
		return status;
	if (!identified && !same_boot(kernel->places, naming.syms))
		return DWELL_SYMBOL_NO_KERNEL;
	*ret = naming;
	return DWELL_SYMBOL_OK;
}

static bool vmlinux_load(struct kernel *kernel, const struct dwell_file *file, const char *path,
			 struct image *image, struct naming *ret, struct why *why)
{
	struct naming naming = { 0 };

	if (!image_identified(image, path, file->build_id, file->build_id_bytes, why)) {
		image_close(image);
		return false;
	}
	if (binary_load_image(kernel->places, image, NULL, &naming.table) != DWELL_SYMBOL_OK)
		return false;
	if (symtab_rebase(naming.table, "_text") && symtab_rebase(naming.table, "_stext")) {
		symtab_free(naming.table);
		return false;
	}
	*ret = naming;
	return true;
}

/* A kernel image with symbols, by release and below the symfs, or by build id. */
static bool vmlinux_use(struct kernel *kernel, const struct dwell_file *file, struct naming *ret,
			struct why *why)
{
	static const char *const places[][2] = {
		{ "/usr/lib/debug/boot/vmlinux-", "" },
		{ "/boot/vmlinux-", "" },
		{ "/lib/modules/", "/build/vmlinux" },
		{ "/usr/lib/debug/lib/modules/", "/vmlinux" },
	};
	const char *symfs = kernel->places->symfs, *release = kernel->places->release;
	char path[PATH_MAX], hex[BUILD_ID_HEX];
	struct image image;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (*release && !strchr(release, '/') &&
		    snprintf(path, sizeof(path), "%s%s%s%s", symfs, places[i][0], release,
			     places[i][1]) < (int)sizeof(path) &&
		    !image_open(path, &image) && vmlinux_load(kernel, file, path, &image, ret, why))
			return true;
	build_id_hex(file->build_id, file->build_id_bytes, hex);
	if (snprintf(path, sizeof(path), "%s/usr/lib/debug/.build-id/%.2s/%s.debug", symfs, hex,
		     hex + 2) < (int)sizeof(path) &&
	    !image_open(path, &image) && vmlinux_load(kernel, file, path, &image, ret, why))
		return true;
	return !cache_open(kernel->places, file->build_id, file->build_id_bytes, "elf", &image) &&
	       vmlinux_load(kernel, file, path, &image, ret, why);
}

static enum dwell_symbol_status image_find(struct kernel *kernel, const struct dwell_file *file,
					   const char *path, struct naming *ret, struct why *why)
{
	uint8_t running[DWELL_BUILD_ID_MAX] = { 0 };
	char hex[BUILD_ID_HEX], wanted[BUILD_ID_HEX];
	enum dwell_symbol_status status;
	bool same;
	int bytes;

	/* What the user, the recording and this machine tell is of the host. */
	if (strncmp(path, GUEST_PATH, strlen(GUEST_PATH)) == 0) {
		why_set(why, "kernel of a guest");
		return DWELL_SYMBOL_NO_KERNEL;
	}
	if (*kernel->places->kallsyms)
		return table_use(kernel, kernel->places->kallsyms, "", ret, why);
	if (kcore_use(kernel, "", ret) || cache_use(kernel, file, ret))
		return DWELL_SYMBOL_OK;
	bytes = running_build_id(kernel->places, "kernel/notes", running);
	same = bytes && build_id_equal(running, bytes, file->build_id, file->build_id_bytes);
	why_set(why, "the kernel was recorded without a build id");
	if (file->build_id_bytes) {
		build_id_hex(file->build_id, file->build_id_bytes, wanted);
		build_id_hex(running, bytes, hex);
		why_set(why, "recorded build id %s, running here is %s", wanted,
			bytes ? hex : "one without");
	}
	status = same || !file->build_id_bytes ? running_use(kernel, "", same, ret, why)
					       : DWELL_SYMBOL_NO_KERNEL;
	if (status == DWELL_SYMBOL_OK ||
	    (file->build_id_bytes && vmlinux_use(kernel, file, ret, why)))
		return DWELL_SYMBOL_OK;
	return status;
}

static enum dwell_symbol_status module_find(struct kernel *kernel, const struct dwell_file *file,
					    const char *path, struct naming *ret, struct why *why)
{
	uint8_t running[DWELL_BUILD_ID_MAX] = { 0 };
	char notes[128], name[MODULE_NAME_BYTES];
	enum dwell_symbol_status status;
	struct symtab *table;
	int bytes = 0;
	bool same;

	module_name(path, name);
	if (*kernel->places->kallsyms && table_try(kernel, kernel->places->kallsyms, name, ret))
		return DWELL_SYMBOL_OK;
	if (kcore_use(kernel, name, ret))
		return DWELL_SYMBOL_OK;
	snprintf(notes, sizeof(notes), "module/%s/notes/.note.gnu.build-id", name);
	if (*name && strcmp(name, "..") != 0)
		bytes = running_build_id(kernel->places, notes, running);
	same = bytes && build_id_equal(running, bytes, file->build_id, file->build_id_bytes);
	why_set(why, "module %s: no file with its build id is here", name);
	if (!file->build_id_bytes)
		why_set(why, "module %s was recorded without a build id", name);
	status = same || !file->build_id_bytes ? running_use(kernel, name, same, ret, why)
					       : DWELL_SYMBOL_NO_KERNEL;
	if (status == DWELL_SYMBOL_OK || !file->build_id_bytes)
		return status;
	if (!module_load(kernel->places, file, path, &table, why))
		return status;
	*ret = (struct naming){ .table = table };
	return DWELL_SYMBOL_OK;
}

enum dwell_symbol_status kernel_load(struct kernel *kernel, const struct dwell_file *file,
				     const char *path, struct naming *ret, struct why *why)
{
	enum dwell_symbol_status status;

	if (file->kind == DWELL_FILE_MODULE)
		return module_find(kernel, file, path, ret, why);
	if (strcmp(path, KERNEL_OWN_PATH) != 0)
		return image_find(kernel, file, path, ret, why);
	/* The recorder names what it can: what is left, it had no addresses for. */
	if (!*kernel->places->kallsyms)
		return DWELL_SYMBOL_KPTR;
	status = table_use(kernel, kernel->places->kallsyms, "", ret, why);
	if (status == DWELL_SYMBOL_OK)
		ret->absolute = true;
	return status;
}

const char *kernel_name(const struct naming *naming, uint64_t offset)
{
	struct dwell_kernel_symbol found;
	uint64_t address = naming->base + offset;

	if (naming->absolute && offset >= naming->base)
		address = offset;
	if (!dwell_kallsyms_find(naming->syms, address, &found) ||
	    strcmp(found.module, naming->module) != 0)
		return NULL;
	return found.name;
}
