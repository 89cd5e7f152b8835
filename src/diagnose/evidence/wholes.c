/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wholes.c - functions and ranges of the main thread that a fix removes as a whole.
 */
#include "diagnose/evidence/wholes.h"

#include "diagnose/evidence/host_rows.h"

bool ss_wholes_init(struct ss_wholes *wholes, struct ss_look *look, struct ss_arena *scratch)
{
	*wholes = (struct ss_wholes){ .look = look };
	wholes->is_gone = SS_ARENA_NEW(scratch, uint8_t, (size_t)look->trace->device_from + 1);
	return wholes->is_gone;
}

int64_t ss_wholes_claim(struct ss_wholes *wholes, uint32_t row, int64_t from_ns, int64_t to_ns)
{
	const struct ss_trace *trace = wholes->look->trace;
	struct ss_stretch stretch = { .track = trace->slices.track[row],
				      .from_ns = from_ns,
				      .to_ns = to_ns,
				      /* half as often, if that is all that can be done */
				      .low_keep_ns = (to_ns - from_ns) / 2 };
	int64_t gone_ns = ss_look_claim_time(wholes->look, stretch);
	uint32_t end;

	if (!gone_ns)
		return 0;
	end = ss_row_from(trace, stretch.track, to_ns);
	for (uint32_t i = ss_row_from(trace, stretch.track, from_ns); i < end; i++)
		wholes->is_gone[i] = true;
	wholes->any = true;
	return gone_ns;
}

void ss_wholes_claim_device(struct ss_wholes *wholes)
{
	const struct ss_graph *graph = wholes->look->graph;
	const struct ss_slices *slices = &wholes->look->trace->slices;
	uint32_t host_rows = wholes->look->trace->device_from;

	for (uint32_t i = 0; wholes->any && i < graph->task_count; i++) {
		const struct ss_task *task = &graph->tasks[i];

		if ((ss_task_on_device((enum ss_task_kind)task->kind) ||
		     task->kind == SS_TASK_TRANSFER) &&
		    task->row != SS_NO_ROW && slices->link[task->row] < host_rows &&
		    wholes->is_gone[slices->link[task->row]])
			ss_look_claim(wholes->look,
				      (struct ss_claim){ .task = i, .low_ns = task->own_ns });
	}
}
