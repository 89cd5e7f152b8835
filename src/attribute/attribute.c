/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute.c - makes the tree of places of one rank, and sums time and excess up to the step.
 */
#include "attribute/attribute.h"

#include <string.h>

#include "attribute/rows.h"

static const char *const excess_kinds[] = {
	[SS_EXCESS_NONE] = "normal",
	[SS_EXCESS_BESIDE] = "beside training",
	[SS_EXCESS_UNTRAINED] = "not trained",
	[SS_EXCESS_OUTSIDE] = "outside of the model",
	[SS_EXCESS_INPUT] = "input",
	[SS_EXCESS_UNANSWERED] = "without gradients",
	[SS_EXCESS_ENGINE] = "in backward",
	[SS_EXCESS_AGAIN] = "repeated backward",
	[SS_EXCESS_RECOMPUTED] = "recomputed",
	[SS_EXCESS_LOOP] = "loop",
	[SS_EXCESS_GROWING] = "growing",
	[SS_EXCESS_CHAIN] = "element-wise",
	[SS_EXCESS_COPIES] = "copies",
	[SS_EXCESS_DOUBLE] = "float64",
	[SS_EXCESS_HOOK] = "every operator",
	[SS_EXCESS_SLOW] = "slow products",
	[SS_EXCESS_SORT] = "sorting",
	[SS_EXCESS_TABLE] = "unused rows",
	[SS_EXCESS_UNUSED] = "unused gradients",
	[SS_EXCESS_PREFIX] = "earlier tokens",
	[SS_EXCESS_FIRST] = "first calls",
	[SS_EXCESS_TRAIN_MODE] = "train mode",
	[SS_EXCESS_COLLECTIVE] = "collectives",
	[SS_EXCESS_GAP] = "unrecorded",
	[SS_EXCESS_IDLE] = "idle GPU",
};

const char *ss_excess_kind_name(enum ss_excess_kind kind)
{
	return excess_kinds[kind];
}

/* Neighbours of the same place and kind; a collective is claimed by its own row. */
static bool continues(const struct ss_attribution_moment *last,
		      const struct ss_attribution_moment *next)
{
	return last->to_ns == next->from_ns && last->node == next->node &&
	       last->kind == next->kind && last->track == next->track &&
	       (last->row == SS_NO_ROW) == (next->row == SS_NO_ROW) &&
	       next->kind != SS_EXCESS_COLLECTIVE;
}

/* Adds a moment to its place alone, and keeps it if it exceeds the normal. */
static void keep_moment(void *context, const struct ss_attribution_moment *moment)
{
	struct ss_attribution *of = context;
	struct ss_attribution_moment *last;

	if (of->failed)
		return;
	ss_ns_add(&of->nodes[moment->node].time_ns, moment->to_ns - moment->from_ns);
	of->nodes[moment->node].calls += !ss_attribution_has(of, moment->row);
	if (moment->excess_ns <= 0)
		return;
	last = of->moment_count ? &of->moments[of->moment_count - 1] : NULL;
	if (last && continues(last, moment)) {
		last->to_ns = moment->to_ns;
		ss_ns_add(&last->excess_ns, moment->excess_ns);
		return;
	}
	if (!SS_GROW(of->memory, of->moments, of->moment_capacity, of->moment_count)) {
		of->failed = true;
		return;
	}
	of->moments[of->moment_count++] = *moment;
}

static void report_piece(const struct ss_attribution_moment *whole, struct ss_interval left,
			 ss_attribution_sink sink, void *context)
{
	struct ss_attribution_moment piece = *whole;
	double share = (double)whole->excess_ns / (double)(whole->to_ns - whole->from_ns);

	if (left.end_ns <= left.start_ns)
		return;
	piece.from_ns = left.start_ns;
	piece.to_ns = left.end_ns;
	if (left.start_ns != whole->from_ns || left.end_ns != whole->to_ns)
		piece.excess_ns = (int64_t)(share * (double)(left.end_ns - left.start_ns));
	sink(context, &piece);
}

void ss_attribution_walk(const struct ss_attribution *attribution, const struct ss_cover *taken,
			 ss_attribution_sink sink, void *context)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < attribution->moment_count; i++) {
		const struct ss_attribution_moment *moment = &attribution->moments[i];
		struct ss_interval left = { moment->from_ns, moment->to_ns };

		while (taken && at < taken->count && taken->items[at].end_ns <= left.start_ns)
			at++;
		for (uint32_t k = at; taken && k < taken->count; k++) {
			if (taken->items[k].start_ns >= moment->to_ns)
				break;
			left.end_ns = taken->items[k].start_ns;
			report_piece(moment, left, sink, context);
			if (taken->items[k].end_ns > left.start_ns)
				left.start_ns = taken->items[k].end_ns;
		}
		left.end_ns = moment->to_ns;
		report_piece(moment, left, sink, context);
	}
}

/* Adds up the tree: children have larger numbers than their parents. */
static void sum_times(struct ss_attribution *of)
{
	const struct ss_attribution_rows *rows = of->rows;

	for (uint32_t i = 0; i < rows->count; i++)
		if (rows->node[i])
			of->nodes[rows->node[i] - 1].calls++;
	for (uint32_t i = of->node_count; i-- > 1;)
		ss_ns_add(&of->nodes[of->nodes[i].parent].time_ns, of->nodes[i].time_ns);
}

void ss_attribution_release(struct ss_attribution *attribution)
{
	struct ss_attribution_rows *rows = attribution->rows;

	if (!attribution->memory)
		return;
	if (rows) {
		SS_FREE(attribution->memory, rows->chain, rows->chain_capacity);
		SS_FREE(attribution->memory, rows->spans, rows->span_capacity);
	}
	SS_FREE(attribution->memory, attribution->moments, attribution->moment_capacity);
	SS_FREE(attribution->memory, attribution->nodes, attribution->node_capacity);
	ss_records_release(&attribution->keys);
	ss_strings_release(&attribution->labels);
	ss_arena_release(&attribution->arena);
	*attribution = (struct ss_attribution){ 0 };
}

static void add_excess(void *context, const struct ss_attribution_moment *moment)
{
	struct ss_attribution *of = context;
	struct ss_place_node *node = &of->nodes[moment->node];

	ss_ns_add(&node->excess_ns, moment->excess_ns);
	ss_ns_add(&node->kinds_ns[moment->kind], moment->excess_ns);
}

void ss_attribution_measure(struct ss_attribution *of, const struct ss_cover *taken)
{
	for (uint32_t i = 0; i < of->node_count; i++) {
		if (!of->nodes[i].excess_ns)
			continue;
		of->nodes[i].excess_ns = 0;
		memset(of->nodes[i].kinds_ns, 0, sizeof(of->nodes[i].kinds_ns));
	}
	ss_attribution_walk(of, taken, add_excess, of);
	for (uint32_t i = of->node_count; i-- > 1;) {
		struct ss_place_node *node = &of->nodes[i], *up = &of->nodes[node->parent];

		if (!node->excess_ns)
			continue;
		ss_ns_add(&up->excess_ns, node->excess_ns);
		for (uint32_t k = 0; k < SS_EXCESS_KINDS; k++)
			ss_ns_add(&up->kinds_ns[k], node->kinds_ns[k]);
	}
}

static bool begin(struct ss_attribution *out)
{
	/* the key of a node: parent, label, type */
	return ss_strings_init(&out->labels, out->memory) &&
	       ss_records_init(&out->keys, out->memory, 3 * sizeof(uint32_t)) &&
	       ss_attribution_below(out, 0, SS_PLACE_STEP, SS_PLACE_NO_PHASE, "step", 4) == 0 &&
	       !out->failed;
}

/* The thread that runs the steps, or the one that calls the device most. */
static uint32_t main_track(const struct ss_trace *trace, const struct ss_phases *phases)
{
	uint32_t best = phases->main, most = 0;

	for (uint32_t i = 0; i < trace->track_count && phases->main == SS_NO_ROW; i++) {
		const struct ss_track *track = &trace->tracks[i];
		uint32_t calls = 0;

		if (track->first_row >= trace->device_from)
			continue;
		for (uint32_t row = 0; row < track->row_count; row++)
			calls += ss_kind_is_call(trace->slices.kind[track->first_row + row]);
		if (calls > most) {
			most = calls;
			best = i;
		}
	}
	return best;
}

enum ss_status ss_attribution_make(struct ss_attribution *out, struct ss_facts *facts,
				   const struct ss_attribution_options *options,
				   struct ss_memory *memory, struct ss_error *err)
{
	const struct ss_phases *phases;
	bool whole;

	SS_TRY(ss_facts_phases(facts, &phases, err));
	*out = (struct ss_attribution){
		.trace = facts->trace,
		.memory = memory,
		.phases = phases,
		.main = main_track(facts->trace, phases),
		.step_ns = ss_cover_length(options->steps),
		.has_device = options->idle != NULL,
		.is_blind = facts->trace->quality.rows[SS_ODD_NO_DEVICE_EVENTS].count > 0
	};
	ss_arena_init(&out->arena, memory);
	whole = begin(out);
	if (whole && out->main != SS_NO_ROW) {
		whole = ss_attribution_fill_rows(out, phases) &&
			ss_attribution_fill_normals(out, options->steps);
		if (whole)
			ss_attribution_sweep(out, options, keep_moment, out);
		if (whole && !out->failed) {
			sum_times(out);
			ss_attribution_measure(out, options->taken);
		}
	}
	if (whole && !out->failed)
		return SS_OK;
	ss_attribution_release(out);
	return ss_fail_memory(err, "the places of a step");
}

uint32_t ss_attribution_heaviest(const struct ss_attribution *attribution, uint32_t node)
{
	uint32_t best = SS_NO_ROW;

	for (uint32_t i = node + 1; i < attribution->node_count; i++)
		if (attribution->nodes[i].parent == node && attribution->nodes[i].excess_ns > 0 &&
		    (best == SS_NO_ROW ||
		     attribution->nodes[i].excess_ns > attribution->nodes[best].excess_ns))
			best = i;
	return best;
}

enum ss_excess_kind ss_attribution_kind(const struct ss_attribution *attribution, uint32_t node)
{
	const int64_t *kinds = attribution->nodes[node].kinds_ns;
	enum ss_excess_kind best = SS_EXCESS_NONE;

	for (uint32_t k = 1; k < SS_EXCESS_KINDS; k++)
		if (kinds[k] > 0 && (best == SS_EXCESS_NONE || kinds[k] > kinds[best]))
			best = (enum ss_excess_kind)k;
	return best;
}
