/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The view live-changes: the rank and the part that made steps slower, or nothing.
 */
#include "support/live_rows.h"

static void check_changes(const struct live_script *scripts, uint32_t count, const char *expected)
{
	struct live_case live;
	struct ss_text rows = { 0 };

	live_case_open(&live, scripts, count);
	live_case_view(&live, "live-changes",
		       "rank,step,part,part_before_ns,part_after_ns,sentence", &rows);
	support_check(strcmp(rows.data ? rows.data : "", expected) == 0, "changes", "%s",
		      rows.data ? rows.data : "");
	ss_text_release(&rows);
	live_case_close(&live);
}

static void names_the_rank(void **state)
{
	const struct live_script scripts[] = {
		{ .rank = 0, .steps = 2000, .us = 20000, .slow_from = 1013, .slow_us = 6000 },
		{ .rank = 1,
		  .steps = 2000,
		  .us = 20000,
		  .slow_from = 1013,
		  .slow_us = 6000,
		  .slow_part = SS_LIVE_DATA },
		{ .rank = 2, .steps = 2000, .us = 20000, .slow_from = 1013, .slow_us = 6000 },
	};

	(void)state;
	check_changes(scripts, 3,
		      "1,1013,waiting for data,100000,6100000,From step 1013 on a step takes 27.02 "
		      "ms instead of 21.02 ms: waiting for data takes 6.1 ms instead of 0.1 ms on "
		      "rank 1.\n");
}

static void names_all_ranks_or_none(void **state)
{
	const struct live_script all[] = {
		{ .rank = 0,
		  .steps = 2000,
		  .us = 20000,
		  .slow_from = 1013,
		  .slow_us = 6000,
		  .slow_part = SS_LIVE_GC },
		{ .rank = 1,
		  .steps = 2000,
		  .us = 20000,
		  .slow_from = 1013,
		  .slow_us = 6000,
		  .slow_part = SS_LIVE_GC },
	};
	const struct live_script none[] = {
		{ .rank = 0, .steps = 2000, .us = 20000, .slow_from = 1013, .slow_us = 6000 },
	};

	(void)state;
	check_changes(all, 2,
		      "-,1013,collecting garbage,0,6000000,From step 1013 on a step takes 27.02 ms "
		      "instead of 21.02 ms: collecting garbage takes 6 ms instead of 0 ms on most "
		      "ranks.\n");
	check_changes(none, 1,
		      "-,1013,-,-,-,From step 1013 on a step takes 27.02 ms instead of 21.02 "
		      "ms.\n");
}

static void is_silent_without_a_change(void **state)
{
	const struct live_script same[] = { { .rank = 0, .steps = 5000, .us = 20000 } };
	const struct live_script small[] = {
		{ .rank = 0, .steps = 5000, .us = 20000, .slow_from = 2500, .slow_us = 500 }
	};
	const struct live_script few[] = { { .rank = 0, .steps = 40, .us = 20000 } };

	(void)state;
	check_changes(same, 1, "");
	check_changes(small, 1, "");
	check_changes(few, 1, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_the_rank),
		cmocka_unit_test(names_all_ranks_or_none),
		cmocka_unit_test(is_silent_without_a_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
