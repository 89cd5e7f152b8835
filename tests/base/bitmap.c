/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of rows against counting.
 */
#include "support/support.h"

#include "base/bitmap.h"

/* The numbers are those of counting from the first row on. */
static void numbers_are_in_the_order_of_rows(void **state)
{
	static const uint32_t sizes[] = { 0, 1, 63, 64, 65, 1000 };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(sizes); i++) {
		struct ss_memory memory;
		struct ss_bitmap set;
		uint32_t count = 0;

		ss_memory_init(&memory, 0);
		assert_true(ss_bitmap_init(&set, sizes[i], &memory));
		for (uint32_t row = 0; row < sizes[i]; row++)
			if (row % 7 == 0 || row % 64 == 63)
				ss_bitmap_add(&set, row);
		ss_bitmap_finish(&set);
		for (uint32_t row = 0; row < sizes[i]; row++) {
			assert_int_equal(ss_bitmap_before(&set, row), count);
			assert_int_equal(ss_bitmap_find(&set, row),
					 row % 7 == 0 || row % 64 == 63 ? count++ : UINT32_MAX);
		}
		assert_int_equal(ss_bitmap_before(&set, sizes[i]), count);
		assert_int_equal(set.count, count);
		assert_int_equal(ss_bitmap_find(&set, sizes[i]), UINT32_MAX);
		assert_int_equal(ss_bitmap_find(&set, UINT32_MAX), UINT32_MAX);
		ss_bitmap_release(&set);
		assert_int_equal(memory.used_bytes, 0);
	}
}

/* Without memory there is no set, and nothing to release. */
static void refused_memory_leaves_nothing(void **state)
{
	(void)state;
	for (size_t call = 1; call <= 2; call++) {
		struct ss_memory memory;
		struct ss_bitmap set;

		ss_memory_init(&memory, 0);
		memory.fail_call = call;
		assert_false(ss_bitmap_init(&set, 100, &memory));
		ss_bitmap_release(&set);
		assert_int_equal(memory.used_bytes, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_in_the_order_of_rows),
		cmocka_unit_test(refused_memory_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
