/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View memory-ops: who allocated, who holds the peak, and what belongs to nobody.
 */
#include "support/make/memory_events.h"
#include "support/view_cases.h"

#define PEAK "op,at_peak_bytes,at_peak_percent"
#define TOTAL "op,calls,allocations,allocated_bytes,size_increase_bytes"
#define SELF "op,self_allocations,self_allocated_bytes,self_increase_bytes"

#define NO_ADDRESSES                                                                           \
	"Addresses are not recorded, so it is unknown what was freed when (newer versions of " \
	"PyTorch record them)."
#define NO_TOTALS                                                                            \
	"Totals are not recorded: the figures are sums from the start of the file, without " \
	"earlier allocations."

/* a holds 60 of its own and 30 of b's at the peak of 100, 10 lay there before; c comes later. */
#define NESTED                                                             \
	EVENTS(OP("a", "0", "20"), OP("b", "5", "5"), OP("c", "30", "5"),  \
	       CUDA("1", "64", "60", "70"), CUDA("6", "128", "30", "100"), \
	       CUDA("21", "64", "-60", "40"), CUDA("31", "256", "50", "90"))

static const struct view_case op_cases[] = {
	{ "nothing", "[]", "op+notes", "" },
	{ "operators without allocations", "op a 1 0 +4", "op+notes", "" },
	{ "nothing but a failure", EVENTS(OP("a", "0", "9"), FAILED("1", "64", "8")), "op", "" },
	{ "the peak is shared out", NESTED, PEAK,
	  "a,60,60.00\nb,30,30.00\n(before the recording),10,10.00\nc,0,0.00" },
	{ "totals have what is inside, and frees of what was made", NESTED, TOTAL,
	  "a,1,2,90,30\nb,1,1,30,30\n(before the recording),-,0,0,0\nc,1,1,50,50" },
	{ "self has not", NESTED, SELF,
	  "a,1,60,0\nb,1,30,30\n(before the recording),-,-,-\nc,1,50,50" },
	{ "calls are those that allocate, each once",
	  EVENTS(OP("a", "0", "4"), OP("a", "5", "4"), OP("a", "10", "4"),
		 CUDA("1", "64", "4", "4"), CUDA("2", "128", "4", "8"), CUDA("6", "256", "4", "12"),
		 CUDA("11", "64", "-4", "8")),
	  TOTAL, "a,2,3,12,8" },
	{ "what only allocates does not hold",
	  EVENTS(OP("aten::mm", "0", "9"), OP("aten::empty", "1", "3"), CUDA("2", "64", "8", "8")),
	  PEAK ",self_allocated_bytes", "aten::mm,8,100.00,0\naten::empty,0,0.00,8" },
	{ "outside of operators",
	  EVENTS(CUDA("0", "64", "8", "8"), OP("a", "1", "1"), CUDA("3", "64", "-8", "0")),
	  PEAK ",calls,allocations,size_increase_bytes", "(no operator),8,100.00,-,1,0" },
	{ "frees of what was there before are that row's",
	  EVENTS(CUDA("1", "64", "-8", "92"), OP("a", "2", "2"), CUDA("3", "128", "4", "96")),
	  PEAK ",size_increase_bytes", "(before the recording),92,95.83,-8\na,4,4.17,4" },
	{ "an only child of the same name counts once",
	  EVENTS(OP("to", "0", "9"), OP("to", "1", "5"), CUDA("2", "64", "8", "8")),
	  TOTAL ",self_allocations", "to,1,1,8,8,1" },
	{ "the CPU is left out beside a device",
	  EVENTS(OP("a", "0", "9"), CPU("1", "64", "8", "8"), CUDA("2", "64", "4", "4")),
	  "device," PEAK, "CUDA:0,a,4,100.00" },
	{ "and shown without one", EVENTS(OP("a", "0", "9"), CPU("1", "64", "8", "8")),
	  "device," PEAK, "CPU,a,8,100.00" },
	{ "each device has its own peak and calls",
	  EVENTS(OP("a", "0", "9"), CUDA("1", "64", "4", "4"),
		 MEMORY("2", "1", "1", "64", "8", "16", "20"), CUDA("3", "32", "4", "8")),
	  "device," PEAK ",calls",
	  "CUDA:0,a,8,100.00,1\nCUDA:1,a,8,50.00,1\n"
	  "CUDA:1,(before the recording),8,50.00,-" },
};

static const struct view_case unrecorded_cases[] = {
	{ "without totals the sum is the whole",
	  EVENTS(OP("a", "0", "4"), BARE("1", "64", "30"), OP("b", "5", "4"),
		 BARE("6", "128", "10")),
	  PEAK "+notes", "a,30,75.00\nb,10,25.00\n" NO_TOTALS },
	{ "and what is alive where the sum began too low",
	  EVENTS(BARE("0", "8", "-50"), OP("a", "1", "4"), BARE("2", "64", "30")),
	  PEAK ",size_increase_bytes", "a,30,100.00,30\n(before the recording),0,0.00,-50" },
	{ "without addresses nobody knows what is alive",
	  EVENTS(OP("a", "0", "4"), OLDEST("1", "30"), OP("b", "5", "4"), OLDEST("6", "-30")),
	  PEAK ",allocated_bytes,size_increase_bytes,self_increase_bytes,self_allocations+notes",
	  "a,-,-,30,-,-,1\n" NO_ADDRESSES "\n" NO_TOTALS },
	{ "sizes that no machine has do not wrap around",
	  EVENTS(OP("a", "0", "9"), BARE("1", "64", "9000000000000000000"),
		 BARE("2", "128", "9000000000000000000")),
	  "op,allocated_bytes,size_increase_bytes", "a,9223372036854775807,9223372036854775807" },
};

#define PLACED                                                                              \
	EVENTS(FRAME("train.py(7): step", "0", "50"), FRAME("nn.Module: Net_0", "1", "20"), \
	       OP("a", "2", "5"), CUDA("3", "64", "60", "60"), OP("b", "30", "5"),          \
	       CUDA("31", "128", "30", "90"), CUDA("60", "64", "-60", "30"),                \
	       CUDA("61", "256", "5", "35"))

static const struct view_case line_cases[] = {
	{ "by line of the program", PLACED,
	  "op,line,module,at_peak_bytes,allocations,size_increase_bytes,calls,self_allocations",
	  "-,train.py(7): step,-,90,2,30,-,-\n-,(no line),-,0,1,5,-,-" },
	{ "without lines they are missed", EVENTS(OP("a", "0", "4"), CUDA("1", "64", "30", "30")),
	  "line,at_peak_bytes+notes",
	  "(no line),30\nSource lines are not recorded: use profile(with_stack=True)." },
};

static const struct view_case module_cases[] = {
	{ "by module", PLACED, "op,line,module,at_peak_bytes,allocated_bytes",
	  "-,-,Net_0,60,60\n-,-,(no module),30,35" },
	{ "without modules they are missed", EVENTS(OP("a", "0", "4"), CUDA("1", "64", "30", "30")),
	  "module,at_peak_bytes+notes",
	  "(no module),30\n"
	  "Modules are not recorded: use profile(with_stack=True)." },
};

static void test_ops(void **state)
{
	(void)state;
	view_cases_run("memory-ops", op_cases, SS_COUNT(op_cases));
}

static void test_unrecorded(void **state)
{
	(void)state;
	view_cases_run("memory-ops", unrecorded_cases, SS_COUNT(unrecorded_cases));
}

static void test_places(void **state)
{
	(void)state;
	view_cases_run("memory-ops/line", line_cases, SS_COUNT(line_cases));
	view_cases_run("memory-ops/module", module_cases, SS_COUNT(module_cases));
}

static void test_no_memory(void **state)
{
	(void)state;
	view_memory_run("memory-ops", NESTED);
	view_memory_run("memory-ops/line", PLACED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ops),
		cmocka_unit_test(test_unrecorded),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
