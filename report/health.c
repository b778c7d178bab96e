// SPDX-License-Identifier: MIT
/* Counters of the source and the timeline become one judgement, and warnings that say what is
 * missing and what it does to the numbers. */
#include "report/health.h"

#include <stdarg.h>
#include <string.h>

#include "lib/text.h"
#include "report/text.h"

/* What a reader counts of what it could not use, and the words for it. */
static const struct {
	const char *fact, *before, *after;
} tellings[DWELL_TELLINGS] = {
	{ "stacks.not_unwound", "", " user stacks were copied and are not unwound: [not unwound]" },
	{ "stacks.truncated", "", " user stacks end where their copy did: [truncated]" },
	{ "stacks.broken", "",
	  " user stacks lead through code that nothing tells how to unwind: [not unwound]" },
	{ "mappings.left_out", "",
	  " mappings of files were more than is kept: frames in them have "
	  "no name" },
	{ "records.unknown", "records of types not known here were passed over: ", "" },
	{ "records.bad", "records that cannot be right were passed over: ", "" },
	{ "files.missing",
	  "files data.N of the directory that are missing, with all they held: ", "" },
	{ "cpus.away", "CPUs that went or came meanwhile, what ran there then is unknown: ", "" },
	{ "maps.unread", "",
	  " perf-PID.map files were too large to be read: code made at run time has no name" },
	{ "dumps.unread", "",
	  " jit-PID.dump files could not be opened, were another user's, or have times of another "
	  "clock: code made at run time may have no name" },
	{ "dumps.late", "",
	  " pieces of code were replaced by others before jit-PID.dump files told of it: samples of "
	  "them have the older names" },
	{ "aux.bytes", "", " bytes of hardware trace (AUX) are not decoded" },
};

static void read_coverage(const struct dwell_analysis *analysis, struct dwell_health *health)
{
	const struct dwell_event_desc *desc;
	const struct dwell_coverage *row;
	uint32_t blind_cpu = DWELL_CPU_NONE;

	for (uint32_t i = 0;
	     analysis->source && (row = dwell_source_coverage(analysis->source, i)) != NULL; i++) {
		if (row->blind_idle && row->cpu != blind_cpu) {
			health->blind_cpus++;
			blind_cpu = row->cpu;
		}
		/* A clock counts time, not events: what was read of it has no exact count. */
		desc = dwell_source_event_desc(analysis->source, row->event);
		if (!row->kernel_count || (desc && desc->is_clock))
			continue;
		health->kernel_count += row->kernel_count;
		health->parsed += row->parsed < row->kernel_count ? row->parsed : row->kernel_count;
	}
}

static void read_side_loss(const struct dwell_analysis *analysis, struct dwell_health *health)
{
	uint64_t from_ns = dwell_analysis_fact_u64(analysis, "side.lost_from_ns");
	uint64_t to_ns = dwell_analysis_fact_u64(analysis, "side.lost_to_ns");
	uint64_t start_ns = analysis->info.start_ns;

	health->side_lost = dwell_analysis_fact_u64(analysis, "side.lost");
	health->side_from_ns = from_ns > start_ns ? from_ns - start_ns : 0;
	health->side_ns = to_ns > from_ns ? to_ns - from_ns : 0;
}

void dwell_health_read(const struct dwell_analysis *analysis, struct dwell_health *ret)
{
	const struct dwell_timeline_stats *stats = dwell_timeline_stats(analysis->timeline);
	const struct dwell_source_info *info = &analysis->info;
	struct dwell_health health = {
		.lost = info->lost > stats->lost ? info->lost : stats->lost,
		.late = info->late + stats->late_events,
		.wakings_dropped = info->wakings_dropped,
		.unread_bytes = info->unread_bytes,
		.switches_unused = info->switches_unused,
		.unknown_lines = info->unknown_lines,
		.contradictions = stats->contradictions,
		.chain_breaks = stats->chain_breaks,
		.untold_switches = stats->untold_switches,
		.cpus = info->cpus,
		.finished = info->finished,
		.damaged = info->damaged,
		.has_switches = info->has_switches,
		.has_wakings = info->has_wakings,
		.asked_count = analysis->counting && !analysis->implied,
		.no_switches_reason = info->no_switches_reason,
		.counted = dwell_analysis_counted(analysis),
		.has_waits = analysis->choice.waits,
		.only_cpus = dwell_analysis_fact(analysis, "mode.cpus"),
		.law = analysis->law.code ? analysis->law.msg : NULL,
	};

	for (unsigned i = 0; i < DWELL_TELLINGS; i++)
		health.told[i] = dwell_analysis_fact(analysis, tellings[i].fact);
	read_coverage(analysis, &health);
	read_side_loss(analysis, &health);
	for (uint32_t i = 0; i < analysis->books.count; i++) {
		health.observed_ns += analysis->books.data[i].observed_ns;
		for (unsigned why = 0; why < DWELL_UNKNOWNS; why++)
			health.unknown_ns[why] += analysis->books.data[i].unknown_ns[why];
	}
	*ret = health;
}

double dwell_health_coverage(const struct dwell_health *health)
{
	return health->kernel_count ? (double)health->parsed / (double)health->kernel_count : 1;
}

bool dwell_health_lossy(const struct dwell_health *health)
{
	return health->lost || health->side_lost || health->late || health->wakings_dropped ||
	       health->damaged || !health->finished || health->parsed < health->kernel_count ||
	       health->law || health->untold_switches || health->unknown_ns[DWELL_UNKNOWN_LOST] ||
	       health->unknown_ns[DWELL_UNKNOWN_MISSED];
}

int dwell_health_status(const struct dwell_health *health, bool strict)
{
	if (health->damaged)
		return DWELL_EXIT_FAILED;
	return strict && dwell_health_lossy(health) ? DWELL_EXIT_LOSS : DWELL_EXIT_OK;
}

static void warn(dwell_warning_fn fn, void *user, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void warn(dwell_warning_fn fn, void *user, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	fn(user, line);
}

static const char *were(uint64_t count)
{
	return count == 1 ? " was" : "s were";
}

/* What there is instead of the time that the scheduler's events tell. */
static void warn_no_switches(const struct dwell_health *health, dwell_warning_fn fn, void *user)
{
	char name[256];

	if (health->no_switches_reason)
		warn(fn, user, "%s", health->no_switches_reason);
	if (health->counted) {
		dwell_text_clean(name, sizeof(name), health->counted, "?");
		/* A clock whose samples have no periods, as in some texts, is none. */
		warn(fn, user,
		     "no %s and no %sscheduler events: samples of '%s' are counted, not time",
		     strstr(name, "clock") ? "periods" : "clock",
		     health->no_switches_reason ? "usable " : "", name);
	} else if (health->has_waits) {
		warn(fn, user,
		     "no scheduler events were recorded: waits are those that perf measured "
		     "(--off-cpu), and runnable time is not known");
	} else if (!health->no_switches_reason) {
		warn(fn, user,
		     "no scheduler events were recorded: on-CPU time is sample periods, and "
		     "nothing is known of waits");
	}
}

static void warn_input(const struct dwell_health *health, dwell_warning_fn fn, void *user)
{
	char bytes[TEXT_NUMBER_BYTES], cpus[128];

	for (unsigned i = 0; i < DWELL_TELLINGS; i++)
		if (health->told[i])
			warn(fn, user, "%s%s%s", tellings[i].before, health->told[i],
			     tellings[i].after);
	if (health->damaged)
		warn(fn, user, "the file is damaged: %s behind the damage were not read",
		     text_bytes(bytes, health->unread_bytes));
	else if (!health->finished)
		warn(fn, user, "the file was cut off: it ends before the recording did");
	if (health->unknown_lines)
		warn(fn, user, "%s line%s not understood and left out",
		     text_count(bytes, health->unknown_lines), were(health->unknown_lines));
	if (health->switches_unused)
		warn(fn, user,
		     "%s switch%s not used: the first of them came too late in the text for waits "
		     "to be told",
		     text_count(bytes, health->switches_unused),
		     health->switches_unused == 1 ? " was" : "es were");
	if (health->only_cpus) {
		dwell_text_clean(cpus, sizeof(cpus), health->only_cpus, "?");
		warn(fn, user,
		     "only CPUs %s were recorded: what threads did elsewhere is unknown, [offline]",
		     cpus);
	}
	if (!health->asked_count && (!health->has_switches || health->no_switches_reason))
		warn_no_switches(health, fn, user);
}

/* Times stay what the scheduler's events say; whose they are may not. */
static void warn_side_loss(const struct dwell_health *health, dwell_warning_fn fn, void *user)
{
	char count[TEXT_NUMBER_BYTES], from[TEXT_NUMBER_BYTES], ns[TEXT_NUMBER_BYTES];

	warn(fn, user,
	     "%s record%s of births, names, deaths and mappings %s lost within %s, %s from the "
	     "start: threads of then may be missing, misnamed or without stacks",
	     text_count(count, health->side_lost), text_plural(health->side_lost),
	     health->side_lost == 1 ? "was" : "were", text_duration(ns, health->side_ns),
	     text_duration(from, health->side_from_ns));
}

static void warn_loss(const struct dwell_health *health, dwell_warning_fn fn, void *user)
{
	char count[TEXT_NUMBER_BYTES], of[TEXT_NUMBER_BYTES], share[TEXT_NUMBER_BYTES];

	if (health->lost && health->counted)
		warn(fn, user, "%s event%s lost", text_count(count, health->lost),
		     were(health->lost));
	else if (health->lost)
		warn(fn, user, "%s event%s lost; %s of thread time is unknown for that",
		     text_count(count, health->lost), were(health->lost),
		     text_share(share, health->unknown_ns[DWELL_UNKNOWN_LOST],
				health->observed_ns));
	if (health->side_lost)
		warn_side_loss(health, fn, user);
	/* Wakings that never came have their own line. */
	if (health->parsed + health->wakings_dropped < health->kernel_count)
		warn(fn, user, "coverage %s: the kernel counted %s events, %s were read",
		     text_share(share, health->parsed, health->kernel_count),
		     text_count(count, health->kernel_count), text_count(of, health->parsed));
	if (health->untold_switches)
		warn(fn, user,
		     "the kernel counted %s switch%s of threads that no event tells of: their "
		     "times are not exact",
		     text_count(count, health->untold_switches),
		     health->untold_switches == 1 ? "" : "es");
	if (health->late)
		warn(fn, user, "%s event%s came too late to be put in order",
		     text_count(count, health->late), text_plural(health->late));
	if (!health->has_switches || health->asked_count)
		return;
	if (!health->has_wakings)
		warn(fn, user,
		     "no wakings were recorded: waits include the wait for a CPU "
		     "afterwards");
	else if (health->wakings_dropped)
		warn(fn, user, "%s waking%s never delivered: runnable is a lower bound",
		     text_count(count, health->wakings_dropped), were(health->wakings_dropped));
}

void dwell_health_warnings(const struct dwell_health *health, dwell_warning_fn fn, void *user)
{
	char count[TEXT_NUMBER_BYTES], share[TEXT_NUMBER_BYTES], ns[TEXT_NUMBER_BYTES];

	if (health->law)
		warn(fn, user, "THE BOOKS DO NOT BALANCE, do not trust these numbers: %s",
		     health->law);
	warn_input(health, fn, user);
	warn_loss(health, fn, user);
	if (health->contradictions)
		warn(fn, user, "%s contradiction%s between events closed with unknown time",
		     text_count(count, health->contradictions),
		     text_plural(health->contradictions));
	for (unsigned why = 0; why < DWELL_UNKNOWNS; why++)
		if (health->unknown_ns[why] > health->observed_ns / 1000)
			warn(fn, user, "%s: %s, %s of thread time, is unknown",
			     dwell_unknown_frame(why), text_duration(ns, health->unknown_ns[why]),
			     text_share(share, health->unknown_ns[why], health->observed_ns));
}

/* What would give frames of a status names. */
static const char *symbol_remedy(enum dwell_symbol_status status)
{
	switch (status) {
	case DWELL_SYMBOL_NO_FILE:
	case DWELL_SYMBOL_CHANGED:
		return "; --symfs DIR names a copy of the recorded files, --buildid-dir DIR a cache of "
		       "perf's";
	case DWELL_SYMBOL_NOT_PROVEN:
		return "; --symfs DIR vouches for the files below DIR, which may be /";
	case DWELL_SYMBOL_STRIPPED:
		return "; debug symbols with the same build id may be installed";
	case DWELL_SYMBOL_KPTR:
		return "; record as root, or set kernel.kptr_restrict=0 and "
		       "kernel.perf_event_paranoid=1";
	case DWELL_SYMBOL_NO_KERNEL:
		return "; --kallsyms FILE names a copy of its /proc/kallsyms, --buildid-dir DIR a "
		       "cache of perf's";
	case DWELL_SYMBOL_NO_MAP_FILE:
		return "; let the runtime write /tmp/perf-PID.map";
	default:
		return "";
	}
}

struct symbol_failures {
	uint32_t frames;
	const char *why; /* of the first file that has one; NULL = none */
	uint32_t whys;
};

void dwell_health_symbols(struct dwell_symbols *symbols, dwell_warning_fn fn, void *user)
{
	struct symbol_failures all[DWELL_SYMBOL_STATUSES] = { 0 };
	const struct dwell_symbol_failure *failure;

	for (uint32_t i = 0; (failure = dwell_symbols_failure(symbols, i)) != NULL; i++) {
		struct symbol_failures *of =
			&all[(unsigned)failure->status < DWELL_SYMBOL_STATUSES ? failure->status
									       : DWELL_SYMBOL_OK];

		of->frames += failure->frames;
		if (!*failure->why)
			continue;
		of->whys++;
		of->why = of->why ? of->why : failure->why;
	}
	for (unsigned status = DWELL_SYMBOL_OK + 1; status < DWELL_SYMBOL_STATUSES; status++) {
		char count[TEXT_NUMBER_BYTES], why[512];

		if (!all[status].frames)
			continue;
		dwell_text_clean(why, sizeof(why), all[status].why ? all[status].why : "", "?");
		warn(fn, user, "%s frame%s no name: %s%s%s%s%s%s",
		     text_count(count, all[status].frames),
		     all[status].frames == 1 ? " has" : "s have", dwell_symbol_status_text(status),
		     *why ? " (" : "", why, all[status].whys > 1 ? ", ..." : "", *why ? ")" : "",
		     symbol_remedy(status));
	}
}

void dwell_warn(void *user, const char *text)
{
	fprintf(user, "dwell: warning: %s\n", text);
}
