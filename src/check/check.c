/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c - whether two runs can be compared, and what the comparison says.
 */
#include "check/check.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/change_points.h"

#define REASON_BYTES 512

/* Below this share of common modules it is another model: a change to a model keeps most of it. */
#define MODULES_SHARE_MIN 0.5

const char *ss_check_kind_name(enum ss_check_kind kind)
{
	static const char *const names[] = {
		[SS_CHECK_FINDING] = "finding",       [SS_CHECK_PART] = "part",
		[SS_CHECK_PHASE] = "phase",           [SS_CHECK_KERNEL] = "kernel",
		[SS_CHECK_COLLECTIVE] = "collective",
	};

	return names[kind];
}

/* The arguments are those of printf. */
static bool check_give_reason(struct ss_check *check, struct ss_arena *arena, const char *format,
			      ...) __attribute__((format(printf, 3, 4)));

static bool check_give_reason(struct ss_check *check, struct ss_arena *arena, const char *format,
			      ...)
{
	char text[REASON_BYTES];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	check->reason = ss_arena_copy(arena, text, strlen(text));
	check->compared = SS_VERDICT_INCONCLUSIVE;
	return check->reason;
}

/* The share of modules that both have, of those that one of them has. */
static double check_common_modules(const struct ss_check_items *a, const struct ss_check_items *b)
{
	uint32_t i = 0, k = 0, both = 0;

	while (i < a->count && k < b->count) {
		int order = strcmp(a->items[i].name, b->items[k].name);

		both += order == 0;
		i += order <= 0;
		k += order >= 0;
	}
	return a->count && b->count ? (double)both / (a->count + b->count - both) : 1;
}

/* Gives a reason if they are not the same job; false: no memory. */
static bool check_compare_jobs(struct ss_check *check, const struct ss_check_run *before,
			       struct ss_arena *arena)
{
	const struct ss_check_run *after = &check->after;

	if (before->ranks != after->ranks)
		return check_give_reason(check, arena,
					 "the run has %" PRIu32 " rank%s and the baseline %" PRIu32,
					 after->ranks, after->ranks == 1 ? "" : "s", before->ranks);
	if (before->device && after->device && strcmp(before->device, after->device) != 0)
		return check_give_reason(check, arena,
					 "the run used %.120s and the baseline %.120s",
					 after->device, before->device);
	if (before->on_device != after->on_device)
		return check_give_reason(check, arena, "only one of the two runs used a GPU");
	if (check_common_modules(&before->modules, &after->modules) < MODULES_SHARE_MIN)
		return check_give_reason(check, arena,
					 "the model is another one: fewer than half of the modules "
					 "are in both runs");
	return true;
}

static uint32_t check_least_steps(const struct ss_check *check)
{
	uint32_t least = check->after.steps.count;

	for (uint32_t i = 0; i < check->before_count; i++)
		if (check->before[i].steps.count < least)
			least = check->before[i].steps.count;
	return least;
}

/* Compares the steps, and says why if that is inconclusive. False: no memory. */
static bool check_compare_steps(struct ss_check *check, double threshold, struct ss_arena *arena)
{
	struct ss_noise_run *before = SS_ARENA_NEW(arena, struct ss_noise_run, check->before_count);
	struct ss_noise *noise = &check->noise;
	uint32_t least = check_least_steps(check);

	if (!before)
		return false;
	for (uint32_t i = 0; i < check->before_count; i++)
		before[i] = check->before[i].steps;
	if (!ss_noise_judge(noise, before, check->before_count, &check->after.steps, threshold,
			    arena->memory))
		return false;
	check->compared = noise->verdict;
	if (least < SS_NOISE_STEPS_MIN)
		return check_give_reason(check, arena,
					 "a run with %" PRIu32
					 " complete step%s shows no noise; record "
					 "at least %d steps",
					 least, least == 1 ? "" : "s", SS_NOISE_STEPS_MIN);
	if (noise->verdict == SS_VERDICT_INCONCLUSIVE)
		return check_give_reason(
			check, arena,
			"the noise of the baseline is ±%.1f %%: it hides a change of "
			"%.3g %%; record more steps, or give several baseline runs",
			100 * noise->mean.half, 100 * threshold);
	return true;
}

/*
 * Doubts a regression if only single steps are longer and no finding explains them: that can happen
 * in any run. False: no memory.
 */
static bool check_doubt_single_steps(struct ss_check *check, struct ss_arena *arena)
{
	const struct ss_noise *noise = &check->noise;

	if (check->compared != SS_VERDICT_REGRESSION || check->has_cause ||
	    noise->typical.change >= noise->threshold)
		return true;
	return check_give_reason(
		check, arena,
		"single steps are longer, the typical step is not (%+.1f %%), and no "
		"finding explains them; record more steps",
		100 * noise->typical.change);
}

enum ss_status ss_check_compare(struct ss_check *check, double threshold, struct ss_arena *arena,
				struct ss_error *err)
{
	bool is_fine = true;

	check->has_baseline = check->before_count;
	check->noise.threshold = threshold;
	for (uint32_t i = 0; i < check->before_count && is_fine && !check->reason; i++)
		is_fine = check_compare_jobs(check, &check->before[i], arena);
	check->is_other_job = check->reason;
	if (is_fine && check->has_baseline && !check->reason)
		is_fine = check_compare_steps(check, threshold, arena);
	if (!is_fine)
		return ss_fail_memory(err, "the comparison");
	if (check->has_baseline && check->noise.mean.before_ns > 0) {
		SS_TRY(ss_check_find_changes(check, arena, err));
		if (!check_doubt_single_steps(check, arena))
			return ss_fail_memory(err, "the comparison");
	}
	return SS_OK;
}

void ss_check_conclude(struct ss_check *check)
{
	check->verdict = check->has_baseline ? check->compared : SS_VERDICT_PASS;
	for (uint32_t i = 0; i < check->condition_count; i++) {
		const struct ss_condition *condition = &check->conditions[i];

		if (check->verdict == SS_VERDICT_REGRESSION || check->verdict == SS_VERDICT_FAIL)
			return;
		if (condition->is_met)
			check->verdict = SS_VERDICT_FAIL;
		else if (!condition->is_known)
			check->verdict = SS_VERDICT_INCONCLUSIVE;
	}
}

/* --- which of many earlier runs are the baseline: those like the run, at its level ------------ */

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
	if (!SS_ALLOC(arena, medians, kept + 1))
		return ss_fail_memory(err, "the series");
	for (uint32_t i = 0; i < kept; i++) {
		double *steps = SS_ARENA_NEW(arena, double, runs[i].steps.count);

		if (!steps)
			return ss_fail_memory(err, "the series");
		memcpy(steps, runs[i].steps.steps, runs[i].steps.count * sizeof(*steps));
		medians[i] = ss_median_double(steps, runs[i].steps.count);
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
