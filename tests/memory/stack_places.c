/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of stacks: whose they are, and the phase and line of a stack.
 */
#include <string.h>

#include "memory/stack_places.h"
#include "support/support.h"

#define SITE "/opt/conda/lib/python3.11/site-packages/"

static const struct {
	const char *what;
	struct {
		const char *file, *name;
		uint32_t line;
	} frames[4]; /* the innermost first */
	const char *line;
	enum ss_stack_phase phase;
} cases[] = {
	{ "nothing is known", { { 0 } }, NULL, SS_STACK_UNKNOWN },
	{ "the user's own",
	  { { "/home/me/train.py", "main", 7 } },
	  "train.py:7 (main)",
	  SS_STACK_OTHER },
	{ "the user's own below a library's",
	  { { SITE "torch/nn/functional.py", "linear", 5 }, { "/home/me/net.py", "forward", 9 } },
	  "net.py:9 (forward)",
	  SS_STACK_FORWARD },
	{ "only libraries: the innermost",
	  { { SITE "torch/nn/functional.py", "linear", 5 },
	    { SITE "transformers/models/llama/modeling_llama.py", "forward", 9 } },
	  "functional.py:5 (linear)",
	  SS_STACK_FORWARD },
	{ "a library with other slashes",
	  { { "C:\\Python\\Lib\\site-packages\\torch\\nn\\functional.py", "linear", 5 },
	    { "D:\\me\\net.py", "forward", 9 } },
	  "net.py:9 (forward)",
	  SS_STACK_FORWARD },
	{ "a folder of the user's is no library",
	  { { "/srv/lib/python_projects/net.py", "run", 9 }, { "/home/me/train.py", "main", 7 } },
	  "net.py:9 (run)",
	  SS_STACK_OTHER },
	{ "torch from its own folder",
	  { { "/src/pytorch/torch/_ops.py", "__call__", 9 }, { "/home/me/train.py", "main", 7 } },
	  "train.py:7 (main)",
	  SS_STACK_OTHER },
	{ "what torch.compile wrote is nobody's own",
	  { { "/tmp/torchinductor_me/ab/cab.py", "call", 90 }, { "/home/me/train.py", "main", 7 } },
	  "train.py:7 (main)",
	  SS_STACK_OTHER },
	{ "a notebook",
	  { { "??", "at::empty", 0 }, { "<ipython-input-3-abc>", "step", 4 } },
	  "<ipython-input-3-abc>:4 (step)",
	  SS_STACK_OTHER },
	{ "what the interpreter makes is no line",
	  { { "<frozen importlib._bootstrap>", "_load", 4 }, { "train.py", "main", 7 } },
	  "train.py:7 (main)",
	  SS_STACK_OTHER },
	{ "torch's optimizer",
	  { { SITE "torch/optim/adamw.py", "step", 4 } },
	  "adamw.py:4 (step)",
	  SS_STACK_STEP },
	{ "another's",
	  { { SITE "apex/optimizers/fused_adam.py", "step", 4 }, { "train.py", "main", 7 } },
	  "train.py:7 (main)",
	  SS_STACK_STEP },
	{ "the user's own",
	  { { "/home/me/my_optimizer.py", "zero_grad", 4 } },
	  "my_optimizer.py:4 (zero_grad)",
	  SS_STACK_STEP },
	{ "what an optimizer does before its step",
	  { { SITE "torch/optim/adamw.py", "_init", 4 } },
	  "adamw.py:4 (_init)",
	  SS_STACK_OPTIMIZER },
	{ "a word that begins so is another",
	  { { "/home/me/optimus/train.py", "step", 4 } },
	  "train.py:4 (step)",
	  SS_STACK_OTHER },
	{ "so is this",
	  { { "/home/me/optimize.py", "step", 4 } },
	  "optimize.py:4 (step)",
	  SS_STACK_OTHER },
	{ "autograd in C++",
	  { { "??", "at::empty", 0 },
	    { "??", "torch::autograd::generated::MmBackward0::apply(a&&)", 0 },
	    { "??", "torch::autograd::Engine::thread_main", 0 } },
	  "MmBackward0",
	  SS_STACK_BACKWARD },
	{ "above the allocator, and what only allocates",
	  { { "??", "c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc", 0 },
	    { "??", "at::detail::empty_strided_cuda(c10::ArrayRef<long>)", 0 },
	    { "??", "at::native::_to_copy(at::Tensor const&)", 0 } },
	  "at::native::_to_copy(at::Tensor const&)",
	  SS_STACK_OTHER },
	{ "and in Python",
	  { { SITE "torch/autograd/__init__.py", "backward", 200 }, { "train.py", "main", 7 } },
	  "train.py:7 (main)",
	  SS_STACK_BACKWARD },
	{ "a user's function of that name is none",
	  { { "net.py", "backward", 3 } },
	  "net.py:3 (backward)",
	  SS_STACK_OTHER },
	{ "a module that is moved",
	  { { SITE "torch/nn/modules/module.py", "_apply", 900 }, { "train.py", "main", 3 } },
	  "train.py:3 (main)",
	  SS_STACK_SETUP },
	{ "a name with all in it",
	  { { "", "torch/optim/adam.py(347): step", 0 } },
	  "adam.py:347 (step)",
	  SS_STACK_STEP },
};

static uint32_t add_text(struct ss_snapshot *snapshot, const char *text)
{
	uint32_t id = ss_strings_add(&snapshot->texts, text, strlen(text));

	assert_int_not_equal(id, SS_NO_ID);
	return id;
}

static uint32_t add_stack(struct ss_snapshot *snapshot, size_t number)
{
	uint32_t frames[4], count = 0, id;

	for (; count < 4 && cases[number].frames[count].file; count++) {
		struct ss_code_frame frame = {
			.file = add_text(snapshot, cases[number].frames[count].file),
			.name = add_text(snapshot, cases[number].frames[count].name),
			.line = cases[number].frames[count].line
		};

		frames[count] = ss_records_add(&snapshot->frames, &frame);
		assert_int_not_equal(frames[count], SS_NO_ID);
	}
	id = ss_stacks_add(&snapshot->stacks, frames, count);
	assert_int_not_equal(id, SS_NO_ID);
	return id;
}

static void check_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct ss_memory memory;
		struct ss_snapshot snapshot;
		struct ss_snapshot_places spots;
		struct ss_error err;
		const char *line;
		uint32_t stack;

		ss_memory_init(&memory, 0);
		assert_true(ss_snapshot_init(&snapshot, &memory));
		stack = add_stack(&snapshot, i);
		assert_int_equal(ss_snapshot_places_init(&spots, &snapshot, &memory, &err), SS_OK);
		line = ss_snapshot_places_line(&spots, stack);
		if (!line || !cases[i].line ? line != cases[i].line
					    : strcmp(line, cases[i].line) != 0)
			fail_msg("%s: '%s'", cases[i].what, line ? line : "none");
		if (spots.phase[stack] != cases[i].phase)
			fail_msg("%s: phase %d", cases[i].what, spots.phase[stack]);
		ss_snapshot_places_release(&spots);
		ss_snapshot_release(&snapshot);
		assert_int_equal(memory.used_bytes, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(check_cases) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
