/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict.c - judges the lateness of ranks.
 *
 * Only medians and regularity count: in a healthy job every rank is late now and then, and
 * a mean would turn one of them into a straggler.
 */
#include "base/sort.h"
#include "diagnose/stragglers/judge.h"

#include <math.h>
#include <string.h>

/* A rank stands out when its lateness is this multiple of the median of the others... */
#define TIMES 3

/* ...and at least this share of the worst of the step: less is not the first thing to fix. */
#define WORST_PERCENT 50

/* ...or when it is the last by this share of its lateness: the others may be late, too. */
#define LAST_PERCENT 30

/* Lateness below this share of a step, or below this time, is ignored. */
#define STEP_PERCENT_MIN 1
#define LATE_NS_MIN 50000

/* Of the steps: more is regular, less can happen to any rank. */
#define PERSISTENT_PERCENT 80
#define TRANSIENT_PERCENT 40

/* With fewer steps, occasional lateness looks like chance. */
#define IRREGULAR_STEPS_MIN 4

/*
 * Even in so few steps, a different late rank in each is no chance if it computes this much longer.
 */
#define ROTATING_STEPS_MIN 2
#define ROTATING_FEW_PERCENT 10

/* A rank that chance alone makes the last so often in fewer jobs than this has another reason. */
#define BY_CHANCE 0.05

/*
 * Stragglers that rotate, and ranks without a device that are late in some steps, are noise below
 * this share of a step.
 */
#define ROTATING_STEP_PERCENT 3

/* In so few steps, lateness below this share of a step may be chance. */
#define FEW_STEPS 3
#define FEW_STEP_PERCENT 10

/* A rank that has nothing more than the median rank by this much is late by chance. */
#define EXCESS_STEP_PERCENT 2

/* A rank that costs the job less than this share of a step is not reported. */
#define GAIN_STEP_PERCENT 1

/* A host is the cause if its device is idle this much longer than those of the others. */
#define HOST_MORE_PERCENT 50

/* A host that begins each step later by this share of its lateness was late before. */
#define BEHIND_PERCENT 50

/* A rank with more communication than the others waits for another rank and delays nobody. */
#define COMM_PERCENT 50

const char *ss_straggler_pattern_name(enum ss_straggler_pattern pattern)
{
	static const char *const names[] = { "persistent", "transient", "rotating" };

	return names[pattern];
}

static uint8_t *step_mark(struct ss_straggler_judge *judge, uint32_t rank, uint32_t step)
{
	return &judge->stands_out[(size_t)rank * judge->lateness.step_count + step];
}

static int64_t least_lateness(const struct ss_straggler_judge *judge)
{
	int64_t share_ns = judge->step_ns / 100 * STEP_PERCENT_MIN;

	return share_ns > LATE_NS_MIN ? share_ns : LATE_NS_MIN;
}

/* Whether the rank is the last of the step, and by much. */
static bool is_last_by_far(const struct ss_straggler_step_lateness *late, int64_t late_ns)
{
	int64_t second_ns = late_ns == late->worst_ns ? late->second_ns : late->worst_ns;

	return late_ns - second_ns >= late_ns / 100 * LAST_PERCENT;
}

/* Marks the ranks that stand out in each step. */
static void mark_late_ranks(struct ss_straggler_judge *judge)
{
	const struct ss_lateness *lateness = &judge->lateness;

	for (uint32_t s = 0; s < lateness->step_count; s++) {
		for (uint32_t r = 0; r < lateness->rank_count; r++) {
			const struct ss_straggler_step_lateness *late =
				ss_straggler_peer_lateness(judge, r, s);
			int64_t late_ns = ss_late_step_own(ss_late_step_of(lateness, r, s));

			if (late_ns < least_lateness(judge) ||
			    late_ns < late->worst_ns / 100 * WORST_PERCENT)
				continue;
			*step_mark(judge, r, s) =
				late_ns / TIMES >= ss_middle_without(&late->middle, late_ns) ||
				is_last_by_far(late, late_ns);
		}
	}
}

/* --- judging ranks ------------------------------------------------------------------ */

static int64_t smaller_time(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Exposed communication of the median rank; without devices it is not known what is hidden. */
static int64_t usual_exposed(const struct ss_straggler_judge *judge)
{
	const struct ss_joined *joined = judge->joined;

	for (uint32_t r = 0; r < joined->rank_count; r++)
		if (joined->ranks[r].step_count && joined->ranks[r].device < 0)
			return INT64_MAX;
	return ss_middle_median(
		&judge->middles[joined->role_count * SS_FIGURES + SS_FIGURE_EXPOSED]);
}

/* How much more exposed communication it has than the median of the others. */
static int64_t excess_exposed(const struct ss_straggler_judge *judge, uint32_t r)
{
	return ss_straggler_own_figure(judge, r, SS_FIGURE_EXPOSED) -
	       ss_straggler_usual_figure(judge, r, SS_FIGURE_EXPOSED);
}

/* Whether its communication is longer than the others' by much of its lateness. */
static bool rank_waits_more(const struct ss_straggler_judge *judge,
			    const struct ss_straggler *straggler)
{
	return excess_exposed(judge, straggler->rank) > straggler->late_ns / 100 * COMM_PERCENT;
}

/* Whether all ranks are idle for the same reason, and this one only a little longer. */
static bool is_idle_like_others(const struct ss_straggler_judge *judge,
				const struct ss_straggler *straggler)
{
	uint32_t part = SS_OWN_IDLE + (uint32_t)straggler->idle_cause;
	int64_t usual_ns = ss_straggler_usual_figure(judge, straggler->rank, part);

	return ss_straggler_own_figure(judge, straggler->rank, part) - usual_ns <
	       usual_ns / 100 * HOST_MORE_PERCENT;
}

/*
 * Waiting that compute hides costs nothing: the gain is at most how much more exposed communication
 * the others have than this rank. Without a device this is not known.
 */
static void cap_gain(const struct ss_straggler_judge *judge, struct ss_straggler *straggler)
{
	int64_t most_ns = -excess_exposed(judge, straggler->rank);

	if (judge->joined->ranks[straggler->rank].device < 0)
		return;
	if (most_ns < 0)
		most_ns = 0;
	if (straggler->gain_ns > most_ns)
		straggler->gain_ns = most_ns;
}

/* Its lateness in its worst collective of each step; mean. */
static int64_t mean_worst_lateness(const struct ss_lateness *lateness, uint32_t r)
{
	int64_t sum_ns = 0;

	for (uint32_t s = 0; s < lateness->step_count; s++)
		ss_ns_add(&sum_ns,
			  ss_late_step_of(lateness, r, s)->worst_ns / lateness->step_count);
	return sum_ns;
}

/*
 * A host that was late once and is as fast as the others stays behind by the same time, as long as
 * no host waits for it: that costs nothing. If hosts do wait, those of the others are blocked in
 * calls while their devices wait for the late rank.
 */
static void cap_host_gain(struct ss_straggler_judge *judge, struct ss_straggler *straggler)
{
	int64_t slower_ns = ss_straggler_pace_excess(judge, straggler->rank);
	int64_t worst_ns = mean_worst_lateness(&judge->lateness, straggler->rank);

	if (slower_ns < straggler->gain_ns &&
	    ss_straggler_start_lag(judge, straggler->rank) >= worst_ns / 100 * BEHIND_PERCENT)
		straggler->gain_ns = slower_ns < 0 ? 0 : slower_ns;
}

static bool is_regularly_late(struct ss_straggler_judge *judge, uint32_t r)
{
	uint32_t steps = 0;

	for (uint32_t s = 0; s < judge->lateness.step_count; s++)
		steps += *step_mark(judge, r, s);
	return steps * 100 >= judge->lateness.step_count * PERSISTENT_PERCENT;
}

/* Finds the ranks that are late in nearly all steps, and how late the others are in each. */
static void find_regularly_late(struct ss_straggler_judge *judge)
{
	for (uint32_t r = 0; r < judge->lateness.rank_count; r++) {
		judge->is_regular[r] = is_regularly_late(judge, r);
		judge->regulars += judge->is_regular[r];
		for (uint32_t s = 0; !judge->is_regular[r] && s < judge->lateness.step_count; s++) {
			int64_t late_ns = ss_late_step_own(ss_late_step_of(&judge->lateness, r, s));

			if (late_ns > ss_straggler_peer_lateness(judge, r, s)->irregular_ns)
				ss_straggler_peer_lateness(judge, r, s)->irregular_ns = late_ns;
		}
	}
}

/*
 * If several ranks are late in nearly all steps, fixing only the last gains nothing. They are fixed
 * together, so each counts by how much it is later than the latest of the other ranks.
 */
static int64_t joint_gain(struct ss_straggler_judge *judge, uint32_t r)
{
	const struct ss_lateness *lateness = &judge->lateness;
	int64_t gain_ns = 0;

	for (uint32_t s = 0; s < lateness->step_count; s++) {
		int64_t late_ns = ss_late_step_own(ss_late_step_of(lateness, r, s));
		int64_t usual_ns = ss_straggler_peer_lateness(judge, r, s)->irregular_ns;

		if (late_ns > usual_ns)
			ss_ns_add(&gain_ns, (late_ns - usual_ns) / lateness->step_count);
	}
	return gain_ns;
}

/* How often and by how much the rank is late. */
static void measure_lateness(struct ss_straggler_judge *judge, uint32_t r, struct ss_straggler *out)
{
	const struct ss_lateness *lateness = &judge->lateness;

	*out = (struct ss_straggler){ .rank = r, .of_steps = lateness->step_count };
	for (uint32_t s = 0; s < lateness->step_count; s++) {
		const struct ss_late_step *step = ss_late_step_of(lateness, r, s);

		ss_ns_add(&out->gain_ns, step->gain_ns / lateness->step_count);
		ss_ns_add(&out->lost_ns, step->lost_ns / lateness->step_count);
		if (!*step_mark(judge, r, s))
			continue;
		out->steps++;
		out->late_ns = ss_ns_sum(out->late_ns, ss_late_step_own(step));
		out->inherited_ns = ss_ns_sum(out->inherited_ns, step->inherited_ns);
	}
	out->pattern = out->steps * 100 >= lateness->step_count * PERSISTENT_PERCENT
			       ? SS_PATTERN_PERSISTENT
			       : SS_PATTERN_TRANSIENT;
	if (out->steps) {
		out->late_ns /= out->steps;
		out->inherited_ns /= out->steps;
	}
	out->step_ns = lateness->step_ns[r];
	if (judge->is_regular[r] && judge->regulars > 1) {
		int64_t gain_ns = joint_gain(judge, r);

		out->gain_ns = gain_ns > out->gain_ns ? gain_ns : out->gain_ns;
	}
}

/* In some of few steps, or by little in very few: that can happen to any rank. */
static bool is_late_by_chance(const struct ss_straggler_judge *judge,
			      const struct ss_straggler *straggler)
{
	uint32_t steps = judge->lateness.step_count;

	return !straggler->steps || straggler->steps * 100 < steps * TRANSIENT_PERCENT ||
	       (straggler->pattern != SS_PATTERN_PERSISTENT && steps < IRREGULAR_STEPS_MIN) ||
	       (steps < FEW_STEPS && straggler->late_ns < judge->step_ns / 100 * FEW_STEP_PERCENT);
}

/* Whether its own pace makes it late, and not input, compiling or garbage collection. */
static bool is_own_pace_cause(const struct ss_straggler *straggler)
{
	return straggler->cause == SS_LATE_KERNELS || straggler->cause == SS_LATE_UNKNOWN ||
	       (straggler->cause == SS_LATE_HOST && (straggler->idle_cause == SS_IDLE_LAUNCH ||
						     straggler->idle_cause == SS_IDLE_UNKNOWN));
}

/* Fills lateness, cause and gain of a rank; returns why it is not reported. */
static enum ss_straggler_spared judge_late_rank(struct ss_straggler_judge *judge, uint32_t r,
						struct ss_straggler *out)
{
	bool on_host = judge->joined->ranks[r].device < 0;
	int percent;

	measure_lateness(judge, r, out);
	if (is_late_by_chance(judge, out))
		return SS_SPARED_SELDOM;
	out->same_work = on_host && ss_straggler_has_same_work(judge, r, true);
	if (on_host && !ss_straggler_beats_noise(judge, r, out->same_work))
		return SS_SPARED_NOISE;
	ss_straggler_find_cause(judge, out);
	if (out->same_work && is_own_pace_cause(out) && ss_straggler_is_held_up(judge, r))
		return SS_SPARED_HELD;
	if ((out->cause == SS_LATE_HOST && is_idle_like_others(judge, out)) ||
	    out->excess_ns < judge->step_ns / 100 * EXCESS_STEP_PERCENT)
		return SS_SPARED_ALIKE;
	if (rank_waits_more(judge, out))
		return SS_SPARED_WAITS;
	cap_gain(judge, out);
	if (out->cause == SS_LATE_HOST)
		cap_host_gain(judge, out);
	percent = on_host && out->pattern != SS_PATTERN_PERSISTENT ? ROTATING_STEP_PERCENT
								   : GAIN_STEP_PERCENT;
	return out->gain_ns < judge->step_ns / 100 * percent ? SS_SPARED_CHEAP : SS_SPARED_NOT;
}

/* No devices, and the same work on all ranks: whoever is late is late by chance. */
static bool all_have_same_work(struct ss_straggler_judge *judge)
{
	const struct ss_joined *joined = judge->joined;

	for (uint32_t r = 0; r < joined->rank_count; r++)
		if (joined->ranks[r].device >= 0 ||
		    (joined->ranks[r].step_count && !ss_straggler_has_same_work(judge, r, false)))
			return false;
	return true;
}

/*
 * How likely one of `ranks` is the last in this number of `steps` or in more, if each of them is it
 * with the same chance: the sum of binomial terms.
 */
static double chance_of_last(uint32_t count, uint32_t steps, uint32_t ranks)
{
	double chance = 1.0 / ranks, term = pow(1 - chance, steps), sum = 0;

	for (uint32_t k = 0; k <= steps; k++) {
		sum += k >= count ? term : 0;
		term *= chance / (1 - chance) * (steps - k) / (k + 1);
	}
	return sum;
}

/* Whether ranks take turns: the one that is most often last may be it by chance. */
static bool is_rotating(uint32_t most, uint32_t steps, uint32_t ranks)
{
	/* no rank is late in more than half of the steps, rounded up */
	if (most * 2 <= steps + 1)
		return most < steps;
	return most * 100 < steps * PERSISTENT_PERCENT && ranks > 1 &&
	       chance_of_last(most, steps, ranks) >= BY_CHANCE;
}

/* Whether the rank computes longer in a step, by this share of it. Hosts: what made it late. */
static bool late_rank_computes(struct ss_straggler_judge *judge, uint32_t r, uint32_t step,
			       int percent)
{
	if (judge->joined->ranks[r].device >= 0)
		return ss_straggler_computes_more(judge, r, judge->lateness.numbers[step], percent);
	return ss_late_step_of(&judge->lateness, r, step)->own_ns[SS_OWN_COMPUTE] >=
	       judge->step_ns / 100 * percent;
}

/* Whether each step has its own late rank, which computes longer, and together they cost enough. */
static bool judge_rotation(struct ss_straggler_judge *judge, struct ss_straggler *out)
{
	const struct ss_lateness *lateness = &judge->lateness;
	bool few = lateness->step_count < IRREGULAR_STEPS_MIN;
	uint32_t most = 0;

	*out = (struct ss_straggler){ .rank = SS_NO_ROW,
				      .pattern = SS_PATTERN_ROTATING,
				      .of_steps = lateness->step_count,
				      .step_ns = judge->step_ns,
				      .cause = SS_LATE_UNKNOWN };
	for (uint32_t s = 0; s < lateness->step_count; s++) {
		int64_t worst_ns = 0;
		uint32_t worst = 0;

		for (uint32_t r = 0; r < lateness->rank_count; r++)
			if (*step_mark(judge, r, s) &&
			    ss_late_step_own(ss_late_step_of(lateness, r, s)) > worst_ns) {
				worst_ns = ss_late_step_own(ss_late_step_of(lateness, r, s));
				worst = r;
			}
		if (!worst_ns ||
		    !late_rank_computes(judge, worst, s,
					few ? ROTATING_FEW_PERCENT : EXCESS_STEP_PERCENT))
			continue;
		out->steps++;
		out->late_ns = ss_ns_sum(out->late_ns, worst_ns);
	}
	for (uint32_t r = 0; r < lateness->rank_count; r++) {
		uint32_t own = 0;

		for (uint32_t s = 0; s < lateness->step_count; s++) {
			const struct ss_late_step *step = ss_late_step_of(lateness, r, s);

			out->gain_ns = ss_ns_sum(out->gain_ns, step->gain_ns);
			out->lost_ns = ss_ns_sum(out->lost_ns, step->lost_ns);
			own += *step_mark(judge, r, s);
		}
		most = own > most ? own : most;
	}
	if (!out->steps)
		return false;
	out->late_ns /= out->steps;
	out->gain_ns = smaller_time(out->gain_ns / lateness->step_count, usual_exposed(judge));
	out->lost_ns /= lateness->step_count;
	return is_rotating(most, lateness->step_count, lateness->rank_count) &&
	       lateness->step_count >= ROTATING_STEPS_MIN &&
	       out->steps * 100 >= lateness->step_count * PERSISTENT_PERCENT &&
	       out->gain_ns >= judge->step_ns / 100 * ROTATING_STEP_PERCENT;
}

static int straggler_compare_cost(const void *a, const void *b)
{
	const struct ss_straggler *x = a, *y = b;

	double cost_x = (double)x->late_ns * x->steps, cost_y = (double)y->late_ns * y->steps;

	if (cost_x != cost_y)
		return cost_x > cost_y ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Finds the lateness, allocates what judging needs, and measures the figures. False: no memory. */
static bool prepare_judge(struct ss_straggler_judge *judge, struct ss_straggler_verdict *verdict)
{
	const struct ss_joined *joined = judge->joined;
	uint32_t count = 0, most_steps = 0, most_gaps = 0;

	if (!ss_late_find(&judge->lateness, joined, judge->arena))
		return false;
	judge->values = SS_ARENA_NEW(judge->arena, int64_t, 2 * ((size_t)joined->rank_count + 1));
	for (uint32_t r = 0; r < joined->rank_count; r++)
		if (joined->ranks[r].step_count > most_steps)
			most_steps = joined->ranks[r].step_count;
	for (uint32_t r = 0; r < joined->rank_count; r++)
		if (joined->ranks[r].gap_count > most_gaps)
			most_gaps = joined->ranks[r].gap_count;
	if (judge->lateness.step_count > most_steps)
		most_steps = judge->lateness.step_count;
	judge->step_values = SS_ARENA_NEW(judge->arena, int64_t, 2 * (size_t)most_steps + 1);
	judge->gap_values = SS_ARENA_NEW(judge->arena, int64_t, (size_t)most_gaps + 1);
	judge->stands_out = SS_ARENA_NEW(judge->arena, uint8_t,
					 (size_t)joined->rank_count * judge->lateness.step_count +
						 1);
	judge->is_regular = SS_ARENA_NEW(judge->arena, uint8_t, (size_t)joined->rank_count + 1);
	verdict->items = SS_ARENA_NEW(judge->arena, struct ss_straggler,
				      (size_t)joined->rank_count + 2);
	if (!judge->values || !judge->step_values || !judge->gap_values || !judge->stands_out ||
	    !judge->is_regular || !verdict->items || !ss_straggler_measure(judge))
		return false;
	for (uint32_t r = 0; r < joined->rank_count; r++)
		if (judge->lateness.step_ns[r])
			judge->values[count++] = judge->lateness.step_ns[r];
	judge->step_ns = ss_straggler_median(judge->values, count);
	return true;
}

/* The latest rank by its own lateness over all steps: noted if no rank is reported. */
static void find_latest_rank(struct ss_straggler_judge *judge, struct ss_straggler *out)
{
	const struct ss_lateness *lateness = &judge->lateness;
	int64_t latest_ns = 0;
	uint32_t latest = 0;
	struct ss_straggler own;

	for (uint32_t r = 0; r < lateness->rank_count; r++) {
		int64_t late_ns = 0;

		for (uint32_t s = 0; s < lateness->step_count; s++)
			ss_ns_add(&late_ns, ss_late_step_own(ss_late_step_of(lateness, r, s)) /
						    lateness->step_count);
		if (late_ns <= latest_ns)
			continue;
		latest_ns = late_ns;
		latest = r;
	}
	*out = (struct ss_straggler){ .rank = SS_NO_ROW };
	if (!latest_ns)
		return;
	measure_lateness(judge, latest, out);
	out->spared = judge_late_rank(judge, latest, &own);
	out->late_ns = latest_ns;
}

/*
 * Finds ranks with slow devices that are not reported yet. Stages of a pipeline compute different
 * things and have rules of their own.
 */
static bool find_hidden_slow_devices(struct ss_straggler_judge *judge,
				     struct ss_straggler_verdict *verdict)
{
	const struct ss_joined *joined = judge->joined;
	bool *is_named;

	if (!SS_ALLOC(judge->arena, verdict->hidden, (size_t)joined->rank_count + 1))
		return false;
	for (uint32_t i = 0; i < joined->collective_count; i++)
		if (joined->collectives[i].kind >= SS_COLLECTIVE_SEND_RECV)
			return true;
	if (!SS_ALLOC(judge->arena, is_named, (size_t)joined->rank_count + 1))
		return false;
	for (uint32_t i = 0; i < verdict->count; i++)
		if (verdict->items[i].rank != SS_NO_ROW && verdict->items[i].cause != SS_LATE_LINK)
			is_named[verdict->items[i].rank] = true;
	for (uint32_t r = 0; r < joined->rank_count; r++)
		if (!is_named[r] &&
		    ss_straggler_has_slow_device(judge, r, &verdict->hidden[verdict->hidden_count]))
			verdict->hidden_count++;
	return true;
}

bool ss_straggler_find(struct ss_straggler_verdict *verdict, const struct ss_joined *joined,
		       struct ss_arena *arena)
{
	struct ss_straggler_judge judge = { .joined = joined, .arena = arena };
	struct ss_straggler rotating;
	bool persistent = false;

	*verdict = (struct ss_straggler_verdict){ 0 };
	if (!prepare_judge(&judge, verdict))
		return false;
	verdict->few_steps = judge.lateness.step_count < 2;
	mark_late_ranks(&judge);
	find_regularly_late(&judge);
	find_latest_rank(&judge, &verdict->latest);
	for (uint32_t r = 0; r < joined->rank_count; r++)
		if (judge_late_rank(&judge, r, &verdict->items[verdict->count]) == SS_SPARED_NOT)
			persistent |= verdict->items[verdict->count++].pattern ==
				      SS_PATTERN_PERSISTENT;
	if (!persistent && !all_have_same_work(&judge) && judge_rotation(&judge, &rotating)) {
		verdict->items[0] = rotating;
		verdict->count = 1;
	}
	if (!ss_slow_link_find(&verdict->link, joined, arena))
		return false;
	if (verdict->link.count &&
	    verdict->link.cost_ns >= judge.step_ns / 100 * EXCESS_STEP_PERCENT)
		verdict->items[verdict->count++] = (struct ss_straggler){
			.rank = verdict->link.ranks[0],
			.steps = judge.lateness.step_count,
			.of_steps = judge.lateness.step_count,
			.late_ns = verdict->link.cost_ns,
			.gain_ns = smaller_time(verdict->link.cost_ns,
						ss_straggler_own_figure(&judge,
									verdict->link.ranks[0],
									SS_FIGURE_EXPOSED)),
			.excess_ns = verdict->link.cost_ns,
			.step_ns = judge.step_ns,
			.cause = SS_LATE_LINK,
			.cause_percent = 100,
		};
	if (!ss_straggler_find_stage(&judge, &verdict->stage))
		return false;
	/* a rank that all wait for is reported already */
	if (verdict->count)
		verdict->stage.rank = SS_NO_ROW;
	if (!find_hidden_slow_devices(&judge, verdict) || judge.failed)
		return false;
	SS_SORT(verdict->items, verdict->count, straggler_compare_cost);
	return true;
}
