/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_ceiling.c - rule: what no other rule claims of the device's work, at the rates that are
 * reached. It is not reported as a finding: the step with it is how fast the job could become.
 * Beside it the rule notes MFU, and what kernels do.
 */
#include "diagnose/diagnose.h"
#include "diagnose/work/slow_work.h"
#include "diagnose/work/utilization.h"

static bool ceiling_wants(const struct ss_work *work, enum ss_limit limit)
{
	(void)work;
	return limit >= SS_LIMIT_MEMORY;
}

static enum ss_status gpu_ceiling_look(struct ss_rule_context *context, struct ss_error *err)
{
	static const struct ss_slow_work_kind kind = {
		.wants = ceiling_wants,
		.is_all = true,
	};
	uint32_t worst;

	if (context->digest->device >= 0)
		SS_TRY(ss_utilization_note(context, err));
	return ss_slow_work_look(context, &kind, &worst, err);
}

static enum ss_status gpu_ceiling_judge(struct ss_judgement *judgement, struct ss_error *err)
{
	(void)err;
	judgement->diagnosis->mfu = ss_utilization_sum(judgement);
	judgement->diagnosis->kernels = ss_utilization_sum_kernels(judgement);
	(void)ss_judgement_take_all(judgement);
	return SS_OK;
}

const struct ss_rule ss_rule_gpu_ceiling = {
	.name = "gpu-ceiling",
	.title = "GPU work takes longer than good kernels need",
	.summary = "How long the step would take at the rates that such GPUs reach",
	.fix = "# no single change: the other findings first",
	.to_record = "record_shapes=True records the sizes",
	.views = "roofline kernels",
	.warn_share = 0.99,
	.silent_share = 0.99,
	.why = "never as a finding; it says how fast the step could become",
	.is_ceiling = true,
	.facts = SS_FACT_WORKS,
	.look = gpu_ceiling_look,
	.judge = gpu_ceiling_judge,
};
