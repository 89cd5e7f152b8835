/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confidence.c - lowers the confidence of findings whose files have problems.
 */
#include "diagnose/diagnose.h"

/* How sure a finding can be at most when the file of one of its ranks has this. */
static const struct {
	enum ss_doubt_kind kind;
	enum ss_confidence most;
	const char *reason;
} limits[] = {
	{ SS_DOUBT_NO_DEVICE, SS_CONFIDENCE_LOW, "the trace has no GPU events" },
	{ SS_DOUBT_NO_CALLS, SS_CONFIDENCE_MEDIUM, "the trace has no runtime calls" },
	{ SS_DOUBT_CUT, SS_CONFIDENCE_MEDIUM, "the trace file is truncated" },
	{ SS_DOUBT_DAMAGED, SS_CONFIDENCE_LOW, "the trace file is damaged" },
};

static void limit(struct ss_finding *finding, const struct ss_job_file *file)
{
	/* what is about memory needs neither calls nor what the GPU ran */
	bool is_timed = !finding->is_timeless;

	/* with one step there is no other that shows that it is whole */
	if (file->recording.is_cut && file->recording.is_one_step && is_timed &&
	    finding->confidence > SS_CONFIDENCE_LOW) {
		finding->confidence = SS_CONFIDENCE_LOW;
		finding->reason = "the file is truncated; no step is known to be complete";
	}
	for (size_t i = 0; i < SS_COUNT(limits); i++)
		if ((is_timed || limits[i].kind == SS_DOUBT_CUT ||
		     limits[i].kind == SS_DOUBT_DAMAGED) &&
		    ss_doubt_has(file, limits[i].kind) && finding->confidence > limits[i].most) {
			finding->confidence = limits[i].most;
			finding->reason = limits[i].reason;
		}
}

static void limit_finding(struct ss_diagnosis *diagnosis, const struct ss_job *job,
			  struct ss_finding *finding)
{
	if (finding->is_of_snapshots) {
		if (diagnosis->cut_snapshots && finding->confidence > SS_CONFIDENCE_MEDIUM) {
			finding->confidence = SS_CONFIDENCE_MEDIUM;
			finding->reason = "a memory snapshot is truncated";
		}
		return;
	}
	if (finding->rank != SS_NO_ROW)
		limit(finding, &job->files[diagnosis->files[finding->rank]]);
	for (uint32_t i = 0; i < finding->rank_count; i++)
		limit(finding, &job->files[diagnosis->files[finding->ranks[i]]]);
}

enum ss_status ss_diagnosis_doubt(struct ss_diagnosis *diagnosis, const struct ss_job *job,
				  const struct ss_diagnose_options *options, struct ss_error *err)
{
	uint32_t *digests = SS_ARENA_NEW(&diagnosis->arena, uint32_t,
					 (size_t)diagnosis->rank_count + 1);

	diagnosis->recorded_runs = job->runs;
	diagnosis->run_count = job->run_count;
	diagnosis->chosen_run = job->chosen_run;
	if (!digests || !ss_job_doubts(job, options->rank, &diagnosis->arena, &diagnosis->doubts))
		return ss_fail_memory(err, "what is wrong with the files");
	diagnosis->is_blind = ss_doubts_have(&diagnosis->doubts, SS_DOUBT_NO_DEVICE) ||
			      ss_doubts_have(&diagnosis->doubts, SS_DOUBT_NO_CALLS);
	for (uint32_t i = 0; i < diagnosis->found_count; i++) {
		limit_finding(diagnosis, job, diagnosis->found[i]);
		if (!ss_finding_ask(diagnosis, job, diagnosis->found[i]))
			return ss_fail_memory(err, "what to record");
	}
	for (uint32_t i = 0; i < diagnosis->rank_count; i++)
		digests[i] = job->files[diagnosis->files[i]].rank_index;
	ss_gpu_use_measure(&diagnosis->gpu, job, digests, diagnosis->rank_count);
	return ss_spread_measure(&diagnosis->spread, job, digests, diagnosis->rank_count, err);
}
