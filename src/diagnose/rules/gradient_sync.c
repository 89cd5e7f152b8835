/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gradient_sync.c - rule: gradients are accumulated, but all-reduced in every micro-batch.
 *
 * DDP all-reduces all gradients at the end of each backward. If several backward passes lead to
 * one optimizer step, only the last one has to: the sum of averages is the average of sums. The
 * fix removes the all-reduces of the earlier passes, and with them the waits of the ranks for
 * each other.
 */
#include "diagnose/evidence/gradients.h"
#include "diagnose/evidence/removed_ranges.h"

struct gradient_sync {
	struct ss_rule_context *context;
	const struct ss_gradients *gradients;
	uint32_t rounds;         /* that an optimizer step ends */
	uint32_t repeated;       /* of them, those that reduce the same buckets several times */
	uint32_t passes;         /* of the repeated rounds */
	int64_t moved_ns, count; /* of the all-reduces before the last pass */
	uint32_t launch;         /* the first of them; SS_NO_ROW: none */
	uint8_t *gone;           /* per task: transfers that are claimed */
};

/* One optimizer can train two models: only the same buckets again are a repetition. */
static bool pass_has_same_buckets(const struct ss_gradient_pass *a,
				  const struct ss_gradient_pass *b)
{
	return a->count == b->count && a->bytes == b->bytes;
}

/* Counts rounds, and those that reduce the same buckets more than once. */
static void gradient_sync_count_rounds(struct gradient_sync *sync)
{
	const struct ss_gradients *gradients = sync->gradients;

	for (uint32_t i = 0; i < gradients->round_count; i++) {
		const struct ss_gradient_round *round = &gradients->rounds[i];
		const struct ss_gradient_pass *passes = &gradients->passes[round->first];
		uint32_t alike = 0;

		if (!round->is_stepped)
			continue;
		sync->rounds++;
		for (uint32_t k = 0; k < round->count; k++)
			alike += pass_has_same_buckets(&passes[k], &passes[round->count - 1]);
		if (alike < 2)
			continue;
		sync->repeated++;
		sync->passes += alike;
	}
}

/* Claims the all-reduces of a pass that is not the last of its round. */
static void gradient_sync_claim_pass(struct gradient_sync *sync,
				     const struct ss_gradient_pass *pass)
{
	const struct ss_trace *trace = sync->context->trace;

	for (uint32_t i = 0; i < pass->count; i++) {
		const struct ss_gradient *gradient = &sync->gradients->items[pass->first + i];
		uint32_t task = ss_gradient_task(gradient, sync->context);
		uint32_t row = sync->context->digest->arrivals[gradient->arrival].row;

		if (task == SS_NO_TASK ||
		    !ss_rule_claim(sync->context,
				   (struct ss_claim){ .task = task, .releases = true }))
			continue;
		sync->gone[task] = true;
		sync->moved_ns = ss_ns_sum(sync->moved_ns, trace->slices.dur_ns[row]);
		sync->count++;
		if (sync->launch == SS_NO_ROW)
			sync->launch = gradient->launch;
	}
}

static void gradient_sync_claim_rounds(struct gradient_sync *sync)
{
	const struct ss_gradients *gradients = sync->gradients;

	for (uint32_t i = 0; i < gradients->round_count; i++) {
		const struct ss_gradient_round *round = &gradients->rounds[i];
		const struct ss_gradient_pass *passes = &gradients->passes[round->first];

		for (uint32_t k = 0; round->is_stepped && k + 1 < round->count; k++)
			if (pass_has_same_buckets(&passes[k], &passes[round->count - 1]))
				gradient_sync_claim_pass(sync, &passes[k]);
	}
}

static void gradient_sync_report(struct gradient_sync *sync)
{
	const struct ss_gradient_pass *last =
		&sync->gradients->passes[sync->gradients->pass_count - 1];
	uint32_t times = (sync->passes + sync->repeated / 2) / sync->repeated;
	struct ss_fact fact = { sync->moved_ns, (double)sync->count, sync->launch };

	ss_rule_add_evidence(
		sync->context, fact,
		"gradients are all-reduced %u times per optimizer step; once is enough: "
		"{count} all-reduce{?|s} per step {?is|are} unnecessary, {time} including "
		"waits",
		times);
	if (last->bytes < 0)
		ss_rule_set_confidence(sync->context, SS_CONFIDENCE_MEDIUM,
				       "all passes have as many all-reduces; sizes are unknown");
	else
		ss_rule_set_confidence(sync->context, SS_CONFIDENCE_HIGH,
				       "every backward reduces the same buckets");
}

static enum ss_status gradient_sync_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct gradient_sync sync = { .context = context, .launch = SS_NO_ROW };

	SS_TRY(ss_rule_gradients(context, &sync.gradients, err));
	gradient_sync_count_rounds(&sync);
	/* an optimizer step that was skipped because gradients overflowed looks like a pass */
	if (!sync.repeated || 2 * sync.repeated < sync.rounds)
		return SS_OK;
	if (!SS_ALLOC(context->scratch, sync.gone, (size_t)context->graph->task_count + 1))
		return ss_fail_memory(err, "the gradients");
	gradient_sync_claim_rounds(&sync);
	if (sync.count) {
		ss_rule_release_joins(context, sync.gone);
		gradient_sync_report(&sync);
	}
	return SS_OK;
}

const struct ss_rule ss_rule_gradient_sync = {
	.name = "gradient-sync",
	.title = "Gradients are all-reduced in every micro-batch",
	.summary = "Gradient accumulation with DDP but without no_sync()",
	.fix = "for i, batch in enumerate(micro_batches):\n"
	       "    last = i == len(micro_batches) - 1\n"
	       "    with contextlib.nullcontext() if last else model.no_sync():\n"
	       "        loss = loss_fn(model(batch)) / len(micro_batches)\n"
	       "        loss.backward()\n"
	       "optimizer.step()\n"
	       "# Accelerate: with accelerator.accumulate(model): ...",
	.to_record = "record_shapes=True records sizes, which show whether the same "
		     "gradients are reduced",
	.views = "communication collectives",
	.warn_share = 0.02,
	.silent_share = 0.005,
	.why = "two lines to change, and the result is the same: 2 % is worth that; below 0.5 % "
	       "steps differ by more",
	.look = gradient_sync_look,
};
