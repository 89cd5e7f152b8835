/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inference.c - layout: a server of a language model. A step is one pass of the
 * engine: now and then the prompt of a new request (prefill), else one token for
 * each running request (decode), as CUDA graphs or eagerly. Several ranks share
 * the matrices.
 */
#include <stdio.h>

#include "sim/programs/step.h"

#define SCHEDULE_NS 60000 /* choosing the requests of this pass */
#define PREPARE_NS 30000
#define OUTPUT_NS 30000 /* handing out the new tokens */
#define PAST_TOKENS 512u

struct inference_step {
	struct ss_sim_share share;
	struct ss_sim_pass pass;
	uint32_t graph; /* the open one */
};

static void inference_reduce(struct ss_sim_program *program, void *context, uint64_t elements)
{
	struct inference_step *pass = context;
	bool captured = program->in_graph;
	uint32_t done;

	if (captured)
		ss_sim_graph_end(program, pass->graph);
	done = ss_sim_call_collective(program, &(struct ss_sim_collective){
						       .kind = SS_SIM_NCCL_ALL_REDUCE,
						       .role = SS_SIM_GROUP_TENSOR,
						       .dtype = pass->share.plan->model.dtype,
						       .in_count = elements,
						       .out_count = elements,
						       .stream = SS_SIM_COMM_TWO });
	ss_sim_wait(program, SS_SIM_COMPUTE, done);
	if (captured)
		pass->graph = ss_sim_graph(program);
}

/* Prompts that the server's own thread tokenizes before it runs the network. */
static void inference_tokenize(struct ss_sim_program *program, const struct ss_sim_plan *plan)
{
	if (!plan->tokenizer_ns)
		return;
	ss_sim_frame(program, SS_SIM_LINE_REQUESTS);
	ss_sim_frame(program, "transformers/tokenization_utils_base.py(2938): __call__");
	ss_sim_frame(program, "transformers/tokenization_utils_fast.py(527): _batch_encode_plus");
	ss_sim_frame(program, "<built-in method encode_batch of tokenizers.Tokenizer object at "
			      "0x7f41c8a05d30>");
	ss_sim_work(program, plan->tokenizer_ns);
	for (int i = 0; i < 4; i++)
		ss_sim_frame_end(program);
}

static void inference_prepare_inputs(struct ss_sim_program *program, const struct ss_sim_plan *plan)
{
	ss_sim_frame(program, "vllm/v1/engine/core.py(199): step");
	inference_tokenize(program, plan);
	ss_sim_frame(program, "vllm/v1/core/sched/scheduler.py(122): schedule");
	ss_sim_work(program, SCHEDULE_NS);
	ss_sim_frame_end(program);
	ss_sim_frame(program, "vllm/v1/worker/gpu_model_runner.py(462): _prepare_inputs");
	ss_sim_work(program, PREPARE_NS);
	for (int i = 0; i < 3; i++) {
		ss_sim_op(program, "aten::copy_");
		ss_sim_copy(program, SS_SIM_HTOD_PINNED, UINT64_C(8) * plan->model.batch,
			    SS_SIM_COMPUTE);
		ss_sim_end(program);
	}
	ss_sim_frame_end(program);
}

static void inference_run_network(struct ss_sim_program *program, struct inference_step *pass,
				  bool captured)
{
	if (captured)
		pass->graph = ss_sim_graph(program);
	ss_sim_serve_stem(program, &pass->share, &pass->pass);
	for (uint32_t i = 0; i < pass->share.count; i++)
		ss_sim_serve_block(program, &pass->share, &pass->pass, i);
	if (captured)
		ss_sim_graph_end(program, pass->graph);
	ss_sim_serve_head(program, &pass->share, &pass->pass);
}

static void inference_read_outputs(struct ss_sim_program *program, const struct ss_sim_plan *plan)
{
	uint32_t event;

	ss_sim_frame(program, "vllm/v1/worker/gpu_model_runner.py(1012): execute_model");
	ss_sim_op(program, "aten::copy_");
	ss_sim_copy(program, SS_SIM_DTOH_PINNED, UINT64_C(8) * plan->model.batch, SS_SIM_COMPUTE);
	ss_sim_end(program);
	event = ss_sim_record(program, SS_SIM_COMPUTE);
	ss_sim_sync(program, SS_SIM_SYNC_EVENT, SS_SIM_COMPUTE, event);
	for (uint32_t i = 0; i < plan->items_a_step; i++) {
		ss_sim_frame(program, SS_SIM_LINE_ITEM);
		ss_sim_tensor_item(program);
		if (plan->item_work_ns)
			ss_sim_work(program, plan->item_work_ns);
		ss_sim_frame_end(program);
	}
	ss_sim_work(program, OUTPUT_NS);
	ss_sim_frame_end(program);
	ss_sim_frame_end(program);
}

static void inference_build(const struct ss_sim_plan *plan, const struct ss_sim_part *part,
			    struct ss_sim_program *out)
{
	struct ss_sim_tape tape;
	struct inference_step pass = { .share = ss_sim_share_whole(plan, part, &tape) };
	uint32_t running = plan->model.batch;
	char name[96];

	if (plan->tensor > 1) {
		pass.share.reduce = inference_reduce;
		pass.share.context = &pass;
	}
	pass.pass = part->prefill ? (struct ss_sim_pass){ 1, plan->prompt, 0 }
				  : (struct ss_sim_pass){ running, 1, PAST_TOKENS };
	pass.pass.tokens = (uint32_t)((uint64_t)pass.pass.tokens * part->work_permille / 1000);
	if (part->prefill)
		snprintf(name, sizeof(name), "execute_context_1(%u)_generation_0(0)",
			 pass.pass.tokens);
	else
		snprintf(name, sizeof(name), "execute_context_0(0)_generation_%u(%u)", running,
			 running);
	ss_sim_step(out, "ProfilerStep#");
	ss_sim_note(out, name);
	inference_prepare_inputs(out, plan);
	for (uint32_t i = 0; i < plan->flush_count; i++)
		ss_sim_overhead(out, "Buffer Flush", plan->flush_ns);
	ss_sim_nonzeros(out, plan);
	inference_run_network(out, &pass, plan->graphs && !part->prefill);
	inference_read_outputs(out, plan);
	ss_sim_end(out);
	ss_sim_end(out);
}

static void inference_defaults(struct ss_sim_plan *plan)
{
	plan->model = (struct ss_sim_model){
		.network = SS_SIM_TRANSFORMER,
		.layers = 32,
		.hidden = 3072,
		.heads = 24,
		.vocabulary = 32000,
		.sequence = 1024,
		.batch = 16,
		.dtype = SS_SIM_HALF,
	};
	if (plan->rank_count > 1) { /* larger: otherwise nobody would split it */
		plan->model.layers = 40;
		plan->model.hidden = 8192;
		plan->model.heads = 64;
	}
	if (plan->device->arch >=
	    SS_SIM_BLACKWELL) { /* reads weights faster, so it gets more of them */
		plan->model.hidden *= 2;
		plan->model.heads *= 2;
	}
	plan->graphs = true;
	plan->prompt = 1024;
	plan->prefill_every = 6;
	plan->step_count = 12;
	plan->tensor = plan->rank_count;
}

static enum ss_status inference_check(const struct ss_sim_plan *plan, struct ss_error *err)
{
	if (plan->tensor != plan->rank_count || plan->rank_count > plan->host_ranks)
		return ss_fail(
			err, SS_ERR_USAGE,
			"layout 'inference' needs one tensor-parallel group of at most %u ranks",
			plan->host_ranks);
	return SS_OK;
}

const struct ss_sim_layout ss_sim_layout_inference = {
	.name = "inference",
	.summary = "serving a language model: prefill and decode, with or without CUDA graphs",
	.splits_matrices = true,
	.ranks = 1,
	.defaults = inference_defaults,
	.check = inference_check,
	.build = inference_build,
};
