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

static uint32_t findings_add_text(struct ss_rank_findings *findings, const char *text)
{
	uint32_t id = ss_strings_add(&findings->texts, text, strlen(text));

	if (id == SS_NO_ID)
		findings->failed = true;
	return id == SS_NO_ID ? 0 : id;
}

static uint32_t row_source_line(struct ss_rule_context *context, uint32_t row)
{
	const struct ss_places *places;
	struct ss_error err;

	if (row == SS_NO_ROW)
		return 0;
	if (ss_facts_places(context->subject->facts, &places, &err) != SS_OK) {
		context->findings->failed = true;
		return 0;
	}
	if (row >= places->row_count || !places->line[row])
		return 0;
	return findings_add_text(context->findings,
				 ss_strings_text(&places->lines, places->line[row]));
}

/* Names in a sentence may be cut within a character, and digests refuse such texts: repairs it. */
static uint32_t findings_add_sentence(struct ss_rank_findings *findings, const char *sentence)
{
	char whole[3 * SENTENCE_MAX];
	size_t length = strlen(sentence);

	if (!ss_utf8_check(sentence, length))
		return findings_add_text(findings, sentence);
	whole[ss_utf8_repair(sentence, length, whole)] = '\0';
	return findings_add_text(findings, whole);
}

void ss_rule_add_evidence(struct ss_rule_context *context, struct ss_fact fact, const char *format,
			  ...)
{
	struct ss_rank_findings *findings = context->findings;
	const struct ss_found_part *part = &findings->parts[context->number];
	struct ss_found_fact own = { .weight_ns = fact.weight_ns, .count = fact.count };
	char sentence[SENTENCE_MAX];
	va_list words;

	va_start(words, format);
	vsnprintf(sentence, sizeof(sentence), format, words);
	va_end(words);
	own.text = findings_add_sentence(findings, sentence);
	own.line = row_source_line(context, fact.row);
	for (uint32_t i = part->fact_from; i < findings->fact_count; i++)
		if (findings->facts[i].text == own.text && findings->facts[i].line == own.line) {
			findings->facts[i].weight_ns = ss_ns_sum(findings->facts[i].weight_ns,
								 own.weight_ns);
			findings->facts[i].count += own.count;
			return;
		}
	if (findings->fact_count - part->fact_from >= SS_RULE_EVIDENCE_MAX)
		return;
	if (!SS_GROW(findings->memory, findings->facts, findings->fact_capacity,
		     findings->fact_count)) {
		findings->failed = true;
		return;
	}
	findings->facts[findings->fact_count++] = own;
}

void ss_rule_set_confidence(struct ss_rule_context *context, enum ss_confidence confidence,
			    const char *reason)
{
	struct ss_found_part *part = &context->findings->parts[context->number];

	if (part->is_sure && part->confidence <= confidence)
		return;
	part->is_sure = true;
	part->confidence = confidence;
	part->reason = findings_add_text(context->findings, reason);
}

void ss_rule_set_fix(struct ss_rule_context *context, const char *fix)
{
	context->findings->parts[context->number].fix = fix;
}

void ss_rule_add_figure(struct ss_rule_context *context, uint32_t slot, double value)
{
	struct ss_rank_findings *findings = context->findings;
	struct ss_found_figure *figure = ss_rank_findings_figure(findings, context->number, slot);

	assert(slot < SS_RULE_FIGURES);
	if (figure)
		figure->value += value;
	else if (SS_GROW(findings->memory, findings->figures, findings->figure_capacity,
			 findings->figure_count))
		findings->figures[findings->figure_count++] =
			(struct ss_found_figure){ context->number * SS_RULE_FIGURES + slot, value };
	else
		findings->failed = true;
}
