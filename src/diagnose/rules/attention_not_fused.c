/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attention_not_fused.c - rule: attention as two matmuls with a softmax between them.
 *
 * The scores of all pairs of tokens are written to memory, scaled, masked, normalized and read
 * again, one kernel each. Fused kernels keep them on the chip: everything between the two
 * products disappears, in forward and backward.
 */
#include <string.h>

#include "base/sort.h"
#include "base/text.h"
#include "diagnose/evidence/code_places.h"

/* Kernels between the two products: scale, mask, softmax, dropout, casts; the same in backward. */
#define BETWEEN_MAX 16

/* How many operators around a launch are checked by name. */
#define OWNERS_MAX 8

enum attention_role { ROLE_NEW = 0, ROLE_OTHER, ROLE_PRODUCT, ROLE_SOFTMAX, ROLE_BREAK, ROLE_MATH };

struct attention_launch {
	uint32_t call, task; /* host row, task of the kernel */
};

struct unfused_attention {
	struct ss_rule_context *context;
	const struct ss_ops *ops;
	uint8_t *roles; /* enum attention_role, per name */
	struct attention_launch *kernels;
	uint32_t kernel_count;
	int64_t math_ns, claimed_ns; /* inside of PyTorch's own attention; all */
	struct ss_code_places *sites;
};

static enum attention_role attention_role_of_name(const char *name)
{
	/* products with weights, and fused attention: they end what may be unfused attention */
	static const char *const breaks[] = { "aten::mm", "aten::addmm", "aten::linear",
					      "aten::_convolution", "log_softmax" };

	if (strcmp(name, "aten::bmm") == 0 || strcmp(name, "aten::baddbmm") == 0 ||
	    strcmp(name, "aten::baddbmm_") == 0)
		return ROLE_PRODUCT;
	/* the slow path of scaled_dot_product_attention is made of separate operators */
	if (strcmp(name, "aten::_scaled_dot_product_attention_math") == 0)
		return ROLE_MATH;
	/* of a library: a range of the user may have that name, too */
	if (strstr(name, "attention") && strstr(name, "::"))
		return ROLE_BREAK;
	if (ss_string_has_one_of(name, breaks, SS_COUNT(breaks)))
		return ROLE_BREAK;
	return strstr(name, "softmax") || strstr(name, "Softmax") ? ROLE_SOFTMAX : ROLE_OTHER;
}

/* The role of the innermost operator around the launch that has one, `wanted` or any. */
static enum attention_role attention_role_of_call(struct unfused_attention *attention,
						  uint32_t call, enum attention_role wanted)
{
	const struct ss_trace *trace = attention->context->trace;
	uint32_t op = attention->ops->owner[call];

	for (int i = 0; i < OWNERS_MAX && op != SS_NO_ROW; i++, op = attention->ops->owner[op]) {
		uint8_t *role = &attention->roles[trace->slices.name[op]];

		if (*role == ROLE_NEW)
			*role = (uint8_t)attention_role_of_name(
				ss_strings_text(&trace->names, trace->slices.name[op]));
		if (*role != ROLE_OTHER && (!wanted || *role == wanted))
			return (enum attention_role) * role;
	}
	return ROLE_OTHER;
}

SS_COMPARATOR(launch_compare_call, struct attention_launch, SS_ASCENDING(call) SS_ASCENDING(task))

/* Kernels in the order of their launches, thread after thread. */
static bool attention_sort_kernels(struct unfused_attention *attention)
{
	const struct ss_graph *graph = attention->context->graph;
	struct ss_task_range kernels = graph->of_kind[SS_TASK_KERNEL];
	const struct ss_trace *trace = attention->context->trace;

	if (!SS_ALLOC(attention->context->scratch, attention->kernels,
		      (size_t)graph->task_count + 1) ||
	    !SS_ALLOC(attention->context->scratch, attention->roles,
		      (size_t)trace->names.count + 1))
		return false;
	for (uint32_t i = kernels.from; i < kernels.to; i++) {
		const struct ss_task *task = &graph->tasks[i];
		uint32_t call = task->kind == SS_TASK_KERNEL ? trace->slices.link[task->row]
							     : SS_NO_ROW;

		if (call < attention->ops->row_count)
			attention->kernels[attention->kernel_count++] =
				(struct attention_launch){ call, i };
	}
	return ss_sort_runs(attention->kernels, attention->kernel_count,
			    sizeof(*attention->kernels), launch_compare_call,
			    attention->context->memory);
}

static void attention_claim_between(struct unfused_attention *attention, uint32_t from, uint32_t to)
{
	const struct ss_rule_context *context = attention->context;
	const struct ss_slices *slices = &context->trace->slices;

	for (uint32_t i = from; i < to; i++) {
		const struct attention_launch *kernel = &attention->kernels[i];
		const struct ss_task *task = &context->graph->tasks[kernel->task];
		uint32_t op = attention->ops->owner[kernel->call];

		/* at worst masks and casts remain: half of it */
		if (task->step != SS_NO_STEP && op != SS_NO_ROW &&
		    ss_rule_claim(attention->context,
				  (struct ss_claim){ .task = kernel->task,
						     .low_ns = task->own_ns / 2 })) {
			ss_code_places_add(attention->sites, slices->name[op], op, task->own_ns);
			ss_ns_add(&attention->claimed_ns, task->own_ns);
			if (attention_role_of_call(attention, kernel->call, ROLE_MATH) == ROLE_MATH)
				ss_ns_add(&attention->math_ns, task->own_ns);
		}
	}
}

/* Looks for a product, a softmax among other kernels, and a second product, on one thread. */
static void attention_find(struct unfused_attention *attention)
{
	const struct ss_slices *slices = &attention->context->trace->slices;
	uint32_t from = SS_NO_ROW, track = SS_NO_ROW;
	bool has_softmax = false;

	for (uint32_t i = 0; i < attention->kernel_count; i++) {
		uint32_t call = attention->kernels[i].call;
		enum attention_role role = attention_role_of_call(attention, call, ROLE_NEW);

		if (slices->track[call] != track || role == ROLE_BREAK ||
		    (from != SS_NO_ROW && i - from > BETWEEN_MAX))
			from = SS_NO_ROW;
		track = slices->track[call];
		if (role == ROLE_SOFTMAX)
			has_softmax = true;
		if (role != ROLE_PRODUCT)
			continue;
		if (from != SS_NO_ROW && has_softmax)
			attention_claim_between(attention, from, i);
		from = i + 1;
		has_softmax = false;
	}
}

static const char slow_path_fix[] =
	"# scaled_dot_product_attention takes its slow path; this says why:\n"
	"with sdpa_kernel([SDPBackend.FLASH_ATTENTION,\n"
	"                  SDPBackend.EFFICIENT_ATTENTION]):   # torch.nn.attention\n"
	"    y = F.scaled_dot_product_attention(q, k, v, is_causal=True)\n"
	"# fp16 or bf16, heads in multiples of 8, no mask that needs a gradient";

static enum ss_status attention_not_fused_look(struct ss_rule_context *context,
					       struct ss_error *err)
{
	struct unfused_attention attention = { .context = context };

	SS_TRY(ss_facts_ops(context->subject->facts, &attention.ops, err));
	SS_TRY(ss_code_places_make(&attention.sites, context, err));
	if (!attention_sort_kernels(&attention))
		return ss_fail_memory(err, "the kernels of attention");
	attention_find(&attention);
	ss_code_places_report(attention.sites, UINT32_MAX,
			      "%s between the two matmuls of attention: {time} per step ({count} "
			      "times)");
	if (attention.sites->count)
		ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM,
				       "the trace does not show who needs attention weights");
	if (attention.math_ns > attention.claimed_ns / 2)
		ss_rule_set_fix(context, slow_path_fix);
	return SS_OK;
}

const struct ss_rule ss_rule_attention_not_fused = {
	.name = "attention-not-fused",
	.title = "Attention runs as separate kernels instead of one fused kernel",
	.summary = "Softmax between two batched matmuls: attention scores go through memory",
	.fix = "y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)\n"
	       "# Hugging Face models: from_pretrained(..., attn_implementation=\"sdpa\")",
	.to_record = "with_stack=True names the line",
	.views = "kernels modules",
	.warn_share = 0.05,
	.silent_share = 0.02,
	.why = "it changes one line, but also the numbers: from 5 % on it is worth the check",
	.facts = SS_FACT_OPS,
	.needs_device = true,
	.look = attention_not_fused_look,
};
