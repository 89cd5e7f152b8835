/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hang_causes.c - view: why ranks wait for each other, the most certain cause first.
 */
#include "base/text.h"
#include "hang/views/rows.h"
#include "view/view.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "cause", SS_COLUMN_TEXT, "kind of the cause: did-not-come, other-size ...",
	  SS_COLUMN_FILLED },
	{ "ranks", SS_COLUMN_TEXT, "ranks that cause it; of a circle: those in it, in order", 0 },
	{ "operation", SS_COLUMN_TEXT, "collective that does not finish", 0 },
	{ "process_group", SS_COLUMN_TEXT, "process group of the collective", 0 },
	{ "sequence", SS_COLUMN_ID, "number of the collective in its group", 0 },
	{ "line", SS_COLUMN_TEXT, "line of the program that calls it; JSON dumps have none", 0 },
	{ "waiting", SS_COLUMN_COUNT, "ranks that wait in this collective", 0 },
	{ "waiting_ranks", SS_COLUMN_TEXT, "which ranks these are", SS_COLUMN_DETAIL },
	{ "since_ns", SS_COLUMN_NS, "when the first of them called it, since 1970",
	  SS_COLUMN_DETAIL },
	{ "sentence", SS_COLUMN_TEXT, "the cause in words", SS_COLUMN_DETAIL | SS_COLUMN_WRAP },
	{ "fix", SS_COLUMN_TEXT, "what to do", SS_COLUMN_DETAIL | SS_COLUMN_WRAP },
};

/* The call of the collective that came first; SS_NO_ROW: nobody's is recorded. */
static uint32_t cause_first_caller(const struct ss_hang *hang, const struct ss_hang_cause *cause,
				   uint32_t *entry)
{
	uint32_t first = SS_NO_ROW;

	for (uint32_t i = 0; i < cause->waiting_count; i++) {
		uint32_t rank = cause->waiting[i], at = hang->ranks[rank].pending;
		uint32_t member = cause->group == SS_NO_ROW
					  ? SS_NO_ROW
					  : ss_hang_find_member(hang, cause->group, rank);

		/* where nothing is pending: the last call, which ended with an error */
		if (member != SS_NO_ROW && hang->members[member].at != SS_NO_ROW)
			at = hang->members[member].at;
		if (at == SS_NO_ROW)
			continue;
		if (first != SS_NO_ROW && ss_hang_entry(hang, first, *entry)->created_ns <=
						  ss_hang_entry(hang, rank, at)->created_ns)
			continue;
		first = rank;
		*entry = at;
	}
	return first;
}

static void cause_add_row(const struct ss_hang *hang, const struct ss_hang_cause *cause,
			  struct ss_table *out)
{
	uint32_t entry = SS_NO_ROW, rank = cause_first_caller(hang, cause, &entry);
	SS_TEXT(text);

	out->rank = -1;
	ss_row_begin(out);
	ss_row_text(out, ss_hang_kind_name(cause->kind));
	ss_hang_row_ranks(hang, cause->ranks, cause->rank_count, out);
	ss_hang_row_call(hang, rank, entry, cause->group, out);
	ss_row_int(out, cause->waiting_count);
	ss_hang_row_ranks(hang, cause->waiting, cause->waiting_count, out);
	ss_hang_row_since(hang, rank, entry, out);
	ss_hang_add_title(hang, cause, &text);
	out->failed |= ss_text_failed(&text);
	ss_row_text(out, text.data);
	ss_row_text(out, ss_hang_fix(cause->kind));
	ss_row_end(out);
}

static enum ss_status hang_causes_run(const struct ss_hang *hang, uint32_t group,
				      struct ss_table *out, struct ss_error *err)
{
	(void)group;
	(void)err;
	for (uint32_t i = 0; i < hang->cause_count; i++)
		cause_add_row(hang, &hang->causes[i], out);
	ss_hang_table_notes(hang, out);
	return SS_OK;
}

const struct ss_view ss_view_hang_causes = {
	.name = "hang-causes",
	.summary = "Why ranks wait for each other, from flight recorder dumps",
	.empty = "No rank waits for another.",
	.columns = columns,
	.column_count = SS_COUNT(columns),
	.run_hang = hang_causes_run,
};
