/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View allocations: each with its end, its maker and its step; and by size.
 */
#include "support/make/memory_events.h"
#include "support/view_cases.h"

#define LIVES "size_bytes,op,at_ns,lifetime_ns,freed_ns"

/* Time counts from the operator's start. */
#define SOME                                                                                   \
	EVENTS(OP("a", "10", "20"), CUDA("11", "64", "8", "8"), CUDA("12", "128", "30", "38"), \
	       CUDA("15", "64", "-8", "30"), CUDA("40", "64", "30", "60"))

static const struct view_case each_cases[] = {
	{ "nothing", "[]", "op+notes", "" },
	{ "frees are none", EVENTS(CUDA("1", "64", "-8", "8")), "op", "" },
	{ "what failed is none", EVENTS(FAILED("1", "64", "8")), "op", "" },
	{ "the largest first, then the first; alive to the end has no end", SOME, LIVES,
	  "30,a,2000,-,-\n30,-,30000,-,-\n8,a,1000,4000,5000" },
	{ "an address in hexadecimal, as 64 bits",
	  EVENTS(CUDA("1", "255", "3", "3"), CUDA("2", "-1", "2", "5"), CUDA("3", "4096", "1", "6"),
		 CUDA("4", "0", "1", "7")),
	  "size_bytes,address", "3,0xff\n2,0xffffffffffffffff\n1,0x1000\n1,-" },
	{ "an end that was not recorded is none",
	  EVENTS(CUDA("1", "64", "8", "8"), CUDA("3", "64", "4", "12"), CUDA("7", "64", "-4", "8")),
	  "size_bytes,lifetime_ns", "8,-\n4,4000" },
	{ "who made it and what it called",
	  EVENTS(OP("aten::mm", "0", "9"), OP("aten::empty", "1", "3"), CUDA("2", "64", "8", "8")),
	  "op,allocator", "aten::mm,aten::empty" },
	{ "in which step",
	  EVENTS(STEP("4", "10", "10"), STEP("5", "20", "10"), OP("a", "11", "5"),
		 OP("a", "21", "5"), CUDA("9", "1", "9", "9"), CUDA("10", "2", "8", "17"),
		 CUDA("20", "3", "7", "24"), CUDA("30", "4", "6", "30")),
	  "size_bytes,step", "9,-\n8,0\n7,1\n6,-" },
	{ "the line of the program",
	  EVENTS(FRAME("train.py(7): f", "0", "9"), OP("a", "1", "3"), CUDA("2", "64", "8", "8"),
		 CUDA("5", "32", "6", "14"), CUDA("20", "16", "4", "18")),
	  "op,line", "a,train.py(7): f\n-,train.py(7): f\n-,-" },
	{ "all devices", EVENTS(CPU("1", "64", "8", "8"), CUDA("2", "64", "4", "4")),
	  "device,size_bytes", "CPU,8\nCUDA:0,4" },
	{ "columns of classes are empty", SOME, "up_to,allocations,freed", "-,-,-\n-,-,-\n-,-,-" },
	{ "without addresses", EVENTS(OLDEST("1", "30"), OLDEST("2", "-30")),
	  "size_bytes,lifetime_ns,address+notes",
	  "30,-,-\n"
	  "Addresses are not recorded, so it is unknown what was freed when (newer versions of "
	  "PyTorch record them)." },
};

static const struct view_case size_cases[] = {
	{ "nothing", "[]", "up_to", "" },
	{ "up to 512 and above",
	  EVENTS(CUDA("1", "1", "1", "1"), CUDA("2", "2", "512", "2"), CUDA("3", "3", "513", "3"),
		 CUDA("4", "4", "2048", "4"), CUDA("5", "5", "2049", "5")),
	  "up_to,allocations,size_bytes", "512 B,2,513\n2 KiB,2,2561\n8 KiB,1,2049" },
	{ "the mean lifetime is that of those that were freed",
	  EVENTS(CUDA("1", "1", "8", "8"), CUDA("2", "2", "8", "16"), CUDA("3", "3", "8", "24"),
		 CUDA("4", "1", "-8", "16"), CUDA("9", "2", "-8", "8")),
	  "up_to,allocations,freed,lifetime_ns,op,at_ns,freed_ns,step,address",
	  "512 B,3,2,5000,-,-,-,-,-" },
	{ "none was freed", EVENTS(CUDA("1", "1", "8", "8")), "up_to,freed,lifetime_ns",
	  "512 B,0,-" },
	{ "without addresses nobody knows", EVENTS(OLDEST("1", "30"), OLDEST("2", "-30")),
	  "up_to,allocations,freed,lifetime_ns", "512 B,1,-,-" },
	{ "the largest that can be", EVENTS(CUDA("1", "1", "9223372036854775807", "8")),
	  "up_to,size_bytes", "8 EiB,9223372036854775807" },
	{ "device by device",
	  EVENTS(CUDA("1", "1", "999999", "8"), CPU("2", "1", "1000", "8"),
		 CUDA("3", "2", "40", "8")),
	  "device,up_to", "CUDA:0,512 B\nCUDA:0,2 MiB\nCPU,2 KiB" },
};

static void test_each(void **state)
{
	(void)state;
	view_cases_run("allocations", each_cases, SS_COUNT(each_cases));
}

static void test_sizes(void **state)
{
	(void)state;
	view_cases_run("allocations/size", size_cases, SS_COUNT(size_cases));
}

static void test_no_memory(void **state)
{
	(void)state;
	view_memory_run("allocations", SOME);
	view_memory_run("allocations/size", SOME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
