/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute.h - whose time a step is: places of the program, what is normal for them, and what
 * exceeds it.
 *
 * Every moment of the step's critical path belongs to a place: phase > functions of the program >
 * library > operator. Without a device the path is the thread that runs the steps; with one it is
 * the gaps of the device, each on the thread whose launch ends it. A moment has a normal length,
 * found in the same file (normals.c); what is longer is excess. Both are summed up the tree.
 *
 * Training is what backward answers, backward itself, and the optimizer. Everything else that the
 * step does is beside training: it may be wanted, so it is named as such and never as waste.
 */
#ifndef SS_ATTRIBUTE_ATTRIBUTE_H
#define SS_ATTRIBUTE_ATTRIBUTE_H

#include "analyze/facts.h"

/* Which normal a moment exceeds. The order is that of excess_kinds in attribute.c. */
enum ss_excess_kind {
	SS_EXCESS_NONE,
	SS_EXCESS_BESIDE,     /* work that no backward answers, outside of forward */
	SS_EXCESS_UNTRAINED,  /* the same in layers: a model that is not trained */
	SS_EXCESS_OUTSIDE,    /* the same without training: outside of the model */
	SS_EXCESS_INPUT,      /* the training thread makes its input */
	SS_EXCESS_UNANSWERED, /* the same inside forward */
	SS_EXCESS_ENGINE,     /* operators in backward outside of gradient nodes */
	SS_EXCESS_AGAIN,      /* backward of the same operator again */
	SS_EXCESS_RECOMPUTED, /* backward runs forward's operators */
	SS_EXCESS_LOOP,       /* the same operators many times in a row */
	SS_EXCESS_GROWING,    /* a tensor that grows is copied as a whole, repeatedly */
	SS_EXCESS_CHAIN,      /* many element-wise operators in a row */
	SS_EXCESS_COPIES,     /* copies and conversions inside forward and backward */
	SS_EXCESS_DOUBLE,     /* float64 */
	SS_EXCESS_HOOK,       /* something runs at every operator */
	SS_EXCESS_SLOW,       /* products below what any core reaches */
	SS_EXCESS_SORT,       /* all is put in order, where the largest may do */
	SS_EXCESS_TABLE,      /* rows of an embedding table that a step does not use */
	SS_EXCESS_UNUSED,     /* gradients of parameters that no optimizer updates */
	SS_EXCESS_PREFIX,     /* each pass computes all earlier tokens again */
	SS_EXCESS_FIRST,      /* first calls: start-up */
	SS_EXCESS_TRAIN_MODE, /* dropout where nothing trains */
	SS_EXCESS_COLLECTIVE, /* exposed collectives other than the gradients' */
	SS_EXCESS_GAP,        /* time without any operator or function */
	SS_EXCESS_IDLE,       /* the device waits for the host */
	SS_EXCESS_KINDS,
};

/* What a place is. */
enum ss_place_type {
	SS_PLACE_STEP, /* the root */
	SS_PLACE_PHASE,
	SS_PLACE_FUNCTION, /* of the program */
	SS_PLACE_LIBRARY,  /* a function of a library, or a module */
	SS_PLACE_RANGE,    /* a named range, or a position between phases */
	SS_PLACE_OPERATOR, /* an operator or a call */
	SS_PLACE_COLLECTIVE,
};

/* Phases of places; the first four are those of enum ss_phase. */
enum ss_place_phase {
	SS_PLACE_INPUT,
	SS_PLACE_FORWARD,
	SS_PLACE_BACKWARD,
	SS_PLACE_OPTIMIZER,
	SS_PLACE_BESIDE,   /* beside training */
	SS_PLACE_LOOP,     /* code around phases: the training loop itself */
	SS_PLACE_PROFILER, /* the profiler's own functions */
	SS_PLACE_NO_PHASE, /* not known yet */
};

/* A place; sums are over all measured steps, with what is below it; time has what is taken, too. */
struct ss_place_node {
	uint32_t parent; /* of the root: itself */
	uint32_t label;  /* id into ss_attribution.labels */
	uint32_t row;    /* the first host row of it; SS_NO_ROW: none */
	uint8_t type;    /* enum ss_place_type */
	uint8_t phase;   /* enum ss_place_phase */
	uint32_t calls;  /* rows of it; without rows of the thread that runs steps: moments */
	int64_t time_ns, excess_ns;
	int64_t kinds_ns[SS_EXCESS_KINDS]; /* excess by kind */
};

struct ss_attribution_rows; /* rows.h */
struct ss_attribution_moment;

/* Zeroed: may be released. */
struct ss_attribution {
	const struct ss_trace *trace;
	struct ss_memory *memory;
	struct ss_arena arena;
	struct ss_strings labels;
	struct ss_records keys;
	struct ss_place_node *nodes; /* 0 is the step */
	uint32_t node_count, node_capacity;
	struct ss_attribution_moment *moments; /* those with excess, neighbours as one */
	uint32_t moment_count, moment_capacity;
	const struct ss_phases *phases;   /* lent */
	struct ss_attribution_rows *rows; /* NULL: there is no thread that runs steps */
	uint32_t main;                    /* its track */
	int64_t step_ns;                  /* all measured steps */
	bool trains, has_stacks, has_device;
	bool is_blind;    /* a device was used, and what it did is not recorded */
	bool has_modules; /* stacks name modules: they show what is the model */
	bool failed;      /* no memory */
};

struct ss_attribution_options {
	const struct ss_cover *steps; /* the measured steps */
	const struct ss_cover *taken; /* time that is explained already; NULL: none */
	const struct ss_idle *idle;   /* of the device whose gaps count; NULL: the thread itself */
	int64_t device;
};

SS_MUST_USE
enum ss_status ss_attribution_make(struct ss_attribution *out, struct ss_facts *facts,
				   const struct ss_attribution_options *options,
				   struct ss_memory *memory, struct ss_error *err);
void ss_attribution_release(struct ss_attribution *attribution);

/* Sums the excess of all places anew, without the time that is taken by now. */
void ss_attribution_measure(struct ss_attribution *attribution, const struct ss_cover *taken);

/* The child with the most excess; SS_NO_ROW: none has any. */
uint32_t ss_attribution_heaviest(const struct ss_attribution *attribution, uint32_t node);

/* The kind with the most excess of a place. */
enum ss_excess_kind ss_attribution_kind(const struct ss_attribution *attribution, uint32_t node);

const char *ss_excess_kind_name(enum ss_excess_kind kind);

/*
 * A stretch of a thread that belongs to a place: what of it is normal, and the row that is
 * innermost. Stretches come in the order of time.
 */
struct ss_attribution_moment {
	uint32_t node, row, track;
	int64_t from_ns, to_ns;
	int64_t excess_ns;
	enum ss_excess_kind kind;
};
typedef void (*ss_attribution_sink)(void *context, const struct ss_attribution_moment *moment);

/* Reports the moments with excess again, without the time that is taken: for claims. */
void ss_attribution_walk(const struct ss_attribution *attribution, const struct ss_cover *taken,
			 ss_attribution_sink sink, void *context);

#endif
