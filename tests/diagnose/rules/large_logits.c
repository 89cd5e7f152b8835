/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule large-logits. 8,192 tokens, 50,304 words: 824 MB in bf16, 1,648 MB in FP32. Cast,
 * log-softmax and its gradient move 2.5, 3.3 and 4.9 GB: 10.7 GB, and one kernel 1.6 GB.
 */
#include "support/rule_cases.h"

#define EVENT(cat, name, tid, ts, dur, args)                                             \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":0,\"tid\":" tid \
	",\"ts\":" ts ",\"dur\":" dur ",\"args\":{" args "}},"
#define DEVICE(name)                                                                               \
	"{\"deviceProperties\":[{\"id\":0,\"name\":\"" name "\",\"computeMajor\":9,"               \
	"\"computeMinor\":0,\"warpSize\":32}],\"traceEvents\":[" EVENT("user_annotation",          \
								       "ProfilerStep#1", "1", "0", \
								       "60", "")
#define H100 DEVICE("NVIDIA H100 80GB HBM3")
#define OP(name, ts, dims, types, values)                                                         \
	EVENT("cpu_op", name, "1", ts, "8",                                                       \
	      "\"Input Dims\":[" dims "],\"Input type\":[" types "],\"Concrete Inputs\":[" values \
	      "]")
#define KERNEL(name, id, call, ts, dur)                                                  \
	EVENT("cuda_runtime", "cudaLaunchKernel", "1", call, "1", "\"correlation\":" id) \
	EVENT("kernel", name, "7", ts, dur, "\"device\":0,\"stream\":7,\"correlation\":" id)
#define END "{\"ph\":\"M\",\"name\":\"end\"}]}"
#define LOGITS "[8192,50304]"
#define CAST                                                                                      \
	OP("aten::copy_", "1", LOGITS "," LOGITS ",[]", "\"float\",\"c10::BFloat16\",\"Scalar\"", \
	   "\"\",\"\",\"False\"")
#define SOFTMAX                                                                            \
	OP("aten::_log_softmax", "11", LOGITS ",[],[]", "\"float\",\"Scalar\",\"Scalar\"", \
	   "\"\",\"1\",\"False\"")
#define BACKWARD                                                                 \
	OP("aten::_log_softmax_backward_data", "21", LOGITS "," LOGITS ",[],[]", \
	   "\"float\",\"float\",\"Scalar\",\"Scalar\"", "\"\",\"\",\"1\",\"6\"")

static const struct rule_case cases[] = {
	{ "the loss of a language model",
	  H100 CAST KERNEL("copy", "1", "2", "100", "820")
		  SOFTMAX KERNEL("softmax", "2", "12", "920", "1100")
			  BACKWARD KERNEL("softmax_backward", "3", "22", "2020", "1650") END,
	  "warning 3020.8 medium\naten::_log_softmax_backward_data moves all logits: 1.65 ms per "
	  "step (once)\naten::_log_softmax moves all logits: 1.10 ms per step (once)\n"
	  "aten::copy_ moves all logits: 0.82 ms per step (once)" },
	{ "a hidden layer as wide as a vocabulary",
	  H100 OP("aten::gelu", "1", "[8192,16384]", "\"float\"", "\"\"")
		  KERNEL("gelu", "1", "2", "100", "820") SOFTMAX KERNEL("softmax", "2", "12", "920",
									"1100")
			  BACKWARD KERNEL("softmax_backward", "3", "22", "2020", "1650") END,
	  "warning 2200.0 medium\naten::_log_softmax_backward_data moves all logits: 1.65 ms per "
	  "step (once)\naten::_log_softmax moves all logits: 1.10 ms per step (once)" },
	/* three times 1,648 MB of 8.2 GB, and 824 MB stay: 10 % */
	{ "targets with a value for each word",
	  H100 SOFTMAX KERNEL("softmax", "2", "12", "920", "1100")
		  OP("aten::mul", "21", LOGITS "," LOGITS, "\"float\",\"float\"", "\"\",\"\"")
			  KERNEL("mul", "3", "22", "2020", "1650") END,
	  "warning 2475.0 medium\naten::mul moves all logits: 1.65 ms per step (once)\n"
	  "aten::_log_softmax moves all logits: 1.10 ms per step (once)" },
	{ "without a loss", H100 CAST KERNEL("copy", "1", "2", "100", "820") END, "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("large-logits", cases, cases[0].trace)
