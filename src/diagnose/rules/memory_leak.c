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
 * A device that is full after this many steps is full within a day at a step a second; what
 * needs longer ends most jobs no more.
 */
#define WORRY_STEPS 100000

/* Where the size is not known: a hundredth of what is held, each step (metrics of others 6). */
#define WORRY_SHARE 100

/* A thousand steps until what leaks is as much as the peak: below that nobody notices. */
#define LEAK_SHARE 1000

/* Of the growth so much must be seen to be kept, to be sure: the rest is rounding of blocks. */
#define SURE_SHARE 0.9

static const char untrained[] = "nothing is trained: a cache that grows on purpose looks the same";

struct leaking {
	struct ss_look *look;
	const struct ss_allocs *allocs;
	struct ss_step_memories steps;
	struct ss_leak leaks[LEAKS_MAX];
	uint32_t last[LEAKS_MAX]; /* the item of its last step */
	uint32_t count;
};

/* What a step adds. */
static int64_t rate_of(const struct leaking *leaking, uint32_t number)
{
	const struct ss_leak *leak = &leaking->leaks[number];

	return leak->growth_bytes / leak->rises;
}

/* An amount of each step, for {count}; the unit is left in `unit`. */
static double per_step(const struct ss_look *look, int64_t bytes, const char **unit)
{
	return ss_bytes_scaled(bytes, 10000, unit) * look->steps->count;
}

/* Steps until the device is full; -1: its size is not recorded. */
static double steps_left(const struct leaking *leaking, uint32_t number, int64_t rate_bytes)
{
	const struct ss_pool *pool = &leaking->allocs->pools.items[leaking->leaks[number].pool];
	const struct ss_device *device = ss_pool_device(leaking->look->trace, pool);
	int64_t peak_bytes = leaking->steps.items[leaking->last[number]].peak_bytes;

	if (!device || device->memory_bytes <= 0 || rate_bytes <= 0)
		return -1;
	return peak_bytes < device->memory_bytes
		       ? (double)((device->memory_bytes - peak_bytes) / rate_bytes)
		       : 0;
}

/* Whether a step adds enough to be reported. */
static bool is_noticed(const struct leaking *leaking, uint32_t number)
{
	int64_t rate_bytes = rate_of(leaking, number);
	double left = steps_left(leaking, number, rate_bytes);
	int64_t peak_bytes = leaking->steps.items[leaking->last[number]].peak_bytes;

	return (left >= 0 && left <= WORRY_STEPS) || rate_bytes >= peak_bytes / LEAK_SHARE;
}

/* Without training nothing has to be let go: a cache of what was generated grows on purpose. */
static bool trains(const struct ss_look *look)
{
	return look->digest->phases[SS_PHASE_BACKWARD].calls > 0 ||
	       look->digest->phases[SS_PHASE_OPTIMIZER].calls > 0;
}

static void tell_growth(struct leaking *leaking, uint32_t number)
{
	struct ss_look *look = leaking->look;
	const struct ss_step_memory *last = &leaking->steps.items[leaking->last[number]];
	int64_t rate_bytes = rate_of(leaking, number);
	double left = steps_left(leaking, number, rate_bytes);
	struct ss_fact fact = { .row = SS_NO_ROW };
	const char *unit;

	fact.count = per_step(look, rate_bytes, &unit);
	ss_look_evidence(look, fact, "%s memory grows by {count} %s with every step",
			 last->is_host ? "Host" : "GPU", unit);
	if (left >= 0) {
		fact.count = left * look->steps->count;
		ss_look_evidence(look, fact,
				 "at this rate the GPU is full after {count} step{?|s}");
	}
	if (trains(look) &&
	    (left >= 0 ? left <= WORRY_STEPS : rate_bytes >= last->min_bytes / WORRY_SHARE))
		ss_look_figure(look, 0, 1);
}

/* Its part of what a step adds is its part of the whole growth. */
static void tell_keeper(struct leaking *leaking, uint32_t number)
{
	struct ss_look *look = leaking->look;
	const struct ss_leak *leak = &leaking->leaks[number];
	double share = (double)leak->most_bytes / (double)leak->growth_bytes;
	const struct ss_trace *trace = look->trace;
	const char *unit;
	struct ss_fact fact = { .row = leak->place,
				.count = per_step(look,
						  (int64_t)((share < 1 ? share : 1) *
							    (double)rate_of(leaking, number)),
						  &unit) };

	if (!leak->most_bytes)
		return;
	if (leak->op == SS_NO_ROW)
		ss_look_evidence(look, fact,
				 "most of it is allocated outside of operators: {count} "
				 "%s per step",
				 unit);
	else
		ss_look_evidence(look, fact,
				 "%s allocates most of it, and nothing frees it: {count} "
				 "%s per step",
				 ss_strings_text(&trace->names, trace->slices.name[leak->op]),
				 unit);
}

static void tell_confidence(struct leaking *leaking, const struct ss_leak *leak)
{
	struct ss_look *look = leaking->look;

	if (!trains(look))
		ss_look_confidence(look, SS_CONFIDENCE_MEDIUM, untrained);
	else if ((double)leak->kept_bytes < SURE_SHARE * (double)leak->growth_bytes)
		ss_look_confidence(look, SS_CONFIDENCE_MEDIUM,
				   "the known allocations explain only part of the growth");
	else
		ss_look_confidence(look, SS_CONFIDENCE_HIGH,
				   "every step keeps the same amount, and none of it is freed");
}

static enum ss_status find(struct leaking *leaking, struct ss_error *err)
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
	SS_TRY(ss_facts_places(leaking->look->subject->facts, &places, err));
	SS_TRY(ss_leaks_blame(leaking->allocs, places->line, leaking->leaks, leaking->count, err));
	for (uint32_t i = 0; i < leaking->count; i++) {
		if (!is_noticed(leaking, i))
			continue;
		tell_growth(leaking, i);
		tell_keeper(leaking, i);
		tell_confidence(leaking, &leaking->leaks[i]);
	}
	return SS_OK;
}

static enum ss_status look_for_leaks(struct ss_look *look, struct ss_error *err)
{
	struct leaking leaking = { .look = look };
	enum ss_status status;

	if (!look->trace->allocations.count || !look->steps->count)
		return SS_OK;
	SS_TRY(ss_facts_allocs(look->subject->facts, &leaking.allocs, err));
	SS_TRY(ss_step_memories_init(&leaking.steps, leaking.allocs, err));
	status = find(&leaking, err);
	ss_step_memories_release(&leaking.steps);
	return status;
}

/* --- snapshots ----------------------------------------------------------------------- */

/* Lines that are named. */
#define LEAK_LINES 4

/* What lines that leak keep, and in how many steps in a row. */
static int64_t sum_leaks(const struct ss_retained *kept, uint32_t *steps)
{
	int64_t bytes = 0;

	*steps = 0;
	for (uint32_t i = 0; i < kept->count && kept->lines[i].leak_steps; i++) {
		bytes = ss_bytes_add(bytes, kept->lines[i].bytes);
		if (kept->lines[i].leak_steps > *steps)
			*steps = kept->lines[i].leak_steps;
	}
	return bytes;
}

static enum ss_status look_for_kept(struct ss_memory_look *look, struct ss_error *err)
{
	const struct ss_retained *kept = look->kept;
	const struct ss_strings *texts = &look->subject->spots->texts;
	bool trained = ss_stack_places_has(look->subject->spots, SS_STACK_BACKWARD);
	uint32_t steps;

	(void)err;
	if (!kept->leak_step_bytes ||
	    kept->leak_step_bytes < look->device->peak_active_bytes / LEAK_SHARE)
		return SS_OK;
	ss_memory_find(look, trained ? SS_MEMORY_WARNING : SS_MEMORY_INFO, kept->leak_step_bytes);
	look->finding->weight_bytes = sum_leaks(kept, &steps);
	ss_memory_evidence(look, NULL, "%" PRIu32 " steps in a row kept memory, %s per step", steps,
			   ss_memory_amount(look, kept->leak_step_bytes));
	for (uint32_t i = 0; i < kept->count && kept->lines[i].leak_steps && i < LEAK_LINES; i++) {
		const struct ss_retained_line *line = &kept->lines[i];
		const char *where = line->line ? ss_strings_text(texts, line->line) : NULL;

		ss_memory_evidence(look, where, "%s per step %s and never freed",
				   ss_memory_amount(look, line->leak_step_bytes),
				   where ? "is allocated" : "without a known stack is allocated");
	}
	if (kept->lines[0].line)
		ss_memory_fix(
			look,
			"# allocated at %s,\n"
			"# and still referenced after the step; e.g.\n"
			"losses.append(loss.item())    # or loss.detach()\n"
			"# look for lists, attributes and hooks that keep a tensor of every step",
			ss_strings_text(texts, kept->lines[0].line));
	ss_memory_confidence(look, trained && steps > 2 ? SS_CONFIDENCE_HIGH : SS_CONFIDENCE_MEDIUM,
			     !trained    ? untrained
			     : steps > 2 ? "blocks of step after step are still allocated"
					 : "the recording has only two whole steps");
	return SS_OK;
}

const struct ss_rule ss_rule_memory_leak = {
	.name = "memory-leak",
	.title = "Memory grows with every step",
	.summary = "Tensors of every step are kept until the job runs out of memory",
	.fix = "losses.append(loss.item())   # or loss.detach(), without the graph\n"
	       "# look for lists, attributes and hooks that keep a tensor of every step",
	.surer = "record profile(profile_memory=True, with_stack=True) over five or more steps; "
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
	.look = look_for_leaks,
	.look_memory = look_for_kept,
};
