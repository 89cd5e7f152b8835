/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule loop-indexing. One step of 1,000 us on the host. A loop of 32 turns of
 * 10 us from 100 us on ends with its last index at 415 us: a 32nd of these 315 us stays.
 */
#include "support/rule_cases.h"

#define T(at) "op aten::select 1 " #at " +5;"
#define LOOP_8(a, b, c, d, e, f, g, h) T(a) T(b) T(c) T(d) T(e) T(f) T(g) T(h)
#define LOOP_24                                        \
	LOOP_8(100, 110, 120, 130, 140, 150, 160, 170) \
	LOOP_8(180, 190, 200, 210, 220, 230, 240, 250) \
	LOOP_8(260, 270, 280, 290, 300, 310, 320, 330)
#define LOOP_32 LOOP_24 LOOP_8(340, 350, 360, 370, 380, 390, 400, 410)
/* as a decoder does: the last position of each token */
#define SLOW_8 LOOP_8
#define STEP "note ProfilerStep#1 1 0 +1000;"

static const struct rule_case cases[] = {
	{ "a loop over the elements", STEP LOOP_32,
	  "warning 305.2 low\naten::select repeats in a loop: 0.32 ms of host time per step" },
	{ "other operators in its turns",
	  STEP LOOP_24 "op aten::mul 1 335 +2; op aten::add 1 338 +2;" LOOP_8(340, 350, 360, 370,
									      380, 390, 400, 410),
	  "warning 305.2 low\naten::select repeats in a loop: 0.32 ms of host time per step" },
	{ "a few indexes", STEP LOOP_24, "" },
	{ "other work between: no loop",
	  STEP LOOP_24 "op a 1 335 +.1; op a 1 335.2 +.1; op a 1 335.4 +.1; op a 1 335.6 +.1;"
		       "op a 1 335.8 +.1; op a 1 336 +.1; op a 1 336.2 +.1; op a 1 336.4 +.1;"
		       "op a 1 336.6 +.1;" LOOP_8(340, 350, 360, 370, 380, 390, 400, 410),
	  "" },
	{ "a model between two loops is not part of them",
	  "note ProfilerStep#1 1 0 +3000;" LOOP_24
	  "op aten::gru 1 340 +1000;" LOOP_8(1400, 1410, 1420, 1430, 1440, 1450, 1460, 1470),
	  "info 290.8 low\naten::select repeats in a loop: 0.31 ms of host time per step" },
	{ "turns that compute are no loop over elements",
	  "note ProfilerStep#1 1 0 +40000;" SLOW_8(0, 1000, 2000, 3000, 4000, 5000, 6000, 7000)
		  SLOW_8(8000, 9000, 10000, 11000, 12000, 13000, 14000, 15000)
			  SLOW_8(16000, 17000, 18000, 19000, 20000, 21000, 22000, 23000)
				  SLOW_8(24000, 25000, 26000, 27000, 28000, 29000, 30000, 31000),
	  "" },
	{ "inside of an operator", STEP "op aten::unbind 1 90 +400;" LOOP_32, "" },
	{ "no steps, one span of the host", "op b 1 0 +1;" LOOP_24, "" },
	{ "outside of the step", "note ProfilerStep#1 1 500 +100; op a 1 510 +10;" LOOP_32, "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("loop-indexing", cases, cases[0].trace)
