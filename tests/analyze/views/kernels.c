/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View kernels: times by name, what weighs by time, and what was not recorded.
 */
#include "support/view_cases.h"

#define ROW(cat, name, ts, dur, args)                                                            \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":0,\"tid\":7,\"ts\":" ts \
	",\"dur\":" dur ",\"args\":{" args "}}"
#define KERNEL(name, ts, dur, args) ROW("kernel", name, ts, dur, args)
#define OCCUPANCY "\"est. achieved occupancy %\":"
#define BLOCKS "\"blocks per SM\":"
#define LARGE(occupancy, shared) OCCUPANCY occupancy ",\"shared memory\":" shared

#define TIMES "name,calls,total_ns,mean_ns,min_ns,max_ns,std_ns"
#define FILLING "name,occupancy_percent,blocks_per_sm"
#define LAUNCH "name,grid,block,registers,shared_bytes"

static const struct view_case time_cases[] = {
	{ "nothing", "[]", "name", "" },
	{ "what is no kernel",
	  "op k 1 0 +9; call k 1 1 +1 #1; driver k 1 3 +1 #2; note k 1 5 +1; frame k 1 6 +1;"
	  "copy k 7 10 +4 #1; set k 7 20 +4 #2; mark k 7 30 +4 #1; sync k 7 40 +4 #1; overhead k 1 "
	  "50 +1",
	  "name", "" },
	{ "an MTIA row that copies or waits is none, the rest is",
	  "[" ROW("mtia_ccp_events", "dma_read", "1", "2",
		  "") "," ROW("mtia_ccp_events", "event_wait", "3", "2",
			      "") "," ROW("mtia_ccp_events", "fc", "5", "2", "") "]",
	  TIMES, "fc,1,2000,2000,2000,2000,0" },
	{ "one call does not deviate", "kernel k 7 1 +5", TIMES, "k,1,5000,5000,5000,5000,0" },
	{ "several", "kernel k 7 1 +9; kernel k 7 20 +2; kernel k 7 30 +4", TIMES,
	  "k,3,15000,5000,2000,9000,2944" },
	{ "equal ones do not deviate", "kernel k 7 1 +3; kernel k 7 20 +3; kernel k 7 30 +3", TIMES,
	  "k,3,9000,3000,3000,3000,0" },
	{ "equal ones that are long do not, either",
	  "kernel k 7 1 +60000000.001; kernel k 8 1 +60000000.001; kernel k 9 1 +60000000.001",
	  TIMES, "k,3,180000000003,60000000001,60000000001,60000000001,0" },
	{ "long ones that differ by little",
	  "kernel k 7 1 +600000000.000; kernel k 8 1 +600000002.000", TIMES,
	  "k,2,1200000002000,600000001000,600000000000,600000002000,1000" },
	{ "a mean is rounded", "kernel k 7 1 +1; kernel k 7 5 +1; kernel k 7 9 +1.001", TIMES,
	  "k,3,3001,1000,1000,1001,0" },
	{ "devices, streams and orphans are one row, overlap or not",
	  "call cudaLaunchKernel 1 0 +1 #1; kernel k 0/7 2 +4 #1; kernel k 0/8 3 +4 #9;"
	  "kernel k 1/7 4 +4",
	  "name,calls,total_ns,share_percent", "k,3,12000,100.00" },
	{ "the longest in sum comes first; percent of all kernels",
	  "kernel a 7 1 +3; kernel b 7 10 +1; kernel c 7 20 +2; kernel b 7 30 +4;"
	  "copy m 7 40 +90; set s 7 200 +90",
	  "name,total_ns,share_percent", "b,5000,50.00\na,3000,30.00\nc,2000,20.00" },
	{ "communication is in the base", "kernel a 7 1 +3; kernel ncclKernel_AllReduce 7 10 +9",
	  "name,share_percent,kind", "ncclKernel_AllReduce,75.00,communication\na,25.00,compute" },
	{ "of no time there is no share", "kernel k 7 5 +0; kernel k 7 6 +0",
	  TIMES ",share_percent", "k,2,0,0,0,0,0,-" },
	{ "a call without time is the shortest", "kernel k 7 5 +4; kernel k 7 10 +0",
	  TIMES ",share_percent", "k,2,4000,2000,0,4000,2000,100.00" },
	{ "the category of old writers", "[" ROW("Kernel", "k", "1", "2", "") "]", TIMES,
	  "k,1,2000,2000,2000,2000,0" },
};

/* clang-format off */
static const struct view_case filling_cases[] = {
	{ "weighted by time", "kernel k 7 1 +1 ~2 %100; kernel k 7 10 +3 ~6 %20", FILLING,
	  "k,40.00,5.00" },
	{ "not by the number of calls",
	  "kernel k 7 1 +1 ~0 %0; kernel k 7 3 +1 ~0 %0; kernel k 7 10 +8 ~1 %50", FILLING,
	  "k,40.00,0.80" },
	{ "by name", "kernel a 7 1 +5 ~1 %10; kernel b 7 10 +3 ~2 %20", FILLING,
	  "a,10.00,1.00\nb,20.00,2.00" },
	{ "more blocks than fit at once are not cut", "kernel k 7 1 +1 ~64.5 %75", FILLING,
	  "k,75.00,64.50" },
	{ "nothing is something else than not recorded", "kernel k 7 1 +1 ~0 %0", FILLING,
	  "k,0.00,0.00" },
	{ "ROCm records neither", "kernel k 7 1 +1; kernel k 7 5 +3", FILLING, "k,-,-" },
	{ "nor does a kernel without arguments",
	  "[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":1,"
	  "\"dur\":2}]",
	  FILLING ",grid,block,registers,shared_bytes", "k,-,-,-,-,-,-" },
	{ "one of both", "kernel a 7 1 +5 %30; kernel b 7 10 +3 ~2", FILLING,
	  "a,30.00,-\nb,-,2.00" },
	{ "calls that did not record it have no weight",
	  "kernel k 7 1 +1 %50; kernel k 7 5 +9; kernel k 7 20 +2 ~3", FILLING, "k,50.00,3.00" },
	{ "what is no number is not recorded",
	  "[" KERNEL("k", "1", "2", OCCUPANCY "\"much\"," BLOCKS "null") "]", FILLING, "k,-,-" },
	{ "0 with more than 48 KiB of shared memory is not known, and has no weight",
	  "[" KERNEL("k", "1", "2", LARGE("0", "49153")) ","
	      KERNEL("l", "5", "2", LARGE("0", "49152")) ","
	      KERNEL("m", "9", "2", LARGE("0", "49153")) ","
	      KERNEL("m", "12", "2", LARGE("40", "49153")) "]",
	  FILLING, "m,40.00,-\nk,-,-\nl,0.00,-" },
	{ "no time, no weight", "kernel k 7 5 +0 ~2 %50", FILLING, "k,-,-" },
};
/* clang-format on */

static const struct view_case kind_cases[] = {
	{ "communication by argument",
	  "[" KERNEL("k", "1", "2", "\"Collective name\":\"allreduce\"") "]", "name,kind",
	  "k,communication" },
	{ "communication by name",
	  "kernel ncclDevKernel_AllReduce_Sum_f32_RING_LL 7 1 +9;"
	  "kernel ncclKernel_Broadcast_RING_LL_Sum_int8_t 7 20 +8; kernel rcclGenericKernel 7 30 "
	  "+7;"
	  "kernel multimem_all_reduce_kernel 7 40 +6; kernel sgl::cross_device_reduce_1stage 7 50 "
	  "+5;"
	  "kernel deep_ep::intranode::dispatch 7 60 +4; kernel nvshmemi_put 7 70 +3;"
	  "kernel mscclpp::allreduce 7 80 +2",
	  "total_ns,kind",
	  "9000,communication\n8000,communication\n7000,communication\n6000,communication\n"
	  "5000,communication\n4000,communication\n3000,communication\n2000,communication" },
	{ "names that only sound like it",
	  "kernel cub::DispatchReduceByKey 7 1 +4; kernel _combined_routing_fused 7 10 +3;"
	  "kernel reduce_kernel 7 20 +2; kernel all_gather_rows 7 30 +1",
	  "name,kind",
	  "cub::DispatchReduceByKey,compute\n_combined_routing_fused,compute\n"
	  "reduce_kernel,compute\nall_gather_rows,compute" },
	{ "communication by its launch, but not its helpers",
	  "op record_param_comms 1 0 +9; call cudaLaunchKernel 1 1 +1 #1;"
	  "call cudaLaunchKernel 1 3 +1 #2; call cudaLaunchKernel 1 5 +1 #3;"
	  "call cudaLaunchKernel 1 20 +1 #4;"
	  "kernel ring 7 10 +9 #1; kernel elementwise_kernel 7 20 +8 #2;"
	  "kernel copy_kernel 7 30 +7 #3; kernel after 7 40 +6 #4",
	  "name,kind",
	  "ring,communication\nelementwise_kernel,compute\ncopy_kernel,compute\nafter,compute" },
	{ "tensor and matrix cores",
	  "kernel volta_fp16_s884gemm 7 1 +5; kernel Cijk_Ailk_MI16x16x16x1 7 10 +4;"
	  "kernel nvjet_tst_128x256 7 20 +3; kernel vectorized_add 7 30 +2; kernel gemv 7 40 +1",
	  "name,tensor_cores",
	  "volta_fp16_s884gemm,yes\nCijk_Ailk_MI16x16x16x1,yes\nnvjet_tst_128x256,yes\n"
	  "vectorized_add,no\ngemv,no" },
};

#define SHORT_CALL                                                                         \
	KERNEL("k", "1", "2",                                                              \
	       "\"grid\":[1,2,3],\"block\":[32,1,1],\"registers per thread\":16,\"shared " \
	       "memory\":0")
#define LONG_CALL                                                                              \
	KERNEL("k", "10", "5",                                                                 \
	       "\"grid\":[640,1,2],\"block\":[128,4,1],\"registers per thread\":255,\"shared " \
	       "memory\":49152")

static const struct view_case launch_cases[] = {
	{ "of the longest call", "[" SHORT_CALL "," LONG_CALL "]", LAUNCH,
	  "k,640x1x2,128x4x1,255,49152" },
	{ "wherever it stands", "[" LONG_CALL "," SHORT_CALL "]", LAUNCH,
	  "k,640x1x2,128x4x1,255,49152" },
	{ "no shared memory is something else than not recorded", "[" SHORT_CALL "]", LAUNCH,
	  "k,1x2x3,32x1x1,16,0" },
	{ "not that of a shorter one when the longest has none",
	  "[" SHORT_CALL "," KERNEL("k", "10", "5", "") "]", LAUNCH, "k,-,-,-,-" },
	{ "not recorded", "kernel k 7 1 +2", LAUNCH, "k,-,-,-,-" },
	{ "a grid alone", "[" KERNEL("k", "1", "2", "\"grid\":[4,1,1]") "]", LAUNCH,
	  "k,4x1x1,-,-,-" },
	{ "a block alone", "[" KERNEL("k", "1", "2", "\"block\":[64,1,1]") "]", LAUNCH,
	  "k,-,64x1x1,-,-" },
	{ "what is no list of three",
	  "[" KERNEL("k", "1", "2", "\"grid\":\"many\",\"block\":[]") "]", LAUNCH, "k,-,-,-,-" },
	{ "two numbers are no block",
	  "[" KERNEL("k", "1", "2", "\"grid\":[4,1,1],\"block\":[64,1]") "]", LAUNCH,
	  "k,4x1x1,-,-,-" },
};

#define ADD "void at::native::vectorized_elementwise_kernel<4, at::native::Add<float> >(int)"
#define SIZED(ts, dur, grid, registers)                                                         \
	KERNEL("k", ts, dur,                                                                    \
	       "\"grid\":[" grid ",1,1],\"block\":[64,1,1],\"registers per thread\":" registers \
	       ",\"shared memory\":0")

static const struct view_case name_cases[] = {
	{ "the full name is the key, the short one is for reading",
	  "[" KERNEL(ADD, "1", "2", "") "]", "kernel,name,category",
	  "vectorized_elementwise_kernel<Add<float>>," ADD ",elementwise" },
	{ "kernels that share a short name stay apart",
	  "[" KERNEL("void k<1, float>(int)", "1", "3", "") "," KERNEL("void k<2, float>(int)", "9",
								       "2", "") "]",
	  "kernel,name,calls",
	  "k<float>,void k<1, float>(int),1\nk<float>,void k<2, float>(int),1" },
	{ "communication is told by more than the name",
	  "[" KERNEL("softmax", "1", "2", "\"Collective name\":\"allreduce\"") "]",
	  "kernel,category", "softmax,communication" },
	{ "of a name that says nothing", "kernel k 7 1 +2", "kernel,category", "k,other" },
	{ "what belongs to other groups is empty", "kernel k 7 1 +2", "op,device,stream", "-,-,-" },
};

#define LAUNCHES                                                                     \
	"op aten::a 1 0 +9; call cudaLaunchKernel 1 1 +1 #1; call cudaLaunchKernel " \
	"1 3 +1 #2; op aten::b 1 20 +9; call cudaLaunchKernel 1 21 +1 #3;"

static const struct view_case op_cases[] = {
	{ "by the operator that launched it",
	  LAUNCHES "kernel k 7 40 +3 #1; kernel k 7 50 +4 #2; kernel k 7 60 +5 #3",
	  "kernel,op,calls,total_ns", "k,aten::a,2,7000\nk,aten::b,1,5000" },
	{ "the innermost one",
	  "op aten::a 1 0 +9; op aten::in 1 1 +5; call cudaLaunchKernel 1 2 +1 #1; kernel k "
	  "7 40 +3 "
	  "#1",
	  "kernel,op", "k,aten::in" },
	{ "a launch outside of operators", "call cudaLaunchKernel 1 2 +1 #1; kernel k 7 40 +3 #1",
	  "kernel,op,calls", "k,-,1" },
	{ "launches that are not in the file are one row", "kernel k 7 40 +3 #8; kernel k 7 50 +3",
	  "kernel,op,calls", "k,-,2" },
	{ "nothing", "[]", "kernel", "" },
};

static const struct view_case category_cases[] = {
	{ "a row for each category; a kernel's own figures are empty",
	  "kernel softmax_a 7 1 +3 %20; kernel softmax_b 7 10 +4 %60; kernel ncclKernel_x 7 20 +2",
	  "kernel,name,category,kind,calls,total_ns,tensor_cores,grid",
	  "softmax,-,softmax,compute,2,7000,-,-\n"
	  "communication,-,communication,communication,1,2000,-,-" },
	{ "nothing", "op a 1 0 +9", "kernel", "" },
};

static const struct view_case stream_cases[] = {
	{ "by device and stream",
	  "kernel k 0/7 1 +3; kernel k 0/8 1 +5; kernel k 1/7 1 +4; kernel k 0/7 9 +4",
	  "kernel,device,stream,calls,total_ns", "k,0,7,2,7000\nk,0,8,1,5000\nk,1,7,1,4000" },
	{ "nothing", "copy m 7 1 +2", "kernel", "" },
};

static const struct view_case size_cases[] = {
	{ "by the size of the launch",
	  "[" SIZED("1", "2", "8", "16") "," SIZED("9", "2", "8", "16") "," SIZED("20", "3", "9",
										  "16") "]",
	  "kernel,calls,grid", "k<<<8x1x1, 64x1x1>>>,2,8x1x1\nk<<<9x1x1, 64x1x1>>>,1,9x1x1" },
	{ "registers part it, too",
	  "[" SIZED("1", "2", "8", "16") "," SIZED("9", "1", "8", "32") "]", "calls,registers",
	  "1,16\n1,32" },
	{ "sizes that are not recorded", "kernel k 7 1 +2", "kernel,grid,op", "k,-,-" },
};

#define ON_HOST(cat, name, ts, dur, args)                                                        \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":1,\"tid\":1,\"ts\":" ts \
	",\"dur\":" dur ",\"args\":{" args "}}"
#define FRAME(name, ts, dur) ON_HOST("python_function", name, ts, dur, "")
#define CALL(ts, id) ON_HOST("cuda_runtime", "cudaLaunchKernel", ts, "1", "\"correlation\":" id)

#define LINES                          \
	FRAME("a.py(1): f", "0", "20") \
	"," CALL("1", "1") "," CALL("4", "2") "," FRAME("a.py(2): g", "30", "9") "," CALL("31", "3")
#define NUMBER(id) "\"correlation\":" id

static const struct view_case source_cases[] = {
	{ "by the line that launched them; what was launched nowhere has none",
	  "[" LINES
	  "," KERNEL("k", "5", "3", NUMBER("1")) "," KERNEL("j", "9", "4", NUMBER("2")) "," KERNEL(
		  "k", "40", "5", NUMBER("3")) "," KERNEL("k", "50", "1", "") "]",
	  "kernel,name,line,calls,total_ns,kind+notes",
	  "-,-,a.py(1): f,2,7000,-\n-,-,a.py(2): g,1,5000,-\n-,-,-,1,1000,-" },
	{ "no lines: what records them", "kernel k 7 1 +4; kernel j 7 10 +3", "line,calls+notes",
	  "-,2\nSource lines are not recorded: use profile(with_stack=True)." },
};

static void test_times(void **state)
{
	(void)state;
	view_cases_run("kernels", time_cases, SS_COUNT(time_cases));
}

static void test_filling(void **state)
{
	(void)state;
	view_cases_run("kernels", filling_cases, SS_COUNT(filling_cases));
}

static void test_kinds(void **state)
{
	(void)state;
	view_cases_run("kernels", kind_cases, SS_COUNT(kind_cases));
}

static void test_launch(void **state)
{
	(void)state;
	view_cases_run("kernels", launch_cases, SS_COUNT(launch_cases));
}

static void test_names(void **state)
{
	(void)state;
	view_cases_run("kernels", name_cases, SS_COUNT(name_cases));
}

static void test_groups(void **state)
{
	(void)state;
	view_cases_run("kernels/op", op_cases, SS_COUNT(op_cases));
	view_cases_run("kernels/category", category_cases, SS_COUNT(category_cases));
	view_cases_run("kernels/stream", stream_cases, SS_COUNT(stream_cases));
	view_cases_run("kernels/launch", size_cases, SS_COUNT(size_cases));
	view_cases_run("kernels/source-line", source_cases, SS_COUNT(source_cases));
}

static void test_no_memory(void **state)
{
	(void)state;
	view_memory_run("kernels", "kernel k 7 1 +4 ~2 %50; kernel j 7 10 +3");
	view_memory_run("kernels/launch", LAUNCHES "kernel k 7 40 +3 #1; kernel j 7 50 +3 #3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),     cmocka_unit_test(test_filling),
		cmocka_unit_test(test_kinds),     cmocka_unit_test(test_launch),
		cmocka_unit_test(test_names),     cmocka_unit_test(test_groups),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
