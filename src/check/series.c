/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.c - which of many earlier runs are the baseline: those like the run, at its level.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check/change_points.h"
#include "check/check.h"

#define NOTE_BYTES 256

/* A store has runs of many jobs: others do not count. */
static bool check_run_is_alike(const struct ss_check_run *run, const struct ss_check_run *after)
{
	bool same_device = !run->device || !after->device ||
			   strcmp(run->device, after->device) == 0;

	return run->ranks == after->ranks && same_device && run->steps.count >= SS_NOISE_STEPS_MIN;
}

static bool check_add_level_note(struct ss_check *check, const struct ss_change_point *point,
				 struct ss_arena *arena)
{
	char note[NOTE_BYTES];

	snprintf(note, sizeof(note),
		 "the median step changed by %+.1f %% at run %.60s; the %u earlier runs are left "
		 "out",
		 100 * (point->after - point->before) / point->before,
		 check->before[point->at].path, point->at);
	check->series_note = ss_arena_copy(arena, note, strlen(note));
	return check->series_note;
}

enum ss_status ss_check_choose_level(struct ss_check *check, struct ss_check_run *runs,
				     double threshold, struct ss_arena *arena, struct ss_error *err)
{
	struct ss_change_points found;
	uint32_t kept = 0, first;
	double *medians;

	for (uint32_t i = 0; i < check->before_count; i++)
		if (check_run_is_alike(&runs[i], &check->after))
			runs[kept++] = runs[i];
	check->before_count = kept ? kept : check->before_count;
	medians = SS_ARENA_NEW(arena, double, kept + 1);
	if (!medians)
		return ss_fail_memory(err, "the series");
	for (uint32_t i = 0; i < kept; i++) {
		double *steps = SS_ARENA_NEW(arena, double, runs[i].steps.count);

		if (!steps)
			return ss_fail_memory(err, "the series");
		memcpy(steps, runs[i].steps.steps, runs[i].steps.count * sizeof(*steps));
		medians[i] = ss_noise_median(steps, runs[i].steps.count);
	}
	if (!ss_change_points_find(&found, medians, kept, threshold, arena))
		return ss_fail_memory(err, "the series");
	if (!found.count)
		return SS_OK;
	first = found.items[found.count - 1].at;
	if (!check_add_level_note(check, &found.items[found.count - 1], arena))
		return ss_fail_memory(err, "the series");
	memmove(runs, runs + first, (kept - first) * sizeof(*runs));
	check->before_count = kept - first;
	return SS_OK;
}
