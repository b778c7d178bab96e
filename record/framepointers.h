/* SPDX-License-Identifier: MIT */
/* Do programs keep frame pointers, or must their stacks be unwound by their tables? What
 * `--call-graph auto` asks before anything is opened. */
#ifndef DWELL_RECORD_FRAMEPOINTERS_H
#define DWELL_RECORD_FRAMEPOINTERS_H

#include <limits.h>
#include <stdbool.h>

#include "record/config.h"

enum { FRAMEPOINTERS_WHY_BYTES = PATH_MAX + 128 };

/* Looks into the C library and into what is to be recorded: the command's program, the programs of
 * processes and threads (the first 64). False if one of them does without frame pointers in most of
 * its code, with a sentence on which; what cannot be read has no say. */
bool framepointers_kept(const struct record_config *config, char ret_why[FRAMEPOINTERS_WHY_BYTES]);

#endif
