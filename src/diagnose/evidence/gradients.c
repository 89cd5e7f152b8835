/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gradients.c - which collectives are DDP's, and to which backward each belongs.
 */
#include "diagnose/evidence/gradients.h"

#include <string.h>
#include <strings.h>

#include "analyze/kernel/message.h"
#include "base/sort.h"
#include "trace/outward.h"

#define FORWARD "DistributedDataParallel.forward"
#define ACCUMULATE "AccumulateGrad"
#define ASK "c10d::"

enum ddp_mark_kind { MARK_NONE, MARK_FORWARD, MARK_STEP, MARK_ZERO, MARK_ASK };

/* A row of a thread that separates passes or rounds, or requests an all-reduce. */
struct ddp_mark {
	int64_t at_ns;
	uint32_t row;
	enum ddp_mark_kind kind;
};

struct gradient_search {
	const struct ss_rule_context *context;
	const struct ss_trace *trace;
	const struct ss_phases *phases;
	struct ss_gradients *out;
	struct ddp_mark *marks, *asks; /* by time */
	uint32_t mark_count, ask_count;
	uint8_t *kinds; /* per name: enum ddp_mark_kind */
};

/* --- rows of threads ----------------------------------------------------------------- */

static const char *gradient_row_name(const struct ss_trace *trace, uint32_t row)
{
	return ss_strings_text(&trace->names, trace->slices.name[row]);
}

/* Collectives on devices have links to their requests: no search needed. */
static enum ddp_mark_kind ddp_mark_kind_of_name(const struct gradient_search *finder, uint32_t name)
{
	uint32_t flags = finder->trace->name_flags[name];
	const char *text = ss_strings_text(&finder->trace->names, name);

	if (strcmp(text, FORWARD) == 0)
		return MARK_FORWARD;
	if (flags & SS_NAME_OPTIMIZER_STEP)
		return MARK_STEP;
	if (flags & SS_NAME_ZERO_GRAD)
		return MARK_ZERO;
	if ((flags & SS_NAME_COMM_OP) && finder->context->digest->device < 0 &&
	    strncmp(text, ASK, strlen(ASK)) == 0 &&
	    ss_collective_kind_of(text + strlen(ASK)) == SS_COLLECTIVE_ALL_REDUCE)
		return MARK_ASK;
	return MARK_NONE;
}

SS_COMPARATOR(ddp_mark_compare_time, struct ddp_mark, SS_ASCENDING(at_ns) SS_ASCENDING(row))

/* Finds the rows that separate passes and rounds, and the requests; false: no memory. */
static bool gradients_find_marks(struct gradient_search *finder, struct ss_arena *arena)
{
	const struct ss_trace *trace = finder->trace;
	const uint32_t *names = trace->slices.name;
	uint32_t count = 0;

	if (!SS_ALLOC(arena, finder->kinds, (size_t)trace->names.count + 1))
		return false;
	for (uint32_t i = 0; i < trace->names.count; i++)
		finder->kinds[i] = (uint8_t)ddp_mark_kind_of_name(finder, i);
	for (uint32_t row = 0; row < trace->device_from; row++)
		count += finder->kinds[names[row]] != MARK_NONE;
	if (!SS_ALLOC(arena, finder->marks, (size_t)count + 1) ||
	    !SS_ALLOC(arena, finder->asks, (size_t)count + 1))
		return false;
	for (uint32_t row = 0; row < trace->device_from && count; row++) {
		enum ddp_mark_kind kind = (enum ddp_mark_kind)finder->kinds[names[row]];
		struct ddp_mark mark = { trace->slices.start_ns[row], row, kind };

		if (kind == MARK_ASK)
			finder->asks[finder->ask_count++] = mark;
		else if (kind != MARK_NONE)
			finder->marks[finder->mark_count++] = mark;
	}
	SS_SORT(finder->marks, finder->mark_count, ddp_mark_compare_time);
	SS_SORT(finder->asks, finder->ask_count, ddp_mark_compare_time);
	return true;
}

/* --- which are gradients --------------------------------------------------------------- */

/*
 * Whether the row is in a hook of AccumulateGrad. Some profilers end its range before the hook
 * runs: then no range of autograd is around it, on a thread that only runs backward.
 */
static bool row_is_in_grad_hook(const struct gradient_search *finder, uint32_t row)
{
	const struct ss_trace *trace = finder->trace;
	uint32_t track = trace->slices.track[row],
		 at = ss_outward_find(trace, row, SS_NAME_BACKWARD);

	if (at != SS_NO_ROW)
		return strstr(gradient_row_name(trace, at), ACCUMULATE) != NULL;
	return track != finder->phases->main && finder->context->digest->device >= 0 &&
	       finder->phases->phase[row] == SS_PHASE_BACKWARD;
}

static void gradients_add_item(struct gradient_search *finder, uint32_t arrival, uint32_t launch)
{
	struct ss_gradients *out = finder->out;

	if (launch >= finder->trace->device_from || !row_is_in_grad_hook(finder, launch))
		return;
	out->items[out->count++] = (struct ss_gradient){
		.arrival = arrival,
		.launch = launch,
		.launch_ns = finder->trace->slices.start_ns[launch],
	};
}

SS_COMPARATOR(gradient_compare_launch, struct ss_gradient,
	      SS_ASCENDING(launch_ns) SS_ASCENDING(arrival))

/*
 * The operator that requested a collective of a thread, or SS_NO_ROW: the first request that no
 * earlier collective has. All requests of the reducer are done before the next forward: if rows are
 * missing, the order is right again from there on.
 */
static uint32_t gradient_requesting_row(const struct gradient_search *finder, int64_t start_ns,
					uint32_t *ask, uint32_t *mark)
{
	int64_t forward_ns = INT64_MIN;

	while (*mark < finder->mark_count && finder->marks[*mark].at_ns <= start_ns)
		(*mark)++;
	for (uint32_t i = *mark; i > 0 && forward_ns == INT64_MIN; i--)
		if (finder->marks[i - 1].kind == MARK_FORWARD)
			forward_ns = finder->marks[i - 1].at_ns;
	while (*ask < finder->ask_count && finder->asks[*ask].at_ns < forward_ns &&
	       row_is_in_grad_hook(finder, finder->asks[*ask].row))
		(*ask)++;
	if (*ask == finder->ask_count || finder->asks[*ask].at_ns > start_ns)
		return SS_NO_ROW;
	return finder->asks[(*ask)++].row;
}

/* Arrivals are in order of their starts: the first request starts first. */
static bool gradients_find_items(struct gradient_search *finder, struct ss_arena *arena)
{
	const struct ss_digest *digest = finder->context->digest;
	struct ss_gradients *out = finder->out;
	uint32_t ask = 0, mark = 0;

	if (!SS_ALLOC(arena, out->items, (size_t)digest->arrival_count + 1))
		return false;
	for (uint32_t i = 0; i < digest->arrival_count; i++) {
		uint32_t row = digest->arrivals[i].row;

		if (digest->arrivals[i].kind != SS_COLLECTIVE_ALL_REDUCE)
			continue;
		if (row >= finder->trace->device_from)
			gradients_add_item(finder, i, finder->trace->slices.link[row]);
		else
			gradients_add_item(
				finder, i,
				gradient_requesting_row(finder, finder->trace->slices.start_ns[row],
							&ask, &mark));
	}
	SS_SORT(out->items, out->count, gradient_compare_launch);
	return true;
}

/* --- passes and rounds ------------------------------------------------------------------- */

static void gradients_open_pass(struct ss_gradients *out, uint32_t first, int64_t forward_ns,
				bool is_new)
{
	if (is_new)
		out->rounds[out->round_count++].first = out->pass_count;
	out->rounds[out->round_count - 1].count++;
	out->passes[out->pass_count++] = (struct ss_gradient_pass){ .first = first,
								    .round = out->round_count - 1,
								    .forward_ns = forward_ns };
}

/* Collectives write types as "Int", ranges as "[\"int\"]". */
static bool type_is_integer(const char *type)
{
	return strcasecmp(type, "int") == 0 || strcmp(type, "[\"int\"]") == 0;
}

/* Finds the size and type of a gradient; without a device the inputs of its range may show them. */
static void gradient_measure(const struct gradient_search *finder, struct ss_gradient *gradient)
{
	const struct ss_trace *trace = finder->trace;
	const struct ss_arrival *arrival = &finder->context->digest->arrivals[gradient->arrival];
	const struct ss_comm_row *comm = ss_message_of(trace, arrival->row);

	gradient->bytes = arrival->bytes;
	if (comm) {
		const struct ss_comm_args *args = ss_records_at(&trace->comm_args, comm->args);

		gradient->is_integer = type_is_integer(ss_strings_text(&trace->texts, args->dtype));
	} else if (arrival->row < trace->device_from &&
		   trace->slices.args[arrival->row] != SS_NO_ARGS) {
		const struct ss_op_args *args = ss_records_at(&trace->op_args,
							      trace->slices.args[arrival->row]);
		const char *types = ss_strings_text(&trace->texts, args->input_types);

		gradient->bytes =
			ss_message_inputs(ss_strings_text(&trace->texts, args->input_dims), types,
					  ss_collective_kind_name(arrival->kind), -1);
		gradient->is_integer = type_is_integer(types);
	}
}

static void gradients_add_to_pass(struct gradient_search *finder, struct ss_gradient *gradient)
{
	struct ss_gradients *out = finder->out;
	struct ss_gradient_pass *pass = &out->passes[out->pass_count - 1];

	gradient_measure(finder, gradient);
	gradient->pass = out->pass_count - 1;
	pass->count++;
	pass->bytes = pass->bytes < 0 || gradient->bytes < 0
			      ? -1
			      : ss_ns_sum(pass->bytes, gradient->bytes);
}

/* Assigns gradients to passes; those before the first forward belong to none, which is cut off. */
static void gradients_find_passes(struct gradient_search *finder)
{
	struct ss_gradients *out = finder->out;
	int64_t forward_ns = INT64_MIN;
	bool in_pass = false, in_round = false;
	uint32_t mark = 0, kept = 0;

	for (uint32_t i = 0; i < out->count; i++) {
		for (; mark < finder->mark_count &&
		       finder->marks[mark].at_ns <= out->items[i].launch_ns;
		     mark++) {
			in_pass = false;
			if (finder->marks[mark].kind == MARK_FORWARD) {
				forward_ns = finder->marks[mark].at_ns;
				continue;
			}
			if (in_round)
				out->rounds[out->round_count - 1].is_stepped =
					finder->marks[mark].kind == MARK_STEP;
			in_round = false;
		}
		if (forward_ns == INT64_MIN)
			continue;
		out->items[kept] = out->items[i];
		if (!in_pass)
			gradients_open_pass(out, kept, forward_ns, !in_round);
		gradients_add_to_pass(finder, &out->items[kept++]);
		in_pass = in_round = true;
	}
	out->count = kept;
	for (; in_round && mark < finder->mark_count; mark++)
		if (finder->marks[mark].kind != MARK_FORWARD) {
			out->rounds[out->round_count - 1].is_stepped = finder->marks[mark].kind ==
								       MARK_STEP;
			in_round = false;
		}
}

static bool gradients_find(struct gradient_search *finder, struct ss_arena *arena)
{
	struct ss_gradients *out = finder->out;

	if (!gradients_find_items(finder, arena))
		return false;
	if (!SS_ALLOC(arena, out->passes, (size_t)out->count + 1) ||
	    !SS_ALLOC(arena, out->rounds, (size_t)out->count + 1))
		return false;
	gradients_find_passes(finder);
	return true;
}

static enum ss_status gradients_make(struct ss_rule_context *context, struct ss_error *err)
{
	struct gradient_search finder = { .context = context, .trace = context->trace };
	struct ss_arena *arena = &context->shared->arena;
	SS_SCRATCH(scratch, context->memory);
	bool whole = SS_ALLOC(arena, finder.out, 1);

	if (whole && context->digest->arrival_count &&
	    ss_strings_find(&context->trace->names, FORWARD, strlen(FORWARD)) != SS_NO_ID) {
		SS_TRY(ss_facts_phases(context->subject->facts, &finder.phases, err));
		whole = gradients_find_marks(&finder, &scratch) && gradients_find(&finder, arena);
	}
	if (!whole)
		return ss_fail_memory(err, "the gradients");
	context->shared->gradients = finder.out;
	return SS_OK;
}

enum ss_status ss_rule_gradients(struct ss_rule_context *context, const struct ss_gradients **out,
				 struct ss_error *err)
{
	enum ss_status status = SS_OK;

	ss_rule_share(context);
	if (!context->shared->gradients)
		status = gradients_make(context, err);
	*out = context->shared->gradients;
	ss_rule_unshare(context);
	return status;
}

uint32_t ss_gradient_task(const struct ss_gradient *gradient, const struct ss_rule_context *context)
{
	uint32_t row = context->digest->arrivals[gradient->arrival].row;
	uint32_t task = ss_replay_graph_comm_of(context->graph, row);

	if (task == SS_NO_TASK || context->graph->tasks[task + 1].step == SS_NO_STEP)
		return SS_NO_TASK;
	return task + 1;
}
