/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account.c - the lines of the verdict on where the time of the step goes.
 */
#include "render/verdict/diagnosis.h"

struct account_part {
	const char *name;
	int64_t part_ns;
};

#define PARTS_MAX 7
#define STAGES 3 /* index of the part after communication */

/* Parts of the step with their shares; less than half a percent is left out. */
static void account_add_parts(const struct account_part *parts, int64_t step_ns, bool with_times,
			      struct ss_text *out)
{
	for (size_t i = 0; i <= PARTS_MAX; i++) {
		double percent = 100 * (double)parts[i].part_ns / (double)step_ns;

		if (percent < 0.5)
			continue;
		ss_text_addf(out, "%s%s ",
			     out->length ? " \xc2\xb7 " : "Breakdown: ", parts[i].name);
		if (with_times)
			ss_render_ns_in(parts[i].part_ns, ss_render_scale(step_ns), out);
		ss_text_addf(out, with_times ? " (%.0f %%)" : "%.0f %%", percent);
	}
	ss_text_add_string(out, "\n");
}

/*
 * Counts waiting for stages of a pipeline as communication, for a shorter line. False: nothing to
 * join.
 */
static bool account_join_stages(struct account_part *parts)
{
	if (!parts[STAGES].part_ns)
		return false;
	parts[STAGES - 1].part_ns += parts[STAGES].part_ns;
	parts[STAGES].part_ns = 0;
	return true;
}

/* Adds the smallest part but "fixable" to "other", the last. False: only the largest is left. */
static bool account_fold_smallest(struct account_part *parts)
{
	size_t least = PARTS_MAX, left = 0;

	for (size_t i = 1; i < PARTS_MAX; i++)
		if (parts[i].part_ns > 0) {
			left++;
			if (least == PARTS_MAX || parts[i].part_ns < parts[least].part_ns)
				least = i;
		}
	if (left < 2)
		return false;
	parts[PARTS_MAX].part_ns = ss_ns_sum(parts[PARTS_MAX].part_ns, parts[least].part_ns);
	parts[least].part_ns = 0;
	return true;
}

void ss_render_verdict_account(const struct ss_diagnosis *diagnosis, uint32_t width,
			       struct ss_text *out)
{
	const struct ss_account *account = &diagnosis->account;
	struct account_part parts[PARTS_MAX + 1] = {
		{ "fixable", account->warnings_ns + account->smaller_ns },
		{ "compute", account->compute_ns },
		{ "communication", account->communication_ns - account->stages_ns },
		{ "pipeline", account->stages_ns },
		{ "copies", account->copies_ns },
		{ "host", account->host_ns },
		{ "unexplained", account->unexplained_ns },
		{ "other", 0 },
	};
	bool with_times = true, fits = false;
	size_t room = width < 60 ? 60 : width; /* narrow lines wrap */

	while (account->step_ns > 0 && !fits) {
		struct ss_text line = { 0 };

		account_add_parts(parts, account->step_ns, with_times, &line);
		fits = !width || !line.length ||
		       ss_text_columns(line.data, line.length - 1) <= room ||
		       (!with_times && !account_join_stages(parts) &&
			!account_fold_smallest(parts));
		with_times = false;
		if (fits && line.data)
			ss_text_add(out, line.data, line.length);
		ss_text_end(&line, out);
	}
}

void ss_render_verdict_stages(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	const struct ss_account *account = &diagnosis->account;

	if (account->step_ns <= 0 ||
	    (double)account->stages_ns < SS_UNEXPLAINED_SHARE * (double)account->step_ns)
		return;
	ss_text_add_string(out, "Pipeline stages wait ");
	ss_render_ns_in(account->stages_ns, ss_render_scale(account->step_ns), out);
	ss_text_addf(out, " (%.0f %%) for each other: %u stages, %u micro-batch%s per step.\n",
		     100 * (double)account->stages_ns / (double)account->step_ns, account->stages,
		     account->micro, account->micro == 1 ? "" : "es");
}
