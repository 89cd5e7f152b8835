/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View imbalance.
 */
#include "support/make/ranks.h"

#define FIGURES "name,excess_ns,excess_percent,median_ns,max_ns,min_ns,worst,calls_percent,ranks"

static const struct view_case kernel_cases[] = {
	{ "the rank with the most against the median one",
	  "rank 0; step 0 0 +100; kernel gemm 2 40; rank 1; step 0 0 +100; kernel gemm 2 60;"
	  "rank 2; step 0 0 +100; kernel gemm 4 100",
	  FIGURES, "gemm,40000,66.67,60000,100000,40000,2,200.00,3" },
	{ "of two ranks the lesser one is the median",
	  "rank 4; step 0 0 +100; kernel gemm 1 60; rank 7; step 0 0 +100; kernel gemm 1 40",
	  FIGURES, "gemm,20000,50.00,40000,60000,40000,4,100.00,2" },
	{ "of four ranks the median is the lower one in the middle",
	  "rank 0; step 0 0 +9; kernel a 1 4; rank 1; step 0 0 +9; kernel a 1 3;"
	  "rank 2; step 0 0 +9; kernel a 1 2; rank 3; step 0 0 +9; kernel a 1 1",
	  "median_ns,max_ns,min_ns,worst", "2000,4000,1000,0" },
	{ "times and calls are those of a step: a rank that recorded twice as many is no worse",
	  "rank 0; step 0 0 +100; kernel gemm 2 60;"
	  "rank 1; step 0 0 +100; step 1 100 +100; kernel gemm 4 120",
	  FIGURES, "gemm,0,0.00,60000,60000,60000,1,100.00,2" },
	{ "the largest excess stands first, equal ones as they come",
	  "rank 0; step 0 0 +9; kernel a 1 1; kernel b 1 1; kernel c 1 5;"
	  "rank 1; step 0 0 +9; kernel a 1 2; kernel b 1 2; kernel c 1 9",
	  "name,excess_ns", "c,4000\na,1000\nb,1000" },
	{ "what one rank has alone is not compared",
	  "rank 0; step 0 0 +9; kernel a 1 1; kernel only 1 8; rank 1; step 0 0 +9; kernel a 1 1",
	  "name,ranks", "a,2" },
	{ "a rank without steps has no time in a step",
	  "rank 0; step 0 0 +9; kernel a 1 1; rank 1; kernel a 1 100; rank 2; step 0 0 +9;"
	  "kernel a 1 3",
	  "max_ns,worst,ranks", "3000,2,2" },
	{ "of nothing there is no share",
	  "rank 0; step 0 0 +9; kernel a 0 0; rank 1; step 0 0 +9; kernel a 2 5",
	  "excess_ns,excess_percent,calls_percent", "5000,-,-" },
	{ "ranks that are not known have no name",
	  "rank -1; step 0 0 +9; kernel a 1 1; rank -1; step 0 0 +9; kernel a 1 2",
	  "rank,name,worst", "-,a,-" },
	{ "names of kernels are short",
	  "rank 0; step 0 0 +9; kernel at::native::foo(int) 1 1;"
	  "rank 1; step 0 0 +9; kernel at::native::foo(int) 1 1",
	  "name", "foo" },
	{ "one rank is silent", "rank 0; step 0 0 +9; kernel a 1 1", FIGURES, "" },
	{ "ranks without kernels are silent", "rank 0; step 0 0 +9; rank 1; step 0 0 +9", FIGURES,
	  "" },
	{ "no ranks are silent", "", FIGURES, "" },
};

static const struct view_case phase_cases[] = {
	{ "kernels are no phases",
	  "rank 0; step 0 0 +9; kernel a 1 1; rank 1; step 0 0 +9; kernel a 1 3", FIGURES, "" },
};

static void test_kernels(void **state)
{
	(void)state;
	job_cases_run("imbalance/kernel", kernel_cases, SS_COUNT(kernel_cases));
	job_cases_run("imbalance/phase", phase_cases, SS_COUNT(phase_cases));
	job_cases_run("imbalance/module", phase_cases, SS_COUNT(phase_cases));
}

/* Runs the view on ranks that were changed by hand. */
static void expect(struct support_ranks *ranks, const char *name, const char *columns,
		   const char *wanted)
{
	struct support_view open = { 0 };
	struct ss_text rows = { 0 };
	struct ss_error err = { 0 };
	uint32_t group;
	const struct ss_view *view = support_view_find(name, &group);

	ss_arena_init(&open.arena, &ranks->memory);
	ss_table_init(&open.table, view, &open.arena);
	assert_int_equal(view->run_job(&ranks->joined, group, &open.table, &err), SS_OK);
	ss_text_add_string(&rows, "");
	view_rows_add(&open, columns, &rows);
	support_check(strcmp(rows.data, wanted) == 0, name, "found:\n%s\nwanted:\n%s", rows.data,
		      wanted);
	ss_text_release(&rows);
	ss_table_release(&open.table);
	ss_arena_release(&open.arena);
}

/* Communication is as long as the others make it. */
static void test_communication(void **state)
{
	struct support_ranks ranks;

	(void)state;
	support_ranks_script(&ranks, "rank 0; step 0 0 +9; kernel nccl 1 9; kernel a 1 1;"
				     "rank 1; step 0 0 +9; kernel nccl 1 1; kernel a 1 1");
	for (uint32_t r = 0; r < ranks.count; r++)
		for (uint32_t i = 0; i < ranks.items[r].kernel_count; i++) {
			struct ss_rank_kernel *kernel = &ranks.items[r].kernels[i];

			kernel->comm = strcmp(ss_strings_text(&ranks.items[r].texts, kernel->name),
					      "nccl") == 0;
		}
	expect(&ranks, "imbalance/kernel", "name", "a");
	support_ranks_close(&ranks);
}

static void test_phases(void **state)
{
	struct support_ranks ranks;

	(void)state;
	support_ranks_script(&ranks, "rank 0; step 0 0 +9; rank 1; step 0 0 +9");
	for (uint32_t r = 0; r < ranks.count; r++) {
		struct ss_rank_phase *phases = ranks.items[r].phases;

		phases[SS_PHASE_FORWARD] = (struct ss_rank_phase){ 10, 1000 };
		phases[SS_PHASE_BACKWARD] = (struct ss_rank_phase){ 20 + 10 * r, 2000 + 500 * r };
	}
	ranks.items[1].phases[SS_PHASE_OPTIMIZER] = (struct ss_rank_phase){ 1, 5000 };
	expect(&ranks, "imbalance/phase", "name,excess_ns,worst,calls_percent",
	       "backward,500,1,150.00\nforward,0,1,100.00");
	expect(&ranks, "imbalance", "name", "backward\nforward");
	support_ranks_close(&ranks);
}

/* Modules are lists like kernels; their names stay as they are. */
static void test_modules(void **state)
{
	static const char name[] = "nn.Module: at::native::Block_0";
	struct support_ranks ranks;

	(void)state;
	support_ranks_script(&ranks, "rank 0; step 0 0 +9; rank 1; step 0 0 +9");
	for (uint32_t r = 0; r < ranks.count; r++) {
		struct ss_digest *rank = &ranks.items[r];

		assert_true(ss_memory_reserve(rank->memory, (void **)&rank->modules,
					      &rank->module_capacity, 1, sizeof(*rank->modules)));
		rank->modules[rank->module_count++] = (struct ss_rank_kernel){
			.name = ss_strings_add(&rank->texts, name, strlen(name)),
			.calls = 1,
			.total_ns = 700 + 300 * r,
		};
	}
	expect(&ranks, "imbalance/module", "name,excess_ns", "nn.Module: at::native::Block_0,300");
	expect(&ranks, "imbalance/kernel", "name", "");
	support_ranks_close(&ranks);
}

static void test_memory(void **state)
{
	(void)state;
	job_memory_run("imbalance/kernel", kernel_cases[0].trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernels), cmocka_unit_test(test_communication),
		cmocka_unit_test(test_phases),  cmocka_unit_test(test_modules),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
