/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator's runs: where ranks meet, what is done by which of them and
 * when, and what their steps are.
 */
#include "sim/plan.h"
#include "support/make/sim_program.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)
#define TIMING (&ss_sim_timing)

/* Work that only one rank, or only some steps, have. */
static void work_when(struct support_machine *machine, int32_t rank, uint32_t every, uint32_t at,
		      int64_t cost_ns)
{
	const struct ss_sim_condition condition = { .rank = rank, .every = every, .at = at };
	uint32_t mark = ss_sim_when(machine->program, &condition);

	ss_sim_work(machine->program, cost_ns);
	ss_sim_when_end(machine->program, mark);
}

static int64_t length_of(const struct ss_sim_outcome *outcome, uint32_t rank, uint32_t step)
{
	const struct ss_sim_span *span = &outcome->spans[rank * outcome->plan->step_count + step];

	return span->end_ns - span->start_ns;
}

static void check_about(const char *what, int64_t found_ns, int64_t wanted_ns, int64_t off_ns)
{
	support_check(found_ns >= wanted_ns - off_ns && found_ns <= wanted_ns + off_ns, what,
		      "%lld, not about %lld", (long long)found_ns, (long long)wanted_ns);
}

/* --- collectives --------------------------------------------------------- */

static const struct ss_sim_collective all_reduce = {
	.kind = SS_SIM_NCCL_ALL_REDUCE,
	.role = SS_SIM_GROUP_WORLD,
	.dtype = SS_SIM_HALF,
	.in_count = 100000000,
	.out_count = 100000000,
	.stream = SS_SIM_COMM,
};

/* Two collectives a step; rank 1 is late for the first, rank 0 for the second. */
static void build_meetings(struct support_machine *machine)
{
	ss_sim_step(machine->program, "ProfilerStep#");
	work_when(machine, 1, 0, 0, 4 * MS);
	ss_sim_call_collective(machine->program, &all_reduce);
	work_when(machine, 0, 0, 0, 9 * MS);
	ss_sim_wait(machine->program, SS_SIM_COMPUTE,
		    ss_sim_call_collective(machine->program, &all_reduce));
	support_machine_kernel(machine, 50 * US, SS_SIM_COMPUTE);
	ss_sim_sync(machine->program, SS_SIM_SYNC_DEVICE, SS_SIM_COMPUTE, 0);
	ss_sim_end(machine->program);
}

static const struct ss_sim_channel *world_of(const struct ss_sim_outcome *outcome)
{
	return &outcome->channels[ss_sim_channel_of(outcome->plan, 0, SS_SIM_GROUP_WORLD)];
}

/* Everybody leaves at the last arrival and the transfer. */
static void test_meetings(void **state)
{
	const struct ss_sim_channel *world;
	struct support_machine machine;
	struct ss_sim_outcome outcome;
	int64_t transfer_ns = 0;

	(void)state;
	support_machine_open(&machine, 2);
	machine.plan.step_count = 3;
	build_meetings(&machine);
	support_machine_run(&machine, &outcome);
	world = world_of(&outcome);
	assert_int_equal(world->count, 2 * (3 + SS_SIM_WARMUP_STEPS));
	assert_int_equal(world->first_recorded, 2 * SS_SIM_WARMUP_STEPS);
	assert_int_equal(world->detail_count, 6);
	assert_int_equal(world->arrival_count, 12);
	for (uint32_t i = 0; i < 6; i++) {
		const int64_t *arrivals_ns = &world->arrivals_ns[2 * i];
		uint32_t late = i % 2 ? 0 : 1;

		support_check(arrivals_ns[late] > arrivals_ns[!late] + 2 * MS, "who is late",
			      "%lld and %lld", (long long)arrivals_ns[0],
			      (long long)arrivals_ns[1]);
		assert_int_equal(world->ends_ns[world->first_recorded + i],
				 arrivals_ns[late] + world->details[i].transfer_ns);
		assert_int_equal(world->details[i].step, SS_SIM_WARMUP_STEPS + i / 2);
		transfer_ns += world->details[i].transfer_ns;
	}
	assert_int_equal(world->transfer_ns, transfer_ns);
	assert_int_equal(outcome.comm_step_ns, transfer_ns / 3);
	ss_sim_outcome_close(&outcome);
	support_machine_close(&machine);
}

/* A transfer: base, hops, and the bytes that a ring sends over each link. */
static void test_transfer(void **state)
{
	static const struct {
		const char *what;
		uint32_t ranks, slow_permille;
		uint64_t count;
		int64_t hops;
		double factor; /* of the message, on each link */
	} cases[] = {
		{ "two ranks", 2, 0, 500000000, 1, 1.0 },
		{ "four ranks", 4, 0, 500000000, 2, 1.5 },
		{ "eight ranks", 8, 0, 500000000, 3, 1.75 },
		{ "a slow link", 8, 2500, 500000000, 3, 1.75 },
		{ "next to nothing", 8, 0, 1, 3, 1.75 },
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct ss_sim_collective wish = all_reduce;
		struct support_machine machine;
		struct ss_sim_outcome outcome;
		int64_t wanted_ns, found_ns;

		support_machine_open(&machine, cases[i].ranks);
		if (cases[i].slow_permille)
			machine.plan.slow_link = (struct ss_sim_odd_rank){
				.rank = 3, .permille = cases[i].slow_permille
			};
		wish.in_count = wish.out_count = cases[i].count;
		ss_sim_step(machine.program, "ProfilerStep#");
		ss_sim_call_collective(machine.program, &wish);
		ss_sim_end(machine.program);
		support_machine_run(&machine, &outcome);
		wanted_ns = TIMING->network_base + TIMING->network_hop * cases[i].hops +
			    (int64_t)((double)cases[i].count * 2 * cases[i].factor * 1e9 /
				      machine.plan.device->link_rate);
		if (cases[i].slow_permille)
			wanted_ns = wanted_ns * cases[i].slow_permille / 1000;
		found_ns = world_of(&outcome)->details[0].transfer_ns;
		check_about(cases[i].what, found_ns, wanted_ns, wanted_ns * 5 / 100);
		ss_sim_outcome_close(&outcome);
		support_machine_close(&machine);
	}
}

/* With the ends known each rank runs alone, in any order, and nothing changes. */
static void test_second_run(void **state)
{
	struct support_machine machine;
	struct ss_sim_outcome outcome;
	struct ss_sim_span spans[3];

	(void)state;
	support_machine_open(&machine, 5);
	machine.plan.step_count = 3;
	build_meetings(&machine);
	support_machine_run(&machine, &outcome);
	for (uint32_t rank = 5; rank-- > 0;) {
		struct ss_sim_rank again;

		assert_true(ss_sim_rank_init(&again, &machine.programs, rank, &machine.memory));
		again.spans = spans;
		while (again.state != SS_SIM_FINISHED) {
			ss_sim_rank_run(&again);
			if (again.state == SS_SIM_WAITING)
				ss_sim_rank_resume(&again, ss_sim_outcome_end(&outcome, &again));
		}
		assert_memory_equal(spans, &outcome.spans[rank * 3], sizeof(spans));
		ss_sim_rank_release(&again);
	}
	ss_sim_outcome_close(&outcome);
	support_machine_close(&machine);
}

/* Ranks that wait for different things at once: a sentence, not for ever. */
static void test_deadlock(void **state)
{
	const struct ss_sim_condition only_first = { .rank = 0 };
	struct support_machine machine;
	struct ss_sim_outcome outcome;
	struct ss_error err = { 0 };
	uint32_t mark;

	(void)state;
	support_machine_open(&machine, 2);
	ss_sim_step(machine.program, "ProfilerStep#");
	mark = ss_sim_when(machine.program, &only_first);
	ss_sim_call_collective(machine.program, &all_reduce);
	ss_sim_when_end(machine.program, mark);
	ss_sim_end(machine.program);
	machine.programs = (struct ss_sim_programs){ .plan = &machine.plan,
						     .items = machine.items,
						     .count = SS_COUNT(machine.items),
						     .events_max = machine.program->event_count };
	assert_int_not_equal(ss_sim_outcome_open(&outcome, &machine.programs, &machine.memory, true,
						 &err),
			     SS_OK);
	assert_non_null(strstr(err.text, "the simulated job deadlocks: only"));
	ss_sim_outcome_close(&outcome);
	support_machine_close(&machine);
}

/* --- conditions ---------------------------------------------------------- */

/* 10 ms for everybody, 30 more on rank 2, 100 more in each third step, 500 in one case. */
static void test_conditions(void **state)
{
	struct support_machine machine;
	struct ss_sim_outcome outcome;

	(void)state;
	support_machine_open(&machine, 4);
	machine.plan.step_count = 9;
	ss_sim_step(machine.program, "ProfilerStep#");
	ss_sim_work(machine.program, 10 * MS);
	work_when(&machine, 2, 1, 0, 30 * MS);
	work_when(&machine, -1, 3, 1, 100 * MS);
	work_when(&machine, 3, 4, 2, 500 * MS);
	work_when(&machine, 4, 0, 0, 2000 * MS); /* no such rank */
	ss_sim_end(machine.program);
	support_machine_run(&machine, &outcome);
	for (uint32_t rank = 0; rank < 4; rank++)
		for (uint32_t i = 0; i < 9; i++) {
			uint32_t step = i + SS_SIM_WARMUP_STEPS;
			int64_t wanted_ns = 10 * MS;

			wanted_ns += rank == 2 ? 30 * MS : 0;
			wanted_ns += step % 3 == 1 ? 100 * MS : 0;
			wanted_ns += rank == 3 && step % 4 == 2 ? 500 * MS : 0;
			check_about("a step", length_of(&outcome, rank, i), wanted_ns,
				    wanted_ns * 15 / 100);
		}
	ss_sim_outcome_close(&outcome);
	support_machine_close(&machine);
}

/* A slow host, all of the time and in turns. */
static void test_slow_hosts(void **state)
{
	(void)state;
	for (uint32_t rotates = 0; rotates < 2; rotates++) {
		struct support_machine machine;
		struct ss_sim_outcome outcome;

		support_machine_open(&machine, 3);
		machine.plan.step_count = 6;
		machine.plan.slow_host =
			(struct ss_sim_odd_rank){ .rank = 1, .permille = 2000, .rotates = rotates };
		ss_sim_step(machine.program, "ProfilerStep#");
		ss_sim_work(machine.program, 10 * MS);
		ss_sim_end(machine.program);
		support_machine_run(&machine, &outcome);
		for (uint32_t i = 0; i < 6; i++) {
			uint32_t slow = 0, last = 0;

			for (uint32_t rank = 0; rank < 3; rank++)
				if (length_of(&outcome, rank, i) > 15 * MS) {
					slow++;
					last = rank;
				}
			assert_int_equal(slow, 1);
			assert_int_equal(last, rotates ? (i + SS_SIM_WARMUP_STEPS) % 3 : 1);
		}
		ss_sim_outcome_close(&outcome);
		support_machine_close(&machine);
	}
}

/* --- the loader's workers ------------------------------------------------ */

static void test_loader(void **state)
{
	static const struct {
		const char *what;
		uint32_t workers;
		int64_t fetch_ns, work_ns, step_ns;
	} cases[] = {
		{ "one worker, nothing else to do", 1, 20 * MS, 100 * US, 20 * MS },
		{ "two workers", 2, 20 * MS, 100 * US, 10 * MS },
		{ "eight workers", 8, 40 * MS, 100 * US, 5 * MS },
		{ "all workers that fit", SS_SIM_WORKERS_MAX, 160 * MS, 100 * US, 10 * MS },
		{ "work that hides them", 2, 20 * MS, 30 * MS, 30 * MS },
		{ "work that just hides them", 4, 20 * MS, 6 * MS, 6 * MS },
		{ "work that does not", 4, 40 * MS, 6 * MS, 10 * MS },
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct support_machine machine;
		struct ss_sim_outcome outcome;
		uint32_t steps = 8 * SS_SIM_WORKERS_MAX, half = steps / 2;

		support_machine_open(&machine, 1);
		machine.plan.step_count = steps;
		machine.plan.loader_workers = cases[i].workers;
		machine.plan.fetch_ns = cases[i].fetch_ns;
		ss_sim_step(machine.program, "ProfilerStep#");
		ss_sim_input(machine.program);
		ss_sim_work(machine.program, cases[i].work_ns);
		ss_sim_end(machine.program);
		support_machine_run(&machine, &outcome);
		/* when it has settled: batches made ahead are used up */
		check_about(cases[i].what,
			    (outcome.spans[steps - 1].end_ns - outcome.spans[half].end_ns) /
				    (steps - 1 - half),
			    cases[i].step_ns, cases[i].step_ns * 5 / 100);
		ss_sim_outcome_close(&outcome);
		support_machine_close(&machine);
	}
}

/* --- steps --------------------------------------------------------------- */

/* Host time, device work that lasts longer, and host time behind the step. */
static void test_steps(void **state)
{
	struct support_machine machine;
	struct ss_sim_outcome outcome;
	int64_t sum_ns = 0;

	(void)state;
	support_machine_open(&machine, 2);
	machine.plan.step_count = 8;
	ss_sim_step(machine.program, "ProfilerStep#");
	ss_sim_work(machine.program, 2 * MS);
	support_machine_kernel(&machine, 10 * MS, SS_SIM_COMPUTE);
	ss_sim_end(machine.program);
	support_machine_run(&machine, &outcome);
	for (uint32_t rank = 0; rank < 2; rank++)
		for (uint32_t i = 0; i < 8; i++) {
			const struct ss_sim_span *span = &outcome.spans[rank * 8 + i];

			assert_true(span->start_ns < span->end_ns);
			assert_true(!i || span->start_ns >= span[-1].end_ns);
			sum_ns += span->end_ns - span->start_ns;
			/* the device is behind: it sets the pace, but for the first */
			check_about("a step", span->end_ns - span->start_ns, (i ? 10 : 12) * MS,
				    500 * US);
		}
	assert_int_equal(outcome.mean_step_ns, sum_ns / 16);
	assert_int_equal(outcome.allocated_peak_bytes, 0);
	check_about("CPU time", outcome.host_step_ns, 2 * MS, 400 * US);
	ss_sim_outcome_close(&outcome);
	support_machine_close(&machine);
}

/* What the step's note does not hold is not of the step. */
static void test_outside_of_steps(void **state)
{
	(void)state;
	for (uint32_t behind = 0; behind < 2; behind++) {
		struct support_machine machine;
		struct ss_sim_outcome outcome;

		support_machine_open(&machine, 1);
		machine.plan.step_count = 4;
		for (uint32_t part = 0; part < 2; part++) {
			if (part == behind)
				ss_sim_step(machine.program, "ProfilerStep#");
			else
				ss_sim_op(machine.program, "aten::other");
			ss_sim_work(machine.program, part == behind ? 3 * MS : 20 * MS);
			ss_sim_end(machine.program);
		}
		support_machine_run(&machine, &outcome);
		for (uint32_t i = 0; i < 4; i++)
			check_about(behind ? "an op before the step" : "an op behind the step",
				    length_of(&outcome, 0, i), 3 * MS, 600 * US);
		ss_sim_outcome_close(&outcome);
		support_machine_close(&machine);
	}
}

/* --- memory -------------------------------------------------------------- */

static void test_memory(void **state)
{
	const struct ss_sim_condition second = { .rank = 1 };
	struct support_machine machine;
	struct ss_sim_outcome outcome;
	uint32_t slots[2], mark;

	(void)state;
	support_machine_open(&machine, 2);
	ss_sim_step(machine.program, "ProfilerStep#");
	slots[0] = ss_sim_alloc(machine.program, UINT64_C(1) << 30);
	mark = ss_sim_when(machine.program, &second);
	slots[1] = ss_sim_alloc(machine.program, UINT64_C(1) << 29);
	ss_sim_free(machine.program, slots[1]);
	ss_sim_when_end(machine.program, mark);
	ss_sim_free(machine.program, slots[0]);
	ss_sim_end(machine.program);
	support_machine_run(&machine, &outcome);
	/* the largest of all ranks */
	assert_int_equal(outcome.allocated_peak_bytes, UINT64_C(3) << 29);
	assert_int_equal(outcome.reserved_peak_bytes, UINT64_C(3) << 29);
	ss_sim_outcome_close(&outcome);
	support_machine_close(&machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_meetings),         cmocka_unit_test(test_transfer),
		cmocka_unit_test(test_second_run),       cmocka_unit_test(test_deadlock),
		cmocka_unit_test(test_conditions),       cmocka_unit_test(test_slow_hosts),
		cmocka_unit_test(test_loader),           cmocka_unit_test(test_steps),
		cmocka_unit_test(test_outside_of_steps), cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
