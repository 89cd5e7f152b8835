/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quality.c - view: problems in the files, and data that was not recorded.
 */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "view/view.h"

/* Width of the quoted warning: two lines of a terminal. */
#define WARNING_COLUMNS 160

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "oddity", SS_COLUMN_TEXT, "name of the problem", SS_COLUMN_KEY | SS_COLUMN_FILLED },
	{ "severity", SS_COLUMN_TEXT,
	  "lost: events are missing; mended: a value was repaired; note: good to know; absent: "
	  "not recorded",
	  SS_COLUMN_KEY | SS_COLUMN_FILLED },
	SS_COLUMN_FILES,
	{ "count", SS_COLUMN_COUNT, "number of occurrences", SS_COLUMN_FILLED },
	{ "first_byte", SS_COLUMN_ID,
	  "byte offset of the first occurrence in the uncompressed file", SS_COLUMN_DETAIL },
	{ "time_ns", SS_COLUMN_NS, "time that is affected", SS_COLUMN_DETAIL },
	{ "share_percent", SS_COLUMN_PERCENT, "that time as a share of the trace's span",
	  SS_COLUMN_DETAIL },
	{ "meaning", SS_COLUMN_TEXT, "what it means and what to do",
	  SS_COLUMN_WRAP | SS_COLUMN_FILLED },
};

/* Adds to the sentence what this file shows: a share, an offset, the first warning. */
static const char *quality_meaning(const struct ss_trace *trace, enum ss_oddity odd,
				   struct ss_table *out)
{
	const struct ss_quality_row *row = &trace->quality.rows[odd];
	char meaning[512]; /* all are shorter than 400 */

	ss_recorder_text(trace->info.recorder, ss_oddity_info(odd)->meaning, meaning,
			 sizeof(meaning));
	if (row->amount_ns >= 0 && trace->span_ns > 0)
		return ss_table_print(out, "%.1f %% of the span of the trace: %s",
				      100.0 * (double)row->amount_ns / (double)trace->span_ns,
				      meaning);
	if (odd == SS_ODD_TRUNCATED)
		return ss_table_print(out, "cut at byte %lld: %s", (long long)row->first_byte,
				      meaning);
	if (odd == SS_ODD_WRITER_WARNING) {
		const char *first = ss_strings_text(&trace->texts, trace->info.first_warning);
		size_t shown = ss_text_prefix(first, strlen(first), WARNING_COLUMNS);

		return ss_table_print(out, "%s: \"%.*s\"", meaning, (int)shown, first);
	}
	return ss_table_print(out, "%s", meaning);
}

static enum ss_status quality_run(const struct ss_subject *subject, struct ss_table *out,
				  struct ss_error *err)
{
	const struct ss_trace *trace = subject->trace;

	(void)err;
	for (int odd = 0; odd < SS_ODD_COUNT; odd++) {
		const struct ss_quality_row *row = &trace->quality.rows[odd];
		const struct ss_oddity_info *info = ss_oddity_info((enum ss_oddity)odd);

		if (!row->count || (odd == SS_ODD_NO_RANK && subject->rank_by_name))
			continue;
		ss_row_begin(out);
		ss_row_text(out, info->id);
		ss_row_text(out, ss_severity_name(info->severity));
		ss_row_int(out, 1);
		ss_row_int(out, (int64_t)row->count);
		ss_row_int_known(out, row->first_byte);
		ss_row_int_known(out, row->amount_ns);
		ss_row_number(out,
			      row->amount_ns < 0 || trace->span_ns <= 0
				      ? NAN
				      : 100.0 * (double)row->amount_ns / (double)trace->span_ns);
		ss_row_text(out, quality_meaning(trace, (enum ss_oddity)odd, out));
		ss_row_end(out);
	}
	return SS_OK;
}

const struct ss_view ss_view_quality = {
	.name = "quality",
	.summary = "Problems in the files, and data that was not recorded",
	.empty = "No problems: all events were read, and everything that can be recorded is there.",
	SS_TABLE_COLUMNS(columns),
	.folds = true,
	.reads = SS_COLUMNS_NONE,
	.run = quality_run,
};
