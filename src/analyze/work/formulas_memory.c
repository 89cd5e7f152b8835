/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formulas_memory.c - operators that do little with each element: memory limits them, so
 * their bytes are counted and their FLOPs are not.
 */
#include <string.h>

#include "analyze/work/formulas.h"

enum { ARITY, OUT_DTYPE };
enum { RESULTS, READ_TWICE };
enum { PER_LIST, MORE_PASSES };
enum { SOURCE, NUMBERS, SOURCE_PASSES, BY_ELEMENT };

/* Memory is read and written in sectors of this size, on NVIDIA's and AMD's devices. */
#define SECTOR_BYTES 32

/* The type of the result: promoted from the operands, bool, or floating point. */
enum { PROMOTED, TRUTH, REAL };

static bool dtype_is_integer(enum ss_dtype dtype)
{
	return dtype >= SS_DTYPE_BOOL && dtype <= SS_DTYPE_INT64;
}

/* The type of an operation on both: torch.promote_types(). */
static enum ss_dtype dtype_promote(enum ss_dtype a, enum ss_dtype b)
{
	enum ss_dtype low = a < b ? a : b, high = a < b ? b : a;

	return low == SS_DTYPE_FP16 && high == SS_DTYPE_BF16 ? SS_DTYPE_FP32 : high;
}

/* Broadcasts the operand into the size of the result; false: the sizes do not match. */
static bool operand_broadcast(struct ss_operand *out, const struct ss_operand *operand)
{
	uint32_t rank = out->rank > operand->rank ? out->rank : operand->rank;
	struct ss_operand wider = { .is_tensor = true, .dtype = out->dtype, .rank = rank };

	for (uint32_t i = 1; i <= rank; i++) {
		int64_t x = i <= out->rank ? out->dims[out->rank - i] : 1;
		int64_t y = i <= operand->rank ? operand->dims[operand->rank - i] : 1;

		if (x != y && x != 1 && y != 1)
			return false;
		wider.dims[rank - i] = x == 1 ? y : x;
	}
	/* Python numbers are tensors without sizes: the type of real tensors wins */
	if (!out->dtype)
		wider.dtype = operand->dtype;
	else if (operand->rank ||
		 (dtype_is_integer(out->dtype) && !dtype_is_integer(operand->dtype)))
		wider.dtype = dtype_promote(out->dtype, operand->dtype);
	*out = wider;
	return true;
}

/* Adds what is written, and keeps its size. */
static void add_result(struct ss_work *out, const struct ss_operand *result, enum ss_dtype dtype)
{
	out->elements = ss_operand_elements(result);
	out->out_bytes = out->elements * ss_dtype_bytes(dtype);
	out->columns = result->rank ? (double)result->dims[result->rank - 1] : 0;
	ss_formula_add_bytes(out, out->elements, dtype);
}

/* Reads up to ARITY tensors, broadcast, and writes one. A further tensor is the output. */
static void elementwise_work(const struct ss_formula *formula, const struct ss_operands *in,
			     bool in_place, struct ss_work *out)
{
	struct ss_operand result = { .is_tensor = true };
	int found = 0;

	out->has_bytes = true;
	for (uint32_t i = 0; i < in->count; i++) {
		const struct ss_operand *operand = ss_operand_tensor(in, i);

		if (!operand || found == formula->at[ARITY])
			continue;
		found++;
		ss_formula_add_bytes(out, ss_operand_stored(operand), operand->dtype);
		if (!operand_broadcast(&result, operand)) {
			out->has_bytes = false;
			return;
		}
	}
	if (!found) {
		out->has_bytes = false;
		return;
	}
	out->dtype = result.dtype;
	if (in_place)
		result.dtype = in->items[0].dtype;
	else if (formula->at[OUT_DTYPE] == TRUTH)
		result.dtype = SS_DTYPE_BOOL;
	else if (formula->at[OUT_DTYPE] == REAL && dtype_is_integer(result.dtype))
		result.dtype = SS_DTYPE_FP32;
	add_result(out, &result, result.dtype);
}

static void copy_work(const struct ss_formula *formula, const struct ss_operands *in, bool in_place,
		      struct ss_work *out)
{
	const struct ss_operand *target = ss_operand_tensor(in, 0);
	const struct ss_operand *source = ss_operand_tensor(in, 1);

	(void)formula;
	(void)in_place;
	if (!target || !source)
		return;
	out->has_bytes = true;
	out->dtype = source->dtype;
	ss_formula_add_bytes(out, ss_operand_stored(source), source->dtype);
	add_result(out, target, target->dtype);
}

/* The first operand, read or written. The small result of a reduction does not count. */
static void first_operand_work(const struct ss_formula *formula, const struct ss_operands *in,
			       bool in_place, struct ss_work *out)
{
	const struct ss_operand *operand = ss_operand_tensor(in, 0);

	(void)formula;
	(void)in_place;
	if (!operand)
		return;
	out->has_bytes = true;
	out->dtype = operand->dtype;
	out->elements = ss_operand_elements(operand);
	out->columns = operand->rank ? (double)operand->dims[operand->rank - 1] : 0;
	ss_formula_add_bytes(out, ss_operand_stored(operand), operand->dtype);
}

/*
 * Reads all tensors and writes RESULTS like the first. Batch norm needs the sums of a channel over
 * the whole batch first, so it reads the first READ_TWICE tensors again.
 */
static void norm_work(const struct ss_formula *formula, const struct ss_operands *in, bool in_place,
		      struct ss_work *out)
{
	const struct ss_operand *operand = ss_operand_tensor(in, 0);

	(void)in_place;
	if (!operand)
		return;
	out->has_bytes = true;
	out->dtype = operand->dtype;
	for (uint32_t i = 0; i < in->count; i++)
		if (in->items[i].is_tensor)
			ss_formula_add_bytes(out, ss_operand_stored(&in->items[i]),
					     in->items[i].dtype);
	for (int i = 0; i < formula->at[RESULTS]; i++)
		add_result(out, operand, operand->dtype);
	out->more_bytes = formula->at[READ_TWICE] * ss_operand_elements(operand) *
			  ss_dtype_bytes(operand->dtype);
	if (formula->at[READ_TWICE] && operand->rank > 1)
		out->depth = (double)operand->dims[1];
}

/* With half_to_float, softmax of half precision writes single precision. */
static void softmax_work(const struct ss_formula *formula, const struct ss_operands *in,
			 bool in_place, struct ss_work *out)
{
	const struct ss_operand *operand = ss_operand_tensor(in, 0);
	bool to_float = false;

	(void)formula;
	(void)in_place;
	if (!operand)
		return;
	(void)ss_operand_bool(in, 2, &to_float);
	out->has_bytes = true;
	out->dtype = operand->dtype;
	ss_formula_add_bytes(out, ss_operand_stored(operand), operand->dtype);
	add_result(out, operand, to_float ? SS_DTYPE_FP32 : operand->dtype);
}

/* All tensors once: results are among the operands. */
static void operands_work(const struct ss_formula *formula, const struct ss_operands *in,
			  bool in_place, struct ss_work *out)
{
	(void)formula;
	(void)in_place;
	for (uint32_t i = 0; i < in->count; i++) {
		const struct ss_operand *operand = ss_operand_tensor(in, i);

		if (!operand || !operand->rank)
			continue;
		if (!out->dtype) {
			out->has_bytes = true;
			out->dtype = operand->dtype;
			out->columns = (double)operand->dims[operand->rank - 1];
		}
		ss_formula_add_bytes(out, ss_operand_stored(operand), operand->dtype);
	}
}

/* Rows of a table by their numbers: each is read and written. */
static void embedding_work(const struct ss_formula *formula, const struct ss_operands *in,
			   bool in_place, struct ss_work *out)
{
	const struct ss_operand *table = ss_operand_tensor(in, 0);
	const struct ss_operand *numbers = ss_operand_tensor(in, 1);

	(void)formula;
	(void)in_place;
	if (!table || !numbers || table->rank != 2)
		return;
	out->has_bytes = true;
	out->dtype = table->dtype;
	ss_formula_add_bytes(out, ss_operand_stored(numbers), numbers->dtype);
	ss_formula_add_bytes(out, 2 * ss_operand_elements(numbers) * (double)table->dims[1],
			     table->dtype);
}

/* Rows of a tensor by their numbers, along a dimension. */
static void index_select_work(const struct ss_formula *formula, const struct ss_operands *in,
			      bool in_place, struct ss_work *out)
{
	const struct ss_operand *from = ss_operand_tensor(in, 0);
	const struct ss_operand *numbers = ss_operand_tensor(in, 2);
	struct ss_operand result;
	int64_t at;

	(void)formula;
	(void)in_place;
	if (!from || !numbers || !ss_operand_int(in, 1, &at) || at < -(int64_t)from->rank ||
	    at >= (int64_t)from->rank)
		return;
	result = *from;
	result.dims[at < 0 ? at + from->rank : at] = (int64_t)ss_operand_elements(numbers);
	out->has_bytes = true;
	out->dtype = from->dtype;
	ss_formula_add_bytes(out, ss_operand_stored(numbers), numbers->dtype);
	add_result(out, &result, from->dtype);
	ss_formula_add_bytes(out, out->elements, from->dtype);
}

/*
 * The type of a list is not recorded: the kernel's name has it (work.c). PER_LIST passes over each
 * list of the size of the first, and MORE_PASSES. Fused optimizers write all lists but gradients.
 */
static void list_work(const struct ss_formula *formula, const struct ss_operands *in, bool in_place,
		      struct ss_work *out)
{
	double lists = 0;

	(void)in_place;
	out->elements = in->count ? in->items[0].listed : 0;
	for (uint32_t i = 0; i < in->count; i++)
		lists += in->items[i].listed > 0 && in->items[i].listed == out->elements;
	out->list_passes = formula->at[PER_LIST] * lists + formula->at[MORE_PASSES];
}

/*
 * Elements at positions that numbers tell: as many as SOURCE has, read and written as often as
 * SOURCE_PASSES says. What is not touched does not count. BY_ELEMENT: not whole rows, so each
 * pass may touch a sector per element.
 */
static void scatter_work(const struct ss_formula *formula, const struct ss_operands *in,
			 bool in_place, struct ss_work *out)
{
	const struct ss_operand *source = ss_operand_tensor(in, ss_formula_at(formula, in, SOURCE));
	const struct ss_operand *target = ss_operand_tensor(in, 0);
	const struct ss_operand *numbers = ss_operand_tensor(in,
							     ss_formula_at(formula, in, NUMBERS));

	(void)in_place;
	/* a single number is broadcast */
	if (!source || !target || !source->rank || ss_operand_elements(source) <= 1)
		return;
	out->has_bytes = true;
	out->dtype = target->dtype;
	out->columns = (double)source->dims[source->rank - 1];
	if (numbers)
		ss_formula_add_bytes(out, ss_operand_stored(numbers), numbers->dtype);
	ss_formula_add_bytes(out, formula->at[SOURCE_PASSES] * ss_operand_elements(source),
			     target->dtype);
	if (formula->at[BY_ELEMENT])
		out->more_bytes = formula->at[SOURCE_PASSES] * ss_operand_elements(source) *
				  (SECTOR_BYTES - ss_dtype_bytes(target->dtype));
}

/* As often as there are results of the size of the operands: all are read, and written in order. */
static void permute_work(const struct ss_formula *formula, const struct ss_operands *in,
			 bool in_place, struct ss_work *out)
{
	norm_work(&(struct ss_formula){ .at = { 0 } }, in, in_place, out);
	out->moved_bytes *= 1 + formula->at[RESULTS];
}

/* Reads an image and writes one of another size. */
static void upsample_work(const struct ss_formula *formula, const struct ss_operands *in,
			  bool in_place, struct ss_work *out)
{
	const struct ss_operand *image = ss_operand_tensor(in, 0);
	struct ss_operand result;
	int64_t size[2];

	(void)formula;
	(void)in_place;
	if (!image || image->rank != 4 || !ss_operand_ints(in, 1, 2, size) || size[0] <= 0 ||
	    size[1] <= 0)
		return;
	result = *image;
	result.dims[2] = size[0];
	result.dims[3] = size[1];
	out->has_bytes = true;
	out->dtype = image->dtype;
	ss_formula_add_bytes(out, ss_operand_stored(image), image->dtype);
	add_result(out, &result, image->dtype);
}

#define NONE SS_NO_OPERAND
#define MEMORY(name, kind, function, ...)                              \
	{                                                              \
		name, SS_WORK_##kind, function, { __VA_ARGS__ }, false \
	}
#define UNARY(name) MEMORY(name, ELEMENTWISE, elementwise_work, 1, PROMOTED)
#define BINARY(name) MEMORY(name, ELEMENTWISE, elementwise_work, 2, PROMOTED)
#define TERNARY(name) MEMORY(name, ELEMENTWISE, elementwise_work, 3, PROMOTED)
#define COMPARE(name) MEMORY(name, ELEMENTWISE, elementwise_work, 2, TRUTH)
#define REDUCE(name) MEMORY(name, REDUCTION, first_operand_work, 0)
#define NORM(name) MEMORY(name, NORM, norm_work, 1)

static const struct ss_formula memory_formulas[] = {
	MEMORY("copy_", COPY, copy_work, 0),
	MEMORY("fill_", COPY, first_operand_work, 0),
	MEMORY("zero_", COPY, first_operand_work, 0),
	MEMORY("normal_", COPY, first_operand_work, 0),
	MEMORY("uniform_", COPY, first_operand_work, 0),
	MEMORY("random_", COPY, first_operand_work, 0),
	BINARY("add"),
	BINARY("sub"),
	BINARY("rsub"),
	BINARY("mul"),
	MEMORY("div", ELEMENTWISE, elementwise_work, 2, REAL),
	BINARY("pow"),
	BINARY("maximum"),
	BINARY("minimum"),
	BINARY("remainder"),
	BINARY("fmod"),
	BINARY("bitwise_and"),
	BINARY("bitwise_or"),
	BINARY("bitwise_xor"),
	MEMORY("atan2", ELEMENTWISE, elementwise_work, 2, REAL),
	COMPARE("eq"),
	COMPARE("ne"),
	COMPARE("lt"),
	COMPARE("le"),
	COMPARE("gt"),
	COMPARE("ge"),
	COMPARE("logical_and"),
	COMPARE("logical_or"),
	COMPARE("logical_not"),
	COMPARE("isnan"),
	TERNARY("addcmul"),
	TERNARY("addcdiv"),
	TERNARY("lerp"),
	TERNARY("where"),
	TERNARY("masked_fill"),
	TERNARY("clamp"),
	UNARY("clamp_min"),
	UNARY("clamp_max"),
	UNARY("neg"),
	UNARY("abs"),
	UNARY("sign"),
	UNARY("floor"),
	UNARY("ceil"),
	UNARY("round"),
	UNARY("bitwise_not"),
	MEMORY("exp", ELEMENTWISE, elementwise_work, 1, REAL),
	MEMORY("log", ELEMENTWISE, elementwise_work, 1, REAL),
	MEMORY("log1p", ELEMENTWISE, elementwise_work, 1, REAL),
	MEMORY("sqrt", ELEMENTWISE, elementwise_work, 1, REAL),
	MEMORY("rsqrt", ELEMENTWISE, elementwise_work, 1, REAL),
	MEMORY("reciprocal", ELEMENTWISE, elementwise_work, 1, REAL),
	MEMORY("sin", ELEMENTWISE, elementwise_work, 1, REAL),
	MEMORY("cos", ELEMENTWISE, elementwise_work, 1, REAL),
	MEMORY("tanh", ELEMENTWISE, elementwise_work, 1, REAL),
	MEMORY("erf", ELEMENTWISE, elementwise_work, 1, REAL),
	MEMORY("sigmoid", ELEMENTWISE, elementwise_work, 1, REAL),
	UNARY("relu"),
	UNARY("gelu"),
	UNARY("silu"),
	UNARY("mish"),
	UNARY("elu"),
	UNARY("softplus"),
	UNARY("leaky_relu"),
	UNARY("hardtanh"),
	UNARY("hardswish"),
	UNARY("hardsigmoid"),
	UNARY("tril"),
	UNARY("triu"),
	UNARY("flip"),
	BINARY("threshold_backward"),
	BINARY("gelu_backward"),
	BINARY("silu_backward"),
	BINARY("sigmoid_backward"),
	BINARY("tanh_backward"),
	BINARY("leaky_relu_backward"),
	BINARY("hardtanh_backward"),
	BINARY("hardswish_backward"),
	REDUCE("sum"),
	REDUCE("mean"),
	REDUCE("prod"),
	REDUCE("max"),
	REDUCE("min"),
	REDUCE("amax"),
	REDUCE("amin"),
	REDUCE("argmax"),
	REDUCE("argmin"),
	REDUCE("any"),
	REDUCE("all"),
	REDUCE("var"),
	REDUCE("std"),
	REDUCE("norm"),
	REDUCE("linalg_vector_norm"),
	REDUCE("logsumexp"),
	REDUCE("nonzero"),
	UNARY("cumsum"),
	MEMORY("_softmax", NORM, softmax_work, 0),
	MEMORY("_log_softmax", NORM, softmax_work, 0),
	NORM("_softmax_backward_data"),
	NORM("_log_softmax_backward_data"),
	NORM("native_layer_norm"),
	NORM("native_layer_norm_backward"),
	NORM("native_group_norm"),
	NORM("native_group_norm_backward"),
	MEMORY("native_batch_norm", NORM, norm_work, 1, 1),
	MEMORY("native_batch_norm_backward", NORM, norm_work, 1, 2),
	MEMORY("_native_batch_norm_legit", NORM, norm_work, 1, 1),
	MEMORY("cudnn_batch_norm", NORM, norm_work, 1, 1),
	MEMORY("cudnn_batch_norm_backward", NORM, norm_work, 1, 2),
	MEMORY("miopen_batch_norm", NORM, norm_work, 1, 1),
	MEMORY("miopen_batch_norm_backward", NORM, norm_work, 1, 2),
	NORM("_fused_rms_norm"),
	NORM("_fused_rms_norm_backward"),
	MEMORY("embedding", COPY, embedding_work, 0),
	MEMORY("index_select", COPY, index_select_work, 0),
	MEMORY("cat", COPY, list_work, 0, 2),
	MEMORY("index_put", COPY, scatter_work, 2, NONE, 2, true),
	MEMORY("_index_put_impl", COPY, scatter_work, 2, NONE, 2, true),
	MEMORY("scatter", COPY, scatter_work, 3, 2, 2, true),
	MEMORY("scatter_add", COPY, scatter_work, 3, 2, 3, true),
	MEMORY("index_add", COPY, scatter_work, 3, 2, 3),
	MEMORY("index_copy", COPY, scatter_work, 3, 2, 2),
	MEMORY("gather", COPY, scatter_work, 2, 2, 2, true),
	MEMORY("embedding_dense_backward", COPY, scatter_work, 0, 1, 2),
	MEMORY("_foreach_add", ELEMENTWISE, list_work, 1, 1),
	MEMORY("_foreach_sub", ELEMENTWISE, list_work, 1, 1),
	MEMORY("_foreach_mul", ELEMENTWISE, list_work, 1, 1),
	MEMORY("_foreach_div", ELEMENTWISE, list_work, 1, 1),
	MEMORY("_foreach_addcmul", ELEMENTWISE, list_work, 1, 1),
	MEMORY("_foreach_addcdiv", ELEMENTWISE, list_work, 1, 1),
	MEMORY("_foreach_lerp", ELEMENTWISE, list_work, 1, 1),
	MEMORY("_foreach_sqrt", ELEMENTWISE, list_work, 1, 1),
	MEMORY("_foreach_neg", ELEMENTWISE, list_work, 1, 1),
	MEMORY("_foreach_maximum", ELEMENTWISE, list_work, 1, 1),
	MEMORY("_foreach_zero", COPY, list_work, 1, 0),
	MEMORY("_foreach_copy", COPY, list_work, 1, 0),
	MEMORY("_foreach_norm", REDUCTION, list_work, 1, 0),
	MEMORY("_amp_foreach_non_finite_check_and_unscale", ELEMENTWISE, list_work, 1, 1),
	MEMORY("_fused_adam", ELEMENTWISE, list_work, 2, -1),
	MEMORY("_fused_adamw", ELEMENTWISE, list_work, 2, -1),
	MEMORY("_fused_sgd", ELEMENTWISE, list_work, 2, -1),
	MEMORY("max_pool2d_with_indices_backward", REDUCTION, operands_work, 0),
	UNARY("native_dropout"),
	UNARY("_fused_dropout"),
	BINARY("native_dropout_backward"),
	BINARY("mse_loss"),
	TERNARY("mse_loss_backward"),
	/* packed batches: their FLOPs depend on the lengths, which are not recorded */
	MEMORY("flash_attn::_flash_attn_varlen_forward", ATTENTION, norm_work, 1),
	MEMORY("flash_attn::_flash_attn_varlen_backward", ATTENTION, norm_work, 3),
	MEMORY("flash_attn_3::fwd", ATTENTION, norm_work, 1),
	MEMORY("flash_attn_3::bwd", ATTENTION, norm_work, 3),
	MEMORY("upsample_bilinear2d", ELEMENTWISE, upsample_work, 0),
	MEMORY("upsample_bicubic2d", ELEMENTWISE, upsample_work, 0),
	MEMORY("upsample_nearest2d", ELEMENTWISE, upsample_work, 0),
	/* FBGEMM: results of the same sizes */
	MEMORY("fbgemm::permute_2D_sparse_data", COPY, permute_work, 1),
	MEMORY("fbgemm::permute_sparse_features", COPY, permute_work, 1),
	MEMORY("fbgemm::permute_pooled_embs_auto_grad", COPY, permute_work, 1),
	MEMORY("fbgemm::asynchronous_complete_cumsum", ELEMENTWISE, permute_work, 1),
	/* ranks write into the memory of each other */
	MEMORY("symm_mem::multimem_all_reduce_", COMM, NULL, 0),
	MEMORY("symm_mem::one_shot_all_reduce", COMM, NULL, 0),
	MEMORY("symm_mem::two_shot_all_reduce_", COMM, NULL, 0),
	/* libraries of servers: results are operands */
	MEMORY("_C::rms_norm", NORM, operands_work, 0),
	MEMORY("_C::fused_add_rms_norm", NORM, operands_work, 0),
	MEMORY("_C::silu_and_mul", ELEMENTWISE, operands_work, 0),
	MEMORY("_C::gelu_and_mul", ELEMENTWISE, operands_work, 0),
	MEMORY("_C::static_scaled_fp8_quant", ELEMENTWISE, operands_work, 0),
	MEMORY("_C::dynamic_scaled_fp8_quant", ELEMENTWISE, operands_work, 0),
	MEMORY("sgl_kernel::silu_and_mul", ELEMENTWISE, operands_work, 0),
	MEMORY("sgl_kernel::rmsnorm", NORM, operands_work, 0),
	MEMORY("sgl_kernel::fused_add_rmsnorm", NORM, operands_work, 0),
	MEMORY("aiter::rmsnorm", NORM, operands_work, 0),
	MEMORY("aiter::add_rmsnorm", NORM, operands_work, 0),
};

/* By the beginning of the name: TorchInductor, and functions of Apex and Megatron. */
static const struct ss_formula inductor_formulas[] = {
	MEMORY("triton_poi_", ELEMENTWISE, operands_work, 0),
	MEMORY("triton_red_", REDUCTION, operands_work, 0),
	MEMORY("triton_per_", REDUCTION, operands_work, 0),
	NORM("FusedLayerNormAffineFunction"),
	NORM("ScaledUpperTriangMaskedSoftmax"),
	NORM("ScaledMaskedSoftmax"),
};

const struct ss_formula *ss_formula_find_inductor(const char *name, size_t length)
{
	for (size_t i = 0; i < SS_COUNT(inductor_formulas); i++) {
		size_t prefix = strlen(inductor_formulas[i].name);

		if (length >= prefix && memcmp(name, inductor_formulas[i].name, prefix) == 0)
			return &inductor_formulas[i];
	}
	return NULL;
}

const struct ss_formula_table ss_formulas_memory = { memory_formulas, SS_COUNT(memory_formulas) };
