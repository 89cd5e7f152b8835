/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a check keeps of a run: means per rank and step, sums by name, costs of findings.
 */
#include "support/make/ranks.h"

#include "check/check.h"

/* Three ranks, the second with most steps: six steps in all. */
static const char script[] = "rank 0; step 1 0 +100 c40 m30 x20; kernel gemm 1 30; kernel add 1 6;"
			     "reduce 10 +20; reduce 500 +50;"
			     "rank 1; step 1 0 +110 c60; step 2 110 +120 c50; step 3 230 +130 i7;"
			     "kernel gemm 2 60; kernel relu 1 12; reduce 20 +10;"
			     "rank 2; step 1 0 +120 c50; step 2 120 +140 y9; kernel gemm 2 54";

struct measured {
	struct support_ranks ranks;
	struct ss_arena arena;
	struct ss_check_run run;
};

static void measure(struct measured *out, const struct ss_diagnosis *diagnosis)
{
	struct ss_error err = { 0 };
	struct ss_job job = { 0 };

	support_ranks_script(&out->ranks, script);
	/* a quarter of the first one overlaps compute */
	out->ranks.items[0].arrivals[0].hidden_ns = 5000;
	for (uint32_t i = 0; i < out->ranks.count; i++)
		out->ranks.items[i].phases[SS_PHASE_FORWARD].total_ns = 12000;
	job.digests = out->ranks.items;
	job.digest_count = out->ranks.count;
	ss_arena_init(&out->arena, &out->ranks.memory);
	assert_int_equal(ss_check_measure(&out->run, &job, diagnosis, &out->arena, &err), SS_OK);
}

static void measured_release(struct measured *measured)
{
	ss_arena_release(&measured->arena);
	support_ranks_close(&measured->ranks);
}

static void check_items(const struct ss_check_items *list, const char *expected)
{
	struct ss_text found = { 0 };

	ss_text_add_string(&found, "");
	for (uint32_t i = 0; i < list->count; i++)
		ss_text_addf(&found, "%s%s %.0f", i ? ", " : "", list->items[i].name,
			     list->items[i].ns);
	assert_string_equal(found.data, expected);
	ss_text_release(&found);
}

/* Each step is the mean over the ranks that have it, in the order of the longest rank. */
static void test_steps(void **state)
{
	const struct ss_diagnosis diagnosis = { .rank_count = 3,
						.on_device = true,
						.device = "H100" };
	struct measured measured;
	const struct ss_check_run *run = &measured.run;

	(void)state;
	measure(&measured, &diagnosis);
	assert_int_equal(run->steps.count, 3);
	assert_true(run->steps.steps[0] == 110000 && run->steps.steps[1] == 130000 &&
		    run->steps.steps[2] == 130000);
	assert_int_equal((int)(run->step_ns + 0.5), 370000 / 3);
	/* (40 + 60 + 50) / 3, (50 + 0) / 2 and 0, of three steps */
	assert_int_equal((int)(run->part_ns[SS_STEP_COMPUTE] + 0.5), 25000);
	assert_int_equal((int)(run->part_ns[SS_STEP_COMM] + 0.5), 20000 / 9);
	assert_int_equal((int)(run->part_ns[SS_STEP_COPY] + 0.5), 1500);
	assert_int_equal((int)(run->part_ns[SS_STEP_IDLE_BY(SS_IDLE_INPUT)] + 0.5), 7000 / 3);
	assert_int_equal((int)(run->phase_ns[SS_PHASE_FORWARD] + 0.5), 6000);
	assert_int_equal(run->ranks, 3);
	assert_true(run->on_device);
	assert_string_equal(run->device, "H100");
	assert_string_equal(run->path, "");
	assert_null(run->commit);
	measured_release(&measured);
}

/* Items of one name are one, by name, per step; collectives without what is hidden. */
static void test_items(void **state)
{
	const struct ss_diagnosis diagnosis = { .rank_count = 3 };
	struct measured measured;

	(void)state;
	measure(&measured, &diagnosis);
	check_items(&measured.run.kernels, "add 1000, gemm 24000, relu 2000");
	/* 15 and 10 of six steps: the one outside of steps does not count */
	check_items(&measured.run.collectives, "reduce 4167");
	check_items(&measured.run.modules, "");
	assert_null(measured.run.device);
	measured_release(&measured);
}

static void test_findings(void **state)
{
	struct ss_finding saves = { .title = "a", .cost_ns = 70, .is_warning = true },
			  rest = { .title = "b",
				   .cost_ns = 5,
				   .is_rest = true,
				   .has_no_cost = true },
			  timeless = { .title = "c", .cost_ns = 6, .is_timeless = true };
	struct ss_finding *findings[] = { &saves, &rest, &timeless };
	const struct ss_diagnosis diagnosis = { .findings = findings,
						.finding_count = 3,
						.account.unexplained_ns = 40 };
	static const double costs[] = { 70, 40, 0 };
	struct measured measured;

	(void)state;
	measure(&measured, &diagnosis);
	assert_int_equal(measured.run.finding_count, 3);
	for (int i = 0; i < 3; i++) {
		assert_string_equal(measured.run.findings[i].title, findings[i]->title);
		assert_true(measured.run.findings[i].cost_ns == costs[i]);
		assert_int_equal(measured.run.findings[i].is_warning, i == 0);
	}
	measured_release(&measured);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_items),
		cmocka_unit_test(test_findings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
