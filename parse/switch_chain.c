// SPDX-License-Identifier: MIT
/* The next of a switch is kept until the CPU's following one tells whether it was the prev. */
#include "parse/switch_chain.h"

enum {
	WHOLE_MIN = 16,	   /* links that show it */
	BROKEN_SHARE = 20, /* one break in so many is what losses may do */
	SAMPLED_SHARE = 4, /* one in so many is more than they do */
};

int switch_chain_add(struct switch_chain *chain, uint32_t cpu, uint32_t prev_tid, uint32_t next_tid)
{
	uint32_t running = dwell_idmap_find(&chain->next, cpu);

	if (prev_tid && running > 1) {
		chain->whole += running - 1 == prev_tid;
		chain->broken += running - 1 != prev_tid;
	}
	return dwell_idmap_set(&chain->next, cpu, next_tid + 1);
}

bool switch_chain_whole(const struct switch_chain *chain)
{
	return chain->whole >= WHOLE_MIN && chain->broken * BROKEN_SHARE <= chain->whole;
}

bool switch_chain_few(const struct switch_chain *chain, uint64_t switches)
{
	return switches < WHOLE_MIN && !chain->broken;
}

bool switch_chain_sampled(const struct switch_chain *chain)
{
	return chain->broken >= WHOLE_MIN && chain->broken * SAMPLED_SHARE > chain->whole;
}

void switch_chain_release(struct switch_chain *chain)
{
	dwell_idmap_release(&chain->next);
}
