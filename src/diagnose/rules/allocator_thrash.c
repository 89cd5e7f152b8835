/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocator_thrash.c - rule: steps allocate device memory from the driver and release it again.
 *
 * PyTorch's allocator caches the memory that it got from the driver. Driver allocations after the
 * first step mean that the program empties the cache, that the cache is full, or that no cached
 * block fits. These calls are slow, and freeing waits for the device.
 *
 * A memory snapshot shows segments that every step releases to the device and allocates again. The
 * stack of the event shows who does it: it has torch.cuda.empty_cache() if the program empties the
 * cache. If it does not, and an allocation follows at once, the allocator itself released what it
 * could because the device had no memory left. Without a stack both look the same.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "memory/events/pools.h"
#include "diagnose/evidence/code_places.h"
#include "diagnose/snapshot_findings.h"
#include "memory/holders/out_of_memory.h"

static const char free_fix[] =
	"# remove torch.cuda.empty_cache() from the loop. If memory runs out: a\n"
	"# smaller batch, activation checkpointing, and before Python starts:\n"
	"export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True";

/*
 * With the cache every free comes from emptying it, which frees many blocks in a row. Without it
 * each tensor is freed when it dies, between launches: most frees stand alone. Ten tensors per
 * step are less than the smallest network has.
 */
#define UNCACHED_FREES 10

static const char uncached_fix[] =
	"unset PYTORCH_NO_CUDA_MEMORY_CACHING    # and PYTORCH_NO_HIP_MEMORY_CACHING\n"
	"# the cache is off: the driver allocates and frees each tensor. Without the\n"
	"# variable: a pluggable allocator (torch.cuda.memory.change_current_allocator)";

struct allocator_calls {
	struct ss_rule_context *context;
	struct ss_code_places *sites;
	uint8_t *has_calls; /* per step */
	int64_t calls, allocations, frees;
	int64_t lone_frees; /* between which the thread launches or allocates */
};

static bool thrash_is_call(const struct ss_rule_context *context, uint32_t index)
{
	const struct ss_task *task = &context->graph->tasks[index];

	return task->kind == SS_TASK_ALLOCATOR && task->step != SS_NO_STEP;
}

/* Whether the thread's last call before this one frees memory, too. */
static bool free_follows_free(const struct ss_rule_context *context, uint32_t index)
{
	const struct ss_task *task = &context->graph->tasks[index];

	for (uint32_t i = index; i-- > 0 && context->graph->tasks[i].track == task->track;) {
		const struct ss_task *before = &context->graph->tasks[i];

		if (before->kind == SS_TASK_ALLOCATOR)
			return strstr(ss_strings_text(&context->trace->names,
						      context->trace->slices.name[before->row]),
				      "Free");
		if (before->kind == SS_TASK_LAUNCH)
			return false;
	}
	return false;
}

/* Whether the driver allocates and frees each tensor, because the cache is off. */
static bool thrash_is_uncached(const struct allocator_calls *thrash)
{
	return thrash->frees >= (int64_t)UNCACHED_FREES * thrash->context->steps->count &&
	       2 * thrash->lone_frees >= thrash->frees && 2 * thrash->frees >= thrash->allocations;
}

static void thrash_claim(struct allocator_calls *thrash)
{
	struct ss_rule_context *context = thrash->context;
	const struct ss_graph *graph = context->graph;
	struct ss_task_range calls = graph->of_kind[SS_TASK_ALLOCATOR];

	for (uint32_t i = calls.from; i < calls.to; i++) {
		const struct ss_task *task = &graph->tasks[i];
		const char *name;

		if (!thrash_is_call(context, i) ||
		    !ss_rule_claim(context, (struct ss_claim){ .task = i }))
			continue;
		if (i + 1 < graph->task_count && task[1].kind == SS_TASK_WAIT &&
		    task[1].row == task->row)
			ss_rule_claim(context,
				      (struct ss_claim){ .task = i + 1, .releases = true });
		name = ss_strings_text(&context->trace->names,
				       context->trace->slices.name[task->row]);
		if (!strstr(name, "Free"))
			thrash->allocations++;
		else if (++thrash->frees && !free_follows_free(context, i))
			thrash->lone_frees++;
		thrash->calls++;
		ss_code_places_add(thrash->sites, context->trace->slices.name[task->row], task->row,
				   context->trace->slices.dur_ns[task->row]);
	}
}

/* Whether later steps call the driver, too: the first step fills the cache and always does. */
static bool thrash_goes_on(struct allocator_calls *thrash)
{
	const struct ss_graph *graph = thrash->context->graph;
	struct ss_task_range calls = graph->of_kind[SS_TASK_ALLOCATOR];

	for (uint32_t i = calls.from; i < calls.to; i++)
		if (thrash_is_call(thrash->context, i))
			thrash->has_calls[graph->tasks[i].step] = true;
	for (uint32_t i = 1; i < graph->step_count; i++)
		if (thrash->has_calls[i])
			return true;
	return false;
}

static enum ss_status allocator_thrash_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct allocator_calls thrash = { .context = context };

	if (!SS_ALLOC(context->scratch, thrash.has_calls, (size_t)context->graph->step_count + 1))
		return ss_fail_memory(err, "the allocator's calls");
	if (!thrash_goes_on(&thrash))
		return SS_OK;
	SS_TRY(ss_code_places_make(&thrash.sites, context, err));
	thrash_claim(&thrash);
	if (!thrash.calls)
		return SS_OK;
	ss_code_places_report(thrash.sites, 4,
			      "%s is called {count} times per step and blocks the "
			      "thread for {time}");
	if (thrash_is_uncached(&thrash))
		ss_rule_set_fix(context, uncached_fix);
	else if (thrash.frees)
		ss_rule_set_fix(context, free_fix);
	ss_rule_set_confidence(context, SS_CONFIDENCE_HIGH, "the trace records the driver's calls");
	return SS_OK;
}

/* --- snapshots ----------------------------------------------------------------------- */

/* One release may end a phase of the program; in three steps it is a habit. */
#define THRASH_STEPS 3

enum releaser { BY_PROGRAM, BY_SHORTAGE, BY_UNKNOWN, GIVERS };

struct segment_thrash {
	struct ss_rule_memory_context *context;
	const struct ss_snapshot *snapshot;
	uint8_t *empties; /* per stack: 0 not looked at, 1 it does not empty the cache, 2 it does */
	uint32_t steps;   /* that released segments */
	uint32_t again;   /* of them, those after which segments were allocated */
	uint64_t count;   /* of segments, or pieces of expandable ones */
	int64_t bytes;    /* the same */
	uint64_t by[GIVERS];    /* how many of them */
	uint32_t first[GIVERS]; /* row of the first */
	char times[32];
};

static bool segment_is_released(const struct ss_snapshot *snapshot, uint32_t row)
{
	return ss_history_reserved_change(snapshot, row) < 0;
}

static bool segment_is_allocated(const struct ss_snapshot *snapshot, uint32_t row)
{
	return ss_history_reserved_change(snapshot, row) > 0;
}

/* Whether the program empties the cache: by the Python function, or the C++ function below it. */
static bool stack_empties_cache(const struct ss_snapshot *snapshot, uint32_t stack)
{
	const struct ss_frame_list *list = &snapshot->stacks.items[stack];

	for (uint32_t i = 0; i < list->count; i++) {
		uint32_t frame = snapshot->stacks.frames[list->first + i];
		const char *name = ss_strings_text(&snapshot->texts,
						   ss_snapshot_frame(snapshot, frame)->name);

		if (strcmp(name, "empty_cache") == 0 || strstr(name, "emptyCache"))
			return true;
	}
	return false;
}

/*
 * The first event from this row on that releases nothing; the end of the device's events: none. In
 * a trace each event is a release of its own.
 */
static uint32_t thrash_next_other_event(const struct segment_thrash *thrash, uint32_t row)
{
	uint32_t end = thrash->context->device->first + thrash->context->device->count;

	if (thrash->snapshot->traced)
		return row + 1;
	while (row < end && segment_is_released(thrash->snapshot, row))
		row++;
	return row;
}

/* Who released the segment at `row`; `next` is the first event that releases nothing. */
static enum releaser thrash_releaser(const struct segment_thrash *thrash, uint32_t row,
				     uint32_t next)
{
	const struct ss_snapshot_events *events = &thrash->snapshot->events;
	uint32_t end = thrash->context->device->first + thrash->context->device->count;

	if (!events->stack[row] || thrash->snapshot->traced)
		return BY_UNKNOWN; /* the stack of a trace is that of the tensor */
	if (!thrash->empties[events->stack[row]])
		thrash->empties[events->stack[row]] =
			stack_empties_cache(thrash->snapshot, events->stack[row]) ? 2 : 1;
	if (thrash->empties[events->stack[row]] == 2)
		return BY_PROGRAM;
	return next < end && (segment_is_allocated(thrash->snapshot, next) ||
			      events->action[next] == SS_ACTION_ALLOC ||
			      events->action[next] == SS_ACTION_OOM)
		       ? BY_SHORTAGE
		       : BY_UNKNOWN;
}

/* Consecutive releases have one cause: that of the first. Returns the event after them. */
static uint32_t thrash_count_release(struct segment_thrash *thrash, uint32_t row)
{
	uint32_t next = thrash_next_other_event(thrash, row);
	enum releaser giver = thrash_releaser(thrash, row, next);

	if (!thrash->by[giver])
		thrash->first[giver] = row;
	thrash->by[giver]++;
	for (; row < next; row++) {
		thrash->bytes = ss_amount_subtract(thrash->bytes,
						   ss_history_reserved_change(thrash->snapshot,
									      row));
		thrash->count++;
	}
	return next;
}

/* Counts the steps that release segments, and those after which some are allocated again. */
static void thrash_count_steps(struct segment_thrash *thrash)
{
	const struct ss_device_memory *device = thrash->context->device;
	const struct ss_snapshot_steps *rounds = &thrash->context->retained->rounds;
	uint32_t step = 0, given = UINT32_MAX, made = UINT32_MAX;

	for (uint32_t row = device->first; row < device->first + device->count;) {
		while (step + 1 < rounds->count && rounds->starts[step + 1] <= row)
			step++;
		if (segment_is_released(thrash->snapshot, row)) {
			thrash->steps += given != step;
			given = step;
			row = thrash_count_release(thrash, row);
			continue;
		}
		if (segment_is_allocated(thrash->snapshot, row) && given != made) {
			thrash->again++;
			made = given;
		}
		row++;
	}
}

static const char *thrash_releaser_line(const struct segment_thrash *thrash, enum releaser giver)
{
	return ss_snapshot_places_line(thrash->context->subject->spots,
				       thrash->snapshot->events.stack[thrash->first[giver]]);
}

/* "3 times"; lives until the next call. */
static const char *thrash_format_times(struct segment_thrash *thrash, enum releaser giver)
{
	if (thrash->by[giver] == 1)
		return "once";
	snprintf(thrash->times, sizeof(thrash->times), "%" PRIu64 " times", thrash->by[giver]);
	return thrash->times;
}

static void thrash_report_releasers(struct segment_thrash *thrash)
{
	if (thrash->by[BY_PROGRAM])
		ss_rule_memory_add_evidence(thrash->context,
					    thrash_releaser_line(thrash, BY_PROGRAM),
					    "torch.cuda.empty_cache() does so %s",
					    thrash_format_times(thrash, BY_PROGRAM));
	if (thrash->by[BY_SHORTAGE])
		ss_rule_memory_add_evidence(
			thrash->context, thrash_releaser_line(thrash, BY_SHORTAGE),
			"the GPU had no memory left for an allocation %s: the allocator "
			"released what it could and tried again",
			thrash_format_times(thrash, BY_SHORTAGE));
	if (!thrash->by[BY_PROGRAM] && !thrash->by[BY_SHORTAGE])
		ss_rule_memory_add_evidence(thrash->context, NULL,
					    "the snapshot does not record who released them: "
					    "torch.cuda.empty_cache(), or a lack of memory");
}

static void thrash_choose_fix(const struct segment_thrash *thrash)
{
	struct ss_rule_memory_context *context = thrash->context;
	const char *line = thrash->by[BY_PROGRAM] ? thrash_releaser_line(thrash, BY_PROGRAM) : NULL;
	const char *less = ss_out_of_memory_has_expandable(thrash->snapshot)
				   ? "# use less memory at once: a smaller "
				     "batch, activation checkpointing"
				   : "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n"
				     "# and use less memory at once: a smaller "
				     "batch, activation checkpointing";

	if (thrash->by[BY_PROGRAM] > thrash->by[BY_SHORTAGE])
		ss_rule_memory_set_fix(context,
				       "# remove torch.cuda.empty_cache() from the loop%s%s",
				       line ? ": " : "", line ? line : "");
	else if (thrash->by[BY_SHORTAGE])
		ss_rule_memory_set_fix(context, "%s", less);
	else
		ss_rule_memory_set_fix(
			context,
			"# no torch.cuda.empty_cache() in the loop; if memory is short:\n"
			"%s",
			less);
}

static void thrash_report(struct segment_thrash *thrash)
{
	struct ss_rule_memory_context *context = thrash->context;
	bool is_known = thrash->by[BY_PROGRAM] || thrash->by[BY_SHORTAGE];

	ss_rule_memory_report(context, SS_RULE_MEMORY_WARNING, thrash->bytes);
	ss_rule_memory_add_evidence(context, NULL,
				    "segments were released to the GPU in %" PRIu32 " of %" PRIu32
				    " steps (%" PRIu64
				    ", %s) and allocated again: each time the GPU waits",
				    thrash->steps, context->retained->rounds.count, thrash->count,
				    ss_rule_memory_format_bytes(context, thrash->bytes));
	thrash_report_releasers(thrash);
	thrash_choose_fix(thrash);
	ss_rule_memory_set_confidence(
		context, is_known ? SS_CONFIDENCE_HIGH : SS_CONFIDENCE_MEDIUM,
		is_known ? "the snapshot records the segments and who released them"
			 : "the snapshot records the segments, but not "
			   "who released them");
}

static enum ss_status allocator_thrash_look_memory(struct ss_rule_memory_context *context,
						   struct ss_error *err)
{
	struct segment_thrash thrash = { .context = context,
					 .snapshot = context->subject->snapshot };
	struct ss_memory *memory = context->retained->memory;
	size_t stacks = (size_t)thrash.snapshot->stacks.count + 1;

	if (!context->retained->rounds.has_steps)
		return SS_OK;
	thrash.empties = ss_memory_zeroed(memory, stacks);
	if (!thrash.empties)
		return ss_fail_memory(err, "who gave memory back");
	thrash_count_steps(&thrash);
	ss_memory_free(memory, thrash.empties, stacks);
	/* what the last step released may be allocated again after the recording */
	if (thrash.steps >= THRASH_STEPS && thrash.again + 1 >= thrash.steps)
		thrash_report(&thrash);
	return SS_OK;
}

const struct ss_rule ss_rule_allocator_thrash = {
	.name = "allocator-thrash",
	.title = "Steps allocate GPU memory from the driver",
	.summary = "cudaMalloc and cudaFree in steps that should find their memory in the cache",
	.fix = "# before Python starts; then sizes that change from step to step fit:\n"
	       "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n"
	       "# and run the largest batch first, so that the cache is large enough",
	.to_record = "torch.cuda.memory_stats()['num_alloc_retries'] above 0 means that "
		     "memory runs out",
	.views = "gaps memory",
	.memory_views = "segments holders",
	.warn_share = 0.02,
	.silent_share = 0.005,
	.why = "usually one line or environment variable fixes it, so 2 % is worth it; below 0.5 % "
	       "steps differ by more; in a snapshot three such steps are a warning",
	.bytes_are = "released and allocated again",
	.needs_device = true,
	.look = allocator_thrash_look,
	.look_memory = allocator_thrash_look_memory,
};
