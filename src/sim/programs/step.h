/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step.h - the training loop around the network: input, backward's thread, the
 * optimizer, logging, and everything else that a train.py does in a step.
 */
#ifndef SS_SIM_PROGRAMS_STEP_H
#define SS_SIM_PROGRAMS_STEP_H

#include "sim/networks/model.h"

/* The simulated user's program: causes name these lines. */
#define SS_SIM_LINE_LOOP "train.py(31): train_epoch"
#define SS_SIM_LINE_NEXT "train.py(33): next_batch"
#define SS_SIM_LINE_COPY "train.py(38): to_device"
#define SS_SIM_LINE_FORWARD "train.py(42): compute_loss"
#define SS_SIM_LINE_BACKWARD "train.py(46): backward"
#define SS_SIM_LINE_OPTIMIZER "train.py(50): update"
#define SS_SIM_LINE_ITEM "train.py(55): log_loss"
#define SS_SIM_LINE_PRINT "train.py(59): show_logits"
#define SS_SIM_LINE_CHECKPOINT "train.py(63): save_checkpoint"
#define SS_SIM_LINE_GC "train.py(67): collect_garbage"
#define SS_SIM_LINE_LOGGING "train.py(71): log_metrics"
#define SS_SIM_LINE_EMPTY "train.py(75): empty_cache"
#define SS_SIM_LINE_KEEP "train.py(79): keep_losses"
#define SS_SIM_LINE_LONE "train.py(83): refresh_schedule"
#define SS_SIM_LINE_VALIDATE "train.py(87): validate"
#define SS_SIM_LINE_CALLBACK "callbacks.py(12): on_step_end"
#define SS_SIM_LINE_CAST "model.py(65): to_float_and_back"
#define SS_SIM_LINE_COLLATE "dataset.py(41): collate_fn"
#define SS_SIM_LINE_TOKENIZE "text.py(18): tokenize"
#define SS_SIM_LINE_REQUESTS "server.py(27): tokenizer"
#define SS_SIM_LINE_TINY "model.py(57): scale_and_shift"
#define SS_SIM_LINE_NONZERO "model.py(73): select_tokens"
#define SS_SIM_LINE_DATASET "dataset.py(22): __getitem__"

/* What a layout adds to the loop. */
struct ss_sim_body {
	/* Forward and backward of one micro-step. */
	void (*passes)(struct ss_sim_program *program, void *context, uint32_t micro);
	/* Forward of one batch without gradients; NULL: the layout has none. */
	void (*validate)(struct ss_sim_program *program, void *context);
	void *context;
	uint32_t micro_steps;
	uint64_t parameters; /* elements that this rank's optimizer updates */
	uint32_t tensors;    /* in how many tensors */
};

/* The body of a rank that holds the whole network: passes and context are to be set. */
struct ss_sim_body ss_sim_body_whole(const struct ss_sim_share *share);

/* Builds a whole step. */
void ss_sim_train_step(struct ss_sim_program *program, const struct ss_sim_plan *plan,
		       const struct ss_sim_body *body);

/* What is built between these two calls runs on autograd's thread. */
void ss_sim_backward_begin(struct ss_sim_program *program);
void ss_sim_backward_end(struct ss_sim_program *program);

/* A share of the network for ranks that hold all of it. */
struct ss_sim_share ss_sim_share_whole(const struct ss_sim_plan *plan,
				       const struct ss_sim_part *part, struct ss_sim_tape *tape);

/* The parameters of a share, and how many tensors they are. */
uint64_t ss_sim_share_parameters(const struct ss_sim_share *share, bool stem, bool head);

/* All pieces of a share that has the whole network, in order; forward includes nonzero(). */
void ss_sim_network_forward(struct ss_sim_program *program, const struct ss_sim_share *share);
void ss_sim_network_backward(struct ss_sim_program *program, const struct ss_sim_share *share,
			     ss_sim_gradient_sink sink, void *context);

/* A forward pass without gradients, of a share that holds the whole network. */
void ss_sim_network_evaluate(struct ss_sim_program *program, const struct ss_sim_share *share);

/* The next batch (input.c); `first` of the step: epochs begin with it. */
void ss_sim_fetch_batch(struct ss_sim_program *program, const struct ss_sim_plan *plan, bool first);

/* nonzero() in the forward pass, when the plan asks for it. */
void ss_sim_nonzeros(struct ss_sim_program *program, const struct ss_sim_plan *plan);

/* tensor.item(): a copy of one number that the thread waits for. */
void ss_sim_tensor_item(struct ss_sim_program *program);

/* The sum over a tensor-parallel group, which compute waits for; context: the share. */
void ss_sim_tensor_reduce(struct ss_sim_program *program, void *context, uint64_t elements);

/* --- gradients that are reduced in buckets (collective.c) -------------------------- */

#define SS_SIM_BUCKETS_MAX 4096u

struct ss_sim_buckets {
	const struct ss_sim_plan *plan;
	enum ss_sim_group_role role;
	enum ss_sim_stream stream;
	bool held;         /* gradient accumulation: nothing is reduced in this micro-step */
	uint32_t used_map; /* elements of the map of used parameters; 0: none is reduced */
	uint64_t elements, limit_elements;
	uint32_t done[SS_SIM_BUCKETS_MAX]; /* events behind the reductions */
	uint32_t count;
};

void ss_sim_buckets_init(struct ss_sim_buckets *buckets, const struct ss_sim_plan *plan,
			 enum ss_sim_group_role role, enum ss_sim_stream stream);

/* A gradient is ready: ss_sim_gradient_sink. */
void ss_sim_buckets_add(struct ss_sim_program *program, void *context,
			const struct ss_sim_gradient *gradient);

/* Reduces what is left and lets compute wait for all. */
void ss_sim_buckets_finish(struct ss_sim_program *program, struct ss_sim_buckets *buckets);

#endif
