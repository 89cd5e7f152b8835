/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparators, sorting of runs (the result is that of qsort(), however much order there is), and
 * the items of each class.
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

static int sign(int value)
{
	return (value > 0) - (value < 0);
}

struct keyed {
	int64_t time;
	struct {
		uint32_t name;
	} key;
	bool is_rest;
};

SS_COMPARATOR(keyed_compare, struct keyed,
	      SS_DESCENDING(time) SS_ASCENDING(key.name) SS_ASCENDING(is_rest))

static void test_keys(void **state)
{
	/* in their order */
	static const struct keyed items[] = {
		{ INT64_MAX, { 5 }, false },  { 7, { 1 }, false },         { 7, { 1 }, true },
		{ 7, { UINT32_MAX }, false }, { INT64_MIN, { 0 }, false },
	};

	(void)state;
	for (int i = 0; i < (int)SS_COUNT(items); i++)
		for (int k = 0; k < (int)SS_COUNT(items); k++)
			assert_int_equal(keyed_compare(&items[i], &items[k]), sign(i - k));
}

static void test_plain_values(void **state)
{
	static const int64_t signed_numbers[] = { INT64_MIN, -1, 0, INT64_MAX };
	static const uint32_t numbers[] = { 0, 1, 0x80000000u, UINT32_MAX };
	static const double decimals[] = { -1e300, -0.5, 0, 0.25 };
	static const char *const strings[] = { "", "a", "aa", "b" };

	(void)state;
	for (int i = 0; i < 4; i++)
		for (int k = 0; k < 4; k++) {
			int wanted = sign(i - k);

			assert_int_equal(ss_sort_compare_int64(&signed_numbers[i],
							       &signed_numbers[k]),
					 wanted);
			assert_int_equal(ss_sort_compare_uint32(&numbers[i], &numbers[k]), wanted);
			assert_int_equal(ss_sort_compare_double(&decimals[i], &decimals[k]),
					 wanted);
			assert_int_equal(sign(ss_sort_compare_strings(&strings[i], &strings[k])),
					 wanted);
		}
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

/* --- classes ----------------------------------------------------------------------- */

static void test_class_order(void **state)
{
	static const uint32_t class_of[] = { 2, 0, 2, 4, 0, 2 };
	static const uint32_t items[] = { 1, 4, 0, 2, 5, 3 };
	static const uint32_t from[] = { 0, 2, 2, 5, 5, 6 };
	struct ss_class_lists classes;
	struct ss_memory memory;
	struct ss_arena arena;

	(void)state;
	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	assert_true(ss_class_lists_make(&classes, class_of, SS_COUNT(class_of), 5, &arena));
	assert_memory_equal(classes.items, items, sizeof(items));
	assert_memory_equal(classes.from, from, sizeof(from));
	ss_arena_release(&arena);
}

static void test_no_classes(void **state)
{
	struct ss_class_lists classes;
	struct ss_memory memory;
	struct ss_arena arena;

	(void)state;
	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	assert_true(ss_class_lists_make(&classes, NULL, 0, 0, &arena));
	assert_int_equal(classes.from[0], 0);
	assert_true(ss_class_lists_make(&classes, NULL, 0, 3, &arena));
	for (uint32_t i = 0; i <= 3; i++)
		assert_int_equal(classes.from[i], 0);
	ss_arena_release(&arena);
}

static void test_class_memory(void **state)
{
	static const uint32_t class_of[20000] = { 0 };
	struct ss_class_lists classes;
	struct ss_memory memory;
	struct ss_arena arena;

	(void)state;
	ss_memory_init(&memory, 1000);
	ss_arena_init(&arena, &memory);
	assert_false(ss_class_lists_make(&classes, class_of, SS_COUNT(class_of), 1, &arena));
	ss_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys),          cmocka_unit_test(test_plain_values),
		cmocka_unit_test(test_same_as_qsort), cmocka_unit_test(test_memory),
		cmocka_unit_test(test_class_order),   cmocka_unit_test(test_no_classes),
		cmocka_unit_test(test_class_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
