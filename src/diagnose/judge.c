/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge.c - turns what a rule left on each rank into findings.
 */
#include <stdio.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "diagnose/diagnose.h"

/* If a rule has a sentence for each of a thousand ranks, only the first are kept. */
#define EVIDENCE_MAX 256
#define SENTENCE_MAX 512

double ss_judgement_figure(const struct ss_judgement *judgement, uint32_t rank, uint32_t slot)
{
	const struct ss_found_figure *figure;

	assert(rank < judgement->rank_count && slot < SS_RULE_FIGURES);
	figure = ss_rank_findings_figure(judgement->rank_findings[rank], judgement->number, slot);
	return figure ? figure->value : 0;
}

uint32_t ss_judgement_count_claims(const struct ss_judgement *judgement, uint32_t rank)
{
	const struct ss_found_part *part =
		&judgement->rank_findings[rank]->parts[judgement->number];

	return part->claim_to - part->claim_from;
}

struct ss_finding *ss_judgement_add(struct ss_judgement *judgement, uint32_t rank,
				    const char *title, ...)
{
	struct ss_diagnosis *diagnosis = judgement->diagnosis;
	struct ss_finding *finding = SS_ARENA_NEW(&diagnosis->arena, struct ss_finding, 1);
	uint32_t *ranks = SS_ARENA_NEW(&diagnosis->arena, uint32_t,
				       (size_t)judgement->rank_count + 1);
	char text[SENTENCE_MAX] = "";
	va_list words;

	judgement->failed = judgement->failed || !finding || !ranks ||
			    !SS_GROW(diagnosis->memory, diagnosis->found, diagnosis->found_capacity,
				     diagnosis->found_count);
	if (judgement->failed)
		return NULL;
	*finding = (struct ss_finding){
		.rule = judgement->rule,
		.title = judgement->rule->title,
		.fix = judgement->rule->fix,
		.to_record = judgement->rule->to_record,
		.rank = rank,
		.ranks = ranks,
		.bytes = -1,
		.confidence = SS_CONFIDENCE_LOW, /* until the rule states more */
		.is_timeless = judgement->rule->is_timeless
	};
	ss_edits_init(&finding->edits, diagnosis->memory);
	ss_edits_init(&finding->low, diagnosis->memory);
	ss_edits_init(&finding->high, diagnosis->memory);
	diagnosis->found[diagnosis->found_count++] = finding;
	if (rank != SS_NO_ROW)
		finding->ranks[finding->rank_count++] = rank;
	if (title) {
		va_start(words, title);
		vsnprintf(text, sizeof(text), title, words);
		va_end(words);
		finding->title = ss_arena_copy(&diagnosis->arena, text, strlen(text));
		judgement->failed = !finding->title;
	}
	return judgement->failed ? NULL : finding;
}

/* --- claims -------------------------------------------------------------------------- */

/* Until a claim has a different low or high, these equal the edits. */
static bool edits_copy(struct ss_edits *out, const struct ss_edits *edits)
{
	struct ss_edits_visit visit = { 0 };

	while (ss_edits_next(edits, &visit))
		if (!ss_edits_add(out, visit.edit))
			return false;
	return true;
}

/* Adds a claim to the edits, and to low and high once any claim has a range; false: no memory. */
static bool finding_add_claim(struct ss_finding *finding, uint32_t rank,
			      const struct ss_claim *claim, double scale, double low_scale)
{
	struct ss_edit edit = { .task = claim->task,
				.rank = rank,
				.own_ns = claim->own_ns,
				.releases = claim->releases,
				.unlocks = claim->unlocks,
				.merges = claim->merges,
				.subtracts = claim->subtracts,
				.scale = (float)scale };
	struct ss_edit low = edit, high = edit;
	bool has_high = claim->high_ns != claim->own_ns;

	low.own_ns = claim->low_ns;
	low.merges = false;
	low.scale = (float)(low_scale > 0 ? low_scale : scale);
	high.own_ns = claim->high_ns;
	if (!finding->has_range && (claim->low_ns != claim->own_ns || has_high || claim->merges ||
				    low.scale > edit.scale)) {
		finding->has_range = true;
		if (!edits_copy(&finding->low, &finding->edits))
			return false;
	}
	if (!finding->has_high && has_high) {
		finding->has_high = true;
		if (!edits_copy(&finding->high, &finding->edits))
			return false;
	}
	return ss_edits_add(&finding->edits, edit) &&
	       (!finding->has_range || ss_edits_add(&finding->low, low)) &&
	       (!finding->has_high || ss_edits_add(&finding->high, high));
}

/* A scale of 0 would mean: not scaled. */
#define SCALE_LEAST 1e-6

static double scale_of_time(int64_t left_ns, int64_t own_ns)
{
	double scale = own_ns > 0 ? (double)left_ns / (double)own_ns : 1;

	return scale > SCALE_LEAST ? scale : SCALE_LEAST;
}

/* Adds a claim that a rule left. */
static bool finding_take_claim(struct ss_finding *finding, uint32_t rank,
			       const struct ss_claim *claim, const struct ss_packed *graph)
{
	struct ss_claim scaled = *claim;
	int64_t own_ns;

	if (!claim->scales)
		return finding_add_claim(finding, rank, claim, 0, 0);
	own_ns = ss_packed_own(graph, claim->task);
	scaled.own_ns = scaled.low_ns = scaled.high_ns = own_ns;
	scaled.subtracts = false;
	return finding_add_claim(finding, rank, &scaled, scale_of_time(claim->own_ns, own_ns),
				 scale_of_time(claim->low_ns, own_ns));
}

/* Ranks are mostly added in their order. */
void ss_finding_add_rank(struct ss_finding *finding, uint32_t rank)
{
	uint32_t at = 0, end = finding->rank_count;

	if (end && finding->ranks[end - 1] <= rank)
		at = end - 1;
	SS_SEARCH(at, end, middle, finding->ranks[middle] < rank);
	if (at < finding->rank_count && finding->ranks[at] == rank)
		return;
	memmove(&finding->ranks[at + 1], &finding->ranks[at],
		(finding->rank_count - at) * sizeof(*finding->ranks));
	finding->ranks[at] = rank;
	finding->rank_count++;
}

bool ss_judgement_claim(struct ss_judgement *judgement, struct ss_finding *finding, uint32_t rank,
			struct ss_claim claim)
{
	assert(rank < judgement->rank_count);
	if (judgement->failed ||
	    !ss_rank_findings_claim(judgement->rank_findings[rank], judgement->number, claim.task))
		return false;
	ss_finding_add_rank(finding, rank);
	if (!finding_add_claim(finding, rank, &claim, 0, 0))
		judgement->failed = true;
	return !judgement->failed;
}

bool ss_judgement_overrule(struct ss_judgement *judgement, struct ss_finding *finding,
			   uint32_t rank, struct ss_claim claim, bool seizes)
{
	struct ss_rank_findings *findings = judgement->rank_findings[rank];

	assert(rank < judgement->rank_count);
	if (judgement->failed || claim.task >= findings->task_count)
		return false;
	if (seizes || !findings->owner[claim.task])
		findings->owner[claim.task] = (uint8_t)(judgement->number + 1);
	ss_finding_add_rank(finding, rank);
	if (!finding_add_claim(finding, rank, &claim, 0, 0))
		judgement->failed = true;
	return !judgement->failed;
}

bool ss_judgement_scale(struct ss_judgement *judgement, struct ss_finding *finding, uint32_t rank,
			uint32_t task, double scale, double low_scale)
{
	struct ss_rank_findings *findings = judgement->rank_findings[rank];
	int64_t own_ns;
	struct ss_claim claim;

	assert(rank < judgement->rank_count);
	if (judgement->failed || task >= findings->task_count)
		return false;
	own_ns = ss_packed_own(&judgement->graphs[rank], task);
	claim = (struct ss_claim){
		.task = task, .own_ns = own_ns, .low_ns = own_ns, .high_ns = own_ns
	};
	ss_finding_add_rank(finding, rank);
	if (!finding_add_claim(finding, rank, &claim, scale, low_scale))
		judgement->failed = true;
	return !judgement->failed;
}

/* --- evidence ------------------------------------------------------------------------ */

static bool lines_are_equal(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Weight and count are sums over ranks and steps. */
bool ss_finding_add_evidence(struct ss_diagnosis *diagnosis, struct ss_finding *finding,
			     const struct ss_evidence *evidence)
{
	for (uint32_t i = 0; i < finding->evidence_count; i++) {
		struct ss_evidence *known = &finding->evidence[i];

		if (strcmp(known->text, evidence->text) != 0 ||
		    known->snapshot != evidence->snapshot ||
		    !lines_are_equal(known->line, evidence->line))
			continue;
		known->weight_ns = ss_ns_sum(known->weight_ns, evidence->weight_ns);
		known->count += evidence->count;
		known->steps += evidence->steps;
		return true;
	}
	if (finding->evidence_count >= EVIDENCE_MAX)
		return true;
	if (!SS_GROW(diagnosis->memory, finding->evidence, finding->evidence_capacity,
		     finding->evidence_count))
		return false;
	finding->evidence[finding->evidence_count++] = *evidence;
	return true;
}

static void judgement_format_evidence(struct ss_judgement *judgement, struct ss_finding *finding,
				      struct ss_evidence evidence, const char *format,
				      va_list words)
{
	char text[SENTENCE_MAX];

	vsnprintf(text, sizeof(text), format, words);
	evidence.text = ss_arena_copy(&judgement->diagnosis->arena, text, strlen(text));
	if (!evidence.text || !ss_finding_add_evidence(judgement->diagnosis, finding, &evidence))
		judgement->failed = true;
}

void ss_judgement_add_evidence(struct ss_judgement *judgement, struct ss_finding *finding,
			       int64_t weight_ns, const char *format, ...)
{
	va_list words;

	va_start(words, format);
	judgement_format_evidence(judgement, finding,
				  (struct ss_evidence){ .weight_ns = weight_ns, .steps = 1 },
				  format, words);
	va_end(words);
}

void ss_judgement_add_counted(struct ss_judgement *judgement, struct ss_finding *finding,
			      int64_t weight_ns, double count, const char *format, ...)
{
	va_list words;

	va_start(words, format);
	judgement_format_evidence(judgement, finding,
				  (struct ss_evidence){
					  .weight_ns = weight_ns, .count = count, .steps = 1 },
				  format, words);
	va_end(words);
}

/* Three digits; all times of a finding have one unit. */
static int format_time(int64_t ns, bool in_seconds, char *out, size_t capacity)
{
	double value = (double)ns / (in_seconds ? 1e9 : 1e6);
	int small = in_seconds && value < 0.9995 ? value < 0.0995 ? 4 : 3 : 2;

	return snprintf(out, capacity, "%.*f %s",
			value >= 99.95   ? 0
			: value >= 9.995 ? 1
					 : small,
			value, in_seconds ? "s" : "ms");
}

/* A count for people: one decimal below ten, and "1,601". */
static int format_count(double count, char *out, size_t capacity)
{
	char digits[32];
	int length, added = 0;

	length = snprintf(digits, sizeof(digits), "%.*f",
			  count >= 9.95 || count == (double)(int64_t)count ? 0 : 1, count);
	if (count < 1000 || length >= (int)sizeof(digits))
		return snprintf(out, capacity, "%s", digits);
	for (int i = 0; i < length && (size_t)added + 2 < capacity; i++) {
		if (i && (length - i) % 3 == 0)
			out[added++] = ',';
		out[added++] = digits[i];
	}
	out[added] = '\0';
	return added;
}

/* Writes the next figure of a sentence; returns its length, or -1 if `*at` is plain text. */
static int evidence_expand_figure(const struct ss_evidence *evidence, bool in_seconds,
				  const char **at, char *out, size_t capacity)
{
	double count = evidence->count;
	const char *one, *many, *end;

	if (strncmp(*at, "{time}", 6) == 0) {
		*at += 6;
		return format_time(evidence->weight_ns, in_seconds, out, capacity);
	}
	if (strncmp(*at, "{count} times", 13) == 0 && count == 1) {
		*at += 13;
		return snprintf(out, capacity, "once");
	}
	if (strncmp(*at, "{count}", 7) == 0) {
		*at += 7;
		return format_count(count, out, capacity);
	}
	if (strncmp(*at, "{?", 2) != 0)
		return -1;
	one = *at + 2;
	many = one + strcspn(one, "{|}");
	end = *many == '|' ? many + 1 + strcspn(many + 1, "{|}") : many;
	if (*many != '|' || *end != '}')
		return -1;
	*at = end + 1;
	return count == 1 ? snprintf(out, capacity, "%.*s", (int)(many - one), one)
			  : snprintf(out, capacity, "%.*s", (int)(end - many - 1), many + 1);
}

/* Replaces "{time}", "{count}" and "{?one|many}" by text. */
static void evidence_expand(const struct ss_evidence *evidence, bool in_seconds, char *out,
			    size_t capacity)
{
	const char *at = evidence->form;
	size_t length = 0;

	while (*at && length + 1 < capacity) {
		int added = evidence_expand_figure(evidence, in_seconds, &at, out + length,
						   capacity - length);

		if (added < 0) {
			added = 1;
			out[length] = *at++;
		}
		length += added > 0 && (size_t)added < capacity - length ? (size_t)added : 0;
	}
	out[length] = '\0';
}

/* From here on times are in seconds; below, three digits of milliseconds are enough. */
#define SECONDS_NS 999500000

bool ss_finding_format_evidence(struct ss_finding *finding, int64_t most_ns, struct ss_arena *arena)
{
	char text[SENTENCE_MAX];

	for (uint32_t i = 0; i < finding->evidence_count; i++)
		if (finding->evidence[i].form && strstr(finding->evidence[i].form, "{time}") &&
		    finding->evidence[i].weight_ns > most_ns)
			most_ns = finding->evidence[i].weight_ns;
	finding->in_seconds = most_ns >= SECONDS_NS;
	for (uint32_t i = 0; i < finding->evidence_count; i++) {
		struct ss_evidence *evidence = &finding->evidence[i];

		if (!evidence->form)
			continue;
		evidence_expand(evidence, finding->in_seconds, text, sizeof(text));
		evidence->text = ss_arena_copy(arena, text, strlen(text));
		if (!evidence->text)
			return false;
	}
	return true;
}

static int evidence_compare_weight(const void *a, const void *b)
{
	const struct ss_evidence *x = a, *y = b;
	int order;

	if (x->weight_ns != y->weight_ns)
		return x->weight_ns > y->weight_ns ? -1 : 1;
	order = strcmp(x->text, y->text);
	return order ? order : strcmp(x->line ? x->line : "", y->line ? y->line : "");
}

bool ss_finding_prepend_evidence(struct ss_diagnosis *diagnosis, struct ss_finding *finding,
				 int64_t weight_ns, const char *text)
{
	struct ss_evidence evidence = { .weight_ns = weight_ns };

	evidence.text = evidence.form = ss_arena_copy(&diagnosis->chosen_arena, text, strlen(text));
	if (!evidence.text || !SS_GROW(diagnosis->memory, finding->evidence,
				       finding->evidence_capacity, finding->evidence_count))
		return false;
	memmove(finding->evidence + 1, finding->evidence,
		finding->evidence_count * sizeof(*finding->evidence));
	finding->evidence[0] = evidence;
	finding->evidence_count++;
	return true;
}

bool ss_finding_finish(struct ss_finding *finding, struct ss_arena *arena)
{
	for (uint32_t i = 0; i < finding->evidence_count; i++) {
		struct ss_evidence *evidence = &finding->evidence[i];

		if (evidence->steps > 0) {
			evidence->weight_ns = (int64_t)((double)evidence->weight_ns /
							evidence->steps);
			evidence->count /= evidence->steps;
		}
		evidence->form = evidence->text;
	}
	if (!ss_finding_format_evidence(finding, 0, arena))
		return false;
	SS_SORT(finding->evidence, finding->evidence_count, evidence_compare_weight);
	return true;
}

/* --- a rank -------------------------------------------------------------------------- */

static void finding_take_confidence(struct ss_finding *finding,
				    const struct ss_rank_findings *findings,
				    const struct ss_found_part *part)
{
	if (!part->is_sure || (finding->reason && finding->confidence <= part->confidence))
		return;
	finding->confidence = part->confidence;
	finding->reason = ss_strings_text(&findings->texts, part->reason);
}

void ss_judgement_take_rank(struct ss_judgement *judgement, struct ss_finding *finding,
			    uint32_t rank)
{
	const struct ss_rank_findings *findings = judgement->rank_findings[rank];
	struct ss_found_part *part = &findings->parts[judgement->number];
	bool whole = true;

	ss_finding_add_rank(finding, rank);
	part->is_taken = true;
	for (uint32_t i = part->claim_from; whole && i < part->claim_to; i++)
		if (ss_rank_findings_has_claim(findings, judgement->number, &findings->claims[i]))
			whole = finding_take_claim(finding, rank, &findings->claims[i],
						   &judgement->graphs[rank]);
	for (uint32_t i = part->fact_from; whole && i < part->fact_to; i++) {
		const struct ss_found_fact *fact = &findings->facts[i];
		const struct ss_evidence evidence = {
			.text = ss_strings_text(&findings->texts, fact->text),
			.line = fact->line ? ss_strings_text(&findings->texts, fact->line) : NULL,
			.weight_ns = fact->weight_ns,
			.count = fact->count,
			.steps = findings->step_count
		};

		whole = ss_finding_add_evidence(judgement->diagnosis, finding, &evidence);
	}
	finding_take_confidence(finding, findings, part);
	if (part->fix)
		finding->fix = part->fix;
	if (part->warn_share > 0)
		finding->warn_share = part->warn_share;
	if (part->silent_share > 0)
		finding->silent_share = part->silent_share;
	if (judgement->rule->is_timeless && ss_judgement_figure(judgement, rank, 0) > 0)
		finding->is_warning = true;
	judgement->failed = judgement->failed || !whole;
}

struct ss_finding *ss_judgement_take_all(struct ss_judgement *judgement)
{
	struct ss_finding *finding = NULL;

	for (uint32_t i = 0; i < judgement->rank_count && !judgement->failed; i++) {
		const struct ss_found_part *part =
			&judgement->rank_findings[i]->parts[judgement->number];

		if (part->claim_from == part->claim_to &&
		    (!judgement->rule->is_timeless || part->fact_from == part->fact_to))
			continue;
		if (!finding)
			finding = ss_judgement_add(judgement, SS_NO_ROW, NULL);
		if (finding)
			ss_judgement_take_rank(judgement, finding, i);
	}
	return finding;
}

enum ss_status ss_diagnosis_judge(struct ss_diagnosis *diagnosis, uint32_t rule,
				  struct ss_error *err)
{
	struct ss_judgement judgement = { .rule = ss_rules[rule],
					  .number = rule,
					  .joined = diagnosis->joined,
					  .replay = &diagnosis->replay,
					  .graphs = diagnosis->graphs,
					  .rank_findings = diagnosis->rank_findings,
					  .rank_count = diagnosis->rank_count,
					  .diagnosis = diagnosis };
	SS_SCRATCH(scratch, diagnosis->memory);

	judgement.scratch = &scratch;
	if (judgement.rule->judge)
		SS_TRY(judgement.rule->judge(&judgement, err));
	else
		(void)ss_judgement_take_all(&judgement);
	for (uint32_t i = 0; i < judgement.rank_count; i++)
		ss_rank_findings_release_claims(judgement.rank_findings[i], rule);
	return judgement.failed ? ss_fail_memory(err, "the findings") : SS_OK;
}
