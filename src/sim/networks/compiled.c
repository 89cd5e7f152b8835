/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compiled.c - a transformer's block under torch.compile.
 *
 * Norms, sums and activations become a few Triton kernels of one graph; matrix
 * products and attention stay what they are. A block with a graph break runs as
 * two graphs with eager attention between them, and looks each of them up.
 */
#include <stdio.h>

#include "sim/networks/networks.h"
#include "sim/programs/program.h"

/* What the guards of a frame that goes on after a break cost. */
#define GUARD_NS 120000

/* Gradients of parameters, handed on when their graph is done. */
struct compiled_gradients {
	struct ss_sim_shape shape[12];
	uint32_t slot[12];
	uint32_t count;
};

static bool block_has_break(const struct ss_sim_piece *piece, uint32_t block)
{
	return block < piece->share->plan->graph_breaks;
}

/* "## Call CompiledFxGraph f4bw... ##": graphs are named by a hash in base 32. */
static void compiled_call_graph(struct ss_sim_piece *piece, uint32_t region, bool backward)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
	uint64_t state = 2 * (uint64_t)region + backward + 1;
	char hash[52], name[96];

	for (size_t i = 0; i + 1 < sizeof(hash); i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		hash[i] = letters[state >> 59];
	}
	hash[sizeof(hash) - 1] = '\0';
	snprintf(name, sizeof(name), "## Call CompiledFxGraph f%s ##", hash);
	ss_sim_note(piece->program, name);
	piece->compiled = true;
}

static void compiled_region_begin(struct ss_sim_piece *piece, uint32_t region, int64_t guard_ns)
{
	char name[64];

	ss_sim_op(piece->program, "TorchDynamo Cache Lookup");
	if (guard_ns)
		ss_sim_work(piece->program, guard_ns);
	ss_sim_end(piece->program);
	snprintf(name, sizeof(name), "Torch-Compiled Region: %u/0", (unsigned)region);
	ss_sim_op(piece->program, name);
	ss_sim_piece_track(piece, "CompiledFunction", "");
	compiled_call_graph(piece, region, false);
}

static void compiled_region_end(struct ss_sim_piece *piece)
{
	piece->compiled = false;
	ss_sim_end(piece->program);
	ss_sim_piece_close(piece);
	ss_sim_end(piece->program);
}

static void compiled_node_begin(struct ss_sim_piece *piece, uint32_t region, const char *dims)
{
	ss_sim_piece_node(piece, "CompiledFunctionBackward", dims);
	compiled_call_graph(piece, region, true);
}

static void compiled_node_end(struct ss_sim_piece *piece, struct compiled_gradients *gradients)
{
	piece->compiled = false;
	ss_sim_end(piece->program);
	ss_sim_piece_node_end(piece);
	for (uint32_t i = 0; i < gradients->count; i++)
		ss_sim_piece_gradient(piece, &gradients->shape[i], gradients->slot[i]);
	gradients->count = 0;
}

/* Inductor records its kernels as ops of the same name. */
static void compiled_run_triton(struct ss_sim_piece *piece, const char *tag, uint64_t elements,
				bool norm)
{
	const struct ss_sim_kernel_wish wish = {
		.class = SS_SIM_TRITON,
		.dtype = piece->model->dtype,
		.size = { elements },
		.tag = tag,
		.starved_permille = norm ? piece->share->plan->starved_permille : 0,
	};
	struct ss_sim_program *program = piece->program;
	struct ss_sim_shape shape = ss_sim_shape_make(elements, 0, 0, 0);
	uint32_t index = ss_sim_kernel_index(program, &wish);

	if (index == SS_NO_ID)
		return;
	ss_sim_piece_op(piece, program->kernels[index].name, "tts", shape.text, shape.text);
	ss_sim_piece_wish(piece, &wish);
	ss_sim_piece_close(piece);
}

/* --- forward -------------------------------------------------------------------- */

/* The norm and the product before attention; keeps queries, keys and values. */
static void compiled_lead_forward(struct ss_sim_piece *piece,
				  const struct ss_sim_block_sizes *sizes)
{
	uint32_t norm = ss_sim_piece_alloc(piece, sizes->tokens.elements);

	compiled_run_triton(piece, "add_native_layer_norm", sizes->tokens.elements, true);
	ss_sim_piece_keep(piece, ss_sim_product_forward(piece, &sizes->qkv));
	ss_sim_piece_drop(piece, norm);
}

/* All that follows attention; keeps the sum, what fc1 gives, and the block's result. */
static void compiled_tail_forward(struct ss_sim_piece *piece,
				  const struct ss_sim_block_sizes *sizes)
{
	uint32_t proj = ss_sim_product_forward(piece, &sizes->proj), norm, active;

	ss_sim_piece_reduce(piece, sizes->tokens.elements);
	ss_sim_piece_keep(piece, ss_sim_piece_alloc(piece, sizes->tokens.elements));
	norm = ss_sim_piece_alloc(piece, sizes->tokens.elements);
	compiled_run_triton(piece, "add_native_layer_norm", sizes->tokens.elements, true);
	ss_sim_piece_drop(piece, proj);
	ss_sim_piece_keep(piece, ss_sim_product_forward(piece, &sizes->fc1));
	ss_sim_piece_drop(piece, norm);
	active = ss_sim_piece_alloc(piece, sizes->wide.elements);
	compiled_run_triton(piece, "gelu", sizes->wide.elements, false);
	ss_sim_piece_keep(piece, ss_sim_product_forward(piece, &sizes->fc2));
	ss_sim_piece_drop(piece, active);
	ss_sim_piece_reduce(piece, sizes->tokens.elements);
}

void ss_sim_compiled_forward(struct ss_sim_piece *piece, const struct ss_sim_block_sizes *sizes,
			     uint32_t block)
{
	bool broken = block_has_break(piece, block);
	uint32_t heads[2];

	compiled_region_begin(piece, broken ? 2 * block + 1 : 0, broken ? GUARD_NS : 0);
	compiled_lead_forward(piece, sizes);
	if (broken) {
		compiled_region_end(piece);
		ss_sim_piece_enter(piece, "CausalSelfAttention", block, "model.py(41): forward");
		if (piece->share->plan->break_ns)
			ss_sim_work(piece->program, piece->share->plan->break_ns);
		ss_sim_block_attend(piece, sizes, heads);
		ss_sim_piece_leave(piece);
	} else {
		ss_sim_attention_forward(piece, &sizes->attention, heads);
	}
	ss_sim_piece_keep(piece, heads[0]);
	ss_sim_piece_keep(piece, heads[1]);
	if (broken)
		compiled_region_begin(piece, 2 * block + 2, GUARD_NS);
	compiled_tail_forward(piece, sizes);
	compiled_region_end(piece);
}

/* --- backward ------------------------------------------------------------------- */

static void gradients_add(struct compiled_gradients *gradients, struct ss_sim_shape shape,
			  uint32_t slot)
{
	gradients->shape[gradients->count] = shape;
	gradients->slot[gradients->count++] = slot;
}

/* The gradients of the linear's input (returned), of its weight and of its bias. */
static uint32_t linear_gradients(struct ss_sim_piece *piece, const struct ss_sim_linear *linear,
				 struct compiled_gradients *gradients)
{
	uint32_t out = ss_sim_product_input(piece, linear);

	gradients_add(gradients, ss_sim_shape_make(linear->out, 0, 0, 0),
		      ss_sim_piece_alloc(piece, linear->out));
	gradients_add(gradients, ss_sim_shape_make(linear->out, linear->in, 0, 0),
		      ss_sim_product_weight(piece, linear));
	return out;
}

static uint32_t norm_gradients(struct ss_sim_piece *piece, const struct ss_sim_block_sizes *sizes,
			       struct compiled_gradients *gradients)
{
	uint32_t out = ss_sim_piece_alloc(piece, sizes->tokens.elements);

	for (int i = 0; i < 2; i++)
		gradients_add(gradients, ss_sim_shape_make(sizes->hidden, 0, 0, 0),
			      ss_sim_piece_alloc(piece, sizes->hidden));
	compiled_run_triton(piece, "add_native_layer_norm_native_layer_norm_backward_sum",
			    2 * sizes->tokens.elements, true);
	return out;
}

/* From the block's result back to what attention gave. */
static uint32_t compiled_tail_backward(struct ss_sim_piece *piece,
				       const struct ss_sim_block_sizes *sizes,
				       struct compiled_gradients *gradients, uint32_t *residual)
{
	uint32_t wide, active, norm, heads, above = *residual;

	ss_sim_piece_drop(piece, ss_sim_piece_take(piece)); /* what the block made */
	wide = linear_gradients(piece, &sizes->fc2, gradients);
	active = ss_sim_piece_alloc(piece, sizes->wide.elements);
	compiled_run_triton(piece, "gelu_gelu_backward_sum", 2 * sizes->wide.elements, false);
	ss_sim_piece_drop(piece, ss_sim_piece_take(piece)); /* what fc1 gave */
	ss_sim_piece_drop(piece, wide);
	norm = linear_gradients(piece, &sizes->fc1, gradients);
	ss_sim_piece_drop(piece, active);
	*residual = norm_gradients(piece, sizes, gradients);
	ss_sim_piece_drop(piece, norm);
	ss_sim_piece_drop(piece, above);
	ss_sim_piece_drop(piece, ss_sim_piece_take(piece)); /* the sum before the MLP */
	heads = linear_gradients(piece, &sizes->proj, gradients);
	return heads;
}

static uint32_t compiled_lead_backward(struct ss_sim_piece *piece,
				       const struct ss_sim_block_sizes *sizes,
				       struct compiled_gradients *gradients, uint32_t residual,
				       uint32_t joined)
{
	uint32_t norm = linear_gradients(piece, &sizes->qkv, gradients), out;

	ss_sim_piece_drop(piece, joined);
	out = norm_gradients(piece, sizes, gradients);
	ss_sim_piece_drop(piece, norm);
	ss_sim_piece_drop(piece, residual);
	return out;
}

void ss_sim_compiled_backward(struct ss_sim_piece *piece, const struct ss_sim_block_sizes *sizes,
			      uint32_t block)
{
	const struct ss_sim_share *share = piece->share;
	bool broken = block_has_break(piece, block);
	struct compiled_gradients gradients = { .count = 0 };
	uint32_t residual, heads, joined, out;

	residual = ss_sim_piece_incoming(piece, block + 1 == share->first + share->count);
	compiled_node_begin(piece, broken ? 2 * block + 2 : 0, sizes->tokens.text);
	heads = compiled_tail_backward(piece, sizes, &gradients, &residual);
	if (broken)
		compiled_node_end(piece, &gradients);
	joined = ss_sim_attention_backward(piece, &sizes->attention);
	ss_sim_piece_drop(piece, heads);
	for (int i = 0; i < 3; i++) /* sums, result, queries with keys and values */
		ss_sim_piece_drop(piece, ss_sim_piece_take(piece));
	if (broken)
		compiled_node_begin(piece, 2 * block + 1, sizes->heads.text);
	out = compiled_lead_backward(piece, sizes, &gradients, residual, joined);
	compiled_node_end(piece, &gradients);
	ss_sim_casts_backward(piece, &sizes->wide);
	ss_sim_tiny_backward(piece);
	ss_sim_piece_outgoing(piece, block == share->first, out);
}
