/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentences.c - what a rule says of a rank: evidence, confidence, fix and figures.
 */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "diagnose/rank_findings.h"

/* Longer sentences would not be read. */
#define SENTENCE_MAX 512

static uint32_t words_add_text(struct ss_found_words *words, const char *text)
{
	uint32_t id = SS_NO_ID;

	if (!words->failed && !words->texts.count && !ss_strings_init(&words->texts, words->memory))
		ss_strings_release(&words->texts);
	if (words->texts.count)
		id = ss_strings_add(&words->texts, text, strlen(text));
	if (id == SS_NO_ID)
		words->failed = true;
	return id == SS_NO_ID ? 0 : id;
}

static uint32_t row_source_line(struct ss_rule_context *context, uint32_t row)
{
	const struct ss_places *places;
	struct ss_error err;

	if (row == SS_NO_ROW)
		return 0;
	if (ss_facts_places(context->subject->facts, &places, &err) != SS_OK) {
		context->words->failed = true;
		return 0;
	}
	if (row >= places->row_count || !places->line[row])
		return 0;
	return words_add_text(context->words, ss_strings_text(&places->lines, places->line[row]));
}

/* Names in a sentence may be cut within a character, and digests refuse such texts: repairs it. */
static uint32_t words_add_sentence(struct ss_found_words *words, const char *sentence)
{
	char whole[3 * SENTENCE_MAX];
	size_t length = strlen(sentence);

	if (!ss_utf8_check(sentence, length))
		return words_add_text(words, sentence);
	whole[ss_utf8_repair(sentence, length, whole)] = '\0';
	return words_add_text(words, whole);
}

void ss_rule_add_evidence(struct ss_rule_context *context, struct ss_fact fact, const char *format,
			  ...)
{
	struct ss_found_words *words = context->words;
	struct ss_found_fact own = { .weight_ns = fact.weight_ns, .count = fact.count };
	char sentence[SENTENCE_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(sentence, sizeof(sentence), format, arguments);
	va_end(arguments);
	own.text = words_add_sentence(words, sentence);
	own.line = row_source_line(context, fact.row);
	for (uint32_t i = 0; i < words->fact_count; i++)
		if (words->facts[i].text == own.text && words->facts[i].line == own.line) {
			words->facts[i].weight_ns = ss_ns_sum(words->facts[i].weight_ns,
							      own.weight_ns);
			words->facts[i].count += own.count;
			return;
		}
	if (words->fact_count >= SS_RULE_EVIDENCE_MAX)
		return;
	if (SS_GROW(words->memory, words->facts, words->fact_capacity, words->fact_count))
		words->facts[words->fact_count++] = own;
	else
		words->failed = true;
}

void ss_rule_set_confidence(struct ss_rule_context *context, enum ss_confidence confidence,
			    const char *reason)
{
	struct ss_found_part *part = &context->words->part;

	if (part->is_sure && part->confidence <= confidence)
		return;
	part->is_sure = true;
	part->confidence = confidence;
	part->reason = words_add_text(context->words, reason);
}

void ss_rule_set_fix(struct ss_rule_context *context, const char *fix)
{
	context->words->part.fix = fix;
}

void ss_rule_set_shares(struct ss_rule_context *context, double warn_share, double silent_share)
{
	context->words->part.warn_share = warn_share;
	context->words->part.silent_share = silent_share;
}

void ss_rule_add_figure(struct ss_rule_context *context, uint32_t slot, double value)
{
	struct ss_found_words *words = context->words;
	struct ss_found_figure figure = { context->number * SS_RULE_FIGURES + slot, value };

	assert(slot < SS_RULE_FIGURES);
	for (uint32_t i = 0; i < words->figure_count; i++)
		if (words->figures[i].slot == figure.slot) {
			words->figures[i].value += value;
			return;
		}
	if (SS_GROW(words->memory, words->figures, words->figure_capacity, words->figure_count))
		words->figures[words->figure_count++] = figure;
	else
		words->failed = true;
}

/* --- all rules -------------------------------------------------------------------------- */

void ss_rank_findings_release_words(struct ss_found_words *words)
{
	if (words->texts.count)
		ss_strings_release(&words->texts);
	SS_FREE(words->memory, words->facts, words->fact_capacity);
	SS_FREE(words->memory, words->figures, words->figure_capacity);
	*words = (struct ss_found_words){ 0 };
}

/* The number that a text of the words has in the findings. */
static uint32_t findings_take_text(struct ss_rank_findings *findings,
				   const struct ss_found_words *words, uint32_t text)
{
	const char *own = text ? ss_strings_text(&words->texts, text) : "";
	uint32_t id = ss_strings_add(&findings->texts, own, strlen(own));

	findings->failed |= id == SS_NO_ID;
	return id == SS_NO_ID ? 0 : id;
}

bool ss_rank_findings_take_words(struct ss_rank_findings *findings, uint32_t rule,
				 const struct ss_found_words *words)
{
	struct ss_found_part *part = &findings->parts[rule];
	size_t facts = (size_t)findings->fact_count + words->fact_count;
	size_t figures = (size_t)findings->figure_count + words->figure_count;

	part->fact_from = part->fact_to = findings->fact_count;
	part->is_sure = words->part.is_sure;
	part->confidence = words->part.confidence;
	part->fix = words->part.fix;
	part->warn_share = words->part.warn_share;
	part->silent_share = words->part.silent_share;
	/* in their order: numbers of texts do not depend on threads */
	for (uint32_t i = 1; i < words->texts.count; i++)
		findings_take_text(findings, words, i);
	part->reason = findings_take_text(findings, words, words->part.reason);
	if (findings->failed ||
	    !SS_RESERVE(findings->memory, findings->facts, findings->fact_capacity, facts) ||
	    !SS_RESERVE(findings->memory, findings->figures, findings->figure_capacity, figures))
		return false;
	for (uint32_t i = 0; i < words->fact_count; i++) {
		struct ss_found_fact *fact = &findings->facts[findings->fact_count++];

		*fact = words->facts[i];
		fact->text = findings_take_text(findings, words, fact->text);
		fact->line = findings_take_text(findings, words, fact->line);
	}
	part->fact_to = findings->fact_count;
	for (uint32_t i = 0; i < words->figure_count; i++)
		findings->figures[findings->figure_count++] = words->figures[i];
	return !findings->failed;
}
