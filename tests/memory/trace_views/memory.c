/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View memory: peaks as recorded or summed, what lay between, and what failed.
 */
#include "support/view_cases.h"

#define EVENT(name, ts, args)                                                      \
	"{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"" name \
	"\",\"pid\":1,\"tid\":1,\"ts\":" ts ",\"args\":{" args "}}"
#define PLACE(type, id) "\"Device Type\":" type ",\"Device Id\":" id
#define TOTALS(allocated, reserved) \
	",\"Total Allocated\":" allocated ",\"Total Reserved\":" reserved
#define MEMORY(ts, type, id, bytes, allocated, reserved) \
	EVENT("[memory]", ts, PLACE(type, id) ",\"Bytes\":" bytes TOTALS(allocated, reserved))
#define CUDA(ts, bytes, allocated, reserved) MEMORY(ts, "1", "0", bytes, allocated, reserved)
#define CPU(ts, bytes, allocated) MEMORY(ts, "0", "-1", bytes, allocated, "0")
#define FAILED(ts, type, id, bytes) \
	EVENT("[OutOfMemory]", ts, PLACE(type, id) ",\"Bytes\":" bytes TOTALS("900", "1000"))
/* as torch 1.8 wrote them: no category, no totals */
#define OLD(ts, type, id, bytes)                                                         \
	"{\"ph\":\"i\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":" ts \
	",\"args\":{" PLACE(type, id) ",\"Bytes\":" bytes "}}"
#define UNRESERVED(ts, allocated) \
	EVENT("[memory]", ts, PLACE("1", "0") ",\"Bytes\":8,\"Total Allocated\":" allocated)
#define OP                                                                                        \
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":100,\"dur\":" \
	"50}"

#define PEAKS "device,events,peak_allocated_bytes,peak_reserved_bytes,gap_bytes"
#define SUMS "device,events,net_bytes,totals,out_of_memory"

static const struct view_case recorded_cases[] = {
	{ "nothing", "[]", "device", "" },
	{ "operators without allocations", "[" OP "]", "device", "" },
	{ "an event that says nothing",
	  "[{\"ph\":\"i\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":1}]", "device", "" },
	{ "other instants are none",
	  "[" EVENT("[memory] ", "1", PLACE("1", "0") ",\"Bytes\":8") "]", "device", "" },
	{ "peaks and sums",
	  "[" CUDA("1", "100", "600", "1000") "," CUDA("2", "200", "800",
						       "1500") "," CUDA("3", "-100", "700",
									"1500") "]",
	  PEAKS ",net_bytes,totals,out_of_memory", "CUDA:0,3,800,1500,700,200,recorded,0" },
	{ "a plain file, one event", "[" CUDA("1", "512", "512", "2097152") "]", PEAKS,
	  "CUDA:0,1,512,2097152,2096640" },
	{ "the gap is that at the first of equal peaks",
	  "[" CUDA("1", "500", "500", "600") "," CUDA("2", "-200", "300",
						      "600") "," CUDA("3", "200", "500", "900") "]",
	  PEAKS, "CUDA:0,3,500,900,100" },
	{ "and at the highest peak, however much was reserved before",
	  "[" CUDA("1", "500", "500", "2000") "," CUDA("2", "-500", "0", "0") "," CUDA(
		  "3", "600", "600", "640") "," CUDA("4", "-600", "0", "3000") "]",
	  PEAKS, "CUDA:0,4,600,3000,40" },
	{ "all that is reserved is allocated", "[" CUDA("1", "64", "64", "64") "]", PEAKS,
	  "CUDA:0,1,64,64,0" },
	{ "the latest in the file can be the first in time",
	  "[" CUDA("3", "100", "500", "900") "," CUDA("1", "100", "500", "600") "]", PEAKS,
	  "CUDA:0,2,500,900,100" },
	{ "beyond 32 bits",
	  "[" CUDA("1", "6000000000", "90000000000",
		   "99000000000") "," CUDA("2", "-6000000000", "84000000000", "99000000000") "]",
	  PEAKS ",net_bytes", "CUDA:0,2,90000000000,99000000000,9000000000,0" },
	{ "when the peak was reached",
	  "[" OP "," CUDA("110", "1", "1", "9") "," CUDA("130", "4", "5",
							 "9") "," CUDA("140", "-1", "4", "9") "]",
	  "device,peak_at_ns", "CUDA:0,30000" },
	{ "frees only: the totals know what was there before",
	  "[" CUDA("1", "-100", "400", "600") "," CUDA("2", "-300", "100", "600") "]",
	  PEAKS ",net_bytes", "CUDA:0,2,400,600,200,-400" },
};

static const struct view_case device_cases[] = {
	{ "the CPU reserves nothing, so there is no gap",
	  "[" CPU("1", "80", "80") "," CPU("2", "-80", "0") "]", PEAKS, "CPU,2,80,0,-" },
	{ "each device has its row",
	  "[" CPU("1", "8", "8") "," CUDA("2", "100", "100", "200") "," MEMORY(
		  "3", "1", "1", "300", "300", "500") "," CUDA("4", "20", "120", "200") "]",
	  PEAKS, "CPU,1,8,0,-\nCUDA:0,2,120,200,80\nCUDA:1,1,300,500,200" },
	{ "HIP, XPU and the rest by name",
	  "[" MEMORY("1", "6", "0", "1", "10",
		     "30") "," MEMORY("2", "12", "3", "1", "20",
				      "30") "," MEMORY("3", "19", "0", "1", "25",
						       "30") "," MEMORY("4", "20", "1", "1", "30",
									"30") "]",
	  PEAKS, "HIP:0,1,10,30,20\nXPU:3,1,20,30,10\nMTIA:0,1,25,30,5\nPrivateUse1:1,1,30,30,0" },
	{ "equal numbers of different types are different devices",
	  "[" MEMORY("1", "1", "0", "1", "10", "30") "," MEMORY("2", "6", "0", "1", "20", "40") "]",
	  "device,events,peak_allocated_bytes", "CUDA:0,1,10\nHIP:0,1,20" },
	{ "a type that nobody knows is no other device's",
	  "[" CUDA("1", "1", "10", "30") "," MEMORY("2", "77", "0", "1", "99", "99") "]",
	  "events,peak_allocated_bytes", "1,10\n1,99" },
};

static const struct view_case summed_cases[] = {
	{ "without totals they are summed, and nothing is known of what was reserved",
	  "[" OLD("1", "1", "0", "100") "," OLD("2", "1", "0", "50") "," OLD(
		  "3", "1", "0", "-100") "," OLD("4", "1", "0", "20") "]",
	  PEAKS ",net_bytes,totals", "CUDA:0,4,150,-,-,70,summed" },
	{ "in the order of time, not of the file",
	  "[" OLD("3", "1", "0", "200") "," OLD("2", "1", "0", "-100") "," OLD("1", "1", "0",
									       "100") "]",
	  PEAKS ",net_bytes", "CUDA:0,3,200,-,-,200" },
	{ "each device for itself",
	  "[" OLD("1", "0", "-1", "8") "," OLD("2", "1", "0", "100") "," OLD("3", "0", "-1",
									     "-8") "]",
	  PEAKS ",net_bytes,totals", "CPU,2,8,-,-,0,summed\nCUDA:0,1,100,-,-,100,summed" },
	{ "frees of what was there before: the sum falls below nothing",
	  "[" OLD("1", "1", "0", "-100") "," OLD("2", "1", "0", "130") "," OLD("3", "1", "0",
									       "-90") "]",
	  PEAKS ",net_bytes", "CUDA:0,3,30,-,-,-60" },
	{ "a peak is never below nothing, where the sum began",
	  "[" OLD("1", "1", "0", "-100") "," OLD("2", "1", "0", "-50") "]", PEAKS ",net_bytes",
	  "CUDA:0,2,0,-,-,-150" },
	{ "some devices have totals, others have not",
	  "[" CUDA("1", "10", "50", "60") "," OLD("2", "0", "-1", "8") "]", PEAKS ",totals",
	  "CUDA:0,1,50,60,10,recorded\nCPU,1,8,-,-,summed" },
	{ "allocated without reserved: no gap is made up",
	  "[" UNRESERVED("1", "40") "," UNRESERVED("2", "48") "]", PEAKS, "CUDA:0,2,48,-,-" },
	{ "nor where only another event has it",
	  "[" UNRESERVED("1", "40") "," CUDA("2", "-8", "32", "64") "]", PEAKS,
	  "CUDA:0,2,40,64,-" },
};

static const struct view_case failed_cases[] = {
	{ "what failed is no allocation",
	  "[" CUDA("1", "100", "600", "1000") "," FAILED("2", "1", "0", "5000") "," CUDA(
		  "3", "-100", "500", "1000") "," FAILED("4", "1", "0", "7000") "]",
	  SUMS ",peak_allocated_bytes", "CUDA:0,2,0,recorded,2,600" },
	{ "without totals, neither",
	  "[" OLD("1", "1", "0", "100") "," FAILED("2", "1", "0", "5000") "]",
	  SUMS ",peak_allocated_bytes", "CUDA:0,1,100,summed,1,100" },
	{ "the other device did not fail",
	  "[" CUDA("1", "100", "600", "1000") "," FAILED("2", "1", "1", "5000") "]",
	  "device,events,net_bytes,out_of_memory", "CUDA:0,1,100,0\nCUDA:1,0,0,1" },
	{ "nothing but a failure", "[" FAILED("2", "6", "0", "5000") "]",
	  "device,events,net_bytes,gap_bytes,out_of_memory", "HIP:0,0,0,-,1" },
};

#define SIZED(events)                                                                 \
	"{\"deviceProperties\":[{\"id\":0,\"name\":\"X9\",\"totalGlobalMem\":1000}]," \
	"\"traceEvents\":[" events "]}"
#define GAP(bytes) MEMORY("1", "1", "0", "8", bytes, "10000000000")

static const struct view_case note_cases[] = {
	{ "the peak of the device's memory", SIZED(CUDA("1", "8", "250", "400")),
	  "device,name,memory_bytes,peak_percent+notes", "CUDA:0,X9,1000,25.00" },
	{ "at 90 percent nothing is said", SIZED(CUDA("1", "8", "900", "900")),
	  "peak_percent+notes", "90.00" },
	{ "above it is", SIZED(CUDA("1", "8", "910", "910")), "peak_percent+notes",
	  "91.00\n"
	  "CUDA:0: tensors held 91.0 % of the memory at the peak; a larger batch may not fit. "
	  "memory-ops shows what held it." },
	{ "the CPU's is not known", SIZED(CPU("1", "8", "910")), "name,memory_bytes,peak_percent",
	  "-,-,-" },
	{ "a device that is not listed, where there is but one, is that one",
	  SIZED(MEMORY("1", "6", "2", "8", "500", "500")), "device,name,peak_percent",
	  "HIP:2,X9,50.00" },
	{ "without a list nothing is known", "[" CUDA("1", "8", "910", "910") "]",
	  "name,memory_bytes,peak_percent+notes", "-,-,-" },
	{ "much more reserved than needed", "[" GAP("7900000000") "]", "gap_bytes+notes",
	  "2100000000\n"
	  "CUDA:0: at the peak, 2.10 GB was reserved but not held by tensors: fragmentation, or "
	  "cache left by a higher peak. memory-steps shows whether it grows." },
	{ "a fifth is not much", "[" GAP("8000000000") "]", "gap_bytes+notes", "2000000000" },
	{ "nor is less than a gigabyte", "[" CUDA("1", "8", "100000000", "1099999999") "]",
	  "gap_bytes+notes", "999999999" },
	{ "a file that begins with an allocation has no time before it",
	  "[" CUDA("90", "8", "8", "9") "," OP "," CUDA("110", "4", "12", "12") "]",
	  "device,peak_at_ns", "CUDA:0,20000" },
};

/* More than a table of fixed size would hold. */
static void test_many_devices(void **state)
{
	struct ss_text json = { 0 }, row = { 0 };
	struct support_view open;

	(void)state;
	for (int i = 0; i < 300; i++)
		ss_text_addf(&json, "%s" MEMORY("%d", "1", "%d", "8", "%d", "99"), i ? "," : "[", i,
			     i, i);
	ss_text_add_string(&json, "]");
	support_view_open(&open, "memory", json.data, "rank0.json");
	assert_int_equal(open.table.row_count, 300);
	support_view_row(&open, 299, "device,peak_allocated_bytes", &row);
	assert_string_equal(row.data, "CUDA:299,299");
	support_view_close(&open);
	ss_text_release(&json);
	ss_text_release(&row);
}

static void test_notes(void **state)
{
	(void)state;
	view_cases_run("memory", note_cases, SS_COUNT(note_cases));
}

static void test_no_memory(void **state)
{
	(void)state;
	view_memory_run("memory", "[" CUDA("1", "8", "8", "9") "," CPU("2", "8", "8") "]");
}

static void test_recorded(void **state)
{
	(void)state;
	view_cases_run("memory", recorded_cases, SS_COUNT(recorded_cases));
}

static void test_devices(void **state)
{
	(void)state;
	view_cases_run("memory", device_cases, SS_COUNT(device_cases));
}

static void test_summed(void **state)
{
	(void)state;
	view_cases_run("memory", summed_cases, SS_COUNT(summed_cases));
}

static void test_out_of_memory(void **state)
{
	(void)state;
	view_cases_run("memory", failed_cases, SS_COUNT(failed_cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recorded),  cmocka_unit_test(test_devices),
		cmocka_unit_test(test_summed),    cmocka_unit_test(test_out_of_memory),
		cmocka_unit_test(test_notes),     cmocka_unit_test(test_many_devices),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
