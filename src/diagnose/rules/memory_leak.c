/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_leak.c - rule: every step keeps memory.
 *
 * The minimum that is allocated within a step is what outlives steps. If it rises evenly from
 * step to step, and the file does not show that these allocations are freed, the job will run out
 * of memory, whatever its steps take (memory/events/growth.h has the conditions). A memory
 * snapshot shows the blocks that outlive their steps and who allocated them
 * (memory/holders/retained.h has the conditions).
 */
#include <inttypes.h>

#include "diagnose/snapshot_findings.h"
#include "memory/events/growth.h"

/* Devices that are reported; a process rarely has more than one. */
#define LEAKS_MAX 16

/*
 * At one step per second the device is full within a day; most jobs end before a slower leak
 * matters.
 */
#define WORRY_STEPS 100000

/* If the device's size is unknown: a step adds a hundredth of what is allocated. */
#define WORRY_SHARE 100

/* After a thousand steps the leak is as large as the peak; nobody notices a smaller one. */
#define LEAK_SHARE 1000

/* High confidence needs known allocations for this share of the growth; the rest is rounding. */
#define SURE_SHARE 0.9

static const char untrained[] = "nothing is trained: a cache that grows on purpose looks the same";

struct memory_leaks {
	struct ss_rule_context *context;
	const struct ss_allocs *allocs;
	struct ss_growth steps;
	struct ss_leak leaks[LEAKS_MAX];
	uint32_t last[LEAKS_MAX]; /* the item of its last step */
	uint32_t count;
};

/* What a step adds. */
static int64_t leak_bytes_per_step(const struct memory_leaks *leaking, uint32_t number)
{
	const struct ss_leak *leak = &leaking->leaks[number];

	return leak->growth_bytes / leak->rises;
}

/* {count} is per step: the value that shows `bytes`, and its unit. */
static double leak_count_per_step(const struct ss_rule_context *context, int64_t bytes,
				  const char **unit)
{
	return ss_amount_scale(bytes, 10000, unit) * context->steps->count;
}

/* Steps until the device is full; -1: its size is unknown. */
static double leak_steps_left(const struct memory_leaks *leaking, uint32_t number,
			      int64_t rate_bytes)
{
	const struct ss_pool *pool = &leaking->allocs->pools.items[leaking->leaks[number].pool];
	const struct ss_device *device = ss_pool_device(leaking->context->trace, pool);
	int64_t peak_bytes = leaking->steps.items[leaking->last[number]].peak_bytes;

	if (!device || device->memory_bytes <= 0 || rate_bytes <= 0)
		return -1;
	return peak_bytes < device->memory_bytes
		       ? (double)((device->memory_bytes - peak_bytes) / rate_bytes)
		       : 0;
}

/* Whether a step adds enough to be reported. */
static bool leak_is_noticed(const struct memory_leaks *leaking, uint32_t number)
{
	int64_t rate_bytes = leak_bytes_per_step(leaking, number);
	double left = leak_steps_left(leaking, number, rate_bytes);
	int64_t peak_bytes = leaking->steps.items[leaking->last[number]].peak_bytes;

	return (left >= 0 && left <= WORRY_STEPS) || rate_bytes >= peak_bytes / LEAK_SHARE;
}

/* Without training memory may grow on purpose: a cache of what was generated. */
static bool leak_job_trains(const struct ss_rule_context *context)
{
	return context->digest->phases[SS_PHASE_BACKWARD].calls > 0 ||
	       context->digest->phases[SS_PHASE_OPTIMIZER].calls > 0;
}

static void leak_report_growth(struct memory_leaks *leaking, uint32_t number)
{
	struct ss_rule_context *context = leaking->context;
	const struct ss_growth_step *last = &leaking->steps.items[leaking->last[number]];
	int64_t rate_bytes = leak_bytes_per_step(leaking, number);
	double left = leak_steps_left(leaking, number, rate_bytes);
	struct ss_fact fact = { .row = SS_NO_ROW };
	const char *unit;

	fact.count = leak_count_per_step(context, rate_bytes, &unit);
	ss_rule_add_evidence(context, fact, "%s memory grows by {count} %s with every step",
			     last->is_host ? "Host" : "GPU", unit);
	if (left >= 0) {
		fact.count = left * context->steps->count;
		ss_rule_add_evidence(context, fact,
				     "at this rate the GPU is full after {count} step{?|s}");
	}
	if (leak_job_trains(context) &&
	    (left >= 0 ? left <= WORRY_STEPS : rate_bytes >= last->min_bytes / WORRY_SHARE))
		ss_rule_add_figure(context, 0, 1);
}

/* Names who allocates most of what each step keeps, with its share of the growth. */
static void leak_report_holder(struct memory_leaks *leaking, uint32_t number)
{
	struct ss_rule_context *context = leaking->context;
	const struct ss_leak *leak = &leaking->leaks[number];
	double share = (double)leak->most_bytes / (double)leak->growth_bytes;
	const struct ss_trace *trace = context->trace;
	const char *unit;
	struct ss_fact fact = { .row = leak->place,
				.count = leak_count_per_step(
					context,
					(int64_t)((share < 1 ? share : 1) *
						  (double)leak_bytes_per_step(leaking, number)),
					&unit) };

	if (!leak->most_bytes)
		return;
	if (leak->op == SS_NO_ROW)
		ss_rule_add_evidence(context, fact,
				     "most of it is allocated outside of operators: {count} "
				     "%s per step",
				     unit);
	else
		ss_rule_add_evidence(context, fact,
				     "%s allocates most of it, and nothing frees it: {count} "
				     "%s per step",
				     ss_strings_text(&trace->names, trace->slices.name[leak->op]),
				     unit);
}

static void leak_report_confidence(struct memory_leaks *leaking, const struct ss_leak *leak)
{
	struct ss_rule_context *context = leaking->context;

	if (!leak_job_trains(context))
		ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM, untrained);
	else if ((double)leak->kept_bytes < SURE_SHARE * (double)leak->growth_bytes)
		ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM,
				       "the known allocations explain only part of the growth");
	else
		ss_rule_set_confidence(context, SS_CONFIDENCE_HIGH,
				       "every step keeps the same amount, and none of it is freed");
}

/* Finds leaks, who allocates what they keep, and reports those that matter. */
static enum ss_status leak_find(struct memory_leaks *leaking, struct ss_error *err)
{
	const struct ss_places *places;
	uint32_t next;

	for (uint32_t from = 0; from < leaking->steps.count && leaking->count < LEAKS_MAX;
	     from = next) {
		leaking->last[leaking->count] = 0;
		if (!ss_leak_find(&leaking->steps, from, &next, &leaking->leaks[leaking->count]))
			continue;
		leaking->last[leaking->count++] = next - 1;
	}
	if (!leaking->count)
		return SS_OK;
	SS_TRY(ss_facts_places(leaking->context->subject->facts, &places, err));
	SS_TRY(ss_leaks_blame(leaking->allocs, places->line, leaking->leaks, leaking->count, err));
	for (uint32_t i = 0; i < leaking->count; i++) {
		if (!leak_is_noticed(leaking, i))
			continue;
		leak_report_growth(leaking, i);
		leak_report_holder(leaking, i);
		leak_report_confidence(leaking, &leaking->leaks[i]);
	}
	return SS_OK;
}

static enum ss_status memory_leak_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct memory_leaks leaking = { .context = context };
	enum ss_status status;

	if (!context->trace->allocations.count)
		return SS_OK;
	SS_TRY(ss_allocs_of_facts(context->subject->facts, &leaking.allocs, err));
	SS_TRY(ss_growth_init(&leaking.steps, leaking.allocs, err));
	status = leak_find(&leaking, err);
	ss_growth_release(&leaking.steps);
	return status;
}

/* --- snapshots ----------------------------------------------------------------------- */

/* Lines that are named. */
#define LEAK_LINES 4

/* What leaking lines keep in total, and for how many steps in a row. */
static int64_t leak_sum_lines(const struct ss_retained *retained, uint32_t *steps)
{
	int64_t bytes = 0;

	*steps = 0;
	for (uint32_t i = 0; i < retained->count && retained->lines[i].leak_steps; i++) {
		bytes = ss_amount_add(bytes, retained->lines[i].bytes);
		if (retained->lines[i].leak_steps > *steps)
			*steps = retained->lines[i].leak_steps;
	}
	return bytes;
}

/* Reports blocks that outlive their steps, and the lines that allocate them. */
static enum ss_status memory_leak_look_memory(struct ss_rule_memory_context *context,
					      struct ss_error *err)
{
	const struct ss_retained *retained = context->retained;
	const struct ss_strings *texts = &context->subject->spots->texts;
	bool trained = ss_snapshot_places_has(context->subject->spots, SS_STACK_BACKWARD);
	uint32_t steps;

	(void)err;
	if (!retained->leak_step_bytes ||
	    retained->leak_step_bytes < context->device->peak_active_bytes / LEAK_SHARE)
		return SS_OK;
	ss_rule_memory_report(context, trained ? SS_RULE_MEMORY_WARNING : SS_RULE_MEMORY_INFO,
			      retained->leak_step_bytes);
	context->finding->weight_bytes = leak_sum_lines(retained, &steps);
	ss_rule_memory_add_evidence(context, NULL,
				    "%" PRIu32 " steps in a row kept memory, %s per step", steps,
				    ss_rule_memory_format_bytes(context,
								retained->leak_step_bytes));
	for (uint32_t i = 0; i < retained->count && retained->lines[i].leak_steps && i < LEAK_LINES;
	     i++) {
		const struct ss_retained_line *line = &retained->lines[i];
		const char *where = line->line ? ss_strings_text(texts, line->line) : NULL;

		ss_rule_memory_add_evidence(context, where, "%s per step %s and never freed",
					    ss_rule_memory_format_bytes(context,
									line->leak_step_bytes),
					    where ? "is allocated"
						  : "without a known stack is allocated");
	}
	if (retained->lines[0].line)
		ss_rule_memory_set_fix(
			context,
			"# allocated at %s,\n"
			"# and still referenced after the step; e.g.\n"
			"losses.append(loss.detach())    # .item() waits for the GPU\n"
			"# look for lists, attributes and hooks that keep a tensor of every step",
			ss_strings_text(texts, retained->lines[0].line));
	ss_rule_memory_set_confidence(context,
				      trained && steps > 2 ? SS_CONFIDENCE_HIGH
							   : SS_CONFIDENCE_MEDIUM,
				      !trained    ? untrained
				      : steps > 2 ? "blocks of step after step are still allocated"
						  : "the recording has only two whole steps");
	return SS_OK;
}

const struct ss_rule ss_rule_memory_leak = {
	.name = "memory-leak",
	.title = "Memory grows with every step",
	.summary = "Tensors of every step are kept until the job runs out of memory",
	.fix = "losses.append(loss.detach())   # without the graph; .item() waits\n"
	       "# look for lists, attributes and hooks that keep a tensor of every step",
	.to_record = "with_stack=True names the line; record five or more steps; "
		     "torch.cuda.memory._record_memory_history() shows who holds the memory",
	.views = "memory-steps memory-ops",
	.memory_views = "leaks holders",
	.why = "no time is claimed; a warning where the GPU is full within 100,000 steps, or, if "
	       "its size is not recorded, where a step adds 1 % of what is held; in a snapshot "
	       "where steps in a row keep 0.1 % of the peak each; information where nothing is "
	       "trained; silent where a step adds less than 0.1 % of the peak",
	.is_timeless = true,
	.bytes_are = "kept by each step",
	.facts = SS_FACT_ALLOCS,
	.look = memory_leak_look,
	.look_memory = memory_leak_look_memory,
};
