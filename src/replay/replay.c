/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c - runs the graphs of all ranks, with and without edits.
 */
#include "replay/replay.h"

#include <string.h>

#include "base/search.h"
#include "replay/replay_parts.h"

void ss_replay_release(struct ss_replay *replay)
{
	uint32_t tasks = replay->task_count;

	if (!replay->memory)
		return;
	ss_replay_release_twins(replay);
	ss_replay_unsettle(replay);
	ss_replay_free_array(replay, replay->first, replay->rank_count, sizeof(*replay->first));
	ss_replay_free_array(replay, replay->offset_ns, replay->rank_count,
			     sizeof(*replay->offset_ns));
	ss_replay_free_array(replay, replay->collectives, replay->collective_capacity,
			     sizeof(*replay->collectives));
	ss_replay_free_array(replay, replay->members, replay->member_capacity,
			     sizeof(*replay->members));
	ss_replay_free_array(replay, replay->transfers, replay->member_count,
			     sizeof(*replay->transfers));
	ss_replay_free_array(replay, replay->transfers_from, replay->rank_count,
			     sizeof(*replay->transfers_from));
	SS_FREE(replay->memory, replay->left_out, replay->left_out_capacity);
	SS_FREE(replay->memory, replay->order, replay->stretch_capacity);
	ss_moments_release(&replay->starts);
	ss_replay_free_array(replay, replay->complete_ns, replay->collective_count,
			     sizeof(*replay->complete_ns));
	ss_replay_free_array(replay, replay->own_ns, tasks, sizeof(*replay->own_ns));
	ss_replay_free_array(replay, replay->longs, replay->long_count, sizeof(*replay->longs));
	ss_replay_free_array(replay, replay->flags, tasks, sizeof(*replay->flags));
	ss_replay_free_array(replay, replay->is_edited, replay->rank_count,
			     sizeof(*replay->is_edited));
	ss_replay_free_array(replay, replay->reach, replay->rank_count, sizeof(*replay->reach));
	*replay = (struct ss_replay){ 0 };
}

/* --- a run --------------------------------------------------------------------------------- */

/* When the other members let a transfer start. */
static int64_t transfer_start(const struct ss_replay *replay, uint32_t member)
{
	return replay->complete_ns[replay->members[member].collective];
}

/* When its edges let a task start; moves `at` to the edges of the next task. */
static inline int64_t task_start_by_edges(const struct ss_replay *replay, uint32_t first,
					  uint32_t task, uint8_t flags, const uint8_t **at)
{
	int64_t at_ns = INT64_MIN;
	struct ss_edge edge;
	bool more = true;

	if (**at == SS_PACKED_NO_EDGE) {
		++*at;
		return at_ns;
	}
	while (more) {
		int64_t edge_ns;

		more = ss_packed_edge(at, task, &edge);
		edge_ns = ss_replay_edge_ns(replay, first, &edge, flags);
		at_ns = edge_ns > at_ns ? edge_ns : at_ns;
	}
	return at_ns;
}

/* Notes when a task runs, if steps are measured by it. */
static inline void reach_add(struct ss_replay_reach *reach, uint8_t flags, int64_t start_ns,
			     int64_t end_ns)
{
	if ((flags & SS_REPLAY_BEFORE) && end_ns > reach->before_ns)
		reach->before_ns = end_ns;
	if (!(flags & SS_REPLAY_IN_STEP))
		return;
	reach->from_ns = start_ns < reach->from_ns ? start_ns : reach->from_ns;
	reach->to_ns = end_ns > reach->to_ns ? end_ns : reach->to_ns;
}

/*
 * Starts the tasks of a stretch one after the other, each when its edges and its collective allow.
 */
static void replay_run_stretch(struct ss_replay *replay, const struct ss_replay_stretch *stretch)
{
	const struct ss_packed *graph = &replay->ranks[stretch->rank];
	const uint8_t *at = &graph->edges[stretch->edges_at];
	uint32_t first = replay->first[stretch->rank];
	uint32_t from = stretch->waits ? replay->members[stretch->task].task + 1 : stretch->task;
	const uint8_t *flags = &replay->flags[first];
	bool waits = stretch->waits;
	int64_t at_ns = from ? ss_replay_start(replay, first + from - 1) : 0;
	int64_t own_ns = from ? ss_replay_own(replay, first + from - 1) : 0;
	struct ss_replay_reach reach = replay->reach[stretch->rank];

	for (uint32_t task = from; task < from + stretch->count; task++) {
		/* most tasks of a thread: at_ns and own_ns are those of the one before */
		if (*at == SS_PACKED_CHAIN) {
			at++;
			at_ns += own_ns;
		} else {
			at_ns = task_start_by_edges(replay, first, task, flags[task], &at);
		}
		if (waits && !(flags[task] & SS_REPLAY_RELEASED)) {
			int64_t complete_ns = transfer_start(replay, stretch->task);

			at_ns = complete_ns > at_ns ? complete_ns : at_ns;
		}
		waits = false;
		if (at_ns == INT64_MIN)
			at_ns = ss_packed_start(graph, task) + replay->offset_ns[stretch->rank];
		else if ((flags[task] & (SS_REPLAY_DELAYED | SS_REPLAY_UNLOCKED)) ==
			 SS_REPLAY_DELAYED)
			at_ns += ss_packed_delay(graph, task);
		ss_moments_set(&replay->starts, first + task, at_ns);
		own_ns = ss_replay_own(replay, first + task);
		reach_add(&reach, flags[task], at_ns, at_ns + own_ns);
	}
	replay->reach[stretch->rank] = reach;
}

static int64_t collective_start(const struct ss_replay *replay, uint32_t index)
{
	const struct ss_replay_collective *collective = &replay->collectives[index];
	int64_t start_ns = INT64_MIN;

	for (uint32_t i = 0; i < collective->count; i++) {
		const struct ss_replay_member *member = &replay->members[collective->first + i];
		int64_t at_ns = ss_replay_start(replay, replay->first[member->rank] + member->task);

		if (member->is_awaited && at_ns > start_ns)
			start_ns = at_ns;
	}
	return start_ns;
}

static void replay_run_all(struct ss_replay *replay)
{
	ss_moments_clear(&replay->starts);
	for (uint32_t i = 0; i < replay->rank_count; i++)
		replay->reach[i] = (struct ss_replay_reach){ INT64_MAX, INT64_MIN, INT64_MIN };
	for (uint32_t i = 0; i < replay->stretch_count; i++) {
		const struct ss_replay_stretch *stretch = &replay->order[i];

		if (stretch->rank != replay->rank_count) {
			replay_run_stretch(replay, stretch);
			continue;
		}
		for (uint32_t k = stretch->task; k < stretch->task + stretch->count; k++)
			replay->complete_ns[k] = collective_start(replay, k);
	}
}

static void reset_rank_edits(struct ss_replay *replay, uint32_t rank)
{
	const struct ss_packed *graph = &replay->ranks[rank];
	uint8_t *flags = &replay->flags[replay->first[rank]];
	uint32_t count = graph->task_count;

	if (count)
		memcpy(&replay->own_ns[replay->first[rank]], graph->own_ns,
		       count * sizeof(*replay->own_ns));
	for (uint32_t i = 0; i < graph->long_count; i++)
		*ss_replay_long(replay,
				replay->first[rank] + graph->longs[i].task) = graph->longs[i].ns;
	for (uint32_t i = 0; i < count; i++)
		flags[i] &= (uint8_t)~SS_REPLAY_EDITED;
	replay->is_edited[rank] = false;
}

int64_t *ss_replay_long(const struct ss_replay *replay, uint32_t number)
{
	uint32_t low = 0, high = replay->long_count;

	SS_SEARCH(low, high, at, replay->longs[at].task < number);
	assert(low < replay->long_count && replay->longs[low].task == number);
	return &replay->longs[low].ns;
}

/* As if there were no edits. */
static void reset_all_edits(struct ss_replay *replay)
{
	for (uint32_t i = 0; i < replay->rank_count; i++)
		if (replay->is_edited[i])
			reset_rank_edits(replay, i);
}

/* The flags that edits do not change. */
static uint8_t task_replay_flags(const struct ss_packed *graph, uint32_t task)
{
	if (!ss_replay_is_measured(graph, task))
		return 0;
	if (ss_packed_run(graph, task)->step != SS_NO_STEP)
		return SS_REPLAY_IN_STEP;
	return ss_packed_start(graph, task) + ss_packed_own(graph, task) <=
			       (graph->step_count ? graph->steps[0].start_ns : 0)
		       ? SS_REPLAY_BEFORE
		       : 0;
}

static void set_replay_flags(struct ss_replay *replay)
{
	uint32_t longs = 0;

	for (uint32_t i = 0; i < replay->rank_count; i++) {
		const struct ss_packed *graph = &replay->ranks[i];
		uint8_t *flags = &replay->flags[replay->first[i]];

		for (uint32_t k = 0; k < graph->long_count; k++)
			replay->longs[longs++].task = replay->first[i] + graph->longs[k].task;
		for (uint32_t k = 0; k < graph->task_count; k++)
			flags[k] = task_replay_flags(graph, k);
		for (uint32_t k = 0; k < graph->delay_count; k++)
			flags[graph->delays[k].task] |= graph->delays[k].ns ? SS_REPLAY_DELAYED : 0;
	}
	for (uint32_t i = 0; i < replay->rank_count; i++)
		reset_rank_edits(replay, i);
}

/* From the start of a rank's first step, which begins when the work of the one before is done. */
struct ss_replay_span ss_replay_span(const struct ss_replay *replay, uint32_t rank)
{
	const struct ss_replay_reach *reach = &replay->reach[rank];

	return (struct ss_replay_span){ reach->before_ns > reach->from_ns ? reach->before_ns
									  : reach->from_ns,
					reach->to_ns };
}

/*
 * Ranks that run together have the same speed. How far apart they begin is recorded, how far apart
 * they end follows from the edits: so the time from the last begin to the last end counts. Other
 * ranks are measured one by one.
 */
static int64_t replay_mean_step(struct ss_replay *replay)
{
	struct ss_replay_span all = { INT64_MIN, INT64_MIN };
	double sum = 0, ends_ns = 0;
	uint32_t count = 0;

	for (uint32_t i = 0; i < replay->rank_count; i++) {
		struct ss_replay_span span = ss_replay_span(replay, i);

		if (span.to_ns <= span.from_ns)
			continue;
		if (span.from_ns > all.from_ns)
			all.from_ns = span.from_ns;
		if (span.to_ns > all.to_ns)
			all.to_ns = span.to_ns;
		sum += (double)(span.to_ns - span.from_ns) / replay->ranks[i].step_count;
		ends_ns += (double)span.to_ns;
		count++;
	}
	replay->apart_ns = 0;
	if (replay->is_together && all.to_ns > all.from_ns) {
		replay->apart_ns = (int64_t)((double)all.to_ns - ends_ns / count) /
				   replay->ranks[0].step_count;
		return (all.to_ns - all.from_ns) / replay->ranks[0].step_count;
	}
	return count ? (int64_t)(sum / count) : 0;
}

/* The mean of the steps as they were recorded. */
static int64_t recorded_mean_step(const struct ss_replay *replay)
{
	double sum = 0;
	uint32_t count = 0;

	for (uint32_t i = 0; i < replay->rank_count; i++) {
		const struct ss_packed *graph = &replay->ranks[i];
		double rank_sum = 0;

		for (uint32_t k = 0; k < graph->step_count; k++)
			rank_sum += (double)(graph->steps[k].end_ns - graph->steps[k].start_ns);
		if (graph->step_count) {
			sum += rank_sum / graph->step_count;
			count++;
		}
	}
	return count ? (int64_t)(sum / count) : 0;
}

static void set_task_time(struct ss_replay *replay, uint32_t number, int64_t own_ns)
{
	if (replay->own_ns[number] == UINT32_MAX)
		*ss_replay_long(replay, number) = own_ns;
	else
		replay->own_ns[number] = (uint32_t)own_ns;
}

/* Applies edits that remove a part of a task, in addition to what others remove. */
static void apply_subtractions(struct ss_replay *replay, const struct ss_edits *const *fixes,
			       uint32_t fix_count)
{
	for (uint32_t i = 0; i < fix_count; i++)
		for (struct ss_edits_visit visit = { 0 };
		     fixes[i]->subtracts && ss_edits_next(fixes[i], &visit);) {
			const struct ss_edit *edit = &visit.edit;
			uint32_t task = replay->first[edit->rank] + edit->task;
			int64_t own_ns = ss_replay_own(replay, task);
			int64_t gone_ns = ss_packed_own(&replay->ranks[edit->rank], edit->task) -
					  edit->own_ns;

			if (edit->subtracts && gone_ns > 0)
				set_task_time(replay, task,
					      own_ns > gone_ns ? own_ns - gone_ns : 0);
		}
}

/* Applies edits that scale what is left of a task. */
static void apply_scales(struct ss_replay *replay, const struct ss_edits *const *fixes,
			 uint32_t fix_count)
{
	for (uint32_t i = 0; i < fix_count; i++)
		for (struct ss_edits_visit visit = { 0 };
		     fixes[i]->scales && ss_edits_next(fixes[i], &visit);) {
			const struct ss_edit *edit = &visit.edit;
			uint32_t task = replay->first[edit->rank] + edit->task;

			if (edit->scale > 0)
				set_task_time(replay, task,
					      (int64_t)((double)ss_replay_own(replay, task) *
							(double)edit->scale));
		}
}

/*
 * The mean step of a run on the scale of the recorded one. Tasks may cover less of the steps than
 * that (most of a step has no event), or more: for ranks that run apart the saving is a share; for
 * ranks that end apart, the excess counts as far as they still end apart.
 */
static int64_t scale_to_recorded_step(const struct ss_replay *replay, int64_t run_ns)
{
	int64_t beyond_ns = replay->unedited_ns - replay->step_ns;
	double share, apart;

	if (beyond_ns <= 0)
		return run_ns - beyond_ns;
	share = (double)run_ns * (double)replay->step_ns / (double)replay->unedited_ns;
	if (replay->unedited_apart_ns <= 0)
		return (int64_t)share;
	apart = (double)replay->apart_ns / (double)replay->unedited_apart_ns;
	apart = (double)run_ns - (double)beyond_ns * (apart < 1 ? apart : 1);
	return (int64_t)(apart > share ? apart : share);
}

int64_t ss_replay_run(struct ss_replay *replay, const struct ss_edits *const *fixes,
		      uint32_t fix_count)
{
	reset_all_edits(replay);
	for (uint32_t i = 0; i < fix_count; i++)
		for (struct ss_edits_visit visit = { 0 }; ss_edits_next(fixes[i], &visit);) {
			const struct ss_edit *edit = &visit.edit;
			uint32_t task = replay->first[edit->rank] + edit->task;

			replay->is_edited[edit->rank] = true;
			if (!edit->subtracts && edit->own_ns < ss_replay_own(replay, task))
				set_task_time(replay, task, edit->own_ns > 0 ? edit->own_ns : 0);
			replay->flags[task] |= (edit->releases ? SS_REPLAY_RELEASED : 0) |
					       (edit->unlocks ? SS_REPLAY_UNLOCKED : 0) |
					       (edit->merges ? SS_REPLAY_MERGED : 0);
		}
	apply_subtractions(replay, fixes, fix_count);
	apply_scales(replay, fixes, fix_count);
	replay_run_all(replay);
	return scale_to_recorded_step(replay, replay_mean_step(replay));
}

/* How far the mean step is off when nothing has a delay that no edge explains. */
static void measure_replay_error(struct ss_replay *replay)
{
	int64_t free_ns;

	reset_all_edits(replay);
	for (uint32_t i = 0; i < replay->first[replay->rank_count]; i++)
		replay->flags[i] |= SS_REPLAY_UNLOCKED;
	memset(replay->is_edited, true, replay->rank_count);
	replay_run_all(replay);
	free_ns = replay_mean_step(replay);
	if (replay->unedited_ns)
		replay->error_percent = 100.0 * (double)(replay->unedited_ns - free_ns) /
					(double)replay->unedited_ns;
}

enum ss_status ss_replay_init(struct ss_replay *replay, struct ss_packed *ranks,
			      uint32_t rank_count, const struct ss_joined *joined,
			      struct ss_memory *memory, struct ss_error *err)
{
	bool whole = true;
	uint64_t count = 0;

	*replay = (struct ss_replay){
		.memory = memory, .ranks = ranks, .rank_count = rank_count, .joined = joined
	};
	replay->first = ss_replay_array(replay, rank_count, sizeof(*replay->first), &whole);
	replay->offset_ns = ss_replay_array(replay, rank_count, sizeof(*replay->offset_ns), &whole);
	if (whole)
		whole = ss_replay_join(replay, joined);
	for (uint32_t i = 0; whole && i < rank_count; i++) {
		replay->first[i] = (uint32_t)count;
		/* blocks of moments have one rank each */
		count += (ranks[i].task_count + (uint64_t)SS_MOMENTS_BLOCK - 1) / SS_MOMENTS_BLOCK *
			 SS_MOMENTS_BLOCK;
		replay->long_count += ranks[i].long_count;
	}
	if (count + replay->collective_count >= UINT32_MAX || rank_count > SS_REPLAY_RANKS_MAX)
		whole = false;
	if (whole) {
		replay->first[rank_count] = (uint32_t)count;
		replay->task_count = (uint32_t)count + replay->collective_count;
	}
	replay->transfers = ss_replay_array(replay, replay->member_count,
					    sizeof(*replay->transfers), &whole);
	replay->transfers_from = ss_replay_array(replay, rank_count,
						 sizeof(*replay->transfers_from), &whole);
	whole &= ss_moments_init(&replay->starts, replay->task_count, memory);
	replay->complete_ns = ss_replay_array(replay, replay->collective_count,
					      sizeof(*replay->complete_ns), &whole);
	replay->own_ns = ss_replay_array(replay, replay->task_count, sizeof(*replay->own_ns),
					 &whole);
	replay->longs = ss_replay_array(replay, replay->long_count, sizeof(*replay->longs), &whole);
	replay->flags = ss_replay_array(replay, replay->task_count, sizeof(*replay->flags), &whole);
	replay->is_edited = ss_replay_array(replay, rank_count, sizeof(*replay->is_edited), &whole);
	replay->reach = ss_replay_array(replay, rank_count, sizeof(*replay->reach), &whole);
	whole = whole && ss_replay_settle(replay);
	if (!whole || !ss_replay_sort(replay)) {
		ss_replay_release(replay);
		return ss_fail_memory(err, "the replay of the steps");
	}
	replay->step_ns = recorded_mean_step(replay);
	set_replay_flags(replay);
	replay_run_all(replay);
	replay->unedited_ns = replay_mean_step(replay);
	replay->unedited_apart_ns = replay->apart_ns;
	if (!replay->starts.failed)
		measure_replay_error(replay);
	if (!replay->starts.failed)
		return SS_OK;
	ss_replay_release(replay);
	return ss_fail_memory(err, "the replay of the steps");
}
