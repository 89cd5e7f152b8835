/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sets.c - runs several sets of fixes at the same time, and what a fix can save at most.
 */
#include <stdatomic.h>
#include <string.h>

#include "base/system/thread.h"
#include "load/job.h"
#include "replay/replay_parts.h"

/* --- several at a time --------------------------------------------------------------------- */

/* A replay of the same graphs, with arrays of its own for what a run changes. */
static bool replay_twin_init(struct ss_replay *twin, const struct ss_replay *of)
{
	bool whole;

	*twin = *of;
	twin->twins = NULL;
	twin->twin_count = 0;
	whole = ss_moments_init(&twin->starts, of->task_count, of->memory);
	twin->complete_ns = ss_replay_array(twin, of->collective_count, sizeof(*twin->complete_ns),
					    &whole);
	twin->own_ns = ss_replay_array(twin, of->task_count, sizeof(*twin->own_ns), &whole);
	twin->longs = ss_replay_array(twin, of->long_count, sizeof(*twin->longs), &whole);
	twin->flags = ss_replay_array(twin, of->task_count, sizeof(*twin->flags), &whole);
	twin->is_edited = ss_replay_array(twin, of->rank_count, sizeof(*twin->is_edited), &whole);
	twin->reach = ss_replay_array(twin, of->rank_count, sizeof(*twin->reach), &whole);
	if (!whole)
		return false;
	memcpy(twin->longs, of->longs, of->long_count * sizeof(*twin->longs));
	memcpy(twin->flags, of->flags, of->task_count * sizeof(*twin->flags));
	/* the first run resets what is edited */
	memset(twin->is_edited, true, of->rank_count * sizeof(*twin->is_edited));
	return true;
}

static void replay_twin_release(struct ss_replay *twin)
{
	ss_moments_release(&twin->starts);
	ss_replay_free_array(twin, twin->complete_ns, twin->collective_count,
			     sizeof(*twin->complete_ns));
	ss_replay_free_array(twin, twin->own_ns, twin->task_count, sizeof(*twin->own_ns));
	ss_replay_free_array(twin, twin->longs, twin->long_count, sizeof(*twin->longs));
	ss_replay_free_array(twin, twin->flags, twin->task_count, sizeof(*twin->flags));
	ss_replay_free_array(twin, twin->is_edited, twin->rank_count, sizeof(*twin->is_edited));
	ss_replay_free_array(twin, twin->reach, twin->rank_count, sizeof(*twin->reach));
}

/* As many as are wanted, or fewer without memory. */
static void replay_make_twins(struct ss_replay *replay, uint32_t wanted)
{
	if (!replay->twins)
		replay->twins = ss_memory_zeroed(replay->memory,
						 SS_REPLAY_TWINS_MAX * sizeof(*replay->twins));
	while (replay->twins && replay->twin_count < wanted) {
		struct ss_replay *twin = &replay->twins[replay->twin_count];

		if (!replay_twin_init(twin, replay)) {
			replay_twin_release(twin);
			return;
		}
		replay->twin_count++;
	}
}

void ss_replay_release_twins(struct ss_replay *replay)
{
	while (replay->twin_count)
		replay_twin_release(&replay->twins[--replay->twin_count]);
	SS_FREE(replay->memory, replay->twins, SS_REPLAY_TWINS_MAX);
	replay->twins = NULL;
}

struct sets_run {
	struct ss_replay *replay;
	struct ss_replay_set *sets;
	uint32_t count;
	atomic_uint next;
	const struct ss_progress_report *watch;
};

static void sets_run_some(void *context, uint32_t index)
{
	struct sets_run *run = context;
	struct ss_replay *replay = index ? &run->replay->twins[index - 1] : run->replay;
	uint32_t at;

	while ((at = atomic_fetch_add(&run->next, 1)) < run->count &&
	       !ss_progress_is_cancelled(run->watch)) {
		struct ss_replay_set *set = &run->sets[at];

		set->step_ns = ss_replay_run(replay, set->fixes, set->count);
		set->is_run = !replay->starts.failed;
		replay->starts.failed = false;
	}
}

void ss_replay_run_sets(struct ss_replay *replay, struct ss_replay_set *sets, uint32_t count,
			const struct ss_progress_report *watch)
{
	struct sets_run run = { .replay = replay, .sets = sets, .count = count, .watch = watch };

	replay_make_twins(replay,
			  count - 1 < SS_REPLAY_TWINS_MAX ? count - 1 : SS_REPLAY_TWINS_MAX);
	ss_thread_run(replay->twin_count + 1 < count ? replay->twin_count + 1 : count,
		      sets_run_some, &run);
}

/* --- bounds --------------------------------------------------------------------------------- */

int64_t ss_replay_most_saved(const struct ss_replay *replay, const struct ss_edits *edits)
{
	struct ss_edits_visit visit = { 0 };
	uint32_t steps = 0;
	double sum = 0;

	while (ss_edits_next(edits, &visit)) {
		const struct ss_edit *edit = &visit.edit;
		int64_t own_ns = ss_packed_own(&replay->ranks[edit->rank], edit->task);

		if (edit->releases || edit->unlocks || edit->merges || edit->scale > 0)
			return INT64_MAX;
		if (edit->own_ns < own_ns)
			sum += (double)(own_ns - edit->own_ns);
	}
	for (uint32_t i = 0; i < replay->rank_count; i++)
		if (replay->ranks[i].step_count && (!steps || replay->ranks[i].step_count < steps))
			steps = replay->ranks[i].step_count;
	if (!steps || replay->unedited_ns <= 0)
		return INT64_MAX;
	sum /= steps;
	/* savings may be scaled to the recorded step */
	if (replay->step_ns > replay->unedited_ns)
		sum *= (double)replay->step_ns / (double)replay->unedited_ns;
	/* the means of steps are rounded twice */
	return sum < 1e18 ? (int64_t)sum + 4 : INT64_MAX;
}
