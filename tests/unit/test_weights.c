// SPDX-License-Identifier: MIT
/* Samples of many groups and stacks become sums, each under its own key, while the table grows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "offcpu/weights.h"

enum { GROUPS = 70, STACKS = 90, ROUNDS = 3 };

static void test_sums(void **state)
{
	struct dwell_weights weights = { 0 };
	uint32_t found = 0;

	(void)state;
	for (uint32_t round = 0; round < ROUNDS; round++)
		for (uint32_t group = 0; group < GROUPS; group++)
			for (uint32_t stack = 0; stack < STACKS; stack++)
				assert_int_equal(dwell_weights_add(&weights, group, stack,
								   round * stack + group),
						 0);
	assert_int_equal(weights.count, GROUPS * STACKS);
	for (uint64_t i = 0; i <= weights.mask; i++) {
		const struct dwell_weights_entry *entry = &weights.entries[i];
		uint64_t group = entry->key >> 32, stack = (uint32_t)entry->key;

		if (!entry->samples)
			continue;
		found++;
		assert_true(group < GROUPS && stack < STACKS);
		assert_int_equal(entry->samples, ROUNDS);
		assert_int_equal(entry->weight, (0 + 1 + 2) * stack + ROUNDS * group);
	}
	assert_int_equal(found, weights.count);
	dwell_weights_release(&weights);
	assert_null(weights.entries);
}

/* A weight of nothing is still a sample, and the key of zeroes is a key. */
static void test_zeroes(void **state)
{
	struct dwell_weights weights = { 0 };

	(void)state;
	assert_int_equal(dwell_weights_add(&weights, 0, 0, 0), 0);
	assert_int_equal(dwell_weights_add(&weights, 0, 0, 0), 0);
	assert_int_equal(weights.count, 1);
	dwell_weights_release(&weights);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_zeroes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
