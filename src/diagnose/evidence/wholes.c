/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wholes.c - functions and ranges of the main thread that a fix removes as a whole.
 */
#include "diagnose/evidence/wholes.h"

#include "diagnose/evidence/host_rows.h"

bool ss_removed_ranges_init(struct ss_removed_ranges *wholes, struct ss_look *context,
			    struct ss_arena *scratch)
{
	*wholes = (struct ss_removed_ranges){ .context = context };
	wholes->is_gone = SS_ARENA_NEW(scratch, uint8_t, (size_t)context->trace->device_from + 1);
	return wholes->is_gone;
}

int64_t ss_removed_ranges_claim(struct ss_removed_ranges *wholes, uint32_t row, int64_t from_ns,
				int64_t to_ns)
{
	const struct ss_trace *trace = wholes->context->trace;
	struct ss_stretch stretch = { .track = trace->slices.track[row],
				      .from_ns = from_ns,
				      .to_ns = to_ns,
				      /* at worst it can only run half as often */
				      .low_keep_ns = (to_ns - from_ns) / 2 };
	int64_t gone_ns = ss_look_claim_time(wholes->context, stretch);
	uint32_t end;

	if (!gone_ns)
		return 0;
	end = ss_cpu_row_after(trace, stretch.track, to_ns);
	for (uint32_t i = ss_cpu_row_after(trace, stretch.track, from_ns); i < end; i++)
		wholes->is_gone[i] = true;
	wholes->any = true;
	return gone_ns;
}

void ss_removed_ranges_claim_device(struct ss_removed_ranges *wholes)
{
	const struct ss_graph *graph = wholes->context->graph;
	const struct ss_slices *slices = &wholes->context->trace->slices;
	uint32_t host_rows = wholes->context->trace->device_from;

	for (uint32_t i = 0; wholes->any && i < graph->task_count; i++) {
		const struct ss_task *task = &graph->tasks[i];

		if ((ss_task_on_device((enum ss_task_kind)task->kind) ||
		     task->kind == SS_TASK_TRANSFER) &&
		    task->row != SS_NO_ROW && slices->link[task->row] < host_rows &&
		    wholes->is_gone[slices->link[task->row]])
			ss_look_claim(wholes->context,
				      (struct ss_claim){ .task = i, .low_ns = task->own_ns });
	}
}
