/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moments come back as they were set, however far apart they are.
 */
#include "replay/moments.h"
#include "support/support.h"

#define S_NS INT64_C(1000000000)

static const struct {
	const char *what;
	int64_t ns[6]; /* set in this order, each at its place of one block */
	uint32_t wide; /* blocks that 4 bytes are not enough for */
} cases[] = {
	{ "nothing but zeros", { 0 }, 0 },
	{ "neighbours, in any order", { 5000, 1, 9000, 4999, 70000, 3 }, 0 },
	{ "two seconds before and behind the first", { 0, 2 * S_NS, -2 * S_NS, 1, -1, 7 }, 0 },
	{ "three seconds behind it", { 0, 3 * S_NS, 5, -5, 6, 7 }, 1 },
	{ "three seconds before it", { 0, 1, -3 * S_NS, 2, 3, 4 }, 1 },
	{ "years", { INT64_MAX / 2, -INT64_MAX / 2, 0, 1, INT64_MAX / 2, -1 }, 1 },
};

static void test_moments(void **state)
{
	struct ss_memory memory;
	struct ss_moments moments;

	(void)state;
	ss_memory_init(&memory, 0);
	assert_true(ss_moments_init(&moments, 3 * SS_MOMENTS_BLOCK, &memory));
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		ss_moments_clear(&moments);
		/* the block in the middle, between two that have moments of their own */
		ss_moments_set(&moments, 0, -7);
		ss_moments_set(&moments, 2 * SS_MOMENTS_BLOCK, 8);
		for (uint32_t k = 0; k < 6; k++)
			ss_moments_set(&moments, SS_MOMENTS_BLOCK + k * 11, cases[i].ns[k]);
		for (uint32_t k = 0; k < 6; k++)
			support_check(ss_moments_get(&moments, SS_MOMENTS_BLOCK + k * 11) ==
					      cases[i].ns[k],
				      cases[i].what, "moment %u is another one", k);
		support_check(moments.wide_count == cases[i].wide, cases[i].what, "%u wide blocks",
			      moments.wide_count);
		assert_int_equal(ss_moments_get(&moments, 0), -7);
		assert_int_equal(ss_moments_get(&moments, 2 * SS_MOMENTS_BLOCK), 8);
	}
	ss_moments_release(&moments);
	assert_int_equal(memory.used_bytes, 0);
}

/* Without memory the run says so, and other blocks stay as they are. */
static void test_no_memory(void **state)
{
	struct ss_memory memory;
	struct ss_moments moments;

	(void)state;
	ss_memory_init(&memory, 0);
	assert_true(ss_moments_init(&moments, 2 * SS_MOMENTS_BLOCK, &memory));
	ss_moments_clear(&moments);
	ss_moments_set(&moments, 1, 5);
	memory.limit_bytes = memory.used_bytes;
	ss_moments_set(&moments, 2, 6);
	assert_false(moments.failed);
	ss_moments_set(&moments, 3, 3 * S_NS);
	assert_true(moments.failed);
	assert_int_equal(ss_moments_get(&moments, 1), 5);
	ss_moments_release(&moments);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moments),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
