/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stages of pipelines from the numbers of the ranks that send and receive.
 */
#include "support/make/ranks.h"

#include <stdio.h>
#include <string.h>

/* A grid of ranks: tensor fastest, then data, then pipe; without one of them. */
struct grid {
	const char *what;
	uint32_t tensor, data, pipe;
	int64_t missing;     /* -1: none */
	bool is_one_group;   /* all stages send in one group, not in pairs */
	bool is_ring;        /* the last stage sends to the first one as well */
	const char *stages;  /* of each rank that is there */
	uint32_t role_count; /* stages with several ranks */
};

static const struct grid grids[] = {
	{ "two replicas of three stages", 1, 2, 3, -1, false, false, "001122", 3 },
	{ "pairs of tensor parallel ranks", 2, 1, 2, -1, false, false, "0011", 2 },
	{ "without a rank of the middle stage", 1, 2, 3, 2, false, false, "00122", 2 },
	{ "without one of the first stage", 2, 2, 2, 0, false, false, "0001111", 2 },
	{ "each stage once: nobody has peers", 1, 1, 4, -1, false, false, "0123", 0 },
	{ "each stage once, one is missing", 1, 1, 5, 2, false, false, "0134", 0 },
	{ "one group for all stages", 1, 2, 4, -1, true, false, "00112233", 4 },
	{ "one group, and one rank is missing", 1, 2, 4, 4, true, false, "0011233", 3 },
	{ "a ring is no pipeline", 1, 2, 4, -1, true, true, "--------", 0 },
	{ "no pipeline", 4, 2, 1, -1, false, false, "--------", 0 },
};

static void add_send(struct ss_digest *rank, const char *name, int64_t size, uint32_t number)
{
	int64_t at_ns = SUPPORT_CLOCK_NS + (100 * number + 7 * number * number) * 1000;
	uint32_t group = support_rank_group(rank, name, "");

	rank->groups[group].size = size;
	support_rank_arrive(rank, "sendrecv", at_ns, at_ns + 5000)->group = group;
}

/* What a rank exchanges with the stage before it and the one after it. */
static void add_sends(struct ss_digest *rank, const struct grid *grid, uint32_t number)
{
	uint32_t width = grid->tensor * grid->data, stage = number / width;
	uint32_t column = number % width;
	char name[40];

	for (uint32_t side = 0; side < 2; side++) {
		uint32_t edge = stage + side; /* between stages edge - 1 and edge */

		if (!grid->is_ring && (!edge || edge == grid->pipe))
			continue;
		if (grid->is_one_group)
			snprintf(name, sizeof(name), "pipe %u", column);
		else
			snprintf(name, sizeof(name), "pair %u %u", column, edge);
		add_send(rank, name, grid->is_one_group ? grid->pipe : 2, 2 * stage + side);
	}
}

static void make_grid(struct support_ranks *out, const struct grid *grid)
{
	support_ranks_open(out);
	for (uint32_t r = 0; r < grid->tensor * grid->data * grid->pipe; r++) {
		struct ss_digest *rank;

		if (r == grid->missing)
			continue;
		rank = support_ranks_rank(out, r, "a");
		support_rank_step(rank, 0, SUPPORT_CLOCK_NS, SUPPORT_CLOCK_NS + 100000000);
		if (grid->pipe > 1)
			add_sends(rank, grid, r);
	}
	support_ranks_join(out);
}

static void test_grids(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(grids); i++) {
		struct support_ranks ranks;
		char stages[32] = "";

		make_grid(&ranks, &grids[i]);
		for (uint32_t r = 0; r < ranks.count; r++)
			stages[r] = ranks.joined.stages[r] < 0
					    ? '-'
					    : (char)('0' + ranks.joined.stages[r]);
		support_check(strcmp(stages, grids[i].stages) == 0, grids[i].what, "%s", stages);
		support_check(ranks.joined.role_count == grids[i].role_count, grids[i].what,
			      "%u roles", ranks.joined.role_count);
		for (uint32_t r = 0; r < ranks.count; r++)
			for (uint32_t k = 0; k < ranks.count; k++)
				support_check(ss_joined_are_peers(&ranks.joined, r, k) ==
						      (stages[r] == stages[k] ||
						       ranks.joined.roles[r] ==
							       ranks.joined.role_count),
					      grids[i].what, "peers %u %u", r, k);
		support_ranks_close(&ranks);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_grids) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
