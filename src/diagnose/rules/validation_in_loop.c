/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validation_in_loop.c - rule: training steps also run forward passes that nothing is learned
 * from.
 *
 * It looks for a function or range called validate, evaluate or test, in a job that trains, with
 * operators that compute but no training in it: no forward operator with a backward, no backward,
 * no optimizer. Without such a name: forward passes without backward in some steps and not in
 * others; model.eval() in the function shows what they are. Passes that occur in every step are
 * left alone: a teacher, a frozen encoder or a policy in play runs them on purpose.
 */
#include <string.h>

#include "analyze/time/moment.h"
#include "diagnose/evidence/checkpoints_and_logging.h"
#include "diagnose/evidence/code_places.h"
#include "diagnose/evidence/cpu_rows.h"
#include "diagnose/evidence/removed_ranges.h"

/*
 * Products, convolutions and attention in a stretch without backward, as a share of those that a
 * step trains. With fewer it is no forward pass but a metric, or the norm of a matrix.
 */
#define PASS_SHARE 0.5

/* How many functions around an operator are checked. */
#define AROUND_MAX 64

/* A stretch of the main thread without training. */
struct validation_stretch {
	uint32_t row; /* the first operator */
	uint32_t step;
	uint32_t heavy;
	int64_t from_ns, to_ns;
};

struct validation {
	struct ss_rule_context *context;
	const struct ss_trace *trace;
	const struct ss_training *training;
	const struct ss_phases *phases;
	const struct ss_ops *ops;
	const uint8_t *side_work; /* enum ss_side_work, per name */
	uint8_t *heavy;           /* per name: 1 an operator of a forward pass, 2 none */
	struct ss_removed_ranges wholes;
	struct ss_code_places *sites;
	uint8_t *steps; /* per step: it has such a stretch */
	struct validation_stretch *stretches;
	uint32_t count, capacity;
	uint32_t trained; /* heavy operators of training in all steps */
	bool is_named;
};

static bool validation_is_in_step(const struct validation *v, uint32_t row)
{
	return ss_step_at(v->trace, v->trace->slices.start_ns[row]) != SS_NO_ROW;
}

/* --- by name --------------------------------------------------------------------------- */

static bool validation_is_named(const struct validation *v, uint32_t row)
{
	const uint32_t steps = SS_NAME_STEP | SS_NAME_STEP_LIKE;
	uint8_t what = v->side_work[v->trace->slices.name[row]];
	uint32_t end;

	/* a function with several duties ("_maybe_log_save_evaluate") calls one for each of them */
	if (!ss_cpu_row_is_named(v->trace, row) || !(what & SS_SIDE_WORK_EVALUATES) ||
	    (what & ~SS_SIDE_WORK_EVALUATES) || (ss_slice_flags(v->trace, row) & steps))
		return false;
	end = ss_cpu_row_last(v->trace, row) + 1;
	return !ss_training_in(v->training, row, end) &&
	       ss_training_computes(v->training, row, end);
}

/* Claims functions called validate, evaluate or test that compute and train nothing. */
static void validation_find_by_name(struct validation *v)
{
	const struct ss_slices *slices = &v->trace->slices;
	const struct ss_track *track = &v->trace->tracks[v->context->graph->main];
	uint32_t end = track->first_row + track->row_count;

	for (uint32_t row = track->first_row; row < end; row++) {
		int64_t to_ns = ss_slice_end(slices, row), gone_ns;

		if (!validation_is_named(v, row) || !validation_is_in_step(v, row))
			continue;
		gone_ns = ss_removed_ranges_claim(&v->wholes, row, slices->start_ns[row], to_ns);
		if (gone_ns)
			ss_code_places_add(v->sites, slices->name[row], row, gone_ns);
		row = ss_cpu_row_last(v->trace, row);
	}
	v->is_named = v->sites->count;
}

/* --- by what is computed ---------------------------------------------------------------- */

static bool validation_is_heavy(struct validation *v, uint32_t row)
{
	uint32_t name = v->trace->slices.name[row];

	if (v->trace->slices.kind[row] != SS_KIND_OP)
		return false;
	if (!v->heavy[name])
		v->heavy[name] = ss_training_is_heavy(ss_strings_text(&v->trace->names, name)) ? 1
											       : 2;
	return v->heavy[name] == 1;
}

/* The outermost operator around a row, or the row. */
static uint32_t validation_top_operator(const struct validation *v, uint32_t row)
{
	for (uint32_t tries = 0; tries < AROUND_MAX && v->ops->owner[row] != SS_NO_ROW; tries++)
		row = v->ops->owner[row];
	return row;
}

static bool validation_add_stretch(struct validation *v, const struct validation_stretch *stretch)
{
	if (!SS_ARENA_GROW(v->context->scratch, v->stretches, v->capacity, v->count))
		return false;
	v->stretches[v->count++] = *stretch;
	return true;
}

/* Finds stretches of forward operators between rows of training; false: no memory. */
static bool validation_find_stretches(struct validation *v)
{
	const struct ss_slices *slices = &v->trace->slices;
	const struct ss_track *track = &v->trace->tracks[v->context->graph->main];
	uint32_t end = track->first_row + track->row_count, next;
	struct validation_stretch stretch = { .row = SS_NO_ROW };
	uint32_t backward = SS_NO_ROW; /* the latest step with a backward */

	for (uint32_t row = track->first_row; row < end; row = next) {
		uint32_t top, behind, step;

		next = row + 1;
		if (ss_training_in(v->training, row, row + 1)) {
			if (stretch.row != SS_NO_ROW && !validation_add_stretch(v, &stretch))
				return false;
			stretch.row = SS_NO_ROW;
			if (v->phases->phase[row] == SS_PHASE_BACKWARD)
				backward = ss_step_at(v->trace, slices->start_ns[row]);
		}
		if (!validation_is_heavy(v, row) || v->phases->phase[row] == SS_PHASE_INPUT)
			continue;
		step = ss_step_at(v->trace, slices->start_ns[row]);
		if (step == SS_NO_ROW || v->phases->phase[row] != SS_PHASE_FORWARD)
			continue;
		top = validation_top_operator(v, row);
		behind = ss_cpu_row_last(v->trace, top) + 1;
		next = behind > next ? behind : next;
		if (ss_training_in(v->training, top, behind)) {
			v->trained++;
			next = row + 1; /* rows of training end the stretch */
			continue;
		}
		if (stretch.row == SS_NO_ROW || step != stretch.step) {
			if (stretch.row != SS_NO_ROW && !validation_add_stretch(v, &stretch))
				return false;
			stretch = (struct validation_stretch){ .row = top,
							       .step = step,
							       .from_ns = slices->start_ns[top] };
		}
		stretch.heavy++;
		stretch.to_ns = ss_slice_end(slices, top);
	}
	/* the file may end before the backward of its last forward pass */
	return stretch.row == SS_NO_ROW || stretch.step != backward ||
	       validation_add_stretch(v, &stretch);
}

/* Whether the stretch has at least half as many heavy operators as a step trains. */
static bool validation_is_pass(const struct validation *v, const struct validation_stretch *stretch)
{
	return v->trained &&
	       (double)stretch->heavy * v->context->steps->count >= PASS_SHARE * (double)v->trained;
}

/* The outermost enclosing function without training, or SS_NO_ROW. */
static uint32_t validation_function_around(const struct validation *v, uint32_t row)
{
	const struct ss_slices *slices = &v->trace->slices;
	uint32_t found = SS_NO_ROW;

	for (uint32_t tries = 0; tries < AROUND_MAX; tries++) {
		row = slices->parent[row];
		if (row == SS_NO_ROW ||
		    (ss_slice_flags(v->trace, row) & (SS_NAME_STEP | SS_NAME_STEP_LIKE)) ||
		    ss_training_in(v->training, row, ss_cpu_row_last(v->trace, row) + 1))
			break;
		if (ss_cpu_row_is_named(v->trace, row))
			found = row;
	}
	return found;
}

/* Whether the function calls model.eval(). */
static bool validation_calls_eval(const struct validation *v, uint32_t function)
{
	const struct ss_slices *slices = &v->trace->slices;
	uint32_t end = ss_cpu_row_last(v->trace, function) + 1;

	for (uint32_t row = function; row < end; row++) {
		const char *name = ss_strings_text(&v->trace->names, slices->name[row]);

		if (slices->kind[row] == SS_KIND_PYTHON &&
		    strncmp(name, "torch/nn/modules/module.py(", 27) == 0 &&
		    strcmp(ss_code_function_name(name), "eval") == 0)
			return true;
	}
	return false;
}

/* Claims forward passes without backward that some steps have and others have not. */
static bool validation_find_by_work(struct validation *v)
{
	const struct ss_slices *slices = &v->trace->slices;
	uint32_t with = 0;
	int64_t until_ns = INT64_MIN;

	if (!validation_find_stretches(v))
		return false;
	for (uint32_t i = 0; i < v->count; i++)
		if (validation_is_pass(v, &v->stretches[i]) && !v->steps[v->stretches[i].step]) {
			v->steps[v->stretches[i].step] = true;
			with++;
		}
	if (!with || with >= v->context->steps->count)
		return true;
	for (uint32_t i = 0; i < v->count; i++) {
		struct validation_stretch *stretch = &v->stretches[i];
		uint32_t around = validation_function_around(v, stretch->row), row = stretch->row;
		int64_t gone_ns;

		if (!validation_is_pass(v, stretch) || stretch->from_ns < until_ns)
			continue;
		if (around != SS_NO_ROW) {
			row = around;
			stretch->from_ns = slices->start_ns[around];
			stretch->to_ns = ss_slice_end(slices, around);
			v->is_named |= validation_calls_eval(v, around);
		}
		until_ns = stretch->to_ns;
		gone_ns = ss_removed_ranges_claim(&v->wholes, row, stretch->from_ns,
						  stretch->to_ns);
		if (gone_ns)
			ss_code_places_add(v->sites, around == SS_NO_ROW ? 0 : slices->name[row],
					   row, gone_ns);
	}
	return true;
}

/* --- evidence --------------------------------------------------------------------------- */

static void validation_report(struct validation *v)
{
	struct ss_rule_context *context = v->context;

	ss_code_places_sort(v->sites);
	for (uint32_t i = 0; i < v->sites->count && i < 4; i++) {
		const struct ss_code_place *site = &v->sites->items[i];

		if (site->name)
			ss_rule_add_evidence(
				context, ss_code_place_fact(site),
				"%s runs forward passes without backward for {time} per "
				"step",
				ss_strings_text(&v->trace->names, site->name));
		else
			ss_rule_add_evidence(
				context, ss_code_place_fact(site),
				"some steps run forward passes without backward: {time} "
				"per step");
	}
	if (v->is_named)
		ss_rule_set_confidence(context, SS_CONFIDENCE_HIGH,
				       "the trace names the function, and it trains nothing");
	else
		ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM,
				       "forward without backward; nothing is named validation");
	ss_rule_add_figure(context, 0, v->is_named ? 1 : 0);
}

static enum ss_status validation_in_loop_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct validation v = { .context = context, .trace = context->trace };
	bool whole = true;

	if (context->graph->main == SS_NO_ROW)
		return SS_OK;
	SS_TRY(ss_facts_phases(context->subject->facts, &v.phases, err));
	SS_TRY(ss_facts_training(context->subject->facts, &v.training, err));
	SS_TRY(ss_facts_ops(context->subject->facts, &v.ops, err));
	if (!v.training->trains)
		return SS_OK;
	SS_TRY(ss_code_places_make(&v.sites, context, err));
	v.side_work = ss_rule_side_work(context);
	v.heavy = SS_ARENA_NEW(context->scratch, uint8_t, (size_t)v.trace->names.count + 1);
	v.steps = SS_ARENA_NEW(context->scratch, uint8_t, (size_t)v.trace->steps.count + 1);
	if (!v.side_work || !v.heavy || !v.steps || !ss_removed_ranges_init(&v.wholes, context))
		return ss_fail_memory(err, "validation");
	validation_find_by_name(&v);
	/* without a name, only links to backward show whether a forward pass is trained */
	if (!v.is_named && v.training->has_links)
		whole = validation_find_by_work(&v);
	if (!whole)
		return ss_fail_memory(err, "validation");
	ss_removed_ranges_claim_device(&v.wholes);
	if (v.sites->count)
		validation_report(&v);
	return SS_OK;
}

/* Without a name it may be something else, such as sampling. */
static enum ss_status validation_in_loop_judge(struct ss_judgement *judgement, struct ss_error *err)
{
	struct ss_finding *finding = ss_judgement_take_all(judgement);
	bool is_named = false;

	(void)err;
	for (uint32_t i = 0; i < judgement->rank_count; i++)
		is_named |= ss_judgement_figure(judgement, i, 0) > 0;
	if (finding && !is_named)
		finding->title = "Some steps run forward passes without backward";
	return SS_OK;
}

const struct ss_rule ss_rule_validation_in_loop = {
	.name = "validation-in-loop",
	.title = "Validation runs inside the training loop",
	.summary = "Forward passes without backward in training steps: validate(), evaluate()",
	.fix = "if step % 1000 == 0:                                    # less often\n"
	       "    validate(model, itertools.islice(val_loader, 20))   # on fewer\n"
	       "# or save a checkpoint and validate it in another process",
	.to_record = "with_stack=True names the function; record_function(\"validate\") the range",
	.views = "phases stacks",
	.warn_share = 0.10,
	.silent_share = 0.01,
	.why = "the recorded steps may contain more validation than a whole run, so it takes 10 % "
	       "of them for a warning; below 1 % steps differ by more",
	.facts = SS_FACT_OPS | SS_FACT_TRAINING,
	.look = validation_in_loop_look,
	.judge = validation_in_loop_judge,
};
