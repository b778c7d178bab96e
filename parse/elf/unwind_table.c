// SPDX-License-Identifier: MIT
/* Rows of call frame information become a table by file offset: spans, one for each FDE, are laid
 * side by side, the first one to say something of an offset wins, and what is left is packed. */
#include "parse/elf/unwind_table.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/hash.h"
#include "parse/elf/unwind_input.h"

enum {
	RULE_NONE = 0,
	RULE_ODD = 1, /* also for what is over RULES_MAX */
	RULES_MAX = 1 << 16,
	SLOTS = 2 * RULES_MAX,
	/* An index page has 256 bytes of code, some five rows: a cache line holds 16. Where rows
	 * are sparse, up to 64 KiB: a row keeps 16 bits of its offset. */
	PAGE_SHIFT_MIN = 8,
	PAGE_SHIFT_MAX = 16,
};

/* A row is the low 16 bits of the offset it holds from, above its rule: sorted as a number. */
struct dwell_unwind_table {
	struct dwell_unwind_rule *rules;
	uint32_t *rows;	 /* the first is of kind NONE and stands before everything */
	uint32_t *index; /* the row that begins a page or the first after it; page_count + 1 */
	uint64_t first_page, page_count;
	uint32_t page_shift;
	uint16_t machine;
	struct dwell_unwind_table_stats stats;
};

/* A rule that holds from a file offset on. */
struct step {
	uint32_t at;
	uint16_t rule;
};

/* What one FDE says: steps of the file offsets [start, end). */
struct span {
	uint32_t start, end;
	uint32_t first, count; /* its steps */
	uint32_t rank;	       /* its place in the file: the lower wins */
};

struct build {
	struct unwind_input input;
	DWELL_ARRAY(struct dwell_unwind_rule) rules;
	uint16_t *slots; /* hash table of indexes into rules; 0 = free */
	uint64_t seed;
	DWELL_ARRAY(struct step) steps;
	DWELL_ARRAY(struct span) spans;
	struct span open;		      /* of the FDE being read */
	const struct unwind_segment *segment; /* that it is in; NULL = in none */
	bool is_open;
	struct dwell_unwind_rule last; /* of its last step */

	struct dwell_unwind_table *table;
	uint32_t row_count, last_rule;
	uint64_t last_at;	       /* where that holds from */
	uint64_t index_count, covered; /* entries written; where the last piece ended */
	uint32_t *heap, heap_count;    /* spans that hold at an offset, the lowest rank first */
};

/* The index of a rule, which is added when it is new. 0 or -ENOMEM. */
static int rule_intern(struct build *build, const struct dwell_unwind_rule *rule, uint16_t *ret)
{
	uint64_t slot = dwell_hash_bytes(rule, sizeof(*rule), build->seed);

	for (;; slot++) {
		uint16_t *at = &build->slots[slot % SLOTS];

		if (*at && memcmp(&build->rules.data[*at], rule, sizeof(*rule)) != 0)
			continue;
		if (!*at && build->rules.count == RULES_MAX) {
			*ret = RULE_ODD;
			return 0;
		}
		if (!*at) {
			if (dwell_array_grow(&build->rules))
				return -ENOMEM;
			*at = (uint16_t)build->rules.count;
			build->rules.data[build->rules.count++] = *rule;
		}
		*ret = *at;
		return 0;
	}
}

static void span_open(struct build *build, const struct cfi_row *row)
{
	build->is_open = true;
	build->segment = unwind_input_segment(&build->input, row->vaddr);
	if (!build->segment)
		return;
	build->open = (struct span){
		.start = (uint32_t)(row->vaddr - build->segment->vaddr) + build->segment->offset,
		.first = build->steps.count,
		.rank = build->spans.count,
	};
}

/* An FDE that ends at an address, or with its segment. */
static int span_close(struct build *build, uint64_t end)
{
	const struct unwind_segment *segment = build->segment;
	uint64_t bytes;

	build->is_open = false;
	if (!segment)
		return 0;
	if (dwell_array_grow(&build->spans))
		return -ENOMEM;
	bytes = end - segment->vaddr < segment->bytes ? end - segment->vaddr : segment->bytes;
	build->open.end = segment->offset + (uint32_t)bytes;
	build->open.count = build->steps.count - build->open.first;
	build->spans.data[build->spans.count++] = build->open;
	return 0;
}

static int row_take(void *user, const struct cfi_row *row, uint64_t end)
{
	struct build *build = user;
	const struct unwind_segment *segment;
	struct dwell_unwind_rule rule;
	struct step step;
	int rc;

	if (!row)
		return span_close(build, end);
	if (!build->is_open)
		span_open(build, row);
	segment = build->segment;
	if (!segment || row->vaddr - segment->vaddr >= segment->bytes)
		return 0;
	unwind_rule_make(row, build->input.machine, &rule);
	if (build->steps.count > build->open.first &&
	    memcmp(&rule, &build->last, sizeof(rule)) == 0)
		return 0;
	rc = rule_intern(build, &rule, &step.rule);
	if (rc || dwell_array_grow(&build->steps))
		return -ENOMEM;
	step.at = (uint32_t)(row->vaddr - segment->vaddr) + segment->offset;
	build->steps.data[build->steps.count++] = step;
	build->last = rule;
	return 0;
}

static int sections_walk(struct build *build, struct dwell_unwind_table_stats *stats)
{
	struct cfi_stats walked;
	int rc;

	for (uint32_t i = 0; i < build->input.section_count; i++) {
		rc = cfi_walk(&build->input.sections[i], row_take, build, &walked);
		if (rc)
			return rc;
		stats->fdes += walked.fdes;
		stats->bad += walked.bad;
	}
	return 0;
}

static int span_compare(const void *left, const void *right)
{
	const struct span *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* Linkers keep the order of the code, but for parts that are put elsewhere. */
static void spans_sort(struct build *build)
{
	const struct span *all = build->spans.data;

	for (uint32_t i = 1; i < build->spans.count; i++) {
		if (span_compare(&all[i - 1], &all[i]) <= 0)
			continue;
		qsort(build->spans.data, build->spans.count, sizeof(*all), span_compare);
		return;
	}
}

static bool heap_before(const struct build *build, uint32_t left, uint32_t right)
{
	const struct span *spans = build->spans.data;

	return spans[build->heap[left]].rank < spans[build->heap[right]].rank;
}

static void heap_swap(struct build *build, uint32_t left, uint32_t right)
{
	uint32_t span = build->heap[left];

	build->heap[left] = build->heap[right];
	build->heap[right] = span;
}

static void heap_add(struct build *build, uint32_t span)
{
	uint32_t at = build->heap_count++;

	build->heap[at] = span;
	for (; at && heap_before(build, at, (at - 1) / 2); at = (at - 1) / 2)
		heap_swap(build, at, (at - 1) / 2);
}

static void heap_drop(struct build *build)
{
	uint32_t at = 0, child;

	build->heap[0] = build->heap[--build->heap_count];
	for (; (child = 2 * at + 1) < build->heap_count; at = child) {
		if (child + 1 < build->heap_count && heap_before(build, child + 1, child))
			child++;
		if (!heap_before(build, child, at))
			return;
		heap_swap(build, at, child);
	}
}

/* Frame pointers are kept where frames are told by them (x86-64), or where those that save the
 * return address save the frame pointer, too (AArch64). */
static void pointers_count(struct build *build, uint64_t end)
{
	struct dwell_unwind_table_stats *stats = &build->table->stats;
	const struct dwell_unwind_rule *rule = &build->rules.data[build->last_rule];
	uint64_t bytes = end - build->last_at;

	if (rule->kind != DWELL_UNWIND_CFA || !(rule->flags & DWELL_UNWIND_RA_SAVED))
		return;
	stats->framed_bytes += bytes;
	if (build->input.machine == EM_AARCH64 ? rule->flags & DWELL_UNWIND_FP_SAVED
					       : rule->cfa_register == CFI_X86_64_RBP)
		stats->pointed_bytes += bytes;
}

/* Adds a row, unless the row before says the same. */
static void row_add(struct build *build, uint64_t at, uint32_t rule)
{
	struct dwell_unwind_table *table = build->table;
	uint64_t page = (at >> table->page_shift) - table->first_page;

	if (rule == build->last_rule)
		return;
	while (build->index_count <= page)
		table->index[build->index_count++] = build->row_count;
	table->rows[build->row_count++] = (uint32_t)at << 16 | rule;
	table->stats.odd += rule == RULE_ODD;
	pointers_count(build, at);
	build->last_rule = rule;
	build->last_at = at;
}

/* Adds what a span says of [from, to). */
static void piece_add(struct build *build, const struct span *span, uint64_t from, uint64_t to)
{
	const struct step *steps = build->steps.data + span->first;
	uint32_t low = 0, high = span->count;

	while (high - low > 1 && from > span->start) {
		uint32_t mid = low + (high - low) / 2;

		if (steps[mid].at <= from)
			low = mid;
		else
			high = mid;
	}
	if (from > build->covered)
		row_add(build, build->covered, RULE_NONE);
	row_add(build, from, steps[low].rule);
	for (low++; low < span->count && steps[low].at < to; low++)
		row_add(build, steps[low].at, steps[low].rule);
	build->covered = to;
}

/* Cuts spans, which are sorted, into pieces of which none overlaps another: that of the lowest
 * rank holds. */
static void spans_lay(struct build *build)
{
	const struct span *spans = build->spans.data;
	uint32_t next = 0, count = build->spans.count;

	while (next < count || build->heap_count) {
		const struct span *top;
		uint64_t from = build->covered, to;

		if (!build->heap_count)
			heap_add(build, next++);
		top = &spans[build->heap[0]];
		if (top->end <= from) {
			heap_drop(build);
			continue;
		}
		from = top->start > from ? top->start : from;
		to = top->end;
		for (; next < count && spans[next].start < to; next++) {
			if (spans[next].rank < top->rank)
				to = spans[next].start > from ? spans[next].start : from;
			heap_add(build, next);
		}
		if (to > from)
			piece_add(build, top, from, to);
	}
	row_add(build, build->covered, RULE_NONE);
}

static void pages_choose(struct build *build, struct dwell_unwind_table *table)
{
	const struct span *spans = build->spans.data;
	uint64_t start = spans[0].start, end = 0;

	for (uint32_t i = 0; i < build->spans.count; i++)
		end = spans[i].end > end ? spans[i].end : end;
	table->page_shift = PAGE_SHIFT_MIN;
	while (table->page_shift < PAGE_SHIFT_MAX &&
	       (end - start) >> table->page_shift > build->steps.count)
		table->page_shift++;
	table->first_page = start >> table->page_shift;
	table->page_count = (end >> table->page_shift) - table->first_page + 1;
}

/* Makes room for all rows that there can be: a span is cut at most at its ends and where others
 * begin, and a piece may come after a gap. */
static int table_reserve(struct build *build, struct dwell_unwind_table *table)
{
	uint64_t rows = build->steps.count + 4ull * build->spans.count + 2;

	if (build->spans.count)
		pages_choose(build, table);
	if (rows > UINT32_MAX)
		return -ENOMEM;
	table->rows = malloc(rows * sizeof(*table->rows));
	table->index = malloc((table->page_count + 1) * sizeof(*table->index));
	build->heap = malloc((build->spans.count + 1ull) * sizeof(*build->heap));
	return table->rows && table->index && build->heap ? 0 : -ENOMEM;
}

static int table_fill(struct build *build, struct dwell_unwind_table *table)
{
	uint32_t *rows;
	int rc;

	spans_sort(build);
	rc = table_reserve(build, table);
	if (rc)
		return rc;
	build->table = table;
	table->rows[build->row_count++] = RULE_NONE;
	spans_lay(build);
	while (build->index_count <= table->page_count)
		table->index[build->index_count++] = build->row_count;
	rows = realloc(table->rows, build->row_count * sizeof(*rows));
	table->rows = rows ? rows : table->rows;
	table->rules = build->rules.data;
	table->machine = build->input.machine;
	table->stats.rows = build->row_count;
	table->stats.rules = build->rules.count;
	table->stats.bytes = sizeof(*table) + build->rules.room * sizeof(*table->rules) +
			     build->row_count * sizeof(*table->rows) +
			     build->index_count * sizeof(*table->index);
	build->rules.data = NULL;
	return 0;
}

/* The rules that every table has, in their places. */
static int build_init(struct build *build)
{
	const struct dwell_unwind_rule odd = { .kind = DWELL_UNWIND_ODD };
	uint16_t index;

	build->slots = calloc(SLOTS, sizeof(*build->slots));
	build->seed = dwell_hash_seed();
	if (!build->slots || dwell_array_grow(&build->rules))
		return -ENOMEM;
	build->rules.data[RULE_NONE] = (struct dwell_unwind_rule){ .kind = DWELL_UNWIND_NONE };
	build->rules.count = RULE_NONE + 1;
	return rule_intern(build, &odd, &index); /* as RULE_ODD */
}

static void build_release(struct build *build)
{
	dwell_array_release(&build->rules);
	dwell_array_release(&build->steps);
	dwell_array_release(&build->spans);
	free(build->slots);
	free(build->heap);
}

int dwell_unwind_table_new(Elf *elf, struct dwell_unwind_table **ret_table, struct dwell_err *err)
{
	struct build build = { 0 };
	struct dwell_unwind_table *table;
	int rc = unwind_input_read(elf, &build.input, err);

	if (rc)
		return rc;
	table = calloc(1, sizeof(*table));
	rc = table ? build_init(&build) : -ENOMEM;
	if (!rc)
		rc = sections_walk(&build, &table->stats);
	if (!rc)
		rc = table_fill(&build, table);
	build_release(&build);
	if (rc) {
		dwell_unwind_table_free(table);
		return dwell_err_sys(err, rc, "no unwind table");
	}
	*ret_table = table;
	return 0;
}

void dwell_unwind_table_free(struct dwell_unwind_table *table)
{
	if (!table)
		return;
	free(table->rules);
	free(table->rows);
	free(table->index);
	free(table);
}

const struct dwell_unwind_rule *dwell_unwind_table_find(const struct dwell_unwind_table *table,
							uint64_t file_offset)
{
	uint64_t page = (file_offset >> table->page_shift) - table->first_page;
	uint32_t key = (uint32_t)file_offset << 16 | UINT16_MAX, count, half;
	const uint32_t *row;

	if (page >= table->page_count)
		return &table->rules[RULE_NONE];
	/* Ends behind the last row that is not after the key; there is one before each page. */
	row = table->rows + table->index[page];
	for (count = table->index[page + 1] - table->index[page]; count; count -= half) {
		half = (count + 1) / 2;
		row += row[half - 1] <= key ? half : 0;
	}
	return &table->rules[row[-1] & UINT16_MAX];
}

uint16_t dwell_unwind_table_machine(const struct dwell_unwind_table *table)
{
	return table->machine;
}

const struct dwell_unwind_table_stats *dwell_unwind_table_stats(
	const struct dwell_unwind_table *table)
{
	return &table->stats;
}
