/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_ranks.c - view: where each rank of a running job is, and what its latest steps took.
 */
#include "live/live.h"
#include "view/view.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "host", SS_COLUMN_TEXT, "host that the rank runs on", SS_COLUMN_CONTEXT },
	{ "step", SS_COLUMN_ID, "its last step", SS_COLUMN_FILLED },
	{ "behind", SS_COLUMN_COUNT, "steps from there to the farthest rank", SS_COLUMN_FILLED },
	{ "silent_ns", SS_COLUMN_NS, "from its last row to the last row of all ranks",
	  SS_COLUMN_FILLED },
	{ "step_ns", SS_COLUMN_NS, "median of its last 128 steps", SS_COLUMN_FILLED },
	{ "data_ns", SS_COLUMN_NS, "of these, waiting for data: median", 0 },
	{ "gc_ns", SS_COLUMN_NS, "collecting garbage: mean, it is rare", 0 },
	{ "optimizer_ns", SS_COLUMN_NS, "optimizer.step() on the host: median", 0 },
	{ "gpu_ns", SS_COLUMN_NS, "from step to step on the GPU's clock: median", 0 },
	{ "steps", SS_COLUMN_COUNT, "steps in its file", SS_COLUMN_DETAIL },
	{ "job", SS_COLUMN_TEXT, "name of the job", SS_COLUMN_DETAIL },
	{ "begin_ns", SS_COLUMN_NS, "when its process began, since 1970", SS_COLUMN_DETAIL },
};

static enum ss_status live_ranks_run(const struct ss_live *live, uint32_t group,
				     struct ss_table *out, struct ss_error *err)
{
	(void)group;
	(void)err;
	for (uint32_t i = 0; i < live->rank_count; i++) {
		const struct ss_live_rank *rank = &live->ranks[i];
		const struct ss_live_file *file = rank->file;

		out->rank = file->rank;
		ss_row_begin(out);
		ss_row_text(out, file->host);
		ss_row_int(out, file->rows[file->row_count - 1].step);
		ss_row_int(out, rank->behind);
		ss_row_int(out, rank->silent_ns);
		for (int part = 0; part < SS_LIVE_PARTS; part++)
			ss_row_int_known(out, rank->ns[part]);
		ss_row_int(out, file->row_count);
		ss_row_text(out, file->job);
		ss_row_int(out, file->begin_ns);
		ss_row_end(out);
	}
	if (live->left_out)
		ss_table_note(out, "%u files of earlier processes, or without steps, are left out.",
			      live->left_out);
	return SS_OK;
}

const struct ss_view ss_view_live_ranks = {
	.name = "live-ranks",
	.summary = "Where each rank of a running job is, from live numbers",
	.empty = "The live numbers have no steps yet.",
	SS_TABLE_COLUMNS(columns),
	.run_live = live_ranks_run,
};
