/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The map of addresses against a plain list, over random puts and takes.
 */
#include "support/support.h"

#include "memory/history/address_map.h"

#define ADDRESSES 97

/* Few addresses, so that runs of used slots are met, broken and closed again. */
static void check_random(void **state)
{
	struct ss_memory memory = { 0 };
	struct ss_pointer_map map;
	uint32_t plain[ADDRESSES];
	uint64_t seed = 7;

	(void)state;
	ss_pointer_map_init(&map, &memory);
	memset(plain, 0xff, sizeof(plain));
	for (uint32_t i = 0; i < 200000; i++) {
		uint32_t at = support_random(&seed, ADDRESSES);
		uint64_t address = (uint64_t)at * 512;

		if (support_random(&seed, 2)) {
			assert_true(ss_pointer_map_put(&map, address, i));
			plain[at] = i;
		} else {
			assert_int_equal(ss_pointer_map_take(&map, address, UINT32_MAX), plain[at]);
			plain[at] = UINT32_MAX;
		}
		at = support_random(&seed, ADDRESSES);
		assert_int_equal(ss_pointer_map_find(&map, (uint64_t)at * 512, UINT32_MAX),
				 plain[at]);
	}
	ss_pointer_map_release(&map);
	assert_int_equal(memory.used_bytes, 0);
}

static void check_empty(void **state)
{
	struct ss_memory memory = { .fail_call = 1 };
	struct ss_pointer_map map;

	(void)state;
	ss_pointer_map_init(&map, &memory);
	assert_int_equal(ss_pointer_map_find(&map, 0, 5), 5);
	assert_int_equal(ss_pointer_map_take(&map, 0, 5), 5);
	assert_false(ss_pointer_map_put(&map, 0, 1)); /* no memory */
	assert_int_equal(ss_pointer_map_find(&map, 0, 5), 5);
	assert_true(ss_pointer_map_put(&map, 0, 1)); /* address 0 is one like the others */
	assert_int_equal(ss_pointer_map_find(&map, 0, 5), 1);
	ss_pointer_map_release(&map);
	assert_int_equal(memory.used_bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(check_random),
					    cmocka_unit_test(check_empty) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
