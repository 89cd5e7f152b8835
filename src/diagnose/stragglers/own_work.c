/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_work.c - finds functions of the program that take longer on one rank than on the others.
 */
#include "diagnose/stragglers/own_work.h"

#include <stdio.h>
#include <string.h>

#include "base/median.h"
#include "diagnose/diagnose.h"
#include "diagnose/evidence/checkpoints_and_logging.h"
#include "diagnose/evidence/code_places.h"
#include "diagnose/evidence/cpu_rows.h"
#include "diagnose/rank_findings.h"
#include "trace/outward.h"

/* Functions kept per rank: the next ones take a fraction of the first. */
#define FUNCTIONS_MAX 12

/* Functions named at most, and the smallest share of the time to be named. */
#define NAMED_MAX 2
#define NAMED_PART 10

/* What kind of frame a name is; found when it first occurs. */
enum { FRAME_NEW = 0, FRAME_OTHER, FRAME_OWN };

struct function_finder {
	struct ss_rule_context *look;
	struct ss_code_places *sites; /* time outside of operators */
	struct ss_code_places *whole; /* and with them */
	uint8_t *kinds;               /* per name */
};

#define OUTSIDE " takes {time} per step outside of operators"
#define WHOLE " takes {time} per step with its operators"

static bool is_program_function(const struct function_finder *finder, uint32_t row)
{
	const struct ss_trace *trace = finder->look->trace;
	uint32_t id = trace->slices.name[row];
	const char *name = ss_strings_text(&trace->names, id);

	if (trace->slices.kind[row] != SS_KIND_PYTHON)
		return false;
	if (!finder->kinds[id])
		finder->kinds[id] = name[0] != '<' && strstr(name, ".py(") &&
						    ss_code_function_name(name)[0] != '<' &&
						    !ss_code_is_library(name)
					    ? FRAME_OWN
					    : FRAME_OTHER;
	return finder->kinds[id] == FRAME_OWN;
}

/* Time belongs to the innermost function of the program. */
static void add_function_time(void *context, uint32_t row, int64_t from_ns, int64_t to_ns)
{
	struct function_finder *finder = context;
	const struct ss_trace *trace = finder->look->trace;
	const uint32_t marks = SS_ROW_OP | SS_ROW_PYTHON | SS_NAME_DATALOADER | SS_NAME_COMM_RANGE;
	bool in_operator = false;

	for (uint32_t tries = 0; tries < SS_OUTWARD_MAX; tries++) {
		row = ss_outward_find(trace, row, marks);
		if (row == SS_NO_ROW)
			return;
		if (ss_slice_flags(trace, row) & (SS_NAME_DATALOADER | SS_NAME_COMM_RANGE))
			return;
		in_operator |= trace->slices.kind[row] == SS_KIND_OP;
		if (is_program_function(finder, row)) {
			ss_code_places_add(finder->whole, trace->slices.name[row], row,
					   to_ns - from_ns);
			if (!in_operator)
				ss_code_places_add(finder->sites, trace->slices.name[row], row,
						   to_ns - from_ns);
			return;
		}
		row = trace->slices.parent[row];
	}
}

/* Adds the functions with the longest time as evidence. */
static void add_longest_functions(struct function_finder *finder, struct ss_code_places *sites,
				  bool with_operators)
{
	struct ss_rule_context *look = finder->look;

	ss_code_places_sort(sites);
	for (uint32_t i = 0; i < sites->count && i < FUNCTIONS_MAX; i++) {
		const struct ss_code_place *site = &sites->items[i];
		struct ss_fact fact = { site->weight_ns, 0, site->row };
		const char *name = ss_code_function_name(
			ss_strings_text(&look->trace->names, site->name));

		if (with_operators)
			ss_rule_add_evidence(look, fact, "%s" WHOLE, name);
		else
			ss_rule_add_evidence(look, fact, "%s" OUTSIDE, name);
	}
}

/* Sums the time of each function over the steps. */
enum ss_status ss_straggler_collect_functions(struct ss_rule_context *look, struct ss_error *err)
{
	struct function_finder finder = { .look = look };

	if (look->digest->device >= 0 || !look->digest->arrival_count ||
	    look->graph->main == SS_NO_ROW)
		return SS_OK;
	if (!SS_ALLOC(look->scratch, finder.kinds, (size_t)look->trace->names.count + 1))
		return ss_fail_memory(err, "the functions of a rank");
	SS_TRY(ss_code_places_make(&finder.sites, look, err));
	SS_TRY(ss_code_places_make(&finder.whole, look, err));
	for (uint32_t i = 0; i < look->steps->count; i++)
		ss_cpu_visit_time(look->trace, look->graph->main, look->steps->items[i],
				  &(struct ss_cpu_visitor){ .add = add_function_time,
							    .context = &finder });
	add_longest_functions(&finder, finder.sites, false);
	add_longest_functions(&finder, finder.whole, true);
	return SS_OK;
}

/* --- all ranks ------------------------------------------------------------------------ */

static const char *findings_text(const struct ss_rank_findings *findings, uint32_t id)
{
	return id ? ss_strings_text(&findings->texts, id) : "";
}

/* What the same function takes on a rank, per step. */
static int64_t function_time_on(const struct ss_judgement *judgement, uint32_t rank,
				const char *text, const char *line)
{
	const struct ss_rank_findings *findings = judgement->rank_findings[rank];
	const struct ss_found_part *part = &findings->parts[judgement->number];

	for (uint32_t i = part->fact_from; i < part->fact_to; i++)
		if (strcmp(findings_text(findings, findings->facts[i].text), text) == 0 &&
		    strcmp(findings_text(findings, findings->facts[i].line), line) == 0)
			return findings->step_count
				       ? findings->facts[i].weight_ns / findings->step_count
				       : 0;
	return 0;
}

static int64_t usual_function_time(const struct ss_judgement *judgement, uint32_t rank,
				   const char *text, const char *line, int64_t *values)
{
	uint32_t count = 0;

	for (uint32_t k = 0; k < judgement->rank_count; k++)
		if (k != rank)
			values[count++] = function_time_on(judgement, k, text, line);
	return count ? ss_nth_smallest(values, count, (count - 1) / 2) : 0;
}

bool ss_straggler_report_functions(struct ss_judgement *judgement, struct ss_finding *finding,
				   uint32_t rank, int64_t excess_ns, bool with_operators)
{
	const struct ss_rank_findings *findings = judgement->rank_findings[rank];
	const struct ss_found_part *part = &findings->parts[judgement->number];
	SS_SCRATCH(arena, judgement->diagnosis->memory);
	bool is_only_here = false;
	uint32_t named = 0;
	int64_t *values;

	if (part->fact_from == part->fact_to)
		return false;
	values = SS_ARENA_NEW(&arena, int64_t, (size_t)judgement->rank_count + 1);
	judgement->failed |= !values;
	for (uint32_t i = part->fact_from; values && i < part->fact_to && named < NAMED_MAX; i++) {
		const struct ss_found_fact *fact = &findings->facts[i];
		const char *text = findings_text(findings, fact->text),
			   *line = findings_text(findings, fact->line);
		const struct ss_evidence evidence = { .text = text,
						      .line = *line ? line : NULL,
						      .weight_ns = fact->weight_ns,
						      .steps = findings->step_count };
		int64_t usual_ns = usual_function_time(judgement, rank, text, line, values);
		int64_t more_ns = function_time_on(judgement, rank, text, line) - usual_ns;

		if ((strstr(text, WHOLE) != NULL) != with_operators || more_ns <= 0 ||
		    more_ns < excess_ns / NAMED_PART)
			continue;
		is_only_here |= usual_ns == 0 && more_ns >= excess_ns / 2;
		judgement->failed |= !ss_finding_add_evidence(judgement->diagnosis, finding,
							      &evidence);
		named++;
	}
	return is_only_here;
}

uint32_t ss_straggler_host_place(const struct ss_digest *rank, int64_t excess_ns,
				 struct ss_memory *memory, int64_t *step_ns)
{
	SS_SCRATCH(arena, memory);
	uint32_t most = 0;
	int64_t *times_ns;

	*step_ns = 0;
	times_ns = SS_ARENA_NEW(&arena, int64_t, (size_t)rank->texts.count + 1);
	for (uint32_t i = 0; times_ns && i < rank->gap_count; i++) {
		uint32_t host = rank->gaps[i].host;

		if (!host)
			continue;
		ss_ns_add(&times_ns[host], rank->gaps[i].end_ns - rank->gaps[i].start_ns);
		most = !most || times_ns[host] > times_ns[most] ? host : most;
	}
	if (most && rank->step_count)
		*step_ns = times_ns[most] / rank->step_count;
	return *step_ns && *step_ns >= excess_ns / 2 ? most : 0;
}

bool ss_straggler_place_words(const struct ss_judgement *judgement, const struct ss_straggler *item,
			      char *out, size_t room)
{
	const struct ss_digest *rank = &judgement->joined->ranks[item->rank];
	uint32_t host = 0;
	const char *name;
	int64_t step_ns;
	size_t length;

	if (rank->device >= 0 && item->excess_ns && item->idle_cause == SS_IDLE_LAUNCH)
		host = ss_straggler_host_place(rank, item->excess_ns, judgement->diagnosis->memory,
					       &step_ns);
	name = host ? ss_strings_text(&rank->texts, host) : "";
	length = strlen(name);
	if (length >= room)
		for (length = room - 1; length && ((unsigned char)name[length] & 0xC0) == 0x80;)
			length--;
	snprintf(out, room, "%.*s", (int)length, name);
	return host != 0;
}

void ss_straggler_report_gaps(struct ss_judgement *judgement, struct ss_finding *finding,
			      const struct ss_straggler *item, const char *who)
{
	const struct ss_digest *rank = &judgement->joined->ranks[item->rank];
	int64_t step_ns;
	uint32_t host = ss_straggler_host_place(rank, item->excess_ns, judgement->diagnosis->memory,
						&step_ns);

	if (host)
		ss_judgement_add_evidence(
			judgement, finding, step_ns,
			"%swhile its GPU is idle, its host is in %s: {time} per step", who,
			ss_strings_text(&rank->texts, host));
}

void ss_straggler_report_clock(struct ss_judgement *judgement, struct ss_finding *finding,
			       const struct ss_straggler *item)
{
	long long own = item->clock_mhz, usual = item->usual_clock_mhz;

	if (ss_straggler_is_throttled(item))
		ss_judgement_add_evidence(judgement, finding, 0,
					  "its SM clock is %lld MHz, that of the median rank %lld "
					  "MHz: the GPU is throttled",
					  own, usual);
	else if (usual)
		ss_judgement_add_evidence(judgement, finding, 0,
					  "its SM clock is %lld MHz, that of the median rank %lld "
					  "MHz: a lower clock is not the reason",
					  own, usual);
}
