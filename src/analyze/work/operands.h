/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operands.h - the operands of an operator, parsed from its recorded arguments.
 *
 * Writers store them as parallel lists: sizes, types, strides and, for arguments that are
 * not tensors, values. The texts come from files: if one does not parse as such a list,
 * the operands of the call are unknown.
 */
#ifndef SS_ANALYZE_WORK_OPERANDS_H
#define SS_ANALYZE_WORK_OPERANDS_H

#include "trace/trace.h"

/* In the order of type promotion. */
enum ss_dtype {
	SS_DTYPE_UNKNOWN = 0, /* not recorded, or not the type of a tensor */
	SS_DTYPE_BOOL,
	SS_DTYPE_INT8, /* signed or not */
	SS_DTYPE_INT16,
	SS_DTYPE_INT32,
	SS_DTYPE_INT64,
	SS_DTYPE_FP4, /* two in each element */
	SS_DTYPE_FP8,
	SS_DTYPE_FP16,
	SS_DTYPE_BF16,
	SS_DTYPE_FP32,
	SS_DTYPE_FP64,
	SS_DTYPE_OTHER, /* complex, quantized, packed: formulas do not apply */
};

/* NULL for the unknown one. */
const char *ss_dtype_name(enum ss_dtype dtype);
double ss_dtype_bytes(enum ss_dtype dtype);
/* By the name that C++ compilers give it. */
enum ss_dtype ss_dtype_of_text(const char *text, size_t length);

/* The longest known call has 34; further operands are ignored. */
#define SS_OPERANDS_MAX 40
/* PyTorch allows 64; formulas need 5. */
#define SS_OPERAND_DIMS_MAX 8

struct ss_operand {
	bool is_tensor;
	enum ss_dtype dtype;
	uint32_t rank;
	int64_t dims[SS_OPERAND_DIMS_MAX];
	bool has_strides;
	int64_t strides[SS_OPERAND_DIMS_MAX];
	double listed;     /* if it is a list of tensors: elements of all of them; else 0 */
	const char *value; /* if it is not a tensor, its text: "[1, 1]", "True"; not terminated */
	uint32_t value_length;
};

struct ss_operands {
	uint32_t count;
	struct ss_operand items[SS_OPERANDS_MAX];
};

/* False: sizes were not recorded, or cannot be read. */
bool ss_operands_read(struct ss_operands *out, const struct ss_trace *trace,
		      const struct ss_op_args *args);

/* The operand's value; false: it was not recorded or is something else. */
bool ss_operand_bool(const struct ss_operands *operands, uint32_t index, bool *out);
bool ss_operand_int(const struct ss_operands *operands, uint32_t index, int64_t *out);
/* A list of exactly `count` numbers or bools (0, 1); a single one stands for all. */
bool ss_operand_ints(const struct ss_operands *operands, uint32_t index, uint32_t count,
		     int64_t *out);

/* The operand if it is a tensor, else NULL. */
static inline const struct ss_operand *ss_operand_tensor(const struct ss_operands *operands,
							 uint32_t index)
{
	return index < operands->count && operands->items[index].is_tensor ? &operands->items[index]
									   : NULL;
}

/* How many elements it has. */
double ss_operand_elements(const struct ss_operand *operand);
/* How many of them are in memory: expanded dimensions are stored once. */
double ss_operand_stored(const struct ss_operand *operand);

#endif
