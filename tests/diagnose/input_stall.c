/*
 * The rule input-stall. Two steps of 1,000 us: the training thread takes a batch, launches
 * one kernel and goes on; the device works 500 us of each.
 */
#include "support/rule_cases.h"

#define SINGLE "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
#define MULTI "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"

/* One step at `t`, written in thousands: input of `dur`, then a launch at `at`. */
#define STEP(n, t, name, dur, at)                                            \
	"note ProfilerStep#" n " 1 " t "000 +1000;"                          \
	"note " name " 1 " t "000 +" dur ";"                                 \
	"op aten::mm 1 " t at " +10; call cudaLaunchKernel 1 " t at " +10 #" \
	n ";"                                                                \
	"kernel gemm 0/7 " t at ".5 +495 #" n ";"

static const struct rule_case cases[] = {
	{ "a batch that is made in the training process",
	  STEP("1", "1", SINGLE, "500", "500") STEP("2", "2", SINGLE, "500", "500")
		  STEP("3", "3", SINGLE, "500", "500"),
	  "warning 298.5 high\n" SINGLE " blocks the training thread 0.50 ms a step" },
	{ "no DataLoader in the file", "note ProfilerStep#1 1 0 +1000; op aten::mm 1 0 +10", "" },
	{ "no steps", "note " SINGLE " 1 0 +1000", "" },
	{ "nothing", "[]", "" },
};

static void test_cases(void **state)
{
	(void)state;
	rule_cases_run("input-stall", cases, SS_COUNT(cases));
}

static void test_memory(void **state)
{
	(void)state;
	rule_memory_run(cases[0].trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
