/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule unexplained-time: three steps of 20 ms, of which the GPU works 10 ms, and what the host
 * does in between. The rule claims nothing: "silent" here, and the account reports it as
 * information (tests/diagnose/account.py).
 */
#include "support/rule_cases.h"

#define STEP(n, at)                                                                             \
	"note ProfilerStep#" n " 1 " at "000 +20000; call cudaLaunchKernel 1 " at "010 +10 #" n \
	";"                                                                                     \
	"kernel gemm 0/7 " at "025 +8000 #" n ";"
#define STEPS STEP("1", "10") STEP("2", "30") STEP("3", "50")
/* the launch that ends the gap of 10 ms */
#define SECOND(n, at) \
	"call cudaLaunchKernel 1 " at " +10 #" n "; kernel gemm 0/7 " at " +1900 #" n ";"
#define ENDS SECOND("11", "28050") SECOND("12", "48050") SECOND("13", "68050")
#define FUNCTION(name, at) "frame " name " 1 " at " +9900;"
#define PREPARES                             \
	FUNCTION("a.py(3):prepare", "18100") \
	FUNCTION("a.py(3):prepare", "38100") FUNCTION("a.py(3):prepare", "58100")

static const struct rule_case cases[] = {
	{ "a function fills the gap of every step", STEPS ENDS PREPARES, "silent" },
	{ "saving has its own rule",
	  STEPS ENDS FUNCTION("a.py(3):_save", "18100") FUNCTION("a.py(3):_save", "38100")
		  FUNCTION("a.py(3):_save", "58100"),
	  "silent" },
	{ "nothing is recorded in the gap: where, and not why", STEPS ENDS, "silent" },
	{ "one function that fills one gap of three: the others are launch-bound",
	  STEPS ENDS FUNCTION("a.py(3):f", "38100"), "silent" },
	{ "no steps", "[]", "silent" },
};

RULE_TESTS("unexplained-time", cases, cases[0].trace)
