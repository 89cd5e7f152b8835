/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which arrivals of which ranks are the same collective.
 */
#include "support/make/ranks.h"

#include <time.h>

/* Collectives of one rank with gaps that never repeat, from the first to the last given. */
#define A0 "allreduce 100 +50;"
#define A1 "allreduce 400 +50;"
#define A2 "allreduce 900 +50;"
#define A3 "allreduce 1600 +50;"
#define A4 "allreduce 2500 +50;"
/* The same for a rank that arrives 30 later each time. */
#define B0 "allreduce 130 +20;"
#define B1 "allreduce 430 +20;"
#define B2 "allreduce 930 +20;"
#define B3 "allreduce 1630 +20;"
#define B4 "allreduce 2530 +20;"

/* Three steps of ranks on busy hosts, the last of which is late: ends are milliseconds apart. */
#define RAGGED_0                                                          \
	"step 0 0 +155490; step 1 155550 +132250; step 2 287860 +136000;" \
	"allreduce 43050 +105440; allreduce 191580 +94580; allreduce 332090 +91330;"
#define RAGGED_1                                                          \
	"step 0 0 +152990; step 1 152920 +134270; step 2 287250 +137260;" \
	"allreduce 32420 +114490; allreduce 190680 +95430; allreduce 328320 +95750;"
#define RAGGED_2                                                            \
	"step 0 870 +151440; step 1 152380 +134170; step 2 286590 +141510;" \
	"allreduce 129590 +16490; allreduce 277930 +8120; allreduce 417640 +8290;"
#define RAGGED_MET "all-reduce 0:0 1:0 2:0; all-reduce 0:1 1:1 2:1; all-reduce 0:2 1:2 2:2"

static const struct {
	const char *what, *script, *collectives;
	unsigned long long unmatched;
} cases[] = {
	{ "no ranks", "", "", 0 },
	{ "a rank without collectives", "rank 0", "", 0 },
	{ "one rank meets nobody", "rank 0;" A0 A1, "", 2 },
	{ "two ranks, one collective", "rank 0 @a;" A0 "rank 1 @a;" B0, "all-reduce 0:0 1:0", 0 },
	{ "of a pair one has none", "rank 0 @a;" A0 "rank 1 @a", "", 1 },
	{ "the same kernel again and again", "rank 0 @a;" A0 A1 A2 "rank 1 @a;" B0 B1 B2,
	  "all-reduce 0:0 1:0; all-reduce 0:1 1:1; all-reduce 0:2 1:2", 0 },
	{ "one lost in the middle", "rank 0 @a;" A0 A1 A2 A3 "rank 1 @a;" B0 B2 B3,
	  "all-reduce 0:0 1:0; all-reduce 0:2 1:1; all-reduce 0:3 1:2", 1 },
	{ "one fewer at the beginning: pairing from the first would break causality",
	  "rank 0 @a;" A0 A1 A2 A3 "rank 1 @a;" B1 B2 B3,
	  "all-reduce 0:1 1:0; all-reduce 0:2 1:1; all-reduce 0:3 1:2", 1 },
	{ "one fewer, and clocks 10 s apart",
	  "rank 0 @a;" A0 A1 A2 A3 A4 "rank 1 @b >10000000;" B1 B2 B3 B4,
	  "all-reduce 0:1 1:0; all-reduce 0:2 1:1; all-reduce 0:3 1:2; all-reduce 0:4 1:3", 1 },
	{ "equally many in other windows: order says nothing",
	  "rank 0 @a;" A0 A1 A2 A3 "rank 1 @a;" B1 B2 B3 B4,
	  "all-reduce 0:1 1:0; all-reduce 0:2 1:1; all-reduce 0:3 1:2", 2 },
	{ "equally many in other windows on clocks that say nothing",
	  "rank 0 noclock;" A0 A1 A2 A3 "rank 1 noclock >-777777;" B1 B2 B3 B4,
	  "all-reduce 0:1 1:0; all-reduce 0:2 1:1; all-reduce 0:3 1:2", 2 },
	{ "ragged ends on three hosts: numbers of steps decide",
	  "rank 0 @a #7;" RAGGED_0 "rank 1 @b #7;" RAGGED_1 "rank 2 @c #7;" RAGGED_2, RAGGED_MET,
	  0 },
	{ "the same on clocks that are seconds apart",
	  "rank 0 @a #7;" RAGGED_0 "rank 1 @b #7 >-7777777;" RAGGED_1
	  "rank 2 @c #7 >3000000;" RAGGED_2,
	  RAGGED_MET, 0 },
	{ "two ends that agree by chance, and one that does not",
	  "rank 0 @a #7; step 0 0 +100000; step 1 100000 +100000; step 2 200000 +100000;"
	  "allreduce 20000 +70000; allreduce 120000 +70000; allreduce 220000 +70000;"
	  "rank 1 @b #7 >900; step 0 0 +100000; step 1 100000 +100000; step 2 200000 +100000;"
	  "allreduce 30000 +60000; allreduce 130000 +60010; allreduce 230000 +66000;",
	  "all-reduce 0:0 1:0; all-reduce 0:1 1:1; all-reduce 0:2 1:2", 0 },
	{ "the same steps, equally many calls in other windows",
	  "rank 0 @a #7; step 0 0 +3000;" A0 A1 A2 A3 "rank 1 @b #7; step 0 10 +3000;" B1 B2 B3 B4,
	  "all-reduce 0:1 1:0; all-reduce 0:2 1:1; all-reduce 0:3 1:2", 2 },
	{ "ends that agree need no steps, and other steps change nothing",
	  "rank 0 @a #7; step 0 0 +3000;" A0 A1 A2 A3
	  "rank 1 @b #7 >10000; step 0 900 +3000;" B0 B1 B2 B3,
	  "all-reduce 0:0 1:0; all-reduce 0:1 1:1; all-reduce 0:2 1:2; all-reduce 0:3 1:3", 0 },
	{ "numbers decide, whatever the times say",
	  "rank 0 @a; allreduce 0 +5 =7; allreduce 100 +5 =8; rank 1 @a; allreduce 100 +5 =7;"
	  "allreduce 200 +5 =8",
	  "all-reduce 0:0 1:0; all-reduce 0:1 1:1", 0 },
	{ "numbers in other windows",
	  "rank 0 @a; allreduce 0 +5 =7; allreduce 10 +5 =8; rank 1 @a; allreduce 10 +5 =8;"
	  "allreduce 20 +5 =9",
	  "all-reduce 0:1 1:0", 2 },
	{ "a number that a rank has twice counts once",
	  "rank 0 @a; allreduce 0 +5 =7; allreduce 10 +5 =7; rank 1 @a; allreduce 0 +5 =7",
	  "all-reduce 0:0 1:0", 1 },
	{ "the same number of another kernel is another one",
	  "rank 0 @a; allreduce 0 +5 =7; allgather 10 +5 =7; rank 1 @a; allreduce 0 +5 =7;"
	  "allgather 10 +5 =7",
	  "all-reduce 0:0 1:0; all-gather 0:1 1:1", 0 },
	{ "numbers of a kernel that is an all-to-all or a send, counted apart",
	  "rank 0 @a; send 0 +5 =1; rank 1 @a; recv 0 +5 =1", "send 0:0 1:0", 0 },
	{ "different shapes are different collectives",
	  "rank 0 @a; allreduce 0 +50 *1; allreduce 60 +50 *2; rank 1 @a; allreduce 0 +50 *1;"
	  "allreduce 60 +50 *3",
	  "all-reduce 0:0 1:0", 2 },
	{ "a shape that was not recorded can be any",
	  "rank 0 @a; allreduce 0 +50 *1; rank 1 @a; allreduce 0 +50", "all-reduce 0:0 1:0", 0 },
	{ "groups of the same name with different ranks",
	  "rank 0 @a; group tp 0,1; allreduce 0 +50; rank 1 @a; group tp 0,1; allreduce 0 +50;"
	  "rank 2 @a; group tp 2,3; allreduce 0 +50; rank 3 @a; group tp 2,3; allreduce 0 +50",
	  "all-reduce 0:0 1:0; all-reduce 2:0 3:0", 0 },
	{ "a rank in two groups at once",
	  "rank 0 @a; group tp 0,1; allreduce 0 +50; group dp 0,2; allreduce 5 +50;"
	  "rank 1 @a; group tp 0,1; allreduce 0 +50; rank 2 @a; group dp 0,2; allreduce 5 +50",
	  "all-reduce 0:0 1:0; all-reduce 0:1 2:0", 0 },
	{ "sends in a group of two", "rank 0 @a; send 0 +50; rank 1 @a; recv 0 +50", "send 0:0 1:0",
	  0 },
	{ "sends in a group of three: it is not told who with whom",
	  "rank 0 @a; send 0 +50; rank 1 @a; recv 0 +50; rank 2 @a; allreduce 9 +9", "", 3 },
	{ "members that were not recorded: the others still meet",
	  "rank 0 @a; group g 0,1,2,3; allreduce 0 +50; rank 3 @a; group g 0,1,2,3;"
	  "allreduce 0 +50",
	  "all-reduce 0:0 3:0", 0 },
	{ "three ranks, each lost another one",
	  "rank 0 @a;" A0 A1 A2 A3 "rank 1 @a;" B1 B2 B3 "rank 2 @a;" A0 A1 A3,
	  "all-reduce 0:0 2:0; all-reduce 0:1 1:0 2:1; all-reduce 0:2 1:1; "
	  "all-reduce 0:3 1:2 2:2",
	  0 },
	{ "what the first has not, the others still share",
	  "rank 0 @a;" A0 A1 A2 "rank 1 @a;" B0 B1 B3 "rank 2 @a;" A0 A1 A3,
	  "all-reduce 0:0 1:0 2:0; all-reduce 0:1 1:1 2:1; all-reduce 1:2 2:2", 1 },
	{ "the member with the most is alone: the others still meet",
	  "rank 0 @a; group g 0,1,2; allgather 100 +50; allgather 400 +50; allgather 900 +50;"
	  "rank 1 @a; group g 0,1,2;" A0 A1 "rank 2 @a; group g 0,1,2;" B0 B1,
	  "all-reduce 1:0 2:0; all-reduce 1:1 2:1", 3 },
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct support_ranks ranks;
		struct ss_text found = { 0 };

		support_ranks_script(&ranks, cases[i].script);
		support_ranks_meetings(&ranks, &found);
		support_check(strcmp(found.data, cases[i].collectives) == 0, cases[i].what,
			      "found: %s", found.data);
		support_check(ranks.joined.unmatched == cases[i].unmatched, cases[i].what,
			      "%llu unmatched", (unsigned long long)ranks.joined.unmatched);
		ss_text_release(&found);
		support_ranks_close(&ranks);
	}
}

/* What a collective says about its members. */
static void test_figures(void **state)
{
	struct support_ranks ranks;
	const struct ss_collective *collective;

	(void)state;
	/* all leave at 100; rank 1 arrived last, at 90 */
	support_ranks_script(&ranks, "rank 0 @a; step 4 0 +200; allreduce 20 +80 !64;"
				     "rank 1 @a; step 4 0 +200; allreduce 90 +10 !64;"
				     "rank 2 @a; step 4 0 +200; allreduce 50 +50");
	assert_int_equal(ranks.joined.collective_count, 1);
	collective = &ranks.joined.collectives[0];
	assert_true(collective->is_symmetric);
	assert_false(collective->breaks_causality);
	assert_int_equal(collective->transfer_ns, 10000);
	assert_int_equal(collective->longest_ns, 80000);
	assert_int_equal(collective->wait_ns, 70000 + 40000);
	assert_int_equal(collective->last_rank, 1);
	assert_int_equal(collective->bytes, 64);
	assert_int_equal(collective->step, 4);
	assert_int_equal(collective->end_ns - collective->start_ns, 80000);
	support_ranks_close(&ranks);

	/* both arrived last; step and size are not known */
	support_ranks_script(&ranks, "rank 0 @a; allreduce 0 +5; rank 1 @a; allreduce 0 +5");
	collective = &ranks.joined.collectives[0];
	assert_int_equal(collective->last_rank, SS_NO_ROW);
	assert_int_equal(collective->wait_ns, 0);
	assert_int_equal(collective->bytes, -1);
	assert_int_equal(collective->step, UINT32_MAX);
	support_ranks_close(&ranks);

	/* the root of a broadcast leaves early: that is no wait */
	support_ranks_script(&ranks, "rank 0 @a; broadcast 0 +5; rank 1 @a; broadcast 2 +50");
	assert_int_equal(ranks.joined.collective_count, 1);
	assert_false(ranks.joined.collectives[0].is_symmetric);
	assert_false(ranks.joined.collectives[0].breaks_causality);
	assert_int_equal(ranks.joined.clocks[1].anchors, 0);
	support_ranks_close(&ranks);
}

/* --- random jobs --------------------------------------------------------------------- */

struct truth {
	int64_t ahead_ns[8];
	uint32_t collective[8][512]; /* per rank and arrival */
	int64_t came_ns[8][512], left_ns[512];
};

/*
 * A job of `ranks` on two hosts: irregular gaps, ranks arrive at random times and all
 * leave together. Some events are lost, windows differ.
 */
static void make_job(struct support_ranks *out, struct truth *truth, uint64_t *seed, uint32_t ranks,
		     uint32_t collectives)
{
	int64_t now_ns = 0;

	support_ranks_open(out);
	for (uint32_t r = 0; r < ranks; r++) {
		struct ss_digest *rank = support_ranks_rank(out, r, r < ranks / 2 ? "a" : "b");

		support_rank_group(rank, "world", "");
		truth->ahead_ns[r] = r < ranks / 2 ? 0 : INT64_C(10000000000);
	}
	for (uint32_t i = 0; i < collectives; i++) {
		int64_t last_ns = 0;

		now_ns += 300000 + support_random(seed, 1500000);
		for (uint32_t r = 0; r < ranks; r++) {
			truth->came_ns[r][i] = now_ns + support_random(seed, 100000);
			if (truth->came_ns[r][i] > last_ns)
				last_ns = truth->came_ns[r][i];
		}
		now_ns = truth->left_ns[i] = last_ns + 20000 + support_random(seed, 50000);
		for (uint32_t r = 0; r < ranks; r++) {
			struct ss_digest *rank = &out->items[r];
			int64_t zero_ns = SUPPORT_CLOCK_NS + truth->ahead_ns[r];

			/* windows of different length, and one of 20 lost */
			if (i < r || (r && !support_random(seed, 20)))
				continue;
			truth->collective[r][rank->arrival_count] = i;
			support_rank_arrive(rank, i % 3 ? "allreduce" : "allgather",
					    zero_ns + truth->came_ns[r][i],
					    zero_ns + truth->left_ns[i]);
		}
	}
}

static void test_random(void **state)
{
	static struct truth truth;
	uint64_t seed = 7;

	(void)state;
	for (int round = 0; round < 40; round++) {
		struct support_ranks ranks;
		const struct ss_joined *joined = &ranks.joined;
		uint32_t expected = 0, count = 2 + support_random(&seed, 5);

		make_job(&ranks, &truth, &seed, count, 100);
		support_ranks_join(&ranks);
		for (uint32_t i = 0; i < 100; i++) {
			uint32_t came = 0;

			for (uint32_t r = 0; r < count; r++)
				for (uint32_t k = 0; k < ranks.items[r].arrival_count; k++)
					came += truth.collective[r][k] == i;
			expected += came > 1;
		}
		assert_int_equal(joined->collective_count, expected);
		for (uint32_t i = 0; i < joined->collective_count; i++) {
			const struct ss_collective *collective = &joined->collectives[i];
			const struct ss_member *members = &joined->members[collective->first];
			uint32_t what = truth.collective[members->rank][members->arrival];
			int64_t last_ns = 0, wait_ns = 0;

			assert_false(collective->breaks_causality);
			for (uint32_t k = 0; k < collective->count; k++) {
				int64_t came_ns = truth.came_ns[members[k].rank][what];

				assert_int_equal(
					truth.collective[members[k].rank][members[k].arrival],
					what);
				assert_int_equal(
					joined->collective_of[members[k].rank][members[k].arrival],
					i);
				last_ns = came_ns > last_ns ? came_ns : last_ns;
			}
			for (uint32_t k = 0; k < collective->count; k++)
				wait_ns += last_ns - truth.came_ns[members[k].rank][what];
			assert_int_equal(collective->wait_ns, wait_ns);
			assert_int_equal(collective->transfer_ns, truth.left_ns[what] - last_ns);
		}
		for (uint32_t r = 0; r < count; r++)
			support_check(joined->clocks[r].offset_ns ==
					      truth.ahead_ns[0] - truth.ahead_ns[r],
				      "offset", "rank %u: %lld", r,
				      (long long)joined->clocks[r].offset_ns);
		support_ranks_close(&ranks);
	}
}

/* --- hostile ----------------------------------------------------------------------------- */

static double seconds(void)
{
	struct timespec now;

	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* What would take minutes if it were quadratic. */
static void test_large(void **state)
{
	enum { GROUPED, ONE_GROUP, FAR_APART, SAME_MOMENT, SHAPES };

	(void)state;
	for (int form = GROUPED; form <= SHAPES; form++) {
		double started = seconds();
		struct support_ranks ranks;
		uint32_t count = form == GROUPED ? 20000 : 100000;

		support_ranks_open(&ranks);
		for (uint32_t r = 0; r < 2; r++) {
			struct ss_digest *rank = support_ranks_rank(&ranks, r, "");

			for (uint32_t i = 0; i < count; i++) {
				char name[32];
				int64_t end_ns = form == SAME_MOMENT
							 ? 1000
							 : (int64_t)i * 1000 + (i * i % 97) +
								   (form == FAR_APART ? r * 123457
										      : 0);
				struct ss_arrival *arrival = support_rank_arrive(rank, "allreduce",
										 end_ns - 500,
										 end_ns);

				snprintf(name, sizeof(name), "%u", form == GROUPED ? i : 0);
				if (form == GROUPED || !i) {
					/* made directly: the builder looks for equal ones */
					assert_true(ss_memory_reserve(&ranks.memory,
								      (void **)&rank->groups,
								      &rank->group_capacity,
								      (size_t)rank->group_count + 1,
								      sizeof(*rank->groups)));
					rank->groups[rank->group_count] = (struct ss_rank_group){
						.name = ss_strings_add(&rank->texts, name,
								       strlen(name)),
						.size = -1
					};
					rank->group_count++;
				}
				arrival->group = form == GROUPED ? i : 0;
				if (form == SHAPES)
					arrival->shape = r ? i + 1 : count - i;
			}
		}
		support_ranks_join(&ranks);
		support_ranks_close(&ranks);
		support_check(seconds() - started < 20, "100000 arrivals", "form %d takes %.1f s",
			      form, seconds() - started);
	}
}

/* Times from files can be anything: nothing may overflow. */
static void test_extremes(void **state)
{
	static const int64_t moments[] = { -(INT64_MAX / 2), -1000,        0, 1, 1000, 1 << 30,
					   INT64_MAX / 4,    INT64_MAX / 2 };
	uint64_t seed = 3;

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct support_ranks ranks;

		support_ranks_open(&ranks);
		for (uint32_t r = 0; r < 3; r++) {
			struct ss_digest *rank = support_ranks_rank(&ranks, r, r == 2 ? "b" : "a");
			uint32_t count = 1 + support_random(&seed, 20);

			support_rank_group(rank, "g", "");
			for (uint32_t i = 0; i < count; i++) {
				int64_t a = moments[support_random(&seed, SS_COUNT(moments))];
				int64_t b = moments[support_random(&seed, SS_COUNT(moments))];
				struct ss_arrival *arrival = support_rank_arrive(rank, "allreduce",
										 a < b ? a : b,
										 a < b ? b : a);

				if (round % 3 == 0)
					arrival->sequence = i;
			}
		}
		support_ranks_join(&ranks);
		support_ranks_close(&ranks);
	}
}

static enum ss_status try_join(void *context, struct ss_memory *memory, struct ss_error *err)
{
	const struct support_ranks *ranks = context;
	struct ss_joined joined;
	enum ss_status status = ss_join_ranks(&joined, ranks->items, ranks->count, memory, err);

	if (status == SS_OK)
		ss_joined_release(&joined);
	return status;
}

/* Refused each piece of memory in turn, joining says so and holds nothing. */
static void test_memory(void **state)
{
	static const char *const scripts[] = {
		"rank 0 @a;" A0 A1 A2 A3 "rank 1 @b >500;" B1 B2 B3 "rank 2 @a;" A0 A1 A3,
		"rank 0; allreduce 0 +5 =1; rank 1; allreduce 0 +5 =1",
		"rank 0",
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(scripts); i++) {
		struct support_ranks ranks;

		support_ranks_script(&ranks, scripts[i]);
		support_refuse(&ranks.memory, try_join, &ranks);
		support_ranks_close(&ranks);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),  cmocka_unit_test(test_figures),
		cmocka_unit_test(test_random), cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_memory), cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
