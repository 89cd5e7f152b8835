/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule grad-zeroed. One step of 1,000 us on the host, with a zero_grad of
 * 300 us: 20 us of it stay.
 */
#include "support/rule_cases.h"

#define ZERO "note Optimizer.zero_grad#SGD.zero_grad 1 100 +300;"
#define SAID "Optimizer.zero_grad#SGD.zero_grad writes zeros: 0.30 ms of host time per step"

static const struct rule_case cases[] = {
	{ "zeros are written", "note ProfilerStep#1 1 0 +1000;" ZERO "op aten::zero_ 1 110 +10",
	  "warning 280.0 high\n" SAID },
	{ "in one call for all",
	  "note ProfilerStep#1 1 0 +1000;" ZERO "op aten::_foreach_zero_ 1 110 +10",
	  "warning 280.0 high\n" SAID },
	/* k is launched at 170 us, starts 88 us later as the memset did, ends at 958 of 1,400 */
	{ "what it launched is gone, too",
	  "note ProfilerStep#1 1 0 +500;" ZERO "op aten::zero_ 1 110 +10;"
	  "call cudaMemsetAsync 1 112 +5 #1; set Memset 7 200 +500 #1;"
	  "call cudaLaunchKernel 1 450 +5 #2; kernel k 7 700 +700 #2",
	  "warning 442.0 high\n" SAID },
	{ "gradients are dropped", "note ProfilerStep#1 1 0 +1000;" ZERO, "" },
	{ "zeros that have nothing to do with it",
	  "note ProfilerStep#1 1 0 +1000;" ZERO "op aten::zero_ 1 410 +10", "" },
	{ "of another thread", "note ProfilerStep#1 1 0 +1000;" ZERO "op aten::zero_ 2 110 +10",
	  "" },
	{ "short as it is",
	  "note ProfilerStep#1 1 0 +1000; note Optimizer.zero_grad#A.zero_grad 1 "
	  "100 +20; op aten::zero_ 1 110 +5",
	  "" },
	{ "no steps", ZERO "op aten::zero_ 1 110 +10", "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("grad-zeroed", cases, cases[0].trace)
