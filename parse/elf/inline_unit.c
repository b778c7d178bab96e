// SPDX-License-Identifier: MIT
/* The DIEs of a unit are walked once, and each function's ranges noted with the call that put it
 * there. A sweep over the sorted ranges leaves runs of addresses with the innermost function of
 * each.
 */
#include "parse/elf/inline_unit.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of compilers' output: nesting of 40 is much, and an abstract origin is at most three steps away.
 * Ranges: a unit has fewer than it has bytes, unless many DIEs share a list, which none do. */
enum { DEPTH_MAX = 256, ORIGINS_MAX = 16, RANGES_SLACK = 1 << 16 };

struct range {
	uint64_t start, end;
	uint32_t site; /* index + 1 */
	uint32_t depth;
};

struct build {
	struct inline_unit *unit;
	DWELL_ARRAY(struct range) ranges;
	DWELL_ARRAY(uint32_t) open; /* of the sweep: ranges that hold the place it is at */
	Dwarf_Files *files;	    /* NULL: places of calls are not wanted, or not known */
	uint64_t dies_left, ranges_left;
	uint32_t site, depth; /* of the ranges that are being added */
};

int inline_ranges_walk(Dwarf_Die *die, uint64_t *left, inline_range_fn take, void *user)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	int rc = 0;

	while (!rc && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (!*left)
			return -E2BIG;
		--*left;
		/* What the linker dropped begins at 0, or at 1 or the last addresses with lld. */
		if (start > 1 && start < end)
			rc = take(user, start, end);
	}
	return rc;
}

uint64_t inline_unit_bytes(Dwarf_Die *unit)
{
	Dwarf *dwarf = dwarf_cu_getdwarf(unit->cu);
	Dwarf_Off start = dwarf_dieoffset(unit) - dwarf_cuoffset(unit), next;
	size_t header;

	if (dwarf_next_unit(dwarf, start, &next, &header, NULL, NULL, NULL, NULL, NULL, NULL) ||
	    next <= start)
		return 0;
	return next - start;
}

/* The DIE that a call's or an out-of-line function's is an instance of, or that declares it. */
static bool origin_follow(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Die origin;

	if ((!dwarf_attr(die, DW_AT_abstract_origin, &attr) &&
	     !dwarf_attr(die, DW_AT_specification, &attr)) ||
	    !dwarf_formref_die(&attr, &origin))
		return false;
	*die = origin;
	return true;
}

/* The linkage name where any of the DIEs has one: it alone tells overloads and scopes. */
static const char *name_of(Dwarf_Die *function)
{
	Dwarf_Die die = *function;
	const char *plain = NULL, *name;
	Dwarf_Attribute attr;

	for (int i = 0; i < ORIGINS_MAX; i++) {
		if (dwarf_attr(&die, DW_AT_linkage_name, &attr) ||
		    dwarf_attr(&die, DW_AT_MIPS_linkage_name, &attr)) {
			name = dwarf_formstring(&attr);
			if (name && *name)
				return name;
		}
		if (!plain && dwarf_attr(&die, DW_AT_name, &attr))
			plain = dwarf_formstring(&attr);
		if (!origin_follow(&die))
			break;
	}
	return plain && *plain ? plain : NULL;
}

static uint32_t number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	if (!dwarf_attr(die, name, &attr) || dwarf_formudata(&attr, &value) || value > INT32_MAX)
		return 0;
	return (uint32_t)value;
}

static int range_take(void *user, uint64_t start, uint64_t end)
{
	struct build *build = user;

	if (dwell_array_grow(&build->ranges))
		return -ENOMEM;
	build->ranges.data[build->ranges.count++] =
		(struct range){ start, end, build->site, build->depth };
	return 0;
}

/* Adds a function with code. *site is its caller's, and becomes its own. */
static int site_add(struct build *build, Dwarf_Die *die, bool inlined, uint32_t depth,
		    uint32_t *site)
{
	struct inline_site added = { .caller = inlined ? *site : 0 };
	uint32_t had = build->ranges.count;
	int rc;

	if (dwell_array_grow(&build->unit->sites))
		return -ENOMEM;
	build->site = build->unit->sites.count + 1;
	build->depth = depth;
	rc = inline_ranges_walk(die, &build->ranges_left, range_take, build);
	if (rc || build->ranges.count == had)
		return rc;
	added.name = name_of(die);
	if (inlined && build->files) {
		added.call_file =
			dwarf_filesrc(build->files, number_of(die, DW_AT_call_file), NULL, NULL);
		added.call_line = number_of(die, DW_AT_call_line);
	}
	build->unit->sites.data[build->unit->sites.count++] = added;
	*site = build->site;
	return 0;
}

static bool holds_functions(int tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return true;
	default:
		return false;
	}
}

/* libdw takes no link to a sibling that points back: this ends. */
static int tree_walk(struct build *build, Dwarf_Die *parent, uint32_t site, uint32_t depth)
{
	Dwarf_Die die;
	int rc = 0;

	if (depth > DEPTH_MAX)
		return -E2BIG;
	for (int end = dwarf_child(parent, &die); !end && !rc; end = dwarf_siblingof(&die, &die)) {
		uint32_t below = site;
		int tag = dwarf_tag(&die);

		if (!build->dies_left)
			return -E2BIG;
		build->dies_left--;
		if (tag == DW_TAG_subprogram || (tag == DW_TAG_inlined_subroutine && site))
			rc = site_add(build, &die, tag == DW_TAG_inlined_subroutine, depth, &below);
		if (!rc && holds_functions(tag) && dwarf_haschildren(&die) == 1)
			rc = tree_walk(build, &die, below, depth + 1);
	}
	return rc;
}

static int range_compare(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return a->site < b->site ? -1 : a->site > b->site;
}

static int run_add(struct inline_unit *unit, uint64_t start, uint32_t site)
{
	uint32_t count = unit->runs.count;

	if (count && unit->runs.data[count - 1].start == start) {
		unit->runs.data[count - 1].site = site;
		return 0;
	}
	if (count && unit->runs.data[count - 1].site == site)
		return 0;
	if (dwell_array_grow(&unit->runs))
		return -ENOMEM;
	unit->runs.data[unit->runs.count++] = (struct inline_run){ start, site };
	return 0;
}

/* Ends the open ranges that end up to `until`, innermost first. */
static int sweep_to(struct build *build, uint64_t until)
{
	int rc = 0;

	while (!rc && build->open.count) {
		const struct range *ranges = build->ranges.data;
		uint64_t end = ranges[build->open.data[build->open.count - 1]].end;

		if (end > until)
			break;
		while (build->open.count &&
		       ranges[build->open.data[build->open.count - 1]].end <= end)
			build->open.count--;
		rc = run_add(build->unit, end,
			     build->open.count
				     ? ranges[build->open.data[build->open.count - 1]].site
				     : 0);
	}
	return rc;
}

/* The range that begins last is the innermost one, as those of one tree are nested. */
static int flatten(struct build *build)
{
	int rc = 0;

	if (build->ranges.count)
		qsort(build->ranges.data, build->ranges.count, sizeof(struct range), range_compare);
	for (uint32_t i = 0; i < build->ranges.count && !rc; i++) {
		rc = sweep_to(build, build->ranges.data[i].start);
		if (!rc && dwell_array_grow(&build->open))
			rc = -ENOMEM;
		if (rc)
			break;
		build->open.data[build->open.count++] = i;
		rc = run_add(build->unit, build->ranges.data[i].start, build->ranges.data[i].site);
	}
	return rc ? rc : sweep_to(build, UINT64_MAX);
}

int inline_unit_build(Dwarf_Die *die, bool with_lines, struct inline_unit *ret)
{
	struct inline_unit unit = { 0 };
	struct build build = { .unit = &unit, .dies_left = inline_unit_bytes(die) };
	size_t files;
	int rc;

	build.ranges_left = build.dies_left + RANGES_SLACK;
	if (with_lines && dwarf_getsrcfiles(die, &build.files, &files))
		build.files = NULL;
	rc = tree_walk(&build, die, 0, 0);
	if (!rc)
		rc = flatten(&build);
	dwell_array_release(&build.ranges);
	dwell_array_release(&build.open);
	if (rc)
		inline_unit_release(&unit);
	else
		*ret = unit;
	return rc;
}

int inline_unit_ranges_walk(Dwarf_Die *unit, uint64_t *left, inline_range_fn take, void *user)
{
	uint64_t dies_left = inline_unit_bytes(unit);
	Dwarf_Die die;
	int rc = 0;

	for (int end = dwarf_child(unit, &die); !end && !rc && dies_left;
	     end = dwarf_siblingof(&die, &die), dies_left--)
		if (dwarf_tag(&die) == DW_TAG_subprogram)
			rc = inline_ranges_walk(&die, left, take, user);
	return rc;
}

void inline_unit_release(struct inline_unit *unit)
{
	dwell_array_release(&unit->sites);
	dwell_array_release(&unit->runs);
}

uint64_t inline_unit_size(const struct inline_unit *unit)
{
	return (uint64_t)unit->sites.count * sizeof(struct inline_site) +
	       (uint64_t)unit->runs.count * sizeof(struct inline_run);
}

uint32_t inline_unit_find(const struct inline_unit *unit, uint64_t address)
{
	uint32_t low = 0, high = unit->runs.count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (unit->runs.data[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? unit->runs.data[low - 1].site : 0;
}
