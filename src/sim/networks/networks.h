/* SPDX-License-Identifier: Apache-2.0 */
/*
 * networks.h - what model.c chooses from: one table of pieces for each network.
 */
#ifndef SS_SIM_NETWORKS_NETWORKS_H
#define SS_SIM_NETWORKS_NETWORKS_H

#include "sim/networks/ops.h"

struct ss_sim_network_pieces {
	uint64_t (*block_parameters)(const struct ss_sim_model *model, uint32_t block,
				     uint32_t tensor);
	uint64_t (*stem_parameters)(const struct ss_sim_model *model);
	uint64_t (*head_parameters)(const struct ss_sim_model *model);
	uint32_t (*parameter_tensors)(const struct ss_sim_model *model);
	/* Of what the block makes. */
	uint64_t (*activation_elements)(const struct ss_sim_share *share, uint32_t block);
	void (*stem_forward)(struct ss_sim_piece *piece);
	void (*stem_backward)(struct ss_sim_piece *piece);
	void (*block_forward)(struct ss_sim_piece *piece, uint32_t block);
	void (*block_backward)(struct ss_sim_piece *piece, uint32_t block);
	void (*head_forward)(struct ss_sim_piece *piece);
	void (*head_backward)(struct ss_sim_piece *piece);
};

extern const struct ss_sim_network_pieces ss_sim_transformer_pieces, ss_sim_cnn_pieces;

/* --- transformer -------------------------------------------------------------- */

/* The sizes of a block on one of the ranks that share it. */
struct ss_sim_block_sizes {
	uint64_t rows, hidden;
	struct ss_sim_linear qkv, proj, fc1, fc2;
	struct ss_sim_attention attention;
	struct ss_sim_shape tokens; /* [batch, length, hidden] */
	struct ss_sim_shape heads;  /* [batch, length, what attention gives] */
	struct ss_sim_shape wide;   /* [batch, length, what fc1 gives] */
};

/* aten::split of what qkv gives, attention, aten::reshape of what that gives. */
void ss_sim_block_attend(struct ss_sim_piece *piece, const struct ss_sim_block_sizes *sizes,
			 uint32_t out[2]);

/* The same block under torch.compile. */
void ss_sim_compiled_forward(struct ss_sim_piece *piece, const struct ss_sim_block_sizes *sizes,
			     uint32_t block);
void ss_sim_compiled_backward(struct ss_sim_piece *piece, const struct ss_sim_block_sizes *sizes,
			      uint32_t block);

#endif
