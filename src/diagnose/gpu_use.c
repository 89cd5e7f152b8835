/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_use.c - measures how busy the GPUs are in the recorded steps.
 */
#include "diagnose/gpu_use.h"

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
