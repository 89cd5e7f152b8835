/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View utilization: metrics.md 4, each figure of a device on traces that can be
 * counted by hand.
 */
#include "support/view_cases.h"

#define STEP "note ProfilerStep#1 1 0 +100; "
#define TIMES                                                                              \
	"device,span_ns,gpu_percent,busy_ns,idle_ns,kernel_ns,compute_ns,exposed_comm_ns," \
	"exposed_copy_ns"

#define KERNEL(ts, dur, occupancy, shared)                                               \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":" ts \
	",\"dur\":" dur ",\"args\":{\"device\":0,\"stream\":7,\"shared memory\":" shared \
	",\"est. achieved occupancy %\":" occupancy "}}"

static const struct view_case unknown_occupancy[] = {
	{ "0 with more shared memory than the estimate knows",
	  "[" KERNEL("0", "19", "50", "0") "," KERNEL("20", "1", "0", "49153") "]",
	  "occupancy_percent+notes",
	  "47.50\n"
	  "Occupancy is higher than shown: kernels with more than 48 KiB of shared memory are "
	  "recorded with 0 (see the kernels view)." },
	{ "too little to matter",
	  "[" KERNEL("0", "39", "50", "0") "," KERNEL("40", "1", "0", "49153") "]",
	  "occupancy_percent+notes", "48.75" },
	{ "0 may be what it is where the shared memory is known",
	  "[" KERNEL("0", "5", "50", "0") "," KERNEL("20", "5", "0", "49152") "]",
	  "occupancy_percent+notes", "25.00" },
	{ "so may 1", "[" KERNEL("0", "5", "50", "0") "," KERNEL("20", "5", "1", "99999") "]",
	  "occupancy_percent+notes", "25.50" },
};

static const struct view_case times[] = {
	{ "nothing", "[]", TIMES, "" },
	{ "no device", STEP "op aten::add 1 10 +20; call cudaMalloc 1 12 +3", TIMES, "" },
	{ "one kernel", STEP "kernel a 7 10 +20", TIMES,
	  "1,100000,20.00,20000,80000,20000,20000,0,0" },
	{ "what two streams do at once counts once", STEP "kernel a 7 10 +20; kernel b 8 20 +20",
	  TIMES, "1,100000,30.00,30000,70000,30000,30000,0,0" },
	{ "so does what one stream does", STEP "kernel a 7 10 +40; kernel b 7 20 +5", TIMES,
	  "1,100000,40.00,40000,60000,40000,40000,0,0" },
	{ "kernels that touch", STEP "kernel a 7 10 +20; kernel b 8 30 +20; kernel c 7 50 +1",
	  TIMES, "1,100000,41.00,41000,59000,41000,41000,0,0" },
	{ "communication is exposed where no compute kernel runs",
	  STEP "kernel a 7 10 +20; kernel ncclDevKernel_AllReduce 8 20 +30", TIMES,
	  "1,100000,40.00,40000,60000,40000,20000,20000,0" },
	{ "communication all of which is hidden",
	  STEP "kernel a 7 10 +50; kernel ncclDevKernel_AllReduce 8 20 +30", TIMES,
	  "1,100000,50.00,50000,50000,50000,50000,0,0" },
	{ "communication by the operator that launched it",
	  STEP "op record_param_comms 1 10 +10; call cudaLaunchKernel 1 11 +1 #1; kernel k 7 20 "
	       "+10 #1",
	  TIMES, "1,100000,10.00,10000,90000,10000,0,10000,0" },
	{ "copies and memsets are exposed where no kernel runs",
	  STEP "kernel a 7 10 +20; copy c 8 5 +30; set s 9 33 +7", TIMES,
	  "1,100000,20.00,35000,65000,20000,20000,0,15000" },
	{ "copies hide behind communication, too",
	  STEP "kernel ncclDevKernel_AllReduce 8 10 +20; copy c 9 20 +20", TIMES,
	  "1,100000,20.00,30000,70000,20000,0,20000,10000" },
	{ "copies alone are no utilization", STEP "copy c 7 10 +20; set s 7 40 +5", TIMES,
	  "1,100000,0.00,25000,75000,0,0,0,25000" },
	{ "annotations, recorded waits and frames are no work of a device",
	  STEP "mark x 7 0 +100; sync Stream_Wait_Event 7 0 +100; frame f 0/7 0 +100; kernel a 7 "
	       "10 +10; overhead Buffer_Flush 1/7 0 +50",
	  TIMES, "1,100000,10.00,10000,90000,10000,10000,0,0" },
	{ "only the part inside of the span counts",
	  "note ProfilerStep#1 1 50 +100; kernel a 7 0 +60; kernel b 8 140 +60; copy c 9 40 +15; "
	  "kernel d 7 200 +50; kernel e 7 61 +0",
	  TIMES, "1,100000,20.00,20000,80000,20000,20000,0,0" },
	{ "one that covers the whole span and more",
	  "note ProfilerStep#1 1 50 +100; kernel a 7 0 +500", TIMES,
	  "1,100000,100.00,100000,0,100000,100000,0,0" },
	{ "the span holds what lies between steps",
	  "note ProfilerStep#1 1 0 +10; note ProfilerStep#2 1 20 +10; kernel a 7 5 +20", TIMES,
	  "1,30000,66.67,20000,10000,20000,20000,0,0" },
	{ "the span ends with the last kernel of the last step",
	  "note ProfilerStep#1 1 0 +10; call cudaLaunchKernel 1 2 +1 #1; kernel a 7 5 +20 #1",
	  TIMES, "1,25000,80.00,20000,5000,20000,20000,0,0" },
	{ "steps that are dropped do not belong to the span",
	  "note ProfilerStep#1 1 0 +10; call cudaLaunchKernel 1 2 +1 #1; kernel a 7 3 +1 #1;"
	  "note ProfilerStep#2 1 10 +10; kernel orphan 7 12 +5",
	  TIMES, "1,10000,10.00,1000,9000,1000,1000,0,0" },
	{ "two devices do not hide each other's work",
	  STEP "kernel a 2/7 10 +20; kernel ncclDevKernel_AllReduce 1/7 20 +40; copy c 2/8 20 +30",
	  TIMES,
	  "1,100000,40.00,40000,60000,40000,0,40000,0\n"
	  "2,100000,20.00,40000,60000,20000,20000,0,20000" },
	{ "no CPU ops and no steps: the span of the device events",
	  "kernel a 7 5 +10; copy b 8 20 +5", TIMES,
	  "1,20000,50.00,15000,5000,10000,10000,0,5000" },
	{ "no steps: the span of the operators", "op a 1 0 +100; kernel k 7 50 +100", TIMES,
	  "1,100000,50.00,50000,50000,50000,50000,0,0" },
	{ "kernels without duration", STEP "kernel a 7 10 +0; copy c 7 20 +0", TIMES,
	  "1,100000,0.00,0,100000,0,0,0,0" },
	{ "a span without duration has no shares", "note ProfilerStep#1 1 10 +0; kernel a 7 10 +0",
	  TIMES, "1,0,-,0,0,0,0,0,0" },
};

#define ESTIMATES "sm_percent,occupancy_percent,tensor_percent"

static const struct view_case estimates[] = {
	{ "less than a block for each SM", STEP "kernel a 7 10 +50 ~0.5", "sm_percent", "25.00" },
	{ "more blocks than SMs fill the device and no more", STEP "kernel a 7 10 +50 ~4",
	  "sm_percent", "50.00" },
	{ "exactly one block for each SM", STEP "kernel a 7 10 +50 ~1", "sm_percent", "50.00" },
	{ "kernels at once add up", STEP "kernel a 7 0 +50 ~0.3; kernel b 8 25 +50 ~0.4",
	  "sm_percent", "35.00" },
	{ "up to a full device", STEP "kernel a 7 0 +40 ~0.7; kernel b 8 20 +40 ~0.8", "sm_percent",
	  "50.00" },
	{ "beside a kernel that fills the device others add nothing",
	  STEP "kernel a 7 10 +40 ~9; kernel b 8 20 +40 ~0.5", "sm_percent", "45.00" },
	{ "short ones within a long one",
	  STEP "kernel a 7 0 +100 ~0.5; kernel b 8 10 +10 ~0.2; kernel c 9 12 +2 ~0.2",
	  "sm_percent", "52.40" },
	{ "ones that begin and end together",
	  STEP "kernel a 7 10 +10 ~0.2; kernel b 8 10 +10 ~0.3; kernel c 9 20 +10 ~0.1",
	  "sm_percent", "6.00" },
	{ "on one stream, too", STEP "kernel a 7 0 +40 ~0.2; kernel b 7 20 +40 ~0.3", "sm_percent",
	  "20.00" },
	{ "communication kernels fill SMs as others do",
	  STEP "kernel ncclDevKernel_AllReduce 7 0 +50 ~0.2", "sm_percent", "10.00" },
	{ "clipped to the span",
	  "note ProfilerStep#1 1 50 +100; kernel a 7 0 +100 ~0.5; kernel b 8 125 +100 ~0.2; "
	  "kernel c 9 200 +100 ~1",
	  "sm_percent", "30.00" },
	{ "kernels of another device fill that one",
	  STEP "kernel a 1/7 0 +50 ~0.5; kernel b 2/7 0 +50 ~0.1", "device,sm_percent",
	  "1,25.00\n2,5.00" },
	{ "one for which it is not recorded fills nothing",
	  STEP "kernel a 7 0 +50 ~0.5; kernel b 8 0 +100", "sm_percent", "25.00" },
	{ "blocks below 0 are no blocks", STEP "kernel a 7 0 +50 ~0.5; kernel b 8 0 +100 ~-4",
	  "sm_percent", "25.00" },
	{ "a kernel without duration fills nothing",
	  STEP "kernel a 7 20 +0 ~1; kernel b 7 30 +10 ~1", "sm_percent", "10.00" },
	{ "occupancy is weighted with time", STEP "kernel a 7 0 +10 %50; kernel b 7 20 +30 %100",
	  "occupancy_percent", "87.50" },
	{ "what runs at once is weighted for itself",
	  STEP "kernel a 7 0 +10 %50; kernel b 8 0 +30 %100", "occupancy_percent", "87.50" },
	{ "its weight is clipped to the span",
	  "note ProfilerStep#1 1 50 +100; kernel a 7 0 +60 %50; kernel b 7 100 +30 %100",
	  "occupancy_percent", "87.50" },
	{ "occupancy 0 is a number", STEP "kernel a 7 0 +10 %0; kernel b 7 20 +10 %50",
	  "occupancy_percent", "25.00" },
	{ "copies have no occupancy", STEP "kernel a 7 0 +10 %50; copy c 7 20 +10 %100",
	  "occupancy_percent", "50.00" },
	{ "kernels without it do not make it smaller",
	  STEP "kernel a 7 0 +10 %50; kernel b 7 20 +10", "occupancy_percent", "50.00" },
	{ "an occupancy below 0 is none", STEP "kernel a 7 0 +10 %50; kernel b 7 20 +10 %-50",
	  "occupancy_percent", "50.00" },
	{ "neither is recorded (ROCm)", STEP "kernel a 7 0 +10", ESTIMATES, "-,-,0.00" },
	{ "recorded on one device only", STEP "kernel a 1/7 0 +10 ~1 %50; kernel a 2/7 0 +10",
	  "device," ESTIMATES, "1,10.00,50.00,0.00\n2,-,-,0.00" },
	{ "tensor cores: the share of the kernels' time",
	  STEP "kernel ampere_fp16_s16816gemm_fp16_128x64_nn 7 0 +30; kernel a 8 10 +10",
	  "tensor_percent", "75.00" },
	{ "communication is part of the kernels' time, copies are not",
	  STEP "kernel sm80_xmma_gemm_f16 7 0 +10; kernel ncclDevKernel_AllReduce 8 0 +30; copy c "
	       "9 0 +100",
	  "tensor_percent", "25.00" },
	{ "clipped to the span, too",
	  "note ProfilerStep#1 1 50 +100; kernel sm80_xmma_gemm_f16 7 0 +60; kernel a 7 100 +30",
	  "tensor_percent", "25.00" },
	{ "what could use tensor cores: by the operator that launched it, and what did use them",
	  STEP "op aten::mm 1 0 +9; call cudaLaunchKernel 1 1 +1 #1; op aten::add 1 10 +9; "
	       "call cudaLaunchKernel 1 11 +1 #2; kernel a 7 20 +20 #1; kernel b 7 40 +10 #2; "
	       "kernel sm80_xmma_gemm_f16 7 50 +10",
	  "tensor_percent,tensor_eligible_percent", "25.00,75.00" },
	{ "without launches it is not known what could",
	  STEP "kernel sm80_xmma_gemm_f16 7 0 +10; kernel a 7 10 +10",
	  "tensor_percent,tensor_eligible_percent", "50.00,-" },
	{ "no kernel time, no shares of it", STEP "copy c 7 10 +10; kernel a 7 40 +0 ~1 %50",
	  "occupancy_percent,tensor_percent", "-,-" },
};

static void test_times(void **state)
{
	(void)state;
	view_cases_run("utilization", times, SS_COUNT(times));
}

static void test_estimates(void **state)
{
	(void)state;
	view_cases_run("utilization", estimates, SS_COUNT(estimates));
	view_cases_run("utilization", unknown_occupancy, SS_COUNT(unknown_occupancy));
}

static void test_memory(void **state)
{
	(void)state;
	view_memory_run("utilization",
			STEP "kernel a 7 10 +20 ~1 %2; kernel nccl 8 20 +20; copy c 9 5 +50; "
			     "kernel b 2/7 10 +10");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_estimates),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
