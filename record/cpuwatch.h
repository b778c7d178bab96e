/* SPDX-License-Identifier: MIT */
/* CPUs that are taken offline, or come, while a recording goes on. */
#ifndef DWELL_RECORD_CPUWATCH_H
#define DWELL_RECORD_CPUWATCH_H

#include "record/recording.h"

enum { CPU_WENT = 1, CPU_CAME = 2, CPU_UNSEEN = 4 };

/* Looks whether the events of a CPU still run, since_ns being the look before, and whether it can
 * be recorded from now on if they do not: events_look_up() goes before. What it did without events
 * becomes a gap. After a pass. *ret_news: CPU_WENT, CPU_CAME or both; CPU_UNSEEN: came, but events
 * of tasks are opened for the CPUs of the start. 0 or -errno. */
int cpu_watch(struct recording *rec, uint32_t cpu, uint64_t since_ns, uint64_t now_ns,
	      unsigned *ret_news);

#endif
