/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts.h - what several views need of one trace, computed on first use.
 *
 * Each fact takes one or more passes over all rows, and memory. Views that run one after
 * the other on the same trace share them; a single view pays only for what it uses. Threads may
 * ask at the same time while there is a gate: one computes a fact, the others wait for it.
 */
#ifndef SS_ANALYZE_FACTS_H
#define SS_ANALYZE_FACTS_H

#include "analyze/host/ops.h"
#include "analyze/host/places.h"
#include "analyze/host/regions.h"
#include "analyze/host/step_phase.h"
#include "analyze/kernel/category.h"
#include "analyze/time/idle.h"
#include "analyze/work/op_runs.h"
#include "analyze/work/work.h"
#include "base/system/thread.h"

/* Facts with a value for each row of the trace, which few views need. */
enum ss_large_fact {
	SS_FACT_OPS = 1 << 0,
	SS_FACT_WORKS = 1 << 1,   /* with OPS */
	SS_FACT_OP_RUNS = 1 << 2, /* with WORKS and OPS */
	SS_FACT_ALLOCS = 1 << 3,
	SS_FACT_TRAINING = 1 << 4,
	SS_FACT_REGIONS = 1 << 5,
	SS_FACT_ALL = (1 << 6) - 1,
};

/* Adds the facts that these refer to. */
static inline uint32_t ss_facts_with_needed(uint32_t facts)
{
	if (facts & SS_FACT_OP_RUNS)
		facts |= SS_FACT_WORKS;
	return facts & SS_FACT_WORKS ? facts | SS_FACT_OPS : facts;
}

struct ss_allocs; /* memory/events/alloc.h, which computes them: ss_allocs_of_facts() */

/* A fact without a trace has not been computed. */
struct ss_facts {
	const struct ss_trace *trace;
	struct ss_memory *memory;
	struct ss_ops ops;
	struct ss_places places;
	struct ss_works works;
	struct ss_op_runs op_runs;
	struct ss_allocs *allocs; /* NULL: not made yet */
	void (*release_allocs)(struct ss_allocs *allocs);
	struct ss_idle idle;
	struct ss_phases phases;
	struct ss_training training;
	struct ss_regions regions;
	struct ss_arena name_texts;
	const struct ss_kernel_name *kernel_names; /* NULL: not made yet */
	uint32_t allowed;     /* enum ss_large_fact: asserts that callers declared what they use */
	struct ss_gate *gate; /* while threads share them: lent; else NULL */
	uint32_t making;      /* of those that a thread is computing */
};

/* The trace may be NULL as long as no fact is used. */
void ss_facts_init(struct ss_facts *facts, const struct ss_trace *trace, struct ss_memory *memory);
void ss_facts_release(struct ss_facts *facts);

/* Frees the large facts that are not in `kept`; they are computed again when needed. */
void ss_facts_keep_only(struct ss_facts *facts, uint32_t kept);

/* Computes those of `wanted` (enum ss_large_fact) that are missing, but for ALLOCS. */
SS_MUST_USE
enum ss_status ss_facts_make(struct ss_facts *facts, uint32_t wanted, struct ss_error *err);

/* The allocations: `make` sets them, unless they are there. */
SS_MUST_USE
enum ss_status ss_facts_find_allocs(struct ss_facts *facts,
				    enum ss_status (*make)(struct ss_facts *facts,
							   struct ss_error *err),
				    struct ss_error *err);

/* Results are valid until the facts are released, or dropped by ss_facts_keep_only(). */
SS_MUST_USE
enum ss_status ss_facts_ops(struct ss_facts *facts, const struct ss_ops **out,
			    struct ss_error *err);
/* The same with self_ns and total_ns. */
SS_MUST_USE
enum ss_status ss_facts_op_times(struct ss_facts *facts, const struct ss_ops **out,
				 struct ss_error *err);
SS_MUST_USE
enum ss_status ss_facts_places(struct ss_facts *facts, const struct ss_places **out,
			       struct ss_error *err);
SS_MUST_USE
enum ss_status ss_facts_works(struct ss_facts *facts, const struct ss_works **out,
			      struct ss_error *err);
SS_MUST_USE
enum ss_status ss_facts_op_runs(struct ss_facts *facts, const struct ss_op_runs **out,
				struct ss_error *err);
SS_MUST_USE
enum ss_status ss_facts_idle(struct ss_facts *facts, const struct ss_idle **out,
			     struct ss_error *err);
SS_MUST_USE
enum ss_status ss_facts_phases(struct ss_facts *facts, const struct ss_phases **out,
			       struct ss_error *err);
SS_MUST_USE
enum ss_status ss_facts_training(struct ss_facts *facts, const struct ss_training **out,
				 struct ss_error *err);
SS_MUST_USE
enum ss_status ss_facts_regions(struct ss_facts *facts, const struct ss_regions **out,
				struct ss_error *err);
/* One for each name of the trace. */
SS_MUST_USE
enum ss_status ss_facts_kernel_names(struct ss_facts *facts, const struct ss_kernel_name **out,
				     struct ss_error *err);

#endif
