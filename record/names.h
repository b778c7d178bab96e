/* SPDX-License-Identifier: MIT */
/* At a recording's end, frames in files get the names that this machine has for them, for whoever
 * reads the trace where these files are not. */
#ifndef DWELL_RECORD_NAMES_H
#define DWELL_RECORD_NAMES_H

#include "record/recording.h"

/* Looks up all frames in files, with what is inlined there and the lines, and puts what is found
 * into the trace. After two seconds the rest goes without, which a fact tells. 0 or -ENOMEM. */
int names_store(struct recording *rec);

#endif
