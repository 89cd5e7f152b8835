/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confidence.c - lowers the confidence of findings whose files have problems, and asks to record
 * only what they lack.
 */
#include "diagnose/diagnose.h"

#include <string.h>

#include "base/text.h"

/* The highest confidence of a finding if the file of one of its ranks has this problem. */
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

/* Lowers the confidence to what the problems of one file allow. */
static void finding_limit_by_file(struct ss_finding *finding, const struct ss_job_file *file)
{
	/* findings about memory need neither calls nor GPU events */
	bool is_timed = !finding->is_timeless;

	/* with a single step nothing shows that it is complete */
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

static void finding_limit_confidence(struct ss_diagnosis *diagnosis, const struct ss_job *job,
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
		finding_limit_by_file(finding, &job->files[diagnosis->files[finding->rank]]);
	for (uint32_t i = 0; i < finding->rank_count; i++)
		finding_limit_by_file(finding, &job->files[diagnosis->files[finding->ranks[i]]]);
}

/* --- what to record ------------------------------------------------------------------ */

enum profiler_flag { FLAG_STACKS, FLAG_SHAPES, FLAG_MEMORY, FLAG_DEVICE, FLAGS };

static const char *const names[FLAGS] = {
	[FLAG_STACKS] = "with_stack=True",
	[FLAG_SHAPES] = "record_shapes=True",
	[FLAG_MEMORY] = "profile_memory=True",
	[FLAG_DEVICE] = "ProfilerActivity.CUDA",
};

/* The flags that the file of one of the finding's ranks was recorded without. */
static void finding_find_lacks(const struct ss_diagnosis *diagnosis, const struct ss_job *job,
			       const struct ss_finding *finding, bool *lacks)
{
	for (uint32_t i = 0; i < finding->rank_count; i++) {
		const struct ss_job_file *file = &job->files[diagnosis->files[finding->ranks[i]]];

		lacks[FLAG_STACKS] |= file->recording.lacks_stacks;
		lacks[FLAG_SHAPES] |= file->recording.lacks_shapes;
		lacks[FLAG_MEMORY] |= file->recording.lacks_memory;
		lacks[FLAG_DEVICE] |= file->recording.lacks_device;
	}
}

/* Whether a clause only names flags that were on. "over ..." asks for a longer recording. */
static bool clause_is_recorded(const char *clause, size_t length, const bool *lacks)
{
	bool is_named = false;

	for (int i = 0; i < FLAGS; i++)
		if (ss_text_has(clause, length, names[i], strlen(names[i]))) {
			if (lacks[i])
				return false;
			is_named = true;
		}
	return is_named && !ss_text_has(clause, length, " over ", strlen(" over "));
}

/* The clauses of "a; b" that ask for something the files lack; NULL: none, or no memory. */
static const char *clauses_that_ask(const char *to_record, const bool *lacks,
				    struct ss_arena *arena, bool *is_whole)
{
	static const char between[] = "; ";
	SS_TEXT(kept);
	const char *copy = NULL;

	for (const char *clause = to_record; *clause;) {
		const char *end = strstr(clause, between);
		size_t length = end ? (size_t)(end - clause) : strlen(clause);

		if (!clause_is_recorded(clause, length, lacks)) {
			ss_text_add_string(&kept, kept.length ? between : "");
			ss_text_add(&kept, clause, length);
		}
		clause += length + (end ? sizeof(between) - 1 : 0);
	}
	if (kept.length)
		copy = ss_arena_copy(arena, kept.data, kept.length);
	*is_whole = !ss_text_failed(&kept) && (copy || !kept.length);
	return copy;
}

/* The length of the fix without a last line that asks for what was recorded. */
static size_t fix_length_needed(const char *fix, const bool *lacks)
{
	const char *last = strrchr(fix, '\n');
	size_t length = strlen(fix);

	if (last && last[1] == '#' && clause_is_recorded(last + 1, strlen(last + 1), lacks))
		length = (size_t)(last - fix);
	return length;
}

/* The fix for files that torch.profiler did not record: they have ranges of NVTX or roctx. */
static const char *fix_by_ranges(const char *fix, struct ss_arena *arena)
{
	static const char *const words[][2] = {
		{ "with_stack=True names the functions; or ", "" },
		{ "torch.profiler.record_function(", "torch.cuda.nvtx.range(" },
	};
	SS_TEXT(text);
	const char *copy = NULL;

	while (*fix) {
		size_t i = 0;

		while (i < SS_COUNT(words) && strncmp(fix, words[i][0], strlen(words[i][0])) != 0)
			i++;
		if (i < SS_COUNT(words))
			ss_text_add_string(&text, words[i][1]);
		else
			ss_text_add(&text, fix, 1);
		fix += i < SS_COUNT(words) ? strlen(words[i][0]) : 1;
	}
	if (!ss_text_failed(&text))
		copy = ss_arena_copy(arena, text.data, text.length);
	return copy;
}

static bool finding_ask_for_lacking(struct ss_diagnosis *diagnosis, const struct ss_job *job,
				    struct ss_finding *finding)
{
	bool lacks[FLAGS] = { false }, is_whole = true;
	size_t length;

	if (finding->is_of_snapshots || !finding->rank_count)
		return true;
	finding_find_lacks(diagnosis, job, finding, lacks);
	if (finding->to_record)
		finding->to_record = clauses_that_ask(finding->to_record, lacks, &diagnosis->arena,
						      &is_whole);
	length = fix_length_needed(finding->fix, lacks);
	if (finding->fix[length])
		finding->fix = ss_arena_copy(&diagnosis->arena, finding->fix, length);
	if (finding->fix && *finding->fix &&
	    job->files[diagnosis->files[finding->ranks[0]]].recording.recorder != SS_RECORDER_TORCH)
		finding->fix = fix_by_ranges(finding->fix, &diagnosis->arena);
	return is_whole && finding->fix;
}

/* --- all of it ----------------------------------------------------------------------- */

enum ss_status ss_diagnosis_limit_confidence(struct ss_diagnosis *diagnosis,
					     const struct ss_job *job,
					     const struct ss_diagnose_options *options,
					     struct ss_error *err)
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
		finding_limit_confidence(diagnosis, job, diagnosis->found[i]);
		if (!finding_ask_for_lacking(diagnosis, job, diagnosis->found[i]))
			return ss_fail_memory(err, "what to record");
	}
	for (uint32_t i = 0; i < diagnosis->rank_count; i++)
		digests[i] = job->files[diagnosis->files[i]].rank_index;
	ss_gpu_use_measure(&diagnosis->gpu, job, digests, diagnosis->rank_count);
	return ss_spread_measure(&diagnosis->spread, job, digests, diagnosis->rank_count, err);
}

/* --- ranges ----------------------------------------------------------------------------- */

int64_t ss_finding_shown_ns(const struct ss_finding *finding)
{
	int64_t most_ns = 0;

	for (uint32_t i = 0; i < finding->evidence_count; i++)
		if (finding->evidence[i].weight_ns > most_ns)
			most_ns = finding->evidence[i].weight_ns;
	return most_ns;
}

void ss_diagnosis_widen_ranges(struct ss_diagnosis *diagnosis)
{
	int64_t error_ns = (int64_t)(diagnosis->error_percent / 100 * (double)diagnosis->step_ns);
	int64_t shown_ns = 0, high_ns;

	for (uint32_t i = 0; i < diagnosis->finding_count; i++) {
		struct ss_finding *finding = diagnosis->findings[i];
		int64_t most_ns;

		if (!ss_finding_has_cost(finding))
			continue;
		finding->low_ns = finding->low_ns > error_ns ? finding->low_ns - error_ns : 0;
		/* a fix saves no more than its evidence shows, if the replay says no more */
		most_ns = finding->evidence_count ? ss_finding_shown_ns(finding)
						  : diagnosis->step_ns;
		if (most_ns < finding->high_ns)
			most_ns = finding->high_ns;
		if (most_ns > diagnosis->step_ns)
			most_ns = diagnosis->step_ns;
		finding->high_ns = finding->high_ns < most_ns - error_ns
					   ? finding->high_ns + error_ns
					   : most_ns;
		if (finding->is_warning && !(diagnosis->start_up_ns && finding->is_start_up))
			shown_ns = ss_ns_sum(shown_ns, finding->high_ns);
	}
	diagnosis->fixed_low_ns = diagnosis->fixed_low_ns < diagnosis->step_ns - error_ns
					  ? diagnosis->fixed_low_ns + error_ns
					  : diagnosis->step_ns;
	/* all fixes together save no more than the sum of what each is reported to save */
	high_ns = diagnosis->fixed_high_ns > error_ns ? diagnosis->fixed_high_ns - error_ns : 0;
	if (high_ns < diagnosis->step_ns - shown_ns)
		high_ns = diagnosis->step_ns - shown_ns;
	if (high_ns < diagnosis->fixed_high_ns)
		diagnosis->fixed_high_ns = high_ns;
}

/* A saving this much above what the evidence shows needs a reason; figures are rounded. */
#define BEYOND 1.05

/*
 * Sentences of one finding may describe the same time, so the heaviest counts, not their sum. A fix
 * can save more than that: work that waits for it also starts earlier, and then its waits overlap
 * with other work.
 */
void ss_finding_explain_beyond(struct ss_finding *finding)
{
	int64_t most_ns = ss_finding_shown_ns(finding);

	finding->beyond = most_ns > 0 && (double)finding->cost_ns > BEYOND * (double)most_ns
				  ? "it saves more than is shown, because work behind it starts "
				    "earlier as well"
				  : NULL;
}
