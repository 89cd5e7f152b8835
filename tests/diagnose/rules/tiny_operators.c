/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule tiny-operators. Steps of 1,000 us: loops of operators that take 2 us, 5 us apart.
 * Code makes the texts, since they are long.
 */
#include "support/rule_cases.h"

#define SAID(count, ms)                                                                      \
	count " operators per step compute next to nothing, one after the other: " ms " ms " \
	      "including the calls around them\n"
#define RUNS(name, count, ms) "aten::" name " runs " count " times per step: " ms " ms of its own"

#define UPDATES(ms)                                                                               \
	"an optimizer written in single operators takes " ms " ms of it: they change tensors in " \
	"place after backward\n"

/* What a step is made of: `count` times what stands in `names`. */
struct job {
	const char *names[4];
	uint32_t count, dur_us;
	const char *around; /* an operator or range around all; NULL: none */
	bool on_device;
	const char *before; /* an operator before all; NULL: none */
};

static void add_step(struct ss_text *text, const struct job *job, uint32_t step)
{
	uint32_t at = 1000 * step + 20;

	ss_text_addf(text, "note ProfilerStep#%u 1 %u +1000;", step, 1000 * step);
	if (job->before)
		ss_text_addf(text, "op %s 1 %u +5;", job->before, at - 15);
	if (job->around)
		ss_text_addf(text, "%s 1 %u +960;", job->around, at - 10);
	for (uint32_t i = 0; i < job->count; i++)
		for (uint32_t k = 0; k < SS_COUNT(job->names) && job->names[k]; k++) {
			ss_text_addf(text, "op %s 1 %u +%u;", job->names[k], at, job->dur_us);
			at += job->dur_us + 3;
		}
	if (job->on_device)
		ss_text_addf(text, "call cudaLaunchKernel 1 %u +5 #%u; kernel gemm 0/7 %u +10 #%u;",
			     at, step, at + 5, step);
}

static char *script_of(const struct job *job)
{
	struct ss_text text = { 0 };

	for (uint32_t step = 1; step <= 3; step++)
		add_step(&text, job, step);
	return text.data;
}

static const struct {
	const char *what;
	struct job job;
	const char *found;
} cases[] = {
	{ "a loop",
	  { { "aten::mul", "aten::tanh" }, 40, 2, NULL, false, NULL },
	  "warning 337.4 medium\n" SAID("80", "0.40")
		  RUNS("mul", "40", "0.08") "\n" RUNS("tanh", "40", "0.08") },
	{ "with views",
	  { { "aten::select", "aten::mul", "aten::sigmoid", "aten::add" },
	    20,
	    2,
	    NULL,
	    false,
	    NULL },
	  "warning 337.4 medium\n" SAID("60", "0.40")
		  RUNS("add", "20", "0.04") "\n" RUNS("mul", "20",
						      "0.04") "\n" RUNS("sigmoid", "20", "0.04") },
	{ "an optimizer that was written by hand",
	  { { "aten::mul_", "aten::sqrt", "aten::addcdiv_" }, 30, 2, NULL, false, "MulBackward0" },
	  "warning 379.9 medium\n" SAID("90", "0.45") UPDATES("0.45")
		  RUNS("addcdiv_", "30",
		       "0.06") "\n" RUNS("mul_", "30", "0.06") "\n" RUNS("sqrt", "30", "0.06") },
	{ "in place, but no backward before it",
	  { { "aten::mul_", "aten::tanh_" }, 40, 2, NULL, false, NULL },
	  "warning 337.4 medium\n" SAID("80", "0.40")
		  RUNS("mul_", "40", "0.08") "\n" RUNS("tanh_", "40", "0.08") },
	{ "what takes 16 us computes",
	  { { "aten::mul", "aten::tanh" }, 20, 16, NULL, false, NULL },
	  "" },
	{ "a few operators", { { "aten::mul", "aten::tanh" }, 15, 2, NULL, false, NULL }, "" },
	{ "layers: each has its matrix product",
	  { { "aten::mm", "aten::relu" }, 40, 2, NULL, false, NULL },
	  "" },
	{ "values that are read back",
	  { { "aten::norm", "aten::item" }, 40, 2, NULL, false, NULL },
	  "" },
	{ "views compute nothing",
	  { { "aten::view", "aten::select" }, 40, 2, NULL, false, NULL },
	  "" },
	{ "in one operator of the user's",
	  { { "aten::mul", "aten::tanh" }, 40, 2, "op aten::gru", false, NULL },
	  "" },
	{ "in the optimizer: another rule",
	  { { "aten::mul", "aten::sqrt" }, 40, 2, "note Optimizer.step#Adam.step", false, NULL },
	  "" },
	{ "with a device: another rule",
	  { { "aten::mul", "aten::tanh" }, 40, 2, NULL, true, NULL },
	  "" },
	{ "no operators", { { NULL }, 0, 2, NULL, false, NULL }, "" },
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		char *script = script_of(&cases[i].job);
		struct rule_case test = { cases[i].what, script, cases[i].found };

		rule_cases_run("tiny-operators", &test, 1);
		free(script);
	}
}

static void test_memory(void **state)
{
	char *script = script_of(&cases[0].job);

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
