/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocator_thrash.c - rule: steps allocate device memory from the driver and release it again.
 *
 * PyTorch's allocator caches the memory that it got from the driver. Driver allocations after the
 * first step mean that the program empties the cache, that the cache is full, or that no cached
 * block fits. These calls are slow, and freeing waits for the device.
 */
#include <string.h>

#include "diagnose/evidence/code_places.h"
#include "diagnose/rules/allocator_thrash.h"

static const char free_fix[] =
	"# remove torch.cuda.empty_cache() from the loop. If memory runs out: a\n"
	"# smaller batch, activation checkpointing, and before Python starts:\n"
	"export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True";

struct allocator_calls {
	struct ss_look *context;
	struct ss_code_places sites;
	uint8_t *has_calls; /* per step */
	int64_t calls;
	bool frees;
};

static bool thrash_is_call(const struct ss_look *context, uint32_t index)
{
	const struct ss_task *task = &context->graph->tasks[index];

	return task->kind == SS_TASK_ALLOCATOR && task->step != SS_NO_STEP;
}

static void thrash_claim(struct allocator_calls *thrash)
{
	struct ss_look *context = thrash->context;
	const struct ss_graph *graph = context->graph;

	for (uint32_t i = 0; i < graph->task_count; i++) {
		const struct ss_task *task = &graph->tasks[i];
		const char *name;

		if (!thrash_is_call(context, i) ||
		    !ss_look_claim(context, (struct ss_claim){ .task = i }))
			continue;
		if (i + 1 < graph->task_count && task[1].kind == SS_TASK_WAIT &&
		    task[1].row == task->row)
			ss_look_claim(context,
				      (struct ss_claim){ .task = i + 1, .releases = true });
		name = ss_strings_text(&context->trace->names,
				       context->trace->slices.name[task->row]);
		thrash->frees |= strstr(name, "Free") != NULL;
		thrash->calls++;
		ss_code_places_add(&thrash->sites, context->trace->slices.name[task->row],
				   task->row, context->trace->slices.dur_ns[task->row]);
	}
}

/* Whether later steps call the driver, too: the first step fills the cache and always does. */
static bool thrash_goes_on(struct allocator_calls *thrash)
{
	const struct ss_graph *graph = thrash->context->graph;

	for (uint32_t i = 0; i < graph->task_count; i++)
		if (thrash_is_call(thrash->context, i))
			thrash->has_calls[graph->tasks[i].step] = true;
	for (uint32_t i = 1; i < graph->step_count; i++)
		if (thrash->has_calls[i])
			return true;
	return false;
}

static enum ss_status thrash_find(struct allocator_calls *thrash, struct ss_arena *scratch,
				  struct ss_error *err)
{
	struct ss_look *context = thrash->context;

	thrash->has_calls = SS_ARENA_NEW(scratch, uint8_t, (size_t)context->graph->step_count + 1);
	if (!thrash->has_calls)
		return ss_fail_memory(err, "the allocator's calls");
	if (!thrash_goes_on(thrash))
		return SS_OK;
	SS_TRY(ss_code_places_init(&thrash->sites, context, err));
	thrash_claim(thrash);
	if (thrash->sites.failed)
		return ss_fail_memory(err, "the allocator's calls");
	if (!thrash->calls)
		return SS_OK;
	ss_code_places_sort(&thrash->sites);
	for (uint32_t i = 0; i < thrash->sites.count && i < 4; i++)
		ss_look_evidence(context, ss_code_place_fact(&thrash->sites.items[i]),
				 "%s is called {count} times per step and blocks the "
				 "thread for {time}",
				 ss_strings_text(&context->trace->names,
						 thrash->sites.items[i].name));
	if (thrash->frees)
		ss_look_fix(context, free_fix);
	ss_look_confidence(context, SS_CONFIDENCE_HIGH, "the trace records the driver's calls");
	return SS_OK;
}

static enum ss_status allocator_thrash_look(struct ss_look *context, struct ss_error *err)
{
	struct allocator_calls thrash = { .context = context };
	struct ss_arena scratch;
	enum ss_status status;

	if (!context->steps->count || context->digest->device < 0)
		return SS_OK;
	ss_arena_init(&scratch, context->memory);
	status = thrash_find(&thrash, &scratch, err);
	ss_code_places_release(&thrash.sites);
	ss_arena_release(&scratch);
	return status;
}

const struct ss_rule ss_rule_allocator_thrash = {
	.name = "allocator-thrash",
	.title = "Every step allocates GPU memory from the driver",
	.summary = "cudaMalloc and cudaFree in steps that should find their memory in the cache",
	.fix = "# before Python starts; then sizes that change from step to step fit:\n"
	       "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n"
	       "# and run the largest batch first, so that the cache is large enough",
	.surer = "torch.cuda.memory_stats()['num_alloc_retries'] above 0 means that "
		 "memory runs out",
	.views = "gaps memory",
	.memory_views = "segments holders",
	.warn_share = 0.02,
	.silent_share = 0.005,
	.why = "usually one line or environment variable fixes it, so 2 % is worth it; below 0.5 % "
	       "steps differ by more; in a snapshot three such steps are a warning",
	.bytes_are = "released and allocated again",
	.look = allocator_thrash_look,
	.look_memory = ss_rule_thrash_look_memory,
};
