/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The view hang-groups: its rows for a rank that did not come, and for a job that finished.
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
	check_rows("hang-groups", STUCK,
		   "process_group,called,called_by_all,pending,waiting,absent_ranks",
		   "default_pg [0, 1, 2, 3],2,1,2,3,2\n");
	check_rows("hang-groups", CALM, "called,called_by_all,pending,waiting,absent",
		   "1,1,-,-,-\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(has_rows) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
