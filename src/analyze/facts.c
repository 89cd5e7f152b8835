/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts.c - computes each fact once, on first use; a failure leaves it uncomputed.
 */
#include "analyze/facts.h"

void ss_facts_init(struct ss_facts *facts, const struct ss_trace *trace, struct ss_memory *memory)
{
	*facts = (struct ss_facts){ .trace = trace, .memory = memory, .allowed = SS_FACT_ALL };
}

static void release_allocs(struct ss_facts *facts)
{
	if (facts->allocs)
		facts->release_allocs(facts->allocs);
	facts->allocs = NULL;
}

void ss_facts_release(struct ss_facts *facts)
{
	if (facts->kernel_names)
		ss_arena_release(&facts->name_texts);
	ss_regions_release(&facts->regions);
	ss_training_release(&facts->training);
	ss_phases_release(&facts->phases);
	ss_idle_release(&facts->idle);
	release_allocs(facts);
	ss_op_runs_release(&facts->op_runs);
	ss_works_release(&facts->works);
	ss_places_release(&facts->places);
	ss_ops_release(&facts->ops);
	*facts = (struct ss_facts){ 0 };
}

void ss_facts_keep_only(struct ss_facts *facts, uint32_t kept)
{
	kept = ss_facts_with_needed(kept);
	if (!(kept & SS_FACT_REGIONS))
		ss_regions_release(&facts->regions);
	if (!(kept & SS_FACT_TRAINING))
		ss_training_release(&facts->training);
	if (!(kept & SS_FACT_ALLOCS))
		release_allocs(facts);
	if (!(kept & SS_FACT_OP_RUNS))
		ss_op_runs_release(&facts->op_runs);
	if (!(kept & SS_FACT_WORKS))
		ss_works_release(&facts->works);
	if (!(kept & SS_FACT_OPS))
		ss_ops_release(&facts->ops);
}

/* Facts that a thread can be computing. */
enum making {
	MAKING_OPS = 1 << 0,
	MAKING_PLACES = 1 << 1,
	MAKING_WORKS = 1 << 2,
	MAKING_OP_RUNS = 1 << 3,
	MAKING_IDLE = 1 << 4,
	MAKING_PHASES = 1 << 5,
	MAKING_TRAINING = 1 << 6,
	MAKING_REGIONS = 1 << 7,
	MAKING_OP_TIMES = 1 << 8,
	MAKING_KERNEL_NAMES = 1 << 9,
	MAKING_ALLOCS = 1 << 10,
};

/* Waits for the thread that is computing the fact; others wait until it is begun or left. */
static void facts_enter(struct ss_facts *facts, enum making fact)
{
	if (!facts->gate)
		return;
	ss_gate_lock(facts->gate);
	while (facts->making & fact)
		ss_gate_wait(facts->gate);
}

static enum ss_status facts_leave(struct ss_facts *facts)
{
	if (facts->gate)
		ss_gate_unlock(facts->gate);
	return SS_OK;
}

static void facts_begin(struct ss_facts *facts, enum making fact)
{
	facts->making |= fact;
	facts_leave(facts);
}

static enum ss_status facts_end(struct ss_facts *facts, enum making fact, enum ss_status status)
{
	if (facts->gate)
		ss_gate_lock(facts->gate);
	facts->making &= ~(uint32_t)fact;
	if (facts->gate)
		ss_gate_wake(facts->gate);
	facts_leave(facts);
	return status;
}

/* Returns when the fact is `made`, by this call of `make` or by another thread. */
#define RETURN_FACT(facts, fact, made, make)         \
	do {                                         \
		facts_enter(facts, fact);            \
		if (made)                            \
			return facts_leave(facts);   \
		facts_begin(facts, fact);            \
		return facts_end(facts, fact, make); \
	} while (0)

enum ss_status ss_facts_ops(struct ss_facts *facts, const struct ss_ops **out, struct ss_error *err)
{
	assert(facts->allowed & SS_FACT_OPS);
	*out = &facts->ops;
	RETURN_FACT(facts, MAKING_OPS, facts->ops.trace,
		    ss_ops_init(&facts->ops, facts->trace, facts->memory, err));
}

enum ss_status ss_facts_op_times(struct ss_facts *facts, const struct ss_ops **out,
				 struct ss_error *err)
{
	SS_TRY(ss_facts_ops(facts, out, err));
	RETURN_FACT(facts, MAKING_OP_TIMES, facts->ops.total_ns,
		    ss_ops_find_times(&facts->ops, err));
}

enum ss_status ss_facts_places(struct ss_facts *facts, const struct ss_places **out,
			       struct ss_error *err)
{
	*out = &facts->places;
	RETURN_FACT(facts, MAKING_PLACES, facts->places.trace,
		    ss_places_init(&facts->places, facts->trace, facts->memory, err));
}

enum ss_status ss_facts_works(struct ss_facts *facts, const struct ss_works **out,
			      struct ss_error *err)
{
	const struct ss_ops *ops;

	assert(facts->allowed & SS_FACT_WORKS);
	*out = &facts->works;
	SS_TRY(ss_facts_ops(facts, &ops, err));
	RETURN_FACT(facts, MAKING_WORKS, facts->works.ops,
		    ss_works_init(&facts->works, ops, facts->memory, err));
}

enum ss_status ss_facts_op_runs(struct ss_facts *facts, const struct ss_op_runs **out,
				struct ss_error *err)
{
	const struct ss_works *works;
	const struct ss_ops *ops;

	assert(facts->allowed & SS_FACT_OP_RUNS);
	*out = &facts->op_runs;
	SS_TRY(ss_facts_op_times(facts, &ops, err));
	SS_TRY(ss_facts_works(facts, &works, err));
	RETURN_FACT(facts, MAKING_OP_RUNS, facts->op_runs.ops,
		    ss_op_runs_init(&facts->op_runs, ops, works, facts->memory, err));
}

enum ss_status ss_facts_idle(struct ss_facts *facts, const struct ss_idle **out,
			     struct ss_error *err)
{
	*out = &facts->idle;
	RETURN_FACT(facts, MAKING_IDLE, facts->idle.trace,
		    ss_idle_init(&facts->idle, facts->trace, facts->memory, err));
}

enum ss_status ss_facts_phases(struct ss_facts *facts, const struct ss_phases **out,
			       struct ss_error *err)
{
	*out = &facts->phases;
	RETURN_FACT(facts, MAKING_PHASES, facts->phases.trace,
		    ss_phases_init(&facts->phases, facts->trace, facts->memory, err));
}

enum ss_status ss_facts_training(struct ss_facts *facts, const struct ss_training **out,
				 struct ss_error *err)
{
	const struct ss_phases *phases;
	const struct ss_places *places;

	assert(facts->allowed & SS_FACT_TRAINING);
	*out = &facts->training;
	SS_TRY(ss_facts_phases(facts, &phases, err));
	SS_TRY(ss_facts_places(facts, &places, err));
	RETURN_FACT(facts, MAKING_TRAINING, facts->training.trace,
		    ss_training_init(&facts->training, phases, places, facts->memory, err));
}

enum ss_status ss_facts_regions(struct ss_facts *facts, const struct ss_regions **out,
				struct ss_error *err)
{
	assert(facts->allowed & SS_FACT_REGIONS);
	*out = &facts->regions;
	RETURN_FACT(facts, MAKING_REGIONS, facts->regions.trace,
		    ss_regions_init(&facts->regions, facts->trace, facts->memory, err));
}

static enum ss_status facts_make_kernel_names(struct ss_facts *facts, struct ss_error *err)
{
	ss_arena_init(&facts->name_texts, facts->memory);
	facts->kernel_names = ss_kernel_names(facts->trace, &facts->name_texts);
	if (facts->kernel_names)
		return SS_OK;
	ss_arena_release(&facts->name_texts);
	return ss_fail_memory(err, "the names of kernels");
}

static enum ss_status facts_find_kernel_names(struct ss_facts *facts, struct ss_error *err)
{
	RETURN_FACT(facts, MAKING_KERNEL_NAMES, facts->kernel_names,
		    facts_make_kernel_names(facts, err));
}

enum ss_status ss_facts_kernel_names(struct ss_facts *facts, const struct ss_kernel_name **out,
				     struct ss_error *err)
{
	SS_TRY(facts_find_kernel_names(facts, err));
	*out = facts->kernel_names;
	return SS_OK;
}

enum ss_status ss_facts_find_allocs(struct ss_facts *facts,
				    enum ss_status (*make)(struct ss_facts *facts,
							   struct ss_error *err),
				    struct ss_error *err)
{
	assert(facts->allowed & SS_FACT_ALLOCS);
	RETURN_FACT(facts, MAKING_ALLOCS, facts->allocs, make(facts, err));
}

enum ss_status ss_facts_make(struct ss_facts *facts, uint32_t wanted, struct ss_error *err)
{
	const struct ss_training *training;
	const struct ss_regions *regions;
	const struct ss_op_runs *op_runs;
	const struct ss_works *works;
	const struct ss_ops *ops;

	if (wanted & SS_FACT_OPS)
		SS_TRY(ss_facts_ops(facts, &ops, err));
	if (wanted & SS_FACT_WORKS)
		SS_TRY(ss_facts_works(facts, &works, err));
	if (wanted & SS_FACT_OP_RUNS)
		SS_TRY(ss_facts_op_runs(facts, &op_runs, err));
	if (wanted & SS_FACT_REGIONS)
		SS_TRY(ss_facts_regions(facts, &regions, err));
	if (wanted & SS_FACT_TRAINING)
		SS_TRY(ss_facts_training(facts, &training, err));
	return SS_OK;
}
