/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The view live-ranks: where ranks are; files of earlier processes are left out.
 */
#include "support/live_rows.h"

#define EARLIER_NS INT64_C(1780000000000000000)

static void has_rows(void **state)
{
	const struct live_script scripts[] = {
		{ .rank = 1, .steps = 300, .us = 10000 },
		{ .rank = 0,
		  .steps = 310,
		  .us = 10000,
		  .slow_from = 1,
		  .slow_us = 50,
		  .slow_part = SS_LIVE_GC },
		{ .rank = 0, .steps = 900, .us = 10000, .begin_ns = EARLIER_NS },
		{ .rank = 7, .steps = 900, .us = 10000, .begin_ns = EARLIER_NS },
	};
	struct live_case live;
	struct ss_text rows = { 0 };

	(void)state;
	live_case_open(&live, scripts, 4);
	live_case_view(&live, "live-ranks",
		       "rank,host,step,behind,data_ns,gc_ns,optimizer_ns,gpu_ns,steps,job", &rows);
	support_check(strcmp(rows.data, "0,node1,310,0,100000,50000,200000,-,310,llama\n"
					"1,node1,300,10,100000,0,200000,-,300,llama\n") == 0,
		      "ranks", "%s", rows.data);
	assert_int_equal(live.live.left_out, 2);
	ss_text_release(&rows);
	live_case_close(&live);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(has_rows) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
