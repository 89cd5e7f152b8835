/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule low-occupancy. One step with one kernel of 400 us that starts at 10 us: with a
 * block for every fourth multiprocessor it would take 100 us, and the step 300 us less.
 */
#include "support/rule_cases.h"

#define STEP "note ProfilerStep#1 1 0 +20; call cudaLaunchKernel 1 2 +1 #1;"
#define SAID " has fewer blocks than the GPU has multiprocessors: 0.40 ms per step (once)"
#define DECODE(batch) STEP "note execute_context_0(0)_generation_" batch "(" batch ") 1 1 +18;"

#define EVENT(cat, name, tid, ts, dur, args)                                             \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":0,\"tid\":" tid \
	",\"ts\":" ts ",\"dur\":" dur ",\"args\":{" args "}},"
/* 100 multiprocessors, 2,039 GB/s; an addition of 204 MB takes 100 us at least. */
#define A100                                                                               \
	"{\"deviceProperties\":[{\"id\":0,\"name\":\"NVIDIA A100-SXM4-80GB\","             \
	"\"computeMajor\":8,\"computeMinor\":0,\"warpSize\":32,\"numSms\":100}],"          \
	"\"traceEvents\":[" EVENT("user_annotation", "ProfilerStep#1", "1", "0", "20", "") \
		EVENT("cuda_runtime", "cudaLaunchKernel", "1", "2", "1", "\"correlation\":1")
#define ADD(elements)                                                             \
	EVENT("cpu_op", "aten::add", "1", "1", "7",                               \
	      "\"Input Dims\":[[" elements "],[" elements "],[]],\"Input type\":" \
	      "[\"float\",\"float\",\"Scalar\"],\"Concrete Inputs\":[\"\",\"\",\"1\"]")
#define NORM                                                          \
	EVENT("cpu_op", "aten::cudnn_batch_norm", "1", "1", "7",      \
	      "\"Input Dims\":[[32,64,112,112],[64],[64],[64],[64]]," \
	      "\"Input type\":[\"float\",\"float\",\"float\",\"float\",\"float\"]")
#define GRID(x)                                                          \
	EVENT("kernel", "k", "7", "10", "400",                           \
	      "\"device\":0,\"stream\":7,\"correlation\":1,\"grid\":[" x \
	      ",1,1],\"block\":[32,1,1]")
#define END "{\"ph\":\"M\",\"name\":\"end\"}]}"

static const struct rule_case cases[] = {
	{ "a quarter of the device works", STEP "kernel k 7 10 +400 #1 ~0.25",
	  "warning 300.0 medium\nk" SAID },
	{ "two of three multiprocessors have a block: usual", STEP "kernel k 7 10 +400 #1 ~0.67",
	  "" },
	{ "a little less than that", STEP "kernel k 7 10 +400 #1 ~0.65",
	  "warning 140.0 medium\nk" SAID },
	{ "enough blocks", STEP "kernel k 7 10 +400 #1 ~4", "" },
	{ "blocks are not recorded", STEP "kernel k 7 10 +400 #1", "" },
	{ "from the grid and the number of multiprocessors", A100 GRID("10") END,
	  "warning 360.0 medium\nk" SAID },
	/* 3 x 4 x 17 million bytes at 0.86 of 2,039 GB/s, and 3 us: more than 40 */
	{ "its bytes have to be moved all the same", A100 ADD("17000000") GRID("10") END,
	  "warning 280.7 medium\nk" SAID ", where good kernels take about 30 % of it" },
	{ "few blocks that move them as fast as good kernels", A100 ADD("50000000") GRID("10") END,
	  "" },
	{ "a block for each channel, whatever the batch", A100 NORM GRID("64") END, "" },
	{ "fewer blocks than channels", A100 NORM GRID("16") END,
	  "warning 221.2 medium\nk" SAID ", where good kernels take about 40 % of it" },
	/* the host is done at 20 us */
	{ "no kernel is shorter than 5 us", STEP "kernel k 7 10 +400 #1 ~0.001",
	  "warning 390.0 medium\nk" SAID },
	{ "libraries choose their grids", STEP "kernel ampere_sgemm_128x64_tn 7 10 +400 #1 ~0.3",
	  "" },
	{ "but not such", STEP "kernel ampere_sgemm_128x64_tn 7 10 +400 #1 ~0.2",
	  "warning 320.0 medium\nampere_sgemm_128x64_tn" SAID },
	{ "gradients of weights have a block for each tile of the weights",
	  STEP "kernel sm80_xmma_wgrad_implicit_gemm 7 10 +400 #1 ~0.2", "" },
	{ "short kernels", STEP "kernel k 7 10 +19 #1 ~0.1", "" },
	{ "a kernel of another stream uses the rest of the device",
	  STEP "call cudaLaunchKernel 1 5 +1 #2; kernel k 7 10 +400 #1 ~0.25;"
	       "kernel other 8 100 +200 #2 ~3",
	  "" },
	{ "one that began before it does, too",
	  STEP "call cudaLaunchKernel 1 5 +1 #2; kernel other 8 9 +200 #2 ~3;"
	       "kernel k 7 10 +400 #1 ~0.25",
	  "" },
	{ "a kernel of another device does not",
	  STEP "call cudaLaunchKernel 1 5 +1 #2; kernel k 0/7 10 +400 #1 ~0.25;"
	       "kernel other 1/7 50 +50 #2 ~3",
	  "warning 300.0 medium\nk" SAID },
	{ "collectives", STEP "kernel ncclDevKernel_AllReduce_Sum_f32_RING_LL 7 10 +400 #1 ~0.2",
	  "" },
	{ "a block for each head, by design",
	  STEP "kernel fmha_cutlassB_f16_aligned_64x64_k64_sm70 7 10 +400 #1 ~0.3", "" },
	{ "decoding a single sequence", DECODE("1") "kernel k 7 10 +400 #1 ~0.25", "" },
	{ "decoding many", DECODE("8") "kernel k 7 10 +400 #1 ~0.25",
	  "warning 300.0 medium\nk" SAID },
	{ "outside of the step",
	  "note ProfilerStep#1 1 500 +100; op a 1 510 +10;"
	  "call cudaLaunchKernel 1 2 +1 #1; kernel k 7 10 +400 #1 ~0.25",
	  "" },
	{ "no device", "note ProfilerStep#1 1 0 +1000; op aten::mm 1 0 +10", "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("low-occupancy", cases, cases[0].trace)
