// SPDX-License-Identifier: MIT
/* The kernel's answers to a few attempts become what a recording may use here, and why not more. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "record/events_impl.h"
#include "record/tracefs.h"

/* Can a tracepoint be opened with its raw bytes, on a CPU, with the kernel part of the stack? */
static int facts_try_tracepoint(uint64_t id)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_TRACEPOINT,
		.config = id,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_RAW | PERF_SAMPLE_CALLCHAIN,
		.disabled = 1,
	};
	int fd = event_open(&attr, -1, 0);

	if (fd == -ENODEV) /* CPU 0 is off */
		return 0;
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static bool facts_try_kernel(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.disabled = 1,
	};
	int fd = event_open(&attr, 0, -1);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int record_facts_read(struct record_facts *facts, struct dwell_err *err)
{
	struct dwell_err why = { 0 };
	int tracefs = -1, rc;

	*facts = (struct record_facts){ .kernel_chains = facts_try_kernel() };
	rc = tracefs_open(&tracefs, &why);
	if (!rc)
		rc = tracefs_format(tracefs, "sched/sched_switch", &facts->switch_format, &why);
	if (!rc)
		rc = tracefs_format(tracefs, "sched/sched_waking", &facts->waking_format, &why);
	if (!rc)
		rc = tracefs_format(tracefs, "sched/sched_wakeup_new", &facts->wakeup_new_format,
				    &why);
	if (tracefs >= 0)
		close(tracefs);
	if (!rc)
		rc = dwell_sched_switch_parse(facts->switch_format, &facts->sched_switch, &why);
	if (!rc)
		rc = dwell_sched_waking_parse(facts->waking_format, "sched_waking", &facts->waking,
					      &why);
	if (!rc)
		rc = dwell_sched_waking_parse(facts->wakeup_new_format, "sched_wakeup_new",
					      &facts->wakeup_new, &why);
	if (!rc) {
		rc = facts_try_tracepoint(facts->sched_switch.id);
		if (rc)
			event_open_failed(&why, rc, -1, "tracepoint sched:sched_switch");
	}
	facts->tracepoints = rc == 0;
	snprintf(facts->why_not, sizeof(facts->why_not), "%s", why.msg);
	return rc == -ENOMEM ? dwell_err_sys(err, rc, "cannot start") : 0;
}

void record_facts_release(struct record_facts *facts)
{
	free(facts->switch_format);
	free(facts->waking_format);
	free(facts->wakeup_new_format);
	*facts = (struct record_facts){ 0 };
}
