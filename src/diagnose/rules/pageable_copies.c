/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pageable_copies.c - rule: copies between host and device use pageable memory.
 *
 * The device can only read pinned memory. The driver copies everything else through a buffer of
 * its own, at a quarter to a half of the link's rate, and the call returns when that is done.
 * From pinned memory a copy takes its bytes divided by the rate of pinned copies (host_link.h),
 * and neither the call nor the synchronize behind it waits. A copy to the host whose values the
 * host may use at once only becomes faster: the host still waits for it (needed_waits.h).
 */
#include <string.h>

#include "analyze/work/host_link.h"
#include "diagnose/evidence/code_places.h"
#include "diagnose/evidence/needed_waits.h"

/* Up to this size the driver buffers the data and returns ("API synchronization behavior"). */
#define SMALL_BYTES 65536

/* What a call takes that does not wait; a copy takes a little more than a launch. */
#define CALL_NS 10000

/* If no operators are recorded: a synchronize this soon after the copy belongs to it. */
#define BEHIND_NS 50000

/* Nine steps of ten: copies in fewer steps are checkpoints or the like, not the loop. */
#define HABIT 9
#define HABIT_OF 10

/* Pageable copies reach at most this share of the pinned rate: faster ones were pinned. */
#define PAGEABLE_PART 0.5

static const char out_fix[] =
	"buffer = torch.empty(size, dtype=x.dtype, pin_memory=True)   # once\n"
	"buffer.copy_(x, non_blocking=True)\n"
	"done = torch.cuda.Event(); done.record()\n"
	"# done.synchronize() where the values are read, a step later if possible";

/* A DataLoader pins what it gives; without one the program does it itself. */
static const struct ss_rule_fix by_kind[] = {
	{ SS_JOB_UNFED, "x = x.pin_memory()                      # once, not in every step\n"
			"x = x.to(device, non_blocking=True)" },
	{ 0 },
};

/* The copies with one name at one line of the program, and the steps that have them. */
struct copy_habit {
	uint32_t steps, last; /* how many; the last one's number + 1 */
};

struct pageable_copies {
	struct ss_rule_context *context;
	struct ss_records places;  /* name and line */
	struct copy_habit *habits; /* one for each */
	uint32_t habit_capacity;
	uint32_t *habit_of; /* per task: habit + 1 of a copy that counts; 0: none */
	struct ss_code_places *sites;
	const struct ss_ops *ops;
	struct ss_host_link link;
	uint8_t *calls; /* per host row: it issued a copy that is claimed and need not wait */
	const uint8_t *needed; /* per host row: ss_needed_copies_find() */
	int64_t recorded_ns, pinned_ns;
	bool is_guessed; /* that memory was pageable */
};

/* --- claims -------------------------------------------------------------------------- */

/* What the copy would take from pinned memory; -1: the rule does not cover it. */
static int64_t pageable_pinned_ns(const struct pageable_copies *copies, uint32_t row)
{
	const struct ss_trace *trace = copies->context->trace;
	struct ss_copy_kind kind = copies->link.kinds[trace->slices.name[row]];
	int64_t bytes = ss_copy_bytes(trace, row), dur_ns = trace->slices.dur_ns[row];
	double rate = copies->link.rate[kind.way], ns;

	if ((kind.memory != SS_COPY_PAGEABLE && kind.memory != SS_COPY_HOST) ||
	    bytes <= SMALL_BYTES || !ss_copy_blocks_host(trace, row))
		return -1;
	if (rate <= 0) /* then the fix only removes the wait */
		return kind.memory == SS_COPY_PAGEABLE ? dur_ns : -1;
	ns = (double)bytes * 1e9 / rate;
	if (kind.memory == SS_COPY_HOST && ns > PAGEABLE_PART * (double)dur_ns)
		return -1;
	return ns < (double)dur_ns ? (int64_t)ns : dur_ns;
}

/* Counts the steps in which each place of the program copies; false: no memory. */
static bool pageable_find_habits(struct pageable_copies *copies)
{
	const struct ss_graph *graph = copies->context->graph;
	struct ss_task_range tasks = graph->of_kind[SS_TASK_COPY];
	const struct ss_slices *slices = &copies->context->trace->slices;

	for (uint32_t i = tasks.from; i < tasks.to; i++) {
		const struct ss_task *task = &graph->tasks[i];
		uint32_t place[2], known = copies->places.count, id;

		if (task->kind != SS_TASK_COPY || task->step == SS_NO_STEP ||
		    pageable_pinned_ns(copies, task->row) < 0)
			continue;
		place[0] = slices->name[task->row];
		place[1] = copies->sites->places->line[slices->link[task->row]];
		id = ss_records_add(&copies->places, place);
		if (id == SS_NO_ID || !SS_ARENA_GROW(copies->context->scratch, copies->habits,
						     copies->habit_capacity, id))
			return false;
		if (id == known)
			copies->habits[id] = (struct copy_habit){ 0 };
		if (copies->habits[id].last != task->step + 1U) {
			copies->habits[id].last = task->step + 1U;
			copies->habits[id].steps++;
		}
		copies->habit_of[i] = id + 1;
	}
	return true;
}

/* Claims the copies that nearly every step makes, at the rate of pinned memory. */
static void pageable_claim_copies(struct pageable_copies *copies)
{
	const struct ss_graph *graph = copies->context->graph;
	struct ss_task_range tasks = graph->of_kind[SS_TASK_COPY];
	const struct ss_slices *slices = &copies->context->trace->slices;

	for (uint32_t i = tasks.from; i < tasks.to; i++) {
		const struct ss_task *task = &graph->tasks[i];
		uint32_t habit = copies->habit_of[i];
		struct ss_copy_kind kind;
		int64_t own_ns;

		if (!habit || (uint64_t)copies->habits[habit - 1].steps * HABIT_OF <
				      (uint64_t)graph->step_count * HABIT)
			continue;
		own_ns = pageable_pinned_ns(copies, task->row);
		kind = copies->link.kinds[slices->name[task->row]];
		/*
		 * A file without pinned copies does not show how fast they are on this host: 1.06
		 * to 2 times as fast were measured. The waits disappear in any case, and both
		 * directions run at the same time.
		 */
		if (!ss_rule_claim(copies->context,
				   (struct ss_claim){ .task = i,
						      .own_ns = own_ns,
						      .low_ns = copies->link.is_measured[kind.way]
									? own_ns
									: task->own_ns,
						      .high_ns = own_ns }))
			continue;
		copies->calls[slices->link[task->row]] =
			!ss_needed_copies_has(copies->needed, copies->ops, slices->link[task->row]);
		if (kind.memory == SS_COPY_HOST)
			copies->is_guessed = true;
		ss_code_places_add(copies->sites, slices->name[task->row], slices->link[task->row],
				   slices->dur_ns[task->row]);
		copies->recorded_ns = ss_ns_sum(copies->recorded_ns, slices->dur_ns[task->row]);
		copies->pinned_ns = ss_ns_sum(copies->pinned_ns, own_ns);
	}
}

/* Claims a call that no longer waits: its task and its return. */
static void pageable_release_call(struct pageable_copies *copies, uint32_t task)
{
	struct ss_rule_context *context = copies->context;
	const struct ss_task *wait = &context->graph->tasks[task + 1];

	(void)!ss_rule_claim(context, (struct ss_claim){ .task = task,
							 .own_ns = CALL_NS,
							 .low_ns = CALL_NS,
							 .high_ns = CALL_NS });
	if (wait->kind == SS_TASK_WAIT && wait->row == context->graph->tasks[task].row)
		(void)!ss_rule_claim(context,
				     (struct ss_claim){ .task = task + 1, .releases = true });
}

/* Claims the copy calls, and the synchronize that torch puts after each of them. */
static void pageable_claim_calls(struct pageable_copies *copies)
{
	const struct ss_graph *graph = copies->context->graph;
	const struct ss_trace *trace = copies->context->trace;
	uint32_t copy = SS_NO_ROW;

	for (uint32_t i = 0; i + 1 < graph->task_count; i++) {
		const struct ss_task *task = &graph->tasks[i];

		if (task->kind != SS_TASK_CALL && task->kind != SS_TASK_LAUNCH)
			continue;
		if (task->row < trace->device_from && copies->calls[task->row]) {
			pageable_release_call(copies, i);
			copy = task->row;
			continue;
		}
		if (copy != SS_NO_ROW && task->kind == SS_TASK_CALL &&
		    (ss_slice_flags(trace, task->row) & SS_NAME_SYNC_CALL) &&
		    task->track == trace->slices.track[copy] &&
		    (copies->ops->owner[copy] == SS_NO_ROW
			     ? task->start_ns - ss_slice_end(&trace->slices, copy) < BEHIND_NS
			     : copies->ops->owner[task->row] == copies->ops->owner[copy]))
			pageable_release_call(copies, i);
		copy = SS_NO_ROW;
	}
}

/* --- sentences ----------------------------------------------------------------------- */

static void pageable_report(struct pageable_copies *copies)
{
	struct ss_rule_context *context = copies->context;
	const struct ss_trace *trace = context->trace;
	enum ss_copy_way way = copies->link.kinds[copies->sites->items[0].name].way;

	for (uint32_t i = 0; i < copies->sites->count; i++) {
		const struct ss_code_place *site = &copies->sites->items[i];

		ss_rule_add_evidence(context, ss_code_place_fact(site),
				     "%s: {count} times per step, {time}%s",
				     ss_strings_text(&trace->names, site->name),
				     copies->link.is_measured[way] &&
						     copies->recorded_ns / 2 > copies->pinned_ns
					     ? ", more than twice what pinned memory needs"
					     : "");
	}
	if (way == SS_COPY_OUT)
		ss_rule_set_fix(context, out_fix);
	if (copies->is_guessed || copies->link.rate[way] <= 0)
		ss_rule_set_confidence(
			context, SS_CONFIDENCE_LOW,
			copies->is_guessed
				? "slow copies that the host waits for; the rest is a guess"
				: "the GPU is unknown: only the waiting is counted");
	else if (copies->link.is_measured[way])
		ss_rule_set_confidence(context, SS_CONFIDENCE_HIGH,
				       "the trace has copies from pinned memory to compare with");
	else
		ss_rule_set_confidence(
			context, SS_CONFIDENCE_MEDIUM,
			"no pinned copy to compare with: it may be as slow as now, or "
			"as fast as the link");
}

static enum ss_status pageable_find(struct pageable_copies *copies, struct ss_error *err)
{
	const struct ss_trace *trace = copies->context->trace;

	SS_TRY(ss_facts_ops(copies->context->subject->facts, &copies->ops, err));
	copies->calls = SS_ARENA_NEW(copies->context->scratch, uint8_t,
				     (size_t)trace->device_from + 1);
	copies->habit_of = SS_ARENA_NEW(copies->context->scratch, uint32_t,
					(size_t)copies->context->graph->task_count + 1);
	copies->needed = ss_needed_copies_find(copies->context, copies->ops);
	if (!copies->calls || !copies->habit_of || !copies->needed ||
	    !ss_records_init(&copies->places, copies->context->memory, 2 * sizeof(uint32_t)) ||
	    !ss_host_link_init(&copies->link, trace, copies->context->digest->device,
			       copies->context->scratch))
		return ss_fail_memory(err, "the copies");
	if (!pageable_find_habits(copies))
		return ss_fail_memory(err, "the copies");
	pageable_claim_copies(copies);
	if (!copies->sites->count)
		return SS_OK;
	pageable_claim_calls(copies);
	ss_code_places_sort(copies->sites);
	pageable_report(copies);
	return SS_OK;
}

static enum ss_status pageable_copies_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct pageable_copies copies = { .context = context };
	enum ss_status status;

	if (!context->trace->device_kind_count[SS_KIND_MEMCPY])
		return SS_OK;
	SS_TRY(ss_code_places_make(&copies.sites, context, err));
	status = pageable_find(&copies, err);
	ss_records_release(&copies.places);
	return status;
}

const struct ss_rule ss_rule_pageable_copies = {
	.name = "pageable-copies",
	.title = "Copies between host and GPU use pageable memory",
	.summary = "Large copies from or to pageable memory, which are slow and block the host",
	.fix = "DataLoader(..., pin_memory=True)\n"
	       "batch = batch.to(device, non_blocking=True)\n"
	       "# tensors that you create yourself: x = x.pin_memory() before .to()",
	.fixes = by_kind,
	.to_record = "ProfilerActivity.CUDA records copies with their sizes; with_stack=True "
		     "names the line",
	.views = "copies syncs",
	.warn_share = 0.05,
	.silent_share = 0.01,
	.why = "other tools call copies of 5 % of the step too many; below 1 % the change "
	       "cannot be measured",
	.facts = SS_FACT_OPS,
	.look = pageable_copies_look,
};
