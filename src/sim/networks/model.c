/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.c - the pieces of whichever network the plan has.
 */
#include "sim/networks/networks.h"

static const struct ss_sim_network_pieces *network_pieces(const struct ss_sim_model *model)
{
	return model->network == SS_SIM_CNN ? &ss_sim_cnn_pieces : &ss_sim_transformer_pieces;
}

uint64_t ss_sim_block_parameters(const struct ss_sim_model *model, uint32_t block, uint32_t tensor)
{
	return network_pieces(model)->block_parameters(model, block, tensor);
}

uint64_t ss_sim_stem_parameters(const struct ss_sim_model *model)
{
	return network_pieces(model)->stem_parameters(model);
}

uint64_t ss_sim_head_parameters(const struct ss_sim_model *model)
{
	return network_pieces(model)->head_parameters(model);
}

uint32_t ss_sim_parameter_tensors(const struct ss_sim_model *model)
{
	return network_pieces(model)->parameter_tensors(model);
}

uint64_t ss_sim_activation_elements(const struct ss_sim_share *share, uint32_t block)
{
	return network_pieces(&share->plan->model)->activation_elements(share, block);
}

void ss_sim_stem_forward(struct ss_sim_program *program, const struct ss_sim_share *share)
{
	struct ss_sim_piece piece = ss_sim_piece_begin(program, share, NULL, NULL);

	network_pieces(piece.model)->stem_forward(&piece);
	ss_sim_piece_end(&piece);
}

void ss_sim_stem_backward(struct ss_sim_program *program, const struct ss_sim_share *share,
			  ss_sim_gradient_sink sink, void *context)
{
	struct ss_sim_piece piece = ss_sim_piece_begin(program, share, sink, context);

	network_pieces(piece.model)->stem_backward(&piece);
	ss_sim_piece_end(&piece);
}

/* The share for a block: some blocks use float32, without tensor cores. */
static struct ss_sim_share share_for_block(const struct ss_sim_share *share, uint32_t block,
					   struct ss_sim_plan *plan)
{
	struct ss_sim_share own = *share;

	if (block < share->plan->fp32_layers) {
		*plan = *share->plan;
		plan->model.dtype = SS_SIM_FP32;
		own.plan = plan;
	}
	return own;
}

static bool block_is_recomputed(const struct ss_sim_share *share, uint32_t block)
{
	return share->training && block < share->plan->recomputed_layers;
}

void ss_sim_block_forward(struct ss_sim_program *program, const struct ss_sim_share *share,
			  uint32_t block)
{
	struct ss_sim_plan plan;
	struct ss_sim_share own = share_for_block(share, block, &plan);
	struct ss_sim_piece piece;

	own.training &= !block_is_recomputed(share, block);
	piece = ss_sim_piece_begin(program, &own, NULL, NULL);
	network_pieces(piece.model)->block_forward(&piece, block);
	ss_sim_piece_end(&piece);
}

/* torch.utils.checkpoint: forward again, which leaves what backward takes, below the gradient. */
static void block_recompute(struct ss_sim_piece *piece, uint32_t block)
{
	uint32_t gradient = ss_sim_piece_take(piece);

	ss_sim_op(piece->program,
		  "autograd::engine::evaluate_function: CheckpointFunctionBackward");
	ss_sim_op(piece->program, "CheckpointFunctionBackward");
	network_pieces(piece->model)->block_forward(piece, block);
	ss_sim_end(piece->program);
	ss_sim_end(piece->program);
	ss_sim_piece_keep(piece, gradient);
}

void ss_sim_block_backward(struct ss_sim_program *program, const struct ss_sim_share *share,
			   uint32_t block, ss_sim_gradient_sink sink, void *context)
{
	struct ss_sim_plan plan;
	struct ss_sim_share own = share_for_block(share, block, &plan);
	struct ss_sim_piece piece = ss_sim_piece_begin(program, &own, sink, context);

	if (block_is_recomputed(share, block))
		block_recompute(&piece, block);
	network_pieces(piece.model)->block_backward(&piece, block);
	ss_sim_piece_end(&piece);
}

void ss_sim_head_forward(struct ss_sim_program *program, const struct ss_sim_share *share)
{
	struct ss_sim_piece piece = ss_sim_piece_begin(program, share, NULL, NULL);

	network_pieces(piece.model)->head_forward(&piece);
	ss_sim_piece_end(&piece);
}

void ss_sim_head_backward(struct ss_sim_program *program, const struct ss_sim_share *share,
			  ss_sim_gradient_sink sink, void *context)
{
	struct ss_sim_piece piece = ss_sim_piece_begin(program, share, sink, context);

	network_pieces(piece.model)->head_backward(&piece);
	ss_sim_piece_end(&piece);
}

uint64_t ss_sim_wide_elements(const struct ss_sim_plan *plan)
{
	const struct ss_sim_share share = { .plan = plan, .sequence = plan->model.sequence };
	uint64_t count = 0;

	if (plan->model.network == SS_SIM_TRANSFORMER)
		return 4 * ss_sim_activation_elements(&share, 0) / plan->tensor;
	for (uint32_t i = 0; i < plan->model.layers; i++)
		count += ss_sim_activation_elements(&share, i);
	return count / plan->model.layers;
}
