// SPDX-License-Identifier: MIT
/* Available memory and what of it this user may lock become a size that every CPU's ring can have:
 * whoever takes all for the first CPU has none for the others. */
#include "record/ringsize.h"

#include <linux/capability.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/procfs.h"

static bool may_lock_memory(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return proc_number("/proc/sys/kernel/perf_event_paranoid", 2) < 0 ||
	       (syscall(SYS_capget, &head, data) == 0 &&
		data[0].effective & CAP_TO_MASK(CAP_IPC_LOCK));
}

/* perf_mmap() lets a user lock a share for each CPU, and beyond that up to RLIMIT_MEMLOCK. */
static uint64_t ring_bytes_lockable(uint32_t cpus, uint64_t side_bytes, uint64_t page_bytes)
{
	uint64_t taken = page_bytes + (side_bytes ? side_bytes + page_bytes : 0), bytes;
	struct rlimit limit;

	if (may_lock_memory() || getrlimit(RLIMIT_MEMLOCK, &limit) ||
	    limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	bytes = ((uint64_t)proc_number("/proc/sys/kernel/perf_event_mlock_kb", 516) << 10) +
		limit.rlim_cur / cpus;
	return bytes > taken ? bytes - taken : 0;
}

static uint64_t memory_share(uint32_t cpus, uint64_t page_bytes)
{
	return (uint64_t)sysconf(_SC_AVPHYS_PAGES) * page_bytes / RING_MEMORY_PART / cpus;
}

uint64_t ring_side_bytes_choose(uint32_t cpus)
{
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE), bytes = SIDE_RING_MIN_BYTES;
	uint64_t share = memory_share(cpus, page_bytes) / 4; /* the rest is the main ring's */

	if (ring_bytes_lockable(cpus, 0, page_bytes) != UINT64_MAX)
		return bytes;
	while (bytes * 2 <= share && bytes < SIDE_RING_MAX_BYTES)
		bytes *= 2;
	return bytes;
}

uint64_t ring_bytes_choose(uint64_t wanted, uint64_t max_bytes, uint32_t cpus, uint64_t side_bytes)
{
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE), bytes = page_bytes;
	uint64_t share = memory_share(cpus, page_bytes);
	uint64_t lockable = ring_bytes_lockable(cpus, side_bytes, page_bytes);

	if (!wanted) {
		wanted = share < max_bytes ? share : max_bytes;
		wanted = wanted > RING_MIN_BYTES ? wanted : RING_MIN_BYTES;
	}
	wanted = wanted < lockable ? wanted : lockable;
	while (bytes * 2 <= wanted)
		bytes *= 2;
	return bytes;
}
