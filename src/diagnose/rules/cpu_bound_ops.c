/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_bound_ops.c - rule: operators compute on the CPU while the device waits.
 *
 * In a job with a device most operators launch something and return. One that takes a
 * millisecond, launches nothing and waits for nothing computes by itself: its tensors are in host
 * memory.
 */
#include "analyze/host/op_category.h"
#include "analyze/time/moment.h"
#include "diagnose/evidence/code_places.h"

/* Operators that launch take 5 to 50 us of the host; a millisecond is computing. */
#define COMPUTES_NS 1000000

struct cpu_ops {
	struct ss_rule_context *context;
	const struct ss_trace *trace;
	const struct ss_ops *ops;
	uint8_t *is_busy;  /* per host row: it contains a call, a collective or a launch */
	uint8_t *computes; /* per name: whether it calculates, as far as known */
	uint8_t *has;      /* per step of the trace: it contains such operators */
	struct ss_code_places *sites;
	int64_t claimed_ns;
};

/* Marks operators that contain something other than computing, up to the outermost. */
static void cpu_ops_mark_busy(struct cpu_ops *computing)
{
	const struct ss_trace *trace = computing->trace;

	for (uint32_t row = 0; row < trace->device_from; row++) {
		uint32_t flags = ss_slice_flags(trace, row), at = row;

		if (!ss_kind_is_call(trace->slices.kind[row]) &&
		    !(flags & (SS_NAME_COMM_OP | SS_NAME_COMM_RANGE | SS_NAME_COMPILE |
			       SS_NAME_DATALOADER | SS_NAME_GC)))
			continue;
		/* everything around a marked row is marked already */
		while (at != SS_NO_ROW && !computing->is_busy[at]) {
			computing->is_busy[at] = true;
			at = computing->ops->owner[at];
		}
	}
}

/* What is known of a name; checked when first needed, since most rows fail before. */
enum { NAME_NEW, NAME_IDLE, NAME_COMPUTES };

/* Copies, views and allocations do not compute: they belong to the operator that uses them. */
static bool cpu_op_name_computes(const struct cpu_ops *computing, uint32_t name)
{
	uint8_t *known = &computing->computes[name];

	if (*known == NAME_NEW) {
		enum ss_op_category category = ss_op_category(
			ss_strings_text(&computing->trace->names, name));

		*known = category != SS_OP_COPY && category != SS_OP_MEMORY &&
					 category != SS_OP_COMMUNICATION && category != SS_OP_OTHER
				 ? NAME_COMPUTES
				 : NAME_IDLE;
	}
	return *known == NAME_COMPUTES;
}

static bool cpu_op_computes(const struct cpu_ops *computing, uint32_t row)
{
	const struct ss_graph *graph = computing->context->graph;
	uint32_t parent = computing->ops->owner[row];

	return ss_ops_counts(computing->ops, row) && !computing->is_busy[row] &&
	       !ss_ops_on_device(computing->ops, row) &&
	       computing->trace->slices.dur_ns[row] >= COMPUTES_NS &&
	       computing->trace->slices.track[row] == graph->main &&
	       (parent == SS_NO_ROW || computing->is_busy[parent] ||
		ss_ops_on_device(computing->ops, parent)) &&
	       cpu_op_name_computes(computing, computing->trace->slices.name[row]);
}

static void cpu_op_claim(struct cpu_ops *computing, uint32_t row)
{
	const struct ss_slices *slices = &computing->trace->slices;
	int64_t gone_ns = ss_rule_claim_time(
		computing->context,
		(struct ss_stretch){ .track = slices->track[row],
				     .from_ns = slices->start_ns[row],
				     .to_ns = ss_slice_end(slices, row),
				     .keep_ns = COMPUTES_NS / 20, /* it is launched instead */
				     .low_keep_ns = slices->dur_ns[row] / 2 });

	if (!gone_ns)
		return;
	computing->claimed_ns = ss_ns_sum(computing->claimed_ns, gone_ns);
	ss_code_places_add(computing->sites, slices->name[row], row, gone_ns);
}

/* Whether such operators run in half of the steps: a single time may be start-up. */
static bool cpu_ops_recur(struct cpu_ops *computing)
{
	const struct ss_trace *trace = computing->trace;
	uint32_t found = 0, steps = computing->context->steps->count;

	for (uint32_t row = 0; row < trace->device_from; row++) {
		uint32_t step;

		if (!cpu_op_computes(computing, row))
			continue;
		step = ss_step_at(trace, trace->slices.start_ns[row]);
		if (step == SS_NO_ROW || computing->has[step])
			continue;
		computing->has[step] = true;
		found++;
	}
	return found >= 2 && found >= steps / 2;
}

static enum ss_status cpu_bound_ops_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct cpu_ops computing = { .context = context, .trace = context->trace };
	const struct ss_trace *trace = context->trace;

	if (context->graph->main == SS_NO_ROW)
		return SS_OK;
	SS_TRY(ss_facts_ops(context->subject->facts, &computing.ops, err));
	SS_TRY(ss_code_places_make(&computing.sites, context, err));
	if (!SS_ALLOC(context->scratch, computing.is_busy, (size_t)trace->device_from + 1) ||
	    !SS_ALLOC(context->scratch, computing.computes, (size_t)trace->names.count + 1) ||
	    !SS_ALLOC(context->scratch, computing.has, (size_t)trace->steps.count + 1))
		return ss_fail_memory(err, "operators on the CPU");
	cpu_ops_mark_busy(&computing);
	if (!cpu_ops_recur(&computing))
		return SS_OK;
	for (uint32_t row = 0; row < trace->device_from; row++)
		if (cpu_op_computes(&computing, row))
			cpu_op_claim(&computing, row);
	ss_code_places_report(computing.sites, 4,
			      "%s computes on the CPU {count} times per step: {time}");
	if (computing.claimed_ns)
		ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM,
				       "the speed on the GPU is estimated");
	return SS_OK;
}

const struct ss_rule ss_rule_cpu_bound_ops = {
	.name = "cpu-bound-ops",
	.title = "Operators compute on the CPU while the GPU waits",
	.summary = "Long operators that launch nothing: their tensors are in host memory",
	.fix = "x = x.to(device, non_blocking=True)   # before the operator, not after\n"
	       "# tensors created in the step: torch.arange(n, device=device)",
	.to_record = "record_shapes=True shows sizes; with_stack=True names lines",
	.views = "operators gaps",
	.warn_share = 0.05,
	.silent_share = 0.02,
	.why = "moving work to the GPU changes the program, so it warns from 5 % on; below 2 % the "
	       "queue hides it in most jobs",
	.facts = SS_FACT_OPS,
	.needs_device = true,
	.look = cpu_bound_ops_look,
};
