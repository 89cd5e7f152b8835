/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tiny_operators.c - rule: on the CPU, calling operators takes longer than what they compute.
 *
 * A call costs 1 to 5 us whatever it computes: dispatch, a new tensor, an autograd node, and
 * Python around it. Hundreds of calls on a few numbers each are all overhead. One call on a
 * larger tensor, or compiled code, does the same work. In jobs with a device launch-bound covers
 * this.
 */
#include <string.h>

#include "analyze/host/op_category.h"
#include "analyze/time/moment.h"
#include "diagnose/evidence/code_places.h"

/*
 * With the profiler a call alone takes 2 to 10 us. If operators take 15 us on average, most of
 * that is not computing; one that takes 50 us is worth its call.
 */
#define MEAN_NS 15000
#define WORTH_NS 50000

/*
 * At least this number of computing operators in a row. Between two operators of a layer that are
 * worth their call (a matrix product, a convolution) there are up to ten.
 */
#define RUN_MIN 32

/* A loop repeats: each operator of a run occurs four times on average. */
#define REPEATS_MIN 4

/*
 * Layers are no loop: a model with tiny matmuls has one product per one to four other
 * operators. A hand-written loop (a recurrent cell: 2 products, 11 others) has fewer products.
 */
#define OTHERS_MIN 5

/*
 * If half of the operators after backward work in place, they are an optimizer, with or without a
 * range of its own: Adam in single operators has 5 of 9, SGD with momentum 2 of 3.
 */
#define IN_PLACE_PART 2

/* A longer gap between two operators is something else and is not counted. */
#define PAUSE_NS 5000000

/* The share that remains when the loop is one call or compiled; at worst half of it remains. */
#define LEFT 0.15
#define LEFT_MOST 0.5

/* With matmuls in it: nn.GRU took 0.64 to 0.83 of the time of a cell written by hand. */
#define PRODUCTS_LEFT 0.6
#define PRODUCTS_LEFT_MOST 0.8

static const char update_fix[] =
	"optimizer = torch.optim.Adam(model.parameters(), lr=lr, fused=True)\n"
	"# an own optimizer: torch._foreach_mul_(tensors, x) and others work on\n"
	"# lists of tensors; torch.compile(optimizer.step) fuses the rest";

/* What ends a run, by name. */
enum tiny_run_end { ENDS_NOT, ENDS, READS_BACK };

struct tiny_run {
	uint32_t first, last; /* rows; SS_NO_ROW: none */
	uint32_t count;       /* of operators that compute */
	uint32_t names;       /* distinct ones of them */
	uint32_t products;    /* matmuls, convolutions, attention */
	uint32_t in_place;    /* they change one of their tensors */
	int64_t fast_ns;      /* own time of all in their fast runs */
	uint32_t number;      /* of the run, for `seen` */
	uint32_t step;
	bool is_behind; /* after backward of its step */
};

struct tiny_operators {
	struct ss_rule_context *context;
	const struct ss_op_runs *runs;
	const struct ss_phases *phases;
	struct ss_code_places *sites;
	const struct ss_places *places;
	uint8_t *is_around; /* per host row: it contains an operator that computes */
	uint8_t *computes;  /* per name: it is worth counting */
	uint8_t *ends;      /* per name: enum tiny_run_end */
	uint32_t *seen;     /* per name: the last run that had it */
	struct tiny_run run;
	uint32_t backward; /* the last step in which an operator of backward was seen */
	int64_t count, claimed_ns;
	int64_t updates_ns; /* of claimed_ns: an optimizer */
};

/* Views and allocations belong to the operator that uses them; AccumulateGrad is autograd's. */
static bool tiny_name_computes(uint8_t category, const char *name)
{
	return category != SS_OP_MEMORY && category != SS_OP_COPY && category != SS_OP_OTHER &&
	       category != SS_OP_COMMUNICATION && !strstr(name, "AccumulateGrad");
}

static bool tiny_row_computes(const struct tiny_operators *tiny, uint32_t row)
{
	return tiny->computes[tiny->context->trace->slices.name[row]];
}

static bool tiny_is_product(uint8_t category)
{
	return category == SS_OP_MATMUL || category == SS_OP_CONVOLUTION ||
	       category == SS_OP_ATTENTION;
}

/* Whether a recurrent operator (aten::gru) contains it: that is already a single call. */
static bool tiny_is_in_recurrence(const struct tiny_operators *tiny, uint32_t row)
{
	const struct ss_slices *slices = &tiny->context->trace->slices;
	uint32_t forward = ss_places_forward(tiny->places, row);

	if (forward != SS_NO_ROW)
		row = forward;
	for (; row != SS_NO_ROW; row = tiny->runs->ops->owner[row])
		if (tiny->runs->category[slices->name[row]] == SS_OP_RECURRENT)
			return true;
	return false;
}

/* Finds which names compute or end a run, and which rows contain computing ones. */
static bool tiny_classify_names(struct tiny_operators *tiny)
{
	const struct ss_trace *trace = tiny->context->trace;

	if (!SS_ALLOC(tiny->context->scratch, tiny->is_around, (size_t)trace->device_from + 1) ||
	    !SS_ALLOC(tiny->context->scratch, tiny->ends, (size_t)trace->names.count + 1) ||
	    !SS_ALLOC(tiny->context->scratch, tiny->seen, (size_t)trace->names.count + 1) ||
	    !SS_ALLOC(tiny->context->scratch, tiny->computes, (size_t)trace->names.count + 1))
		return false;
	for (uint32_t i = 0; i < trace->names.count; i++) {
		const char *name = ss_strings_text(&trace->names, i);

		tiny->computes[i] = tiny_name_computes(tiny->runs->category[i], name);
		if (trace->name_flags[i] &
		    (SS_NAME_COMM_OP | SS_NAME_COMM_RANGE | SS_NAME_COMPILE | SS_NAME_DATALOADER))
			tiny->ends[i] = ENDS;
		else if (ss_op_reads_value(name)) /* nothing is fused across it */
			tiny->ends[i] = READS_BACK;
	}
	for (uint32_t row = 0; row < trace->device_from; row++) {
		uint32_t owner = tiny->runs->ops->owner[row];

		if (trace->slices.kind[row] != SS_KIND_OP || !tiny_row_computes(tiny, row))
			continue;
		for (; owner != SS_NO_ROW && !tiny->is_around[owner];
		     owner = tiny->runs->ops->owner[owner])
			tiny->is_around[owner] = true;
	}
	return true;
}

/* Claims the time of the run without its pauses; returns that time. */
static int64_t tiny_claim_run(struct tiny_operators *tiny)
{
	const struct tiny_run *run = &tiny->run;
	const struct ss_slices *slices = &tiny->context->trace->slices;
	int64_t from_ns = slices->start_ns[run->first], end_ns = from_ns, sum_ns = 0;
	double left = run->products ? PRODUCTS_LEFT : LEFT;
	double left_most = run->products ? PRODUCTS_LEFT_MOST : LEFT_MOST;

	for (uint32_t row = run->first; row <= run->last + 1; row++) {
		bool ends = row > run->last;

		if (!ends && (tiny->runs->group_of[row] == SS_NO_ROW || tiny->is_around[row]))
			continue;
		if (ends || slices->start_ns[row] > end_ns + PAUSE_NS) {
			double ns = (double)(end_ns - from_ns);
			int64_t gone_ns = ss_rule_claim_time(
				tiny->context,
				(struct ss_stretch){ .track = slices->track[run->first],
						     .from_ns = from_ns,
						     .to_ns = end_ns,
						     .keep_ns = (int64_t)(ns * left),
						     .low_keep_ns = (int64_t)(ns * left_most) });

			if (gone_ns)
				sum_ns = ss_ns_sum(sum_ns, end_ns - from_ns);
			if (!ends)
				from_ns = slices->start_ns[row];
		}
		if (!ends && ss_slice_end(slices, row) > end_ns)
			end_ns = ss_slice_end(slices, row);
	}
	return sum_ns;
}

static bool tiny_is_in_place(const struct tiny_operators *tiny, uint32_t row)
{
	const struct ss_trace *trace = tiny->context->trace;
	const struct ss_string *name = &trace->names.items[trace->slices.name[row]];

	return name->length && name->text[name->length - 1] == '_';
}

/* Whether the run updates tensors one by one after backward. */
static bool tiny_is_update(const struct tiny_operators *tiny)
{
	return tiny->run.is_behind && !tiny->run.products &&
	       tiny->phases->phase[tiny->run.first] != SS_PHASE_BACKWARD &&
	       tiny->run.in_place * IN_PLACE_PART >= tiny->run.count;
}

/* Ends the run; if it is a loop of tiny operators, it becomes claims and places. */
static void tiny_end_run(struct tiny_operators *tiny)
{
	struct tiny_run *run = &tiny->run;
	const struct ss_slices *slices = &tiny->context->trace->slices;

	if (run->count >= RUN_MIN && run->count >= REPEATS_MIN * run->names &&
	    run->count >= (OTHERS_MIN + 1) * run->products &&
	    run->fast_ns < (int64_t)MEAN_NS * run->count) {
		int64_t ns = tiny_claim_run(tiny);

		tiny->claimed_ns = ss_ns_sum(tiny->claimed_ns, ns);
		tiny->count += ns ? run->count : 0;
		if (tiny_is_update(tiny))
			tiny->updates_ns = ss_ns_sum(tiny->updates_ns, ns);
		for (uint32_t row = run->first; ns && row <= run->last; row++)
			if (tiny->runs->group_of[row] != SS_NO_ROW && !tiny->is_around[row] &&
			    tiny_row_computes(tiny, row))
				ss_code_places_add(tiny->sites, slices->name[row], row,
						   slices->dur_ns[row]);
	}
	*run = (struct tiny_run){ .first = SS_NO_ROW, .number = run->number + 1 };
}

/* Adds an operator that contains no other computing one, or ends the run. */
static void tiny_add_leaf(struct tiny_operators *tiny, uint32_t row)
{
	const struct ss_slices *slices = &tiny->context->trace->slices;
	const struct ss_op_group *group = &tiny->runs->groups[tiny->runs->group_of[row]];
	uint32_t step = ss_step_at(tiny->context->trace, slices->start_ns[row]);
	struct tiny_run *run = &tiny->run;

	if (group->fast_ns >= WORTH_NS || tiny->phases->phase[row] == SS_PHASE_OPTIMIZER ||
	    tiny->phases->phase[row] == SS_PHASE_INPUT || tiny_is_in_recurrence(tiny, row)) {
		tiny_end_run(tiny);
		return;
	}
	if (run->first != SS_NO_ROW &&
	    (slices->track[run->first] != slices->track[row] || run->step != step ||
	     tiny->phases->phase[run->first] != tiny->phases->phase[row]))
		tiny_end_run(tiny);
	if (run->first == SS_NO_ROW) {
		run->first = row;
		run->step = step;
		run->is_behind = tiny->backward == step;
	}
	run->last = row;
	run->fast_ns = ss_ns_sum(run->fast_ns, group->fast_ns);
	if (!tiny_row_computes(tiny, row))
		return;
	run->count++;
	run->in_place += tiny_is_in_place(tiny, row);
	run->products += tiny_is_product(tiny->runs->category[slices->name[row]]);
	run->names += tiny->seen[slices->name[row]] != run->number;
	tiny->seen[slices->name[row]] = run->number;
}

static void tiny_walk_rows(struct tiny_operators *tiny)
{
	const struct ss_trace *trace = tiny->context->trace;

	tiny->run = (struct tiny_run){ .first = SS_NO_ROW, .number = 1 };
	tiny->backward = SS_NO_ROW;
	for (uint32_t row = 0; row < trace->device_from; row++) {
		/* values that an operator itself reads back (aten::std) do not end the run */
		if (tiny->ends[trace->slices.name[row]] && tiny->runs->ops->owner[row] == SS_NO_ROW)
			tiny_end_run(tiny);
		else if (tiny->runs->group_of[row] != SS_NO_ROW && !tiny->is_around[row])
			tiny_add_leaf(tiny, row);
		if (tiny->phases->phase[row] == SS_PHASE_BACKWARD)
			tiny->backward = ss_step_at(trace, trace->slices.start_ns[row]);
	}
	tiny_end_run(tiny);
}

static void tiny_report(struct tiny_operators *tiny)
{
	struct ss_rule_context *context = tiny->context;
	struct ss_fact all = { tiny->claimed_ns, (double)tiny->count, SS_NO_ROW };

	ss_rule_add_evidence(
		context, all,
		"{count} operators per step compute next to nothing, one after the other: "
		"{time} including the calls around them");
	if (2 * tiny->updates_ns > tiny->claimed_ns) {
		struct ss_fact update = { tiny->updates_ns, 0, SS_NO_ROW };

		ss_rule_add_evidence(
			context, update,
			"an optimizer written in single operators takes {time} of it: they change "
			"tensors in place after backward");
		ss_rule_set_fix(context, update_fix);
	}
	ss_code_places_report(tiny->sites, 3, "%s runs {count} times per step: {time} of its own");
	ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM,
			       "what one call takes instead is estimated");
}

static enum ss_status tiny_operators_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct tiny_operators tiny = { .context = context };

	if (context->digest->device >= 0)
		return SS_OK;
	SS_TRY(ss_facts_phases(context->subject->facts, &tiny.phases, err));
	SS_TRY(ss_facts_places(context->subject->facts, &tiny.places, err));
	SS_TRY(ss_facts_op_runs(context->subject->facts, &tiny.runs, err));
	SS_TRY(ss_code_places_make(&tiny.sites, context, err));
	if (!tiny_classify_names(&tiny))
		return ss_fail_memory(err, "small operators");
	tiny_walk_rows(&tiny);
	if (tiny.claimed_ns)
		tiny_report(&tiny);
	return SS_OK;
}

static const struct ss_rule_fix by_kind[] = {
	{ SS_JOB_COMPILED, "# one call on a whole tensor instead of a loop over its parts, vmap,\n"
			   "# torch._foreach_mul_(tensors, x) for lists of tensors; they run\n"
			   "# outside of the compiled code: TORCH_LOGS=graph_breaks says why" },
	{ 0 },
};

const struct ss_rule ss_rule_tiny_operators = {
	.name = "tiny-operators",
	.title = "Calling tiny operators takes longer than what they compute",
	.summary = "Loops of operators on a few numbers each, in jobs without a GPU",
	.fix = "# one call on a whole tensor instead of a loop over its parts, vmap,\n"
	       "# torch._foreach_mul_(tensors, x) for lists of tensors, or:\n"
	       "model = torch.compile(model)   # fuses elementwise operators",
	.fixes = by_kind,
	.to_record = "with_stack=True names the lines",
	.views = "operators sequences",
	.warn_share = 0.10,
	.silent_share = 0.03,
	.why = "the loop has to be rewritten, so it warns from 10 % on; below 3 % it is the "
	       "overhead that any model has",
	.host_facts = SS_FACT_OP_RUNS,
	.look = tiny_operators_look,
};
