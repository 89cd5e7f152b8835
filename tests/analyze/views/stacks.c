/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View stacks: what is open around a launch or a moment, folded and as a tree, and
 * that nothing gets lost.
 */
#include "support/make/events.h"
#include "support/view_cases.h"

#define FOLDED "stack,calls,time_ns"
#define TREE "frame,time_ns,self_ns,frames"
#define NO_LINES "Source lines are not recorded: use profile(with_stack=True)."
#define NO_DEVICE "Nothing ran on a device: the times are host times."

static const struct view_case device_cases[] = {
	{ "nothing", "[]", "stack+notes", "" },
	{ "frames, annotations, modules, operators and the kernel",
	  "[" FRAME("a.py(1): f", 1, 0, 90) MODULE("Net_0", 1, 1, 80) NOTE("n", 1, 2, 70)
		  OP("mm", 1, 3, 60) LAUNCH(1, 1, 4) KERNEL("gemm", 1, 200, 5) END "]",
	  FOLDED ",leaf,share_percent+notes",
	  "thread 1;a.py(1): f;nn.Module: Net_0;n;mm;gemm,1,5000,gemm,100.00" },
	{ "equal stacks are one, others are not",
	  "op a 1 0 +9; call l 1 1 +1 #1; call l 1 3 +1 #2; op b 1 10 +9; call l 1 11 +1 #3;"
	  "op a 2 0 +9; call l 2 1 +1 #4; kernel k 7 20 +1 #1; kernel k 7 30 +2 #2;"
	  "kernel k 7 40 +4 #3; kernel k 7 50 +8 #4",
	  FOLDED ",share_percent+notes",
	  "thread 2;a;k,1,8000,53.33\nthread 1;b;k,1,4000,26.67\n"
	  "thread 1;a;k,2,3000,20.00\n" NO_LINES },
	{ "calls are no frames: a driver call in a runtime call",
	  "op a 1 0 +20; call l 1 1 +8; driver d 1 2 +3 #1; kernel k 7 30 +5 #1", FOLDED,
	  "thread 1;a;k,1,5000" },
	{ "a launch outside of everything", "call l 1 1 +8 #1; copy c 7 30 +5 #1", FOLDED,
	  "thread 1;c,1,5000" },
	{ "launches that are not in the file",
	  "op a 1 0 +20; call l 1 1 +8 #1; kernel k 7 30 +5 #9; kernel k 7 40 +2; set s 7 50 +1 #1",
	  FOLDED, "(launch not recorded);k,2,7000\nthread 1;a;s,1,1000" },
	{ "steps are one frame",
	  "note ProfilerStep#1 1 0 +20; call l 1 1 +8 #1; note ProfilerStep#2 1 20 +20;"
	  "call l 1 21 +8 #2; kernel k 7 50 +5 #1; kernel k 7 60 +2 #2",
	  FOLDED, "thread 1;ProfilerStep;k,2,7000" },
	{ "a step that begins in the call that ended the last one is not inside of that one",
	  "[" FRAME("a.py(1): f", 1, 0, 100) FRAME("step", 1, 5, 5) NOTE("ProfilerStep#1", 1, 8, 30)
		  FRAME("step", 1, 35, 8) NOTE("ProfilerStep#2", 1, 40, 30) LAUNCH(1, 1, 20)
			  LAUNCH(2, 1, 50) LAUNCH(3, 1, 41) KERNEL("k", 1, 200, 1)
				  KERNEL("k", 2, 210, 2) KERNEL("k", 3, 220, 4) END "]",
	  FOLDED,
	  "thread 1;a.py(1): f;step;ProfilerStep;k,1,4000\n"
	  "thread 1;a.py(1): f;ProfilerStep;k,2,3000" },
	{ "the separator in names is replaced, and what breaks lines",
	  "[" OP("a;b", 1, 0, 9) LAUNCH(1, 1, 1) KERNEL("k\\nl", 1, 20, 5) END "]", FOLDED,
	  "thread 1;a:b;k l,1,5000" },
	{ "kernels without time have no row",
	  "op a 1 0 +9; call l 1 1 +1 #1; call l 1 2 +1 #2; kernel k 7 20 +0 #1;"
	  "kernel j 7 21 +1 #2",
	  FOLDED, "thread 1;a;j,1,1000" },
	{ "call stacks of old writers stand around the outermost operator",
	  "[" NOTE("n", 1, 0, 90) STACKED("o", 1, 1, 50, "in.py(1): f;;out.py(2): g")
		  STACKED("i", 1, 2, 40, "in.py(1): f;;out.py(2): g") LAUNCH(1, 1, 3)
			  STACKED("o", 1, 60, 20, "out.py(2): g") LAUNCH(2, 1, 61)
				  KERNEL("k", 1, 100, 5) KERNEL("k", 2, 110, 3) END "]",
	  FOLDED "+notes",
	  "thread 1;n;out.py(2): g;in.py(1): f;o;i;k,1,5000\nthread 1;n;out.py(2): g;o;k,1,3000" },
	{ "each in what is around it",
	  "[" NOTE("n", 1, 0, 9) STACKED("o", 1, 1, 5, "a.py(1): f") LAUNCH(1, 1, 2)
		  STACKED("o", 1, 20, 5, "a.py(1): f") LAUNCH(2, 1, 21) KERNEL("k", 1, 100, 5)
			  KERNEL("k", 2, 110, 3) END "]",
	  FOLDED, "thread 1;n;a.py(1): f;o;k,1,5000\nthread 1;a.py(1): f;o;k,1,3000" },
	{ "without a device: the host's time", "op a 1 0 +9; op b 1 1 +5", FOLDED "+notes",
	  "thread 1;a;b,1,5000\nthread 1;a,1,4000\n" NO_DEVICE "\n" NO_LINES },
};

static const struct view_case host_cases[] = {
	{ "nothing", "[]", "stack+notes", "" },
	{ "kernels alone", "kernel k 7 0 +9 #1", "stack+notes", "" },
	{ "each row's own time",
	  "op a 1 0 +20; op b 1 2 +6; call c 1 3 +1; op b 1 10 +4; op a 1 30 +5;"
	  "kernel k 7 0 +50",
	  FOLDED ",leaf+notes",
	  "thread 1;a,2,15000,a\nthread 1;a;b,2,9000,b\nthread 1;a;b;c,1,1000,c\n" NO_LINES },
	{ "a row that outlasts its parent has its time alone, and that is not given twice",
	  "op g 1 0 +30; op p 1 5 +10; op c 1 10 +10", FOLDED,
	  "thread 1;g,1,15000\nthread 1;g;p;c,1,10000\nthread 1;g;p,1,5000" },
	{ "also behind the end of all", "op p 1 5 +10; op c 1 10 +10; op d 1 17 +1", FOLDED,
	  "thread 1;p;c,1,9000\nthread 1;p,1,5000\nthread 1;c;d,1,1000" },
	{ "threads are apart", "op a 1 0 +5; op a 2 0 +3", FOLDED,
	  "thread 1;a,1,5000\nthread 2;a,1,3000" },
	{ "rows without duration take and hold nothing", "op a 1 0 +5; op z 1 2 +0; op b 1 2 +1",
	  FOLDED, "thread 1;a,1,4000\nthread 1;a;b,1,1000" },
	{ "the profiler's own rows are on no thread", "op a 1 0 +5; overhead o 1 1 +2", FOLDED,
	  "thread 1;a,1,5000" },
};

static const struct view_case tree_cases[] = {
	{ "nothing", "[]", "frame+notes", "" },
	{ "totals, and what is in no row below", "op a 1 0 +50; op b 1 10 +20; op c 1 40 +5",
	  TREE ",depth,path,share_percent",
	  "thread 1,50000,0,1,0,thread 1,100.00\n  a,50000,25000,1,1,thread 1;a,100.00\n"
	  "    b,20000,20000,1,2,thread 1;a;b,40.00\n    c,5000,5000,1,2,thread 1;a;c,10.00" },
	{ "frames that only pass on are one row",
	  "op a 1 0 +9; note n 1 1 +8; op b 1 2 +7; call l 1 3 +1 #1; call l 1 5 +1 #2;"
	  "kernel k 7 20 +6 #1; kernel j 7 30 +4 #2",
	  TREE ",path",
	  "thread 1,10000,0,1,thread 1\n  b,10000,0,3,thread 1;a;n;b\n"
	  "    k,6000,6000,1,thread 1;a;n;b;k\n    j,4000,4000,1,thread 1;a;n;b;j" },
	{ "so are those with less than a hundredth of their own", "op a 1 0 +1000; op b 1 1 +999",
	  TREE, "thread 1,1000000,0,1\n  b,1000000,1000000,2" },
	{ "with their small branches, which are not told again",
	  "op a 1 0 +1000; op b 1 0 +990; op c 1 990 +6; op d 1 996 +4", TREE,
	  "thread 1,1000000,0,1\n  b,1000000,1000000,2" },
	{ "a hundredth of all is not little of a small branch",
	  "op z 1 0 +1000; op a 1 1000 +100; op b 1 1000 +90", TREE,
	  "thread 1,1100000,0,1\n  z,1000000,1000000,1\n  a,100000,10000,1\n"
	  "    b,90000,90000,1" },
	{ "small branches are summed, where they are a hundredth together",
	  "op a 1 0 +1000; op b 1 0 +900; op c 1 910 +6; op d 1 920 +7", TREE ",depth",
	  "thread 1,1000000,0,1,0\n  a,1000000,87000,1,1\n    b,900000,900000,1,2\n"
	  "    (2 smaller),13000,13000,-,2" },
	{ "else they are in the row's own time", "op a 1 0 +1000; op b 1 0 +900; op c 1 910 +6",
	  TREE, "thread 1,1000000,0,1\n  a,1000000,100000,1\n    b,900000,900000,1" },
	{ "small threads are always summed", "op a 1 0 +1000; op a 2 0 +3; op a 3 0 +4", TREE,
	  "thread 1,1000000,0,1\n  a,1000000,1000000,1\n(2 smaller),7000,7000,-" },
	{ "device time where there is a device",
	  "op a 1 0 +50; call l 1 1 +1 #1; kernel k 7 60 +2 #1", TREE "+notes",
	  "thread 1,2000,0,1\n  k,2000,2000,2\n" NO_LINES },
};

static void test_device(void **state)
{
	(void)state;
	view_cases_run("stacks", device_cases, SS_COUNT(device_cases));
}

static void test_host(void **state)
{
	(void)state;
	view_cases_run("stacks/host", host_cases, SS_COUNT(host_cases));
}

static void test_tree(void **state)
{
	(void)state;
	view_cases_run("stacks/tree", tree_cases, SS_COUNT(tree_cases));
}

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

/* Random rows on two threads: times are those in which anything was open, in all groups. */
static void test_sums(void **state)
{
	enum { ROWS = 120, SPAN = 700 };
	uint64_t random = 11;

	(void)state;
	for (int round = 0; round < 40; round++) {
		struct ss_text json = { 0 };
		bool busy[2][SPAN] = { 0 };
		int64_t host_ns = 0;
		struct support_view open;

		ss_text_add_string(&json, "[");
		for (int i = 0; i < ROWS; i++) {
			uint32_t ts = support_random(&random, 600),
				 tid = support_random(&random, 2);
			uint32_t dur = support_random(&random, i % 9 ? 12 : 100);

			for (uint32_t k = ts; k < ts + dur; k++)
				busy[tid][k] = true;
			ss_text_addf(&json,
				     "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op%u\",\"pid\":1,"
				     "\"tid\":%u,\"ts\":%u,\"dur\":%u},",
				     support_random(&random, 4), tid, ts, dur);
		}
		ss_text_add_string(&json, END "]");
		for (int i = 0; i < 2 * SPAN; i++)
			host_ns += busy[i / SPAN][i % SPAN] * 1000;
		support_view_open(&open, "stacks/host", json.data, "rank0.json");
		assert_int_equal(sum_of(&open, "time_ns"), host_ns);
		support_view_close(&open);
		support_view_open(&open, "stacks/tree", json.data, "rank0.json");
		assert_int_equal(sum_of(&open, "self_ns"), host_ns);
		support_view_close(&open);
		ss_text_release(&json);
	}
}

/* So deep and so many that the texts of all stacks would be gigabytes. */
static void test_limits(void **state)
{
	enum { DEPTH = 20000 };
	struct support_view open;
	struct ss_text json = { 0 }, cells = { 0 };
	uint32_t last;

	(void)state;
	ss_text_add_string(&json, "[");
	for (int i = 0; i < DEPTH; i++)
		ss_text_addf(&json,
			     "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op%d\",\"pid\":1,"
			     "\"tid\":1,\"ts\":%d,\"dur\":%d},",
			     i, i, 2 * DEPTH - i);
	ss_text_add_string(&json, END "]");
	support_view_open(&open, "stacks/host", json.data, "rank0.json");
	assert_int_equal(sum_of(&open, "time_ns"), 2 * (int64_t)DEPTH * 1000);
	last = open.table.row_count - 1;
	assert_true(last > 10 && last < DEPTH);
	support_view_row(&open, last, "stack", &cells);
	assert_string_equal(cells.data, "(other)");
	assert_non_null(strstr(open.table.notes[0], "more stacks are summed as (other)"));
	support_view_close(&open);
	support_view_open(&open, "stacks/tree", json.data, "rank0.json");
	assert_int_equal(sum_of(&open, "self_ns"), 2 * (int64_t)DEPTH * 1000);
	support_view_close(&open);
	ss_text_release(&json);
	ss_text_release(&cells);
}

static void test_no_memory(void **state)
{
	static const char *const views[] = { "stacks", "stacks/host", "stacks/tree" };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(views); i++) {
		view_memory_run(views[i], "op a 1 0 +9; call l 1 1 +1 #1; op g 1 20 +30;"
					  "op p 1 25 +10; op c 1 30 +10; op d 1 38 +1;"
					  "kernel k 7 10 +4 #1; kernel k 7 20 +4 #9");
		view_memory_run(views[i], "[" STACKED("o", 1, 1, 50, "in.py(1): f;out.py(2): g")
						  LAUNCH(1, 1, 3) KERNEL("k", 1, 9, 1) END "]");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_device), cmocka_unit_test(test_host),
		cmocka_unit_test(test_tree),   cmocka_unit_test(test_sums),
		cmocka_unit_test(test_limits), cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
