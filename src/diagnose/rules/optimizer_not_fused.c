/* SPDX-License-Identifier: Apache-2.0 */
/*
 * optimizer_not_fused.c - rule: the optimizer updates one tensor at a time.
 *
 * Each tensor takes its own launches, about ten for Adam, and each of them reads and writes the
 * tensor again. foreach=True needs one launch for many tensors; fused=True touches each tensor
 * once. Optimizers that already do so (multi_tensor_apply) are left alone.
 *
 * Without a device each operator of each tensor costs its call and a pass over memory. fused=True
 * is one operator for all tensors. foreach=True only moves the loop over tensors into the operator:
 * it takes as long as the loop in Python.
 */
#include <string.h>

#include "analyze/host/op_category.h"
#include "analyze/kernel/category.h"
#include "analyze/time/moment.h"
#include "diagnose/evidence/cpu_rows.h"
#include "diagnose/rule.h"

/* --- with a device -------------------------------------------------------------------- */

/* foreach takes ten to thirty launches; a hundred of 10 us cost the host a millisecond. */
#define LAUNCHES_MIN 100

/*
 * Flat parameters (FSDP) are few and large: Adam takes twenty launches for two of them. Kernels of
 * 10 us and more are bound by memory, so the passes over memory are what costs; they must take a
 * fiftieth of the steps to be worth a change. Other optimizers with few launches (Shampoo) spend
 * their time elsewhere.
 */
#define LARGE_MIN 20
#define LARGE_NS 10000
#define LARGE_SHARE 50 /* a fiftieth of the steps */

/* A kernel that moves hardly anything takes 1.5 to 2 us. A fused launch pays that once. */
#define KERNEL_NS 2000

/*
 * Adam in single operators reads and writes about 21 times the size of its tensors, fused 7 times:
 * a third of the time, since memory bounds it. SGD with momentum: 8 and 4 times, half of the time.
 */
#define PASSES_SAVED 3
#define PASSES_SAVED_LOW 2

struct optimizer_kernels {
	struct ss_rule_context *context;
	const struct ss_trace *trace;
	const struct ss_kernel_name *names;
	uint8_t *loops; /* per host row: a call that launches for one tensor */
	int64_t count, device_ns, host_ns;
	uint32_t range; /* row of the first Optimizer.step# */
};

/* A kernel of the optimizer that works on one tensor. */
static bool optimizer_is_single(const struct optimizer_kernels *optimizer, uint32_t index)
{
	const struct ss_task *task = &optimizer->context->graph->tasks[index];
	const struct ss_slices *slices = &optimizer->trace->slices;
	enum ss_kernel_category category;

	if (task->kind != SS_TASK_KERNEL || task->phase != SS_PHASE_OPTIMIZER ||
	    task->step == SS_NO_STEP || slices->link[task->row] >= optimizer->trace->device_from ||
	    !ss_rule_can_claim(optimizer->context, index))
		return false;
	category = optimizer->names[slices->name[task->row]].category;
	return category == SS_KERNEL_ELEMENTWISE || category == SS_KERNEL_COPY;
}

static void optimizer_count_kernels(struct optimizer_kernels *optimizer)
{
	const struct ss_graph *graph = optimizer->context->graph;
	struct ss_task_range kernels = graph->of_kind[SS_TASK_KERNEL];

	for (uint32_t i = kernels.from; i < kernels.to; i++) {
		const struct ss_task *task = &graph->tasks[i];

		if (!optimizer_is_single(optimizer, i))
			continue;
		optimizer->count++;
		optimizer->device_ns = ss_ns_sum(optimizer->device_ns, task->own_ns);
	}
}

static bool optimizer_has_enough(const struct optimizer_kernels *optimizer)
{
	int64_t steps = optimizer->context->steps->count;

	return optimizer->count >= LAUNCHES_MIN * steps ||
	       (optimizer->count >= LARGE_MIN * steps &&
		optimizer->device_ns / LARGE_NS >= optimizer->count &&
		optimizer->device_ns >= optimizer->context->step_ns / LARGE_SHARE);
}

/* One kernel remains, which takes as long as the memory traffic of all of them when fused. */
static void optimizer_claim_kernels(struct optimizer_kernels *optimizer)
{
	const struct ss_graph *graph = optimizer->context->graph;
	struct ss_task_range kernels = graph->of_kind[SS_TASK_KERNEL];
	uint32_t before = SS_NO_TASK;

	for (uint32_t i = kernels.from; i < kernels.to; i++) {
		const struct ss_task *task = &graph->tasks[i];
		int64_t traffic_ns;

		if (!optimizer_is_single(optimizer, i))
			continue;
		traffic_ns = task->own_ns > KERNEL_NS ? task->own_ns : 0;
		ss_rule_claim(optimizer->context,
			      (struct ss_claim){ .task = i,
						 .own_ns = traffic_ns / PASSES_SAVED,
						 /* foreach: all passes, but few launches */
						 .low_ns = traffic_ns / PASSES_SAVED_LOW,
						 .high_ns = traffic_ns / PASSES_SAVED,
						 .merges = before + 1 == i &&
							   task[-1].step == task->step });
		optimizer->loops[ss_cpu_outer_call(optimizer->trace,
						   optimizer->trace->slices.link[task->row])] =
			true;
		before = i;
	}
}

static bool optimizer_is_own(const void *data, const struct ss_task *task)
{
	(void)data;
	return task->phase == SS_PHASE_OPTIMIZER && task->step != SS_NO_STEP;
}

static void optimizer_find_range(struct optimizer_kernels *optimizer)
{
	for (uint32_t row = 0; row < optimizer->trace->device_from; row++)
		if (ss_slice_flags(optimizer->trace, row) & SS_NAME_OPTIMIZER_STEP) {
			optimizer->range = row;
			return;
		}
}

/* The fix in the words of the optimizer in use: Optimizer.step#SGD.step. */
static const struct {
	const char *name, *fix;
} fixes[] = {
	{ "#AdamW.", "optimizer = torch.optim.AdamW(model.parameters(), lr=lr, fused=True)" },
	{ "#Adam.", "optimizer = torch.optim.Adam(model.parameters(), lr=lr, fused=True)" },
	{ "#SGD.", "optimizer = torch.optim.SGD(model.parameters(), lr=lr, fused=True)\n"
		   "# before torch 2.3: foreach=True" },
	{ "#Adagrad.", "optimizer = torch.optim.Adagrad(model.parameters(), lr=lr, foreach=True)" },
	{ "#RMSprop.", "optimizer = torch.optim.RMSprop(model.parameters(), lr=lr, foreach=True)" },
};

static void optimizer_choose_fix(struct ss_rule_context *context, uint32_t range)
{
	const char *name;

	if (range == SS_NO_ROW)
		return;
	name = ss_strings_text(&context->trace->names, context->trace->slices.name[range]);
	for (size_t i = 0; i < SS_COUNT(fixes); i++)
		if (strstr(name, fixes[i].name))
			ss_rule_set_fix(context, fixes[i].fix);
}

static void optimizer_report(struct optimizer_kernels *optimizer)
{
	struct ss_rule_context *context = optimizer->context;
	struct ss_fact host = { optimizer->host_ns, (double)optimizer->count, optimizer->range };
	struct ss_fact device = { optimizer->device_ns, (double)optimizer->count, SS_NO_ROW };

	ss_rule_add_evidence(
		context, host,
		"%s launches {count} kernel{?|s} per step, one per tensor: {time} "
		"of host time",
		optimizer->range == SS_NO_ROW
			? "the optimizer"
			: ss_strings_text(&context->trace->names,
					  context->trace->slices.name[optimizer->range]));
	ss_rule_add_evidence(context, device, "these kernels take {time} per step");
	optimizer_choose_fix(context, optimizer->range);
	ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM,
			       "the speed of the fused kernel is estimated");
}

static enum ss_status optimizer_find(struct optimizer_kernels *optimizer, struct ss_error *err)
{
	SS_TRY(ss_facts_kernel_names(optimizer->context->subject->facts, &optimizer->names, err));
	if (!SS_ALLOC(optimizer->context->scratch, optimizer->loops,
		      (size_t)optimizer->trace->device_from + 1))
		return ss_fail_memory(err, "the optimizer's launches");
	optimizer_count_kernels(optimizer);
	if (!optimizer_has_enough(optimizer))
		return SS_OK;
	optimizer_claim_kernels(optimizer);
	optimizer->host_ns = ss_cpu_claim_before(optimizer->context, optimizer->loops,
						 optimizer_is_own, NULL);
	optimizer_find_range(optimizer);
	optimizer_report(optimizer);
	return SS_OK;
}

/* --- without a device ----------------------------------------------------------------- */

/* Adam runs 10 to 14 operators per tensor: with fewer than ten tensors there is no loop to see. */
#define OPERATORS_MIN 100

/*
 * On the CPU PyTorch itself defaults to the loop, so every such job has it. A warning needs an
 * optimizer that takes a large part of the step, even on a busy host whose steps differ.
 */
#define WARN_SHARE_ON_CPU 0.2

/* Most jobs with Adam have less than this, and the profiler's own cost adds to it. */
#define SILENT_SHARE_ON_CPU 0.1

/*
 * Share of the loop's time that remains with fused=True, measured on one core with torch 2.14 and
 * 8 to 150 tensors of 0.2 to 5 million values: 0.15 to 0.30 for Adam and AdamW, 0.44 to 0.70 for
 * SGD with momentum. foreach=True takes 0.6 to 1.4 times as long: no fix. Adagrad was not measured
 * and has the figures of SGD; the other optimizers have no fused version.
 */
static const struct cpu_optimizer {
	const char *name, *fix;
	double left, left_most;
} optimizers[] = {
	{ "#AdamW.", "optimizer = torch.optim.AdamW(model.parameters(), lr=lr, fused=True)", 0.25,
	  0.4 },
	{ "#Adam.", "optimizer = torch.optim.Adam(model.parameters(), lr=lr, fused=True)", 0.25,
	  0.4 },
	{ "#SGD.", "optimizer = torch.optim.SGD(model.parameters(), lr=lr, fused=True)", 0.6, 0.8 },
	{ "#Adagrad.", "optimizer = torch.optim.Adagrad(model.parameters(), lr=lr, fused=True)",
	  0.6, 0.8 },
};

/*
 * What the profiler adds to an operator or a frame (a loop over 41 tensors with 1,271 operators
 * takes 2.1 ms without it, 3.7 ms with it). A run without the profiler does not save this part, but
 * its step is shorter, too: both are taken away, so that the share of the step is that of such a
 * run. They are taken from the fastest step, since a busy host makes all of it longer; at most
 * half.
 */
#define RECORDING_NS 1250.0

struct cpu_optimizer_ranges {
	struct ss_rule_context *context;
	const struct cpu_optimizer *optimizer;
	uint8_t *computes; /* per name: an elementwise operator */
	uint32_t first;    /* row of the first range */
	int64_t count;     /* of operators */
	int64_t ns;
	double recording; /* the profiler's share of it */
	double recording_of_step;
	bool is_fused; /* or it communicates with other ranks: more than a loop */
};

static const struct cpu_optimizer *cpu_optimizer_of_name(const char *name)
{
	for (size_t i = 0; i < SS_COUNT(optimizers); i++)
		if (strstr(name, optimizers[i].name))
			return &optimizers[i];
	return NULL;
}

static bool cpu_optimizer_is_range(const struct cpu_optimizer_ranges *ranges, uint32_t row)
{
	const struct ss_trace *trace = ranges->context->trace;

	return (ss_slice_flags(trace, row) & SS_NAME_OPTIMIZER_STEP) &&
	       trace->slices.track[row] == ranges->context->graph->main &&
	       ss_step_at(trace, trace->slices.start_ns[row]) != SS_NO_ROW;
}

static void cpu_optimizer_read_names(struct cpu_optimizer_ranges *ranges)
{
	const struct ss_strings *names = &ranges->context->trace->names;

	for (uint32_t i = 0; i < names->count; i++) {
		const char *name = ss_strings_text(names, i);

		ranges->computes[i] = strncmp(name, "aten::_f", 8) != 0 &&
				      ss_op_category(name) == SS_OP_ELEMENTWISE;
	}
}

/* The profiler's share of a stretch with this number of rows. */
static double cpu_optimizer_recording(uint32_t rows, int64_t ns)
{
	double part = RECORDING_NS * rows / ((double)ns + 1);

	return part < 0.5 ? part : 0.5;
}

/* The same of the fastest step. */
static double cpu_optimizer_recording_of_step(const struct ss_rule_context *context)
{
	double most = 0;

	for (uint32_t i = 0; i < context->steps->count; i++) {
		const struct ss_interval *step = &context->steps->items[i];
		uint32_t from = ss_cpu_row_after(context->trace, context->graph->main,
						 step->start_ns),
			 to = ss_cpu_row_after(context->trace, context->graph->main, step->end_ns);
		double part = cpu_optimizer_recording(to - from, step->end_ns - step->start_ns);

		most = part > most ? part : most;
	}
	return most;
}

/* Counts the operators of an optimizer step, and the profiler's share of its time. */
static void cpu_optimizer_read_range(struct cpu_optimizer_ranges *ranges, uint32_t range,
				     uint32_t end)
{
	const struct ss_trace *trace = ranges->context->trace;
	double part = cpu_optimizer_recording(end - range, trace->slices.dur_ns[range]);

	if (part > ranges->recording)
		ranges->recording = part;
	for (uint32_t row = range + 1; row < end; row++) {
		const char *name = ss_strings_text(&trace->names, trace->slices.name[row]);

		if (trace->slices.kind[row] != SS_KIND_OP)
			continue;
		ranges->count += ranges->computes[trace->slices.name[row]];
		ranges->is_fused |= strncmp(name, "aten::_fused_", 13) == 0 ||
				    (ss_slice_flags(trace, row) & SS_NAME_COMM_OP);
	}
	ranges->ns = ss_ns_sum(ranges->ns, trace->slices.dur_ns[range]);
}

/* Nested ranges count as one. */
static void cpu_optimizer_read_ranges(struct cpu_optimizer_ranges *ranges)
{
	const struct ss_trace *trace = ranges->context->trace;

	for (uint32_t row = 0; row < trace->device_from; row++) {
		uint32_t end;

		if (!cpu_optimizer_is_range(ranges, row))
			continue;
		end = ss_cpu_row_end(trace, row);
		if (ranges->first == SS_NO_ROW) {
			ranges->first = row;
			ranges->optimizer = cpu_optimizer_of_name(
				ss_strings_text(&trace->names, trace->slices.name[row]));
		}
		cpu_optimizer_read_range(ranges, row, end);
		row = end > row ? end - 1 : row;
	}
}

static int64_t cpu_optimizer_claim_range(struct cpu_optimizer_ranges *ranges, uint32_t row)
{
	const struct ss_slices *slices = &ranges->context->trace->slices;
	double ns = (double)slices->dur_ns[row];
	double loop_ns = ns * (1 - ranges->recording) / (1 - ranges->recording_of_step);
	struct ss_stretch stretch = { .track = slices->track[row],
				      .from_ns = slices->start_ns[row],
				      .to_ns = ss_slice_end(slices, row) };

	loop_ns = loop_ns < ns ? loop_ns : ns;
	stretch.keep_ns = (int64_t)(ns - loop_ns * (1 - ranges->optimizer->left));
	stretch.low_keep_ns = (int64_t)(ns - loop_ns * (1 - ranges->optimizer->left_most));
	return ss_rule_claim_time(ranges->context, stretch);
}

static int64_t cpu_optimizer_claim(struct cpu_optimizer_ranges *ranges)
{
	int64_t gone_ns = 0;

	for (uint32_t row = ranges->first; row < ranges->context->trace->device_from; row++) {
		uint32_t end;

		if (!cpu_optimizer_is_range(ranges, row))
			continue;
		gone_ns = ss_ns_sum(gone_ns, cpu_optimizer_claim_range(ranges, row));
		end = ss_cpu_row_end(ranges->context->trace, row);
		row = end > row ? end - 1 : row;
	}
	return gone_ns;
}

static void cpu_optimizer_report(struct cpu_optimizer_ranges *ranges)
{
	struct ss_rule_context *context = ranges->context;
	struct ss_fact all = { ranges->ns, (double)ranges->count, ranges->first };

	ss_rule_add_evidence(
		context, all,
		"%s runs {count} elementwise operator{?|s} per step, one per tensor: {time}",
		ss_strings_text(&context->trace->names,
				context->trace->slices.name[ranges->first]));
	ss_rule_set_fix(context, ranges->optimizer->fix);
	ss_rule_set_shares(context, WARN_SHARE_ON_CPU, SILENT_SHARE_ON_CPU);
	ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM,
			       "the fused speed was measured on other models");
}

static enum ss_status optimizer_find_on_cpu(struct ss_rule_context *context, struct ss_error *err)
{
	struct cpu_optimizer_ranges ranges = { .context = context, .first = SS_NO_ROW };

	if (context->graph->main == SS_NO_ROW)
		return SS_OK;
	if (!SS_ALLOC(context->scratch, ranges.computes, (size_t)context->trace->names.count + 1))
		return ss_fail_memory(err, "the optimizer's operators");
	cpu_optimizer_read_names(&ranges);
	cpu_optimizer_read_ranges(&ranges);
	ranges.recording_of_step = cpu_optimizer_recording_of_step(context);
	if (ranges.optimizer && !ranges.is_fused &&
	    ranges.count >= (int64_t)OPERATORS_MIN * context->steps->count &&
	    cpu_optimizer_claim(&ranges))
		cpu_optimizer_report(&ranges);
	return SS_OK;
}

/* --- the rule ------------------------------------------------------------------------- */

static enum ss_status optimizer_not_fused_look(struct ss_rule_context *context,
					       struct ss_error *err)
{
	struct optimizer_kernels optimizer = { .context = context,
					       .trace = context->trace,
					       .range = SS_NO_ROW };

	if (context->digest->device < 0)
		return optimizer_find_on_cpu(context, err);
	return optimizer_find(&optimizer, err);
}

const struct ss_rule ss_rule_optimizer_not_fused = {
	.name = "optimizer-not-fused",
	.title = "The optimizer updates one tensor at a time",
	.summary = "The optimizer launches small kernels for each tensor",
	.fix = "optimizer = torch.optim.AdamW(model.parameters(), lr=lr, fused=True)\n"
	       "# optimizers without a fused version: foreach=True",
	.to_record = NULL,
	.views = "phases operators",
	.warn_share = 0.02,
	.silent_share = 0.005,
	.why = "one argument fixes it, so 2 % is worth it; below 0.5 % steps differ by more",
	.look = optimizer_not_fused_look,
};
