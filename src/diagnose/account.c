/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account.c - measures what the replayed steps spend their time on.
 */
#include "diagnose/account.h"

#include <assert.h>
#include <string.h>

#include "base/sort.h"

/* What a moment of a rank is spent on; of several at once the first counts. */
enum use { USE_COMPUTE, USE_COMMUNICATION, USE_COPIES, USE_PEERS, USE_STAGES, USE_COUNT };

struct piece {
	int64_t start_ns, end_ns;
	enum use use;
};

struct pieces {
	struct ss_memory *memory;
	struct piece *items;
	uint32_t count, capacity;
	bool has_device;
	bool has_calls; /* to a device */
};

static int by_start(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	return x->use < y->use ? -1 : x->use > y->use;
}

static bool add(struct pieces *pieces, int64_t start_ns, int64_t end_ns, enum use use)
{
	if (end_ns <= start_ns)
		return true;
	if (pieces->count == pieces->capacity &&
	    !ss_memory_reserve(pieces->memory, (void **)&pieces->items, &pieces->capacity,
			       (size_t)pieces->count + 1, sizeof(*pieces->items)))
		return false;
	pieces->items[pieces->count++] = (struct piece){ start_ns, end_ns, use };
	return true;
}

/* Whom a rank waits for in a collective: another stage of its pipeline, or ranks as such. */
static enum use use_of_wait(const struct ss_replay *replay, uint32_t rank, uint32_t task,
			    const struct ss_pipelines *pipelines)
{
	const struct ss_replay_transfer *transfer = NULL;
	const struct ss_replay_meeting *meeting;
	const struct ss_replay_member *members;

	if (pipelines->count && pipelines->of[rank] != SS_NO_ROW)
		transfer = ss_replay_transfer_of(replay, rank, task);
	if (!transfer || !transfer->member)
		return USE_PEERS;
	meeting = &replay->meetings[replay->members[transfer->member - 1].meeting];
	members = &replay->members[meeting->first];
	return meeting->count == 2 &&
			       pipelines->of[members[0].rank] == pipelines->of[members[1].rank]
		       ? USE_STAGES
		       : USE_PEERS;
}

static bool collect(struct pieces *pieces, const struct ss_replay *replay, uint32_t rank,
		    const struct ss_pipelines *pipelines)
{
	const struct ss_packed *graph = &replay->ranks[rank];
	uint32_t first = replay->first[rank];
	bool whole = true;

	pieces->count = 0;
	pieces->has_device = pieces->has_calls = false;
	for (uint32_t i = graph->task_count; i-- > 0 && !pieces->has_device;) {
		pieces->has_device = ss_task_on_device(ss_packed_kind(graph, i));
		pieces->has_calls |= ss_packed_kind(graph, i) == SS_TASK_LAUNCH;
	}
	for (uint32_t i = 0; whole && i < graph->task_count; i++) {
		enum ss_task_kind kind = ss_packed_kind(graph, i);
		int64_t start_ns = ss_replay_start(replay, first + i);
		int64_t end_ns = start_ns + ss_replay_own(replay, first + i);

		/* without a device the threads compute */
		if (kind == SS_TASK_KERNEL || (!pieces->has_device && kind < SS_TASK_JOIN))
			whole = add(pieces, start_ns, end_ns, USE_COMPUTE);
		else if (kind == SS_TASK_COPY || kind == SS_TASK_MEMSET)
			whole = add(pieces, start_ns, end_ns, USE_COPIES);
		else if (kind == SS_TASK_TRANSFER)
			whole = add(pieces, start_ns, end_ns, USE_COMMUNICATION);
		/* the transfer is the next task: until it begins the others have not come */
		else if (kind == SS_TASK_ARRIVE && i + 1 < graph->task_count)
			whole = add(pieces, end_ns, ss_replay_start(replay, first + i + 1),
				    use_of_wait(replay, rank, i + 1, pipelines));
	}
	return whole && ss_sort_runs(pieces->items, pieces->count, sizeof(*pieces->items), by_start,
				     pieces->memory);
}

/* The time from `now` to `to` goes to the first use that lasts; the rest is nobody's. */
static void spend(const int64_t *until_ns, int64_t now_ns, int64_t to_ns, int64_t *sums)
{
	while (now_ns < to_ns) {
		int64_t end_ns = to_ns;
		int use = 0;

		while (use < USE_COUNT && until_ns[use] <= now_ns)
			use++;
		if (use < USE_COUNT && until_ns[use] < end_ns)
			end_ns = until_ns[use];
		ss_ns_add(&sums[use], end_ns - now_ns);
		now_ns = end_ns;
	}
}

/* sums[USE_COUNT] is what is left of the span. */
static void sweep(const struct pieces *pieces, struct ss_replay_span span, int64_t *sums)
{
	int64_t until_ns[USE_COUNT], now_ns = span.from_ns;

	for (int i = 0; i < USE_COUNT; i++)
		until_ns[i] = INT64_MIN;
	for (uint32_t i = 0; i < pieces->count; i++) {
		const struct piece *piece = &pieces->items[i];
		int64_t start_ns = piece->start_ns < span.to_ns ? piece->start_ns : span.to_ns;

		if (start_ns > now_ns) {
			spend(until_ns, now_ns, start_ns, sums);
			now_ns = start_ns;
		}
		if (piece->end_ns > until_ns[piece->use])
			until_ns[piece->use] = piece->end_ns;
	}
	spend(until_ns, now_ns, span.to_ns, sums);
}

/*
 * Time of all steps of a rank that no rule claims: idle time of the device, or time of the training
 * thread outside of operators where there is none. With a graph: without what the rule of this rest
 * claims.
 */
static double unexplained_ns(const struct ss_rank_findings *exam, const struct ss_packed *graph)
{
	const struct ss_found_part *part = NULL;
	double sum;

	for (uint32_t i = 0; i < ss_rule_count; i++)
		if (ss_rules[i]->claims_rest)
			part = &exam->parts[i];
	assert(part);
	sum = part->figures[0];
	for (uint32_t i = part->claim_from; graph && i < part->claim_to; i++)
		sum -= (double)(ss_packed_own(graph, exam->claims[i].task) -
				exam->claims[i].own_ns);
	return sum > 0 ? sum : 0;
}

/*
 * Idle time or host time of all steps that no finding explains: what the rule saw, and what rules
 * claimed and gave back.
 */
static double open_ns(const struct ss_rank_findings *exam, const struct ss_packed *graph,
		      bool names_rest)
{
	double sum = unexplained_ns(exam, names_rest ? graph : NULL);

	for (uint32_t i = 0; i < exam->claim_count; i++) {
		const struct ss_claim *claim = &exam->claims[i];

		if (!exam->owner[claim->task] && ss_packed_kind(graph, claim->task) <= SS_TASK_JOIN)
			sum += (double)(ss_packed_own(graph, claim->task) - claim->own_ns);
	}
	return sum;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

static void add_rank(struct ss_account_parts *parts, const struct ss_packed *graph, double open,
		     const struct pieces *pieces, const int64_t *sums)
{
	double compute = (double)sums[USE_COMPUTE], rest = (double)sums[USE_COUNT];
	double steps = graph->step_count;

	if (pieces->has_device) {
		open = least(rest, open);
		parts->host += (rest - open) / steps;
		rest = open;
	} else {
		open = pieces->has_calls ? compute : least(compute, open);
		compute -= open;
		rest += open;
	}
	parts->compute += compute / steps;
	parts->rest += rest / steps;
	parts->communication += (double)sums[USE_COMMUNICATION] / steps;
	parts->copies += (double)sums[USE_COPIES] / steps;
	parts->peers += (double)sums[USE_PEERS] / steps;
	parts->stages += (double)sums[USE_STAGES] / steps;
}

/* --- pipelines --------------------------------------------------------------------------- */

/* What a rank of a pipeline does in all its steps. */
struct stage {
	int64_t span_ns, waits_ns;
};

/*
 * The stages of a pipeline wait as long as the busiest of them works, and until it is full and
 * empty again. What all wait longer than that has another reason.
 */
static double excess_of(const struct ss_pipelines *pipelines, const struct ss_pipeline *pipeline,
			const struct stage *stages)
{
	int64_t busy_ns = 0, least_ns = INT64_MAX;
	double excess;

	for (uint32_t i = 0; i < pipeline->stages; i++) {
		const struct stage *stage = &stages[pipelines->ranks[pipeline->first + i]];

		if (stage->span_ns - stage->waits_ns > busy_ns) {
			busy_ns = stage->span_ns - stage->waits_ns;
			least_ns = stage->waits_ns;
		}
	}
	excess = (double)least_ns - (double)busy_ns * ss_pipeline_bubble(pipeline);
	return busy_ns > 0 && excess > 0 ? excess : 0;
}

/* Gives back what the schedules of pipelines do not explain. */
static void settle_stages(struct ss_account_parts *parts, const struct ss_replay *replay,
			  const struct ss_pipelines *pipelines, const struct stage *stages)
{
	double most = 0;

	for (uint32_t i = 0; i < pipelines->count; i++) {
		const struct ss_pipeline *pipeline = &pipelines->items[i];
		double excess = excess_of(pipelines, pipeline, stages), sum = 0;

		for (uint32_t k = 0; k < pipeline->stages; k++) {
			uint32_t rank = pipelines->ranks[pipeline->first + k];
			double waits = (double)stages[rank].waits_ns;
			double steps = replay->ranks[rank].step_count;
			double back = pipeline->micro >= 1 ? least(waits, excess) : waits;

			if (stages[rank].span_ns <= 0)
				continue;
			parts->stages -= back / steps;
			parts->peers += back / steps;
			sum += (waits - back) / steps;
		}
		if (sum > most) {
			most = sum;
			parts->stage_count = pipeline->stages;
			parts->micro = (uint32_t)(pipeline->micro + 0.5);
		}
	}
	if (parts->stages < 0)
		parts->stages = 0;
}

/* --- whom ranks wait for ------------------------------------------------------------------- */

static int64_t wait_of(const struct ss_replay *replay, const struct ss_replay_member *member)
{
	uint32_t arrive = replay->first[member->rank] + member->task;

	return ss_replay_start(replay, arrive + 1) - ss_replay_start(replay, arrive) -
	       ss_replay_own(replay, arrive);
}

static bool find_late(struct ss_account_late *late, const struct ss_replay *replay,
		      struct ss_memory *memory)
{
	size_t bytes = ((size_t)replay->rank_count + 1) * sizeof(struct ss_account_late);
	struct ss_account_late *ranks = ss_memory_resize(memory, NULL, 0, bytes);

	*late = (struct ss_account_late){ .rank = SS_NO_ROW };
	if (!ranks)
		return false;
	memset(ranks, 0, bytes);
	for (uint32_t i = 0; i < replay->meeting_count; i++) {
		const struct ss_replay_meeting *meeting = &replay->meetings[i];
		const struct ss_replay_member *members = &replay->members[meeting->first];
		uint32_t last = 0;
		int64_t sum_ns = 0;

		for (uint32_t k = 0; k < meeting->count; k++) {
			int64_t wait_ns = wait_of(replay, &members[k]);

			sum_ns = ss_ns_sum(sum_ns, wait_ns > 0 ? wait_ns : 0);
			if (wait_ns < wait_of(replay, &members[last]))
				last = k;
		}
		ranks[members[last].rank].waiting_ns =
			ss_ns_sum(ranks[members[last].rank].waiting_ns, sum_ns);
		ranks[members[last].rank].last++;
	}
	for (uint32_t i = 0; i < replay->rank_count; i++)
		if (ranks[i].waiting_ns > late->waiting_ns && replay->ranks[i].step_count) {
			*late = ranks[i];
			late->rank = i;
		}
	late->meetings = replay->meeting_count;
	if (late->rank != SS_NO_ROW)
		late->waiting_ns /= (int64_t)replay->ranks[late->rank].step_count *
				    (int64_t)replay->rank_count;
	ss_memory_free(memory, ranks, bytes);
	return true;
}

/* --- all ranks -------------------------------------------------------------------------- */

bool ss_account_measure(struct ss_account_parts *parts, const struct ss_replay *replay,
			struct ss_rank_findings *const *exams, bool names_rest,
			const struct ss_pipelines *pipelines, struct ss_memory *memory)
{
	struct pieces pieces = { .memory = memory };
	size_t bytes = ((size_t)replay->rank_count + 1) * sizeof(struct stage);
	struct stage *stages = ss_memory_resize(memory, NULL, 0, bytes);
	bool whole = stages;

	*parts = (struct ss_account_parts){ 0 };
	for (uint32_t i = 0; whole && i < replay->rank_count; i++) {
		struct ss_replay_span span = ss_replay_span(replay, i);
		int64_t sums[USE_COUNT + 1] = { 0 };

		stages[i] = (struct stage){ 0 };
		whole = collect(&pieces, replay, i, pipelines);
		if (!whole || span.to_ns <= span.from_ns)
			continue;
		sweep(&pieces, span, sums);
		stages[i] = (struct stage){ span.to_ns - span.from_ns, sums[USE_STAGES] };
		add_rank(parts, &replay->ranks[i], open_ns(exams[i], &replay->ranks[i], names_rest),
			 &pieces, sums);
	}
	if (whole)
		settle_stages(parts, replay, pipelines, stages);
	ss_memory_free(memory, pieces.items, pieces.capacity * sizeof(*pieces.items));
	if (stages)
		ss_memory_free(memory, stages, bytes);
	return whole && find_late(&parts->late, replay, memory);
}

/* The share of all_ns that `part` has in `sum`, rounded down. */
static int64_t part_of(int64_t all_ns, double part, double sum)
{
	int64_t part_ns = sum > 0 ? (int64_t)((double)all_ns * (part / sum)) : 0;

	return part_ns < 0 ? 0 : part_ns > all_ns ? all_ns : part_ns;
}

/* Takes a part away from what is left, never more than that. */
static int64_t take(int64_t *left_ns, int64_t part_ns)
{
	if (part_ns > *left_ns)
		part_ns = *left_ns;
	*left_ns -= part_ns;
	return part_ns;
}

struct ss_account ss_account_close(int64_t step_ns, int64_t fixed_ns, int64_t least_ns,
				   const struct ss_account_parts *parts)
{
	double sum = parts->compute + parts->communication + parts->copies + parts->stages +
		     parts->peers + parts->host + parts->rest;
	struct ss_account account = { .step_ns = step_ns };
	int64_t left_ns;

	fixed_ns = fixed_ns < 0 ? 0 : fixed_ns > step_ns ? step_ns : fixed_ns;
	least_ns = least_ns < 0 ? 0 : least_ns > fixed_ns ? fixed_ns : least_ns;
	account.warnings_ns = step_ns - fixed_ns;
	account.smaller_ns = fixed_ns - least_ns;
	account.unexplained_ns = part_of(least_ns, parts->peers + parts->rest, sum);
	account.peers_ns = part_of(least_ns, parts->peers, sum);
	if (account.peers_ns > account.unexplained_ns)
		account.peers_ns = account.unexplained_ns;
	left_ns = least_ns - account.unexplained_ns;
	account.stages_ns = take(&left_ns, part_of(least_ns, parts->stages, sum));
	account.communication_ns = account.stages_ns +
				   take(&left_ns, part_of(least_ns, parts->communication, sum));
	account.copies_ns = take(&left_ns, part_of(least_ns, parts->copies, sum));
	account.host_ns = take(&left_ns, part_of(least_ns, parts->host, sum));
	/* what rounding left belongs to the largest part that is needed; nothing ran: to nobody */
	if (parts->compute > 0)
		account.compute_ns = left_ns;
	else if (parts->communication > 0)
		account.communication_ns += left_ns;
	else if (parts->copies > 0)
		account.copies_ns += left_ns;
	else
		account.unexplained_ns += left_ns;
	account.stages = parts->stage_count;
	account.micro = parts->micro;
	return account;
}
