/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Side work by names of functions and ranges; half of the names must say nothing.
 */
#include "diagnose/evidence/checkpoints_and_logging.h"
#include "support/support.h"

static const struct {
	const char *name;
	uint8_t what;
} cases[] = {
	{ "train.py(63): save_checkpoint", SS_SIDE_WORK_SAVES },
	{ "torch/serialization.py(901): save", SS_SIDE_WORK_SAVES },
	{ "torch/serialization.py(1315): load", SS_SIDE_WORK_READS },
	{ "torch/distributed/checkpoint/state_dict_saver.py(9): f", SS_SIDE_WORK_SAVES },
	{ "train.py(63): log_all", SS_SIDE_WORK_LOGS },
	{ "train.py(63): log_norms", SS_SIDE_WORK_LOGS },
	{ "train.py(63):log_norms", SS_SIDE_WORK_LOGS },
	{ "wandb/sdk/wandb_run.py(1731): finish", SS_SIDE_WORK_LOGS },
	{ "json/__init__.py(183): dumps", SS_SIDE_WORK_LOGS },
	{ "<built-in function print>", SS_SIDE_WORK_LOGS },
	{ "<built-in function sleep>", SS_SIDE_WORK_SLEEPS },
	{ "<built-in method write of _io.TextIOWrapper object at 0x7f>", SS_SIDE_WORK_LOGS },
	{ "plant.py(102): validate", SS_SIDE_WORK_EVALUATES },
	{ "train.py(7): run_eval", SS_SIDE_WORK_EVALUATES },
	{ "transformers/trainer.py(4200): evaluate", SS_SIDE_WORK_EVALUATES },
	{ "lightning/pytorch/loops/evaluation_loop.py(120): run", SS_SIDE_WORK_EVALUATES },
	{ "transformers/trainer.py(3000): _maybe_log_save_evaluate",
	  SS_SIDE_WORK_LOGS | SS_SIDE_WORK_SAVES | SS_SIDE_WORK_EVALUATES },
	{ "my_callbacks.py(12): on_step_end", SS_SIDE_WORK_CALLBACK },
	{ "callbacks.py(3): on_train_batch_end", SS_SIDE_WORK_CALLBACK },
	{ "data.py(3): get_batch", SS_SIDE_WORK_LOADS },
	{ "data.py(3): tokenize_text", SS_SIDE_WORK_LOADS },
	{ "transformers/tokenization_utils_base.py(2800): __call__", SS_SIDE_WORK_LOADS },
	{ "transformers/pipelines/video_classification.py(129): preprocess", SS_SIDE_WORK_LOADS },
	{ "validate", SS_SIDE_WORK_EVALUATES },
	{ "save_model", SS_SIDE_WORK_SAVES },

	{ "torch/nn/functional.py(2100): log_softmax", 0 },
	{ "policy.py(3): log_prob", 0 },
	{ "model.py(9): logits", 0 },
	{ "model.py(9): log1p", 0 },
	{ "<built-in method log of type object at 0x7f>", 0 },
	{ "<built-in method log_softmax of type object at 0x7f>", 0 },
	{ "<built-in function set_eval_frame>", 0 },
	{ "torch/nn/modules/module.py(2900): eval", 0 },
	{ "torch/_dynamo/eval_frame.py(1523): _fn", 0 },
	{ "torch/utils/checkpoint.py(487): checkpoint", 0 },
	{ "/home/me/checkpoint/train.py(3): step", 0 },
	{ "tests/train.py(3): step", 0 },
	{ "nn.Module: Logger_0", 0 },
	{ "model.py(9): get_value", 0 },
	{ "model.py(9): latest", 0 },
	{ "data.py(3): batch", 0 },
	{ "train.py(3): train_step", 0 },
	{ "condition_on(3)", 0 },
	{ "forward", 0 },
	{ "", 0 },
};

static void test_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++)
		support_check(ss_side_work_of(cases[i].name) == cases[i].what, cases[i].name,
			      "it is %u", ss_side_work_of(cases[i].name));
}

static void test_functions(void **state)
{
	(void)state;
	assert_string_equal(ss_code_function_name("a/train.py(12): step"), "step");
	assert_string_equal(ss_code_function_name("a/train.py(12):step"), "step");
	assert_string_equal(ss_code_function_name("validate"), "validate");
	assert_string_equal(ss_code_function_name("<built-in function print>"),
			    "<built-in function print>");
	assert_string_equal(ss_code_function_name("a.py(12"), "a.py(12");
	assert_true(ss_code_is_library("torch/nn/modules/linear.py(130): forward"));
	assert_true(ss_code_is_library("transformers/trainer.py(2500): train"));
	assert_true(ss_code_is_library("json/__init__.py(183): dumps"));
	assert_false(ss_code_is_library("train.py(12): step"));
	assert_false(ss_code_is_library("mytransformers/train.py(12): step"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_functions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
