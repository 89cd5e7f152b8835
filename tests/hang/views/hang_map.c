/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The view hang-map: signs of ranks that did not come, left no dump, or lost their records; no rows
 * where nothing is pending.
 */
#include "support/flight_cases.h"

#define COLUMNS "process_group,ranks,count,first,calls,operation"
#define WORLD "default_pg [0, 1, 2, 3],"

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

static void has_signs(void **state)
{
	(void)state;
	/* one did not come; another one left no dump */
	check_rows("hang-map",
		   "0 w1:all_reduce/8+ w2:all_reduce/8*| 1 w1:all_reduce/8+ w2:all_reduce/8*|"
		   "2 w1:all_reduce/8+| 3 w1:all_reduce/8+ w2:all_reduce/8*",
		   COLUMNS, WORLD "2,1,1,=.,-\n" WORLD "0, 1, 3,3,1,=>,all_reduce\n");
	check_rows("hang-map",
		   "0 w1:all_reduce/8+ w2:all_reduce/8*| 1 w1:all_reduce/8+ w2:all_reduce/8*|"
		   "2 w1:all_reduce/8+ w2:all_reduce/8*",
		   COLUMNS, WORLD "3,1,1,--,-\n" WORLD "0-2,3,1,=>,all_reduce\n");
	/* two groups are stuck: that of the cause comes first */
	check_rows("hang-map/rank",
		   "0 w1:all_reduce/8+ a1:all_gather/4*| 1 w1:all_reduce/8+|"
		   "2 w1:all_reduce/8+ w2:all_reduce/8*| 3 w1:all_reduce/8+ w2:all_reduce/8*",
		   "ranks,first,calls,operation",
		   "1,1,.,-\n0,1,>,all_gather\n0,1,=.,-\n1,1,=.,-\n2,1,=>,all_reduce\n"
		   "3,1,=>,all_reduce\n");
}

static void has_window(void **state)
{
	struct ss_text script = { 0 };

	(void)state;
	/* 40 collectives: those around the one that is stuck */
	for (int rank = 0; rank < 4; rank++) {
		ss_text_addf(&script, "%s%d", rank ? " | " : "", rank);
		for (int i = 1; i <= (rank ? 40 : 39); i++)
			ss_text_addf(&script, " w%d:all_reduce/8%s", i, i < 40 ? "+" : "*");
	}
	check_rows("hang-map", script.data, "ranks,first,calls",
		   "0,32,========.\n1-3,32,========>\n");
	ss_text_release(&script);
}

static void is_quiet(void **state)
{
	(void)state;
	check_rows("hang-map",
		   "0 w1:all_reduce/8+| 1 w1:all_reduce/8+| 2 w1:all_reduce/8+| 3 w1:all_reduce/8+",
		   COLUMNS, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_signs),
		cmocka_unit_test(has_window),
		cmocka_unit_test(is_quiet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
