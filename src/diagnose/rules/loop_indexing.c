/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_indexing.c - rule: a Python loop indexes a tensor element by element.
 *
 * for i in range(len(x)): y[i] = f(x[i]) calls a handful of operators for every element. On the
 * whole tensor each is called once. The pattern is the one of PyTorch's own pattern matcher.
 */
#include <string.h>

#include "analyze/time/moment.h"
#include "diagnose/evidence/code_places.h"

/* Fewer may be a handful of indexes written one below the other, not a loop. */
#define TURNS_MIN 32

/* Operators of one iteration, besides the index. */
#define BODY_MAX 8

/* Consecutive index operators of a thread, with at most BODY_MAX others in between. */
struct indexing_loop {
	uint32_t first, last; /* rows */
	uint32_t turns, others;
};

/* With find_unused_parameters DDP reads one element of its map for each gradient it copies. */
#define REDUCER "torch.distributed.ddp.reducer::"

enum index_use { TAKES_ELEMENT = 1, TAKES_NONE, IS_REDUCER };

struct indexing_loops {
	struct ss_rule_context *context;
	const struct ss_ops *ops;
	uint8_t *indexes; /* per name: enum index_use; 0: not looked at */
	struct ss_code_places sites;
};

static uint8_t loop_index_use(struct indexing_loops *loops, uint32_t name)
{
	if (!loops->indexes[name]) {
		const char *text = ss_strings_text(&loops->context->trace->names, name);

		loops->indexes[name] = strcmp(text, "aten::select") == 0         ? TAKES_ELEMENT
				       : strncmp(text, REDUCER, strlen(REDUCER)) ? TAKES_NONE
										 : IS_REDUCER;
	}
	return loops->indexes[name];
}

/* On the whole tensor the loop takes as long as one iteration; at worst half of it remains. */
static void loop_close(struct indexing_loops *loops, const struct indexing_loop *loop)
{
	const struct ss_slices *slices = &loops->context->trace->slices;
	struct ss_stretch stretch;
	int64_t length_ns;

	if (loop->turns < TURNS_MIN)
		return;
	stretch = (struct ss_stretch){ .track = slices->track[loop->first],
				       .from_ns = slices->start_ns[loop->first],
				       .to_ns = ss_slice_end(slices, loop->last) };
	length_ns = stretch.to_ns - stretch.from_ns;
	stretch.keep_ns = length_ns / loop->turns;
	stretch.low_keep_ns = length_ns / 2;
	if (ss_rule_claim_time(loops->context, stretch) > 0)
		ss_code_places_add(&loops->sites, slices->name[loop->first], loop->first,
				   length_ns);
}

/* Finds loops: index operators of one thread with few others in between. */
static void loops_find(struct indexing_loops *loops)
{
	const struct ss_trace *trace = loops->context->trace;
	const struct ss_slices *slices = &trace->slices;
	struct indexing_loop loop = { 0 };

	for (uint32_t row = 0; row < trace->device_from; row++) {
		uint8_t index;

		if (slices->kind[row] != SS_KIND_OP || loops->ops->owner[row] != SS_NO_ROW)
			continue;
		if (loop.turns &&
		    (slices->track[row] != slices->track[loop.first] || loop.others > BODY_MAX)) {
			loop_close(loops, &loop);
			loop = (struct indexing_loop){ 0 };
		}
		index = loop_index_use(loops, slices->name[row]);
		if (index == IS_REDUCER)
			loop = (struct indexing_loop){ 0 };
		if (index != TAKES_ELEMENT) {
			loop.others++;
			continue;
		}
		if (ss_step_at(trace, slices->start_ns[row]) == SS_NO_ROW)
			continue;
		if (!loop.turns)
			loop.first = row;
		loop.last = row;
		loop.turns++;
		loop.others = 0;
	}
	loop_close(loops, &loop);
}

static enum ss_status loop_indexing_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct indexing_loops loops = { .context = context };
	struct ss_arena scratch;
	enum ss_status status;

	if (!context->steps->count)
		return SS_OK;
	SS_TRY(ss_facts_ops(context->subject->facts, &loops.ops, err));
	ss_arena_init(&scratch, context->memory);
	status = ss_code_places_init(&loops.sites, context, err);
	if (status == SS_OK) {
		loops.indexes = SS_ARENA_NEW(&scratch, uint8_t,
					     (size_t)context->trace->names.count + 1);
		if (loops.indexes)
			loops_find(&loops);
		if (!loops.indexes || loops.sites.failed)
			status = ss_fail_memory(err, "the loops");
	}
	ss_code_places_sort(&loops.sites);
	for (uint32_t i = 0; status == SS_OK && i < loops.sites.count; i++)
		ss_rule_add_evidence(context, ss_code_place_fact(&loops.sites.items[i]),
				     "%s repeats in a loop: {time} of host time per step",
				     ss_strings_text(&context->trace->names,
						     loops.sites.items[i].name));
	if (status == SS_OK && loops.sites.count)
		ss_rule_set_confidence(context, SS_CONFIDENCE_LOW,
				       "whether the loop can run on the whole tensor is unknown");
	ss_code_places_release(&loops.sites);
	ss_arena_release(&scratch);
	return status;
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
