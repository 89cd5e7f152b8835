/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step.c - one step of train.py.
 */

#include "sim/programs/step.h"

#define ZERO_GRAD_NS 24000
#define PRINT_NS 350000 /* formatting a tensor */
#define PRINT_ITEMS 6u  /* values that printing a tensor reads one by one */
#define OPTIMIZER_GROUP_NS 60000
#define FUSED_TENSORS 48u /* that one launch of the fused optimizer takes */
#define MALLOC_NS 260000
#define FREE_NS 310000
#define ITEM_BYTES 4u
#define CHECKPOINT_PIECES 8u
#define CALLBACK_PIECES 8u /* each with noise of its own */
#define EVAL_NS 180000     /* model.eval() and model.train() walk the modules */

struct ss_sim_share ss_sim_share_whole(const struct ss_sim_plan *plan,
				       const struct ss_sim_part *part, struct ss_sim_tape *tape)
{
	*tape = (struct ss_sim_tape){ 0 };
	return (struct ss_sim_share){
		.plan = plan,
		.tape = tape,
		.sequence = (uint32_t)((uint64_t)plan->model.sequence * part->work_permille / 1000),
		.tensor = plan->tensor,
		.count = plan->model.layers,
		.training = plan->layout->training,
	};
}

uint64_t ss_sim_share_parameters(const struct ss_sim_share *share, bool stem, bool head)
{
	const struct ss_sim_model *model = &share->plan->model;
	uint64_t count = 0;

	for (uint32_t i = 0; i < share->count; i++)
		count += ss_sim_block_parameters(model, share->first + i, share->tensor);
	if (stem)
		count += ss_sim_stem_parameters(model);
	if (head)
		count += ss_sim_head_parameters(model);
	return count;
}

void ss_sim_tensor_reduce(struct ss_sim_program *program, void *context, uint64_t elements)
{
	const struct ss_sim_share *share = context;
	uint32_t done = ss_sim_call_collective(program, &(struct ss_sim_collective){
								.kind = SS_SIM_NCCL_ALL_REDUCE,
								.role = SS_SIM_GROUP_TENSOR,
								.dtype = share->plan->model.dtype,
								.in_count = elements,
								.out_count = elements,
								.stream = SS_SIM_COMM_TWO });

	ss_sim_wait(program, SS_SIM_COMPUTE, done);
}

struct ss_sim_body ss_sim_body_whole(const struct ss_sim_share *share)
{
	const struct ss_sim_plan *plan = share->plan;

	return (struct ss_sim_body){
		.micro_steps = plan->accumulate,
		.parameters = ss_sim_share_parameters(share, true, true),
		.tensors = ss_sim_parameter_tensors(&plan->model),
	};
}

/* total = torch.zeros(()): a memset of one number. */
static void step_zero_total(struct ss_sim_program *program)
{
	ss_sim_op(program, "aten::zeros");
	ss_sim_op(program, "aten::zero_");
	ss_sim_memset(program, ITEM_BYTES, SS_SIM_COMPUTE);
	ss_sim_end(program);
	ss_sim_end(program);
}

/* torch.compile at work: tracing, then Inductor, in the middle of a step. */
static void step_recompile(struct ss_sim_program *program, const struct ss_sim_plan *plan)
{
	struct ss_sim_condition condition = { .rank = -1, .every = plan->recompile_every };
	uint32_t mark;

	if (!plan->recompile_every)
		return;
	mark = ss_sim_when(program, &condition);
	ss_sim_frame(program, "torch/_dynamo/convert_frame.py(1339): __call__");
	ss_sim_note(program, "_compile.compile_inner (dynamo_timed)");
	ss_sim_work(program, plan->recompile_ns / 3);
	ss_sim_note(program, "compile_fx_inner (dynamo_timed)");
	ss_sim_work(program, plan->recompile_ns / 3 * 2);
	ss_sim_end(program);
	ss_sim_end(program);
	ss_sim_frame_end(program);
	ss_sim_when_end(program, mark);
}

void ss_sim_network_forward(struct ss_sim_program *program, const struct ss_sim_share *share)
{
	step_zero_total(program);
	step_recompile(program, share->plan);
	ss_sim_stem_forward(program, share);
	ss_sim_nonzeros(program, share->plan);
	for (uint32_t i = 0; i < share->count; i++)
		ss_sim_block_forward(program, share, share->first + i);
	ss_sim_head_forward(program, share);
}

void ss_sim_network_evaluate(struct ss_sim_program *program, const struct ss_sim_share *share)
{
	struct ss_sim_share own = *share;

	own.training = false;
	ss_sim_stem_forward(program, &own);
	for (uint32_t i = 0; i < own.count; i++)
		ss_sim_block_forward(program, &own, own.first + i);
	ss_sim_head_forward(program, &own);
}

void ss_sim_network_backward(struct ss_sim_program *program, const struct ss_sim_share *share,
			     ss_sim_gradient_sink sink, void *context)
{
	ss_sim_head_backward(program, share, sink, context);
	for (uint32_t i = share->count; i-- > 0;)
		ss_sim_block_backward(program, share, share->first + i, sink, context);
	ss_sim_stem_backward(program, share, sink, context);
}

/* --- the loop ---------------------------------------------------------------- */

/*
 * A copy that the host waits for. On CUDA it is a copy and a wait for the stream;
 * on ROCm one call that blocks.
 */
static void step_copy_and_wait(struct ss_sim_program *program, enum ss_sim_copy_kind kind,
			       uint64_t bytes)
{
	if (program->device->rocm && kind == SS_SIM_DTOH_PINNED)
		kind = SS_SIM_DTOH_PAGEABLE;
	ss_sim_copy(program, kind, bytes, SS_SIM_COMPUTE);
	if (!program->device->rocm)
		ss_sim_sync(program, SS_SIM_SYNC_STREAM, SS_SIM_COMPUTE, 0);
}

/* Copies the batch to the device; returns its memory slot. */
static uint32_t step_copy_batch(struct ss_sim_program *program, const struct ss_sim_plan *plan)
{
	uint32_t slot;

	ss_sim_frame(program, SS_SIM_LINE_COPY);
	ss_sim_op(program, "aten::to");
	ss_sim_op(program, "aten::_to_copy");
	slot = ss_sim_alloc(program, plan->input_bytes);
	ss_sim_op(program, "aten::copy_");
	if (plan->pageable)
		step_copy_and_wait(program, SS_SIM_HTOD_PAGEABLE, plan->input_bytes);
	else
		ss_sim_copy(program, SS_SIM_HTOD_PINNED, plan->input_bytes, SS_SIM_COMPUTE);
	ss_sim_end(program);
	ss_sim_end(program);
	ss_sim_end(program);
	ss_sim_frame_end(program);
	return slot;
}

void ss_sim_backward_begin(struct ss_sim_program *program)
{
	ss_sim_frame(program, SS_SIM_LINE_BACKWARD);
	ss_sim_frame(program, "torch/_tensor.py(570): backward");
	ss_sim_frame(program, "torch/autograd/graph.py(815): _engine_run_backward");
	ss_sim_switch(program, SS_SIM_AUTOGRAD);
}

void ss_sim_backward_end(struct ss_sim_program *program)
{
	ss_sim_switch(program, SS_SIM_MAIN);
	ss_sim_frame_end(program);
	ss_sim_frame_end(program);
	ss_sim_frame_end(program);
}

/* --- host syncs ----------------------------------------------------------------- */

void ss_sim_tensor_item(struct ss_sim_program *program)
{
	ss_sim_op(program, "aten::item");
	ss_sim_op(program, "aten::_local_scalar_dense");
	step_copy_and_wait(program, SS_SIM_DTOH_PINNED, ITEM_BYTES);
	ss_sim_end(program);
	ss_sim_end(program);
}

void ss_sim_nonzeros(struct ss_sim_program *program, const struct ss_sim_plan *plan)
{
	uint64_t tokens = (uint64_t)plan->model.batch * plan->model.sequence;

	for (uint32_t i = 0; i < plan->nonzeros; i++) {
		ss_sim_frame(program, SS_SIM_LINE_NONZERO);
		ss_sim_op(program, "aten::nonzero");
		ss_sim_kernel(program,
			      &(struct ss_sim_kernel_wish){ .class = SS_SIM_COMPARE,
							    .dtype = plan->model.dtype,
							    .size = { tokens } },
			      SS_SIM_COMPUTE);
		ss_sim_kernel(program,
			      &(struct ss_sim_kernel_wish){ .class = SS_SIM_NONZERO,
							    .dtype = plan->model.dtype,
							    .size = { tokens } },
			      SS_SIM_COMPUTE);
		step_copy_and_wait(program, SS_SIM_DTOH_PINNED, 8);
		ss_sim_end(program);
		if (plan->nonzero_work_ns)
			ss_sim_work(program, plan->nonzero_work_ns);
		ss_sim_frame_end(program);
	}
}

static void step_print_tensor(struct ss_sim_program *program, const struct ss_sim_plan *plan)
{
	ss_sim_frame(program, SS_SIM_LINE_PRINT);
	ss_sim_frame(program, "torch/_tensor.py(523): __repr__");
	ss_sim_frame(program, "torch/_tensor_str.py(697): _str");
	for (uint32_t i = 0; i < PRINT_ITEMS; i++)
		ss_sim_tensor_item(program);
	ss_sim_work(program, PRINT_NS + plan->print_work_ns);
	for (int i = 0; i < 3; i++)
		ss_sim_frame_end(program);
}

static void step_log_items(struct ss_sim_program *program, const struct ss_sim_plan *plan)
{
	struct ss_sim_kernel_wish norm = {
		.class = SS_SIM_NORM,
		.dtype = plan->model.dtype,
		.size = { (uint64_t)plan->model.hidden * plan->model.hidden },
	};

	for (uint32_t i = 0; i < plan->items_a_step; i++) {
		ss_sim_frame(program, SS_SIM_LINE_ITEM);
		if (i) { /* after the loss come the norms of gradients */
			ss_sim_op(program, "aten::linalg_vector_norm");
			ss_sim_kernel(program, &norm, SS_SIM_COMPUTE);
			ss_sim_end(program);
		}
		ss_sim_tensor_item(program);
		if (plan->item_work_ns)
			ss_sim_work(program, plan->item_work_ns);
		ss_sim_frame_end(program);
	}
	for (uint32_t i = 0; i < plan->prints; i++)
		step_print_tensor(program, plan);
}

/* --- the optimizer ------------------------------------------------------------------ */

static void optimizer_loop(struct ss_sim_program *program, const struct ss_sim_plan *plan,
			   const struct ss_sim_body *body)
{
	static const struct {
		const char *op;
		enum ss_sim_kernel_class class;
	} passes[] = {
		{ "aten::mul_", SS_SIM_MUL }, { "aten::lerp_", SS_SIM_ADD },
		{ "aten::mul_", SS_SIM_MUL }, { "aten::addcmul_", SS_SIM_ADD },
		{ "aten::sqrt", SS_SIM_MUL }, { "aten::div", SS_SIM_DIV },
		{ "aten::add_", SS_SIM_ADD }, { "aten::addcdiv_", SS_SIM_ADD },
	};
	uint64_t elements = body->parameters / body->tensors + 1;
	uint32_t tensors = body->tensors * plan->loop_permille / 1000;

	for (uint32_t i = 0; i < tensors; i++)
		for (size_t k = 0; k < SS_COUNT(passes); k++) {
			ss_sim_op(program, passes[k].op);
			ss_sim_kernel(program,
				      &(struct ss_sim_kernel_wish){ .class = passes[k].class,
								    .dtype = plan->model.dtype,
								    .size = { elements } },
				      SS_SIM_COMPUTE);
			ss_sim_end(program);
		}
}

static void step_optimize(struct ss_sim_program *program, const struct ss_sim_plan *plan,
			  const struct ss_sim_body *body)
{
	uint32_t launches = body->tensors / FUSED_TENSORS + 1;
	uint64_t left = body->parameters / 1000 * (1000 - plan->loop_permille);

	ss_sim_frame(program, SS_SIM_LINE_OPTIMIZER);
	ss_sim_note(program, "Optimizer.step#AdamW.step");
	ss_sim_frame(program, "torch/optim/adamw.py(195): step");
	ss_sim_work(program, OPTIMIZER_GROUP_NS);
	optimizer_loop(program, plan, body);
	if (plan->loop_permille < 1000) {
		ss_sim_op(program, "aten::_fused_adamw_");
		for (uint32_t i = 0; i < launches; i++)
			ss_sim_kernel(program,
				      &(struct ss_sim_kernel_wish){
					      .class = SS_SIM_ADAM,
					      .dtype = plan->model.dtype,
					      .size = { left / launches + 1 } },
				      SS_SIM_COMPUTE);
		ss_sim_end(program);
	}
	ss_sim_frame_end(program);
	ss_sim_end(program);
	ss_sim_note(program, "Optimizer.zero_grad#AdamW.zero_grad");
	ss_sim_work(program, ZERO_GRAD_NS);
	ss_sim_end(program);
	ss_sim_frame_end(program);
}

/* --- what all ranks stop for ----------------------------------------------------------- */

static void step_checkpoint(struct ss_sim_program *program, const struct ss_sim_plan *plan,
			    const struct ss_sim_body *body)
{
	uint64_t bytes = body->parameters * ss_sim_dtype_bytes(plan->model.dtype);
	uint64_t most = (uint64_t)((double)plan->pause_ns / 2e9 * plan->device->pageable_rate);

	if (bytes > most) /* so that the copies take at most half of the pause */
		bytes = most;
	ss_sim_frame(program, SS_SIM_LINE_CHECKPOINT);
	ss_sim_frame(program, "torch/serialization.py(901): save");
	for (uint32_t i = 0; i < CHECKPOINT_PIECES; i++) {
		ss_sim_op(program, "aten::to");
		ss_sim_op(program, "aten::_to_copy");
		ss_sim_op(program, "aten::copy_");
		step_copy_and_wait(program, SS_SIM_DTOH_PAGEABLE, bytes / CHECKPOINT_PIECES);
		for (int k = 0; k < 3; k++)
			ss_sim_end(program);
	}
	ss_sim_frame(program, "torch/serialization.py(1204): _save");
	ss_sim_work(program, plan->pause_ns);
	for (int k = 0; k < 3; k++)
		ss_sim_frame_end(program);
}

static void step_pause(struct ss_sim_program *program, const struct ss_sim_plan *plan,
		       const struct ss_sim_body *body)
{
	struct ss_sim_condition condition = { .rank = -1, .every = plan->pause_every };
	uint32_t mark;

	if (!plan->pause_every)
		return;
	mark = ss_sim_when(program, &condition);
	if (plan->pause_kind == SS_SIM_PAUSE_CHECKPOINT) {
		step_checkpoint(program, plan, body);
	} else if (plan->pause_kind == SS_SIM_PAUSE_GC) {
		ss_sim_frame(program, SS_SIM_LINE_GC);
		ss_sim_frame(program, "<built-in function collect>");
		ss_sim_work(program, plan->pause_ns);
		ss_sim_frame_end(program);
		ss_sim_frame_end(program);
	} else {
		ss_sim_frame(program, SS_SIM_LINE_LOGGING);
		ss_sim_tensor_item(program);
		ss_sim_frame(program, "wandb/sdk/wandb_run.py(1731): log");
		ss_sim_work(program, plan->pause_ns);
		ss_sim_frame_end(program);
		ss_sim_frame_end(program);
	}
	ss_sim_when_end(program, mark);
}

/* --- memory that goes wrong ---------------------------------------------------------------- */

static void step_empty_cache(struct ss_sim_program *program, const struct ss_sim_plan *plan)
{
	if (!plan->empty_cache_blocks)
		return;
	ss_sim_frame(program, SS_SIM_LINE_EMPTY);
	ss_sim_frame(program, "torch/cuda/memory.py(186): empty_cache");
	for (uint32_t i = 0; i < plan->empty_cache_blocks; i++)
		ss_sim_call(program, SS_SIM_CALL_FREE, FREE_NS);
	ss_sim_frame_end(program);
	ss_sim_frame_end(program);
}

static void step_fill_cache(struct ss_sim_program *program, const struct ss_sim_plan *plan)
{
	for (uint32_t i = 0; i < plan->empty_cache_blocks; i++) {
		ss_sim_op(program, "aten::empty");
		ss_sim_call(program, SS_SIM_CALL_MALLOC, MALLOC_NS);
		ss_sim_end(program);
	}
}

static void step_leak(struct ss_sim_program *program, const struct ss_sim_plan *plan)
{
	if (!plan->leak_bytes)
		return;
	ss_sim_frame(program, SS_SIM_LINE_KEEP);
	ss_sim_op(program, "aten::clone");
	ss_sim_alloc(program, plan->leak_bytes);
	ss_sim_copy(program, SS_SIM_DTOD, plan->leak_bytes, SS_SIM_COMPUTE);
	ss_sim_end(program);
	ss_sim_frame_end(program);
}

/* --- what a loop does besides training --------------------------------------------------- */

static void step_lone_pause(struct ss_sim_program *program, const struct ss_sim_plan *plan)
{
	struct ss_sim_condition condition = { .rank = -1,
					      .every = UINT32_MAX,
					      .at = plan->lone_step };
	uint32_t mark;

	if (!plan->lone_step)
		return;
	mark = ss_sim_when(program, &condition);
	ss_sim_frame(program, SS_SIM_LINE_LONE);
	ss_sim_work(program, plan->lone_ns);
	ss_sim_frame_end(program);
	ss_sim_when_end(program, mark);
}

/* The callbacks of a trainer, as transformers calls them. */
static void step_callbacks(struct ss_sim_program *program, const struct ss_sim_plan *plan)
{
	if (!plan->callback_ns)
		return;
	ss_sim_frame(program, "transformers/trainer_callback.py(533): on_step_end");
	ss_sim_frame(program, "transformers/trainer_callback.py(556): call_event");
	ss_sim_frame(program, SS_SIM_LINE_CALLBACK);
	for (uint32_t i = 0; i < CALLBACK_PIECES; i++)
		ss_sim_work(program, plan->callback_ns / CALLBACK_PIECES + i);
	for (int i = 0; i < 3; i++)
		ss_sim_frame_end(program);
}

static void program_walk_modules(struct ss_sim_program *program, const char *frame)
{
	ss_sim_frame(program, frame);
	ss_sim_work(program, EVAL_NS);
	ss_sim_frame_end(program);
}

static void step_validate(struct ss_sim_program *program, const struct ss_sim_plan *plan,
			  const struct ss_sim_body *body)
{
	struct ss_sim_condition condition = { .rank = -1, .every = plan->validate_every };
	uint32_t mark;

	if (!plan->validate_every || !body->validate)
		return;
	condition.at = SS_SIM_WARMUP_STEPS % plan->validate_every;
	mark = ss_sim_when(program, &condition);
	ss_sim_frame(program, SS_SIM_LINE_VALIDATE);
	program_walk_modules(program, "torch/nn/modules/module.py(2916): eval");
	for (uint32_t i = 0; i < plan->validate_passes; i++) {
		uint32_t batch = step_copy_batch(program, plan);

		body->validate(program, body->context);
		ss_sim_free(program, batch);
	}
	ss_sim_tensor_item(program); /* the mean loss */
	program_walk_modules(program, "torch/nn/modules/module.py(2893): train");
	ss_sim_frame_end(program);
	ss_sim_when_end(program, mark);
}

/* --- the step --------------------------------------------------------------------------------- */

/* The NCCL watchdog polls whether its collectives are done. */
static void step_run_watchdog(struct ss_sim_program *program, const struct ss_sim_plan *plan)
{
	if (plan->rank_count < 2)
		return;
	ss_sim_switch(program, SS_SIM_WATCHDOG);
	for (int i = 0; i < 3; i++)
		ss_sim_call(program, SS_SIM_CALL_QUERY, 1400);
	ss_sim_switch(program, SS_SIM_MAIN);
}

void ss_sim_train_step(struct ss_sim_program *program, const struct ss_sim_plan *plan,
		       const struct ss_sim_body *body)
{
	ss_sim_step(program, "ProfilerStep#");
	ss_sim_frame(program, SS_SIM_LINE_LOOP);
	for (uint32_t micro = 0; micro < body->micro_steps; micro++) {
		uint32_t batch;

		ss_sim_fetch_batch(program, plan, !micro);
		batch = step_copy_batch(program, plan);
		if (!micro)
			step_fill_cache(program, plan);
		for (uint32_t i = 0; !micro && i < plan->flush_count; i++)
			ss_sim_overhead(program, "Buffer Flush", plan->flush_ns);
		body->passes(program, body->context, micro);
		if (!micro)
			step_lone_pause(program, plan);
		ss_sim_free(program, batch);
	}
	step_run_watchdog(program, plan);
	step_log_items(program, plan);
	step_optimize(program, plan, body);
	step_leak(program, plan);
	step_empty_cache(program, plan);
	step_callbacks(program, plan);
	step_pause(program, plan, body);
	step_validate(program, plan, body);
	ss_sim_frame_end(program);
	ss_sim_end(program);
}
