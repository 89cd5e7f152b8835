/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule imbalance. Steps of 1,000 us on four ranks: a kernel of 400 us, then an all-reduce
 * that moves data for 88 us once the last rank has arrived, then the host waits for the device. In
 * each step another rank has a kernel of 800 us: without that a step takes 600 us.
 */
#include "support/make/collectives.h"
#include "support/rule_cases.h"

/* The host launches the all-reduce so late that it is nearly all that is waited for. */
#define HELD(n)                                   \
	BEGIN(n)                                  \
	WORK(n, "010", "1", "gemm", "015", "397") \
	MEET(n, "785", "790", "110") WAIT(n, "800", "110")
#define HELD_SLOW(n)                              \
	BEGIN(n)                                  \
	WORK(n, "010", "1", "gemm", "015", "797") \
	MEET(n, "785", "812", "088") WAIT(n, "800", "110")
#define STEPS(step) step("1") step("2") step("3") step("4") "note ProfilerStep#5 1 5000 +10"
#define NEXT "\n---\n"
#define FOUR(a, b, c, d) a("1") b("2") c("3") d("4") "note ProfilerStep#5 1 5000 +10"

static const struct rule_case cases[] = {
	{ "in each step another rank has more to compute",
	  FOUR(SLOW, USUAL, USUAL, USUAL) NEXT FOUR(USUAL, SLOW, USUAL, USUAL)
		  NEXT FOUR(USUAL, USUAL, SLOW, USUAL) NEXT FOUR(USUAL, USUAL, USUAL, SLOW),
	  "warning 400.0 high\n"
	  "each of the other 3 ranks waits 0.40 ms per step for it\n"
	  "in each step one rank computes 0.40 ms longer than the median rank (2.01 times as "
	  "long)\n"
	  "it is a different rank each time: late by 0.40 ms in 4 of 4 steps" },
	{ "other waits hide who is late",
	  FOUR(HELD_SLOW, HELD, HELD, HELD) NEXT FOUR(HELD, HELD_SLOW, HELD, HELD)
		  NEXT FOUR(HELD, HELD, HELD_SLOW, HELD) NEXT FOUR(HELD, HELD, HELD, HELD_SLOW),
	  "info 22.0 medium\n"
	  "in each step one rank computes 0.40 ms longer than the median rank (2.01 times as "
	  "long)" },
	{ "hidden, and always the same rank",
	  STEPS(HELD) NEXT STEPS(HELD_SLOW) NEXT STEPS(HELD) NEXT STEPS(HELD), "" },
	{ "always the same rank: a straggler",
	  STEPS(USUAL) NEXT STEPS(USUAL) NEXT STEPS(SLOW) NEXT STEPS(USUAL), "" },
	{ "all alike", STEPS(USUAL) NEXT STEPS(USUAL) NEXT STEPS(USUAL) NEXT STEPS(USUAL), "" },
	{ "all have much", STEPS(SLOW) NEXT STEPS(SLOW) NEXT STEPS(SLOW) NEXT STEPS(SLOW), "" },
	{ "one rank alone", STEPS(SLOW), "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("imbalance", cases, cases[0].trace)
