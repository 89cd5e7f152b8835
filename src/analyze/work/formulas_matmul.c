/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formulas_matmul.c - matrix multiplies: 2 x rows x columns x length.
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
			     double flops, double out_elements, struct ss_work *out)
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
	out->flops = flops;
	if (ss_operand_int(in, ss_formula_at(formula, in, OUT_DTYPE), &number) ||
	    ss_operand_int(in, ss_formula_at(formula, in, OLD_OUT_DTYPE), &number))
		out_dtype = scalar_type_dtype(number);
	out->has_bytes = true;
	ss_formula_add_bytes(out, ss_operand_stored(a), a->dtype);
	ss_formula_add_bytes(out, ss_operand_stored(b), b->dtype);
	if (bias)
		ss_formula_add_bytes(out, ss_operand_stored(bias), bias->dtype);
	ss_formula_add_bytes(out, out_elements, out_dtype);
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
	double batch = 1, m, n, k;

	(void)in_place;
	if (!a || !b || !a->rank || !b->rank)
		return;
	k = dim_from_right(a, 0);
	m = dim_from_right(a, 1);
	n = b->rank > 1 ? dim_from_right(b, 0) : 1;
	if (k != (b->rank > 1 ? dim_from_right(b, 1) : dim_from_right(b, 0)))
		return;
	for (uint32_t i = 2; i < a->rank || i < b->rank; i++) {
		double x = dim_from_right(a, i), y = dim_from_right(b, i);

		if (x != y && x != 1 && y != 1)
			return;
		batch *= x == 1 ? y : x;
	}
	matmul_fill_work(formula, in, 2 * batch * m * n * k, batch * m * n, out);
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
	matmul_fill_work(formula, in, 2 * rows * ss_operand_elements(weight),
			 rows * dim_from_right(weight, 1), out);
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
	matmul_fill_work(formula, in, 2 * ss_operand_elements(a) * dim_from_right(b, 0),
			 dim_from_right(a, 1) * dim_from_right(b, 0), out);
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
};

const struct ss_formula_table ss_formulas_matmul = { matmul_formulas, SS_COUNT(matmul_formulas) };
