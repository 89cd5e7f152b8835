/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy_gpu.h - one step of 60 us on the host whose kernels take longer, for rules about kernels.
 */
#ifndef SS_TESTS_SUPPORT_BUSY_GPU_H
#define SS_TESTS_SUPPORT_BUSY_GPU_H

#include "support/rule_cases.h"

#define BUSY_EVENT(cat, name, tid, ts, dur, args)                                        \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":0,\"tid\":" tid \
	",\"ts\":" ts ",\"dur\":" dur ",\"args\":{" args "}},"
#define BUSY_H100                                                                                  \
	"{\"deviceProperties\":[{\"id\":0,\"name\":\"NVIDIA H100 80GB HBM3\",\"computeMajor\":9,"  \
	"\"computeMinor\":0,\"warpSize\":32}],\"traceEvents\":[" BUSY_EVENT("user_annotation",     \
									    "ProfilerStep#1", "1", \
									    "0", "60", "")
/* With its kernel; times in us, `types` as "\"double\"". */
#define BUSY_OP(name, ts, dims, types)           \
	BUSY_EVENT("cpu_op", name, "1", ts, "8", \
		   "\"Input Dims\":[" dims "],\"Input type\":[" types "]")
#define BUSY_KERNEL(name, id, call, ts, dur)                                                  \
	BUSY_EVENT("cuda_runtime", "cudaLaunchKernel", "1", call, "1", "\"correlation\":" id) \
	BUSY_EVENT("kernel", name, "7", ts, dur, "\"device\":0,\"stream\":7,\"correlation\":" id)
#define BUSY_END "{\"ph\":\"M\",\"name\":\"end\"}]}"

#endif
