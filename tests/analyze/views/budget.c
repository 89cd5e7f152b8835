/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View budget: metrics.md 4 and 6, per device and step. Cases that can be counted
 * by hand, then random traces against what each microsecond holds.
 */
#include "support/view_cases.h"

#define STEP "note ProfilerStep#1 1 0 +100; "
#define TWO "note ProfilerStep#1 1 0 +10; note ProfilerStep#2 1 10 +10; "
#define PARTS                                                                            \
	"device,step,dur_ns,compute_ns,exposed_comm_ns,exposed_copy_ns,idle_ns,comm_ns," \
	"overlap_percent"

static const struct view_case cases[] = {
	{ "nothing", "[]", PARTS, "" },
	{ "no device", STEP "op aten::add 1 10 +20; call cudaMalloc 1 12 +3", PARTS, "" },
	{ "compute kernels of all streams, once",
	  STEP "kernel a 7 10 +20; kernel b 8 20 +20; kernel c 7 35 +1", PARTS,
	  "1,0,100000,30000,0,0,70000,0,-" },
	{ "communication by itself", STEP "kernel nccl 7 10 +20", PARTS,
	  "1,0,100000,0,20000,0,80000,20000,0.00" },
	{ "communication that compute hides", STEP "kernel a 7 10 +40; kernel nccl 8 20 +20", PARTS,
	  "1,0,100000,40000,0,0,60000,20000,100.00" },
	{ "communication that compute hides in part",
	  STEP "kernel a 7 10 +20; kernel nccl 8 20 +30", PARTS,
	  "1,0,100000,20000,20000,0,60000,30000,33.33" },
	{ "pieces of compute within communication",
	  STEP "kernel nccl 8 10 +50; kernel a 7 20 +10; kernel b 7 40 +10", PARTS,
	  "1,0,100000,20000,30000,0,50000,50000,40.00" },
	{ "two collectives at once count once",
	  STEP "kernel nccl 8 10 +20; kernel ncclDevKernel_AllGather 9 20 +20; kernel a 7 30 +20",
	  PARTS, "1,0,100000,20000,20000,0,60000,30000,33.33" },
	{ "communication by the operator that launched it",
	  STEP
	  "op record_param_comms 1 10 +10; call cudaLaunchKernel 1 12 +4 #1; kernel k 7 30 +10 #1",
	  PARTS, "1,0,100000,0,10000,0,90000,10000,0.00" },
	{ "a copy does not hide communication", STEP "copy c 7 10 +20; kernel nccl 8 10 +20", PARTS,
	  "1,0,100000,0,20000,0,80000,20000,0.00" },
	{ "copies and memsets hide behind kernels of both kinds",
	  STEP "kernel a 7 10 +10; kernel nccl 8 20 +10; copy c 9 5 +20; set s 10 28 +7", PARTS,
	  "1,0,100000,10000,10000,10000,70000,10000,0.00" },
	{ "copies and memsets at once count once", STEP "copy c 7 10 +20; set s 8 20 +20", PARTS,
	  "1,0,100000,0,0,30000,70000,0,-" },
	{ "each device has its own budget",
	  STEP "kernel a 3/7 10 +50; kernel nccl 1/7 20 +20; copy c 1/8 30 +20; copy d 3/8 0 +20",
	  PARTS,
	  "1,0,100000,0,20000,10000,70000,20000,0.00\n"
	  "3,0,100000,50000,0,10000,40000,0,-" },
	{ "the host has no part in it",
	  STEP "note nccl:all_reduce 1 10 +20; op aten::add 1 30 +20; call cudaMalloc 1 60 +5; "
	       "frame f 1 0 +100; mark nccl:all_reduce 7 10 +20; sync Event_Sync 7 0 +50; "
	       "kernel a 7 90 +5",
	  PARTS, "1,0,100000,5000,0,0,95000,0,-" },
	{ "what crosses a step's end belongs to both",
	  TWO "kernel nccl 7 4 +10; kernel a 8 8 +4; copy c 9 13 +3", PARTS,
	  "1,0,10000,2000,4000,0,4000,6000,33.33\n"
	  "1,1,10000,2000,2000,2000,4000,4000,50.00" },
	{ "a step in which a device does nothing", TWO "kernel a 1/7 2 +3; kernel b 2/7 12 +3",
	  PARTS,
	  "1,0,10000,3000,0,0,7000,0,-\n1,1,10000,0,0,0,10000,0,-\n"
	  "2,0,10000,0,0,0,10000,0,-\n2,1,10000,3000,0,0,7000,0,-" },
	{ "what runs between, before and after steps belongs to none",
	  "note ProfilerStep#1 1 50 +10; note ProfilerStep#2 1 80 +10; kernel a 7 0 +52; "
	  "kernel nccl 8 55 +30; copy c 9 88 +60; kernel b 7 200 +5",
	  PARTS,
	  "1,0,10000,2000,5000,0,3000,5000,0.00\n"
	  "1,1,10000,0,5000,2000,3000,5000,0.00" },
	{ "a step ends with what was launched in it",
	  "note ProfilerStep#1 1 0 +10; call cudaLaunchKernel 1 2 +1 #1; kernel a 7 5 +20 #1",
	  PARTS, "1,0,25000,20000,0,0,5000,0,-" },
	{ "steps that are dropped",
	  "note ProfilerStep#1 1 0 +10; call cudaLaunchKernel 1 2 +1 #1; kernel a 7 3 +1 #1; note "
	  "ProfilerStep#2 1 10 +10; copy orphan 8 12 +2",
	  PARTS, "1,0,10000,1000,0,0,9000,0,-" },
	{ "a step that the one before has used up is left out, the next keeps its number",
	  "note ProfilerStep#1 1 0 +10; call cudaLaunchKernel 1 2 +1 #1; kernel a 7 5 +30 #1; note "
	  "ProfilerStep#2 1 10 +10; note ProfilerStep#3 1 20 +30; call cudaLaunchKernel 1 22 +1 "
	  "#2; kernel b 7 36 +4 #2",
	  PARTS, "1,0,35000,30000,0,0,5000,0,-\n1,2,15000,4000,0,0,11000,0,-" },
	{ "no steps: the span of the operators", "op a 1 5 +10; op b 1 30 +5; kernel k 7 30 +50",
	  PARTS, "1,0,30000,5000,0,0,25000,0,-" },
	{ "no CPU ops and no steps: the span of the device events",
	  "kernel a 7 5 +10; copy b 2/8 35 +5", PARTS,
	  "1,0,35000,10000,0,0,25000,0,-\n2,0,35000,0,0,5000,30000,0,-" },
	{ "nothing lasts", STEP "kernel a 7 10 +0; kernel nccl 7 20 +0; copy c 7 30 +0", PARTS,
	  "1,0,100000,0,0,0,100000,0,-" },
};

enum { COMPUTE = 1, COMM = 2, COPY = 4 };

/* What random traces are made of. */
static const struct {
	const char *kind, *name;
	unsigned set;
} pieces[] = {
	{ "kernel", "gemm", COMPUTE }, { "kernel", "nccl", COMM },    { "copy", "Memcpy", COPY },
	{ "set", "Memset", COPY },     { "kernel", "relu", COMPUTE }, { "mark", "range", 0 },
};

#define LENGTH_US 64u

static void random_events(uint64_t *seed, struct ss_text *script, unsigned *sets)
{
	uint32_t count = support_random(seed, 16);

	/* a device without rows has no budget; at 0 it would be one that has no time */
	ss_text_add_string(script, "kernel gemm 7 1 +0; ");
	for (uint32_t i = 0; i < count; i++) {
		uint32_t piece = support_random(seed, SS_COUNT(pieces));
		uint32_t from = support_random(seed, LENGTH_US);
		uint32_t length = support_random(seed, 16);

		if (from + length > LENGTH_US)
			length = LENGTH_US - from;
		ss_text_addf(script, "%s %s %u %u +%u; ", pieces[piece].kind, pieces[piece].name,
			     support_random(seed, 3), from, length);
		for (uint32_t us = from; us < from + length; us++)
			sets[us] |= pieces[piece].set;
	}
}

/* The row of a step that has these microseconds. */
static void expect(struct ss_text *out, const unsigned *sets, uint32_t from, uint32_t to)
{
	uint32_t compute = 0, exposed_comm = 0, exposed_copy = 0, idle = 0, comm = 0;

	for (uint32_t us = from; us < to; us++) {
		comm += (sets[us] & COMM) != 0;
		if (sets[us] & COMPUTE)
			compute++;
		else if (sets[us] & COMM)
			exposed_comm++;
		else if (sets[us] & COPY)
			exposed_copy++;
		else
			idle++;
	}
	ss_text_addf(out, "%u,%u,%u,%u,%u,%u", (to - from) * 1000, compute * 1000,
		     exposed_comm * 1000, exposed_copy * 1000, idle * 1000, comm * 1000);
}

static void test_random(void **state)
{
	uint64_t seed = 11;

	(void)state;
	for (int round = 0; round < 400; round++) {
		unsigned sets[LENGTH_US] = { 0 };
		struct ss_text script = { 0 }, rows = { 0 };
		struct view_case one = {
			.columns =
				"dur_ns,compute_ns,exposed_comm_ns,exposed_copy_ns,idle_ns,comm_ns",
		};
		uint32_t first = support_random(&seed, 10);
		uint32_t middle = first + 1 + support_random(&seed, 20);
		uint32_t last = middle + 1 + support_random(&seed, 20);

		ss_text_addf(&script,
			     "note ProfilerStep#1 50/9 %u +%u; note ProfilerStep#2 50/9 %u +%u; ",
			     first, middle - first, middle, last - middle);
		random_events(&seed, &script, sets);
		expect(&rows, sets, first, middle);
		ss_text_add_string(&rows, "\n");
		expect(&rows, sets, middle, last);
		one.what = one.trace = script.data;
		one.rows = rows.data;
		view_cases_run("budget", &one, 1);
		ss_text_release(&script);
		ss_text_release(&rows);
	}
}

#define GROUP "device,step,dur_ns,idle_ns,part,mean_ns,step_percent,total_ns"

static const struct view_case parts[] = {
	{ "nothing", "[]", GROUP, "" },
	{ "no device", STEP "op aten::add 1 10 +20", GROUP, "" },
	{ "what took no time is left out", STEP "kernel a 7 0 +100", GROUP,
	  "1,-,-,-,compute,100000,100.00,100000" },
	{ "parts in the order of the columns, idle time by its cause",
	  STEP "kernel a 7 0 +20; kernel nccl 8 10 +20; copy c 9 25 +15; kernel b 7 60 +40", GROUP,
	  "1,-,-,-,compute,60000,60.00,60000\n1,-,-,-,exposed communication,10000,10.00,10000\n"
	  "1,-,-,-,exposed copies,10000,10.00,10000\n"
	  "1,-,-,-,idle: unattributed,20000,20.00,20000" },
	{ "causes of idle time",
	  STEP "call cudaLaunchKernel 1 0 +1 #1; kernel a 7 5 +5 #1; call cudaMalloc 1 20 +10; "
	       "call cudaLaunchKernel 1 50 +1 #2; kernel b 7 60 +40 #2",
	  "part,total_ns",
	  "compute,45000\nidle: allocator,10000\nidle: launch-bound,40000\n"
	  "idle: launch latency,5000" },
	{ "each device has its own parts", STEP "kernel a 1/7 0 +50; copy b 2/7 0 +100", GROUP,
	  "1,-,-,-,compute,50000,50.00,50000\n1,-,-,-,idle: unattributed,50000,50.00,50000\n"
	  "2,-,-,-,exposed copies,100000,100.00,100000" },
	{ "over all steps, and the mean of a step", TWO "kernel a 7 0 +10; copy b 7 10 +5",
	  "part,mean_ns,step_percent,total_ns",
	  "compute,5000,50.00,10000\nexposed copies,2500,25.00,5000\n"
	  "idle: unattributed,2500,25.00,5000" },
};

/* For each device the parts sum to the time of its steps. */
static void check_sums(const char *json, const char *what)
{
	int64_t sums[2][4] = { { 0 } };

	for (int i = 0; i < 2; i++) {
		struct support_view open;

		support_view_open(&open, i ? "budget/part" : "budget", json, "x");
		for (uint32_t row = 0; row < open.table.row_count; row++) {
			uint32_t last = open.table.view->column_count - 1;
			int64_t device = ss_table_int(&open.table, row, 1);

			assert_true(device >= 0 && device <= 3);
			sums[i][device] += ss_table_int(&open.table, row, i ? last : 3);
		}
		support_view_close(&open);
	}
	for (int device = 0; device < 4; device++)
		support_check(sums[0][device] == sums[1][device], what,
			      "device %d: steps %lld, parts %lld", device,
			      (long long)sums[0][device], (long long)sums[1][device]);
}

static void test_parts(void **state)
{
	(void)state;
	view_cases_run("budget/part", parts, SS_COUNT(parts));
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		char *events = support_script(cases[i].trace[0] == '[' ? "" : cases[i].trace);
		struct ss_text json = { 0 };

		ss_text_addf(&json, "[%s]", events);
		check_sums(json.data, cases[i].what);
		ss_text_release(&json);
		free(events);
	}
	view_memory_run("budget/part", TWO "kernel a 7 1 +2; copy c 8 2 +5; set f 2/7 12 +2");
}

static void test_cases(void **state)
{
	(void)state;
	view_cases_run("budget", cases, SS_COUNT(cases));
}

static void test_memory(void **state)
{
	(void)state;
	view_memory_run("budget",
			TWO "kernel a 7 1 +2; kernel b 7 4 +2; copy c 8 2 +5; kernel nccl 9 3 "
			    "+8; set f 2/7 12 +2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
