/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout_conversion.c - rule: convolutions whose libraries convert the layout of their images.
 *
 * Kernels on tensor cores read the channels of a pixel side by side (NHWC). PyTorch stores them
 * apart (NCHW) by default; then cuDNN and MIOpen convert input, weights and result in kernels
 * of their own.
 */
#include "base/text.h"
#include "diagnose/work/chosen_kernels.h"

static struct ss_kernel_rest conversion_rest(const char *name)
{
	static const char *const parts[] = { "nchwToNhwc", "nhwcToNchw", "nchwToFoldedNhwc",
					     "foldedNhwcToNhwc", "batched_transpose_" };

	/* at worst half of them: operators without kernels for NHWC convert, too */
	return ss_string_has_one_of(name, parts, SS_COUNT(parts))
		       ? (struct ss_kernel_rest){ .low = 0.5 }
		       : (struct ss_kernel_rest){ 0 };
}

static enum ss_status layout_conversion_look(struct ss_rule_context *context, struct ss_error *err)
{
	static const struct ss_kernel_choice choice = {
		.by_name = conversion_rest,
		.evidence = "converts the layout",
	};
	bool claimed;

	SS_TRY(ss_chosen_kernels_look(context, &choice, &claimed, err));
	if (claimed)
		ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM,
				       "some operators may have no kernels for NHWC");
	return SS_OK;
}

const struct ss_rule ss_rule_layout_conversion = {
	.name = "layout-conversion",
	.title = "Convolutions convert between NCHW and NHWC",
	.summary = "Kernels that change the layout of images around convolutions",
	.fix = "model = model.to(memory_format=torch.channels_last)\n"
	       "images = images.to(memory_format=torch.channels_last)",
	.views = "kernels",
	.warn_share = 0.10,
	.silent_share = 0.02,
	.why = "two lines, but all operators between convolutions must keep the layout",
	.needs_device = true,
	.look = layout_conversion_look,
};
