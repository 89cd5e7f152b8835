/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule costly-kind: steps of 10 ms without a device, and a launch that loads its kernel.
 */
#include "support/rule_cases.h"

#define EVENT(name, ts, dur, args)                                                              \
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"pid\":1,\"tid\":1,\"ts\":" ts \
	",\"dur\":" dur ",\"args\":{" args "}},"
#define MARK(n, ts)                                                            \
	"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#" n \
	"\",\"pid\":1,\"tid\":1,\"ts\":" ts ",\"dur\":10000}"
#define TYPED(type) \
	"\"Input Dims\":[[512,512],[512,512]],\"Input type\":[\"" type "\",\"" type "\"]"
#define PRODUCTS(type)                                           \
	"[" EVENT("aten::mm", "0", "10000", TYPED(type))         \
		EVENT("aten::mm", "10000", "10000", TYPED(type)) \
			MARK("1", "0") "," MARK("2", "10000") "]"

/* Two answers to one operator: one would do. */
#define TWICE(n)                                                                                \
	"note ProfilerStep#" n " 1 " n "0000 +10000; op aten::linear 1 " n "0000 +2000 =" n ";" \
	"op autograd::engine::evaluate_function:AddmmBackward0 1 " n "2000 +4000 !" n ";"       \
	"op autograd::engine::evaluate_function:AddmmBackward0 1 " n "6000 +4000 !" n ";"

#define LOADS                                                                 \
	"note ProfilerStep#1 1 0 +10000; op aten::add 1 100 +8000;"           \
	"call cudaLaunchKernel 1 200 +7800 #1; kernel add 0/7 8010 +1000 #1;" \
	"note ProfilerStep#2 1 10000 +2000; op aten::add 1 10100 +20;"        \
	"call cudaLaunchKernel 1 10105 +10 #2; kernel add 0/7 10120 +900 #2;" \
	"note ProfilerStep#3 1 12000 +2000"

static const struct rule_case cases[] = {
	{ "float64 takes twice as long", PRODUCTS("double"),
	  "warning 5000.0 medium\n"
	  "aten::mm takes 5.00 ms of it per step (1 call, the first on 262144 elements)\n"
	  "it takes 5.00 ms per step" },
	{ "float32 does not", PRODUCTS("float"), "" },
	{ "backward of the same operator again", TWICE("1") TWICE("2"),
	  "warning 4000.0 medium\n"
	  "autograd::engine::evaluate_function:AddmmBackward0 takes 4.00 ms of it per step (2 "
	  "calls)\nit takes 4.00 ms per step" },
	{ "a launch that loads its kernel is start-up", LOADS,
	  "warning 3900.0 medium\naten::add takes 3.90 ms of it per step (1 call)\n"
	  "it takes 3.90 ms per step" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("costly-kind", cases, cases[2].trace)
