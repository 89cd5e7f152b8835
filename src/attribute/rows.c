/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.c - parents, phases, and what backward answers, for the rows of the main thread.
 *
 * An operator is training if a backward node answers it. A function that holds operators of one
 * phase has that phase; one that holds several is the training loop. Everything else is beside
 * training.
 */
#include <stdio.h>
#include <string.h>

#include "attribute/rows.h"
#include "base/sort.h"

/* Which of forward, backward and optimizer a row holds. */
#define MASK(phase) ((uint8_t)(1u << (phase)))

static uint32_t at(const struct ss_attribution *of, uint32_t row)
{
	return row - of->rows->first;
}

/*
 * A range that begins inside of a helper (record_function.__enter__) and outlives it belongs to
 * the helper's caller.
 */
static void find_parents(struct ss_attribution *of)
{
	const struct ss_slices *slices = &of->trace->slices;
	struct ss_attribution_rows *rows = of->rows;

	for (uint32_t i = 0; i < rows->count; i++) {
		uint32_t row = rows->first + i, parent = slices->parent[row];

		while (parent != SS_NO_ROW && slices->kind[row] == SS_KIND_ANNOTATION &&
		       ss_slice_end(slices, parent) < ss_slice_end(slices, row))
			parent = rows->parent[at(of, parent)];
		rows->parent[i] = parent;
	}
}

/* Forward operators that a backward answers, and everything around them. */
static void find_answered(struct ss_attribution *of)
{
	const struct ss_slices *slices = &of->trace->slices;
	struct ss_attribution_rows *rows = of->rows;

	for (uint32_t row = 0; row < of->trace->device_from; row++) {
		uint32_t forward = slices->kind[row] == SS_KIND_OP ? slices->link[row] : SS_NO_ROW;

		if (forward >= of->trace->device_from)
			continue;
		of->trains = true;
		if (!ss_attribution_has(of, forward))
			continue;
		if (ss_attribution_is_answer(of, row) && rows->answers[at(of, forward)] < UINT8_MAX)
			rows->answers[at(of, forward)]++;
		if (!rows->answered[at(of, forward)])
			for (uint32_t up = rows->parent[at(of, forward)];
			     up != SS_NO_ROW && !rows->answered[at(of, up)];
			     up = rows->parent[at(of, up)])
				rows->answered[at(of, up)] = SS_ANSWERED_INSIDE;
		rows->answered[at(of, forward)] = SS_ANSWERED_ITSELF;
	}
}

static enum ss_place_phase phase_by_name(const struct ss_attribution *of, uint32_t row,
					 const struct ss_phases *phases)
{
	uint32_t traits = ss_attribution_traits(of, row);
	enum ss_kind kind = of->trace->slices.kind[row];
	uint32_t flags = ss_slice_flags(of->trace, row);

	if (traits & SS_TRAIT_PROFILER)
		return SS_PLACE_PROFILER;
	if (traits & SS_TRAIT_WRAPPER)
		return SS_PLACE_FORWARD;
	if (kind == SS_KIND_PYTHON)
		return traits & SS_TRAIT_BACKWARD    ? SS_PLACE_BACKWARD
		       : traits & SS_TRAIT_OPTIMIZER ? SS_PLACE_OPTIMIZER
		       : traits & SS_TRAIT_INPUT     ? SS_PLACE_INPUT
						     : SS_PLACE_NO_PHASE;
	if (flags & (SS_NAME_STEP | SS_NAME_STEP_LIKE))
		return SS_PLACE_LOOP;
	if (kind == SS_KIND_ANNOTATION && phases->phase[row] != SS_PHASE_OTHER)
		return (enum ss_place_phase)phases->phase[row];
	if (kind == SS_KIND_OP && phases->phase[row] != SS_PHASE_FORWARD &&
	    phases->phase[row] != SS_PHASE_OTHER)
		return (enum ss_place_phase)phases->phase[row];
	return SS_PLACE_NO_PHASE;
}

static enum ss_place_phase phase_of_row(const struct ss_attribution *of, uint32_t row,
					const struct ss_phases *phases)
{
	const struct ss_attribution_rows *rows = of->rows;
	uint32_t parent = rows->parent[at(of, row)];
	enum ss_place_phase around = parent == SS_NO_ROW ? SS_PLACE_NO_PHASE
							 : rows->phase[at(of, parent)];
	enum ss_place_phase own = phase_by_name(of, row, phases);
	enum ss_kind kind = of->trace->slices.kind[row];
	bool is_module = ss_slice_flags(of->trace, row) & SS_NAME_MODULE;

	if (around != SS_PLACE_NO_PHASE && around != SS_PLACE_LOOP)
		return around == SS_PLACE_FORWARD && own == SS_PLACE_BACKWARD ? own : around;
	if (own != SS_PLACE_NO_PHASE)
		return own;
	if (of->trains)
		return (kind == SS_KIND_OP || is_module) && rows->answered[at(of, row)]
			       ? SS_PLACE_FORWARD
			       : SS_PLACE_NO_PHASE;
	return is_module || (kind == SS_KIND_OP && !of->has_stacks) ? SS_PLACE_FORWARD
								    : SS_PLACE_NO_PHASE;
}

/* Without stacks, what lies between two answered operators of one forward belongs to it. */
static void fill_forward(struct ss_attribution *of)
{
	struct ss_attribution_rows *rows = of->rows;
	uint32_t last = SS_NO_ROW; /* the forward operator before */

	for (uint32_t i = 0; i < rows->count; i++) {
		uint32_t parent = rows->parent[i];
		bool is_top = parent == SS_NO_ROW || rows->phase[at(of, parent)] == SS_PLACE_LOOP;

		if (!is_top || rows->phase[i] == SS_PLACE_LOOP)
			continue;
		if (rows->phase[i] == SS_PLACE_FORWARD) {
			for (uint32_t k = last == SS_NO_ROW ? i : last + 1; k < i; k++)
				if (rows->phase[k] == SS_PLACE_NO_PHASE)
					rows->phase[k] = SS_PLACE_FORWARD;
			last = i;
		} else if (rows->phase[i] != SS_PLACE_NO_PHASE) {
			last = SS_NO_ROW;
		}
	}
}

static const char *const phase_words[] = {
	[SS_PLACE_INPUT] = "input",           [SS_PLACE_FORWARD] = "forward",
	[SS_PLACE_BACKWARD] = "backward",     [SS_PLACE_OPTIMIZER] = "the optimizer",
	[SS_PLACE_BESIDE] = "other work",     [SS_PLACE_LOOP] = "the loop",
	[SS_PLACE_PROFILER] = "the profiler",
};

/* Gives the rows from `from` to before `to` that are at the top a position as their place. */
static void name_region(struct ss_attribution *of, uint32_t from, uint32_t to, uint8_t after,
			uint8_t before)
{
	struct ss_attribution_rows *rows = of->rows;
	char text[80];
	uint32_t label;

	snprintf(text, sizeof(text), "between %s and %s",
		 after == SS_PLACE_NO_PHASE ? "the start" : phase_words[after],
		 before == SS_PLACE_NO_PHASE ? "the end" : phase_words[before]);
	label = ss_strings_add(&of->labels, text, strlen(text));
	if (label == SS_NO_ID) {
		of->failed = true;
		return;
	}
	for (uint32_t i = from; i < to; i++)
		if (rows->phase[i] == SS_PLACE_BESIDE)
			rows->region[i] = label;
}

/* Whether a row is the outermost of a phase. */
static bool is_region_end(const struct ss_attribution *of, uint32_t i)
{
	const struct ss_attribution_rows *rows = of->rows;
	uint32_t parent = rows->parent[i];
	uint8_t phase = rows->phase[i];

	return (parent == SS_NO_ROW || rows->phase[at(of, parent)] == SS_PLACE_LOOP) &&
	       phase != SS_PLACE_BESIDE && phase != SS_PLACE_LOOP;
}

/* Without stacks the place of work beside training is its position between phases. */
static void name_regions(struct ss_attribution *of)
{
	struct ss_attribution_rows *rows = of->rows;
	uint8_t first = SS_PLACE_NO_PHASE, last = SS_PLACE_NO_PHASE, after;
	uint32_t from = 0;

	for (uint32_t i = 0; i < rows->count; i++)
		if (is_region_end(of, i)) {
			first = first == SS_PLACE_NO_PHASE ? rows->phase[i] : first;
			last = rows->phase[i];
		}
	/* steps repeat: what is behind the last phase is before the first one */
	after = last;
	for (uint32_t i = 0; i < rows->count; i++) {
		if (!is_region_end(of, i))
			continue;
		name_region(of, from, i, after, rows->phase[i]);
		after = rows->phase[i];
		from = i;
	}
	name_region(of, from, rows->count, after, first);
}

/* A row without a phase is the loop itself if it holds some, else it is beside training. */
static void settle_phases(struct ss_attribution *of, uint8_t *masks)
{
	const struct ss_slices *slices = &of->trace->slices;
	struct ss_attribution_rows *rows = of->rows;

	for (uint32_t i = rows->count; i-- > 0;) {
		uint8_t phase = rows->phase[i];

		if (slices->kind[rows->first + i] != SS_KIND_PYTHON &&
		    (phase == SS_PLACE_FORWARD || phase == SS_PLACE_BACKWARD ||
		     phase == SS_PLACE_OPTIMIZER))
			masks[i] |= MASK(phase);
		if (rows->parent[i] != SS_NO_ROW)
			masks[at(of, rows->parent[i])] |= masks[i];
	}
	for (uint32_t i = 0; i < rows->count; i++)
		if (rows->phase[i] == SS_PLACE_NO_PHASE)
			rows->phase[i] = masks[i] ? SS_PLACE_LOOP : SS_PLACE_BESIDE;
}

uint8_t ss_attribution_next_phase(const struct ss_attribution *of, uint32_t row)
{
	struct ss_attribution_rows *rows = of->rows;
	uint32_t i = at(of, row);

	if (i >= rows->next_from && i < rows->next_to)
		return rows->next_phase;
	rows->next_from = i;
	rows->next_phase = SS_PLACE_NO_PHASE;
	for (i++; i < rows->count && rows->next_phase == SS_PLACE_NO_PHASE; i++)
		if (rows->phase[i] == SS_PLACE_FORWARD || rows->phase[i] == SS_PLACE_BACKWARD ||
		    rows->phase[i] == SS_PLACE_OPTIMIZER)
			rows->next_phase = rows->phase[i];
	rows->next_to = i - 1;
	return rows->next_phase;
}

static bool fill_names(struct ss_attribution *of)
{
	const struct ss_trace *trace = of->trace;
	uint32_t *traits = SS_ARENA_NEW(&of->arena, uint32_t, (size_t)trace->names.count + 1);

	for (uint32_t i = 0; traits && i < trace->names.count; i++)
		traits[i] = ss_attribution_name_traits(&trace->names.items[i],
						       trace->name_flags[i]);
	of->rows->traits = traits;
	of->rows->labels = SS_ARENA_NEW(&of->arena, uint32_t, (size_t)trace->names.count + 1);
	return traits && of->rows->labels;
}

struct collective_start {
	int64_t start_ns;
	uint32_t row;
};

SS_COMPARATOR(collective_compare_start, struct collective_start,
	      SS_ASCENDING(start_ns) SS_ASCENDING(row))

/* Ranges of collectives on all threads, by start. */
static bool find_collectives(struct ss_attribution *of)
{
	const struct ss_slices *slices = &of->trace->slices;
	struct ss_attribution_rows *rows = of->rows;
	struct collective_start *starts;
	uint32_t count = 0, found = 0;

	for (uint32_t row = 0; row < of->trace->device_from; row++)
		count += slices->kind[row] == SS_KIND_ANNOTATION &&
			 (ss_slice_flags(of->trace, row) & SS_NAME_COMM_RANGE);
	if (!SS_ALLOC(&of->arena, starts, (size_t)count + 1) ||
	    !SS_ALLOC(&of->arena, rows->collectives, (size_t)count + 1))
		return false;
	for (uint32_t row = 0; row < of->trace->device_from; row++)
		if (slices->kind[row] == SS_KIND_ANNOTATION &&
		    (ss_slice_flags(of->trace, row) & SS_NAME_COMM_RANGE))
			starts[found++] = (struct collective_start){ slices->start_ns[row], row };
	if (!ss_sort_runs(starts, count, sizeof(*starts), collective_compare_start, of->memory))
		return false;
	for (uint32_t i = 0; i < count; i++)
		rows->collectives[i] = starts[i].row;
	rows->collective_count = count;
	return true;
}

/* Whether the main thread reduces gradients in a row: large, and right before the optimizer. */
static bool reduces_gradients(const struct ss_attribution *of, uint32_t row)
{
	return of->trace->slices.kind[row] == SS_KIND_OP &&
	       (ss_slice_flags(of->trace, row) & SS_NAME_COMM_OP) &&
	       strstr(ss_strings_text(&of->trace->names, of->trace->slices.name[row]), "reduce") &&
	       ss_attribution_is_gradient(of, row);
}

/* A function that averages gradients is part of backward, with what it packs and copies. */
static void find_averages(struct ss_attribution *of)
{
	const struct ss_slices *slices = &of->trace->slices;
	struct ss_attribution_rows *rows = of->rows;

	for (uint32_t i = 0; i < rows->count; i++) {
		uint32_t outer = i, up = rows->parent[i];

		if (rows->phase[i] != SS_PLACE_BESIDE || !reduces_gradients(of, rows->first + i))
			continue;
		for (; up != SS_NO_ROW && rows->phase[at(of, up)] == SS_PLACE_BESIDE;
		     up = rows->parent[at(of, up)])
			outer = at(of, up);
		for (uint32_t k = outer;
		     k < rows->count &&
		     slices->start_ns[rows->first + k] < ss_slice_end(slices, rows->first + outer);
		     k++)
			rows->phase[k] = SS_PLACE_BACKWARD;
	}
}

static bool alloc_rows(struct ss_attribution *of)
{
	struct ss_attribution_rows *rows = SS_ARENA_NEW(&of->arena, struct ss_attribution_rows, 1);
	const struct ss_track *track = &of->trace->tracks[of->main];
	size_t count = (size_t)track->row_count + 1;

	of->rows = rows;
	if (!rows)
		return false;
	rows->first = track->first_row;
	rows->count = track->row_count;
	return SS_ALLOC(&of->arena, rows->parent, count) &&
	       SS_ALLOC(&of->arena, rows->node, count) &&
	       SS_ALLOC(&of->arena, rows->region, count) &&
	       SS_ALLOC(&of->arena, rows->excess, count) &&
	       SS_ALLOC(&of->arena, rows->kind, count) &&
	       SS_ALLOC(&of->arena, rows->phase, count) &&
	       SS_ALLOC(&of->arena, rows->answered, count) &&
	       SS_ALLOC(&of->arena, rows->answers, count) &&
	       SS_ALLOC(&of->arena, rows->sizes, (size_t)of->trace->op_args.count + 1);
}

bool ss_attribution_fill_rows(struct ss_attribution *of, const struct ss_phases *phases)
{
	const struct ss_slices *slices = &of->trace->slices;
	uint8_t *masks;

	if (!alloc_rows(of) || !fill_names(of) || !find_collectives(of))
		return false;
	if (!SS_ALLOC(&of->arena, masks, (size_t)of->rows->count + 1))
		return false;
	find_parents(of);
	for (uint32_t i = 0; i < of->rows->count && !of->has_modules; i++) {
		of->has_stacks |= slices->kind[of->rows->first + i] == SS_KIND_PYTHON;
		of->has_modules = ss_slice_flags(of->trace, of->rows->first + i) & SS_NAME_MODULE;
	}
	find_answered(of);
	for (uint32_t i = 0; i < of->rows->count; i++)
		of->rows->phase[i] = (uint8_t)phase_of_row(of, of->rows->first + i, phases);
	if (of->trains && !of->has_stacks)
		fill_forward(of);
	settle_phases(of, masks);
	if (of->trains)
		find_averages(of);
	if (!of->has_stacks)
		name_regions(of);
	return !of->failed;
}
