/*
 * View communication: collectives by kind, group and size.
 */
#include "support/view_cases.h"

#define ROW(name, stream, ts, dur, args)                                                   \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name "\",\"pid\":0,\"tid\":" stream \
	",\"ts\":" ts ",\"dur\":" dur ",\"args\":{\"device\":0,\"stream\":" stream args "}}"
#define KERNEL(ts, dur) ROW("k", "7", ts, dur, "")
#define NCCL(ts, dur, args) ROW("ncclDevKernel_AllReduce_Sum_f32", "20", ts, dur, args)
#define COLLECTIVE(name, in, out, size, dtype)                                               \
	",\"Collective name\":\"" name "\",\"In msg nelems\":" in ",\"Out msg nelems\":" out \
	",\"Group size\":" size ",\"dtype\":\"" dtype "\""                                   \
	",\"Process Group Name\":\"0\""
#define ALL_REDUCE COLLECTIVE("allreduce", "1000", "1000", "4", "Float")
#define TIMES "collective,calls,total_ns,exposed_ns,overlap_percent,mean_ns,min_ns"

static const struct view_case cases[] = {
	{ "nothing", "[]", TIMES, "" },
	{ "compute is no communication", "[" KERNEL("0", "10") "]", TIMES, "" },
	{ "without arguments the kernel's name stands for it, and there is no bandwidth",
	  "[" NCCL("0", "10", "") "]", "collective,group,group_size,message_bytes,busbw",
	  "ncclDevKernel_AllReduce_Sum_f32,-,-,-,-" },
	{ "hidden and exposed",
	  "[" KERNEL("0", "10") "," KERNEL("12", "2") "," NCCL("5", "10", ALL_REDUCE) "]", TIMES,
	  "allreduce,1,10000,3000,70.00,10000,10000" },
	{ "the same size is one row, another is another",
	  "[" NCCL("0", "10", ALL_REDUCE) "," NCCL("20", "30", ALL_REDUCE) "," NCCL(
		  "60", "1", COLLECTIVE("allreduce", "10", "10", "4", "Float")) "]",
	  TIMES, "allreduce,2,40000,40000,0.00,20000,10000\nallreduce,1,1000,1000,0.00,1000,1000" },
	{ "all-reduce: 4000 bytes in 10 us, three quarters twice over the bus",
	  "[" NCCL("0", "10", ALL_REDUCE) "," NCCL("20", "30", ALL_REDUCE) "]",
	  "message_bytes,algbw,busbw,mean_busbw,dtype", "4000,0.40,0.60,0.30,Float" },
	{ "all-gather: the output is the message",
	  "[" NCCL("0", "10", COLLECTIVE("_allgather_base", "1000", "4000", "4", "BFloat16")) "]",
	  "message_bytes,algbw,busbw", "8000,0.80,0.60" },
	{ "reduce-scatter: the input is",
	  "[" NCCL("0", "10", COLLECTIVE("_reduce_scatter_base", "4000", "1000", "4", "Half")) "]",
	  "message_bytes,algbw,busbw", "8000,0.80,0.60" },
	{ "a broadcast goes over each link once",
	  "[" NCCL("0", "10", COLLECTIVE("broadcast", "1000", "1000", "4", "Long")) "]",
	  "message_bytes,algbw,busbw", "8000,0.80,0.80" },
	{ "a type that nobody knows has no size",
	  "[" NCCL("0", "10", COLLECTIVE("allreduce", "1000", "1000", "4", "Odd")) "]",
	  "message_bytes,busbw", "-,-" },
	{ "no time, no rate", "[" NCCL("5", "0", ALL_REDUCE) "," NCCL("9", "0", ALL_REDUCE) "]",
	  "calls,overlap_percent,busbw", "2,-,-" },
};

static void test_communication(void **state)
{
	(void)state;
	view_cases_run("communication", cases, SS_COUNT(cases));
	view_memory_run("communication", "kernel k 7 5 +4; kernel ncclKernel_AllReduce 8 6 +9");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_communication) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
