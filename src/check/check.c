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

/* What would make an inconclusive comparison certain. False: no memory. */
static bool check_explain_noise(struct ss_check *check, struct ss_arena *arena)
{
	const struct ss_noise *noise = &check->noise;
	const char *plural = noise->runs == 1 ? "" : "s";

	if (fabs(noise->mean.change) <= noise->mean.steps_half)
		return check_give_reason(
			check, arena,
			"the steps of the baseline vary: ±%.1f %% hides a change "
			"of %.3g %%; record more steps, or give more baseline runs",
			100 * noise->mean.steps_half, 100 * noise->threshold);
	if (noise->runs_needed)
		return check_give_reason(check, arena,
					 "equal runs may differ by ±%.1f %%, as far as %" PRIu32
					 " baseline run%s show%s; with %" PRIu32
					 " that differ as much this change would be certain",
					 100 * noise->mean.half, noise->runs, plural,
					 *plural ? "" : "s", noise->runs_needed);
	return check_give_reason(check, arena,
				 "equal runs of this job differ by ±%.1f %%, and more baseline "
				 "runs hardly change that; repeat the run",
				 100 * noise->mean.half);
}

/* Compares the steps, and says why if that is inconclusive. False: no memory. */
static bool check_compare_steps(struct ss_check *check, double threshold, struct ss_arena *arena)
{
	struct ss_noise_run *before = SS_ARENA_NEW(arena, struct ss_noise_run, check->before_count);
	struct ss_noise *noise = &check->noise;

	if (!before)
		return false;
	for (uint32_t i = 0; i < check->before_count; i++)
		before[i] = check->before[i].steps;
	if (!ss_noise_judge(noise, before, check->before_count, &check->after.steps, threshold,
			    &check->history, arena->memory))
		return false;
	check->compared = noise->verdict;
	if (noise->steps_least < SS_NOISE_STEPS_MIN)
		return check_give_reason(check, arena,
					 "a run with %" PRIu32
					 " complete step%s shows no noise; record "
					 "at least %d steps",
					 noise->steps_least, noise->steps_least == 1 ? "" : "s",
					 SS_NOISE_STEPS_MIN);
	return noise->verdict != SS_VERDICT_INCONCLUSIVE || check_explain_noise(check, arena);
}

/*
 * Doubts a regression if only single steps are longer and no finding explains them: that can happen
 * in any run. False: no memory.
 */
static bool check_doubt_single_steps(struct ss_check *check, struct ss_arena *arena)
{
	struct ss_noise *noise = &check->noise;

	if (noise->by_steps != SS_VERDICT_REGRESSION || check->has_cause ||
	    noise->typical.change >= noise->threshold)
		return true;
	noise->by_steps = check->compared = SS_VERDICT_INCONCLUSIVE;
	return check_give_reason(
		check, arena,
		"single steps are longer, the typical step is not (%+.1f %%), and no "
		"finding explains them; record more steps",
		100 * noise->typical.change);
}

/* A finding that came or went: noise makes its cost some percent larger, not twice as large. */
#define FINDING_RATIO 2

/* Findings that explain less of a change leave open where the rest is from. */
#define EXPLAINED_SHARE 0.5

/* Of a change that a slower machine has a part in, what the program changed is this much. */
#define EXPLAINED_SHARE_MIN 0.25

/* What findings explain of the change, each at least the threshold of the step. */
static double check_sum_findings(const struct ss_check *check, const struct ss_check_change **most)
{
	const struct ss_noise_figure *step = &check->noise.mean;
	double sum = 0, sign = step->change > 0 ? 1 : -1;

	*most = NULL;
	for (uint32_t i = 0; i < check->finding_count; i++) {
		const struct ss_check_change *finding = &check->findings[i];
		double less = fmin(finding->before_ns, finding->after_ns);
		double more = fmax(finding->before_ns, finding->after_ns);

		if (finding->is_rest || finding->is_timeless || more < FINDING_RATIO * less ||
		    sign * (finding->after_ns - finding->before_ns) <
			    check->noise.threshold * step->before_ns)
			continue;
		sum += more - less;
		if (!*most)
			*most = finding;
	}
	return sum;
}

/*
 * Trusts findings where the noise leaves a change open: equal runs are some percent longer in all
 * that they do, but no cause comes or goes with that. False: no memory.
 */
static bool check_trust_findings(struct ss_check *check, struct ss_arena *arena)
{
	const struct ss_noise_figure *step = &check->noise.mean;
	double change_ns = fabs(step->after_ns - step->before_ns);
	const struct ss_check_change *most;
	double explained_ns = check_sum_findings(check, &most);

	if (explained_ns < EXPLAINED_SHARE * change_ns)
		return true;
	check->decided_by = "findings";
	return check_give_reason(
		check, arena,
		"the noise (±%.1f %%) alone leaves this open, but %s costs %s, and "
		"that is %.0f %% of the change",
		100 * step->half, most->name, most->after_ns > most->before_ns ? "more" : "less",
		100 * fmin(1, explained_ns / change_ns));
}

/* Likewise operators that are called more or less often. False: no memory. */
static bool check_trust_operators(struct ss_check *check, struct ss_arena *arena)
{
	const struct ss_noise_figure *step = &check->noise.mean;
	double change_ns = step->after_ns - step->before_ns, rest_ns;
	const char *what = check->after.on_device ? "kernels" : "operators";
	struct ss_check_operators found;

	if (!ss_check_measure_operators(&found, check, arena))
		return false;
	/* what all operators changed is not the program's to explain */
	rest_ns = change_ns - found.all_share * step->before_ns;
	if (!found.most || found.beyond_ns / change_ns < EXPLAINED_SHARE_MIN ||
	    found.beyond_ns / rest_ns < EXPLAINED_SHARE ||
	    fabs(found.beyond_ns) < check->noise.threshold * step->before_ns)
		return true;
	check->decided_by = "operators";
	return check_give_reason(
		check, arena,
		"the noise (±%.1f %%) alone leaves this open, but %s that are called "
		"more or less often explain %.0f %% of the change, most of all "
		"%.100s: %.0f -> %.0f calls, %.2f -> %.2f ms",
		100 * step->half, what, 100 * fmin(1, found.beyond_ns / change_ns), found.most,
		found.most_before.calls, found.most_after.calls, found.most_before.ns / 1e6,
		found.most_after.ns / 1e6);
}

/* Looks at what the runs consist of where the lengths of their steps decide nothing. */
static bool check_trust_contents(struct ss_check *check, struct ss_arena *arena)
{
	double change = check->noise.mean.change;

	if (check->compared != SS_VERDICT_INCONCLUSIVE || fabs(change) < check->noise.threshold)
		return true;
	if (!check_trust_findings(check, arena) ||
	    (!check->decided_by && !check_trust_operators(check, arena)))
		return false;
	if (check->decided_by)
		check->compared = change > 0 ? SS_VERDICT_REGRESSION : SS_VERDICT_IMPROVEMENT;
	return true;
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
	check->compared = SS_VERDICT_INCONCLUSIVE;
	if (is_fine && check->has_baseline && !check->reason)
		is_fine = check_compare_steps(check, threshold, arena);
	if (!is_fine)
		return ss_fail_memory(err, "the comparison");
	if (check->has_baseline && check->noise.mean.before_ns > 0) {
		SS_TRY(ss_check_find_changes(check, arena, err));
		if (!check_doubt_single_steps(check, arena) || !check_trust_contents(check, arena))
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
	uint32_t kept = 0, first = 0;
	struct ss_noise_run *steps;
	double *medians;

	for (uint32_t i = 0; i < check->before_count; i++)
		if (check_run_is_alike(&runs[i], &check->after))
			runs[kept++] = runs[i];
	check->before_count = kept ? kept : check->before_count;
	if (!SS_ALLOC(arena, medians, kept + 1) || !SS_ALLOC(arena, steps, kept + 1))
		return ss_fail_memory(err, "the series");
	for (uint32_t i = 0; i < kept; i++) {
		double *sorted = SS_ARENA_NEW(arena, double, runs[i].steps.count);

		if (!sorted)
			return ss_fail_memory(err, "the series");
		steps[i] = runs[i].steps;
		memcpy(sorted, steps[i].steps, steps[i].count * sizeof(*sorted));
		medians[i] = ss_median_double(sorted, steps[i].count);
	}
	if (!ss_change_points_find(&found, medians, kept, threshold, arena))
		return ss_fail_memory(err, "the series");
	if (!found.count)
		return SS_OK;
	for (uint32_t i = 0; i < found.count; first = found.items[i++].at)
		ss_noise_history_add(&check->history, &steps[first], found.items[i].at - first);
	if (!check_add_level_note(check, &found.items[found.count - 1], arena))
		return ss_fail_memory(err, "the series");
	memmove(runs, runs + first, (kept - first) * sizeof(*runs));
	check->before_count = kept - first;
	return SS_OK;
}
