/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usual_kernels.c - how long each kernel takes on the median rank, and how often it is called.
 */
#include "base/sort.h"
#include "diagnose/stragglers/judge.h"

/* The job's number of the names of each rank's kernels; returns how many kernels all have. */
static bool number_names(struct ss_judge *judge, struct ss_strings *names, size_t *total)
{
	const struct ss_joined *joined = judge->joined;

	*total = 0;
	for (uint32_t r = 0; r < joined->rank_count; r++) {
		const struct ss_digest *rank = &joined->ranks[r];

		judge->kernel_names[r] = SS_ARENA_NEW(judge->arena, uint32_t,
						      (size_t)rank->kernel_count + 1);
		if (!judge->kernel_names[r])
			return false;
		for (uint32_t i = 0; i < rank->kernel_count; i++) {
			const struct ss_string *name = &rank->texts.items[rank->kernels[i].name];

			judge->kernel_names[r][i] = ss_strings_add(names, name->text, name->length);
			if (judge->kernel_names[r][i] == SS_NO_ID)
				return false;
		}
		*total += rank->kernel_count;
	}
	return true;
}

/* What the ranks with this kernel say; few of them do not say what is usual. */
static struct ss_judge_kernel usual_of(struct ss_judge *judge, int64_t *means, int64_t *calls,
				       uint32_t count)
{
	struct ss_judge_kernel usual = { 0 };

	if (count * 2 < judge->joined->rank_count || count < 2)
		return usual;
	usual.calls = (double)ss_judge_median(calls, count) / 1000;
	usual.mean_ns = (double)ss_judge_median(means, count);
	return usual;
}

static bool find_usual(struct ss_judge *judge, uint32_t name_count, size_t total)
{
	const struct ss_joined *joined = judge->joined;
	int64_t *means = SS_ARENA_NEW(judge->arena, int64_t, 2 * total + 1);
	uint32_t *classes = SS_ARENA_NEW(judge->arena, uint32_t, total + 1), count = 0;
	int64_t *calls = means + total, *values = judge->values;
	int64_t *call_values = judge->values + joined->rank_count + 1;
	struct ss_classes by_name;

	if (!means || !classes)
		return false;
	for (uint32_t r = 0; r < joined->rank_count; r++)
		for (uint32_t i = 0; i < joined->ranks[r].kernel_count; i++) {
			const struct ss_rank_kernel *kernel = &joined->ranks[r].kernels[i];

			if (!joined->ranks[r].step_count)
				continue;
			means[count] = kernel->total_ns / kernel->calls;
			calls[count] = kernel->calls * 1000 / joined->ranks[r].step_count;
			classes[count++] = judge->kernel_names[r][i];
		}
	if (!ss_classes_find(&by_name, classes, count, name_count, judge->arena))
		return false;
	for (uint32_t name = 0; name < name_count; name++) {
		uint32_t from = by_name.from[name], ranks = by_name.from[name + 1] - from;

		for (uint32_t i = 0; i < ranks; i++) {
			values[i] = means[by_name.items[from + i]];
			call_values[i] = calls[by_name.items[from + i]];
		}
		judge->kernels[name] = usual_of(judge, values, call_values, ranks);
	}
	return true;
}

bool ss_judge_find_kernels(struct ss_judge *judge)
{
	struct ss_strings names;
	size_t total;
	bool whole = ss_strings_init(&names, judge->joined->memory);

	judge->kernel_names = SS_ARENA_NEW(judge->arena, uint32_t *,
					   (size_t)judge->joined->rank_count + 1);
	whole = whole && judge->kernel_names && number_names(judge, &names, &total) &&
		total < UINT32_MAX;
	judge->kernels = whole ? SS_ARENA_NEW(judge->arena, struct ss_judge_kernel,
					      (size_t)names.count + 1)
			       : NULL;
	whole = judge->kernels && find_usual(judge, names.count, total);
	ss_strings_release(&names);
	return whole;
}
