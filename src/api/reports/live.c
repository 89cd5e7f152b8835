/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.c - report: a running job, from live numbers.
 */
#include <inttypes.h>

#include "api/reports/reports.h"
#include "base/system/clock.h"

static double live_ms(int64_t ns)
{
	return (double)ns / 1e6;
}

/* "Job 4711: 4 ranks, at step 5,432. A step takes 21 ms (the last 128)". */
static void live_add_state(const struct ss_live *live, struct ss_text *out)
{
	const struct ss_live_file *first = live->ranks[0].file;
	const struct ss_live_step *last = &live->steps[live->step_count - 1];
	uint32_t behind = 0, missing = 0, recent = first->row_count;
	char time[SS_CLOCK_SHOWN_BYTES];

	if (first->job[0])
		ss_text_addf(out, "Job %s: ", first->job);
	for (uint32_t i = 0; i < live->rank_count; i++)
		behind += live->ranks[i].behind > SS_LIVE_BLOCK;
	missing = first->ranks > live->rank_count ? (uint32_t)(first->ranks - live->rank_count) : 0;
	ss_text_addf(out, "%u rank%s %s step %u", live->rank_count,
		     live->rank_count == 1 ? "" : "s",
		     !live->has_ended        ? "at"
		     : live->rank_count == 1 ? "has ended with"
					     : "have ended with",
		     last->step);
	if (missing)
		ss_text_addf(out, ", %u more without a file here", missing);
	recent = recent < SS_LIVE_RECENT ? recent : SS_LIVE_RECENT;
	ss_text_addf(out, ". A step takes %.4g ms (median of the last %u on rank %" PRId64 ").\n",
		     live_ms(live->ranks[0].ns[SS_LIVE_STEP]), recent, first->rank);
	/* a job that was killed cannot say so: the reader sees how long it is silent */
	ss_clock_utc(last->end_us * 1000, SS_CLOCK_SHOWN, time, sizeof(time));
	if (!live->has_ended)
		ss_text_addf(out, "The last step ended at %s UTC.\n", time);
	if (behind && !live->has_ended)
		ss_text_addf(out, "%u rank%s more than %d steps behind: ended, or stuck.\n", behind,
			     behind == 1 ? " is" : "s are", SS_LIVE_BLOCK);
}

static void live_add_odd(const struct ss_live *live, enum ss_live_part part, struct ss_text *out)
{
	int64_t usual_ns = 0;
	uint32_t odd = ss_live_odd_rank(live, part, &usual_ns);

	if (odd != SS_NO_ROW)
		ss_text_addf(out,
			     "Rank %" PRId64
			     " spends %.4g ms of a step in %s, the others %.4g ms.\n",
			     live->ranks[odd].file->rank, live_ms(live->ranks[odd].ns[part]),
			     ss_live_part_words(part), live_ms(usual_ns));
}

static void live_headline(const struct ss_job *job, bool is_timed, struct ss_text *out)
{
	const struct ss_live *live = &job->live;

	(void)is_timed;
	if (!live->step_count) {
		ss_text_add_string(out, "There are no steps yet. In the training program: "
					"stepscope.torch.live(\"FOLDER\").\n");
		return;
	}
	live_add_state(live, out);
	for (uint32_t i = 0; i < live->change_count; i++) {
		ss_live_add_change(live, &live->changes[i], out);
		ss_text_add_string(out, "\n");
	}
	live_add_odd(live, SS_LIVE_DATA, out);
	live_add_odd(live, SS_LIVE_GC, out);
}

const struct ss_report ss_report_live = {
	.name = "live",
	.summary = "A running job: its steps, late ranks and changes",
	.views = { "live-changes", "live-ranks", "live-steps" },
	.headline = live_headline,
};
