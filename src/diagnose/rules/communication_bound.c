/* SPDX-License-Identifier: Apache-2.0 */
/*
 * communication_bound.c - rule: gradients take longer to move than backward can hide.
 *
 * DDP all-reduces buckets while backward computes the next ones. If all transfers together take
 * longer than backward, no bucket size hides the rest. If the model fits in one or two buckets,
 * they are full only when backward ends. What helps is to move less: half the bytes, or half as
 * often. Other rules cover buckets that are too large or too small, and come first.
 *
 * Jobs without devices are left out: their threads wait for cores as well, and the file does not
 * show which of the two it was.
 */
#include <stdio.h>
#include <string.h>

#include "analyze/work/peaks.h"
#include "diagnose/diagnose.h"
#include "diagnose/rank_findings.h"
#include "diagnose/evidence/gradients.h"

/* DDP's buckets have 25 MB; from twice that size on exposed-communication reports them. */
#define LARGE_BYTES (INT64_C(50) << 20)

/* DDP's first bucket has 1 MB: a model that fits in one more bucket has two. */
#define FEW_BUCKETS 2

/* How many ranks one host may have if the files do not name their hosts. */
#define HOST_RANKS 8

/*
 * NCCL reaches 75 to 80 % of the link bandwidth with large messages, and half of that with a few
 * MB. Below this share it does not use these links, or something is wrong with them.
 */
#define SLOW_SHARE 0.2
#define LONG_BYTES (INT64_C(8) << 20) /* messages whose rate is that of the link */

static const char *const slow_fix =
	"# are these the right links? NCCL_DEBUG=INFO python train.py shows\n"
	"# P2P/NVLink, SHM or NET; nvidia-smi topo -m. If so, half the bytes:\n"
	"from torch.distributed.algorithms.ddp_comm_hooks import default_hooks\n"
	"model.register_comm_hook(None, default_hooks.bf16_compress_hook)\n"
	"# or accumulate gradients, with model.no_sync() in all but the last pass";

enum communication_figure { FIGURE_BYTES, FIGURE_REDUCES, FIGURE_PASSES };

/* --- one rank ------------------------------------------------------------------------------ */

/*
 * Whether the buckets of the pass are as they should be. No bucket size splits a single tensor: an
 * embedding may fill a large one, as long as most bytes are in others.
 */
static bool buckets_are_usual(const struct ss_gradients *gradients,
			      const struct ss_gradient_pass *pass)
{
	double all_bytes = 0, large_bytes = 0;

	for (uint32_t i = 0; i < pass->count; i++) {
		int64_t bytes = gradients->items[pass->first + i].bytes;

		if (bytes < 0)
			return false;
		all_bytes += (double)bytes;
		if (bytes > LARGE_BYTES)
			large_bytes += (double)bytes;
	}
	return 2 * large_bytes <= all_bytes;
}

/* Passes the transfers on to communication_bound_judge(), as claims that change nothing. */
static void bound_mark_pass(struct ss_rule_context *context, const struct ss_gradients *gradients,
			    const struct ss_gradient_pass *pass)
{
	uint32_t marked = 0;

	for (uint32_t i = 0; i < pass->count; i++) {
		const struct ss_gradient *gradient = &gradients->items[pass->first + i];
		uint32_t task = ss_gradient_task(gradient, context);

		if (gradient->is_integer || task == SS_NO_TASK ||
		    !ss_rule_claim(context, (struct ss_claim){ .task = task,
							       .own_ns = INT64_MAX,
							       .low_ns = INT64_MAX,
							       .high_ns = INT64_MAX }))
			continue;
		marked++;
		ss_rule_add_figure(context, FIGURE_BYTES, (double)gradient->bytes);
	}
	ss_rule_add_figure(context, FIGURE_REDUCES, marked);
	ss_rule_add_figure(context, FIGURE_PASSES, marked > 0);
}

static enum ss_status communication_bound_look(struct ss_rule_context *context,
					       struct ss_error *err)
{
	const struct ss_gradients *gradients;

	SS_TRY(ss_rule_gradients(context, &gradients, err));
	for (uint32_t i = 0; i < gradients->pass_count; i++)
		if (buckets_are_usual(gradients, &gradients->passes[i]))
			bound_mark_pass(context, gradients, &gradients->passes[i]);
	return SS_OK;
}

/* --- all ranks ----------------------------------------------------------------------------- */

/* Sums over the steps of all ranks. */
struct communication_sums {
	struct ss_judgement *judgement;
	double backward_ns; /* of its kernels, also where they run beside each other */
	double moved_ns;    /* of the transfers */
	double late_ns;     /* of them after the end of backward */
	double bytes, reduces, passes, steps;
};

/* The part of a step's transfers after its last backward kernel is what nothing hides. */
static bool bound_add_rank(struct communication_sums *bound, uint32_t rank)
{
	const struct ss_judgement *judgement = bound->judgement;
	const struct ss_rank_findings *findings = judgement->rank_findings[rank];
	const struct ss_found_part *part = &findings->parts[judgement->number];
	const struct ss_packed *graph = &judgement->graphs[rank];
	int64_t *end_ns = SS_ARENA_NEW(bound->judgement->scratch, int64_t,
				       (size_t)graph->step_count + 1);
	struct ss_packed_starts starts;

	if (!end_ns)
		return false;
	ss_packed_starts_init(&starts, graph);
	for (uint32_t i = 0; i < graph->task_count; i++) {
		struct ss_packed_task task = ss_packed_task_from(graph, i, 0);

		if (task.kind != SS_TASK_KERNEL || task.phase != SS_PHASE_BACKWARD ||
		    task.step >= graph->step_count)
			continue;
		task.start_ns = ss_packed_starts_get(&starts, i);
		bound->backward_ns += (double)task.own_ns;
		if (ss_packed_end(&task) > end_ns[task.step])
			end_ns[task.step] = ss_packed_end(&task);
	}
	for (uint32_t i = part->claim_from; i < part->claim_to; i++) {
		const struct ss_packed_task task = ss_packed_task(graph, findings->claims[i].task);
		int64_t from_ns = task.start_ns;

		if (task.step < graph->step_count && end_ns[task.step] > from_ns)
			from_ns = end_ns[task.step];
		bound->moved_ns += (double)task.own_ns;
		if (ss_packed_end(&task) > from_ns)
			bound->late_ns += (double)(ss_packed_end(&task) - from_ns);
	}
	bound->bytes += ss_judgement_figure(judgement, rank, FIGURE_BYTES);
	bound->reduces += ss_judgement_figure(judgement, rank, FIGURE_REDUCES);
	bound->passes += ss_judgement_figure(judgement, rank, FIGURE_PASSES);
	bound->steps += graph->step_count;
	return true;
}

static bool bound_exceeds_backward(const struct communication_sums *bound)
{
	return bound->moved_ns > bound->backward_ns;
}

static bool bound_has_few_buckets(const struct communication_sums *bound)
{
	return bound->reduces <= FEW_BUCKETS * bound->passes &&
	       2 * bound->late_ns >= bound->moved_ns;
}

/* Claims half of each marked transfer of the rank: half the bytes, or half as often. */
static void bound_claim_half(struct communication_sums *bound, struct ss_finding *finding,
			     uint32_t rank)
{
	struct ss_judgement *judgement = bound->judgement;
	const struct ss_rank_findings *findings = judgement->rank_findings[rank];
	const struct ss_found_part *part = &findings->parts[judgement->number];

	ss_judgement_take_rank(judgement, finding, rank);
	for (uint32_t i = part->claim_from; i < part->claim_to && !judgement->failed; i++) {
		uint32_t task = findings->claims[i].task;
		int64_t own_ns = ss_packed_own(&judgement->graphs[rank], task);

		(void)!ss_judgement_claim(judgement, finding, rank,
					  (struct ss_claim){ .task = task,
							     .own_ns = own_ns / 2,
							     .low_ns = own_ns - own_ns / 4,
							     .high_ns = own_ns / 2 });
	}
}

/* Peak bandwidth of the links within a host, GB/s; 0: unknown, or the job has several hosts. */
static double host_link_peak(const struct ss_joined *joined)
{
	const struct ss_digest *first = &joined->ranks[0];
	const struct ss_peaks *peaks = ss_peaks_find(
		ss_strings_text(&first->texts, first->device_name));

	if (!peaks || (!joined->hosts[0] && joined->rank_count > HOST_RANKS))
		return 0;
	for (uint32_t i = 1; i < joined->rank_count; i++)
		if (joined->hosts[i] != joined->hosts[0])
			return 0;
	return peaks->link_gb_per_s;
}

/* Three digits, but never as 1.2e+03. */
static void format_three_digits(char *text, size_t size, double value)
{
	snprintf(text, size, value >= 100 ? "%.0f" : "%.3g", value);
}

static void bound_report_rate(const struct communication_sums *bound, struct ss_finding *finding)
{
	struct ss_judgement *judgement = bound->judgement;
	double rate = bound->bytes / bound->moved_ns *
		      ss_collective_factor(SS_COLLECTIVE_ALL_REDUCE, judgement->rank_count);
	double peak = host_link_peak(judgement->joined);
	char text[32];

	format_three_digits(text, sizeof(text), rate);
	if (peak <= 0) {
		ss_judgement_add_evidence(judgement, finding, 0,
					  "gradients move at %s GB/s (bus bandwidth)", text);
		return;
	}
	ss_judgement_add_evidence(
		judgement, finding, 0,
		"gradients move at %s GB/s (bus bandwidth); links of these GPUs carry "
		"up to %.0f",
		text, peak);
	if (rate < SLOW_SHARE * peak && bound->bytes >= (double)LONG_BYTES * bound->reduces)
		finding->fix = slow_fix;
}

static void bound_report(struct communication_sums *bound)
{
	struct ss_judgement *judgement = bound->judgement;
	struct ss_finding *finding = ss_judgement_add(judgement, SS_NO_ROW, NULL);
	char text[32];

	for (uint32_t i = 0; finding && i < judgement->rank_count; i++)
		if (ss_judgement_count_claims(judgement, i))
			bound_claim_half(bound, finding, i);
	if (!finding || judgement->failed)
		return;
	format_three_digits(text, sizeof(text), bound->backward_ns / bound->steps / 1e6);
	if (bound_exceeds_backward(bound))
		ss_judgement_add_evidence(
			judgement, finding, (int64_t)(bound->moved_ns / bound->steps),
			"all-reduces of gradients take {time} per step, backward computes for %s "
			"ms: no bucket size can hide them",
			text);
	else
		ss_judgement_add_evidence(
			judgement, finding, (int64_t)(bound->late_ns / bound->steps),
			"the model fits in %s, full only when backward ends: {time} per "
			"step exposed after it",
			bound->reduces > bound->passes ? "two buckets" : "one bucket");
	bound_report_rate(bound, finding);
	finding->confidence = SS_CONFIDENCE_MEDIUM;
	finding->reason = "the saving assumes half the bytes or half the calls";
}

static enum ss_status communication_bound_judge(struct ss_judgement *judgement,
						struct ss_error *err)
{
	struct communication_sums bound = { .judgement = judgement };
	const struct ss_joined *joined = judgement->joined;
	bool whole = true;

	/* if ranks are missing, waiting for them looks like transfer */
	if (!joined || judgement->rank_count != joined->rank_count || joined->rank_count < 2 ||
	    joined->ranks[0].world_size > (int64_t)joined->rank_count)
		return SS_OK;
	for (uint32_t i = 0; whole && i < judgement->rank_count; i++)
		whole = bound_add_rank(&bound, i);
	if (!whole)
		return ss_fail_memory(err, "communication");
	if (bound.moved_ns > 0 && bound.backward_ns > 0 &&
	    (bound_exceeds_backward(&bound) || bound_has_few_buckets(&bound)))
		bound_report(&bound);
	return SS_OK;
}

const struct ss_rule ss_rule_communication_bound = {
	.name = "communication-bound",
	.title = "Gradients take longer to move than backward can hide",
	.summary = "All-reduces that no bucket size can hide: move less, or less often",
	.fix = "# half the bytes:\n"
	       "from torch.distributed.algorithms.ddp_comm_hooks import default_hooks\n"
	       "model.register_comm_hook(None, default_hooks.bf16_compress_hook)\n"
	       "# or accumulate gradients, with model.no_sync() in all but the last pass",
	.to_record = NULL,
	.views = "communication collectives",
	.warn_share = 0.1,
	.silent_share = 0.03,
	.why = "the fix changes the numbers or the batch, so a tenth of the step must be at stake",
	.needs_device = true,
	.look = communication_bound_look,
	.judge = communication_bound_judge,
};
