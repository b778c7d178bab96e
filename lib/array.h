/* SPDX-License-Identifier: MIT */
/* Growable arrays: DWELL_ARRAY(type) declares one, dwell_array_grow() makes room. Allocation
 * failure is returned, never fatal. */
#ifndef DWELL_LIB_ARRAY_H
#define DWELL_LIB_ARRAY_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

/* An array owns .data; zero-initialised it is empty. Release with dwell_array_release(). */
#define DWELL_ARRAY(type)             \
	struct {                      \
		type *data;           \
		uint32_t count, room; \
	}

/* Makes room for `need` elements in total. 0 or -ENOMEM; the array is untouched on failure. */
#define dwell_array_reserve(array, need) \
	dwell_array_grow_((void **)&(array)->data, &(array)->room, (need), sizeof(*(array)->data))

/* Makes room for one more element; then write array->data[array->count++]. 0 or -ENOMEM. */
#define dwell_array_grow(array) dwell_array_reserve(array, (uint64_t)(array)->count + 1)

#define dwell_array_release(array)                  \
	do {                                        \
		free((array)->data);                \
		(array)->data = NULL;               \
		(array)->count = (array)->room = 0; \
	} while (0)

static inline int dwell_array_grow_(void **data, uint32_t *room, uint64_t need, size_t size)
{
	uint64_t want = *room ? *room : size < 64 ? 64 / size : 1; /* a cache line */
	void *grown;

	if (need <= *room)
		return 0;
	while (want < need)
		want += want / 2 + 1;
	if (want > UINT32_MAX)
		return -ENOMEM;
	grown = realloc(*data, want * size);
	if (!grown)
		return -ENOMEM;
	*data = grown;
	*room = (uint32_t)want;
	return 0;
}

#endif
