/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claims.c - what a rule claims of a rank: tasks of the graph, and time of threads.
 */
#include "base/search.h"
#include "base/sort.h"
#include "diagnose/rank_findings.h"

bool ss_rule_can_claim(struct ss_rule_context *context, uint32_t task)
{
	const struct ss_rank_findings *findings = context->findings;

	if (!context->has_turn)
		ss_rule_await_turn(context);
	return task < findings->task_count &&
	       (!findings->owner[task] || findings->owner[task] == context->number + 1);
}

/* Adds a claim of the rule that does not change the task yet; NULL: no memory. */
static struct ss_claim *findings_new_claim(struct ss_rule_context *context, uint32_t task,
					   uint8_t with)
{
	struct ss_rank_findings *findings = context->findings;
	int64_t own_ns = context->graph->tasks[task].own_ns;

	if (!SS_GROW(findings->memory, findings->claims, findings->claim_capacity,
		     findings->claim_count)) {
		findings->failed = true;
		return NULL;
	}
	findings->claims[findings->claim_count++] = (struct ss_claim){ .task = task,
								       .own_ns = own_ns,
								       .low_ns = own_ns,
								       .high_ns = own_ns,
								       .subtracts = true,
								       .with = with };
	findings->claim_of[task] = findings->claim_count;
	return &findings->claims[findings->claim_count - 1];
}

/* The rule's claim on a task, old or new; NULL: another rule has it, or no memory. */
static struct ss_claim *claim_of_task(struct ss_rule_context *context, uint32_t task)
{
	struct ss_rank_findings *findings = context->findings;

	if (!ss_rule_can_claim(context, task))
		return NULL;
	if (findings->claim_of[task])
		return &findings->claims[findings->claim_of[task] - 1];
	findings->owner[task] = (uint8_t)(context->number + 1);
	return findings_new_claim(context, task, 0);
}

/* The same if another rule claims only a part of the task. */
static struct ss_claim *shared_claim_of_task(struct ss_rule_context *context, uint32_t task)
{
	struct ss_rank_findings *findings = context->findings;
	const struct ss_found_part *part = &findings->parts[context->number];
	uint32_t last;

	if (ss_rule_can_claim(context, task))
		return claim_of_task(context, task);
	last = task < findings->task_count ? findings->claim_of[task] : 0;
	if (!last || !findings->claims[last - 1].subtracts)
		return NULL;
	return last > part->claim_from ? &findings->claims[last - 1]
				       : findings_new_claim(context, task, findings->owner[task]);
}

/* Remembers that a rule explains this time of a thread. */
static void findings_note_taken(struct ss_rank_findings *findings, struct ss_found_taken taken)
{
	struct ss_found_taken *last = findings->taken_count
					      ? &findings->taken[findings->taken_count - 1]
					      : NULL;

	if (taken.end_ns <= taken.start_ns)
		return;
	/* tasks of a thread are claimed one after the other, in either direction */
	if (last && last->track == taken.track && taken.start_ns == last->end_ns) {
		last->end_ns = taken.end_ns;
		return;
	}
	if (last && last->track == taken.track && taken.end_ns == last->start_ns) {
		last->start_ns = taken.start_ns;
		return;
	}
	if (SS_GROW(findings->memory, findings->taken, findings->taken_capacity,
		    findings->taken_count))
		findings->taken[findings->taken_count++] = taken;
	else
		findings->failed = true;
}

/*
 * How much of [from, to) of a task other rules have claimed. Usually few rules claim parts of a
 * long task; with too many claims, all of it counts as claimed.
 */
#define TAKEN_MAX 4096

/* Rules claim in the order of time: of most blocks nothing lies in a stretch. */
#define BLOCK 16

/* Notes from when to when the claims of each block last; the last claim may still grow. */
static bool findings_bound_blocks(struct ss_rank_findings *findings)
{
	while ((findings->block_count + 1) * BLOCK < findings->taken_count) {
		const struct ss_found_taken *taken =
			&findings->taken[findings->block_count * BLOCK];
		struct ss_interval block = { taken->start_ns, taken->end_ns };

		if (!SS_GROW(findings->memory, findings->blocks, findings->block_capacity,
			     findings->block_count))
			return false;
		for (uint32_t i = 1; i < BLOCK; i++) {
			if (taken[i].start_ns < block.start_ns)
				block.start_ns = taken[i].start_ns;
			if (taken[i].end_ns > block.end_ns)
				block.end_ns = taken[i].end_ns;
		}
		findings->blocks[findings->block_count++] = block;
	}
	return true;
}

/* Whether no claim of the block lies in [from, to). */
static bool findings_lack(const struct ss_rank_findings *findings, uint32_t block, int64_t from_ns,
			  int64_t to_ns)
{
	return block < findings->block_count && (findings->blocks[block].start_ns >= to_ns ||
						 findings->blocks[block].end_ns <= from_ns);
}

static int64_t findings_taken_ns(struct ss_rank_findings *findings, uint32_t track, int64_t from_ns,
				 int64_t to_ns)
{
	int64_t sum_ns = 0;

	if (findings->taken_count > TAKEN_MAX)
		return to_ns - from_ns;
	findings->failed |= !findings_bound_blocks(findings);
	for (uint32_t i = 0; i < findings->taken_count; i++) {
		const struct ss_found_taken *taken = &findings->taken[i];
		int64_t start_ns = taken->start_ns > from_ns ? taken->start_ns : from_ns;
		int64_t end_ns = taken->end_ns < to_ns ? taken->end_ns : to_ns;

		if (i % BLOCK == 0 && findings_lack(findings, i / BLOCK, from_ns, to_ns))
			i += BLOCK - 1;
		else if (taken->track == track && end_ns > start_ns)
			sum_ns = ss_ns_sum(sum_ns, end_ns - start_ns);
	}
	return sum_ns < to_ns - from_ns ? sum_ns : to_ns - from_ns;
}

static int64_t shorter_ns(int64_t now_ns, int64_t wanted_ns)
{
	if (wanted_ns < 0)
		wanted_ns = 0;
	return wanted_ns < now_ns ? wanted_ns : now_ns;
}

/* Claims a part of what the owner of the task leaves; NULL: nobody owns it, or no memory. */
static struct ss_claim *scaled_claim_of_task(struct ss_rule_context *context, uint32_t task)
{
	struct ss_rank_findings *findings = context->findings;
	const struct ss_found_part *part = &findings->parts[context->number];
	uint32_t last;

	if (ss_rule_can_claim(context, task) || task >= findings->task_count)
		return NULL;
	last = findings->claim_of[task];
	return last > part->claim_from ? &findings->claims[last - 1]
				       : findings_new_claim(context, task, findings->owner[task]);
}

bool ss_rule_claim(struct ss_rule_context *context, struct ss_claim claim)
{
	struct ss_claim *own = claim.scales ? scaled_claim_of_task(context, claim.task) : NULL;

	if (own)
		own->scales = true;
	else
		own = claim_of_task(context, claim.task);
	if (!own)
		return false;
	own->own_ns = shorter_ns(own->own_ns, claim.own_ns);
	own->low_ns = shorter_ns(own->low_ns, claim.low_ns);
	own->high_ns = shorter_ns(own->high_ns, claim.high_ns);
	if (own->low_ns < own->own_ns)
		own->low_ns = own->own_ns;
	if (own->high_ns > own->own_ns)
		own->high_ns = own->own_ns;
	own->releases |= claim.releases;
	own->unlocks |= claim.unlocks;
	own->merges |= claim.merges;
	own->subtracts = false;
	if (context->graph->tasks[claim.task].kind <= SS_TASK_JOIN)
		findings_note_taken(context->findings,
				    (struct ss_found_taken){
					    context->graph->tasks[claim.task].start_ns,
					    ss_task_end(&context->graph->tasks[claim.task]),
					    context->graph->tasks[claim.task].track });
	return true;
}

/* --- time ---------------------------------------------------------------------------- */

struct task_place {
	int64_t start_ns;
	uint32_t track, task;
};

SS_COMPARATOR(task_compare_place, struct task_place,
	      SS_ASCENDING(track) SS_ASCENDING(start_ns) SS_ASCENDING(task))

/* Sorts the tasks of one track, which usually are in order. */
static bool findings_sort_track(const struct ss_rule_context *context, uint32_t *tasks,
				uint32_t count, struct ss_arena *scratch)
{
	const struct ss_task *all = context->graph->tasks;
	struct task_place *places;
	uint32_t at = 1;

	while (at < count && all[tasks[at - 1]].start_ns <= all[tasks[at]].start_ns)
		at++;
	if (at >= count)
		return true;
	if (!SS_ALLOC(scratch, places, count))
		return false;
	for (uint32_t i = 0; i < count; i++)
		places[i] = (struct task_place){ all[tasks[i]].start_ns, all[tasks[i]].track,
						 tasks[i] };
	if (!ss_sort_runs(places, count, sizeof(*places), task_compare_place, context->memory))
		return false;
	for (uint32_t i = 0; i < count; i++)
		tasks[i] = places[i].task;
	return true;
}

/* Sorts the tasks by track and start; those without a track come last. */
static bool findings_sort_tasks(struct ss_rule_context *context)
{
	struct ss_rank_findings *findings = context->findings;
	const struct ss_task *tasks = context->graph->tasks;
	uint32_t tracks = 0, *ends, from = 0;
	SS_SCRATCH(scratch, findings->memory);

	for (uint32_t i = 0; i < findings->task_count; i++)
		if (tasks[i].track != SS_NO_ROW && tasks[i].track >= tracks)
			tracks = tasks[i].track + 1;

	findings->by_track = ss_memory_resize(findings->memory, NULL, 0,
					      ((size_t)findings->task_count + 1) *
						      sizeof(uint32_t));
	findings->failed |= !findings->by_track || !SS_ALLOC(&scratch, ends, (size_t)tracks + 2);
	if (findings->failed)
		return false;
	for (uint32_t i = 0; i < findings->task_count; i++)
		ends[(tasks[i].track < tracks ? tasks[i].track : tracks) + 1]++;
	for (uint32_t i = 1; i <= tracks; i++)
		ends[i] += ends[i - 1];
	for (uint32_t i = 0; i < findings->task_count; i++)
		findings->by_track[ends[tasks[i].track < tracks ? tasks[i].track : tracks]++] = i;
	for (uint32_t i = 0; i <= tracks && !findings->failed; from = ends[i++])
		findings->failed |= !findings_sort_track(context, findings->by_track + from,
							 ends[i] - from, &scratch);
	return !findings->failed;
}

static bool task_is_before(const struct ss_graph *graph, uint32_t task,
			   const struct task_place *wanted)
{
	const struct task_place place = { graph->tasks[task].start_ns, graph->tasks[task].track,
					  task };

	return task_compare_place(&place, wanted) < 0;
}

/* The first of the sorted tasks that does not start before the moment. */
static uint32_t tasks_first_from(const struct ss_rule_context *context, uint32_t track,
				 int64_t from_ns)
{
	const struct task_place wanted = { from_ns, track, 0 };
	uint32_t low = 0, high = context->findings->task_count;

	SS_SEARCH(low, high, at,
		  task_is_before(context->graph, context->findings->by_track[at], &wanted));
	return low;
}

static int64_t claim_take_from(struct ss_rule_context *context, uint32_t task, int64_t gone_ns,
			       int64_t low_gone_ns)
{
	struct ss_claim *claim = gone_ns > 0 ? shared_claim_of_task(context, task) : NULL;

	if (!claim)
		return 0;
	gone_ns = gone_ns < claim->own_ns ? gone_ns : claim->own_ns;
	claim->own_ns -= gone_ns;
	claim->high_ns = claim->own_ns < claim->high_ns ? claim->own_ns : claim->high_ns;
	claim->low_ns -= low_gone_ns;
	if (claim->low_ns < claim->own_ns)
		claim->low_ns = claim->own_ns;
	return gone_ns;
}

/* Of a length what stays: as much as is still to be kept. */
static int64_t stretch_take_kept(int64_t *keep_ns, int64_t length_ns)
{
	int64_t kept_ns = *keep_ns < length_ns ? *keep_ns : length_ns;

	*keep_ns -= kept_ns;
	return kept_ns;
}

static bool task_waits_for_workers(const struct ss_graph *graph, const struct ss_task *task)
{
	for (uint32_t i = task->edges; i < task[1].edges; i++)
		if (graph->edges[i].kind == SS_EDGE_BATCH)
			return task->kind == SS_TASK_JOIN;
	return false;
}

/* The return of a call that lies in the time as a whole: nothing is waited for then. */
static void claim_release_wait(struct ss_rule_context *context, uint32_t at, int64_t from_ns)
{
	uint32_t task = context->findings->by_track[at];
	bool is_batch = task_waits_for_workers(context->graph, &context->graph->tasks[task]);
	const struct ss_task *before =
		at ? &context->graph->tasks[context->findings->by_track[at - 1]] : NULL;
	struct ss_claim *claim;

	if (!is_batch && context->graph->tasks[task].kind != SS_TASK_WAIT)
		return;
	if (!before || before->track != context->graph->tasks[task].track ||
	    before->kind != (is_batch ? SS_TASK_INPUT : SS_TASK_CALL) || before->start_ns < from_ns)
		return;
	claim = claim_of_task(context, task);
	if (claim)
		claim->releases = true;
}

int64_t ss_rule_claim_time(struct ss_rule_context *context, struct ss_stretch stretch)
{
	struct ss_rank_findings *findings = context->findings;
	int64_t gone_ns = 0, low_keep_ns;
	uint32_t i;

	if (stretch.to_ns <= stretch.from_ns)
		return 0;
	if (!context->has_turn)
		ss_rule_await_turn(context);
	if (findings->failed || (!findings->by_track && !findings_sort_tasks(context)))
		return 0;
	low_keep_ns = stretch.low_keep_ns > stretch.keep_ns ? stretch.low_keep_ns : stretch.keep_ns;
	i = tasks_first_from(context, stretch.track, stretch.from_ns);
	/* what starts before may reach into it */
	if (i && context->graph->tasks[findings->by_track[i - 1]].track == stretch.track)
		i--;
	for (; i < findings->task_count; i++) {
		uint32_t number = findings->by_track[i];
		const struct ss_task *task = &context->graph->tasks[number];
		int64_t start_ns = task->start_ns > stretch.from_ns ? task->start_ns
								    : stretch.from_ns;
		int64_t end_ns = ss_task_end(task);
		int64_t gone, low_gone, others_ns = 0;

		if (task->track != stretch.track || task->start_ns > stretch.to_ns)
			break;
		if ((task->kind == SS_TASK_WAIT || task->kind == SS_TASK_JOIN) &&
		    task->start_ns > stretch.from_ns)
			claim_release_wait(context, i, stretch.from_ns);
		end_ns = end_ns < stretch.to_ns ? end_ns : stretch.to_ns;
		if (end_ns <= start_ns)
			continue;
		if (!ss_rule_can_claim(context, number))
			others_ns = findings_taken_ns(findings, stretch.track, start_ns, end_ns);
		gone = end_ns - start_ns - others_ns;
		low_gone = gone - stretch_take_kept(&low_keep_ns, gone);
		gone -= stretch_take_kept(&stretch.keep_ns, gone);
		gone_ns += claim_take_from(context, number, gone, low_gone);
	}
	findings_note_taken(findings, (struct ss_found_taken){ stretch.from_ns, stretch.to_ns,
							       stretch.track });
	return gone_ns;
}
