// SPDX-License-Identifier: MIT
/* Frame ids become names: each file is loaded when its first frame is asked for, each frame looked
 * up once, and the answer kept beside its id. Frames without a name are counted by file and reason.
 */
#include "parse/elf/symbols.h"

#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/idmap.h"
#include "lib/io.h"
#include "parse/elf/debugfile.h"
#include "parse/elf/image.h"
#include "parse/elf/perfmap.h"
#include "parse/elf/symtab.h"

/* Longer names are cut: they come from files of strangers. */
enum { NAME_BYTES_MAX = 4096 };

/* What is known of one file of the file table. */
struct object {
	bool loaded;
	uint8_t status;	      /* enum dwell_symbol_status, of all its frames unless OK */
	struct symtab *table; /* owned; NULL unless status is OK */
};

struct memo {
	uint32_t name; /* string id */
	uint8_t status;
	bool known;
};

struct dwell_symbols {
	struct dwell_strings *strings;
	const struct dwell_stacks *stacks;
	char *symfs; /* "" = none */
	bool raw;
	DWELL_ARRAY(struct object) objects; /* by file */
	DWELL_ARRAY(struct memo) frames;    /* by frame */
	DWELL_ARRAY(struct dwell_symbol_failure) failures;
	struct dwell_idmap failure_of;		      /* file and status -> index + 1 */
	DWELL_ARRAY(struct dwell_perfmap *) perfmaps; /* owned; NULL: none found */
	struct dwell_idmap perfmap_of;		      /* pid -> index + 1 */
};

struct dwell_symbols *dwell_symbols_new(struct dwell_strings *strings,
					const struct dwell_stacks *stacks,
					const struct dwell_symbols_options *options)
{
	struct dwell_symbols *symbols = calloc(1, sizeof(*symbols));

	if (!symbols)
		return NULL;
	symbols->strings = strings;
	symbols->stacks = stacks;
	symbols->raw = options->raw;
	symbols->symfs = strdup(options->symfs ? options->symfs : "");
	if (!symbols->symfs) {
		free(symbols);
		return NULL;
	}
	return symbols;
}

void dwell_symbols_free(struct dwell_symbols *symbols)
{
	if (!symbols)
		return;
	for (uint32_t i = 0; i < symbols->objects.count; i++)
		symtab_free(symbols->objects.data[i].table);
	for (uint32_t i = 0; i < symbols->perfmaps.count; i++)
		dwell_perfmap_free(symbols->perfmaps.data[i]);
	dwell_array_release(&symbols->objects);
	dwell_array_release(&symbols->frames);
	dwell_array_release(&symbols->failures);
	dwell_array_release(&symbols->perfmaps);
	dwell_idmap_release(&symbols->failure_of);
	dwell_idmap_release(&symbols->perfmap_of);
	free(symbols->symfs);
	free(symbols);
}

/* Loads an open image, which is taken over on success, with its debug file if it needs one. */
static int image_load(const struct dwell_symbols *symbols, Elf *elf, const char *path,
		      struct symtab **ret_table)
{
	GElf_Shdr sh;
	Elf *debug = NULL;
	int fd = -1, rc;

	if (path && !section_by_type(elf, SHT_SYMTAB, &sh))
		debugfile_open(elf, symbols->symfs, path, &fd, &debug);
	rc = symtab_load(elf, debug, ret_table);
	if (rc)
		elf_end(debug);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* Is the image the one that was mapped while recording? Build ids decide where known. Else the
 * inode does: not the device, whose number stat() and /proc/PID/maps tell differently on btrfs and
 * overlayfs. Below a symfs inodes are others, and the user vouches for the files. */
static bool image_same(const struct dwell_symbols *symbols, const struct dwell_file *file, Elf *elf,
		       const struct stat *st)
{
	uint8_t build_id[DWELL_BUILD_ID_MAX];

	if (file->build_id_bytes)
		return image_build_id(elf, build_id) == file->build_id_bytes &&
		       memcmp(build_id, file->build_id, file->build_id_bytes) == 0;
	return !st || !file->inode || *symbols->symfs || st->st_ino == file->inode;
}

static enum dwell_symbol_status fd_load(const struct dwell_symbols *symbols,
					const struct dwell_file *file, int fd, const char *path,
					struct symtab **ret_table)
{
	struct stat st;
	Elf *elf;

	if (fstat(fd, &st) || image_open_fd(fd, &elf))
		return DWELL_SYMBOL_BAD_FILE;
	if (!image_same(symbols, file, elf, &st)) {
		elf_end(elf);
		return DWELL_SYMBOL_CHANGED;
	}
	if (image_load(symbols, elf, path, ret_table)) {
		elf_end(elf);
		return DWELL_SYMBOL_BAD_FILE;
	}
	return DWELL_SYMBOL_OK;
}

static enum dwell_symbol_status file_load(const struct dwell_symbols *symbols,
					  const struct dwell_file *file, struct symtab **ret_table)
{
	const char *path = dwell_strings_get(symbols->strings, file->path);
	enum dwell_symbol_status status;
	char *full;
	int fd;

	if (path[0] != '/' || asprintf(&full, "%s%s", symbols->symfs, path) < 0)
		return DWELL_SYMBOL_NO_FILE;
	fd = dwell_io_open_regular(full, 0);
	free(full);
	if (fd < 0)
		return fd == -EINVAL ? DWELL_SYMBOL_BAD_FILE : DWELL_SYMBOL_NO_FILE;
	status = fd_load(symbols, file, fd, path, ret_table);
	close(fd);
	return status;
}

/* The vdso is one image per kernel and class: this process has the same one mapped, if the trace
 * is of this kernel. */
static enum dwell_symbol_status vdso_load(const struct dwell_symbols *symbols,
					  const struct dwell_file *file, struct symtab **ret_table)
{
	const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)getauxval(AT_SYSINFO_EHDR);
	Elf *elf;

	/* Its section headers come last. */
	if (!head || !head->e_shoff ||
	    image_open_memory(head, head->e_shoff + (size_t)head->e_shnum * head->e_shentsize,
			      &elf))
		return DWELL_SYMBOL_NO_FILE;
	if (!image_same(symbols, file, elf, NULL)) {
		elf_end(elf);
		return DWELL_SYMBOL_CHANGED;
	}
	if (image_load(symbols, elf, NULL, ret_table)) {
		elf_end(elf);
		return DWELL_SYMBOL_BAD_FILE;
	}
	return DWELL_SYMBOL_OK;
}

/* The object of a file, loaded; NULL when out of memory. */
static const struct object *object_find(struct dwell_symbols *symbols, uint32_t id)
{
	const struct dwell_file *file = dwell_stacks_file(symbols->stacks, id);
	struct object *object;

	if (dwell_array_reserve(&symbols->objects, (uint64_t)id + 1))
		return NULL;
	while (symbols->objects.count <= id)
		symbols->objects.data[symbols->objects.count++] = (struct object){ 0 };
	object = &symbols->objects.data[id];
	if (!object->loaded) {
		object->loaded = true;
		object->status = file->kind == DWELL_FILE_VDSO
					 ? vdso_load(symbols, file, &object->table)
					 : file_load(symbols, file, &object->table);
	}
	return object;
}

/* The map of a process's run-time code: NULL when it has none. */
static const struct dwell_perfmap *perfmap_of(struct dwell_symbols *symbols, int32_t pid)
{
	uint32_t index = dwell_idmap_find(&symbols->perfmap_of, (uint32_t)pid);
	struct dwell_perfmap *map = NULL;

	if (index)
		return symbols->perfmaps.data[index - 1];
	if (dwell_array_grow(&symbols->perfmaps) ||
	    dwell_idmap_set(&symbols->perfmap_of, (uint32_t)pid, symbols->perfmaps.count + 1))
		return NULL;
	if (dwell_perfmap_read(pid, *symbols->symfs ? symbols->symfs : NULL, &map))
		map = NULL;
	symbols->perfmaps.data[symbols->perfmaps.count++] = map;
	return map;
}

/* Makes a raw name of `bytes` bytes, not terminated there, the display name. */
static int name_intern(struct dwell_symbols *symbols, const char *raw, size_t bytes,
		       const char *suffix, uint32_t *ret_name)
{
	char name[NAME_BYTES_MAX + 1], text[NAME_BYTES_MAX + 16], *readable;

	snprintf(name, sizeof(name), "%.*s", (int)bytes, raw);
	readable = symbols->raw ? NULL : dwell_demangle(name);
	snprintf(text, sizeof(text), "%.*s%s", NAME_BYTES_MAX, readable ? readable : name, suffix);
	free(readable);
	return dwell_strings_add(symbols->strings, text, strlen(text), ret_name);
}

/* "[unknown] (base)": of a path its last part, of names such as "[anon:x]" and "//anon" all. */
static int unknown_intern(struct dwell_symbols *symbols, const struct dwell_file *file,
			  uint32_t *ret_name)
{
	const char *path = dwell_strings_get(symbols->strings, file->path), *slash;
	char text[NAME_BYTES_MAX + 16];

	if (file->kind == DWELL_FILE_UNKNOWN)
		return dwell_strings_add(symbols->strings, "[unknown]", 9, ret_name);
	if (file->kind == DWELL_FILE_KERNEL)
		path = "[kernel]";
	slash = strrchr(path, '/');
	if (slash && slash[1] && path[0] == '/' && path[1] != '/')
		path = slash + 1;
	snprintf(text, sizeof(text), "[unknown] (%.*s)", NAME_BYTES_MAX, path);
	return dwell_strings_add(symbols->strings, text, strlen(text), ret_name);
}

/* The name of a frame in a file with a symbol table: OK and *ret_name, or why not. */
static enum dwell_symbol_status object_name(struct dwell_symbols *symbols,
					    const struct dwell_frame *frame, uint32_t *ret_name)
{
	const struct object *object = object_find(symbols, frame->file);
	const struct symbol *symbol;
	size_t bytes;
	bool plt;

	if (!object)
		return DWELL_SYMBOL_BAD_FILE;
	if (object->status != DWELL_SYMBOL_OK)
		return object->status;
	symbol = symtab_find(object->table, frame->offset, &plt);
	if (!symbol)
		return DWELL_SYMBOL_STRIPPED;
	/* .symtab has versioned names: "memcpy@@GLIBC_2.14". */
	for (bytes = 1; bytes < NAME_BYTES_MAX; bytes++)
		if (!symbol->name[bytes] || symbol->name[bytes] == '@')
			break;
	if (name_intern(symbols, symbol->name, bytes, plt ? "@plt" : "", ret_name))
		return DWELL_SYMBOL_BAD_FILE;
	return DWELL_SYMBOL_OK;
}

static enum dwell_symbol_status jit_name(struct dwell_symbols *symbols, int32_t pid,
					 uint64_t address, uint32_t *ret_name)
{
	const struct dwell_perfmap *map = perfmap_of(symbols, pid);
	const char *name = map ? dwell_perfmap_find(map, address) : NULL;

	if (!name || name_intern(symbols, name, strnlen(name, NAME_BYTES_MAX), "", ret_name))
		return DWELL_SYMBOL_NO_MAP_FILE;
	return DWELL_SYMBOL_OK;
}

/* The name of a frame: OK and *ret_name, or why it has none. */
static enum dwell_symbol_status frame_name(struct dwell_symbols *symbols,
					   const struct dwell_frame *frame,
					   const struct dwell_file *file, uint32_t *ret_name)
{
	const char *name = dwell_strings_get(symbols->strings, frame->symbol);

	if (file->kind == DWELL_FILE_PSEUDO || (*name && dwell_file_is_kernel(file))) {
		*ret_name = file->kind == DWELL_FILE_PSEUDO ? file->path : frame->symbol;
		return DWELL_SYMBOL_OK;
	}
	if (*name && !name_intern(symbols, name, strnlen(name, NAME_BYTES_MAX), "", ret_name))
		return DWELL_SYMBOL_OK;
	switch (file->kind) {
	case DWELL_FILE_ELF:
	case DWELL_FILE_VDSO:
		return object_name(symbols, frame, ret_name);
	case DWELL_FILE_JIT:
		return jit_name(symbols, file->pid, frame->offset, ret_name);
	case DWELL_FILE_KERNEL:
	case DWELL_FILE_MODULE:
		return DWELL_SYMBOL_KPTR;
	default:
		return DWELL_SYMBOL_NO_MAPPING;
	}
}

static void failure_count(struct dwell_symbols *symbols, uint32_t file, uint8_t status)
{
	uint64_t key = (uint64_t)file << 8 | status;
	uint32_t index = dwell_idmap_find(&symbols->failure_of, key);

	if (!index) {
		if (dwell_array_grow(&symbols->failures) ||
		    dwell_idmap_set(&symbols->failure_of, key, symbols->failures.count + 1))
			return;
		symbols->failures.data[symbols->failures.count] =
			(struct dwell_symbol_failure){ .file = file, .status = status };
		index = ++symbols->failures.count;
	}
	symbols->failures.data[index - 1].frames++;
}

const char *dwell_symbols_name(struct dwell_symbols *symbols, uint32_t frame_id,
			       enum dwell_symbol_status *ret_status)
{
	const struct dwell_frame *frame = dwell_stacks_frame(symbols->stacks, frame_id);
	const struct dwell_file *file = dwell_stacks_file(symbols->stacks, frame->file);
	static const struct dwell_file nothing = { .kind = DWELL_FILE_UNKNOWN };
	struct memo memo = { .known = true };

	if (frame_id < symbols->frames.count && symbols->frames.data[frame_id].known) {
		memo = symbols->frames.data[frame_id];
		goto out;
	}
	if (!frame_id || frame_id >= dwell_stacks_frame_count(symbols->stacks))
		file = &nothing;
	memo.status = frame_name(symbols, frame, file, &memo.name);
	if (memo.status != DWELL_SYMBOL_OK && unknown_intern(symbols, file, &memo.name))
		memo.name = 0;
	if (file == &nothing ||
	    dwell_array_reserve(&symbols->frames, dwell_stacks_frame_count(symbols->stacks)))
		goto out;
	while (symbols->frames.count <= frame_id)
		symbols->frames.data[symbols->frames.count++] = (struct memo){ 0 };
	symbols->frames.data[frame_id] = memo;
	if (memo.status != DWELL_SYMBOL_OK)
		failure_count(symbols, frame->file, memo.status);
out:
	if (ret_status)
		*ret_status = memo.status;
	return dwell_strings_get(symbols->strings, memo.name);
}

const char *dwell_symbol_status_text(enum dwell_symbol_status status)
{
	static const char *const texts[DWELL_SYMBOL_STATUSES] = {
		[DWELL_SYMBOL_OK] = "found",
		[DWELL_SYMBOL_NO_MAPPING] = "no file was mapped at that address",
		[DWELL_SYMBOL_NO_FILE] = "file cannot be opened here",
		[DWELL_SYMBOL_CHANGED] = "file changed since it was recorded",
		[DWELL_SYMBOL_STRIPPED] = "file has no symbol for that address",
		[DWELL_SYMBOL_KPTR] = "kernel addresses were hidden (kptr_restrict)",
		[DWELL_SYMBOL_NO_MAP_FILE] = "no perf-PID.map entry for code made at run time",
		[DWELL_SYMBOL_BAD_FILE] = "not a usable ELF file",
	};

	return (unsigned)status < DWELL_SYMBOL_STATUSES ? texts[status] : "not known";
}

const struct dwell_symbol_failure *dwell_symbols_failure(struct dwell_symbols *symbols,
							 uint32_t index)
{
	return index < symbols->failures.count ? &symbols->failures.data[index] : NULL;
}
