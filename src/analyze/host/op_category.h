/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_category.h - what kind of work an operator does, from its name.
 *
 * Forward operators, their autograd nodes and the engine's wrappers around them have the
 * same category: aten::native_layer_norm, NativeLayerNormBackward0 and
 * "autograd::engine::evaluate_function: NativeLayerNormBackward0" are all normalization.
 */
#ifndef SS_ANALYZE_HOST_OP_CATEGORY_H
#define SS_ANALYZE_HOST_OP_CATEGORY_H

#include "base/error.h"

enum ss_op_category {
	SS_OP_MATMUL,
	SS_OP_CONVOLUTION,
	SS_OP_ATTENTION,
	SS_OP_RECURRENT,
	SS_OP_NORMALIZATION,
	SS_OP_ACTIVATION,
	SS_OP_ELEMENTWISE,
	SS_OP_REDUCTION, /* and scans, sorts, pools */
	SS_OP_SOFTMAX,
	SS_OP_INDEXING, /* embeddings, too */
	SS_OP_COPY,     /* copies and casts */
	SS_OP_MEMORY,   /* allocations, fills, views */
	SS_OP_LOSS,
	SS_OP_OPTIMIZER,
	SS_OP_COMMUNICATION,
	SS_OP_RANDOM,
	SS_OP_OTHER,
	SS_OP_CATEGORIES,
};

const char *ss_op_category_name(enum ss_op_category category);

/* Searches the whole table: call it once per distinct name. */
enum ss_op_category ss_op_category(const char *name);

/*
 * Whether an operator can use tensor or matrix cores: "yes", "no", or "unknown" for
 * operators of other libraries. Everything on TensorBoard's list is "yes".
 */
const char *ss_op_tensor_eligible(const char *name, enum ss_op_category category);

/* Whether Python reads a value by it: what follows depends on that, and on a device it waits. */
bool ss_op_reads_value(const char *name);

#endif
