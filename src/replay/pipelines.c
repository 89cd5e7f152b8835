/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipelines.c - finds the stages of pipelines, and measures what they do.
 *
 * The number of micro-batches follows from how often stages change from forward to backward, or
 * from how often the first stage exchanges data with its neighbour.
 */
#include "replay/pipelines.h"

#include "analyze/host/step_phase.h"
#include "base/ns.h"
#include "ranks/join.h"

/*
 * Stages that differ by less compute alike, but for noise. The last of them never waits between
 * two micro-batches: with its work as it is, the replay has the waiting where it will be.
 */
#define ALIKE 1.05

/* Fewer messages per step are no pipeline. */
#define PAIRS_MIN 2

struct pipeline_search {
	struct ss_pipelines *out;
	const struct ss_replay *replay;
	uint32_t *root;     /* per rank: some rank of its pipeline, itself at first */
	uint32_t *pairs;    /* per rank: sends and receives in its steps */
	uint32_t *partners; /* per rank: neighbours, at most 2 are counted */
	uint32_t *partner;  /* per rank: the first of them */
};

static uint32_t pipeline_root(const struct pipeline_search *search, uint32_t rank)
{
	while (search->root[rank] != rank) {
		search->root[rank] = search->root[search->root[rank]];
		rank = search->root[rank];
	}
	return rank;
}

static void connect_stages(struct pipeline_search *search, uint32_t a, uint32_t b)
{
	uint32_t x = pipeline_root(search, a), y = pipeline_root(search, b);

	search->root[x > y ? x : y] = x > y ? y : x;
	search->pairs[a]++;
	if (!search->partners[a]) {
		search->partners[a] = 1;
		search->partner[a] = b;
	} else if (search->partner[a] != b) {
		search->partners[a] = 2;
	}
}

static void find_pipeline_stages(struct pipeline_search *search)
{
	const struct ss_joined *joined = search->replay->joined;

	for (uint32_t i = 0; i < joined->rank_count; i++)
		search->root[i] = i;
	for (uint32_t i = 0; i < joined->collective_count; i++) {
		const struct ss_collective *collective = &joined->collectives[i];
		const struct ss_member *members = &joined->members[collective->first];

		if (collective->kind < SS_COLLECTIVE_SEND_RECV || collective->count != 2 ||
		    collective->step == SS_NO_ROW)
			continue;
		connect_stages(search, members[0].rank, members[1].rank);
		connect_stages(search, members[1].rank, members[0].rank);
	}
}

/* Numbers the pipelines, and lists their ranks together. */
static void group_stages(struct pipeline_search *search)
{
	struct ss_pipelines *out = search->out;
	uint32_t rank_count = search->replay->rank_count, at = 0;

	for (uint32_t r = 0; r < rank_count; r++) {
		uint32_t root = pipeline_root(search, r);

		out->of[r] = SS_NO_ROW;
		if (!search->pairs[r])
			continue;
		/* the root is the lowest of its ranks: it came first */
		if (root == r)
			out->items[out->count++] = (struct ss_pipeline){ 0 };
		out->of[r] = root == r ? out->count - 1 : out->of[root];
		out->items[out->of[r]].stages++;
	}
	for (uint32_t i = 0; i < out->count; i++) {
		out->items[i].first = at;
		at += out->items[i].stages;
		out->items[i].stages = 0;
	}
	for (uint32_t r = 0; r < rank_count; r++)
		if (out->of[r] != SS_NO_ROW) {
			struct ss_pipeline *own = &out->items[out->of[r]];

			out->ranks[own->first + own->stages++] = r;
		}
}

/* --- one pipeline ---------------------------------------------------------------------------- */

bool ss_pipeline_passes(const struct ss_packed *graph, uint32_t task)
{
	return ss_packed_kind(graph, task) == SS_TASK_KERNEL &&
	       graph->kinds[task] >> 4 != SS_PHASE_OPTIMIZER &&
	       ss_packed_run(graph, task)->step != SS_NO_STEP;
}

/* Adds a stage: when its passes begin and end in each step, and how long they compute. */
static void add_pipeline_stage(const struct pipeline_search *search, uint32_t rank,
			       struct ss_pipeline *out, int64_t *from_ns, int64_t *to_ns)
{
	const struct ss_packed *graph = &search->replay->ranks[rank];
	int64_t offset_ns = search->replay->offset_ns[rank], work_ns = 0;
	uint32_t kernels = 0, turns = 0, before = SS_PHASE_OTHER;
	struct ss_packed_starts starts;

	ss_packed_starts_init(&starts, graph);
	for (uint32_t i = 0; i < graph->task_count; i++) {
		struct ss_packed_task task;

		if (!ss_pipeline_passes(graph, i) || ss_packed_run(graph, i)->step >= out->steps)
			continue;
		task = ss_packed_task_from(graph, i, ss_packed_starts_get(&starts, i));
		if (task.start_ns + offset_ns < from_ns[task.step])
			from_ns[task.step] = task.start_ns + offset_ns;
		if (ss_packed_end(&task) + offset_ns > to_ns[task.step])
			to_ns[task.step] = ss_packed_end(&task) + offset_ns;
		work_ns = ss_ns_sum(work_ns, task.own_ns);
		kernels++;
		turns += task.phase == SS_PHASE_BACKWARD && before == SS_PHASE_FORWARD;
		if (task.phase == SS_PHASE_FORWARD || task.phase == SS_PHASE_BACKWARD)
			before = task.phase;
	}
	if (work_ns > out->work_ns)
		out->work_ns = work_ns;
	if ((double)work_ns > (double)out->busy_ns * ALIKE ||
	    ((double)work_ns * ALIKE >= (double)out->busy_ns &&
	     (double)turns / out->steps >= out->turns)) {
		out->busy_ns = work_ns;
		out->busiest = rank;
		out->kernels = kernels;
	}
	if ((double)turns / out->steps > out->turns)
		out->turns = (double)turns / out->steps;
	if (search->partners[rank] == 1 && (double)search->pairs[rank] / out->steps > out->pairs)
		out->pairs = (double)search->pairs[rank] / out->steps;
}

/*
 * In a 1F1B schedule the last stage goes from forward to backward once per micro-batch. If stages
 * go back only once (GPipe), the first one exchanges data with its neighbour once per micro-batch
 * and direction. Without recorded phases, what comes back is assumed to be exchanged for what goes
 * out: p - 1 times more often than there are micro-batches.
 */
static double count_micro_batches(const struct ss_pipeline *own)
{
	double behind = own->stages - 1;

	if (own->turns > 1.5)
		return own->turns;
	return own->turns > 0 ? own->pairs / 2 : own->pairs - behind;
}

/* Fills steps, span, work and micro-batches of a pipeline. False: no memory. */
static bool measure_pipeline(const struct pipeline_search *search, struct ss_pipeline *own)
{
	const uint32_t *ranks = &search->out->ranks[own->first];
	int64_t *from_ns, *to_ns;

	own->steps = UINT32_MAX;
	for (uint32_t i = 0; i < own->stages; i++)
		if (search->replay->ranks[ranks[i]].step_count < own->steps)
			own->steps = search->replay->ranks[ranks[i]].step_count;
	if (!SS_ALLOC(&search->out->arena, from_ns, (size_t)own->steps + 1) ||
	    !SS_ALLOC(&search->out->arena, to_ns, (size_t)own->steps + 1))
		return false;
	for (uint32_t i = 0; i < own->steps; i++) {
		from_ns[i] = INT64_MAX;
		to_ns[i] = INT64_MIN;
	}
	for (uint32_t i = 0; i < own->stages && own->steps; i++)
		add_pipeline_stage(search, ranks[i], own, from_ns, to_ns);
	for (uint32_t i = 0; i < own->steps; i++)
		if (to_ns[i] > from_ns[i])
			own->span_ns = ss_ns_sum(own->span_ns, to_ns[i] - from_ns[i]);
	if (own->pairs >= PAIRS_MIN && own->span_ns > own->work_ns)
		own->micro = count_micro_batches(own);
	return true;
}

double ss_pipeline_bubble(const struct ss_pipeline *pipeline)
{
	return pipeline->micro >= 1 ? (pipeline->stages - 1) / pipeline->micro : 0;
}

bool ss_pipelines_find(struct ss_pipelines *out, const struct ss_replay *replay,
		       struct ss_memory *memory)
{
	struct pipeline_search search = { .out = out, .replay = replay };
	size_t room = (size_t)replay->rank_count + 1;
	bool whole;

	*out = (struct ss_pipelines){ 0 };
	ss_arena_init(&out->arena, memory);
	if (!replay->joined || replay->joined->rank_count != replay->rank_count)
		return true;
	whole = SS_ALLOC(&out->arena, out->of, room) && SS_ALLOC(&out->arena, out->ranks, room) &&
		SS_ALLOC(&out->arena, out->items, room) &&
		SS_ALLOC(&out->arena, search.root, room) &&
		SS_ALLOC(&out->arena, search.pairs, room) &&
		SS_ALLOC(&out->arena, search.partners, room) &&
		SS_ALLOC(&out->arena, search.partner, room);
	if (whole) {
		find_pipeline_stages(&search);
		group_stages(&search);
	}
	for (uint32_t i = 0; whole && i < out->count; i++)
		whole = measure_pipeline(&search, &out->items[i]);
	if (!whole)
		ss_pipelines_release(out);
	return whole;
}

void ss_pipelines_release(struct ss_pipelines *pipelines)
{
	ss_arena_release(&pipelines->arena);
}
