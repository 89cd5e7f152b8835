/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule straggler. Steps of 1,000 us on four ranks: a kernel of 400 us, then an all-reduce
 * that moves data for 88 us once the last rank has arrived, then the host waits for the device. One
 * rank needs 400 us more for its kernel, or launches it 400 us later, or its kernel and another
 * one: without that a step takes 600 us.
 */
#include "support/make/collectives.h"
#include "support/rule_cases.h"

#define MORE(n)                                   \
	BEGIN(n)                                  \
	WORK(n, "010", "1", "gemm", "015", "397") \
	WORK(n, "016", "2", "more", "413", "399") MEET(n, "022", "812", "088") WAIT(n, "030", "880")
#define LATE(n)  \
	BEGIN(n) \
	WORK(n, "410", "1", "gemm", "415", "397") MEET(n, "420", "812", "088") WAIT(n, "430", "480")

/* A stage of a pipeline only sends and receives: lateness says nothing. */
#define PASS(n, at, start, dur)                                                                 \
	"call cuLaunchKernel 1 " n at " +5 #" n "9; kernel ncclDevKernel_SendRecv 0/9 " n start \
	" +" dur " #" n "9;"
#define STAGE(n) \
	BEGIN(n) \
	WORK(n, "010", "1", "gemm", "015", "397") PASS(n, "020", "412", "488") WAIT(n, "030", "880")
#define SLOW_STAGE(n) \
	BEGIN(n)      \
	WORK(n, "010", "1", "gemm", "015", "797") PASS(n, "020", "812", "088") WAIT(n, "030", "880")
/* 1.19 times as long: stages may differ by that */
#define LARGE_STAGE(n) \
	BEGIN(n)       \
	WORK(n, "010", "1", "gemm", "015", "472") PASS(n, "020", "487", "413") WAIT(n, "030", "880")
/* the kernels that it shares with the other are as fast */
#define LONG_STAGE(n)                             \
	BEGIN(n)                                  \
	WORK(n, "010", "1", "gemm", "015", "397") \
	WORK(n, "016", "2", "more", "413", "399") PASS(n, "022", "812", "088") WAIT(n, "030", "880")

#define STEPS(step) step("1") step("2") step("3") step("4") "note ProfilerStep#5 1 5000 +10"
#define NEXT "\n---\n"
#define JOB(step)                      \
	STEPS(USUAL) NEXT STEPS(USUAL) \
	NEXT STEPS(step)               \
	NEXT STEPS(USUAL)
#define THREE(step) step("1") step("2") step("3") "note ProfilerStep#4 1 4000 +10"
#define MIXED(a, b) a("1") b("2") a("3") a("4") "note ProfilerStep#5 1 5000 +10"

/* Without devices, steps of 10 ms: until the collective 3 or 5 ms, then 4.6 ms on all. */
#define THREAD(n, len, dur)                                                    \
	"note ProfilerStep#" n " 1 " n "0000 +10000; op fwd 1 " n "0000 +" len \
	"; note gloo:all_reduce 2 " n len " +" dur "; op opt 1 " n "5405 +4000;"
#define SHORT(n) THREAD(n, "3000", "2400")
#define LONG(n) THREAD(n, "5000", "400")
#define HOST_STEPS(step) step("1") step("2") step("3") step("4")
/* As short, but 2 ms of something else than operators before the collective. */
#define OUTSIDE(n)                                                                         \
	"note ProfilerStep#" n " 1 " n "0000 +10000; op fwd 1 " n "0000 +3000; note gloo:" \
	"all_reduce 2 " n "5000 +400; op opt 1 " n "5405 +4000;"
/* Longer in some steps, by what a busy machine takes: all call the same. */
#define BUSY_STEPS THREAD("1", "4900", "500") SHORT("2") THREAD("3", "3300", "2100") LONG("4")

/* As that, and the function is recorded. */
/* As that, but the function calls operators. */
#define CHECKS(n)                                \
	OUTSIDE(n)                               \
	"frame a.py(3):check 1 " n "3000 +1990;" \
	"op aten::a 1 " n "3005 +980;"           \
	"op aten::b 1 " n "3990 +980;"
#define COUNTS(n) OUTSIDE(n) "frame a.py(3):count 1 " n "3000 +1990;"
#define OP(n, at, dur) "op mul 1 " n at " +" dur ";"

/* Operators of 0.4 ms, one of them held up, and 0.3 ms outside or more. */
#define FEW(n, dur, at, wait)                                                               \
	"note ProfilerStep#" n " 1 " n "0000 +6700;" OP(n, "0000", dur) OP(n, "0150", "50") \
		OP(n, "0200", "50") OP(n, "0250", "50") "note gloo:"                        \
							"all_reduce 2 " n at " +" wait      \
							"; op opt 1 " n "6405 +200;"
#define FEW_USUAL(n) FEW(n, "50", "0400", "6000")
#define FEW_AND_SLEEP(n) FEW(n, "130", "5400", "1000")
#define FEW_AND_BUSY(n) FEW(n, "130", "0700", "5700")
/* As many operators as short, held up for nearly as long as that function takes. */
#define HELD(n) THREAD(n, "4800", "600")

/* Operators of 0.5 ms, six of them; the second is held up for 2 ms on the late rank. */
#define FIVE(n, a, b, c, d, e) \
	OP(n, a, "500") OP(n, b, "500") OP(n, c, "500") OP(n, d, "500") OP(n, e, "500")
#define SIX(n)                                                                              \
	"note ProfilerStep#" n " 1 " n "0000 +10000;" OP(n, "0000", "500")                  \
		FIVE(n, "0500", "1000", "1500", "2000", "2500") "note gloo:all_reduce 2 " n \
								"3000 +2400; op opt 1 " n   \
								"5405 +4000;"
#define HELD_UP(n)                                                                          \
	"note ProfilerStep#" n " 1 " n "0000 +10000;" OP(n, "0000", "2500")                 \
		FIVE(n, "2500", "3000", "3500", "4000", "4500") "note gloo:all_reduce 2 " n \
								"5000 +400; op opt 1 " n    \
								"5405 +4000;"

static const struct rule_case cases[] = {
	{ "a device that takes twice as long", JOB(SLOW),
	  "warning 400.0 high rank 2\n"
	  "all of its kernels take 2.01 times as long as on the median rank: 0.40 ms more per "
	  "step\n"
	  "each of the other 3 ranks waits 0.40 ms per step for it\n"
	  "it reaches its collectives 0.40 ms per step after the first rank, in 4 of 4 steps" },
	{ "more to compute", JOB(MORE),
	  "warning 399.0 high rank 2\n"
	  "each of the other 3 ranks waits 0.40 ms per step for it\n"
	  "it reaches its collectives 0.40 ms per step after the first rank, in 4 of 4 steps\n"
	  "it computes 0.40 ms per step longer than the median rank" },
	/*
	 * its 410 and 90 us before and behind the launch become 82 and 18 us, not 10 and 90: the
	 * first launch and the last end, half of four steps, are 72 us later than they should be
	 */
	{ "a host that launches late", JOB(LATE),
	  "warning 363.8 high rank 2\n"
	  "while its GPU is idle, its host is in cudaDeviceSynchronize: 0.41 ms per step\n"
	  "each of the other 3 ranks waits 0.40 ms per step for it\n"
	  "it reaches its collectives 0.40 ms per step after the first rank, in 4 of 4 steps\n"
	  "its GPU is idle 0.40 ms per step longer than that of the median rank: its host waits "
	  "for its GPU" },
	{ "a stage of a pipeline whose device takes twice as long",
	  STEPS(STAGE) NEXT STEPS(SLOW_STAGE),
	  "warning 400.0 high rank 1\n"
	  "all of its kernels take 2.01 times as long as on the median rank: 0.40 ms more per "
	  "step\n"
	  "the other stages wait 0.40 ms per step longer than it does, in 4 of 4 steps" },
	{ "a stage that is a little larger", STEPS(STAGE) NEXT STEPS(LARGE_STAGE), "" },
	{ "a stage with more layers", STEPS(STAGE) NEXT STEPS(LONG_STAGE), "silent" },
	{ "stages that are alike", STEPS(STAGE) NEXT STEPS(STAGE), "" },
	{ "a slow stage whose neighbour is not recorded", STEPS(SLOW_STAGE), "" },
	{ "no devices: 2 ms more before the collective, nothing more behind it",
	  HOST_STEPS(SHORT) NEXT HOST_STEPS(SHORT) NEXT HOST_STEPS(LONG) NEXT HOST_STEPS(SHORT),
	  "warning 2000.0 high rank 2\n"
	  "each of the other 3 ranks waits 2.00 ms per step for it\n"
	  "it reaches its collectives 2.00 ms per step after the first rank, in 4 of 4 steps\n"
	  "its operators take 1.29 times as long as on the median rank, which runs as many: 2.00 "
	  "ms more per step" },
	{ "no devices: 2 ms of Python before the collective",
	  HOST_STEPS(SHORT) NEXT HOST_STEPS(SHORT) NEXT HOST_STEPS(OUTSIDE) NEXT HOST_STEPS(SHORT),
	  "warning 2000.0 high rank 2\n"
	  "each of the other 3 ranks waits 2.00 ms per step for it\n"
	  "it reaches its collectives 2.00 ms per step after the first rank, in 4 of 4 steps\n"
	  "it takes 2.00 ms per step longer than the median rank: its host runs code outside of "
	  "operators" },
	{ "no devices: a function that only this rank runs",
	  HOST_STEPS(SHORT) NEXT HOST_STEPS(SHORT) NEXT HOST_STEPS(COUNTS) NEXT HOST_STEPS(SHORT),
	  "warning 2000.0 high rank 2\n"
	  "each of the other 3 ranks waits 2.00 ms per step for it\n"
	  "it reaches its collectives 2.00 ms per step after the first rank, in 4 of 4 steps\n"
	  "it takes 2.00 ms per step longer than the median rank: its host runs code outside of "
	  "operators\n"
	  "count takes 1.99 ms per step outside of operators (a.py(3):count)" },
	{ "no devices: operators of a function that only this rank runs",
	  HOST_STEPS(SHORT) NEXT HOST_STEPS(SHORT) NEXT HOST_STEPS(CHECKS) NEXT HOST_STEPS(SHORT),
	  "warning 2000.0 high rank 2\n"
	  "each of the other 3 ranks waits 2.00 ms per step for it\n"
	  "it reaches its collectives 2.00 ms per step after the first rank, in 4 of 4 steps\n"
	  "check takes 1.99 ms per step with its operators (a.py(3):check)\n"
	  "it computes 1.96 ms per step longer than the median rank" },
	{ "no devices: the same function, and the other rank is held up in three steps",
	  SHORT("1") HELD("2") HELD("3") HELD("4") NEXT HOST_STEPS(COUNTS),
	  "warning 650.0 high rank 1\n"
	  "it takes 2.00 ms per step longer than the median rank: its host runs code outside of "
	  "operators\n"
	  "count takes 1.99 ms per step outside of operators (a.py(3):count)\n"
	  "it reaches its collectives 0.65 ms per step after the first rank, in 4 of 4 steps\n"
	  "the other rank waits 0.65 ms per step for it" },
	{ "no devices: few operators, slower by chance, and 5 ms outside",
	  HOST_STEPS(FEW_USUAL) NEXT HOST_STEPS(FEW_USUAL) NEXT HOST_STEPS(FEW_AND_SLEEP)
		  NEXT HOST_STEPS(FEW_USUAL),
	  "warning 3651.2 high rank 2\n"
	  "each of the other 3 ranks waits 5.00 ms per step for it\n"
	  "it reaches its collectives 5.00 ms per step after the first rank, in 4 of 4 steps\n"
	  "it takes 4.92 ms per step longer than the median rank: its host runs code outside of "
	  "operators" },
	{ "no devices: few operators, and as much more outside",
	  HOST_STEPS(FEW_USUAL) NEXT HOST_STEPS(FEW_USUAL) NEXT HOST_STEPS(FEW_AND_BUSY)
		  NEXT HOST_STEPS(FEW_USUAL),
	  "" },
	{ "no devices: as much to do, and other processes take the core in each step",
	  HOST_STEPS(SIX) NEXT HOST_STEPS(SIX) NEXT HOST_STEPS(HELD_UP) NEXT HOST_STEPS(SIX), "" },
	{ "no devices: as much to do, and late by chance", HOST_STEPS(SHORT) NEXT BUSY_STEPS, "" },
	{ "two at once: what they cost is joint",
	  THREE(SLOW) NEXT THREE(USUAL) NEXT THREE(SLOW) NEXT THREE(USUAL) NEXT THREE(USUAL),
	  "warning 400.0 high\n"
	  "rank 0: all of its kernels take 2.01 times as long as on the median rank: 0.40 ms "
	  "more per step\n"
	  "rank 0: it reaches its collectives 0.40 ms per step after the first rank, in 3 of 3 "
	  "steps\n"
	  "rank 2: all of its kernels take 2.01 times as long as on the median rank: 0.40 ms "
	  "more per step\n"
	  "rank 2: it reaches its collectives 0.40 ms per step after the first rank, in 3 of 3 "
	  "steps" },
	{ "all alike", JOB(USUAL), "" },
	{ "all late", STEPS(LATE) NEXT STEPS(LATE) NEXT STEPS(LATE) NEXT STEPS(LATE), "" },
	{ "late in one step of four",
	  STEPS(USUAL) NEXT STEPS(USUAL) NEXT MIXED(USUAL, SLOW) NEXT STEPS(USUAL), "" },
	{ "one rank alone", STEPS(SLOW), "" },
	{ "ranks that do not meet",
	  BEGIN("1") WORK("1", "010", "1", "gemm", "015", "397") NEXT BEGIN("1")
		  WORK("1", "010", "1", "gemm", "015", "797"),
	  "" },
	{ "no steps",
	  WORK("1", "010", "1", "gemm", "015", "397") MEET("1", "020", "412", "488")
		  NEXT WORK("1", "010", "1", "gemm", "015", "797") MEET("1", "020", "812", "088"),
	  "silent" },
	{ "nothing", "[]", "" },
};

static void test_cases(void **state)
{
	(void)state;
	rule_cases_run("straggler", cases, SS_COUNT(cases));
}

static void test_memory(void **state)
{
	(void)state;
	rule_memory_run(STEPS(USUAL) NEXT STEPS(SLOW));
	rule_memory_run(STEPS(STAGE) NEXT STEPS(SLOW_STAGE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
