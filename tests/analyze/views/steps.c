/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View steps: the steps of tests/trace/finish/steps.c as a table.
 */
#include "support/view_cases.h"

#define STEP(n, ts)                                                            \
	"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#" n \
	"\",\"pid\":1,\"tid\":1,\"ts\":" ts ",\"dur\":10}"
#define LAUNCH(ts, id)                                                                    \
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1," \
	"\"tid\":1,\"ts\":" ts ",\"dur\":1,\"args\":{\"correlation\":" id "}}"
#define KERNEL(ts, id)                                                                   \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":" ts \
	",\"dur\":4,\"args\":{\"correlation\":" id "}}"

static const struct view_case cases[] = {
	{ "nothing", "[]", "step,name", "" },
	{ "effective times, those of the range, and those of the file",
	  "[" STEP("4", "100") "," LAUNCH("105", "1") "," KERNEL("109", "1") "," STEP(
		  "5", "110") "," LAUNCH("112", "2") "," KERNEL("118", "2") "]",
	  "step,name,dur_ns,start_ns,end_ns,host_dur_ns,host_start_ns,device_events,file_start_ns,"
	  "file_end_ns,"
	  "anchor,dropped",
	  "0,ProfilerStep#4,13000,0,13000,10000,0,1,100000,113000,ProfilerStep,-\n"
	  "1,ProfilerStep#5,9000,13000,22000,10000,10000,1,113000,122000,ProfilerStep,-" },
	{ "a step that does not count says why",
	  "[" STEP("4", "100") "," LAUNCH("105", "1") "," KERNEL("106", "1") "," STEP("5",
										      "110") "]",
	  "step,device_events,dropped", "0,1,-\n1,0,no device events" },
	{ "a step that nobody named", "[" LAUNCH("1", "1") "," KERNEL("2", "1") "]",
	  "step,name,dur_ns,anchor,device_events", "0,-,4000,span of the device events,0" },
};

static void test_steps(void **state)
{
	(void)state;
	view_cases_run("steps", cases, SS_COUNT(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_steps) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
