/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View modules: the tree, whose time it is in forward and backward, and that nothing
 * gets lost.
 */
#include "support/make/events.h"
#include "support/view_cases.h"

#define DEVICE "module,device_total_ns,device_self_ns,backward_ns"
#define HOST "module,calls,operators,host_total_ns,host_self_ns"
#define MISSING "Modules are not recorded: use profile(with_stack=True)."
#define STACKS_ALONE \
	"Stacks are recorded, but no nn.Module: old versions of PyTorch do not record modules."

/* Net_0 with two layers, of which the second one works more; one kernel is Net_0's own. */
#define NET                               \
	MODULE("Net_0", 1, 0, 100)        \
	MODULE("Linear_0", 1, 10, 20)     \
	NUMBERED("mm", 1, 12, 10, 3, 0)   \
	LAUNCH(1, 1, 13)                  \
	MODULE("Linear_1", 1, 40, 30)     \
	NUMBERED("mm", 1, 42, 10, 4, 0)   \
	LAUNCH(2, 1, 43)                  \
	NUMBERED("relu", 1, 80, 10, 5, 0) \
	LAUNCH(3, 1, 81) KERNEL("k", 1, 200, 10) KERNEL("k", 2, 210, 30) KERNEL("k", 3, 240, 5)

/* Their backward, on another thread: of Linear_1 twice as long, of Linear_0 not recorded. */
#define NET_BACKWARD                                             \
	NUMBERED("ReluBackward0", 2, 300, 10, 5, 1)              \
	LAUNCH(4, 2, 301)                                        \
	NUMBERED("MmBackward0", 2, 320, 10, 4, 1)                \
	LAUNCH(5, 2, 321)                                        \
	OP("autograd::engine::evaluate_function: X", 2, 340, 10) \
	LAUNCH(6, 2, 341) KERNEL("k", 4, 400, 7) KERNEL("k", 5, 410, 60) KERNEL("k", 6, 480, 4)

static const struct view_case tree_cases[] = {
	{ "nothing", "[]", "module+notes", MISSING },
	{ "operators without modules", "op a 1 0 +9; call l 1 1 +1 #1; kernel k 7 10 +4 #1",
	  "module+notes", MISSING },
	{ "frames without modules", "[" FRAME("a.py(1): f", 1, 0, 9) OP("a", 1, 1, 2) END "]",
	  "module+notes", STACKS_ALONE },
	{ "forward: the greater child first", "[" NET END "]", DEVICE,
	  "Net_0,45000,5000,-\n  Linear_1,30000,30000,-\n  Linear_0,10000,10000,-\n"
	  "(outside modules),0,0,-" },
	{ "calls, operators and host time", "[" NET END "]", HOST,
	  "Net_0,1,1,100000,50000\n  Linear_1,1,1,30000,30000\n  Linear_0,1,1,20000,20000\n"
	  "(outside modules),-,0,-,-" },
	{ "backward goes to the forward's module, what is not linked outside",
	  "[" NET NET_BACKWARD END "]", DEVICE ",backward_self_ns,share_percent",
	  "Net_0,45000,5000,67000,7000,96.55\n  Linear_1,30000,30000,60000,60000,77.59\n"
	  "  Linear_0,10000,10000,0,0,8.62\n(outside modules),0,0,4000,4000,3.45" },
	{ "operators' time, too", "[" NET NET_BACKWARD END "]",
	  "module,operators_ns,backward_host_ns",
	  "Net_0,30000,20000\n  Linear_1,10000,10000\n  Linear_0,10000,0\n"
	  "(outside modules),0,10000" },
	{ "depth and path", "[" NET END "]", "depth,path",
	  "0,Net_0\n1,Net_0 / Linear_1\n1,Net_0 / Linear_0\n-,-" },
	{ "without a device: by operators' time",
	  "[" MODULE("Net_0", 1, 0, 100) MODULE("A_0", 1, 10, 20) OP("x", 1, 11, 5)
		  MODULE("B_0", 1, 40, 20) OP("y", 1, 41, 15) OP("z", 1, 200, 20) END "]",
	  DEVICE ",share_percent,operators_ns",
	  "Net_0,-,-,-,50.00,20000\n  B_0,-,-,-,37.50,15000\n  A_0,-,-,-,12.50,5000\n"
	  "(outside modules),-,-,-,50.00,20000" },
	{ "operators in operators are not counted twice",
	  "[" MODULE("Net_0", 1, 0, 100) OP("x", 1, 10, 50) OP("y", 1, 20, 30) OP("z", 1, 25, 5) END
	  "]",
	  "module,operators,operators_ns", "Net_0,1,50000\n(outside modules),0,0" },
	{ "a module called by an operator: its operators are its own",
	  "[" OP("x", 1, 0, 50) MODULE("Net_0", 1, 10, 30) OP("y", 1, 20, 10) END "]",
	  "module,operators,operators_ns", "Net_0,1,10000\n(outside modules),1,40000" },
	{ "calls of one path are summed, of two paths are not",
	  "[" MODULE("A_0", 1, 0, 20) MODULE("C_0", 1, 5, 10) MODULE("A_0", 1, 30, 20)
		  MODULE("C_0", 1, 35, 10) MODULE("B_0", 1, 60, 20) MODULE("C_0", 1, 65, 4) END "]",
	  "module,calls,host_total_ns,host_self_ns",
	  "A_0,2,40000,20000\n  C_0,2,20000,20000\nB_0,1,20000,16000\n  C_0,1,4000,4000\n"
	  "(outside modules),-,-,-" },
	{ "two threads with one module each",
	  "[" MODULE("A_0", 1, 0, 20) LAUNCH(1, 1, 1) MODULE("A_0", 2, 0, 20) LAUNCH(2, 2, 1)
		  KERNEL("k", 1, 30, 4) KERNEL("k", 2, 40, 3) END "]",
	  DEVICE ",calls", "A_0,7000,7000,-,2\n(outside modules),0,0,-,-" },
	{ "launches outside and unknown launches",
	  "[" MODULE("A_0", 1, 0, 20) LAUNCH(1, 1, 30) KERNEL("k", 1, 40, 4) KERNEL("k", 9, 50, 6)
		  END "]",
	  DEVICE "+notes",
	  "A_0,0,0,-\n"
	  "(outside modules),10000,10000,-\n"
	  "60 % of the device time has no recorded launch and counts as outside modules." },
	{ "a forward that is computed again in its own backward is backward of that module",
	  "[" MODULE("Net_0", 1, 0, 100) MODULE("Block_0", 1, 10, 50) MODULE("Relu_0", 1, 20, 30)
		  NUMBERED("relu", 1, 25, 5, 3, 0) NUMBERED("ReluBackward0", 2, 200, 90, 3, 1)
			  MODULE("Block_0", 2, 210, 50) MODULE("Relu_0", 2, 220, 30)
				  OP("relu", 2, 225, 5) LAUNCH(1, 2, 226) KERNEL("k", 1, 400, 6) END
	  "]",
	  DEVICE ",calls",
	  "Net_0,0,0,6000,1\n  Block_0,0,0,6000,1\n    Relu_0,0,0,6000,1\n"
	  "(outside modules),0,0,0,-" },
	{ "a module inside of one of its own name is another path",
	  "[" MODULE("A_0", 1, 0, 20) MODULE("A_0", 1, 5, 10) END "]", "module,calls",
	  "A_0,1\n  A_0,1\n(outside modules),-" },
	{ "a child that outlasts is cut at the end",
	  "[" MODULE("A_0", 1, 0, 20) MODULE("B_0", 1, 15, 10) END "]",
	  "module,host_total_ns,host_self_ns",
	  "A_0,20000,15000\n  B_0,10000,10000\n(outside modules),-,-" },
	{ "equal ones in the order of their appearance",
	  "[" MODULE("B_0", 1, 0, 5) MODULE("A_0", 1, 10, 5) END "]", "module,share_percent",
	  "B_0,-\nA_0,-\n(outside modules),-" },
	{ "backward of a file in which it comes first", /* thread 1 is sorted before thread 5 */
	  "[" MODULE("Net_0", 5, 0, 100) NUMBERED("mm", 5, 10, 5, 3, 0)
		  NUMBERED("MmBackward0", 1, 200, 50, 3, 5) MODULE("Again_0", 1, 210, 30)
			  LAUNCH(1, 1, 220) KERNEL("k", 1, 400, 6) END "]",
	  DEVICE, "Net_0,0,0,6000\n  Again_0,0,0,6000\n(outside modules),0,0,0" },
};

#define PATH(text) "\"Module Hierarchy\":\"" text "\""
#define SCRIPTED(name, ts, text) EVENT("cpu_op", name, 1, ts, 8, PATH(text))

static const struct view_case hierarchy_cases[] = {
	{ "an empty one is none", "[" SCRIPTED("a", 0, "") END "]", "module+notes", MISSING },
	{ "modules without functions; SELF is the module again",
	  "[" SCRIPTED("a", 0, "TOP(Net)::forward.SELF(Net)::body.conv1(Conv2d)::forward")
		  LAUNCH(1, 1, 1) SCRIPTED("b", 10, "TOP(Net)::forward") LAUNCH(2, 1, 11)
			  KERNEL("k", 1, 20, 5) KERNEL("k", 2, 30, 3) END "]",
	  DEVICE ",calls,path",
	  "TOP(Net),8000,3000,-,-,TOP(Net)\n"
	  "  conv1(Conv2d),5000,5000,-,-,TOP(Net) / conv1(Conv2d)\n"
	  "(outside modules),0,0,-,-,-" },
	{ "functions of no module are none",
	  "[" SCRIPTED("a", 0, "::f.TOP(Net)::forward.::g") END "]",
	  "module,host_total_ns,operators_ns", "TOP(Net),-,8000\n(outside modules),-,0" },
	{ "their backward",
	  "[" EVENT("cpu_op", "mm", 1, 0, 5,
		    PATH("TOP(Net)::f") ",\"Sequence number\":3,\"Fwd thread id\":0")
		  NUMBERED("MmBackward0", 2, 50, 9, 3, 1) LAUNCH(1, 2, 51) KERNEL("k", 1, 90, 5) END
	  "]",
	  DEVICE, "TOP(Net),0,0,5000\n(outside modules),0,0,0" },
};

static const struct view_case class_cases[] = {
	{ "instances are summed; ranked by their own time", "[" NET NET_BACKWARD END "]",
	  DEVICE ",calls,depth",
	  "Linear,40000,40000,60000,2,-\nNet,45000,5000,67000,1,-\n"
	  "(outside modules),0,0,4000,-,-" },
	{ "one in another of its class counts once",
	  "[" MODULE("Seq_0", 1, 0, 100) LAUNCH(1, 1, 1) MODULE("Seq_1", 1, 10, 50) LAUNCH(2, 1, 11)
		  KERNEL("k", 1, 200, 5) KERNEL("k", 2, 210, 3) END "]",
	  DEVICE ",calls,host_total_ns,host_self_ns",
	  "Seq,8000,8000,-,2,100000,100000\n(outside modules),0,0,-,-,-,-" },
	{ "names without a number are classes",
	  "[" MODULE("Net", 1, 0, 9) MODULE("_3", 1, 10, 9) MODULE("A_b", 1, 20, 9)
		  MODULE("Conv_2_7", 1, 30, 9) MODULE("x7", 1, 40, 9) END "]",
	  "module", "Net\n_3\nA_b\nConv_2\nx7\n(outside modules)" },
	{ "of a hierarchy",
	  "[" SCRIPTED("a", 0, "TOP(Net)::f") SCRIPTED("b", 10, "x(Net)::f") END "]",
	  "module,operators", "Net,2\n(outside modules),0" },
	{ "no modules", "[]", "module+notes", MISSING },
};

static const struct view_case instance_cases[] = {
	{ "a module that is called from two places is one",
	  "[" MODULE("A_0", 1, 0, 20) MODULE("C_0", 1, 5, 10) LAUNCH(1, 1, 6)
		  MODULE("B_0", 1, 60, 20) MODULE("C_0", 1, 65, 4) LAUNCH(2, 1, 66)
			  KERNEL("k", 1, 100, 5) KERNEL("k", 2, 110, 3) END "]",
	  DEVICE ",calls",
	  "C_0,8000,8000,-,2\nA_0,5000,0,-,1\nB_0,3000,0,-,1\n(outside modules),0,0,-,-" },
};

static void test_tree(void **state)
{
	(void)state;
	view_cases_run("modules", tree_cases, SS_COUNT(tree_cases));
	view_cases_run("modules/tree", hierarchy_cases, SS_COUNT(hierarchy_cases));
}

static void test_kinds(void **state)
{
	(void)state;
	view_cases_run("modules/class", class_cases, SS_COUNT(class_cases));
	view_cases_run("modules/instance", instance_cases, SS_COUNT(instance_cases));
}

/* The sum of a column; of trees only what is not inside of another row. */
static int64_t sum_of(const struct support_view *open, const char *column)
{
	struct ss_text cell = { 0 };
	int64_t sum = 0;

	for (uint32_t row = 0; row < open->table.row_count; row++) {
		support_view_row(open, row, column, &cell);
		sum += strtoll(cell.data, NULL, 10);
	}
	ss_text_release(&cell);
	return sum;
}

/* Random modules, launches and backward links: nothing gets lost, whatever is on top. */
static void test_sums(void **state)
{
	static const char *const groups[] = { "modules", "modules/class", "modules/instance" };
	uint64_t random = 7;

	(void)state;
	for (int round = 0; round < 40; round++) {
		struct ss_text json = { 0 };
		int64_t device_ns = 0;

		ss_text_add_string(&json, "[");
		for (int i = 0; i < 60; i++) {
			uint32_t ts = support_random(&random, 500), id = (uint32_t)i + 1;
			uint32_t tid = support_random(&random, 3), n = support_random(&random, 5);

			ss_text_addf(
				&json,
				"{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":"
				"\"nn.Module: M_%u\",\"pid\":1,\"tid\":%u,\"ts\":%u,\"dur\":%u},"
				"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op\",\"pid\":1,"
				"\"tid\":%u,\"ts\":%u,\"dur\":%u,\"args\":{\"Sequence number\":"
				"%u,\"Fwd thread id\":%u}},",
				n, tid, ts, support_random(&random, 90), tid, ts + n, n * 3,
				support_random(&random, 20), support_random(&random, 2));
			ss_text_addf(
				&json,
				"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"l\",\"pid\":1,"
				"\"tid\":%u,\"ts\":%u,\"dur\":1,\"args\":{\"correlation\":%u}},"
				"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,"
				"\"tid\":7,\"ts\":%u,\"dur\":%u,\"args\":{\"correlation\":%u,"
				"\"stream\":7}},",
				tid, ts + 2, id, 1000 + ts, n + 1, id);
			device_ns += ((int64_t)n + 1) * 1000;
		}
		ss_text_add_string(&json, END "]");
		for (size_t i = 0; i < SS_COUNT(groups); i++) {
			struct support_view open;

			support_view_open(&open, groups[i], json.data, "rank0.json");
			assert_int_equal(sum_of(&open, "device_self_ns") +
						 sum_of(&open, "backward_self_ns"),
					 device_ns);
			support_view_close(&open);
		}
		ss_text_release(&json);
	}
}

/* Modules in modules, deeper than any recursion could go. */
static void test_deep(void **state)
{
	enum { DEPTH = 20000 };
	struct support_view open;
	struct ss_text json = { 0 }, cells = { 0 };

	(void)state;
	ss_text_add_string(&json, "[");
	for (int i = 0; i < DEPTH; i++)
		ss_text_addf(&json,
			     "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"nn.Module: "
			     "M_%d\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":%d},",
			     i, i, 2 * DEPTH - i);
	ss_text_add_string(&json, LAUNCH(1, 1, 20001) KERNEL("k", 1, 90000, 5) END "]");
	support_view_open(&open, "modules", json.data, "rank0.json");
	assert_int_equal(open.table.row_count, 129);
	assert_int_equal(open.table.note_count, 1);
	support_view_row(&open, 127, DEVICE, &cells);
	assert_non_null(strstr(cells.data, "M_127,5000,5000,-"));
	support_view_row(&open, 0, DEVICE, &cells);
	assert_string_equal(cells.data, "M_0,5000,0,-");
	ss_text_release(&json);
	ss_text_release(&cells);
	support_view_close(&open);
}

static void test_no_memory(void **state)
{
	(void)state;
	view_memory_run("modules", "op a 1 0 +9; call l 1 1 +1 #1; kernel k 7 10 +4 #1");
	view_memory_run("modules", "[" NET NET_BACKWARD END "]");
	view_memory_run("modules/class", "[" NET NET_BACKWARD END "]");
	view_memory_run("modules", "[" SCRIPTED("a", 0, "TOP(Net)::f.a(A)::g") END "]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree),      cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_sums),      cmocka_unit_test(test_deep),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
