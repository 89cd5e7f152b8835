/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule conv-bias-before-norm. One step of 1,000 us; no time is claimed.
 */
#include "support/rule_cases.h"

#define EVENT(cat, name, tid, ts, dur, args)                                             \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":0,\"tid\":" tid \
	",\"ts\":" ts ",\"dur\":" dur ",\"args\":{" args "}},"
#define STEP "{\"traceEvents\":[" EVENT("user_annotation", "ProfilerStep#1", "1", "0", "1000", "")
#define CONV(tid, bias)                                                                  \
	EVENT("cpu_op", "aten::conv2d", tid, "10", "20",                                 \
	      "\"Input Dims\":[[8,3,9,9],[4,3,3,3]," bias "],\"Input type\":[\"float\"," \
	      "\"float\",\"float\"]")
#define OP(name, ts) EVENT("cpu_op", name, "1", ts, "10", "")
#define END                                                                                       \
	EVENT("cpu_op", "autograd::engine::evaluate_function: AddBackward0", "1", "900", "9", "") \
	INFERENCE
#define INFERENCE "{\"ph\":\"M\",\"name\":\"end\"}]}"

static const struct rule_case cases[] = {
	{ "a bias before batch norm", STEP CONV("1", "[4]") OP("aten::batch_norm", "40") END,
	  "info 0.0 high\nconvolutions with a bias directly before batch norm: 1 per step" },
	{ "inference", STEP CONV("1", "[4]") OP("aten::batch_norm", "40") INFERENCE, "" },
	{ "no bias", STEP CONV("1", "[]") OP("aten::batch_norm", "40") END, "" },
	{ "something is between",
	  STEP CONV("1", "[4]") OP("aten::relu", "35") OP("aten::batch_norm", "50") END, "" },
	{ "no batch norm", STEP CONV("1", "[4]") OP("aten::relu", "40") END, "" },
	{ "of another thread", STEP CONV("2", "[4]") OP("aten::batch_norm", "40") END, "" },
	{ "sizes are not recorded", STEP OP("aten::conv2d", "10") OP("aten::batch_norm", "40") END,
	  "" },
	{ "operators inside do not count",
	  STEP CONV("1", "[4]") OP("aten::convolution", "12") OP("aten::batch_norm", "40") END,
	  "info 0.0 high\nconvolutions with a bias directly before batch norm: 1 per step" },
	{ "no steps", "[]", "" },
};

RULE_TESTS("conv-bias-before-norm", cases, cases[0].trace)
