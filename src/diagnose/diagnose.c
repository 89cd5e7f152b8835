/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnose.c - joins the ranks, lets the rules judge them, and keeps the requested findings.
 */
#include "diagnose/diagnose.h"

#include <stdio.h>
#include <string.h>

#include "base/system/thread.h"
#include "base/text.h"
#include "base/utf8.h"
#include "stepscope.h"

const char *ss_confidence_name(enum ss_confidence confidence)
{
	static const char *const names[] = { "low", "medium", "high" };

	return names[confidence];
}

void ss_diagnosis_release(struct ss_diagnosis *diagnosis)
{
	struct ss_memory *memory = diagnosis->memory;

	if (!memory)
		return;
	for (uint32_t i = 0; i < diagnosis->found_count; i++) {
		struct ss_finding *finding = diagnosis->found[i];

		ss_edits_release(&finding->edits);
		ss_edits_release(&finding->low);
		ss_edits_release(&finding->high);
		SS_FREE(memory, finding->evidence, finding->evidence_capacity);
	}
	ss_known_replays_release(&diagnosis->runs);
	ss_replay_release(&diagnosis->replay);
	SS_FREE(memory, diagnosis->found, diagnosis->found_capacity);
	ss_arena_release(&diagnosis->chosen_arena);
	ss_arena_release(&diagnosis->compared_arena);
	ss_arena_release(&diagnosis->arena);
	*diagnosis = (struct ss_diagnosis){ 0 };
}

/* --- ranks --------------------------------------------------------------------------- */

static bool file_is_chosen(const struct ss_job_file *file,
			   const struct ss_diagnose_options *options)
{
	return file->rank_index != SS_NO_ROW && file->summary &&
	       (options->rank == SS_EVERY_RANK || file->subject.rank == options->rank);
}

/* Adds a file as a rank of the diagnosis; graph and findings are borrowed from its summary. */
static void diagnosis_add_rank(struct ss_diagnosis *diagnosis, const struct ss_job *job,
			       const struct ss_job_file *file)
{
	struct ss_rank_summary *summary = file->summary;
	const struct ss_digest *digest = &job->digests[file->rank_index];
	const char *device = ss_strings_text(&digest->texts, digest->device_name);
	uint32_t steps = summary->graph.step_count;

	diagnosis->graphs[diagnosis->rank_count] = summary->graph;
	diagnosis->rank_findings[diagnosis->rank_count] = &summary->findings;
	ss_rank_findings_reset(&summary->findings);
	diagnosis->ranks[diagnosis->rank_count] = file->subject.rank;
	diagnosis->files[diagnosis->rank_count] = (uint32_t)(file - job->files);
	if (!diagnosis->rank_count || steps < diagnosis->steps_least)
		diagnosis->steps_least = steps;
	if (steps > diagnosis->steps_most)
		diagnosis->steps_most = steps;
	if (steps && file->recording.step_anchor > diagnosis->step_anchor)
		diagnosis->step_anchor = file->recording.step_anchor;
	diagnosis->rank_count++;
	diagnosis->bytes += summary->file_bytes;
	diagnosis->events += digest->events;
	if (!diagnosis->device && *device)
		diagnosis->device = device;
}

static enum ss_status diagnosis_add_ranks(struct ss_diagnosis *diagnosis, const struct ss_job *job,
					  const struct ss_diagnose_options *options,
					  struct ss_error *err)
{
	size_t capacity = (size_t)job->file_count + 1;

	if (!SS_ALLOC(&diagnosis->arena, diagnosis->graphs, capacity) ||
	    !SS_ALLOC(&diagnosis->arena, diagnosis->rank_findings, capacity) ||
	    !SS_ALLOC(&diagnosis->arena, diagnosis->ranks, capacity) ||
	    !SS_ALLOC(&diagnosis->arena, diagnosis->files, capacity))
		return ss_fail_memory(err, "the ranks of the job");
	for (uint32_t i = 0; i < job->file_count; i++)
		if (file_is_chosen(&job->files[i], options))
			diagnosis_add_rank(diagnosis, job, &job->files[i]);
	diagnosis->joined = options->rank == SS_EVERY_RANK ? &job->joined : NULL;
	diagnosis->seconds = job->load_seconds;
	return SS_OK;
}

static void diagnosis_find_devices(struct ss_diagnosis *diagnosis, const struct ss_job *job,
				   const struct ss_diagnose_options *options)
{
	for (uint32_t i = 0; i < job->file_count; i++)
		diagnosis->on_device |= file_is_chosen(&job->files[i], options) &&
					job->digests[job->files[i].rank_index].device >= 0;
}

/* Counts what limits the accuracy of the figures: clocks, missing ranks, inferred waits. */
static void diagnosis_measure_trust(struct ss_diagnosis *diagnosis)
{
	struct ss_diagnosis_trust *trust = &diagnosis->trust;
	const struct ss_joined *joined = diagnosis->joined;

	trust->clock_error_ns = -1;
	for (uint32_t i = 0; i < diagnosis->rank_count; i++) {
		trust->recorded_waits += diagnosis->graphs[i].edges_of[SS_EDGE_EVENT];
		trust->inferred_waits += diagnosis->graphs[i].edges_of[SS_EDGE_INFERRED];
	}
	if (!joined || joined->rank_count < 2)
		return;
	trust->missing = ss_missing_ranks(joined);
	trust->unmatched = joined->unmatched;
	for (uint32_t i = 0; i < joined->rank_count; i++) {
		const struct ss_clock *clock = &joined->clocks[i];

		if (clock->component == SS_NO_ROW ||
		    clock->component != joined->clocks[0].component)
			trust->unaligned_ranks++;
		else if (i && clock->error_ns > trust->clock_error_ns)
			trust->clock_error_ns = clock->error_ns;
	}
}

/* --- what-if ------------------------------------------------------------------------- */

/* Whether a word of `length` ("straggler=3") means this finding of the rule that it names. */
static bool finding_is_meant(const struct ss_diagnosis *diagnosis, const struct ss_finding *finding,
			     const char *word, size_t length)
{
	const char *equals = memchr(word, '=', length);
	size_t digits = equals ? length - (size_t)(equals - word) - 1 : 0;
	char number[24];

	if (!equals)
		return true;
	if (finding->rank == SS_NO_ROW && !finding->is_joint)
		return false;
	for (uint32_t i = 0; i < finding->rank_count; i++) {
		uint32_t rank = finding->is_joint ? finding->ranks[i] : finding->rank;

		snprintf(number, sizeof(number), "%lld", (long long)diagnosis->ranks[rank]);
		if (strlen(number) == digits && memcmp(number, equals + 1, digits) == 0)
			return true;
	}
	return false;
}

/* No rule has this name, or several begin with it. */
static enum ss_status fail_unknown_rule(const char *name, struct ss_error *err)
{
	const char *meant = ss_rule_guess(name);

	if (meant)
		return ss_fail(err, SS_ERR_USAGE, "no rule called '%s'; did you mean '%s'?", name,
			       meant);
	return ss_fail(err, SS_ERR_USAGE,
		       "no rule called '%s', or several rules begin with it; the verdict lists the "
		       "rules of its findings, 'stepscope explain' lists all",
		       name);
}

/* Marks in `keep` the findings that are named; lists names that nothing was found for. */
static enum ss_status diagnosis_read_fixes(struct ss_diagnosis *diagnosis, const char *fixes,
					   bool *keep, struct ss_error *err)
{
	char missing[256] = "", word_text[128], *shown;

	for (const char *word = fixes; *word;) {
		size_t length = strcspn(word, ","), name = strcspn(word, ",=");
		const struct ss_rule *rule;
		bool found = false;

		snprintf(word_text, sizeof(word_text), "%.*s", (int)(name < 120 ? name : 120),
			 word);
		rule = ss_rule_find(word_text);
		if (length && !rule)
			return fail_unknown_rule(word_text, err);
		for (uint32_t i = 0; i < diagnosis->found_count; i++)
			if (diagnosis->found[i]->rule == rule &&
			    finding_is_meant(diagnosis, diagnosis->found[i], word, length))
				keep[i] = found = true;
		snprintf(word_text, sizeof(word_text), "%.*s", (int)(length < 120 ? length : 120),
			 word);
		if (length && !found)
			ss_text_list(missing, sizeof(missing), word_text);
		word += length + (word[length] == ',');
		word += strspn(word, " ");
	}
	if (!*missing)
		return SS_OK;
	/* what the user typed, and cut: it may end within a character */
	if (!SS_ALLOC(&diagnosis->chosen_arena, shown, 3 * strlen(missing) + 1))
		return ss_fail_memory(err, "the findings");
	ss_utf8_repair(missing, strlen(missing), shown);
	diagnosis->not_found = shown;
	return SS_OK;
}

/* Removes the sentences and the title that depend on an earlier choice. */
static void finding_forget_choice(struct ss_finding *finding)
{
	uint32_t added = finding->evidence_count - finding->evidence_own;

	if (added)
		memmove(finding->evidence, finding->evidence + added,
			finding->evidence_own * sizeof(*finding->evidence));
	finding->evidence_count = finding->evidence_own;
	finding->title = finding->title_own;
}

/* Undoes the last choice. */
static void diagnosis_forget_choice(struct ss_diagnosis *diagnosis)
{
	for (uint32_t i = 0; i < diagnosis->found_count; i++) {
		struct ss_finding *finding = diagnosis->found[i];

		if (finding->is_timeless)
			continue;
		if (finding->is_rest)
			finding_forget_choice(finding);
		finding->is_warning = finding->has_no_cost = false;
		finding->beyond = NULL;
		finding->alone_ns = finding->cost_ns = finding->low_ns = finding->high_ns = 0;
	}
	ss_arena_release(&diagnosis->chosen_arena);
	ss_arena_init(&diagnosis->chosen_arena, diagnosis->memory);
	diagnosis->chosen = diagnosis->findings = NULL;
	diagnosis->chosen_count = diagnosis->finding_count = diagnosis->warning_count = 0;
	diagnosis->next = diagnosis->not_found = NULL;
	diagnosis->ceiling_ns = diagnosis->start_up_ns = 0;
	diagnosis->other_device = (struct ss_other_device){ 0 };
}

/* Writes savings and evidence of each finding in one unit; false: no memory. */
static bool diagnosis_format_findings(struct ss_diagnosis *diagnosis)
{
	for (uint32_t i = 0; i < diagnosis->found_count; i++) {
		struct ss_finding *finding = diagnosis->found[i];
		int64_t most_ns = finding->is_rest ? diagnosis->account.unexplained_ns
						   : finding->high_ns;

		if (finding->cost_ns > most_ns)
			most_ns = finding->cost_ns;
		if (!ss_finding_format_evidence(finding, most_ns, &diagnosis->chosen_arena))
			return false;
	}
	return true;
}

/* Chooses the requested findings, and replays and orders them. */
static enum ss_status diagnosis_choose(struct ss_diagnosis *diagnosis,
				       const struct ss_diagnose_options *options,
				       struct ss_error *err)
{
	size_t capacity = (size_t)diagnosis->found_count + 1;
	bool names = options->is_what_if && options->fixes, *keep;

	diagnosis->is_what_if = options->is_what_if;
	if (!SS_ALLOC(&diagnosis->chosen_arena, keep, capacity) ||
	    !SS_ALLOC(&diagnosis->chosen_arena, diagnosis->chosen, capacity))
		return ss_fail_memory(err, "the findings");
	if (names)
		SS_TRY(diagnosis_read_fixes(diagnosis, options->fixes, keep, err));
	for (uint32_t i = 0; i < diagnosis->found_count; i++)
		if (!names || keep[i])
			diagnosis->chosen[diagnosis->chosen_count++] = diagnosis->found[i];
	diagnosis->is_stopped = false;
	SS_TRY(ss_diagnosis_order(diagnosis, err));
	if (diagnosis->replay.starts.failed) {
		diagnosis->replay.starts.failed = false;
		diagnosis->runs.count = 0;
		return ss_fail_memory(err, "the replay of the steps");
	}
	if (diagnosis->is_stopped) {
		/* replays that did not run were remembered as well */
		diagnosis->runs.count = 0;
		return ss_fail(err, SS_ERR_STOPPED, "stopped");
	}
	if (diagnosis->is_blind)
		diagnosis->next = NULL;
	return diagnosis_format_findings(diagnosis) ? SS_OK : ss_fail_memory(err, "the findings");
}

enum ss_status ss_diagnosis_choose(struct ss_diagnosis *diagnosis,
				   const struct ss_diagnose_options *options, struct ss_error *err)
{
	enum ss_status status;

	diagnosis_forget_choice(diagnosis);
	status = diagnosis_choose(diagnosis, options, err);
	if (status != SS_OK)
		diagnosis_forget_choice(diagnosis);
	return status;
}

/* --- all ----------------------------------------------------------------------------- */

/* The first steps begin at a boundary of the same kind as the others (ranks/digest.h). */
static void diagnosis_correct_first_steps(struct ss_diagnosis *diagnosis, const struct ss_job *job)
{
	bool is_other = false;
	uint32_t count = 0;
	double sum = 0;

	for (uint32_t i = 0; i < diagnosis->rank_count; i++) {
		uint32_t index = job->files[diagnosis->files[i]].rank_index;
		const struct ss_digest *digest = &job->digests[index];

		if (!digest->step_count)
			continue;
		sum += (double)ss_digest_mean_step(digest);
		is_other |= ss_digest_step_ns(digest, 0) !=
			    digest->steps[0].end_ns - digest->steps[0].start_ns;
		count++;
	}
	if (is_other)
		diagnosis->replay.step_ns = (int64_t)(sum / count);
}

/* Joins and replays the ranks, lets all rules judge them, and chooses the findings. */
static enum ss_status diagnosis_make(struct ss_diagnosis *diagnosis, struct ss_job *job,
				     const struct ss_diagnose_options *options,
				     struct ss_error *err)
{
	SS_TRY(diagnosis_add_ranks(diagnosis, job, options, err));
	ss_progress_begin_part(diagnosis->watch, "Replaying the steps", SS_PROGRESS_EXAMINED,
			       SS_PROGRESS_JOINED);
	if (!ss_progress_report_done(diagnosis->watch, 0, 1))
		return ss_fail(err, SS_ERR_STOPPED, "stopped");
	SS_TRY(ss_replay_init(&diagnosis->replay, diagnosis->graphs, diagnosis->rank_count,
			      diagnosis->joined, diagnosis->memory, err));
	diagnosis_correct_first_steps(diagnosis, job);
	diagnosis->step_ns = diagnosis->replay.step_ns;
	diagnosis->error_percent = diagnosis->replay.error_percent;
	diagnosis->is_bounded = diagnosis->error_percent > SS_REPLAY_ERROR_MAX ||
				diagnosis->error_percent < -SS_REPLAY_ERROR_MAX;
	diagnosis_measure_trust(diagnosis);
	diagnosis_find_devices(diagnosis, job, options);
	ss_progress_begin_part(diagnosis->watch, "Applying the rules", SS_PROGRESS_JOINED,
			       SS_PROGRESS_JUDGED);
	for (uint32_t i = 0; i < ss_rule_count; i++) {
		if (!ss_progress_report_done(diagnosis->watch, i, (uint32_t)ss_rule_count))
			return ss_fail(err, SS_ERR_STOPPED, "stopped");
		diagnosis->is_compared = false;
		SS_TRY(ss_diagnosis_judge(diagnosis, i, err));
		if (!diagnosis->is_compared) {
			ss_arena_release(&diagnosis->compared_arena);
			diagnosis->compared = NULL;
		}
	}
	ss_progress_begin_part(diagnosis->watch, "Replaying the steps", SS_PROGRESS_JUDGED, 1);
	for (uint32_t i = 0; i < diagnosis->found_count; i++)
		if (!ss_finding_finish(diagnosis->found[i], &diagnosis->arena))
			return ss_fail_memory(err, "the findings");
	SS_TRY(ss_diagnosis_limit_confidence(diagnosis, job, options, err));
	SS_TRY(ss_diagnosis_join_snapshots(diagnosis, job, options, err));
	SS_TRY(ss_diagnosis_join_flights(diagnosis, job, err));
	for (uint32_t i = 0; i < diagnosis->found_count; i++) {
		diagnosis->found[i]->evidence_own = diagnosis->found[i]->evidence_count;
		diagnosis->found[i]->title_own = diagnosis->found[i]->title;
	}
	if (!diagnosis->rank_count && !diagnosis->snapshot_count && !diagnosis->hang)
		return ss_fail(err, SS_ERR_USAGE, "no file of rank %lld", (long long)options->rank);
	return ss_diagnosis_choose(diagnosis, options, err);
}

enum ss_status ss_diagnose(struct ss_diagnosis *out, struct ss_job *job,
			   const struct ss_diagnose_options *options, struct ss_error *err)
{
	enum ss_status status;

	*out = (struct ss_diagnosis){ 0 };
	SS_TRY(ss_job_make_summaries(job, &ss_diagnose_summarizer, err));
	out->memory = job->memory;
	out->watch = job->watch;
	out->threads = job->threads ? job->threads : ss_thread_cores();
	ss_arena_init(&out->arena, job->memory);
	ss_arena_init(&out->chosen_arena, job->memory);
	ss_arena_init(&out->compared_arena, job->memory);
	out->runs = (struct ss_known_replays){ .memory = job->memory, .arena = &out->arena };
	status = diagnosis_make(out, job, options, err);
	if (status != SS_OK)
		ss_diagnosis_release(out);
	return status;
}
