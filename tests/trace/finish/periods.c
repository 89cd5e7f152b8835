/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Periods: a loop that waits for the device once per round is a loop of steps;
 * what repeats without waiting (layers) is not.
 */
#include "support/support.h"

static const struct {
	const char *what;
	int rounds, layers, kernels; /* kernels per layer */
	bool waits;                  /* a synchronize call at the end of each round */
	bool unlike;                 /* every kernel has its own name */
	int in_module;               /* rounds that one call of an nn.Module holds */
	enum ss_step_anchor anchor;
	uint32_t steps;
} cases[] = {
	{ "a loop of six rounds that wait", 6, 1, 8, true, false, 0, SS_STEPS_KERNELS, 5 },
	{ "a loop of rounds of equal layers", 6, 4, 5, true, false, 0, SS_STEPS_KERNELS, 5 },
	{ "nobody waits: these may be layers", 6, 1, 8, false, false, 0, SS_STEPS_DEVICE_SPAN, 1 },
	{ "nothing repeats", 6, 1, 8, true, true, 0, SS_STEPS_DEVICE_SPAN, 1 },
	{ "two rounds are no rhythm", 2, 1, 8, true, false, 0, SS_STEPS_DEVICE_SPAN, 1 },
	{ "a round of two kernels is too short", 9, 1, 1, true, false, 0, SS_STEPS_DEVICE_SPAN, 1 },
	{ "one round", 1, 1, 20, true, false, 0, SS_STEPS_DEVICE_SPAN, 1 },
	{ "a call of the model per round", 6, 1, 8, true, false, 1, SS_STEPS_KERNELS, 5 },
	{ "all rounds in one call: its layers wait", 6, 1, 8, true, false, 6, SS_STEPS_DEVICE_SPAN,
	  1 },
	{ "a part of the rounds in one call", 6, 1, 8, true, false, 3, SS_STEPS_DEVICE_SPAN, 1 },
};

/* One kernel with its launch; returns the time after it. */
static int add_kernel(struct ss_text *script, const char *name, int number, int at, int id)
{
	ss_text_addf(script, "call cudaLaunchKernel 1 %d +1 #%d; kernel %s%d 7 %d +1 #%d;", at, id,
		     name, number, at + 1, id);
	return at + 2;
}

static void make_script(size_t i, struct ss_text *script)
{
	int at = 0, id = 1;

	for (int round = 0; round < cases[i].rounds; round++) {
		int length = 2 * (1 + cases[i].layers * cases[i].kernels) + 2;

		if (cases[i].in_module && round % cases[i].in_module == 0)
			ss_text_addf(script, "frame nn.Module:\\u0020Model_0 1 %d +%d;", at,
				     length * cases[i].in_module - 1);
		/* what only a round has: the loss */
		at = add_kernel(script, "loss", cases[i].unlike ? id : 0, at, id);
		id++;
		for (int layer = 0; layer < cases[i].layers; layer++)
			for (int k = 0; k < cases[i].kernels; k++, id++)
				at = add_kernel(script, "k", cases[i].unlike ? id : k, at, id);
		if (cases[i].waits)
			ss_text_addf(script, "call cudaStreamSynchronize 1 %d +1 #%d;", at,
				     100000 + id);
		at += 2;
	}
}

static void test_periods(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct support_trace loaded;
		struct ss_text script = { 0 };

		make_script(i, &script);
		support_load_script(&loaded, script.data);
		support_check(loaded.trace.steps.anchor == cases[i].anchor, cases[i].what,
			      "anchor %d", loaded.trace.steps.anchor);
		support_check(loaded.trace.steps.count == cases[i].steps, cases[i].what, "%u steps",
			      loaded.trace.steps.count);
		if (cases[i].anchor == SS_STEPS_KERNELS) {
			const struct ss_step *step = &loaded.trace.steps.items[1];
			int round_us = 2 * (1 + cases[i].layers * cases[i].kernels) + 2;

			support_check(step->host_end_ns - step->host_start_ns == round_us * 1000,
				      cases[i].what, "a step of %lld ns",
				      (long long)(step->host_end_ns - step->host_start_ns));
		}
		ss_text_release(&script);
		support_close(&loaded);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_periods) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
