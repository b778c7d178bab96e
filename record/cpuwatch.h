/* SPDX-License-Identifier: MIT */
/* CPUs that are taken offline while a recording goes on. */
#ifndef DWELL_RECORD_CPUWATCH_H
#define DWELL_RECORD_CPUWATCH_H

#include "record/recording.h"

/* Looks whether the events of a CPU still run, since_ns being the look before, at now_ns. If they
 * do not, writes what that means for the time between. After a pass, with tracepoints only.
 * *ret_went: they did at the look before. 0 or -errno. */
int cpu_watch(struct recording *rec, uint32_t cpu, uint64_t since_ns, uint64_t now_ns,
	      bool *ret_went);

#endif
