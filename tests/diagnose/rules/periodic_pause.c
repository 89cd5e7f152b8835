/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule periodic-pause. Steps of 10 ms, or of 2 ms: the longer ones pause for 8 ms, and
 * nothing shows why.
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
#define SAID "every 2 steps the main thread launches nothing for a while: "

/* Without a device: steps of 10 ms with operators at both ends; a long one pauses for 8 ms. */
#define PAUSES(n)                                                      \
	"note ProfilerStep#" n " 1 " n "0000 +10000; op aten::mm 1 " n \
	"0100 +800; op aten::add 1 " n "9000 +900;"
#define WORKS(n)                                                       \
	"note ProfilerStep#" n " 1 " n "0000 +10000; op aten::mm 1 " n \
	"0100 +4800; op aten::add 1 " n "5000 +4900;"
#define ON_CPU PAUSES("1") WORKS("2") PAUSES("3") WORKS("4") PAUSES("5") WORKS("6")

static const struct rule_case cases[] = {
	/* 9,980 us of two of five steps: all from the launch to the end */
	{ "every second step", EVERY_TWO, "warning 3992.0 medium\n" SAID "3.99 ms per step" },
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
	/* 8,100 us of three of six steps */
	{ "without a device: no operators at one place of every second step", ON_CPU,
	  "warning 4050.0 medium\nevery 2 steps the main thread runs no operator for a while, "
	  "before aten::add: 4.05 ms per step" },
	{ "without a device: twice may be the machine",
	  PAUSES("1") WORKS("2") WORKS("3") PAUSES("4") WORKS("5") WORKS("6"), "" },
	{ "without a device: in each step",
	  PAUSES("1") PAUSES("2") PAUSES("3") PAUSES("4") PAUSES("5") PAUSES("6"), "" },
	{ "without a device: not as often as it would be",
	  PAUSES("1") WORKS("2") PAUSES("3") WORKS("4") PAUSES("5") WORKS("6") WORKS("7")
		  WORKS("8"),
	  "" },
	{ "without a device: frames say what it is",
	  ON_CPU "frame train.py(3):think 1 11000 +7900;", "" },
	{ "without a device: nothing but ranges is recorded",
	  "note ProfilerStep#1 1 10000 +10000; note ProfilerStep#2 1 20000 +10000; note "
	  "ProfilerStep#3 1 30000 +10000; note ProfilerStep#4 1 40000 +10000",
	  "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("periodic-pause", cases, cases[0].trace)
