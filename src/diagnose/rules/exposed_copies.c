/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exposed_copies.c - rule: the device computes nothing while data comes from pinned host memory, or
 * goes there.
 *
 * On a stream of its own, a copy runs beside kernels: the next layer or batch comes while this one
 * is computed, as far as there are kernels to hide it. Where one step copies many times (weights,
 * activations, optimizer state on the host), what fits need not move at all: that is the upper
 * bound. A program that loads its weights copies, too, but computes nothing in between.
 */
#include "analyze/time/cover.h"
#include "analyze/work/host_link.h"
#include "diagnose/evidence/code_places.h"

/* Shorter copies are latency: what matters is their number. */
#define LARGE_BYTES (INT64_C(1) << 20)

/* Times in a step that kernels and copies take turns; input takes one. */
#define OFFLOAD_TURNS 6

/* Nine steps of ten have them; a file without marks has one step. */
#define HABIT 9
#define HABIT_OF 10
#define TURNS_MIN 3

/* From this share of the steps on it is a warning as soon as it is reported. */
#define WAITING_SHARE 0.2

struct exposed_copies {
	struct ss_rule_context *context;
	struct ss_host_link link;
	struct ss_cover_index kernels;
	int64_t *exposed_ns; /* per task */
	int64_t sum_ns, hidden_ns;
	int64_t turns;
	struct ss_code_places *sites;
};

static bool row_is_kernel(const void *trace, uint32_t row)
{
	return ((const struct ss_trace *)trace)->slices.kind[row] == SS_KIND_KERNEL;
}

/* Between host and device, and no matter of pageable memory. */
static bool copy_is_pinned(const struct exposed_copies *copies, uint32_t number)
{
	const struct ss_task *task = &copies->context->graph->tasks[number];
	const struct ss_trace *trace = copies->context->trace;
	uint8_t memory;

	if (task->kind != SS_TASK_COPY || task->step == SS_NO_STEP)
		return false;
	memory = copies->link.kinds[trace->slices.name[task->row]].memory;
	return (memory == SS_COPY_PINNED || memory == SS_COPY_HOST) &&
	       ss_copy_bytes(trace, task->row) >= LARGE_BYTES;
}

/* All copies, or those that the rules before left. */
static void copies_measure(struct exposed_copies *copies, bool is_left)
{
	const struct ss_graph *graph = copies->context->graph;
	struct ss_task_range tasks = graph->of_kind[SS_TASK_COPY];
	const struct ss_task *last = NULL;

	copies->sum_ns = copies->hidden_ns = copies->turns = 0;
	for (uint32_t i = tasks.from; i < tasks.to; i++) {
		const struct ss_task *task = &graph->tasks[i];
		int64_t beside_ns;

		copies->exposed_ns[i] = 0;
		if (!copy_is_pinned(copies, i) ||
		    (is_left && !ss_rule_can_claim(copies->context, i)))
			continue;
		beside_ns = ss_cover_index_in(&copies->kernels, task->start_ns, ss_task_end(task));
		copies->exposed_ns[i] = task->own_ns > beside_ns ? task->own_ns - beside_ns : 0;
		ss_ns_add(&copies->sum_ns, copies->exposed_ns[i]);
		ss_ns_add(&copies->hidden_ns, beside_ns);
		copies->turns += last && last->track == task->track &&
				 ss_cover_index_in(&copies->kernels, ss_task_end(last),
						   task->start_ns) > 0;
		last = task;
	}
}

/* The part of the exposed time that kernels with nothing beside them could hide. */
static double copies_hidden_part(const struct exposed_copies *copies, const struct ss_cover *all)
{
	int64_t free_ns = ss_cover_common(all, copies->context->steps) - copies->hidden_ns;

	if (free_ns >= copies->sum_ns)
		return 1;
	return free_ns > 0 ? (double)free_ns / (double)copies->sum_ns : 0;
}

static void copies_claim(struct exposed_copies *copies, double part, bool is_offload)
{
	struct ss_rule_context *context = copies->context;
	const struct ss_slices *slices = &context->trace->slices;
	struct ss_task_range tasks = context->graph->of_kind[SS_TASK_COPY];

	for (uint32_t i = tasks.from; i < tasks.to; i++) {
		const struct ss_task *task = &context->graph->tasks[i];
		int64_t exposed_ns = copies->exposed_ns[i];
		int64_t own_ns = task->own_ns - (int64_t)(part * (double)exposed_ns);

		if (!exposed_ns ||
		    !ss_rule_claim(context,
				   (struct ss_claim){
					   .task = i,
					   .own_ns = own_ns,
					   .low_ns = own_ns + (task->own_ns - own_ns) / 2,
					   .high_ns = is_offload ? task->own_ns - exposed_ns
								 : own_ns }))
			continue;
		ss_code_places_add(copies->sites, slices->name[task->row], slices->link[task->row],
				   exposed_ns);
	}
}

static const char offload_fix[] =
	"# every step copies data that lives on the host: keep on the GPU what\n"
	"# fits, or quantize; copy the next layer while this one computes:\n"
	"# diffusers: enable_group_offload(..., use_stream=True)";

static void copies_report(struct exposed_copies *copies, bool is_offload)
{
	struct ss_rule_context *context = copies->context;

	ss_code_places_report(copies->sites, UINT32_MAX,
			      "nothing computes beside %s: {time} per step ({count} times)");
	if (is_offload)
		ss_rule_set_fix(context, offload_fix);
	ss_rule_set_confidence(context, is_offload ? SS_CONFIDENCE_LOW : SS_CONFIDENCE_MEDIUM,
			       is_offload ? "how much of the data fits on the GPU is not recorded"
					  : "we assume that the copy can start earlier");
	if ((double)copies->sum_ns >= WAITING_SHARE * (double)context->step_ns)
		ss_rule_set_shares(context, context->rule->silent_share, 0);
}

/* Whether it happens in every step, and takes a part of it that is worth a report. */
static bool copies_recur(const struct exposed_copies *copies)
{
	const struct ss_rule_context *context = copies->context;
	int64_t steps = context->steps->count;

	return (copies->turns >= OFFLOAD_TURNS * steps ||
		(steps > 1 && copies->turns >= TURNS_MIN &&
		 (copies->turns + 1) * HABIT_OF >= steps * HABIT)) &&
	       (double)copies->sum_ns >= context->rule->silent_share * (double)context->step_ns;
}

static enum ss_status exposed_copies_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct exposed_copies copies = { .context = context };
	const struct ss_trace *trace = context->trace;
	int64_t steps = context->steps->count;
	bool is_offload;
	SS_COVER(kernels, context->memory);

	if (!trace->device_kind_count[SS_KIND_MEMCPY] || !steps)
		return SS_OK;
	ss_cover_rows(&kernels, trace, 1u << SS_TRACK_DEVICE, row_is_kernel, trace);
	if (kernels.failed || !ss_cover_index_init(&copies.kernels, &kernels, context->scratch) ||
	    !ss_host_link_init(&copies.link, trace, context->digest->device, context->scratch) ||
	    !SS_ALLOC(context->scratch, copies.exposed_ns, (size_t)context->graph->task_count + 1))
		return ss_fail_memory(err, "the copies");
	copies_measure(&copies, false);
	if (!copies_recur(&copies))
		return SS_OK;
	copies_measure(&copies, true);
	if (!copies_recur(&copies))
		return SS_OK;
	is_offload = copies.turns >= OFFLOAD_TURNS * steps;
	SS_TRY(ss_code_places_make(&copies.sites, context, err));
	copies_claim(&copies, copies_hidden_part(&copies, &kernels), is_offload);
	if (copies.sites->count)
		copies_report(&copies, is_offload);
	return SS_OK;
}

const struct ss_rule ss_rule_exposed_copies = {
	.name = "exposed-copies",
	.title = "The GPU waits for copies between its memory and the host's",
	.summary = "Large copies of pinned memory that nothing computes beside: offloading, input",
	.fix = "stream = torch.cuda.Stream()   # copies the next batch beside this step\n"
	       "with torch.cuda.stream(stream):\n"
	       "    batch = batch.to(device, non_blocking=True)\n"
	       "# before its use: torch.cuda.current_stream().wait_stream(stream)",
	.to_record = "with_stack=True names the line",
	.views = "copies streams",
	.warn_share = 0.05,
	.silent_share = 0.02,
	.why = "a stream and an event; where a fifth of the step is such waiting, 2 % warn",
	.needs_device = true,
	.look = exposed_copies_look,
};
