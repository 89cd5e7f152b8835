/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View devices: what ran where, and the names of the devices that worked.
 */
#include "support/view_cases.h"

#define ON(cat, name, device, corr)                          \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name \
	"\",\"pid\":9,\"tid\":1,\"ts\":5,\"dur\":1,"         \
	"\"args\":{\"device\":" device ",\"stream\":7,\"correlation\":" corr "}}"
#define CALL                                                                              \
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1," \
	"\"tid\":1,\"ts\":1,"                                                             \
	"\"dur\":1,\"args\":{\"correlation\":1}}"
#define LISTED                                                                                 \
	"\"deviceProperties\":[{\"id\":0,\"name\":\"A\",\"totalGlobalMem\":1000,\"numSms\":8," \
	"\"computeMajor\":9,\"computeMinor\":0,\"warpSize\":32},{\"id\":1,\"name\":\"B\"}],"

static const struct view_case cases[] = {
	{ "nothing ran", "{" LISTED "\"traceEvents\":[" CALL "]}", "device,name", "" },
	{ "kernels, copies, memsets and collectives",
	  "{" LISTED "\"traceEvents\":[" CALL
	  "," ON("kernel", "k", "0", "1") "," ON("kernel", "nccl", "0", "1") "," ON(
		  "gpu_memcpy", "c", "0", "2") "," ON("gpu_memset", "s", "0", "1") "]}",
	  "device,name,kernels,comm_kernels,memcpys,memsets,orphans,memory_bytes,multiprocessors,"
	  "compute,"
	  "warp_size",
	  "0,A,2,1,1,1,1,1000,8,9.0,32" },
	{ "two devices, in the order of their work or number",
	  "{" LISTED
	  "\"traceEvents\":[" ON("kernel", "k", "0", "1") "," ON("kernel", "k", "1", "2") "]}",
	  "device,name,kernels,orphans,memory_bytes", "0,A,1,1,1000\n1,B,1,1,-" },
	{ "a device that is not listed",
	  "{" LISTED "\"traceEvents\":[" ON("kernel", "k", "5", "1") "]}", "device,name,kernels",
	  "5,-,1" },
	{ "the only listed device is meant, whatever its number",
	  "{\"deviceProperties\":[{\"id\":0,\"name\":\"MI300\"}],\"traceEvents\":[" ON("kernel",
										       "k", "2",
										       "1") "]}",
	  "device,name,kernels", "2,MI300,1" },
	{ "nothing is listed", "[" ON("kernel", "k", "0", "1") "]", "device,name,memory_bytes",
	  "0,-,-" },
};

static void test_devices(void **state)
{
	(void)state;
	view_cases_run("devices", cases, SS_COUNT(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_devices) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
