/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unused_parameters.c - rule: DDP searches for unused parameters in every step.
 *
 * With find_unused_parameters=True it walks the autograd graph after each forward, passes the
 * output through a function of its own, and all-reduces a map of the used parameters: one integer
 * per parameter. The walk is recorded under its own name, so the flag is known to be on. The map
 * shows whether it is needed: if backward produced as many gradients as the map has elements,
 * every parameter was used.
 */
#include <string.h>

#include "analyze/time/moment.h"
#include "base/search.h"
#include "diagnose/evidence/gradients.h"

#define SEARCH "torch.distributed.ddp.reducer::search_unused_parameters"
#define SINK "_DDPSink" /* of torch.nn.parallel.distributed; copies the output */
#define FIND_TENSORS "_find_tensors"
#define ITS_FILE "nn/parallel/distributed.py"
#define MAP_TYPE_BYTES 4

static const char *const without_flag =
	"model = DDP(model)   # without find_unused_parameters=True: every parameter is used";

struct unused_search {
	struct ss_rule_context *context;
	const struct ss_gradients *gradients;
	uint8_t *parts; /* per name: enum unused_part */
	int64_t search_ns, map_ns;
	int64_t searches, maps;
	uint32_t row;         /* of the first search; SS_NO_ROW: none */
	int64_t parameters;   /* elements of the map; -1: not recorded */
	bool is_used, is_not; /* a pass used all parameters; a pass did not */
};

enum unused_part { PART_NONE, PART_SEARCH, PART_OTHER, PART_GRADIENT };

/* Most files have none of the names: then the rows need not be searched. */
static bool unused_classify_names(struct unused_search *search)
{
	const struct ss_trace *trace = search->context->trace;
	bool any = false;

	for (uint32_t i = 0; i < trace->names.count; i++) {
		const char *name = ss_strings_text(&trace->names, i);

		if (strcmp(name, SEARCH) == 0 ||
		    (strstr(name, FIND_TENSORS) && strstr(name, ITS_FILE)))
			search->parts[i] = PART_SEARCH;
		else if (strcmp(name, SINK) == 0)
			search->parts[i] = PART_OTHER;
		else if ((trace->name_flags[i] & SS_NAME_BACKWARD) &&
			 strstr(name, "AccumulateGrad"))
			search->parts[i] = PART_GRADIENT;
		any |= search->parts[i] == PART_SEARCH;
	}
	return any;
}

/* Claims a row of the search within a step; rows within another one do not count. */
static void unused_claim_row(struct unused_search *search, uint32_t row)
{
	const struct ss_trace *trace = search->context->trace;
	const struct ss_slices *slices = &trace->slices;
	uint32_t parent = slices->parent[row];

	if (ss_step_at(trace, slices->start_ns[row]) == SS_NO_ROW ||
	    (parent != SS_NO_ROW && search->parts[slices->name[parent]] == PART_SEARCH))
		return;
	(void)!ss_rule_claim_time(search->context,
				  (struct ss_stretch){ .track = slices->track[row],
						       .from_ns = slices->start_ns[row],
						       .to_ns = ss_slice_end(slices, row) });
	search->search_ns = ss_ns_sum(search->search_ns, slices->dur_ns[row]);
	if (search->parts[slices->name[row]] != PART_SEARCH)
		return;
	search->searches++;
	if (search->row == SS_NO_ROW)
		search->row = row;
}

/* The pass whose forward or backward contains the moment, or the number of passes: none. */
static uint32_t gradient_pass_at(const struct ss_gradients *gradients, int64_t moment_ns)
{
	uint32_t low = 0, high = gradients->pass_count;

	SS_SEARCH(low, high, at, gradients->passes[at].forward_ns <= moment_ns);
	if (low) {
		const struct ss_gradient_pass *pass = &gradients->passes[low - 1];

		if (gradients->items[pass->first + pass->count - 1].launch_ns >= moment_ns)
			return low - 1;
	}
	return gradients->pass_count;
}

/* Claims the searches, and checks whether each pass made a gradient for every parameter. */
static bool unused_check_rows(struct unused_search *search)
{
	const struct ss_trace *trace = search->context->trace;
	uint32_t passes = search->gradients->pass_count;
	uint32_t *made = SS_ARENA_NEW(search->context->scratch, uint32_t, (size_t)passes + 1);

	if (!made)
		return false;
	for (uint32_t row = 0; row < trace->device_from; row++) {
		uint8_t part = search->parts[trace->slices.name[row]];

		if (part == PART_GRADIENT)
			made[gradient_pass_at(search->gradients, trace->slices.start_ns[row])]++;
		else if (part != PART_NONE)
			unused_claim_row(search, row);
	}
	for (uint32_t i = 0; i < passes && search->parameters > 0; i++) {
		search->is_used |= made[i] == search->parameters;
		search->is_not |= made[i] != search->parameters;
	}
	return true;
}

/*
 * The map is the only all-reduce of integers in the hooks. If sizes are not recorded, it is the
 * last one: DDP requests it after the last bucket.
 */
static bool unused_is_map(const struct ss_gradients *gradients, uint32_t item)
{
	const struct ss_gradient *gradient = &gradients->items[item];
	const struct ss_gradient_pass *pass = &gradients->passes[gradient->pass];

	if (gradient->bytes > 0)
		return gradient->is_integer;
	return pass->count > 1 && item + 1 == pass->first + pass->count;
}

/* Claims the all-reduces of the map, and reads the number of parameters from their size. */
static void unused_claim_maps(struct unused_search *search)
{
	const struct ss_rule_context *context = search->context;

	for (uint32_t i = 0; i < search->gradients->count; i++) {
		const struct ss_gradient *gradient = &search->gradients->items[i];
		uint32_t task = ss_gradient_task(gradient, context);
		uint32_t row = context->digest->arrivals[gradient->arrival].row;

		if (!unused_is_map(search->gradients, i))
			continue;
		if (gradient->bytes > 0)
			search->parameters = gradient->bytes / MAP_TYPE_BYTES;
		if (task == SS_NO_TASK ||
		    !ss_rule_claim(search->context, (struct ss_claim){ .task = task }))
			continue;
		search->map_ns = ss_ns_sum(search->map_ns, context->trace->slices.dur_ns[row]);
		search->maps++;
	}
}

static void unused_report(struct unused_search *search)
{
	struct ss_fact walk = { search->search_ns, (double)search->searches, search->row };
	struct ss_fact map = { search->map_ns, (double)search->maps, SS_NO_ROW };

	ss_rule_add_evidence(
		search->context, walk,
		"DDP searches the autograd graph for unused parameters: {time} per step");
	if (search->maps)
		ss_rule_add_evidence(
			search->context, map,
			"DDP all-reduces a map of the used parameters: {time} per step "
			"including the wait for other ranks");
	if (search->is_used && !search->is_not) {
		ss_rule_set_confidence(search->context, SS_CONFIDENCE_HIGH,
				       "every parameter gets a gradient in every backward");
		ss_rule_set_fix(search->context, without_flag);
	} else {
		ss_rule_set_confidence(search->context, SS_CONFIDENCE_MEDIUM,
				       search->is_not
					       ? "some parameters get no gradient: it may be needed"
					       : "the trace does not show whether parameters "
						 "are unused; record_shapes=True does");
	}
}

static enum ss_status unused_parameters_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct unused_search search = { .context = context, .row = SS_NO_ROW, .parameters = -1 };

	if (!SS_ALLOC(context->scratch, search.parts, (size_t)context->trace->names.count + 1))
		return ss_fail_memory(err, "the search for unused parameters");
	if (!unused_classify_names(&search))
		return SS_OK;
	SS_TRY(ss_rule_gradients(context, &search.gradients, err));
	unused_claim_maps(&search);
	if (!unused_check_rows(&search))
		return ss_fail_memory(err, "the search for unused parameters");
	if (search.searches)
		unused_report(&search);
	return SS_OK;
}

const struct ss_rule ss_rule_unused_parameters = {
	.name = "unused-parameters",
	.title = "DDP searches for unused parameters in every step",
	.summary = "find_unused_parameters=True: a graph search and an all-reduce in every step",
	.fix = "model = DDP(model)   # if all parameters are used\n"
	       "model = DDP(model, static_graph=True)   # if always the same are unused\n"
	       "# TORCH_DISTRIBUTED_DEBUG=INFO names those that get no gradient",
	.to_record = NULL,
	.views = "operators communication",
	.warn_share = 0.03,
	.silent_share = 0.001,
	.why = "removing one argument fixes it: 3 % is worth a warning, and 0.1 % is reported, "
	       "since the flag is known to be on",
	.look = unused_parameters_look,
};
