/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_indexing.c - rule: a Python loop indexes a tensor element by element.
 *
 * for i in range(len(x)): y[i] = f(x[i]) calls a handful of operators for every element. On the
 * whole tensor each is called once. The pattern is the one of PyTorch's own pattern matcher.
 */
#include <string.h>

#include "analyze/time/moment.h"
#include "base/sort.h"
#include "diagnose/evidence/code_places.h"

/* Fewer may be a handful of indexes written one below the other, not a loop. */
#define TURNS_MIN 32

/* Operators of one iteration, besides the index. */
#define BODY_MAX 8

/* A turn this many times as long as the usual one is other work: a model between two loops. */
#define OTHER_WORK_TURNS 32

/*
 * An operator without data takes 1 to 5 us, ten times that while stacks are recorded. Turns that
 * take longer than nine of them compute something: decoding reads its last position once a token.
 */
#define TURN_MAX_NS 500000

/* Consecutive index operators of a thread, with at most BODY_MAX others in between. */
struct indexing_loop {
	uint32_t turns, others;
};

/* With find_unused_parameters DDP reads one element of its map for each gradient it copies. */
#define REDUCER "torch.distributed.ddp.reducer::"

enum index_use { TAKES_NONE, TAKES_ELEMENT, IS_REDUCER };

struct indexing_loops {
	struct ss_rule_context *context;
	const struct ss_ops *ops;
	uint8_t *indexes;    /* per name: enum index_use */
	uint32_t *rows;      /* the index operators of one loop */
	int64_t *lengths_ns; /* of its turns, sorted */
	uint32_t row_capacity, length_capacity;
	struct ss_code_places *sites;
};

/* Whether any name takes elements. */
static bool loops_read_names(struct indexing_loops *loops)
{
	const struct ss_strings *names = &loops->context->trace->names;
	bool any = false;

	for (uint32_t i = 0; i < names->count; i++) {
		const char *text = ss_strings_text(names, i);

		loops->indexes[i] = strcmp(text, "aten::select") == 0         ? TAKES_ELEMENT
				    : strncmp(text, REDUCER, strlen(REDUCER)) ? TAKES_NONE
									      : IS_REDUCER;
		any |= loops->indexes[i] == TAKES_ELEMENT;
	}
	return any;
}

/* From one index operator to the next; the last turn is its operator alone. */
static int64_t loop_turn_ns(const struct indexing_loops *loops, const struct indexing_loop *loop,
			    uint32_t turn)
{
	const struct ss_slices *slices = &loops->context->trace->slices;
	uint32_t row = loops->rows[turn];

	return turn + 1 < loop->turns
		       ? slices->start_ns[loops->rows[turn + 1]] - slices->start_ns[row]
		       : slices->dur_ns[row];
}

/* On the whole tensor the loop takes as long as one iteration; at worst half of it remains. */
static void loop_claim(struct indexing_loops *loops, uint32_t from, uint32_t to)
{
	const struct ss_slices *slices = &loops->context->trace->slices;
	uint32_t first = loops->rows[from], last = loops->rows[to - 1];
	struct ss_stretch stretch = { .track = slices->track[first],
				      .from_ns = slices->start_ns[first],
				      .to_ns = ss_slice_end(slices, last) };
	int64_t length_ns = stretch.to_ns - stretch.from_ns;

	stretch.keep_ns = length_ns / (to - from);
	stretch.low_keep_ns = length_ns / 2;
	if (ss_rule_claim_time(loops->context, stretch) > 0)
		ss_code_places_add(loops->sites, slices->name[first], first, length_ns);
}

/* Claims what lies between turns that are too long to be part of the loop. */
static void loop_close(struct indexing_loops *loops, const struct indexing_loop *loop)
{
	uint32_t from = 0;
	int64_t longest_ns;

	if (loop->turns < TURNS_MIN || loops->context->failed)
		return;
	if (!SS_ARENA_GROW(loops->context->scratch, loops->lengths_ns, loops->length_capacity,
			   loop->turns)) {
		loops->context->failed = true;
		return;
	}
	for (uint32_t i = 0; i < loop->turns; i++)
		loops->lengths_ns[i] = loop_turn_ns(loops, loop, i);
	SS_SORT(loops->lengths_ns, loop->turns, ss_sort_compare_int64);
	if (loops->lengths_ns[loop->turns / 2] > TURN_MAX_NS)
		return;
	longest_ns = OTHER_WORK_TURNS * (loops->lengths_ns[loop->turns / 2] + 1);
	for (uint32_t i = 0; i < loop->turns; i++) {
		if (i + 1 < loop->turns && loop_turn_ns(loops, loop, i) <= longest_ns)
			continue;
		if (i > from)
			loop_claim(loops, from, i + 1);
		from = i + 1;
	}
}

/* Finds loops: index operators of one thread with few others in between. */
static void loops_find(struct indexing_loops *loops)
{
	const struct ss_trace *trace = loops->context->trace;
	const struct ss_slices *slices = &trace->slices;
	struct indexing_loop loop = { 0 };

	for (uint32_t row = 0; row < trace->device_from && !loops->context->failed; row++) {
		uint8_t index;

		if (slices->kind[row] != SS_KIND_OP || loops->ops->owner[row] != SS_NO_ROW)
			continue;
		if (loop.turns && (slices->track[row] != slices->track[loops->rows[0]] ||
				   loop.others > BODY_MAX)) {
			loop_close(loops, &loop);
			loop = (struct indexing_loop){ 0 };
		}
		index = loops->indexes[slices->name[row]];
		if (index == IS_REDUCER)
			loop = (struct indexing_loop){ 0 };
		if (index != TAKES_ELEMENT) {
			loop.others++;
			continue;
		}
		if (ss_step_at(trace, slices->start_ns[row]) == SS_NO_ROW)
			continue;
		if (!SS_ARENA_GROW(loops->context->scratch, loops->rows, loops->row_capacity,
				   loop.turns))
			loops->context->failed = true;
		else
			loops->rows[loop.turns++] = row;
		loop.others = 0;
	}
	loop_close(loops, &loop);
}

static enum ss_status loop_indexing_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct indexing_loops loops = { .context = context };

	SS_TRY(ss_facts_ops(context->subject->facts, &loops.ops, err));
	SS_TRY(ss_code_places_make(&loops.sites, context, err));
	if (!SS_ALLOC(context->scratch, loops.indexes, (size_t)context->trace->names.count + 1))
		return ss_fail_memory(err, "the loops");
	if (!loops_read_names(&loops))
		return SS_OK;
	loops_find(&loops);
	ss_code_places_report(loops.sites, UINT32_MAX,
			      "%s repeats in a loop: {time} of host time per step");
	if (loops.sites->count)
		ss_rule_set_confidence(context, SS_CONFIDENCE_LOW,
				       "whether the loop can run on the whole tensor is unknown");
	return SS_OK;
}

const struct ss_rule ss_rule_loop_indexing = {
	.name = "loop-indexing",
	.title = "A loop indexes a tensor element by element",
	.summary = "Dozens of x[i] in a row instead of operators on the whole tensor",
	.fix = "y = f(x)                    # not: for i in range(n): y[i] = f(x[i])\n"
	       "y = torch.func.vmap(f)(x)   # if f takes one element",
	.to_record = "with_stack=True names the line",
	.views = "operators sequences",
	.warn_share = 0.2,
	.silent_share = 0.02,
	.why = "only the author of the code knows whether the loop can go: from a fifth of the "
	       "step on that is worth a warning",
	.facts = SS_FACT_OPS,
	.look = loop_indexing_look,
};
