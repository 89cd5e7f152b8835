/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule optimizer-not-fused. Steps of 1,000 us with many kernels of the optimizer, each
 * launched 10 us after the previous one; code makes the texts, since they are long.
 */
#include "support/rule_cases.h"

#define SINGLE "vectorized_elementwise_kernel"
#define SAID                                                                                  \
	"Optimizer.step#Adam.step launches 100 kernels per step, one per tensor: 1.00 ms of " \
	"host time\n"

/* What a step is made of. */
struct steps {
	const char *range; /* around the launches; NULL: none */
	const char *kernel;
	uint32_t count; /* of kernels */
	double dur_us;
};

static char *script_of(const struct steps *steps)
{
	struct ss_text text = { 0 };

	for (uint32_t step = 1; step <= 2; step++) {
		uint32_t at = 1000 * step;

		ss_text_addf(&text, "note ProfilerStep#%u 1 %u +1000;", step, at);
		if (steps->range)
			ss_text_addf(&text, "note %s 1 %u +999.5;", steps->range, at);
		for (uint32_t i = 0; i < steps->count; i++)
			ss_text_addf(&text,
				     "call cudaLaunchKernel 1 %u +5 #%u; kernel %s 0/7 %u +%g #%u;",
				     at + 10 * i, at + i, steps->kernel, at + 10 * i + 5,
				     steps->dur_us, at + i);
	}
	ss_text_add_string(&text, "note ProfilerStep#3 1 3000 +1000");
	return text.data;
}

/* Steps of 1,000 us without a device: `count` operators in a range of 900 us. */
static char *cpu_script_of(const struct steps *steps)
{
	struct ss_text text = { 0 };

	for (uint32_t step = 1; step <= 2; step++) {
		uint32_t at = 1000 * step;

		ss_text_addf(&text, "note ProfilerStep#%u 1 %u +1000;", step, at);
		ss_text_addf(&text, "note %s 1 %u +900;", steps->range, at + 50);
		for (uint32_t i = 0; i < steps->count; i++)
			ss_text_addf(&text, "op %s 1 %u +%g;", steps->kernel, at + 50 + 7 * i,
				     steps->dur_us);
	}
	return text.data;
}

static const struct {
	const char *what;
	struct steps steps;
	const char *found;
} cpu_cases[] = {
	/*
	 * 121 rows of 1.25 us are recording: of 748.75 us a quarter is left. With the step's own
	 * row, 152.5 of its 1,000 us are: 561.6 of 847.5 us are 662.6 of 1,000.
	 */
	{ "Adam on the CPU",
	  { "Optimizer.step#Adam.step", "aten::mul_", 120, 5 },
	  "warning 662.6 medium\n"
	  "Optimizer.step#Adam.step runs 120 elementwise operators per step, one per tensor: "
	  "0.90 ms" },
	{ "SGD saves less",
	  { "Optimizer.step#SGD.step", "aten::add_", 120, 5 },
	  "warning 353.4 medium\n"
	  "Optimizer.step#SGD.step runs 120 elementwise operators per step, one per tensor: "
	  "0.90 ms" },
	{ "RMSprop has no fused version",
	  { "Optimizer.step#RMSprop.step", "aten::mul_", 120, 5 },
	  "" },
	{ "fused on the CPU", { "Optimizer.step#Adam.step", "aten::_fused_adam_", 120, 5 }, "" },
	{ "few operators on the CPU", { "Optimizer.step#Adam.step", "aten::mul_", 90, 5 }, "" },
};

static const struct {
	const char *what;
	struct steps steps;
	const char *found;
} cases[] = {
	/*
	 * All that the host did goes, up to the last launch. Of each step 100 us are left on the
	 * device, a third: 5 us to the first, and 1 us between both.
	 */
	{ "a hundred kernels, one tensor each",
	  { "Optimizer.step#Adam.step", SINGLE, 100, 3 },
	  "warning 897.0 medium\n" SAID "these kernels take 0.30 ms per step" },
	{ "kernels that hardly move anything",
	  { "Optimizer.step#Adam.step", SINGLE, 100, 2 },
	  "warning 997.0 medium\n" SAID "these kernels take 0.20 ms per step" },
	/* the second step begins behind the 100 us that are left of the first one's 300 us */
	{ "few that are large",
	  { "Optimizer.step#Adam.step", SINGLE, 30, 10 },
	  "warning 647.5 medium\n"
	  "Optimizer.step#Adam.step launches 30 kernels per step, one per tensor: 0.65 ms of "
	  "host time\n"
	  "these kernels take 0.30 ms per step" },
	{ "few that are small", { "Optimizer.step#Adam.step", SINGLE, 30, 3 }, "" },
	{ "foreach and fused take many tensors",
	  { "Optimizer.step#Adam.step", "multi_tensor_apply_kernel", 100, 3 },
	  "" },
	{ "ten kernels are no loop", { "Optimizer.step#Adam.step", SINGLE, 10, 3 }, "" },
	{ "a loop outside of the optimizer", { NULL, SINGLE, 100, 3 }, "" },
	{ "matmuls are no elementwise kernels",
	  { "Optimizer.step#Muon.step", "ampere_sgemm_128x64_nn", 100, 3 },
	  "" },
	{ "no kernels", { "Optimizer.step#Adam.step", SINGLE, 0, 3 }, "" },
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		char *script = script_of(&cases[i].steps);
		struct rule_case test = { cases[i].what, script, cases[i].found };

		rule_cases_run("optimizer-not-fused", &test, 1);
		free(script);
	}
	for (size_t i = 0; i < SS_COUNT(cpu_cases); i++) {
		char *script = cpu_script_of(&cpu_cases[i].steps);
		struct rule_case test = { cpu_cases[i].what, script, cpu_cases[i].found };

		rule_cases_run("optimizer-not-fused", &test, 1);
		free(script);
	}
}

static void test_memory(void **state)
{
	char *script = script_of(&cases[0].steps);

	(void)state;
	rule_memory_run(script);
	free(script);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
