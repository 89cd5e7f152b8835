/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.c - what names of operators, ranges and functions say about their place.
 *
 * Frames prove no phase by their file alone: opt.state_dict() lies in torch/optim, too.
 */
#include <string.h>

#include "analyze/host/op_category.h"
#include "attribute/rows.h"
#include "base/text.h"

/* Files that stand between a program and its operators; the profiler cuts sys.path off. */
static const char *const frameworks[] = {
	"transformers/", "accelerate/", "lightning/",  "pytorch_lightning/",
	"torchvision/",  "diffusers/",  "datasets/",   "deepspeed/",
	"megatron/",     "torchrec/",   "fbgemm_gpu/", "numpy/",
	"scipy/",        "pandas/",     "PIL/",        "sklearn/",
	"tqdm/",         "triton/",     "ipykernel/",  "IPython/",
	"tornado/",      "traitlets/",  "zmq/",        "jupyter_client/",
	"torch/",
};

static const char *const pointwise[] = {
	"add",   "sub",   "mul",   "div",    "pow",        "tanh",    "sigmoid", "exp",
	"log",   "sqrt",  "rsqrt", "neg",    "abs",        "relu",    "gelu",    "silu",
	"clamp", "where", "erf",   "square", "reciprocal", "maximum", "minimum", "add_",
	"mul_",  "sub_",  "div_",  "rsub",   "leaky_relu", "sign",    "lerp",
};

static const char *const no_data[] = {
	"view",    "t",      "transpose",  "permute", "slice",  "select", "unsqueeze",
	"squeeze", "expand", "as_strided", "detach",  "unbind", "alias",  "narrow",
};

static const char *const copies[] = { "to",    "clone",    "contiguous",  "copy_",
				      "float", "_to_copy", "detach_copy", "double" };

/* A gradient of what was broadcast is summed to its shape. */
static const char *const engines[] = { "add", "add_", "detach", "sum" };

static const char *const joins[] = { "cat", "concat", "stack", "hstack", "vstack", "append" };

static const char *const dropouts[] = { "dropout", "dropout_", "native_dropout", "feature_dropout",
					"alpha_dropout" };

/* Functions of torch.nn that are made of other operators. */
static const char *const layers[] = {
	"linear",     "conv1d",     "conv2d",     "conv3d", "conv_transpose2d",
	"layer_norm", "batch_norm", "group_norm", "lstm",   "scaled_dot_product_attention",
	"embedding",  "gru",        "bilinear",
};

static const char *const sorts[] = { "sort", "argsort", "msort" };

static const char *const products[] = { "mm", "bmm", "addmm", "baddbmm" };

static bool is_one_of(const char *word, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	return false;
}

static uint32_t operator_traits(const char *name)
{
	const char *word;

	if (strncmp(name, "aten::", 6) != 0)
		return 0;
	word = name + 6;
	return (uint32_t)((is_one_of(word, pointwise, SS_COUNT(pointwise)) ? SS_TRAIT_POINTWISE
									   : 0) |
			  (is_one_of(word, no_data, SS_COUNT(no_data)) ? SS_TRAIT_NO_DATA : 0) |
			  (is_one_of(word, copies, SS_COUNT(copies)) ? SS_TRAIT_COPY : 0) |
			  (strstr(word, "slow_conv") || strstr(word, "thnn_conv")
				   ? SS_TRAIT_FALLBACK
				   : 0) |
			  (is_one_of(word, joins, SS_COUNT(joins)) ? SS_TRAIT_JOINS : 0) |
			  (is_one_of(word, dropouts, SS_COUNT(dropouts)) ? SS_TRAIT_DROPOUT : 0) |
			  (is_one_of(word, sorts, SS_COUNT(sorts)) ? SS_TRAIT_SORTS : 0) |
			  (is_one_of(word, products, SS_COUNT(products)) ? SS_TRAIT_MATRIX : 0) |
			  (is_one_of(word, layers, SS_COUNT(layers)) ? SS_TRAIT_LAYER : 0) |
			  (is_one_of(word, engines, SS_COUNT(engines)) ? SS_TRAIT_ADDS : 0));
}

/* "file.py(12): function": what the file says about a phase. */
static uint32_t frame_traits(const char *name, const char *function)
{
	bool is_torch = strncmp(name, "torch/", 6) == 0 || strstr(name, "/torch/");

	if (!is_torch)
		return 0;
	if (strstr(name, "torch/profiler/"))
		return SS_TRAIT_PROFILER;
	if (strcmp(function, "backward") == 0 &&
	    (strstr(name, "torch/_tensor.py") || strstr(name, "torch/autograd/__init__.py")))
		return SS_TRAIT_BACKWARD;
	if (strstr(name, "torch/utils/data/dataloader") || strstr(name, "torch/utils/data/_utils"))
		return SS_TRAIT_INPUT;
	if (strstr(name, "torch/nn/parallel/distributed.py"))
		return SS_TRAIT_WRAPPER;
	if (!strstr(name, "torch/optim/") && !strstr(name, "torch/nn/utils/clip_grad") &&
	    !strstr(name, "torch/amp/grad_scaler"))
		return 0;
	return strstr(function, "state_dict") || strstr(function, "__init__") ||
			       strstr(function, "add_param_group") ||
			       strstr(function, "deepcopy") || strstr(function, "__getstate__")
		       ? 0
		       : SS_TRAIT_OPTIMIZER;
}

static bool is_of_program(const char *name, size_t file_length)
{
	if (name[0] == '<' && strncmp(name, "<ipython-input", 14) != 0)
		return false;
	if (strstr(name, "torchinductor") || ss_places_is_library(name, file_length))
		return false;
	for (size_t i = 0; i < SS_COUNT(frameworks); i++)
		if (strncmp(name, frameworks[i], strlen(frameworks[i])) == 0)
			return false;
	return true;
}

uint32_t ss_attribution_name_traits(const struct ss_string *name, uint32_t flags)
{
	const char *open = strstr(name->text, ".py("), *function;
	uint32_t traits = strstr(name->text, "ynchronize") || ss_op_reads_value(name->text) ||
					  (flags & (SS_NAME_SYNC_CALL | SS_NAME_COPY_CALL))
				  ? SS_TRAIT_BLOCKS
				  : 0;

	if (strncmp(name->text, "<ipython-input", 14) == 0)
		return SS_TRAIT_USER;
	if (open) {
		function = strstr(open, "): ");
		function = function ? function + 3 : "";
		traits |= frame_traits(name->text, function);
		if (is_of_program(name->text, (size_t)(open + 3 - name->text)))
			traits |= SS_TRAIT_USER;
		return traits;
	}
	if (strncmp(name->text, "autograd::engine::evaluate_function", 35) == 0)
		traits |= SS_TRAIT_ENGINE;
	if (strstr(name->text, "wait") || strstr(name->text, "barrier"))
		traits |= SS_TRAIT_WAITS;
	if (strstr(name->text, "AccumulateGrad"))
		traits |= SS_TRAIT_ACCUMULATE;
	if (strstr(name->text, "Backward") && !(traits & SS_TRAIT_ENGINE))
		traits |= SS_TRAIT_GRAD_NODE;
	if (flags & SS_NAME_WRAPPER)
		traits |= SS_TRAIT_WRAPPER;
	return traits | operator_traits(name->text);
}
