/* SPDX-License-Identifier: Apache-2.0 */
/*
 * costly.c - claims what exceeds the normal.
 *
 * Attribution (attribute/attribute.h) gives every moment of the step's critical path a place and a
 * normal length. Some kinds name their cause wherever they are: float64, hooks, start-up. Others
 * belong to a place: the way goes down the tree as long as one child holds at least half of the
 * excess. Without a device the outermost function of the program on that way is the place, or one
 * inside of it that has nearly all; with a device the innermost, since the functions around it also
 * launch work.
 *
 * The saving is a bound: it assumes that what exceeds the normal can go, or be done elsewhere.
 */
#include "diagnose/evidence/costly.h"

#include <stdio.h>
#include <string.h>

#include "attribute/rows.h"
#include "base/hash/hash.h"
#include "base/sort.h"
#include "diagnose/diagnose.h"
#include "diagnose/evidence/claimed_time.h"

/* Of what exceeds the normal, at least so much goes if the fix does less than expected. */
#define LOW_SHARE 0.6
/* A single pause in a file may be start-up. */
#define RECURS_MIN 3
/* A function that holds so much of another one's excess is the more exact place. */
#define NEARLY_ALL 0.85

/* What takes so much longer than it exceeds the normal has two figures. */
#define LONGER_FACTOR 1.1

#define DEPTH_MAX 64
#define LABEL_MAX 160

static const char *const costly_phases[] = {
	[SS_PLACE_INPUT] = ", in the DataLoader",  [SS_PLACE_FORWARD] = ", in forward",
	[SS_PLACE_BACKWARD] = ", in backward",     [SS_PLACE_OPTIMIZER] = ", in the optimizer",
	[SS_PLACE_BESIDE] = ", beside training",   [SS_PLACE_LOOP] = "",
	[SS_PLACE_PROFILER] = ", in the profiler", [SS_PLACE_NO_PHASE] = "",
};

struct costly_claims {
	struct ss_rule_context *context;
	struct ss_unclaimed *unclaimed;
	struct ss_attribution *of;
	uint32_t node;            /* whose excess is claimed */
	enum ss_excess_kind kind; /* of a whole kind: node is the step */
	uint8_t *inside;          /* per place: it is the chosen one, or below it */
	int64_t *times_ns;        /* per place: how long that takes of which a part exceeds */
	bool is_kind;
	struct ss_stretch open; /* neighbours are claimed as one */
	int64_t open_excess_ns;
	int64_t quarters_ns[3]; /* of the excess: of a low, the median, a high step */
	double low_share;       /* of the excess goes at least */
	uint32_t collective;    /* the last one that was claimed */
};

/* --- which kind, which place ---------------------------------------------------------------- */

/* Kinds that say what is wrong, wherever they are. */
static bool costly_is_kind(enum ss_excess_kind kind)
{
	return kind == SS_EXCESS_DOUBLE || kind == SS_EXCESS_HOOK || kind == SS_EXCESS_ENGINE ||
	       kind == SS_EXCESS_SLOW || kind == SS_EXCESS_SORT || kind == SS_EXCESS_TABLE ||
	       kind == SS_EXCESS_UNUSED || kind == SS_EXCESS_FIRST || kind == SS_EXCESS_AGAIN ||
	       kind == SS_EXCESS_PREFIX || kind == SS_EXCESS_GROWING ||
	       kind == SS_EXCESS_TRAIN_MODE || kind == SS_EXCESS_RECOMPUTED;
}

static void costly_choose_kind(struct costly_claims *costly)
{
	const int64_t *kinds_ns = costly->of->nodes[0].kinds_ns;

	costly->node = 0;
	costly->kind = SS_EXCESS_NONE;
	for (uint32_t k = 1; k < SS_EXCESS_KINDS; k++)
		if (costly_is_kind((enum ss_excess_kind)k) && kinds_ns[k] > kinds_ns[costly->kind])
			costly->kind = (enum ss_excess_kind)k;
}

/* The function of the program on the way to most of the excess, else a range, else the phase. */
static void costly_choose_place(struct costly_claims *costly)
{
	const struct ss_attribution *of = costly->of;
	uint32_t phase = ss_attribution_heaviest(of, 0), node = phase, found = SS_NO_ROW;
	bool is_function = false;

	for (uint32_t depth = 0; node != SS_NO_ROW && depth < DEPTH_MAX; depth++) {
		enum ss_place_type type = of->nodes[node].type;
		double own = (double)of->nodes[node].excess_ns;

		if (2 * own < (double)of->nodes[phase].excess_ns)
			break;
		if (type == SS_PLACE_FUNCTION &&
		    (of->has_device || !is_function ||
		     own > NEARLY_ALL * (double)of->nodes[found].excess_ns)) {
			found = node;
			is_function = true;
		}
		if (found == SS_NO_ROW && (type == SS_PLACE_COLLECTIVE || type == SS_PLACE_RANGE))
			found = node;
		node = ss_attribution_heaviest(of, node);
	}
	/* stacks have its parts: the whole of several is no place */
	if (found == SS_NO_ROW && of->has_stacks && phase != SS_NO_ROW &&
	    of->nodes[phase].phase == SS_PLACE_BESIDE)
		found = ss_attribution_heaviest(of, phase);
	costly->node = found != SS_NO_ROW ? found : phase != SS_NO_ROW ? phase : 0;
	costly->kind = ss_attribution_kind(of, costly->node);
}

static int64_t costly_excess_ns(const struct costly_claims *costly)
{
	const struct ss_place_node *node = &costly->of->nodes[costly->node];

	return costly->is_kind ? node->kinds_ns[costly->kind] : node->excess_ns;
}

/* Marks the places below the chosen one: they have larger numbers than what is above them. */
static bool costly_mark_inside(struct costly_claims *costly)
{
	const struct ss_attribution *of = costly->of;

	if (!SS_ALLOC(costly->context->scratch, costly->inside, (size_t)of->node_count + 1))
		return false;
	costly->inside[costly->node] = 1;
	for (uint32_t i = costly->node + 1; i < of->node_count; i++)
		costly->inside[i] = costly->inside[of->nodes[i].parent];
	return true;
}

/* --- in each step ---------------------------------------------------------------------------- */

/* Whether a moment is part of what was chosen. */
static bool costly_has(const struct costly_claims *costly,
		       const struct ss_attribution_moment *moment)
{
	if (moment->excess_ns <= 0)
		return false;
	return costly->is_kind ? moment->kind == costly->kind : costly->inside[moment->node];
}

struct costly_steps {
	const struct costly_claims *costly;
	int64_t *sums_ns; /* per step */
	uint32_t step;
};

static void costly_add_to_step(void *context, const struct ss_attribution_moment *moment)
{
	struct costly_steps *steps = context;
	const struct ss_cover *cover = steps->costly->context->steps;

	while (steps->step + 1 < cover->count &&
	       cover->items[steps->step].end_ns <= moment->from_ns)
		steps->step++;
	if (costly_has(steps->costly, moment))
		ss_ns_add(&steps->sums_ns[steps->step], moment->excess_ns);
}

/*
 * What is not recorded, and what waits for others, may be a thread that the machine interrupted:
 * the usual step must have it. -1: no memory.
 */
static int64_t costly_usual_ns(struct costly_claims *costly)
{
	uint32_t count = costly->context->steps->count;
	size_t bytes = ((size_t)count + 1) * sizeof(int64_t);
	struct costly_steps steps = { .costly = costly,
				      .sums_ns = ss_memory_zeroed(costly->context->memory, bytes) };
	int64_t usual_ns;

	if (!steps.sums_ns)
		return -1;
	ss_attribution_walk(costly->of, costly->unclaimed->options.taken, costly_add_to_step,
			    &steps);
	SS_SORT(steps.sums_ns, count, ss_sort_compare_int64);
	usual_ns = steps.sums_ns[(count - 1) / 2];
	costly->quarters_ns[0] = steps.sums_ns[count / 4];
	costly->quarters_ns[1] = usual_ns;
	costly->quarters_ns[2] = steps.sums_ns[3 * count / 4];
	ss_memory_free(costly->context->memory, steps.sums_ns, bytes);
	return usual_ns;
}

static bool costly_is_usual(struct costly_claims *costly)
{
	double least = SS_COSTLY_SHARE * (double)costly->context->step_ns;
	int64_t usual_ns;

	if (costly->kind != SS_EXCESS_GAP && costly->kind != SS_EXCESS_COLLECTIVE)
		return true;
	if (costly->kind == SS_EXCESS_GAP)
		least = COSTLY_GAP_SHARE * (double)costly->context->step_ns;
	usual_ns = costly_usual_ns(costly);
	costly->of->failed |= usual_ns < 0;
	return (double)usual_ns * costly->context->steps->count >= least;
}

static void costly_add_time(void *context, const struct ss_attribution_moment *moment)
{
	const struct costly_claims *costly = context;

	if (costly_has(costly, moment))
		ss_ns_add(&costly->times_ns[moment->node], moment->to_ns - moment->from_ns);
}

/* Places have larger numbers than what is above them. */
static bool costly_sum_times(struct costly_claims *costly)
{
	const struct ss_attribution *of = costly->of;

	if (!SS_ALLOC(costly->context->scratch, costly->times_ns, (size_t)of->node_count + 1))
		return false;
	ss_attribution_walk(of, costly->unclaimed->options.taken, costly_add_time, costly);
	for (uint32_t i = of->node_count; i-- > 1;)
		ss_ns_add(&costly->times_ns[of->nodes[i].parent], costly->times_ns[i]);
	return true;
}

/* Whether only a part of a kind exceeds the normal. */
static bool costly_is_part(const struct costly_claims *costly)
{
	return costly->is_kind && (double)costly->times_ns[costly->node] >
					  LONGER_FACTOR * (double)costly_excess_ns(costly);
}

/* How long it takes: all of a place, as tables have it, unless much of that is of another kind. */
static int64_t costly_part_ns(const struct costly_claims *costly, uint32_t node)
{
	int64_t all_ns = costly->of->nodes[node].time_ns, own_ns = costly->times_ns[node];

	return (double)all_ns > LONGER_FACTOR * (double)own_ns ? own_ns : all_ns;
}

/* --- claims -------------------------------------------------------------------------------- */

static void costly_flush(struct costly_claims *costly)
{
	struct ss_stretch *open = &costly->open;
	int64_t ns = open->to_ns - open->from_ns;

	if (ns > 0 && costly->open_excess_ns > 0) {
		open->keep_ns = ns - costly->open_excess_ns;
		open->low_keep_ns = ns -
				    (int64_t)(costly->low_share * (double)costly->open_excess_ns);
		ss_rule_claim_time(costly->context, *open);
	}
	*open = (struct ss_stretch){ 0 };
	costly->open_excess_ns = 0;
}

/* The thread only waits for a collective: its transfer is what would be shorter. */
static void costly_claim_collective(struct costly_claims *costly, uint32_t row)
{
	uint32_t arrival = ss_replay_graph_comm_of(costly->context->graph, row);
	struct ss_claim claim = { 0 };
	int64_t own_ns;

	if (arrival == SS_NO_TASK || row == costly->collective)
		return;
	costly->collective = row;
	claim.task = arrival + 1; /* the transfer */
	own_ns = costly->context->graph->tasks[claim.task].own_ns;
	claim.low_ns = own_ns - (int64_t)(costly->low_share * (double)own_ns);
	ss_rule_claim(costly->context, claim);
}

static void costly_claim_moment(void *context, const struct ss_attribution_moment *moment)
{
	struct costly_claims *costly = context;

	if (!costly_has(costly, moment))
		return;
	if (moment->kind == SS_EXCESS_COLLECTIVE && moment->row != SS_NO_ROW)
		costly_claim_collective(costly, moment->row);
	if (costly->open.to_ns != moment->from_ns || costly->open.track != moment->track)
		costly_flush(costly);
	if (!costly->open.to_ns)
		costly->open = (struct ss_stretch){ .track = moment->track,
						    .from_ns = moment->from_ns };
	costly->open.to_ns = moment->to_ns;
	costly->open_excess_ns += moment->excess_ns;
}

/* --- sentences ------------------------------------------------------------------------------ */

/* A place for a sentence that ends with its line: "log_metrics" of "train.py(84): log_metrics". */
static void costly_format_label(const struct ss_attribution *of, uint32_t node, char *out)
{
	const char *text = ss_strings_text(&of->labels, of->nodes[node].label);
	const char *function = strstr(text, "): ");

	snprintf(out, LABEL_MAX, "%s",
		 of->nodes[node].type == SS_PLACE_FUNCTION && function ? function + 3 : text);
}

/* "between the optimizer and forward", "outside of all recorded events" */
static bool costly_is_position(const char *label)
{
	return strncmp(label, "between ", 8) == 0 || strncmp(label, "outside ", 8) == 0;
}

/* Backward of what exceeds the normal counts at the operator that it answers. */
static bool costly_has_backward(const struct ss_attribution *of, uint32_t node)
{
	if (of->nodes[node].phase == SS_PLACE_BACKWARD)
		return false;
	for (uint32_t i = node + 1; i < of->node_count; i++)
		if (of->nodes[i].phase == SS_PLACE_BACKWARD && of->nodes[i].parent == node)
			return true;
	return false;
}

/* Operators and library functions with much of the excess below the place, the outermost. */
static void costly_report_parts(struct costly_claims *costly)
{
	const struct ss_attribution *of = costly->of;
	int64_t least_ns = costly_excess_ns(costly) / 5;
	bool is_part = costly_is_part(costly);
	const char *of_it = is_part ? "" : " of it";

	for (uint32_t i = 1; i < of->node_count; i++) {
		const struct ss_place_node *node = &of->nodes[i];
		int64_t ns = costly->is_kind ? node->kinds_ns[costly->kind] : node->excess_ns;
		struct ss_fact fact = { is_part ? costly_part_ns(costly, i) : ns, node->calls,
					SS_NO_ROW };
		const char *with;
		bool is_double;
		double elements;
		char label[LABEL_MAX];

		if (node->type != SS_PLACE_OPERATOR || ns < least_ns || !node->calls ||
		    (costly->is_kind && costly->kind == SS_EXCESS_RECOMPUTED) ||
		    of->nodes[node->parent].type == SS_PLACE_OPERATOR || !costly->inside[i])
			continue;
		costly_format_label(of, i, label);
		elements = node->row == SS_NO_ROW
				   ? 0
				   : ss_attribution_elements(of, node->row, &is_double);
		with = costly_has_backward(of, i) ? " with its backward" : "";
		if (elements > 0)
			ss_rule_add_evidence(costly->context, fact,
					     "%s%s takes {time}%s per step ({count} "
					     "call{?|s}, the first on %.0f elements)",
					     label, with, of_it, elements);
		else
			ss_rule_add_evidence(costly->context, fact,
					     "%s%s takes {time}%s per step ({count} call{?|s})",
					     label, with, of_it);
	}
}

/* The longest loop in the place. */
static void costly_report_loop(struct costly_claims *costly)
{
	const struct ss_attribution_rows *rows = costly->of->rows;
	const struct ss_attribution_span *longest = NULL;
	struct ss_fact fact;
	const char *name;

	if (costly->is_kind || costly->kind != SS_EXCESS_LOOP)
		return;
	for (uint32_t i = 0; i < rows->span_count; i++)
		if (!longest || rows->spans[i].to_ns - rows->spans[i].from_ns >
					longest->to_ns - longest->from_ns)
			longest = &rows->spans[i];
	if (!longest)
		return;
	fact = (struct ss_fact){ longest->to_ns - longest->from_ns, 0, longest->first };
	name = ss_strings_text(&costly->of->trace->names,
			       costly->of->trace->slices.name[longest->first]);
	if (longest->period == 1)
		ss_rule_add_evidence(costly->context, fact, "%s runs %u times in a row", name,
				     longest->turns);
	else
		ss_rule_add_evidence(costly->context, fact,
				     "%u operators run %u times in a row, from %s on",
				     longest->period, longest->turns, name);
}

/* The innermost function of the program that has at least half of a kind; SS_NO_ROW: none. */
static uint32_t costly_kind_function(const struct costly_claims *costly)
{
	const struct ss_attribution *of = costly->of;
	int64_t half_ns = costly_excess_ns(costly) / 2;
	uint32_t found = SS_NO_ROW;

	/* children have larger numbers than what is above them */
	for (uint32_t i = 1; i < of->node_count; i++)
		if (of->nodes[i].type == SS_PLACE_FUNCTION &&
		    of->nodes[i].kinds_ns[costly->kind] > half_ns)
			found = i;
	return found;
}

static void costly_report_kind(struct costly_claims *costly)
{
	const struct ss_attribution *of = costly->of;
	uint32_t node = costly_kind_function(costly);
	struct ss_fact fact = { costly_excess_ns(costly), 0, SS_NO_ROW };
	const char *said = costly_is_part(costly) ? "{time} per step are more than normal"
						  : "it takes {time} per step";
	char label[LABEL_MAX];

	if (node == SS_NO_ROW) {
		ss_rule_add_evidence(costly->context, fact, "%s", said);
		return;
	}
	fact.row = of->nodes[node].row;
	costly_format_label(of, node, label);
	ss_rule_add_evidence(costly->context, fact, "%s, most of it in %s", said, label);
}

static void costly_report_place(struct costly_claims *costly)
{
	const struct ss_attribution *of = costly->of;
	const struct ss_place_node *node = &of->nodes[costly->node];
	struct ss_fact fact = { costly_excess_ns(costly), 0, node->row };
	const char *phase = of->trains || node->phase != SS_PLACE_BESIDE
				    ? costly_phases[node->phase]
			    : of->has_modules ? ", outside of the model"
					      : "";
	char label[LABEL_MAX];

	costly_format_label(of, costly->node, label);
	if (costly->is_kind)
		costly_report_kind(costly);
	else if (node->type == SS_PLACE_PHASE)
		ss_rule_add_evidence(costly->context, fact,
				     "{time} per step are more than normal%s", phase);
	else if (of->has_device)
		ss_rule_add_evidence(
			costly->context, fact,
			"the GPU is idle for {time} per step while the host is in %s%s", label,
			phase);
	else
		ss_rule_add_evidence(costly->context, fact,
				     "{time} per step are more than normal %s%s%s",
				     costly_is_position(label) ? "" : "in ", label, phase);
	costly_report_loop(costly);
	costly_report_parts(costly);
}

/* --- the rank -------------------------------------------------------------------------------- */

/* The operators of a phase keep a device waiting: only a function or range that does is a place. */
static bool costly_is_nameable(const struct costly_claims *costly)
{
	const struct ss_place_node *node = &costly->of->nodes[costly->node];

	return costly->kind != SS_EXCESS_IDLE || node->type == SS_PLACE_FUNCTION ||
	       (node->type == SS_PLACE_RANGE && node->row != SS_NO_ROW &&
		node->calls >= RECURS_MIN) ||
	       node->phase == SS_PLACE_INPUT;
}

/* Equal on all ranks for the same function or range; 0: there is none. */
static double costly_place_number(const struct costly_claims *costly)
{
	const struct ss_place_node *node = &costly->of->nodes[costly->node];
	const char *label = ss_strings_text(&costly->of->labels, node->label);

	if (costly->is_kind || (node->type != SS_PLACE_FUNCTION && node->type != SS_PLACE_RANGE))
		return 0;
	return (double)((uint32_t)ss_hash_bytes(label, strlen(label)) | 1u);
}

static void costly_find(struct costly_claims *costly)
{
	struct ss_rule_context *context = costly->context;
	int64_t excess_ns;
	double share;

	if (costly->is_kind)
		costly_choose_kind(costly);
	else
		costly_choose_place(costly);
	if (!costly_mark_inside(costly) || (costly->is_kind && !costly_sum_times(costly))) {
		costly->of->failed = true;
		return;
	}
	excess_ns = costly_excess_ns(costly);
	share = context->step_ns > 0 ? (double)excess_ns / (double)context->step_ns : 0;
	if (share < SS_COSTLY_SHARE || !ss_costly_fix(costly->kind) ||
	    !costly_is_nameable(costly) || !costly_is_usual(costly))
		return;
	costly->low_share = 1 - COSTLY_RANGE_SHARE / share > LOW_SHARE
				    ? 1 - COSTLY_RANGE_SHARE / share
				    : LOW_SHARE;
	ss_attribution_walk(costly->of, costly->unclaimed->options.taken, costly_claim_moment,
			    costly);
	costly_flush(costly);
	ss_rule_add_figure(context, COSTLY_KIND, (double)costly->kind);
	ss_rule_add_figure(context, COSTLY_EXCESS_NS, (double)excess_ns);
	ss_rule_add_figure(context, COSTLY_PLACE, costly_place_number(costly));
	for (uint32_t i = 0; costly->kind == SS_EXCESS_GAP && i < 3; i++)
		ss_rule_add_figure(context, COSTLY_LOW_NS + i, (double)costly->quarters_ns[i]);
	ss_rule_set_fix(context, ss_costly_fix(costly->kind));
	ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM,
			       "how much of it can go is an estimate");
	costly_report_place(costly);
}

enum ss_status ss_costly_look(struct ss_rule_context *context, bool is_kind, struct ss_error *err)
{
	struct costly_claims costly = { .context = context,
					.is_kind = is_kind,
					.collective = SS_NO_ROW };

	SS_TRY(ss_rule_unclaimed(context, (int64_t)(SS_COSTLY_SHARE * (double)context->step_ns),
				 &costly.unclaimed, err));
	if (!costly.unclaimed)
		return SS_OK;
	costly.of = &costly.unclaimed->attribution;
	costly_find(&costly);
	return costly.of->failed ? ss_fail_memory(err, "costly places") : SS_OK;
}
