/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator's machine: each of the rules of time in machine.h, on one rank
 * and programs of a few instructions.
 */
#include "support/make/sim_program.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)
#define TIMING (&ss_sim_timing)

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void check_at(const char *what, int64_t found_ns, int64_t wanted_ns)
{
	support_check(found_ns == wanted_ns, what, "at %lld, not %lld", (long long)found_ns,
		      (long long)wanted_ns);
}

/* --- streams ------------------------------------------------------------- */

/* Where the second kernel starts behind the first, by what stands between the two. */
static void test_kernels(void **state)
{
	static const struct {
		const char *what;
		int64_t first_ns, work_ns;
		enum ss_sim_stream stream; /* of the second */
		bool queued;
	} cases[] = {
		{ "behind a long one", 20 * MS, 0, SS_SIM_COMPUTE, true },
		{ "behind a short one", 500, 0, SS_SIM_COMPUTE, false },
		{ "behind one that is over", 2 * MS, 9 * MS, SS_SIM_COMPUTE, false },
		{ "behind one that is not over", 9 * MS, 2 * MS, SS_SIM_COMPUTE, true },
		{ "beside a long one", 20 * MS, 0, SS_SIM_COMM, false },
		{ "on the copy stream", 20 * MS, 1 * MS, SS_SIM_COPY, false },
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct support_moment before, first, second;
		struct support_machine machine;
		int64_t launched_ns;

		support_machine_open(&machine, 1);
		support_machine_stop(&machine);
		support_machine_kernel(&machine, cases[i].first_ns, SS_SIM_COMPUTE);
		ss_sim_work(machine.program, cases[i].work_ns);
		support_machine_stop(&machine);
		support_machine_kernel(&machine, 10 * US, cases[i].stream);
		support_machine_stop(&machine);
		support_machine_start(&machine);
		before = support_machine_next(&machine);
		first = support_machine_next(&machine);
		second = support_machine_next(&machine);
		check_at("alone", first.start_ns, before.go_ns + TIMING->launch_latency);
		support_check_cost(cases[i].what, first.now_ns - before.go_ns,
				   TIMING->launch + cases[i].work_ns);
		launched_ns = first.go_ns + TIMING->launch_latency;
		if (cases[i].queued)
			launched_ns = first.ready_ns[SS_SIM_COMPUTE] + TIMING->kernel_gap;
		check_at(cases[i].what, second.start_ns, launched_ns);
		support_check_cost("a launch", second.now_ns - first.go_ns, TIMING->launch);
		support_machine_close(&machine);
	}
}

/* A kernel takes what it takes, within 3.5 deviations; very short ones exactly that. */
static void test_durations(void **state)
{
	static const int64_t durations[] = { 900, 20 * US, 3 * MS, 700 * MS };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(durations); i++)
		for (uint32_t slow = 0; slow < 2; slow++) {
			int64_t wanted_ns = durations[i] * (slow ? 3 : 1), took_ns;
			struct support_machine machine;
			struct support_moment at;

			support_machine_open(&machine, 1);
			if (slow)
				machine.plan.slow_device =
					(struct ss_sim_odd_rank){ .rank = 0, .permille = 3000 };
			support_machine_kernel(&machine, durations[i], SS_SIM_COMPUTE);
			support_machine_stop(&machine);
			support_machine_start(&machine);
			at = support_machine_next(&machine);
			took_ns = at.ready_ns[SS_SIM_COMPUTE] - at.start_ns;
			support_check(took_ns >= wanted_ns * 96 / 100 &&
					      took_ns <= wanted_ns * 104 / 100 &&
					      (durations[i] >= 1000 || slow ||
					       took_ns == wanted_ns),
				      "a kernel", "takes %lld, not %lld", (long long)took_ns,
				      (long long)wanted_ns);
			support_machine_close(&machine);
		}
}

/* A stream's memset is work like any other. */
static void test_memset(void **state)
{
	struct support_moment first, second;
	struct support_machine machine;

	(void)state;
	support_machine_open(&machine, 1);
	support_machine_kernel(&machine, 5 * MS, SS_SIM_COMPUTE);
	support_machine_stop(&machine);
	ss_sim_memset(machine.program, UINT64_C(1) << 30, SS_SIM_COMPUTE);
	support_machine_stop(&machine);
	support_machine_start(&machine);
	first = support_machine_next(&machine);
	second = support_machine_next(&machine);
	check_at("a memset", second.start_ns, first.ready_ns[SS_SIM_COMPUTE] + TIMING->kernel_gap);
	support_check_cost("its call", second.now_ns - first.go_ns, TIMING->memset);
	support_check_cost("a memset", second.ready_ns[SS_SIM_COMPUTE] - second.start_ns,
			   (int64_t)((double)(UINT64_C(1) << 30) * 1e9 /
				     machine.plan.device->memory_rate));
	support_machine_close(&machine);
}

/* --- events -------------------------------------------------------------- */

enum event_case { RECORDED_AFTER, RECORDED_BEFORE, OVER, OTHER_WAITS, THROUGH_A_STREAM };

static void build_event(struct support_machine *machine, enum event_case which)
{
	struct ss_sim_program *program = machine->program;
	uint32_t event = 0;

	if (which == RECORDED_BEFORE)
		event = ss_sim_record(program, SS_SIM_COMPUTE);
	support_machine_kernel(machine, 30 * MS, SS_SIM_COMPUTE);
	if (which != RECORDED_BEFORE)
		event = ss_sim_record(program, SS_SIM_COMPUTE);
	if (which == THROUGH_A_STREAM) {
		ss_sim_wait(program, SS_SIM_COMM_TWO, event);
		event = ss_sim_record(program, SS_SIM_COMM_TWO);
	}
	if (which == OVER)
		ss_sim_work(program, 60 * MS);
	ss_sim_wait(program, which == OTHER_WAITS ? SS_SIM_COMM_TWO : SS_SIM_COMM, event);
	support_machine_stop(machine);
	support_machine_kernel(machine, 10 * US, SS_SIM_COMM);
	support_machine_stop(machine);
	support_machine_kernel(machine, 10 * US, SS_SIM_COMM);
	support_machine_stop(machine);
}

/* Does a kernel of another stream wait for the one of 30 ms? */
static void test_events(void **state)
{
	static const struct {
		const char *what;
		enum event_case which;
		bool waits;
	} cases[] = {
		{ "recorded after it", RECORDED_AFTER, true },
		{ "recorded before it", RECORDED_BEFORE, false },
		{ "over when it is waited for", OVER, false },
		{ "waited for by another stream", OTHER_WAITS, false },
		{ "through a stream that had nothing else", THROUGH_A_STREAM, true },
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct support_moment before, first, second;
		struct support_machine machine;
		int64_t wanted_ns;

		support_machine_open(&machine, 1);
		build_event(&machine, cases[i].which);
		support_machine_start(&machine);
		before = support_machine_next(&machine);
		first = support_machine_next(&machine);
		second = support_machine_next(&machine);
		wanted_ns = before.go_ns + TIMING->launch_latency;
		if (cases[i].waits)
			wanted_ns = later(wanted_ns,
					  before.ready_ns[SS_SIM_COMPUTE] + TIMING->event_gap);
		check_at(cases[i].what, first.start_ns, wanted_ns);
		/* the one behind it waits for nothing but its stream */
		check_at("the next", second.start_ns,
			 later(first.go_ns + TIMING->launch_latency,
			       first.ready_ns[SS_SIM_COMM] + TIMING->kernel_gap));
		support_machine_close(&machine);
	}
}

/* Neither call waits; both take their CPU time. */
static void test_event_calls(void **state)
{
	struct support_moment first, second;
	struct support_machine machine;
	uint32_t event;

	(void)state;
	support_machine_open(&machine, 1);
	support_machine_kernel(&machine, 50 * MS, SS_SIM_COMPUTE);
	support_machine_stop(&machine);
	event = ss_sim_record(machine.program, SS_SIM_COMPUTE);
	ss_sim_wait(machine.program, SS_SIM_COMM, event);
	support_machine_stop(&machine);
	support_machine_start(&machine);
	first = support_machine_next(&machine);
	second = support_machine_next(&machine);
	support_check_cost("record and wait", second.now_ns - first.go_ns,
			   TIMING->record + TIMING->wait);
	support_machine_close(&machine);
}

/* --- the queue of launches ----------------------------------------------- */

/*
 * Launch 0 is long, launch 1 is the stop, launch 2 stands behind launch 0: the
 * queue takes launches up to 1025, and 1026 returns when launch 2 has started.
 */
static void test_queue(void **state)
{
	struct support_moment first, full, last;
	struct support_machine machine;

	(void)state;
	assert_int_equal(TIMING->queue_depth, SS_SIM_QUEUE);
	assert_int_equal(SS_SIM_QUEUE, 1024);
	support_machine_open(&machine, 1);
	support_machine_kernel(&machine, 400 * MS, SS_SIM_COMPUTE);
	support_machine_stop(&machine);
	for (uint32_t i = 2; i <= 1024; i++)
		support_machine_kernel(&machine, 900, SS_SIM_COMPUTE);
	support_machine_stop(&machine);
	support_machine_kernel(&machine, 900, SS_SIM_COMPUTE);
	support_machine_stop(&machine);
	support_machine_start(&machine);
	first = support_machine_next(&machine);
	full = support_machine_next(&machine);
	last = support_machine_next(&machine);
	support_check_cost("1023 launches", full.now_ns - first.go_ns, 1023 * TIMING->launch);
	support_check_cost("launch 1025", full.go_ns - full.now_ns, TIMING->launch);
	check_at("launch 1026 returns", last.now_ns,
		 first.ready_ns[SS_SIM_COMPUTE] + TIMING->kernel_gap);
	support_machine_close(&machine);
}

/*
 * The same for a copy (launch 2) that another copy, on another stream, keeps
 * from its engine.
 */
static void test_queue_of_copies(void **state)
{
	struct support_moment first, second, last;
	struct support_machine machine;

	(void)state;
	support_machine_open(&machine, 1);
	ss_sim_copy(machine.program, SS_SIM_HTOD_PINNED, UINT64_C(20) << 30, SS_SIM_COPY);
	support_machine_stop(&machine);
	ss_sim_copy(machine.program, SS_SIM_HTOD_PINNED, 1 << 20, SS_SIM_COMPUTE);
	support_machine_stop(&machine);
	for (uint32_t i = 4; i <= 1026; i++)
		support_machine_kernel(&machine, 900, SS_SIM_COMM);
	support_machine_stop(&machine);
	support_machine_start(&machine);
	first = support_machine_next(&machine);
	second = support_machine_next(&machine);
	last = support_machine_next(&machine);
	check_at("launch 1026 returns", last.now_ns,
		 first.ready_ns[SS_SIM_COPY] + TIMING->copy_gap);
	check_at("the start of a copy that waits", second.start_ns,
		 first.ready_ns[SS_SIM_COPY] + TIMING->copy_gap);
	support_machine_close(&machine);
}

/* --- graphs -------------------------------------------------------------- */

#define GRAPH_KERNELS 6u

static void test_graph(void **state)
{
	struct support_moment before, graph, behind;
	struct support_machine machine;
	uint32_t mark;

	(void)state;
	support_machine_open(&machine, 1);
	support_machine_kernel(&machine, 2 * MS, SS_SIM_COMPUTE);
	support_machine_stop(&machine);
	mark = ss_sim_graph(machine.program);
	for (uint32_t i = 0; i < GRAPH_KERNELS; i++) {
		ss_sim_op(machine.program, "aten::captured");
		support_machine_kernel(&machine, 900, SS_SIM_COMPUTE);
		ss_sim_free(machine.program, ss_sim_alloc(machine.program, 1 << 20));
		ss_sim_end(machine.program);
	}
	ss_sim_graph_end(machine.program, mark);
	support_machine_stop(&machine);
	support_machine_kernel(&machine, 10 * US, SS_SIM_COMPUTE);
	support_machine_stop(&machine);
	support_machine_start(&machine);
	before = support_machine_next(&machine);
	graph = support_machine_next(&machine);
	/* one launch, and neither the ops nor the memory of what is captured */
	support_check_cost("a graph's launch", graph.now_ns - before.go_ns, TIMING->launch_graph);
	assert_int_equal(machine.rank.pool.reserved_peak_bytes, 0);
	check_at("its first kernel", support_machine_start_of(&machine, GRAPH_KERNELS),
		 before.ready_ns[SS_SIM_COMPUTE] + TIMING->kernel_gap);
	for (uint32_t i = GRAPH_KERNELS; i > 1; i--)
		check_at("the next kernel", support_machine_start_of(&machine, i - 1),
			 support_machine_start_of(&machine, i) + 900 + TIMING->graph_gap);
	check_at("its end", graph.ready_ns[SS_SIM_COMPUTE],
		 support_machine_start_of(&machine, 1) + 900);
	behind = support_machine_next(&machine);
	support_check_cost("a launch behind it", behind.now_ns - graph.go_ns, TIMING->launch);
	check_at("a kernel behind it", behind.start_ns,
		 later(graph.go_ns + TIMING->launch_latency,
		       graph.ready_ns[SS_SIM_COMPUTE] + TIMING->kernel_gap));
	support_machine_close(&machine);
}

/* --- copies -------------------------------------------------------------- */

static bool is_pageable(enum ss_sim_copy_kind kind)
{
	return kind == SS_SIM_HTOD_PAGEABLE || kind == SS_SIM_DTOH_PAGEABLE;
}

static const char *const copy_names[] = { "to the device, pinned", "to the device, pageable",
					  "from the device, pinned", "from the device, pageable",
					  "within the device" };

/* Who waits for a copy, and how long it takes. */
static void test_copies(void **state)
{
	(void)state;
	for (int kind = SS_SIM_HTOD_PINNED; kind <= SS_SIM_DTOD; kind++) {
		enum ss_sim_copy_kind copy = (enum ss_sim_copy_kind)kind;
		const uint64_t bytes = UINT64_C(1) << 30;
		struct support_moment before, after;
		struct support_machine machine;
		double rate;

		support_machine_open(&machine, 1);
		rate = is_pageable(copy) ? machine.plan.device->pageable_rate
					 : machine.plan.device->pinned_rate;
		support_machine_kernel(&machine, 3 * MS, SS_SIM_COMPUTE);
		support_machine_stop(&machine);
		ss_sim_copy(machine.program, copy, bytes, SS_SIM_COMPUTE);
		support_machine_stop(&machine);
		support_machine_start(&machine);
		before = support_machine_next(&machine);
		after = support_machine_next(&machine);
		check_at(copy_names[kind], after.start_ns,
			 before.ready_ns[SS_SIM_COMPUTE] + TIMING->kernel_gap);
		if (copy != SS_SIM_DTOD)
			support_check_cost(copy_names[kind],
					   after.ready_ns[SS_SIM_COMPUTE] - after.start_ns,
					   (int64_t)((double)bytes * 1e9 / rate));
		if (is_pageable(copy))
			check_at(copy_names[kind], after.now_ns,
				 after.ready_ns[SS_SIM_COMPUTE] + TIMING->sync_return);
		else
			support_check_cost(copy_names[kind], after.now_ns - before.go_ns,
					   TIMING->copy);
		support_machine_close(&machine);
	}
}

static bool is_up(enum ss_sim_copy_kind kind)
{
	return kind == SS_SIM_HTOD_PINNED || kind == SS_SIM_HTOD_PAGEABLE;
}

/* Two copies on different streams share an engine when they go the same way. */
static void test_engines(void **state)
{
	(void)state;
	for (int a = SS_SIM_HTOD_PINNED; a <= SS_SIM_DTOD; a++)
		for (int b = SS_SIM_HTOD_PINNED; b <= SS_SIM_DTOD; b++) {
			enum ss_sim_copy_kind one = (enum ss_sim_copy_kind)a,
					      two = (enum ss_sim_copy_kind)b;
			struct support_moment first, second;
			struct support_machine machine;
			int64_t wanted_ns;

			support_machine_open(&machine, 1);
			ss_sim_copy(machine.program, one, UINT64_C(1) << 30, SS_SIM_COPY);
			support_machine_stop(&machine);
			ss_sim_copy(machine.program, two, 1 << 20, SS_SIM_COMPUTE);
			support_machine_stop(&machine);
			support_machine_start(&machine);
			first = support_machine_next(&machine);
			second = support_machine_next(&machine);
			wanted_ns = first.go_ns + TIMING->launch_latency;
			if (one != SS_SIM_DTOD && two != SS_SIM_DTOD && is_up(one) == is_up(two))
				wanted_ns = later(wanted_ns,
						  first.ready_ns[SS_SIM_COPY] + TIMING->copy_gap);
			/* the first one's length and end show where the second began */
			support_check(second.ready_ns[SS_SIM_COMPUTE] > wanted_ns &&
					      second.ready_ns[SS_SIM_COMPUTE] <
						      wanted_ns + 500 * US,
				      copy_names[a], "then %s: ends at %lld, not soon after %lld",
				      copy_names[b], (long long)second.ready_ns[SS_SIM_COMPUTE],
				      (long long)wanted_ns);
			support_machine_close(&machine);
		}
}

/* --- waiting ------------------------------------------------------------- */

enum wait_case { STREAM_BUSY, STREAM_IDLE, DEVICE, EVENT_EARLY, EVENT_LATE, FREE, MALLOC };

static void build_wait(struct support_machine *machine, enum wait_case which)
{
	struct ss_sim_program *program = machine->program;
	uint32_t early, late;

	support_machine_kernel(machine, 5 * MS, SS_SIM_COMPUTE);
	early = ss_sim_record(program, SS_SIM_COMPUTE);
	support_machine_stop(machine);
	support_machine_kernel(machine, 5 * MS, SS_SIM_COMPUTE);
	support_machine_kernel(machine, 30 * MS, SS_SIM_COMM);
	late = ss_sim_record(program, SS_SIM_COMM);
	support_machine_stop(machine);
	if (which == STREAM_BUSY)
		ss_sim_sync(program, SS_SIM_SYNC_STREAM, SS_SIM_COMPUTE, 0);
	else if (which == STREAM_IDLE)
		ss_sim_sync(program, SS_SIM_SYNC_STREAM, SS_SIM_COPY, 0);
	else if (which == DEVICE)
		ss_sim_sync(program, SS_SIM_SYNC_DEVICE, SS_SIM_COMPUTE, 0);
	else if (which == EVENT_EARLY || which == EVENT_LATE)
		ss_sim_sync(program, SS_SIM_SYNC_EVENT, SS_SIM_COMPUTE,
			    which == EVENT_LATE ? late : early);
	else
		ss_sim_call(program, which == FREE ? SS_SIM_CALL_FREE : SS_SIM_CALL_MALLOC,
			    100 * US);
	support_machine_stop(machine);
}

static void test_waits(void **state)
{
	static const char *const names[] = { "a busy stream",  "an idle stream", "the device",
					     "an early event", "a late event",   "cudaFree",
					     "cudaMalloc" };

	(void)state;
	for (int i = STREAM_BUSY; i <= MALLOC; i++) {
		struct support_moment first, second, after;
		struct support_machine machine;
		int64_t until_ns = 0;

		support_machine_open(&machine, 1);
		build_wait(&machine, (enum wait_case)i);
		support_machine_start(&machine);
		first = support_machine_next(&machine);
		second = support_machine_next(&machine);
		after = support_machine_next(&machine);
		if (i == STREAM_BUSY)
			until_ns = second.ready_ns[SS_SIM_COMPUTE];
		else if (i == EVENT_EARLY)
			until_ns = first.ready_ns[SS_SIM_COMPUTE];
		else if (i == DEVICE || i == EVENT_LATE || i == FREE)
			until_ns = second.ready_ns[SS_SIM_COMM];
		if (until_ns)
			check_at(names[i], after.now_ns, until_ns + TIMING->sync_return);
		else
			support_check_cost(names[i], after.now_ns - second.go_ns,
					   i == MALLOC ? 100 * US : TIMING->sync);
		support_machine_close(&machine);
	}
}

/* Nothing is left to wait for: the call takes its CPU time. */
static void test_late_sync(void **state)
{
	struct support_moment first, second;
	struct support_machine machine;

	(void)state;
	support_machine_open(&machine, 1);
	support_machine_kernel(&machine, 1 * MS, SS_SIM_COMPUTE);
	ss_sim_work(machine.program, 50 * MS);
	support_machine_stop(&machine);
	ss_sim_sync(machine.program, SS_SIM_SYNC_STREAM, SS_SIM_COMPUTE, 0);
	support_machine_stop(&machine);
	support_machine_start(&machine);
	first = support_machine_next(&machine);
	second = support_machine_next(&machine);
	support_check_cost("a sync with nothing to do", second.now_ns - first.go_ns, TIMING->sync);
	support_machine_close(&machine);
}

/* --- threads ------------------------------------------------------------- */

/* One thread hands over to the other, and goes on when that one hands back. */
static void test_threads(void **state)
{
	struct support_moment main_at, autograd, back;
	struct support_machine machine;

	(void)state;
	support_machine_open(&machine, 1);
	ss_sim_work(machine.program, 1 * MS);
	support_machine_stop(&machine);
	ss_sim_switch(machine.program, SS_SIM_AUTOGRAD);
	support_machine_stop(&machine);
	ss_sim_work(machine.program, 7 * MS);
	ss_sim_switch(machine.program, SS_SIM_MAIN);
	support_machine_stop(&machine);
	support_machine_start(&machine);
	main_at = support_machine_next(&machine);
	autograd = support_machine_next(&machine);
	assert_int_equal(machine.rank.thread, SS_SIM_AUTOGRAD);
	support_check_cost("handing over", autograd.now_ns - main_at.go_ns, TIMING->wake_up);
	back = support_machine_next(&machine);
	assert_int_equal(machine.rank.thread, SS_SIM_MAIN);
	support_check_cost("handing back", back.now_ns - autograd.go_ns, 7 * MS + TIMING->wake_up);
	support_machine_close(&machine);
}

/* What autograd's thread launches stands behind what main launched. */
static void test_threads_share_streams(void **state)
{
	struct support_moment first, second;
	struct support_machine machine;

	(void)state;
	support_machine_open(&machine, 1);
	support_machine_kernel(&machine, 20 * MS, SS_SIM_COMPUTE);
	support_machine_stop(&machine);
	ss_sim_switch(machine.program, SS_SIM_AUTOGRAD);
	support_machine_kernel(&machine, 10 * US, SS_SIM_COMPUTE);
	support_machine_stop(&machine);
	support_machine_start(&machine);
	first = support_machine_next(&machine);
	second = support_machine_next(&machine);
	check_at("a kernel of the other thread", second.start_ns,
		 first.ready_ns[SS_SIM_COMPUTE] + TIMING->kernel_gap);
	support_machine_close(&machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernels),
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_memset),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_event_calls),
		cmocka_unit_test(test_queue),
		cmocka_unit_test(test_queue_of_copies),
		cmocka_unit_test(test_graph),
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_engines),
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_late_sync),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_threads_share_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
