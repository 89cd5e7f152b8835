/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_load.h - how much work each rank has in each step and phase, on its device and on its
 * host, and how much it would have if it were like the others.
 *
 * Names of kernels are gone when ranks are compared: a phase of a step is the smallest piece that
 * all ranks have in common. Without a device, threads are cut at their collectives only: the
 * piece is the work between two collectives.
 */
#ifndef SS_DIAGNOSE_STRAGGLERS_RANK_LOAD_H
#define SS_DIAGNOSE_STRAGGLERS_RANK_LOAD_H

#include "analyze/host/step_phase.h"
#include "diagnose/diagnose.h"
#include "diagnose/rule.h"

/*
 * Whether other ranks have what a rule claimed on one rank.
 *
 * On a slow host launches, copies and waits look as if they were at fault: the rules of one rank
 * claim them there, and nowhere else. A fault of the program is on all ranks: its rule keeps what
 * it claimed, also on the slow rank.
 */

/* The two amounts in the middle of all ranks: the median without any one follows from them. */
struct ss_prevalence_middle {
	double low, high;
};

struct ss_prevalence {
	double *amounts; /* by rule, then rank: ns that claims remove, or waits that they end */
	struct ss_prevalence_middle *middles; /* by rule */
	uint32_t rank_count;
};

/* False: no memory. */
SS_MUST_USE
bool ss_prevalence_find(struct ss_prevalence *common, const struct ss_judgement *judgement,
			struct ss_arena *arena);

enum ss_load_kind {
	SS_LOAD_DEVICE,
	SS_LOAD_COPIES,
	SS_LOAD_HOST,
	SS_LOAD_OVERHEAD, /* of the host: input, compiling, garbage collection */
	SS_LOAD_MEMORY,   /* of the host: allocator calls; more work needs more of them */
	SS_LOAD_KINDS,
};

struct ss_rank_load {
	double ns;
	uint32_t count; /* tasks that are calls, or device work */
};

/* What ranks of a role with the same number of tasks in a phase of a step are compared with. */
struct ss_load_class {
	struct ss_load_class *next; /* of the same phase of the step */
	uint32_t count;             /* of the tasks */
	uint32_t role;
	uint32_t ranks;      /* that are compared, with the rank itself */
	bool is_scaled;      /* to as many launches as the rank has */
	double low, high;    /* the two in the middle */
	double most, second; /* the two largest */
	double sum;
};

struct ss_rank_loads {
	const struct ss_packed *graphs;
	const struct ss_joined *joined;
	uint32_t rank_count, step_count; /* of the rank with the most */
	struct ss_rank_load *items;      /* by rank, step, phase, kind */
	uint8_t **pieces; /* per rank without device: of each task, instead of its phase */
	int64_t *values;  /* scratch, one per rank */
	struct ss_load_class **classes; /* those that are known, by step, phase, kind */
	struct ss_arena *arena;
	double *factors; /* scratch: own and low of each step and phase */
	/* for claims: */
	double least_more; /* steps that exceed the usual by less than this share do not count */
	bool balances;     /* the others take over what one rank loses: the mean remains */
	bool spreads;      /* the same, in the worst case */
	/* with it: what only this rank has of the claims of other rules is the finding's */
	const struct ss_prevalence *common;
};

SS_MUST_USE
bool ss_rank_loads_find(struct ss_rank_loads *loads, const struct ss_judgement *judgement,
			struct ss_arena *arena);

const struct ss_rank_load *ss_rank_loads_at(const struct ss_rank_loads *loads, uint32_t rank,
					    uint32_t step, uint32_t phase, enum ss_load_kind kind);

/* What other ranks have there: the median, the maximum and the mean. */
struct ss_usual_load {
	double ns, most_ns, mean_ns;
};
struct ss_usual_load ss_rank_loads_usual(const struct ss_rank_loads *loads, uint32_t rank,
					 uint32_t step, uint32_t phase, enum ss_load_kind kind);

/*
 * Scales the tasks of the rank by `ratio`, or, if that is 0, so that each phase of each step
 * takes as long as on the others, whatever other fixes leave of them. Returns the saving in ns.
 */
int64_t ss_rank_loads_claim(struct ss_rank_loads *loads, struct ss_judgement *judgement,
			    struct ss_finding *finding, uint32_t rank, enum ss_load_kind kind,
			    double ratio);

#endif
