// SPDX-License-Identifier: MIT
/* Records of a jit-PID.dump become ranges of code, found by the pages of memory they lie in. The
 * ranges of a page are a list, the latest first: the first that holds an address is what stands
 * there. */
#include "parse/elf/jitdump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/idmap.h"

enum {
	RANGES_MAX = 1 << 20,
	NAMES_BYTES_MAX = 64 << 20,
	NAME_BYTES_MAX = 4096,
	/* A function of more than a few megabytes is none. Where many pieces of code share a page,
	 * so many of them are looked at. */
	CODE_BYTES_MAX = 16 << 20,
	PLACES_MAX = 8 << 20,
	STEPS_MAX = 4096,
	PAGE_SHIFT = 12,
	WINDOW_BYTES = 64 << 10,
	ARCH_TIMESTAMP = 1,
};

#define MAGIC	      0x4a695444u /* "JiTD" on a machine of its writer's byte order */
#define MAGIC_SWAPPED 0x4454694au

enum record_id { CODE_LOAD = 0, CODE_MOVE = 1 }; /* those that say where code is */

struct file_header {
	uint32_t magic, version, bytes, machine, pad, pid;
	uint64_t time_ns, flags;
};

struct record_header {
	uint32_t id, bytes;
	uint64_t time_ns;
};

struct load {
	uint32_t pid, tid;
	uint64_t vma, address, bytes, index;
};

struct move {
	uint32_t pid, tid;
	uint64_t vma, from, address, bytes, index;
};

struct range {
	uint64_t start, end, from_ns;
	uint32_t name; /* offset in names */
	uint32_t epoch;
	uint32_t order; /* in the file: later ones count at one time */
};

/* A range in the list of one of its pages. */
struct place {
	uint32_t range, next; /* index + 1 of the next place; 0 = the last one */
};

/* The file through a window. */
struct reading {
	uint64_t at, window_at, window_bytes, left; /* left: of the budget */
	unsigned char window[WINDOW_BYTES];
};

struct dwell_jitdump {
	int fd;
	bool opened; /* the header has been read */
	bool swapped;
	uint64_t at; /* where the next record begins */
	DWELL_ARRAY(struct range) ranges;
	uint32_t placed; /* of the ranges; the others were read and are not in order yet */
	uint32_t told;	 /* of the ranges, as far as they are changes */
	DWELL_ARRAY(struct place) places;
	struct dwell_idmap pages; /* page -> index + 1 of its first place */
	DWELL_ARRAY(char) names;
	uint64_t asked_ns, late;
};

bool dwell_jitdump_named(const char *path)
{
	const char *name = strrchr(path, '/');
	size_t digits;

	name = name ? name + 1 : path;
	if (strncmp(name, "jit-", 4) != 0)
		return false;
	digits = strspn(name + 4, "0123456789");
	return digits && strcmp(name + 4 + digits, ".dump") == 0;
}

int dwell_jitdump_owner(int fd, uid_t user)
{
	struct stat st;

	if (fstat(fd, &st))
		return -ENOENT;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	return !st.st_uid || st.st_uid == geteuid() || st.st_uid == user ? 0 : -EPERM;
}

int dwell_jitdump_new(int fd, struct dwell_jitdump **ret_dump)
{
	struct dwell_jitdump *dump = calloc(1, sizeof(*dump));

	if (!dump) {
		close(fd);
		return -ENOMEM;
	}
	dump->fd = fd;
	*ret_dump = dump;
	return 0;
}

void dwell_jitdump_free(struct dwell_jitdump *dump)
{
	if (!dump)
		return;
	close(dump->fd);
	dwell_array_release(&dump->ranges);
	dwell_array_release(&dump->places);
	dwell_array_release(&dump->names);
	dwell_idmap_release(&dump->pages);
	free(dump);
}

/* The `bytes` bytes at reading->at, all of them in the window: NULL when the file or the budget
 * ends before. */
static const void *bytes_at(const struct dwell_jitdump *dump, struct reading *reading,
			    uint64_t bytes)
{
	uint64_t into = reading->at - reading->window_at, room = sizeof(reading->window);
	ssize_t n;

	if (reading->at >= reading->window_at && into <= reading->window_bytes &&
	    bytes <= reading->window_bytes - into)
		return reading->window + into;
	if (room > reading->left)
		room = reading->left;
	if (!room || reading->at > INT64_MAX)
		return NULL;
	n = pread(dump->fd, reading->window, room, (off_t)reading->at);
	reading->window_at = reading->at;
	reading->window_bytes = n > 0 ? (uint64_t)n : 0;
	reading->left -= reading->window_bytes;
	return bytes <= reading->window_bytes ? reading->window : NULL;
}

/* Takes a structure of 32-bit words, the first so many of them single ones and the others halves
 * of 64-bit numbers, into this machine's byte order. */
static bool words_take(const struct dwell_jitdump *dump, struct reading *reading, void *to,
		       size_t bytes, unsigned singles)
{
	const void *from = bytes_at(dump, reading, bytes);
	uint32_t *words = to;

	if (!from)
		return false;
	memcpy(to, from, bytes);
	for (size_t i = 0; dump->swapped && i < bytes / sizeof(*words); i++)
		words[i] = __builtin_bswap32(words[i]);
	for (size_t i = singles; dump->swapped && i + 1 < bytes / sizeof(*words); i += 2) {
		uint32_t half = words[i];

		words[i] = words[i + 1];
		words[i + 1] = half;
	}
	return true;
}

/* The first place of the list of an address's page; 0 = none. */
static uint32_t places_at(const struct dwell_jitdump *dump, uint64_t address)
{
	return dwell_idmap_find(&dump->pages, address >> PAGE_SHIFT);
}

static const struct range *range_at(const struct dwell_jitdump *dump, uint32_t place)
{
	return &dump->ranges.data[dump->places.data[place - 1].range];
}

static int range_add(struct dwell_jitdump *dump, uint64_t start, uint64_t bytes, uint64_t from_ns,
		     uint32_t name)
{
	if (!bytes || bytes > CODE_BYTES_MAX || start + bytes < start ||
	    dump->ranges.count == RANGES_MAX)
		return 0;
	if (dwell_array_grow(&dump->ranges))
		return -ENOMEM;
	dump->ranges.data[dump->ranges.count] =
		(struct range){ start, start + bytes, from_ns, name, 0, dump->ranges.count };
	dump->ranges.count++;
	return 0;
}

/* Takes at most room bytes of a name: 0 and its offset, 1 when there is none, or -ENOMEM. */
static int name_take(struct dwell_jitdump *dump, struct reading *reading, uint64_t room,
		     uint32_t *ret_name)
{
	const char *name;
	size_t bytes;

	if (room > NAME_BYTES_MAX)
		room = NAME_BYTES_MAX;
	name = bytes_at(dump, reading, room);
	bytes = name ? strnlen(name, room) : 0;
	if (!bytes || dump->names.count + bytes + 1 > NAMES_BYTES_MAX)
		return 1;
	if (dwell_array_reserve(&dump->names, dump->names.count + bytes + 1))
		return -ENOMEM;
	*ret_name = dump->names.count;
	memcpy(dump->names.data + dump->names.count, name, bytes);
	dump->names.data[dump->names.count + bytes] = '\0';
	dump->names.count += (uint32_t)bytes + 1;
	return 0;
}

static int load_take(struct dwell_jitdump *dump, struct reading *reading, uint64_t from_ns,
		     uint64_t bytes)
{
	struct load load;
	uint32_t name;
	int rc;

	if (bytes <= sizeof(load) || !words_take(dump, reading, &load, sizeof(load), 2))
		return 0;
	reading->at += sizeof(load);
	rc = name_take(dump, reading, bytes - sizeof(load), &name);
	return rc ? (rc < 0 ? rc : 0) : range_add(dump, load.address, load.bytes, from_ns, name);
}

/* Code that was read is known by where it started: the latest. */
static bool name_of_start(const struct dwell_jitdump *dump, uint64_t start, uint32_t *ret_name)
{
	uint32_t steps = 0;

	for (uint32_t i = dump->ranges.count; i > dump->placed && steps++ < STEPS_MAX; i--) {
		if (dump->ranges.data[i - 1].start != start)
			continue;
		*ret_name = dump->ranges.data[i - 1].name;
		return true;
	}
	for (uint32_t place = places_at(dump, start); place && steps++ < STEPS_MAX;
	     place = dump->places.data[place - 1].next) {
		if (range_at(dump, place)->start != start)
			continue;
		*ret_name = range_at(dump, place)->name;
		return true;
	}
	return false;
}

static int header_take(struct dwell_jitdump *dump, struct reading *reading)
{
	struct file_header header;

	if (!words_take(dump, reading, &header, sizeof(header), 6))
		return reading->window_bytes >= sizeof(header.magic) &&
				       memcmp(reading->window, &(uint32_t){ MAGIC }, 4) &&
				       memcmp(reading->window, &(uint32_t){ MAGIC_SWAPPED }, 4)
			       ? -EINVAL
			       : 0;
	dump->swapped = header.magic == MAGIC_SWAPPED;
	if (dump->swapped)
		words_take(dump, reading, &header, sizeof(header), 6);
	if (header.magic != MAGIC || header.bytes < sizeof(header))
		return -EINVAL;
	dump->at = header.bytes;
	dump->opened = true;
	return header.flags & ARCH_TIMESTAMP ? -EOPNOTSUPP : 0;
}

/* Puts a range into the list of each of its pages. */
static int range_place(struct dwell_jitdump *dump, uint32_t index)
{
	const struct range *range = &dump->ranges.data[index];

	for (uint64_t page = range->start >> PAGE_SHIFT; page <= (range->end - 1) >> PAGE_SHIFT;
	     page++) {
		if (dump->places.count == PLACES_MAX)
			return 0;
		if (dwell_array_grow(&dump->places))
			return -ENOMEM;
		dump->places.data[dump->places.count++] =
			(struct place){ index, dwell_idmap_find(&dump->pages, page) };
		if (dwell_idmap_set(&dump->pages, page, dump->places.count))
			return -ENOMEM;
	}
	return 0;
}

/* Is it what stood there before, told again? Else it gets the epoch behind those it lies over. */
static bool range_again(const struct dwell_jitdump *dump, struct range *range)
{
	uint32_t steps = 0;

	for (uint64_t page = range->start >> PAGE_SHIFT; page <= (range->end - 1) >> PAGE_SHIFT;
	     page++)
		for (uint32_t place = places_at(dump, page << PAGE_SHIFT);
		     place && steps++ < STEPS_MAX; place = dump->places.data[place - 1].next) {
			const struct range *other = range_at(dump, place);

			if (other->start >= range->end || other->end <= range->start)
				continue;
			if (other->start == range->start && other->end == range->end &&
			    other->epoch + 1 >= range->epoch &&
			    !strcmp(dump->names.data + other->name, dump->names.data + range->name))
				return true;
			if (range->epoch <= other->epoch)
				range->epoch = other->epoch + (other->epoch < DWELL_JIT_EPOCHS);
		}
	return false;
}

static int time_compare(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	if (a->from_ns != b->from_ns)
		return a->from_ns < b->from_ns ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* Threads write their records a little out of order: what was read at once is sorted. */
static int ranges_place(struct dwell_jitdump *dump)
{
	struct range *all = dump->ranges.data;
	uint32_t count = dump->ranges.count, kept = dump->placed;
	int rc = 0;

	if (count > kept)
		qsort(all + kept, count - kept, sizeof(*all), time_compare);
	for (uint32_t i = kept; !rc && i < count; i++) {
		if (range_again(dump, &all[i]))
			continue;
		dump->late += all[i].epoch && all[i].from_ns < dump->asked_ns;
		all[kept] = all[i];
		rc = range_place(dump, kept++);
	}
	dump->ranges.count = dump->placed = kept;
	return rc;
}

static int move_take(struct dwell_jitdump *dump, struct reading *reading, uint64_t from_ns,
		     uint64_t bytes)
{
	struct move move;
	uint32_t name;

	if (bytes < sizeof(move) || !words_take(dump, reading, &move, sizeof(move), 2) ||
	    !name_of_start(dump, move.from, &name))
		return 0;
	return range_add(dump, move.address, move.bytes, from_ns, name);
}

/* Records as far as they are whole. One that claims less than its own header ends the file. */
static int records_take(struct dwell_jitdump *dump, struct reading *reading, uint64_t file_bytes)
{
	struct record_header header;
	int rc = 0;

	for (reading->at = dump->at;
	     !rc && words_take(dump, reading, &header, sizeof(header), 2) &&
	     header.bytes >= sizeof(header) && header.bytes <= file_bytes - dump->at;
	     reading->at = dump->at) {
		reading->at += sizeof(header);
		if (header.id == CODE_LOAD)
			rc = load_take(dump, reading, header.time_ns,
				       header.bytes - sizeof(header));
		else if (header.id == CODE_MOVE)
			rc = move_take(dump, reading, header.time_ns,
				       header.bytes - sizeof(header));
		dump->at += header.bytes;
	}
	return rc ? rc : ranges_place(dump);
}

int dwell_jitdump_more(struct dwell_jitdump *dump, uint64_t *budget_bytes)
{
	struct reading *reading;
	struct stat st;
	int rc = 0;

	if (fstat(dump->fd, &st) || (uint64_t)st.st_size <= dump->at || !*budget_bytes)
		return 0;
	reading = malloc(sizeof(*reading));
	if (!reading)
		return -ENOMEM;
	reading->at = reading->window_at = reading->window_bytes = 0;
	reading->left = *budget_bytes;
	if (!dump->opened)
		rc = header_take(dump, reading);
	if (!rc && dump->opened && dump->at <= (uint64_t)st.st_size)
		rc = records_take(dump, reading, (uint64_t)st.st_size);
	*budget_bytes = reading->left;
	free(reading);
	return rc;
}

bool dwell_jitdump_change(struct dwell_jitdump *dump, uint64_t until_ns,
			  struct dwell_jit_change *ret_change)
{
	if (until_ns > dump->asked_ns)
		dump->asked_ns = until_ns;
	for (; dump->told < dump->placed; dump->told++) {
		const struct range *range = &dump->ranges.data[dump->told];

		if (range->from_ns > until_ns)
			return false;
		if (!range->epoch)
			continue;
		*ret_change = (struct dwell_jit_change){ range->from_ns, range->start, range->end,
							 range->epoch };
		dump->told++;
		return true;
	}
	return false;
}

uint64_t dwell_jitdump_late(const struct dwell_jitdump *dump)
{
	return dump->late;
}

const char *dwell_jitdump_find(const struct dwell_jitdump *dump, uint32_t epoch, uint64_t address)
{
	uint32_t steps = 0;

	for (uint32_t place = places_at(dump, address); place && steps++ < STEPS_MAX;
	     place = dump->places.data[place - 1].next) {
		const struct range *range = range_at(dump, place);

		if (range->epoch == epoch && address >= range->start && address < range->end)
			return dump->names.data + range->name;
	}
	return NULL;
}
