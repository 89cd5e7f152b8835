/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transformer.c - a decoder as GPT-2 is: embeddings, blocks of attention and
 * MLP with a norm before each, a last norm and a head.
 */
#include "sim/networks/networks.h"

#define LINEAR_PATH "torch/nn/modules/linear.py(124): forward"
#define EMBEDDING_PATH "torch/nn/modules/sparse.py(189): forward"

/* --- sizes -------------------------------------------------------------------- */

static struct ss_sim_linear transformer_linear(uint32_t id, uint64_t rows, uint64_t in,
					       uint64_t out)
{
	return (struct ss_sim_linear){
		.class = "Linear",
		.path = LINEAR_PATH,
		.id = id,
		.rows = rows,
		.in = in,
		.out = out,
		.bias = true,
	};
}

static struct ss_sim_block_sizes transformer_block_sizes(const struct ss_sim_share *share,
							 uint32_t block)
{
	const struct ss_sim_model *model = &share->plan->model;
	uint64_t tensor = share->tensor ? share->tensor : 1;
	uint64_t hidden = model->hidden, batch = model->batch, length = share->sequence;
	uint64_t width = hidden / tensor, wide = 4 * hidden / tensor, rows = batch * length;
	uint64_t heads = model->heads > tensor ? model->heads / tensor : 1;
	struct ss_sim_block_sizes sizes = {
		.rows = rows,
		.hidden = hidden,
		.qkv = transformer_linear(4 * block, rows, hidden, 3 * width),
		.proj = transformer_linear(4 * block + 1, rows, width, hidden),
		.fc1 = transformer_linear(4 * block + 2, rows, hidden, wide),
		.fc2 = transformer_linear(4 * block + 3, rows, wide, hidden),
		.attention = { batch, heads, length, width / heads },
		.tokens = ss_sim_shape_make(batch, length, hidden, 0),
		.heads = ss_sim_shape_make(batch, length, width, 0),
		.wide = ss_sim_shape_make(batch, length, wide, 0),
	};

	sizes.qkv.reduced = true;
	sizes.fc1.reduced = true;
	return sizes;
}

/*
 * Rows of the table of positions: a power of two, and twice what is asked for,
 * because a rank with more work has longer sequences.
 */
static uint64_t position_count(const struct ss_sim_model *model)
{
	uint64_t rows = 1;

	while (rows < 2 * (uint64_t)model->sequence)
		rows *= 2;
	return rows;
}

static uint64_t linear_parameters(uint64_t in, uint64_t out)
{
	return in * out + out;
}

static uint64_t transformer_block_parameters(const struct ss_sim_model *model, uint32_t block,
					     uint32_t tensor)
{
	uint64_t hidden = model->hidden, parts = tensor ? tensor : 1;
	uint64_t width = hidden / parts, wide = 4 * hidden / parts;

	(void)block;
	return 4 * hidden + linear_parameters(hidden, 3 * width) +
	       linear_parameters(width, hidden) + linear_parameters(hidden, wide) +
	       linear_parameters(wide, hidden);
}

static uint64_t transformer_stem_parameters(const struct ss_sim_model *model)
{
	return (model->vocabulary + position_count(model)) * model->hidden;
}

static uint64_t transformer_head_parameters(const struct ss_sim_model *model)
{
	return 2 * (uint64_t)model->hidden + (uint64_t)model->hidden * model->vocabulary;
}

static uint32_t transformer_parameter_tensors(const struct ss_sim_model *model)
{
	return 2 + 12 * model->layers + 3;
}

static uint64_t transformer_activation_elements(const struct ss_sim_share *share, uint32_t block)
{
	const struct ss_sim_model *model = &share->plan->model;

	(void)block;
	return (uint64_t)model->batch * share->sequence * model->hidden;
}

/* --- embeddings --------------------------------------------------------------- */

static uint32_t embedding_forward(struct ss_sim_piece *piece, uint32_t id, uint64_t table,
				  const struct ss_sim_shape *index)
{
	struct ss_sim_shape weight = ss_sim_shape_make(table, piece->model->hidden, 0, 0);
	struct ss_sim_shape flat = ss_sim_shape_make(index->elements, 0, 0, 0);
	uint32_t out;

	ss_sim_piece_enter(piece, "Embedding", id, EMBEDDING_PATH);
	ss_sim_piece_track(piece, "aten::embedding", "tlsss", weight.text, index->text);
	ss_sim_piece_op(piece, "aten::index_select", "tsl", weight.text, flat.text);
	out = ss_sim_piece_alloc(piece, index->elements * piece->model->hidden);
	ss_sim_piece_run(piece, SS_SIM_EMBEDDING, index->elements, piece->model->hidden, 0, 0);
	ss_sim_piece_leave(piece);
	return out;
}

static void embedding_backward(struct ss_sim_piece *piece, uint64_t table,
			       const struct ss_sim_shape *index, const char *above)
{
	struct ss_sim_shape weight = ss_sim_shape_make(table, piece->model->hidden, 0, 0);
	uint32_t weights;

	ss_sim_piece_node(piece, "EmbeddingBackward0", above);
	ss_sim_piece_op(piece, "aten::embedding_backward", "tlssss", above, index->text);
	ss_sim_piece_op(piece, "aten::embedding_dense_backward", "tlsss", above, index->text);
	weights = ss_sim_piece_alloc(piece, weight.elements);
	ss_sim_zero(piece, &weight);
	ss_sim_piece_run(piece, SS_SIM_EMBEDDING_BACKWARD, index->elements, piece->model->hidden, 0,
			 0);
	ss_sim_piece_node_end(piece);
	ss_sim_piece_gradient(piece, &weight, weights);
}

static void transformer_stem_forward(struct ss_sim_piece *piece)
{
	const struct ss_sim_model *model = piece->model;
	uint64_t length = piece->share->sequence;
	struct ss_sim_shape index = ss_sim_shape_make(model->batch, length, 0, 0);
	struct ss_sim_shape place = ss_sim_shape_make(length, 0, 0, 0);
	struct ss_sim_shape out = ss_sim_shape_make(model->batch, length, model->hidden, 0);
	struct ss_sim_shape row = ss_sim_shape_make(length, model->hidden, 0, 0);
	uint32_t tokens = embedding_forward(piece, 0, model->vocabulary, &index);
	uint32_t places = embedding_forward(piece, 1, position_count(model), &place);

	ss_sim_piece_track(piece, "aten::add", "tts", out.text, row.text);
	ss_sim_piece_keep(piece, ss_sim_piece_alloc(piece, out.elements));
	ss_sim_piece_run(piece, SS_SIM_ADD, out.elements, 0, 0, 0);
	ss_sim_piece_close(piece);
	ss_sim_piece_drop(piece, places);
	ss_sim_piece_drop(piece, tokens);
}

static void transformer_stem_backward(struct ss_sim_piece *piece)
{
	const struct ss_sim_model *model = piece->model;
	uint64_t length = piece->share->sequence;
	struct ss_sim_shape index = ss_sim_shape_make(model->batch, length, 0, 0);
	struct ss_sim_shape place = ss_sim_shape_make(length, 0, 0, 0);
	struct ss_sim_shape out = ss_sim_shape_make(model->batch, length, model->hidden, 0);
	struct ss_sim_shape row = ss_sim_shape_make(length, model->hidden, 0, 0);
	uint32_t above = ss_sim_piece_take(piece), rows;

	ss_sim_piece_drop(piece, ss_sim_piece_take(piece));
	ss_sim_piece_node(piece, "AddBackward0", out.text);
	ss_sim_piece_node_inner_end(piece);
	ss_sim_piece_op(piece, "aten::sum", "tLsn", out.text);
	rows = ss_sim_piece_alloc(piece, row.elements);
	ss_sim_piece_run(piece, SS_SIM_SUM, out.elements, 0, 0, 0);
	ss_sim_piece_close(piece);
	ss_sim_piece_node_end(piece);
	embedding_backward(piece, position_count(model), &place, row.text);
	ss_sim_piece_drop(piece, rows);
	embedding_backward(piece, model->vocabulary, &index, out.text);
	ss_sim_piece_drop(piece, above);
}

/* --- blocks --------------------------------------------------------------------- */

void ss_sim_block_attend(struct ss_sim_piece *piece, const struct ss_sim_block_sizes *sizes,
			 uint32_t out[2])
{
	const struct ss_sim_attention *attention = &sizes->attention;
	struct ss_sim_shape joined = ss_sim_shape_make(attention->batch, attention->length,
						       sizes->qkv.out, 0);
	struct ss_sim_shape turned = ss_sim_shape_make(attention->batch, attention->length,
						       attention->heads, attention->size);

	ss_sim_piece_track(piece, "aten::split", "tss", joined.text);
	ss_sim_piece_close(piece);
	ss_sim_attention_forward(piece, attention, out);
	ss_sim_piece_op(piece, "aten::reshape", "tL", turned.text);
	ss_sim_piece_close(piece);
}

static void piece_keep_norm(struct ss_sim_piece *piece, const uint32_t norm[3])
{
	for (int i = 0; i < 3; i++)
		ss_sim_piece_keep(piece, norm[i]);
}

static void attention_forward(struct ss_sim_piece *piece, const struct ss_sim_block_sizes *sizes,
			      uint32_t block)
{
	uint32_t norm[3], heads[2], proj;

	ss_sim_layer_norm_forward(piece, 2 * block, &sizes->tokens, sizes->hidden, norm);
	piece_keep_norm(piece, norm);
	ss_sim_piece_enter(piece, "CausalSelfAttention", block, "model.py(41): forward");
	ss_sim_piece_keep(piece, ss_sim_linear_forward(piece, &sizes->qkv, &sizes->tokens));
	ss_sim_block_attend(piece, sizes, heads);
	ss_sim_piece_keep(piece, heads[0]);
	ss_sim_piece_keep(piece, heads[1]);
	proj = ss_sim_linear_forward(piece, &sizes->proj, &sizes->heads);
	ss_sim_piece_reduce(piece, sizes->tokens.elements);
	ss_sim_piece_leave(piece);
	ss_sim_piece_keep(piece, ss_sim_add_forward(piece, &sizes->tokens));
	ss_sim_piece_drop(piece, proj);
}

static void mlp_forward(struct ss_sim_piece *piece, const struct ss_sim_block_sizes *sizes,
			uint32_t block)
{
	uint32_t norm[3], out;

	ss_sim_layer_norm_forward(piece, 2 * block + 1, &sizes->tokens, sizes->hidden, norm);
	piece_keep_norm(piece, norm);
	ss_sim_piece_enter(piece, "MLP", block, "model.py(82): forward");
	ss_sim_piece_keep(piece, ss_sim_linear_forward(piece, &sizes->fc1, &sizes->tokens));
	ss_sim_piece_keep(piece, ss_sim_gelu_forward(piece, block, &sizes->wide));
	ss_sim_chain_forward(piece, &sizes->wide);
	out = ss_sim_linear_forward(piece, &sizes->fc2, &sizes->wide);
	ss_sim_piece_reduce(piece, sizes->tokens.elements);
	ss_sim_piece_leave(piece);
	ss_sim_piece_keep(piece, ss_sim_add_forward(piece, &sizes->tokens));
	ss_sim_piece_drop(piece, out);
}

static void transformer_block_forward(struct ss_sim_piece *piece, uint32_t block)
{
	struct ss_sim_block_sizes sizes = transformer_block_sizes(piece->share, block);

	ss_sim_piece_enter(piece, "Block", block, "model.py(103): forward");
	ss_sim_tiny_forward(piece);
	ss_sim_casts_forward(piece, &sizes.wide);
	if (piece->share->plan->compiled) {
		ss_sim_compiled_forward(piece, &sizes, block);
	} else {
		attention_forward(piece, &sizes, block);
		mlp_forward(piece, &sizes, block);
	}
	ss_sim_piece_leave(piece);
}

/* From the gradient of what a norm made to that of its input, with the residual's. */
static uint32_t residual_norm_backward(struct ss_sim_piece *piece,
				       const struct ss_sim_block_sizes *sizes, uint32_t above,
				       const uint32_t saved[2], uint32_t residual)
{
	uint32_t out = ss_sim_layer_norm_backward(piece, &sizes->tokens, sizes->hidden, true);

	ss_sim_piece_drop(piece, above);
	ss_sim_piece_drop(piece, saved[0]);
	ss_sim_piece_drop(piece, saved[1]);
	ss_sim_piece_drop(piece, residual);
	return out;
}

static uint32_t mlp_backward(struct ss_sim_piece *piece, const struct ss_sim_block_sizes *sizes,
			     uint32_t above)
{
	uint32_t active, before, norm[2], out;

	ss_sim_piece_drop(piece, ss_sim_piece_take(piece)); /* what the block made */
	ss_sim_add_backward(piece, &sizes->tokens);
	active = ss_sim_linear_backward(piece, &sizes->fc2);
	ss_sim_piece_drop(piece, ss_sim_piece_take(piece));
	ss_sim_chain_backward(piece, &sizes->wide);
	before = ss_sim_gelu_backward(piece, &sizes->wide);
	ss_sim_piece_drop(piece, ss_sim_piece_take(piece));
	ss_sim_piece_drop(piece, active);
	out = ss_sim_linear_backward(piece, &sizes->fc1);
	ss_sim_piece_drop(piece, before);
	norm[0] = ss_sim_piece_take(piece);
	norm[1] = ss_sim_piece_take(piece);
	ss_sim_piece_drop(piece, ss_sim_piece_take(piece));
	return residual_norm_backward(piece, sizes, out, norm, above);
}

static uint32_t attention_backward(struct ss_sim_piece *piece,
				   const struct ss_sim_block_sizes *sizes, uint32_t above)
{
	uint32_t heads, joined, norm[2], out;

	ss_sim_piece_drop(piece, ss_sim_piece_take(piece)); /* the sum before the MLP */
	ss_sim_add_backward(piece, &sizes->tokens);
	heads = ss_sim_linear_backward(piece, &sizes->proj);
	joined = ss_sim_attention_backward(piece, &sizes->attention);
	ss_sim_piece_drop(piece, heads);
	for (int i = 0; i < 3; i++) /* sums, result, queries with keys and values */
		ss_sim_piece_drop(piece, ss_sim_piece_take(piece));
	out = ss_sim_linear_backward(piece, &sizes->qkv);
	ss_sim_piece_drop(piece, joined);
	norm[0] = ss_sim_piece_take(piece);
	norm[1] = ss_sim_piece_take(piece);
	ss_sim_piece_drop(piece, ss_sim_piece_take(piece));
	return residual_norm_backward(piece, sizes, out, norm, above);
}

static void transformer_block_backward(struct ss_sim_piece *piece, uint32_t block)
{
	const struct ss_sim_share *share = piece->share;
	struct ss_sim_block_sizes sizes = transformer_block_sizes(share, block);
	uint32_t slot;

	if (share->plan->compiled) {
		ss_sim_compiled_backward(piece, &sizes, block);
		return;
	}
	slot = ss_sim_piece_incoming(piece, block + 1 == share->first + share->count);
	slot = mlp_backward(piece, &sizes, slot);
	slot = attention_backward(piece, &sizes, slot);
	ss_sim_casts_backward(piece, &sizes.wide);
	ss_sim_tiny_backward(piece);
	ss_sim_piece_outgoing(piece, block == share->first, slot);
}

/* --- head ----------------------------------------------------------------------- */

static struct ss_sim_linear transformer_head_linear(const struct ss_sim_piece *piece)
{
	const struct ss_sim_model *model = piece->model;
	struct ss_sim_linear head = transformer_linear(4 * model->layers,
						       (uint64_t)model->batch *
							       piece->share->sequence,
						       model->hidden, model->vocabulary);

	head.bias = false;
	return head;
}

static void transformer_head_forward(struct ss_sim_piece *piece)
{
	const struct ss_sim_model *model = piece->model;
	struct ss_sim_linear head = transformer_head_linear(piece);
	struct ss_sim_shape tokens = ss_sim_shape_make(model->batch, piece->share->sequence,
						       model->hidden, 0);
	uint32_t norm[3];

	ss_sim_layer_norm_forward(piece, 2 * model->layers, &tokens, model->hidden, norm);
	piece_keep_norm(piece, norm);
	ss_sim_piece_keep(piece, ss_sim_linear_forward(piece, &head, &tokens));
	ss_sim_loss_forward(piece, head.rows, head.out);
}

static void transformer_head_backward(struct ss_sim_piece *piece)
{
	const struct ss_sim_model *model = piece->model;
	struct ss_sim_linear head = transformer_head_linear(piece);
	struct ss_sim_shape tokens = ss_sim_shape_make(model->batch, piece->share->sequence,
						       model->hidden, 0);
	uint32_t scores = ss_sim_loss_backward(piece, head.rows, head.out), out, above;

	ss_sim_piece_drop(piece, ss_sim_piece_take(piece));
	above = ss_sim_linear_backward(piece, &head);
	ss_sim_piece_drop(piece, scores);
	out = ss_sim_layer_norm_backward(piece, &tokens, model->hidden, false);
	ss_sim_piece_drop(piece, above);
	for (int i = 0; i < 3; i++)
		ss_sim_piece_drop(piece, ss_sim_piece_take(piece));
	ss_sim_piece_outgoing(piece, false, out);
}

const struct ss_sim_network_pieces ss_sim_transformer_pieces = {
	.block_parameters = transformer_block_parameters,
	.stem_parameters = transformer_stem_parameters,
	.head_parameters = transformer_head_parameters,
	.parameter_tensors = transformer_parameter_tensors,
	.activation_elements = transformer_activation_elements,
	.stem_forward = transformer_stem_forward,
	.stem_backward = transformer_stem_backward,
	.block_forward = transformer_block_forward,
	.block_backward = transformer_block_backward,
	.head_forward = transformer_head_forward,
	.head_backward = transformer_head_backward,
};
