/* SPDX-License-Identifier: Apache-2.0 */
/*
 * training_mode.c - rule: a run without backward in training mode.
 *
 * Dropout removes random numbers of it, and batch norm computes statistics of the batch, where it
 * could use those of training: the results differ from run to run, and both cost time. Names of
 * kernels show it; on the CPU recorded arguments do. The rule reports them and claims no time.
 */
#include <string.h>

#include "analyze/time/moment.h"
#include "base/text.h"
#include "diagnose/evidence/code_places.h"
#include "diagnose/work/chosen_kernels.h"

static struct ss_kernel_rest training_rest(const char *name)
{
	static const char *const parts[] = { "fused_dropout_kernel", "masked_dropout", "bn_fw_tr_",
					     "batch_norm_collect_statistics",
					     "MIOpenBatchNormFwdTrain" };

	return (struct ss_kernel_rest){ .low = ss_string_has_one_of(name, parts, SS_COUNT(parts)) };
}

/* The operator's argument that says whether the model trains; SS_OPERANDS_MAX: it has none. */
static uint32_t training_operand(const char *name)
{
	if (strcmp(name, "aten::dropout") == 0)
		return 2;
	return strcmp(name, "aten::batch_norm") == 0 ? 5 : SS_OPERANDS_MAX;
}

/* Without kernels the recorded arguments say it. */
static enum ss_status training_on_cpu(struct ss_rule_context *context, struct ss_error *err)
{
	const struct ss_trace *trace = context->trace;
	const struct ss_slices *slices = &trace->slices;
	struct ss_code_places *sites;
	uint32_t *places;
	bool any = false;

	SS_TRY(ss_code_places_make(&sites, context, err));
	if (!SS_ALLOC(context->scratch, places, (size_t)trace->names.count + 1))
		return ss_fail_memory(err, "the operators");
	for (uint32_t i = 0; i < trace->names.count; i++)
		any |= (places[i] = training_operand(ss_strings_text(&trace->names, i))) !=
		       SS_OPERANDS_MAX;
	for (uint32_t row = 0; any && row < trace->device_from; row++) {
		struct ss_operands operands;
		bool trains;

		if (places[slices->name[row]] == SS_OPERANDS_MAX ||
		    slices->args[row] == SS_NO_ARGS ||
		    ss_step_at(trace, slices->start_ns[row]) == SS_NO_ROW ||
		    !ss_operands_read(&operands, trace,
				      ss_records_at(&trace->op_args, slices->args[row])))
			continue;
		if (ss_operand_bool(&operands, places[slices->name[row]], &trains) && trains)
			(void)ss_code_places_add(sites, slices->name[row], row,
						 slices->dur_ns[row]);
	}
	ss_code_places_report(sites, UINT32_MAX,
			      "%s does what eval() turns off: {time} per step ({count} times)");
	if (sites->count)
		ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM, "the trace has no backward");
	return SS_OK;
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
	if (context->job_kind & SS_JOB_ON_CPU)
		return training_on_cpu(context, err);
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
	.views = "operators kernels",
	.warn_share = 0,
	.silent_share = 0,
	.why = "a fact about the program: the results depend on it, and some want them so",
	.is_timeless = true,
	.look = training_mode_look,
};
