/*
 * periodic_pause.c - rule: every few steps the training thread stands still, and nothing that
 * is recorded says why.
 *
 * What other rules know (saving, logging, the garbage collector, compiling) is theirs. What
 * is left is a long stretch of the main thread without launches and mostly without
 * operators, in some steps but not in all of them, at equal distances.
 */
#include "diagnose/rows.h"
#include "diagnose/sites.h"

/* In 5 ms eager mode launches a hundred kernels: no launching is as slow. */
#define PAUSE_NS 5000000

/* To see a distance come again four steps are needed at least. */
#define STEPS_MIN 4

struct pauses {
	struct ss_look *look;
	const struct ss_trace *trace;
	uint8_t *paused; /* per step */
	struct ss_sites sites;
	uint32_t every; /* steps from one to the next */
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
		sum_ns += own_ns - until_ns;
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

	SS_TRY(ss_sites_init(&pauses->sites, look, err));
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
			ss_sites_add(&pauses->sites, 0, task->row, task->own_ns);
	}
	if (pauses->sites.failed)
		return ss_fail_memory(err, "pauses of the loop");
	ss_sites_sort(&pauses->sites);
	for (uint32_t i = 0; i < pauses->sites.count && i < 3; i++)
		ss_look_evidence(look, ss_site_fact(&pauses->sites.items[i]),
				 "every %u steps the training thread launches nothing for a while: "
				 "{time} a step",
				 pauses->every);
	ss_look_confidence(look, SS_CONFIDENCE_MEDIUM,
			   "that it comes again is recorded, but not what it is");
	return SS_OK;
}

static enum ss_status look_for_pauses(struct ss_look *look, struct ss_error *err)
{
	struct pauses pauses = { .look = look, .trace = look->trace };
	struct ss_arena scratch;
	enum ss_status status;

	/* without devices the thread that stands still may be the one that computes */
	if (look->steps->count < STEPS_MIN || look->graph->main == SS_NO_ROW ||
	    look->digest->device < 0)
		return SS_OK;
	ss_arena_init(&scratch, look->memory);
	status = find(&pauses, &scratch, err);
	ss_sites_release(&pauses.sites);
	ss_arena_release(&scratch);
	return status;
}

const struct ss_rule ss_rule_periodic_pause = {
	.name = "periodic-pause",
	.title = "Every few steps the training thread stands still",
	.summary = "A pause every n-th step that nothing recorded explains",
	.fix = "# see what it is: profile(..., with_stack=True), or name the parts of the loop\n"
	       "with torch.profiler.record_function(\"log\"):\n"
	       "    ...\n"
	       "# then do it in a thread, or less often",
	.surer = "with_stack=True names the line",
	.warn_share = 0.03,
	.silent_share = 0.01,
	.why = "what it is has to be found first, so 3 %; below 1 % steps differ by as much",
	.look = look_for_pauses,
};
