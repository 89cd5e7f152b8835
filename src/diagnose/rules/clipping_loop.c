/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clipping_loop.c - rule: gradients are clipped one tensor at a time.
 *
 * Between backward and the optimizer each gradient gets a norm and a product of its own. With
 * foreach=True a few launches do that for all of them; the bytes that move are the same.
 */
#include <string.h>

#include "diagnose/evidence/cpu_rows.h"
#include "diagnose/rule.h"

/* A list takes a few launches; fifty of 10 us cost the host half a millisecond. */
#define NORMS_MIN 50

/* A kernel that moves hardly anything takes 1.5 to 2 us. One for a list pays that once. */
#define KERNEL_NS 2000

enum clip_use { CLIP_OTHER = 0, CLIP_NORM, CLIP_PRODUCT };

struct clipping {
	struct ss_rule_context *context;
	const struct ss_ops *ops;
	uint8_t *uses;               /* per name: enum clip_use */
	struct ss_interval *between; /* per step: from backward to the optimizer */
	uint8_t *calls;              /* per host row: a call that launches for one gradient */
	int64_t count, norms, device_ns, host_ns;
	uint32_t row; /* of the first norm */
};

static enum clip_use clip_use_of_name(const char *name)
{
	static const char *const norms[] = { "aten::linalg_vector_norm", "aten::norm",
					     "aten::linalg_norm", "aten::frobenius_norm" };

	for (size_t i = 0; i < SS_COUNT(norms); i++)
		if (strcmp(name, norms[i]) == 0)
			return CLIP_NORM;
	return strcmp(name, "aten::mul_") == 0 ? CLIP_PRODUCT : CLIP_OTHER;
}

/* False: no norms. */
static bool clip_read_names(struct clipping *clipping)
{
	const struct ss_strings *names = &clipping->context->trace->names;
	bool any = false;

	for (uint32_t i = 0; i < names->count; i++) {
		clipping->uses[i] = (uint8_t)clip_use_of_name(ss_strings_text(names, i));
		any |= clipping->uses[i] == CLIP_NORM;
	}
	return any;
}

/* From the last task of backward to the first of the optimizer. */
static void clip_find_between(struct clipping *clipping)
{
	const struct ss_graph *graph = clipping->context->graph;

	for (uint32_t i = 0; i < graph->step_count; i++)
		clipping->between[i] = (struct ss_interval){ INT64_MAX, INT64_MAX };
	for (uint32_t i = 0; i < graph->task_count; i++) {
		const struct ss_task *task = &graph->tasks[i];

		if (ss_task_on_device(task->kind))
			break;
		if (task->step != SS_NO_STEP && task->phase == SS_PHASE_OPTIMIZER &&
		    task->start_ns < clipping->between[task->step].end_ns)
			clipping->between[task->step].end_ns = task->start_ns;
	}
	for (uint32_t i = 0; i < graph->task_count; i++) {
		const struct ss_task *task = &graph->tasks[i];
		struct ss_interval *between;

		if (ss_task_on_device(task->kind))
			break;
		if (task->step == SS_NO_STEP || task->phase != SS_PHASE_BACKWARD)
			continue;
		between = &clipping->between[task->step];
		if (between->end_ns < INT64_MAX && task->start_ns < between->end_ns &&
		    (between->start_ns == INT64_MAX || between->start_ns < ss_task_end(task)))
			between->start_ns = ss_task_end(task);
	}
}

static bool clip_is_between(const struct clipping *clipping, const struct ss_task *task,
			    int64_t moment_ns)
{
	return task->step != SS_NO_STEP && moment_ns >= clipping->between[task->step].start_ns &&
	       moment_ns < clipping->between[task->step].end_ns;
}

/* What a kernel does for clipping; *op: the outermost operator around its launch. */
static enum clip_use clip_use_of_kernel(const struct clipping *clipping, uint32_t number,
					uint32_t *op)
{
	const struct ss_task *task = &clipping->context->graph->tasks[number];
	const struct ss_slices *slices = &clipping->context->trace->slices;
	uint32_t launch = slices->link[task->row];

	if (task->kind != SS_TASK_KERNEL || launch >= clipping->context->trace->device_from ||
	    !clip_is_between(clipping, task, slices->start_ns[launch]))
		return CLIP_OTHER;
	*op = SS_NO_ROW;
	for (uint32_t at = clipping->ops->owner[launch]; at != SS_NO_ROW;
	     at = clipping->ops->owner[at])
		*op = at;
	return *op == SS_NO_ROW ? CLIP_OTHER : (enum clip_use)clipping->uses[slices->name[*op]];
}

static void clip_count_norms(struct clipping *clipping)
{
	struct ss_task_range kernels = clipping->context->graph->of_kind[SS_TASK_KERNEL];
	uint32_t op, last = SS_NO_ROW;

	for (uint32_t i = kernels.from; i < kernels.to; i++)
		if (clip_use_of_kernel(clipping, i, &op) == CLIP_NORM && op != last) {
			clipping->norms++;
			last = op;
			if (clipping->row == SS_NO_ROW)
				clipping->row = op;
		}
}

/* Each gradient is still read for its norm, and read and written for its product. */
static void clip_claim_kernels(struct clipping *clipping)
{
	const struct ss_trace *trace = clipping->context->trace;
	const struct ss_graph *graph = clipping->context->graph;
	struct ss_task_range kernels = graph->of_kind[SS_TASK_KERNEL];
	uint32_t before = SS_NO_TASK, op;

	for (uint32_t i = kernels.from; i < kernels.to; i++) {
		const struct ss_task *task = &graph->tasks[i];
		int64_t own_ns = task->own_ns > KERNEL_NS ? task->own_ns - KERNEL_NS : 0;

		if (clip_use_of_kernel(clipping, i, &op) == CLIP_OTHER ||
		    !ss_rule_claim(clipping->context,
				   (struct ss_claim){ .task = i,
						      .own_ns = own_ns,
						      .low_ns = task->own_ns,
						      .high_ns = own_ns,
						      .merges = before + 1 == i &&
								task[-1].step == task->step }))
			continue;
		clipping->calls[ss_cpu_outer_call(trace, trace->slices.link[task->row])] = true;
		clipping->count++;
		ss_ns_add(&clipping->device_ns, task->own_ns);
		before = i;
	}
}

static bool clip_is_own(const void *data, const struct ss_task *task)
{
	return clip_is_between(data, task, task->start_ns);
}

static void clip_report(struct clipping *clipping)
{
	struct ss_rule_context *context = clipping->context;
	struct ss_fact host = { clipping->host_ns, (double)clipping->count, clipping->row };
	struct ss_fact device = { clipping->device_ns, (double)clipping->count, SS_NO_ROW };

	ss_rule_add_evidence(
		context, host,
		"%s and others launch {count} kernel{?|s} per step between backward and the "
		"optimizer, one per gradient: {time} of host time",
		ss_strings_text(&context->trace->names,
				context->trace->slices.name[clipping->row]));
	ss_rule_add_evidence(context, device, "these kernels take {time} per step");
	ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM,
			       "the speed of kernels for lists is estimated");
}

static enum ss_status clipping_loop_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct clipping clipping = { .context = context, .row = SS_NO_ROW };

	if (!SS_ALLOC(context->scratch, clipping.uses, (size_t)context->trace->names.count + 1))
		return ss_fail_memory(err, "the norms of gradients");
	if (!clip_read_names(&clipping))
		return SS_OK;
	SS_TRY(ss_facts_ops(context->subject->facts, &clipping.ops, err));
	if (!SS_ALLOC(context->scratch, clipping.between, (size_t)context->graph->step_count + 1) ||
	    !SS_ALLOC(context->scratch, clipping.calls, (size_t)context->trace->device_from + 1))
		return ss_fail_memory(err, "the norms of gradients");
	clip_find_between(&clipping);
	clip_count_norms(&clipping);
	if (clipping.norms < (int64_t)NORMS_MIN * context->steps->count)
		return SS_OK;
	clip_claim_kernels(&clipping);
	clipping.host_ns = ss_cpu_claim_before(context, clipping.calls, clip_is_own, &clipping);
	if (clipping.count)
		clip_report(&clipping);
	return SS_OK;
}

const struct ss_rule ss_rule_clipping_loop = {
	.name = "clipping-loop",
	.title = "Gradients are clipped one tensor at a time",
	.summary = "Clipping launches a norm and a product for each gradient",
	.fix = "torch.nn.utils.clip_grad_norm_(params, max_norm, foreach=True)\n"
	       "# your own: torch._foreach_norm(grads), torch._foreach_mul_(grads, c)",
	.views = "phases operators",
	.warn_share = 0.05,
	.silent_share = 0.02,
	.why = "one argument fixes it; below 2 % steps differ by more",
	.facts = SS_FACT_OPS,
	.needs_device = true,
	.look = clipping_loop_look,
};
