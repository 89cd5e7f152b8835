/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run against its baseline: whether they can be compared, what changed, what is the cause.
 */
#include "support/support.h"

#include "check/check.h"

#define STEPS 8
#define THRESHOLD 0.02

static const struct ss_rule input = { .name = "input-stall" };
static const struct ss_rule copies = { .name = "slow-copies" };
static const struct ss_rule rest = { .name = "unexplained-time", .claims_rest = true };

/* Steps of about `ns`. */
static struct ss_check_run run_of(double ns, double *steps)
{
	for (int i = 0; i < STEPS; i++)
		steps[i] = ns * (1 + 0.001 * (i % 3 - 1));
	return (struct ss_check_run){ .path = "run",
				      .device = "H100",
				      .ranks = 2,
				      .on_device = true,
				      .step_ns = ns,
				      .steps = { .steps = steps, .count = STEPS } };
}

struct compared {
	struct ss_memory memory;
	struct ss_arena arena;
	struct ss_check_run before[2];
	struct ss_check check;
	double steps[3][STEPS];
};

/* Two runs of 1 ms, and one after them. */
static void compared_open(struct compared *out, double after_ns)
{
	*out = (struct compared){ 0 };
	ss_memory_init(&out->memory, 0);
	ss_arena_init(&out->arena, &out->memory);
	out->before[0] = run_of(1e6, out->steps[0]);
	out->before[1] = run_of(1e6, out->steps[1]);
	out->check.before = out->before;
	out->check.before_count = 2;
	out->check.after = run_of(after_ns, out->steps[2]);
}

static void compared_run(struct compared *compared)
{
	struct ss_error err = { 0 };

	assert_int_equal(ss_check_compare(&compared->check, THRESHOLD, &compared->arena, &err),
			 SS_OK);
}

/* The changes as "KIND NAME before>after, ...". */
static void check_changes(const struct ss_check *check, const char *expected)
{
	struct ss_text found = { 0 };

	ss_text_add_string(&found, "");
	for (uint32_t i = 0; i < check->change_count; i++)
		ss_text_addf(&found, "%s%s %s %.0f>%.0f", i ? ", " : "",
			     ss_check_kind_name(check->changes[i].kind), check->changes[i].name,
			     check->changes[i].before_ns, check->changes[i].after_ns);
	assert_string_equal(found.data, expected);
	ss_text_release(&found);
}

/* Findings of a rule are one change, its largest part of the step's change leads. */
static void test_findings(void **state)
{
	struct ss_check_finding before[] = { { &input, "waits", 10000, true, false, 0 } };
	struct ss_check_finding after[] = {
		{ &rest, "unknown", 90000, true, false, 0 },
		{ &copies, "copies", 12000, true, false, 0 },
		{ &input, "waits more", 20000, true, false, 0 },
		{ &input, "waits", 20000, true, false, 0 },
	};
	struct compared compared;

	(void)state;
	compared_open(&compared, 1.1e6);
	compared.before[0].findings = compared.before[1].findings = before;
	compared.before[0].finding_count = compared.before[1].finding_count = 1;
	compared.check.after.findings = after;
	compared.check.after.finding_count = 4;
	compared_run(&compared);
	assert_int_equal(compared.check.compared, SS_VERDICT_REGRESSION);
	assert_true(compared.check.has_cause);
	assert_string_equal(compared.check.changes[0].title, "waits more");
	check_changes(&compared.check,
		      "finding input-stall 10000>40000, finding slow-copies 0>12000, "
		      "finding unexplained-time 0>90000");
	ss_arena_release(&compared.arena);
}

/* A finding that explains less than a quarter is not the cause. */
static void test_cause(void **state)
{
	struct ss_check_finding after[] = { { &input, "waits", 20000, true, false, 0 },
					    { &rest, "unknown", 25000, true, false, 0 } };
	struct compared compared;

	(void)state;
	compared_open(&compared, 1.1e6);
	compared.check.after.findings = after;
	compared.check.after.finding_count = 1;
	compared.check.after.part_ns[SS_STEP_COPY] = 60000;
	compared.before[0].part_ns[SS_STEP_COMPUTE] = 2000;
	compared.check.after.part_ns[SS_STEP_COMPUTE] = 9000;
	compared_run(&compared);
	assert_false(compared.check.has_cause);
	check_changes(&compared.check, "part exposed copies 0>60000, finding input-stall 0>20000, "
				       "part computing 1000>9000");
	compared.check.after.finding_count = 2;
	compared_run(&compared);
	assert_true(compared.check.has_cause);
	check_changes(&compared.check, "finding unexplained-time 0>25000, finding input-stall "
				       "0>20000, part exposed copies 0>60000, part computing "
				       "1000>9000");
	ss_arena_release(&compared.arena);
}

/* Kernels of all runs by name; one that a run lacks is 0 there; small changes are left out. */
static void test_kernels(void **state)
{
	struct ss_check_item first[] = { { "add", 5000, 1 }, { "gemm", 30000, 1 } };
	struct ss_check_item second[] = { { "gemm", 50000, 1 }, { "relu", 9000, 1 } };
	struct ss_check_item after[] = { { "add", 1000, 1 },
					 { "gemm", 20000, 1 },
					 { "new", 90000, 1 } };
	struct compared compared;

	(void)state;
	compared_open(&compared, 0.9e6);
	compared.before[0].kernels = (struct ss_check_items){ first, 2 };
	compared.before[1].kernels = (struct ss_check_items){ second, 2 };
	compared.check.after.kernels = (struct ss_check_items){ after, 3 };
	compared_run(&compared);
	assert_int_equal(compared.check.compared, SS_VERDICT_IMPROVEMENT);
	/* add shrinks by 1,500: less than 0.2 % of the step */
	check_changes(&compared.check, "kernel gemm 40000>20000, kernel relu 4500>0");
	ss_arena_release(&compared.arena);
}

/*
 * One baseline run does not show that 4 % is no noise; a finding that came, or operators that are
 * called more often, do.
 */
static void test_contents_decide(void **state)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", "f",
					     "g", "h", "i", "j", "k", "l" };
	struct ss_check_finding waits[] = { { &input, "waits", 30000, true, false, 0 } };
	struct ss_check_item before[12], after[12];
	struct compared compared;

	(void)state;
	for (int i = 0; i < 12; i++) {
		before[i] = (struct ss_check_item){ names[i], 50000, 10 };
		after[i] = (struct ss_check_item){ names[i], 51000, 10 };
	}
	compared_open(&compared, 1.04e6);
	compared.check.before_count = 1;
	compared_run(&compared);
	assert_int_equal(compared.check.compared, SS_VERDICT_INCONCLUSIVE);
	assert_non_null(strstr(compared.check.reason, "as far as 1 baseline run shows; with 3 "));
	/* a slower machine: all operators take longer */
	compared.before[0].kernels = (struct ss_check_items){ before, 12 };
	compared.check.after.kernels = (struct ss_check_items){ after, 12 };
	compared_run(&compared);
	assert_null(compared.check.decided_by);
	assert_int_equal(compared.check.compared, SS_VERDICT_INCONCLUSIVE);
	/* it takes longer than the others, and is called as often: that happens */
	after[3].ns = 90000;
	compared_run(&compared);
	assert_null(compared.check.decided_by);
	after[3].calls = 18;
	compared.check.reason = NULL;
	compared_run(&compared);
	assert_string_equal(compared.check.decided_by, "operators");
	assert_int_equal(compared.check.compared, SS_VERDICT_REGRESSION);
	assert_non_null(strstr(compared.check.reason, "d: 10 -> 18 calls, 0.05 -> 0.09 ms"));
	after[3].ns = 51000;
	/* too little, then enough */
	compared.check.after.findings = waits;
	compared.check.after.finding_count = 1;
	waits[0].cost_ns = 15000;
	compared.check.decided_by = compared.check.reason = NULL;
	compared_run(&compared);
	assert_null(compared.check.decided_by);
	waits[0].cost_ns = 30000;
	compared.check.reason = NULL;
	compared_run(&compared);
	assert_string_equal(compared.check.decided_by, "findings");
	assert_non_null(strstr(compared.check.reason, "input-stall costs more, and that is 75 %"));
	ss_arena_release(&compared.arena);
}

static void check_reason(struct compared *compared, const char *reason)
{
	compared_run(compared);
	assert_int_equal(compared->check.compared, SS_VERDICT_INCONCLUSIVE);
	assert_non_null(compared->check.reason);
	assert_string_equal(compared->check.reason, reason);
	ss_arena_release(&compared->arena);
}

/* Other jobs are no baseline. */
static void test_other_jobs(void **state)
{
	struct ss_check_item a[] = { { "a", 1, 1 }, { "b", 1, 1 }, { "c", 1, 1 } };
	struct ss_check_item b[] = { { "a", 1, 1 }, { "d", 1, 1 }, { "e", 1, 1 } };
	struct compared compared;

	(void)state;
	compared_open(&compared, 1e6);
	compared.check.after.ranks = 1;
	check_reason(&compared, "the run has 1 rank and the baseline 2");
	compared_open(&compared, 1e6);
	compared.before[1].device = "A100";
	check_reason(&compared, "the run used H100 and the baseline A100");
	compared_open(&compared, 1e6);
	compared.before[1].device = NULL;
	compared.check.after.on_device = false;
	check_reason(&compared, "only one of the two runs used a GPU");
	compared_open(&compared, 1e6);
	compared.before[0].modules = compared.before[1].modules = (struct ss_check_items){ a, 3 };
	compared.check.after.modules = (struct ss_check_items){ b, 3 };
	check_reason(&compared, "the model is another one: fewer than half of the modules are in "
				"both runs");
	compared_open(&compared, 1e6);
	compared.before[1].steps.count = 1;
	check_reason(&compared,
		     "a run with 1 complete step shows no noise; record at least 3 steps");
}

/* Half of the modules are enough, and runs that do not record them are compared. */
static void test_same_jobs(void **state)
{
	struct ss_check_item a[] = { { "a", 1, 1 }, { "b", 1, 1 }, { "c", 1, 1 } };
	struct compared compared;

	(void)state;
	compared_open(&compared, 1e6);
	compared.before[0].modules = (struct ss_check_items){ a, 3 };
	compared.before[1].modules = (struct ss_check_items){ a, 1 };
	compared.check.after.modules = (struct ss_check_items){ a, 2 };
	compared.before[1].device = NULL;
	compared_run(&compared);
	assert_null(compared.check.reason);
	assert_int_equal(compared.check.compared, SS_VERDICT_PASS);
	assert_true(compared.check.has_baseline);
	ss_arena_release(&compared.arena);
}

/* Conditions and the comparison make one verdict: a regression outranks what follows. */
static void test_conclusion(void **state)
{
	static const struct {
		bool has_baseline;
		enum ss_check_verdict compared;
		struct ss_condition conditions[2];
		enum ss_check_verdict verdict;
	} cases[] = {
		{ false,
		  SS_VERDICT_REGRESSION,
		  { { .is_known = true }, { .is_known = true } },
		  SS_VERDICT_PASS },
		{ true,
		  SS_VERDICT_REGRESSION,
		  { { .is_known = true, .is_met = true } },
		  SS_VERDICT_REGRESSION },
		{ true,
		  SS_VERDICT_IMPROVEMENT,
		  { { .is_known = true }, { .is_known = true } },
		  SS_VERDICT_IMPROVEMENT },
		{ true,
		  SS_VERDICT_PASS,
		  { { .is_known = true, .is_met = true } },
		  SS_VERDICT_FAIL },
		{ false,
		  SS_VERDICT_PASS,
		  { { 0 }, { .is_known = true } },
		  SS_VERDICT_INCONCLUSIVE },
		{ false,
		  SS_VERDICT_PASS,
		  { { 0 }, { .is_known = true, .is_met = true } },
		  SS_VERDICT_FAIL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ss_condition conditions[2];
		struct ss_check check = { .has_baseline = cases[i].has_baseline,
					  .compared = cases[i].compared,
					  .conditions = conditions,
					  .condition_count = 2 };

		memcpy(conditions, cases[i].conditions, sizeof(conditions));
		ss_check_conclude(&check);
		support_check(check.verdict == cases[i].verdict, "conclusion", "case %zu: %s", i,
			      ss_check_verdict_name(check.verdict));
	}
}

/* Runs of other jobs are left out, and those before the last change of the level. */
static void test_level(void **state)
{
	struct ss_check_run runs[12];
	double steps[12][STEPS];
	struct compared compared;
	struct ss_error err = { 0 };

	(void)state;
	compared_open(&compared, 1.1e6);
	for (uint32_t i = 0; i < 12; i++)
		runs[i] = run_of(i < 6 ? 1e6 : 1.1e6, steps[i]);
	runs[1].ranks = 4;
	runs[2].device = "A100";
	runs[8].steps.count = 2;
	runs[9].device = NULL;
	runs[6].path = "slower";
	compared.check.before = runs;
	compared.check.before_count = 12;
	assert_int_equal(ss_check_choose_level(&compared.check, runs, THRESHOLD, &compared.arena,
					       &err),
			 SS_OK);
	assert_int_equal(compared.check.before_count, 5);
	assert_string_equal(runs[0].path, "slower");
	assert_null(runs[2].device);
	assert_string_equal(compared.check.series_note, "the median step changed by +10.0 % at run "
							"slower; the 4 earlier runs are left out");
	/* 4 runs of the earlier level, 5 of this one: 7 degrees of freedom */
	assert_int_equal(compared.check.history.freedom, 3);
	compared_run(&compared);
	assert_int_equal(compared.check.noise.freedom, 7);
	ss_arena_release(&compared.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_findings),  cmocka_unit_test(test_cause),
		cmocka_unit_test(test_kernels),   cmocka_unit_test(test_other_jobs),
		cmocka_unit_test(test_same_jobs), cmocka_unit_test(test_conclusion),
		cmocka_unit_test(test_level),     cmocka_unit_test(test_contents_decide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
