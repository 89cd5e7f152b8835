/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View roofline: whose work it is, how fast it was, and what is not known.
 */
#include "support/view_cases.h"

#define X(cat, name, tid, ts, dur, args)                                                 \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":1,\"tid\":" tid \
	",\"ts\":" ts ",\"dur\":" dur ",\"args\":{" args "}}"
#define OP(name, ts, dur, dims, types) \
	X("cpu_op", name, "1", ts, dur, "\"Input Dims\":" dims ",\"Input type\":" types)
#define BARE_OP(name, ts, dur) X("cpu_op", name, "1", ts, dur, "")
#define ON_DEVICE(cat, name, at, dur, id)                                                        \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":0,\"tid\":7,\"ts\":" at \
	",\"dur\":" dur ",\"args\":{\"device\":0,\"stream\":7,\"correlation\":" id "}}"
#define COPIED(name, ts, at, dur, id)                                             \
	X("cuda_runtime", "cudaMemcpyAsync", "1", ts, "1", "\"correlation\":" id) \
	"," ON_DEVICE("gpu_memcpy", name, at, dur, id)
/* A launch, and what it launched, on device 0. */
#define LAUNCHED(kernel, ts, at, dur, id)                                          \
	X("cuda_runtime", "cudaLaunchKernel", "1", ts, "1", "\"correlation\":" id) \
	"," ON_DEVICE("kernel", kernel, at, dur, id)
#define STEP(number, ts, dur) X("user_annotation", "ProfilerStep#" number, "1", ts, dur, "")
#define ON(device, events) \
	"{\"deviceProperties\":[{\"id\":0,\"name\":\"" device "\"}],\"traceEvents\":[" events "]}"

#define TENSOR "volta_h884gemm"
#define A100 "NVIDIA A100-SXM4-40GB"
#define BIG "[[1000,1000],[1000,1000]]"
#define HALF "[\"c10::Half\",\"c10::Half\"]"
#define FLOAT "[\"float\",\"float\"]"
#define HALVES "[\"c10::Half\",\"c10::Half\",\"c10::Half\"]"
#define FLOATS "[\"float\",\"float\",\"float\"]"
#define BIASED "[[1000],[1000,1000],[1000,1000]]"
#define CONV "[[2,3,7],[2,4,5],[4,3,3]]"
#define ALL_KNOWN "FLOPs are known for 100.0 % of the operators' device time, bytes for 100.0 %."
#define NO_SHAPES "Shapes are not recorded: use profile(record_shapes=True)."
#define NESTED                                    \
	OP("aten::linear", "0", "30", BIG, FLOAT) \
	"," OP("aten::mm", "1", "20", BIG, FLOAT) "," OP("aten::relu", "40", "9", "[[10]]", FLOAT)
#define RATES "name,shapes,device_ns,gflop,tflop_per_s,bound,peak_percent,dtype"

/* 2 GFLOP: 6.41 us at 312 TFLOP/s; 6 MB: 3.86 us at 1555 GB/s. */
#define BIG_MM OP("aten::mm", "0", "9", BIG, HALF) "," LAUNCHED(TENSOR, "1", "20", "10", "1")

#define JOINED(kernel)                                                                   \
	OP("aten::cat", "0", "9", "[[[1000],[1000]],[]]", "[\"TensorList\",\"Scalar\"]") \
	"," LAUNCHED(kernel, "1", "20", "4", "1")

/* 1,024 numbers in each list. */
#define TWO_LISTS "[[1000],[24]]"
#define FOUR_LISTS "[[1024]],[[1024]],[[1024]],[[1024]],[[]]"
#define LISTS(name, lists, functor)                              \
	OP(name, "0", "9", "[" lists ",[]]", "[\"TensorList\"]") \
	"," LAUNCHED("multi_tensor_apply_kernel<M<2>, " functor "<float, 2>>", "1", "20", "4", "1")

static const struct view_case op_cases[] = {
	{ "nothing", "[]", "name+notes",
	  "Shapes are not recorded: use profile(record_shapes=True)." },
	{ "what the same work reaches elsewhere in the file",
	  ON(A100, BIG_MM
	     "," OP("aten::mm", "40", "9", BIG, HALF) "," LAUNCHED(TENSOR, "41", "50", "30", "2")),
	  "name,calls,device_ns,best_percent", "aten::mm,2,40000,50.00" },
	{ "a single call has nothing to compare with", ON(A100, BIG_MM), "name,best_percent",
	  "aten::mm,-" },
	{ "FLOPs at the peak of their type", ON(A100, BIG_MM), RATES,
	  "aten::mm,1000x1000 1000x1000,10000,2.00,200.00,compute,64.10,fp16" },
	{ "single precision on tensor cores: 156 TFLOP/s",
	  ON(A100, OP("aten::mm", "0", "9", BIG, FLOAT) "," LAUNCHED(TENSOR, "1", "20", "20", "1")),
	  RATES, "aten::mm,1000x1000 1000x1000,20000,2.00,100.00,compute,64.10,fp32" },
	{ "and without them: 19.5",
	  ON(A100,
	     OP("aten::mm", "0", "9", BIG, FLOAT) "," LAUNCHED("sgemm", "1", "20", "200", "1")),
	  RATES, "aten::mm,1000x1000 1000x1000,200000,2.00,10.00,compute,51.28,fp32" },
	{ "bytes at the memory's: 1.555 MB take 1 us",
	  ON(A100, OP("aten::relu", "0", "9", "[[777500]]",
		      "[\"c10::Half\"]") "," LAUNCHED("k", "1", "20", "4", "1")),
	  RATES ",gb_per_s,moved_bytes,kind",
	  "aten::relu,777500,4000,-,-,memory,50.00,fp16,777.50,3110000,elementwise" },
	{ "equal calls are one row; another size or type is another",
	  ON(A100, BIG_MM "," OP("aten::mm", "50", "9", BIG, HALF) "," LAUNCHED(
			   TENSOR, "51", "70", "30",
			   "2") "," OP("aten::mm", "100", "9", BIG,
				       FLOAT) "," LAUNCHED("k", "101", "120", "5", "3")),
	  "name,dtype,calls,device_ns,gflop,tflop_per_s",
	  "aten::mm,fp16,2,40000,4.00,100.00\naten::mm,fp32,1,5000,2.00,400.00" },
	{ "the kernel says how large the elements of a list are: 4000 bytes read and written",
	  ON(A100, JOINED("at::native::CatArrayBatchedCopy<at::native::OpaqueType<2u>, 4>")),
	  "name,gb_per_s,moved_bytes", "aten::cat,2.00,8000" },
	{ "and a kernel for lists its type: read twice, written once",
	  ON(A100, LISTS("aten::_foreach_add_", TWO_LISTS "," TWO_LISTS, "ListAlphaFunctor")),
	  "name,moved_bytes", "aten::_foreach_add_,12288" },
	{ "an optimizer in one kernel reads four lists and writes three",
	  ON(A100, LISTS("aten::_fused_adamw_", FOUR_LISTS, "FusedAdamMathFunctor")),
	  "name,moved_bytes", "aten::_fused_adamw_,28672" },
	{ "or its type", ON(A100, JOINED("CatArrayBatchedCopy<bool, unsigned int, 3>")),
	  "name,moved_bytes", "aten::cat,4000" },
	{ "packed attention: bytes, no share of a peak",
	  ON(A100, OP("flash_attn_3::fwd", "0", "9", "[[10,2,8],[10,2,8],[10,2,8]]",
		      HALVES) "," LAUNCHED("k", "1", "20", "4", "1")),
	  "name,moved_bytes,peak_percent,bound", "flash_attn_3::fwd,1280,-,-" },
	{ "the inner one does the work",
	  ON(A100, OP("aten::linear", "0", "30", BIG,
		      HALF) "," OP("aten::mm", "1", "20", BIG, HALF) "," LAUNCHED(TENSOR, "2", "40",
										  "10", "1")),
	  "name,calls,device_ns,gflop", "aten::mm,1,10000,2.00" },
	{ "unless it has no formula: then its time is the outer one's",
	  ON(A100, OP("aten::linear", "0", "30", BIG, HALF) "," BARE_OP(
			   "mine::gemm", "1", "20") "," LAUNCHED(TENSOR, "2", "40", "10", "1")),
	  "name,calls,device_ns,gflop,peak_percent", "aten::linear,1,10000,2.00,64.10" },
	{ "what else is in it is its own",
	  ON(A100,
	     OP("aten::linear", "0", "30", BIG, HALF) "," BARE_OP(
		     "mine::gemm", "1",
		     "5") "," LAUNCHED(TENSOR, "2", "40", "10",
				       "1") "," OP("aten::relu", "10", "5", "[[10]]",
						   FLOAT) "," LAUNCHED("k", "11", "60", "4", "2")),
	  "name,device_ns,gflop", "aten::linear,10000,2.00\naten::relu,4000,-" },
	{ "what launched nothing did nothing",
	  ON(A100, BIG_MM "," OP("aten::mm", "50", "9", BIG, HALF)), "name,calls,gflop",
	  "aten::mm,1,2.00" },
	{ "gradients of old writers: the sizes are in the operator around them",
	  ON(A100,
	     OP("aten::cudnn_convolution_backward", "0", "30", CONV, FLOATS) "," OP(
		     "aten::cudnn_convolution_backward_weight", "1", "9", "[[],[2,4,5],[2,3,7]]",
		     "[\"GenericList\",\"float\",\"float\"]") "," LAUNCHED("k", "2", "40", "10",
									   "1")),
	  "name,gflop,moved_bytes,kind",
	  "aten::cudnn_convolution_backward_weight,0.00,472,convolution" },
	{ "operators without a formula have their time",
	  ON(A100, BARE_OP("mine::op", "0", "9") "," LAUNCHED("k", "1", "20", "4", "1")),
	  RATES ",kind", "mine::op,-,4000,-,-,-,-,-,other" },
	{ "lists, scalars and odd texts",
	  ON(A100,
	     OP("aten::cat", "0", "5", "[[[2, 3], [4, 5]], []]", "[]") "," LAUNCHED(
		     "k", "1", "20", "4",
		     "1") "," OP("aten::odd", "10", "5", "[[2.5]]",
				 "[]") "," LAUNCHED("k", "11", "30", "3",
						    "2") "," OP("aten::none", "20", "5", "[[], []]",
								"[]") "," LAUNCHED("k", "21", "40",
										   "2", "3")),
	  "name,shapes,peak_percent",
	  "aten::cat,(2x3 4x5),-\naten::odd,[[2.5]],-\naten::none,-,-" },
};

static const struct view_case note_cases[] = {
	{ "how much is known",
	  ON(A100,
	     BIG_MM "," BARE_OP("mine::op", "50", "9") "," LAUNCHED("k", "51", "60", "30", "2")),
	  "name+notes",
	  "mine::op\n"
	  "aten::mm\n"
	  "FLOPs are known for 25.0 % of the operators' device time, bytes for 25.0 %." },
	{ "a device that nobody knows", ON("ARTEMIS", BIG_MM),
	  "tflop_per_s,peak_percent,bound+notes",
	  "200.00,-,-\n"
	  "The peaks of \"ARTEMIS\" are not known: add them in "
	  "src/analyze/work/peaks.c.\n" ALL_KNOWN },
	{ "a device without a name", "[" BIG_MM "]", "tflop_per_s,peak_percent,bound+notes",
	  "200.00,-,-\n"
	  "The name of the GPU is not recorded, so its peaks are unknown.\n" ALL_KNOWN },
	{ "no sizes at all",
	  ON(A100, BARE_OP("aten::mm", "0", "9") "," LAUNCHED(TENSOR, "1", "20", "10", "1")),
	  "name,device_ns,gflop,peak_percent,kind+notes",
	  "aten::mm,10000,-,-,matrix multiply\n" NO_SHAPES },
	{ "no device: FLOPs beside the time on the CPU", "[" NESTED "]",
	  "name,calls,device_ns,host_ns,gflop,tflop_per_s,peak_percent+notes",
	  "aten::mm,1,-,20000,2.00,-,-\n"
	  "The file has no device: FLOPs are listed with the time on the CPU and not compared "
	  "with a peak." },
	{ "faster than the peak: left out, and said",
	  ON(A100, OP("aten::mm", "0", "9", BIG, HALF) "," LAUNCHED(TENSOR, "1", "20", "5", "1")),
	  "peak_percent+notes",
	  "-\n"
	  "Calls that would compute more than the device can are left out of peak_percent: their "
	  "kernels do less than the formula assumes (Winograd), or the device's peak is "
	  "wrong.\n" ALL_KNOWN },
	{ "a convolution whose stride is not recorded",
	  ON(A100, OP("aten::cudnn_convolution", "0", "9", "[[1,8,9],[8,8,3]]",
		      HALF) "," LAUNCHED("k", "1", "20", "5", "1")),
	  "name,gflop,peak_percent+notes",
	  "aten::cudnn_convolution,-,-\n"
	  "FLOPs are known for 0.0 % of the operators' device time, bytes for 0.0 %.\n"
	  "FLOPs of 1 call are unknown (longest: aten::cudnn_convolution); sums and mfu_percent "
	  "leave it out." },
	{ "copies from the host are the bus's: no peak, but a rate",
	  ON(A100, OP("aten::copy_", "0", "9", "[[1000],[1000]]",
		      FLOAT) "," COPIED("Memcpy HtoD (Pageable -> Device)", "1", "20", "4", "1")),
	  "name,gb_per_s,bound,peak_percent", "aten::copy_,2.00,-,-" },
	{ "those inside of the device are the memory's",
	  ON(A100, OP("aten::copy_", "0", "9", "[[1000],[1000]]",
		      FLOAT) "," COPIED("Memcpy DtoD (Device -> Device)", "1", "20", "4", "1")),
	  "name,gb_per_s,bound,peak_percent", "aten::copy_,2.00,memory,0.13" },
};

static const struct view_case step_cases[] = {
	{ "FLOPs of each step, of what the device can do in its time",
	  ON(A100,
	     STEP("1", "0", "40") "," BIG_MM "," STEP("2", "40", "40") "," OP(
		     "aten::mm", "50", "9", BIG,
		     HALF) "," LAUNCHED(TENSOR, "51", "60", "10",
					"2") "," OP("aten::relu", "70", "5", "[[10]]",
						    FLOAT) "," LAUNCHED("k", "71", "76", "2", "3")),
	  "step,name,dur_ns,device_ns,gflop,tflop_per_s,mfu_percent,dtype",
	  "0,ProfilerStep#1,40000,10000,2.00,50.00,16.03,fp16\n"
	  "1,ProfilerStep#2,40000,12000,2.00,50.00,16.03,fp16" },
	{ "a step without FLOPs has no MFU",
	  ON(A100, STEP("1", "0", "40") "," OP("aten::relu", "5", "5", "[[10]]",
					       FLOAT) "," LAUNCHED("k", "6", "20", "2", "3")),
	  "step,device_ns,gflop,tflop_per_s,mfu_percent", "0,2000,-,-,-" },
	{ "what is called in no step is in none",
	  ON(A100, STEP("1", "0", "40") "," BIG_MM
					"," OP("aten::mm", "50", "9", BIG,
					       HALF) "," LAUNCHED(TENSOR, "51", "60", "10", "2")),
	  "step,gflop", "0,2.00" },
};

static const struct view_case run_cases[] = {
	{ "all steps as one row",
	  ON(A100, STEP("1", "0", "40") "," BIG_MM "," STEP("2", "40", "40")),
	  "step,name,dur_ns,gflop,mfu_percent", "-,all steps,80000,2.00,8.01" },
};

static const struct view_case kind_cases[] = {
	{ "by kind",
	  ON(A100, BIG_MM "," OP("aten::addmm", "50", "9", BIASED, HALVES) "," LAUNCHED(
			   TENSOR, "51", "70", "10",
			   "2") "," OP("aten::copy_", "80", "9", "[[10],[10]]",
				       FLOAT) "," LAUNCHED("k", "81", "90", "30", "3")),
	  "name,shapes,calls,device_ns,gflop,dtype",
	  "copy,-,1,30000,-,-\nmatrix multiply,-,2,20000,4.00,fp16" },
};

static const struct view_case name_cases[] = {
	{ "all sizes of a name",
	  ON(A100, BIG_MM "," OP("aten::mm", "50", "9", "[[1000,500],[500,1000]]",
				 HALF) "," LAUNCHED(TENSOR, "51", "70", "10", "2")),
	  "name,shapes,calls,device_ns,gflop", "aten::mm,-,2,20000,3.00" },
};

static void test_ops(void **state)
{
	(void)state;
	view_cases_run("roofline", op_cases, SS_COUNT(op_cases));
}

static void test_notes(void **state)
{
	(void)state;
	view_cases_run("roofline", note_cases, SS_COUNT(note_cases));
}

static void test_groups(void **state)
{
	(void)state;
	view_cases_run("roofline/step", step_cases, SS_COUNT(step_cases));
	view_cases_run("roofline/run", run_cases, SS_COUNT(run_cases));
	view_cases_run("roofline/kind", kind_cases, SS_COUNT(kind_cases));
	view_cases_run("roofline/name", name_cases, SS_COUNT(name_cases));
}

static void test_no_memory(void **state)
{
	(void)state;
	view_memory_run("roofline", "op aten::mm 1 0 +9; call l 1 1 +1 #1; kernel k 7 10 +4 #1");
	view_memory_run("roofline", ON(A100, BIG_MM));
	view_memory_run("roofline/step", ON(A100, BIG_MM));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ops),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
