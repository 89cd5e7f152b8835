/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account.c - measures what the replayed steps spend their time on.
 */
#include "diagnose/account.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "diagnose/diagnose.h"

/* What a rank spends a moment on; if several apply, the first counts. */
enum account_use { USE_COMPUTE, USE_COMMUNICATION, USE_COPIES, USE_PEERS, USE_STAGES, USE_COUNT };

struct account_piece {
	int64_t start_ns, end_ns;
	enum account_use use;
};

struct account_pieces {
	struct ss_memory *memory;
	struct account_piece *items;
	uint32_t count, capacity;
	bool has_device;
};

SS_COMPARATOR(piece_compare_start, struct account_piece,
	      SS_ASCENDING(start_ns) SS_ASCENDING(end_ns) SS_ASCENDING(use))

static bool account_add_piece(struct account_pieces *pieces, int64_t start_ns, int64_t end_ns,
			      enum account_use use)
{
	if (end_ns <= start_ns)
		return true;
	if (pieces->count == pieces->capacity &&
	    !SS_GROW(pieces->memory, pieces->items, pieces->capacity, pieces->count))
		return false;
	pieces->items[pieces->count++] = (struct account_piece){ start_ns, end_ns, use };
	return true;
}

/* Whom a rank waits for in a collective: another stage of its pipeline, or other ranks. */
static enum account_use account_use_of_wait(const struct ss_replay *replay, uint32_t rank,
					    uint32_t task, const struct ss_pipelines *pipelines)
{
	const struct ss_replay_transfer *transfer = NULL;
	const struct ss_replay_collective *collective;
	const struct ss_replay_member *members;

	if (pipelines->count && pipelines->of[rank] != SS_NO_ROW)
		transfer = ss_replay_transfer_of(replay, rank, task);
	if (!transfer || !transfer->member)
		return USE_PEERS;
	collective = &replay->collectives[replay->members[transfer->member - 1].collective];
	members = &replay->members[collective->first];
	return collective->count == 2 &&
			       pipelines->of[members[0].rank] == pipelines->of[members[1].rank]
		       ? USE_STAGES
		       : USE_PEERS;
}

/* Collects what the rank spends time on in the last run, sorted by start; false: no memory. */
static bool account_collect_pieces(struct account_pieces *pieces, const struct ss_replay *replay,
				   uint32_t rank, const struct ss_pipelines *pipelines)
{
	const struct ss_packed *graph = &replay->ranks[rank];
	uint32_t first = replay->first[rank];
	bool whole = true;

	pieces->count = 0;
	pieces->has_device = false;
	for (uint32_t i = graph->task_count; i-- > 0 && !pieces->has_device;)
		pieces->has_device = ss_task_on_device(ss_packed_kind(graph, i));
	for (uint32_t i = 0; whole && i < graph->task_count; i++) {
		enum ss_task_kind kind = ss_packed_kind(graph, i);
		int64_t start_ns = ss_replay_start(replay, first + i);
		int64_t end_ns = start_ns + ss_replay_own(replay, first + i);

		/* without a device the threads compute */
		if (kind == SS_TASK_KERNEL || (!pieces->has_device && kind < SS_TASK_JOIN))
			whole = account_add_piece(pieces, start_ns, end_ns, USE_COMPUTE);
		else if (kind == SS_TASK_COPY || kind == SS_TASK_MEMSET)
			whole = account_add_piece(pieces, start_ns, end_ns, USE_COPIES);
		else if (kind == SS_TASK_TRANSFER)
			whole = account_add_piece(pieces, start_ns, end_ns, USE_COMMUNICATION);
		/* the transfer is the next task: until it begins, the rank waits for others */
		else if (kind == SS_TASK_ARRIVE && i + 1 < graph->task_count)
			whole = account_add_piece(pieces, end_ns,
						  ss_replay_start(replay, first + i + 1),
						  account_use_of_wait(replay, rank, i + 1,
								      pipelines));
	}
	return whole && ss_sort_runs(pieces->items, pieces->count, sizeof(*pieces->items),
				     piece_compare_start, pieces->memory);
}

/* Assigns the time from `now` to `to` to the first use that lasts, or else to sums[USE_COUNT]. */
static void account_spend_time(const int64_t *until_ns, int64_t now_ns, int64_t to_ns,
			       int64_t *sums)
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

/* Sums what the span is spent on; sums[USE_COUNT] is the rest. */
static void account_sweep_pieces(const struct account_pieces *pieces, struct ss_replay_span span,
				 int64_t *sums)
{
	int64_t until_ns[USE_COUNT], now_ns = span.from_ns;

	for (int i = 0; i < USE_COUNT; i++)
		until_ns[i] = INT64_MIN;
	for (uint32_t i = 0; i < pieces->count; i++) {
		const struct account_piece *piece = &pieces->items[i];
		int64_t start_ns = piece->start_ns < span.to_ns ? piece->start_ns : span.to_ns;

		if (start_ns > now_ns) {
			account_spend_time(until_ns, now_ns, start_ns, sums);
			now_ns = start_ns;
		}
		if (piece->end_ns > until_ns[piece->use])
			until_ns[piece->use] = piece->end_ns;
	}
	account_spend_time(until_ns, now_ns, span.to_ns, sums);
}

/*
 * Time of all steps of a rank that no rule claims: idle time of the device or, without a device,
 * time of the training thread outside of operators. With a graph: minus what unexplained-time
 * itself claims.
 */
static double account_unexplained_ns(const struct ss_rank_findings *findings,
				     const struct ss_packed *graph)
{
	const struct ss_found_figure *figure;
	const struct ss_found_part *part;
	uint32_t rule = 0;
	double sum;

	while (rule < ss_rule_count && !ss_rules[rule]->claims_rest)
		rule++;
	assert(rule < ss_rule_count);
	part = &findings->parts[rule];
	figure = ss_rank_findings_figure(findings, rule, 0);
	sum = figure ? figure->value : 0;
	for (uint32_t i = part->claim_from; graph && i < part->claim_to; i++)
		sum -= (double)(ss_packed_own(graph, findings->claims[i].task) -
				findings->claims[i].own_ns);
	return sum > 0 ? sum : 0;
}

/*
 * Idle time or host time of all steps that no finding explains: what unexplained-time saw, and what
 * rules claimed and released again.
 */
static double account_open_ns(const struct ss_rank_findings *findings,
			      const struct ss_packed *graph, bool names_rest)
{
	double sum = account_unexplained_ns(findings, names_rest ? graph : NULL);

	for (uint32_t i = 0; i < findings->claim_count; i++) {
		const struct ss_claim *claim = &findings->claims[i];

		if (!findings->owner[claim->task] &&
		    ss_packed_kind(graph, claim->task) <= SS_TASK_JOIN)
			sum += (double)(ss_packed_own(graph, claim->task) - claim->own_ns);
	}
	return sum;
}

static double smaller_of(double a, double b)
{
	return a < b ? a : b;
}

/* Adds the sums of a rank, per step; splits the rest into host work and unexplained time. */
static void account_add_rank(struct ss_account_parts *parts, const struct ss_packed *graph,
			     double open, const struct account_pieces *pieces, const int64_t *sums)
{
	double compute = (double)sums[USE_COMPUTE], rest = (double)sums[USE_COUNT];
	double steps = graph->step_count;

	if (pieces->has_device) {
		open = smaller_of(rest, open);
		parts->host += (rest - open) / steps;
		rest = open;
	} else {
		open = smaller_of(compute, open);
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

/* The steps of a rank in a pipeline. */
struct account_stage {
	int64_t span_ns, waits_ns;
};

/*
 * The stages of a pipeline wait for the busiest of them, and while the pipeline fills and drains.
 * Longer waits of all stages have another cause: returns how much longer.
 */
static double pipeline_excess_wait(const struct ss_pipelines *pipelines,
				   const struct ss_pipeline *pipeline,
				   const struct account_stage *stages)
{
	int64_t busy_ns = 0, least_ns = INT64_MAX;
	double excess;

	for (uint32_t i = 0; i < pipeline->stages; i++) {
		const struct account_stage *stage = &stages[pipelines->ranks[pipeline->first + i]];

		if (stage->span_ns - stage->waits_ns > busy_ns) {
			busy_ns = stage->span_ns - stage->waits_ns;
			least_ns = stage->waits_ns;
		}
	}
	excess = (double)least_ns - (double)busy_ns * ss_pipeline_bubble(pipeline);
	return busy_ns > 0 && excess > 0 ? excess : 0;
}

/* Waits that the schedules of pipelines do not explain count as waiting for other ranks. */
static void account_settle_stages(struct ss_account_parts *parts, const struct ss_replay *replay,
				  const struct ss_pipelines *pipelines,
				  const struct account_stage *stages)
{
	double most = 0;

	for (uint32_t i = 0; i < pipelines->count; i++) {
		const struct ss_pipeline *pipeline = &pipelines->items[i];
		double excess = pipeline_excess_wait(pipelines, pipeline, stages), sum = 0;

		for (uint32_t k = 0; k < pipeline->stages; k++) {
			uint32_t rank = pipelines->ranks[pipeline->first + k];
			double waits = (double)stages[rank].waits_ns;
			double steps = replay->ranks[rank].step_count;
			double back = pipeline->micro >= 1 ? smaller_of(waits, excess) : waits;

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

static int64_t account_member_wait(const struct ss_replay *replay,
				   const struct ss_replay_member *member)
{
	uint32_t arrive = replay->first[member->rank] + member->task;

	return ss_replay_start(replay, arrive + 1) - ss_replay_start(replay, arrive) -
	       ss_replay_own(replay, arrive);
}

/* Finds the rank that the others wait for most in collectives; false: no memory. */
static bool account_find_late_rank(struct ss_account_late *late, const struct ss_replay *replay,
				   struct ss_memory *memory)
{
	size_t bytes = ((size_t)replay->rank_count + 1) * sizeof(struct ss_account_late);
	struct ss_account_late *ranks = ss_memory_zeroed(memory, bytes);

	*late = (struct ss_account_late){ .rank = SS_NO_ROW };
	if (!ranks)
		return false;
	for (uint32_t i = 0; i < replay->collective_count; i++) {
		const struct ss_replay_collective *collective = &replay->collectives[i];
		const struct ss_replay_member *members = &replay->members[collective->first];
		uint32_t last = 0;
		int64_t sum_ns = 0;

		for (uint32_t k = 0; k < collective->count; k++) {
			int64_t wait_ns = account_member_wait(replay, &members[k]);

			sum_ns = ss_ns_sum(sum_ns, wait_ns > 0 ? wait_ns : 0);
			if (wait_ns < account_member_wait(replay, &members[last]))
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
	late->collectives = replay->collective_count;
	if (late->rank != SS_NO_ROW)
		late->waiting_ns /= (int64_t)replay->ranks[late->rank].step_count *
				    (int64_t)replay->rank_count;
	ss_memory_free(memory, ranks, bytes);
	return true;
}

/* --- all ranks -------------------------------------------------------------------------- */

bool ss_account_measure(struct ss_account_parts *parts, const struct ss_replay *replay,
			struct ss_rank_findings *const *rank_findings, bool names_rest,
			const struct ss_pipelines *pipelines, struct ss_memory *memory)
{
	struct account_pieces pieces = { .memory = memory };
	size_t bytes = ((size_t)replay->rank_count + 1) * sizeof(struct account_stage);
	struct account_stage *stages = ss_memory_resize(memory, NULL, 0, bytes);
	bool whole = stages;

	*parts = (struct ss_account_parts){ 0 };
	for (uint32_t i = 0; whole && i < replay->rank_count; i++) {
		struct ss_replay_span span = ss_replay_span(replay, i);
		int64_t sums[USE_COUNT + 1] = { 0 };

		stages[i] = (struct account_stage){ 0 };
		whole = account_collect_pieces(&pieces, replay, i, pipelines);
		if (!whole || span.to_ns <= span.from_ns)
			continue;
		account_sweep_pieces(&pieces, span, sums);
		stages[i] = (struct account_stage){ span.to_ns - span.from_ns, sums[USE_STAGES] };
		account_add_rank(parts, &replay->ranks[i],
				 account_open_ns(rank_findings[i], &replay->ranks[i], names_rest),
				 &pieces, sums);
	}
	if (whole)
		account_settle_stages(parts, replay, pipelines, stages);
	SS_FREE(memory, pieces.items, pieces.capacity);
	if (stages)
		ss_memory_free(memory, stages, bytes);
	return whole && account_find_late_rank(&parts->late, replay, memory);
}

/* all_ns in proportion of `part` to `sum`, rounded down. */
static int64_t account_part_ns(int64_t all_ns, double part, double sum)
{
	int64_t part_ns = sum > 0 ? (int64_t)((double)all_ns * (part / sum)) : 0;

	return part_ns < 0 ? 0 : part_ns > all_ns ? all_ns : part_ns;
}

/* Takes a part from what is left, at most all of it; returns what it took. */
static int64_t account_take_part(int64_t *left_ns, int64_t part_ns)
{
	if (part_ns > *left_ns)
		part_ns = *left_ns;
	*left_ns -= part_ns;
	return part_ns;
}

/*
 * Divides the step in three: what the fixes save, what smaller findings save, and `least_ns`, which
 * is divided in proportion to the parts.
 */
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
	account.unexplained_ns = account_part_ns(least_ns, parts->peers + parts->rest, sum);
	account.peers_ns = account_part_ns(least_ns, parts->peers, sum);
	if (account.peers_ns > account.unexplained_ns)
		account.peers_ns = account.unexplained_ns;
	left_ns = least_ns - account.unexplained_ns;
	account.stages_ns = account_take_part(&left_ns,
					      account_part_ns(least_ns, parts->stages, sum));
	account.communication_ns =
		account.stages_ns +
		account_take_part(&left_ns, account_part_ns(least_ns, parts->communication, sum));
	account.copies_ns = account_take_part(&left_ns,
					      account_part_ns(least_ns, parts->copies, sum));
	account.host_ns = account_take_part(&left_ns, account_part_ns(least_ns, parts->host, sum));
	/* what rounding leaves goes to the first needed part; if nothing ran, it is unexplained */
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

/* --- what is left ---------------------------------------------------------------------- */

/* Whether another finding says why the others wait for this rank, and may save all of that. */
static bool rest_wait_is_named(const struct ss_diagnosis *diagnosis, uint32_t rank, int64_t wait_ns)
{
	for (uint32_t i = 0; i < diagnosis->finding_count; i++) {
		const struct ss_finding *finding = diagnosis->findings[i];

		if (finding->rank == rank && ss_finding_has_cost(finding) &&
		    finding->high_ns >= wait_ns)
			return true;
	}
	return false;
}

/* Reports whom ranks wait for, if that is a third of the unexplained time; false: no memory. */
static bool rest_report_late_rank(struct ss_diagnosis *diagnosis, struct ss_finding *rest,
				  const struct ss_account_late *late)
{
	const struct ss_account *account = &diagnosis->account;
	int64_t waiting_ns = late->waiting_ns;
	char text[256];

	if (late->rank == SS_NO_ROW || 3 * account->peers_ns < account->unexplained_ns)
		return true;
	if (rest_wait_is_named(diagnosis, late->rank, account->peers_ns)) {
		rest->is_repeat = true;
		rest->title = "Ranks still wait for the rank above in the replay";
		rest->fix = "# the same cause: the fix above may remove this as well";
		rest->reason = "the replay cannot tell how much of it goes with that fix";
	} else if (2 * account->peers_ns > account->unexplained_ns) {
		rest->title = "Ranks wait for each other in collectives, and no rule explains why";
		rest->fix = "# who comes last to which collective, and what that rank did before:\n"
			    "# the views stragglers and ranks, and the timeline in the viewer";
	}
	snprintf(text, sizeof(text),
		 "{time} of it for rank %lld, the last to reach %u of %u collectives",
		 (long long)diagnosis->ranks[late->rank], late->last, late->collectives);
	if (waiting_ns > account->peers_ns)
		waiting_ns = account->peers_ns;
	return (diagnosis->ranks[late->rank] < 0 ||
		ss_finding_prepend_evidence(diagnosis, rest, waiting_ns, text)) &&
	       ss_finding_prepend_evidence(
		       diagnosis, rest, account->peers_ns,
		       "a rank waits {time} per step in collectives for other ranks");
}

bool ss_diagnosis_add_rest(struct ss_diagnosis *diagnosis, const struct ss_account_late *late)
{
	struct ss_finding *rest = NULL;

	for (uint32_t i = 0; i < diagnosis->chosen_count; i++)
		if (diagnosis->chosen[i]->is_rest)
			rest = diagnosis->chosen[i];
	for (uint32_t i = 0; i < diagnosis->finding_count; i++)
		if (diagnosis->findings[i] == rest)
			rest = NULL;
	if (!rest || diagnosis->is_what_if || !ss_account_is_open(&diagnosis->account))
		return true;
	rest->has_no_cost = true;
	rest->is_repeat = false;
	if (diagnosis->is_blind && !diagnosis->on_device)
		rest->title = "The GPU was not recorded";
	diagnosis->findings[diagnosis->finding_count++] = rest;
	return rest_report_late_rank(diagnosis, rest, late);
}
