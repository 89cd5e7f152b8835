/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule oversubscribed-cores. Steps of 50 ms: 200 short operators of 2 us, and 24 of four
 * kinds that take 100 us, or 2.1 ms in every second run. The texts are made here, they are too
 * long to write.
 */
#include "support/rule_cases.h"

/* What a step is made of. */
struct job {
	uint32_t kinds;      /* of split operators */
	uint32_t slow_kinds; /* of these have slow runs */
	uint32_t slow_every; /* step and run: 2 is every second; 0: none */
	uint32_t short_us;   /* every tenth short operator */
	bool on_device;
};

#define LOSE(ms)                                                                            \
	"multi-threaded operators lose " ms " ms per step compared with their own fastest " \
	"runs on the same shapes; short operators lose far less\n"
#define SLOW(name)    \
	"aten::" name \
	" takes several times as long as its fastest run 3 times per step: 6.00 ms lost"

static const char *const names[] = { "aten::mm", "aten::gelu", "aten::softmax", "aten::add" };

static void add_step(struct ss_text *text, const struct job *job, uint32_t step)
{
	uint32_t at = 50000 * step;

	ss_text_addf(text, "note ProfilerStep#%u 1 %u +50000;", step, at);
	for (uint32_t i = 0; i < 200; i++) {
		uint32_t us = job->short_us && (i + step) % 10 == 0 ? job->short_us : 2;

		ss_text_addf(text, "op aten::view 1 %u +%u;", at, us);
		at += us + 1;
	}
	for (uint32_t i = 0; i < 6 * job->kinds; i++) {
		bool slow = job->slow_every && i % job->kinds < job->slow_kinds &&
			    (i / job->kinds + step) % job->slow_every == 0;
		uint32_t us = slow ? 2100 : 100;

		ss_text_addf(text, "op %s 1 %u +%u;", names[i % job->kinds], at, us);
		at += us;
	}
	if (job->on_device)
		ss_text_addf(text, "call cudaLaunchKernel 1 %u +5 #%u; kernel gemm 0/7 %u +10 #%u;",
			     at, step, at + 5, step);
}

static char *script_of(const struct job *job)
{
	struct ss_text text = { 0 };

	for (uint32_t step = 1; step <= 4; step++)
		add_step(&text, job, step);
	return text.data;
}

static const struct {
	const char *what;
	struct job job;
	const char *found;
} cases[] = {
	{ "every second run of all split operators",
	  { 4, 4, 2, 0, false },
	  "warning 24000.0 medium\n" LOSE("24.0")
		  SLOW("gelu") "\n" SLOW("mm") "\n" SLOW("softmax") },
	{ "three kinds of four",
	  { 4, 3, 2, 0, false },
	  "warning 18000.0 medium\n" LOSE("18.0")
		  SLOW("gelu") "\n" SLOW("mm") "\n" SLOW("softmax") },
	{ "as fast as ever", { 4, 4, 0, 0, false }, "" },
	{ "a busy host: short operators are as slow", { 4, 4, 2, 100, false }, "" },
	{ "one operator: its input may decide", { 4, 1, 2, 0, false }, "" },
	{ "now and then: pauses of the process", { 4, 4, 6, 0, false }, "" },
	{ "with a device operators launch", { 4, 4, 2, 0, true }, "" },
	{ "no operators to split", { 0, 0, 0, 0, false }, "" },
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		char *script = script_of(&cases[i].job);
		struct rule_case test = { cases[i].what, script, cases[i].found };

		rule_cases_run("oversubscribed-cores", &test, 1);
		free(script);
	}
}

static void test_memory(void **state)
{
	struct job job = { 4, 4, 2, 0, false };
	char *script = script_of(&job);

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
