/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule slow-memory-work. A norm over 32,768 x 4,096 numbers reads and writes 268 MB each, and
 * two vectors: 0.182 ms at 0.88 of 3,352 GB/s.
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
#define NORM(name)                                                                            \
	OP(name, "1", "[32768,4096],[],[4096],[4096],[]",                                     \
	   "\"c10::BFloat16\",\"ScalarList\",\"c10::BFloat16\",\"c10::BFloat16\",\"Scalar\"", \
	   "\"\",\"[4096]\",\"\",\"\",\"1e-05\"")

static const struct rule_case cases[] = {
	{ "a third of the memory's rate",
	  H100 NORM("aten::native_layer_norm") KERNEL("layer_norm", "1", "2", "100", "600") END,
	  "warning 415.0 medium\naten::native_layer_norm: 0.60 ms per step (once), where good "
	  "kernels take about 30 % of it" },
	{ "rows added up by their index: 1.07 GB moved twice",
	  H100 OP("aten::embedding_dense_backward", "1", "[65536,4096],[65536],[],[],[]",
		  "\"float\",\"long int\",\"Scalar\",\"Scalar\",\"Scalar\"",
		  "\"\",\"\",\"1000\",\"-1\",\"False\"")
		  KERNEL("embedding_backward_feature_kernel", "1", "2", "100", "3000") END,
	  "warning 2268.8 medium\naten::embedding_dense_backward: 3.00 ms per step (once), where "
	  "good kernels take about 20 % of it" },
	{ "batch norm reads its input twice, and is good at 3 passes in 2",
	  H100 OP("aten::cudnn_batch_norm", "1", "[512,64,112,112],[64],[64]",
		  "\"c10::BFloat16\",\"float\",\"float\"", "\"\",\"\",\"\"")
		  KERNEL("bn_fw_tr_1C11", "1", "2", "100", "1000") END,
	  "" },
	{ "numbers far apart take a sector each",
	  H100 OP("aten::gather", "1", "[40000000],[],[40000000]",
		  "\"float\",\"Scalar\",\"long int\"", "\"\",\"0\",\"\"")
		  KERNEL("_scatter_gather_elementwise_kernel", "1", "2", "100", "900") END,
	  "" },
	{ "good",
	  H100 NORM("aten::native_layer_norm") KERNEL("layer_norm", "1", "2", "100", "250") END,
	  "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("slow-memory-work", cases, cases[0].trace)
