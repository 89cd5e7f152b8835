/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Training: which rows are forward with a backward, backward, and the optimizer.
 */
#include "analyze/facts.h"
#include "support/support.h"

/* A step that trains, then a forward pass alone. */
#define STEP                                                                             \
	"frame train.py(1):step 1 0 +100; op aten::mm 1 10 +10 =5; op MmBackward0 1 30 " \
	"+10 !5; note Optimizer.step#SGD.step 1 50 +10; op aten::add_ 1 51 +5;"
#define PASS "frame train.py(2):validate 1 200 +50; op aten::mm 1 210 +10 =6;"
#define CLIP "frame torch/nn/utils/clip_grad.py(9):clip_grad_norm_ 1 300 +10;"
#define LOG "frame train.py(3):log 1 400 +50; op aten::item 1 410 +5;"
#define DEVICE                                                           \
	"call cudaLaunchKernel 1 410 +2 #1; kernel gemm 0/7 412 +10 #1;" \
	"frame train.py(4):call 1 500 +50; op MulBackward0 2 510 +10;"

static const struct {
	const char *what, *trace, *row;
	bool trains;
	uint32_t computes;
} cases[] = {
	{ "a step trains", STEP PASS, "train.py(1):step", true, 3 },
	{ "a forward pass without backward does not", STEP PASS, "train.py(2):validate", false, 1 },
	{ "clipping does", STEP CLIP, "torch/nn/utils/clip_grad.py(9):clip_grad_norm_", true, 0 },
	{ "reading a value does not", STEP LOG, "train.py(3):log", false, 0 },
	{ "with a device kernels are what computes", STEP LOG DEVICE, "train.py(3):log", false, 1 },
	{ "backward on another thread belongs to who called it", STEP DEVICE, "train.py(4):call",
	  true, 0 },
};

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct support_trace trace;
		struct ss_facts facts;
		const struct ss_training *training;
		struct ss_error err = { 0 };
		uint32_t row, end;

		support_load_script(&trace, cases[i].trace);
		ss_facts_init(&facts, &trace.trace, &trace.memory);
		assert_int_equal(ss_facts_training(&facts, &training, &err), SS_OK);
		row = support_find(&trace.trace, cases[i].row);
		support_check(row != SS_NO_ROW, cases[i].what, "no row");
		for (end = row;
		     end < trace.trace.device_from &&
		     trace.trace.slices.track[end] == trace.trace.slices.track[row] &&
		     trace.trace.slices.start_ns[end] < ss_slice_end(&trace.trace.slices, row);)
			end++;
		support_check(training->trains && training->has_links, cases[i].what,
			      "trains %d, links %d", training->trains, training->has_links);
		support_check(ss_training_in(training, row, end) == cases[i].trains, cases[i].what,
			      "training is not %d", cases[i].trains);
		support_check(ss_training_computes(training, row, end) == cases[i].computes,
			      cases[i].what, "%u rows compute",
			      ss_training_computes(training, row, end));
		ss_facts_release(&facts);
		support_close(&trace);
	}
}

static void test_heavy(void **state)
{
	(void)state;
	assert_true(ss_training_is_heavy("aten::addmm"));
	assert_true(ss_training_is_heavy("aten::convolution"));
	assert_true(ss_training_is_heavy("aten::scaled_dot_product_attention"));
	assert_false(ss_training_is_heavy("aten::linalg_vector_norm"));
	assert_false(ss_training_is_heavy("aten::add"));
	assert_false(ss_training_is_heavy("aten::copy_"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_heavy),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
