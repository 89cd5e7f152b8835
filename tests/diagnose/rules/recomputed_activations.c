/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule recomputed-activations. Backward runs a layer of 200 us again and leaves 1,000 bytes,
 * twice, and gradients of 100 us behind each.
 */
#include "support/busy_gpu.h"

#define DEVICE(bytes)                                                                          \
	"{\"deviceProperties\":[{\"id\":0,\"name\":\"GPU\",\"totalGlobalMem\":" bytes          \
	",\"warpSize\":32}],\"traceEvents\":[" BUSY_EVENT("user_annotation", "ProfilerStep#1", \
							  "1", "0", "100", "")
#define MEMORY(ts, address, bytes, total)                                                        \
	"{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"pid\":0,\"tid\":1," \
	"\"s\":\"t\",\"ts\":" ts ",\"args\":{\"Total Reserved\":" total                          \
	",\"Total Allocated\":" total ",\"Bytes\":" bytes ",\"Addr\":" address                   \
	",\"Device Id\":0,\"Device Type\":1}},"
#define OP(name, ts, dur) BUSY_EVENT("cpu_op", name, "1", ts, dur, "")
#define NODE(name, ts) OP("autograd::engine::evaluate_function: " name, ts, "20")
#define FORWARD                      \
	OP("aten::linear", "1", "5") \
	OP("aten::addmm", "2", "3")  \
	BUSY_KERNEL("gemm", "1", "3", "200", "200")
/* A node that runs a layer again before its own product. */
#define AGAIN(layer, at, op, call, mm, mm_call, one, two, from, then) \
	NODE("AddmmBackward0", at)                                    \
	OP(layer, op, "5")                                            \
	BUSY_KERNEL("gemm", one, call, from, "200")                   \
	OP("aten::mm", mm, "5")                                       \
	BUSY_KERNEL("gemm_grad", two, mm_call, then, "100")
#define BACKWARD(layer)                                                    \
	AGAIN(layer, "20", "21", "22", "28", "29", "2", "3", "400", "600") \
	AGAIN(layer, "50", "51", "52", "58", "59", "4", "5", "700", "900")
#define KEPT(first, second)                \
	MEMORY("23", "64", "1000", first)  \
	MEMORY("35", "64", "-1000", "0")   \
	MEMORY("53", "64", "1000", second) \
	MEMORY("65", "64", "-1000", "0")
/* What the layer gets is made again, too. */
#define AGAIN_BEFORE                                 \
	NODE("MulBackward0", "80")                   \
	OP("aten::mul", "81", "3")                   \
	BUSY_KERNEL("mul", "6", "82", "1000", "100") \
	OP("aten::linear", "85", "5")                \
	BUSY_KERNEL("gemm", "7", "86", "1100", "200")
#define SENTENCE "aten::linear runs a second time in backward: 0.40 ms per step (2 times)"

static const struct rule_case cases[] = {
	{ "memory is not recorded: information",
	  DEVICE("100000") FORWARD BACKWARD("aten::linear") BUSY_END, "info 400.0 low\n" SENTENCE },
	{ "work before the layer is part of it",
	  DEVICE("100000") FORWARD BACKWARD("aten::linear") AGAIN_BEFORE BUSY_END,
	  "info 700.0 low\n"
	  "aten::linear runs a second time in backward: 0.60 ms per step (3 times)\n"
	  "aten::mul runs a second time in backward: 0.10 ms per step (once)" },
	{ "there is room",
	  DEVICE("100000") FORWARD BACKWARD("aten::linear") KEPT("5000", "5000") BUSY_END,
	  "warning 400.0 high\n" SENTENCE },
	{ "there is room for half of it",
	  DEVICE("5000") FORWARD BACKWARD("aten::linear") KEPT("4000", "4000") BUSY_END,
	  "warning 200.0 medium\n" SENTENCE },
	{ "the memory is full",
	  DEVICE("5000") FORWARD BACKWARD("aten::linear") KEPT("4500", "4500") BUSY_END, "" },
	{ "gradients alone", DEVICE("100000") FORWARD BACKWARD("aten::mm") BUSY_END, "" },
	{ "layers of forward alone", DEVICE("100000") FORWARD BUSY_END, "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("recomputed-activations", cases, cases[1].trace)
