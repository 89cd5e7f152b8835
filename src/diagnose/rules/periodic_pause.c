/* SPDX-License-Identifier: Apache-2.0 */
/*
 * periodic_pause.c - rule: every few steps the training thread pauses, and no recorded event
 * explains why.
 *
 * Other rules claim what they know (saving, logging, the garbage collector, compiling). What
 * remains is a long stretch of the main thread without launches and mostly without operators, in
 * some steps but not in all of them, at equal distances. Without a device it is a stretch without
 * operators, always at the same place of the step.
 */
#include <stdlib.h>

#include "analyze/time/moment.h"
#include "diagnose/evidence/code_places.h"
#include "diagnose/evidence/host_rows.h"

/* In 5 ms eager mode launches a hundred kernels: no launching is as slow. */
#define PAUSE_NS 5000000

/* To see a distance come again four steps are needed at least. */
#define STEPS_MIN 4

/*
 * Without a device a busy machine makes pauses anywhere. Of 136 recordings 3 have two pauses of
 * 5 % of a step at one place where no pause was planted, one has three; none has three of 10 %.
 * Pauses of one kind are alike.
 */
#define CPU_SHARE 0.10
#define CPU_TIMES 3
#define ALIKE_TIMES 3

/* A stretch of the main thread without operators. */
struct hole {
	uint32_t before, behind; /* names of the rows around it */
	uint32_t step, row;      /* the row behind */
	int64_t from_ns, to_ns;
};

struct pauses {
	struct ss_look *look;
	const struct ss_trace *trace;
	uint8_t *paused; /* per step */
	struct ss_code_places sites;
	uint32_t every; /* steps from one to the next */
	struct hole *holes;
	uint32_t hole_count, hole_capacity;
};

/* How much of the work operators take. */
static int64_t operators_in(const struct ss_trace *trace, const struct ss_task *task)
{
	const struct ss_track *track = &trace->tracks[task->track];
	uint32_t row = ss_row_from(trace, task->track, task->start_ns);
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

static bool is_pause(const struct pauses *pauses, uint32_t index)
{
	const struct ss_graph *graph = pauses->look->graph;
	const struct ss_task *task = &graph->tasks[index];

	return task->kind == SS_TASK_WORK && task->track == graph->main &&
	       task->step != SS_NO_STEP && task->own_ns >= PAUSE_NS &&
	       ss_look_is_free(pauses->look, index) &&
	       operators_in(pauses->trace, task) < task->own_ns / 2;
}

/* Steps with a pause: two or more, at one distance, which is not 1. */
static bool is_periodic(struct pauses *pauses)
{
	const struct ss_graph *graph = pauses->look->graph;
	uint32_t last = SS_NO_STEP, found = 0;

	for (uint32_t i = 0; i < graph->task_count; i++)
		if (is_pause(pauses, i))
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

static enum ss_status find(struct pauses *pauses, struct ss_arena *scratch, struct ss_error *err)
{
	struct ss_look *look = pauses->look;
	const struct ss_graph *graph = look->graph;

	SS_TRY(ss_code_places_init(&pauses->sites, look, err));
	pauses->paused = SS_ARENA_NEW(scratch, uint8_t, (size_t)graph->step_count + 1);
	if (!pauses->paused)
		return ss_fail_memory(err, "pauses of the loop");
	if (!is_periodic(pauses))
		return SS_OK;
	for (uint32_t i = 0; i < graph->task_count; i++) {
		const struct ss_task *task = &graph->tasks[i];

		/* what it is may be needed half as often at least */
		if (is_pause(pauses, i) &&
		    ss_look_claim(look, (struct ss_claim){ .task = i, .low_ns = task->own_ns / 2 }))
			ss_code_places_add(&pauses->sites, 0, task->row, task->own_ns);
	}
	if (pauses->sites.failed)
		return ss_fail_memory(err, "pauses of the loop");
	ss_code_places_sort(&pauses->sites);
	for (uint32_t i = 0; i < pauses->sites.count && i < 3; i++)
		ss_look_evidence(look, ss_code_place_fact(&pauses->sites.items[i]),
				 "every %u steps the training thread launches nothing for a while: "
				 "{time} per step",
				 pauses->every);
	ss_look_confidence(look, SS_CONFIDENCE_MEDIUM,
			   "the pause recurs; the trace does not show its cause");
	return SS_OK;
}

/* --- without a device -------------------------------------------------------------------- */

static bool add_hole(struct pauses *pauses, const struct hole *hole)
{
	if (!ss_memory_reserve(pauses->look->memory, (void **)&pauses->holes,
			       &pauses->hole_capacity, (size_t)pauses->hole_count + 1,
			       sizeof(*pauses->holes)))
		return false;
	pauses->holes[pauses->hole_count++] = *hole;
	return true;
}

static bool find_holes(struct pauses *pauses)
{
	const struct ss_slices *slices = &pauses->trace->slices;
	const struct ss_track *track = &pauses->trace->tracks[pauses->look->graph->main];
	uint32_t end = track->first_row + track->row_count, before = SS_NO_ROW;
	int64_t least_ns, until_ns = 0;

	least_ns = (int64_t)((double)pauses->look->step_ns * CPU_SHARE /
			     pauses->look->steps->count);
	if (least_ns < PAUSE_NS)
		least_ns = PAUSE_NS;
	for (uint32_t row = track->first_row; row < end; row++) {
		uint32_t flags = ss_slice_flags(pauses->trace, row);
		struct hole hole;

		if (slices->kind[row] == SS_KIND_PYTHON) { /* frames say what it is */
			pauses->hole_count = 0;
			break;
		}
		if ((slices->kind[row] != SS_KIND_OP && slices->kind[row] != SS_KIND_ANNOTATION) ||
		    (flags & (SS_NAME_STEP | SS_NAME_STEP_LIKE)))
			continue;
		if (before != SS_NO_ROW && slices->start_ns[row] - until_ns >= least_ns) {
			hole = (struct hole){ .before = slices->name[before],
					      .behind = slices->name[row],
					      .step = ss_step_at(pauses->trace, until_ns),
					      .row = row,
					      .from_ns = until_ns,
					      .to_ns = slices->start_ns[row] };
			if (hole.step != SS_NO_ROW && !add_hole(pauses, &hole))
				return false;
		}
		if (before == SS_NO_ROW || ss_slice_end(slices, row) > until_ns) {
			until_ns = ss_slice_end(slices, row);
			before = row;
		}
	}
	return true;
}

static int by_place(const void *a, const void *b)
{
	const struct hole *x = a, *y = b;

	if (x->before != y->before)
		return x->before < y->before ? -1 : 1;
	if (x->behind != y->behind)
		return x->behind < y->behind ? -1 : 1;
	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

/* Holes of one place, in the order of time: as often as can be at one distance, and alike. */
static bool is_regular(struct pauses *pauses, const struct hole *holes, uint32_t count)
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

static void claim_holes(struct pauses *pauses, const struct hole *holes, uint32_t count)
{
	int64_t sum_ns = 0;

	for (uint32_t i = 0; i < count; i++)
		sum_ns = ss_ns_sum(sum_ns,
				   ss_look_claim_time(pauses->look,
						      (struct ss_stretch){
							      .track = pauses->look->graph->main,
							      .from_ns = holes[i].from_ns,
							      .to_ns = holes[i].to_ns,
							      .low_keep_ns = (holes[i].to_ns -
									      holes[i].from_ns) /
									     2,
						      }));
	if (!sum_ns)
		return;
	ss_look_evidence(pauses->look, (struct ss_fact){ sum_ns, count, holes[0].row },
			 "every %u steps the training thread runs no operator for a while, before "
			 "%s: {time} per step",
			 pauses->every, ss_strings_text(&pauses->trace->names, holes[0].behind));
	ss_look_confidence(pauses->look, SS_CONFIDENCE_MEDIUM,
			   "the pause recurs; the trace does not show its cause");
}

static enum ss_status find_on_cpu(struct pauses *pauses, struct ss_error *err)
{
	if (!find_holes(pauses))
		return ss_fail_memory(err, "pauses of the loop");
	if (pauses->hole_count)
		qsort(pauses->holes, pauses->hole_count, sizeof(*pauses->holes), by_place);
	for (uint32_t from = 0, to; from < pauses->hole_count; from = to) {
		const struct hole *hole = &pauses->holes[from];

		for (to = from + 1; to < pauses->hole_count; to++)
			if (pauses->holes[to].before != hole->before ||
			    pauses->holes[to].behind != hole->behind)
				break;
		if (is_regular(pauses, hole, to - from))
			claim_holes(pauses, hole, to - from);
	}
	return SS_OK;
}

static enum ss_status look_for_pauses(struct ss_look *look, struct ss_error *err)
{
	struct pauses pauses = { .look = look, .trace = look->trace };
	const struct ss_phases *phases;
	struct ss_arena scratch;
	enum ss_status status;

	if (look->steps->count < STEPS_MIN || look->graph->main == SS_NO_ROW)
		return SS_OK;
	SS_TRY(ss_facts_phases(look->subject->facts, &phases, err));
	ss_arena_init(&scratch, look->memory);
	if (look->digest->device >= 0)
		status = find(&pauses, &scratch, err);
	else
		status = phases->has_ops ? find_on_cpu(&pauses, err) : SS_OK;
	ss_memory_free(look->memory, pauses.holes, pauses.hole_capacity * sizeof(*pauses.holes));
	ss_code_places_release(&pauses.sites);
	ss_arena_release(&scratch);
	return status;
}

const struct ss_rule ss_rule_periodic_pause = {
	.name = "periodic-pause",
	.title = "Every few steps the training thread pauses",
	.summary = "A pause every n-th step that no recorded event explains",
	.fix = "# what is it? with_stack=True shows it, or name the parts of the loop:\n"
	       "with torch.profiler.record_function(\"log\"):\n"
	       "    ...\n"
	       "# then move it to a thread, or do it less often",
	.surer = "with_stack=True names the line",
	.views = "steps stacks",
	.warn_share = 0.03,
	.silent_share = 0.01,
	.why = "the cause has to be found first, so it warns from 3 % on; below 1 % steps differ "
	       "by as much",
	.look = look_for_pauses,
};
