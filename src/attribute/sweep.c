/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.c - goes along the critical path, moment by moment, and says to which place each belongs
 * and how much of it is normal.
 *
 * Moments without a row, or in the code of the loop, are judged by what is before and behind them.
 */
#include <stdio.h>
#include <string.h>

#include "attribute/rows.h"
#include "base/search.h"

/* Between two operators of a step Python takes some microseconds; this is a pause. */
#define PAUSE_NS 300000
/* The same in functions of the loop, which also call what is recorded. */
#define LOOP_PAUSE_NS 1000000
/* A short pause next to work beside training belongs to it. */
#define NEAR_NS 5000000

struct sweep {
	struct ss_attribution *of;
	uint32_t span_at;       /* first loop that is not over */
	uint32_t collective_at; /* first collective that may not be over */
	uint32_t before;        /* the row of the last moment that had one */
	bool is_idle;           /* in a gap of the device: all of it is excess */
	ss_attribution_sink sink;
	void *context;
};

static uint8_t phase_at(const struct sweep *sweep, uint32_t row)
{
	return ss_attribution_has(sweep->of, row)
		       ? sweep->of->rows->phase[row - sweep->of->rows->first]
		       : SS_PLACE_NO_PHASE;
}

static bool is_op(const struct ss_attribution *of, uint32_t row)
{
	return row != SS_NO_ROW && of->trace->slices.kind[row] == SS_KIND_OP;
}

/* --- reporting ---------------------------------------------------------------------------- */

static void report(struct sweep *sweep, struct ss_attribution_moment moment)
{
	/* a wait for work that is not recorded may be normal, and what is lost is no pause */
	bool is_lost = moment.kind == SS_EXCESS_GAP &&
		       ss_quality_is_cut(&sweep->of->trace->quality);

	if (is_lost || (sweep->of->is_blind && moment.row != SS_NO_ROW &&
			(ss_attribution_traits(sweep->of, moment.row) & SS_TRAIT_BLOCKS))) {
		moment.excess_ns = 0;
		moment.kind = SS_EXCESS_NONE;
	}
	if (moment.to_ns > moment.from_ns)
		sweep->sink(sweep->context, &moment);
}

static void report_at(struct sweep *sweep, uint32_t node, uint32_t row, struct ss_interval piece,
		      double share, enum ss_excess_kind kind)
{
	int64_t ns = piece.end_ns - piece.start_ns;

	report(sweep, (struct ss_attribution_moment){
			      .node = node,
			      .row = row,
			      .track = sweep->of->main,
			      .from_ns = piece.start_ns,
			      .to_ns = piece.end_ns,
			      .excess_ns = share >= 1 ? ns : (int64_t)(share * (double)ns),
			      .kind = share > 0 ? kind : SS_EXCESS_NONE,
		      });
}

/* Work beside training, or outside of the model where nothing trains and modules are recorded. */
static void report_beside(struct sweep *sweep, uint32_t node, uint32_t row,
			  struct ss_interval piece, bool is_long)
{
	const struct ss_attribution *of = sweep->of;

	report_at(sweep, node, row, piece, is_long && (of->trains || of->has_modules),
		  of->trains ? SS_EXCESS_BESIDE : SS_EXCESS_OUTSIDE);
}

/* --- moments of the thread ------------------------------------------------------------------ */

/* The loop of operators that a moment lies in; NULL: none. Moments come in the order of time. */
static const struct ss_attribution_span *span_at(struct sweep *sweep, struct ss_interval piece,
						 uint8_t phase)
{
	const struct ss_attribution_rows *rows = sweep->of->rows;

	while (sweep->span_at < rows->span_count &&
	       rows->spans[sweep->span_at].to_ns <= piece.start_ns)
		sweep->span_at++;
	for (uint32_t i = sweep->span_at; i < rows->span_count; i++) {
		const struct ss_attribution_span *span = &rows->spans[i];

		if (span->from_ns > piece.start_ns)
			break;
		if (span->to_ns >= piece.end_ns &&
		    (phase == SS_PLACE_NO_PHASE || phase == SS_PLACE_LOOP || phase == span->phase))
			return span;
	}
	return NULL;
}

/* The position of a row without stacks, as a place; 0: it has none. */
static uint32_t region_node(struct sweep *sweep, uint32_t row)
{
	struct ss_attribution *of = sweep->of;
	uint32_t label = ss_attribution_has(of, row) ? of->rows->region[row - of->rows->first] : 0;

	if (!label)
		return 0;
	return ss_attribution_below(of, ss_attribution_phase_node(of, SS_PLACE_BESIDE),
				    SS_PLACE_RANGE, SS_PLACE_BESIDE,
				    ss_strings_text(&of->labels, label),
				    strlen(ss_strings_text(&of->labels, label)));
}

/* Code without a record has the operator before it as its place. */
static uint32_t unrecorded_node(struct sweep *sweep, uint32_t above, enum ss_place_phase phase)
{
	struct ss_attribution *of = sweep->of;
	uint32_t named = SS_NO_ROW, node;
	char label[160];

	if (ss_attribution_has(of, sweep->before))
		named = ss_attribution_outer_op(of, sweep->before);
	if (named == SS_NO_ROW)
		snprintf(label, sizeof(label), "code that is not recorded");
	else
		snprintf(label, sizeof(label), "code that is not recorded, behind %s",
			 ss_strings_text(&of->trace->names, of->trace->slices.name[named]));
	node = ss_attribution_below(of, above, SS_PLACE_RANGE, phase, label, strlen(label));
	if (of->nodes && of->nodes[node].row == SS_NO_ROW)
		of->nodes[node].row = named;
	return node;
}

/* Nothing is recorded: what is before and behind it says whose time it is. */
static void add_nothing(struct sweep *sweep, struct ss_interval piece, uint32_t behind)
{
	struct ss_attribution *of = sweep->of;
	const struct ss_attribution_rows *rows = of->rows;
	int64_t ns = piece.end_ns - piece.start_ns;
	uint8_t own = phase_at(sweep, sweep->before), next = phase_at(sweep, behind);
	uint32_t node = 0;

	if (own == next && own != SS_PLACE_NO_PHASE) {
		uint32_t a = sweep->before - rows->first, b = behind - rows->first;
		double least = (double)(rows->excess[a] < rows->excess[b] ? rows->excess[a]
									  : rows->excess[b]);

		node = region_node(sweep, sweep->before);
		if (!node)
			node = ss_attribution_phase_node(of, own);
		if (own == SS_PLACE_BESIDE)
			report_beside(sweep, node, SS_NO_ROW, piece, true);
		else if (own == SS_PLACE_FORWARD && !of->has_stacks && ns > PAUSE_NS)
			report_at(sweep, unrecorded_node(sweep, node, own), SS_NO_ROW, piece, 1,
				  SS_EXCESS_GAP);
		else
			report_at(sweep, node, SS_NO_ROW, piece, least,
				  (enum ss_excess_kind)rows->kind[a]);
		return;
	}
	if ((own == SS_PLACE_BESIDE || next == SS_PLACE_BESIDE) && ns < NEAR_NS) {
		node = region_node(sweep, own == SS_PLACE_BESIDE ? sweep->before : behind);
		if (!node)
			node = ss_attribution_phase_node(of, SS_PLACE_BESIDE);
		report_beside(sweep, node, SS_NO_ROW, piece, true);
		return;
	}
	node = ss_attribution_phase_node(of, SS_PLACE_BESIDE);
	node = ss_attribution_below(of, node, SS_PLACE_RANGE, SS_PLACE_BESIDE,
				    "outside of all recorded events",
				    strlen("outside of all recorded events"));
	report_at(sweep, node, SS_NO_ROW, piece, ns > PAUSE_NS, SS_EXCESS_GAP);
}

/* The code of the training loop itself: only long pauses are more than Python costs. */
static void add_loop_code(struct sweep *sweep, uint32_t row, struct ss_interval piece)
{
	struct ss_attribution *of = sweep->of;
	const struct ss_string *name = &of->trace->names.items[of->trace->slices.name[row]];
	bool is_user = ss_attribution_traits(of, row) & SS_TRAIT_USER;
	uint32_t node = ss_attribution_phase_node(of, SS_PLACE_BESIDE);

	node = ss_attribution_below(of, node, is_user ? SS_PLACE_FUNCTION : SS_PLACE_LIBRARY,
				    SS_PLACE_BESIDE, name->text, name->length);
	if (of->nodes && of->nodes[node].row == SS_NO_ROW)
		of->nodes[node].row = row;
	report_beside(sweep, node, row, piece, piece.end_ns - piece.start_ns > LOOP_PAUSE_NS);
}

/* Whether a row can stand and wait for a collective. */
static bool can_wait(const struct ss_attribution *of, uint32_t row)
{
	return row == SS_NO_ROW || of->trace->slices.kind[row] != SS_KIND_OP ||
	       (ss_slice_flags(of->trace, row) & SS_NAME_COMM_OP) ||
	       (ss_attribution_traits(of, row) & SS_TRAIT_WAITS);
}

/* The collective that runs for most of a moment; SS_NO_ROW: none does. */
static uint32_t collective_at(struct sweep *sweep, struct ss_interval piece,
			      struct ss_interval *common)
{
	const struct ss_attribution_rows *rows = sweep->of->rows;
	const struct ss_slices *slices = &sweep->of->trace->slices;
	uint32_t best = SS_NO_ROW;
	int64_t most_ns = 0;

	while (sweep->collective_at < rows->collective_count &&
	       ss_slice_end(slices, rows->collectives[sweep->collective_at]) <= piece.start_ns)
		sweep->collective_at++;
	for (uint32_t i = sweep->collective_at; i < rows->collective_count; i++) {
		uint32_t row = rows->collectives[i];
		struct ss_interval own = { slices->start_ns[row], ss_slice_end(slices, row) };

		if (own.start_ns >= piece.end_ns || i > sweep->collective_at + 64)
			break;
		own.start_ns = own.start_ns > piece.start_ns ? own.start_ns : piece.start_ns;
		own.end_ns = own.end_ns < piece.end_ns ? own.end_ns : piece.end_ns;
		if (own.end_ns - own.start_ns > most_ns) {
			most_ns = own.end_ns - own.start_ns;
			best = row;
			*common = own;
		}
	}
	return best;
}

/* Collectives that training needs are normal; others stand at the place that calls them. */
static void add_collective(struct sweep *sweep, uint32_t row, uint32_t collective, uint32_t behind,
			   struct ss_interval piece)
{
	struct ss_attribution *of = sweep->of;
	const struct ss_string *name = &of->trace->names.items[of->trace->slices.name[collective]];
	uint8_t phase = phase_at(sweep, row);
	uint32_t node;

	if (phase == SS_PLACE_NO_PHASE || phase == SS_PLACE_LOOP)
		phase = phase_at(sweep, sweep->before);
	if (phase == SS_PLACE_NO_PHASE || phase == SS_PLACE_LOOP)
		phase = phase_at(sweep, behind);
	if (ss_attribution_has(of, row) && phase_at(sweep, row) != SS_PLACE_LOOP)
		node = ss_attribution_place(of, row);
	else
		node = phase < SS_PLACE_LOOP ? ss_attribution_phase_node(of, phase) : 0;
	node = ss_attribution_below(of, node, SS_PLACE_COLLECTIVE, phase, name->text, name->length);
	if (of->nodes && of->nodes[node].row == SS_NO_ROW)
		of->nodes[node].row = collective;
	report_at(sweep, node, collective, piece,
		  !ss_attribution_is_needed(of, row, phase, collective), SS_EXCESS_COLLECTIVE);
}

/* Nothing is recorded in a gap: its place is what came before it on the thread. */
static void add_idle_unrecorded(struct sweep *sweep, struct ss_interval piece)
{
	report_at(sweep, unrecorded_node(sweep, 0, SS_PLACE_NO_PHASE), SS_NO_ROW, piece, 1,
		  SS_EXCESS_IDLE);
}

/* A piece of a gap of the device: the thread did something else than launch in time. */
static void add_idle(struct sweep *sweep, uint32_t row, struct ss_interval piece)
{
	struct ss_attribution *of = sweep->of;
	uint8_t phase = phase_at(sweep, row);
	enum ss_excess_kind kind = SS_EXCESS_IDLE;
	uint32_t node;

	if (row == SS_NO_ROW) {
		add_idle_unrecorded(sweep, piece);
		return;
	}
	if (of->rows->kind[row - of->rows->first] == SS_EXCESS_FIRST)
		kind = SS_EXCESS_FIRST;
	if (phase == SS_PLACE_LOOP || phase == SS_PLACE_PROFILER) {
		const struct ss_string *name = &of->trace->names.items[of->trace->slices.name[row]];
		bool is_user = ss_attribution_traits(of, row) & SS_TRAIT_USER;

		node = ss_attribution_below(of, 0, is_user ? SS_PLACE_FUNCTION : SS_PLACE_LIBRARY,
					    (enum ss_place_phase)phase, name->text, name->length);
		if (of->nodes && of->nodes[node].row == SS_NO_ROW)
			of->nodes[node].row = row;
	} else {
		node = ss_attribution_place(of, row);
	}
	report_at(sweep, node, row, piece, 1, kind);
}

/* A piece of the thread with its innermost row. */
static void add_piece(struct sweep *sweep, uint32_t row, struct ss_interval piece, uint32_t behind)
{
	struct ss_attribution *of = sweep->of;
	const struct ss_attribution_rows *rows = of->rows;
	const struct ss_attribution_span *span;
	uint8_t phase = phase_at(sweep, row);
	double own = ss_attribution_has(of, row) ? (double)rows->excess[row - rows->first] : 0;

	if (rows->collective_count && can_wait(of, row)) {
		struct ss_interval common = piece;
		uint32_t collective = collective_at(sweep, piece, &common);

		if (collective != SS_NO_ROW) {
			add_piece(sweep, row,
				  (struct ss_interval){ piece.start_ns, common.start_ns }, behind);
			add_collective(sweep, row, collective, behind, common);
			piece.start_ns = common.end_ns;
		}
	}
	if (piece.end_ns <= piece.start_ns)
		return;
	span = is_op(of, row) ? NULL : span_at(sweep, piece, phase);
	if (span && (double)span->excess > own) {
		bool has_place = row != SS_NO_ROW && phase != SS_PLACE_LOOP;

		report_at(sweep,
			  has_place ? ss_attribution_place(of, row)
				    : ss_attribution_phase_node(of, span->phase),
			  row, piece, (double)span->excess, SS_EXCESS_LOOP);
	} else if (row == SS_NO_ROW) {
		add_nothing(sweep, piece, behind);
	} else if (phase == SS_PLACE_LOOP) {
		add_loop_code(sweep, row, piece);
	} else if (phase != SS_PLACE_PROFILER) {
		report_at(sweep, ss_attribution_place(of, row), row, piece, own,
			  (enum ss_excess_kind)rows->kind[row - rows->first]);
	}
}

/* Ranges of steps and of collectives are no places: what is around them is. */
static uint32_t visible(const struct ss_attribution *of, uint32_t row)
{
	const uint32_t hidden = SS_NAME_STEP | SS_NAME_STEP_LIKE | SS_NAME_COMM_RANGE;

	while (row != SS_NO_ROW && of->trace->slices.kind[row] == SS_KIND_ANNOTATION &&
	       (ss_slice_flags(of->trace, row) & hidden))
		row = of->rows->parent[row - of->rows->first];
	return row;
}

/* The innermost row that is open at a moment, given the next row of the thread. */
static uint32_t row_open_at(const struct ss_attribution *of, uint32_t next, int64_t moment_ns)
{
	const struct ss_attribution_rows *rows = of->rows;
	uint32_t row = next > rows->first ? next - 1 : SS_NO_ROW;

	while (row != SS_NO_ROW && ss_slice_end(&of->trace->slices, row) <= moment_ns)
		row = rows->parent[row - rows->first];
	return row;
}

static void emit(struct sweep *sweep, uint32_t row, struct ss_interval piece, uint32_t behind)
{
	uint32_t shown = visible(sweep->of, row);

	if (piece.end_ns <= piece.start_ns)
		return;
	if (sweep->is_idle)
		add_idle(sweep, shown, piece);
	else
		add_piece(sweep, shown, piece, behind);
	if (shown != SS_NO_ROW && phase_at(sweep, shown) != SS_PLACE_LOOP)
		sweep->before = shown;
}

/* All pieces of a stretch of the main thread, in order of time. */
static void sweep_thread(struct sweep *sweep, struct ss_interval stretch)
{
	const struct ss_attribution_rows *rows = sweep->of->rows;
	const struct ss_slices *slices = &sweep->of->trace->slices;
	uint32_t end = rows->first + rows->count, low = rows->first, high = end;
	int64_t now_ns = stretch.start_ns;
	uint32_t open;

	SS_SEARCH(low, high, at, slices->start_ns[at] <= stretch.start_ns);
	open = row_open_at(sweep->of, low, stretch.start_ns);
	if (sweep->is_idle && low > rows->first)
		sweep->before = low - 1;
	for (uint32_t row = low; now_ns < stretch.end_ns; row++) {
		bool is_last = row >= end || slices->start_ns[row] >= stretch.end_ns;
		int64_t until_ns = is_last ? stretch.end_ns : slices->start_ns[row];
		uint32_t behind = row < end ? row : SS_NO_ROW;

		while (open != SS_NO_ROW && ss_slice_end(slices, open) <= until_ns) {
			int64_t end_ns = ss_slice_end(slices, open);

			emit(sweep, open, (struct ss_interval){ now_ns, end_ns }, behind);
			now_ns = end_ns > now_ns ? end_ns : now_ns;
			open = rows->parent[open - rows->first];
		}
		emit(sweep, open, (struct ss_interval){ now_ns, until_ns }, behind);
		now_ns = until_ns;
		if (is_last)
			break;
		open = row;
	}
}

/* Whether most of a gap is the launch that ends it: it loads its kernel. */
static bool is_loading(const struct sweep *sweep, uint32_t launch, struct ss_interval gap)
{
	const struct ss_slices *slices = &sweep->of->trace->slices;
	int64_t from_ns = slices->start_ns[launch] > gap.start_ns ? slices->start_ns[launch]
								  : gap.start_ns;

	return slices->dur_ns[launch] >= SS_ATTRIBUTION_FIRST_NS &&
	       gap.end_ns - from_ns > (gap.end_ns - gap.start_ns) / 2;
}

/* A gap that another thread ends: its phase, and the operators that this thread ran; of a first
 * call the innermost one. */
static void sweep_other_thread(struct sweep *sweep, uint32_t launch, struct ss_interval gap)
{
	struct ss_attribution *of = sweep->of;
	const struct ss_slices *slices = &of->trace->slices;
	bool loads = is_loading(sweep, launch, gap);
	uint32_t top = launch, node;
	const struct ss_string *name;

	for (uint32_t up = slices->parent[launch]; up != SS_NO_ROW && !(loads && top != launch);
	     up = slices->parent[up])
		if (slices->kind[up] == SS_KIND_OP)
			top = up;
	name = &of->trace->names.items[slices->name[top]];
	node = ss_attribution_phase_node(of,
					 of->phases->phase[launch] == SS_PHASE_OTHER
						 ? SS_PLACE_BESIDE
						 : (enum ss_place_phase)of->phases->phase[launch]);
	node = ss_attribution_below(of, node, SS_PLACE_OPERATOR, of->nodes[node].phase, name->text,
				    name->length);
	report(sweep,
	       (struct ss_attribution_moment){ .node = node,
					       .row = top,
					       .track = slices->track[launch],
					       .from_ns = gap.start_ns,
					       .to_ns = gap.end_ns,
					       .excess_ns = gap.end_ns - gap.start_ns,
					       .kind = loads ? SS_EXCESS_FIRST : SS_EXCESS_IDLE });
}

static void sweep_gap(struct sweep *sweep, const struct ss_idle_gap *gap)
{
	const struct ss_slices *slices = &sweep->of->trace->slices;
	struct ss_interval stretch = { gap->start_ns, gap->end_ns };
	uint32_t launch = gap->next == SS_NO_ROW ? SS_NO_ROW : ss_slice_launch(slices, gap->next);

	if (launch >= sweep->of->trace->device_from)
		launch = SS_NO_ROW;
	/* launched in time: the device's own affair */
	if (launch != SS_NO_ROW && ss_slice_end(slices, launch) <= gap->start_ns)
		return;
	if (launch != SS_NO_ROW && slices->track[launch] != sweep->of->main)
		sweep_other_thread(sweep, launch, stretch);
	else
		sweep_thread(sweep, stretch);
}

static void sweep_gaps(struct sweep *sweep, const struct ss_idle *idle, int64_t device)
{
	sweep->is_idle = true;
	for (uint32_t i = 0; i < idle->device_count; i++)
		for (uint32_t k = idle->devices[i].gap_from;
		     idle->devices[i].device == device && k < idle->devices[i].gap_to; k++)
			sweep_gap(sweep, &idle->gaps[k]);
}

void ss_attribution_sweep(struct ss_attribution *attribution,
			  const struct ss_attribution_options *options, ss_attribution_sink sink,
			  void *context)
{
	struct sweep sweep = {
		.of = attribution, .before = SS_NO_ROW, .sink = sink, .context = context
	};

	if (!attribution->rows)
		return;
	if (options->idle)
		sweep_gaps(&sweep, options->idle, options->device);
	for (uint32_t i = 0; !options->idle && i < options->steps->count; i++)
		sweep_thread(&sweep, options->steps->items[i]);
}
