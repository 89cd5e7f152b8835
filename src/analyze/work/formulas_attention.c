/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formulas_attention.c - attention: two products forward, five backward (the first one is
 * recomputed), as PyTorch's FlopCounterMode counts; half of it if causal.
 *
 * The sequence lengths of a packed batch are known only on the device, so its FLOPs are
 * unknown; so are those of windowed attention.
 */
#include "analyze/work/formulas.h"

/* QUERY: key and value follow it. HEADS: which dimension they are, 1 or 2. */
enum { QUERY, HEADS, CAUSAL, MASK_TYPE, WINDOW, PACKED, LAST_NONE };

struct attention_sizes {
	double batch, heads, kv_heads, queries, keys, depth, value_depth;
};

/* False where the operands are not those of an attention that the formula covers. */
static bool attention_read_sizes(const struct ss_formula *formula, const struct ss_operands *in,
				 struct attention_sizes *out)
{
	uint32_t first = (uint32_t)formula->at[QUERY];
	const struct ss_operand *q = ss_operand_tensor(in, first);
	const struct ss_operand *k = ss_operand_tensor(in, first + 1);
	const struct ss_operand *v = ss_operand_tensor(in, first + 2);
	int heads = formula->at[HEADS], length = 3 - heads;

	if (!q || !k || !v || q->rank != 4 || k->rank != 4 || v->rank != 4 ||
	    q->dtype == SS_DTYPE_OTHER)
		return false;
	if (q->dims[0] != k->dims[0] || k->dims[0] != v->dims[0] || q->dims[3] != k->dims[3] ||
	    k->dims[length] != v->dims[length] || k->dims[heads] != v->dims[heads] ||
	    !k->dims[heads] || q->dims[heads] % k->dims[heads])
		return false;
	*out = (struct attention_sizes){
		.batch = (double)q->dims[0],
		.heads = (double)q->dims[heads],
		.kv_heads = (double)k->dims[heads],
		.queries = (double)q->dims[length],
		.keys = (double)k->dims[length],
		.depth = (double)q->dims[3],
		.value_depth = (double)v->dims[3],
	};
	return true;
}

/* Whether later keys are masked; false: it was not recorded. */
static bool attention_read_causal(const struct ss_formula *formula, const struct ss_operands *in,
				  bool *out)
{
	int64_t type;

	if (formula->at[CAUSAL] != SS_NO_OPERAND)
		return ss_operand_bool(in, ss_formula_at(formula, in, CAUSAL), out);
	if (!ss_operand_int(in, ss_formula_at(formula, in, MASK_TYPE), &type))
		return false;
	*out = type != 0;
	return type >= 0 && type <= 2; /* none, causal from the one or the other corner */
}

/* Whether packed sequences, a window or something else leaves keys out. */
static bool attention_is_partial(const struct ss_formula *formula, const struct ss_operands *in)
{
	const struct ss_operand *packed = ss_operand_tensor(in, ss_formula_at(formula, in, PACKED));
	uint32_t window = ss_formula_at(formula, in, WINDOW);
	uint32_t last = ss_formula_at(formula, in, LAST_NONE);
	int64_t left, right;

	if (packed && ss_operand_elements(packed) > 0)
		return true;
	if (last < in->count && in->items[last].value_length)
		return true;
	/* -1: as far as there are keys; what is causal ends at 0 */
	return window != SS_OPERANDS_MAX &&
	       (!ss_operand_int(in, window, &left) || !ss_operand_int(in, window + 1, &right) ||
		left != -1 || (right != -1 && right != 0));
}

/* FLOPs of one product per unit of depth, for forward and backward; negative: unknown. */
static double attention_pair_flops(const struct ss_formula *formula, const struct ss_operands *in,
				   struct attention_sizes *sizes)
{
	bool causal = false;

	if (!attention_read_sizes(formula, in, sizes) || attention_is_partial(formula, in) ||
	    !attention_read_causal(formula, in, &causal) ||
	    (causal && sizes->queries != sizes->keys))
		return -1;
	return 2 * sizes->batch * sizes->heads * sizes->queries * sizes->keys / (causal ? 2 : 1);
}

/* Query, key, value and output move `times` times. */
static void attention_add_bytes(const struct ss_formula *formula, const struct ss_operands *in,
				const struct attention_sizes *sizes, double times,
				struct ss_work *out)
{
	enum ss_dtype dtype = in->items[formula->at[QUERY]].dtype;
	double rows = sizes->heads * sizes->queries, kv_rows = sizes->kv_heads * sizes->keys;

	out->has_flops = out->has_bytes = true;
	ss_formula_add_bytes(out,
			     times * sizes->batch * (rows + kv_rows) *
				     (sizes->depth + sizes->value_depth),
			     dtype);
}

/* The type is known even if the mask is not recorded. */
static enum ss_dtype attention_dtype(const struct ss_formula *formula, const struct ss_operands *in)
{
	const struct ss_operand *q = ss_operand_tensor(in, (uint32_t)formula->at[QUERY]);

	return q ? q->dtype : SS_DTYPE_UNKNOWN;
}

static void attention_forward_work(const struct ss_formula *formula, const struct ss_operands *in,
				   bool in_place, struct ss_work *out)
{
	struct attention_sizes sizes;
	double pairs = attention_pair_flops(formula, in, &sizes);

	(void)in_place;
	out->dtype = attention_dtype(formula, in);
	if (pairs < 0)
		return;
	out->flops = pairs * (sizes.depth + sizes.value_depth);
	attention_add_bytes(formula, in, &sizes, 1, out);
}

/* Scores again, their gradient, and those of query, key and value. */
static void attention_backward_work(const struct ss_formula *formula, const struct ss_operands *in,
				    bool in_place, struct ss_work *out)
{
	struct attention_sizes sizes;
	double pairs = attention_pair_flops(formula, in, &sizes);

	(void)in_place;
	out->dtype = attention_dtype(formula, in);
	if (pairs < 0)
		return;
	out->flops = pairs * (3 * sizes.depth + 2 * sizes.value_depth);
	attention_add_bytes(formula, in, &sizes, 2, out); /* each has a gradient */
}

#define NONE SS_NO_OPERAND
#define ATTENTION(name, function, ...)                                    \
	{                                                                 \
		name, SS_WORK_ATTENTION, function, { __VA_ARGS__ }, false \
	}

static const struct ss_formula attention_formulas[] = {
	/* positions are counted from the end where versions have different numbers of operands */
	ATTENTION("scaled_dot_product_attention", attention_forward_work, 0, 1, 5, NONE, NONE, NONE,
		  NONE),
	ATTENTION("_scaled_dot_product_flash_attention", attention_forward_work, 0, 1, 4, NONE,
		  NONE, NONE, NONE),
	ATTENTION("_scaled_dot_product_flash_attention_for_cpu", attention_forward_work, 0, 1, 4,
		  NONE, NONE, NONE, NONE),
	ATTENTION("_scaled_dot_product_efficient_attention", attention_forward_work, 0, 1, 6, NONE,
		  NONE, NONE, NONE),
	ATTENTION("_scaled_dot_product_cudnn_attention", attention_forward_work, 0, 1, -3, NONE,
		  NONE, NONE, NONE),
	ATTENTION("_scaled_dot_product_fused_attention_overrideable", attention_forward_work, 0, 1,
		  5, NONE, NONE, NONE, NONE),
	ATTENTION("_flash_attention_forward", attention_forward_work, 0, 2, 8, NONE, NONE, 3, NONE),
	ATTENTION("_efficient_attention_forward", attention_forward_work, 0, 2, NONE, -5, NONE, 4,
		  -1),
	ATTENTION("flash_attn::_flash_attn_forward", attention_forward_work, 0, 2, 5, NONE, 6, NONE,
		  NONE),
	ATTENTION("_scaled_dot_product_flash_attention_backward", attention_backward_work, 1, 1, 11,
		  NONE, NONE, 6, NONE),
	ATTENTION("_scaled_dot_product_flash_attention_for_cpu_backward", attention_backward_work,
		  1, 1, 7, NONE, NONE, NONE, NONE),
	ATTENTION("_scaled_dot_product_efficient_attention_backward", attention_backward_work, 1, 1,
		  11, NONE, NONE, NONE, NONE),
	ATTENTION("_scaled_dot_product_cudnn_attention_backward", attention_backward_work, 1, 1, 14,
		  NONE, NONE, 9, NONE),
	ATTENTION("_flash_attention_backward", attention_backward_work, 1, 2, 11, NONE, NONE, 6,
		  NONE),
	ATTENTION("_efficient_attention_backward", attention_backward_work, 1, 2, NONE, 14, NONE, 6,
		  NONE),
	ATTENTION("flash_attn::_flash_attn_backward", attention_backward_work, 1, 2, 11, NONE, 12,
		  NONE, NONE),
	/* packed batches, paged caches, windows: only the kind is known */
	{ "flash_attn::_flash_attn_varlen_forward", SS_WORK_ATTENTION, NULL, { 0 }, false },
	{ "flash_attn::_flash_attn_varlen_backward", SS_WORK_ATTENTION, NULL, { 0 }, false },
	{ "flash_attn_3::fwd", SS_WORK_ATTENTION, NULL, { 0 }, false },
	{ "flash_attn_3::bwd", SS_WORK_ATTENTION, NULL, { 0 }, false },
	{ "vllm::unified_attention_with_output", SS_WORK_ATTENTION, NULL, { 0 }, false },
	{ "aiter::mha_batch_prefill", SS_WORK_ATTENTION, NULL, { 0 }, false },
};

const struct ss_formula_table ss_formulas_attention = { attention_formulas,
							SS_COUNT(attention_formulas) };
