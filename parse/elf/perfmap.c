// SPDX-License-Identifier: MIT
/* Lines of perf-PID.map become disjoint ranges sorted by address: a sweep over all starts keeps, of
 * the lines that hold a place, the latest. */
#include "parse/elf/perfmap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/io.h"
#include "parse/elf/textcopy.h"

enum { TEXT_BYTES_MAX = 128 << 20, LINES_MAX = 4 << 20 };

struct range {
	uint64_t start, end;
	uint32_t name; /* offset in text: later lines have higher ones */
};

struct dwell_perfmap {
	char *text;
	DWELL_ARRAY(struct range) ranges;
};

/* The ranges that hold the sweep's place, as a heap with the latest line on top. */
struct heap {
	struct range **data;
	uint32_t count;
};

static void heap_push(struct heap *heap, struct range *range)
{
	uint32_t i = heap->count++;

	while (i && heap->data[(i - 1) / 2]->name < range->name) {
		heap->data[i] = heap->data[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	heap->data[i] = range;
}

static void heap_pop(struct heap *heap)
{
	struct range *moved = heap->data[--heap->count];
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < heap->count) {
		if (child + 1 < heap->count &&
		    heap->data[child + 1]->name > heap->data[child]->name)
			child++;
		if (heap->data[child]->name < moved->name)
			break;
		heap->data[i] = heap->data[child];
		i = child;
	}
	heap->data[i] = moved;
}

/* Adds a range behind the others, or makes the last one longer. */
static int range_add(struct dwell_perfmap *map, struct range range)
{
	struct range *last = map->ranges.count ? &map->ranges.data[map->ranges.count - 1] : NULL;

	if (last && last->end == range.start && last->name == range.name) {
		last->end = range.end;
		return 0;
	}
	if (dwell_array_grow(&map->ranges))
		return -ENOMEM;
	map->ranges.data[map->ranges.count++] = range;
	return 0;
}

/* Makes the sorted lines disjoint. */
static int lines_sweep(struct dwell_perfmap *map, struct range *lines, uint32_t count)
{
	struct heap heap = { malloc((count + 1) * sizeof(*heap.data)), 0 };
	uint32_t next = 0;
	uint64_t at = 0;
	int rc = heap.data ? 0 : -ENOMEM;

	while (!rc) {
		struct range piece;

		while (heap.count && heap.data[0]->end <= at)
			heap_pop(&heap);
		if (!heap.count && next == count)
			break;
		if (!heap.count)
			at = lines[next].start;
		while (next < count && lines[next].start <= at)
			heap_push(&heap, &lines[next++]);
		piece = *heap.data[0];
		piece.start = at;
		if (next < count && lines[next].start < piece.end)
			piece.end = lines[next].start;
		rc = range_add(map, piece);
		at = piece.end;
	}
	free(heap.data);
	return rc;
}

/* A hexadecimal number and the space behind it; *at is moved behind both. */
static bool hex_take(char **at, uint64_t *ret_value)
{
	enum { DIGITS_MAX = 16 };
	uint64_t value = 0;
	char *digit = *at;
	unsigned digits = 0;

	if (digit[0] == '0' && (digit[1] | 0x20) == 'x')
		digit += 2;
	while (*digit == '0') {
		digit++;
		digits = 1;
	}
	for (unsigned n = 0; *digit != ' '; n++, digits++) {
		unsigned char c = (unsigned char)*digit++, letter = c | 0x20;

		if (n == DIGITS_MAX)
			return false;
		if (c >= '0' && c <= '9')
			value = value << 4 | (unsigned)(c - '0');
		else if (letter >= 'a' && letter <= 'f')
			value = value << 4 | (unsigned)(letter - 'a' + 10);
		else
			return false;
	}
	*at = digit + 1;
	*ret_value = value;
	return digits > 0;
}

static bool line_parse(const char *text, char *line, struct range *ret_range)
{
	uint64_t start, bytes;

	line[strcspn(line, "\r")] = '\0';
	if (!hex_take(&line, &start) || !hex_take(&line, &bytes))
		return false;
	line += strspn(line, " ");
	if (!*line || !bytes || start + bytes < start)
		return false;
	*ret_range = (struct range){ start, start + bytes, (uint32_t)(line - text) };
	return true;
}

static int range_compare(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

static int lines_parse(struct dwell_perfmap *map, size_t bytes)
{
	DWELL_ARRAY(struct range) lines = { 0 };
	char *end = map->text + bytes, *next;
	int rc = 0;

	for (char *line = map->text; !rc && line < end && lines.count < LINES_MAX; line = next) {
		next = memchr(line, '\n', (size_t)(end - line));
		if (next)
			*next++ = '\0';
		else
			next = end;
		rc = dwell_array_grow(&lines);
		if (!rc)
			lines.count += line_parse(map->text, line, &lines.data[lines.count]);
	}
	if (!rc && lines.count) {
		qsort(lines.data, lines.count, sizeof(*lines.data), range_compare);
		rc = lines_sweep(map, lines.data, lines.count);
	}
	dwell_array_release(&lines);
	return rc;
}

/* Takes text over, which has a NUL behind its bytes. */
static int text_parse(char *text, size_t bytes, struct dwell_perfmap **ret_map)
{
	struct dwell_perfmap *map = calloc(1, sizeof(*map));
	int rc;

	if (!map) {
		free(text);
		return -ENOMEM;
	}
	map->text = text;
	rc = lines_parse(map, bytes);
	if (rc) {
		dwell_perfmap_free(map);
		return rc;
	}
	*ret_map = map;
	return 0;
}

int dwell_perfmap_parse(const char *text, size_t bytes, struct dwell_perfmap **ret_map)
{
	char *copy;
	int rc = text_copy(text, bytes, TEXT_BYTES_MAX, &copy);

	return rc ? rc : text_parse(copy, bytes, ret_map);
}

void dwell_perfmap_free(struct dwell_perfmap *map)
{
	if (!map)
		return;
	dwell_array_release(&map->ranges);
	free(map->text);
	free(map);
}

const char *dwell_perfmap_find(const struct dwell_perfmap *map, uint64_t address)
{
	uint32_t low = 0, high = map->ranges.count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (map->ranges.data[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || address >= map->ranges.data[low - 1].end)
		return NULL;
	return map->text + map->ranges.data[low - 1].name;
}

/* A file's text, with a NUL behind it. */
struct text {
	char *bytes;
	size_t count;
};

/* Whose file is believed, and of when. */
struct believed {
	uid_t user;
	uint64_t since_ns;
	uint64_t bytes_max;
};

/* Reads an open map file that belongs to root, the caller, or the user. */
static int file_read(int fd, const struct believed *believed, struct text *ret_text)
{
	struct stat st;
	ssize_t bytes;
	char *text;

	if (fstat(fd, &st))
		return -ENOENT;
	if (st.st_uid != 0 && st.st_uid != geteuid() && st.st_uid != believed->user)
		return -EPERM;
	if ((uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec <
	    believed->since_ns)
		return -ESTALE;
	if (st.st_size > TEXT_BYTES_MAX || (uint64_t)st.st_size > believed->bytes_max)
		return -EFBIG;
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return -ENOMEM;
	bytes = pread(fd, text, (size_t)st.st_size, 0);
	if (bytes < 0) {
		free(text);
		return -errno;
	}
	text[bytes] = '\0';
	*ret_text = (struct text){ text, (size_t)bytes };
	return 0;
}

/* The same of a descriptor that is taken over, or of an errno: whatever is no such file is not
 * there. */
static int opened_read(int fd, const struct believed *believed, struct text *ret_text)
{
	int rc;

	if (fd < 0)
		return fd == -ENOMEM ? -ENOMEM : -ENOENT;
	rc = file_read(fd, believed, ret_text);
	close(fd);
	return rc;
}

/* The pid that a living process has in its innermost pid namespace; pid itself if not told. */
static int32_t process_ns_pid(int32_t pid)
{
	char path[64], text[4096], *line, *last;
	int ns_pid = pid;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (dwell_io_read_small(path, text, sizeof(text)) <= 0)
		return pid;
	line = strstr(text, "\nNSpid:");
	if (!line)
		return pid;
	line++;
	line[strcspn(line, "\n")] = '\0';
	last = strrchr(line, '\t');
	if (last && atoi(last + 1) > 0)
		ns_pid = atoi(last + 1);
	return ns_pid;
}

/* When a living process started, on CLOCK_REALTIME and rounded down; 0 if not told. */
static uint64_t process_start_ns(int32_t pid)
{
	const uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
	unsigned long long ticks;
	struct timespec now, up;
	char path[64], text[4096], *at;
	int64_t boot_ns;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (dwell_io_read_small(path, text, sizeof(text)) <= 0 || !(at = strrchr(text, ')')))
		return 0;
	/* state ppid pgrp session tty tpgid flags minflt cminflt majflt cmajflt utime stime cutime
	 * cstime priority nice threads itrealvalue starttime */
	if (sscanf(at + 1,
		   " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d "
		   "%llu",
		   &ticks) != 1)
		return 0;
	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &up);
	boot_ns = (int64_t)(now.tv_sec - up.tv_sec) * 1000000000 + (now.tv_nsec - up.tv_nsec);
	/* Files are stamped by the tick; a time namespace may shift the boot. */
	boot_ns += (int64_t)(ticks * tick_ns) - 1000000000;
	return boot_ns > 0 ? (uint64_t)boot_ns : 0;
}

static void place_path(const struct dwell_perfmap_place *place, char path[64])
{
	snprintf(path, 64, "/tmp/perf-%d.map", place->ns_pid);
}

void dwell_perfmap_place_find(int32_t pid, uint64_t since_ns, struct dwell_perfmap_place *ret_place)
{
	struct dwell_perfmap_place place = { .pid = pid,
					     .ns_pid = pid,
					     .root = -1,
					     .file = -1,
					     .user = geteuid(),
					     .since_ns = since_ns };
	struct stat process;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	place.root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (place.root >= 0 && !stat(path, &process)) {
		place.alive = true;
		place.user = process.st_uid;
		place.ns_pid = process_ns_pid(pid);
		place.since_ns = process_start_ns(pid);
		place_path(&place, path);
		place.file = dwell_io_open_below(place.root, path, O_NOFOLLOW);
	}
	*ret_place = place;
}

void dwell_perfmap_place_release(struct dwell_perfmap_place *place)
{
	if (place->root >= 0)
		close(place->root);
	if (place->file >= 0)
		close(place->file);
	place->root = place->file = -1;
}

/* The text of a process's file: the one that stands there now, else the one that did. */
static int place_read(const struct dwell_perfmap_place *place, uint64_t bytes_max,
		      struct text *ret_text)
{
	const struct believed believed = { place->user, place->since_ns, bytes_max };
	char path[64];
	int rc = -ENOENT;

	place_path(place, path);
	if (place->alive)
		rc = opened_read(dwell_io_open_below(place->root, path, O_NOFOLLOW), &believed,
				 ret_text);
	if (rc == -ENOENT && place->file >= 0)
		rc = file_read(place->file, &believed, ret_text);
	if (rc != -ENOENT)
		return rc;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", place->pid);
	return opened_read(dwell_io_open_regular(path, O_NOFOLLOW), &believed, ret_text);
}

int dwell_perfmap_read_in(const char *directory, int32_t pid, struct dwell_perfmap **ret_map)
{
	const struct believed believed = { geteuid(), 0, UINT64_MAX };
	struct text text;
	char path[4096];
	int rc;

	if (snprintf(path, sizeof(path), "%s/perf-%d.map", directory, pid) >= (int)sizeof(path))
		return -ENOENT;
	rc = opened_read(dwell_io_open_regular(path, O_NOFOLLOW), &believed, &text);
	return rc ? rc : text_parse(text.bytes, text.count, ret_map);
}

int dwell_perfmap_read(int32_t pid, const char *symfs, struct dwell_perfmap **ret_map)
{
	struct dwell_perfmap_place place;
	struct text text;
	char path[4096];
	int rc;

	if (symfs)
		return snprintf(path, sizeof(path), "%s/tmp", symfs) >= (int)sizeof(path)
			       ? -ENOENT
			       : dwell_perfmap_read_in(path, pid, ret_map);
	dwell_perfmap_place_find(pid, 0, &place);
	rc = place_read(&place, UINT64_MAX, &text);
	dwell_perfmap_place_release(&place);
	return rc ? rc : text_parse(text.bytes, text.count, ret_map);
}

/* The first address from i on that has no name yet; ways are made shorter as they are gone. */
static uint32_t unnamed_from(uint32_t *next, uint32_t i)
{
	while (next[i] != i) {
		next[i] = next[next[i]];
		i = next[i];
	}
	return i;
}

static uint32_t first_at_least(const uint64_t *addresses, uint32_t count, uint64_t start)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (addresses[mid] < start)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Lines from the last one to the first: later ones win, so the first name found stays. next[] has
 * count + 1 entries, each its own index. */
static int names_find(char *text, size_t bytes, const uint64_t *addresses, uint32_t count,
		      uint32_t *next, int (*named)(void *user, uint32_t index, const char *name),
		      void *user)
{
	char *end = text + bytes, *line;
	int rc = 0;

	for (; !rc && end > text && unnamed_from(next, 0) < count; end = line - 1) {
		struct range range;
		uint32_t i;

		*end = '\0';
		line = memrchr(text, '\n', (size_t)(end - text));
		line = line ? line + 1 : text;
		if (!line_parse(text, line, &range))
			continue;
		i = unnamed_from(next, first_at_least(addresses, count, range.start));
		for (; !rc && i < count && addresses[i] < range.end; i = unnamed_from(next, i)) {
			next[i] = i + 1;
			rc = named(user, i, text + range.name);
		}
	}
	return rc;
}

int dwell_perfmap_name_text(char *text, size_t bytes, const uint64_t *addresses, uint32_t count,
			    int (*named)(void *user, uint32_t index, const char *name), void *user)
{
	uint32_t *next = malloc(((size_t)count + 1) * sizeof(*next));
	int rc;

	if (!next)
		return -ENOMEM;
	for (uint32_t i = 0; i <= count; i++)
		next[i] = i;
	rc = names_find(text, bytes, addresses, count, next, named, user);
	free(next);
	return rc;
}

int dwell_perfmap_name(const struct dwell_perfmap_place *place, const uint64_t *addresses,
		       uint32_t count, uint64_t *budget_bytes,
		       int (*named)(void *user, uint32_t index, const char *name), void *user)
{
	struct text text;
	int rc = place_read(place, *budget_bytes, &text);

	if (rc)
		return rc;
	*budget_bytes -= text.count < *budget_bytes ? text.count : *budget_bytes;
	rc = dwell_perfmap_name_text(text.bytes, text.count, addresses, count, named, user);
	free(text.bytes);
	return rc;
}
