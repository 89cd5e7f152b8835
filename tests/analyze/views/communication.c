/* SPDX-License-Identifier: Apache-2.0 */
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
	{ "its list of parameters is left out",
	  "[" ROW("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "20", "0", "10", "") "]",
	  "collective,calls", "ncclKernel_AllReduce_RING_LL_Sum_float,1" },
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

static const struct view_case dtype_cases[] = {
	{ "eight bits, whatever their kind",
	  "[" NCCL("0", "10", COLLECTIVE("allreduce", "1000", "10", "4", "Float8_e4m3fn")) "]",
	  "message_bytes,moved_bytes", "1000,-" },
	{ "complex numbers are two",
	  "[" NCCL("0", "10", COLLECTIVE("allreduce", "1000", "10", "4", "ComplexFloat")) "]",
	  "message_bytes", "8000" },
	{ "more elements than there can be",
	  "[" NCCL("0", "10",
		   COLLECTIVE("allreduce", "9223372036854775807", "1", "4", "Float")) "]",
	  "message_bytes", "-" },
	{ "as many as can be counted, and one more",
	  "[" NCCL("0", "10", COLLECTIVE("allreduce", "9223372036854775807", "1", "4", "Byte")) "]",
	  "message_bytes", "-" },
	{ "a group without size has no busbw",
	  "[" NCCL("0", "10",
		   ",\"Collective name\":\"allreduce\",\"In msg nelems\":10,\"dtype\":\"Int\"") "]",
	  "message_bytes,busbw,mean_busbw,algbw", "40,-,-,0.00" },
};

#define GATHER COLLECTIVE("_allgather_base", "1000", "4000", "4", "Float")
#define OTHER_GROUP                                                                       \
	",\"Collective name\":\"allreduce\",\"In msg nelems\":500,\"Out msg nelems\":500" \
	",\"Group size\":2,\"dtype\":\"Float\",\"Process Group Name\":\"7\""              \
	",\"Process Group Description\":\"tp\",\"Process Group Ranks\":\"[0, 1]\""
#define FOUR                                                            \
	"[" KERNEL("0", "10") "," NCCL("0", "10", ALL_REDUCE) "," NCCL( \
		"20", "30", GATHER) "," NCCL("60", "2", OTHER_GROUP) "," NCCL("80", "5", "") "]"

static const struct view_case kind_cases[] = {
	{ "nothing", "[]", "collective", "" },
	{ "by name only; kernels without arguments by theirs", FOUR,
	  "collective,group,group_size,calls,message_bytes,moved_bytes,total_ns,exposed_ns",
	  "_allgather_base,-,-,1,-,16000,30000,30000\nallreduce,-,-,2,-,6000,12000,2000\n"
	  "ncclDevKernel_AllReduce_Sum_f32,-,-,1,-,-,5000,5000" },
	{ "bandwidth is of all bytes over all time, with each group's factor", FOUR,
	  "collective,busbw,mean_busbw,algbw",
	  "_allgather_base,-,0.40,-\nallreduce,-,0.67,-\nncclDevKernel_AllReduce_Sum_f32,-,-,-" },
	{ "a sum of which one part is not known is not known",
	  "[" NCCL("0", "10",
		   ALL_REDUCE) "," NCCL("20", "10",
					COLLECTIVE("allreduce", "1000", "10", "4", "Odd")) "]",
	  "collective,calls,moved_bytes,mean_busbw", "allreduce,2,-,-" },
};

#define NO_SIZE ",\"Collective name\":\"allreduce\",\"In msg nelems\":10,\"dtype\":\"Int\""

static const struct view_case sizeless_cases[] = {
	{ "a call of a group without size leaves no busbw to the sum",
	  "[" NCCL("0", "10", ALL_REDUCE) "," NCCL("20", "10", NO_SIZE) "]",
	  "collective,calls,moved_bytes,mean_busbw", "allreduce,2,4040,-" },
};

static const struct view_case group_cases[] = {
	{ "one row for each process group, and one for what does not say", FOUR,
	  "collective,group,description,group_size,group_ranks,calls,moved_bytes,total_ns",
	  "-,0,-,4,-,2,20000,40000\n-,-,-,-,-,1,-,5000\n-,7,tp,2,[0, 1],1,2000,2000" },
};

static const struct view_case hider_cases[] = {
	{ "nothing", "[]", "hider", "" },
	{ "nothing beside it", "kernel k 7 0 +5; kernel ncclKernel_AllReduce 8 5 +9", "hider", "" },
	{ "each kernel has what it hid",
	  "kernel a 7 0 +6; kernel b 7 7 +3; kernel a 7 12 +9; kernel ncclKernel_AllReduce 8 5 +9",
	  "hider,calls,hidden_ns,share_percent,where,collective,total_ns",
	  "a,2,3000,50.00,device,-,-\nb,1,3000,50.00,device,-,-" },
	{ "of kernels at once the one that started first has it, then the next",
	  "kernel a 7 0 +10; kernel b 9 2 +18; kernel c 10 3 +12; kernel ncclKernel_X 8 1 +17",
	  "hider,calls,hidden_ns", "a,1,9000\nb,1,8000" },
	{ "one inside of another ends nothing",
	  "kernel a 7 0 +20; kernel b 9 1 +3; kernel c 9 6 +4; kernel ncclKernel_X 8 1 +17",
	  "hider,calls,hidden_ns", "a,1,17000" },
	{ "collectives at once hide once",
	  "kernel a 7 0 +10; kernel ncclKernel_X 8 2 +4; kernel ncclKernel_Y 9 3 +4",
	  "hider,calls,hidden_ns", "a,1,5000" },
	{ "another device hides nothing",
	  "kernel a 1/7 0 +10; kernel ncclKernel_X 2/8 2 +4; kernel b 2/7 0 +3",
	  "hider,calls,hidden_ns", "b,1,1000" },
	{ "copies hide nothing", "copy c 7 0 +9; kernel ncclKernel_X 8 2 +4", "hider", "" },
	{ "unknown on the host", "note gloo:all_reduce 1 0 +9; op a 2 1 +3", "hider+notes",
	  "Which kernels hide communication is known only for devices." },
};

#define RANGE(name, ts, dur, dims, types)                                                     \
	"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"" name                          \
	"\",\"pid\":1,\"tid\":1,\"ts\":" ts ",\"dur\":" dur ",\"args\":{\"Input Dims\":" dims \
	",\"Input type\":" types "}}"
#define GLOO(ts, dur, count) RANGE("gloo:all_reduce", ts, dur, "[[" count "]]", "[\"float\"]")
#define JOB(events)                                                                              \
	"{\"distributedInfo\":{\"backend\":\"gloo\",\"rank\":0,\"world_size\":4,\"pg_count\":1," \
	"\"pg_config\":[{\"pg_name\":\"0\",\"pg_desc\":\"default_pg\",\"pg_size\":4,"            \
	"\"ranks\":[0,1,2,3]}]},\"traceEvents\":[" events "]}"

static const struct view_case host_cases[] = {
	{ "ranges of gloo, by size; their group is the job's only one",
	  JOB(GLOO("0", "10", "1000") "," GLOO("20", "30", "1000") "," GLOO("60", "1", "10")),
	  "collective,group,group_size,calls,message_bytes,total_ns,busbw,where",
	  "gloo:all_reduce,0,4,2,4000,40000,0.60,host\ngloo:all_reduce,0,4,1,40,1000,0.06,host" },
	{ "without a group there is no busbw", "[" GLOO("0", "10", "1000") "]",
	  "group,group_size,message_bytes,algbw,busbw", "-,-,4000,0.40,-" },
	{ "without shapes there are no bytes", "note gloo:all_reduce 1 0 +10",
	  "collective,calls,message_bytes,total_ns,where", "gloo:all_reduce,1,-,10000,host" },
	{ "what is gathered has a part of each rank",
	  JOB(RANGE("gloo:all_gather", "0", "10", "[[1000]]", "[\"float\"]")),
	  "message_bytes,algbw,busbw", "16000,1.60,1.20" },
	{ "which is not known of unknown groups",
	  "[" RANGE("gloo:all_gather", "0", "10", "[[1000]]", "[\"float\"]") "]", "message_bytes",
	  "-" },
	{ "several tensors, a scalar, an option",
	  "[" RANGE("gloo:all_reduce", "0", "10", "[[2, 3], [], [5], []]",
		    "[\"c10::Half\", \"double\", \"long int\", \"Scalar\"]") "]",
	  "message_bytes", "60" },
	{ "lists of tensors are not measured",
	  "[" RANGE("gloo:all_reduce", "0", "10", "[[[2], [3]]]", "[\"TensorList\"]") "]",
	  "message_bytes", "-" },
	{ "nor what is odd",
	  "[" RANGE("gloo:a", "0", "5", "[[-1]]", "[\"float\"]") "," RANGE(
		  "gloo:b", "10", "4", "[[9999999999, 9999999999]]",
		  "[\"float\"]") "," RANGE("gloo:c", "20", "3", "[[2],[2]]",
					   "[\"float\"]") "," RANGE("gloo:d", "30", "2", "[[2]]",
								    "[\"odd\"]") "]",
	  "collective,message_bytes", "gloo:a,-\ngloo:b,-\ngloo:c,-\ngloo:d,-" },
	{ "operators of other threads hide it, those that communicate do not",
	  "note gloo:all_reduce 1 0 +10; op aten::mm 2 2 +3; op c10d::allreduce_ 2 6 +2;"
	  "op aten::add 3 4 +2",
	  "total_ns,exposed_ns,overlap_percent", "10000,6000,40.00" },
	{ "kernels that communicate come first",
	  "note gloo:all_reduce 1 0 +10; kernel ncclX 7 0 +3", "collective,where", "ncclX,device" },
	{ "ranges of nccl only launch: their time is not the collective's",
	  "note nccl:all_reduce 1 0 +10", "collective+notes",
	  "Kernels and copies are not recorded: use profile(activities=[..., "
	  "ProfilerActivity.CUDA])." },
	{ "and where devices are recorded there was none",
	  "note nccl:all_reduce 1 0 +10; kernel k 7 0 +3", "collective+notes", "" },
};

static void test_groups(void **state)
{
	static const char script[] = "kernel k 7 5 +4; kernel ncclKernel_AllReduce 8 6 +9";

	(void)state;
	view_cases_run("communication", dtype_cases, SS_COUNT(dtype_cases));
	view_cases_run("communication/kind", kind_cases, SS_COUNT(kind_cases));
	view_cases_run("communication/kind", sizeless_cases, SS_COUNT(sizeless_cases));
	view_cases_run("communication/group", group_cases, SS_COUNT(group_cases));
	view_cases_run("communication/hidden-by", hider_cases, SS_COUNT(hider_cases));
	view_memory_run("communication/kind", script);
	view_memory_run("communication/group", script);
	view_memory_run("communication/hidden-by", script);
}

static void test_host(void **state)
{
	(void)state;
	view_cases_run("communication", host_cases, SS_COUNT(host_cases));
	view_memory_run("communication", "note gloo:all_reduce 1 0 +9; op a 2 1 +3; op b 3 2 +4");
}

static void test_communication(void **state)
{
	(void)state;
	view_cases_run("communication", cases, SS_COUNT(cases));
	view_memory_run("communication", "kernel k 7 5 +4; kernel ncclKernel_AllReduce 8 6 +9");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_communication),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
