/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule data-parallel. One step of 1,000 us; no time is claimed.
 */
#include "support/rule_cases.h"

#define STEP "note ProfilerStep#1 1 0 +1000;"
#define TWO                                                           \
	"call cudaLaunchKernel 1 300 +5 #1; kernel k 0/7 310 +10 #1;" \
	"call cudaLaunchKernel 1 320 +5 #2; kernel k 1/7 330 +10 #2;"
#define PARTS "op Scatter 1 10 +20; op Broadcast 1 40 +30; op Gather 1 400 +50;"
#define SAID(ms)                                                                                  \
	"warning 0.0 high\n"                                                                      \
	"nn.DataParallel runs 2 GPUs from one process; splitting, copying and gathering take " ms \
	" of host time per step"

static const struct rule_case cases[] = {
	{ "its functions of autograd", STEP TWO PARTS, SAID("0.10 ms") },
	{ "its range", STEP TWO "note DataParallel.forward 1 5 +900", SAID("0.00 ms") },
	{ "one device", STEP PARTS "call cudaLaunchKernel 1 300 +5 #1; kernel k 0/7 310 +10 #1",
	  "" },
	{ "several devices, driven by hand", STEP TWO "op aten::mm 1 10 +20", "" },
	{ "a gather of somebody else", STEP TWO "op Gather 1 400 +50", "" },
	{ "DistributedDataParallel", STEP TWO "note DistributedDataParallel.forward 1 5 +900", "" },
	{ "no device", STEP PARTS, "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("data-parallel", cases, cases[0].trace)
