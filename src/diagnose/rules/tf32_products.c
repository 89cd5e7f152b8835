/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tf32_products.c - rule: products and convolutions in TF32 where bf16 would do.
 *
 * Every device that has TF32 has bf16 as well, at twice the rate and with half of the bytes.
 */
#include <string.h>

#include "diagnose/work/chosen_kernels.h"

/* "s1688" is the instruction: of TF32, unless a shorter type is named. */
static bool name_is_tf32(const char *name)
{
	return strstr(name, "tf32") || (strstr(name, "tensorop_s1688") && !strstr(name, "f16"));
}

static struct ss_kernel_rest tf32_rest(const char *name)
{
	/* at worst a half of that: other sizes, other kernels */
	return name_is_tf32(name) ? (struct ss_kernel_rest){ .own = 0.5, .low = 0.75, .high = 0.5 }
				  : (struct ss_kernel_rest){ 0 };
}

static enum ss_status tf32_products_look(struct ss_rule_context *context, struct ss_error *err)
{
	static const struct ss_kernel_choice choice = {
		.by_name = tf32_rest,
		.evidence = "computes in TF32",
	};
	bool claimed;

	SS_TRY(ss_chosen_kernels_look(context, &choice, &claimed, err));
	if (claimed)
		ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM,
				       "bf16 has twice the rate; activations in it save more");
	return SS_OK;
}

static const struct ss_rule_fix by_kind[] = {
	{ SS_JOB_INFERS, "with torch.autocast(\"cuda\", dtype=torch.bfloat16):\n"
			 "    y = model(x)" },
	{ 0 },
};

const struct ss_rule ss_rule_tf32_products = {
	.name = "tf32-products",
	.title = "Matmuls run in TF32, where bf16 can be faster",
	.summary = "Matmuls and convolutions in TF32 on GPUs that have bf16",
	.fix = "with torch.autocast(\"cuda\", dtype=torch.bfloat16):\n"
	       "    loss = model(batch)",
	.fixes = by_kind,
	.views = "kernels roofline",
	.warn_share = 0.25,
	.silent_share = 0.02,
	.why = "the tensor cores are in use, and fewer digits change the numbers",
	.needs_device = true,
	.look = tf32_products_look,
};
