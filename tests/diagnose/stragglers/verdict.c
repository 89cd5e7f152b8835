/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which ranks delay the others, how regularly, and why.
 */
#include "support/make/ranks.h"

#include "diagnose/stragglers/verdict.h"

#define STEP_US 10000

/*
 * Steps of 10 ms with one collective each: all arrive at 8000, late ranks arrive later.
 * The lateness of a rank is more of `why`: k kernels that all take longer, w more calls
 * of one kernel, or a letter of the script's parts.
 */
struct job {
	const char *what;
	uint32_t ranks;
	const char *late;   /* who is late in each step, '-': nobody */
	const char *second; /* who else is, by half as much; NULL: nobody */
	int64_t late_us;
	char why;
	int64_t exposed_us; /* of the late rank of the first step, more than the others */
	/* expected */
	uint32_t count, rank;
	enum ss_straggler_pattern pattern;
	uint32_t steps;
	enum ss_late_cause cause;
};

#define NOBODY 0, 0, 0, 0, 0

static const struct job jobs[] = {
	{ "a healthy job", 4, "-----", NULL, 0, 'k', 0, NOBODY },
	{ "always the same, its kernels are all slower", 4, "22222", NULL, 1000, 'k', 0, 1, 2,
	  SS_PATTERN_PERSISTENT, 5, SS_LATE_KERNELS },
	{ "the first of two", 2, "00000", NULL, 1000, 'k', 0, 1, 0, SS_PATTERN_PERSISTENT, 5,
	  SS_LATE_KERNELS },
	{ "four of five steps are nearly all", 4, "2222-", NULL, 1000, 'k', 0, 1, 2,
	  SS_PATTERN_PERSISTENT, 4, SS_LATE_KERNELS },
	{ "more calls of one kernel are more work", 4, "22222", NULL, 1000, 'w', 0, 1, 2,
	  SS_PATTERN_PERSISTENT, 5, SS_LATE_WORK },
	{ "copies", 4, "33333", NULL, 1000, 'y', 0, 1, 3, SS_PATTERN_PERSISTENT, 5,
	  SS_LATE_COPIES },
	{ "its host waits for input", 4, "11111", NULL, 1000, 'i', 0, 1, 1, SS_PATTERN_PERSISTENT,
	  5, SS_LATE_HOST },
	{ "its host launches late", 4, "11111", NULL, 1000, 'l', 0, 1, 1, SS_PATTERN_PERSISTENT, 5,
	  SS_LATE_HOST },
	{ "it waited for others: somebody else is late", 4, "11111", NULL, 1000, 'm', 0, NOBODY },
	{ "it communicates longer than the others", 4, "11111", NULL, 1000, 'k', 600, NOBODY },
	{ "it communicates a little longer: nothing is to be gained", 4, "11111", NULL, 1000, 'k',
	  400, NOBODY },
	{ "two of a hundred parts of a step", 4, "22222", NULL, 200, 'k', 0, 1, 2,
	  SS_PATTERN_PERSISTENT, 5, SS_LATE_KERNELS },
	{ "less is by chance", 4, "22222", NULL, 199, 'k', 0, NOBODY },
	{ "in some steps", 4, "2-2--", NULL, 1000, 'k', 0, 1, 2, SS_PATTERN_TRANSIENT, 2,
	  SS_LATE_KERNELS },
	{ "once happens to anybody", 4, "2----", NULL, 2000, 'l', 0, NOBODY },
	{ "some of few steps cannot be told from chance", 4, "2-2", NULL, 1000, 'l', 0, NOBODY },
	{ "another one in each step", 4, "01230", NULL, 1000, 'w', 0, 1, SS_NO_ROW,
	  SS_PATTERN_ROTATING, 5, SS_LATE_UNKNOWN },
	{ "another one in each step, by little", 4, "01230", NULL, 299, 'w', 0, NOBODY },
	{ "another one in each step, not by its work", 4, "012301", NULL, 1000, 'l', 0, NOBODY },
	{ "another one in each of three steps: too few", 4, "012", NULL, 1000, 'l', 0, NOBODY },
	{ "one step, by a tenth", 4, "2", NULL, 1000, 'l', 0, 1, 2, SS_PATTERN_PERSISTENT, 1,
	  SS_LATE_HOST },
	{ "one step, by less than a tenth", 4, "2", NULL, 999, 'l', 0, NOBODY },
	{ "another one in each of three steps, by its work", 4, "012", NULL, 1500, 'w', 0, 1,
	  SS_NO_ROW, SS_PATTERN_ROTATING, 3, SS_LATE_UNKNOWN },
	{ "another one in each of three steps, by little work", 4, "012", NULL, 900, 'w', 0,
	  NOBODY },
	{ "two at once: without the later one all wait for the other", 5, "33333", "11111", 2000,
	  'l', 0, 2, 3, SS_PATTERN_PERSISTENT, 5, SS_LATE_HOST },
};

static int64_t late_in(const struct job *job, uint32_t r, size_t step)
{
	if (job->late[step] == (char)('0' + r))
		return job->late_us;
	return job->second && job->second[step] == (char)('0' + r) ? job->late_us / 2 : 0;
}

/* One step of one rank; `late_us` is its extra work. */
static void add_step(const struct job *job, struct ss_digest *rank, uint32_t number,
		     int64_t late_us, int64_t worst_us)
{
	int64_t from_ns = SUPPORT_CLOCK_NS + (int64_t)number * STEP_US * 1000;
	int64_t more_ns = late_us * 1000, end_ns = from_ns + (8200 + worst_us) * 1000;
	struct ss_rank_step *step = support_rank_step(rank, number, from_ns,
						      from_ns + STEP_US * 1000);
	struct ss_arrival *arrival = support_rank_arrive(rank, "allreduce",
							 from_ns + (8000 + late_us) * 1000, end_ns);
	int64_t own_ns[SS_OWN_PARTS] = { 0 };

	arrival->sequence = number;
	arrival->bytes = 64;
	own_ns[SS_OWN_COMPUTE] = step->compute_ns = 6000000;
	own_ns[SS_OWN_IDLE_BY(SS_IDLE_LAUNCH)] = 200000;
	step->idle_ns[SS_IDLE_LAUNCH] = 200000;
	own_ns[SS_OWN_IDLE_BY(SS_IDLE_DEPENDENCY)] = 1800000;
	step->idle_ns[SS_IDLE_DEPENDENCY] = 1800000;
	step->comm_ns = step->exposed_comm_ns = 200000 + (worst_us - late_us) * 1000;
	switch (job->why) {
	case 'k':
	case 'w':
		own_ns[SS_OWN_COMPUTE] += more_ns;
		step->compute_ns += more_ns;
		break;
	case 'y':
		own_ns[SS_OWN_COPY] += more_ns;
		step->exposed_copy_ns += more_ns;
		break;
	case 'i':
		own_ns[SS_OWN_IDLE_BY(SS_IDLE_INPUT)] += more_ns;
		step->idle_ns[SS_IDLE_INPUT] += more_ns;
		break;
	case 'm':
		own_ns[SS_OWN_COMM] += more_ns;
		break;
	default:
		own_ns[SS_OWN_IDLE_BY(SS_IDLE_LAUNCH)] += more_ns;
		step->idle_ns[SS_IDLE_LAUNCH] += more_ns;
	}
	support_rank_own(rank, own_ns);
}

static void make_job(struct support_ranks *out, const struct job *job)
{
	size_t steps = strlen(job->late);

	support_ranks_open(out);
	for (uint32_t r = 0; r < job->ranks; r++) {
		struct ss_digest *rank = support_ranks_rank(out, r, "a");
		int64_t more_ns = 0, usual_ns = (int64_t)steps * 3000000;

		support_rank_group(rank, "g", "");
		for (size_t s = 0; s < steps; s++) {
			int64_t worst_us = job->late[s] == '-' ? 0 : job->late_us;

			add_step(job, rank, (uint32_t)s, late_in(job, r, s), worst_us);
			more_ns += late_in(job, r, s) * 1000;
			if (job->late[0] == (char)('0' + r) && job->exposed_us)
				rank->steps[s].exposed_comm_ns =
					200000 + (job->late_us + job->exposed_us) * 1000;
		}
		/* two kernels of 3 ms per step, in ten calls each */
		if (job->why == 'k') {
			support_rank_kernel(rank, "gemm", (int64_t)steps * 10,
					    usual_ns + more_ns / 2);
			support_rank_kernel(rank, "add", (int64_t)steps * 10,
					    usual_ns + more_ns / 2);
		} else {
			int64_t calls = job->why == 'w' ? more_ns / 300000 : 0;

			support_rank_kernel(rank, "gemm", (int64_t)steps * 10, usual_ns);
			support_rank_kernel(rank, "add", (int64_t)steps * 10 + calls,
					    usual_ns + calls * 300000);
		}
	}
	support_ranks_join(out);
}

static void check_first(const struct job *job, const struct ss_straggler_verdict *verdict)
{
	const struct ss_straggler *first = &verdict->items[0];

	support_check(first->rank == job->rank, job->what, "rank %u", first->rank);
	support_check(first->pattern == job->pattern, job->what, "%s",
		      ss_straggler_pattern_name(first->pattern));
	support_check(first->steps == job->steps, job->what, "%u steps", first->steps);
	support_check(first->of_steps == strlen(job->late), job->what, "of %u", first->of_steps);
	support_check(first->cause == job->cause, job->what, "cause %d", (int)first->cause);
	support_check(first->late_ns == job->late_us * 1000, job->what, "late by %lld ns",
		      (long long)first->late_ns);
	support_check(first->step_ns == STEP_US * 1000, job->what, "a step of %lld ns",
		      (long long)first->step_ns);
	support_check(verdict->few_steps == (strlen(job->late) < 2), job->what, "few steps: %d",
		      verdict->few_steps);
}

static void test_jobs(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(jobs); i++) {
		struct ss_straggler_verdict verdict;
		struct support_ranks ranks;
		struct ss_arena arena;

		make_job(&ranks, &jobs[i]);
		ss_arena_init(&arena, &ranks.memory);
		assert_true(ss_straggler_find(&verdict, &ranks.joined, &arena));
		support_check(verdict.count == jobs[i].count, jobs[i].what, "%u stragglers",
			      verdict.count);
		if (verdict.count)
			check_first(&jobs[i], &verdict);
		ss_arena_release(&arena);
		support_ranks_close(&ranks);
	}
}

/*
 * Rank 1's host launches 1000 us late. Hosts take 10000 us for each step; rank 1 begins them
 * `behind_us` later, the others are blocked in calls for `held_us` while their devices wait.
 */
static const struct {
	const char *what;
	char why;
	int64_t behind_us, held_us, own_held_us, longer_us;
	uint32_t count;
	int64_t gain_us;
} hosts[] = {
	{ "begins with the others", 'l', 0, 0, 0, 0, 1, 1000 },
	{ "begins later, and nobody's host waits for it: only behind", 'l', 1000, 0, 0, 0, 0, 0 },
	{ "begins later by half of it", 'l', 500, 0, 0, 0, 0, 0 },
	{ "begins later by less: what it does in the step counts", 'l', 499, 0, 0, 0, 1, 1000 },
	{ "the hosts of the others wait for it", 'l', 1000, 1000, 0, 0, 1, 1000 },
	{ "they wait less than their devices: that much can be gained", 'l', 1000, 300, 0, 0, 1,
	  300 },
	{ "it waits as long as they: only behind", 'l', 1000, 300, 300, 0, 0, 0 },
	{ "its own steps are longer: the others run ahead", 'l', 1000, 0, 0, 400, 1, 400 },
	{ "a slow device is slow however its host does", 'k', 1000, 0, 0, 0, 1, 1000 },
};

static void test_hosts(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(hosts); i++) {
		struct job job = { hosts[i].what, 4, "11111", NULL, 1000, hosts[i].why, 0, NOBODY };
		struct ss_straggler_verdict verdict;
		struct support_ranks ranks;
		struct ss_arena arena;

		make_job(&ranks, &job);
		for (uint32_t r = 0; r < 4; r++)
			for (uint32_t s = 0; s < 5; s++) {
				struct ss_rank_step *step = &ranks.items[r].steps[s];
				int64_t late_us = r == 1 ? hosts[i].behind_us : 0;
				int64_t more_us = r == 1 ? hosts[i].longer_us : 0;

				step->host_start_ns = step->start_ns + late_us * 1000;
				step->host_end_ns = step->host_start_ns +
						    (STEP_US + more_us) * 1000;
				step->held_ns = (r == 1 ? hosts[i].own_held_us : hosts[i].held_us) *
						1000;
			}
		ss_arena_init(&arena, &ranks.memory);
		assert_true(ss_straggler_find(&verdict, &ranks.joined, &arena));
		support_check(verdict.count == hosts[i].count, hosts[i].what, "%u stragglers",
			      verdict.count);
		if (verdict.count)
			support_check(verdict.items[0].gain_ns == hosts[i].gain_us * 1000,
				      hosts[i].what, "gain of %lld ns",
				      (long long)verdict.items[0].gain_ns);
		ss_arena_release(&arena);
		support_ranks_close(&ranks);
	}
}

/* The figures of a cause. */
static void test_figures(void **state)
{
	static const struct job slow = { "", 4, "2-2-2-2222", NULL, 1200, 'k', 0, NOBODY };
	static const struct job input = { "", 4, "1111", NULL, 1000, 'i', 0, NOBODY };
	const struct ss_straggler *item;
	struct ss_straggler_verdict verdict;
	struct support_ranks ranks;
	struct ss_arena arena;

	(void)state;
	make_job(&ranks, &slow);
	ss_arena_init(&arena, &ranks.memory);
	assert_true(ss_straggler_find(&verdict, &ranks.joined, &arena));
	assert_int_equal(verdict.count, 1);
	item = &verdict.items[0];
	/* 7 of 10 steps: 8400 us more than 60000 */
	assert_int_equal(item->pattern, SS_PATTERN_TRANSIENT);
	assert_int_equal((int)(item->kernel_ratio * 1000 + 0.5), 1140);
	assert_int_equal(item->excess_ns, 840000);
	assert_int_equal(item->gain_ns, 840000);
	assert_int_equal(item->lost_ns, 3 * 840000);
	assert_int_equal(item->cause_percent, 100);
	ss_arena_release(&arena);
	support_ranks_close(&ranks);

	make_job(&ranks, &input);
	ss_arena_init(&arena, &ranks.memory);
	assert_true(ss_straggler_find(&verdict, &ranks.joined, &arena));
	assert_int_equal(verdict.items[0].idle_cause, SS_IDLE_INPUT);
	ss_arena_release(&arena);
	support_ranks_close(&ranks);
}

/* Jobs in which nobody can be late. */
static void test_nothing(void **state)
{
	static const char *const scripts[] = { "", "rank 0", "rank 0; step 0 0 +9; allreduce 1 +5",
					       "rank 0; step 0 0 +9; rank 1; step 0 0 +9" };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(scripts); i++) {
		struct ss_straggler_verdict verdict;
		struct support_ranks ranks;
		struct ss_arena arena;

		support_ranks_script(&ranks, scripts[i]);
		ss_arena_init(&arena, &ranks.memory);
		assert_true(ss_straggler_find(&verdict, &ranks.joined, &arena));
		assert_int_equal(verdict.count, 0);
		ss_arena_release(&arena);
		support_ranks_close(&ranks);
	}
}

/* Figures at the edge of what fits. */
static void test_extremes(void **state)
{
	struct ss_straggler_verdict verdict;
	struct support_ranks ranks;
	struct ss_arena arena;

	(void)state;
	support_ranks_open(&ranks);
	for (uint32_t r = 0; r < 3; r++) {
		struct ss_digest *rank = support_ranks_rank(&ranks, r, "a");

		support_rank_group(rank, "g", "");
		for (uint32_t i = 0; i < 5; i++) {
			int64_t from_ns = (int64_t)i * (SS_MOMENT_MAX / 5);
			int64_t end_ns = from_ns + SS_MOMENT_MAX / 5 - 1;
			struct ss_rank_step *step = support_rank_step(rank, i, from_ns, end_ns);
			struct ss_arrival *arrival =
				support_rank_arrive(rank, "allreduce",
						    r == 1 ? end_ns - 5 : from_ns, end_ns);
			int64_t own_ns[SS_OWN_PARTS] = { 0 };

			arrival->sequence = i;
			arrival->bytes = INT64_MAX;
			own_ns[SS_OWN_COMPUTE] = r == 1 ? INT64_MAX : 0;
			support_rank_own(rank, own_ns);
			step->compute_ns = r == 1 ? SS_MOMENT_MAX / 5 : 0;
			step->idle_ns[SS_IDLE_LAUNCH] = r == 1 ? SS_MOMENT_MAX / 5 : 0;
		}
		support_rank_kernel(rank, "k", 1, INT64_MAX);
		for (int phase = 0; phase < SS_PHASE_COUNT; phase++)
			rank->phases[phase] = (struct ss_rank_phase){ 1 + r, INT64_MAX };
		rank->device = r == 2 ? -1 : 0;
	}
	support_ranks_join(&ranks);
	ss_arena_init(&arena, &ranks.memory);
	assert_true(ss_straggler_find(&verdict, &ranks.joined, &arena));
	ss_arena_release(&arena);
	support_ranks_close(&ranks);
}

/* Many kernels on each rank: each is looked up, not searched for. */
static void test_many_kernels(void **state)
{
	static const struct job job = { "", 3, "11111", NULL, 1000, 'k', 0, NOBODY };
	struct ss_straggler_verdict verdict;
	struct support_ranks ranks;
	struct ss_arena arena;

	(void)state;
	make_job(&ranks, &job);
	for (uint32_t r = 0; r < 3; r++)
		for (uint32_t i = 0; i < 100000; i++) {
			char name[32];

			snprintf(name, sizeof(name), "kernel_%u", i);
			support_rank_kernel(&ranks.items[r], name, 1, 10);
		}
	ss_arena_init(&arena, &ranks.memory);
	assert_true(ss_straggler_find(&verdict, &ranks.joined, &arena));
	assert_int_equal(verdict.count, 1);
	ss_arena_release(&arena);
	support_ranks_close(&ranks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jobs),         cmocka_unit_test(test_figures),
		cmocka_unit_test(test_nothing),      cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_many_kernels), cmocka_unit_test(test_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
