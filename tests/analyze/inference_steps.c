/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What engines write into the names of their steps.
 */
#include "analyze/inference_steps.h"
#include "support/support.h"

static const struct {
	const char *name;
	const char *kind; /* NULL: no step of an engine */
	int64_t batch, context_tokens, generated_tokens;
} cases[] = {
	{ "", NULL, 0, 0, 0 },
	{ "ProfilerStep#3", NULL, 0, 0, 0 },
	{ "train_step", NULL, 0, 0, 0 },
	{ "execute_model", "unknown", -1, -1, -1 },
	{ "execute_context_1(888_788544)_generation_0(0)", "prefill", 1, 888, 0 },
	{ "execute_context_2(16)_generation_62(62)", "mixed", 64, 16, 62 },
	{ "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)",
	  "decode", 32, 0, 32 },
	{ "execute_context_0(0)_generation_0(0)", "unknown", 0, 0, 0 },
	{ "execute_context_1_generation_0(0)", "prefill", 1, -1, 0 },
	{ "execute_context_x(1)_generation_1(1)", "unknown", -1, -1, -1 },
	{ "execute_context_1(8)", "unknown", -1, -1, -1 },
	{ "execute_context_1(99999999999999999999)_generation_0(0)", "prefill", 1, -1, 0 },
	{ "execute_context_99999999999999999999(1)_generation_0(0)", "unknown", -1, -1, -1 },
	{ "step[DECODE bs=32]", "decode", 32, -1, 32 },
	{ "step[DECODE]", "decode", -1, -1, -1 },
	{ "step[EXTEND bs=15 toks=15360]", "prefill", 15, 15360, -1 },
	{ "step[MIXED bs=3 toks=70]", "mixed", 3, -1, -1 },
	{ "step[TARGET_VERIFY bs=3]", "unknown", 3, -1, -1 },
	{ "step[", "unknown", -1, -1, -1 },
};

static void test_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct ss_inference_step pass;
		bool found = ss_inference_step_read(cases[i].name, &pass);

		support_check(found == !!cases[i].kind, cases[i].name, "found: %d", found);
		if (!found)
			continue;
		support_check(strcmp(ss_inference_kind_name(pass.kind), cases[i].kind) == 0,
			      cases[i].name, "found: %s", ss_inference_kind_name(pass.kind));
		support_check(pass.batch == cases[i].batch &&
				      pass.context_tokens == cases[i].context_tokens &&
				      pass.generated_tokens == cases[i].generated_tokens,
			      cases[i].name, "found: %lld %lld %lld", (long long)pass.batch,
			      (long long)pass.context_tokens, (long long)pass.generated_tokens);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_names) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
