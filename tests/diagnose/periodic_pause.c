/*
 * The rule periodic-pause. Steps of 10 ms, or of 2 ms: the longer ones stand still for 8 ms and
 * nothing says why.
 */
#include "support/rule_cases.h"

#define SHORT(n, at)                                                                               \
	"note ProfilerStep#" n " 1 " at "000 +2000; call cudaLaunchKernel 1 " at "010 +10 #" n ";" \
	"kernel gemm 0/7 " at "015 +1000 #" n ";"
#define LONG(n, at)                                                                             \
	"note ProfilerStep#" n " 1 " at "000 +10000; call cudaLaunchKernel 1 " at "010 +10 #" n \
	";"                                                                                     \
	"kernel gemm 0/7 " at "015 +1000 #" n ";"
#define EVERY_TWO LONG("1", "10") SHORT("2", "20") LONG("3", "22") SHORT("4", "32") SHORT("5", "34")
#define SAID "every 2 steps the training thread launches nothing for a while: "

static const struct rule_case cases[] = {
	/* 9,980 us of two of five steps: all from the launch to the end */
	{ "every second step", EVERY_TWO, "warning 3992.0 medium\n" SAID "3.99 ms a step" },
	{ "operators that compute are no pause", EVERY_TWO "op aten::sort 1 11100 +8000;", "" },
	{ "saving has its own rule",
	  EVERY_TWO "frame a.py(1):_save 1 11100 +8800; frame a.py(1):_save 1 23100 +8800", "" },
	{ "in each step: the loop is like that",
	  LONG("1", "10") LONG("2", "20") LONG("3", "30") LONG("4", "40") LONG("5", "50"), "" },
	{ "once",
	  LONG("1", "10") SHORT("2", "20") SHORT("3", "22") SHORT("4", "24") SHORT("5", "26"), "" },
	{ "at no equal distances",
	  LONG("1", "10") SHORT("2", "20") LONG("3", "22") SHORT("4", "32") SHORT("5", "34")
		  LONG("6", "36") SHORT("7", "46"),
	  "" },
	{ "three steps tell nothing", LONG("1", "10") SHORT("2", "20") LONG("3", "22"), "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("periodic-pause", cases, cases[0].trace)
