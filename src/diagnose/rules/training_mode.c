/* SPDX-License-Identifier: Apache-2.0 */
/*
 * training_mode.c - rule: a run without backward in training mode.
 *
 * Dropout removes random numbers of it, and batch norm computes statistics of the batch, where it
 * could use those of training: the results differ from run to run, and both cost kernels. The rule
 * reports them and claims no time.
 */
#include "base/text.h"
#include "diagnose/work/chosen_kernels.h"

static struct ss_kernel_rest training_rest(const char *name)
{
	static const char *const parts[] = { "fused_dropout_kernel", "masked_dropout", "bn_fw_tr_",
					     "batch_norm_collect_statistics",
					     "MIOpenBatchNormFwdTrain" };

	return (struct ss_kernel_rest){ .low = ss_string_has_one_of(name, parts, SS_COUNT(parts)) };
}

static enum ss_status training_mode_look(struct ss_rule_context *context, struct ss_error *err)
{
	static const struct ss_kernel_choice choice = {
		.by_name = training_rest,
		.evidence = "does what eval() turns off",
	};
	bool claimed;

	if (!(context->job_kind & SS_JOB_INFERS))
		return SS_OK;
	SS_TRY(ss_chosen_kernels_look(context, &choice, &claimed, err));
	if (claimed)
		ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM, "the trace has no backward");
	return SS_OK;
}

const struct ss_rule ss_rule_training_mode = {
	.name = "training-mode",
	.title = "A model that only infers was not set to eval()",
	.summary = "Dropout and statistics of batch norm in a run without backward",
	.fix = "model.eval()   # no dropout, and batch norm by the trained statistics\n"
	       "with torch.inference_mode():\n"
	       "    y = model(x)",
	.views = "kernels operators",
	.warn_share = 0,
	.silent_share = 0,
	.why = "a fact about the program: the results depend on it, and some want them so",
	.is_timeless = true,
	.needs_device = true,
	.look = training_mode_look,
};
