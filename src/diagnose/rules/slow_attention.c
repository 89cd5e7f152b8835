/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_attention.c - rule: fused attention by kernels that are made for older GPUs, or for other
 * sizes.
 */
#include <string.h>

#include "base/text.h"
#include "diagnose/work/slow_work.h"

static bool attention_wants(const struct ss_work *work, enum ss_limit limit)
{
	return work->kind == SS_WORK_ATTENTION && limit >= SS_LIMIT_VECTORS;
}

/* Kernels of FlashAttention-2 run on newer GPUs, but use little of their tensor cores. */
static bool kernel_is_flash2(const char *name)
{
	return strstr(name, "flash_fwd") || strstr(name, "flash_bwd");
}

/* Hopper and Blackwell. */
static bool device_is_new(const char *name)
{
	static const char *const parts[] = { "H100", "H200", "H800", "H20", "B200", "B300" };

	return ss_string_has_one_of(name, parts, SS_COUNT(parts));
}

/*
 * FlashAttention is compiled for heads of these sizes and computes others as the next larger one.
 * A tenth more is worth changing a model that is not trained yet.
 */
static bool heads_waste(double depth)
{
	static const double sizes[] = { 32, 64, 96, 128, 192, 256 };

	for (size_t i = 0; i < SS_COUNT(sizes); i++)
		if (depth <= sizes[i])
			return sizes[i] >= 1.1 * depth;
	return true;
}

static enum ss_status slow_attention_look(struct ss_rule_context *context, struct ss_error *err)
{
	static const struct ss_slow_work_kind kind = {
		.wants = attention_wants,
	};
	const struct ss_trace *trace = context->trace;
	const struct ss_works *works;
	const struct ss_worker *worker;
	uint32_t worst;

	SS_TRY(ss_slow_work_look(context, &kind, &worst, err));
	if (worst == SS_NO_ROW)
		return SS_OK;
	SS_TRY(ss_facts_works(context->subject->facts, &works, err));
	worker = ss_works_worker(works, ss_ops_launcher(works->ops, worst));
	if (heads_waste(ss_works_item(works, worker)->depth))
		ss_rule_set_fix(context,
				"# kernels compute heads as 32, 64, 96, 128, 192 or 256 numbers:\n"
				"# a new model should have one of these\n"
				"# other kernels: torch.nn.attention.sdpa_kernel, aiter (AMD)");
	if (device_is_new(ss_slow_work_device(context)) &&
	    kernel_is_flash2(ss_strings_text(&trace->names, trace->slices.name[worst])))
		ss_rule_set_fix(context,
				"# FlashAttention-2; Hopper and later GPUs have faster kernels\n"
				"from torch.nn.attention import sdpa_kernel, SDPBackend\n"
				"with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):   # or FA-3, -4\n"
				"    y = F.scaled_dot_product_attention(q, k, v)");
	return SS_OK;
}

const struct ss_rule ss_rule_slow_attention = {
	.name = "slow-attention",
	.title = "Attention takes longer than good kernels need",
	.summary = "Fused attention far below the rate that such GPUs reach",
	.fix = "# other kernels: torch.nn.attention.sdpa_kernel, aiter (AMD)\n"
	       "# is_causal=True instead of a mask; heads of 128 numbers",
	.to_record = "record_shapes=True records the sizes",
	.views = "roofline kernels",
	.warn_share = 0.10,
	.silent_share = 0.02,
	.why = "kernels differ by a tenth from version to version",
	.keeps_work = true,
	.facts = SS_FACT_WORKS,
	.look = slow_attention_look,
};
