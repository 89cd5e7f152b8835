/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups whose transfers are slow, and the rank that they have in common.
 */
#include "support/make/ranks.h"

#include "diagnose/stragglers/slow_links.h"

/* A square of four: 0 1 / 2 3, a group for each row and each column, three collectives each. */
struct square {
	const char *what;
	int64_t rows_us[2], columns_us[2]; /* transfers */
	int64_t bytes, column_bytes;
	uint32_t collectives;
	/* expected */
	uint32_t count, rank, groups;
	double ratio;
	int64_t cost_us; /* of the one step */
};

static const struct square squares[] = {
	{ "all alike", { 10, 10 }, { 10, 10 }, 64, 64, 3, 0, 0, 0, 0, 0 },
	{ "a row and a column are slow: who is in both",
	  { 10, 20 },
	  { 10, 20 },
	  64,
	  64,
	  3,
	  1,
	  3,
	  2,
	  2.0,
	  60 },
	{ "another corner", { 20, 10 }, { 10, 20 }, 64, 64, 3, 1, 1, 2, 2.0, 60 },
	{ "columns have their own size", { 10, 40 }, { 100, 200 }, 64, 128, 3, 1, 3, 2, 2.18, 390 },
	{ "a row alone, its columns are fast: no rank has it",
	  { 10, 20 },
	  { 10, 10 },
	  64,
	  64,
	  3,
	  0,
	  0,
	  0,
	  0,
	  0 },
	{ "less than a quarter slower is usual",
	  { 100, 124 },
	  { 100, 124 },
	  64,
	  64,
	  3,
	  0,
	  0,
	  0,
	  0,
	  0 },
	{ "a quarter slower is slow", { 100, 125 }, { 100, 125 }, 64, 64, 3, 1, 3, 2, 1.25, 150 },
	{ "two collectives tell nothing", { 10, 20 }, { 10, 20 }, 64, 64, 2, 0, 0, 0, 0, 0 },
	{ "sizes that were not recorded cannot be compared",
	  { 10, 20 },
	  { 10, 20 },
	  -1,
	  -1,
	  3,
	  0,
	  0,
	  0,
	  0,
	  0 },
};

/* A collective of two ranks; the second arrives `late_us` later: not part of a transfer. */
static void meet(struct support_ranks *ranks, const uint32_t members[2], const char *group,
		 int64_t at_us, int64_t transfer_us, int64_t bytes)
{
	for (int m = 0; m < 2; m++) {
		struct ss_digest *rank = &ranks->items[members[m]];
		int64_t late_us = m ? 0 : 7;
		struct ss_arrival *arrival =
			support_rank_arrive(rank, "allreduce",
					    SUPPORT_CLOCK_NS + (at_us - late_us) * 1000,
					    SUPPORT_CLOCK_NS + (at_us + transfer_us) * 1000);

		arrival->group = support_rank_group(rank, group, "");
		arrival->bytes = bytes;
	}
}

static void make_square(struct support_ranks *out, const struct square *square)
{
	static const uint32_t rows[2][2] = { { 0, 1 }, { 2, 3 } };
	static const uint32_t columns[2][2] = { { 0, 2 }, { 1, 3 } };

	support_ranks_open(out);
	for (uint32_t r = 0; r < 4; r++)
		support_rank_step(support_ranks_rank(out, r, "a"), 0, SUPPORT_CLOCK_NS,
				  SUPPORT_CLOCK_NS + 10000000);
	for (uint32_t i = 0; i < square->collectives; i++) {
		/* no two gaps are alike */
		int64_t at_us = 1000 * (i + 1) + 37 * i * i;

		meet(out, rows[0], "row0", at_us, square->rows_us[0], square->bytes);
		meet(out, rows[1], "row1", at_us, square->rows_us[1], square->bytes);
		meet(out, columns[0], "column0", at_us + 500, square->columns_us[0],
		     square->column_bytes);
		meet(out, columns[1], "column1", at_us + 500, square->columns_us[1],
		     square->column_bytes);
	}
	support_ranks_join(out);
}

static void test_squares(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(squares); i++) {
		const struct square *square = &squares[i];
		struct ss_slow_link link;
		struct support_ranks ranks;
		struct ss_arena arena;

		make_square(&ranks, square);
		ss_arena_init(&arena, &ranks.memory);
		assert_true(ss_slow_link_find(&link, &ranks.joined, &arena));
		support_check(link.count == square->count, square->what, "%u ranks", link.count);
		if (link.count) {
			support_check(link.ranks[0] == square->rank, square->what, "rank %u",
				      link.ranks[0]);
			support_check(link.groups == square->groups, square->what, "%u groups",
				      link.groups);
			support_check(link.ratio > square->ratio - 0.01 &&
					      link.ratio < square->ratio + 0.01,
				      square->what, "%.3f times", link.ratio);
			support_check(link.cost_ns == square->cost_us * 1000, square->what,
				      "%lld ns", (long long)link.cost_ns);
		}
		ss_arena_release(&arena);
		support_ranks_close(&ranks);
	}
}

/* Slow in one group of two pairs: either rank, unless their sends tell them apart. */
#define FAST                                                                   \
	"step 0 0 +9000; group a; allreduce 100 +10 !8; allreduce 220 +10 !8;" \
	"allreduce 370 +10 !8;"
#define SLOW                                                                   \
	"step 0 0 +9000; group b; allreduce 100 +30 !8; allreduce 220 +30 !8;" \
	"allreduce 370 +30 !8;"

static const struct {
	const char *what, *script;
	uint32_t count, first;
} pairs[] = {
	{ "both are as likely",
	  "rank 0 @x;" FAST "rank 1 @x;" FAST "rank 2 @x;" SLOW "rank 3 @x;" SLOW, 2, 2 },
	{ "its sends are slow, too",
	  "rank 0 @x;" FAST "rank 1 @x;" FAST "rank 2 @x;" SLOW "group p; send 700 +10 !5;"
	  "rank 3 @x;" SLOW "group p; send 800 +30 !5",
	  1, 3 },
	{ "sends of both are alike",
	  "rank 0 @x;" FAST "rank 1 @x;" FAST "rank 2 @x;" SLOW "group p; send 700 +30 !5;"
	  "rank 3 @x;" SLOW "group p; send 800 +30 !5",
	  2, 2 },
	{ "one group alone is not compared", "rank 0 @x;" SLOW "rank 1 @x;" SLOW, 0, 0 },
	{ "members that were not recorded may have been the last",
	  "rank 0 @x;" FAST "rank 1 @x;" FAST "rank 2 @x;" SLOW "rank 3 @x; group b", 0, 0 },
	{ "no ranks", "", 0, 0 },
};

static void test_pairs(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(pairs); i++) {
		struct ss_slow_link link;
		struct support_ranks ranks;
		struct ss_arena arena;

		support_ranks_script(&ranks, pairs[i].script);
		ss_arena_init(&arena, &ranks.memory);
		assert_true(ss_slow_link_find(&link, &ranks.joined, &arena));
		support_check(link.count == pairs[i].count, pairs[i].what, "%u ranks", link.count);
		support_check(!link.count || link.ranks[0] == pairs[i].first, pairs[i].what,
			      "rank %u", link.ranks[0]);
		ss_arena_release(&arena);
		support_ranks_close(&ranks);
	}
}

/* Transfers of hundreds of years. */
static void test_extremes(void **state)
{
	static const struct square square = { "extremes",
					      { 10, INT64_MAX / 4000 },
					      { 10, INT64_MAX / 4000 },
					      64,
					      64,
					      3,
					      0,
					      0,
					      0,
					      0,
					      0 };
	struct ss_slow_link link;
	struct support_ranks ranks;
	struct ss_arena arena;

	(void)state;
	make_square(&ranks, &square);
	ss_arena_init(&arena, &ranks.memory);
	assert_true(ss_slow_link_find(&link, &ranks.joined, &arena));
	ss_arena_release(&arena);
	support_ranks_close(&ranks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_squares),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_extremes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
