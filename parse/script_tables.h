/* SPDX-License-Identifier: MIT */
/* Ids that a parser gave become ids of the source's tables: a frame line a frame of a file told by
 * its dso, a stack a node, a name a string. Each is looked at once per parser. */
#ifndef DWELL_PARSE_SCRIPT_TABLES_H
#define DWELL_PARSE_SCRIPT_TABLES_H

#include "lib/idmap.h"
#include "parse/script_chunk.h"
#include "parse/source_impl.h"

/* A name is one string, as an event also one entry of the event table. */
struct script_name {
	uint32_t string;
	uint32_t event; /* entry + 1, 0 = not looked for */
};

/* One line can be several frames, caller first: "a->b", where a run-time compiler inlined b. */
struct script_path {
	uint32_t first, count; /* in path_frames */
};

/* Of one parser: index = id - 1. Zero-initialised it is empty. */
struct script_map {
	DWELL_ARRAY(struct script_name) names;
	DWELL_ARRAY(struct script_path) paths;
	DWELL_ARRAY(uint32_t) path_frames; /* frame ids */
	DWELL_ARRAY(uint32_t) stacks;	   /* stack node ids */
};

void script_map_release(struct script_map *map);

/* Takes in what is new in a chunk of the map's parser. 0 or -ENOMEM. */
int script_map_add(struct script_map *map, struct dwell_source *source,
		   const struct script_chunk *chunk);

/* The string of a local name id; 0 for none. */
uint32_t script_map_string(const struct script_map *map, uint32_t id);

/* The entry of the event that a record is a sample of, added when new: what its first line shows
 * tells how it is weighed. entries: name (string id) -> entry + 1, of all maps. 0 or -ENOMEM. */
int script_map_event(struct script_map *map, struct dwell_source *source,
		     struct dwell_idmap *entries, const struct script_record *record,
		     uint32_t *ret_entry);

#endif
