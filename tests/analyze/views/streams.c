/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View streams: gaps by what was waited for.
 */
#include "support/view_cases.h"

#define LAUNCH(ts, id)                                                                    \
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":9," \
	"\"tid\":9,\"ts\":" ts ",\"dur\":1,\"args\":{\"correlation\":" id "}}"
#define KERNEL(stream, ts, dur, id)                                                               \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":" stream ",\"ts\":" ts \
	",\"dur\":" dur ",\"args\":{\"device\":0,\"stream\":" stream ",\"correlation\":" id "}}"
#define COLUMNS "stream,events,busy_ns,host_wait_ns,kernel_wait_ns,other_wait_ns"

static const struct view_case cases[] = {
	{ "nothing", "[]", COLUMNS, "" },
	{ "one kernel has no gap", "[" LAUNCH("1", "1") "," KERNEL("7", "5", "10", "1") "]",
	  COLUMNS, "7,1,10000,0,0,0" },
	{ "launched after the end: the host was late",
	  "[" LAUNCH("1", "1") "," KERNEL("7", "5", "10",
					  "1") "," LAUNCH("16", "2") "," KERNEL("7", "20", "10",
										"2") "]",
	  COLUMNS, "7,2,20000,5000,0,0" },
	{ "launched at the very end is in time",
	  "[" LAUNCH("1", "1") "," KERNEL("7", "5", "10",
					  "1") "," LAUNCH("15", "2") "," KERNEL("7", "20", "10",
										"2") "]",
	  COLUMNS, "7,2,20000,0,5000,0" },
	{ "launched in time, 30 us are something else, a nanosecond less is not",
	  "[" LAUNCH("1", "1") "," LAUNCH("2", "2") "," LAUNCH("3", "3") "," KERNEL(
		  "7", "5", "10", "1") "," KERNEL("7", "45", "10", "2") "," KERNEL("7", "84.999",
										   "10", "3") "]",
	  COLUMNS, "7,3,30000,0,29999,30000" },
	{ "kernels that overlap count below zero",
	  "[" LAUNCH("1", "1") "," LAUNCH("2", "2") "," KERNEL("7", "5", "10",
							       "1") "," KERNEL("7", "12", "10",
									       "2") "]",
	  COLUMNS, "7,2,20000,0,-3000,0" },
	{ "without its launch nobody says that the host was late",
	  "[" KERNEL("7", "5", "10", "1") "," KERNEL("7", "20", "10",
						     "2") "," KERNEL("7", "90", "10", "3") "]",
	  COLUMNS, "7,3,30000,0,5000,60000" },
	{ "streams apart",
	  "[" LAUNCH("1", "1") "," LAUNCH("50", "2") "," KERNEL("7", "5", "10",
								"1") "," KERNEL("20", "60", "10",
										"2") "]",
	  COLUMNS, "7,1,10000,0,0,0\n20,1,10000,0,0,0" },
	{ "a stream with nothing but a mark has no row", "mark m 5 1 +2; kernel k 7 5 +10", COLUMNS,
	  "7,1,10000,0,0,0" },
};

static void test_streams(void **state)
{
	(void)state;
	view_cases_run("streams", cases, SS_COUNT(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_streams) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
