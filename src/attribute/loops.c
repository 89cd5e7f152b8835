/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loops.c - operators that repeat in a row, and chains of element-wise operators.
 *
 * A pattern of up to LONGEST operators that comes at least TURNS_MIN times in a row could be one
 * operator on stacked data, unless each turn has parameters of its own: then the turns are layers.
 */

#include "attribute/rows.h"
#include "base/search.h"
#include "base/sort.h"

/* Fewer turns may be calls written one below the other, not a loop. */
#define TURNS_MIN 8
#define LONGEST 96
/* As many element-wise operators in a row: one fused operator would read and write once. */
#define CHAIN_MIN 8
/* As many times a tensor must grow. */
#define GROWTH_MIN 8

/* What a call costs with the profiler, besides its work: operators without data take 1 to 5 us. */
#define CALL_NS 5000
/* A shorter operator whose work is not known mostly costs its call. */
#define SHORT_NS 50000
/* Three tensors of 4 bytes at 10 GB/s, which one core reaches. */
#define NS_PER_ELEMENT 1.2

struct loop_candidate {
	uint32_t from, to, period; /* indexes into the operators of a step */
};

struct loop_finder {
	struct ss_attribution *of;
	struct ss_arena *scratch;
	uint32_t *ops;  /* outermost operators of a phase within a step */
	uint8_t *taken; /* part of a loop */
	uint32_t count;
	uint32_t parameters; /* that get a gradient, per step */
	double best_rate;    /* of products of the file: flops per ns; 0: none */
	struct loop_candidate *candidates;
	uint32_t candidate_count, candidate_capacity;
};

static uint32_t name_at(const struct loop_finder *finder, uint32_t index)
{
	return finder->of->trace->slices.name[finder->ops[index]];
}

static int candidate_compare(const void *a, const void *b)
{
	const struct loop_candidate *x = a, *y = b;
	uint32_t own = x->to - x->from, other = y->to - y->from;

	if (own != other)
		return own > other ? -1 : 1;
	if (x->period != y->period)
		return x->period < y->period ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

static bool add_candidate(struct loop_finder *finder, struct loop_candidate candidate)
{
	if (!SS_GROW(finder->of->memory, finder->candidates, finder->candidate_capacity,
		     finder->candidate_count))
		return false;
	finder->candidates[finder->candidate_count++] = candidate;
	return true;
}

/* All stretches in which names repeat with a period. */
static bool find_candidates(struct loop_finder *finder)
{
	uint32_t longest = finder->count / TURNS_MIN < LONGEST ? finder->count / TURNS_MIN
							       : LONGEST;

	finder->candidate_count = 0;
	for (uint32_t period = 1; period <= longest; period++) {
		uint32_t run = 0;

		for (uint32_t i = 0; i + period <= finder->count; i++) {
			if (i + period < finder->count &&
			    name_at(finder, i) == name_at(finder, i + period)) {
				run++;
				continue;
			}
			if (run >= (TURNS_MIN - 1) * period &&
			    !add_candidate(finder,
					   (struct loop_candidate){ i - run, i + period, period }))
				return false;
			run = 0;
		}
	}
	SS_SORT(finder->candidates, finder->candidate_count, candidate_compare);
	return true;
}

/* The usual length of a turn: single ones are preempted. */
static int64_t usual_turn(struct loop_finder *finder, const struct loop_candidate *loop,
			  uint32_t turns)
{
	const int64_t *starts = finder->of->trace->slices.start_ns;
	int64_t *lengths = SS_ARENA_NEW(finder->scratch, int64_t, (size_t)turns + 1);

	if (!lengths)
		return -1;
	for (uint32_t i = 0; i + 1 < turns; i++)
		lengths[i] = starts[finder->ops[loop->from + (i + 1) * loop->period]] -
			     starts[finder->ops[loop->from + i * loop->period]];
	SS_SORT(lengths, turns - 1, ss_sort_compare_int64);
	return lengths[(turns - 1) / 2];
}

static bool add_span(struct ss_attribution *of, struct ss_attribution_span span)
{
	struct ss_attribution_rows *rows = of->rows;

	if (!SS_GROW(of->memory, rows->spans, rows->span_capacity, rows->span_count))
		return false;
	rows->spans[rows->span_count++] = span;
	return true;
}

/*
 * What an operator would take on stacked data: its work at the best rate of the file. Products have
 * one, element-wise operators that of memory; of others only the calls would go.
 */
static double work_ns(const struct loop_finder *finder, uint32_t row)
{
	const struct ss_slices *slices = &finder->of->trace->slices;
	const struct ss_attribution_rows *rows = finder->of->rows;
	uint32_t end = rows->first + rows->count, calls = 0;
	bool is_double;
	double flops = 0;

	for (uint32_t i = row; i < end && slices->start_ns[i] < ss_slice_end(slices, row); i++) {
		calls += slices->kind[i] == SS_KIND_OP;
		flops += ss_attribution_flops(finder->of, i);
	}
	if (flops > 0 && finder->best_rate > 0)
		return flops / finder->best_rate;
	if (ss_attribution_traits(finder->of, row) & SS_TRAIT_POINTWISE)
		return NS_PER_ELEMENT * ss_attribution_elements(finder->of, row, &is_double);
	return slices->dur_ns[row] < SHORT_NS
		       ? 0
		       : (double)slices->dur_ns[row] - (double)calls * CALL_NS;
}

static bool take_loop(struct loop_finder *finder, const struct loop_candidate *loop, uint8_t phase)
{
	const struct ss_slices *slices = &finder->of->trace->slices;
	uint32_t turns = (loop->to - loop->from) / loop->period;
	int64_t from_ns = slices->start_ns[finder->ops[loop->from]];
	int64_t to_ns = ss_slice_end(slices, finder->ops[loop->to - 1]);
	int64_t usual_ns;
	double share;

	if (phase == SS_PLACE_FORWARD && finder->parameters >= turns)
		return true; /* layers: one parameter each */
	usual_ns = usual_turn(finder, loop, turns);
	if (usual_ns < 0)
		return false;
	share = (double)(turns - 1) * (double)usual_ns / (double)(to_ns - from_ns + 1);
	if (share > 1 - 1.0 / turns)
		share = 1 - 1.0 / turns;
	for (uint32_t i = loop->from; i < loop->to; i++) {
		uint32_t row = finder->ops[i];
		double own = 1 - work_ns(finder, row) / ((double)slices->dur_ns[row] + 1);

		ss_attribution_raise(finder->of, row, own < share ? own : share, SS_EXCESS_LOOP);
	}
	return add_span(finder->of, (struct ss_attribution_span){ .from_ns = from_ns,
								  .to_ns = to_ns,
								  .turns = turns,
								  .period = loop->period,
								  .first = finder->ops[loop->from],
								  .excess = (float)share,
								  .phase = phase });
}

/* Of overlapping candidates the longest counts. */
static bool take_loops(struct loop_finder *finder, uint8_t phase)
{
	for (uint32_t i = 0; i < finder->count; i++)
		finder->taken[i] = 0;
	for (uint32_t i = 0; i < finder->candidate_count; i++) {
		const struct loop_candidate *loop = &finder->candidates[i];
		uint32_t taken = 0;

		for (uint32_t k = loop->from; k < loop->to; k++)
			taken += finder->taken[k];
		if (taken > (loop->to - loop->from) / 10)
			continue;
		for (uint32_t k = loop->from; k < loop->to; k++)
			finder->taken[k] = 1;
		if (!take_loop(finder, loop, phase))
			return false;
	}
	return true;
}

static void end_chain(struct loop_finder *finder, uint32_t from, uint32_t to)
{
	if (to - from < CHAIN_MIN)
		return;
	for (uint32_t i = from; i < to; i++)
		ss_attribution_raise(finder->of, finder->ops[i], 1 - 1.0 / (to - from),
				     SS_EXCESS_CHAIN);
}

/* Element-wise operators in a row on tensors of one size. */
static void find_chains(struct loop_finder *finder)
{
	double size = 0;
	uint32_t from = 0;

	for (uint32_t i = 0; i < finder->count; i++) {
		bool is_double;
		bool fits = ss_attribution_traits(finder->of, finder->ops[i]) & SS_TRAIT_POINTWISE;
		double own = fits ? ss_attribution_elements(finder->of, finder->ops[i], &is_double)
				  : 0;

		if (fits && i > from && (own == size || own <= 1))
			continue;
		end_chain(finder, from, i);
		from = fits ? i : i + 1;
		size = own;
	}
	end_chain(finder, from, finder->count);
}

/* A run of joins whose data grew each time: one join at the end would copy once. */
static void end_growth(struct loop_finder *finder, uint32_t from, uint32_t to, uint32_t calls)
{
	const int64_t *durations = finder->of->trace->slices.dur_ns;
	uint32_t name = name_at(finder, from);
	int64_t sum_ns = 0, last_ns = 0;

	if (calls < GROWTH_MIN)
		return;
	for (uint32_t i = from; i < to; i++)
		if (name_at(finder, i) == name)
			ss_ns_add(&sum_ns, last_ns = durations[finder->ops[i]]);
	for (uint32_t i = from; i < to; i++)
		if (name_at(finder, i) == name)
			ss_attribution_raise(finder->of, finder->ops[i],
					     1 - (double)last_ns / ((double)sum_ns + 1),
					     SS_EXCESS_GROWING);
}

static void find_growth(struct loop_finder *finder)
{
	uint32_t from = 0, last = 0, calls = 0;
	double size = 0;

	for (uint32_t i = 0; i < finder->count; i++) {
		bool is_double, goes_on;
		double own;

		if (!(ss_attribution_traits(finder->of, finder->ops[i]) & SS_TRAIT_JOINS))
			continue;
		own = ss_attribution_elements(finder->of, finder->ops[i], &is_double);
		goes_on = calls && own > size && name_at(finder, i) == name_at(finder, from);
		if (!goes_on && calls)
			end_growth(finder, from, last + 1, calls);
		from = goes_on ? from : i;
		calls = goes_on ? calls + 1 : 1;
		last = i;
		size = own;
	}
	if (calls)
		end_growth(finder, from, last + 1, calls);
}

/* The outermost operators of a phase that start within a step. */
static void collect_ops(struct loop_finder *finder, const struct ss_interval *step, uint8_t phase)
{
	const struct ss_attribution_rows *rows = finder->of->rows;
	const struct ss_slices *slices = &finder->of->trace->slices;
	uint32_t low = rows->first, high = rows->first + rows->count;

	SS_SEARCH(low, high, at, slices->start_ns[at] < step->start_ns);
	finder->count = 0;
	for (uint32_t row = low; row < rows->first + rows->count; row++) {
		uint32_t up = rows->parent[row - rows->first];

		if (slices->start_ns[row] >= step->end_ns)
			break;
		if (slices->kind[row] == SS_KIND_OP && rows->phase[row - rows->first] == phase &&
		    (up == SS_NO_ROW || slices->kind[up] != SS_KIND_OP))
			finder->ops[finder->count++] = row;
	}
}

static bool search_steps(struct loop_finder *finder, const struct ss_cover *steps)
{
	for (uint32_t i = 0; i < steps->count; i++) {
		collect_ops(finder, &steps->items[i], SS_PLACE_FORWARD);
		find_growth(finder);
		/* in inference the pattern may be the step */
		if (finder->of->trains) {
			if (!find_candidates(finder) || !take_loops(finder, SS_PLACE_FORWARD))
				return false;
			find_chains(finder);
		}
		collect_ops(finder, &steps->items[i], SS_PLACE_OPTIMIZER);
		if (!find_candidates(finder) || !take_loops(finder, SS_PLACE_OPTIMIZER))
			return false;
	}
	return true;
}

bool ss_attribution_find_loops(struct ss_attribution *of, const struct ss_cover *steps)
{
	struct loop_finder finder = { .of = of };
	SS_SCRATCH(scratch, of->memory);
	bool whole;

	finder.scratch = &scratch;
	finder.ops = SS_ARENA_NEW(&scratch, uint32_t, (size_t)of->rows->count + 1);
	finder.taken = SS_ARENA_NEW(&scratch, uint8_t, (size_t)of->rows->count + 1);
	for (uint32_t i = 0; i < of->rows->count; i++) {
		double flops = ss_attribution_flops(of, of->rows->first + i);
		double rate = flops / ((double)of->trace->slices.dur_ns[of->rows->first + i] + 1);

		finder.best_rate = rate > finder.best_rate ? rate : finder.best_rate;
		finder.parameters += of->trace->slices.kind[of->rows->first + i] == SS_KIND_OP &&
				     (ss_attribution_traits(of, of->rows->first + i) &
				      (SS_TRAIT_ACCUMULATE | SS_TRAIT_ENGINE)) ==
					     SS_TRAIT_ACCUMULATE;
	}
	finder.parameters /= steps->count ? steps->count : 1;
	whole = finder.ops && finder.taken && search_steps(&finder, steps);
	SS_FREE(of->memory, finder.candidates, finder.candidate_capacity);
	return whole;
}
