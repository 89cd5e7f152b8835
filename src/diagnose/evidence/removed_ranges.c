/* SPDX-License-Identifier: Apache-2.0 */
/*
 * removed_ranges.c - functions and ranges of the main thread that a fix removes as a whole.
 */
#include "diagnose/evidence/removed_ranges.h"

#include "diagnose/evidence/cpu_rows.h"

bool ss_removed_ranges_init(struct ss_removed_ranges *ranges, struct ss_rule_context *context)
{
	*ranges = (struct ss_removed_ranges){ .context = context };
	return SS_ALLOC(context->scratch, ranges->is_gone, (size_t)context->trace->device_from + 1);
}

int64_t ss_removed_ranges_claim(struct ss_removed_ranges *ranges, uint32_t row, int64_t from_ns,
				int64_t to_ns)
{
	const struct ss_trace *trace = ranges->context->trace;
	struct ss_stretch stretch = { .track = trace->slices.track[row],
				      .from_ns = from_ns,
				      .to_ns = to_ns,
				      /* at worst it can only run half as often */
				      .low_keep_ns = (to_ns - from_ns) / 2 };
	int64_t gone_ns = ss_rule_claim_time(ranges->context, stretch);
	uint32_t end;

	if (!gone_ns)
		return 0;
	end = ss_cpu_row_after(trace, stretch.track, to_ns);
	for (uint32_t i = ss_cpu_row_after(trace, stretch.track, from_ns); i < end; i++)
		ranges->is_gone[i] = true;
	ranges->any = true;
	return gone_ns;
}

void ss_removed_ranges_claim_device(struct ss_removed_ranges *ranges)
{
	const struct ss_graph *graph = ranges->context->graph;
	const struct ss_slices *slices = &ranges->context->trace->slices;
	uint32_t host_rows = ranges->context->trace->device_from;

	for (uint32_t i = 0; ranges->any && i < graph->task_count; i++) {
		const struct ss_task *task = &graph->tasks[i];

		if ((ss_task_on_device((enum ss_task_kind)task->kind) ||
		     task->kind == SS_TASK_TRANSFER) &&
		    task->row != SS_NO_ROW && slices->link[task->row] < host_rows &&
		    ranges->is_gone[slices->link[task->row]])
			ss_rule_claim(ranges->context,
				      (struct ss_claim){ .task = i, .low_ns = task->own_ns });
	}
}

void ss_rule_release_joins(struct ss_rule_context *context, const uint8_t *gone)
{
	const struct ss_graph *graph = context->graph;
	struct ss_task_range joins = graph->of_kind[SS_TASK_JOIN];

	for (uint32_t i = joins.from; i < joins.to; i++) {
		const struct ss_task *task = &graph->tasks[i];
		bool any = false, all = true;

		if (task->kind != SS_TASK_JOIN)
			continue;
		for (uint32_t k = task->edges; k < task[1].edges; k++) {
			const struct ss_short_edge *edge = &graph->edges[k];

			if (edge->kind != SS_EDGE_HANDOVER)
				continue;
			any |= gone[edge->from];
			all &= gone[edge->from];
		}
		if (any && all)
			(void)!ss_rule_claim(context,
					     (struct ss_claim){ .task = i, .releases = true });
	}
}
