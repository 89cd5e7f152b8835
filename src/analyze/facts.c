/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts.c - computes each fact once, on first use; a failure leaves it uncomputed.
 */
#include "analyze/facts.h"

#include "base/system/thread.h"

void ss_facts_init(struct ss_facts *facts, const struct ss_trace *trace, struct ss_memory *memory)
{
	*facts = (struct ss_facts){ .trace = trace, .memory = memory, .allowed = SS_FACT_ALL };
}

void ss_facts_release(struct ss_facts *facts)
{
	if (facts->kernel_names)
		ss_arena_release(&facts->name_texts);
	ss_regions_release(&facts->regions);
	ss_training_release(&facts->training);
	ss_phases_release(&facts->phases);
	ss_idle_release(&facts->idle);
	ss_allocs_release(&facts->allocs);
	ss_op_runs_release(&facts->op_runs);
	ss_works_release(&facts->works);
	ss_places_release(&facts->places);
	ss_ops_release(&facts->ops);
	if (facts->gate)
		ss_gate_close(facts->gate);
	*facts = (struct ss_facts){ 0 };
}

bool ss_facts_share(struct ss_facts *facts)
{
	facts->gate = ss_gate_open();
	return facts->gate != NULL;
}

static bool is_made(const struct ss_facts *facts, uint32_t fact)
{
	switch (fact) {
	case SS_FACT_OPS:
		return facts->ops.trace;
	case SS_FACT_WORKS:
		return facts->works.ops;
	case SS_FACT_OP_RUNS:
		return facts->op_runs.ops;
	case SS_FACT_ALLOCS:
		return facts->allocs.trace;
	case SS_FACT_TRAINING:
		return facts->training.trace;
	case SS_FACT_REGIONS:
		return facts->regions.trace;
	case SS_FACT_PLACES:
		return facts->places.trace;
	case SS_FACT_IDLE:
		return facts->idle.trace;
	case SS_FACT_PHASES:
		return facts->phases.trace;
	default:
		return facts->kernel_names;
	}
}

/* Waits for a thread that makes the fact; whether it is to be made after that. */
static bool begin(struct ss_facts *facts, uint32_t fact)
{
	bool is_new;

	if (!facts->gate)
		return !is_made(facts, fact);
	ss_gate_lock(facts->gate);
	while (facts->making & fact)
		ss_gate_wait(facts->gate);
	is_new = !is_made(facts, fact);
	if (is_new)
		facts->making |= fact;
	ss_gate_unlock(facts->gate);
	return is_new;
}

static enum ss_status end(struct ss_facts *facts, uint32_t fact, enum ss_status status)
{
	if (facts->gate) {
		ss_gate_lock(facts->gate);
		facts->making &= ~fact;
		ss_gate_wake(facts->gate);
		ss_gate_unlock(facts->gate);
	}
	return status;
}

/* Of large facts: whether it is not kept, and nobody makes it now or later. */
static bool is_dropped(struct ss_facts *facts, uint32_t fact, uint32_t kept)
{
	if ((kept & fact) || !facts->gate)
		return !(kept & fact);
	ss_gate_lock(facts->gate);
	facts->dropped |= fact;
	while (facts->making & fact)
		ss_gate_wait(facts->gate);
	ss_gate_unlock(facts->gate);
	return true;
}

/* What needs others goes before them. */
void ss_facts_keep(struct ss_facts *facts, uint32_t kept)
{
	kept = ss_facts_with(kept);
	if (is_dropped(facts, SS_FACT_REGIONS, kept))
		ss_regions_release(&facts->regions);
	if (is_dropped(facts, SS_FACT_TRAINING, kept))
		ss_training_release(&facts->training);
	if (is_dropped(facts, SS_FACT_ALLOCS, kept))
		ss_allocs_release(&facts->allocs);
	if (is_dropped(facts, SS_FACT_OP_RUNS, kept))
		ss_op_runs_release(&facts->op_runs);
	if (is_dropped(facts, SS_FACT_WORKS, kept))
		ss_works_release(&facts->works);
	if (is_dropped(facts, SS_FACT_OPS, kept))
		ss_ops_release(&facts->ops);
}

/* --- making them ------------------------------------------------------------------------ */

static enum ss_status make_ops(struct ss_facts *facts, struct ss_error *err)
{
	if (!begin(facts, SS_FACT_OPS))
		return SS_OK;
	return end(facts, SS_FACT_OPS, ss_ops_init(&facts->ops, facts->trace, facts->memory, err));
}

static enum ss_status make_places(struct ss_facts *facts, struct ss_error *err)
{
	if (!begin(facts, SS_FACT_PLACES))
		return SS_OK;
	return end(facts, SS_FACT_PLACES,
		   ss_places_init(&facts->places, facts->trace, facts->memory, err));
}

static enum ss_status make_works(struct ss_facts *facts, struct ss_error *err)
{
	SS_TRY(make_ops(facts, err));
	if (!begin(facts, SS_FACT_WORKS))
		return SS_OK;
	return end(facts, SS_FACT_WORKS,
		   ss_works_init(&facts->works, &facts->ops, facts->memory, err));
}

static enum ss_status make_phases(struct ss_facts *facts, struct ss_error *err)
{
	if (!begin(facts, SS_FACT_PHASES))
		return SS_OK;
	return end(facts, SS_FACT_PHASES,
		   ss_phases_init(&facts->phases, facts->trace, facts->memory, err));
}

static enum ss_status make_training(struct ss_facts *facts, struct ss_error *err)
{
	SS_TRY(make_phases(facts, err));
	SS_TRY(make_places(facts, err));
	if (!begin(facts, SS_FACT_TRAINING))
		return SS_OK;
	return end(facts, SS_FACT_TRAINING,
		   ss_training_init(&facts->training, &facts->phases, &facts->places, facts->memory,
				    err));
}

static enum ss_status make_regions(struct ss_facts *facts, struct ss_error *err)
{
	if (!begin(facts, SS_FACT_REGIONS))
		return SS_OK;
	return end(facts, SS_FACT_REGIONS,
		   ss_regions_init(&facts->regions, facts->trace, facts->memory, err));
}

/* --- ahead ------------------------------------------------------------------------------ */

/* Not the work of operators: it would be there long before it is needed. */
static const struct {
	uint32_t fact;
	enum ss_status (*make)(struct ss_facts *facts, struct ss_error *err);
} ahead[] = {
	{ SS_FACT_PHASES, make_phases },   { SS_FACT_PLACES, make_places },
	{ SS_FACT_OPS, make_ops },         { SS_FACT_TRAINING, make_training },
	{ SS_FACT_REGIONS, make_regions },
};

/* A fact that cannot be made is tried again by who asks for it, and fails there. */
void ss_facts_make_ahead(struct ss_facts *facts)
{
	for (size_t i = 0; i < SS_COUNT(ahead); i++) {
		struct ss_error err = { 0 };
		bool is_dropped_now;

		ss_gate_lock(facts->gate);
		is_dropped_now = facts->dropped & ahead[i].fact;
		ss_gate_unlock(facts->gate);
		if (!is_dropped_now && ahead[i].make(facts, &err) != SS_OK)
			return;
	}
}

void ss_facts_end_ahead(struct ss_facts *facts)
{
	ss_gate_lock(facts->gate);
	facts->dropped = UINT32_MAX;
	ss_gate_unlock(facts->gate);
}

/* --- asking for them -------------------------------------------------------------------- */

enum ss_status ss_facts_ops(struct ss_facts *facts, const struct ss_ops **out, struct ss_error *err)
{
	assert(facts->allowed & SS_FACT_OPS);
	*out = &facts->ops;
	return make_ops(facts, err);
}

enum ss_status ss_facts_places(struct ss_facts *facts, const struct ss_places **out,
			       struct ss_error *err)
{
	*out = &facts->places;
	return make_places(facts, err);
}

enum ss_status ss_facts_works(struct ss_facts *facts, const struct ss_works **out,
			      struct ss_error *err)
{
	assert(facts->allowed & SS_FACT_WORKS);
	*out = &facts->works;
	return make_works(facts, err);
}

enum ss_status ss_facts_op_runs(struct ss_facts *facts, const struct ss_op_runs **out,
				struct ss_error *err)
{
	assert(facts->allowed & SS_FACT_OP_RUNS);
	*out = &facts->op_runs;
	SS_TRY(make_works(facts, err));
	if (!begin(facts, SS_FACT_OP_RUNS))
		return SS_OK;
	return end(facts, SS_FACT_OP_RUNS,
		   ss_op_runs_init(&facts->op_runs, &facts->ops, &facts->works, facts->memory,
				   err));
}

enum ss_status ss_facts_allocs(struct ss_facts *facts, const struct ss_allocs **out,
			       struct ss_error *err)
{
	assert(facts->allowed & SS_FACT_ALLOCS);
	*out = &facts->allocs;
	if (!begin(facts, SS_FACT_ALLOCS))
		return SS_OK;
	return end(facts, SS_FACT_ALLOCS,
		   ss_allocs_init(&facts->allocs, facts->trace, facts->memory, err));
}

enum ss_status ss_facts_idle(struct ss_facts *facts, const struct ss_idle **out,
			     struct ss_error *err)
{
	*out = &facts->idle;
	if (!begin(facts, SS_FACT_IDLE))
		return SS_OK;
	return end(facts, SS_FACT_IDLE,
		   ss_idle_init(&facts->idle, facts->trace, facts->memory, err));
}

enum ss_status ss_facts_phases(struct ss_facts *facts, const struct ss_phases **out,
			       struct ss_error *err)
{
	*out = &facts->phases;
	return make_phases(facts, err);
}

enum ss_status ss_facts_training(struct ss_facts *facts, const struct ss_training **out,
				 struct ss_error *err)
{
	assert(facts->allowed & SS_FACT_TRAINING);
	*out = &facts->training;
	return make_training(facts, err);
}

enum ss_status ss_facts_regions(struct ss_facts *facts, const struct ss_regions **out,
				struct ss_error *err)
{
	assert(facts->allowed & SS_FACT_REGIONS);
	*out = &facts->regions;
	return make_regions(facts, err);
}

static enum ss_status name_kernels(struct ss_facts *facts, struct ss_error *err)
{
	ss_arena_init(&facts->name_texts, facts->memory);
	facts->kernel_names = ss_kernel_names(facts->trace, &facts->name_texts);
	if (facts->kernel_names)
		return SS_OK;
	ss_arena_release(&facts->name_texts);
	return ss_fail_memory(err, "the names of kernels");
}

enum ss_status ss_facts_kernel_names(struct ss_facts *facts, const struct ss_kernel_name **out,
				     struct ss_error *err)
{
	if (begin(facts, SS_FACT_KERNEL_NAMES))
		SS_TRY(end(facts, SS_FACT_KERNEL_NAMES, name_kernels(facts, err)));
	*out = facts->kernel_names;
	return SS_OK;
}
