/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_changes.c - view: from which step on the steps of a running job take another time.
 */
#include "base/text.h"
#include "base/system/clock.h"
#include "live/live.h"
#include "view/view.h"

static const struct ss_column columns[] = {
	{ "rank", SS_COLUMN_ID,
	  "rank whose part changed most; empty if all did, or none explains it", 0 },
	{ "step", SS_COLUMN_ID, "first step of the new level, within 32 steps", SS_COLUMN_FILLED },
	{ "time", SS_COLUMN_TEXT, "when it ended, UTC", SS_COLUMN_FILLED },
	{ "before_ns", SS_COLUMN_NS, "median step before", SS_COLUMN_FILLED },
	{ "after_ns", SS_COLUMN_NS, "median step from there on", SS_COLUMN_FILLED },
	{ "change_percent", SS_COLUMN_PERCENT, "of the median before", SS_COLUMN_FILLED },
	{ "part", SS_COLUMN_TEXT,
	  "part of the step that explains at least half of it: waiting for data ...", 0 },
	{ "part_before_ns", SS_COLUMN_NS, "mean of the part before", 0 },
	{ "part_after_ns", SS_COLUMN_NS, "mean of the part from there on", 0 },
	{ "sentence", SS_COLUMN_TEXT, "the change in words", SS_COLUMN_DETAIL | SS_COLUMN_FILLED },
};

static enum ss_status live_changes_run(const struct ss_live *live, uint32_t group,
				       struct ss_table *out, struct ss_error *err)
{
	(void)group;
	(void)err;
	if (!live->is_compared)
		out->empty = ss_table_print(out, "Too few steps to tell: %u.", live->step_count);
	for (uint32_t i = 0; i < live->change_count; i++) {
		const struct ss_live_change *change = &live->changes[i];
		bool has_rank = change->has_part && !change->is_all;
		char time[SS_CLOCK_SHOWN_BYTES];
		SS_TEXT(sentence);

		ss_live_add_change(live, change, &sentence);
		out->failed |= ss_text_failed(&sentence);
		out->rank = has_rank ? live->ranks[change->rank].file->rank : -1;
		ss_row_begin(out);
		ss_row_int(out, change->number);
		ss_clock_utc(live->steps[change->step].end_us * 1000, SS_CLOCK_SHOWN, time,
			     sizeof(time));
		ss_row_text(out, time);
		ss_row_int(out, change->before_ns);
		ss_row_int(out, change->after_ns);
		ss_row_share(out, (double)(change->after_ns - change->before_ns),
			     (double)change->before_ns);
		ss_row_text(out, change->has_part ? ss_live_part_words(change->part) : NULL);
		ss_row_int_known(out, change->has_part ? change->part_before_ns : -1);
		ss_row_int_known(out, change->has_part ? change->part_after_ns : -1);
		ss_row_text(out, sentence.data);
		ss_row_end(out);
	}
	return SS_OK;
}

const struct ss_view ss_view_live_changes = {
	.name = "live-changes",
	.summary = "Where the step time changed for good, from live numbers",
	.empty = "The step time has not changed.",
	SS_TABLE_COLUMNS(columns),
	.run_live = live_changes_run,
};
