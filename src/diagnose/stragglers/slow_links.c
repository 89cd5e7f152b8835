/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_links.c - medians of transfers by kind, bytes and members, group by group.
 */
#include "diagnose/stragglers/slow_links.h"

#include "base/sort.h"

/* Groups of one job differ by less if no link is slow. */
#define SLOW_PERCENT 125

/* Fewer collectives are not enough. */
#define COLLECTIVES_MIN 3

/* Pairs of a pipeline are compared with the fastest third of them. */
#define PIPE_PART 3

/* Sizes of sends repeat: a step has no more different ones. */
#define SIZES_MAX 512

struct group_transfer {
	enum ss_collective_kind kind;
	uint32_t members, group;
	bool crosses; /* from host to host: another kind of link */
	int64_t bytes, transfer_ns;
};

/* All collectives of one kind and size in one group. */
struct transfer_sample {
	uint32_t group, count;
	int64_t transfer_ns; /* median */
};

SS_COMPARATOR(group_transfer_compare, struct group_transfer,
	      SS_ASCENDING(kind) SS_ASCENDING(members) SS_ASCENDING(bytes) SS_ASCENDING(crosses)
		      SS_ASCENDING(group) SS_ASCENDING(transfer_ns))

SS_COMPARATOR(transfer_sample_compare, struct transfer_sample,
	      SS_ASCENDING(transfer_ns) SS_ASCENDING(group))

static bool is_same_transfer_class(const struct group_transfer *a, const struct group_transfer *b)
{
	return a->kind == b->kind && a->members == b->members && a->bytes == b->bytes &&
	       a->crosses == b->crosses;
}

static bool is_slow_transfer(int64_t time_ns, int64_t usual_ns)
{
	return time_ns > usual_ns && (double)time_ns * 100 >= (double)usual_ns * SLOW_PERCENT;
}

struct slow_link_finder {
	const struct ss_joined *joined;
	struct group_transfer *transfers;
	uint32_t count;
	struct transfer_sample *samples;
	int64_t *slow_ns;      /* per group: what is beyond the usual, sum */
	double *slow_usual_ns; /* per group: the usual of the same */
	bool *crosses;         /* per group: has members on several hosts */
	uint32_t *fast;        /* per group: classes in which it is not slow */
};

static bool crosses_hosts(const struct ss_joined *joined, const struct ss_group *group)
{
	const uint32_t *members = &joined->group_members[group->first];

	for (uint32_t i = 1; i < group->count; i++)
		if (joined->hosts[members[i]] != joined->hosts[members[0]])
			return true;
	return false;
}

/* The last of two ranks to arrive at a send or receive stays as long as the transfer takes. */
static bool is_send_pair(const struct ss_collective *collective)
{
	return collective->kind >= SS_COLLECTIVE_SEND_RECV && collective->count == 2;
}

static void collect_transfers(struct slow_link_finder *finder)
{
	const struct ss_joined *joined = finder->joined;

	for (uint32_t i = 0; i < joined->collective_count; i++) {
		const struct ss_collective *collective = &joined->collectives[i];

		/* a member that was not recorded may have been the last one */
		if ((collective->is_symmetric || is_send_pair(collective)) &&
		    collective->bytes > 0 && collective->step != SS_NO_ROW &&
		    collective->count == joined->groups[collective->group].count)
			finder->transfers[finder->count++] = (struct group_transfer){
				collective->kind,  collective->count,
				collective->group, finder->crosses[collective->group],
				collective->bytes, collective->transfer_ns
			};
	}
	SS_SORT(finder->transfers, finder->count, group_transfer_compare);
}

/* Compares the groups of one class with the faster half of them. */
static void compare_transfer_class(struct slow_link_finder *finder, uint32_t from, uint32_t to)
{
	bool is_pipe = finder->transfers[from].kind >= SS_COLLECTIVE_SEND_RECV;
	uint32_t count = 0;
	int64_t usual_ns;

	for (uint32_t i = from; i < to;) {
		uint32_t end = i;

		while (end < to && finder->transfers[end].group == finder->transfers[i].group)
			end++;
		if (end - i >= COLLECTIVES_MIN)
			finder->samples[count++] = (struct transfer_sample){
				finder->transfers[i].group, end - i,
				finder->transfers[i + (end - i) / 2].transfer_ns
			};
		i = end;
	}
	if (count < 2)
		return;
	SS_SORT(finder->samples, count, transfer_sample_compare);
	/* a slow rank has two pairs of a pipeline, which may be most of them */
	usual_ns = finder->samples[(count - 1) / (is_pipe ? PIPE_PART : 2)].transfer_ns;
	for (uint32_t i = 0; i < count; i++) {
		const struct transfer_sample *sample = &finder->samples[i];

		if (is_slow_transfer(sample->transfer_ns, usual_ns)) {
			int64_t more_ns = sample->transfer_ns - usual_ns;

			finder->slow_ns[sample->group] =
				ss_ns_sum(finder->slow_ns[sample->group],
					  more_ns < INT64_MAX / sample->count
						  ? more_ns * sample->count
						  : INT64_MAX);
			finder->slow_usual_ns[sample->group] += (double)usual_ns * sample->count;
		} else {
			finder->fast[sample->group]++;
		}
	}
}

/* How many slow groups a rank is in, minus twice the fast ones; only compared groups count. */
static int64_t rank_suspicion(const struct slow_link_finder *finder, uint32_t r)
{
	const struct ss_joined *joined = finder->joined;
	int64_t points = 0;

	for (uint32_t i = 0; i < joined->ranks[r].group_count; i++) {
		uint32_t group = joined->rank_groups[r][i];

		if (finder->slow_ns[group])
			points++;
		else if (finder->fast[group])
			points -= 2;
	}
	return points;
}

/* The ranks with the most points; if there are too many candidates, none is taken. */
static void find_suspect_ranks(const struct slow_link_finder *finder, struct ss_slow_link *link)
{
	int64_t best = 1;

	for (uint32_t r = 0; r < finder->joined->rank_count; r++) {
		int64_t points = rank_suspicion(finder, r);

		if (points < best)
			continue;
		if (points > best)
			link->count = 0;
		best = points;
		if (link->count < SS_COUNT(link->ranks))
			link->ranks[link->count] = r;
		link->count++;
	}
	if (link->count > SS_COUNT(link->ranks))
		link->count = 0; /* it may be any rank: not the link of one */
}

/* How long its shortest sends and receives take, summed over their sizes. */
static int64_t shortest_pair_time(const struct ss_digest *rank)
{
	int64_t sum_ns = 0;

	for (uint32_t i = 0; i < rank->arrival_count; i++) {
		const struct ss_arrival *own = &rank->arrivals[i];
		int64_t least_ns = own->end_ns - own->start_ns;
		bool first = own->kind >= SS_COLLECTIVE_SEND_RECV;

		/* each size once: where it comes first */
		for (uint32_t k = 0; first && k < i && k < SIZES_MAX; k++)
			first = rank->arrivals[k].kind != own->kind ||
				rank->arrivals[k].bytes != own->bytes;
		for (uint32_t k = i; first && k < rank->arrival_count; k++) {
			const struct ss_arrival *other = &rank->arrivals[k];

			if (other->kind == own->kind && other->bytes == own->bytes &&
			    other->end_ns - other->start_ns < least_ns)
				least_ns = other->end_ns - other->start_ns;
		}
		sum_ns = ss_ns_sum(sum_ns, first ? least_ns : 0);
		if (i == SIZES_MAX)
			break;
	}
	return sum_ns;
}

/* Candidates that are in the same groups can be told apart by their sends and receives. */
static void narrow_by_pairs(const struct slow_link_finder *finder, struct ss_slow_link *link)
{
	uint32_t worst = 0;
	int64_t worst_ns = -1, second_ns = -1;

	for (uint32_t i = 0; i < link->count; i++) {
		int64_t time_ns = shortest_pair_time(&finder->joined->ranks[link->ranks[i]]);

		if (time_ns > worst_ns) {
			second_ns = worst_ns;
			worst_ns = time_ns;
			worst = i;
		} else if (time_ns > second_ns) {
			second_ns = time_ns;
		}
	}
	if (link->count > 1 && is_slow_transfer(worst_ns, second_ns)) {
		link->ranks[0] = link->ranks[worst];
		link->count = 1;
	}
}

/* What the slow groups of the worst rank cost in a step: they wait one after the other. */
static void measure_slow_link(const struct slow_link_finder *finder, struct ss_slow_link *link)
{
	const struct ss_joined *joined = finder->joined;
	uint32_t r = link->ranks[0], steps = joined->ranks[r].step_count;
	double usual_ns = 0;
	int64_t slow_ns = 0;

	for (uint32_t i = 0; i < joined->ranks[r].group_count; i++) {
		uint32_t group = joined->rank_groups[r][i];

		slow_ns = ss_ns_sum(slow_ns, finder->slow_ns[group]);
		usual_ns += finder->slow_usual_ns[group];
		link->groups += finder->slow_ns[group] != 0;
	}
	link->ratio = usual_ns > 0 ? 1 + (double)slow_ns / usual_ns : 0;
	link->cost_ns = steps ? slow_ns / steps : 0;
}

bool ss_slow_link_find(struct ss_slow_link *link, const struct ss_joined *joined,
		       struct ss_arena *arena)
{
	struct slow_link_finder finder = { .joined = joined };

	*link = (struct ss_slow_link){ 0 };
	if (!SS_ALLOC(arena, finder.transfers, (size_t)joined->collective_count + 1) ||
	    !SS_ALLOC(arena, finder.samples, (size_t)joined->group_count + 1) ||
	    !SS_ALLOC(arena, finder.slow_ns, (size_t)joined->group_count + 1) ||
	    !SS_ALLOC(arena, finder.slow_usual_ns, (size_t)joined->group_count + 1) ||
	    !SS_ALLOC(arena, finder.crosses, (size_t)joined->group_count + 1) ||
	    !SS_ALLOC(arena, finder.fast, (size_t)joined->group_count + 1))
		return false;
	for (uint32_t i = 0; i < joined->group_count; i++)
		finder.crosses[i] = crosses_hosts(joined, &joined->groups[i]);
	collect_transfers(&finder);
	for (uint32_t from = 0, to; from < finder.count; from = to) {
		for (to = from + 1;
		     to < finder.count &&
		     is_same_transfer_class(&finder.transfers[from], &finder.transfers[to]);)
			to++;
		compare_transfer_class(&finder, from, to);
	}
	find_suspect_ranks(&finder, link);
	if (link->count > 1)
		narrow_by_pairs(&finder, link);
	if (link->count)
		measure_slow_link(&finder, link);
	else
		return ss_slow_group_find(link, joined, arena);
	return true;
}
