// SPDX-License-Identifier: MIT
// Holds the JSON of `dwell report threads --json` against what a workload says is true (truth.h),
// against its own books and against a folded file. Prints a claim a line: `ok - ` or `not ok - `.
//
//   verify [-f FOLDED] [-n NAME] JSON [TRUTH]        exit 1 when a claim does not hold
//   verify -k KEY JSON                               prints a number of the outermost object
#include <inttypes.h>
#include <json-c/json.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 1024, MS = 1000000 };

/* What is known of one thread, or summed over a group of them. */
struct thread {
	int64_t observed, on_cpu, runnable, blocked, unknown, switches;
	int found;
};

struct check {
	const char *name;
	json_object *threads;	 /* borrowed from the document */
	int64_t hidden_switches; /* that the kernel kept from the rings, as the report says */
	int64_t thread_unknown;	 /* of the line's thread */
	bool failed;
};

__attribute__((format(printf, 3, 4))) static void claim(struct check *check, bool holds,
							const char *fmt, ...)
{
	va_list args;

	printf("%s - %s: ", holds ? "ok" : "not ok", check->name);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	check->failed |= !holds;
}

static int64_t member(json_object *object, const char *key)
{
	json_object *value;

	if (!json_object_object_get_ex(object, key, &value)) {
		fprintf(stderr, "verify: no member '%s'\n", key);
		exit(3);
	}
	return json_object_get_int64(value);
}

static void add_thread(struct thread *sum, json_object *thread)
{
	sum->observed += member(thread, "observed_ns");
	sum->on_cpu += member(thread, "on_cpu_ns");
	sum->runnable += member(thread, "runnable_ns");
	sum->blocked += member(thread, "blocked_ns");
	sum->unknown += member(thread, "unknown_ns");
	sum->switches +=
		member(thread, "switches_voluntary") + member(thread, "switches_involuntary");
	sum->found++;
}

/* All threads of that name and, unless it is "-", tid. */
static struct thread find(const struct check *check, const char *tid, const char *comm)
{
	struct thread sum = { 0 };
	json_object *value;

	for (size_t i = 0; i < json_object_array_length(check->threads); i++) {
		json_object *thread = json_object_array_get_idx(check->threads, i);

		if (strcmp(tid, "-") && member(thread, "tid") != strtol(tid, NULL, 10))
			continue;
		if (json_object_object_get_ex(thread, "comm", &value) &&
		    !strcmp(json_object_get_string(value), comm))
			add_thread(&sum, thread);
	}
	return sum;
}

static int64_t setting(const char *name, int64_t otherwise)
{
	const char *value = getenv(name);

	return value ? strtol(value, NULL, 10) : otherwise;
}

/* What is small on a real machine is not on an emulated one: VERIFY_SLOW times as much. */
static int64_t slow(int64_t value)
{
	return value * setting("VERIFY_SLOW", 1);
}

/* max(1 ms, 0.5 %) of the value, and so much a switch. While one CPU of an emulated machine runs,
 * the other may stand still: VERIFY_STALL_MS more. */
static int64_t tolerance_ns(int64_t value_ns, int64_t switches, int64_t switch_ns)
{
	int64_t share = value_ns / 200, least = slow(MS) + setting("VERIFY_STALL_MS", 0) * MS;

	return (share > least ? share : least) + switches * slow(switch_ns);
}

static void near(struct check *check, const char *who, const char *what, int64_t got,
		 int64_t expected, int64_t tolerance)
{
	/* What is unknown may have been this. */
	claim(check,
	      got <= expected + tolerance && got + check->thread_unknown >= expected - tolerance,
	      "%s: %s %" PRId64 " is %" PRId64 " within %" PRId64, who, what, got, expected,
	      tolerance);
}

static int64_t noun_ns(const struct thread *thread, const char *noun)
{
	const struct {
		const char *noun;
		int64_t ns;
	} nouns[] = {
		{ "observed", thread->observed }, { "on_cpu", thread->on_cpu },
		{ "runnable", thread->runnable }, { "blocked", thread->blocked },
		{ "unknown", thread->unknown },
	};

	for (size_t i = 0; i < sizeof(nouns) / sizeof(*nouns); i++)
		if (!strcmp(nouns[i].noun, noun))
			return nouns[i].ns;
	fprintf(stderr, "verify: no noun '%s'\n", noun);
	exit(3);
}

/* Some kernels keep switches of single tasks from every perf ring (Documentation/design.md,
 * "Witnesses"). That is found and said, and costs whoever ran before or after such a task a little
 * unknown time; where nothing was found missing nothing may be unknown. */
static int64_t hidden_slack_ns(const struct check *check, const struct thread *thread)
{
	return check->hidden_switches ? thread->observed / 20 + 25 * MS : 0;
}

/* NOUN_min_ns, NOUN_max_ns, NOUN_share_min. Waits are bounded by calls that take some time on a
 * CPU themselves, hence the tolerance; unknown time has none. */
static void check_bound(struct check *check, const char *who, const struct thread *thread,
			const char *key, const char *value)
{
	char noun[64];
	int64_t limit = strtoll(value, NULL, 10), slack, got;
	char *end;

	snprintf(noun, sizeof(noun), "%s", key);
	if ((end = strstr(noun, "_share_min"))) {
		*end = '\0';
		got = noun_ns(thread, noun);
		claim(check, (double)got >= strtod(value, NULL) * (double)thread->observed,
		      "%s: %s %" PRId64 " is at least %s of %" PRId64, who, noun, got, value,
		      thread->observed);
		return;
	}
	end = strstr(noun, "_min_ns") ? strstr(noun, "_min_ns") : strstr(noun, "_max_ns");
	if (!end) {
		claim(check, false, "%s: the truth's key '%s' is known", who, key);
		return;
	}
	*end = '\0';
	/* A life takes as long as what is done in it. */
	if (!strcmp(noun, "observed") && strstr(key, "_max_ns"))
		limit = slow(limit);
	got = noun_ns(thread, noun);
	slack = strcmp(noun, "unknown")
			? tolerance_ns(limit, thread->switches + thread->found, 12000)
			: hidden_slack_ns(check, thread);
	if (strstr(key, "_min_ns"))
		claim(check, got + thread->unknown >= limit - slack,
		      "%s: %s %" PRId64 " >= %" PRId64, who, noun, got, limit);
	else
		claim(check, got <= limit + slack, "%s: %s %" PRId64 " <= %" PRId64, who, noun, got,
		      limit);
}

/* Between reading its count and its end a thread may be preempted, the oftener the longer that
 * takes; a switch too few is one that was missed. */
static void check_switches(struct check *check, const char *who, const struct thread *thread,
			   int64_t expected)
{
	int64_t spare = 2 * thread->found;

	claim(check,
	      thread->switches + check->hidden_switches >= expected - spare &&
		      thread->switches <= expected + slow(spare) + check->hidden_switches,
	      "%s: switches %" PRId64 " is %" PRId64 " within %" PRId64 ", %" PRId64 " more", who,
	      thread->switches, expected, spare, slow(spare) + check->hidden_switches);
}

/* Measured values are of one thread, or sums over a group: then each member adds what happens to
 * it before its counter is opened and after it is read. */
static void check_key(struct check *check, const char *who, const struct thread *thread,
		      const char *key, const char *value, int64_t switches)
{
	int64_t ns = strtoll(value, NULL, 10), n = thread->found;

	if (!strcmp(key, "time_enabled_ns"))
		near(check, who, "on-CPU time", thread->on_cpu, ns,
		     tolerance_ns(ns, switches, 1500) + (n - 1) * slow(300000));
	else if (!strcmp(key, "schedstat_run_ns"))
		near(check, who, "schedstat's run time", thread->on_cpu, ns,
		     tolerance_ns(ns, switches, 12000));
	else if (!strcmp(key, "schedstat_wait_ns"))
		near(check, who, "schedstat's wait", thread->runnable, ns,
		     tolerance_ns(ns, switches, 12000));
	else if (!strcmp(key, "schedstat_switches"))
		check_switches(check, who, thread, ns);
	else
		check_bound(check, who, thread, key, value);
}

static void check_line(struct check *check, char *line)
{
	char copy[LINE_BYTES], *rest = NULL, *key, *value;
	const char *kind = strtok_r(line, " \n", &rest);
	const char *first = strtok_r(NULL, " \n", &rest), *second = strtok_r(NULL, " \n", &rest);
	bool group = kind && !strcmp(kind, "group");
	int64_t switches = 0;
	struct thread thread;
	const char *who;

	if (!kind || (!group && strcmp(kind, "thread")) || !first || !second)
		return;
	who = group ? first : second;
	thread = find(check, group ? "-" : first, who);
	check->thread_unknown = thread.unknown;
	claim(check, thread.found == (group ? atoi(second) : 1), "%s: found %d time(s), of %s", who,
	      thread.found, group ? second : "1");
	if (!thread.found)
		return;
	snprintf(copy, sizeof(copy), "%s", rest);
	value = strstr(copy, "schedstat_switches=");
	if (value)
		switches = strtoll(strchr(value, '=') + 1, NULL, 10);
	while ((key = strtok_r(NULL, " \n", &rest))) {
		value = strchr(key, '=');
		if (!value)
			continue;
		*value++ = '\0';
		check_key(check, who, &thread, key, value, switches);
	}
}

static void check_truth(struct check *check, const char *path)
{
	char line[LINE_BYTES];
	FILE *f = fopen(path, "r");
	int lines = 0;

	for (; f && fgets(line, sizeof(line), f); lines++)
		check_line(check, line);
	claim(check, lines > 0, "the workload told its truth");
	if (f)
		fclose(f);
}

/* Unless records were lost, what was read fits together; VERIFY_FITS=0 where CPUs come and go. A
 * stock kernel hides nothing, either: where VERIFY_WHOLE is set, all that it counted was read. */
static void check_whole(struct check *check, json_object *root)
{
	json_object *value = NULL;
	int64_t contradictions = member(root, "contradictions");
	double coverage;

	if (member(root, "lost"))
		return;
	claim(check, !contradictions || !setting("VERIFY_FITS", 1), "contradictions are %" PRId64,
	      contradictions);
	if (!setting("VERIFY_WHOLE", 0))
		return;
	json_object_object_get_ex(root, "coverage", &value);
	coverage = value ? json_object_get_double(value) : 1; /* none: nothing happened */
	claim(check, coverage >= 1, "coverage is %.6f", coverage);
	claim(check, check->hidden_switches == contradictions,
	      "missed and untold switches are %" PRId64, check->hidden_switches - contradictions);
}

/* Returns the sum of observed_ns. */
static int64_t check_books(struct check *check)
{
	int64_t total = 0;
	size_t count = json_object_array_length(check->threads), off = 0;

	for (size_t i = 0; i < count; i++) {
		json_object *object = json_object_array_get_idx(check->threads, i);
		struct thread t = { 0 };

		add_thread(&t, object);
		total += t.observed;
		if (t.on_cpu + t.runnable + t.blocked + t.unknown == t.observed)
			continue;
		off++;
		fprintf(stderr, "# %s\n", json_object_to_json_string(object));
	}
	claim(check, count && !off, "the books of all %zu threads balance", count);
	return total;
}

static void check_folded(struct check *check, const char *path, int64_t expected)
{
	FILE *f = fopen(path, "r");
	size_t room = 0, bad = 0;
	char *line = NULL;
	int64_t sum = 0;

	while (f && getline(&line, &room, f) > 0) {
		char *space = strrchr(line, ' '), *end = NULL;
		int64_t ns = space ? strtoll(space + 1, &end, 10) : 0;

		if (!space || *end != '\n' || ns <= 0)
			bad++;
		sum += ns;
	}
	claim(check, f && !bad, "every folded line is frames and a count");
	claim(check, sum == expected, "folded wall sums to %" PRId64 ", observed to %" PRId64, sum,
	      expected);
	free(line);
	if (f)
		fclose(f);
}

int main(int argc, char **argv)
{
	struct check check = { .name = "verify" };
	const char *folded = NULL, *key = NULL;
	json_object *root;
	int64_t observed;
	int option;

	while ((option = getopt(argc, argv, "f:k:n:")) != -1) {
		if (option == 'f')
			folded = optarg;
		else if (option == 'k')
			key = optarg;
		else if (option == 'n')
			check.name = optarg;
		else
			return 2;
	}
	if (optind >= argc)
		return 2;
	root = json_object_from_file(argv[optind]);
	if (!root || !json_object_object_get_ex(root, "threads", &check.threads) ||
	    !json_object_is_type(check.threads, json_type_array)) {
		claim(&check, false, "'%s' is JSON with an array of threads", argv[optind]);
		return 1;
	}
	if (key) {
		printf("%" PRId64 "\n", member(root, key));
		return 0;
	}
	check.hidden_switches = member(root, "contradictions") + member(root, "missed_switches") +
				member(root, "untold_switches");
	check_whole(&check, root);
	observed = check_books(&check);
	if (optind + 1 < argc)
		check_truth(&check, argv[optind + 1]);
	if (folded)
		check_folded(&check, folded, observed);
	json_object_put(root);
	return check.failed;
}
