/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule launch-bound. Steps of 1,000 us with four kernels of 50 us that are launched 250 us
 * after each other. Without the time that the device waited for them launches are 50 us
 * apart, the first comes after 4 us, and 190 us of the host follow the last: three steps take
 * 4 + 1 + 11 * 50 + 190 = 745 us.
 */
#include "support/rule_cases.h"

#define LAUNCH(n, at, id) \
	"call cudaLaunchKernel 1 " n at "0 +10 #" n id "; kernel gemm 0/7 " n at "5 +50 #" n id ";"
#define STEP(n, more)                                                                         \
	"note ProfilerStep#" n " 1 " n "000 +1000;" LAUNCH(n, "05", "1") LAUNCH(n, "30", "2") \
		LAUNCH(n, "55", "3") LAUNCH(n, "80", "4") more
#define LAST "note ProfilerStep#4 1 4000 +1000"
#define LATE STEP("1", "") STEP("2", "") STEP("3", "") LAST

#define SAID "4 launches per step arrive after the GPU has run out of work; it idles 0.75 ms"

/* A host that is ahead: its steps take 100 us, those of the device 100 and more. */
#define AHEAD(n, host, device)                                                                  \
	"note ProfilerStep#" n " 1 " host "00 +100; call cudaLaunchKernel 1 " host "00 +10 #" n \
	"0;"                                                                                    \
	"kernel gemm 0/7 " device " +100 #" n "0;"
#define TINY(n, host, id, device)                         \
	"call cudaLaunchKernel 1 " host " +10 #" n id ";" \
	"kernel vectorized_elementwise_kernel 0/7 " device " +2 #" n id ";"

/* A step with a pause of 9,000 us before its only kernel, and one without; at: ms. */
#define PAUSED(n, at, launch)                                                         \
	"note ProfilerStep#" n " 1 " at "000 +10000; call cudaLaunchKernel 1 " launch \
	"000 +10 #" n "; kernel gemm 0/7 " launch "005 +997 #" n ";"
#define PROMPT(n, at)                                                                              \
	"note ProfilerStep#" n " 1 " at "000 +1000; call cudaLaunchKernel 1 " at "000 +10 #" n ";" \
	"kernel gemm 0/7 " at "005 +997 #" n ";"

/*
 * Ranks that meet twice a step, each time for 5 us, and compute 50 us before: each host needs
 * 500 us for both launches. The hosts of two ranks are 250 us ahead of the third, so their
 * devices wait for it more than for them.
 */
#define PAIR(n, gemm, gemm_at, meet, meet_at, dur, id)                                             \
	"call cuLaunchKernel 1 " n gemm " +5 #" n id "1; kernel gemm 0/7 " n gemm_at " +50 #" n id \
	"1; call cuLaunchKernel 1 " n meet " +5 #" n id                                            \
	"2; kernel ncclKernel_AllReduce 0/7 " n meet_at " +" dur " #" n id "2;"
#define HOST_AHEAD(n)                                                \
	"note ProfilerStep#" n " 1 " n                               \
	"000 +1000;" PAIR(n, "050", "055", "195", "200", "255", "1") \
		PAIR(n, "250", "455", "695", "700", "255", "2")
#define HOST_BEHIND(n)                                               \
	"note ProfilerStep#" n " 1 " n                               \
	"000 +1000;" PAIR(n, "200", "205", "445", "450", "005", "1") \
		PAIR(n, "700", "705", "945", "950", "005", "2")
/* A host with nothing to do: it has launched everything at once, and waits. */
#define HOST_WAITS(n)                                                                             \
	"note ProfilerStep#" n " 1 " n                                                            \
	"000 +1000;" PAIR(n, "010", "015", "020", "065", "390", "1")                              \
		PAIR(n, "030", "455", "040", "505", "450", "2") "call cudaDeviceSynchronize 1 " n \
								"050 +910;"
#define RUN(step) step("1") step("2") step("3") "note ProfilerStep#4 1 4000 +1000"
#define NEXT "\n---\n"

static const struct rule_case cases[] = {
	{ "the host is late for all launches", LATE, "warning 751.7 high\n" SAID },
	{ "operators, and stacks make the host slower",
	  LATE ";op aten::mm 1 1250 +70; op aten::mm 1 1500 +70; op aten::mm 1 1750 +70;"
	       "frame m.py(5):_f 1 900 +5000",
	  "warning 751.7 medium\n" SAID
	  "\nthe host is in m.py(5):_f for 0.69 ms of that per step (m.py(5):_f)" },
	/* of five kernels four are gone, with the gap of 1 us to the next: 12 us a step */
	{ "tiny kernels in a row, behind a host that is ahead",
	  AHEAD("1", "10", "1005") TINY("1", "1020", "1", "1106") TINY("1", "1035", "2", "1109")
		  TINY("1", "1050", "3", "1112") TINY("1", "1065", "4", "1115")
			  TINY("1", "1080", "5", "1118") AHEAD("2", "11", "1121") TINY("2", "1120",
										       "1", "1222")
				  TINY("2", "1135", "2", "1225") TINY("2", "1150", "3", "1228")
					  TINY("2", "1165", "4", "1231") TINY("2", "1180", "5",
									      "1234")
						  AHEAD("3", "12",
							"1237") "note ProfilerStep#4 1 1300 +100",
	  "warning 12.0 high\n"
	  "4 elementwise kernels per step follow each other and are shorter than their "
	  "launches: 0.01 ms" },
	{ "three in a row are not many",
	  AHEAD("1", "10", "1005") TINY("1", "1020", "1", "1106") TINY("1", "1035", "2", "1109")
		  TINY("1", "1050", "3", "1112")
			  AHEAD("2", "11", "1115") "note ProfilerStep#4 1 1300 +100",
	  "" },
	/* 4 us to the launch, 5 to its kernel, three kernels, 1 us between them: 3,002 us */
	{ "a pause in each step",
	  PAUSED("1", "10", "19") PAUSED("2", "20", "29")
		  PAUSED("3", "30", "39") "note ProfilerStep#4 1 40000 +10000",
	  "warning 9000.0 high\n"
	  "1 launch per step arrives after the GPU has run out of work; it idles 9.00 ms" },
	{ "a pause in one of them is none of launching",
	  PROMPT("1", "10") PAUSED("2", "11", "20") PROMPT("3", "21") PROMPT("4", "22")
		  PROMPT("5", "23") "note ProfilerStep#6 1 24000 +1000",
	  "" },
	{ "most ranks are late", LATE "\n---\n" LATE "\n---\n" LATE, "warning 751.7 high\n" SAID },
	{ "one rank of four: that rank is slow",
	  LATE "\n---\n" AHEAD("1", "10", "1005")
		  AHEAD("2", "11", "1106") "\n---\n" AHEAD("1", "10", "1005")
			  AHEAD("2", "11", "1106") "\n---\n" AHEAD("1", "10", "1005")
				  AHEAD("2", "11", "1106"),
	  "" },
	/* 5 us to the first kernel, 3 * 110, 11 * 1 us between kernels: 346 us are left of three */
	{ "all hosts are slow, and all devices wait for one",
	  RUN(HOST_AHEAD) NEXT RUN(HOST_BEHIND) NEXT RUN(HOST_AHEAD),
	  "warning 884.7 medium\n"
	  "a host spends 0.93 ms per step on its launches\n"
	  "3.3 launches per step arrive after the GPU has run out of work; it idles 0.54 ms\n"
	  "rank 1 arrives last, 0.50 ms per step after the first rank, in 3 of 3 steps; without "
	  "it the other hosts would be late themselves\n"
	  "a GPU computes and moves data for 0.11 ms per step; otherwise it waits for its host, "
	  "or in collectives for other hosts" },
	{ "one host is slow, the others wait for their devices",
	  RUN(HOST_WAITS) NEXT RUN(HOST_BEHIND) NEXT RUN(HOST_WAITS), "" },
	{ "a few launches of a file without steps: start-up",
	  LAUNCH("1", "05", "1") LAUNCH("1", "30", "2") LAUNCH("1", "55", "3"), "" },
	{ "the first launch of a kernel loads it",
	  "note ProfilerStep#1 1 0 +700000; call cudaLaunchKernel 1 10 +626000 #1;"
	  "kernel gemm 0/7 626020 +50 #1",
	  "" },
	{ "input is late, not the launch",
	  "note ProfilerStep#1 1 1000 +1000; note enumerate(DataLoader)#_I.__next__ 1 1001 +498;"
	  "call cudaLaunchKernel 1 1500 +10 #1; kernel gemm 0/7 1505 +490 #1;"
	  "note ProfilerStep#2 1 2000 +1000; note enumerate(DataLoader)#_I.__next__ 1 2001 +498;"
	  "call cudaLaunchKernel 1 2500 +10 #2; kernel gemm 0/7 2505 +490 #2;"
	  "note ProfilerStep#3 1 3000 +1000",
	  "silent" },
	{ "a job without a device", "note ProfilerStep#1 1 0 +100; op aten::mm 1 10 +50", "" },
	{ "nothing", "[]", "" },
};

static void test_cases(void **state)
{
	(void)state;
	rule_cases_run("launch-bound", cases, SS_COUNT(cases));
}

static void test_memory(void **state)
{
	(void)state;
	rule_memory_run(cases[0].trace);
	rule_memory_run(RUN(HOST_AHEAD) NEXT RUN(HOST_BEHIND) NEXT RUN(HOST_AHEAD));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
