/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cnn.c - a residual network of bottleneck blocks, as ResNet-50 is.
 *
 * A quarter of the blocks makes a stage; the first block of a stage has twice
 * the channels and half the side of the one before, and a convolution on its
 * shortcut. Ranks do not share matrices: `tensor` is ignored.
 */
#include "sim/networks/networks.h"

#define CONV_PATH "torch/nn/modules/conv.py(553): forward"
#define NORM_PATH "torch/nn/modules/batchnorm.py(159): forward"
#define RELU_PATH "torch/nn/modules/activation.py(132): forward"
#define POOL_PATH "torch/nn/modules/pooling.py(212): forward"
#define MEAN_PATH "torch/nn/modules/pooling.py(1454): forward"
#define LINEAR_PATH "torch/nn/modules/linear.py(124): forward"
#define EXPANSION 4u

/* --- sizes -------------------------------------------------------------------- */

struct cnn_conv {
	uint32_t id;
	uint64_t images, in, out, kernel;
	uint64_t side_in, side_out;
};

/* A block's convolutions; `shortcut` only in the first block of a stage. */
struct cnn_bottleneck {
	struct cnn_conv first, second, third, shortcut;
	bool has_shortcut;
	struct ss_sim_shape out;
};

static uint64_t halved(uint64_t side)
{
	return (side + 1) / 2;
}

static uint32_t cnn_stage_of(const struct ss_sim_model *model, uint32_t block)
{
	return model->layers ? (uint32_t)((uint64_t)block * 4 / model->layers) : 0;
}

static uint64_t cnn_side_of(uint64_t pixels, uint32_t stage)
{
	uint64_t side = halved(halved(pixels));

	for (uint32_t i = 0; i < stage; i++)
		side = halved(side);
	return side;
}

static uint64_t cnn_channels_of(const struct ss_sim_model *model, uint32_t stage)
{
	return ((uint64_t)model->hidden << stage) * EXPANSION;
}

static bool cnn_begins_stage(const struct ss_sim_model *model, uint32_t block)
{
	return block == 0 || cnn_stage_of(model, block) != cnn_stage_of(model, block - 1);
}

/* The id of a block's first convolution: the stem has one, shortcuts count too. */
static uint32_t conv_id(const struct ss_sim_model *model, uint32_t block)
{
	uint32_t id = 1;

	for (uint32_t i = 0; i < block; i++)
		id += cnn_begins_stage(model, i) ? 4 : 3;
	return id;
}

static struct cnn_bottleneck cnn_bottleneck_of(const struct ss_sim_model *model, uint64_t pixels,
					       uint32_t block)
{
	uint32_t stage = cnn_stage_of(model, block), id = conv_id(model, block);
	uint32_t before = block ? cnn_stage_of(model, block - 1) : 0;
	uint64_t images = model->batch, side = cnn_side_of(pixels, stage);
	uint64_t in = block ? cnn_channels_of(model, before) : model->hidden;
	uint64_t out = cnn_channels_of(model, stage), mid = out / EXPANSION;
	uint64_t side_in = cnn_side_of(pixels, before);

	return (struct cnn_bottleneck){
		.first = { id, images, in, mid, 1, side_in, side_in },
		.second = { id + 1, images, mid, mid, 3, side_in, side },
		.third = { id + 2, images, mid, out, 1, side, side },
		.shortcut = { id + 3, images, in, out, 1, side_in, side },
		.has_shortcut = cnn_begins_stage(model, block),
		.out = ss_sim_shape_make(images, out, side, side),
	};
}

static struct cnn_conv cnn_stem_conv(const struct ss_sim_model *model, uint64_t pixels)
{
	return (struct cnn_conv){ 0, model->batch, 3, model->hidden, 7, pixels, halved(pixels) };
}

/* The weight, and the two of the batch norm that follows. */
static uint64_t conv_parameters(const struct cnn_conv *conv)
{
	return conv->out * conv->in * conv->kernel * conv->kernel + 2 * conv->out;
}

static uint64_t cnn_block_parameters(const struct ss_sim_model *model, uint32_t block,
				     uint32_t tensor)
{
	struct cnn_bottleneck sizes = cnn_bottleneck_of(model, model->sequence, block);
	uint64_t sum = conv_parameters(&sizes.first) + conv_parameters(&sizes.second) +
		       conv_parameters(&sizes.third);

	(void)tensor;
	return sum + (sizes.has_shortcut ? conv_parameters(&sizes.shortcut) : 0);
}

static uint64_t cnn_stem_parameters(const struct ss_sim_model *model)
{
	struct cnn_conv conv = cnn_stem_conv(model, model->sequence);

	return conv_parameters(&conv);
}

static uint32_t cnn_last_stage(const struct ss_sim_model *model)
{
	return model->layers ? cnn_stage_of(model, model->layers - 1) : 0;
}

static uint64_t cnn_head_parameters(const struct ss_sim_model *model)
{
	return (cnn_channels_of(model, cnn_last_stage(model)) + 1) * model->vocabulary;
}

static uint32_t cnn_parameter_tensors(const struct ss_sim_model *model)
{
	uint32_t convs = conv_id(model, model->layers);

	return 3 * convs + 2;
}

static uint64_t cnn_activation_elements(const struct ss_sim_share *share, uint32_t block)
{
	return cnn_bottleneck_of(&share->plan->model, share->sequence, block).out.elements;
}

/* --- convolution ---------------------------------------------------------------- */

static struct ss_sim_shape conv_input(const struct cnn_conv *conv)
{
	return ss_sim_shape_make(conv->images, conv->in, conv->side_in, conv->side_in);
}

static struct ss_sim_shape conv_output(const struct cnn_conv *conv)
{
	return ss_sim_shape_make(conv->images, conv->out, conv->side_out, conv->side_out);
}

static struct ss_sim_shape conv_weight(const struct cnn_conv *conv)
{
	return ss_sim_shape_make(conv->out, conv->in, conv->kernel, conv->kernel);
}

static void run_conv(struct ss_sim_piece *piece, enum ss_sim_kernel_class class,
		     const struct cnn_conv *conv)
{
	const struct ss_sim_kernel_wish wish = {
		.class = class,
		.dtype = piece->model->dtype,
		.size = { conv->images, conv->in, conv->out, conv->side_out * conv->side_out,
			  conv->kernel * conv->kernel },
	};

	ss_sim_piece_wish(piece, &wish);
}

static uint32_t conv_forward(struct ss_sim_piece *piece, const struct cnn_conv *conv)
{
	struct ss_sim_shape input = conv_input(conv), weight = conv_weight(conv);
	bool rocm = piece->program->device->rocm;
	uint32_t out;

	ss_sim_piece_enter(piece, "Conv2d", conv->id, CONV_PATH);
	ss_sim_piece_op(piece, "aten::conv2d", "ttnLLLs", input.text, weight.text);
	ss_sim_piece_track(piece, "aten::convolution", "ttnLLLsL", input.text, weight.text);
	ss_sim_piece_op(piece, "aten::_convolution", "ttnLLLsL", input.text, weight.text);
	ss_sim_piece_op(piece, rocm ? "aten::miopen_convolution" : "aten::cudnn_convolution",
			rocm ? "ttnLLLss" : "ttLLLsss", input.text, weight.text);
	out = ss_sim_piece_alloc(piece, conv_output(conv).elements);
	run_conv(piece, SS_SIM_CONV_FORWARD, conv);
	ss_sim_piece_leave(piece);
	return out;
}

/*
 * With `input`, the gradient of the input too, which is returned; with `add`, the
 * engine adds that of the other branch to it.
 */
static uint32_t conv_backward(struct ss_sim_piece *piece, const struct cnn_conv *conv, bool input,
			      bool add)
{
	struct ss_sim_shape above = conv_output(conv), below = conv_input(conv);
	struct ss_sim_shape weight = conv_weight(conv);
	uint32_t weights, out = SS_SIM_NO_SLOT;

	ss_sim_piece_node(piece, "ConvolutionBackward0", above.text);
	ss_sim_piece_op(piece, "aten::convolution_backward", "tttLLLLs", above.text, below.text,
			weight.text);
	if (input) {
		out = ss_sim_piece_alloc(piece, below.elements);
		run_conv(piece, SS_SIM_CONV_DATA, conv);
	}
	weights = ss_sim_piece_alloc(piece, weight.elements);
	run_conv(piece, SS_SIM_CONV_WEIGHT, conv);
	ss_sim_piece_node_inner_end(piece);
	if (add) {
		ss_sim_piece_op(piece, "aten::add_", "tts", below.text, below.text);
		ss_sim_piece_run(piece, SS_SIM_ADD, below.elements, 0, 0, 0);
		ss_sim_piece_close(piece);
	}
	ss_sim_piece_node_end(piece);
	ss_sim_piece_gradient(piece, &weight, weights);
	return out;
}

/* --- batch norm ------------------------------------------------------------------ */

/* The norm after a convolution. Keeps the means, returns the result. */
static uint32_t batch_norm_forward(struct ss_sim_piece *piece, const struct cnn_conv *conv)
{
	struct ss_sim_shape input = conv_output(conv),
			    weight = ss_sim_shape_make(conv->out, 0, 0, 0);
	bool rocm = piece->program->device->rocm;
	uint32_t out;

	ss_sim_piece_enter(piece, "BatchNorm2d", conv->id, NORM_PATH);
	ss_sim_piece_op(piece, "aten::add_", "lls", "[]", "[]");
	ss_sim_piece_run(piece, SS_SIM_ADD, 1, 0, 0, 0);
	ss_sim_piece_close(piece);
	ss_sim_piece_op(piece, "aten::batch_norm", "tttttsss", input.text, weight.text, weight.text,
			weight.text, weight.text);
	ss_sim_piece_op(piece, "aten::_batch_norm_impl_index", "tttttsss", input.text, weight.text,
			weight.text, weight.text, weight.text);
	ss_sim_piece_track(piece, rocm ? "aten::miopen_batch_norm" : "aten::cudnn_batch_norm",
			   "tttttsss", input.text, weight.text, weight.text, weight.text,
			   weight.text);
	out = ss_sim_piece_alloc(piece, input.elements);
	ss_sim_piece_keep(piece, ss_sim_piece_alloc_bytes(piece, conv->out * 4));
	ss_sim_piece_keep(piece, ss_sim_piece_alloc_bytes(piece, conv->out * 4));
	ss_sim_piece_run(piece, SS_SIM_BATCH_NORM, conv->images, conv->out,
			 conv->side_out * conv->side_out, 0);
	ss_sim_piece_leave(piece);
	return out;
}

static uint32_t batch_norm_backward(struct ss_sim_piece *piece, const struct cnn_conv *conv)
{
	struct ss_sim_shape input = conv_output(conv),
			    weight = ss_sim_shape_make(conv->out, 0, 0, 0);
	bool rocm = piece->program->device->rocm;
	uint32_t out, weights, biases;

	ss_sim_piece_node(piece, rocm ? "MiopenBatchNormBackward0" : "CudnnBatchNormBackward0",
			  input.text);
	ss_sim_piece_op(piece,
			rocm ? "aten::miopen_batch_norm_backward"
			     : "aten::cudnn_batch_norm_backward",
			"ttttttts", input.text, input.text, weight.text, weight.text, weight.text,
			weight.text, weight.text);
	out = ss_sim_piece_alloc(piece, input.elements);
	weights = ss_sim_piece_alloc(piece, conv->out);
	biases = ss_sim_piece_alloc(piece, conv->out);
	ss_sim_piece_run(piece, SS_SIM_BATCH_NORM_BACKWARD, conv->images, conv->out,
			 conv->side_out * conv->side_out, 0);
	ss_sim_piece_node_end(piece);
	ss_sim_piece_drop(piece, ss_sim_piece_take(piece));
	ss_sim_piece_drop(piece, ss_sim_piece_take(piece));
	ss_sim_piece_gradient(piece, &weight, weights);
	ss_sim_piece_gradient(piece, &weight, biases);
	return out;
}

/* --- relu -------------------------------------------------------------------------- */

/* In place. */
static void relu_forward(struct ss_sim_piece *piece, uint32_t id, const struct ss_sim_shape *input)
{
	ss_sim_piece_enter(piece, "ReLU", id, RELU_PATH);
	ss_sim_piece_track(piece, "aten::relu_", "t", input->text);
	ss_sim_piece_op(piece, "aten::clamp_min_", "ts", input->text);
	ss_sim_piece_run(piece, SS_SIM_RELU, input->elements, 0, 0, 0);
	ss_sim_piece_leave(piece);
}

static uint32_t relu_backward(struct ss_sim_piece *piece, const struct ss_sim_shape *input)
{
	uint32_t out;

	ss_sim_piece_node(piece, "ReluBackward0", input->text);
	ss_sim_piece_op(piece, "aten::threshold_backward", "tts", input->text, input->text);
	out = ss_sim_piece_alloc(piece, input->elements);
	ss_sim_piece_run(piece, SS_SIM_RELU_BACKWARD, input->elements, 0, 0, 0);
	ss_sim_piece_node_end(piece);
	return out;
}

/* --- stem ---------------------------------------------------------------------------- */

static void cnn_stem_forward(struct ss_sim_piece *piece)
{
	struct cnn_conv conv = cnn_stem_conv(piece->model, piece->share->sequence);
	struct ss_sim_shape before = conv_output(&conv);
	uint64_t side = halved(conv.side_out);
	struct ss_sim_shape after = ss_sim_shape_make(conv.images, conv.out, side, side);

	ss_sim_piece_keep(piece, conv_forward(piece, &conv));
	ss_sim_piece_keep(piece, batch_norm_forward(piece, &conv));
	relu_forward(piece, 0, &before);
	ss_sim_piece_enter(piece, "MaxPool2d", 0, POOL_PATH);
	ss_sim_piece_op(piece, "aten::max_pool2d", "tLLLLs", before.text);
	ss_sim_piece_track(piece, "aten::max_pool2d_with_indices", "tLLLLs", before.text);
	ss_sim_piece_keep(piece, ss_sim_piece_alloc(piece, after.elements));
	ss_sim_piece_keep(piece, ss_sim_piece_alloc_bytes(piece, after.elements * 8));
	ss_sim_piece_run(piece, SS_SIM_MAX_POOL, conv.images, conv.out, side * side, 0);
	ss_sim_piece_leave(piece);
}

static void cnn_stem_backward(struct ss_sim_piece *piece)
{
	struct cnn_conv conv = cnn_stem_conv(piece->model, piece->share->sequence);
	struct ss_sim_shape before = conv_output(&conv);
	uint64_t side = halved(conv.side_out);
	struct ss_sim_shape after = ss_sim_shape_make(conv.images, conv.out, side, side);
	uint32_t above = ss_sim_piece_take(piece), pooled, active, norm, result;

	ss_sim_piece_node(piece, "MaxPool2DWithIndicesBackward0", after.text);
	ss_sim_piece_op(piece, "aten::max_pool2d_with_indices_backward", "ttLLLLsl", after.text,
			before.text, after.text);
	pooled = ss_sim_piece_alloc(piece, before.elements);
	ss_sim_zero(piece, &before);
	ss_sim_piece_run(piece, SS_SIM_MAX_POOL_BACKWARD, conv.images, conv.out, side * side, 0);
	ss_sim_piece_node_end(piece);
	ss_sim_piece_drop(piece, ss_sim_piece_take(piece)); /* places */
	ss_sim_piece_drop(piece, ss_sim_piece_take(piece)); /* what the stem made */
	ss_sim_piece_drop(piece, above);
	active = relu_backward(piece, &before);
	ss_sim_piece_drop(piece, pooled);
	result = ss_sim_piece_take(piece);
	norm = batch_norm_backward(piece, &conv);
	ss_sim_piece_drop(piece, result);
	ss_sim_piece_drop(piece, active);
	ss_sim_piece_drop(piece, ss_sim_piece_take(piece)); /* what the convolution gave */
	conv_backward(piece, &conv, false, false);
	ss_sim_piece_drop(piece, norm);
}

/* --- blocks ---------------------------------------------------------------------------- */

static void cnn_layer_forward(struct ss_sim_piece *piece, const struct cnn_conv *conv,
			      uint32_t relu)
{
	struct ss_sim_shape shape = conv_output(conv);

	ss_sim_piece_keep(piece, conv_forward(piece, conv));
	ss_sim_piece_keep(piece, batch_norm_forward(piece, conv));
	relu_forward(piece, relu, &shape);
}

static void cnn_block_forward(struct ss_sim_piece *piece, uint32_t block)
{
	struct cnn_bottleneck sizes = cnn_bottleneck_of(piece->model, piece->share->sequence,
							block);
	uint32_t out, shortcut = SS_SIM_NO_SLOT;

	ss_sim_piece_enter(piece, "Bottleneck", block,
			   "torchvision/models/resnet.py(143): forward");
	ss_sim_tiny_forward(piece);
	ss_sim_chain_forward(piece, &sizes.out);
	ss_sim_casts_forward(piece, &sizes.out);
	cnn_layer_forward(piece, &sizes.first, block + 1);
	cnn_layer_forward(piece, &sizes.second, block + 1);
	ss_sim_piece_keep(piece, conv_forward(piece, &sizes.third));
	out = batch_norm_forward(piece, &sizes.third);
	if (sizes.has_shortcut) {
		ss_sim_piece_keep(piece, conv_forward(piece, &sizes.shortcut));
		shortcut = batch_norm_forward(piece, &sizes.shortcut);
	}
	ss_sim_piece_track(piece, "aten::add_", "tts", sizes.out.text, sizes.out.text);
	ss_sim_piece_run(piece, SS_SIM_ADD, sizes.out.elements, 0, 0, 0);
	ss_sim_piece_close(piece);
	ss_sim_piece_drop(piece, shortcut);
	relu_forward(piece, block + 1, &sizes.out);
	ss_sim_piece_keep(piece, out);
	ss_sim_piece_leave(piece);
}

/* Activation, norm and convolution, from the gradient `above`; frees it and what they kept. */
static uint32_t cnn_layer_backward(struct ss_sim_piece *piece, const struct cnn_conv *conv,
				   uint32_t above, bool add)
{
	struct ss_sim_shape shape = conv_output(conv);
	uint32_t result = ss_sim_piece_take(piece), active = relu_backward(piece, &shape);
	uint32_t norm, out;

	ss_sim_piece_drop(piece, above);
	ss_sim_piece_drop(piece, result);
	norm = batch_norm_backward(piece, conv);
	ss_sim_piece_drop(piece, active);
	out = conv_backward(piece, conv, true, add);
	ss_sim_piece_drop(piece, ss_sim_piece_take(piece));
	ss_sim_piece_drop(piece, norm);
	return out;
}

static void cnn_block_backward(struct ss_sim_piece *piece, uint32_t block)
{
	const struct ss_sim_share *share = piece->share;
	struct cnn_bottleneck sizes = cnn_bottleneck_of(piece->model, share->sequence, block);
	uint32_t above = ss_sim_piece_incoming(piece, block + 1 == share->first + share->count);
	uint32_t branch, slot, norm;

	branch = relu_backward(piece, &sizes.out);
	ss_sim_piece_drop(piece, above);
	ss_sim_piece_drop(piece, ss_sim_piece_take(piece)); /* what the block made */
	ss_sim_add_backward(piece, &sizes.out);
	above = branch;
	if (sizes.has_shortcut) {
		norm = batch_norm_backward(piece, &sizes.shortcut);
		ss_sim_piece_drop(piece, ss_sim_piece_take(piece));
		branch = conv_backward(piece, &sizes.shortcut, true, false);
		ss_sim_piece_drop(piece, norm);
	}
	norm = batch_norm_backward(piece, &sizes.third);
	ss_sim_piece_drop(piece, ss_sim_piece_take(piece));
	slot = conv_backward(piece, &sizes.third, true, false);
	ss_sim_piece_drop(piece, norm);
	slot = cnn_layer_backward(piece, &sizes.second, slot, false);
	slot = cnn_layer_backward(piece, &sizes.first, slot, true);
	ss_sim_piece_drop(piece, branch);
	if (branch != above)
		ss_sim_piece_drop(piece, above);
	ss_sim_casts_backward(piece, &sizes.out);
	ss_sim_chain_backward(piece, &sizes.out);
	ss_sim_tiny_backward(piece);
	ss_sim_piece_outgoing(piece, block == share->first, slot);
}

/* --- head -------------------------------------------------------------------------------- */

static struct ss_sim_linear cnn_head_linear(const struct ss_sim_model *model)
{
	return (struct ss_sim_linear){
		.class = "Linear",
		.path = LINEAR_PATH,
		.rows = model->batch,
		.in = cnn_channels_of(model, cnn_last_stage(model)),
		.out = model->vocabulary,
		.bias = true,
	};
}

static void cnn_head_forward(struct ss_sim_piece *piece)
{
	struct ss_sim_linear head = cnn_head_linear(piece->model);
	uint64_t side = cnn_side_of(piece->share->sequence, cnn_last_stage(piece->model));
	struct ss_sim_shape input = ss_sim_shape_make(head.rows, head.in, side, side);
	struct ss_sim_shape pooled = ss_sim_shape_make(head.rows, head.in, 1, 1);
	struct ss_sim_shape flat = ss_sim_shape_make(head.rows, head.in, 0, 0);

	ss_sim_piece_enter(piece, "AdaptiveAvgPool2d", 0, MEAN_PATH);
	ss_sim_piece_op(piece, "aten::adaptive_avg_pool2d", "tL", input.text);
	ss_sim_piece_track(piece, "aten::mean", "tLsn", input.text);
	ss_sim_piece_keep(piece, ss_sim_piece_alloc(piece, pooled.elements));
	ss_sim_piece_run(piece, SS_SIM_MEAN, input.elements, 0, 0, 0);
	ss_sim_piece_leave(piece);
	ss_sim_piece_op(piece, "aten::flatten", "tss", pooled.text);
	ss_sim_piece_close(piece);
	ss_sim_piece_keep(piece, ss_sim_linear_forward(piece, &head, &flat));
	ss_sim_loss_forward(piece, head.rows, head.out);
}

static void cnn_head_backward(struct ss_sim_piece *piece)
{
	struct ss_sim_linear head = cnn_head_linear(piece->model);
	uint64_t side = cnn_side_of(piece->share->sequence, cnn_last_stage(piece->model));
	struct ss_sim_shape input = ss_sim_shape_make(head.rows, head.in, side, side);
	struct ss_sim_shape pooled = ss_sim_shape_make(head.rows, head.in, 1, 1);
	uint32_t scores = ss_sim_loss_backward(piece, head.rows, head.out), flat, out;

	ss_sim_piece_drop(piece, ss_sim_piece_take(piece)); /* what the linear gave */
	flat = ss_sim_linear_backward(piece, &head);
	ss_sim_piece_drop(piece, scores);
	ss_sim_piece_drop(piece, ss_sim_piece_take(piece)); /* the means */
	ss_sim_piece_node(piece, "MeanBackward1", pooled.text);
	ss_sim_piece_op(piece, "aten::expand", "tLs", pooled.text);
	ss_sim_piece_close(piece);
	ss_sim_piece_op(piece, "aten::div", "ts", input.text);
	out = ss_sim_piece_alloc(piece, input.elements);
	ss_sim_piece_run(piece, SS_SIM_DIV, input.elements, 0, 0, 0);
	ss_sim_piece_node_end(piece);
	ss_sim_piece_drop(piece, flat);
	ss_sim_piece_outgoing(piece, false, out);
}

const struct ss_sim_network_pieces ss_sim_cnn_pieces = {
	.block_parameters = cnn_block_parameters,
	.stem_parameters = cnn_stem_parameters,
	.head_parameters = cnn_head_parameters,
	.parameter_tensors = cnn_parameter_tensors,
	.activation_elements = cnn_activation_elements,
	.stem_forward = cnn_stem_forward,
	.stem_backward = cnn_stem_backward,
	.block_forward = cnn_block_forward,
	.block_backward = cnn_block_backward,
	.head_forward = cnn_head_forward,
	.head_backward = cnn_head_backward,
};
