// SPDX-License-Identifier: MIT
/* Ranges of units become an index, and units tables of inlined functions when an address of theirs
 * is asked for. Anything that libdw would open or unpack by itself is looked at first. */
#include "parse/elf/inlines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "parse/elf/inline_unit.h"
#include "parse/elf/symtab.h"

enum {
	TABLES_BYTES_MAX = 64 << 20,
	ZLIB_RATIO_MAX = 1032, /* what deflate can do at most */
};

#define DWZ_DIR "/usr/lib/debug/.dwz/"

struct unit {
	Dwarf_Die die;	/* of the split unit where there is one */
	Dwarf_Die main; /* of the unit in the file itself: it has the line table */
	struct inline_unit table;
	uint64_t used; /* when last, counted in finds */
	bool tried, loaded;
};

struct reach {
	uint64_t start, end;
	uint32_t unit;
};

struct inlines {
	Dwarf *dwarf, *alt;
	struct image alt_image;
	char dir[PATH_MAX];
	bool with_lines, with_split;
	DWELL_ARRAY(struct unit) units;
	DWELL_ARRAY(struct reach) reaches; /* sorted by start, without overlaps */
	uint64_t finds, table_bytes;
	uint64_t ranges_left; /* of the index: as many as the file has room for */
	uint32_t unit;	      /* whose ranges are being added */
};

/* libelf believes what a packed section says of its size unpacked. */
static bool sections_sane(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr sh;
	GElf_Chdr ch;
	const char *names;
	size_t index, bytes;

	if (elf_getshdrstrndx(elf, &index))
		return false;
	names = section_strings(elf, index, &bytes);
	while (names && (section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &sh) || sh.sh_name >= bytes)
			return false;
		if (strncmp(names + sh.sh_name, ".zdebug", 7) == 0)
			return false; /* the form of before 2015 */
		if (!(sh.sh_flags & SHF_COMPRESSED))
			continue;
		if (!gelf_getchdr(section, &ch) || ch.ch_type != ELFCOMPRESS_ZLIB ||
		    ch.ch_size / ZLIB_RATIO_MAX > sh.sh_size)
			return false;
	}
	return names != NULL;
}

static int alt_try(struct inlines *inlines, const char *path, const uint8_t *id, int bytes)
{
	int rc = image_open_identified(path, id, bytes, &inlines->alt_image);

	if (rc)
		return rc;
	if (sections_sane(inlines->alt_image.elf))
		inlines->alt = dwarf_begin_elf(inlines->alt_image.elf, DWARF_C_READ, NULL);
	if (inlines->alt)
		return 0;
	image_close(&inlines->alt_image);
	return -ENOENT;
}

/* Opens the file that dwz moved common parts to, by the name in .gnu_debugaltlink: where debug
 * files are, as it is, or beside the file itself. The build id decides. 0 also where none is
 * needed. */
static int alt_open(struct inlines *inlines, const struct places *places)
{
	char paths[3][3 * PATH_MAX] = { "", "", "" }, hex[BUILD_ID_HEX];
	const char *name, *tail;
	uint8_t build_id[DWELL_BUILD_ID_MAX] = { 0 };
	const void *id;
	ssize_t bytes = dwelf_dwarf_gnu_debugaltlink(inlines->dwarf, &name, &id);
	int rc = -ENOENT;

	if (bytes <= 0)
		return bytes ? -ENOENT : 0;
	if (bytes > DWELL_BUILD_ID_MAX)
		bytes = DWELL_BUILD_ID_MAX;
	memcpy(build_id, id, (size_t)bytes);
	build_id_hex(build_id, (int)bytes, hex);
	snprintf(paths[0], sizeof(paths[0]), "%s/usr/lib/debug/.build-id/%.2s/%s.debug",
		 places->symfs, hex, hex + 2);
	tail = strstr(name, "/.dwz/");
	if (tail)
		snprintf(paths[1], sizeof(paths[1]), "%s" DWZ_DIR "%.*s", places->symfs, PATH_MAX,
			 tail + 6);
	if (*name == '/' || *inlines->dir)
		snprintf(paths[2], sizeof(paths[2]), "%s%.*s",
			 *name == '/' ? places->symfs : inlines->dir, PATH_MAX, name);
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths) && rc; i++)
		if (*paths[i])
			rc = alt_try(inlines, paths[i], build_id, (int)bytes);
	if (!rc)
		dwarf_setalt(inlines->dwarf, inlines->alt);
	return rc;
}

/* Where the file itself lies, with a '/' at the end: "" = not known. */
static void dir_read(int fd, char ret_dir[PATH_MAX])
{
	char self[64];
	ssize_t bytes;

	ret_dir[0] = '\0';
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	bytes = fd >= 0 ? readlink(self, ret_dir, PATH_MAX - 1) : -1;
	ret_dir[bytes > 0 ? bytes : 0] = '\0';
	if (strrchr(ret_dir, '/'))
		strrchr(ret_dir, '/')[1] = '\0';
}

/* libdw opens whatever lies there, and would wait for the writer of a pipe. False also for nothing,
 * with *bad untouched. */
static bool split_usable(const char *dir, const char *name, bool *bad)
{
	char path[2 * PATH_MAX];
	struct image image;
	bool sane = false;
	int rc;

	if (snprintf(path, sizeof(path), "%s%s%s", *name == '/' ? "" : dir,
		     *name == '/' || !*dir ? "" : "/", name) >= (int)sizeof(path) ||
	    path[0] != '/') {
		*bad = true;
		return false;
	}
	rc = image_open(path, &image);
	if (!rc) {
		sane = sections_sane(image.elf);
		image_close(&image);
	}
	*bad |= !sane && rc != -ENOENT;
	return sane;
}

/* Is there a .dwo file of a skeleton unit? libdw looks beside the file, then below the folder of
 * the compilation. */
static bool split_openable(const struct inlines *inlines, Dwarf_Die *skeleton)
{
	const char *name = NULL, *dir = NULL;
	bool found = false, bad = false;
	Dwarf_Attribute attr;

	if (dwarf_attr(skeleton, DW_AT_dwo_name, &attr) ||
	    dwarf_attr(skeleton, DW_AT_GNU_dwo_name, &attr))
		name = dwarf_formstring(&attr);
	if (dwarf_attr(skeleton, DW_AT_comp_dir, &attr))
		dir = dwarf_formstring(&attr);
	if (!name)
		return false;
	found = split_usable(inlines->dir, name, &bad);
	if (dir)
		found |= split_usable(dir, name, &bad);
	return found && !bad;
}

static int reach_take(void *user, uint64_t start, uint64_t end)
{
	struct inlines *inlines = user;

	if (dwell_array_grow(&inlines->reaches))
		return -ENOMEM;
	inlines->reaches.data[inlines->reaches.count++] =
		(struct reach){ start, end, inlines->unit };
	return 0;
}

static int unit_add(struct inlines *inlines, const Dwarf_Die *die)
{
	struct unit unit = { .die = *die, .main = *die };
	uint32_t had = inlines->reaches.count;
	int rc;

	inlines->unit = inlines->units.count;
	rc = inline_ranges_walk(&unit.main, &inlines->ranges_left, reach_take, inlines);
	if (!rc && inlines->reaches.count == had)
		rc = inline_unit_ranges_walk(&unit.main, &inlines->ranges_left, reach_take,
					     inlines);
	if (rc || inlines->reaches.count == had)
		return rc;
	if (dwell_array_grow(&inlines->units))
		return -ENOMEM;
	inlines->units.data[inlines->units.count++] = unit;
	return 0;
}

static int reach_compare(const void *left, const void *right)
{
	const struct reach *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return a->unit < b->unit ? -1 : a->unit > b->unit;
}

/* No two units have code at one address, but where a linker merged functions: then the later one's
 * is the end of the earlier one's. */
static void reaches_finish(struct inlines *inlines)
{
	struct reach *all = inlines->reaches.data;

	if (!inlines->reaches.count)
		return;
	qsort(all, inlines->reaches.count, sizeof(*all), reach_compare);
	for (uint32_t i = 1; i < inlines->reaches.count; i++)
		if (all[i - 1].end > all[i].start)
			all[i - 1].end = all[i].start;
}

/* A range of a unit takes more than a byte, unless many units share a list, which none do. */
static uint64_t ranges_max(Elf *elf)
{
	static const char *const names[] = { ".debug_info", ".debug_ranges", ".debug_rnglists" };
	uint64_t bytes = 0;
	GElf_Shdr sh;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (section_by_name(elf, names[i], &sh))
			bytes += sh.sh_size < UINT32_MAX ? sh.sh_size : UINT32_MAX;
	return bytes;
}

static int units_index(struct inlines *inlines, Elf *elf)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;
	int rc = 0;

	inlines->ranges_left = ranges_max(elf); /* unpacked by now */
	/* An error ends the walk: what stands before it is used. */
	while (!rc && dwarf_get_units(inlines->dwarf, cu, &cu, NULL, &type, &die, NULL) == 0)
		if ((type == DW_UT_compile || type == DW_UT_skeleton) &&
		    dwarf_tag(&die) != DW_TAG_partial_unit)
			rc = unit_add(inlines, &die);
	reaches_finish(inlines);
	return rc;
}

int inlines_open(const struct image *image, const struct places *places, bool with_lines,
		 struct inlines **ret_inlines)
{
	struct inlines *inlines;
	GElf_Ehdr head;
	GElf_Shdr sh;
	int rc = -ENOENT;

	if (!section_by_name(image->elf, ".debug_info", &sh) || !gelf_getehdr(image->elf, &head) ||
	    head.e_type == ET_REL || !sections_sane(image->elf))
		return -ENOENT;
	inlines = calloc(1, sizeof(*inlines));
	if (!inlines)
		return -ENOMEM;
	inlines->alt_image = (struct image){ .fd = -1 };
	inlines->with_lines = with_lines;
	inlines->with_split = !*places->symfs;
	dir_read(image->fd, inlines->dir);
	inlines->dwarf = dwarf_begin_elf(image->elf, DWARF_C_READ, NULL);
	if (inlines->dwarf)
		rc = alt_open(inlines, places);
	if (!rc)
		rc = units_index(inlines, image->elf);
	if (!rc && inlines->reaches.count) {
		image_finish(&inlines->alt_image);
		*ret_inlines = inlines;
		return 0;
	}
	inlines_free(inlines);
	return rc == -ENOMEM ? rc : -ENOENT;
}

void inlines_free(struct inlines *inlines)
{
	if (!inlines)
		return;
	for (uint32_t i = 0; i < inlines->units.count; i++)
		inline_unit_release(&inlines->units.data[i].table);
	dwell_array_release(&inlines->units);
	dwell_array_release(&inlines->reaches);
	dwarf_end(inlines->dwarf);
	dwarf_end(inlines->alt);
	image_close(&inlines->alt_image);
	free(inlines);
}

static void unit_drop(struct inlines *inlines, struct unit *unit)
{
	inlines->table_bytes -= inline_unit_size(&unit->table);
	inline_unit_release(&unit->table);
	unit->loaded = false;
}

/* Drops the tables not used for longest until all but one fit. */
static void tables_trim(struct inlines *inlines, const struct unit *keep)
{
	while (inlines->table_bytes > TABLES_BYTES_MAX) {
		struct unit *oldest = NULL;

		for (uint32_t i = 0; i < inlines->units.count; i++) {
			struct unit *unit = &inlines->units.data[i];

			if (unit->loaded && unit != keep && (!oldest || unit->used < oldest->used))
				oldest = unit;
		}
		if (!oldest)
			return;
		unit_drop(inlines, oldest);
	}
}

/* The .dwo file is opened only for a unit that is asked for. */
static void unit_split(const struct inlines *inlines, struct unit *unit)
{
	Dwarf_Die split;

	if (inlines->with_split && split_openable(inlines, &unit->main) &&
	    !dwarf_cu_info(unit->main.cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) && split.addr)
		unit->die = split;
}

/* A unit that cannot be compiled stays empty. */
static void unit_load(struct inlines *inlines, struct unit *unit)
{
	if (!unit->tried)
		unit_split(inlines, unit);
	unit->tried = unit->loaded = true;
	if (inline_unit_build(&unit->die, inlines->with_lines, &unit->table))
		return;
	inlines->table_bytes += inline_unit_size(&unit->table);
	tables_trim(inlines, unit);
}

static struct unit *unit_at(struct inlines *inlines, uint64_t address)
{
	uint32_t low = 0, high = inlines->reaches.count;
	struct unit *unit;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (inlines->reaches.data[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address >= inlines->reaches.data[low - 1].end)
		return NULL;
	unit = &inlines->units.data[inlines->reaches.data[low - 1].unit];
	unit->used = ++inlines->finds;
	if (!unit->loaded)
		unit_load(inlines, unit);
	return unit;
}

/* The line of the instruction itself, which is one of the innermost function. */
static void line_find(struct unit *unit, uint64_t address, struct inline_place *place)
{
	Dwarf_Line *line = dwarf_getsrc_die(&unit->main, address);
	int number;

	if (!line || dwarf_lineno(line, &number) || number < 0)
		return; /* 0: the compiler says that no line is to blame */
	place->file = dwarf_linesrc(line, NULL, NULL);
	place->line = (uint32_t)number;
}

uint32_t inlines_find(struct inlines *inlines, uint64_t address,
		      struct inline_place ret_places[INLINES_MAX])
{
	struct unit *unit = unit_at(inlines, address);
	uint32_t innermost = unit ? inline_unit_find(&unit->table, address) : 0;
	const struct inline_site *sites;
	uint32_t count = 0, at;

	if (!unit || (!innermost && !inlines->with_lines))
		return 0;
	sites = unit->table.sites.data;
	for (at = innermost; at; at = sites[at - 1].caller)
		count++;
	if (!count)
		count = 1; /* code without a function has a line all the same */
	memset(ret_places, 0, sizeof(*ret_places) * (count < INLINES_MAX ? count : INLINES_MAX));
	at = innermost;
	for (uint32_t i = count; i && at; at = sites[at - 1].caller) {
		i--;
		if (i < INLINES_MAX)
			ret_places[i].name = sites[at - 1].name;
		if (i && i - 1 < INLINES_MAX && sites[at - 1].call_line) {
			ret_places[i - 1].file = sites[at - 1].call_file;
			ret_places[i - 1].line = sites[at - 1].call_line;
		}
	}
	if (inlines->with_lines && count <= INLINES_MAX)
		line_find(unit, address, &ret_places[count - 1]);
	return count < INLINES_MAX ? count : INLINES_MAX;
}
