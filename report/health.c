// SPDX-License-Identifier: MIT
/* Counters of the source and the timeline become one judgement, and warnings that say what is
 * missing and what it does to the numbers. */
#include "report/health.h"

#include <stdarg.h>
#include <string.h>

#include "lib/text.h"
#include "report/table.h"
#include "report/text.h"

enum { WARNING_BYTES = 1024 };

/* What a reader counts of what it could not use, and the words for one and for more of it. */
static const struct {
	const char *fact, *one, *more;
} tellings[DWELL_TELLINGS] = {
	{ "mappings.left_out",
	  "%s mapping of a file was more than is kept: frames in it have no name",
	  "%s mappings of files were more than is kept: frames in them have no name" },
	{ "records.unknown", "%s record of a type not known here was passed over",
	  "%s records of types not known here were passed over" },
	{ "records.bad", "%s record that cannot be right was passed over",
	  "%s records that cannot be right were passed over" },
	{ "files.missing", "%s file data.N of the directory is missing, with all it held",
	  "%s files data.N of the directory are missing, with all they held" },
	{ "maps.unread",
	  "%s perf-PID.map file was too large to be read: code made at run time has no name",
	  "%s perf-PID.map files were too large to be read: code made at run time has no name" },
	{ "frames.unnamed",
	  "for %s frame there was no time to store its name: it has none where its file is missing",
	  "for %s frames there was no time to store names: they have none where their files are "
	  "missing" },
	{ "dumps.unread",
	  "%s jit-PID.dump file was not read (another owner, another clock, too large): code made at "
	  "run time may have no name",
	  "%s jit-PID.dump files were not read (another owner, another clock, too large): code made "
	  "at run time may have no name" },
	{ "dumps.late",
	  "%s piece of code came in the place of another before its dump told of it: frames in it may "
	  "have the earlier name",
	  "%s pieces of code came in the place of others before their dump told of it: frames in them "
	  "may have the earlier name" },
	{ "threads.foreign",
	  "%s thread of another pid namespace ran or was woken: its times are not told",
	  "%s threads of other pid namespaces ran or were woken: their times are not told" },
};

/* In the order of enum dwell_health_stacks. */
static const struct {
	const char *fact, *meaning;
} stack_ends[DWELL_STACKS_ENDS] = {
	{ "stacks.complete", "" },
	{ "stacks.joined", "" },
	{ "stacks.truncated", "end where their copy did, [truncated]" },
	{ "stacks.broken", "lead through code that nothing tells how to unwind, [not unwound]" },
	{ "stacks.not_unwound", "were copied and are not unwound, [not unwound]" },
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

/* Of a targeted recording the kernel counted wakings of others as well, which a filter lets
 * through: it lacks no more than there are waits that no waking ended. */
static void read_wakings(const struct dwell_analysis *analysis, struct dwell_health *health)
{
	const struct dwell_timeline_stats *stats = dwell_timeline_stats(analysis->timeline);
	uint64_t lacking = stats->waits - stats->waits_with_waking, others;

	if (analysis->info.all_threads || health->wakings_dropped <= lacking)
		return;
	others = health->wakings_dropped - lacking;
	health->wakings_dropped = lacking;
	health->kernel_count -= others < health->kernel_count - health->parsed
					? others
					: health->kernel_count - health->parsed;
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
		.missed_switches = stats->missed_switches,
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
		.untimed = info->untimed,
		.aux_bytes = dwell_analysis_fact_u64(analysis, "aux.bytes"),
		.only_cpus = dwell_analysis_fact(analysis, "mode.cpus"),
		.away_cpus = dwell_analysis_fact(analysis, "cpus.away"),
		.law = analysis->law.code ? analysis->law.msg : NULL,
	};

	for (unsigned i = 0; i < DWELL_TELLINGS; i++)
		health.told[i] = dwell_analysis_fact_u64(analysis, tellings[i].fact);
	for (unsigned end = 0; end < DWELL_STACKS_ENDS; end++)
		health.stacks[end] = dwell_analysis_fact_u64(analysis, stack_ends[end].fact);
	if (!info->has_switches && !analysis->counting && analysis->choice.same_time) {
		health.same_time =
			dwell_strings_get(analysis->tables.strings, analysis->choice.same_time);
		health.clock = dwell_strings_get(analysis->tables.strings, analysis->choice.name);
	}
	read_coverage(analysis, &health);
	read_wakings(analysis, &health);
	read_side_loss(analysis, &health);
	for (uint32_t i = 0; i < analysis->books.count; i++)
		health.observed_ns += analysis->books.data[i].observed_ns;
	for (uint32_t i = 0; i < analysis->off_books.count; i++)
		for (unsigned why = 0; why < DWELL_UNKNOWNS; why++)
			health.unknown_ns[why] += analysis->off_books.data[i].unknown_ns[why];
	*ret = health;
}

double dwell_health_coverage(const struct dwell_health *health)
{
	return health->kernel_count ? (double)health->parsed / (double)health->kernel_count : 1;
}

uint64_t dwell_health_stacks(const struct dwell_health *health)
{
	uint64_t all = 0;

	for (unsigned end = 0; end < DWELL_STACKS_ENDS; end++)
		all += health->stacks[end];
	return all;
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
	char line[WARNING_BYTES];
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

/* A few are lost to every unwinder, in the middle of a program's start for one. */
static void warn_stacks(const struct dwell_health *health, dwell_warning_fn fn, void *user)
{
	uint64_t all = dwell_health_stacks(health);
	char count[TEXT_NUMBER_BYTES], share[TEXT_NUMBER_BYTES];

	for (unsigned end = DWELL_STACKS_TRUNCATED; end < DWELL_STACKS_ENDS; end++)
		if (health->stacks[end] > all / 100)
			warn(fn, user, "%s of the user stacks (%s) %s",
			     text_share(share, health->stacks[end], all),
			     text_count(count, health->stacks[end]), stack_ends[end].meaning);
}

static void warn_told(const struct dwell_health *health, dwell_warning_fn fn, void *user)
{
	char number[TEXT_NUMBER_BYTES];

	for (unsigned i = 0; i < DWELL_TELLINGS; i++)
		if (health->told[i])
			warn(fn, user, health->told[i] == 1 ? tellings[i].one : tellings[i].more,
			     text_count(number, health->told[i]));
	if (health->aux_bytes)
		warn(fn, user, "%s of hardware trace (AUX) are not decoded",
		     text_bytes(number, health->aux_bytes));
}

/* Which part of the samples the numbers are made of, and of which CPUs. */
static void warn_extent(const struct dwell_health *health, dwell_warning_fn fn, void *user)
{
	char text[128], clock[128];

	if (health->away_cpus) {
		dwell_text_clean(text, sizeof(text), health->away_cpus, "?");
		warn(fn, user, "CPUs %s went or came meanwhile: what ran there then is unknown",
		     text);
	}
	if (health->only_cpus) {
		dwell_text_clean(text, sizeof(text), health->only_cpus, "?");
		warn(fn, user,
		     "only CPUs %s were recorded: what threads did elsewhere is unknown, [offline]",
		     text);
	}
	if (health->untimed)
		warn(fn, user,
		     "the samples have no times: there is no window, and names and mappings are "
		     "those that stand before them in the file");
	if (health->same_time) {
		dwell_text_clean(text, sizeof(text), health->same_time, "?");
		dwell_text_clean(clock, sizeof(clock), health->clock, "?");
		warn(fn, user, "samples of '%s' are not added up: '%s' tells the same time", text,
		     clock);
	}
}

static void warn_input(const struct dwell_health *health, dwell_warning_fn fn, void *user)
{
	char bytes[TEXT_NUMBER_BYTES];

	warn_told(health, fn, user);
	warn_stacks(health, fn, user);
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
	warn_extent(health, fn, user);
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
	if (health->missed_switches)
		warn(fn, user,
		     "no event told of %s switch%s that what follows proves: some threads are kept "
		     "from the rings",
		     text_count(count, health->missed_switches),
		     health->missed_switches == 1 ? "" : "es");
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
	char line[WARNING_BYTES + 32];

	snprintf(line, sizeof(line), "dwell: warning: %s", text);
	text_wrap(user, line);
}
