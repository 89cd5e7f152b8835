/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - what attribution knows of each row of the thread that runs the steps.
 */
#ifndef SS_ATTRIBUTE_ROWS_H
#define SS_ATTRIBUTE_ROWS_H

#include "attribute/attribute.h"

/* A launch that loads its kernel, or another call that sets something up, takes at least this. */
#define SS_ATTRIBUTION_FIRST_NS 1000000

/* What the name of a row says, looked at once per distinct name. */
enum ss_name_trait {
	SS_TRAIT_USER = 1 << 0,       /* a function of the program */
	SS_TRAIT_BACKWARD = 1 << 1,   /* frames: Tensor.backward and its like */
	SS_TRAIT_OPTIMIZER = 1 << 2,  /* frames: a step of an optimizer, clipping, scaling */
	SS_TRAIT_INPUT = 1 << 3,      /* frames: the DataLoader */
	SS_TRAIT_PROFILER = 1 << 4,   /* frames: torch.profiler */
	SS_TRAIT_WRAPPER = 1 << 5,    /* forward of DistributedDataParallel */
	SS_TRAIT_ENGINE = 1 << 6,     /* autograd::engine::evaluate_function */
	SS_TRAIT_GRAD_NODE = 1 << 7,  /* ...Backward0 */
	SS_TRAIT_ACCUMULATE = 1 << 8, /* AccumulateGrad */
	SS_TRAIT_COPY = 1 << 9,       /* to, clone, contiguous, copy_ */
	SS_TRAIT_POINTWISE = 1 << 10,
	SS_TRAIT_NO_DATA = 1 << 11, /* touches no data: view, t, expand */
	SS_TRAIT_MATRIX = 1 << 12,  /* a product whose work follows from its shapes */
	SS_TRAIT_ADDS = 1 << 13,    /* what the engine itself runs: add, detach, sum to a shape */
	SS_TRAIT_JOINS = 1 << 14,   /* cat and its like: copies all that it joins */
	SS_TRAIT_DROPOUT = 1 << 15,
	SS_TRAIT_FALLBACK = 1 << 16, /* what ATen runs if no library fits */
	SS_TRAIT_WAITS = 1 << 18,    /* wait, barrier */
	SS_TRAIT_SORTS = 1 << 19,    /* puts a dimension in order */
	SS_TRAIT_LAYER = 1 << 17,    /* what layers call, and gradient formulas never do */
	SS_TRAIT_BLOCKS = 1 << 20,   /* waits for a device if there is one */
};

/* What backward answers. */
enum ss_answered {
	SS_ANSWERED_INSIDE = 1 << 0, /* something inside of the row */
	SS_ANSWERED_ITSELF = 1 << 1,
	SS_ANSWERED_AROUND = 1 << 2, /* what is inside of the row belongs to it */
};

/* Sizes of an operator's arguments, read once for all that have the same. */
struct ss_attribution_sizes {
	double elements; /* of the largest tensor; below 0: float64 */
	double flops;    /* of a product */
	bool has_elements, has_flops;
};

struct ss_attribution_rows {
	uint32_t first, count; /* rows of the main thread */
	/* one per row of the thread: */
	uint32_t *parent;  /* as the trace has it, but for ranges that outlive their parent */
	uint32_t *node;    /* its place + 1; 0: not asked for yet */
	float *excess;     /* share of its own time that exceeds what is normal */
	uint8_t *kind;     /* enum ss_excess_kind of that */
	uint8_t *phase;    /* enum ss_place_phase */
	uint8_t *answered; /* enum ss_answered */
	uint8_t *answers;  /* how many gradient nodes answer it; at most 255 */
	uint32_t *region;  /* without stacks: label of its position; 0: none */
	uint32_t *chain;   /* rows whose places are being made, the innermost first */
	uint32_t chain_count, chain_capacity;
	/* one per name of the trace: */
	uint32_t *traits;
	uint32_t *labels; /* id into ss_attribution.labels + 1; 0: not asked for yet */
	uint32_t phase_nodes[SS_PLACE_NO_PHASE + 1];
	/* one per record of arguments: */
	struct ss_attribution_sizes *sizes;
	/* collectives of all threads, by start */
	uint32_t *collectives;
	uint32_t collective_count;
	/* rows without a phase of training, and the phase behind them: ss_attribution_next_phase */
	uint32_t next_from, next_to;
	uint8_t next_phase;
	/* stretches in which operators repeat, by start */
	struct ss_attribution_span *spans;
	uint32_t span_count, span_capacity;
};

/* A loop of operators: from the first to the end of the last. */
struct ss_attribution_span {
	int64_t from_ns, to_ns;
	uint32_t turns, period; /* how often, and how many operators a turn has */
	uint32_t first;         /* row of the first operator */
	float excess;
	uint8_t phase;
};

static inline bool ss_attribution_has(const struct ss_attribution *of, uint32_t row)
{
	return of->rows && row >= of->rows->first && row - of->rows->first < of->rows->count;
}

/* The outermost operator around a row: operators of PyTorch nest a few levels deep. */
static inline uint32_t ss_attribution_outer_op(const struct ss_attribution *of, uint32_t row)
{
	for (uint32_t depth = 0; depth < 64; depth++) {
		uint32_t up = of->rows->parent[row - of->rows->first];

		if (up == SS_NO_ROW || of->trace->slices.kind[up] != SS_KIND_OP)
			break;
		row = up;
	}
	return row;
}

/* Kinds whose backward exceeds the normal as they do. */
static inline bool ss_attribution_is_answered_in_kind(uint8_t kind)
{
	return kind == SS_EXCESS_LOOP || kind == SS_EXCESS_CHAIN || kind == SS_EXCESS_COPIES ||
	       kind == SS_EXCESS_GROWING;
}

static inline uint32_t ss_attribution_traits(const struct ss_attribution *of, uint32_t row)
{
	return of->rows->traits[of->trace->slices.name[row]];
}

/* Backward's answer as a whole: arrows lead to the node in it, sequence numbers to both. */
static inline bool ss_attribution_is_answer(const struct ss_attribution *of, uint32_t row)
{
	const struct ss_slices *slices = &of->trace->slices;
	uint32_t traits = ss_attribution_traits(of, row), up = slices->parent[row];

	return (traits & SS_TRAIT_ENGINE) || ((traits & SS_TRAIT_GRAD_NODE) &&
					      (up == SS_NO_ROW || slices->link[up] == SS_NO_ROW));
}

/* names.c: the traits of one name. */
uint32_t ss_attribution_name_traits(const struct ss_string *name, uint32_t flags);

/* rows.c: parents, phases, what backward answers. */
SS_MUST_USE bool ss_attribution_fill_rows(struct ss_attribution *of,
					  const struct ss_phases *phases);

/* normals.c: what of each row's time is normal. */
SS_MUST_USE bool ss_attribution_fill_normals(struct ss_attribution *of,
					     const struct ss_cover *steps);

/* rows.c: the next phase of training behind a row; SS_PLACE_NO_PHASE: none. */
uint8_t ss_attribution_next_phase(const struct ss_attribution *of, uint32_t row);

/* What is reduced right before the optimizer is gradients, unless it is as small as a metric. */
bool ss_attribution_is_gradient(const struct ss_attribution *of, uint32_t row);

/*
 * Whether training needs a collective: gradients in or behind backward, what is part of an operator
 * that backward answers (tensor parallel), parameters that are gathered and scattered (FSDP),
 * experts and stages. `caller` is the row of the main thread that calls it.
 */
bool ss_attribution_is_needed(const struct ss_attribution *of, uint32_t caller, uint8_t phase,
			      uint32_t collective);

/* Raises the share of a row that is excess; the largest counts. */
void ss_attribution_raise(struct ss_attribution *of, uint32_t row, double share,
			  enum ss_excess_kind kind);

/* loops.c: operators that repeat, and chains of element-wise ones. */
SS_MUST_USE bool ss_attribution_find_loops(struct ss_attribution *of, const struct ss_cover *steps);

/* gradients.c: gradients that no optimizer uses. */
SS_MUST_USE bool ss_attribution_find_unused(struct ss_attribution *of);

/* tables.c: work on rows of embedding tables that a step does not use. */
void ss_attribution_find_tables(struct ss_attribution *of);

/* prefixes.c: passes over a sequence that grows by one. */
SS_MUST_USE bool ss_attribution_find_prefixes(struct ss_attribution *of, struct ss_arena *scratch);

/* sweep.c: reports all moments in the order of time, with their places. */
void ss_attribution_sweep(struct ss_attribution *of, const struct ss_attribution_options *options,
			  ss_attribution_sink sink, void *context);

/* tree.c: the place of a row, and a place below another one. */
uint32_t ss_attribution_place(struct ss_attribution *of, uint32_t row);
uint32_t ss_attribution_below(struct ss_attribution *of, uint32_t parent, enum ss_place_type type,
			      enum ss_place_phase phase, const char *label, size_t length);
uint32_t ss_attribution_phase_node(struct ss_attribution *of, enum ss_place_phase phase);

/* 2mnk of a product of matrices; 0: not one, or its shapes are not recorded. */
double ss_attribution_flops(const struct ss_attribution *of, uint32_t row);

/* How many elements the largest tensor of an operator has; 0: not recorded. */
double ss_attribution_elements(const struct ss_attribution *of, uint32_t row, bool *is_double);

#endif
