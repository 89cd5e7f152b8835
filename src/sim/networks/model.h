/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - the networks, in pieces that the layouts put together.
 *
 * A piece builds what the forward or the backward pass of one part of the
 * network does on one rank: the nn.Module frames, aten ops with their shapes,
 * kernels and memory. Layouts put collectives between the pieces.
 *
 * Forward pieces remember what their backward needs (autograd's sequence
 * numbers, saved activations) in a struct ss_sim_tape, which their backward
 * takes from its end: a backward pass calls the backward pieces in reverse order.
 */
#ifndef SS_SIM_NETWORKS_MODEL_H
#define SS_SIM_NETWORKS_MODEL_H

#include "sim/plan.h"
#include "sim/programs/program.h"

#define SS_SIM_TAPE_MAX 8192u

struct ss_sim_tape {
	uint32_t sequences[SS_SIM_TAPE_MAX]; /* of tracked ops, in order */
	uint32_t sequence_count;
	uint32_t slots[SS_SIM_TAPE_MAX]; /* of saved tensors, in order */
	uint32_t slot_count;
};

/* A rank's share of the network. */
struct ss_sim_share {
	const struct ss_sim_plan *plan;
	struct ss_sim_tape *tape;
	uint32_t sequence; /* tokens a sample, or pixels a side: more on a rank with more work */
	uint32_t tensor;   /* ranks that share each matrix; 1: none */
	/*
	 * Blocks of this rank: first .. first + count - 1. The rank with block 0 runs
	 * the stem too, the one with the last block the head.
	 */
	uint32_t first, count;
	bool training; /* saves activations and tracks ops */
	/*
	 * Called where tensor parallelism has its all-reduce: after attention's
	 * projection and after the MLP's second matrix going forward, after the input
	 * gradients of their first matrices going backward. NULL: never called.
	 */
	void (*reduce)(struct ss_sim_program *program, void *context, uint64_t elements);
	void *context;
};

/*
 * Called by backward pieces for each parameter when its gradient is ready, in
 * backward order; after the AccumulateGrad of that parameter.
 */
struct ss_sim_gradient {
	uint64_t elements;
	const char *dims; /* "[768, 768]" */
};

typedef void (*ss_sim_gradient_sink)(struct ss_sim_program *program, void *context,
				     const struct ss_sim_gradient *gradient);

/* The parameters of a block, of what stands before the blocks and after them. */
uint64_t ss_sim_block_parameters(const struct ss_sim_model *model, uint32_t block, uint32_t tensor);
uint64_t ss_sim_stem_parameters(const struct ss_sim_model *model);
uint64_t ss_sim_head_parameters(const struct ss_sim_model *model);
/* How many tensors they are. */
uint32_t ss_sim_parameter_tensors(const struct ss_sim_model *model);

/* Elements of what the block hands to the next, of a micro-batch. */
uint64_t ss_sim_activation_elements(const struct ss_sim_share *share, uint32_t block);

/* Of the largest tensor of a block that causes work on, on one rank. */
uint64_t ss_sim_wide_elements(const struct ss_sim_plan *plan);

/* Before the blocks: embedding, or the first convolution and pool. */
void ss_sim_stem_forward(struct ss_sim_program *program, const struct ss_sim_share *share);
void ss_sim_stem_backward(struct ss_sim_program *program, const struct ss_sim_share *share,
			  ss_sim_gradient_sink sink, void *context);

/* Block number `block`, counted over the whole network. */
void ss_sim_block_forward(struct ss_sim_program *program, const struct ss_sim_share *share,
			  uint32_t block);
void ss_sim_block_backward(struct ss_sim_program *program, const struct ss_sim_share *share,
			   uint32_t block, ss_sim_gradient_sink sink, void *context);

/* After the blocks: norm, head and loss. */
void ss_sim_head_forward(struct ss_sim_program *program, const struct ss_sim_share *share);
void ss_sim_head_backward(struct ss_sim_program *program, const struct ss_sim_share *share,
			  ss_sim_gradient_sink sink, void *context);

/*
 * Inference: one pass over `tokens` new tokens of each of `batch` requests with
 * `past` before. Between ss_sim_graph() and its end these are kernels only.
 */
struct ss_sim_pass {
	uint32_t batch, tokens, past;
};

void ss_sim_serve_stem(struct ss_sim_program *program, const struct ss_sim_share *share,
		       const struct ss_sim_pass *pass);
void ss_sim_serve_block(struct ss_sim_program *program, const struct ss_sim_share *share,
			const struct ss_sim_pass *pass, uint32_t block);
/* The last norm, the head and the choice of the next token. */
void ss_sim_serve_head(struct ss_sim_program *program, const struct ss_sim_share *share,
		       const struct ss_sim_pass *pass);

#endif
