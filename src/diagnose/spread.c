/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spread.c - compares the steps of a job with each other.
 */
#include "diagnose/spread.h"

#include <stdlib.h>
#include <string.h>

#include "base/median.h"

/* Below this steps of healthy jobs differ, by noise alone. */
#define UNEVEN_SHARE 0.2

/* A spread of fewer steps is none. */
#define STEPS_MIN 3

enum part {
	PART_COMPUTE,
	PART_COMM,
	PART_COPY,
	PART_REST, /* of ranks without a device: outside of operators */
	PART_IDLE, /* the first cause of idle time; the others follow */
	PARTS = PART_IDLE + SS_IDLE_CAUSES,
};

static const char *const causes[PARTS] = {
	[PART_COMPUTE] = "computing",
	[PART_COMM] = "exposed communication",
	[PART_COPY] = "exposed copies",
	[PART_REST] = "host work outside of operators",
	[PART_IDLE + SS_IDLE_PROFILER] = "the profiler's own work",
	[PART_IDLE + SS_IDLE_INPUT] = "waiting for input",
	[PART_IDLE + SS_IDLE_ALLOCATOR] = "memory allocation calls",
	[PART_IDLE + SS_IDLE_COMPILE] = "compiling",
	[PART_IDLE + SS_IDLE_GC] = "Python's garbage collector",
	[PART_IDLE + SS_IDLE_SYNC] = "idle after host syncs",
	[PART_IDLE + SS_IDLE_LAUNCH] = "idle while the host does other work",
	[PART_IDLE + SS_IDLE_LATENCY] = "launch latency",
	[PART_IDLE + SS_IDLE_DEPENDENCY] = "waiting for other streams",
	[PART_IDLE + SS_IDLE_UNKNOWN] = "idle without a recorded cause",
};

struct step {
	uint32_t number, ranks;
	int64_t dur_ns;
	int64_t part_ns[PARTS]; /* sums over ranks until they are divided */
};

struct steps {
	struct step *items;
	uint32_t count;
	size_t room;
};

static int by_number(const void *a, const void *b)
{
	uint32_t x = ((const struct step *)a)->number, y = ((const struct step *)b)->number;

	return x < y ? -1 : x > y;
}

static void add_step(struct step *out, const struct ss_rank_step *step, bool has_device)
{
	int64_t dur_ns = step->end_ns - step->start_ns;
	int64_t rest_ns = dur_ns - step->compute_ns - step->exposed_comm_ns;

	out->ranks++;
	ss_ns_add(&out->dur_ns, dur_ns);
	ss_ns_add(&out->part_ns[PART_COMPUTE], step->compute_ns);
	ss_ns_add(&out->part_ns[PART_COMM], step->exposed_comm_ns);
	ss_ns_add(&out->part_ns[PART_COPY], step->exposed_copy_ns);
	if (!has_device)
		ss_ns_add(&out->part_ns[PART_REST], rest_ns > 0 ? rest_ns : 0);
	for (int cause = 0; has_device && cause < SS_IDLE_CAUSES; cause++)
		ss_ns_add(&out->part_ns[PART_IDLE + cause], step->idle_ns[cause]);
}

/* Steps with one number are one step; ranks that miss it do not count for it. */
static void add_rank(struct steps *steps, const struct ss_digest *digest)
{
	for (uint32_t i = 0; i < digest->step_count; i++) {
		struct step key = { .number = digest->steps[i].number };
		struct step *found = steps->count ? bsearch(&key, steps->items, steps->count,
							    sizeof(key), by_number)
						  : NULL;

		if (found)
			add_step(found, &digest->steps[i], digest->device >= 0);
	}
}

static void take_means(struct steps *steps)
{
	for (uint32_t i = 0; i < steps->count; i++) {
		struct step *step = &steps->items[i];

		step->dur_ns /= step->ranks;
		for (int part = 0; part < PARTS; part++)
			step->part_ns[part] /= step->ranks;
	}
}

/* `values` has room for one of each step. */
static int64_t median_part(const struct steps *steps, int part, int64_t *values)
{
	for (uint32_t i = 0; i < steps->count; i++)
		values[i] = part < 0 ? steps->items[i].dur_ns : steps->items[i].part_ns[part];
	return ss_median(values, steps->count);
}

/* Keeps the longest, the longest first. */
static void keep_outlier(struct ss_spread *out, const struct ss_outlier *outlier)
{
	uint32_t at = out->outlier_count < SS_OUTLIERS_SHOWN ? out->outlier_count
							     : SS_OUTLIERS_SHOWN;

	out->outlier_count++;
	while (at > 0 && out->outliers[at - 1].step_ns < outlier->step_ns) {
		if (at < SS_OUTLIERS_SHOWN)
			out->outliers[at] = out->outliers[at - 1];
		at--;
	}
	if (at < SS_OUTLIERS_SHOWN)
		out->outliers[at] = *outlier;
}

static void find_outliers(struct ss_spread *out, const struct steps *steps, const int64_t *medians)
{
	for (uint32_t i = 0; i < steps->count; i++) {
		const struct step *step = &steps->items[i];
		struct ss_outlier outlier = { .step = step->number,
					      .is_first = i == 0,
					      .step_ns = step->dur_ns,
					      .excess_ns = step->dur_ns - out->median_ns };

		if ((double)outlier.excess_ns <= UNEVEN_SHARE * (double)out->median_ns)
			continue;
		for (int part = 0; part < PARTS; part++)
			if (step->part_ns[part] - medians[part] > outlier.cause_ns) {
				outlier.cause_ns = step->part_ns[part] - medians[part];
				outlier.cause = causes[part];
			}
		keep_outlier(out, &outlier);
	}
}

static void measure(struct ss_spread *out, struct steps *steps, int64_t *values)
{
	int64_t medians[PARTS];
	uint32_t count = steps->count, tenth = count / 10;

	take_means(steps);
	out->median_ns = median_part(steps, -1, values);
	out->min_ns = ss_value_at(values, count, 0);
	out->max_ns = ss_value_at(values, count, count - 1);
	out->p10_ns = ss_value_at(values, count, tenth);
	out->p90_ns = ss_value_at(values, count, count - 1 - tenth);
	/* a single long step among many is no spread, but an outlier */
	out->is_uneven = (double)(out->max_ns - out->min_ns) >
			 UNEVEN_SHARE * (double)out->median_ns;
	for (int part = 0; part < PARTS; part++)
		medians[part] = median_part(steps, part, values);
	find_outliers(out, steps, medians);
}

enum ss_status ss_spread_measure(struct ss_spread *out, const struct ss_job *job,
				 const uint32_t *ranks, uint32_t rank_count, struct ss_error *err)
{
	const struct ss_digest *first = rank_count ? &job->digests[ranks[0]] : NULL;
	struct steps steps = { .count = first ? first->step_count : 0 };
	struct ss_arena scratch;
	int64_t *values;

	*out = (struct ss_spread){ .count = steps.count };
	if (steps.count < STEPS_MIN)
		return SS_OK;
	ss_arena_init(&scratch, job->memory);
	steps.items = SS_ARENA_NEW(&scratch, struct step, steps.count);
	values = SS_ARENA_NEW(&scratch, int64_t, steps.count);
	if (!steps.items || !values) {
		ss_arena_release(&scratch);
		return ss_fail_memory(err, "the spread of the steps");
	}
	for (uint32_t i = 0; i < steps.count; i++)
		steps.items[i].number = first->steps[i].number;
	for (uint32_t i = 0; i < rank_count; i++)
		add_rank(&steps, &job->digests[ranks[i]]);
	measure(out, &steps, values);
	ss_arena_release(&scratch);
	return SS_OK;
}
