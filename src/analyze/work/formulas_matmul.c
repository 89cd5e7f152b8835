/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formulas_matmul.c - matrix multiplies, 2 x rows x columns x length, and attention.
 */
#include "analyze/work/formulas.h"

enum { FIRST, BIAS, OUT_DTYPE, OLD_OUT_DTYPE };

/* c10::ScalarType, as out_dtype is recorded. */
static enum ss_dtype scalar_type_dtype(int64_t number)
{
	static const enum ss_dtype dtypes[] = {
		[0] = SS_DTYPE_INT8,  [1] = SS_DTYPE_INT8,  [2] = SS_DTYPE_INT16,
		[3] = SS_DTYPE_INT32, [4] = SS_DTYPE_INT64, [5] = SS_DTYPE_FP16,
		[6] = SS_DTYPE_FP32,  [7] = SS_DTYPE_FP64,  [11] = SS_DTYPE_BOOL,
		[15] = SS_DTYPE_BF16, [23] = SS_DTYPE_FP8,  [24] = SS_DTYPE_FP8,
		[25] = SS_DTYPE_FP8,  [26] = SS_DTYPE_FP8,
	};

	return number >= 0 && number < (int64_t)SS_COUNT(dtypes) ? dtypes[number]
								 : SS_DTYPE_UNKNOWN;
}

/* Fills in the work of a product whose sizes are known. */
static void matmul_fill_work(const struct ss_formula *formula, const struct ss_operands *in,
			     double flops, struct ss_work *out)
{
	uint32_t first = ss_formula_at(formula, in, FIRST);
	const struct ss_operand *a = ss_operand_tensor(in, first);
	const struct ss_operand *b = ss_operand_tensor(in, first + 1);
	const struct ss_operand *bias = ss_operand_tensor(in, ss_formula_at(formula, in, BIAS));
	enum ss_dtype out_dtype = a->dtype;
	int64_t number;

	if (a->dtype == SS_DTYPE_OTHER || b->dtype == SS_DTYPE_OTHER)
		return;
	out->dtype = a->dtype;
	out->has_flops = true;
	out->flops = a->dtype == SS_DTYPE_FP4 ? 2 * flops : flops;
	if (ss_operand_int(in, ss_formula_at(formula, in, OUT_DTYPE), &number) ||
	    ss_operand_int(in, ss_formula_at(formula, in, OLD_OUT_DTYPE), &number))
		out_dtype = scalar_type_dtype(number);
	out->has_bytes = true;
	ss_formula_add_bytes(out, ss_operand_stored(a), a->dtype);
	ss_formula_add_bytes(out, ss_operand_stored(b), b->dtype);
	if (bias)
		ss_formula_add_bytes(out, ss_operand_stored(bias), bias->dtype);
	out->out_bytes = out->batch * out->rows * out->columns * ss_dtype_bytes(out_dtype);
	ss_formula_add_bytes(out, out->batch * out->rows * out->columns, out_dtype);
}

/* The i-th size from the right, 1 beyond the left end. */
static double dim_from_right(const struct ss_operand *operand, uint32_t from_right)
{
	return from_right < operand->rank ? (double)operand->dims[operand->rank - 1 - from_right]
					  : 1;
}

/* [.., m, k] x [.., k, n] as torch.matmul has it: vectors lack m or n, batches broadcast. */
static void matmul_work(const struct ss_formula *formula, const struct ss_operands *in,
			bool in_place, struct ss_work *out)
{
	uint32_t first = ss_formula_at(formula, in, FIRST);
	const struct ss_operand *a = ss_operand_tensor(in, first);
	const struct ss_operand *b = ss_operand_tensor(in, first + 1);
	double batch = 1, k;

	(void)in_place;
	if (!a || !b || !a->rank || !b->rank)
		return;
	k = dim_from_right(a, 0);
	out->rows = dim_from_right(a, 1);
	out->columns = b->rank > 1 ? dim_from_right(b, 0) : 1;
	if (k != (b->rank > 1 ? dim_from_right(b, 1) : dim_from_right(b, 0)))
		return;
	for (uint32_t i = 2; i < a->rank || i < b->rank; i++) {
		double x = dim_from_right(a, i), y = dim_from_right(b, i);

		if (x != y && x != 1 && y != 1)
			return;
		batch *= x == 1 ? y : x;
	}
	out->batch = batch;
	matmul_fill_work(formula, in, 2 * batch * out->rows * out->columns * k, out);
}

/* [.., k] x [n, k]. */
static void linear_work(const struct ss_formula *formula, const struct ss_operands *in,
			bool in_place, struct ss_work *out)
{
	const struct ss_operand *x = ss_operand_tensor(in, 0);
	const struct ss_operand *weight = ss_operand_tensor(in, 1);
	double rows = 1;

	(void)in_place;
	if (!x || !weight || !x->rank || weight->rank != 2 ||
	    dim_from_right(x, 0) != dim_from_right(weight, 0))
		return;
	for (uint32_t i = 1; i < x->rank; i++)
		rows *= dim_from_right(x, i);
	out->rows = rows;
	out->columns = dim_from_right(weight, 1);
	out->batch = 1;
	matmul_fill_work(formula, in, 2 * rows * ss_operand_elements(weight), out);
}

/*
 * Each group of rows of [m, k] times its matrix of [g, k, n]. Only the device knows the sizes
 * of the groups, but every row belongs to one. Other layouts are unknown.
 */
static void grouped_mm_work(const struct ss_formula *formula, const struct ss_operands *in,
			    bool in_place, struct ss_work *out)
{
	const struct ss_operand *a = ss_operand_tensor(in, 0), *b = ss_operand_tensor(in, 1);

	(void)in_place;
	if (!a || !b || a->rank != 2 || b->rank != 3 ||
	    dim_from_right(a, 0) != dim_from_right(b, 1))
		return;
	out->rows = dim_from_right(a, 1);
	out->columns = dim_from_right(b, 0);
	out->batch = 1;
	out->groups = (double)b->dims[0];
	matmul_fill_work(formula, in, 2 * ss_operand_elements(a) * out->columns, out);
}

/*
 * Experts of servers: rows [t, h], weights [e, n, h] and [e, h, i] (n is 2 i with a gate), and
 * [t, k] for the k experts of each row. The weights of the experts in use are read: at most as many
 * as there are pairs of row and expert.
 */
static void fused_experts_work(const struct ss_formula *formula, const struct ss_operands *in,
			       bool in_place, struct ss_work *out)
{
	const struct ss_operand *x = ss_operand_tensor(in, 0), *up = ss_operand_tensor(in, 1);
	const struct ss_operand *down = ss_operand_tensor(in, 2), *top = ss_operand_tensor(in, 3);
	double pairs, experts, used, expert;

	(void)formula;
	(void)in_place;
	if (!x || !up || !down || !top || x->rank != 2 || up->rank != 3 || down->rank != 3 ||
	    top->rank != 2 || up->dims[0] != down->dims[0] || up->dims[2] != x->dims[1] ||
	    down->dims[1] != x->dims[1] || top->dims[0] != x->dims[0] || !up->dims[0] ||
	    up->dtype != down->dtype || up->dtype == SS_DTYPE_OTHER)
		return;
	experts = (double)up->dims[0];
	pairs = ss_operand_elements(top);
	used = pairs < experts ? pairs : experts;
	expert = (ss_operand_elements(up) + ss_operand_elements(down)) / experts;
	out->dtype = up->dtype;
	out->has_flops = out->has_bytes = true;
	out->flops = 2 * pairs * expert;
	out->batch = out->groups = used;
	out->rows = used > 0 ? pairs / used : 0;
	out->columns = (double)up->dims[1];
	out->out_bytes = ss_operand_elements(x) * ss_dtype_bytes(x->dtype);
	ss_formula_add_bytes(out, used * expert, up->dtype);
	ss_formula_add_bytes(out, 2 * ss_operand_elements(x), x->dtype);
}

#define NONE SS_NO_OPERAND
#define MATMUL(name, function, ...)                                    \
	{                                                              \
		name, SS_WORK_MATMUL, function, { __VA_ARGS__ }, false \
	}

static const struct ss_formula matmul_formulas[] = {
	MATMUL("mm", matmul_work, 0, NONE, 2, NONE),
	MATMUL("addmm", matmul_work, 1, 0, NONE, NONE),
	MATMUL("_addmm_activation", matmul_work, 1, 0, NONE, NONE),
	MATMUL("bmm", matmul_work, 0, NONE, 2, NONE),
	MATMUL("baddbmm", matmul_work, 1, 0, NONE, NONE),
	MATMUL("mv", matmul_work, 0, NONE, NONE, NONE),
	MATMUL("addmv", matmul_work, 1, 0, NONE, NONE),
	MATMUL("dot", matmul_work, 0, NONE, NONE, NONE),
	MATMUL("matmul", matmul_work, 0, NONE, NONE, NONE),
	MATMUL("linear", linear_work, 0, 2, NONE, NONE),
	MATMUL("mkldnn_linear", linear_work, 0, 2, NONE, NONE),
	/* the type of the result moved when the scales became required */
	MATMUL("_scaled_mm", matmul_work, 0, NONE, 6, 3),
	MATMUL("_grouped_mm", grouped_mm_work, 0, NONE, 4, NONE),
	MATMUL("_scaled_grouped_mm", grouped_mm_work, 0, NONE, 7, NONE),
	MATMUL("vllm::inplace_fused_experts", fused_experts_work, 0),
	MATMUL("vllm::outplace_fused_experts", fused_experts_work, 0),
	MATMUL("vllm::rocm_aiter_fused_moe", fused_experts_work, 0),
};

const struct ss_formula_table ss_formulas_matmul = { matmul_formulas, SS_COUNT(matmul_formulas) };

/*
 * Attention: two products forward, five backward (the first one is
 * recomputed), as PyTorch's FlopCounterMode counts; half of it if causal.
 *
 * The sequence lengths of a packed batch are known only on the device, so its FLOPs are
 * unknown; so are those of windowed attention.
 */

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
	out->depth = sizes->depth;
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
	/* paged caches: only the kind is known */
	{ "vllm::unified_attention_with_output", SS_WORK_ATTENTION, NULL, { 0 }, false },
	{ "aiter::mha_batch_prefill", SS_WORK_ATTENTION, NULL, { 0 }, false },
};

const struct ss_formula_table ss_formulas_attention = { attention_formulas,
							SS_COUNT(attention_formulas) };
