/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roles.c - which ranks have the same part of the model: the stages of pipelines.
 *
 * Ranks are numbered in a grid, and the pipeline is one of its dimensions: neighbouring stages are
 * always the same number of ranks apart, and a rank's number says its stage. So a rank whose
 * neighbours have no file has its stage, too. Which ranks are neighbours follows from groups that
 * send and receive.
 */

#include "base/sort.h"
#include "ranks/join.h"

/* Two stages next to each other, by their indexes; `a` has the lower number. */
struct stage_pair {
	int64_t apart; /* of their numbers */
	uint32_t a, b;
};

SS_COMPARATOR(stage_pair_compare, struct stage_pair,
	      SS_ASCENDING(apart) SS_ASCENDING(a) SS_ASCENDING(b))

struct role_search {
	struct ss_joined *joined;
	struct ss_arena scratch;
	uint32_t *sends;          /* per rank: sends and receives */
	uint8_t *is_pipe;         /* per group: its members send and receive */
	uint8_t *lacks_neighbour; /* per rank: it exchanges data with a rank that has no file */
	struct stage_pair *pairs;
	uint32_t pair_count;
	int64_t apart;  /* neighbouring stages */
	int64_t stages; /* of a pipeline */
};

static int64_t role_rank_number(const struct role_search *search, uint32_t r)
{
	return search->joined->ranks[r].rank;
}

static void find_pipe_groups(struct role_search *search)
{
	const struct ss_joined *joined = search->joined;

	for (uint32_t r = 0; r < joined->rank_count; r++) {
		const struct ss_digest *rank = &joined->ranks[r];

		for (uint32_t i = 0; i < rank->arrival_count; i++) {
			uint32_t group = joined->rank_groups[r][rank->arrivals[i].group];
			int64_t size = rank->groups[rank->arrivals[i].group].size;

			if (rank->arrivals[i].kind < SS_COLLECTIVE_SEND_RECV)
				continue;
			search->sends[r]++;
			search->is_pipe[group] = true;
			search->lacks_neighbour[r] |= size > (int64_t)joined->groups[group].count ||
						      joined->groups[group].count < 2;
		}
	}
}

/* The ends of a pipeline have one neighbour; in a ring all members send as much. */
static bool is_ring(const struct role_search *search, const struct ss_group *group)
{
	const uint32_t *members = &search->joined->group_members[group->first];
	uint32_t end = search->sends[members[0]], most = 0;

	for (uint32_t i = 1; i + 1 < group->count; i++)
		if (search->sends[members[i]] > most)
			most = search->sends[members[i]];
	return group->count > 2 && end >= most;
}

static void find_stage_pairs(struct role_search *search)
{
	const struct ss_joined *joined = search->joined;

	for (uint32_t i = 0; i < joined->group_count; i++) {
		const struct ss_group *group = &joined->groups[i];
		const uint32_t *members = &joined->group_members[group->first];

		if (!search->is_pipe[i] || is_ring(search, group))
			continue;
		/* ranks are sorted by number, and so are members */
		for (uint32_t k = 0; k + 1 < group->count; k++) {
			int64_t apart = role_rank_number(search, members[k + 1]) -
					role_rank_number(search, members[k]);

			if (apart > 0 && role_rank_number(search, members[k]) >= 0)
				search->pairs[search->pair_count++] =
					(struct stage_pair){ apart, members[k], members[k + 1] };
		}
	}
	SS_SORT(search->pairs, search->pair_count, stage_pair_compare);
}

/* The distance that most pairs have: the last stage may send to the first one, too. */
static void find_stage_distance(struct role_search *search)
{
	uint32_t most = 0;

	for (uint32_t from = 0, to; from < search->pair_count; from = to) {
		for (to = from + 1; to < search->pair_count &&
				    search->pairs[to].apart == search->pairs[from].apart;)
			to++;
		if (to - from > most) {
			most = to - from;
			search->apart = search->pairs[from].apart;
		}
	}
}

/*
 * The length of the longest chain of pairs. A chain that ends because the next rank has no file is
 * longer than it looks: if there are no others, stages do not repeat.
 */
static bool count_stages(struct role_search *search)
{
	const struct ss_joined *joined = search->joined;
	uint32_t *length = SS_ARENA_NEW(&search->scratch, uint32_t, (size_t)joined->rank_count + 1);
	uint8_t *is_cut = SS_ARENA_NEW(&search->scratch, uint8_t, (size_t)joined->rank_count + 1);
	uint8_t *is_end = SS_ARENA_NEW(&search->scratch, uint8_t, (size_t)joined->rank_count + 1);

	if (!length || !is_cut || !is_end)
		return false;
	/* of one distance they are sorted by their first rank: chains grow from the front */
	for (uint32_t i = 0; i < search->pair_count; i++) {
		const struct stage_pair *pair = &search->pairs[i];

		if (pair->apart != search->apart)
			continue;
		if (!length[pair->a]) {
			length[pair->a] = 1;
			is_cut[pair->a] = search->lacks_neighbour[pair->a];
		}
		length[pair->b] = length[pair->a] + 1;
		is_end[pair->a] = false;
		is_end[pair->b] = true;
		is_cut[pair->b] = is_cut[pair->a] | search->lacks_neighbour[pair->b];
	}
	for (uint32_t r = 0; r < joined->rank_count; r++)
		if (is_end[r] && !is_cut[r] && (int64_t)length[r] > search->stages)
			search->stages = length[r];
	if (search->stages < 2)
		search->stages = INT64_MAX;
	return true;
}

static int64_t stage_of_rank(const struct role_search *search, uint32_t r)
{
	return role_rank_number(search, r) / search->apart % search->stages;
}

/* Whether the numbers of all pairs agree with the grid. */
static bool is_stage_grid(const struct role_search *search)
{
	for (uint32_t i = 0; i < search->pair_count; i++) {
		const struct stage_pair *pair = &search->pairs[i];

		if (pair->apart == search->apart &&
		    stage_of_rank(search, pair->b) != stage_of_rank(search, pair->a) + 1)
			return false;
	}
	return search->pair_count > 0;
}

struct rank_stage {
	int64_t stage;
	uint32_t rank;
};

SS_COMPARATOR(rank_stage_compare, struct rank_stage, SS_ASCENDING(stage) SS_ASCENDING(rank))

/* Numbers the stages that have several ranks. */
static bool number_roles(struct role_search *search)
{
	struct ss_joined *joined = search->joined;
	struct rank_stage *all;
	uint32_t count = 0;

	if (!SS_ALLOC(&search->scratch, all, (size_t)joined->rank_count + 1))
		return false;
	for (uint32_t r = 0; r < joined->rank_count; r++) {
		joined->stages[r] = role_rank_number(search, r) < 0 ? -1 : stage_of_rank(search, r);
		if (joined->stages[r] >= 0)
			all[count++] = (struct rank_stage){ joined->stages[r], r };
	}
	SS_SORT(all, count, rank_stage_compare);
	for (uint32_t from = 0, to; from < count; from = to) {
		for (to = from + 1; to < count && all[to].stage == all[from].stage;)
			to++;
		for (uint32_t i = from; i < to && to - from > 1; i++)
			joined->roles[all[i].rank] = joined->role_count;
		joined->role_count += to - from > 1;
	}
	for (uint32_t r = 0; r < joined->rank_count; r++)
		if (joined->roles[r] == SS_NO_ROW)
			joined->roles[r] = joined->role_count;
	return true;
}

static bool search_roles(struct role_search *search)
{
	struct ss_joined *joined = search->joined;
	size_t room = (size_t)joined->rank_count + 1, pairs = 1;

	for (uint32_t i = 0; i < joined->group_count; i++)
		pairs += joined->groups[i].count;
	if (!SS_ALLOC(&search->scratch, search->sends, room) ||
	    !SS_ALLOC(&search->scratch, search->lacks_neighbour, room) ||
	    !SS_ALLOC(&search->scratch, search->is_pipe, (size_t)joined->group_count + 1) ||
	    !SS_ALLOC(&search->scratch, search->pairs, pairs))
		return false;
	find_pipe_groups(search);
	find_stage_pairs(search);
	if (!search->pair_count)
		return true;
	find_stage_distance(search);
	if (!count_stages(search))
		return false;
	return !is_stage_grid(search) || number_roles(search);
}

bool ss_joined_find_roles(struct ss_joined *joined)
{
	struct role_search search = { .joined = joined };
	bool whole;

	if (!SS_ALLOC(&joined->arena, joined->roles, (size_t)joined->rank_count + 1) ||
	    !SS_ALLOC(&joined->arena, joined->stages, (size_t)joined->rank_count + 1))
		return false;
	for (uint32_t r = 0; r < joined->rank_count; r++) {
		joined->roles[r] = SS_NO_ROW;
		joined->stages[r] = -1;
	}
	ss_arena_init(&search.scratch, joined->memory);
	whole = search_roles(&search);
	ss_arena_release(&search.scratch);
	for (uint32_t r = 0; r < joined->rank_count; r++)
		if (joined->roles[r] == SS_NO_ROW)
			joined->roles[r] = 0;
	return whole;
}
