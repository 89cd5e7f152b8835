/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv_bias_before_norm.c - rule: convolutions with a bias that batch norm removes again.
 *
 * Batch norm subtracts the mean of each channel, and with it any constant added to the channel.
 * The bias is computed and stored, and has a gradient and optimizer state, for nothing. The
 * pattern is the one of PyTorch's own pattern matcher and needs recorded shapes. For inference
 * both are folded into one, or the bias costs next to nothing; so the rule only looks at training.
 */
#include <string.h>

#include "analyze/work/operands.h"
#include "diagnose/rule.h"

/* Operands of aten::conv2d and its like: input, weight, bias. */
#define BIAS 2

enum conv_role { IS_OTHER, IS_BATCH_NORM, IS_CONV };

struct biased_convs {
	struct ss_rule_context *context;
	const struct ss_ops *ops;
	uint8_t *biased;  /* per record of op_args: 1 it has a bias, 2 it has none */
	uint8_t *roles;   /* per name: enum conv_role */
	uint32_t *before; /* per track: the convolution just before on the outermost level */
	int64_t count;
	uint32_t first;
};

static bool name_is_conv(const char *name)
{
	return strcmp(name, "aten::conv1d") == 0 || strcmp(name, "aten::conv2d") == 0 ||
	       strcmp(name, "aten::conv3d") == 0;
}

static bool conv_has_bias(struct biased_convs *convs, uint32_t row)
{
	const struct ss_trace *trace = convs->context->trace;
	uint32_t args = trace->slices.args[row];
	struct ss_operands operands;

	if (args == SS_NO_ARGS)
		return false;
	if (!convs->biased[args]) {
		const struct ss_operand *bias = NULL;

		if (ss_operands_read(&operands, trace, ss_records_at(&trace->op_args, args)))
			bias = ss_operand_tensor(&operands, BIAS);
		convs->biased[args] = bias && bias->rank == 1 && bias->dims[0] > 0 ? 1 : 2;
	}
	return convs->biased[args] == 1;
}

static void conv_check_operator(struct biased_convs *convs, uint32_t row)
{
	const struct ss_trace *trace = convs->context->trace;
	uint8_t role = convs->roles[trace->slices.name[row]];
	uint32_t *before = &convs->before[trace->slices.track[row]];

	if (role == IS_BATCH_NORM && *before && conv_has_bias(convs, *before - 1)) {
		if (!convs->count++)
			convs->first = *before - 1;
	}
	*before = role == IS_CONV ? row + 1 : 0;
}

/* Whether there is batch norm. Most files have none: then the rows need not be searched. */
static bool convs_read_names(struct biased_convs *convs)
{
	const struct ss_strings *names = &convs->context->trace->names;
	bool any = false;

	for (uint32_t i = 0; i < names->count; i++) {
		const char *name = ss_strings_text(names, i);

		convs->roles[i] = strcmp(name, "aten::batch_norm") == 0 ? IS_BATCH_NORM
				  : name_is_conv(name)                  ? IS_CONV
									: IS_OTHER;
		any |= convs->roles[i] == IS_BATCH_NORM;
	}
	return any;
}

static enum ss_status conv_bias_look(struct ss_rule_context *context, struct ss_error *err)
{
	const struct ss_trace *trace = context->trace;
	struct biased_convs convs = { .context = context };
	const struct ss_phases *phases;

	if (!SS_ALLOC(context->scratch, convs.roles, (size_t)trace->names.count + 1))
		return ss_fail_memory(err, "the convolutions");
	if (!convs_read_names(&convs))
		return SS_OK;
	SS_TRY(ss_facts_phases(context->subject->facts, &phases, err));
	if (!phases->has[SS_PHASE_BACKWARD])
		return SS_OK;
	SS_TRY(ss_facts_ops(context->subject->facts, &convs.ops, err));
	if (!SS_ALLOC(context->scratch, convs.biased, (size_t)trace->op_args.count + 1) ||
	    !SS_ALLOC(context->scratch, convs.before, (size_t)trace->track_count + 1))
		return ss_fail_memory(err, "the convolutions");
	for (uint32_t row = 0; row < trace->device_from; row++)
		if (trace->slices.kind[row] == SS_KIND_OP && convs.ops->owner[row] == SS_NO_ROW)
			conv_check_operator(&convs, row);
	if (!convs.count)
		return SS_OK;
	ss_rule_add_evidence(
		context, (struct ss_fact){ 0, (double)convs.count, convs.first },
		"convolutions with a bias directly before batch norm: {count} per step");
	ss_rule_set_confidence(context, SS_CONFIDENCE_HIGH, "the trace records the operands");
	return SS_OK;
}

const struct ss_rule ss_rule_conv_bias_before_norm = {
	.name = "conv-bias-before-norm",
	.title = "Convolutions add a bias that batch norm removes again",
	.summary = "Convolutions with a bias directly before batch norm",
	.fix = "torch.nn.Conv2d(..., bias=False)   # directly before BatchNorm2d",
	.to_record = "record_shapes=True records the operands",
	.views = "kernels operators",
	.warn_share = 0,
	.silent_share = 0,
	.why = "a fact about the network; it costs little",
	.is_timeless = true,
	.facts = SS_FACT_OPS,
	.look = conv_bias_look,
};
