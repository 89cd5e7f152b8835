/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View places: the tree of a step's places. What is normal for them: tests/attribute/attribute.c.
 */
#include "support/view_cases.h"

#define COLUMNS "place,time_ns,excess_ns,kind"
/* Everything happens in a step of 10 ms. */
#define STEP "note ProfilerStep#1 1 0 +10000;"
/* An operator that backward answers, its answer, and the optimizer: 6 ms without a pause. */
#define MODEL                                                                    \
	"op aten::linear 1 0 +2000 =7;"                                          \
	"op autograd::engine::evaluate_function:AddmmBackward0 1 2000 +3000 !7;" \
	"note Optimizer.step#SGD.step 1 5000 +1000;"
#define MODEL_ROWS                                                           \
	"backward,3000000,0,-\n"                                             \
	"  autograd::engine::evaluate_function:AddmmBackward0,3000000,0,-\n" \
	"forward,2000000,0,-\n  aten::linear,2000000,0,-\n"                  \
	"optimizer,1000000,0,-\n  Optimizer.step#SGD.step,1000000,0,-"

static const struct view_case cases[] = {
	{ "nothing", "[]", "place", "" },
	{ "an operator that no backward answers is beside training, at its position",
	  STEP MODEL "op aten::norm 1 6000 +4000", COLUMNS,
	  "beside training,4000000,4000000,beside training\n"
	  "  between the optimizer and forward,4000000,4000000,beside training\n"
	  "    aten::norm,4000000,4000000,beside training\n" MODEL_ROWS },
	{ "with stacks it is at the function that calls it",
	  STEP MODEL "frame train.py(3):log 1 6000 +4000; op aten::norm 1 6000 +4000", COLUMNS,
	  "beside training,4000000,4000000,beside training\n"
	  "  train.py(3):log,4000000,4000000,beside training\n"
	  "    aten::norm,4000000,4000000,beside training\n" MODEL_ROWS },
	{ "a range that begins inside of a helper is not the helper's",
	  STEP MODEL "frame train.py(3):log 1 6000 +4000;"
		     "frame torch/autograd/profiler.py(9):__enter__ 1 6000 +10;"
		     "note mine 1 6005 +3995; op aten::norm 1 6010 +3990",
	  "place,time_ns",
	  "beside training,4000000\n  train.py(3):log,4000000\n    mine,3995000\n"
	  "      aten::norm,3990000\n"
	  "backward,3000000\n  autograd::engine::evaluate_function:AddmmBackward0,3000000\n"
	  "forward,2000000\n  aten::linear,2000000\n"
	  "optimizer,1000000\n  Optimizer.step#SGD.step,1000000" },
};

static const struct view_case device_cases[] = {
	{ "with a device its gaps count, each at what the launching thread did",
	  STEP "op aten::randn 1 0 +4000; call cudaLaunchKernel 1 4000 +10 #1;"
	       "kernel k 1/7 4010 +5990 #1",
	  COLUMNS, "forward,4000000,4000000,idle GPU\n  aten::randn,4000000,4000000,idle GPU" },
	{ "a gap that was launched in time is the device's own",
	  STEP "call cudaLaunchKernel 1 0 +10 #1; call cudaLaunchKernel 1 10 +10 #2;"
	       "kernel k 1/7 10 +1990 #1; kernel k 1/7 6000 +4000 #2",
	  "place,time_ns", "" },
};

static void test_places(void **state)
{
	(void)state;
	view_cases_run("places", cases, SS_COUNT(cases));
}

static void test_gaps(void **state)
{
	(void)state;
	view_cases_run("places", device_cases, SS_COUNT(device_cases));
}

static void test_memory(void **state)
{
	(void)state;
	view_memory_run("places", STEP MODEL "op aten::norm 1 6000 +4000");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_places),
					    cmocka_unit_test(test_gaps),
					    cmocka_unit_test(test_memory) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
