/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View operators by shapes, line, module and category, and what operators allocate.
 */
#include "support/view_cases.h"

#define ROW(cat, name, tid, ts, dur, args)                                               \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":1,\"tid\":" tid \
	",\"ts\":" ts ",\"dur\":" dur ",\"args\":{" args "}}"
#define OP(name, ts, dur, args) ROW("cpu_op", name, "1", ts, dur, args)
#define FRAME(name, ts, dur) ROW("python_function", name, "1", ts, dur, "")
#define CALL(ts, id) ROW("cuda_runtime", "cudaLaunchKernel", "1", ts, "1", "\"correlation\":" id)
#define SHAPES(dims, types) "\"Input Dims\":" dims ",\"Input type\":" types
#define MEMORY(tid, ts, device_type, bytes)                                                        \
	"{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"pid\":1,\"tid\":" tid \
	",\"ts\":" ts ",\"s\":\"t\",\"args\":{\"Device Type\":" device_type                        \
	",\"Device Id\":0,\"Addr\":4096,\"Bytes\":" bytes "}}"

#define SMALL SHAPES("[[2,4],[4,8]]", "[\"float\",\"float\"]")
#define SQUARE SHAPES("[[1000,1000],[1000,1000]]", "[\"float\",\"float\"]")
#define KERNEL(ts, dur, id)                                                                 \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":" ts \
	",\"dur\":" dur ",\"args\":{\"correlation\":" id "}}"
#define LARGE SHAPES("[[64,4],[4,8]]", "[\"float\",\"float\"]")
#define LARGE_HALF SHAPES("[[64,4],[4,8]]", "[\"c10::Half\",\"c10::Half\"]")

#define LINES "Source lines are not recorded: use profile(with_stack=True)."
#define STACKS_ALONE \
	"Stacks are recorded, but no nn.Module: old versions of PyTorch do not record modules."
#define MODULES "Modules are not recorded: use profile(with_stack=True)."
#define NO_SHAPES "Shapes are not recorded: use profile(record_shapes=True)."

static const struct view_case shape_cases[] = {
	{ "nothing is not worth a note", "[]", "name+notes", "" },
	{ "equal shapes are one row, others are others",
	  "[" OP("mm", "0", "3", SMALL) "," OP("mm", "10", "9", LARGE) "," OP("mm", "20", "2",
									      SMALL) "]",
	  "name,calls,host_self_ns,host_mean_ns", "mm,1,9000,9000\nmm,2,5000,2500" },
	{ "equal shapes of other types are another row",
	  "[" OP("mm", "0", "3", LARGE_HALF) "," OP("mm", "10", "9", LARGE) "]",
	  "name,calls,host_self_ns", "mm,1,9000\nmm,1,3000" },
	{ "another operator with the same shapes is another row",
	  "[" OP("mm", "0", "3", SMALL) "," OP("bmm", "10", "9", SMALL) "]", "name,calls",
	  "bmm,1\nmm,1" },
	{ "a product of 1000 x 1000 matrices in a millisecond: 2 GFLOP, 2 TFLOP/s",
	  "[" OP("aten::mm", "0", "9",
		 SQUARE) "," CALL("1", "7") "," KERNEL("20", "1000", "7") "," OP("aten::relu", "30",
										 "2", SMALL) "]",
	  "name,gflop,tflop_per_s", "aten::mm,2.00,2.00\naten::relu,-,-" },
	{ "shapes stand as they were written",
	  "[" OP("relu", "0", "3", SHAPES("[[7]]", "[\"float\"]")) "]", "name,shapes,types+notes",
	  "relu,[[7]],[\"float\"]" },
	{ "calls without shapes are a row without shapes",
	  "[" OP("relu", "0", "3", SHAPES("[[7]]", "[\"float\"]")) "," OP("relu", "10", "5",
									  "") "]",
	  "name,shapes,types,calls+notes", "relu,-,-,1\nrelu,[[7]],[\"float\"],1" },
	{ "no shapes at all: one row a name, and what records them",
	  "op a 1 0 +9; op b 1 10 +4; op a 1 20 +1", "name,shapes,calls+notes",
	  "a,-,2\nb,-,1\n" NO_SHAPES },
	{ "the outer one's shapes count where two are one",
	  "[" OP("to", "0", "9", SHAPES("[[7]]", "[]")) "," OP("to", "1", "4",
							       SHAPES("[[8]]", "[]")) "]",
	  "name,shapes,calls,host_self_ns", "to,[[7]],1,9000" },
};

static const struct view_case source_cases[] = {
	{ "all operators of a line are one row: their own times, which add up",
	  "[" FRAME("a.py(1): f", "0", "20") "," OP("linear", "1", "5", "") "," OP(
		  "mm", "2", "3", "") "," FRAME("a.py(2): g", "30", "20") "," OP("mm", "31", "9",
										 "") "]",
	  "name,line,calls,host_self_ns,host_total_ns,host_mean_ns+notes",
	  "-,a.py(2): g,1,9000,-,-\n-,a.py(1): f,2,5000,-,-" },
	{ "no lines at all: one row, and what records them", "op a 1 0 +9; op b 1 20 +1",
	  "name,line,calls+notes", "-,-,2\n" LINES },
};

static const struct view_case line_cases[] = {
	{ "one row for each line and operator",
	  "[" FRAME("a.py(1): f", "0", "20") "," OP("mm", "1", "5", "") "," OP(
		  "relu", "7", "1", "") "," FRAME("a.py(2): g", "30", "20") "," OP("mm", "31", "4",
										   "") "]",
	  "name,line,calls,host_self_ns+notes",
	  "mm,a.py(1): f,1,5000\nmm,a.py(2): g,1,4000\nrelu,a.py(1): f,1,1000" },
	{ "calls of one line are one row",
	  "[" FRAME("a.py(1): f", "0", "20") "," OP("mm", "1", "5", "") "," OP("mm", "9", "2",
									       "") "]",
	  "name,line,calls", "mm,a.py(1): f,2" },
	{ "what stands in no line has none",
	  "[" FRAME("a.py(1): f", "0", "20") "," OP("mm", "1", "5", "") "," OP("mm", "40", "2",
									       "") "]",
	  "name,line,calls+notes", "mm,a.py(1): f,1\nmm,-,1" },
	{ "no lines at all: the rows come all the same", "op a 1 0 +9; op a 1 20 +1",
	  "name,line,calls+notes", "a,-,2\n" LINES },
	{ "modules are not asked for", "op a 1 0 +9", "name,module,shapes+notes", "a,-,-\n" LINES },
};

static const struct view_case module_cases[] = {
	{ "one row for each instance and operator",
	  "[" FRAME("nn.Module: Linear_0", "0", "20") "," OP("mm", "1", "5", "") "," FRAME(
		  "nn.Module: Linear_1", "30", "20") "," OP("mm", "31", "4",
							    "") "," OP("mm", "40", "2", "") "]",
	  "name,module,calls,host_self_ns+notes", "mm,Linear_1,2,6000\nmm,Linear_0,1,5000" },
	{ "the innermost one counts",
	  "[" FRAME("nn.Module: Net_0", "0",
		    "20") "," FRAME("nn.Module: Linear_0", "1",
				    "9") "," OP("mm", "2", "5", "") "," OP("add", "12", "4",
									   "") "]",
	  "name,module", "mm,Linear_0\nadd,Net_0" },
	{ "no modules at all", "op a 1 0 +9; op a 1 21 +1", "name,module,line,calls+notes",
	  "a,-,-,2\n" MODULES },
	{ "stacks, but no modules", "op a 1 0 +9; frame a.py(1):f 1 20 +4; op a 1 21 +1",
	  "name,module,line,calls+notes", "a,-,-,2\n" STACKS_ALONE },
};

static const struct view_case category_cases[] = {
	{ "nothing", "[]", "name+notes", "" },
	{ "forward and backward are one category",
	  "op aten::mm 1 0 +5; op MmBackward0 1 10 +4; op aten::add 1 20 +3; op thing 1 30 +2",
	  "name,category,calls,host_self_ns+notes",
	  "matrix multiply,matrix multiply,2,9000\nelementwise,elementwise,1,3000\n"
	  "other,other,1,2000" },
	{ "times are each operator's own",
	  "op aten::linear 1 0 +10; op aten::addmm 1 2 +6; call l 1 3 +1 #1; kernel k 7 20 +4 #1",
	  "name,calls,host_self_ns,device_self_ns,device_percent",
	  "matrix multiply,2,9000,4000,100.00" },
	{ "a category has no shapes, line or eligibility", "op aten::mm 1 0 +5",
	  "name,shapes,types,line,module,tensor_eligible", "matrix multiply,-,-,-,-,-" },
};

static const struct view_case name_cases[] = {
	{ "names have a category, and no shapes, line or module",
	  "[" FRAME("a.py(1): f", "0", "20") "," OP("aten::mm", "1", "5", SMALL) "]",
	  "name,category,shapes,types,line,module+notes", "aten::mm,matrix multiply,-,-,-,-" },
	{ "who can use tensor cores, and who did",
	  "op aten::mm 1 0 +9; op aten::add 1 10 +8; op lib::x 1 20 +7; op aten::sub 1 30 +6;"
	  "call l 1 31 +1 #1; kernel volta_h884gemm 7 40 +1 #1",
	  "name,tensor_eligible", "aten::sub,yes\naten::mm,yes\naten::add,no\nlib::x,unknown" },
	{ "the mean is of all calls", "op a 1 0 +9; op a 1 10 +4; op a 1 20 +1",
	  "name,host_total_ns,host_mean_ns", "a,14000,4666" },
};

static const struct view_case memory_cases[] = {
	{ "not recorded", "op a 1 0 +9", "name,allocated_bytes,host_allocated_bytes", "a,-,-" },
	{ "charged to the innermost operator of the thread",
	  "[" OP("a", "0", "20", "") "," OP("b", "5", "5", "") "," MEMORY(
		  "1", "1", "1", "100") "," MEMORY("1", "6", "1", "20") "," MEMORY("1", "12", "1",
										   "3") "]",
	  "name,allocated_bytes,host_allocated_bytes", "a,103,-\nb,20,-" },
	{ "frees are not deducted",
	  "[" OP("a", "0", "20", "") "," MEMORY("1", "1", "1", "100") "," MEMORY("1", "2", "1",
										 "-100") "]",
	  "name,allocated_bytes", "a,100" },
	{ "a start is inside, an end is not",
	  "[" OP("a", "5", "5", "") "," MEMORY("1", "5", "1", "1") "," MEMORY("1", "10", "1",
									      "20") "]",
	  "name,allocated_bytes", "a,1" },
	{ "the host's and the devices' are two sums",
	  "[" OP("a", "0", "20", "") "," MEMORY("1", "1", "0", "7") "," MEMORY(
		  "1", "2", "1", "30") "," MEMORY("1", "3", "6", "400") "]",
	  "name,allocated_bytes,host_allocated_bytes", "a,430,7" },
	{ "outside of operators, or on another thread, nobody's",
	  "[" OP("a", "5", "5", "") "," MEMORY("1", "1", "1", "100") "," MEMORY(
		  "2", "6", "1", "100") "," MEMORY("1", "30", "1", "100") "]",
	  "name,allocated_bytes", "a,0" },
	{ "what a merged child allocates is its parent's",
	  "[" OP("to", "0", "9", "") "," OP("to", "1", "6", "") "," MEMORY("1", "2", "1", "5") "]",
	  "name,calls,allocated_bytes", "to,1,5" },
	{ "frames and calls between do not hide the operator",
	  "[" OP("a", "0", "20", "") "," FRAME("a.py(1): f", "1", "9") "," CALL(
		  "2", "1") "," MEMORY("1", "2", "1", "5") "," MEMORY("1", "8", "1", "6") "]",
	  "name,allocated_bytes", "a,11" },
	{ "more than there is stays the most there can be",
	  "[" OP("a", "0", "20", "") "," MEMORY("1", "1", "1", "9223372036854775807") "," MEMORY(
		  "1", "2", "1", "9223372036854775807") "]",
	  "name,allocated_bytes", "a,9223372036854775807" },
};

static void test_shapes(void **state)
{
	(void)state;
	view_cases_run("operators/shapes", shape_cases, SS_COUNT(shape_cases));
}

static void test_lines(void **state)
{
	(void)state;
	view_cases_run("operators/line", line_cases, SS_COUNT(line_cases));
	view_cases_run("operators/source-line", source_cases, SS_COUNT(source_cases));
}

static void test_modules(void **state)
{
	(void)state;
	view_cases_run("operators/module", module_cases, SS_COUNT(module_cases));
}

static void test_categories(void **state)
{
	(void)state;
	view_cases_run("operators/category", category_cases, SS_COUNT(category_cases));
}

static void test_names(void **state)
{
	(void)state;
	view_cases_run("operators/name", name_cases, SS_COUNT(name_cases));
	view_cases_run("operators", memory_cases, SS_COUNT(memory_cases));
}

static void test_no_memory(void **state)
{
	static const char script[] = "frame nn.Module:_A 1 0 +20; op a 1 1 +9; call l 1 2 +1 #1;"
				     "kernel k 7 10 +4 #1; op b 1 12 +3";

	(void)state;
	view_memory_run("operators/shapes", script);
	view_memory_run("operators/line", script);
	view_memory_run("operators/module", script);
	view_memory_run("operators/category", script);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),  cmocka_unit_test(test_lines),
		cmocka_unit_test(test_modules), cmocka_unit_test(test_categories),
		cmocka_unit_test(test_names),   cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
