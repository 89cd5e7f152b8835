/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join_snapshots.c - joins what rules find in the snapshots of a job with what they found in
 * traces.
 *
 * A finding of a snapshot joins the finding of the same rule in the trace of its rank: the cost
 * comes from the trace, line and fix from the snapshot. Without one, the findings of all
 * snapshots become one finding that claims no time. A snapshot of another run than the trace
 * stays separate.
 */
#include <stdio.h>
#include <string.h>

#include "diagnose/diagnose.h"
#include "diagnose/snapshot_findings.h"
#include "stepscope.h"

#define SENTENCE_MAX 600

struct snapshot_joining {
	struct ss_diagnosis *diagnosis;
	const struct ss_job *job;
	struct ss_judgement judgement;
	const struct ss_job_snapshot *snapshot;
	uint32_t number;  /* of the snapshot */
	uint32_t devices; /* of it, that were examined */
	uint32_t rank;    /* index in the diagnosis; SS_NO_ROW: none, or unknown */
};

/* Whether a snapshot is wanted: if one rank is chosen, only its own. */
static bool snapshot_is_chosen(const struct ss_job *job, const struct ss_job_snapshot *snapshot,
			       const struct ss_diagnose_options *options)
{
	if (options->rank == SS_EVERY_RANK)
		return true;
	return snapshot->file == SS_NO_ROW
		       ? snapshot->rank == options->rank
		       : job->files[snapshot->file].subject.rank == options->rank;
}

static uint32_t joining_rank(const struct snapshot_joining *joining)
{
	const struct ss_diagnosis *diagnosis = joining->diagnosis;

	for (uint32_t i = 0; i < diagnosis->rank_count; i++)
		if (diagnosis->files[i] == joining->snapshot->file)
			return i;
	return SS_NO_ROW;
}

/* Whether the rule found it in a trace of that rank, which can have several files. */
static bool joining_has_rank(const struct snapshot_joining *joining,
			     const struct ss_finding *finding)
{
	const int64_t *ranks = joining->diagnosis->ranks;

	for (uint32_t i = 0; joining->rank != SS_NO_ROW && i < finding->rank_count; i++)
		if (ranks[finding->ranks[i]] == ranks[joining->rank])
			return true;
	return false;
}

/* The finding that this one belongs to, or NULL. */
static struct ss_finding *joining_find_finding(const struct snapshot_joining *joining,
					       const struct ss_rule *rule)
{
	struct ss_finding *of_snapshots = NULL;
	bool is_other = joining->snapshot->is_other_run;

	for (uint32_t i = 0; i < joining->diagnosis->found_count; i++) {
		struct ss_finding *finding = joining->diagnosis->found[i];

		if (finding->rule != rule || finding->is_other_run != is_other)
			continue;
		if (finding->is_of_snapshots)
			of_snapshots = finding;
		else if (!is_other && joining_has_rank(joining, finding))
			return finding;
	}
	return of_snapshots;
}

/* --- evidence ------------------------------------------------------------------------ */

static const char *path_file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "rank1.pickle, GPU 3: "; leaves out what the job has only one of. */
static void joining_format_source(const struct snapshot_joining *joining,
				  const struct ss_rule_memory_finding *found, char *out,
				  size_t capacity)
{
	bool files = joining->job->snapshot_count > 1, devices = joining->devices > 1;
	char device[32] = "";

	if (devices)
		snprintf(device, sizeof(device), "%sGPU %d", files ? ", " : "",
			 (int)found->device_number);
	out[0] = '\0';
	if (files || devices)
		snprintf(out, capacity,
			 "%.200s%s: ", files ? path_file_name(joining->snapshot->path) : "",
			 device);
}

static bool joining_add_evidence(struct snapshot_joining *joining, struct ss_finding *finding,
				 const struct ss_rule_memory_finding *found, const char *text,
				 const char *line)
{
	struct ss_diagnosis *diagnosis = joining->diagnosis;
	struct ss_evidence evidence = { .line = line,
					.snapshot = joining->number + 1,
					.device = found->device_number };
	char sentence[SENTENCE_MAX], marked[256];

	joining_format_source(joining, found, marked, sizeof(marked));
	snprintf(sentence, sizeof(sentence), "%s%s", marked, text);
	evidence.text = ss_arena_copy(&diagnosis->arena, sentence, strlen(sentence));
	return evidence.text && ss_finding_add_evidence(diagnosis, finding, &evidence);
}

static bool joining_add_facts(struct snapshot_joining *joining, struct ss_finding *finding,
			      const struct ss_rule_memory_finding *found)
{
	if (joining->snapshot->is_other_run &&
	    !joining_add_evidence(joining, finding, found,
				  "the snapshot and the trace were recorded more than a day apart: "
				  "we treat them as two runs",
				  NULL))
		return false;
	for (uint32_t i = 0; i < found->fact_count; i++)
		if (!joining_add_evidence(joining, finding, found, found->facts[i].text,
					  found->facts[i].line))
			return false;
	return true;
}

/* --- joining ------------------------------------------------------------------------- */

static struct ss_finding *joining_begin_finding(struct snapshot_joining *joining,
						const struct ss_rule_memory_finding *found)
{
	struct ss_finding *finding;

	joining->judgement.rule = found->rule;
	finding = ss_judgement_add(&joining->judgement, SS_NO_ROW, NULL);
	if (!finding)
		return NULL;
	finding->is_timeless = finding->is_of_snapshots = true;
	finding->is_other_run = joining->snapshot->is_other_run;
	finding->confidence = found->confidence;
	finding->reason = found->reason;
	finding->to_record = "record a snapshot with a longer history: max_entries of "
			     "torch.cuda.memory._record_memory_history()";
	return finding;
}

/* Joins what a rule found in a snapshot with its finding in traces; false: no memory. */
static bool joining_join_finding(struct snapshot_joining *joining,
				 const struct ss_rule_memory_finding *found)
{
	struct ss_finding *finding = joining_find_finding(joining, found->rule);
	bool is_first;

	if (!finding)
		finding = joining_begin_finding(joining, found);
	if (!finding)
		return false;
	is_first = !finding->has_memory;
	finding->has_memory = true;
	if (joining->diagnosis->step_ns <= 0)
		finding->is_timeless = true;
	finding->memory_warns |= found->level == SS_RULE_MEMORY_WARNING;
	finding->is_warning |= finding->memory_warns;
	finding->comes_first |= found->comes_first;
	/* report the largest one; if two recordings agree, the higher confidence counts */
	if (is_first || found->bytes > finding->bytes) {
		finding->bytes = found->bytes;
		finding->fix = found->fix;
	}
	if (found->confidence > finding->confidence) {
		finding->confidence = found->confidence;
		finding->reason = found->reason;
	}
	if (joining->rank != SS_NO_ROW && !finding->is_other_run &&
	    !joining_has_rank(joining, finding))
		ss_finding_add_rank(finding, joining->rank);
	return joining_add_facts(joining, finding, found);
}

/* Joins all findings of one snapshot, which may have been made when it was loaded. */
static enum ss_status joining_join_snapshot(struct snapshot_joining *joining, struct ss_error *err)
{
	struct ss_diagnosis *diagnosis = joining->diagnosis;
	const struct ss_opened *opened = joining->snapshot->opened;
	struct ss_rule_memory_findings findings;

	if (opened)
		SS_TRY(ss_rule_memory_findings_make(&findings, &opened->subject, &diagnosis->arena,
						    err));
	else
		findings =
			((const struct ss_snapshot_summary *)joining->snapshot->summary)->findings;
	joining->devices = findings.device_count;
	joining->rank = joining_rank(joining);
	diagnosis->snapshot_count++;
	diagnosis->cut_snapshots += joining->snapshot->is_cut;
	diagnosis->bytes += joining->snapshot->file_bytes;
	diagnosis->memory_devices += findings.device_count;
	for (uint32_t i = 0; i < findings.count; i++) {
		/* a note is no finding: nothing is wrong */
		if (findings.items[i].level == SS_RULE_MEMORY_NOTE)
			continue;
		if (!joining_join_finding(joining, &findings.items[i]))
			return ss_fail_memory(err, "the findings");
	}
	return SS_OK;
}

enum ss_status ss_diagnosis_join_snapshots(struct ss_diagnosis *diagnosis, const struct ss_job *job,
					   const struct ss_diagnose_options *options,
					   struct ss_error *err)
{
	struct snapshot_joining joining = { .diagnosis = diagnosis,
					    .job = job,
					    .judgement = { .rank_count = diagnosis->rank_count,
							   .diagnosis = diagnosis } };

	for (uint32_t i = 0; i < job->snapshot_count; i++) {
		joining.snapshot = &job->snapshots[i];
		joining.number = i;
		if (snapshot_is_chosen(job, joining.snapshot, options))
			SS_TRY(joining_join_snapshot(&joining, err));
	}
	return SS_OK;
}
