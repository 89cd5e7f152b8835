/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hang.c - rule: ranks wait for each other in collectives, as dumps of the flight recorder show.
 *
 * Traces do not show it: causes that src/hang finds in the dumps become findings here. They claim
 * no time. The sentence above all findings names the first of them: a job that stands still has no
 * slow step.
 */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "diagnose/diagnose.h"

extern const struct ss_rule ss_rule_hang;

/* Without a pending collective, or after an error, the dumps may be of different moments. */
static void hang_set_confidence(const struct ss_hang *hang, const struct ss_hang_cause *cause,
				struct ss_finding *finding)
{
	finding->confidence = SS_CONFIDENCE_HIGH;
	if (hang->has_errors) {
		finding->confidence = SS_CONFIDENCE_MEDIUM;
		finding->reason = "nothing is pending: collectives ended with an error";
	} else if (cause->kind == SS_HANG_LEFT_NO_DUMP && !cause->waiting_count) {
		finding->confidence = SS_CONFIDENCE_LOW;
		finding->reason = "nothing is pending on the ranks with a dump";
	} else if (cause->kind == SS_HANG_NOT_KNOWN || hang->cut_count) {
		finding->confidence = SS_CONFIDENCE_LOW;
		finding->reason = "records are missing";
	}
}

/* Copies a made text into the diagnosis; NULL: no memory. */
static const char *hang_keep_text(struct ss_diagnosis *diagnosis, struct ss_text *text)
{
	const char *copy = ss_text_failed(text) || !text->data
				   ? NULL
				   : ss_arena_copy(&diagnosis->arena, text->data, text->length);

	ss_text_release(text);
	return copy;
}

static bool hang_add_text(struct ss_diagnosis *diagnosis, struct ss_finding *finding,
			  struct ss_text *text)
{
	struct ss_evidence evidence = { .text = hang_keep_text(diagnosis, text) };

	return evidence.text && ss_finding_add_evidence(diagnosis, finding, &evidence);
}

/* Fewer collectives than this show no habit. */
#define SHARED_MIN 8

/*
 * A rank that lets the others wait, in the traces: whether it came last before. Only of a job with
 * as many ranks; nothing else in dumps and traces says that they are of one run.
 */
static bool hang_add_traced(struct ss_diagnosis *diagnosis, const struct ss_hang *hang,
			    const struct ss_hang_cause *cause, struct ss_finding *finding)
{
	const struct ss_joined *joined = diagnosis->joined;
	uint32_t last = 0, shared = 0, index = 0;
	struct ss_text text = { 0 };
	int64_t rank;

	if (!joined || joined->rank_count != hang->rank_count || cause->rank_count != 1)
		return true;
	rank = hang->ranks[cause->ranks[0]].rank;
	while (index < joined->rank_count && joined->ranks[index].rank != rank)
		index++;
	for (uint32_t i = 0; i < joined->collective_count; i++) {
		const struct ss_collective *met = &joined->collectives[i];
		bool is_in = false;

		for (uint32_t k = 0; met->is_symmetric && k < met->count; k++)
			is_in |= joined->members[met->first + k].rank == index;
		shared += is_in;
		last += is_in && met->last_rank == index;
	}
	if (shared < SHARED_MIN)
		return true;
	ss_text_addf(&text,
		     "in the traces rank %" PRId64 " comes last to %" PRIu32 " of %" PRIu32
		     " collectives",
		     rank, last, shared);
	return hang_add_text(diagnosis, finding, &text);
}

static bool hang_add_finding(struct ss_judgement *judgement, const struct ss_hang *hang,
			     const struct ss_hang_cause *cause)
{
	struct ss_diagnosis *diagnosis = judgement->diagnosis;
	struct ss_finding *finding = ss_judgement_add(judgement, SS_NO_ROW, "%s",
						      ss_hang_kind_title(cause->kind));
	/* the sentence above the findings is the title of the first cause */
	uint32_t first = cause == hang->causes;
	bool more = true, whole = finding != NULL;

	if (!finding)
		return false;
	finding->fix = ss_hang_fix(cause->kind);
	finding->is_warning = finding->comes_first = true;
	hang_set_confidence(hang, cause, finding);
	for (uint32_t i = first; more && whole; i++) {
		struct ss_text text = { 0 };

		if (i)
			more = ss_hang_add_evidence(hang, cause, i - 1, &text);
		else
			ss_hang_add_title(hang, cause, &text);
		if (!more) {
			ss_text_release(&text);
			break;
		}
		whole = hang_add_text(diagnosis, finding, &text);
	}
	return whole && hang_add_traced(diagnosis, hang, cause, finding);
}

enum ss_status ss_diagnosis_join_flights(struct ss_diagnosis *diagnosis, struct ss_job *job,
					 struct ss_error *err)
{
	struct ss_judgement judgement = { .rule = &ss_rule_hang,
					  .rank_count = diagnosis->rank_count,
					  .diagnosis = diagnosis };

	if (!job->flight_count)
		return SS_OK;
	SS_TRY(ss_job_find_hang(job, err));
	diagnosis->hang = &job->hang;
	for (uint32_t i = 0; i < job->flight_count; i++)
		diagnosis->bytes += job->flights[i].flight ? job->flights[i].flight->file_bytes : 0;
	for (uint32_t i = 0; i < job->hang.cause_count; i++)
		if (!hang_add_finding(&judgement, &job->hang, &job->hang.causes[i]))
			return ss_fail_memory(err, "the findings");
	return SS_OK;
}

const struct ss_rule ss_rule_hang = {
	.name = "hang",
	.title = "Ranks wait for each other",
	.summary = "Ranks that wait in a collective, and who lets them wait (flight recorder)",
	.fix = "# the fix depends on the cause: see the page of this rule",
	.to_record = "put files with the stacks of the ranks next to the dumps",
	.views = "hang-causes hang-ranks",
	.why = "a rank waits for another one, or left no dump",
	.is_timeless = true,
	.is_of_dumps = true,
};
