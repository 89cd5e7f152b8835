/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View temporal: a device from its first work to its last.
 */
#include "support/view_cases.h"

#define ROW(cat, name, device, stream, ts, dur)                                          \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":" device        \
	",\"tid\":" stream ",\"ts\":" ts ",\"dur\":" dur ",\"args\":{\"device\":" device \
	",\"stream\":" stream "}}"
#define KERNEL(stream, ts, dur) ROW("kernel", "k", "0", stream, ts, dur)
#define NCCL(stream, ts, dur) ROW("kernel", "ncclDevKernel_AllReduce", "0", stream, ts, dur)
#define COPY(stream, ts, dur) ROW("gpu_memcpy", "Memcpy HtoD", "0", stream, ts, dur)
#define COLUMNS \
	"device,total_ns,compute_ns,exposed_comm_ns,exposed_copy_ns,idle_ns,comm_ns,overlap_percent"

static const struct view_case cases[] = {
	{ "nothing", "[]", COLUMNS, "" },
	{ "one kernel", "[" KERNEL("7", "5", "10") "]", COLUMNS, "0,10000,10000,0,0,0,0,-" },
	{ "streams that overlap count once, the gap is idle",
	  "[" KERNEL("7", "0", "10") "," KERNEL("8", "5", "10") "," KERNEL("7", "20", "5") "]",
	  COLUMNS, "0,25000,20000,0,0,5000,0,-" },
	{ "half of the communication is hidden",
	  "[" KERNEL("7", "0", "10") "," NCCL("20", "5", "10") "]", COLUMNS,
	  "0,15000,10000,5000,0,0,10000,50.00" },
	{ "a copy behind a kernel and behind communication is not exposed",
	  "[" KERNEL("7", "0", "10") "," NCCL("20", "10", "10") "," COPY("9", "5", "20") "]",
	  COLUMNS, "0,25000,10000,10000,5000,0,10000,0.00" },
	{ "each device for itself",
	  "[" KERNEL("7", "0", "10") "," ROW("kernel", "k", "1", "7", "50", "4") "]", COLUMNS,
	  "0,10000,10000,0,0,0,0,-\n1,4000,4000,0,0,0,0,-" },
	{ "work without duration is no time", "[" KERNEL("7", "5", "0") "]", COLUMNS, "" },
};

static void test_temporal(void **state)
{
	(void)state;
	view_cases_run("temporal", cases, SS_COUNT(cases));
	view_memory_run("temporal", "kernel k 7 5 +4; kernel ncclKernel_AllReduce 8 6 +9");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_temporal) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
