/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sentences of a verdict: what they say of a diagnosis.
 */
#include "support/support.h"

#include "render/verdict/diagnosis.h"

#define MS 1000000

typedef void (*add_sentence)(const struct ss_diagnosis *diagnosis, struct ss_text *out);

struct sentence_case {
	struct ss_diagnosis diagnosis;
	const char *text;
};

static void check_sentences(add_sentence add, const struct sentence_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct ss_text out = { 0 };

		ss_text_add_string(&out, "");
		add(&cases[i].diagnosis, &out);
		assert_string_equal(out.data, cases[i].text);
		ss_text_release(&out);
	}
}

#define CHECK_SENTENCES(add, cases) check_sentences(add, cases, SS_COUNT(cases))

/* Snapshots without a trace. */
static void test_memory(void **state)
{
	static const struct sentence_case cases[] = {
		{ { .snapshot_count = 1, .is_what_if = true, .memory_devices = 1 },
		  "There is no trace, only memory snapshots: they have no steps to measure a "
		  "saving by.\n" },
		{ { .snapshot_count = 2, .cut_snapshots = 1 },
		  "The readable part has no allocator events, so no rule can judge the memory: the "
		  "file is truncated.\n" },
		{ { .snapshot_count = 1 },
		  "There are no allocator events, so no rule can judge the memory. Call "
		  "torch.cuda.memory._record_memory_history() before the run to record them.\n" },
		{ { .snapshot_count = 1, .memory_devices = 1, .cut_snapshots = 1 },
		  "Nothing stands out in the recorded memory.\n" },
		{ { .snapshot_count = 1, .memory_devices = 1, .finding_count = 2 },
		  "Nothing is wrong with the recorded memory.\n" },
		{ { .snapshot_count = 1,
		    .memory_devices = 1,
		    .finding_count = 2,
		    .warning_count = 1 },
		  "1 memory problem. A snapshot has no timing, so the cost in time is unknown.\n" },
		{ { .snapshot_count = 1,
		    .memory_devices = 2,
		    .finding_count = 2,
		    .warning_count = 2 },
		  "2 memory problems. A snapshot has no timing, so the cost in time is "
		  "unknown.\n" },
		/* with a trace it is about steps */
		{ { .snapshot_count = 1, .rank_count = 1 },
		  "The trace is empty: it has no events.\n" },
		{ { .snapshot_count = 1, .rank_count = 1, .events = 9 },
		  "No steps were found, so no saving can be measured. Call prof.step() at the end "
		  "of each step: it marks them as ProfilerStep#N.\n" },
	};

	(void)state;
	CHECK_SENTENCES(ss_render_verdict_sentence, cases);
}

/* What the fixes save. */
static void test_savings(void **state)
{
	static const struct sentence_case cases[] = {
		{ { .rank_count = 1,
		    .step_ns = 200 * MS,
		    .fixed_ns = 100 * MS,
		    .fixed_low_ns = 110 * MS,
		    .fixed_high_ns = 100 * MS },
		  "A step takes 200 ms. The fixes below would save 100 ms per step (2.00× "
		  "faster).\n" },
		{ { .rank_count = 1,
		    .step_ns = 200 * MS,
		    .fixed_ns = 100 * MS,
		    .fixed_low_ns = 160 * MS,
		    .fixed_high_ns = 100 * MS },
		  "A step takes 200 ms. The fixes below would save 40.0 to 100 ms per step (1.25 "
		  "to 2.00× faster).\n" },
		{ { .rank_count = 1,
		    .step_ns = 200 * MS,
		    .is_bounded = true,
		    .fixed_ns = 190 * MS,
		    .fixed_low_ns = 200 * MS,
		    .fixed_high_ns = 160 * MS },
		  "A step takes 200 ms. The fixes below would save up to 40.0 ms per step (up to "
		  "1.25× faster).\n" },
	};

	(void)state;
	CHECK_SENTENCES(ss_render_verdict_sentence, cases);
}

/* What chosen fixes would save. */
static void test_what_if(void **state)
{
	static const struct sentence_case cases[] = {
		{ { .rank_count = 1, .step_ns = 200 * MS, .is_what_if = true },
		  "A step takes 200 ms. None of the chosen findings is in this job, so the step "
		  "time does not change.\n" },
		{ { .rank_count = 1,
		    .step_ns = 200 * MS,
		    .is_what_if = true,
		    .finding_count = 1,
		    .fixed_ns = 160 * MS,
		    .fixed_low_ns = 160 * MS,
		    .fixed_high_ns = 160 * MS },
		  "A step takes 200 ms. With the fixes below it would take 160 ms, 1.25× "
		  "faster.\n" },
		{ { .rank_count = 1,
		    .step_ns = 200 * MS,
		    .is_what_if = true,
		    .finding_count = 1,
		    .fixed_ns = 160 * MS,
		    .fixed_low_ns = 180 * MS,
		    .fixed_high_ns = 150 * MS },
		  "A step takes 200 ms. With the fixes below it would take 160 ms (150 to 180 "
		  "ms), 1.25× faster.\n" },
		{ { .rank_count = 1,
		    .step_ns = 200 * MS,
		    .is_what_if = true,
		    .is_bounded = true,
		    .finding_count = 1,
		    .fixed_ns = 160 * MS,
		    .fixed_low_ns = 180 * MS,
		    .fixed_high_ns = 150 * MS },
		  "A step takes 200 ms. With the fixes below it would take 150 to 180 ms.\n" },
		{ { .rank_count = 1,
		    .step_ns = 200 * MS,
		    .is_what_if = true,
		    .finding_count = 1,
		    .fixed_ns = 200 * MS,
		    .fixed_low_ns = 200 * MS,
		    .fixed_high_ns = 200 * MS },
		  "A step takes 200 ms. With the fixes below it would take 200 ms, as long as "
		  "now.\n" },
		{ { .rank_count = 1,
		    .step_ns = 200 * MS,
		    .is_what_if = true,
		    .finding_count = 1,
		    .fixed_ns = 199500000,
		    .fixed_low_ns = 199500000,
		    .fixed_high_ns = 199500000 },
		  "A step takes 200 ms. With the fixes below it would take 200 ms.\n" },
	};

	(void)state;
	CHECK_SENTENCES(ss_render_verdict_sentence, cases);
}

/* Without savings: what the time is. */
static void test_nothing(void **state)
{
	static struct ss_finding idle = { .title = "The GPU is idle while the host logs",
					  .has_no_cost = true },
				 other = { .title = "Long kernels" },
				 early = { .title = "The first recorded work waits",
					   .has_no_cost = true,
					   .is_early = true };
	static struct ss_finding *findings[] = { &idle, &other }, *earlies[] = { &early };
#define STEP .rank_count = 1, .step_ns = 200 * MS, .fixed_ns = 200 * MS
#define OPEN STEP, .account.step_ns = 200 * MS, .account.unexplained_ns = 80 * MS
	static const struct sentence_case cases[] = {
		{ { STEP }, "A step takes 200 ms. Nothing was found that would make it faster.\n" },
		{ { STEP, .account.smaller_ns = 10 * MS },
		  "A step takes 200 ms. No fix stands out; those below may save up to 10.0 ms "
		  "(5 %).\n" },
		{ { STEP, .account.smaller_ns = 10 * MS - 1 },
		  "A step takes 200 ms. Only small savings were found.\n" },
		{ { STEP, .account.smaller_ns = MS },
		  "A step takes 200 ms. Only small savings were found.\n" },
		{ { STEP, .account.smaller_ns = MS - 1 },
		  "A step takes 200 ms. Nothing was found that would make it faster.\n" },
		{ { STEP, .warning_count = 1 },
		  "A step takes 200 ms. The findings below cost no time.\n" },
		{ { OPEN }, "A step takes 200 ms. No rule explains 40 % of it.\n" },
		{ { OPEN, .account.peers_ns = 60 * MS },
		  "A step takes 200 ms. For 30 % of it ranks wait for each other, and no rule "
		  "explains why.\n" },
		{ { OPEN, .account.peers_ns = 40 * MS },
		  "A step takes 200 ms. No rule explains 40 % of it.\n" },
		{ { OPEN, .gpu = { .rank_count = 1, .busy = 0.25 }, .findings = findings,
		    .finding_count = 2 },
		  "A step takes 200 ms. The GPU is idle 75 % of it, mostly while the host logs. No "
		  "rule covers it yet; see 'stepscope gaps' below.\n" },
		{ { OPEN, .gpu = { .rank_count = 1, .busy = 0.25 }, .findings = earlies,
		    .finding_count = 1 },
		  "A step takes 200 ms. For 40 % of it the recorded work waits, probably for work "
		  "that was launched before the recording.\n" },
	};

	(void)state;
	CHECK_SENTENCES(ss_render_verdict_sentence, cases);
}

static void test_gpu(void **state)
{
	static struct ss_finding early = { .title = "The first recorded work waits",
					   .has_no_cost = true,
					   .is_early = true };
	static struct ss_finding *findings[] = { &early };
	static const struct sentence_case cases[] = {
		{ { .snapshot_count = 1 },
		  "GPU use is unknown: a memory snapshot has no times.\n" },
		{ { .rank_count = 1, .on_device = true },
		  "GPU use is unknown: the trace has no steps.\n" },
		{ { .rank_count = 1, .events = 9 },
		  "No GPU in this trace: the steps run on the CPU.\n" },
		{ { .rank_count = 1, .gpu = { .rank_count = 1, .busy = 0.62 } },
		  "The GPU is busy 62 % of the step.\n" },
		{ { .rank_count = 2,
		    .gpu = { .rank_count = 2,
			     .busy = 0.998,
			     .exposed_communication = 0.35,
			     .exposed_copies = 0.01 } },
		  "The GPUs are busy 99.8 % of the step (communication alone 35 %, copies alone "
		  "1.0 %).\n" },
		{ { .rank_count = 1,
		    .gpu = { .rank_count = 1, .busy = 0.0002, .exposed_copies = 0.009 } },
		  "The GPU is busy less than 0.1 % of the step.\n" },
		{ { .rank_count = 1, .gpu = { .rank_count = 1, .busy = 1 } },
		  "The GPU is busy 100 % of the step.\n" },
		{ { .rank_count = 1, .gpu = { .rank_count = 1 } },
		  "The GPU is busy 0 % of the step.\n" },
		{ { .rank_count = 1,
		    .gpu = { .rank_count = 1, .busy = 0.58 },
		    .findings = findings,
		    .finding_count = 1 },
		  "The GPU is busy at least 58 % of the step.\n" },
		{ { .rank_count = 1,
		    .gpu = { .rank_count = 1, .busy = 0.62 },
		    .mfu = { .mfu = 0.0004, .hfu = 0.0004, .known = 1 } },
		  "The GPU is busy 62 % of the step. MFU is less than 0.1 %.\n" },
		/* at least nothing */
		{ { .rank_count = 1,
		    .gpu = { .rank_count = 1, .busy = 0.62 },
		    .mfu = { .mfu = 0.0004, .hfu = 0.0004, .known = 0.5 } },
		  "The GPU is busy 62 % of the step.\n" },
	};

	(void)state;
	CHECK_SENTENCES(ss_render_verdict_gpu, cases);
}

static void test_next(void **state)
{
	static const struct sentence_case cases[] = {
		{ { .next = NULL }, "" },
		{ { .next = "host (73 % of the critical path)", .step_ns = 2, .fixed_ns = 1 },
		  "After these fixes the host limits the step (73 % of the critical path).\n" },
		{ { .next = "host (73 %)", .step_ns = 2, .fixed_ns = 2 },
		  "The host limits the step (73 %).\n" },
		{ { .next = "compute (50 %)", .step_ns = 2, .fixed_ns = 2 },
		  "Compute limits the step (50 %).\n" },
		/* kernels hide host work: more of it is left than the GPU idles */
		{ { .next = "compute (85 %)",
		    .step_ns = 100,
		    .fixed_ns = 100,
		    .gpu = { .rank_count = 1, .busy = 0.91 },
		    .account = { .step_ns = 100, .smaller_ns = 9, .host_ns = 39 } },
		  "Compute limits the step (85 %). With all findings fixed the host limits it.\n" },
		/* as much as it idles */
		{ { .next = "compute (60 %)",
		    .step_ns = 100,
		    .fixed_ns = 100,
		    .gpu = { .rank_count = 1, .busy = 0.70 },
		    .account = { .step_ns = 100, .smaller_ns = 9, .host_ns = 39 } },
		  "Compute limits the step (60 %).\n" },
		/* the kinds that take a twentieth of the kernel time, four at most */
		{ { .next = "compute (60 %)",
		    .step_ns = 2,
		    .fixed_ns = 2,
		    .kernels.share = { [SS_KERNEL_COPY] = 0.2,
				       [SS_KERNEL_GEMM] = 0.77,
				       [SS_KERNEL_SORT] = 0.03 } },
		  "Compute limits the step (60 %). Kernel time: GEMM 77 %, copy 20 %.\n" },
		{ { .next = "compute (60 %)",
		    .step_ns = 2,
		    .fixed_ns = 1,
		    .kernels.share = { [SS_KERNEL_OTHER] = 0.1,
				       [SS_KERNEL_GEMM] = 0.3,
				       [SS_KERNEL_COPY] = 0.1,
				       [SS_KERNEL_SORT] = 0.2,
				       [SS_KERNEL_FUSED] = 0.3 } },
		  "After these fixes compute limits the step (60 %). Kernel time now: GEMM 30 %, "
		  "fused 30 %, sort/scan 20 %, other 10 %.\n" },
		{ { .next = "host (60 %)",
		    .step_ns = 2,
		    .fixed_ns = 2,
		    .kernels.share = { [SS_KERNEL_GEMM] = 1 } },
		  "The host limits the step (60 %).\n" },
	};

	(void)state;
	CHECK_SENTENCES(ss_render_verdict_next, cases);
}

static void test_job(void **state)
{
	static const struct sentence_case cases[] = {
		{ { .rank_count = 1, .steps_least = 1, .steps_most = 1, .bytes = 2000 },
		  "1 rank · 1 step · 2.00 kB in 0.00 s\n" },
		{ { .rank_count = 8,
		    .steps_least = 4,
		    .steps_most = 5,
		    .device = "H100",
		    .on_device = true,
		    .snapshot_count = 1,
		    .cut_snapshots = 1,
		    .seconds = 1.25 },
		  "8 ranks · 4 to 5 steps · H100 · 1 memory snapshot (truncated) · 0 B in 1.25 "
		  "s\n" },
		{ { .snapshot_count = 3, .cut_snapshots = 2 },
		  "3 memory snapshots (2 of them truncated) · 0 B in 0.00 s\n" },
		{ { .snapshot_count = 3 }, "3 memory snapshots · 0 B in 0.00 s\n" },
	};

	(void)state;
	CHECK_SENTENCES(ss_render_verdict_job, cases);
}

static void test_stages(void **state)
{
	static const struct sentence_case cases[] = {
		{ { .account = { .step_ns = 0, .stages_ns = 5 } }, "" },
		{ { .account = { .step_ns = 200 * MS, .stages_ns = 19 * MS } }, "" },
		{ { .account = { .step_ns = 200 * MS,
				 .stages_ns = 20 * MS,
				 .stages = 4,
				 .micro = 1 } },
		  "Pipeline stages wait 20.0 ms (10 %) for each other: 4 stages, 1 micro-batch per "
		  "step.\n" },
		{ { .account = { .step_ns = 200 * MS,
				 .stages_ns = 50 * MS,
				 .stages = 4,
				 .micro = 8 } },
		  "Pipeline stages wait 50.0 ms (25 %) for each other: 4 stages, 8 micro-batches "
		  "per step.\n" },
	};

	(void)state;
	CHECK_SENTENCES(ss_render_verdict_stages, cases);
}

/* A narrow line has no times, then joins pipeline and communication, then the smallest parts. */
static void test_account(void **state)
{
	static const struct ss_diagnosis diagnosis = {
		.account = { .step_ns = 200 * MS,
			     .warnings_ns = 30 * MS,
			     .smaller_ns = 10 * MS,
			     .compute_ns = 60 * MS,
			     .communication_ns = 50 * MS,
			     .stages_ns = 20 * MS,
			     .copies_ns = 900000, /* less than half a percent */
			     .host_ns = 19 * MS,
			     .unexplained_ns = 30 * MS },
	};
	static const struct {
		uint32_t width;
		const char *text;
	} cases[] = {
		{ 0,
		  "Breakdown: fixable 40.0 ms (20 %) · compute 60.0 ms (30 %) · communication 30.0 "
		  "ms (15 %) · pipeline 20.0 ms (10 %) · host 19.0 ms (10 %) · unexplained 30.0 ms "
		  "(15 %)\n" },
		{ 106,
		  "Breakdown: fixable 20 % · compute 30 % · communication 15 % · pipeline 10 % · "
		  "host 10 % · unexplained 15 %\n" },
		{ 90, "Breakdown: fixable 20 % · compute 30 % · communication 25 % · host 10 % · "
		      "unexplained 15 %\n" },
		{ 89,
		  "Breakdown: fixable 20 % · compute 30 % · communication 25 % · other 25 %\n" },
		{ 1, "Breakdown: fixable 20 % · compute 30 % · other 50 %\n" },
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct ss_text out = { 0 };

		ss_render_verdict_account(&diagnosis, cases[i].width, &out);
		assert_string_equal(out.data, cases[i].text);
		ss_text_release(&out);
	}
}

static void test_cost(void **state)
{
	static const struct ss_diagnosis exact = { .step_ns = 200 * MS },
					 bounded = { .step_ns = 200 * MS, .is_bounded = true };
	static const struct {
		const struct ss_diagnosis *diagnosis;
		struct ss_finding finding;
		const char *text;
	} cases[] = {
		{ &exact,
		  { .cost_ns = 19 * MS, .low_ns = 19 * MS, .high_ns = 19 * MS },
		  "saves 19.0 ms (9.5 %)" },
		{ &exact,
		  { .cost_ns = 20 * MS, .low_ns = 15 * MS, .high_ns = 22 * MS },
		  "saves 20.0 ms (10 %)" },
		{ &exact,
		  { .cost_ns = 20 * MS, .low_ns = 10 * MS, .high_ns = 22 * MS },
		  "saves 10.0 to 22.0 ms" },
		{ &bounded,
		  { .cost_ns = 20 * MS, .low_ns = 20 * MS, .high_ns = 22 * MS },
		  "saves 20.0 to 22.0 ms" },
		{ &exact, { .cost_ns = 20 * MS, .is_timeless = true }, "" },
		{ &exact, { .cost_ns = 0, .has_memory = true }, "" },
		{ &exact,
		  { .cost_ns = 20 * MS, .low_ns = 20 * MS, .high_ns = 20 * MS, .has_memory = true },
		  "saves 20.0 ms (10 %)" },
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct ss_text out = { 0 };

		ss_text_add_string(&out, "");
		ss_render_verdict_cost(cases[i].diagnosis, &cases[i].finding, &out);
		assert_string_equal(out.data, cases[i].text);
		ss_text_release(&out);
	}
}

/* The line of code behind a sentence, without its folders if it is brief. */
static void test_evidence(void **state)
{
	static const struct {
		struct ss_evidence evidence;
		const char *brief, *full;
	} cases[] = {
		{ { .text = "it waits" }, "it waits", "it waits" },
		{ { .text = "it waits", .line = "src/a/train.py(3): step" },
		  "it waits (train.py(3): step)",
		  "it waits (src/a/train.py(3): step)" },
		{ { .text = "src/train.py(3): step waits", .line = "src/train.py(3): step" },
		  "train.py(3): step waits",
		  "src/train.py(3): step waits" },
		{ { .text = "it waits", .line = "train.py(3): a/b" },
		  "it waits (train.py(3): a/b)",
		  "it waits (train.py(3): a/b)" },
	};

	(void)state;
	for (size_t i = 0; i < 2 * SS_COUNT(cases); i++) {
		struct ss_text out = { 0 };
		bool brief = i % 2;

		ss_render_verdict_evidence(&cases[i / 2].evidence, brief, &out);
		assert_string_equal(out.data, brief ? cases[i / 2].brief : cases[i / 2].full);
		ss_text_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory),   cmocka_unit_test(test_savings),
		cmocka_unit_test(test_what_if),  cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_gpu),      cmocka_unit_test(test_next),
		cmocka_unit_test(test_job),      cmocka_unit_test(test_stages),
		cmocka_unit_test(test_account),  cmocka_unit_test(test_cost),
		cmocka_unit_test(test_evidence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
