/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searches find the first that the condition does not hold for, wherever they begin.
 */
#include "support/support.h"

#include "base/search.h"

enum { MOST = 70 };

static void test_search(void **state)
{
	(void)state;
	for (uint32_t count = 0; count <= MOST; count++)
		for (uint32_t from = 0; from <= count; from++)
			for (uint32_t wanted = from; wanted <= count; wanted++) {
				uint32_t low = from, high = count;

				SS_SEARCH(low, high, at, at < wanted);
				assert_int_equal(low, wanted);
				low = from;
				high = count;
				SS_SEARCH_NEAR(low, high, at, at < wanted);
				assert_int_equal(low, wanted);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_search),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
