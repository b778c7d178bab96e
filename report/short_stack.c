// SPDX-License-Identifier: MIT
/* A stack of names becomes its most telling ones. What is left out is glue that every such stack
 * has: it says how a thread sleeps or starts, not why. */
#include "report/short_stack.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/text.h"

enum { SHORT_FRAMES = 3, SHORT_NAME_BYTES = 256 };

/* Functions below a blocking call of the C library, and around main(); a '*' ends a prefix. */
static const char *const user_glue[] = {
	"__lll_*",
	"___lll_*",
	"__futex_*",
	"futex_wait*",
	"__internal_syscall_cancel",
	"__syscall_cancel*",
	"syscall",
	"__kernel_vsyscall",
	"_start",
	"__libc_start_*",
	"start_thread",
	"clone",
	"clone3",
	"__clone",
	"__clone3",
	"__GI___clone*",
	"thread_start",
	NULL,
};

/* What a program calls to wait in one of those. Where it is missing (a C library without frame
 * pointers hides the caller of its innermost function) the system call tells instead. */
static const char *const user_waits[] = {
	"pthread_*",   "__pthread_*", "___pthread_*", "sem_*",	"__sem_*",
	"__new_sem_*", "mtx_*",	      "cnd_*",	      "thrd_*", NULL,
};

/* How a task leaves the CPU, and how it came into the kernel. */
static const char *const kernel_glue[] = {
	"schedule*",
	"__schedule*",
	"preempt_schedule*",
	"io_schedule*",
	"__cond_resched*",
	"finish_task_switch*",
	"__traceiter_*",
	"trace_*",
	"perf_*",
	"__perf_*",
	"entry_*",
	"do_syscall_*",
	"x64_sys_call",
	"asm_*",
	"el0*",
	"invoke_syscall*",
	"ret_from_fork*",
	"kthread",
	NULL,
};

static const char *const fault_entry[] = {
	"asm_exc_page_fault", "exc_page_fault", "do_page_fault", "el0_da", "el0_ia", NULL,
};

struct short_stack {
	const struct dwell_names *names;
	uint32_t user[SHORT_FRAMES], kernel[SHORT_FRAMES]; /* names, leaf first */
	unsigned users, kernels;
	uint32_t leaf;			  /* the innermost name of all */
	const struct dwell_name *syscall; /* the kernel's entry function of the call, if seen */
	bool fault;
	bool waits; /* user glue stands below the innermost of user */
};

static bool name_in(const struct dwell_name *name, const char *const *list)
{
	for (; *list; list++) {
		size_t bytes = strlen(*list);

		if ((*list)[bytes - 1] == '*'
			    ? name->plain_bytes >= bytes - 1 &&
				      !memcmp(name->text, *list, bytes - 1)
			    : name->plain_bytes == bytes && !memcmp(name->text, *list, bytes))
			return true;
	}
	return false;
}

/* "fsync" of "__x64_sys_fsync", or NULL. */
static const char *syscall_of(const struct dwell_name *name)
{
	static const char *const prefixes[] = { "__x64_sys_", "__arm64_sys_", "__se_sys_",
						"__ia32_sys_", "__riscv_sys_" };

	for (unsigned i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(name->text, prefixes[i], strlen(prefixes[i])))
			return name->text + strlen(prefixes[i]);
	return NULL;
}

static void collect(struct short_stack *s, uint32_t node)
{
	uint32_t last = 0;

	for (; node; node = dwell_names_node(s->names, node)->parent) {
		uint32_t id = dwell_names_node(s->names, node)->name;
		const struct dwell_name *name = dwell_names_name(s->names, id);

		if (!s->leaf)
			s->leaf = id;
		if (name->kernel && name_in(name, fault_entry))
			s->fault = true;
		if (name->kernel && syscall_of(name))
			s->syscall = name;
		if (name_in(name, name->kernel ? kernel_glue : user_glue)) {
			s->waits |= !name->kernel && !s->users;
			continue;
		}
		if (id == last || name->pseudo)
			continue;
		last = id;
		if (name->kernel && s->kernels < SHORT_FRAMES)
			s->kernel[s->kernels++] = id;
		if (!name->kernel && s->users < SHORT_FRAMES)
			s->user[s->users++] = id;
	}
}

/* Without a C++ parameter list: "a::b(int) const" is "a::b". */
static size_t without_parameters(const char *text, size_t bytes)
{
	size_t end = bytes, depth = 0;

	if (end > 6 && !memcmp(text + end - 6, " const", 6))
		end -= 6;
	if (!end || text[end - 1] != ')')
		return bytes;
	for (size_t i = end; i-- > 1;) {
		depth += text[i] == ')';
		depth -= text[i] == '(';
		if (!depth)
			return text[i - 1] == ' ' ? bytes : i;
	}
	return bytes;
}

static void append(char *dst, size_t dst_bytes, const char *text, size_t bytes)
{
	size_t used = strlen(dst);
	char name[SHORT_NAME_BYTES];

	snprintf(name, sizeof(name), "%.*s", (int)without_parameters(text, bytes), text);
	if (used && used + 4 < dst_bytes) {
		strcpy(dst + used, " < ");
		used += 3;
	}
	dwell_text_clean(dst + used, dst_bytes - used, name, "?");
}

static void append_syscall(const struct short_stack *s, char *dst, size_t dst_bytes)
{
	const char *call = syscall_of(s->syscall);

	append(dst, dst_bytes, call, s->syscall->plain_bytes - (size_t)(call - s->syscall->text));
}

/* Does the innermost user function leave open what the thread called? */
static bool call_hidden(const struct short_stack *s)
{
	const struct dwell_name *name;

	if (!s->syscall || !s->users)
		return false;
	name = dwell_names_name(s->names, s->user[0]);
	return *name->text == '[' || (s->waits && !name_in(name, user_waits));
}

static void append_names(const struct short_stack *s, const uint32_t *list, unsigned count,
			 char *dst, size_t dst_bytes)
{
	for (unsigned i = 0; i < count; i++) {
		const struct dwell_name *name = dwell_names_name(s->names, list[i]);

		append(dst, dst_bytes, name->text, name->plain_bytes);
	}
}

void dwell_short_stack(const struct dwell_names *names, uint32_t node, char *dst, size_t dst_bytes)
{
	struct short_stack s = { .names = names };

	*dst = '\0';
	collect(&s, node);
	if (s.fault)
		append(dst, dst_bytes, "page fault", 10);
	else if (call_hidden(&s))
		append_syscall(&s, dst, dst_bytes);
	if (s.users)
		append_names(&s, s.user, s.users, dst, dst_bytes);
	else if (s.syscall &&
		 !s.fault) /* only glue above it: the call says more than its insides */
		append_syscall(&s, dst, dst_bytes);
	else if (s.kernels)
		append_names(&s, s.kernel, s.kernels, dst, dst_bytes);
	else if (s.leaf)
		append_names(&s, &s.leaf, 1, dst, dst_bytes);
}
