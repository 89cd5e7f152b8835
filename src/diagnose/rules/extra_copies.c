/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extra_copies.c - rule: tensors are created on the CPU and then copied to the device.
 *
 * torch.zeros(n).to(device) creates the tensor twice and copies it; with device=device a short
 * kernel creates it where it is needed. The pattern is the one of PyTorch's own pattern matcher.
 */
#include <string.h>

#include "analyze/work/host_link.h"
#include "base/bitmap.h"
#include "diagnose/evidence/code_places.h"

/* What filling the tensor on the device takes, and a call that no longer waits. */
#define FILL_NS 3000
#define CALL_NS 10000

/* aten::to > aten::_to_copy > aten::copy_ */
#define OWNERS_MAX 4

struct extra_copies {
	struct ss_rule_context *context;
	const struct ss_ops *ops;
	struct ss_bitmap copying; /* the outermost operators of copies to the device */
	uint32_t *before;         /* for each of them: the operator before it on the same level */
	uint8_t *calls;           /* per host row: its copy is claimed */
	struct ss_host_link link;
	struct ss_code_places *sites;
};

static bool name_is_one_of(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static bool name_is_fill(const char *name)
{
	static const char *const names[] = {
		"aten::zeros", "aten::ones",   "aten::full", "aten::fill_", "aten::zero_",
		"aten::eye",   "aten::arange", "aten::rand", "aten::randn", "aten::randint",
	};

	return name_is_one_of(name, names, SS_COUNT(names));
}

static bool name_is_copy(const char *name)
{
	static const char *const names[] = { "aten::to", "aten::_to_copy", "aten::copy_" };

	return name_is_one_of(name, names, SS_COUNT(names));
}

/* The outermost operator of a copy around its call; SS_NO_ROW: none. */
static uint32_t extra_copy_operator(const struct extra_copies *extras, uint32_t call)
{
	const struct ss_trace *trace = extras->context->trace;
	uint32_t op = extras->ops->owner[call], outer = SS_NO_ROW;

	for (int i = 0; i < OWNERS_MAX && op != SS_NO_ROW; i++, op = extras->ops->owner[op]) {
		if (!name_is_copy(ss_strings_text(&trace->names, trace->slices.name[op])))
			break;
		outer = op;
	}
	return outer;
}

/* The operator whose copy to the device a task is; SS_NO_ROW: it is none. */
static uint32_t extra_copy_of_task(const struct extra_copies *extras, const struct ss_task *task)
{
	const struct ss_trace *trace = extras->context->trace;
	struct ss_copy_kind kind;
	uint32_t call;

	if (task->kind != SS_TASK_COPY || task->step == SS_NO_STEP)
		return SS_NO_ROW;
	call = trace->slices.link[task->row];
	kind = extras->link.kinds[trace->slices.name[task->row]];
	return call < trace->device_from && kind.memory != SS_COPY_NONE && kind.way == SS_COPY_IN
		       ? extra_copy_operator(extras, call)
		       : SS_NO_ROW;
}

/* Finds for each operator that copies the one before it within the same parent, on its thread. */
static bool extra_copies_find_neighbours(struct extra_copies *extras)
{
	const struct ss_graph *graph = extras->context->graph;
	const struct ss_trace *trace = extras->context->trace;
	struct ss_task_range copies = graph->of_kind[SS_TASK_COPY];
	uint32_t rows = trace->device_from, *last;

	if (!ss_bitmap_init(&extras->copying, rows, extras->context->memory))
		return false;
	for (uint32_t i = copies.from; i < copies.to; i++) {
		uint32_t op = extra_copy_of_task(extras, &graph->tasks[i]);

		if (op != SS_NO_ROW)
			ss_bitmap_add(&extras->copying, op);
	}
	ss_bitmap_finish(&extras->copying);
	if (!extras->copying.count)
		return true;
	if (!SS_ALLOC(extras->context->scratch, last, (size_t)rows + trace->track_count + 1) ||
	    !SS_ALLOC(extras->context->scratch, extras->before, (size_t)extras->copying.count) ||
	    !SS_ALLOC(extras->context->scratch, extras->calls, (size_t)rows + 1))
		return false;
	for (uint32_t row = 0; row < rows; row++) {
		uint32_t owner = extras->ops->owner[row];
		uint32_t *place =
			&last[owner == SS_NO_ROW ? rows + trace->slices.track[row] : owner];

		if (trace->slices.kind[row] != SS_KIND_OP)
			continue;
		if (ss_bitmap_has(&extras->copying, row))
			extras->before[ss_bitmap_find(&extras->copying, row)] = *place ? *place - 1
										       : SS_NO_ROW;
		*place = row + 1;
	}
	return true;
}

/* The operator that filled on the CPU what a task copies; SS_NO_ROW: none. */
static uint32_t extra_copy_filler(const struct extra_copies *extras, const struct ss_task *task)
{
	const struct ss_trace *trace = extras->context->trace;
	uint32_t op = extra_copy_of_task(extras, task), before;

	if (op == SS_NO_ROW)
		return SS_NO_ROW;
	before = extras->before[ss_bitmap_find(&extras->copying, op)];
	return before != SS_NO_ROW &&
			       name_is_fill(ss_strings_text(&trace->names,
							    trace->slices.name[before])) &&
			       !ss_ops_on_device(extras->ops, before)
		       ? before
		       : SS_NO_ROW;
}

/* Claims the copies of tensors that were filled on the CPU, and then their calls. */
static void extra_copies_claim(struct extra_copies *extras)
{
	const struct ss_graph *graph = extras->context->graph;
	struct ss_task_range copies = graph->of_kind[SS_TASK_COPY];
	const struct ss_trace *trace = extras->context->trace;

	for (uint32_t i = copies.from; i < copies.to; i++) {
		const struct ss_task *task = &graph->tasks[i];
		uint32_t filler = extra_copy_filler(extras, task);

		if (filler == SS_NO_ROW ||
		    !ss_rule_claim(extras->context, (struct ss_claim){ .task = i,
								       .own_ns = FILL_NS,
								       .low_ns = FILL_NS,
								       .high_ns = FILL_NS }))
			continue;
		extras->calls[trace->slices.link[task->row]] = true;
		ss_code_places_add(extras->sites, trace->slices.name[filler], filler, task->own_ns);
	}
	for (uint32_t i = 0; i < graph->task_count && extras->sites->count; i++) {
		const struct ss_task *task = &graph->tasks[i];

		if (task->row < trace->device_from && extras->calls[task->row])
			(void)!ss_rule_claim(extras->context,
					     (struct ss_claim){ .task = i,
								.own_ns = CALL_NS,
								.low_ns = CALL_NS,
								.high_ns = CALL_NS,
								.releases = task->kind ==
									    SS_TASK_WAIT });
	}
}

static enum ss_status extra_copies_find(struct extra_copies *extras, struct ss_error *err)
{
	struct ss_rule_context *context = extras->context;

	SS_TRY(ss_facts_ops(context->subject->facts, &extras->ops, err));
	SS_TRY(ss_code_places_make(&extras->sites, context, err));
	if (!ss_host_link_init(&extras->link, context->trace, context->digest->device,
			       context->scratch) ||
	    !extra_copies_find_neighbours(extras))
		return ss_fail_memory(err, "the copies");
	if (!extras->copying.count)
		return SS_OK;
	extra_copies_claim(extras);
	ss_code_places_report(
		extras->sites, UINT32_MAX,
		"%s on the CPU, then a copy to the GPU: {count} times per step, {time}");
	if (extras->sites->count)
		ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM,
				       "that both concern the same tensor is a guess");
	return SS_OK;
}

static enum ss_status extra_copies_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct extra_copies extras = { .context = context };
	enum ss_status status;

	if (!context->trace->device_kind_count[SS_KIND_MEMCPY])
		return SS_OK;
	status = extra_copies_find(&extras, err);
	ss_bitmap_release(&extras.copying);
	return status;
}

const struct ss_rule ss_rule_extra_copies = {
	.name = "extra-copies",
	.title = "Tensors are created on the CPU and then copied to the GPU",
	.summary = "torch.zeros(...).to(device) and similar code in the step",
	.fix = "x = torch.zeros(size, device=device)   # not zeros(size).to(device)",
	.to_record = "with_stack=True names the line",
	.views = "copies operators",
	.warn_share = 0.05,
	.silent_share = 0.005,
	.why = "one argument fixes it, so 0.5 % is worth reporting",
	.facts = SS_FACT_OPS,
	.look = extra_copies_look,
};
