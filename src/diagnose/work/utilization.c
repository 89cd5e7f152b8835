/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utilization.c - sums FLOPs and what devices could do, or says why that is unknown.
 */
#include "diagnose/work/utilization.h"

#include "analyze/work/flops.h"
#include "analyze/work/reach.h"

/* Figures: FLOPs of the model, all, what devices could do; time of kernels; why not; by kind. */
enum { MODEL_FLOPS, ALL_FLOPS, POSSIBLE_FLOPS, KNOWN_NS, KERNELS_NS, REASON, KINDS };
static_assert(KINDS + SS_KERNEL_CATEGORIES <= SS_RULE_FIGURES, "a figure for each kind");

enum { KNOWN = 0, NO_SIZES, NO_NAME, NO_PEAKS, NO_FLOPS };

static const char *const reasons[] = {
	[NO_SIZES] = "the sizes of operators are not recorded: record_shapes=True",
	[NO_NAME] = "the name of the GPU is not recorded, or it has several kinds of GPUs",
	[NO_PEAKS] = "the peak rates of this GPU are not known",
	[NO_FLOPS] = "no matrix product, convolution or attention of known size runs in the steps",
};

/* Operators that have a formula, or whose kind has no FLOPs; their kernels, without collectives. */
static bool utilization_knows(const struct ss_rule_context *context, const struct ss_works *works,
			      const struct ss_worker *worker)
{
	const struct ss_work *work = ss_works_item(works, worker);
	int kind = works->name_kind[context->trace->slices.name[worker->row]];

	if (work)
		return work->has_flops || work->kind < SS_WORK_MATMUL;
	return kind > SS_WORK_COMM && kind < SS_WORK_MATMUL;
}

/* Notes the time of kernels in the steps, by what they do. */
static void utilization_note_kinds(struct ss_rule_context *context,
				   const struct ss_kernel_name *names)
{
	const struct ss_graph *graph = context->graph;
	struct ss_task_range kernels = graph->of_kind[SS_TASK_KERNEL];
	int64_t sums_ns[SS_KERNEL_CATEGORIES] = { 0 };

	for (uint32_t i = kernels.from; i < kernels.to; i++) {
		const struct ss_task *task = &graph->tasks[i];

		if (task->kind == SS_TASK_KERNEL && task->step != SS_NO_STEP)
			ss_ns_add(&sums_ns[names[context->trace->slices.name[task->row]].category],
				  task->own_ns);
	}
	for (uint32_t i = 0; i < SS_KERNEL_CATEGORIES; i++) {
		if (sums_ns[i] <= 0)
			continue;
		ss_rule_add_figure(context, KERNELS_NS, (double)sums_ns[i]);
		ss_rule_add_figure(context, KINDS + i, (double)sums_ns[i]);
	}
}

static void utilization_note_known(struct ss_rule_context *context, const struct ss_flops *flops,
				   int64_t known_ns, double possible)
{
	ss_rule_add_figure(context, MODEL_FLOPS, flops->all - flops->again);
	ss_rule_add_figure(context, ALL_FLOPS, flops->all);
	ss_rule_add_figure(context, POSSIBLE_FLOPS, possible);
	ss_rule_add_figure(context, KNOWN_NS, (double)known_ns);
}

enum ss_status ss_utilization_note(struct ss_rule_context *context, struct ss_error *err)
{
	const struct ss_trace *trace = context->trace;
	const struct ss_phases *phases;
	const struct ss_kernel_name *names;
	const struct ss_works *works;
	struct ss_flops flops = { 0 };
	int64_t known_ns = 0, steps_ns = 0;
	uint32_t devices;
	const char *device = ss_reach_device_name(trace, &devices);
	double peak;

	SS_TRY(ss_facts_works(context->subject->facts, &works, err));
	SS_TRY(ss_facts_phases(context->subject->facts, &phases, err));
	SS_TRY(ss_facts_kernel_names(context->subject->facts, &names, err));
	utilization_note_kinds(context, names);
	for (uint32_t i = 0; i < works->worker_count; i++) {
		const struct ss_worker *worker = &works->workers[i];
		const struct ss_work *work = ss_works_item(works, worker);

		if (worker->device_ns <= 0 || !ss_ops_counts(works->ops, worker->row) ||
		    ss_flops_step_of(trace, worker->row) == trace->steps.count)
			continue;
		if (utilization_knows(context, works, worker))
			ss_ns_add(&known_ns, worker->device_ns);
		if (work && work->has_flops)
			ss_flops_add(&flops, trace, phases, works, worker);
	}
	for (uint32_t i = 0; i < trace->steps.count; i++)
		ss_ns_add(&steps_ns, trace->steps.items[i].end_ns - trace->steps.items[i].start_ns);
	peak = ss_flops_peak(&flops, *device ? ss_peaks_find(device) : NULL);
	if (flops.all > 0 && peak > 0 && steps_ns > 0)
		utilization_note_known(context, &flops, known_ns,
				       peak * devices * (double)steps_ns / 1e9);
	else
		ss_rule_add_figure(context, REASON,
				   !ss_works_have_shapes(trace) ? NO_SIZES
				   : flops.all <= 0             ? NO_FLOPS
				   : !*device                   ? NO_NAME
								: NO_PEAKS);
	return SS_OK;
}

struct ss_mfu ss_utilization_sum(const struct ss_judgement *judgement)
{
	double sums[REASON] = { 0 }, reason = KNOWN;
	struct ss_mfu out = { 0 };

	for (uint32_t i = 0; i < judgement->rank_count; i++) {
		for (uint32_t slot = 0; slot < REASON; slot++)
			sums[slot] += ss_judgement_figure(judgement, i, slot);
		if (ss_judgement_figure(judgement, i, REASON) > KNOWN)
			reason = ss_judgement_figure(judgement, i, REASON);
	}
	if (sums[POSSIBLE_FLOPS] > 0) {
		out.mfu = sums[MODEL_FLOPS] / sums[POSSIBLE_FLOPS];
		out.hfu = sums[ALL_FLOPS] / sums[POSSIBLE_FLOPS];
		out.known = sums[KNOWN_NS] < sums[KERNELS_NS] ? sums[KNOWN_NS] / sums[KERNELS_NS]
							      : 1;
	} else if (reason > KNOWN && reason <= NO_FLOPS) {
		out.unknown = reasons[(int)reason];
	}
	return out;
}

struct ss_kernel_time ss_utilization_sum_kernels(const struct ss_judgement *judgement)
{
	struct ss_kernel_time out = { 0 };
	double all_ns = 0;

	for (uint32_t i = 0; i < judgement->rank_count; i++) {
		all_ns += ss_judgement_figure(judgement, i, KERNELS_NS);
		for (uint32_t k = 0; k < SS_KERNEL_CATEGORIES; k++)
			out.share[k] += ss_judgement_figure(judgement, i, KINDS + k);
	}
	for (uint32_t k = 0; all_ns > 0 && k < SS_KERNEL_CATEGORIES; k++)
		out.share[k] /= all_ns;
	return out;
}
