// SPDX-License-Identifier: MIT
/* Trace text of the scheduler's events and PERF_RECORD lines become their fields. Comms may hold
 * anything, the words around them too: texts are read from the right, where there are numbers. */
#include "parse/perf/script.h"

#include <string.h>

/* Two comms, four numbers and a state take less: what is longer is no text of the scheduler's, and
 * would take long to be read from the right. */
enum { TEXT_BYTES_MAX = 512 };

/* The last place of `word` in text; NULL if there is none. */
static const char *last_of(struct dwell_slice text, const char *word)
{
	size_t bytes = strlen(word);

	for (size_t i = text.bytes + 1 - bytes; text.bytes >= bytes && i--;)
		if (text.at[i] == *word && !memcmp(text.at + i, word, bytes))
			return text.at + i;
	return NULL;
}

/* Cuts `label` and what stands behind it off *text: "... next_pid=12 ..." gives "12". */
static bool field_cut(struct dwell_slice *text, const char *label, struct dwell_slice *ret)
{
	const char *at = last_of(*text, label), *value, *end;

	if (!at)
		return false;
	value = at + strlen(label);
	for (end = value; end < text->at + text->bytes && !dwell_slice_blank(*end); end++)
		;
	*ret = dwell_slice_of(value, end);
	text->bytes = (uint32_t)(at - text->at);
	return true;
}

static bool number_cut(struct dwell_slice *text, const char *label, int32_t *ret)
{
	struct dwell_slice value;

	return field_cut(text, label, &value) && dwell_slice_i32(value, ret);
}

/* "S", "R+", "D|K". */
static bool state_parse(struct dwell_slice word, struct dwell_script_switch *sw)
{
	if (!word.bytes)
		return false;
	sw->preempted = word.at[word.bytes - 1] == '+';
	sw->prev_state =
		word.bytes - sw->preempted == 1 ? dwell_task_state_of(*word.at) : DWELL_TASK_OTHER;
	return true;
}

/* prev_comm=A prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=B next_pid=2 next_prio=120 */
static bool switch_fields(struct dwell_slice text, struct dwell_script_switch *sw)
{
	static const char arrow[] = " ==> next_comm=", comm[] = "prev_comm=";
	struct dwell_slice left, state, whole;
	const char *at;

	if (!dwell_slice_begins(text, comm) || !number_cut(&text, " next_pid=", &sw->next_tid))
		return false;
	/* A comm may be the arrow itself: what stands before the real one is the state. */
	for (whole = left = text; (at = last_of(left, arrow)) != NULL;) {
		left.bytes = (uint32_t)(at - left.at);
		text = left;
		if (!field_cut(&text, " prev_state=", &state) ||
		    state.at + state.bytes != left.at + left.bytes)
			continue;
		sw->next_comm = dwell_slice_of(at + sizeof(arrow) - 1, whole.at + whole.bytes);
		if (!state_parse(state, sw) || !number_cut(&text, " prev_pid=", &sw->prev_tid))
			return false;
		sw->prev_comm = dwell_slice_of(text.at + sizeof(comm) - 1, text.at + text.bytes);
		return true;
	}
	return false;
}

/* Cuts "comm:12 [120]" off the end of *text, up to its begin. What may stand before the comm is the
 * caller's to know. */
static bool task_parse(struct dwell_slice text, struct dwell_slice *ret_comm, int32_t *ret_tid,
		       uint32_t *ret_end)
{
	for (uint32_t i = text.bytes; i-- > 1;) {
		struct dwell_slice left = { text.at, i }, prio;
		const char *close = memchr(text.at + i, ']', text.bytes - i), *colon;
		int32_t number;

		if (text.at[i] != '[' || text.at[i - 1] != ' ' || !close)
			continue;
		prio = dwell_slice_of(text.at + i + 1, close);
		left.bytes--;
		colon = last_of(left, ":");
		if (!dwell_slice_i32(prio, &number) || !colon ||
		    !dwell_slice_i32(dwell_slice_of(colon + 1, left.at + left.bytes), ret_tid))
			continue;
		*ret_comm = dwell_slice_of(text.at, colon);
		*ret_end = (uint32_t)(close + 1 - text.at);
		return true;
	}
	return false;
}

/* A:1 [120] S ==> B:2 [120] */
static bool switch_plugin(struct dwell_slice text, struct dwell_script_switch *sw)
{
	static const char arrow[] = " ==> ";
	struct dwell_slice left = text, state;
	const char *at;
	uint32_t end;

	while ((at = last_of(left, arrow)) != NULL) {
		left.bytes = (uint32_t)(at - left.at);
		if (!task_parse(left, &sw->prev_comm, &sw->prev_tid, &end))
			continue;
		state = dwell_slice_trim((struct dwell_slice){ left.at + end, left.bytes - end });
		if (memchr(state.at, ' ', state.bytes) || !state_parse(state, sw))
			continue;
		return task_parse(dwell_slice_of(at + sizeof(arrow) - 1, text.at + text.bytes),
				  &sw->next_comm, &sw->next_tid, &end);
	}
	return false;
}

bool dwell_script_switch_parse(struct dwell_slice text, struct dwell_script_switch *ret)
{
	struct dwell_script_switch sw = { 0 };

	text = dwell_slice_trim(text);
	if (text.bytes > TEXT_BYTES_MAX || (!switch_fields(text, &sw) && !switch_plugin(text, &sw)))
		return false;
	if (sw.prev_tid < 0 || sw.next_tid < 0)
		return false;
	*ret = sw;
	return true;
}

static uint32_t target_cpu(struct dwell_slice word)
{
	int32_t cpu;

	return dwell_slice_i32(word, &cpu) && cpu >= 0 ? (uint32_t)cpu : DWELL_SCRIPT_NO_CPU;
}

/* A:1 [120] success=1 CPU:003; of old kernels: task A:1 [120] success=1 [003] */
static bool waking_plugin(struct dwell_slice text, struct dwell_script_waking *waking)
{
	static const char task[] = "task ";
	struct dwell_slice cpu;
	uint32_t end;

	if (!task_parse(text, &waking->comm, &waking->tid, &end))
		return false;
	text.at += end;
	text.bytes -= end;
	if (field_cut(&text, " CPU:", &cpu)) {
		waking->target_cpu = target_cpu(cpu);
		return true;
	}
	if (dwell_slice_ends(text, "]") && field_cut(&text, " [", &cpu) && cpu.bytes) {
		cpu.bytes--;
		waking->target_cpu = target_cpu(cpu);
		if (dwell_slice_begins(waking->comm, task)) {
			waking->comm.at += sizeof(task) - 1;
			waking->comm.bytes -= (uint32_t)sizeof(task) - 1;
		}
	}
	return true;
}

bool dwell_script_waking_parse(struct dwell_slice text, struct dwell_script_waking *ret)
{
	static const char comm[] = "comm=";
	struct dwell_script_waking waking = { .target_cpu = DWELL_SCRIPT_NO_CPU };
	struct dwell_slice left, cpu;

	text = left = dwell_slice_trim(text);
	if (text.bytes > TEXT_BYTES_MAX)
		return false;
	if (dwell_slice_begins(text, comm)) {
		if (field_cut(&left, " target_cpu=", &cpu))
			waking.target_cpu = target_cpu(cpu);
		if (!number_cut(&left, " pid=", &waking.tid))
			return false;
		waking.comm = dwell_slice_of(left.at + sizeof(comm) - 1, left.at + left.bytes);
	} else if (!waking_plugin(text, &waking)) {
		return false;
	}
	if (waking.tid < 0)
		return false;
	*ret = waking;
	return true;
}

/* "12/34", "12:34". */
static bool pair_parse(struct dwell_slice text, char separator, int32_t *ret_pid, int32_t *ret_tid)
{
	const char *at = memchr(text.at, separator, text.bytes);

	return at && dwell_slice_i32(dwell_slice_of(text.at, at), ret_pid) &&
	       dwell_slice_i32(dwell_slice_of(at + 1, text.at + text.bytes), ret_tid);
}

/* " exec: comm:12/34" or ": comm:12/34" */
static bool comm_record(struct dwell_slice text, struct dwell_script_record *r)
{
	static const char exec[] = " exec: ", plain[] = ": ";
	const char *colon = last_of(text, ":");
	struct dwell_slice ids;

	r->exec = dwell_slice_begins(text, exec);
	if (!colon || (!r->exec && !dwell_slice_begins(text, plain)))
		return false;
	ids = dwell_slice_of(colon + 1, text.at + text.bytes);
	r->comm = dwell_slice_of(text.at + (r->exec ? sizeof(exec) : sizeof(plain)) - 1, colon);
	return pair_parse(ids, '/', &r->pid, &r->tid);
}

/* "(12:34):(1:2)": the thread and its parent. */
static bool task_record(struct dwell_slice text, struct dwell_script_record *r)
{
	const char *middle = last_of(text, "):(");

	return middle && text.bytes && *text.at == '(' && dwell_slice_ends(text, ")") &&
	       pair_parse(dwell_slice_of(text.at + 1, middle), ':', &r->pid, &r->tid) &&
	       pair_parse(dwell_slice_of(middle + 3, text.at + text.bytes - 1), ':', &r->other_pid,
			  &r->other_tid);
}

/* " OUT preempt  next pid/tid: 12/34", " IN", ... */
static bool switch_record(struct dwell_slice text, struct dwell_script_record *r)
{
	static const char ids[] = "pid/tid:";
	const char *at = last_of(text, ids);
	struct dwell_slice word;

	if (at) {
		word = dwell_slice_trim(dwell_slice_of(at + sizeof(ids) - 1, text.at + text.bytes));
		if (!pair_parse(word, '/', &r->other_pid, &r->other_tid))
			r->other_pid = r->other_tid = DWELL_SCRIPT_NO_ID;
	}
	text = dwell_slice_trim(text);
	r->preempted = dwell_slice_begins(text, "OUT preempt");
	r->kind = dwell_slice_begins(text, "OUT") ? DWELL_SCRIPT_RECORD_SWITCH_OUT
						  : DWELL_SCRIPT_RECORD_SWITCH_IN;
	return dwell_slice_begins(text, "OUT") || dwell_slice_begins(text, "IN");
}

bool dwell_script_record_parse(struct dwell_slice text, struct dwell_script_record *ret)
{
	static const char prefix[] = "PERF_RECORD_";
	static const struct {
		const char *name;
		uint8_t kind;
	} kinds[] = {
		{ "COMM", DWELL_SCRIPT_RECORD_COMM },
		{ "FORK", DWELL_SCRIPT_RECORD_FORK },
		{ "EXIT", DWELL_SCRIPT_RECORD_EXIT },
		{ "SWITCH_CPU_WIDE", DWELL_SCRIPT_RECORD_SWITCH_IN },
		{ "SWITCH", DWELL_SCRIPT_RECORD_SWITCH_IN },
		{ "LOST lost ", DWELL_SCRIPT_RECORD_LOST },
	};
	struct dwell_script_record r = { .other_pid = DWELL_SCRIPT_NO_ID,
					 .other_tid = DWELL_SCRIPT_NO_ID };
	bool good = true;

	text = dwell_slice_trim(text);
	if (!dwell_slice_begins(text, prefix))
		return false;
	text.at += sizeof(prefix) - 1;
	text.bytes -= (uint32_t)sizeof(prefix) - 1;
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!dwell_slice_begins(text, kinds[i].name))
			continue;
		r.kind = kinds[i].kind;
		text.at += strlen(kinds[i].name);
		text.bytes -= (uint32_t)strlen(kinds[i].name);
		break;
	}
	if (r.kind == DWELL_SCRIPT_RECORD_COMM)
		good = comm_record(text, &r);
	else if (r.kind == DWELL_SCRIPT_RECORD_FORK || r.kind == DWELL_SCRIPT_RECORD_EXIT)
		good = task_record(text, &r);
	else if (r.kind == DWELL_SCRIPT_RECORD_SWITCH_IN)
		good = switch_record(text, &r);
	else if (r.kind == DWELL_SCRIPT_RECORD_LOST)
		good = dwell_slice_u64(text, &r.lost);
	if (!good)
		r.kind = DWELL_SCRIPT_RECORD_OTHER;
	*ret = r;
	return true;
}
