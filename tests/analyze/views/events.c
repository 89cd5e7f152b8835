/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View events: each event with its thread or stream, its step, and the rows that it belongs to.
 */
#include "support/view_cases.h"

#define AT(cat, name, pid, tid, ts, dur, args)                                                 \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":" pid ",\"tid\":" tid \
	",\"ts\":" ts ",\"dur\":" dur ",\"args\":{" args "}}"
#define ID "\"correlation\":7"

static const struct view_case cases[] = {
	{ "nothing", "[]", "name", "" },
	{ "an event", "[" AT("cpu_op", "aten::mm", "1", "2", "5", "10", "") "]",
	  "row,track,pid,tid,category,name,start_ns,duration_ns,step,depth,parent,link,correlation",
	  "0,thread,1,2,cpu_op,aten::mm,0,10000,0,0,-,-,-" },
	{ "one inside another one",
	  "[" AT("cpu_op", "a", "1", "2", "0", "10", "") "," AT("cpu_op", "b", "1", "2", "2", "3",
								"") "]",
	  "row,name,depth,parent", "0,a,0,-\n1,b,1,0" },
	{ "by thread, then by start",
	  "[" AT("cpu_op", "late", "1", "2", "9", "1",
		 "") "," AT("cpu_op", "other", "1", "3", "0", "1",
			    "") "," AT("cpu_op", "early", "1", "2", "1", "1", "") "]",
	  "tid,name", "2,early\n2,late\n3,other" },
	{ "a kernel has its launch, and the launch's step",
	  "[" AT("cpu_op", "ProfilerStep#3", "1", "2", "0", "20",
		 "") "," AT("cuda_runtime", "cudaLaunchKernel", "1", "2", "5", "1",
			    ID) "," AT("kernel", "k", "0", "7", "30", "10",
				       ID) "," AT("cpu_op", "ProfilerStep#4", "1", "2", "20", "30",
						  "") "]",
	  "row,track,name,step,link,correlation",
	  "0,thread,ProfilerStep#3,0,-,-\n1,thread,cudaLaunchKernel,0,-,7\n"
	  "2,thread,ProfilerStep#4,-,-,-\n3,stream,k,0,1,7" },
	{ "an event without a name", "[" AT("cpu_op", "", "1", "2", "0", "1", "") "]",
	  "row,name,category", "0,-,cpu_op" },
	{ "a category that nobody knows", "[" AT("My_Own", "a", "1", "2", "0", "1", "") "]",
	  "name,category", "a,my_own" },
};

static void test_events(void **state)
{
	(void)state;
	view_cases_run("events", cases, SS_COUNT(cases));
}

/* A file can have more categories than stepscope tells apart. */
static void test_too_many_categories(void **state)
{
	const int named = SS_CATEGORIES_MAX - 1 - SS_CATEGORIES_KNOWN;
	struct ss_text trace = { 0 }, rows = { 0 };
	struct view_case many = { .what = "too many categories", .columns = "category" };

	(void)state;
	for (int i = 0; i < named + 2; i++) {
		ss_text_addf(&trace, "%c" AT("own%d", "a", "1", "2", "%d", "1", ""), i ? ',' : '[',
			     i, i);
		if (i < named)
			ss_text_addf(&rows, "own%d\n", i);
	}
	ss_text_add_string(&trace, "]");
	ss_text_add_string(&rows, "(others)\n(others)");
	many.trace = trace.data;
	many.rows = rows.data;
	view_cases_run("events", &many, 1);
	ss_text_release(&trace);
	ss_text_release(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_events),
					    cmocka_unit_test(test_too_many_categories) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
