/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule worker-restart. Steps of 100 ms: a batch is taken, then the CPU computes for 30 ms.
 * In the second step an epoch ends: __next__ stops the workers in 20 ms, starting them again
 * takes 30 ms, and the first batch another 10 ms.
 */
#include "support/rule_cases.h"

#define SINGLE "note enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__ 1 "
#define NEXT "note enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__ 1 "
#define STEP(n, more) "note ProfilerStep#" n " 1 " n "00000 +100000;" more
#define BATCH(n) NEXT n "00100 +100; op aten::mm 1 " n "01000 +30000;"
#define STEPS(more) \
	STEP("1", BATCH("1")) STEP("2", more "op aten::mm 1 265000 +30000;") STEP("3", BATCH("3"))
#define LAST(ms) NEXT "200100 +" ms ";"
#define FIRST(at, ms) NEXT at " +" ms ";"
#define SEED "op aten::random_ 1 221000 +20;"
#define ITER "frame torch/utils/data/dataloader.py(492):__iter__ 1 220200 +29700;"
#define START "frame multiprocessing/process.py(110):start 1 221000 +12000;"
#define RESET "frame torch/utils/data/dataloader.py(1235):_reset 1 220200 +5000;"
#define SAID(ms)                                                                              \
	"the DataLoader spends " ms " ms per step on stopping and starting worker processes " \
	"(0.3 times per step)"

static const struct rule_case cases[] = {
	/* 20 + 30 + 10 ms but for 0.1 ms */
	{ "two calls with a pause between them", STEPS(LAST("20000") SEED FIRST("250000", "10000")),
	  "warning 19933.3 medium\n" SAID("19.9") },
	{ "frames show the start",
	  STEPS("frame train.py(9):loop 1 200050 +99000;" LAST("20000")
			ITER START SEED FIRST("250000", "10000")),
	  "warning 19933.3 high\n" SAID("19.9") " (train.py(9):loop)" },
	{ "the next worker is slow with its first batch, too",
	  STEP("1", BATCH("1"))
		  STEP("2", LAST("20000") FIRST("250000", "10000") "op aten::mm 1 265000 +30000;")
			  STEP("3", NEXT "300100 +9000; op aten::mm 1 310000 +30000;")
				  STEP("4", BATCH("4")),
	  "warning 17175.0 medium\n"
	  "the DataLoader spends 17.2 ms per step on stopping and starting worker processes "
	  "(0.2 times per step)" },
	{ "shorter than stopping and starting processes",
	  STEPS(LAST("5000") FIRST("212000", "10000")), "" },
	{ "workers that are kept: the epoch ends at once",
	  STEPS(LAST("100") FIRST("250000", "10000")), "" },
	{ "workers that are kept, with frames", STEPS(LAST("3000") RESET FIRST("250000", "10000")),
	  "" },
	{ "a model computes between two batches",
	  STEPS(LAST("20000") "op aten::mm 1 221000 +28000;" FIRST("250000", "10000")), "" },
	{ "no operators are recorded: a model may compute in between",
	  "note ProfilerStep#1 1 100000 +100000; note ProfilerStep#2 1 200000 +100000;" LAST(
		  "20000") FIRST("250000", "10000"),
	  "" },
	{ "an optimizer works in between",
	  STEPS(LAST("20000") "note Optimizer.step#SGD.step 1 225000 +100;" FIRST("250000",
										  "10000")),
	  "" },
	{ "batches one after the other", STEPS(LAST("20000") FIRST("221000", "10000")), "" },
	{ "the first start of a program",
	  STEP("1", "frame torch/utils/data/dataloader.py(492):__iter__ 1 100200 +29700;"
		    "frame multiprocessing/process.py(110):start 1 101000 +12000;" NEXT
		    "130000 +10000; op aten::mm 1 141000 +30000;") STEP("2", BATCH("2")),
	  "" },
	{ "no workers", STEPS(SINGLE "200100 +20000;" SINGLE "250000 +10000;"), "" },
	{ "no steps", LAST("20000") FIRST("250000", "10000"), "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("worker-restart", cases, cases[0].trace)
