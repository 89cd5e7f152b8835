/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c - whether two runs can be compared, and what the comparison says.
 */
#include "check/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
