/* SPDX-License-Identifier: MIT */
/* Switches, CPU by CPU, become evidence of whether all threads were recorded: recorded of all, the
 * next of a switch is the prev of the CPU's following one; of some, others come between. The idle
 * task says nothing, since some machines hide its switches. */
#ifndef DWELL_PARSE_SWITCH_CHAIN_H
#define DWELL_PARSE_SWITCH_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/idmap.h"

/* Zero-initialise. Owns next. */
struct switch_chain {
	struct dwell_idmap next; /* CPU -> tid + 1 that runs there */
	uint64_t whole, broken;	 /* links */
};

/* The CPU's next switch. 0 or -ENOMEM. */
int switch_chain_add(struct switch_chain *chain, uint32_t cpu, uint32_t prev_tid,
		     uint32_t next_tid);

/* Enough links hold, and no more are broken than losses may break. */
bool switch_chain_whole(const struct switch_chain *chain);

/* Of so many switches nothing can be said: there are few, and no link is broken. */
bool switch_chain_few(const struct switch_chain *chain, uint64_t switches);

/* So many links are broken that losses do not explain it, even if all threads were recorded: the
 * switches were sampled. */
bool switch_chain_sampled(const struct switch_chain *chain);

void switch_chain_release(struct switch_chain *chain);

#endif
