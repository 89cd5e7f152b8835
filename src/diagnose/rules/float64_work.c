/* SPDX-License-Identifier: Apache-2.0 */
/*
 * float64_work.c - rule: kernels compute in float64 in a job whose products do not.
 *
 * NumPy and Python make float64 by default, and each operator passes the type on. A number
 * has twice the bytes of FP32, and most devices have few units for it. Where products are in
 * float64, too, somebody wants it.
 */
#include "diagnose/work/chosen_kernels.h"

static struct ss_kernel_rest float64_rest(const struct ss_work *work)
{
	/* half of the bytes; what units limit becomes at least twice as fast, as on A100 */
	return work->dtype == SS_DTYPE_FP64 && work->kind != SS_WORK_COMM &&
			       work->kind < SS_WORK_MATMUL
		       ? (struct ss_kernel_rest){ .own = 0.5, .low = 0.75, .high = 0.25 }
		       : (struct ss_kernel_rest){ 0 };
}

/* Whether most of the time of products is in float64, or there are no products to compare with. */
static bool float64_is_wanted(const struct ss_works *works)
{
	int64_t double_ns = 0, other_ns = 0;

	for (uint32_t i = 0; i < works->worker_count; i++) {
		const struct ss_work *work = ss_works_item(works, &works->workers[i]);

		if (work && work->kind >= SS_WORK_MATMUL)
			ss_ns_add(work->dtype == SS_DTYPE_FP64 ? &double_ns : &other_ns,
				  works->workers[i].device_ns);
	}
	return double_ns >= other_ns;
}

static enum ss_status float64_work_look(struct ss_rule_context *context, struct ss_error *err)
{
	static const struct ss_kernel_choice choice = {
		.by_work = float64_rest,
		.evidence = "computes in float64",
	};
	const struct ss_works *works;
	bool claimed;

	SS_TRY(ss_facts_works(context->subject->facts, &works, err));
	if (float64_is_wanted(works))
		return SS_OK;
	SS_TRY(ss_chosen_kernels_look(context, &choice, &claimed, err));
	if (claimed)
		ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM,
				       "the products are in a shorter type");
	return SS_OK;
}

const struct ss_rule ss_rule_float64_work = {
	.name = "float64-work",
	.title = "Kernels compute in float64 beside products in shorter types",
	.summary = "Elementwise operators, copies and reductions in float64",
	.fix = "x = torch.as_tensor(array, dtype=torch.float32)   # NumPy has float64\n"
	       "y = x.float()   # before the first operator, not behind the last",
	.to_record = "record_shapes=True records the types",
	.views = "roofline operators",
	.warn_share = 0.05,
	.silent_share = 0.02,
	.why = "one line, where nobody wanted the type",
	.facts = SS_FACT_WORKS,
	.needs_device = true,
	.look = float64_work_look,
};
