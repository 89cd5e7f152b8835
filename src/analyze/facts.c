/*
 * facts.c - makes a brick once; a failure leaves it unmade.
 */
#include "analyze/facts.h"

void ss_bricks_init(struct ss_bricks *bricks, const struct ss_trace *trace,
		    struct ss_memory *memory)
{
	*bricks = (struct ss_bricks){ .trace = trace, .memory = memory };
}

void ss_bricks_release(struct ss_bricks *bricks)
{
	ss_training_release(&bricks->training);
	ss_phases_release(&bricks->phases);
	ss_idle_release(&bricks->idle);
	ss_allocs_release(&bricks->allocs);
	ss_op_runs_release(&bricks->op_runs);
	ss_works_release(&bricks->works);
	ss_places_release(&bricks->places);
	ss_ops_release(&bricks->ops);
	*bricks = (struct ss_bricks){ 0 };
}

enum ss_status ss_bricks_ops(struct ss_bricks *bricks, const struct ss_ops **out,
			     struct ss_error *err)
{
	*out = &bricks->ops;
	if (bricks->ops.trace)
		return SS_OK;
	return ss_ops_init(&bricks->ops, bricks->trace, bricks->memory, err);
}

enum ss_status ss_bricks_places(struct ss_bricks *bricks, const struct ss_places **out,
				struct ss_error *err)
{
	*out = &bricks->places;
	if (bricks->places.trace)
		return SS_OK;
	return ss_places_init(&bricks->places, bricks->trace, bricks->memory, err);
}

enum ss_status ss_bricks_works(struct ss_bricks *bricks, const struct ss_works **out,
			       struct ss_error *err)
{
	const struct ss_ops *ops;

	*out = &bricks->works;
	if (bricks->works.ops)
		return SS_OK;
	SS_TRY(ss_bricks_ops(bricks, &ops, err));
	return ss_works_init(&bricks->works, ops, bricks->memory, err);
}

enum ss_status ss_bricks_op_runs(struct ss_bricks *bricks, const struct ss_op_runs **out,
				 struct ss_error *err)
{
	const struct ss_works *works;

	*out = &bricks->op_runs;
	if (bricks->op_runs.ops)
		return SS_OK;
	SS_TRY(ss_bricks_works(bricks, &works, err));
	return ss_op_runs_init(&bricks->op_runs, &bricks->ops, works, bricks->memory, err);
}

enum ss_status ss_bricks_allocs(struct ss_bricks *bricks, const struct ss_allocs **out,
				struct ss_error *err)
{
	*out = &bricks->allocs;
	if (bricks->allocs.trace)
		return SS_OK;
	return ss_allocs_init(&bricks->allocs, bricks->trace, bricks->memory, err);
}

enum ss_status ss_bricks_idle(struct ss_bricks *bricks, const struct ss_idle **out,
			      struct ss_error *err)
{
	*out = &bricks->idle;
	if (bricks->idle.trace)
		return SS_OK;
	return ss_idle_init(&bricks->idle, bricks->trace, bricks->memory, err);
}

enum ss_status ss_bricks_phases(struct ss_bricks *bricks, const struct ss_phases **out,
				struct ss_error *err)
{
	*out = &bricks->phases;
	if (bricks->phases.trace)
		return SS_OK;
	return ss_phases_init(&bricks->phases, bricks->trace, bricks->memory, err);
}

enum ss_status ss_bricks_training(struct ss_bricks *bricks, const struct ss_training **out,
				  struct ss_error *err)
{
	const struct ss_phases *phases;
	const struct ss_places *places;

	*out = &bricks->training;
	if (bricks->training.trace)
		return SS_OK;
	SS_TRY(ss_bricks_phases(bricks, &phases, err));
	SS_TRY(ss_bricks_places(bricks, &places, err));
	return ss_training_init(&bricks->training, phases, places, bricks->memory, err);
}
