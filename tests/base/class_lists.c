/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Items by class: each class has its items, in their order.
 */
#include "support/support.h"

#include "base/class_lists.h"

static void test_order(void **state)
{
	static const uint32_t class_of[] = { 2, 0, 2, 4, 0, 2 };
	static const uint32_t items[] = { 1, 4, 0, 2, 5, 3 };
	static const uint32_t from[] = { 0, 2, 2, 5, 5, 6 };
	struct ss_classes classes;
	struct ss_memory memory;
	struct ss_arena arena;

	(void)state;
	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	assert_true(ss_classes_find(&classes, class_of, SS_COUNT(class_of), 5, &arena));
	assert_memory_equal(classes.items, items, sizeof(items));
	assert_memory_equal(classes.from, from, sizeof(from));
	ss_arena_release(&arena);
}

static void test_nothing(void **state)
{
	struct ss_classes classes;
	struct ss_memory memory;
	struct ss_arena arena;

	(void)state;
	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	assert_true(ss_classes_find(&classes, NULL, 0, 0, &arena));
	assert_int_equal(classes.from[0], 0);
	assert_true(ss_classes_find(&classes, NULL, 0, 3, &arena));
	for (uint32_t i = 0; i <= 3; i++)
		assert_int_equal(classes.from[i], 0);
	ss_arena_release(&arena);
}

static void test_no_memory(void **state)
{
	static const uint32_t class_of[20000] = { 0 };
	struct ss_classes classes;
	struct ss_memory memory;
	struct ss_arena arena;

	(void)state;
	ss_memory_init(&memory, 1000);
	ss_arena_init(&arena, &memory);
	assert_false(ss_classes_find(&classes, class_of, SS_COUNT(class_of), 1, &arena));
	ss_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
