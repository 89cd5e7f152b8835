/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View breakdown: metrics.md 3. Cases that can be counted by hand, then random
 * traces against a role for each microsecond.
 */
#include "support/view_cases.h"

#define STEP "note ProfilerStep#1 1 0 +100; "
#define PARTS                                                                             \
	"dur_ns,kernel_ns,memcpy_ns,memset_ns,communication_ns,runtime_ns,dataloader_ns," \
	"cpu_ns,other_ns"
#define LOADER "enumerate(DataLoader)#_MultiProcessingDataLoaderIter"
#define TWO "note ProfilerStep#1 1 0 +10; note ProfilerStep#2 1 20 +10; "

static const struct view_case roles[] = {
	{ "nothing", "[]", PARTS, "" },
	{ "calls alone make no step", "call cudaMalloc 1 5 +10", PARTS, "" },
	{ "a step is no work by itself", STEP, "step,name," PARTS,
	  "0,ProfilerStep#1,100000,0,0,0,0,0,0,0,100000" },
	{ "every role by itself",
	  STEP "kernel a 7 0 +10; copy c 7 10 +10; set s 7 20 +10; kernel "
	       "ncclDevKernel_AllReduce 7 30 +10; call cudaMalloc 1 40 +10; note " LOADER
	       ".__next__ 1 50 +10; op aten::add 1 60 +10",
	  PARTS, "100000,10000,10000,10000,10000,10000,10000,10000,30000" },
	{ "of all at once the kernel counts",
	  STEP "op aten::add 1 0 +100; note " LOADER
	       ".__next__ 2 0 +100; call cudaMalloc 3 0 +100; kernel nccl 7 0 +100; set s 8 0 "
	       "+100; copy c 9 0 +100; kernel a 10 0 +100",
	  PARTS, "100000,100000,0,0,0,0,0,0,0" },
	{ "each hides those that come after it, on both sides",
	  STEP "op aten::add 1 10 +70; note " LOADER
	       ".__next__ 1 15 +60; call cudaMalloc 1 20 +50; kernel nccl 7 25 +40; set s 8 30 "
	       "+30; copy c 9 35 +20; kernel a 10 40 +10",
	  PARTS, "100000,10000,10000,10000,10000,10000,10000,10000,30000" },
	{ "and fills the holes of those that come before it",
	  STEP
	  "op aten::add 1 0 +100; call cudaMalloc 1 10 +10; kernel a 7 0 +5; kernel b 7 15 +10; "
	  "copy c 8 20 +20",
	  PARTS, "100000,15000,15000,0,0,5000,0,65000,0" },
	{ "streams and devices count together",
	  STEP "kernel a 7 10 +20; kernel b 8 20 +20; kernel c 2/7 35 +15", PARTS,
	  "100000,40000,0,0,0,0,0,0,60000" },
	{ "a kernel of one device hides a copy of another",
	  STEP "kernel a 1/7 10 +20; copy c 2/7 20 +20", PARTS,
	  "100000,20000,10000,0,0,0,0,0,70000" },
	{ "ranges within ranges, threads and processes count once",
	  STEP "op a 1 0 +50; op b 1 10 +10; op c 1 12 +2; op d 2 40 +20; op e 9/4 55 +10", PARTS,
	  "100000,0,0,0,0,0,0,65000,35000" },
	{ "communication that is hidden", STEP "kernel a 7 10 +40; kernel nccl 8 20 +20", PARTS,
	  "100000,40000,0,0,0,0,0,0,60000" },
	{ "communication that is partly exposed", STEP "kernel a 7 10 +20; kernel nccl 8 20 +30",
	  PARTS, "100000,20000,0,0,20000,0,0,0,60000" },
	{ "communication behind copies", STEP "copy c 7 10 +20; kernel nccl 8 20 +30", PARTS,
	  "100000,0,20000,0,20000,0,0,0,60000" },
	{ "communication by the operator that launched it",
	  STEP
	  "op record_param_comms 1 10 +10; call cudaLaunchKernel 1 12 +4 #1; kernel k 7 30 +10 #1",
	  PARTS, "100000,0,0,0,10000,4000,0,6000,80000" },
	{ "ranges of communication on the host",
	  STEP "note nccl:all_reduce 1 10 +20; note gloo:all_reduce 2 50 +10; op gloo:send 2 70 +5",
	  PARTS, "100000,0,0,0,35000,0,0,0,65000" },
	{ "which come before what lies in them and around them",
	  STEP "op c10d::allreduce_ 1 5 +40; note nccl:all_reduce 1 10 +20; call cudaEventRecord 1 "
	       "12 +2; op aten::add 1 16 +2",
	  PARTS, "100000,0,0,0,20000,0,0,20000,60000" },
	{ "but not before kernels", STEP "note nccl:all_reduce 1 10 +20; kernel a 7 20 +20", PARTS,
	  "100000,20000,0,0,10000,0,0,0,70000" },
	{ "names that are only like those", STEP "note ncclx 1 10 +20; op aten::gloo: 1 50 +10",
	  PARTS, "100000,0,0,0,0,0,0,30000,70000" },
	{ "runtime and driver calls",
	  STEP "call cudaMalloc 1 10 +10; driver cuLaunchKernel 1 15 +10", PARTS,
	  "100000,0,0,0,0,15000,0,0,85000" },
	{ "the DataLoader's next, whatever runs in it",
	  STEP "note " LOADER ".__next__ 1 10 +20; op aten::stack 1 12 +10; op aten::cat 1 13 +2",
	  PARTS, "100000,0,0,0,0,0,20000,0,80000" },
	{ "but not a call in it",
	  STEP "op " LOADER ".__next__ 1 10 +20; call cudaHostAlloc 1 12 +5", PARTS,
	  "100000,0,0,0,0,5000,15000,0,80000" },
	{ "any range of a DataPipe", STEP "note enumerate(DataPipe)#MapperIterDataPipe 1 10 +20",
	  PARTS, "100000,0,0,0,0,0,20000,0,80000" },
	{ "other ranges of a DataLoader are ranges as others",
	  STEP "note " LOADER " 1 10 +20; note " LOADER ".__init__ 1 40 +10; note " LOADER
	       ".__next__x 1 60 +10",
	  PARTS, "100000,0,0,0,0,0,0,40000,60000" },
	{ "the next of something else", STEP "note Iterator.__next__ 1 10 +20", PARTS,
	  "100000,0,0,0,0,0,0,20000,80000" },
	{ "optimizer steps and other annotations are ranges",
	  STEP "note Optimizer.step#Adam.step 1 10 +20; note forward 1 50 +10", PARTS,
	  "100000,0,0,0,0,0,0,30000,70000" },
	{ "frames, annotations on the device, waits and the profiler count for nothing",
	  STEP "frame train.py(1):main 1 0 +100; frame x 0/0 0 +100; mark ProfilerStep#1 7 0 +100; "
	       "mark nccl:all_reduce 7 10 +20; sync Event_Sync 7 10 +20; overhead Flush 1 10 +20",
	  PARTS, "100000,0,0,0,0,0,0,0,100000" },
	{ "nothing lasts",
	  STEP "kernel a 7 10 +0; copy c 7 20 +0; op aten::add 1 30 +0; call c 1 30 +0", PARTS,
	  "100000,0,0,0,0,0,0,0,100000" },
	{ "no device", STEP "op aten::add 1 10 +20; call cudaMalloc 1 12 +3", PARTS,
	  "100000,0,0,0,0,3000,0,17000,80000" },
};

static const struct view_case steps[] = {
	{ "a kernel belongs to the steps in which it runs",
	  "note ProfilerStep#1 1 0 +10; note ProfilerStep#2 1 10 +10; kernel a 7 4 +10",
	  "step,name," PARTS,
	  "0,ProfilerStep#1,10000,6000,0,0,0,0,0,0,4000\n"
	  "1,ProfilerStep#2,10000,4000,0,0,0,0,0,0,6000" },
	{ "one that was launched in a step makes it longer",
	  "note ProfilerStep#1 1 0 +10; call cudaLaunchKernel 1 2 +1 #1; kernel a 7 4 +10 #1; "
	  "note ProfilerStep#2 1 10 +10; call cudaLaunchKernel 1 12 +1 #2; kernel a 7 15 +2 #2",
	  "step," PARTS,
	  "0,14000,10000,0,0,0,1000,0,0,3000\n"
	  "1,6000,2000,0,0,0,0,0,0,4000" },
	{ "what runs between steps belongs to none", TWO "kernel a 7 5 +20; op b 1 10 +9",
	  "step," PARTS, "0,10000,5000,0,0,0,0,0,0,5000\n1,10000,5000,0,0,0,0,0,0,5000" },
	{ "what runs before the first and after the last, too",
	  "note ProfilerStep#1 1 50 +100; kernel a 7 0 +60; copy c 8 140 +60; op a 1 40 +30; "
	  "op b 1 120 +90; kernel d 7 300 +50",
	  PARTS, "100000,10000,10000,0,0,0,0,30000,50000" },
	{ "the first step begins with the end of what was launched before it",
	  "call cudaLaunchKernel 1 0 +1 #1; kernel k 7 1 +14 #1; note ProfilerStep#1 1 10 +20; "
	  "call cudaLaunchKernel 1 12 +1 #2; kernel k 7 16 +10 #2",
	  PARTS, "15000,10000,0,0,0,0,0,0,5000" },
	{ "steps that are dropped",
	  "note ProfilerStep#1 1 0 +10; call cudaLaunchKernel 1 2 +1 #1; kernel a 7 3 +1 #1; note "
	  "ProfilerStep#2 1 10 +10; op aten::add 1 12 +2",
	  "step,dur_ns,other_ns", "0,10000,8000" },
	{ "a step that the one before has used up has no parts, the next keeps its number",
	  "note ProfilerStep#1 1 0 +10; call cudaLaunchKernel 1 2 +1 #1; kernel a 7 5 +30 #1; note "
	  "ProfilerStep#2 1 10 +10; note ProfilerStep#3 1 20 +30; call cudaLaunchKernel 1 22 +1 "
	  "#2; kernel b 7 36 +4 #2",
	  "step,name,dur_ns,kernel_ns,other_ns",
	  "0,ProfilerStep#1,35000,30000,4000\n2,ProfilerStep#3,15000,4000,11000" },
	{ "no steps: the span of the operators",
	  "op a 1 5 +10; call cudaMalloc 1 8 +2; op b 1 30 +5; kernel k 7 30 +50",
	  "step,name," PARTS, "0,-,30000,5000,0,0,0,2000,0,8000,15000" },
	{ "no CPU ops and no steps: the span of the device events",
	  "kernel a 7 5 +10; copy b 8 35 +5; call c 1 0 +17", "step," PARTS,
	  "0,35000,10000,5000,0,0,2000,0,0,18000" },
	{ "steps of other annotations are ranges as others",
	  "note train_step 1 0 +10; note train_step 1 12 +10; kernel a 7 5 +10", "step," PARTS,
	  "0,10000,5000,0,0,0,0,0,5000,0\n1,10000,3000,0,0,0,0,0,7000,0" },
};

/* What random traces are made of, in the order of priority. */
static const struct {
	const char *kind, *name;
	bool on_device;
	int role;
} pieces[] = {
	{ "kernel", "gemm", true, 0 },
	{ "copy", "Memcpy", true, 1 },
	{ "set", "Memset", true, 2 },
	{ "kernel", "ncclDevKernel_AllReduce", true, 3 },
	{ "note", "nccl:all_reduce", false, 3 },
	{ "note", "gloo:all_gather", false, 3 },
	{ "call", "cudaStreamSynchronize", false, 4 },
	{ "driver", "cuLaunchKernel", false, 4 },
	{ "note", LOADER ".__next__", false, 5 },
	{ "op", "enumerate(DataPipe)#Shuffler", false, 5 },
	{ "op", "aten::add", false, 6 },
	{ "note", LOADER, false, 6 },
	{ "frame", "nn.Module:_Linear_0", false, 7 },
	{ "mark", "nccl:all_reduce", true, 7 },
	{ "sync", "Stream_Wait_Event", true, 7 },
	{ "overhead", "Buffer_Flush", false, 7 },
};

#define ROLE_COUNT 8
#define LENGTH_US 64u

/* Adds events to the script and notes the first role of each microsecond. */
static void random_events(uint64_t *seed, struct ss_text *script, int *role_at)
{
	uint32_t count = support_random(seed, 24);

	for (uint32_t us = 0; us < LENGTH_US; us++)
		role_at[us] = ROLE_COUNT - 1;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t piece = support_random(seed, SS_COUNT(pieces));
		uint32_t from = support_random(seed, LENGTH_US);
		uint32_t length = support_random(seed, 12);

		if (from + length > LENGTH_US)
			length = LENGTH_US - from;
		ss_text_addf(script, "%s %s %u/%u %u +%u; ", pieces[piece].kind, pieces[piece].name,
			     pieces[piece].on_device ? support_random(seed, 2) : 50,
			     support_random(seed, 3), from, length);
		for (uint32_t us = from; us < from + length; us++)
			if (pieces[piece].role < role_at[us])
				role_at[us] = pieces[piece].role;
	}
}

/* The row of a step that has these microseconds. */
static void expect(struct ss_text *out, const int *role_at, uint32_t from, uint32_t to)
{
	uint32_t sums[ROLE_COUNT] = { 0 };

	for (uint32_t us = from; us < to; us++)
		sums[role_at[us]]++;
	ss_text_addf(out, "%u", (to - from) * 1000);
	for (int i = 0; i < ROLE_COUNT; i++)
		ss_text_addf(out, ",%u", sums[i] * 1000);
}

static void test_random(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (int round = 0; round < 400; round++) {
		int role_at[LENGTH_US];
		struct ss_text script = { 0 }, rows = { 0 };
		struct view_case one = { .columns = PARTS };
		uint32_t first = support_random(&seed, 10);
		uint32_t middle = first + 1 + support_random(&seed, 20);
		uint32_t again = middle + support_random(&seed, 2) * 5;
		uint32_t last = again + 1 + support_random(&seed, 20);

		ss_text_addf(&script,
			     "note ProfilerStep#1 50/9 %u +%u; note ProfilerStep#2 50/9 %u +%u; ",
			     first, middle - first, again, last - again);
		random_events(&seed, &script, role_at);
		expect(&rows, role_at, first, middle);
		ss_text_add_string(&rows, "\n");
		expect(&rows, role_at, again, last);
		one.what = one.trace = script.data;
		one.rows = rows.data;
		view_cases_run("breakdown", &one, 1);
		ss_text_release(&script);
		ss_text_release(&rows);
	}
}

#define GROUP "step,dur_ns,kernel_ns,part,mean_ns,step_percent,total_ns"

static const struct view_case parts[] = {
	{ "nothing", "[]", GROUP, "" },
	{ "no steps, no parts", "call cudaMalloc 1 5 +10", GROUP, "" },
	{ "what took no time is left out", STEP, GROUP, "-,-,-,other,100000,100.00,100000" },
	{ "parts in the order of the columns",
	  STEP "kernel a 7 0 +10; copy c 7 10 +10; set s 7 20 +10; kernel "
	       "ncclDevKernel_AllReduce 7 30 +10; call cudaMalloc 1 40 +10; note " LOADER
	       ".__next__ 1 50 +10; op aten::add 1 60 +10",
	  "part,total_ns",
	  "kernel,10000\nmemcpy,10000\nmemset,10000\ncommunication,10000\nruntime,10000\n"
	  "dataloader,10000\ncpu,10000\nother,30000" },
	{ "over all steps, and the mean of a step",
	  TWO "kernel a 7 2 +3; kernel b 7 25 +4; copy c 7 12 +5", GROUP,
	  "-,-,-,kernel,3500,35.00,7000\n-,-,-,other,6500,65.00,13000" },
	{ "the mean is over steps without it, too", TWO "copy c 7 22 +5", GROUP,
	  "-,-,-,memcpy,2500,25.00,5000\n-,-,-,other,7500,75.00,15000" },
	{ "steps that are dropped",
	  "note ProfilerStep#1 1 0 +10; call cudaLaunchKernel 1 2 +1 #1; kernel a 7 3 +1 #1; note "
	  "ProfilerStep#2 1 10 +10; op aten::add 1 12 +2",
	  "part,mean_ns,total_ns", "kernel,1000,1000\nruntime,1000,1000\nother,8000,8000" },
};

/* The last column of the parts sums to the fifth of the steps. */
static void check_sums(const char *json, const char *what)
{
	struct support_view open;
	int64_t sums[2] = { 0 };

	for (int i = 0; i < 2; i++) {
		support_view_open(&open, i ? "breakdown/part" : "breakdown", json, "x");
		for (uint32_t row = 0; row < open.table.row_count; row++)
			sums[i] += ss_table_int(&open.table, row,
						i ? open.table.view->column_count - 1 : 5);
		support_view_close(&open);
	}
	support_check(sums[0] == sums[1], what, "steps %lld, parts %lld", (long long)sums[0],
		      (long long)sums[1]);
}

static void test_parts(void **state)
{
	static const struct view_case *const tables[] = { roles, steps };
	static const size_t counts[] = { SS_COUNT(roles), SS_COUNT(steps) };

	(void)state;
	view_cases_run("breakdown/part", parts, SS_COUNT(parts));
	for (size_t i = 0; i < SS_COUNT(tables); i++)
		for (size_t k = 0; k < counts[i]; k++) {
			char *events = support_script(
				tables[i][k].trace[0] == '[' ? "" : tables[i][k].trace);
			struct ss_text json = { 0 };

			ss_text_addf(&json, "[%s]", events);
			check_sums(json.data, tables[i][k].what);
			ss_text_release(&json);
			free(events);
		}
	view_memory_run("breakdown/part", TWO "kernel a 7 1 +2; copy c 8 2 +5; op d 1 1 +20");
}

/* Four nanoseconds have no more than four pieces. */
static const struct view_case piece_cases[] = {
	{ "nothing", "[]", "start_ns,dur_ns", "" },
	{ "parts and phases of pieces",
	  "op aten::add 1 0 +0.004; kernel a 7 0.001 +0.001; kernel nccl 8 0.001 +0.002",
	  "step,start_ns,phase,dur_ns,kernel_ns,communication_ns,cpu_ns,part",
	  "-,0,forward,1,0,0,1,-\n-,1,forward,1,1,0,0,-\n-,2,forward,1,0,1,0,-\n"
	  "-,3,forward,1,0,0,1,-" },
	{ "without a thread that runs steps", "kernel a 7 0 +0.002", "phase,dur_ns,kernel_ns",
	  "-,1,1\n-,1,1" },
};

static void test_pieces(void **state)
{
	(void)state;
	view_cases_run("breakdown/piece", piece_cases, SS_COUNT(piece_cases));
	view_memory_run("breakdown/piece", TWO "kernel a 7 1 +2; copy c 8 2 +5; op d 1 1 +20");
}

static void test_roles(void **state)
{
	(void)state;
	view_cases_run("breakdown", roles, SS_COUNT(roles));
}

static void test_steps(void **state)
{
	(void)state;
	view_cases_run("breakdown", steps, SS_COUNT(steps));
}

static void test_memory(void **state)
{
	(void)state;
	view_memory_run("breakdown",
			TWO "kernel a 7 1 +2; kernel b 7 4 +2; copy c 8 2 +5; kernel nccl 9 3 +8; "
			    "op d 1 1 +20; call e 1 2 +3; set f 2/7 22 +2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_roles),  cmocka_unit_test(test_steps),
		cmocka_unit_test(test_random), cmocka_unit_test(test_parts),
		cmocka_unit_test(test_pieces), cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
