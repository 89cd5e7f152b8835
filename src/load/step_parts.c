/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_parts.c - adds up the steps of the ranks.
 */
#include "load/step_parts.h"
#include "base/sort.h"

#include <stdlib.h>

static const char *const names[SS_STEP_PARTS] = {
	[SS_STEP_COMPUTE] = "computing",
	[SS_STEP_COMM] = "exposed communication",
	[SS_STEP_COPY] = "exposed copies",
	[SS_STEP_REST] = "host work outside of operators",
	[SS_STEP_IDLE_BY(SS_IDLE_PROFILER)] = "the profiler's own work",
	[SS_STEP_IDLE_BY(SS_IDLE_INPUT)] = "waiting for input",
	[SS_STEP_IDLE_BY(SS_IDLE_ALLOCATOR)] = "memory allocation calls",
	[SS_STEP_IDLE_BY(SS_IDLE_COMPILE)] = "compiling",
	[SS_STEP_IDLE_BY(SS_IDLE_GC)] = "Python's garbage collector",
	[SS_STEP_IDLE_BY(SS_IDLE_SYNC)] = "idle after host syncs",
	[SS_STEP_IDLE_BY(SS_IDLE_LAUNCH)] = "idle while the host does other work",
	[SS_STEP_IDLE_BY(SS_IDLE_LATENCY)] = "launch latency",
	[SS_STEP_IDLE_BY(SS_IDLE_DEPENDENCY)] = "waiting for other GPUs",
	[SS_STEP_IDLE_BY(SS_IDLE_UNKNOWN)] = "idle without a recorded cause",
};

const char *ss_job_step_part_name(int part)
{
	return names[part];
}

SS_COMPARATOR(step_mean_compare_number, struct ss_step_mean, SS_ASCENDING(number))

static void step_mean_add_step(struct ss_step_mean *out, const struct ss_digest *digest,
			       uint32_t index)
{
	const struct ss_rank_step *step = &digest->steps[index];
	bool has_device = digest->device >= 0;
	int64_t dur_ns = ss_digest_step_ns(digest, index);
	int64_t rest_ns = step->end_ns - step->start_ns - step->compute_ns - step->exposed_comm_ns;

	out->ranks++;
	ss_ns_add(&out->dur_ns, dur_ns);
	ss_ns_add(&out->part_ns[SS_STEP_COMPUTE], step->compute_ns);
	ss_ns_add(&out->part_ns[SS_STEP_COMM], step->exposed_comm_ns);
	ss_ns_add(&out->part_ns[SS_STEP_COPY], step->exposed_copy_ns);
	if (!has_device)
		ss_ns_add(&out->part_ns[SS_STEP_REST], rest_ns > 0 ? rest_ns : 0);
	for (int cause = 0; has_device && cause < SS_IDLE_CAUSES; cause++)
		ss_ns_add(&out->part_ns[SS_STEP_IDLE + cause], step->idle_ns[cause]);
}

/* Steps with the same number are one step; its mean covers the ranks that have it. */
static void step_means_add_rank(struct ss_step_means *steps, const struct ss_digest *digest)
{
	for (uint32_t i = 0; i < digest->step_count; i++) {
		struct ss_step_mean key = { .number = digest->steps[i].number };
		struct ss_step_mean *found = steps->count ? bsearch(&key, steps->items,
								    steps->count, sizeof(key),
								    step_mean_compare_number)
							  : NULL;

		if (found)
			step_mean_add_step(found, digest, i);
	}
}

static void step_means_divide(struct ss_step_means *steps)
{
	for (uint32_t i = 0; i < steps->count; i++) {
		struct ss_step_mean *step = &steps->items[i];

		step->dur_ns /= step->ranks;
		for (int part = 0; part < SS_STEP_PARTS; part++)
			step->part_ns[part] /= step->ranks;
	}
}

bool ss_job_step_means_make(struct ss_step_means *out, const struct ss_job *job,
			    const uint32_t *ranks, uint32_t rank_count, struct ss_arena *arena)
{
	const struct ss_digest *first = rank_count ? &job->digests[ranks[0]] : NULL;

	*out = (struct ss_step_means){ .count = first ? first->step_count : 0 };
	if (!out->count)
		return true;
	if (!SS_ALLOC(arena, out->items, out->count))
		return false;
	for (uint32_t i = 0; i < out->count; i++)
		out->items[i].number = first->steps[i].number;
	for (uint32_t i = 0; i < rank_count; i++)
		step_means_add_rank(out, &job->digests[ranks[i]]);
	step_means_divide(out);
	return true;
}
