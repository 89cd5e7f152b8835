/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_findings.c - runs all rules on one rank, and keeps what they find.
 */
#include "diagnose/rank_findings.h"

#include <string.h>

#include "analyze/time/roles.h"
#include "base/system/thread.h"

void ss_rank_findings_release(struct ss_rank_findings *findings)
{
	struct ss_memory *memory = findings->memory;
	size_t tasks = (size_t)findings->task_count + 1;

	if (!memory)
		return;
	ss_strings_release(&findings->texts);
	SS_FREE(memory, findings->figures, findings->figure_capacity);
	SS_FREE(memory, findings->parts, (size_t)findings->part_count + 1);
	SS_FREE(memory, findings->claims, findings->claim_capacity);
	SS_FREE(memory, findings->facts, findings->fact_capacity);
	ss_memory_free(memory, findings->owner, tasks);
	SS_FREE(memory, findings->claim_of, tasks);
	SS_FREE(memory, findings->by_track, tasks);
	SS_FREE(memory, findings->taken, findings->taken_capacity);
	SS_FREE(memory, findings->blocks, findings->block_capacity);
	*findings = (struct ss_rank_findings){ 0 };
}

bool ss_rank_findings_claim(struct ss_rank_findings *findings, uint32_t rule, uint32_t task)
{
	if (task >= findings->task_count ||
	    (findings->owner[task] && findings->owner[task] != rule + 1))
		return false;
	findings->owner[task] = (uint8_t)(rule + 1);
	return true;
}

void ss_rank_findings_reset(struct ss_rank_findings *findings)
{
	if (findings->task_count)
		memset(findings->owner, 0, findings->task_count);
	for (uint32_t rule = 0; rule < ss_rule_count; rule++) {
		struct ss_found_part *part = &findings->parts[rule];

		part->is_taken = false;
		for (uint32_t i = part->claim_from; i < part->claim_to; i++)
			if (!findings->claims[i].with)
				findings->owner[findings->claims[i].task] = (uint8_t)(rule + 1);
	}
}

void ss_rank_findings_release_claims(struct ss_rank_findings *findings, uint32_t rule)
{
	const struct ss_found_part *part = &findings->parts[rule];

	for (uint32_t i = part->claim_from; !part->is_taken && i < part->claim_to; i++)
		if (findings->owner[findings->claims[i].task] == rule + 1)
			findings->owner[findings->claims[i].task] = 0;
}

/* --- all rules ----------------------------------------------------------------------- */

static uint32_t rule_facts(const struct ss_rule *rule, const struct ss_digest *digest)
{
	return rule->facts | (digest->device < 0 ? rule->host_facts : 0);
}

/* The facts that this rule and those after it ask for. */
static uint32_t rules_facts_from(uint32_t rule, const struct ss_digest *digest)
{
	uint32_t facts = 0;

	for (; rule < ss_rule_count; rule++)
		facts |= rule_facts(ss_rules[rule], digest);
	return facts;
}

uint32_t ss_rank_findings_facts(const struct ss_digest *digest)
{
	return ss_facts_with_needed(rules_facts_from(0, digest));
}

/* --- one rule after the other, or several at a time ------------------------------------ */

/*
 * Rules start in their order. A rule that has to wait for its turn to claim lets another thread
 * work: with as many more of them, rules behind it search meanwhile.
 */
#define SPARE_THREADS 2

struct rule_look {
	struct ss_found_words words;
	bool is_running;
	bool has_claimed; /* and claims nothing more */
};

struct ss_rules_run {
	const struct ss_looking *looking;
	struct ss_rule_context context; /* as that of every rule begins */
	struct ss_rule_shared shared;
	struct rule_look *looks; /* per rule */
	struct ss_gate *gate;    /* NULL: one thread. Guards what follows */
	uint32_t next;           /* rule that has not started */
	uint32_t turn;           /* rule that may claim */
	uint32_t working;        /* threads that do not wait for their turn */
	bool is_called;          /* the rule whose turn it is waits until a thread stops working */
	bool is_beside_done;
	enum ss_status status; /* the first failure */
	struct ss_error *err;
};

static void run_lock(struct ss_rules_run *run)
{
	if (run->gate)
		ss_gate_lock(run->gate);
}

static void run_unlock(struct ss_rules_run *run)
{
	if (run->gate)
		ss_gate_unlock(run->gate);
}

/* One thread less works. */
static void run_rest(struct ss_rules_run *run)
{
	run->working--;
	if (run->gate)
		ss_gate_wake(run->gate);
}

/* Gives the turn to the first rule that may still claim. */
static void run_pass_turn(struct ss_rules_run *run, uint32_t rule)
{
	struct ss_rank_findings *findings = run->context.findings;

	run->looks[rule].has_claimed = true;
	while (run->turn < ss_rule_count && run->looks[run->turn].has_claimed) {
		findings->parts[run->turn++].claim_to = findings->claim_count;
		if (run->turn < ss_rule_count)
			findings->parts[run->turn].claim_from = findings->claim_count;
	}
	if (run->gate)
		ss_gate_wake(run->gate);
}

void ss_rule_await_turn(struct ss_rule_context *context)
{
	struct ss_rules_run *run = context->run;

	if (run && run->gate) {
		run_lock(run);
		assert(!run->looks[context->number].has_claimed);
		run_rest(run);
		while (run->turn != context->number)
			ss_gate_wait(run->gate);
		run->is_called = true;
		while (run->working >= run->looking->threads)
			ss_gate_wait(run->gate);
		run->is_called = false;
		run->working++;
		run_unlock(run);
	}
	context->has_turn = true;
}

void ss_rule_end_claims(struct ss_rule_context *context)
{
	struct ss_rules_run *run = context->run;

	if (!run)
		return;
	run_lock(run);
	run_pass_turn(run, context->number);
	run_unlock(run);
	context->has_turn = false;
}

void ss_rule_share(struct ss_rule_context *context)
{
	if (context->shared->gate)
		ss_gate_lock(context->shared->gate);
}

void ss_rule_unshare(struct ss_rule_context *context)
{
	if (context->shared->gate)
		ss_gate_unlock(context->shared->gate);
}

static bool rule_can_look(const struct ss_rule_context *context)
{
	const struct ss_rule *rule = context->rule;

	return rule->look && (context->steps->count || rule->needs_no_steps) &&
	       (context->digest->device >= 0 || !rule->needs_device);
}

/* Lets the rule look, and frees what it made meanwhile. */
static enum ss_status rule_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct ss_found_words *words = context->words;
	SS_SCRATCH(scratch, context->memory);
	enum ss_status status = SS_OK;

	context->scratch = &scratch;
	if (rule_can_look(context))
		status = context->rule->look(context, err);
	if (context->places)
		context->release_places(context->places);
	if (!words->part.fix)
		words->part.fix = ss_rule_choose_fix(context->rule->fixes, context->job_kind);
	if (status == SS_OK && (context->failed || words->failed))
		status = ss_fail_memory(err, "what a rule found on a rank");
	return status;
}

/* The next rule, when a thread may work on it; ss_rule_count: none is left. */
static uint32_t run_next_rule(struct ss_rules_run *run)
{
	uint32_t rule = (uint32_t)ss_rule_count;

	run_lock(run);
	while (run->gate && (run->working >= run->looking->threads || run->is_called) &&
	       run->next < ss_rule_count)
		ss_gate_wait(run->gate);
	if (run->status == SS_OK && run->next < ss_rule_count) {
		rule = run->next++;
		run->looks[rule].is_running = true;
		run->working++;
	}
	run_unlock(run);
	return rule;
}

/* The large facts that rules need which are not done. */
static uint32_t run_needed_facts(const struct ss_rules_run *run)
{
	const struct ss_digest *digest = run->looking->digest;
	uint32_t facts = rules_facts_from(run->next, digest);

	for (uint32_t i = 0; i < run->next; i++)
		if (run->looks[i].is_running)
			facts |= rule_facts(ss_rules[i], digest) | ss_rules[i]->rare_facts;
	return facts;
}

static void run_end_rule(struct ss_rules_run *run, uint32_t rule, enum ss_status status,
			 const struct ss_error *problem)
{
	run_lock(run);
	run->looks[rule].is_running = false;
	if (status != SS_OK && run->status == SS_OK) {
		run->status = status;
		if (run->err)
			*run->err = *problem;
	}
	ss_facts_keep_only(run->looking->subject->facts, run_needed_facts(run));
	run_pass_turn(run, rule);
	run_rest(run);
	run_unlock(run);
}

/* One of the threads does what is to be done beside the rules. */
static void run_beside(struct ss_rules_run *run)
{
	const struct ss_looking *looking = run->looking;
	bool is_first;

	run_lock(run);
	is_first = !run->is_beside_done;
	run->is_beside_done = true;
	run->working += is_first;
	run_unlock(run);
	if (!is_first)
		return;
	if (looking->beside)
		looking->beside(looking->context);
	run_lock(run);
	run_rest(run);
	run_unlock(run);
}

static void run_work(void *context, uint32_t index)
{
	struct ss_rules_run *run = context;
	struct ss_facts *facts = run->looking->subject->facts;
	uint32_t number;

	if (index == 1)
		run_beside(run);
	while ((number = run_next_rule(run)) < ss_rule_count) {
		struct ss_rule_context own = run->context;
		struct ss_error problem = { 0 };

		own.rule = ss_rules[number];
		own.number = number;
		own.words = &run->looks[number].words;
		own.words->memory = own.memory;
		if (!run->gate)
			facts->allowed = ss_facts_with_needed(rule_facts(own.rule, own.digest) |
							      own.rule->rare_facts);
		run_end_rule(run, number, rule_look(&own, &problem), &problem);
	}
}

/* Runs the rules; drops large facts as soon as no rule needs them any more. */
static enum ss_status rules_run_all(struct ss_rules_run *run, struct ss_error *err)
{
	struct ss_rank_findings *findings = run->context.findings;
	const struct ss_looking *looking = run->looking;
	struct ss_facts *facts = looking->subject->facts;
	uint32_t threads = looking->threads, count;
	const struct ss_phases *phases;

	SS_TRY(ss_facts_phases(facts, &phases, err));
	run->context.job_kind = ss_rule_job_kind(phases, looking->digest->device >= 0);
	run->err = err;
	if (threads > 1) {
		run->gate = ss_gate_open();
		run->shared.gate = ss_gate_open();
		facts->gate = run->gate;
	}
	count = threads + SPARE_THREADS < SS_THREADS_MAX ? threads + SPARE_THREADS : SS_THREADS_MAX;
	if (threads > 1 && (!run->gate || !run->shared.gate))
		run->status = ss_fail_memory(err, "what was found on a rank");
	else
		ss_thread_run(threads > 1 ? count : 1, run_work, run);
	facts->gate = NULL;
	ss_gate_close(run->gate);
	ss_gate_close(run->shared.gate);
	run->gate = run->shared.gate = NULL;
	facts->allowed = SS_FACT_ALL;
	for (uint32_t i = 0; i < ss_rule_count && run->status == SS_OK; i++)
		if (!ss_rank_findings_take_words(findings, i, &run->looks[i].words))
			run->status = ss_fail_memory(err, "what was found on a rank");
	if (run->status == SS_OK)
		run_beside(run);
	return run->status == SS_OK && findings->failed
		       ? ss_fail_memory(err, "what was found on a rank")
		       : run->status;
}

/* Allocates what rules need while they look, runs them, and frees it again. */
static enum ss_status findings_run_rules(struct ss_rank_findings *findings,
					 struct ss_rules_run *run, struct ss_error *err)
{
	struct ss_rule_context *context = &run->context;
	struct ss_memory *memory = findings->memory;
	struct ss_cover steps = { 0 };
	size_t tasks = (size_t)findings->task_count + 1;
	bool whole = ss_strings_init(&findings->texts, memory);
	enum ss_status status;

	findings->parts = ss_memory_zeroed(memory, (ss_rule_count + 1) * sizeof(*findings->parts));
	findings->part_count = (uint32_t)ss_rule_count;
	findings->owner = ss_memory_zeroed(memory, tasks);
	findings->claim_of = ss_memory_zeroed(memory, tasks * sizeof(*findings->claim_of));
	whole = whole && findings->parts && findings->owner && findings->claim_of &&
		SS_ALLOC(&run->shared.arena, run->looks, ss_rule_count) &&
		ss_steps_cover(context->trace, memory, &steps);
	if (whole) {
		context->steps = &steps;
		context->step_ns = ss_cover_length(&steps);
		findings->step_count = steps.count;
		status = rules_run_all(run, err);
	} else {
		status = ss_fail_memory(err, "what was found on a rank");
	}
	for (uint32_t i = 0; run->looks && i < ss_rule_count; i++)
		ss_rank_findings_release_words(&run->looks[i].words);
	ss_cover_release(&steps);
	SS_FREE(memory, findings->claim_of, tasks);
	SS_FREE(memory, findings->by_track, tasks);
	SS_FREE(memory, findings->taken, findings->taken_capacity);
	SS_FREE(memory, findings->blocks, findings->block_capacity);
	findings->claim_of = NULL;
	findings->by_track = NULL;
	findings->taken = NULL;
	findings->blocks = NULL;
	findings->block_count = findings->block_capacity = 0;
	findings->taken_count = findings->taken_capacity = 0;
	return status;
}

enum ss_status ss_rank_findings_make(struct ss_rank_findings *findings,
				     const struct ss_looking *looking, struct ss_memory *memory,
				     struct ss_error *err)
{
	struct ss_rules_run run = { .looking = looking,
				    .context = { .subject = looking->subject,
						 .trace = looking->subject->trace,
						 .digest = looking->digest,
						 .graph = looking->graph,
						 .memory = memory,
						 .findings = findings,
						 .shared = &run.shared,
						 .run = &run } };
	enum ss_status status;

	*findings = (struct ss_rank_findings){ .memory = memory,
					       .task_count = looking->graph->task_count };
	ss_arena_init(&run.shared.arena, memory);
	status = findings_run_rules(findings, &run, err);
	if (run.shared.unclaimed)
		run.shared.release_unclaimed(run.shared.unclaimed);
	ss_arena_release(&run.shared.arena);
	if (status == SS_OK && !ss_strings_fit(&findings->texts))
		status = ss_fail_memory(err, "what was found on a rank");
	if (status != SS_OK) {
		ss_rank_findings_release(findings);
		return status;
	}
	ss_memory_fit(memory, (void **)&findings->claims, &findings->claim_capacity,
		      findings->claim_count, sizeof(*findings->claims));
	ss_memory_fit(memory, (void **)&findings->facts, &findings->fact_capacity,
		      findings->fact_count, sizeof(*findings->facts));
	ss_memory_fit(memory, (void **)&findings->figures, &findings->figure_capacity,
		      findings->figure_count, sizeof(*findings->figures));
	return SS_OK;
}
