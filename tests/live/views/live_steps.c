/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The view live-steps: by minute, by step, by rank and minute.
 */
#include "support/live_rows.h"

static void check_steps(const char *view, const char *columns, const char *expected)
{
	const struct live_script scripts[] = {
		{ .rank = 0, .steps = 5, .us = 30000000 },
		{ .rank = 1,
		  .steps = 4,
		  .us = 30000000,
		  .slow_from = 4,
		  .slow_us = 1000000,
		  .slow_part = SS_LIVE_DATA },
	};
	struct live_case live;
	struct ss_text rows = { 0 };

	live_case_open(&live, scripts, 2);
	live_case_view(&live, view, columns, &rows);
	support_check(strcmp(rows.data ? rows.data : "", expected) == 0, view, "%s",
		      rows.data ? rows.data : "");
	ss_text_release(&rows);
	live_case_close(&live);
}

static void has_rows(void **state)
{
	(void)state;
	check_steps("live-steps", "step,steps,ranks,longest_rank", "1,1,2,0\n2,2,2,0\n4,2,1,1\n");
	check_steps("live-steps/step", "step,ranks,data_ns,longest_data_ns,longest_data_rank",
		    "1,2,100000,100000,0\n2,2,100000,100000,0\n3,2,100000,100000,0\n"
		    "4,2,500100000,1000100000,1\n5,1,100000,100000,0\n");
	check_steps("live-steps/rank", "rank,step,steps",
		    "0,1,1\n0,2,2\n0,4,2\n1,1,1\n1,2,2\n1,4,1\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(has_rows) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
