/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notes.c - notes before and beside the verdict: which run it describes, what the files
 * lack, and how much steps differ.
 */
#include "render/verdict/diagnosis.h"

void ss_diagnosis_notes(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	ss_job_add_runs(diagnosis->recorded_runs, diagnosis->run_count, diagnosis->chosen_run, out);
	for (uint32_t i = 0; i < diagnosis->doubts.count; i++)
		ss_text_addf(out, "Warning: %s\n", diagnosis->doubts.items[i].text);
}

void ss_diagnosis_spread(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	const struct ss_spread *spread = &diagnosis->spread;

	if (!spread->is_uneven)
		return;
	ss_text_add_string(out, " on average (median ");
	ss_render_ns(spread->median_ns, out);
	ss_text_add_string(out, ", from ");
	ss_render_ns(spread->min_ns, out);
	ss_text_add_string(out, " to ");
	ss_render_ns(spread->max_ns, out);
	ss_text_add_string(out, ")");
}

const char *ss_diagnosis_blind(const struct ss_diagnosis *diagnosis)
{
	if (ss_doubts_have(&diagnosis->doubts, SS_DOUBT_NO_DEVICE))
		return "Without GPU events the trace does not show what would make it faster.";
	if (ss_doubts_have(&diagnosis->doubts, SS_DOUBT_NO_CALLS))
		return "Without runtime calls, launches and host syncs cannot be judged; nothing "
		       "else was found that would make it faster.";
	return NULL;
}

static void verdict_add_outlier(const struct ss_outlier *outlier, struct ss_text *out)
{
	ss_text_addf(out, "step %u%s takes ", outlier->step,
		     outlier->is_first ? " (the first)" : "");
	ss_render_ns(outlier->step_ns, out);
	if (!outlier->cause)
		return;
	ss_text_addf(out, " (%s, +", outlier->cause);
	ss_render_ns(outlier->cause_ns, out);
	ss_text_add_string(out, ")");
}

void ss_diagnosis_outliers(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	const struct ss_spread *spread = &diagnosis->spread;
	uint32_t shown = spread->outlier_count < SS_OUTLIERS_SHOWN ? spread->outlier_count
								   : SS_OUTLIERS_SHOWN;

	if (!shown)
		return;
	ss_text_addf(out, "%u of %u steps take%s more than 20 %% longer than the median: ",
		     spread->outlier_count, spread->count, spread->outlier_count == 1 ? "s" : "");
	for (uint32_t i = 0; i < shown; i++) {
		ss_text_add_string(out, i ? "; " : "");
		verdict_add_outlier(&spread->outliers[i], out);
	}
	ss_text_addf(out, "%s.\n", spread->outlier_count > shown ? "; ..." : "");
}
