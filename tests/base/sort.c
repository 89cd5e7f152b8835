/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorting of runs: the result is that of qsort(), however much order there is.
 */
#include "support/support.h"

#include <stdlib.h>

#include "base/sort.h"

struct item {
	int64_t key;
	uint32_t number;
};

static int by_key(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

#define MOST 3000u

/* `runs` rising stretches; keys repeat between them, and within them when `step` is 0. */
static void fill(struct item *items, uint32_t count, uint32_t runs, int64_t step)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t length = count / runs + 1;

		items[i] = (struct item){ (i % length) * step - (i / length) * 7 % 5, i };
	}
}

static void test_same_as_qsort(void **state)
{
	static const uint32_t counts[] = { 0, 1, 2, 3, 10, 257, MOST };
	static const uint32_t runs[] = { 1, 2, 3, 8, 255, 256, 257, MOST };
	struct item items[MOST + 1], wanted[MOST + 1];
	struct ss_memory memory;

	(void)state;
	ss_memory_init(&memory, 0);
	for (size_t i = 0; i < SS_COUNT(counts); i++)
		for (size_t k = 0; k < SS_COUNT(runs); k++)
			for (int64_t step = -1; step <= 3; step++) {
				fill(items, counts[i], runs[k], step);
				fill(wanted, counts[i], runs[k], step);
				if (counts[i])
					qsort(wanted, counts[i], sizeof(*wanted), by_key);
				assert_true(ss_sort_runs(items, counts[i], sizeof(*items), by_key,
							 &memory));
				for (uint32_t at = 0; at < counts[i]; at++)
					assert_int_equal(items[at].number, wanted[at].number);
			}
	assert_int_equal(memory.used_bytes, 0);
}

/* Order takes no room; two runs do, and it may be refused. */
static void test_memory(void **state)
{
	struct item items[4] = { { 1, 0 }, { 2, 1 }, { 3, 2 }, { 4, 3 } };
	struct ss_memory memory;

	(void)state;
	ss_memory_init(&memory, 8);
	assert_true(ss_sort_runs(items, 4, sizeof(*items), by_key, &memory));
	items[1].key = 9;
	assert_false(ss_sort_runs(items, 4, sizeof(*items), by_key, &memory));
	assert_int_equal(memory.used_bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_as_qsort),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
