/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gains.c - replays the fixes to predict what they save, and orders them.
 *
 * Greedy: of the remaining fixes, the one that saves most with those before it in place comes
 * next. A fix rarely saves more when others are in place, so its last saving is an upper bound,
 * and only the fixes at the top are replayed again.
 */
#include <stdio.h>
#include <string.h>

#include "diagnose/bottleneck.h"
#include "diagnose/diagnose.h"
#include "replay/critical.h"

/*
 * A slow rank makes other rules claim much of the same time: its own finding comes first if it
 * saves this share of what the best of the others saves.
 */
#define RANK_SHARE 0.9

struct fix_candidate {
	struct ss_finding *finding;
	int64_t gain_ns;
	uint32_t fixed;  /* how many fixes were in place when the gain was measured */
	bool is_guessed; /* among the next ones, as far as they are guessed */
};

/* The fixes that will be in place. */
struct fix_guess {
	const struct ss_edits **fixes, **low, **high;
	uint32_t count;
	bool has_range;
};

struct fix_ordering {
	struct ss_diagnosis *diagnosis;
	struct fix_candidate *candidates;
	uint32_t count;
	/* the fixes in place, and one more */
	const struct ss_edits **fixes, **low, **high;
	uint32_t fix_count;
	int64_t now_ns, low_now_ns, high_now_ns; /* the step with those */
	bool has_range;                          /* one of them has one */
	/* what will probably be asked for next, and the fixes of that */
	struct ss_replay_set *ahead;
	const struct ss_edits **ahead_fixes;
	uint32_t ahead_count, ahead_most;
	size_t room; /* of a set */
	struct fix_guess guess;
	/* the last run of the replay */
	const struct ss_edits **last;
	uint32_t last_count;
	bool has_last;
	int64_t last_ns;
};

static int64_t saved_ns(int64_t before_ns, int64_t after_ns)
{
	return after_ns < before_ns ? before_ns - after_ns : 0;
}

static bool ordering_is_last_run(const struct fix_ordering *ordering,
				 const struct ss_edits *const *fixes, uint32_t count)
{
	if (!ordering->has_last || ordering->last_count != count)
		return false;
	return !count || memcmp(ordering->last, fixes, count * sizeof(*fixes)) == 0;
}

/*
 * Runs the replay, unless that was its last run, and reports how many of the expected runs are
 * done. If it was stopped, the result is meaningless: see ss_diagnosis_choose().
 */
static int64_t ordering_replay(struct fix_ordering *ordering, const struct ss_edits *const *fixes,
			       uint32_t count)
{
	struct ss_diagnosis *diagnosis = ordering->diagnosis;

	if (diagnosis->is_stopped)
		return diagnosis->step_ns;
	if (!ordering_is_last_run(ordering, fixes, count)) {
		ordering->last_ns = ss_replay_run(&diagnosis->replay, fixes, count);
		ordering->last_count = count;
		ordering->has_last = true;
		if (count)
			memcpy(ordering->last, fixes, count * sizeof(*fixes));
	}
	diagnosis->is_stopped = !ss_progress_report_done(diagnosis->watch, ++diagnosis->replays,
							 diagnosis->replays_expected);
	return ordering->last_ns;
}

/* The mean step with these fixes. */
static int64_t ordering_step_with(struct fix_ordering *ordering,
				  const struct ss_edits *const *fixes, uint32_t count)
{
	struct ss_diagnosis *diagnosis = ordering->diagnosis;
	const struct ss_known_replay *run = ss_known_replays_find(&diagnosis->runs, fixes, count);
	int64_t step_ns;

	if (run)
		return run->step_ns;
	step_ns = ordering_replay(ordering, fixes, count);
	if (diagnosis->runs.memory)
		ss_known_replays_add(&diagnosis->runs, fixes, count, step_ns);
	return step_ns;
}

/* Whether a fix that saves that much is worth its work. */
static bool finding_is_warning(const struct ss_diagnosis *diagnosis,
			       const struct ss_finding *finding, int64_t gain_ns)
{
	double share = diagnosis->step_ns ? (double)gain_ns / (double)diagnosis->step_ns : 0;

	return diagnosis->is_what_if || finding->memory_warns ||
	       share >= (finding->warn_share > 0 ? finding->warn_share : finding->rule->warn_share);
}

/* --- ahead ------------------------------------------------------------------------------- */

/* Adds a set that is not known yet, as long as there are threads for it; false: there are not. */
static bool ordering_add_ahead(struct fix_ordering *ordering, const struct ss_edits *const *fixes,
			       uint32_t count)
{
	struct ss_replay_set *set = &ordering->ahead[ordering->ahead_count];
	const struct ss_edits **own = ordering->ahead_fixes +
				      (size_t)ordering->ahead_count * ordering->room;

	if (ordering->ahead_count == ordering->ahead_most)
		return false;
	if (ss_known_replays_find(&ordering->diagnosis->runs, fixes, count))
		return true;
	memcpy(own, fixes, count * sizeof(*own));
	*set = (struct ss_replay_set){ .fixes = own, .count = count };
	ordering->ahead_count++;
	return true;
}

/* Runs what was added at the same time. A single one can wait until it is asked for. */
static void ordering_run_ahead(struct fix_ordering *ordering)
{
	struct ss_diagnosis *diagnosis = ordering->diagnosis;

	if (ordering->ahead_count < 2 || diagnosis->is_stopped || !diagnosis->runs.memory ||
	    diagnosis->runs.count + ordering->ahead_count > SS_KNOWN_REPLAYS_MAX)
		return;
	ordering->has_last = false;
	ss_replay_run_sets(&diagnosis->replay, ordering->ahead, ordering->ahead_count,
			   diagnosis->watch);
	for (uint32_t i = 0; i < ordering->ahead_count; i++) {
		const struct ss_replay_set *set = &ordering->ahead[i];

		if (set->is_run)
			ss_known_replays_add(&diagnosis->runs, set->fixes, set->count,
					     set->step_ns);
		diagnosis->replays += set->is_run;
	}
	diagnosis->is_stopped |= !ss_progress_report_done(diagnosis->watch, diagnosis->replays,
							  diagnosis->replays_expected);
}

/* Runs each fix alone, from this one on. */
static void ordering_alone_ahead(struct fix_ordering *ordering, uint32_t from)
{
	ordering->ahead_count = 0;
	if (ordering->ahead_most < 2)
		return;
	for (uint32_t i = from; i < ordering->count; i++) {
		const struct ss_edits *fix = &ordering->candidates[i].finding->edits;

		if (!ordering_add_ahead(ordering, &fix, 1))
			break;
	}
	ordering_run_ahead(ordering);
}

/* Adds what is asked of a fix behind those of the guess; false: enough was added. */
static bool ordering_guess_fix(struct fix_ordering *ordering, const struct ss_finding *finding)
{
	struct fix_guess *guess = &ordering->guess;
	bool has_range = finding->has_range || guess->has_range;

	guess->fixes[guess->count] = &finding->edits;
	guess->low[guess->count] = finding->has_range ? &finding->low : &finding->edits;
	guess->high[guess->count] = finding->has_high ? &finding->high : &finding->edits;
	return ordering_add_ahead(ordering, guess->fixes, guess->count + 1) &&
	       (!has_range || (ordering_add_ahead(ordering, guess->low, guess->count + 1) &&
			       ordering_add_ahead(ordering, guess->high, guess->count + 1)));
}

/*
 * Other threads run meanwhile what will be asked for after this fix if each of the others still
 * saves what it saved when it was last measured.
 */
static void ordering_guess_ahead(struct fix_ordering *ordering, struct fix_candidate *first)
{
	size_t bytes = ordering->fix_count * sizeof(*ordering->fixes);
	struct fix_guess *guess = &ordering->guess;
	struct fix_candidate *next = first;

	ordering->ahead_count = 0;
	if (ordering->ahead_most < 2)
		return;
	guess->count = ordering->fix_count;
	guess->has_range = ordering->has_range;
	memcpy(guess->fixes, ordering->fixes, bytes);
	memcpy(guess->low, ordering->low, bytes);
	memcpy(guess->high, ordering->high, bytes);
	for (uint32_t i = 0; i < ordering->count; i++)
		ordering->candidates[i].is_guessed = false;
	while (next && ordering_guess_fix(ordering, next->finding)) {
		if (finding_is_warning(ordering->diagnosis, next->finding, next->gain_ns)) {
			guess->count++;
			guess->has_range |= next->finding->has_range;
		}
		next->is_guessed = true;
		next = NULL;
		for (uint32_t i = 0; i < ordering->count; i++) {
			struct fix_candidate *candidate = &ordering->candidates[i];

			if (candidate->finding && !candidate->is_guessed &&
			    (!next || candidate->gain_ns > next->gain_ns))
				next = candidate;
		}
	}
	ordering_run_ahead(ordering);
}

/* --- one after the other ------------------------------------------------------------------ */

/* Measures what one more fix saves. */
static void ordering_measure_gain(struct fix_ordering *ordering, struct fix_candidate *candidate)
{
	int64_t shown_ns = ss_finding_shown_ns(candidate->finding);

	ordering->fixes[ordering->fix_count] = &candidate->finding->edits;
	candidate->gain_ns = saved_ns(ordering->now_ns,
				      ordering_step_with(ordering, ordering->fixes,
							 ordering->fix_count + 1));
	candidate->fixed = ordering->fix_count;
	/* a replay that is far off may hide it: only bounds are given then */
	if (ordering->diagnosis->is_bounded && candidate->finding->is_start_up &&
	    candidate->gain_ns < shown_ns)
		candidate->gain_ns = shown_ns < ordering->now_ns ? shown_ns : ordering->now_ns;
}

/* Whether a single rank, or several, cause it. */
static bool candidate_is_of_rank(const struct fix_candidate *candidate)
{
	return candidate->finding->rank != SS_NO_ROW || candidate->finding->is_joint;
}

static struct fix_candidate *ordering_best_candidate(struct fix_ordering *ordering)
{
	struct fix_candidate *best = NULL, *rank = NULL;

	for (uint32_t i = 0; i < ordering->count; i++) {
		struct fix_candidate *candidate = &ordering->candidates[i];

		if (!candidate->finding)
			continue;
		if (!best || candidate->gain_ns > best->gain_ns)
			best = candidate;
		if (candidate_is_of_rank(candidate) &&
		    (!rank || candidate->gain_ns > rank->gain_ns))
			rank = candidate;
	}
	return rank && (double)rank->gain_ns >= RANK_SHARE * (double)best->gain_ns ? rank : best;
}

/* The step with the low and the high edits of the fixes in place and of this one. */
static void ordering_measure_range(struct fix_ordering *ordering, struct ss_finding *finding,
				   int64_t *low_ns, int64_t *high_ns)
{
	uint32_t count = ordering->fix_count;

	ordering->low[count] = finding->has_range ? &finding->low : &finding->edits;
	ordering->high[count] = finding->has_high ? &finding->high : &finding->edits;
	if (!finding->has_range && !ordering->has_range) {
		*low_ns = *high_ns = ordering->now_ns - finding->cost_ns;
		return;
	}
	*low_ns = ordering_step_with(ordering, ordering->low, count + 1);
	*high_ns = ordering_step_with(ordering, ordering->high, count + 1);
}

/* Fills the figures of a finding; the fix of a warning is in place for those that follow. */
static void ordering_set_cost(struct fix_ordering *ordering, struct ss_finding *finding,
			      int64_t gain_ns)
{
	struct ss_diagnosis *diagnosis = ordering->diagnosis;
	int64_t low_ns, high_ns, more_ns;

	finding->cost_ns = gain_ns < diagnosis->step_ns ? gain_ns : diagnosis->step_ns;
	ordering_measure_range(ordering, finding, &low_ns, &high_ns);
	finding->low_ns = saved_ns(ordering->low_now_ns, low_ns);
	finding->high_ns = saved_ns(ordering->high_now_ns, high_ns);
	if (finding->low_ns > finding->cost_ns)
		finding->low_ns = finding->cost_ns;
	if (finding->high_ns < finding->cost_ns)
		finding->high_ns = finding->cost_ns;
	more_ns = finding->cost_ns + finding->more_ns - finding->high_ns;
	if (more_ns > 0) {
		finding->high_ns += more_ns;
		high_ns -= more_ns < high_ns ? more_ns : high_ns;
	}
	if (finding->high_ns > diagnosis->step_ns)
		finding->high_ns = diagnosis->step_ns;
	ss_finding_explain_beyond(finding);
	if (!finding->is_warning)
		return;
	ordering->fixes[ordering->fix_count++] = &finding->edits;
	ordering->has_range = ordering->has_range || finding->has_range;
	ordering->now_ns -= finding->cost_ns;
	if (finding->is_start_up && !diagnosis->is_what_if)
		diagnosis->start_up_ns += finding->cost_ns;
	ordering->low_now_ns = low_ns > ordering->now_ns ? low_ns : ordering->now_ns;
	ordering->high_now_ns = high_ns < ordering->now_ns ? high_ns : ordering->now_ns;
}

static double finding_silent_share(const struct ss_finding *finding)
{
	return finding->silent_share > 0 ? finding->silent_share : finding->rule->silent_share;
}

/* False: too little to report. */
static bool finding_is_reported(const struct ss_diagnosis *diagnosis, struct ss_finding *finding,
				int64_t gain_ns)
{
	double share = diagnosis->step_ns ? (double)gain_ns / (double)diagnosis->step_ns : 0;

	finding->is_warning = finding_is_warning(diagnosis, finding, gain_ns);
	if (diagnosis->is_what_if)
		return true;
	return finding->has_memory || (gain_ns > 0 && share >= finding_silent_share(finding));
}

/* Whether it is worth a replay: not if it saves too little whatever else is fixed. */
static bool finding_is_candidate(const struct ss_diagnosis *diagnosis,
				 const struct ss_finding *finding)
{
	int64_t most_ns;

	if (finding->is_timeless || diagnosis->step_ns <= 0 ||
	    (finding->is_rest && !finding->edits.count))
		return false;
	if (diagnosis->is_what_if || finding->has_memory)
		return true;
	most_ns = ss_replay_most_saved(&diagnosis->replay, &finding->edits);
	return (double)most_ns >= finding_silent_share(finding) * (double)diagnosis->step_ns;
}

/* Orders the fixes greedily: see the top of the file. */
static void ordering_order_timed(struct fix_ordering *ordering)
{
	struct ss_diagnosis *diagnosis = ordering->diagnosis;
	struct fix_candidate *best;

	for (uint32_t i = 0; i < ordering->count; i++) {
		ordering_alone_ahead(ordering, i);
		ordering_measure_gain(ordering, &ordering->candidates[i]);
		ordering->candidates[i].finding->alone_ns = ordering->candidates[i].gain_ns;
	}
	while ((best = ordering_best_candidate(ordering)) != NULL) {
		struct ss_finding *finding = best->finding;

		ordering_guess_ahead(ordering, best);
		if (best->fixed != ordering->fix_count) {
			ordering_measure_gain(ordering, best);
			continue;
		}
		best->finding = NULL;
		if (!finding_is_reported(diagnosis, finding, best->gain_ns))
			continue;
		ordering_set_cost(ordering, finding, best->gain_ns);
		diagnosis->findings[diagnosis->finding_count++] = finding;
	}
}

/* Adds the findings without time, puts warnings first, and fills the totals. */
static void ordering_finish(struct fix_ordering *ordering, struct ss_finding **scratch)
{
	struct ss_diagnosis *diagnosis = ordering->diagnosis;
	uint32_t count = 0;

	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < diagnosis->chosen_count; i++)
			if (diagnosis->chosen[i]->is_timeless &&
			    diagnosis->chosen[i]->comes_first == (round == 0))
				diagnosis->findings[diagnosis->finding_count++] =
					diagnosis->chosen[i];
	/* both keep their order */
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < diagnosis->finding_count; i++)
			if (diagnosis->findings[i]->is_warning == (round == 0))
				scratch[count++] = diagnosis->findings[i];
	memcpy(diagnosis->findings, scratch, count * sizeof(*scratch));
	for (uint32_t i = 0; i < diagnosis->finding_count; i++)
		diagnosis->warning_count += diagnosis->findings[i]->is_warning;
	diagnosis->fixed_ns = ordering->now_ns + diagnosis->start_up_ns;
	diagnosis->fixed_low_ns = ordering->low_now_ns + diagnosis->start_up_ns;
	diagnosis->fixed_high_ns = ordering->high_now_ns + diagnosis->start_up_ns;
	if (diagnosis->fixed_low_ns > diagnosis->step_ns)
		diagnosis->fixed_low_ns = diagnosis->step_ns;
	if (diagnosis->is_bounded)
		ss_diagnosis_widen_ranges(diagnosis);
}

/* Finds the bottleneck that remains with all warnings fixed. */
static enum ss_status ordering_find_next(struct fix_ordering *ordering, struct ss_error *err)
{
	struct ss_diagnosis *diagnosis = ordering->diagnosis;
	struct ss_known_replay *run;
	int64_t step_ns;

	if (diagnosis->step_ns <= 0)
		return SS_OK;
	run = ss_known_replays_find(&diagnosis->runs, ordering->fixes, ordering->fix_count);
	if (run && run->has_next) {
		diagnosis->next = run->next;
		return SS_OK;
	}
	step_ns = ordering_replay(ordering, ordering->fixes, ordering->fix_count);
	SS_TRY(ss_bottleneck_find(diagnosis, &diagnosis->next, err));
	if (!run && diagnosis->runs.memory) {
		ss_known_replays_add(&diagnosis->runs, ordering->fixes, ordering->fix_count,
				     step_ns);
		run = ss_known_replays_find(&diagnosis->runs, ordering->fixes, ordering->fix_count);
	}
	if (run) {
		run->next = diagnosis->next;
		run->has_next = true;
	}
	return SS_OK;
}

/* Replays the first `count` fixes, and measures what the time is spent on. */
static enum ss_status ordering_parts_with(struct fix_ordering *ordering, uint32_t count,
					  int64_t *step_ns, struct ss_account_parts *parts,
					  struct ss_error *err)
{
	struct ss_diagnosis *diagnosis = ordering->diagnosis;
	struct ss_known_replay *run = ss_known_replays_find(&diagnosis->runs, ordering->fixes,
							    count);
	struct ss_pipelines pipelines;
	bool names_rest = false, whole;

	if (run && run->has_parts) {
		*step_ns = run->step_ns;
		*parts = run->parts;
		return SS_OK;
	}
	*step_ns = ordering_replay(ordering, ordering->fixes, count);
	for (uint32_t i = 0; i < diagnosis->finding_count; i++)
		names_rest |= diagnosis->findings[i]->is_rest;
	if (!ss_pipelines_find(&pipelines, &diagnosis->replay, diagnosis->memory))
		return ss_fail_memory(err, "the account of the step");
	whole = ss_account_measure(parts, &diagnosis->replay, diagnosis->rank_findings, names_rest,
				   &pipelines, diagnosis->memory);
	ss_pipelines_release(&pipelines);
	if (!whole)
		return ss_fail_memory(err, "the account of the step");
	if (!run && diagnosis->runs.memory) {
		ss_known_replays_add(&diagnosis->runs, ordering->fixes, count, *step_ns);
		run = ss_known_replays_find(&diagnosis->runs, ordering->fixes, count);
	}
	if (run) {
		run->has_parts = true;
		run->parts = *parts;
	}
	return SS_OK;
}

static bool fix_is_stand_in(const struct ss_diagnosis *diagnosis, const struct ss_edits *fix)
{
	for (uint32_t i = 0; i < diagnosis->finding_count; i++)
		if (&diagnosis->findings[i]->edits == fix)
			return diagnosis->findings[i]->rule->is_stand_in;
	return false;
}

/*
 * What remains with the first `count` fixes. Edits that stand for another schedule do not show what
 * is needed: the parts are measured without them, and stages wait less by what they save.
 */
static enum ss_status ordering_measure_parts(struct fix_ordering *ordering, uint32_t count,
					     int64_t *least_ns, struct ss_account_parts *parts,
					     struct ss_error *err)
{
	struct ss_diagnosis *diagnosis = ordering->diagnosis;
	uint32_t kept = 0;
	int64_t without_ns;

	for (uint32_t i = 0; i < count; i++)
		kept += !fix_is_stand_in(diagnosis, ordering->fixes[i]);
	if (kept == count)
		return ordering_parts_with(ordering, count, least_ns, parts, err);
	*least_ns = ordering_step_with(ordering, ordering->fixes, count);
	kept = 0;
	for (uint32_t i = 0; i < count; i++)
		if (!fix_is_stand_in(diagnosis, ordering->fixes[i]))
			ordering->fixes[kept++] = ordering->fixes[i];
	SS_TRY(ordering_parts_with(ordering, kept, &without_ns, parts, err));
	parts->stages -= (double)(without_ns - *least_ns) * diagnosis->rank_count;
	if (parts->stages < 0)
		parts->stages = 0;
	return SS_OK;
}

/* With every reported fix in place: what remains is needed, or unexplained. */
static enum ss_status ordering_close_account(struct fix_ordering *ordering, struct ss_error *err)
{
	struct ss_diagnosis *diagnosis = ordering->diagnosis;
	struct ss_account_parts parts;
	uint32_t count = ordering->fix_count;
	int64_t least_ns;

	diagnosis->account = (struct ss_account){ 0 };
	if (diagnosis->step_ns <= 0)
		return SS_OK;
	for (uint32_t i = 0; i < diagnosis->finding_count; i++)
		if (!diagnosis->findings[i]->is_timeless && !diagnosis->findings[i]->is_warning)
			ordering->fixes[count++] = &diagnosis->findings[i]->edits;
	SS_TRY(ordering_measure_parts(ordering, count, &least_ns, &parts, err));
	/* if the GPU was not recorded, operators are what the host does for it */
	if (diagnosis->is_blind && !diagnosis->on_device) {
		parts.host += parts.compute;
		parts.compute = 0;
	}
	diagnosis->account = ss_account_close(diagnosis->step_ns - diagnosis->start_up_ns,
					      ordering->now_ns, least_ns, &parts);
	diagnosis->account.step_ns += diagnosis->start_up_ns;
	diagnosis->account.host_ns += diagnosis->start_up_ns; /* no fix of the job removes it */
	return ss_diagnosis_add_rest(diagnosis, &parts.late) ? SS_OK
							     : ss_fail_memory(err, "the findings");
}

/* Arrays for sets of fixes; false: no memory. */
static bool ordering_init_sets(struct fix_ordering *ordering, struct ss_arena *arena)
{
	struct fix_guess *guess = &ordering->guess;
	size_t room = (size_t)ordering->diagnosis->chosen_count + 1;

	ordering->room = room;
	ordering->ahead_most = ordering->diagnosis->threads <= SS_REPLAY_TWINS_MAX
				       ? ordering->diagnosis->threads
				       : SS_REPLAY_TWINS_MAX + 1;
	return SS_ALLOC(arena, ordering->fixes, room) && SS_ALLOC(arena, ordering->low, room) &&
	       SS_ALLOC(arena, ordering->high, room) && SS_ALLOC(arena, ordering->last, room) &&
	       SS_ALLOC(arena, guess->fixes, room) && SS_ALLOC(arena, guess->low, room) &&
	       SS_ALLOC(arena, guess->high, room) &&
	       SS_ALLOC(arena, ordering->ahead, (size_t)ordering->ahead_most + 1) &&
	       SS_ALLOC(arena, ordering->ahead_fixes, room * ordering->ahead_most + 1);
}

enum ss_status ss_diagnosis_order(struct ss_diagnosis *diagnosis, struct ss_error *err)
{
	struct fix_ordering ordering = { .diagnosis = diagnosis,
					 .now_ns = diagnosis->step_ns,
					 .low_now_ns = diagnosis->step_ns,
					 .high_now_ns = diagnosis->step_ns };
	struct ss_arena *arena = &diagnosis->chosen_arena;
	size_t capacity = (size_t)diagnosis->chosen_count + 1;
	struct ss_finding **scratch = SS_ARENA_NEW(arena, struct ss_finding *, capacity);
	const struct ss_finding *ceiling = NULL;

	ordering.candidates = SS_ARENA_NEW(arena, struct fix_candidate, capacity);
	diagnosis->findings = SS_ARENA_NEW(arena, struct ss_finding *, capacity);
	if (!scratch || !ordering.candidates || !diagnosis->findings ||
	    !ordering_init_sets(&ordering, arena))
		return ss_fail_memory(err, "the findings");
	for (uint32_t i = 0; i < diagnosis->chosen_count; i++) {
		struct ss_finding *finding = diagnosis->chosen[i];

		if (finding->rule->is_ceiling)
			ceiling = finding;
		else if (finding_is_candidate(diagnosis, finding))
			ordering.candidates[ordering.count++] =
				(struct fix_candidate){ .finding = finding };
	}
	/* each fix alone, again after the others, twice for its range; then what remains */
	diagnosis->replays = 0;
	diagnosis->replays_expected = 4 * ordering.count + 2;
	ordering_order_timed(&ordering);
	ss_replay_release_twins(&diagnosis->replay);
	if (ceiling && !diagnosis->is_what_if) {
		ordering.fixes[ordering.fix_count] = &ceiling->edits;
		diagnosis->ceiling_ns = diagnosis->start_up_ns;
		diagnosis->ceiling_ns += ordering_step_with(&ordering, ordering.fixes,
							    ordering.fix_count + 1);
	}
	SS_TRY(ordering_find_next(&ordering, err));
	SS_TRY(ordering_close_account(&ordering, err));
	if (!ss_bottleneck_settle(diagnosis))
		return ss_fail_memory(err, "the findings");
	ordering_finish(&ordering, scratch);
	return SS_OK;
}
