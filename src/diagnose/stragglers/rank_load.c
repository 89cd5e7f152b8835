/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_load.c - sums tasks by rank, step and phase, and shortens tasks accordingly.
 */
#include "diagnose/stragglers/rank_load.h"

#include <stdlib.h>
#include <string.h>

#include "base/median.h"
#include "base/search.h"
#include "diagnose/rank_findings.h"

/* Ranks that launch as much as this one, within so much, do the same part of the model. */
#define ALIKE_PERCENT 10

/* What is left of work that the others do not have at all. */
#define SCALE_MIN 1e-6

static enum ss_load_of kind_of(enum ss_task_kind kind)
{
	switch (kind) {
	case SS_TASK_KERNEL:
	case SS_TASK_MEMSET:
		return SS_LOAD_DEVICE;
	case SS_TASK_COPY:
		return SS_LOAD_COPIES;
	case SS_TASK_WORK:
	case SS_TASK_LAUNCH:
	case SS_TASK_CALL:
		return SS_LOAD_HOST;
	case SS_TASK_ALLOCATOR:
		return SS_LOAD_MEMORY;
	case SS_TASK_INPUT:
	case SS_TASK_COMPILE:
	case SS_TASK_GC:
		return SS_LOAD_CHORES;
	default:
		return SS_LOAD_KINDS;
	}
}

static size_t place(const struct ss_rank_loads *shares, uint32_t rank, uint32_t step,
		    uint32_t phase, enum ss_load_of kind)
{
	return (((size_t)rank * shares->step_count + step) * SS_PHASE_COUNT + phase) *
		       SS_LOAD_KINDS +
	       kind;
}

const struct ss_load *ss_load_of(const struct ss_rank_loads *shares, uint32_t rank, uint32_t step,
				 uint32_t phase, enum ss_load_of kind)
{
	return &shares->items[place(shares, rank, step, phase, kind)];
}

/* --- pieces ---------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* How many of the sorted moments lie before this one. */
static uint32_t count_before(const int64_t *moments, uint32_t count, int64_t moment_ns)
{
	uint32_t low = 0, high = count;

	SS_SEARCH(low, high, at, moments[at] < moment_ns);
	return low;
}

/* Of each task: to how many collectives of its step the rank had come before. */
static bool find_pieces(struct ss_rank_loads *shares, uint32_t rank, struct ss_arena *arena)
{
	const struct ss_packed *graph = &shares->graphs[rank];
	uint8_t *pieces = SS_ARENA_NEW(arena, uint8_t, (size_t)graph->task_count + 1);
	int64_t *arrivals = SS_ARENA_NEW(arena, int64_t, (size_t)graph->comm_count + 1);
	struct ss_packed_starts starts;

	if (!pieces || !arrivals)
		return false;
	ss_packed_starts_init(&starts, graph);
	for (uint32_t i = 0; i < graph->comm_count; i++)
		arrivals[i] = ss_packed_starts_get(&starts, graph->comms[i].task);
	qsort(arrivals, graph->comm_count, sizeof(*arrivals), by_time);
	for (uint32_t i = 0; i < graph->task_count; i++) {
		uint32_t step = ss_packed_run(graph, i)->step, before;

		if (step >= graph->step_count)
			continue;
		/* what begins when the rank has come is behind it */
		before = count_before(arrivals, graph->comm_count,
				      ss_packed_starts_get(&starts, i) + 1) -
			 count_before(arrivals, graph->comm_count, graph->steps[step].start_ns);
		pieces[i] = (uint8_t)(before < SS_PHASE_COUNT ? before : SS_PHASE_COUNT - 1);
	}
	shares->pieces[rank] = pieces;
	return true;
}

static uint32_t piece_of(const struct ss_rank_loads *shares, uint32_t rank, uint32_t task)
{
	return shares->pieces[rank] ? shares->pieces[rank][task]
				    : shares->graphs[rank].kinds[task] >> 4U;
}

static void add_rank(struct ss_rank_loads *shares, uint32_t rank)
{
	const struct ss_packed *graph = &shares->graphs[rank];

	for (uint32_t i = 0; i < graph->task_count; i++) {
		enum ss_task_kind task = ss_packed_kind(graph, i);
		enum ss_load_of kind = kind_of(task);
		uint32_t step = ss_packed_run(graph, i)->step;
		struct ss_load *share;

		if (kind == SS_LOAD_KINDS || step >= graph->step_count)
			continue;
		share = &shares->items[place(shares, rank, step, piece_of(shares, rank, i), kind)];
		share->ns += (double)ss_packed_own(graph, i);
		share->count += kind < SS_LOAD_HOST || task == SS_TASK_LAUNCH;
	}
}

bool ss_rank_loads_find(struct ss_rank_loads *shares, const struct ss_judgement *judgement,
			struct ss_arena *arena)
{
	*shares = (struct ss_rank_loads){ .arena = arena,
					  .graphs = judgement->graphs,
					  .rank_count = judgement->rank_count };
	for (uint32_t i = 0; i < shares->rank_count; i++)
		if (shares->graphs[i].step_count > shares->step_count)
			shares->step_count = shares->graphs[i].step_count;
	shares->items = SS_ARENA_NEW(arena, struct ss_load,
				     place(shares, shares->rank_count, 0, 0, SS_LOAD_DEVICE) + 1);
	shares->values = SS_ARENA_NEW(arena, int64_t, (size_t)shares->rank_count + 1);
	shares->classes = SS_ARENA_NEW(arena, struct ss_load_class *,
				       place(shares, 1, 0, 0, SS_LOAD_DEVICE) + 1);
	shares->factors = SS_ARENA_NEW(arena, double,
				       (size_t)shares->step_count *SS_PHASE_COUNT * 2 + 1);
	shares->pieces = SS_ARENA_NEW(arena, uint8_t *, (size_t)shares->rank_count + 1);
	if (!shares->items || !shares->values || !shares->classes || !shares->factors ||
	    !shares->pieces)
		return false;
	for (uint32_t i = 0; i < shares->rank_count; i++)
		if (judgement->joined->ranks[i].device < 0 && !find_pieces(shares, i, arena))
			return false;
	for (uint32_t i = 0; i < shares->rank_count; i++)
		add_rank(shares, i);
	return true;
}

/* --- what is usual --------------------------------------------------------------------- */

static bool is_alike(const struct ss_load *a, const struct ss_load *b)
{
	double most = a->count > b->count ? a->count : b->count;

	return (a->count > b->count ? a->count - b->count : b->count - a->count) * 100.0 <=
	       most * ALIKE_PERCENT;
}

/* Times are not below 0: in the order of their bits. */
static int64_t bits_of(double time)
{
	int64_t bits;

	memcpy(&bits, &time, sizeof(bits));
	return bits;
}

static double time_of(int64_t bits)
{
	double time;

	memcpy(&time, &bits, sizeof(time));
	return time;
}

/* What a rank has, compared with one that has `count` tasks. */
static double value_of(const struct ss_load_class *class, const struct ss_load *share)
{
	return class->is_scaled && share->count && class->count
		       ? share->ns * class->count / share->count
		       : share->ns;
}

/*
 * Ranks with as many launches are peers: the same stage of a pipeline. Where most others have
 * another number of them, hosts are compared by what a launch takes, devices by all that ran.
 */
static struct ss_load_class compare(const struct ss_rank_loads *shares, const struct ss_load *own,
				    uint32_t step, uint32_t phase, enum ss_load_of kind)
{
	struct ss_load_class class = { .count = own->count };
	uint32_t alike = 0, all = 0;
	struct ss_middle middle;
	bool among_peers;

	for (uint32_t i = 0; i < shares->rank_count; i++)
		if (step < shares->graphs[i].step_count) {
			all++;
			alike += is_alike(own, ss_load_of(shares, i, step, phase, kind));
		}
	/* without the rank itself, which is like itself */
	among_peers = (alike - 1) * 2 >= all - 1 || alike - 1 >= 3;
	class.is_scaled = !among_peers && kind == SS_LOAD_HOST;
	for (uint32_t i = 0; i < shares->rank_count; i++) {
		const struct ss_load *share = ss_load_of(shares, i, step, phase, kind);
		double value = value_of(&class, share);

		if (step >= shares->graphs[i].step_count || (among_peers && !is_alike(own, share)))
			continue;
		shares->values[class.ranks++] = bits_of(value);
		class.sum += value;
		if (value > class.most) {
			class.second = class.most;
			class.most = value;
		} else if (value > class.second) {
			class.second = value;
		}
	}
	middle = ss_middle_of(shares->values, class.ranks);
	class.low = time_of(middle.low);
	class.high = time_of(middle.high);
	return class;
}

/* The same, as it was the last time; without memory it is found anew each time. */
static struct ss_load_class class_of(const struct ss_rank_loads *shares, const struct ss_load *own,
				     uint32_t step, uint32_t phase, enum ss_load_of kind)
{
	struct ss_load_class **first = &shares->classes[place(shares, 0, step, phase, kind)];
	struct ss_load_class class, *kept;

	for (const struct ss_load_class *known = *first; known; known = known->next)
		if (known->count == own->count)
			return *known;
	class = compare(shares, own, step, phase, kind);
	class.next = *first;
	kept = SS_ARENA_NEW(shares->arena, struct ss_load_class, 1);
	if (kept) {
		*kept = class;
		*first = kept;
	}
	return class;
}

struct ss_usual ss_rank_loads_usual(const struct ss_rank_loads *shares, uint32_t rank,
				    uint32_t step, uint32_t phase, enum ss_load_of kind)
{
	const struct ss_load *own = ss_load_of(shares, rank, step, phase, kind);
	struct ss_load_class class = class_of(shares, own, step, phase, kind);
	struct ss_usual usual = { own->ns, own->ns, own->ns };
	double value = value_of(&class, own);

	if (class.ranks < 2)
		return usual;
	usual.ns = value <= class.low ? class.high : class.low;
	usual.most_ns = value == class.most ? class.second : class.most;
	usual.mean_ns = (class.sum - value + own->ns) / class.ranks;
	return usual;
}

/* --- claims ------------------------------------------------------------------------------ */

static double least(double a, double b)
{
	return a < b ? a : b;
}

/* Whether the rank has enough more to do in a step than the others. */
static bool has_more(const struct ss_rank_loads *shares, uint32_t rank, uint32_t step,
		     enum ss_load_of kind)
{
	double own = 0, usual = 0;

	for (uint32_t phase = 0; phase < SS_PHASE_COUNT; phase++) {
		own += ss_load_of(shares, rank, step, phase, kind)->ns;
		usual += ss_rank_loads_usual(shares, rank, step, phase, kind).ns;
	}
	return own > usual * (1 + shares->least_more);
}

/* What stays of each step and phase, expected and at most. */
static void set_factors(struct ss_rank_loads *shares, uint32_t rank, enum ss_load_of kind,
			double ratio)
{
	for (uint32_t step = 0; step < shares->graphs[rank].step_count; step++) {
		bool counts = shares->least_more <= 0 || has_more(shares, rank, step, kind);

		for (uint32_t phase = 0; phase < SS_PHASE_COUNT; phase++) {
			double *factor =
				&shares->factors[((size_t)step * SS_PHASE_COUNT + phase) * 2];
			double own = ss_load_of(shares, rank, step, phase, kind)->ns;
			struct ss_usual usual;

			factor[0] = factor[1] = ratio > 0 && counts ? ratio : 1;
			if (ratio > 0 || !counts || own <= 0)
				continue;
			usual = ss_rank_loads_usual(shares, rank, step, phase, kind);
			factor[0] = least(1, (shares->balances ? usual.mean_ns : usual.ns) / own);
			factor[1] = shares->spreads ? usual.mean_ns / own : usual.most_ns / own;
			factor[1] = factor[1] < factor[0] ? factor[0] : least(1, factor[1]);
		}
	}
}

/*
 * Tasks that rules of one rank claimed there, and on no other: that is how a slow host looks. They
 * are this finding's; the claims of those rules are gone.
 */
static void seize(const struct ss_rank_loads *shares, struct ss_judgement *judgement, uint32_t rank,
		  uint32_t task, double factor)
{
	struct ss_rank_findings *exam = judgement->exams[rank];
	uint8_t owner = exam->owner[task];

	if (!owner || (owner != judgement->number + 1 &&
		       !ss_prevalence_has(shares->common, owner - 1U, rank, factor)))
		exam->owner[task] = (uint8_t)(judgement->number + 1);
}

int64_t ss_rank_loads_claim(struct ss_rank_loads *shares, struct ss_judgement *judgement,
			    struct ss_finding *finding, uint32_t rank, enum ss_load_of kind,
			    double ratio)
{
	const struct ss_packed *graph = &shares->graphs[rank];
	int64_t sum_ns = 0;

	set_factors(shares, rank, kind, ratio);
	for (uint32_t i = 0; i < graph->task_count && !judgement->failed; i++) {
		uint32_t step = ss_packed_run(graph, i)->step;
		const double *factor;

		if (step >= graph->step_count || kind_of(ss_packed_kind(graph, i)) != kind)
			continue;
		factor = &shares->factors[((size_t)step * SS_PHASE_COUNT +
					   piece_of(shares, rank, i)) *
					  2];
		if (factor[0] >= 1)
			continue;
		if (shares->common)
			seize(shares, judgement, rank, i, factor[0]);
		/* a scale of 0 means that there is none */
		if (ss_judge_scale(judgement, finding, rank, i,
				   factor[0] > SCALE_MIN ? factor[0] : SCALE_MIN,
				   factor[1] > SCALE_MIN ? factor[1] : SCALE_MIN))
			sum_ns = ss_ns_sum(sum_ns, (int64_t)((double)ss_packed_own(graph, i) *
							     (1 - factor[0])));
	}
	return sum_ns;
}
