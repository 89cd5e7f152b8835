/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule clipping-loop. Steps of 1,000 us: backward of 50 us, then a norm and a product for each
 * gradient, launched 8 us after the one before; code makes the texts, since they are long.
 */
#include "support/rule_cases.h"

struct steps {
	const char *norm, *product, *before; /* operators; what runs before them */
	const char *optimizer;               /* NULL: not recorded */
	uint32_t count;                      /* of gradients */
};

static char *script_of(const struct steps *steps)
{
	struct ss_text text = { 0 };

	for (uint32_t step = 1; step <= 2; step++) {
		uint32_t at = 1000 * step;

		ss_text_addf(&text, "note ProfilerStep#%u 1 %u +990;", step, at);
		ss_text_addf(
			&text,
			"op %s 1 %u +50; call cudaLaunchKernel 1 %u +5 #%u; kernel gemm 0/7 %u +30 "
			"#%u;",
			steps->before, at + 1, at + 40, at + 500, at + 46, at + 500);
		for (uint32_t i = 0; i < 2 * steps->count; i++)
			ss_text_addf(&text,
				     "op %s 1 %u +7; call cudaLaunchKernel 1 %u +5 #%u; "
				     "kernel k 0/7 %u +3 #%u;",
				     i < steps->count ? steps->norm : steps->product,
				     at + 60 + 8 * i, at + 61 + 8 * i, at + i, at + 66 + 8 * i,
				     at + i);
		if (steps->optimizer)
			ss_text_addf(&text,
				     "note %s 1 %u +20; op aten::_fused_adam_ 1 %u +10; call "
				     "cudaLaunchKernel 1 %u +5 #%u; kernel adam 0/7 %u +30 #%u;",
				     steps->optimizer, at + 960, at + 962, at + 963, at + 501,
				     at + 969, at + 501);
	}
	ss_text_add_string(&text, "note ProfilerStep#3 1 3000 +1000");
	return text.data;
}

#define BACKWARD "autograd::engine::evaluate_function:MulBackward0"
#define ADAM "Optimizer.step#Adam.step"

static const struct {
	const char *what;
	struct steps steps;
	const char *found;
} cases[] = {
	{ "a norm and a product for each of 55 gradients",
	  { "aten::linalg_vector_norm", "aten::mul_", BACKWARD, ADAM, 55 },
	  "warning 814.6 medium\n"
	  "aten::linalg_vector_norm and others launch 110 kernels per step between backward and "
	  "the optimizer, one per gradient: 0.89 ms of host time\n"
	  "these kernels take 0.33 ms per step" },
	{ "a list of gradients",
	  { "aten::_foreach_norm", "aten::_foreach_mul_", BACKWARD, ADAM, 55 },
	  "" },
	{ "a few", { "aten::linalg_vector_norm", "aten::mul_", BACKWARD, ADAM, 20 }, "" },
	{ "norms in forward",
	  { "aten::linalg_vector_norm", "aten::mul_", "aten::linear", ADAM, 55 },
	  "" },
	{ "no optimizer", { "aten::linalg_vector_norm", "aten::mul_", BACKWARD, NULL, 55 }, "" },
	{ "products without norms", { "aten::add_", "aten::mul_", BACKWARD, ADAM, 55 }, "" },
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		char *script = script_of(&cases[i].steps);
		struct rule_case test = { cases[i].what, script, cases[i].found };

		rule_cases_run("clipping-loop", &test, 1);
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
