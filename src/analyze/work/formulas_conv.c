/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formulas_conv.c - convolutions: two FLOPs per weight of a filter, at each position of
 * the output (transposed ones: of the input).
 */
#include "analyze/work/formulas.h"

enum { STRIDE, PADDING, DILATION, BIAS, TRANSPOSED, OUTPUT_PADDING, GROUPS };

/* No convolution has larger sizes or strides; products of two fit into 64 bits. */
#define SIZE_MAX_SANE ((int64_t)1 << 30)

/*
 * Input or output, and weights: [n, channels, ..] and [channels out, channels in / groups,
 * ..]; of transposed ones [channels in, channels out / groups, ..].
 */
static bool conv_operands_fit(const struct ss_operand *a, const struct ss_operand *weight)
{
	return a && weight && a->rank >= 3 && a->rank == weight->rank &&
	       a->dtype != SS_DTYPE_OTHER && weight->dtype != SS_DTYPE_OTHER;
}

static double conv_filter_elements(const struct ss_operand *weight)
{
	double elements = 1;

	for (uint32_t i = 1; i < weight->rank; i++)
		elements *= (double)weight->dims[i];
	return elements;
}

static bool conv_sizes_are_sane(const int64_t *values, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (values[i] < 0 || values[i] > SIZE_MAX_SANE)
			return false;
	return true;
}

/* The number of positions of the output in all dimensions; negative: unknown. */
static double conv_output_positions(const struct ss_formula *formula, const struct ss_operands *in,
				    bool transposed)
{
	const struct ss_operand *input = &in->items[0], *weight = &in->items[1];
	uint32_t count = input->rank - 2;
	int64_t stride[SS_OPERAND_DIMS_MAX], padding[SS_OPERAND_DIMS_MAX],
		dilation[SS_OPERAND_DIMS_MAX], more[SS_OPERAND_DIMS_MAX] = { 0 };
	double places = 1;

	if (!ss_operand_ints(in, ss_formula_at(formula, in, STRIDE), count, stride) ||
	    !ss_operand_ints(in, ss_formula_at(formula, in, PADDING), count, padding) ||
	    !ss_operand_ints(in, ss_formula_at(formula, in, DILATION), count, dilation) ||
	    (transposed &&
	     !ss_operand_ints(in, ss_formula_at(formula, in, OUTPUT_PADDING), count, more)))
		return -1;
	if (!conv_sizes_are_sane(stride, count) || !conv_sizes_are_sane(padding, count) ||
	    !conv_sizes_are_sane(dilation, count) || !conv_sizes_are_sane(more, count) ||
	    !conv_sizes_are_sane(input->dims, input->rank) ||
	    !conv_sizes_are_sane(weight->dims, weight->rank))
		return -1;
	for (uint32_t i = 0; i < count; i++) {
		int64_t size = input->dims[i + 2], reach = dilation[i] * (weight->dims[i + 2] - 1);

		if (!stride[i] || !weight->dims[i + 2])
			return -1;
		if (transposed)
			size = (size - 1) * stride[i] - 2 * padding[i] + reach + more[i] + 1;
		else if (size + 2 * padding[i] - reach < 1)
			return -1;
		else
			size = (size + 2 * padding[i] - reach - 1) / stride[i] + 1;
		if (size < 0)
			return -1;
		places *= (double)size;
	}
	return places;
}

/* FLOPs and bytes, if sizes, strides and padding give the output's size. */
static void conv_forward_work(const struct ss_formula *formula, const struct ss_operands *in,
			      bool transposed, struct ss_work *out)
{
	const struct ss_operand *input = ss_operand_tensor(in, 0);
	const struct ss_operand *weight = ss_operand_tensor(in, 1);
	const struct ss_operand *bias = ss_operand_tensor(in, ss_formula_at(formula, in, BIAS));
	double places, channels;
	int64_t groups = 1;

	if (!conv_operands_fit(input, weight) ||
	    (transposed && !ss_operand_int(in, ss_formula_at(formula, in, GROUPS), &groups)))
		return;
	places = conv_output_positions(formula, in, transposed);
	if (places < 0) {
		/* work.c looks for the output's size in what follows */
		out->lacks_result = !transposed;
		return;
	}
	channels = transposed ? (double)weight->dims[1] * (double)groups : (double)weight->dims[0];
	out->dtype = input->dtype;
	out->has_flops = true;
	out->flops = 2 * conv_filter_elements(weight);
	out->flops *= transposed ? ss_operand_elements(input)
				 : (double)input->dims[0] * channels * places;
	out->has_bytes = true;
	ss_formula_add_bytes(out, ss_operand_stored(input), input->dtype);
	ss_formula_add_bytes(out, ss_operand_stored(weight), weight->dtype);
	if (bias)
		ss_formula_add_bytes(out, ss_operand_stored(bias), bias->dtype);
	ss_formula_add_bytes(out, (double)input->dims[0] * channels * places, input->dtype);
}

bool ss_formula_conv_by_result(const struct ss_operands *in, const struct ss_operand *result,
			       struct ss_work *out)
{
	const struct ss_operand *input = ss_operand_tensor(in, 0);
	const struct ss_operand *weight = ss_operand_tensor(in, 1);
	double elements = ss_operand_elements(result);

	if (!conv_operands_fit(input, weight) || result->rank != input->rank ||
	    result->dims[0] != input->dims[0] || result->dims[1] != weight->dims[0])
		return false;
	/* what is added around the input is smaller than a filter on either side */
	for (uint32_t i = 2; i < input->rank; i++)
		if (!conv_sizes_are_sane(&result->dims[i], 1) ||
		    !conv_sizes_are_sane(&input->dims[i], 1) ||
		    !conv_sizes_are_sane(&weight->dims[i], 1) ||
		    result->dims[i] > input->dims[i] + weight->dims[i])
			return false;
	out->dtype = input->dtype;
	out->has_flops = out->has_bytes = true;
	out->flops = 2 * conv_filter_elements(weight) * elements;
	ss_formula_add_bytes(out, ss_operand_stored(input), input->dtype);
	ss_formula_add_bytes(out, ss_operand_stored(weight), weight->dtype);
	ss_formula_add_bytes(out, elements, input->dtype);
	return true;
}

static void conv_work(const struct ss_formula *formula, const struct ss_operands *in, bool in_place,
		      struct ss_work *out)
{
	uint32_t at = ss_formula_at(formula, in, TRANSPOSED);
	bool transposed = false;

	(void)in_place;
	if (at == SS_OPERANDS_MAX || ss_operand_bool(in, at, &transposed))
		conv_forward_work(formula, in, transposed, out);
}

static void conv_transposed_work(const struct ss_formula *formula, const struct ss_operands *in,
				 bool in_place, struct ss_work *out)
{
	(void)in_place;
	conv_forward_work(formula, in, true, out);
}

/* Gradients of input and weight, `count` of them: each does the work of the forward. */
static void conv_gradients(const struct ss_operand *output, const struct ss_operand *input,
			   const struct ss_operand *weight, bool transposed, double count,
			   struct ss_work *out)
{
	if (!conv_operands_fit(output, weight) || !conv_operands_fit(input, weight))
		return;
	out->dtype = input->dtype;
	out->has_flops = true;
	out->flops = count * 2 * conv_filter_elements(weight) *
		     ss_operand_elements(transposed ? input : output);
	out->has_bytes = true;
	ss_formula_add_bytes(out, count * ss_operand_stored(output), output->dtype);
	ss_formula_add_bytes(out, count * ss_operand_stored(input), input->dtype);
	ss_formula_add_bytes(out, count * ss_operand_stored(weight), weight->dtype);
}

/* Images: their gradient is computed only for attacks. */
#define IMAGE_CHANNELS 4

/* Without the mask of gradients all are wanted, but those of images. */
static double conv_count_gradients(const struct ss_operands *in, const struct ss_operand *input)
{
	int64_t wanted[3];

	if (ss_operand_ints(in, 10, 3, wanted))
		return (wanted[0] != 0) + (wanted[1] != 0);
	return input && input->rank > 2 && input->dims[1] > IMAGE_CHANNELS ? 2 : 1;
}

/* A filter is at as many positions as the smaller side has, if it is unknown which one that is. */
static bool conv_is_transposed(const struct ss_operands *in, const struct ss_operand *output,
			       const struct ss_operand *input)
{
	double across = 1, back = 1;
	bool transposed;

	if (ss_operand_bool(in, 7, &transposed))
		return transposed;
	for (uint32_t i = 2; output && input && output->rank == input->rank && i < input->rank;
	     i++) {
		across *= (double)input->dims[i];
		back *= (double)output->dims[i];
	}
	return across < back;
}

static void conv_backward_work(const struct ss_formula *formula, const struct ss_operands *in,
			       bool in_place, struct ss_work *out)
{
	const struct ss_operand *output = ss_operand_tensor(in, 0);
	const struct ss_operand *input = ss_operand_tensor(in, 1);

	(void)formula;
	(void)in_place;
	conv_gradients(output, input, ss_operand_tensor(in, 2),
		       conv_is_transposed(in, output, input), conv_count_gradients(in, input), out);
}

/* One gradient, with the operands of its parent: input, gradient of the output, weight. */
static void conv_gradient_work(const struct ss_formula *formula, const struct ss_operands *in,
			       bool in_place, struct ss_work *out)
{
	(void)formula;
	(void)in_place;
	conv_gradients(ss_operand_tensor(in, 1), ss_operand_tensor(in, 0), ss_operand_tensor(in, 2),
		       false, 1, out);
}

#define NONE SS_NO_OPERAND
#define CONV(name, function, ...)                                    \
	{                                                            \
		name, SS_WORK_CONV, function, { __VA_ARGS__ }, false \
	}
#define GRADIENT(name)                                              \
	{                                                           \
		name, SS_WORK_CONV, conv_gradient_work, { 0 }, true \
	}

static const struct ss_formula conv_formulas[] = {
	CONV("conv1d", conv_work, 3, 4, 5, 2, NONE, NONE, NONE),
	CONV("conv2d", conv_work, 3, 4, 5, 2, NONE, NONE, NONE),
	CONV("conv3d", conv_work, 3, 4, 5, 2, NONE, NONE, NONE),
	CONV("convolution", conv_work, 3, 4, 5, 2, 6, 7, 8),
	CONV("_convolution", conv_work, 3, 4, 5, 2, 6, 7, 8),
	CONV("convolution_overrideable", conv_work, 3, 4, 5, 2, 6, 7, 8),
	CONV("cudnn_convolution", conv_work, 3, 2, 4, NONE, NONE, NONE, NONE),
	CONV("cudnn_convolution_relu", conv_work, 3, 4, 5, 2, NONE, NONE, NONE),
	CONV("miopen_convolution", conv_work, 4, 3, 5, 2, NONE, NONE, NONE),
	CONV("miopen_convolution_relu", conv_work, 3, 4, 5, 2, NONE, NONE, NONE),
	CONV("miopen_depthwise_convolution", conv_work, 4, 3, 5, 2, NONE, NONE, NONE),
	CONV("mkldnn_convolution", conv_work, 4, 3, 5, 2, NONE, NONE, NONE),
	CONV("_conv_depthwise2d", conv_work, 4, 5, 6, 3, NONE, NONE, NONE),
	CONV("conv_depthwise3d", conv_work, 4, 5, 6, 3, NONE, NONE, NONE),
	CONV("conv_transpose1d", conv_transposed_work, 3, 4, 7, 2, NONE, 5, 6),
	CONV("conv_transpose2d", conv_transposed_work, 3, 4, 7, 2, NONE, 5, 6),
	CONV("conv_transpose3d", conv_transposed_work, 3, 4, 7, 2, NONE, 5, 6),
	CONV("cudnn_convolution_transpose", conv_transposed_work, 4, 2, 5, NONE, NONE, 3, 6),
	CONV("miopen_convolution_transpose", conv_transposed_work, 5, 3, 6, 2, NONE, 4, 7),
	CONV("convolution_backward", conv_backward_work, 0),
	GRADIENT("cudnn_convolution_backward_input"),
	GRADIENT("cudnn_convolution_backward_weight"),
	GRADIENT("miopen_convolution_backward_input"),
	GRADIENT("miopen_convolution_backward_weight"),
	GRADIENT("mkldnn_convolution_backward_input"),
	GRADIENT("mkldnn_convolution_backward_weights"),
};

const struct ss_formula_table ss_formulas_conv = { conv_formulas, SS_COUNT(conv_formulas) };
