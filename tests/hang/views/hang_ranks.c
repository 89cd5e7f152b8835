/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The view hang-ranks: its rows for a rank that did not come, and for a job that finished.
 */
#include "support/flight_cases.h"

#define STUCK                                                                       \
	"0 w1:all_reduce/8+ w2:all_reduce/8*| 1 w1:all_reduce/8+ w2:all_reduce/8*|" \
	"2 w1:all_reduce/8+| 3 w1:all_reduce/8+ w2:all_reduce/8*"
#define CALM "0 w1:all_reduce/8+| 1 w1:all_reduce/8+| 2 w1:all_reduce/8+| 3 w1:all_reduce/8+"

static void check_rows(const char *view, const char *script, const char *columns,
		       const char *expected)
{
	struct flight_case flights;
	struct ss_text rows = { 0 };

	flight_case_open(&flights, script, NULL);
	flight_case_view(&flights, view, columns, &rows);
	support_check(strcmp(rows.data ? rows.data : "", expected) == 0, view, "%s",
		      rows.data ? rows.data : "");
	ss_text_release(&rows);
	flight_case_close(&flights);
}

static void has_rows(void **state)
{
	(void)state;
	check_rows("hang-ranks", STUCK, "state,ranks,count,operation,sequence,line",
		   "absent,2,1,all_reduce,1,-\nwaits,0, 1, 3,3,all_reduce,2,-\n");
	check_rows("hang-ranks", CALM, "state,ranks,count", "finished,0-3,4\n");
	check_rows("hang-ranks/rank", CALM, "state,ranks",
		   "finished,0\nfinished,1\nfinished,2\nfinished,3\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(has_rows) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
