/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops.c - operations of transformers, forward and backward.
 */
#include "sim/networks/ops.h"

/* --- matmuls ---------------------------------------------------------- */

static void run_product(struct ss_sim_piece *piece, uint64_t m, uint64_t n, uint64_t k,
			bool transpose_a, bool transpose_b)
{
	const struct ss_sim_kernel_wish wish = {
		.class = SS_SIM_GEMM,
		.dtype = piece->model->dtype,
		.size = { m, n, k },
		.transpose_a = transpose_a,
		.transpose_b = transpose_b,
	};

	ss_sim_piece_wish(piece, &wish);
}

uint32_t ss_sim_product_forward(struct ss_sim_piece *piece, const struct ss_sim_linear *linear)
{
	struct ss_sim_shape left = ss_sim_shape_make(linear->rows, linear->in, 0, 0);
	struct ss_sim_shape right = ss_sim_shape_make(linear->in, linear->out, 0, 0);
	struct ss_sim_shape bias = ss_sim_shape_make(linear->out, 0, 0, 0);
	uint32_t out;

	if (linear->bias)
		ss_sim_piece_track(piece, "aten::addmm", "tttss", bias.text, left.text, right.text);
	else
		ss_sim_piece_track(piece, "aten::mm", "tt", left.text, right.text);
	out = ss_sim_piece_alloc(piece, linear->rows * linear->out);
	run_product(piece, linear->rows, linear->out, linear->in, false, true);
	ss_sim_piece_close(piece);
	return out;
}

uint32_t ss_sim_product_input(struct ss_sim_piece *piece, const struct ss_sim_linear *linear)
{
	struct ss_sim_shape left = ss_sim_shape_make(linear->rows, linear->out, 0, 0);
	struct ss_sim_shape right = ss_sim_shape_make(linear->out, linear->in, 0, 0);
	uint32_t out;

	ss_sim_piece_op(piece, "aten::mm", "tt", left.text, right.text);
	out = ss_sim_piece_alloc(piece, linear->rows * linear->in);
	run_product(piece, linear->rows, linear->in, linear->out, false, false);
	ss_sim_piece_close(piece);
	if (linear->reduced)
		ss_sim_piece_reduce(piece, linear->rows * linear->in);
	return out;
}

uint32_t ss_sim_product_weight(struct ss_sim_piece *piece, const struct ss_sim_linear *linear)
{
	struct ss_sim_shape left = ss_sim_shape_make(linear->out, linear->rows, 0, 0);
	struct ss_sim_shape right = ss_sim_shape_make(linear->rows, linear->in, 0, 0);
	uint32_t out;

	ss_sim_piece_op(piece, "aten::mm", "tt", left.text, right.text);
	out = ss_sim_piece_alloc(piece, linear->out * linear->in);
	run_product(piece, linear->out, linear->in, linear->rows, true, false);
	ss_sim_piece_close(piece);
	return out;
}

uint32_t ss_sim_linear_forward(struct ss_sim_piece *piece, const struct ss_sim_linear *linear,
			       const struct ss_sim_shape *input)
{
	struct ss_sim_shape rows = ss_sim_shape_make(linear->rows, linear->in, 0, 0);
	struct ss_sim_shape weight = ss_sim_shape_make(linear->out, linear->in, 0, 0);
	struct ss_sim_shape turned = ss_sim_shape_make(linear->in, linear->out, 0, 0);
	struct ss_sim_shape bias = ss_sim_shape_make(linear->out, 0, 0, 0);
	uint32_t out;

	ss_sim_piece_enter(piece, linear->class, linear->id, linear->path);
	if (linear->bias)
		ss_sim_piece_op(piece, "aten::linear", "ttt", input->text, weight.text, bias.text);
	else
		ss_sim_piece_op(piece, "aten::linear", "ttn", input->text, weight.text);
	ss_sim_piece_track(piece, "aten::t", "t", weight.text);
	ss_sim_piece_op(piece, "aten::transpose", "tss", weight.text);
	ss_sim_piece_op(piece, "aten::as_strided", "tLLn", weight.text);
	ss_sim_piece_close(piece);
	ss_sim_piece_close(piece);
	ss_sim_piece_close(piece);
	if (!linear->bias)
		ss_sim_piece_op(piece, "aten::matmul", "tt", rows.text, turned.text);
	out = ss_sim_product_forward(piece, linear);
	ss_sim_piece_leave(piece);
	return out;
}

uint32_t ss_sim_linear_backward(struct ss_sim_piece *piece, const struct ss_sim_linear *linear)
{
	struct ss_sim_shape above = ss_sim_shape_make(linear->rows, linear->out, 0, 0);
	struct ss_sim_shape weight = ss_sim_shape_make(linear->out, linear->in, 0, 0);
	struct ss_sim_shape turned = ss_sim_shape_make(linear->in, linear->out, 0, 0);
	struct ss_sim_shape bias = ss_sim_shape_make(linear->out, 0, 0, 0);
	uint32_t input, weights, biases = SS_SIM_NO_SLOT;

	ss_sim_piece_node(piece, linear->bias ? "AddmmBackward0" : "MmBackward0", above.text);
	ss_sim_piece_op(piece, "aten::t", "t", turned.text);
	ss_sim_piece_close(piece);
	input = ss_sim_product_input(piece, linear);
	ss_sim_piece_op(piece, "aten::t", "t", above.text);
	ss_sim_piece_close(piece);
	weights = ss_sim_product_weight(piece, linear);
	ss_sim_piece_node_inner_end(piece);
	if (linear->bias) {
		ss_sim_piece_op(piece, "aten::sum", "tLsn", above.text);
		biases = ss_sim_piece_alloc(piece, linear->out);
		ss_sim_piece_run(piece, SS_SIM_BIAS_BACKWARD, linear->rows, linear->out, 0, 0);
		ss_sim_piece_close(piece);
	}
	ss_sim_piece_node_end(piece);
	if (linear->bias)
		ss_sim_piece_gradient(piece, &bias, biases);

	ss_sim_piece_node(piece, "TBackward0", turned.text);
	ss_sim_piece_op(piece, "aten::t", "t", turned.text);
	ss_sim_piece_node_end(piece);
	ss_sim_piece_gradient(piece, &weight, weights);
	return input;
}

/* --- norms --------------------------------------------------------------------- */

void ss_sim_layer_norm_forward(struct ss_sim_piece *piece, uint32_t id,
			       const struct ss_sim_shape *input, uint64_t columns, uint32_t out[3])
{
	struct ss_sim_shape weight = ss_sim_shape_make(columns, 0, 0, 0);
	uint64_t rows = input->elements / columns;

	ss_sim_piece_enter(piece, "LayerNorm", id,
			   "torch/nn/modules/normalization.py(216): forward");
	ss_sim_piece_op(piece, "aten::layer_norm", "tLttss", input->text, weight.text, weight.text);
	ss_sim_piece_track(piece, "aten::native_layer_norm", "tLtts", input->text, weight.text,
			   weight.text);
	out[0] = ss_sim_piece_alloc(piece, input->elements);
	out[1] = ss_sim_piece_alloc_bytes(piece, rows * 4);
	out[2] = ss_sim_piece_alloc_bytes(piece, rows * 4);
	ss_sim_piece_run(piece, SS_SIM_LAYER_NORM, rows, columns, 0, 0);
	ss_sim_piece_leave(piece);
}

uint32_t ss_sim_layer_norm_backward(struct ss_sim_piece *piece, const struct ss_sim_shape *input,
				    uint64_t columns, bool add)
{
	struct ss_sim_shape weight = ss_sim_shape_make(columns, 0, 0, 0);
	uint64_t rows = input->elements / columns;
	struct ss_sim_shape row = ss_sim_shape_make(rows, 1, 0, 0);
	uint32_t out, weights, biases;

	ss_sim_piece_node(piece, "NativeLayerNormBackward0", input->text);
	ss_sim_piece_op(piece, "aten::native_layer_norm_backward", "ttLffttL", input->text,
			input->text, row.text, row.text, weight.text, weight.text);
	out = ss_sim_piece_alloc(piece, input->elements);
	weights = ss_sim_piece_alloc(piece, columns);
	biases = ss_sim_piece_alloc(piece, columns);
	ss_sim_piece_run(piece, SS_SIM_LAYER_NORM_BACKWARD, rows, columns, 0, 0);
	ss_sim_piece_run(piece, SS_SIM_LAYER_NORM_WEIGHT_BACKWARD, rows, columns, 0, 0);
	ss_sim_piece_node_inner_end(piece);
	if (add) {
		ss_sim_piece_op(piece, "aten::add_", "tts", input->text, input->text);
		ss_sim_piece_run(piece, SS_SIM_ADD, input->elements, 0, 0, 0);
		ss_sim_piece_close(piece);
	}
	ss_sim_piece_node_end(piece);
	ss_sim_piece_gradient(piece, &weight, weights);
	ss_sim_piece_gradient(piece, &weight, biases);
	return out;
}

/* --- attention ------------------------------------------------------------------ */

/* Flash attention wants 16-bit numbers; torch takes the memory-efficient form for the others. */
static bool is_flash(const struct ss_sim_piece *piece)
{
	return piece->model->dtype == SS_SIM_HALF;
}

void ss_sim_attention_forward(struct ss_sim_piece *piece, const struct ss_sim_attention *attention,
			      uint32_t out[2])
{
	uint64_t rows = attention->batch * attention->heads;
	struct ss_sim_shape heads = ss_sim_shape_make(attention->batch, attention->heads,
						      attention->length, attention->size);
	struct ss_sim_shape turned = ss_sim_shape_make(attention->batch, attention->length,
						       attention->heads, attention->size);
	bool flash = is_flash(piece);

	/* A compiled graph calls what the op chose. */
	if (!piece->compiled)
		ss_sim_piece_op(piece, "aten::scaled_dot_product_attention", "tttnssns", heads.text,
				heads.text, heads.text);
	ss_sim_piece_track(piece,
			   flash ? "aten::_scaled_dot_product_flash_attention"
				 : "aten::_scaled_dot_product_efficient_attention",
			   "tttsssn", heads.text, heads.text, heads.text);
	ss_sim_piece_op(piece,
			flash ? "aten::_flash_attention_forward"
			      : "aten::_efficient_attention_forward",
			"tttnnsss", turned.text, turned.text, turned.text);
	out[0] = ss_sim_piece_alloc(piece, heads.elements);
	out[1] = ss_sim_piece_alloc_bytes(piece, rows * attention->length * 4);
	ss_sim_piece_run(piece, SS_SIM_FLASH_FORWARD, rows, attention->length, attention->length,
			 attention->size);
	for (int i = piece->compiled; i < 3; i++)
		ss_sim_piece_close(piece);
}

/* The gradients of queries, keys and values. */
static void attention_parts(struct ss_sim_piece *piece, const struct ss_sim_attention *attention,
			    const char *dims, uint32_t parts[3])
{
	bool flash = is_flash(piece);

	ss_sim_piece_op(piece,
			flash ? "aten::_scaled_dot_product_flash_attention_backward"
			      : "aten::_scaled_dot_product_efficient_attention_backward",
			"ttttt", dims, dims, dims, dims, dims);
	ss_sim_piece_op(piece,
			flash ? "aten::_flash_attention_backward"
			      : "aten::_efficient_attention_backward",
			"ttttt", dims, dims, dims, dims, dims);
	for (int i = 0; i < 3; i++)
		parts[i] = ss_sim_piece_alloc(piece, attention->batch * attention->heads *
							     attention->length * attention->size);
	ss_sim_piece_run(piece, SS_SIM_FLASH_BACKWARD, attention->batch * attention->heads,
			 attention->length, attention->length, attention->size);
	ss_sim_piece_close(piece);
	ss_sim_piece_close(piece);
}

uint32_t ss_sim_attention_backward(struct ss_sim_piece *piece,
				   const struct ss_sim_attention *attention)
{
	uint64_t width = attention->heads * attention->size;
	struct ss_sim_shape heads = ss_sim_shape_make(attention->batch, attention->heads,
						      attention->length, attention->size);
	struct ss_sim_shape part = ss_sim_shape_make(attention->batch, attention->length, width, 0);
	uint32_t parts[3], out;

	if (!piece->compiled)
		ss_sim_piece_node(piece,
				  is_flash(piece) ? "ScaledDotProductFlashAttentionBackward0"
						  : "ScaledDotProductEfficientAttentionBackward0",
				  heads.text);
	attention_parts(piece, attention, heads.text, parts);
	if (!piece->compiled) {
		ss_sim_piece_node_end(piece);
		ss_sim_piece_node(piece, "SplitBackward0", part.text);
	}
	ss_sim_piece_op(piece, "aten::cat", "ttts", part.text, part.text, part.text);
	out = ss_sim_piece_alloc(piece, 3 * heads.elements);
	ss_sim_piece_run(piece, SS_SIM_FLATTEN, 3 * heads.elements, 0, 0, 0);
	ss_sim_piece_close(piece);
	if (!piece->compiled)
		ss_sim_piece_node_end(piece);
	for (int i = 0; i < 3; i++)
		ss_sim_piece_drop(piece, parts[i]);
	return out;
}

/* --- elementwise ----------------------------------------------------------------- */

uint32_t ss_sim_gelu_forward(struct ss_sim_piece *piece, uint32_t id,
			     const struct ss_sim_shape *input)
{
	uint32_t out;

	ss_sim_piece_enter(piece, "GELU", id, "torch/nn/modules/activation.py(733): forward");
	ss_sim_piece_track(piece, "aten::gelu", "tn", input->text);
	out = ss_sim_piece_alloc(piece, input->elements);
	ss_sim_piece_run(piece, SS_SIM_GELU, input->elements, 0, 0, 0);
	ss_sim_piece_leave(piece);
	return out;
}

uint32_t ss_sim_gelu_backward(struct ss_sim_piece *piece, const struct ss_sim_shape *input)
{
	uint32_t out;

	ss_sim_piece_node(piece, "GeluBackward0", input->text);
	ss_sim_piece_op(piece, "aten::gelu_backward", "ttn", input->text, input->text);
	out = ss_sim_piece_alloc(piece, input->elements);
	ss_sim_piece_run(piece, SS_SIM_GELU_BACKWARD, input->elements, 0, 0, 0);
	ss_sim_piece_node_end(piece);
	return out;
}

uint32_t ss_sim_add_forward(struct ss_sim_piece *piece, const struct ss_sim_shape *input)
{
	uint32_t out;

	ss_sim_piece_track(piece, "aten::add", "tts", input->text, input->text);
	out = ss_sim_piece_alloc(piece, input->elements);
	ss_sim_piece_run(piece, SS_SIM_ADD, input->elements, 0, 0, 0);
	ss_sim_piece_close(piece);
	return out;
}

void ss_sim_add_backward(struct ss_sim_piece *piece, const struct ss_sim_shape *input)
{
	ss_sim_piece_node(piece, "AddBackward0", input->text);
	ss_sim_piece_node_end(piece);
}

void ss_sim_zero(struct ss_sim_piece *piece, const struct ss_sim_shape *shape)
{
	ss_sim_piece_op(piece, "aten::zero_", "t", shape->text);
	ss_sim_piece_op(piece, "aten::fill_", "ts", shape->text);
	ss_sim_piece_run(piece, SS_SIM_FILL, shape->elements, 0, 0, 0);
	ss_sim_piece_close(piece);
	ss_sim_piece_close(piece);
}

static const struct {
	const char *op, *node;
	enum ss_sim_kernel_class class;
} tiny_kinds[] = {
	{ "aten::mul", "MulBackward0", SS_SIM_MUL },
	{ "aten::add", "AddBackward0", SS_SIM_ADD },
	{ "aten::div", "DivBackward0", SS_SIM_DIV },
};

#define TINY_COLUMNS 64

void ss_sim_tiny_forward(struct ss_sim_piece *piece)
{
	struct ss_sim_shape shape = ss_sim_shape_make(piece->model->batch, TINY_COLUMNS, 0, 0);
	uint32_t before = SS_SIM_NO_SLOT, count = piece->share->plan->tiny_ops;

	if (!count)
		return;
	ss_sim_frame(piece->program, "model.py(57): scale_and_shift");
	for (uint32_t i = 0; i < count; i++) {
		uint32_t kind = i % SS_COUNT(tiny_kinds), out;

		ss_sim_piece_track(piece, tiny_kinds[kind].op, "tts", shape.text, shape.text);
		/* Their numbers are consecutive: the tape needs only the first. */
		if (i && piece->share->training)
			piece->share->tape->sequence_count--;
		out = ss_sim_piece_alloc(piece, shape.elements);
		ss_sim_piece_run(piece, tiny_kinds[kind].class, shape.elements, 0, 0, 0);
		ss_sim_piece_close(piece);
		ss_sim_piece_drop(piece, before);
		before = out;
	}
	ss_sim_piece_drop(piece, before);
	ss_sim_frame_end(piece->program);
}

void ss_sim_tiny_backward(struct ss_sim_piece *piece)
{
	struct ss_sim_shape shape = ss_sim_shape_make(piece->model->batch, TINY_COLUMNS, 0, 0);
	struct ss_sim_tape *tape = piece->share->tape;
	uint32_t first;

	if (!piece->share->plan->tiny_ops || !tape->sequence_count)
		return;
	first = tape->sequences[--tape->sequence_count];
	for (uint32_t i = piece->share->plan->tiny_ops; i-- > 0;) {
		uint32_t kind = i % SS_COUNT(tiny_kinds), out;
		bool divides = tiny_kinds[kind].class == SS_SIM_DIV;

		tape->sequences[tape->sequence_count++] = first + i;
		ss_sim_piece_node(piece, tiny_kinds[kind].node, shape.text);
		ss_sim_piece_op(piece, divides ? "aten::div" : "aten::mul", "tt", shape.text,
				shape.text);
		out = ss_sim_piece_alloc(piece, shape.elements);
		ss_sim_piece_run(piece, divides ? SS_SIM_DIV : SS_SIM_MUL, shape.elements, 0, 0, 0);
		ss_sim_piece_node_end(piece);
		ss_sim_piece_drop(piece, out);
	}
}

/* --- the loss --------------------------------------------------------------------- */

void ss_sim_loss_forward(struct ss_sim_piece *piece, uint64_t rows, uint64_t classes)
{
	struct ss_sim_shape input = ss_sim_shape_make(rows, classes, 0, 0);
	struct ss_sim_shape target = ss_sim_shape_make(rows, 0, 0, 0);

	ss_sim_frame(piece->program, "torch/nn/functional.py(3395): cross_entropy");
	ss_sim_piece_op(piece, "aten::cross_entropy_loss", "tlnsss", input.text, target.text);
	ss_sim_piece_op(piece, "aten::log_softmax", "tsn", input.text);
	ss_sim_piece_track(piece, "aten::_log_softmax", "tss", input.text);
	ss_sim_piece_keep(piece, ss_sim_piece_alloc(piece, input.elements));
	ss_sim_piece_run(piece, SS_SIM_LOG_SOFTMAX, rows, classes, 0, 0);
	ss_sim_piece_close(piece);
	ss_sim_piece_close(piece);
	ss_sim_piece_op(piece, "aten::nll_loss_nd", "tlnss", input.text, target.text);
	ss_sim_piece_op(piece, "aten::nll_loss", "tlnss", input.text, target.text);
	ss_sim_piece_track(piece, "aten::nll_loss_forward", "tlnss", input.text, target.text);
	ss_sim_piece_keep(piece, ss_sim_piece_alloc(piece, 1));
	ss_sim_piece_keep(piece, ss_sim_piece_alloc(piece, 1));
	ss_sim_piece_run(piece, SS_SIM_NLL, rows, 0, 0, 0);
	for (int i = 0; i < 4; i++)
		ss_sim_piece_close(piece);
	ss_sim_frame_end(piece->program);
}

uint32_t ss_sim_loss_backward(struct ss_sim_piece *piece, uint64_t rows, uint64_t classes)
{
	struct ss_sim_shape input = ss_sim_shape_make(rows, classes, 0, 0);
	struct ss_sim_shape target = ss_sim_shape_make(rows, 0, 0, 0);
	uint32_t weight = ss_sim_piece_take(piece), loss = ss_sim_piece_take(piece);
	uint32_t scores = ss_sim_piece_take(piece), out, between;

	ss_sim_piece_node(piece, "NllLossBackward0", "[]");
	ss_sim_piece_op(piece, "aten::nll_loss_backward", "ttlnsst", "[]", input.text, target.text,
			"[]");
	between = ss_sim_piece_alloc(piece, input.elements);
	ss_sim_zero(piece, &input);
	ss_sim_piece_run(piece, SS_SIM_NLL_BACKWARD, rows, 0, 0, 0);
	ss_sim_piece_node_end(piece);
	ss_sim_piece_drop(piece, weight);

	ss_sim_piece_node(piece, "LogSoftmaxBackward0", input.text);
	ss_sim_piece_op(piece, "aten::_log_softmax_backward_data", "ttss", input.text, input.text);
	out = ss_sim_piece_alloc(piece, input.elements);
	ss_sim_piece_run(piece, SS_SIM_LOG_SOFTMAX_BACKWARD, rows, classes, 0, 0);
	ss_sim_piece_node_end(piece);
	ss_sim_piece_drop(piece, between);
	ss_sim_piece_drop(piece, scores);
	ss_sim_piece_drop(piece, loss);
	return out;
}

/* --- a chain of elementwise operators -------------------------------------------------- */

void ss_sim_chain_forward(struct ss_sim_piece *piece, const struct ss_sim_shape *shape)
{
	uint32_t count = piece->share->plan->chain_ops;

	if (!count)
		return;
	if (count > 1) /* of one kernel there is no such function */
		ss_sim_frame(piece->program, "model.py(88): rescale");
	for (uint32_t i = 0; i < count; i++) {
		ss_sim_piece_track(piece, "aten::div", "ts", shape->text);
		/* Their numbers follow each other: the tape needs the first only. */
		if (i && piece->share->training)
			piece->share->tape->sequence_count--;
		ss_sim_piece_drop(piece, ss_sim_piece_alloc(piece, shape->elements));
		ss_sim_piece_run(piece, SS_SIM_DIV, shape->elements, 0, 0, 0);
		ss_sim_piece_close(piece);
	}
	if (count > 1)
		ss_sim_frame_end(piece->program);
}

void ss_sim_chain_backward(struct ss_sim_piece *piece, const struct ss_sim_shape *shape)
{
	struct ss_sim_tape *tape = piece->share->tape;
	uint32_t first;

	if (!piece->share->plan->chain_ops || !tape->sequence_count)
		return;
	first = tape->sequences[--tape->sequence_count];
	for (uint32_t i = piece->share->plan->chain_ops; i-- > 0;) {
		tape->sequences[tape->sequence_count++] = first + i;
		ss_sim_piece_node(piece, "DivBackward0", shape->text);
		ss_sim_piece_op(piece, "aten::div", "ts", shape->text);
		ss_sim_piece_drop(piece, ss_sim_piece_alloc(piece, shape->elements));
		ss_sim_piece_run(piece, SS_SIM_DIV, shape->elements, 0, 0, 0);
		ss_sim_piece_node_end(piece);
	}
}

/* --- casts --------------------------------------------------------------------------- */

/* aten::_to_copy and what is in it; the op is open when this begins. */
static void cast_copy_to(struct ss_sim_piece *piece, const struct ss_sim_shape *shape,
			 bool to_float)
{
	const struct ss_sim_kernel_wish cast = {
		.class = SS_SIM_CAST,
		.dtype = to_float ? SS_SIM_FP32 : SS_SIM_HALF,
		.size = { shape->elements },
	};
	uint32_t out = ss_sim_piece_alloc_bytes(piece, shape->elements * (to_float ? 4 : 2));

	ss_sim_piece_op(piece, "aten::empty_strided", "LLssns");
	ss_sim_piece_close(piece);
	ss_sim_piece_op(piece, "aten::copy_", to_float ? "fts" : "tfs", shape->text, shape->text);
	ss_sim_piece_wish(piece, &cast);
	ss_sim_piece_close(piece);
	ss_sim_piece_drop(piece, out);
}

/* What is in float32 need not be cast. */
static uint32_t cast_count_of(const struct ss_sim_piece *piece)
{
	return piece->model->dtype == SS_SIM_FP32 ? 0 : 2 * piece->share->plan->casts;
}

void ss_sim_casts_forward(struct ss_sim_piece *piece, const struct ss_sim_shape *shape)
{
	uint32_t count = cast_count_of(piece);

	if (!count)
		return;
	ss_sim_frame(piece->program, "model.py(65): to_float_and_back");
	for (uint32_t i = 0; i < count; i++) {
		bool to_float = i % 2 == 0;

		ss_sim_piece_op(piece, "aten::to", to_float ? "tsssn" : "fsssn", shape->text);
		ss_sim_piece_track(piece, "aten::_to_copy", to_float ? "tsnnnsn" : "fsnnnsn",
				   shape->text);
		/* Their numbers follow each other: the tape needs the first only. */
		if (i && piece->share->training)
			piece->share->tape->sequence_count--;
		cast_copy_to(piece, shape, to_float);
		ss_sim_piece_close(piece);
		ss_sim_piece_close(piece);
	}
	ss_sim_frame_end(piece->program);
}

void ss_sim_casts_backward(struct ss_sim_piece *piece, const struct ss_sim_shape *shape)
{
	struct ss_sim_tape *tape = piece->share->tape;
	uint32_t first;

	if (!cast_count_of(piece) || !tape->sequence_count)
		return;
	first = tape->sequences[--tape->sequence_count];
	for (uint32_t i = cast_count_of(piece); i-- > 0;) {
		bool to_float = i % 2 == 1; /* the gradient goes the other way */

		tape->sequences[tape->sequence_count++] = first + i;
		ss_sim_piece_node(piece, "ToCopyBackward0", shape->text);
		ss_sim_piece_op(piece, "aten::to", to_float ? "tssnnssn" : "fssnnssn", shape->text);
		ss_sim_piece_op(piece, "aten::_to_copy", to_float ? "tssnnsn" : "fssnnsn",
				shape->text);
		cast_copy_to(piece, shape, to_float);
		ss_sim_piece_node_end(piece);
	}
}
