/* SPDX-License-Identifier: Apache-2.0 */
/*
 * normals.c - what of a row's time is more than normal, by small rules of thumb.
 *
 * Each gives rows a share of their own time that exceeds what is normal, and a kind. They need
 * shapes, types or autograd's links; where a file lacks those, they stay silent. The thresholds
 * were chosen on few programs: nothing that is reported rests on them yet.
 */
#include <string.h>

#include "analyze/work/operands.h"
#include "attribute/rows.h"
#include "base/sort.h"
#include "base/text.h"

/* Operators on fewer elements take as long in float32: dispatch, not arithmetic. */
#define DOUBLE_ELEMENTS_MIN 256

/* An operator that touches no data takes 1 to 5 us; from here on something else runs with it. */
#define HOOK_NS 15000
/* With fewer of them the quartile says nothing. */
#define HOOK_CALLS_MIN 20

/* No core of the last ten years computes a large product below 1 GFLOP/s. */
#define SLOW_FLOPS_PER_NS 1.0
#define SLOW_FLOPS_MIN 1e6

/* Libraries compute convolutions at least twice as fast as the fallbacks without them. */
#define FALLBACK_SHARE 0.5

/* The largest of a thousand and more cost less than a tenth of an order of all; 1/50 was seen. */
#define SORT_SHARE 0.9
#define SORT_ELEMENTS_MIN 1024

/* Metrics that ranks average are scalars or a few of them; the smallest layers have more. */
#define GRADIENT_ELEMENTS_MIN 1024

/* A first call is start-up if it takes this many times the usual one, and a millisecond. */
#define FIRST_FACTOR 10

void ss_attribution_raise(struct ss_attribution *of, uint32_t row, double share,
			  enum ss_excess_kind kind)
{
	struct ss_attribution_rows *rows = of->rows;
	uint32_t i = row - rows->first;

	if (share > (double)rows->excess[i]) {
		rows->excess[i] = (float)(share < 1 ? share : 1);
		rows->kind[i] = (uint8_t)kind;
	}
}

static bool read_operands(const struct ss_trace *trace, uint32_t row, struct ss_operands *out)
{
	uint32_t args = trace->slices.args[row];

	return args != SS_NO_ARGS && trace->slices.kind[row] == SS_KIND_OP &&
	       ss_operands_read(out, trace, ss_records_at(&trace->op_args, args));
}

static double read_elements(const struct ss_trace *trace, uint32_t row)
{
	struct ss_operands operands;
	double most = 0;
	bool is_double = false;

	if (!read_operands(trace, row, &operands))
		return 0;
	for (uint32_t i = 0; i < operands.count; i++) {
		const struct ss_operand *tensor = ss_operand_tensor(&operands, i);

		if (!tensor && operands.items[i].listed > most)
			most = operands.items[i].listed;
		if (!tensor)
			continue;
		is_double |= tensor->dtype == SS_DTYPE_FP64;
		if (ss_operand_elements(tensor) > most)
			most = ss_operand_elements(tensor);
	}
	return is_double ? -most : most;
}

double ss_attribution_elements(const struct ss_attribution *of, uint32_t row, bool *is_double)
{
	uint32_t args = of->trace->slices.args[row];
	struct ss_attribution_sizes *sizes;

	*is_double = false;
	if (args == SS_NO_ARGS || of->trace->slices.kind[row] != SS_KIND_OP)
		return 0;
	sizes = &of->rows->sizes[args];
	if (!sizes->has_elements)
		sizes->elements = read_elements(of->trace, row);
	sizes->has_elements = true;
	*is_double = sizes->elements < 0;
	return *is_double ? -sizes->elements : sizes->elements;
}

static double read_flops(const struct ss_attribution *of, uint32_t row)
{
	const struct ss_string *name = &of->trace->names.items[of->trace->slices.name[row]];
	uint32_t first = strstr(name->text, "addmm") || strstr(name->text, "baddbmm") ? 1 : 0;
	const struct ss_operand *a, *b;
	struct ss_operands operands;

	if (!read_operands(of->trace, row, &operands))
		return 0;
	a = ss_operand_tensor(&operands, first);
	b = ss_operand_tensor(&operands, first + 1);
	if (!a || !b || !b->rank || b->rank > SS_OPERAND_DIMS_MAX)
		return 0;
	return 2 * ss_operand_elements(a) * (double)b->dims[b->rank - 1];
}

double ss_attribution_flops(const struct ss_attribution *of, uint32_t row)
{
	uint32_t args = of->trace->slices.args[row];
	struct ss_attribution_sizes *sizes;

	if (!(ss_attribution_traits(of, row) & SS_TRAIT_MATRIX) || args == SS_NO_ARGS)
		return 0;
	sizes = &of->rows->sizes[args];
	/* products with the same arguments are the same product */
	if (!sizes->has_flops)
		sizes->flops = read_flops(of, row);
	sizes->has_flops = true;
	return sizes->flops;
}

static bool is_op_row(const struct ss_attribution *of, uint32_t row)
{
	return of->trace->slices.kind[row] == SS_KIND_OP;
}

/* --- rows by themselves ----------------------------------------------------------------- */

/* Part of an operator that backward answers, or of one that is in excess already. */
static bool is_inside_answered(const struct ss_attribution *of, uint32_t row)
{
	const struct ss_attribution_rows *rows = of->rows;
	uint32_t i = row - rows->first, up = rows->parent[i];

	return up != SS_NO_ROW && rows->phase[up - rows->first] == rows->phase[i] &&
	       (rows->answered[up - rows->first] & SS_ANSWERED_AROUND);
}

/* Rows come after their parents: marks those whose inside belongs to an answered operator. */
static void mark_around(struct ss_attribution *of, uint32_t row)
{
	struct ss_attribution_rows *rows = of->rows;
	uint32_t i = row - rows->first;

	if ((rows->answered[i] & SS_ANSWERED_ITSELF) || (rows->answered[i] && is_op_row(of, row)) ||
	    rows->kind[i] == SS_EXCESS_UNANSWERED || is_inside_answered(of, row))
		rows->answered[i] |= SS_ANSWERED_AROUND;
}

/* In backward: an operator that is neither a gradient nor the engine's own addition. */
static bool is_in_engine(const struct ss_attribution *of, uint32_t row)
{
	const struct ss_attribution_rows *rows = of->rows;
	uint32_t up = rows->parent[row - rows->first];
	uint32_t traits = ss_attribution_traits(of, row);

	return is_op_row(of, row) && up != SS_NO_ROW &&
	       (ss_attribution_traits(of, up) & SS_TRAIT_ENGINE) &&
	       !(ss_attribution_traits(of, up) & SS_TRAIT_ACCUMULATE) &&
	       !(traits & (SS_TRAIT_GRAD_NODE | SS_TRAIT_ACCUMULATE | SS_TRAIT_ADDS));
}

/* A copy of its own, or the gradient of one: other operators may need those inside of them. */
static bool is_outer_copy(const struct ss_attribution *of, uint32_t row)
{
	uint32_t up = row;

	if (!is_op_row(of, row) || !(ss_attribution_traits(of, row) & SS_TRAIT_COPY))
		return false;
	for (uint32_t depth = 0; depth < 64; depth++) {
		up = of->rows->parent[up - of->rows->first];
		if (up == SS_NO_ROW || !is_op_row(of, up))
			return true;
		if (!(ss_attribution_traits(of, up) & SS_TRAIT_COPY))
			break;
	}
	return ss_attribution_traits(of, up) & SS_TRAIT_GRAD_NODE;
}

bool ss_attribution_is_gradient(const struct ss_attribution *of, uint32_t caller)
{
	bool is_double;
	double elements;

	if (!of->trains || !ss_attribution_has(of, caller) ||
	    ss_attribution_next_phase(of, caller) != SS_PLACE_OPTIMIZER)
		return false;
	elements = ss_attribution_elements(of, caller, &is_double);
	return elements <= 0 || elements >= GRADIENT_ELEMENTS_MIN;
}

bool ss_attribution_is_needed(const struct ss_attribution *of, uint32_t caller, uint8_t phase,
			      uint32_t collective)
{
	static const char *const needed[] = { "_base",    "coalesced", "tensor_co", "all_to_all",
					      "alltoall", "send",      "recv",      "scatter" };
	const struct ss_attribution_rows *rows = of->rows;
	const char *name = ss_strings_text(&of->trace->names, of->trace->slices.name[collective]);

	/* of inference they are part of the model */
	if ((phase == SS_PLACE_BACKWARD && strstr(name, "reduce")) ||
	    (phase == SS_PLACE_FORWARD && !of->trains) ||
	    (strstr(name, "reduce") && ss_attribution_is_gradient(of, caller)))
		return true;
	if (ss_string_has_one_of(name, needed, SS_COUNT(needed)))
		return true;
	return ss_attribution_has(of, caller) &&
	       (rows->answered[caller - rows->first] & SS_ANSWERED_AROUND);
}

/* Gradient nodes of an operator that several of them answer: one pass over their sum would do. */
static void judge_again(struct ss_attribution *of, uint32_t row)
{
	const struct ss_attribution_rows *rows = of->rows;
	uint32_t forward = of->trace->slices.link[row];
	uint8_t answers;

	if (!ss_attribution_is_answer(of, row) || !ss_attribution_has(of, forward))
		return;
	answers = rows->answers[forward - rows->first];
	if (answers > 1)
		ss_attribution_raise(of, row, 1 - 1.0 / answers, SS_EXCESS_AGAIN);
}

/* Work that nobody answers: layers are a model that is not trained, and may be wanted. */
static enum ss_excess_kind beside_kind(const struct ss_attribution *of, uint32_t row)
{
	const struct ss_attribution_rows *rows = of->rows;
	uint32_t up = rows->parent[row - rows->first];

	if ((ss_slice_flags(of->trace, row) & SS_NAME_MODULE) ||
	    (ss_attribution_traits(of, row) & SS_TRAIT_LAYER) ||
	    (up != SS_NO_ROW && rows->kind[up - rows->first] == SS_EXCESS_UNTRAINED))
		return SS_EXCESS_UNTRAINED;
	return SS_EXCESS_BESIDE;
}

/* In backward: modules, or operators that gradient formulas do not call. */
static bool is_recomputed(const struct ss_attribution *of, uint32_t row)
{
	return (ss_slice_flags(of->trace, row) & SS_NAME_MODULE) ||
	       (is_op_row(of, row) && (ss_attribution_traits(of, row) & SS_TRAIT_LAYER));
}

static void judge_row(struct ss_attribution *of, uint32_t row, bool follows_answered)
{
	const struct ss_attribution_rows *rows = of->rows;
	uint32_t i = row - rows->first;
	uint8_t phase = rows->phase[i];
	bool is_frame = of->trace->slices.kind[row] == SS_KIND_PYTHON;
	bool in_model = phase == SS_PLACE_FORWARD || phase == SS_PLACE_BACKWARD, is_double;

	if (of->trains && phase == SS_PLACE_BESIDE)
		ss_attribution_raise(of, row, 1, beside_kind(of, row));
	if (of->trains && phase == SS_PLACE_BACKWARD && is_recomputed(of, row))
		ss_attribution_raise(of, row, 1, SS_EXCESS_RECOMPUTED);
	if (!of->trains && of->has_modules && phase == SS_PLACE_BESIDE)
		ss_attribution_raise(of, row, 1, SS_EXCESS_OUTSIDE);
	if (phase == SS_PLACE_BACKWARD && is_op_row(of, row))
		judge_again(of, row);
	if (of->trains && phase == SS_PLACE_INPUT)
		ss_attribution_raise(of, row, 1, SS_EXCESS_INPUT);
	if (phase == SS_PLACE_BACKWARD && is_in_engine(of, row))
		ss_attribution_raise(of, row, 1, SS_EXCESS_ENGINE);
	if (of->trains && in_model && is_outer_copy(of, row))
		ss_attribution_raise(of, row, 1, SS_EXCESS_COPIES);
	if ((ss_slice_flags(of->trace, row) & SS_NAME_COMM_OP) && is_op_row(of, row) &&
	    !ss_attribution_is_needed(of, row, phase, row))
		ss_attribution_raise(of, row, 1, SS_EXCESS_COLLECTIVE);
	if (!of->trains && (ss_attribution_traits(of, row) & SS_TRAIT_DROPOUT) &&
	    i + 1 < rows->count && rows->parent[i + 1] == row)
		ss_attribution_raise(of, row, 1, SS_EXCESS_TRAIN_MODE);
	if (ss_attribution_traits(of, row) & SS_TRAIT_FALLBACK)
		ss_attribution_raise(of, row, FALLBACK_SHARE, SS_EXCESS_SLOW);
	if (of->trains && phase == SS_PLACE_FORWARD && !rows->answered[i] && follows_answered &&
	    (!is_frame || (ss_attribution_traits(of, row) & SS_TRAIT_USER)) &&
	    !is_inside_answered(of, row))
		ss_attribution_raise(of, row, 1, SS_EXCESS_UNANSWERED);
	if ((ss_attribution_traits(of, row) & SS_TRAIT_SORTS) &&
	    ss_attribution_elements(of, row, &is_double) >= SORT_ELEMENTS_MIN) {
		rows->excess[i] = 0; /* what is sorted says more than where */
		ss_attribution_raise(of, row, SORT_SHARE, SS_EXCESS_SORT);
	}
	if (in_model && is_op_row(of, row) &&
	    ss_attribution_elements(of, row, &is_double) > DOUBLE_ELEMENTS_MIN && is_double)
		ss_attribution_raise(of, row, 0.5, SS_EXCESS_DOUBLE);
}

/* --- something runs at every operator ------------------------------------------------------ */

/* Own time of each row: without what is nested in it. */
static int64_t *own_times(const struct ss_attribution *of, struct ss_arena *scratch)
{
	const struct ss_attribution_rows *rows = of->rows;
	const int64_t *durations = of->trace->slices.dur_ns + rows->first;
	int64_t *own = SS_ARENA_NEW(scratch, int64_t, (size_t)rows->count + 1);

	for (uint32_t i = 0; own && i < rows->count; i++) {
		own[i] += durations[i];
		if (rows->parent[i] != SS_NO_ROW)
			own[rows->parent[i] - rows->first] -= durations[i];
	}
	return own;
}

/* What operators without data of a phase take: the lower quartile; 0: too few, or as usual. */
static int64_t hook_of_phase(const struct ss_attribution *of, const int64_t *own, uint8_t phase,
			     int64_t *times)
{
	const struct ss_attribution_rows *rows = of->rows;
	uint32_t count = 0;

	for (uint32_t i = 0; i < rows->count; i++)
		if (rows->phase[i] == phase &&
		    (rows->answered[i] & (SS_ANSWERED_ITSELF | SS_ANSWERED_INSIDE)) &&
		    is_op_row(of, rows->first + i) &&
		    (ss_attribution_traits(of, rows->first + i) & SS_TRAIT_NO_DATA))
			times[count++] = own[i];
	if (count < HOOK_CALLS_MIN)
		return 0;
	SS_SORT(times, count, ss_sort_compare_int64);
	return times[count / 4] > HOOK_NS ? times[count / 4] : 0;
}

static bool find_hooks(struct ss_attribution *of, struct ss_arena *scratch)
{
	const struct ss_attribution_rows *rows = of->rows;
	int64_t *own = own_times(of, scratch);
	int64_t *times = SS_ARENA_NEW(scratch, int64_t, (size_t)rows->count + 1);

	if (!own || !times)
		return false;
	for (uint8_t phase = SS_PLACE_FORWARD; phase <= SS_PLACE_BACKWARD; phase++) {
		int64_t hook_ns = hook_of_phase(of, own, phase, times);

		for (uint32_t i = 0; hook_ns && i < rows->count; i++)
			if (rows->phase[i] == phase && is_op_row(of, rows->first + i) &&
			    own[i] > HOOK_NS)
				ss_attribution_raise(of, rows->first + i,
						     (double)hook_ns / (double)own[i],
						     SS_EXCESS_HOOK);
	}
	return true;
}

/* --- calls compared with their equals ------------------------------------------------------- */

/* Equal calls: name and arguments; first calls are compared by name alone. */
struct call_key {
	uint32_t name, args;
};

struct call {
	uint32_t group, row;
	uint32_t before; /* calls of the group that came earlier */
	int64_t dur_ns;
};

SS_COMPARATOR(call_compare, struct call, SS_ASCENDING(group) SS_ASCENDING(dur_ns) SS_ASCENDING(row))

static bool group_calls(struct ss_attribution *of, struct call *calls, uint32_t count,
			uint32_t *seen, bool by_shape)
{
	const struct ss_slices *slices = &of->trace->slices;
	struct ss_records keys;
	bool whole = ss_records_init(&keys, of->memory, sizeof(struct call_key));

	for (uint32_t i = 0; i < count && whole; i++) {
		struct call_key key = { slices->name[calls[i].row],
					by_shape ? slices->args[calls[i].row] : 0 };
		uint32_t groups = keys.count;

		calls[i].group = ss_records_add(&keys, &key);
		whole = calls[i].group != SS_NO_ID;
		if (whole && calls[i].group == groups)
			seen[groups] = 0;
		if (whole)
			calls[i].before = seen[calls[i].group]++;
	}
	ss_records_release(&keys);
	if (whole)
		SS_SORT(calls, count, call_compare);
	return whole;
}

static uint32_t group_end(const struct call *calls, uint32_t count, uint32_t from)
{
	uint32_t to = from;

	while (to < count && calls[to].group == calls[from].group)
		to++;
	return to;
}

/* Large products whose best rate is below what any core reaches: others may be interrupted. */
static bool find_slow(struct ss_attribution *of, struct call *calls, uint32_t *seen)
{
	const struct ss_attribution_rows *rows = of->rows;
	uint32_t count = 0;

	for (uint32_t i = 0; i < rows->count; i++)
		if (ss_attribution_flops(of, rows->first + i) > SLOW_FLOPS_MIN)
			calls[count++] = (struct call){
				.row = rows->first + i,
				.dur_ns = of->trace->slices.dur_ns[rows->first + i]
			};
	if (!group_calls(of, calls, count, seen, true))
		return false;
	for (uint32_t from = 0, to; from < count; from = to) {
		double flops = ss_attribution_flops(of, calls[from].row);
		int64_t best_ns = calls[from].dur_ns;

		to = group_end(calls, count, from);
		if (best_ns <= 0 || flops / (double)best_ns >= SLOW_FLOPS_PER_NS)
			continue;
		for (uint32_t i = from; i < to; i++)
			ss_attribution_raise(of, calls[i].row,
					     1 - flops / SLOW_FLOPS_PER_NS /
							     (double)calls[i].dur_ns,
					     SS_EXCESS_SLOW);
	}
	return true;
}

static bool is_first_call_candidate(const struct ss_attribution *of, uint32_t row)
{
	uint32_t up = of->rows->parent[row - of->rows->first];
	uint32_t flags = ss_slice_flags(of->trace, row);

	if (flags & (SS_NAME_SYNC_CALL | SS_NAME_COPY_CALL | SS_NAME_BACKWARD))
		return false;
	if (ss_kind_is_call(of->trace->slices.kind[row]))
		return true;
	return is_op_row(of, row) && (up == SS_NO_ROW || !is_op_row(of, up));
}

/*
 * Calls of the driver that set something up, even if they are the only ones of their name: a launch
 * that loads its kernel takes a thousand times the usual, and the first call may start the driver.
 */
static void raise_loading(struct ss_attribution *of, const struct call *calls, uint32_t from,
			  uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		uint32_t flags = ss_slice_flags(of->trace, calls[i].row);

		if (ss_kind_is_call(of->trace->slices.kind[calls[i].row]) &&
		    calls[i].dur_ns >= SS_ATTRIBUTION_FIRST_NS &&
		    ((flags & (SS_NAME_LAUNCH | SS_NAME_GRAPH_LAUNCH)) || !calls[i].before))
			ss_attribution_raise(of, calls[i].row, 1, SS_EXCESS_FIRST);
	}
}

/* The first calls of a name that take many times the usual: loading, compiling, allocating. */
static bool find_first_calls(struct ss_attribution *of, struct call *calls, uint32_t *seen)
{
	const struct ss_attribution_rows *rows = of->rows;
	uint32_t count = 0;

	for (uint32_t i = 0; i < rows->count; i++)
		if (is_first_call_candidate(of, rows->first + i))
			calls[count++] = (struct call){
				.row = rows->first + i,
				.dur_ns = of->trace->slices.dur_ns[rows->first + i]
			};
	if (!group_calls(of, calls, count, seen, false))
		return false;
	for (uint32_t from = 0, to; from < count; from = to) {
		int64_t usual_ns;

		to = group_end(calls, count, from);
		usual_ns = calls[from + (to - from) / 2].dur_ns;
		raise_loading(of, calls, from, to);
		for (uint32_t i = to; i-- > from && to - from >= 3;) {
			if (calls[i].dur_ns <= SS_ATTRIBUTION_FIRST_NS ||
			    calls[i].dur_ns / FIRST_FACTOR <= usual_ns)
				break;
			/* the first twentieth of the calls is early */
			if (calls[i].before < 1 + (to - from) / 20)
				ss_attribution_raise(of, calls[i].row,
						     1 - (double)usual_ns / (double)calls[i].dur_ns,
						     SS_EXCESS_FIRST);
		}
	}
	return true;
}

/* --- all of them ----------------------------------------------------------------------------- */

/* What is nested inherits from what is around it; a gradient node from the operator it answers. */
static void inherit(struct ss_attribution *of)
{
	const struct ss_slices *slices = &of->trace->slices;
	struct ss_attribution_rows *rows = of->rows;

	for (uint32_t i = 0; i < rows->count; i++) {
		uint32_t row = rows->first + i, up = rows->parent[i];
		uint32_t forward = slices->kind[row] == SS_KIND_OP ? slices->link[row] : SS_NO_ROW;

		if (rows->phase[i] == SS_PLACE_BACKWARD && ss_attribution_has(of, forward)) {
			forward = ss_attribution_outer_op(of, forward) - rows->first;
			if (ss_attribution_is_answered_in_kind(rows->kind[forward]))
				ss_attribution_raise(of, row, (double)rows->excess[forward],
						     rows->kind[forward]);
		}
		if (up == SS_NO_ROW || rows->phase[up - rows->first] != rows->phase[i] ||
		    rows->kind[up - rows->first] == SS_EXCESS_HOOK ||
		    rows->kind[i] == SS_EXCESS_SORT)
			continue;
		ss_attribution_raise(of, row, (double)rows->excess[up - rows->first],
				     rows->kind[up - rows->first]);
	}
}

bool ss_attribution_fill_normals(struct ss_attribution *of, const struct ss_cover *steps)
{
	SS_SCRATCH(scratch, of->memory);
	struct call *calls;
	uint32_t *seen;
	bool whole, follows_answered = false;

	calls = SS_ARENA_NEW(&scratch, struct call, (size_t)of->rows->count + 1);
	seen = SS_ARENA_NEW(&scratch, uint32_t, (size_t)of->rows->count + 1);
	/* of a device its gaps count: what a row computes matters there only if it is start-up */
	for (uint32_t i = 0; calls && !of->has_device && i < of->rows->count; i++) {
		/* what comes before the first operator that is answered may feed it */
		follows_answered = of->rows->phase[i] == SS_PLACE_FORWARD &&
				   (follows_answered ||
				    (of->rows->answered[i] & SS_ANSWERED_ITSELF));
		judge_row(of, of->rows->first + i, follows_answered);
		mark_around(of, of->rows->first + i);
	}
	if (!of->has_device)
		ss_attribution_find_tables(of);
	whole = calls && seen && find_first_calls(of, calls, seen) &&
		(of->has_device ||
		 (ss_attribution_find_prefixes(of, &scratch) && ss_attribution_find_unused(of) &&
		  ss_attribution_find_loops(of, steps) && find_hooks(of, &scratch) &&
		  find_slow(of, calls, seen)));
	if (whole)
		inherit(of);
	return whole;
}
