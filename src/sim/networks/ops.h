/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops.h - the operations that networks are made of, as torch records them.
 *
 * A piece of a network (see model.h) works with a struct ss_sim_piece: what is
 * built, for which share, and who gets the gradients. Forward operations
 * return the slot of the tensor they make; backward operations return the slot
 * of the gradient they make. None frees what it is given: a tensor is dropped
 * by the piece that knows that nobody needs it any more.
 *
 * What the backward pass needs is kept on the tape in the order of the forward
 * pass and taken back in reverse. A gradient that goes from piece to piece is on
 * the tape too, between the two.
 */
#ifndef SS_SIM_NETWORKS_OPS_H
#define SS_SIM_NETWORKS_OPS_H

#include "sim/networks/model.h"

#define SS_SIM_NO_SLOT UINT32_MAX
#define SS_SIM_HELD_MAX 32u
#define SS_SIM_LEVELS_MAX 8u

struct ss_sim_piece {
	struct ss_sim_program *program;
	const struct ss_sim_share *share;
	const struct ss_sim_model *model;
	const char *type;          /* of activations and parameters: "c10::BFloat16" */
	uint32_t bytes;            /* of one of their elements */
	bool quiet;                /* kernels only: what is captured in a CUDA graph */
	bool compiled;             /* within a compiled graph: autograd does not see its ops */
	ss_sim_gradient_sink sink; /* backward; may be NULL */
	void *context;
	/* Forward without training: what would have gone on the tape, freed at the end. */
	uint32_t held[SS_SIM_HELD_MAX], held_count;
	/* Open ops of the innermost module or node, and of those around it. */
	uint32_t open, levels[SS_SIM_LEVELS_MAX], level;
};

struct ss_sim_piece ss_sim_piece_begin(struct ss_sim_program *program,
				       const struct ss_sim_share *share, ss_sim_gradient_sink sink,
				       void *context);
void ss_sim_piece_end(struct ss_sim_piece *piece);

/* --- shapes and ranges ------------------------------------------------------ */

struct ss_sim_shape {
	char text[64]; /* "[8, 1024, 768]" */
	uint64_t elements;
};

/* The sizes up to the first 0. */
struct ss_sim_shape ss_sim_shape_make(uint64_t a, uint64_t b, uint64_t c, uint64_t d);

/*
 * Opens an op. `inputs` has a letter for each of its inputs. Tensors take the
 * text of their shape from the arguments: t of the piece's type, f float, l long
 * int, i int, b unsigned char. The others take none: s Scalar, L ScalarList, n
 * nothing.
 */
void ss_sim_piece_op(struct ss_sim_piece *piece, const char *name, const char *inputs, ...);

/* The same, and in training its number goes on the tape for ss_sim_piece_node(). */
void ss_sim_piece_track(struct ss_sim_piece *piece, const char *name, const char *inputs, ...);

/* The op that was opened last; the end of a module or node closes those that are still open. */
void ss_sim_piece_close(struct ss_sim_piece *piece);

/* A node for the op that was tracked last; its gradient has these dims. */
void ss_sim_piece_node(struct ss_sim_piece *piece, const char *name, const char *dims);
/* It has two ranges: what the engine itself does follows the inner one. */
void ss_sim_piece_node_inner_end(struct ss_sim_piece *piece);
void ss_sim_piece_node_end(struct ss_sim_piece *piece);

/* The module's range and its forward() in it; `path` "model.py(41): forward". */
void ss_sim_piece_enter(struct ss_sim_piece *piece, const char *class, uint32_t id,
			const char *path);
void ss_sim_piece_leave(struct ss_sim_piece *piece);

/* --- memory and kernels ----------------------------------------------------- */

uint32_t ss_sim_piece_alloc(struct ss_sim_piece *piece, uint64_t elements); /* of its type */
uint32_t ss_sim_piece_alloc_bytes(struct ss_sim_piece *piece, uint64_t bytes);
void ss_sim_piece_drop(struct ss_sim_piece *piece, uint32_t slot);
void ss_sim_piece_keep(struct ss_sim_piece *piece, uint32_t slot);
uint32_t ss_sim_piece_take(struct ss_sim_piece *piece);

/* A kernel on the compute stream; sizes as kernel.h says for the class. */
void ss_sim_piece_run(struct ss_sim_piece *piece, enum ss_sim_kernel_class class, uint64_t a,
		      uint64_t b, uint64_t c, uint64_t d);
void ss_sim_piece_wish(struct ss_sim_piece *piece, const struct ss_sim_kernel_wish *wish);

/* Tensor parallelism's all-reduce, when the share has one. */
void ss_sim_piece_reduce(struct ss_sim_piece *piece, uint64_t elements);

/* AccumulateGrad of a parameter, then the sink; drops the gradient. */
void ss_sim_piece_gradient(struct ss_sim_piece *piece, const struct ss_sim_shape *shape,
			   uint32_t slot);

/*
 * The gradient of what the piece made; SS_SIM_NO_SLOT when it comes from the next
 * stage of a pipeline, whose layout owns it. And the one that the piece hands on.
 */
uint32_t ss_sim_piece_incoming(struct ss_sim_piece *piece, bool last);
void ss_sim_piece_outgoing(struct ss_sim_piece *piece, bool first, uint32_t slot);

/* --- operations -------------------------------------------------------------- */

struct ss_sim_linear {
	const char *class; /* "Linear" */
	const char *path;  /* of its forward() */
	uint32_t id;
	uint64_t rows, in, out;
	bool bias;
	bool reduced; /* its input gradient is summed over the tensor-parallel group */
};

/* aten::addmm (with a bias) or aten::mm of [rows, in] and [in, out], alone. */
uint32_t ss_sim_product_forward(struct ss_sim_piece *piece, const struct ss_sim_linear *linear);
/* aten::mm that gives the gradient of the input, of the weight. */
uint32_t ss_sim_product_input(struct ss_sim_piece *piece, const struct ss_sim_linear *linear);
uint32_t ss_sim_product_weight(struct ss_sim_piece *piece, const struct ss_sim_linear *linear);

uint32_t ss_sim_linear_forward(struct ss_sim_piece *piece, const struct ss_sim_linear *linear,
			       const struct ss_sim_shape *input);
uint32_t ss_sim_linear_backward(struct ss_sim_piece *piece, const struct ss_sim_linear *linear);

/* out[0]: the result; out[1], out[2]: mean and reciprocal deviation of each row. */
void ss_sim_layer_norm_forward(struct ss_sim_piece *piece, uint32_t id,
			       const struct ss_sim_shape *input, uint64_t columns, uint32_t out[3]);
/* With `add`, the gradient of the residual branch is added to it by the engine. */
uint32_t ss_sim_layer_norm_backward(struct ss_sim_piece *piece, const struct ss_sim_shape *input,
				    uint64_t columns, bool add);

struct ss_sim_attention {
	uint64_t batch, heads, length, size; /* heads of this rank, size of a head */
};

/* out[0]: the result; out[1]: the sums of exponentials. */
void ss_sim_attention_forward(struct ss_sim_piece *piece, const struct ss_sim_attention *attention,
			      uint32_t out[2]);
/* The gradients of queries, keys and values, in one tensor. */
uint32_t ss_sim_attention_backward(struct ss_sim_piece *piece,
				   const struct ss_sim_attention *attention);

uint32_t ss_sim_gelu_forward(struct ss_sim_piece *piece, uint32_t id,
			     const struct ss_sim_shape *input);
uint32_t ss_sim_gelu_backward(struct ss_sim_piece *piece, const struct ss_sim_shape *input);

uint32_t ss_sim_add_forward(struct ss_sim_piece *piece, const struct ss_sim_shape *input);
void ss_sim_add_backward(struct ss_sim_piece *piece, const struct ss_sim_shape *input);

/* Of [rows, classes]; keeps all that it makes. Backward returns the gradient of its input. */
void ss_sim_loss_forward(struct ss_sim_piece *piece, uint64_t rows, uint64_t classes);
uint32_t ss_sim_loss_backward(struct ss_sim_piece *piece, uint64_t rows, uint64_t classes);

/* aten::zero_ and the kernel in it. */
void ss_sim_zero(struct ss_sim_piece *piece, const struct ss_sim_shape *shape);

/* The plan's unfused elementwise ops on a small tensor. */
void ss_sim_tiny_forward(struct ss_sim_piece *piece);
void ss_sim_tiny_backward(struct ss_sim_piece *piece);

/* The plan's chain of elementwise ops on a large tensor. */
void ss_sim_chain_forward(struct ss_sim_piece *piece, const struct ss_sim_shape *shape);
void ss_sim_chain_backward(struct ss_sim_piece *piece, const struct ss_sim_shape *shape);

/* The plan's casts of a tensor to float and back . */
void ss_sim_casts_forward(struct ss_sim_piece *piece, const struct ss_sim_shape *shape);
void ss_sim_casts_backward(struct ss_sim_piece *piece, const struct ss_sim_shape *shape);

#endif
