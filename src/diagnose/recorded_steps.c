/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorded_steps.c - measures how busy the GPUs are in the recorded steps, and compares the steps.
 */
#include "diagnose/recorded_steps.h"

#include "base/median.h"
#include "load/step_parts.h"

/* --- GPU use -------------------------------------------------------------------------- */

struct gpu_use_sums {
	double step_ns, compute_ns, communication_ns, copies_ns;
	double idle_ns[SS_IDLE_CAUSES];
};

static void gpu_use_sum_steps(struct gpu_use_sums *sums, const struct ss_digest *digest)
{
	for (uint32_t i = 0; i < digest->step_count; i++) {
		const struct ss_rank_step *step = &digest->steps[i];

		sums->step_ns += (double)(step->end_ns - step->start_ns);
		sums->compute_ns += (double)step->compute_ns;
		sums->communication_ns += (double)step->exposed_comm_ns;
		sums->copies_ns += (double)step->exposed_copy_ns;
		for (int cause = 0; cause < SS_IDLE_CAUSES; cause++)
			sums->idle_ns[cause] += (double)step->idle_ns[cause];
	}
}

static void gpu_use_add_rank(struct ss_gpu_use *use, const struct gpu_use_sums *sums,
			     double *causes)
{
	double compute = sums->compute_ns / sums->step_ns;
	double communication = sums->communication_ns / sums->step_ns;
	double copies = sums->copies_ns / sums->step_ns;
	double busy = compute + communication + copies;

	use->compute += compute;
	use->exposed_communication += communication;
	use->exposed_copies += copies;
	if (!use->rank_count || busy < use->least)
		use->least = busy;
	if (busy > use->most)
		use->most = busy;
	use->rank_count++;
	for (int cause = 0; cause < SS_IDLE_CAUSES; cause++)
		causes[cause] += sums->idle_ns[cause] / sums->step_ns;
}

void ss_gpu_use_measure(struct ss_gpu_use *out, const struct ss_job *job, const uint32_t *ranks,
			uint32_t rank_count)
{
	double causes[SS_IDLE_CAUSES] = { 0 };

	*out = (struct ss_gpu_use){ .cause = SS_IDLE_UNKNOWN };
	for (uint32_t i = 0; i < rank_count; i++) {
		const struct ss_digest *digest = &job->digests[ranks[i]];
		struct gpu_use_sums sums = { 0 };

		gpu_use_sum_steps(&sums, digest);
		if (digest->device >= 0 && sums.step_ns > 0)
			gpu_use_add_rank(out, &sums, causes);
	}
	if (!out->rank_count)
		return;
	out->compute /= out->rank_count;
	out->exposed_communication /= out->rank_count;
	out->exposed_copies /= out->rank_count;
	out->busy = out->compute + out->exposed_communication + out->exposed_copies;
	for (int cause = 0; cause < SS_IDLE_CAUSES; cause++)
		if (causes[cause] > causes[out->cause])
			out->cause = (enum ss_idle_cause)cause;
	out->cause_share = causes[out->cause] / out->rank_count;
}

/* --- spread --------------------------------------------------------------------------- */

/* Steps of healthy jobs differ by less than this: noise. */
#define UNEVEN_SHARE 0.2

/* Fewer steps have no spread. */
#define STEPS_MIN 3

/* `values` holds one value per step. */
static int64_t step_median_part(const struct ss_step_means *steps, int part, int64_t *values)
{
	for (uint32_t i = 0; i < steps->count; i++)
		values[i] = part < 0 ? steps->items[i].dur_ns : steps->items[i].part_ns[part];
	return ss_median(values, steps->count);
}

/* Keeps the longest outliers, the longest first. */
static void spread_keep_outlier(struct ss_spread *out, const struct ss_outlier *outlier)
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

/* Finds steps that are clearly longer than the median, and the part that makes them so. */
static void spread_find_outliers(struct ss_spread *out, const struct ss_step_means *steps,
				 const int64_t *medians)
{
	for (uint32_t i = 0; i < steps->count; i++) {
		const struct ss_step_mean *step = &steps->items[i];
		struct ss_outlier outlier = { .step = step->number,
					      .is_first = i == 0,
					      .step_ns = step->dur_ns,
					      .excess_ns = step->dur_ns - out->median_ns };

		if ((double)outlier.excess_ns <= UNEVEN_SHARE * (double)out->median_ns)
			continue;
		for (int part = 0; part < SS_STEP_PARTS; part++)
			if (step->part_ns[part] - medians[part] > outlier.cause_ns) {
				outlier.cause_ns = step->part_ns[part] - medians[part];
				outlier.cause = ss_job_step_part_name(part);
			}
		spread_keep_outlier(out, &outlier);
	}
}

static void spread_measure_steps(struct ss_spread *out, struct ss_step_means *steps,
				 int64_t *values)
{
	int64_t medians[SS_STEP_PARTS];
	uint32_t count = steps->count, tenth = count / 10;

	out->median_ns = step_median_part(steps, -1, values);
	out->min_ns = ss_nth_smallest(values, count, 0);
	out->max_ns = ss_nth_smallest(values, count, count - 1);
	out->p10_ns = ss_nth_smallest(values, count, tenth);
	out->p90_ns = ss_nth_smallest(values, count, count - 1 - tenth);
	/* a single long step also makes the steps uneven; it is listed as an outlier */
	out->is_uneven = (double)(out->max_ns - out->min_ns) >
			 UNEVEN_SHARE * (double)out->median_ns;
	for (int part = 0; part < SS_STEP_PARTS; part++)
		medians[part] = step_median_part(steps, part, values);
	spread_find_outliers(out, steps, medians);
}

enum ss_status ss_spread_measure(struct ss_spread *out, const struct ss_job *job,
				 const uint32_t *ranks, uint32_t rank_count, struct ss_error *err)
{
	const struct ss_digest *first = rank_count ? &job->digests[ranks[0]] : NULL;
	struct ss_step_means steps;
	struct ss_arena scratch;
	int64_t *values;

	*out = (struct ss_spread){ .count = first ? first->step_count : 0 };
	if (out->count < STEPS_MIN)
		return SS_OK;
	ss_arena_init(&scratch, job->memory);
	if (!SS_ALLOC(&scratch, values, out->count) ||
	    !ss_job_step_means_make(&steps, job, ranks, rank_count, &scratch)) {
		ss_arena_release(&scratch);
		return ss_fail_memory(err, "the spread of the steps");
	}
	spread_measure_steps(out, &steps, values);
	ss_arena_release(&scratch);
	return SS_OK;
}
