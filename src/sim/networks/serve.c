/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve.c - inference of a decoder as Llama is, with the ops of vLLM: RMS norms,
 * rotary positions, a paged cache of keys and values, a gated MLP.
 *
 * Inside of a CUDA graph there are kernels only: ops, frames and memory were there
 * when it was captured.
 */
#include "sim/networks/ops.h"

#define LAYERS_PATH "vllm/model_executor/layers/"

/* The sizes of a block on one of the ranks that share it. */
struct decoder_sizes {
	uint64_t rows; /* new tokens of all requests */
	uint64_t hidden;
	uint64_t heads, key_heads, size; /* heads of this rank, and of its keys and values */
	uint64_t gated;                  /* columns of the MLP */
};

static struct ss_sim_piece serve_piece_begin(struct ss_sim_program *program,
					     const struct ss_sim_share *share)
{
	struct ss_sim_piece piece = ss_sim_piece_begin(program, share, NULL, NULL);

	piece.quiet = program->in_graph;
	return piece;
}

static struct decoder_sizes decoder_sizes_of(const struct ss_sim_share *share,
					     const struct ss_sim_pass *pass)
{
	const struct ss_sim_model *model = &share->plan->model;
	uint64_t tensor = share->tensor ? share->tensor : 1;
	uint64_t all = model->heads ? model->heads : 1;
	uint64_t heads = all > tensor ? all / tensor : 1;
	/* Four queries share a key where there are enough heads; the gate has 8/3 of the width. */
	uint64_t gated = (((uint64_t)model->hidden * 8 / 3 + 255) / 256) * 256;

	return (struct decoder_sizes){
		.rows = (uint64_t)pass->batch * pass->tokens,
		.hidden = model->hidden,
		.heads = heads,
		.key_heads = heads >= 4 ? heads / 4 : 1,
		.size = model->hidden / all,
		.gated = gated / tensor,
	};
}

/* --- operations ----------------------------------------------------------------- */

/* With `add`, the residual is added before: in place, so nothing new is made. */
static uint32_t serve_norm(struct ss_sim_piece *piece, uint32_t id,
			   const struct ss_sim_shape *input, bool add)
{
	struct ss_sim_shape weight = ss_sim_shape_make(piece->model->hidden, 0, 0, 0);
	uint32_t out = SS_SIM_NO_SLOT;

	ss_sim_piece_enter(piece, "RMSNorm", id, LAYERS_PATH "layernorm.py(152): forward_cuda");
	if (add) {
		ss_sim_piece_op(piece, "_C::fused_add_rms_norm", "ttts", input->text, input->text,
				weight.text);
	} else {
		ss_sim_piece_op(piece, "_C::rms_norm", "ttts", input->text, input->text,
				weight.text);
		out = ss_sim_piece_alloc(piece, input->elements);
	}
	ss_sim_piece_run(piece, SS_SIM_RMS_NORM, input->elements / piece->model->hidden,
			 piece->model->hidden, 0, 0);
	ss_sim_piece_leave(piece);
	return out;
}

static uint32_t serve_project(struct ss_sim_piece *piece, const char *class, uint32_t id,
			      uint64_t rows, uint64_t in, uint64_t out)
{
	const struct ss_sim_linear linear = {
		.class = class,
		.path = LAYERS_PATH "linear.py(474): forward",
		.id = id,
		.rows = rows,
		.in = in,
		.out = out,
	};
	struct ss_sim_shape input = ss_sim_shape_make(rows, in, 0, 0);

	return ss_sim_linear_forward(piece, &linear, &input);
}

static void serve_rotate(struct ss_sim_piece *piece, const struct decoder_sizes *sizes)
{
	uint64_t width = sizes->heads * sizes->size, keys = sizes->key_heads * sizes->size;
	struct ss_sim_shape places = ss_sim_shape_make(sizes->rows, 0, 0, 0);
	struct ss_sim_shape query = ss_sim_shape_make(sizes->rows, width, 0, 0);
	struct ss_sim_shape key = ss_sim_shape_make(sizes->rows, keys, 0, 0);

	ss_sim_piece_enter(piece, "RotaryEmbedding", 0,
			   LAYERS_PATH "rotary_embedding.py(202): forward_cuda");
	ss_sim_piece_op(piece, "_C::rotary_embedding", "lttss", places.text, query.text, key.text);
	ss_sim_piece_run(piece, SS_SIM_ROTARY, sizes->rows * (width + keys), 0, 0, 0);
	ss_sim_piece_leave(piece);
}

static uint32_t serve_attend(struct ss_sim_piece *piece, const struct decoder_sizes *sizes,
			     const struct ss_sim_pass *pass, uint32_t block)
{
	struct ss_sim_shape query = ss_sim_shape_make(sizes->rows, sizes->heads, sizes->size, 0);
	struct ss_sim_shape key = ss_sim_shape_make(sizes->rows, sizes->key_heads, sizes->size, 0);
	struct ss_sim_shape places = ss_sim_shape_make(sizes->rows, 0, 0, 0);
	uint64_t length = (uint64_t)pass->past + pass->tokens;
	uint32_t out;

	ss_sim_piece_enter(piece, "Attention", block, "vllm/attention/layer.py(178): forward");
	out = ss_sim_piece_alloc(piece, query.elements);
	ss_sim_piece_op(piece, "vllm::unified_attention_with_output", "tttts", query.text, key.text,
			key.text, query.text);
	ss_sim_piece_op(piece, "_C_cache_ops::reshape_and_cache_flash", "ttls", key.text, key.text,
			places.text);
	ss_sim_piece_run(piece, SS_SIM_CACHE_WRITE, 2 * key.elements, 0, 0, 0);
	ss_sim_piece_close(piece);
	ss_sim_piece_op(piece, "_vllm_fa2_C::varlen_fwd", "ttttii", query.text, key.text, key.text,
			query.text, places.text, places.text);
	ss_sim_piece_run(piece, pass->tokens == 1 ? SS_SIM_PAGED_ATTENTION : SS_SIM_FLASH_FORWARD,
			 pass->batch * sizes->heads, pass->tokens, length, sizes->size);
	ss_sim_piece_leave(piece);
	return out;
}

static uint32_t serve_gate(struct ss_sim_piece *piece, const struct decoder_sizes *sizes,
			   uint32_t block)
{
	struct ss_sim_shape input = ss_sim_shape_make(sizes->rows, 2 * sizes->gated, 0, 0);
	struct ss_sim_shape result = ss_sim_shape_make(sizes->rows, sizes->gated, 0, 0);
	uint32_t out;

	ss_sim_piece_enter(piece, "SiluAndMul", block,
			   LAYERS_PATH "activation.py(83): forward_cuda");
	out = ss_sim_piece_alloc(piece, result.elements);
	ss_sim_piece_op(piece, "_C::silu_and_mul", "tt", result.text, input.text);
	ss_sim_piece_run(piece, SS_SIM_SILU_MUL, result.elements, 0, 0, 0);
	ss_sim_piece_leave(piece);
	return out;
}

/* --- pieces ---------------------------------------------------------------------- */

void ss_sim_serve_stem(struct ss_sim_program *program, const struct ss_sim_share *share,
		       const struct ss_sim_pass *pass)
{
	struct ss_sim_piece piece = serve_piece_begin(program, share);
	const struct ss_sim_model *model = piece.model;
	uint64_t rows = (uint64_t)pass->batch * pass->tokens;
	struct ss_sim_shape weight = ss_sim_shape_make(model->vocabulary, model->hidden, 0, 0);
	struct ss_sim_shape index = ss_sim_shape_make(rows, 0, 0, 0);
	uint32_t out;

	ss_sim_piece_enter(&piece, "VocabParallelEmbedding", 0,
			   LAYERS_PATH "vocab_parallel_embedding.py(388): forward");
	ss_sim_piece_op(&piece, "aten::embedding", "tlsss", weight.text, index.text);
	ss_sim_piece_op(&piece, "aten::index_select", "tsl", weight.text, index.text);
	out = ss_sim_piece_alloc(&piece, rows * model->hidden);
	ss_sim_piece_run(&piece, SS_SIM_EMBEDDING, rows, model->hidden, 0, 0);
	ss_sim_piece_close(&piece);
	ss_sim_piece_close(&piece);
	ss_sim_piece_leave(&piece);
	ss_sim_piece_drop(&piece, out);
	ss_sim_piece_end(&piece);
}

static uint32_t serve_attention(struct ss_sim_piece *piece, const struct decoder_sizes *sizes,
				const struct ss_sim_pass *pass, uint32_t block)
{
	uint64_t width = sizes->heads * sizes->size;
	uint64_t joined = width + 2 * sizes->key_heads * sizes->size;
	struct ss_sim_shape shape = ss_sim_shape_make(sizes->rows, joined, 0, 0);
	uint32_t qkv, heads, out;

	ss_sim_piece_enter(piece, "LlamaAttention", block,
			   "vllm/model_executor/models/llama.py(196): forward");
	qkv = serve_project(piece, "QKVParallelLinear", block, sizes->rows, sizes->hidden, joined);
	ss_sim_piece_op(piece, "aten::split_with_sizes", "tLs", shape.text);
	ss_sim_piece_close(piece);
	serve_rotate(piece, sizes);
	heads = serve_attend(piece, sizes, pass, block);
	ss_sim_piece_drop(piece, qkv);
	out = serve_project(piece, "RowParallelLinear", 2 * block, sizes->rows, width,
			    sizes->hidden);
	ss_sim_piece_reduce(piece, sizes->rows * sizes->hidden);
	ss_sim_piece_drop(piece, heads);
	ss_sim_piece_leave(piece);
	return out;
}

static uint32_t serve_mlp(struct ss_sim_piece *piece, const struct decoder_sizes *sizes,
			  uint32_t block)
{
	uint32_t both, active, out;

	ss_sim_piece_enter(piece, "LlamaMLP", block,
			   "vllm/model_executor/models/llama.py(92): forward");
	both = serve_project(piece, "MergedColumnParallelLinear", block, sizes->rows, sizes->hidden,
			     2 * sizes->gated);
	active = serve_gate(piece, sizes, block);
	ss_sim_piece_drop(piece, both);
	out = serve_project(piece, "RowParallelLinear", 2 * block + 1, sizes->rows, sizes->gated,
			    sizes->hidden);
	ss_sim_piece_reduce(piece, sizes->rows * sizes->hidden);
	ss_sim_piece_drop(piece, active);
	ss_sim_piece_leave(piece);
	return out;
}

void ss_sim_serve_block(struct ss_sim_program *program, const struct ss_sim_share *share,
			const struct ss_sim_pass *pass, uint32_t block)
{
	struct ss_sim_piece piece = serve_piece_begin(program, share);
	struct decoder_sizes sizes = decoder_sizes_of(share, pass);
	struct ss_sim_shape tokens = ss_sim_shape_make(sizes.rows, sizes.hidden, 0, 0);
	uint32_t normed, attended, out;

	ss_sim_piece_enter(&piece, "LlamaDecoderLayer", block,
			   "vllm/model_executor/models/llama.py(307): forward");
	normed = serve_norm(&piece, 2 * block, &tokens, block > 0);
	attended = serve_attention(&piece, &sizes, pass, block);
	ss_sim_piece_drop(&piece, normed);
	serve_norm(&piece, 2 * block + 1, &tokens, true);
	out = serve_mlp(&piece, &sizes, block);
	ss_sim_piece_drop(&piece, attended);
	ss_sim_piece_leave(&piece);
	ss_sim_piece_drop(&piece, out);
	ss_sim_piece_end(&piece);
}

/* The logits as float, and the largest of each request. */
static void serve_sample(struct ss_sim_piece *piece, uint64_t rows, uint64_t columns)
{
	const struct ss_sim_kernel_wish argmax = {
		.class = SS_SIM_ARGMAX,
		.dtype = SS_SIM_FP32,
		.size = { rows, columns },
	};
	struct ss_sim_shape shape = ss_sim_shape_make(rows, columns, 0, 0);
	uint32_t scores, chosen;

	ss_sim_piece_enter(piece, "Sampler", 0, "vllm/v1/sample/sampler.py(23): forward");
	ss_sim_piece_op(piece, "aten::to", "tsssn", shape.text);
	ss_sim_piece_op(piece, "aten::_to_copy", "tsnnnsn", shape.text);
	scores = ss_sim_piece_alloc_bytes(piece, shape.elements * 4);
	ss_sim_piece_op(piece, "aten::copy_", "fts", shape.text, shape.text);
	ss_sim_piece_run(piece, SS_SIM_CAST, shape.elements, 0, 0, 0);
	for (int i = 0; i < 3; i++)
		ss_sim_piece_close(piece);
	ss_sim_piece_op(piece, "aten::argmax", "fss", shape.text);
	chosen = ss_sim_piece_alloc_bytes(piece, rows * 8);
	ss_sim_piece_wish(piece, &argmax);
	ss_sim_piece_leave(piece);
	ss_sim_piece_drop(piece, scores);
	ss_sim_piece_drop(piece, chosen);
}

void ss_sim_serve_head(struct ss_sim_program *program, const struct ss_sim_share *share,
		       const struct ss_sim_pass *pass)
{
	struct ss_sim_piece piece = serve_piece_begin(program, share);
	const struct ss_sim_model *model = piece.model;
	uint64_t rows = (uint64_t)pass->batch * pass->tokens;
	uint64_t columns = model->vocabulary / (share->tensor ? share->tensor : 1);
	struct ss_sim_shape tokens = ss_sim_shape_make(rows, model->hidden, 0, 0);
	uint32_t logits;

	serve_norm(&piece, 2 * model->layers, &tokens, true);
	ss_sim_piece_enter(&piece, "LogitsProcessor", 0,
			   LAYERS_PATH "logits_processor.py(54): forward");
	/* Of each request only the last token has a next one. */
	logits = serve_project(&piece, "ParallelLMHead", 0, pass->batch, model->hidden, columns);
	ss_sim_piece_leave(&piece);
	serve_sample(&piece, pass->batch, columns);
	ss_sim_piece_drop(&piece, logits);
	ss_sim_piece_end(&piece);
}
