/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formulas.h - what operators compute and move, by name. One table per file.
 *
 * FLOPs: a multiplication and an addition count as two; only matmuls, convolutions
 * and attention have them. Bytes: every input read once and every output written once, as
 * with a perfect cache.
 */
#ifndef SS_ANALYZE_WORK_FORMULAS_H
#define SS_ANALYZE_WORK_FORMULAS_H

#include "analyze/work/operands.h"

/* From SS_WORK_MATMUL on they have FLOPs. */
enum ss_work_kind {
	SS_WORK_OTHER = 0,
	SS_WORK_COMM,
	SS_WORK_COPY, /* and fills */
	SS_WORK_ELEMENTWISE,
	SS_WORK_REDUCTION,
	SS_WORK_NORM, /* and softmax */
	SS_WORK_MATMUL,
	SS_WORK_CONV,
	SS_WORK_ATTENTION,
	SS_WORK_KIND_COUNT,
};

struct ss_work {
	enum ss_work_kind kind;
	enum ss_dtype dtype; /* that the work is done in */
	bool has_flops, has_bytes;
	double flops, moved_bytes;
	double elements;             /* of the larger of first operand and result; 0: unknown */
	double out_bytes;            /* written to one result; 0: unknown, or little */
	double rows, columns, batch; /* of the result; columns also of kinds below; 0: unknown */
	double depth;                /* of the heads of attention; channels of batch norm */
	double groups;      /* matrices that share the rows among them; 0: no such product */
	double more_bytes;  /* good kernels move them, too: inputs twice, whole sectors of memory */
	double list_passes; /* over lists of tensors: the kernel's name has the type */
	bool lacks_result;  /* of a convolution only the size of its result is unknown */
};

/* No operand. Below 0: counted from the last, which is -1. */
#define SS_NO_OPERAND 127

struct ss_formula {
	const char *name; /* without "aten::" unless it is of another library */
	enum ss_work_kind kind;
	/* Fills in FLOPs and bytes as far as they are known; NULL: only the kind is known. */
	void (*work)(const struct ss_formula *formula, const struct ss_operands *in, bool in_place,
		     struct ss_work *out);
	int8_t at[8];   /* positions of operands; their meaning is up to the function */
	bool of_parent; /* use the operands of the parent operator */
};

struct ss_formula_table {
	const struct ss_formula *formulas;
	size_t count;
};

extern const struct ss_formula_table ss_formulas_matmul;
extern const struct ss_formula_table ss_formulas_conv;
extern const struct ss_formula_table ss_formulas_attention;
extern const struct ss_formula_table ss_formulas_memory;

/*
 * The formula of an operator's name, or NULL; *in_place: it overwrites its first operand. Kernels
 * of TorchInductor (triton_...) have all their inputs and outputs as operands.
 */
const struct ss_formula *ss_formula_find(const char *name, size_t length, bool *in_place);

const struct ss_formula *ss_formula_find_inductor(const char *name, size_t length);

/* The position in `at` as an index; SS_OPERANDS_MAX: none. */
uint32_t ss_formula_at(const struct ss_formula *formula, const struct ss_operands *in, int slot);

/* Adds the bytes of the elements; an unknown type makes all bytes unknown. */
void ss_formula_add_bytes(struct ss_work *work, double elements, enum ss_dtype dtype);

/* A convolution without recorded strides, whose result was found; false: it does not fit. */
bool ss_formula_conv_by_result(const struct ss_operands *in, const struct ss_operand *result,
			       struct ss_work *out);

#endif
