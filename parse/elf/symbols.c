// SPDX-License-Identifier: MIT
/* Frame ids become names: each file is loaded when its first frame is asked for, each frame looked
 * up once, and the answer kept beside its id. Frames without a name are counted by file and reason.
 */
#include "parse/elf/symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/idmap.h"
#include "parse/elf/binary.h"
#include "parse/elf/kernel.h"
#include "parse/elf/perfmap.h"

/* Longer names are cut: they come from files of strangers. */
enum { NAME_BYTES_MAX = 4096 };

/* What is known of one file of the file table. */
struct object {
	bool loaded;
	uint8_t status; /* enum dwell_symbol_status, of all its frames unless OK */
	uint32_t why;	/* string id */
	struct naming naming;
};

struct memo {
	uint32_t first;	 /* of its places */
	uint16_t places; /* 0 = not looked up */
	uint8_t status;
};

struct dwell_symbols {
	struct dwell_strings *strings;
	const struct dwell_stacks *stacks;
	struct places places;
	struct kernel *kernel;
	bool raw, inlines;
	DWELL_ARRAY(struct object) objects; /* by file */
	DWELL_ARRAY(struct memo) frames;    /* by frame */
	DWELL_ARRAY(struct dwell_symbol_place) places_of_frames;
	DWELL_ARRAY(struct dwell_symbol_failure) failures;
	struct dwell_idmap failure_of;		      /* file and status -> index + 1 */
	DWELL_ARRAY(struct dwell_perfmap *) perfmaps; /* owned; NULL: none found */
	struct dwell_idmap perfmap_of;		      /* pid -> index + 1 */
};

int dwell_symbols_here(struct utsname *host, struct dwell_symbols_options *options)
{
	if (uname(host))
		return -errno;
	options->host_name = host->nodename;
	options->kernel_release = host->release;
	options->machine = host->machine;
	return 0;
}

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
	symbols->inlines = !options->no_inlines;
	symbols->kernel = kernel_new(&symbols->places);
	if (!symbols->kernel || places_init(&symbols->places, options)) {
		kernel_free(symbols->kernel);
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
		symtab_free(symbols->objects.data[i].naming.table);
	for (uint32_t i = 0; i < symbols->perfmaps.count; i++)
		dwell_perfmap_free(symbols->perfmaps.data[i]);
	dwell_array_release(&symbols->objects);
	dwell_array_release(&symbols->frames);
	dwell_array_release(&symbols->places_of_frames);
	dwell_array_release(&symbols->failures);
	dwell_array_release(&symbols->perfmaps);
	dwell_idmap_release(&symbols->failure_of);
	dwell_idmap_release(&symbols->perfmap_of);
	kernel_free(symbols->kernel);
	places_release(&symbols->places);
	free(symbols);
}

static void object_load(struct dwell_symbols *symbols, const struct dwell_file *file,
			struct object *object)
{
	const char *path = dwell_strings_get(symbols->strings, file->path);
	struct why why = { 0 };

	object->loaded = true;
	object->status =
		dwell_file_is_kernel(file)
			? kernel_load(symbols->kernel, file, path, &object->naming, &why)
			: binary_load(&symbols->places, file, path, &object->naming.table, &why);
	if (object->status == DWELL_SYMBOL_OK ||
	    dwell_strings_add(symbols->strings, why.text, strlen(why.text), &object->why))
		object->why = 0;
}

/* The object of a file, loaded; NULL when out of memory. */
static const struct object *object_find(struct dwell_symbols *symbols, uint32_t id)
{
	struct object *object;

	if (dwell_array_reserve(&symbols->objects, (uint64_t)id + 1))
		return NULL;
	while (symbols->objects.count <= id)
		symbols->objects.data[symbols->objects.count++] = (struct object){ 0 };
	object = &symbols->objects.data[id];
	if (!object->loaded)
		object_load(symbols, dwell_stacks_file(symbols->stacks, id), object);
	return object;
}

/* The map of a process's run-time code: NULL when it has none. */
static const struct dwell_perfmap *perfmap_of(struct dwell_symbols *symbols, int32_t pid)
{
	uint32_t index = dwell_idmap_find(&symbols->perfmap_of, (uint32_t)pid);
	const char *symfs = symbols->places.symfs;
	struct dwell_perfmap *map = NULL;
	int rc = -ENOENT;

	if (index)
		return symbols->perfmaps.data[index - 1];
	if (dwell_array_grow(&symbols->perfmaps) ||
	    dwell_idmap_set(&symbols->perfmap_of, (uint32_t)pid, symbols->perfmaps.count + 1))
		return NULL;
	if (*symbols->places.perf_map_dir)
		rc = dwell_perfmap_read_in(symbols->places.perf_map_dir, pid, &map);
	if (rc == -ENOENT && (*symfs || !symbols->places.other_host))
		rc = dwell_perfmap_read(pid, *symfs ? symfs : NULL, &map);
	if (rc)
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

/* The name of a frame in a file with a symbol table: OK and *ret_name, or why not. Names of the
 * kernel are shown as they are. */
static enum dwell_symbol_status object_name(struct dwell_symbols *symbols,
					    const struct dwell_frame *frame, bool kernel,
					    uint32_t *ret_name)
{
	const struct object *object = object_find(symbols, frame->file);
	const struct symbol *symbol = NULL;
	const char *name;
	size_t bytes;
	bool plt = false;

	if (!object)
		return DWELL_SYMBOL_BAD_FILE;
	if (object->status != DWELL_SYMBOL_OK)
		return object->status;
	if (object->naming.table) {
		symbol = symtab_find(object->naming.table, frame->offset, &plt);
		name = symbol ? symbol->name : NULL;
	} else {
		name = kernel_name(&object->naming, frame->offset);
	}
	if (!name)
		return DWELL_SYMBOL_STRIPPED;
	if (kernel)
		return dwell_strings_add(symbols->strings, name, strnlen(name, NAME_BYTES_MAX),
					 ret_name)
			       ? DWELL_SYMBOL_BAD_FILE
			       : DWELL_SYMBOL_OK;
	/* .symtab has versioned names: "memcpy@@GLIBC_2.14". */
	for (bytes = 1; bytes < NAME_BYTES_MAX; bytes++)
		if (!name[bytes] || name[bytes] == '@')
			break;
	if (name_intern(symbols, name, bytes, plt ? "@plt" : "", ret_name))
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

/* The name that the recorder knew, if it did. */
static bool recorded_intern(struct dwell_symbols *symbols, const char *name, uint32_t *ret_name)
{
	static const char plt[] = "@plt";
	size_t bytes = strnlen(name, NAME_BYTES_MAX), cut = sizeof(plt) - 1;
	bool stub = bytes > cut && !memcmp(name + bytes - cut, plt, cut);

	return bytes &&
	       !name_intern(symbols, name, stub ? bytes - cut : bytes, stub ? plt : "", ret_name);
}

/* The name of a frame: OK and *ret_name, or why it has none. What the recorder knew of files counts
 * where these are not to be found, and of other code at once. */
static enum dwell_symbol_status frame_name(struct dwell_symbols *symbols,
					   const struct dwell_frame *frame,
					   const struct dwell_file *file, uint32_t *ret_name)
{
	const char *name = dwell_strings_get(symbols->strings, frame->symbol);
	enum dwell_symbol_status status;

	if (file->kind == DWELL_FILE_PSEUDO || (*name && dwell_file_is_kernel(file))) {
		*ret_name = file->kind == DWELL_FILE_PSEUDO ? file->path : frame->symbol;
		return DWELL_SYMBOL_OK;
	}
	switch (file->kind) {
	case DWELL_FILE_ELF:
	case DWELL_FILE_VDSO:
		status = object_name(symbols, frame, false, ret_name);
		if (status == DWELL_SYMBOL_OK || !recorded_intern(symbols, name, ret_name))
			return status;
		return DWELL_SYMBOL_OK;
	default:
		if (recorded_intern(symbols, name, ret_name))
			return DWELL_SYMBOL_OK;
	}
	switch (file->kind) {
	case DWELL_FILE_KERNEL:
	case DWELL_FILE_MODULE:
		return object_name(symbols, frame, true, ret_name);
	case DWELL_FILE_JIT:
		return jit_name(symbols, file->pid, frame->offset, ret_name);
	default:
		return DWELL_SYMBOL_NO_MAPPING;
	}
}

/* Which file it was about, where the file as a whole has no names. */
static const char *failure_why(const struct dwell_symbols *symbols, uint32_t file, uint8_t status)
{
	const struct object *object =
		file < symbols->objects.count ? &symbols->objects.data[file] : NULL;

	if (!object || !object->loaded || object->status != status)
		return "";
	return dwell_strings_get(symbols->strings, object->why);
}

static void failure_count(struct dwell_symbols *symbols, uint32_t file, uint8_t status)
{
	uint64_t key = (uint64_t)file << 8 | status;
	uint32_t index = dwell_idmap_find(&symbols->failure_of, key);

	if (!index) {
		if (dwell_array_grow(&symbols->failures) ||
		    dwell_idmap_set(&symbols->failure_of, key, symbols->failures.count + 1))
			return;
		symbols->failures.data[symbols->failures.count] = (struct dwell_symbol_failure){
			.file = file, .status = status, .why = failure_why(symbols, file, status)
		};
		index = ++symbols->failures.count;
	}
	symbols->failures.data[index - 1].frames++;
}

static int place_add(struct dwell_symbols *symbols, const char *name,
		     const struct inline_place *place)
{
	struct dwell_symbol_place added = { .name = name, .line = place->line };
	const char *file = place->file, *slash;
	uint32_t id;

	if (file) {
		slash = strrchr(file, '/');
		file = slash && slash[1] ? slash + 1 : file;
		if (dwell_strings_add(symbols->strings, file, strnlen(file, NAME_BYTES_MAX), &id))
			return -ENOMEM;
		added.file = dwell_strings_get(symbols->strings, id);
	}
	if (dwell_array_grow(&symbols->places_of_frames))
		return -ENOMEM;
	symbols->places_of_frames.data[symbols->places_of_frames.count++] = added;
	return 0;
}

/* The same of the recording machine. */
static uint32_t recorded_places(const struct dwell_symbols *symbols, uint32_t frame_id,
				struct inline_place ret_places[INLINES_MAX])
{
	uint32_t count;
	const struct dwell_place *places = dwell_stacks_places(symbols->stacks, frame_id, &count);

	if (!symbols->places.inlines)
		return 0;
	count = count < INLINES_MAX ? count : INLINES_MAX;
	for (uint32_t i = 0; i < count; i++) {
		ret_places[i] = (struct inline_place){ .name = dwell_strings_get(symbols->strings,
										 places[i].name) };
		if (!symbols->places.lines || !places[i].file)
			continue;
		ret_places[i].file = dwell_strings_get(symbols->strings, places[i].file);
		ret_places[i].line = places[i].line;
	}
	return count;
}

/* What the debug information tells of a frame that has a name: how many places, 0 = nothing. */
static uint32_t frame_places(struct dwell_symbols *symbols, uint32_t frame_id,
			     const struct dwell_frame *frame, const struct dwell_file *file,
			     struct inline_place ret_places[INLINES_MAX])
{
	const struct object *object =
		frame->file < symbols->objects.count ? &symbols->objects.data[frame->file] : NULL;
	bool user_file = file->kind == DWELL_FILE_ELF || file->kind == DWELL_FILE_VDSO;
	bool found = object && object->naming.table;
	uint32_t count;

	if (file->kind == DWELL_FILE_PSEUDO || (frame->symbol && !user_file) ||
	    (!found && !user_file))
		return 0;
	count = found ? symtab_inlines_find(object->naming.table, frame->offset, ret_places)
		      : recorded_places(symbols, frame_id, ret_places);
	return count && !symbols->inlines ? 1 : count;
}

/* Adds the frame's own function, by the name known, and those inlined into it. */
static int places_add(struct dwell_symbols *symbols, uint32_t frame_id,
		      const struct dwell_frame *frame, const struct dwell_file *file, uint32_t name,
		      struct memo *memo)
{
	struct inline_place places[INLINES_MAX] = { 0 };
	uint32_t count = 0, inlined;
	int rc;

	if (memo->status == DWELL_SYMBOL_OK)
		count = frame_places(symbols, frame_id, frame, file, places);
	memo->first = symbols->places_of_frames.count;
	rc = place_add(symbols, dwell_strings_get(symbols->strings, name), &places[0]);
	for (uint32_t i = 1; i < count && !rc; i++) {
		const char *raw = places[i].name ? places[i].name : "[no name]";

		rc = name_intern(symbols, raw, strnlen(raw, NAME_BYTES_MAX), "", &inlined);
		if (!rc)
			rc = place_add(symbols, dwell_strings_get(symbols->strings, inlined),
				       &places[i]);
	}
	memo->places = (uint16_t)(symbols->places_of_frames.count - memo->first);
	return memo->places ? 0 : rc;
}

const struct dwell_symbol_place *dwell_symbols_places(struct dwell_symbols *symbols,
						      uint32_t frame_id, uint32_t *ret_count,
						      enum dwell_symbol_status *ret_status)
{
	static const struct dwell_symbol_place none = { .name = "" };
	static const struct dwell_file nothing = { .kind = DWELL_FILE_UNKNOWN };
	const struct dwell_frame *frame = dwell_stacks_frame(symbols->stacks, frame_id);
	const struct dwell_file *file = dwell_stacks_file(symbols->stacks, frame->file);
	struct memo memo = { 0 };
	uint32_t name = 0;

	if (!frame_id || frame_id >= dwell_stacks_frame_count(symbols->stacks)) {
		file = &nothing;
		frame_id = 0;
	}
	if (frame_id < symbols->frames.count)
		memo = symbols->frames.data[frame_id];
	if (!memo.places) {
		memo.status = frame_name(symbols, frame, file, &name);
		if (memo.status != DWELL_SYMBOL_OK && unknown_intern(symbols, file, &name))
			name = 0;
		if (!places_add(symbols, frame_id, frame, file, name, &memo) &&
		    !dwell_array_reserve(&symbols->frames, (uint64_t)frame_id + 1)) {
			while (symbols->frames.count <= frame_id)
				symbols->frames.data[symbols->frames.count++] = (struct memo){ 0 };
			symbols->frames.data[frame_id] = memo;
			if (memo.status != DWELL_SYMBOL_OK && frame_id)
				failure_count(symbols, frame->file, memo.status);
		}
	}
	if (ret_status)
		*ret_status = memo.status;
	*ret_count = memo.places ? memo.places : 1;
	return memo.places ? &symbols->places_of_frames.data[memo.first] : &none;
}

const char *dwell_symbols_name(struct dwell_symbols *symbols, uint32_t frame,
			       enum dwell_symbol_status *ret_status)
{
	uint32_t count;

	return dwell_symbols_places(symbols, frame, &count, ret_status)->name;
}

const char *dwell_symbol_status_text(enum dwell_symbol_status status)
{
	static const char *const texts[DWELL_SYMBOL_STATUSES] = {
		[DWELL_SYMBOL_OK] = "found",
		[DWELL_SYMBOL_NO_MAPPING] = "no file was mapped at that address",
		[DWELL_SYMBOL_NO_FILE] = "file cannot be opened here",
		[DWELL_SYMBOL_CHANGED] = "file here is not the recorded one",
		[DWELL_SYMBOL_NOT_PROVEN] = "nothing tells that the file here is the recorded one",
		[DWELL_SYMBOL_STRIPPED] = "file has no symbol for that address",
		[DWELL_SYMBOL_KPTR] = "kernel addresses were hidden (kptr_restrict)",
		[DWELL_SYMBOL_NO_KERNEL] = "no symbols of the recorded kernel or module are here",
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
