/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule extra-copies. One step of 1,000 us on the host: a copy of 200 us by a
 * call of 205 us that the host waits for becomes a call of 10 us.
 */
#include "support/rule_cases.h"

#define EVENT(cat, name, tid, ts, dur, args)                                             \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":0,\"tid\":" tid \
	",\"ts\":" ts ",\"dur\":" dur ",\"args\":{" args "}},"
#define STEP "{\"traceEvents\":[" EVENT("user_annotation", "ProfilerStep#1", "1", "0", "1000", "")
#define OP(name, ts, dur) EVENT("cpu_op", name, "1", ts, dur, "")
#define COPY(name)                                                                      \
	EVENT("cuda_runtime", "cudaMemcpyAsync", "1", "102", "10", "\"correlation\":1") \
	EVENT("gpu_memcpy", name, "7", "110", "1000",                                   \
	      "\"device\":0,\"stream\":7,\"bytes\":1000,\"correlation\":1")
#define END "{\"ph\":\"M\",\"name\":\"end\"}]}"
#define IN "Memcpy HtoD (Pinned -> Device)"
#define TO                           \
	OP("aten::to", "100", "220") \
	OP("aten::_to_copy", "100.5", "218") OP("aten::copy_", "101", "210")

static const struct rule_case cases[] = {
	/* the copy ends at 1,110 us: the host's 1,000 us are left */
	{ "zeros that are copied", STEP OP("aten::zeros", "50", "20") TO COPY(IN) END,
	  "warning 110.0 medium\n"
	  "aten::zeros on the CPU, then a copy to the GPU: once per step, 1.00 ms" },
	{ "filled, then copied",
	  STEP OP("aten::empty", "40", "5") OP("aten::fill_", "50", "20") TO COPY(IN) END,
	  "warning 110.0 medium\n"
	  "aten::fill_ on the CPU, then a copy to the GPU: once per step, 1.00 ms" },
	{ "data that comes from somewhere", STEP OP("aten::stack", "50", "20") TO COPY(IN) END,
	  "" },
	{ "something else is between",
	  STEP OP("aten::zeros", "50", "20") OP("aten::add", "80", "5") TO COPY(IN) END, "" },
	{ "the zeros are inside of another operator",
	  STEP OP("outer", "40", "40") OP("aten::zeros", "50", "20") TO COPY(IN) END, "" },
	{ "a copy to the host",
	  STEP OP("aten::zeros", "50", "20") TO COPY("Memcpy DtoH (Device -> Pinned)") END, "" },
	{ "a copy on the device",
	  STEP OP("aten::zeros", "50", "20") TO COPY("Memcpy DtoD (Device -> Device)") END, "" },
	{ "no operators", STEP COPY(IN) END, "" },
	{ "no device", "note ProfilerStep#1 1 0 +1000; op aten::zeros 1 0 +10", "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("extra-copies", cases, cases[0].trace)
