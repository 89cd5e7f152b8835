/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Phases of host rows, and of device rows by their launch.
 */
#include "analyze/host/step_phase.h"
#include "support/support.h"

static const struct {
	const char *what, *script, *row, *phase;
} cases[] = {
	{ "an operator", "op a 1 0 +9", "a", "forward" },
	{ "a call in it", "op XBackward0 1 0 +9; call x 1 1 +1", "x", "backward" },
	{ "a frame in it", "op XBackward0 1 0 +9; frame f 1 1 +1", "f", "backward" },
	{ "a frame elsewhere", "op XBackward0 1 0 +9; frame f 1 9 +1", "f", "other" },
	{ "gradients are added up in backward", "op torch::autograd::AccumulateGrad 1 0 +9",
	  "torch::autograd::AccumulateGrad", "backward" },
	{ "an operator in the loader's range",
	  "note enumerate(DataLoader)#X.__next__ 1 0 +9; op a 1 1 +2", "a", "input" },
	{ "other parts of the loader are no input",
	  "note enumerate(DataLoader)#X.__iter__ 1 0 +9; op a 1 1 +2", "a", "forward" },
	{ "a step is none", "note ProfilerStep#1 1 0 +9; op a 1 1 +2", "ProfilerStep#1", "other" },
	{ "an operator in a range of the optimizer",
	  "note Optimizer.step#A.step 1 0 +9; op a 1 1 +2", "a", "optimizer" },
	{ "a kernel, by its launch", "note optimizer 1 0 +9; call x 1 1 +2 #1; kernel k 7 3 +1 #1",
	  "k", "optimizer" },
	{ "a kernel without one", "op a 1 0 +9; kernel k 7 3 +1 #1", "k", "other" },
};

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct support_trace loaded;
		struct ss_phases phases;
		struct ss_error err;
		uint32_t row;
		const char *name;

		support_load_script(&loaded, cases[i].script);
		assert_int_equal(ss_phases_init(&phases, &loaded.trace, &loaded.memory, &err),
				 SS_OK);
		row = support_find(&loaded.trace, cases[i].row);
		assert_true(row != SS_NO_ROW);
		name = ss_phase_name(row < phases.row_count ? (enum ss_phase)phases.phase[row]
							    : ss_phase_of_launch(&phases, row));
		support_check(strcmp(name, cases[i].phase) == 0, cases[i].what, "found: %s", name);
		ss_phases_release(&phases);
		support_close(&loaded);
	}
}

static void test_main_thread(void **state)
{
	struct support_trace loaded;
	struct ss_phases phases;
	struct ss_error err;

	(void)state;
	support_load_script(&loaded, "kernel k 7 3 +1");
	assert_int_equal(ss_phases_init(&phases, &loaded.trace, &loaded.memory, &err), SS_OK);
	assert_int_equal(phases.main, SS_NO_ROW);
	assert_false(phases.has[SS_PHASE_FORWARD]);
	ss_phases_release(&phases);
	support_close(&loaded);
	support_load_script(&loaded, "op a 1 0 +5; op b 2 0 +9; op XBackward0 3 0 +50");
	assert_int_equal(ss_phases_init(&phases, &loaded.trace, &loaded.memory, &err), SS_OK);
	assert_int_equal(phases.main, loaded.trace.slices.track[support_find(&loaded.trace, "b")]);
	assert_true(phases.has[SS_PHASE_BACKWARD] && !phases.has[SS_PHASE_OPTIMIZER]);
	ss_phases_release(&phases);
	support_close(&loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_main_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
