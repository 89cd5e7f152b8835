/* SPDX-License-Identifier: Apache-2.0 */
/*
 * small_collectives.c - finds runs among the arrivals of a rank, and claims them.
 */
#include "diagnose/evidence/small_collectives.h"

#include <string.h>

#include "base/ns.h"
#include "diagnose/evidence/removed_ranges.h"
#include "ranks/digest.h"

/* Latency is most of their time up to here: 64 KB take as long as 8 (nccl-tests on H100). */
#define SMALL_BYTES 65536

/* Where sizes are not recorded: gloo moves small messages in some 100 us. */
#define SMALL_NS 500000

/* Fewer are not worth a change of the program. */
#define RUN_MIN 4

/* Of its own time: what a rank computes between two of a run, at most. */
#define BETWEEN 0.5

struct small_run {
	struct ss_rule_context *context;
	uint8_t *gone; /* per task: a transfer that is not needed any more */
	int64_t moved_ns;
	uint32_t claimed;
	uint32_t longest, longest_from; /* the run with the most collectives: its first arrival */
};

/* A size that is not recorded may be small. */
static bool may_be_small(const struct ss_arrival *arrival)
{
	return ss_collective_is_symmetric(arrival->kind) &&
	       arrival->kind != SS_COLLECTIVE_BARRIER && arrival->step != UINT32_MAX &&
	       arrival->bytes <= SMALL_BYTES;
}

/* Whether an arrival comes right after another one that it could have been part of. */
static bool continues_run(const struct ss_digest *digest, uint32_t i)
{
	const struct ss_arrival *own = &digest->arrivals[i], *before = own - 1;
	int64_t own_ns[SS_OWN_PARTS];

	if (!i || !may_be_small(own) || !may_be_small(before) || own->kind != before->kind ||
	    own->group != before->group || own->step != before->step ||
	    own->start_ns < before->end_ns)
		return false;
	ss_digest_own(digest, own, own_ns);
	return (double)own_ns[SS_OWN_COMPUTE] <=
	       BETWEEN * (double)(own->end_ns - own->start_ns + before->end_ns - before->start_ns);
}

/* Without sizes, most of a run must be short: some wait for a rank that is late. */
static bool is_small_run(const struct ss_digest *digest, uint32_t from, uint32_t to)
{
	uint32_t small = 0;

	for (uint32_t i = from; i < to; i++) {
		const struct ss_arrival *arrival = &digest->arrivals[i];

		small += arrival->bytes >= 0 || arrival->end_ns - arrival->start_ns <= SMALL_NS;
	}
	return to - from >= RUN_MIN && small * 2 >= to - from;
}

static void claim_run(struct small_run *run, uint32_t from, uint32_t to)
{
	const struct ss_digest *digest = run->context->digest;
	uint32_t claimed = 0;

	for (uint32_t i = from + 1; i < to; i++) {
		const struct ss_arrival *arrival = &digest->arrivals[i];
		uint32_t task = ss_replay_graph_comm_of(run->context->graph, arrival->row);

		if (task == SS_NO_TASK || run->context->graph->tasks[task + 1].step == SS_NO_STEP ||
		    !ss_rule_claim(run->context,
				   (struct ss_claim){ .task = task + 1, .releases = true }))
			continue;
		run->gone[task + 1] = true;
		claimed++;
		run->moved_ns = ss_ns_sum(run->moved_ns, arrival->end_ns - arrival->start_ns);
	}
	run->claimed += claimed;
	if (claimed && to - from > run->longest) {
		run->longest = to - from;
		run->longest_from = from;
	}
}

/* The host row that asked for a collective: its launch, or the last request before it began. */
static uint32_t requesting_row(const struct ss_rule_context *context, uint32_t row)
{
	const struct ss_trace *trace = context->trace;
	uint32_t found = SS_NO_ROW;

	if (row >= trace->device_from)
		return trace->slices.link[row];
	for (uint32_t i = 0; i < trace->device_from; i++)
		if (trace->slices.start_ns[i] <= trace->slices.start_ns[row] &&
		    (found == SS_NO_ROW ||
		     trace->slices.start_ns[i] >= trace->slices.start_ns[found]) &&
		    strncmp(ss_strings_text(&trace->names, trace->slices.name[i]), "c10d::", 6) ==
			    0)
			found = i;
	return found;
}

static void report_runs(struct small_run *run)
{
	struct ss_rule_context *context = run->context;
	const struct ss_arrival *first = &context->digest->arrivals[run->longest_from];
	struct ss_fact fact = { run->moved_ns, (double)run->claimed,
				requesting_row(context, first->row) };

	ss_rule_add_evidence(context, fact,
			     "small %ss come one after another: {count} per step could be part of "
			     "the one before, {time} including waits",
			     ss_collective_kind_name(first->kind));
	ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM,
			       "almost nothing is computed between them");
}

enum ss_status ss_small_collectives_claim(struct ss_rule_context *context, struct ss_error *err)
{
	const struct ss_digest *digest = context->digest;
	struct small_run run = { .context = context };
	SS_SCRATCH(arena, context->memory);

	run.gone = SS_ARENA_NEW(&arena, uint8_t, (size_t)context->graph->task_count + 2);
	for (uint32_t from = 0, to; run.gone && from < digest->arrival_count; from = to) {
		for (to = from + 1; to < digest->arrival_count && continues_run(digest, to);)
			to++;
		if (is_small_run(digest, from, to))
			claim_run(&run, from, to);
	}
	if (run.gone && run.claimed) {
		ss_rule_release_joins(run.context, run.gone);
		report_runs(&run);
	}
	return run.gone ? SS_OK : ss_fail_memory(err, "small collectives");
}
