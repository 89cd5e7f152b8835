/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_load.c - sums tasks by rank, step and phase, and shortens tasks accordingly.
 */
#include "diagnose/stragglers/rank_load.h"

#include <string.h>

#include "base/median.h"
#include "base/search.h"
#include "base/sort.h"
#include "diagnose/rank_findings.h"

/* Ranks whose number of launches is within this share do the same part of the model. */
#define ALIKE_PERCENT 10

/* The factor for work that the others do not have at all. */
#define SCALE_MIN 1e-6

static enum ss_load_kind load_kind_of_task(enum ss_task_kind kind)
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
		return SS_LOAD_OVERHEAD;
	default:
		return SS_LOAD_KINDS;
	}
}

static size_t load_index(const struct ss_rank_loads *loads, uint32_t rank, uint32_t step,
			 uint32_t phase, enum ss_load_kind kind)
{
	return (((size_t)rank * loads->step_count + step) * SS_PHASE_COUNT + phase) *
		       SS_LOAD_KINDS +
	       kind;
}

const struct ss_rank_load *ss_rank_loads_at(const struct ss_rank_loads *loads, uint32_t rank,
					    uint32_t step, uint32_t phase, enum ss_load_kind kind)
{
	return &loads->items[load_index(loads, rank, step, phase, kind)];
}

/* --- pieces ---------------------------------------------------------------------------- */

/* How many of the sorted moments lie before this one. */
static uint32_t count_moments_before(const int64_t *moments, uint32_t count, int64_t moment_ns)
{
	uint32_t low = 0, high = count;

	SS_SEARCH(low, high, at, moments[at] < moment_ns);
	return low;
}

/* The piece of each task: how many collectives of its step the rank had reached before. */
static bool find_load_pieces(struct ss_rank_loads *loads, uint32_t rank, struct ss_arena *arena)
{
	const struct ss_packed *graph = &loads->graphs[rank];
	uint8_t *pieces = SS_ARENA_NEW(arena, uint8_t, (size_t)graph->task_count + 1);
	int64_t *arrivals = SS_ARENA_NEW(arena, int64_t, (size_t)graph->comm_count + 1);
	struct ss_packed_starts starts;

	if (!pieces || !arrivals)
		return false;
	ss_packed_starts_init(&starts, graph);
	for (uint32_t i = 0; i < graph->comm_count; i++)
		arrivals[i] = ss_packed_starts_get(&starts, graph->comms[i].task);
	SS_SORT(arrivals, graph->comm_count, ss_sort_compare_int64);
	for (uint32_t i = 0; i < graph->task_count; i++) {
		uint32_t step = ss_packed_run(graph, i)->step, before;

		if (step >= graph->step_count)
			continue;
		/* what begins when the rank arrives comes after the collective */
		before = count_moments_before(arrivals, graph->comm_count,
					      ss_packed_starts_get(&starts, i) + 1) -
			 count_moments_before(arrivals, graph->comm_count,
					      graph->steps[step].start_ns);
		pieces[i] = (uint8_t)(before < SS_PHASE_COUNT ? before : SS_PHASE_COUNT - 1);
	}
	loads->pieces[rank] = pieces;
	return true;
}

static uint32_t load_piece_of_task(const struct ss_rank_loads *loads, uint32_t rank, uint32_t task)
{
	return loads->pieces[rank] ? loads->pieces[rank][task]
				   : loads->graphs[rank].kinds[task] >> 4U;
}

static void add_rank_loads(struct ss_rank_loads *loads, uint32_t rank)
{
	const struct ss_packed *graph = &loads->graphs[rank];

	for (uint32_t i = 0; i < graph->task_count; i++) {
		enum ss_task_kind task = ss_packed_kind(graph, i);
		enum ss_load_kind kind = load_kind_of_task(task);
		uint32_t step = ss_packed_run(graph, i)->step;
		struct ss_rank_load *load;

		if (kind == SS_LOAD_KINDS || step >= graph->step_count)
			continue;
		load = &loads->items[load_index(loads, rank, step,
						load_piece_of_task(loads, rank, i), kind)];
		load->ns += (double)ss_packed_own(graph, i);
		load->count += kind < SS_LOAD_HOST || task == SS_TASK_LAUNCH;
	}
}

bool ss_rank_loads_find(struct ss_rank_loads *loads, const struct ss_judgement *judgement,
			struct ss_arena *arena)
{
	*loads = (struct ss_rank_loads){ .arena = arena,
					 .graphs = judgement->graphs,
					 .joined = judgement->joined,
					 .rank_count = judgement->rank_count };
	for (uint32_t i = 0; i < loads->rank_count; i++)
		if (loads->graphs[i].step_count > loads->step_count)
			loads->step_count = loads->graphs[i].step_count;
	if (!SS_ALLOC(arena, loads->items,
		      load_index(loads, loads->rank_count, 0, 0, SS_LOAD_DEVICE) + 1) ||
	    !SS_ALLOC(arena, loads->values, (size_t)loads->rank_count + 1) ||
	    !SS_ALLOC(arena, loads->classes, load_index(loads, 1, 0, 0, SS_LOAD_DEVICE) + 1) ||
	    !SS_ALLOC(arena, loads->factors, (size_t)loads->step_count * SS_PHASE_COUNT * 2 + 1) ||
	    !SS_ALLOC(arena, loads->pieces, (size_t)loads->rank_count + 1))
		return false;
	for (uint32_t i = 0; i < loads->rank_count; i++)
		if (judgement->joined->ranks[i].device < 0 && !find_load_pieces(loads, i, arena))
			return false;
	for (uint32_t i = 0; i < loads->rank_count; i++)
		add_rank_loads(loads, i);
	return true;
}

/* --- what is usual --------------------------------------------------------------------- */

static bool has_similar_count(const struct ss_rank_load *a, const struct ss_rank_load *b)
{
	double most = a->count > b->count ? a->count : b->count;

	return (a->count > b->count ? a->count - b->count : b->count - a->count) * 100.0 <=
	       most * ALIKE_PERCENT;
}

/* Times are never negative: their bits have the same order. */
static int64_t time_to_bits(double time)
{
	int64_t bits;

	memcpy(&bits, &time, sizeof(bits));
	return bits;
}

static double bits_to_time(int64_t bits)
{
	double time;

	memcpy(&time, &bits, sizeof(time));
	return time;
}

/* The load of a rank, as it is compared in the class. */
static double load_in_class(const struct ss_load_class *class, const struct ss_rank_load *load)
{
	return class->is_scaled && load->count && class->count
		       ? load->ns * class->count / load->count
		       : load->ns;
}

/*
 * Of the peers of a rank, those with as many launches have the same part of the model. Where most
 * others have another number of them, hosts are compared by what a launch takes, devices by all
 * that ran.
 */
static struct ss_load_class make_load_class(const struct ss_rank_loads *loads, uint32_t rank,
					    uint32_t step, uint32_t phase, enum ss_load_kind kind)
{
	const struct ss_rank_load *own = ss_rank_loads_at(loads, rank, step, phase, kind);
	struct ss_load_class class = { .count = own->count, .role = loads->joined->roles[rank] };
	uint32_t alike = 0, all = 0;
	struct ss_middle middle;
	bool among_peers;

	for (uint32_t i = 0; i < loads->rank_count; i++)
		if (step < loads->graphs[i].step_count &&
		    ss_joined_are_peers(loads->joined, rank, i)) {
			all++;
			alike += has_similar_count(own,
						   ss_rank_loads_at(loads, i, step, phase, kind));
		}
	/* without the rank itself, which is like itself */
	among_peers = (alike - 1) * 2 >= all - 1 || alike - 1 >= 3;
	class.is_scaled = !among_peers && kind == SS_LOAD_HOST;
	for (uint32_t i = 0; i < loads->rank_count; i++) {
		const struct ss_rank_load *load = ss_rank_loads_at(loads, i, step, phase, kind);
		double value = load_in_class(&class, load);

		if (step >= loads->graphs[i].step_count ||
		    !ss_joined_are_peers(loads->joined, rank, i) ||
		    (among_peers && !has_similar_count(own, load)))
			continue;
		loads->values[class.ranks++] = time_to_bits(value);
		class.sum += value;
		if (value > class.most) {
			class.second = class.most;
			class.most = value;
		} else if (value > class.second) {
			class.second = value;
		}
	}
	middle = ss_middle_of(loads->values, class.ranks);
	class.low = bits_to_time(middle.low);
	class.high = bits_to_time(middle.high);
	return class;
}

/* The same from the cache; without memory it is computed each time. */
static struct ss_load_class load_class_of(const struct ss_rank_loads *loads, uint32_t rank,
					  uint32_t step, uint32_t phase, enum ss_load_kind kind)
{
	uint32_t count = ss_rank_loads_at(loads, rank, step, phase, kind)->count;
	struct ss_load_class **first = &loads->classes[load_index(loads, 0, step, phase, kind)];
	struct ss_load_class class, *kept;

	for (const struct ss_load_class *known = *first; known; known = known->next)
		if (known->count == count && known->role == loads->joined->roles[rank])
			return *known;
	class = make_load_class(loads, rank, step, phase, kind);
	class.next = *first;
	kept = SS_ARENA_NEW(loads->arena, struct ss_load_class, 1);
	if (kept) {
		*kept = class;
		*first = kept;
	}
	return class;
}

struct ss_usual_load ss_rank_loads_usual(const struct ss_rank_loads *loads, uint32_t rank,
					 uint32_t step, uint32_t phase, enum ss_load_kind kind)
{
	const struct ss_rank_load *own = ss_rank_loads_at(loads, rank, step, phase, kind);
	struct ss_load_class class = load_class_of(loads, rank, step, phase, kind);
	struct ss_usual_load usual = { own->ns, own->ns, own->ns };
	double value = load_in_class(&class, own);

	if (class.ranks < 2)
		return usual;
	usual.ns = value <= class.low ? class.high : class.low;
	usual.most_ns = value == class.most ? class.second : class.most;
	usual.mean_ns = (class.sum - value + own->ns) / class.ranks;
	return usual;
}

/* --- what other ranks have, too ---------------------------------------------------------- */

/*
 * Share of what a rank would have at the speed of the others. What all ranks have differs by some
 * ten percent; what only a slow rank has is absent on the others, or small.
 */
#define ENOUGH 0.5

static double claimed_amount(const struct ss_judgement *judgement, uint32_t rule, uint32_t rank)
{
	const struct ss_rank_findings *findings = judgement->rank_findings[rank];
	const struct ss_found_part *part = &findings->parts[rule];
	const struct ss_packed *graph = &judgement->graphs[rank];
	double sum = 0;

	for (uint32_t i = part->claim_from; i < part->claim_to; i++) {
		const struct ss_claim *claim = &findings->claims[i];

		sum += (double)(ss_packed_own(graph, claim->task) - claim->own_ns);
		/* the return of a wait takes no time: their number counts */
		sum += claim->releases;
	}
	return graph->step_count ? sum / graph->step_count : 0;
}

bool ss_prevalence_find(struct ss_prevalence *common, const struct ss_judgement *judgement,
			struct ss_arena *arena)
{
	uint32_t ranks = judgement->rank_count;
	double *sorted = SS_ARENA_NEW(arena, double, (size_t)ranks + 1);

	*common = (struct ss_prevalence){ .rank_count = ranks };
	if (!SS_ALLOC(arena, common->amounts, ss_rule_count * ranks + 1) ||
	    !SS_ALLOC(arena, common->middles, ss_rule_count + 1) || !sorted)
		return false;
	for (uint32_t rule = 0; rule < ss_rule_count; rule++) {
		for (uint32_t rank = 0; rank < ranks; rank++)
			common->amounts[(size_t)rule * ranks + rank] = sorted[rank] =
				claimed_amount(judgement, rule, rank);
		if (ranks < 2)
			continue;
		SS_SORT(sorted, ranks, ss_sort_compare_double);
		common->middles[rule] = (struct ss_prevalence_middle){ sorted[ranks / 2 - 1],
								       sorted[ranks / 2] };
	}
	return true;
}

/*
 * Whether the median of the other ranks has enough of what the rule claimed on this one; `factor`
 * is the share that would remain if the rank were as fast as they are.
 */
static bool others_have_claim(const struct ss_prevalence *common, uint32_t rule, uint32_t rank,
			      double factor)
{
	double own = common->amounts[(size_t)rule * common->rank_count + rank];
	const struct ss_prevalence_middle *middle = &common->middles[rule];

	if (common->rank_count < 2 || own <= 0)
		return false;
	return (own <= middle->low ? middle->high : middle->low) >= ENOUGH * factor * own;
}

/* --- claims ------------------------------------------------------------------------------ */

static double smaller_number(double a, double b)
{
	return a < b ? a : b;
}

/* Whether the rank has enough extra work in a step. */
static bool has_more_load(const struct ss_rank_loads *loads, uint32_t rank, uint32_t step,
			  enum ss_load_kind kind)
{
	double own = 0, usual = 0;

	for (uint32_t phase = 0; phase < SS_PHASE_COUNT; phase++) {
		own += ss_rank_loads_at(loads, rank, step, phase, kind)->ns;
		usual += ss_rank_loads_usual(loads, rank, step, phase, kind).ns;
	}
	return own > usual * (1 + loads->least_more);
}

/* The factors of each step and phase that remain: expected, and at most. */
static void set_load_factors(struct ss_rank_loads *loads, uint32_t rank, enum ss_load_kind kind,
			     double ratio)
{
	for (uint32_t step = 0; step < loads->graphs[rank].step_count; step++) {
		bool counts = loads->least_more <= 0 || has_more_load(loads, rank, step, kind);

		for (uint32_t phase = 0; phase < SS_PHASE_COUNT; phase++) {
			double *factor =
				&loads->factors[((size_t)step * SS_PHASE_COUNT + phase) * 2];
			double own = ss_rank_loads_at(loads, rank, step, phase, kind)->ns;
			struct ss_usual_load usual;

			factor[0] = factor[1] = ratio > 0 && counts ? ratio : 1;
			if (ratio > 0 || !counts || own <= 0)
				continue;
			usual = ss_rank_loads_usual(loads, rank, step, phase, kind);
			factor[0] = smaller_number(1, (loads->balances ? usual.mean_ns : usual.ns) /
							      own);
			factor[1] = loads->spreads ? usual.mean_ns / own : usual.most_ns / own;
			factor[1] = factor[1] < factor[0] ? factor[0]
							  : smaller_number(1, factor[1]);
		}
	}
}

/*
 * Takes over a task that a rule of one rank claimed on this rank and on no other: that is how a
 * slow host looks. The claim of that rule is void.
 */
static void seize_task(const struct ss_rank_loads *loads, struct ss_judgement *judgement,
		       uint32_t rank, uint32_t task, double factor)
{
	struct ss_rank_findings *findings = judgement->rank_findings[rank];
	uint8_t owner = findings->owner[task];

	if (!owner || (owner != judgement->number + 1 &&
		       !others_have_claim(loads->common, owner - 1U, rank, factor)))
		findings->owner[task] = (uint8_t)(judgement->number + 1);
}

int64_t ss_rank_loads_claim(struct ss_rank_loads *loads, struct ss_judgement *judgement,
			    struct ss_finding *finding, uint32_t rank, enum ss_load_kind kind,
			    double ratio)
{
	const struct ss_packed *graph = &loads->graphs[rank];
	int64_t sum_ns = 0;

	set_load_factors(loads, rank, kind, ratio);
	for (uint32_t i = 0; i < graph->task_count && !judgement->failed; i++) {
		uint32_t step = ss_packed_run(graph, i)->step;
		const double *factor;

		if (step >= graph->step_count ||
		    load_kind_of_task(ss_packed_kind(graph, i)) != kind)
			continue;
		factor = &loads->factors[((size_t)step * SS_PHASE_COUNT +
					  load_piece_of_task(loads, rank, i)) *
					 2];
		if (factor[0] >= 1)
			continue;
		if (loads->common)
			seize_task(loads, judgement, rank, i, factor[0]);
		/* a scale of 0 would mean: not scaled */
		if (ss_judgement_scale(judgement, finding, rank, i,
				       factor[0] > SCALE_MIN ? factor[0] : SCALE_MIN,
				       factor[1] > SCALE_MIN ? factor[1] : SCALE_MIN))
			sum_ns = ss_ns_sum(sum_ns, (int64_t)((double)ss_packed_own(graph, i) *
							     (1 - factor[0])));
	}
	return sum_ns;
}
