/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grad_zeroed.c - rule: every step overwrites the gradients with zeros.
 *
 * optimizer.zero_grad(set_to_none=False), the default before PyTorch 2.0, writes zeros into every
 * gradient, and backward then adds to them. With None backward simply writes the gradients.
 */
#include <string.h>

#include "analyze/time/moment.h"
#include "diagnose/evidence/code_places.h"
#include "diagnose/evidence/cpu_rows.h"

/* What a loop over the parameters takes that only drops references. */
#define KEEP_NS 20000

struct zeroed_grads {
	struct ss_rule_context *context;
	uint8_t *inside; /* per host row: in a zero_grad that writes */
	struct ss_code_places *sites;
};

static bool name_writes_zeros(const char *name)
{
	return strcmp(name, "aten::zero_") == 0 || strcmp(name, "aten::_foreach_zero_") == 0;
}

static bool zero_grad_is_outermost(const struct ss_trace *trace, uint32_t row)
{
	uint32_t parent = trace->slices.parent[row];

	return (ss_slice_flags(trace, row) & SS_NAME_ZERO_GRAD) &&
	       (parent == SS_NO_ROW || !(ss_slice_flags(trace, parent) & SS_NAME_ZERO_GRAD));
}

/* Whether a row within the range writes zeros; returns the row after the range. */
static uint32_t zero_grad_scan_range(const struct zeroed_grads *zeros, uint32_t range, bool *writes)
{
	const struct ss_trace *trace = zeros->context->trace;
	const struct ss_slices *slices = &trace->slices;
	int64_t end_ns = ss_slice_end(slices, range);
	uint32_t row = range + 1;

	*writes = false;
	for (; row < trace->device_from && slices->track[row] == slices->track[range] &&
	       slices->start_ns[row] < end_ns;
	     row++)
		*writes = *writes ||
			  (slices->kind[row] == SS_KIND_OP &&
			   name_writes_zeros(ss_strings_text(&trace->names, slices->name[row])));
	return row;
}

/* Claims the ranges that write zeros within steps, and marks their rows. */
static void zero_grad_claim_host(struct zeroed_grads *zeros)
{
	const struct ss_trace *trace = zeros->context->trace;
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t row = 0; row < trace->device_from;) {
		uint32_t end;
		bool writes;

		if (!zero_grad_is_outermost(trace, row)) {
			row++;
			continue;
		}
		end = zero_grad_scan_range(zeros, row, &writes);
		if (writes && ss_step_at(trace, slices->start_ns[row]) != SS_NO_ROW) {
			memset(&zeros->inside[row], true, end - row);
			(void)!ss_rule_claim_time(zeros->context,
						  (struct ss_stretch){
							  .track = slices->track[row],
							  .from_ns = slices->start_ns[row],
							  .to_ns = ss_slice_end(slices, row),
							  .keep_ns = KEEP_NS });
			ss_code_places_add(zeros->sites, slices->name[row], row,
					   slices->dur_ns[row]);
		}
		row = end;
	}
}

static void zero_grad_claim_device(struct zeroed_grads *zeros)
{
	const struct ss_graph *graph = zeros->context->graph;
	struct ss_task_range tasks = ss_replay_device_tasks(graph);
	const struct ss_trace *trace = zeros->context->trace;

	for (uint32_t i = tasks.from; i < tasks.to; i++) {
		const struct ss_task *task = &graph->tasks[i];
		uint32_t call = ss_task_on_device((enum ss_task_kind)task->kind)
					? trace->slices.link[task->row]
					: SS_NO_ROW;

		if (call < trace->device_from && zeros->inside[call] && task->step != SS_NO_STEP)
			(void)!ss_rule_claim(zeros->context, (struct ss_claim){ .task = i });
	}
}

static enum ss_status grad_zeroed_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct zeroed_grads zeros = { .context = context };

	if (!ss_cpu_has_name(context->trace, SS_NAME_ZERO_GRAD))
		return SS_OK;
	SS_TRY(ss_code_places_make(&zeros.sites, context, err));
	if (!SS_ALLOC(context->scratch, zeros.inside, (size_t)context->trace->device_from + 1))
		return ss_fail_memory(err, "the gradients");
	zero_grad_claim_host(&zeros);
	if (zeros.sites->count)
		zero_grad_claim_device(&zeros);
	ss_code_places_report(zeros.sites, UINT32_MAX,
			      "%s writes zeros: {time} of host time per step");
	if (zeros.sites->count)
		ss_rule_set_confidence(context, SS_CONFIDENCE_HIGH, "the trace records the writes");
	return SS_OK;
}

const struct ss_rule ss_rule_grad_zeroed = {
	.name = "grad-zeroed",
	.title = "Every step overwrites the gradients with zeros",
	.summary = "zero_grad writes zeros instead of dropping the gradients",
	.fix = "optimizer.zero_grad(set_to_none=True)   # the default since PyTorch 2.0",
	.to_record = NULL,
	.views = "kernels operators",
	.warn_share = 0.05,
	.silent_share = 0.005,
	.why = "one argument fixes it, so 0.5 % is worth reporting; it is rarely what makes "
	       "a job slow",
	.look = grad_zeroed_look,
};
