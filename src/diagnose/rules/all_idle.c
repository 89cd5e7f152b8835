/*
 * all_idle.c - rule: the loop stops to save or to log, and the devices with it.
 *
 * A stretch of the main thread that launches nothing, in a function or range whose name
 * says what it does: torch.save, a logger, a sleep. The outermost function around it that
 * starts no kernel is the whole of it: what it copies and waits for is part of it. When
 * all ranks do so, nobody works.
 */
#include "diagnose/chores.h"
#include "diagnose/rows.h"
#include "diagnose/sites.h"

/* Shorter stretches are any Python between launches; nsys-ai lists gaps from 1 ms on. */
#define PAUSE_NS 1000000

/* Functions around a pause that are looked at. */
#define AROUND_MAX 64

static const char save_fix[] =
	"import torch.distributed.checkpoint as dcp\n"
	"future = dcp.async_save(state, checkpoint_id=path)   # writes while training goes on\n"
	"# or save less often";

struct pauses {
	struct ss_look *look;
	const struct ss_trace *trace;
	uint8_t *names;    /* enum ss_chore, per name */
	uint8_t *is_gone;  /* per host row: it is part of what is claimed as a whole */
	uint32_t *kernels; /* per host row: how many of the rows before it started a kernel */
	struct ss_sites sites;
	int64_t save_ns, log_ns;
	int64_t until_ns; /* what is claimed ends here */
};

static bool prepare(struct pauses *pauses, struct ss_arena *scratch)
{
	const struct ss_trace *trace = pauses->trace;
	uint32_t count = 0;

	pauses->names = ss_chores(trace, scratch);
	pauses->kernels = SS_ARENA_NEW(scratch, uint32_t, (size_t)trace->device_from + 1);
	pauses->is_gone = SS_ARENA_NEW(scratch, uint8_t, (size_t)trace->device_from + 1);
	if (!pauses->names || !pauses->kernels || !pauses->is_gone)
		return false;
	for (uint32_t row = trace->device_from; row < trace->device_to; row++)
		if (ss_kind_is_kernel(trace->slices.kind[row]) &&
		    trace->slices.link[row] < trace->device_from)
			pauses->kernels[trace->slices.link[row] + 1]++;
	for (uint32_t row = 0; row <= trace->device_from; row++) {
		count += pauses->kernels[row];
		pauses->kernels[row] = count;
	}
	return true;
}

static bool is_named(const struct pauses *pauses, uint32_t row)
{
	enum ss_kind kind = pauses->trace->slices.kind[row];

	return kind == SS_KIND_PYTHON || kind == SS_KIND_ANNOTATION;
}

/* The function or range that takes most of the work: a chore in it, or what is around it. */
static uint32_t filler_of(const struct pauses *pauses, const struct ss_task *task)
{
	const struct ss_slices *slices = &pauses->trace->slices;
	const struct ss_track *track = &pauses->trace->tracks[task->track];
	uint32_t end = track->first_row + track->row_count, best = SS_NO_ROW;
	uint32_t row = ss_row_from(pauses->trace, task->track, task->start_ns), around = row;
	int64_t end_ns = ss_task_end(task);

	for (; row < end && slices->start_ns[row] < end_ns; row++)
		if (is_named(pauses, row) && pauses->names[slices->name[row]] &&
		    (best == SS_NO_ROW || slices->dur_ns[row] > slices->dur_ns[best]))
			best = row;
	if (best != SS_NO_ROW && slices->dur_ns[best] >= task->own_ns / 2)
		return best;
	/* no chore began in it: what was open when it began */
	if (around == track->first_row)
		return SS_NO_ROW;
	for (around--; around != SS_NO_ROW; around = slices->parent[around])
		if (is_named(pauses, around) &&
		    ss_slice_end(slices, around) >= task->start_ns + task->own_ns / 2)
			return around;
	return SS_NO_ROW;
}

static bool starts_kernels(const struct pauses *pauses, uint32_t row)
{
	const struct ss_trace *trace = pauses->trace;
	uint32_t end = ss_row_behind(trace, row);

	return pauses->kernels[end] > pauses->kernels[row];
}

/* The outermost range around that starts no kernel; what any of them does comes back, too. */
static uint32_t whole_of(const struct pauses *pauses, uint32_t row, uint8_t *what)
{
	const struct ss_slices *slices = &pauses->trace->slices;
	uint32_t whole = SS_NO_ROW;

	for (uint32_t tries = 0; row != SS_NO_ROW && tries < AROUND_MAX;
	     row = slices->parent[row], tries++) {
		if (!is_named(pauses, row))
			continue;
		if ((ss_slice_flags(pauses->trace, row) & (SS_NAME_STEP | SS_NAME_STEP_LIKE)) ||
		    starts_kernels(pauses, row))
			break;
		whole = row;
		*what |= pauses->names[slices->name[row]];
	}
	return whole;
}

/* Copies that were started in what goes are part of it. */
static void claim_copies(struct pauses *pauses)
{
	const struct ss_graph *graph = pauses->look->graph;
	const struct ss_slices *slices = &pauses->trace->slices;

	for (uint32_t i = 0; pauses->sites.count && i < graph->task_count; i++) {
		const struct ss_task *task = &graph->tasks[i];

		if (task->kind == SS_TASK_COPY &&
		    slices->link[task->row] < pauses->trace->device_from &&
		    pauses->is_gone[slices->link[task->row]])
			ss_look_claim(pauses->look,
				      (struct ss_claim){ .task = i, .low_ns = task->own_ns });
	}
}

/* All rows of a range. */
static void mark(struct pauses *pauses, uint32_t whole)
{
	const struct ss_trace *trace = pauses->trace;
	uint32_t end = ss_row_behind(trace, whole);

	for (uint32_t row = whole; row < end; row++)
		pauses->is_gone[row] = true;
}

/* All of it goes, with its copies and waits. */
static void claim(struct pauses *pauses, uint32_t whole, uint8_t what)
{
	const struct ss_slices *slices = &pauses->trace->slices;
	struct ss_stretch stretch = { .track = slices->track[whole],
				      .from_ns = slices->start_ns[whole],
				      .to_ns = ss_slice_end(slices, whole),
				      /* half as often, if that is all that can be done */
				      .low_keep_ns = slices->dur_ns[whole] / 2 };
	int64_t gone_ns = ss_look_claim_time(pauses->look, stretch);

	if (!gone_ns)
		return;
	mark(pauses, whole);
	pauses->until_ns = stretch.to_ns;
	*(what & SS_CHORE_SAVES ? &pauses->save_ns : &pauses->log_ns) += gone_ns;
	ss_sites_add(&pauses->sites, slices->name[whole], whole, gone_ns);
}

/*
 * A function that reads a value of the device and then works with it is the reader's matter
 * (sync-stall); one that is called when the value is there is a chore.
 */
static bool is_chore(const struct pauses *pauses, const struct ss_task *task, uint32_t filler,
		     uint8_t what)
{
	return (what & SS_CHORE_SAVES) ||
	       (what && pauses->trace->slices.start_ns[filler] >= task->start_ns);
}

static void find_pauses(struct pauses *pauses)
{
	const struct ss_graph *graph = pauses->look->graph;

	pauses->until_ns = INT64_MIN;
	for (uint32_t i = 0; i < graph->task_count; i++) {
		const struct ss_task *task = &graph->tasks[i];
		uint32_t filler, whole;
		uint8_t what = 0;

		if (task->kind != SS_TASK_WORK || task->track != graph->main ||
		    task->step == SS_NO_STEP || task->own_ns < PAUSE_NS ||
		    task->start_ns < pauses->until_ns)
			continue;
		filler = filler_of(pauses, task);
		whole = filler == SS_NO_ROW ? SS_NO_ROW : whole_of(pauses, filler, &what);
		if (whole != SS_NO_ROW && is_chore(pauses, task, filler, what))
			claim(pauses, whole, what);
	}
}

static enum ss_status find(struct pauses *pauses, struct ss_arena *scratch, struct ss_error *err)
{
	struct ss_look *look = pauses->look;

	SS_TRY(ss_sites_init(&pauses->sites, look, err));
	if (!prepare(pauses, scratch))
		return ss_fail_memory(err, "pauses of the loop");
	find_pauses(pauses);
	claim_copies(pauses);
	if (pauses->sites.failed)
		return ss_fail_memory(err, "pauses of the loop");
	ss_sites_sort(&pauses->sites);
	for (uint32_t i = 0; i < pauses->sites.count && i < 4; i++)
		ss_look_evidence(look, ss_site_fact(&pauses->sites.items[i]),
				 "%s runs {count}x a step and launches nothing for {time}",
				 ss_strings_text(&pauses->trace->names,
						 pauses->sites.items[i].name));
	if (pauses->save_ns > pauses->log_ns)
		ss_look_fix(look, save_fix);
	if (pauses->sites.count)
		ss_look_confidence(look, SS_CONFIDENCE_HIGH,
				   "the function that takes the time is recorded");
	return SS_OK;
}

static enum ss_status look_for_pauses(struct ss_look *look, struct ss_error *err)
{
	struct pauses pauses = { .look = look, .trace = look->trace };
	struct ss_arena scratch;
	enum ss_status status;

	if (!look->steps->count || look->graph->main == SS_NO_ROW)
		return SS_OK;
	ss_arena_init(&scratch, look->memory);
	status = find(&pauses, &scratch, err);
	ss_sites_release(&pauses.sites);
	ss_arena_release(&scratch);
	return status;
}

const struct ss_rule ss_rule_all_idle = {
	.name = "all-idle",
	.title = "The loop stops to save or to log",
	.summary = "Checkpoints, logging and sleeping on the thread that should launch",
	.fix = "if rank == 0 and step % 100 == 0:        # one rank, and rarely\n"
	       "    pool.submit(log, step, values)       # a thread: ThreadPoolExecutor(1)",
	.surer = "with_stack=True names the line, record_function(\"save\") the part of the loop",
	.warn_share = 0.02,
	.silent_share = 0.005,
	.why = "moving it into a thread is a change of a few lines, so 2 % is worth it; below half "
	       "a percent steps differ by more",
	.look = look_for_pauses,
};
