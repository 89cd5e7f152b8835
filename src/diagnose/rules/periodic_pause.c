/* SPDX-License-Identifier: Apache-2.0 */
/*
 * periodic_pause.c - rule: every few steps the main thread pauses, and no recorded event
 * explains why.
 *
 * Other rules claim what they know (saving, logging, the garbage collector, compiling). What
 * remains is a long stretch of the main thread without launches and mostly without operators, in
 * some steps but not in all of them, at equal distances. Without a device it is a stretch without
 * operators, always at the same place of the step.
 */

#include "analyze/time/moment.h"
#include "base/sort.h"
#include "diagnose/evidence/code_places.h"
#include "diagnose/evidence/cpu_rows.h"

/* In 5 ms eager mode launches a hundred kernels: slow launching never takes this long. */
#define PAUSE_NS 5000000

/* It takes at least four steps to see a distance repeat. */
#define STEPS_MIN 4

/*
 * Without a device a busy machine causes pauses anywhere. Of 136 recordings without a planted
 * pause, 3 have two pauses of 5 % of a step at one place, and one has three; none has three of
 * 10 %. Pauses with one cause take about as long.
 */
#define CPU_SHARE 0.10
#define CPU_TIMES 3
#define ALIKE_TIMES 3

/* A stretch of the main thread without operators. */
struct pause_hole {
	uint32_t before, behind; /* names of the rows before and after it */
	uint32_t step, row;      /* the row after it */
	int64_t from_ns, to_ns;
};

struct periodic_pauses {
	struct ss_rule_context *context;
	const struct ss_trace *trace;
	uint8_t *paused; /* per step */
	struct ss_code_places *sites;
	uint32_t every; /* steps from one to the next */
	struct pause_hole *holes;
	uint32_t hole_count, hole_capacity;
};

/* How much of the task's time operators take. */
static int64_t pause_operators_ns(const struct ss_trace *trace, const struct ss_task *task)
{
	const struct ss_track *track = &trace->tracks[task->track];
	uint32_t row = ss_cpu_row_after(trace, task->track, task->start_ns);
	uint32_t end = track->first_row + track->row_count;
	int64_t end_ns = ss_task_end(task), until_ns = task->start_ns, sum_ns = 0;

	for (; row < end && trace->slices.start_ns[row] < end_ns; row++) {
		int64_t own_ns = ss_slice_end(&trace->slices, row);

		if (trace->slices.kind[row] != SS_KIND_OP || own_ns <= until_ns)
			continue;
		if (trace->slices.start_ns[row] > until_ns)
			until_ns = trace->slices.start_ns[row];
		own_ns = own_ns < end_ns ? own_ns : end_ns;
		ss_ns_add(&sum_ns, own_ns - until_ns);
		until_ns = own_ns;
	}
	return sum_ns;
}

static bool pause_is_unexplained(const struct periodic_pauses *pauses, uint32_t index)
{
	const struct ss_graph *graph = pauses->context->graph;
	const struct ss_task *task = &graph->tasks[index];

	return task->kind == SS_TASK_WORK && task->track == graph->main &&
	       task->step != SS_NO_STEP && task->own_ns >= PAUSE_NS &&
	       ss_rule_can_claim(pauses->context, index) &&
	       pause_operators_ns(pauses->trace, task) < task->own_ns / 2;
}

/* Whether two or more steps have a pause, all at the same distance of at least two steps. */
static bool pauses_are_periodic(struct periodic_pauses *pauses)
{
	const struct ss_graph *graph = pauses->context->graph;
	uint32_t last = SS_NO_STEP, found = 0;

	for (uint32_t i = 0; i < graph->task_count; i++)
		if (pause_is_unexplained(pauses, i))
			pauses->paused[graph->tasks[i].step] = true;
	for (uint32_t i = 0; i < graph->step_count; i++) {
		if (!pauses->paused[i])
			continue;
		if (found == 1)
			pauses->every = i - last;
		if (found > 1 && i - last != pauses->every)
			return false;
		last = i;
		found++;
	}
	return found >= 2 && pauses->every > 1;
}

static enum ss_status periodic_pause_find(struct periodic_pauses *pauses, struct ss_error *err)
{
	struct ss_rule_context *context = pauses->context;
	const struct ss_graph *graph = context->graph;

	SS_TRY(ss_code_places_make(&pauses->sites, context, err));
	if (!SS_ALLOC(context->scratch, pauses->paused, (size_t)graph->step_count + 1))
		return ss_fail_memory(err, "pauses of the loop");
	if (!pauses_are_periodic(pauses))
		return SS_OK;
	for (uint32_t i = 0; i < graph->task_count; i++) {
		const struct ss_task *task = &graph->tasks[i];

		/* at worst it can happen half as often */
		if (pause_is_unexplained(pauses, i) &&
		    ss_rule_claim(context,
				  (struct ss_claim){ .task = i, .low_ns = task->own_ns / 2 }))
			ss_code_places_add(pauses->sites, 0, task->row, task->own_ns);
	}
	ss_code_places_sort(pauses->sites);
	for (uint32_t i = 0; i < pauses->sites->count && i < 3; i++)
		ss_rule_add_evidence(context, ss_code_place_fact(&pauses->sites->items[i]),
				     "every %u steps the main thread launches nothing for a while: "
				     "{time} per step",
				     pauses->every);
	ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM,
			       "the pause recurs; the trace does not show its cause");
	return SS_OK;
}

/* --- without a device -------------------------------------------------------------------- */

static bool pause_add_hole(struct periodic_pauses *pauses, const struct pause_hole *hole)
{
	if (!SS_ARENA_GROW(pauses->context->scratch, pauses->holes, pauses->hole_capacity,
			   pauses->hole_count))
		return false;
	pauses->holes[pauses->hole_count++] = *hole;
	return true;
}

/* Finds long stretches without operators; none if Python frames are recorded. False: no memory. */
static bool pause_find_holes(struct periodic_pauses *pauses)
{
	const struct ss_slices *slices = &pauses->trace->slices;
	const struct ss_track *track = &pauses->trace->tracks[pauses->context->graph->main];
	uint32_t end = track->first_row + track->row_count, before = SS_NO_ROW;
	int64_t least_ns, until_ns = 0;

	least_ns = (int64_t)((double)pauses->context->step_ns * CPU_SHARE /
			     pauses->context->steps->count);
	if (least_ns < PAUSE_NS)
		least_ns = PAUSE_NS;
	for (uint32_t row = track->first_row; row < end; row++) {
		uint32_t flags = ss_slice_flags(pauses->trace, row);
		struct pause_hole hole;

		if (slices->kind[row] == SS_KIND_PYTHON) { /* frames show the cause */
			pauses->hole_count = 0;
			break;
		}
		if ((slices->kind[row] != SS_KIND_OP && slices->kind[row] != SS_KIND_ANNOTATION) ||
		    (flags & (SS_NAME_STEP | SS_NAME_STEP_LIKE)))
			continue;
		if (before != SS_NO_ROW && slices->start_ns[row] - until_ns >= least_ns) {
			hole = (struct pause_hole){ .before = slices->name[before],
						    .behind = slices->name[row],
						    .step = ss_step_at(pauses->trace, until_ns),
						    .row = row,
						    .from_ns = until_ns,
						    .to_ns = slices->start_ns[row] };
			if (hole.step != SS_NO_ROW && !pause_add_hole(pauses, &hole))
				return false;
		}
		if (before == SS_NO_ROW || ss_slice_end(slices, row) > until_ns) {
			until_ns = ss_slice_end(slices, row);
			before = row;
		}
	}
	return true;
}

SS_COMPARATOR(hole_compare_place, struct pause_hole,
	      SS_ASCENDING(before) SS_ASCENDING(behind) SS_ASCENDING(from_ns))

/* Whether the holes of one place recur at one distance through all steps, and are alike. */
static bool holes_are_regular(struct periodic_pauses *pauses, const struct pause_hole *holes,
			      uint32_t count)
{
	int64_t shortest_ns = INT64_MAX, longest_ns = 0;
	uint32_t every = count > 1 ? holes[1].step - holes[0].step : 0;

	if (count < CPU_TIMES || every < 2 || holes[0].step >= every ||
	    holes[count - 1].step + every < pauses->trace->steps.count)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		int64_t ns = holes[i].to_ns - holes[i].from_ns;

		if (i && holes[i].step - holes[i - 1].step != every)
			return false;
		shortest_ns = ns < shortest_ns ? ns : shortest_ns;
		longest_ns = ns > longest_ns ? ns : longest_ns;
	}
	pauses->every = every;
	return longest_ns / ALIKE_TIMES <= shortest_ns;
}

/* Claims the pauses of one place, and reports them. */
static void pause_claim_holes(struct periodic_pauses *pauses, const struct pause_hole *holes,
			      uint32_t count)
{
	int64_t sum_ns = 0;

	for (uint32_t i = 0; i < count; i++)
		sum_ns = ss_ns_sum(sum_ns,
				   ss_rule_claim_time(pauses->context,
						      (struct ss_stretch){
							      .track = pauses->context->graph->main,
							      .from_ns = holes[i].from_ns,
							      .to_ns = holes[i].to_ns,
							      .low_keep_ns = (holes[i].to_ns -
									      holes[i].from_ns) /
									     2,
						      }));
	if (!sum_ns)
		return;
	ss_rule_add_evidence(pauses->context, (struct ss_fact){ sum_ns, count, holes[0].row },
			     "every %u steps the main thread runs no operator for a while, before "
			     "%s: {time} per step",
			     pauses->every,
			     ss_strings_text(&pauses->trace->names, holes[0].behind));
	ss_rule_set_confidence(pauses->context, SS_CONFIDENCE_MEDIUM,
			       "the pause recurs; the trace does not show its cause");
}

static enum ss_status periodic_pause_find_on_cpu(struct periodic_pauses *pauses,
						 struct ss_error *err)
{
	if (!pause_find_holes(pauses))
		return ss_fail_memory(err, "pauses of the loop");
	SS_SORT(pauses->holes, pauses->hole_count, hole_compare_place);
	for (uint32_t from = 0, to; from < pauses->hole_count; from = to) {
		const struct pause_hole *hole = &pauses->holes[from];

		for (to = from + 1; to < pauses->hole_count; to++)
			if (pauses->holes[to].before != hole->before ||
			    pauses->holes[to].behind != hole->behind)
				break;
		if (holes_are_regular(pauses, hole, to - from))
			pause_claim_holes(pauses, hole, to - from);
	}
	return SS_OK;
}

static enum ss_status periodic_pause_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct periodic_pauses pauses = { .context = context, .trace = context->trace };
	const struct ss_phases *phases;

	if (context->steps->count < STEPS_MIN || context->graph->main == SS_NO_ROW)
		return SS_OK;
	SS_TRY(ss_facts_phases(context->subject->facts, &phases, err));
	if (context->digest->device >= 0)
		return periodic_pause_find(&pauses, err);
	return phases->has_ops ? periodic_pause_find_on_cpu(&pauses, err) : SS_OK;
}

const struct ss_rule ss_rule_periodic_pause = {
	.name = "periodic-pause",
	.title = "Every few steps the main thread pauses",
	.summary = "A pause every n-th step that no recorded event explains",
	.fix = "# what is it? with_stack=True shows it, or name the parts of the loop:\n"
	       "with torch.profiler.record_function(\"log\"):\n"
	       "    ...\n"
	       "# then move it to a thread, or do it less often",
	.to_record = "with_stack=True names the line",
	.views = "steps stacks",
	.warn_share = 0.03,
	.silent_share = 0.01,
	.why = "the cause has to be found first, so it warns from 3 % on; below 1 % steps differ "
	       "by as much",
	.look = periodic_pause_look,
};
