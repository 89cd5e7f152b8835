/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads: every index runs once, a gate lets one through at a time, and only the cores that the
 * process may use count.
 */
#define _GNU_SOURCE /* sched_setaffinity() */

#include "support/support.h"

#include <sched.h>
#include <stdatomic.h>

#include "base/system/thread.h"

struct counting {
	atomic_int runs[SS_THREADS_MAX];
	struct ss_gate *gate;
	uint32_t next; /* guarded by the gate */
	uint32_t total;
};

static void count_run(void *context, uint32_t index)
{
	atomic_fetch_add(&((struct counting *)context)->runs[index], 1);
}

static void test_run(void **state)
{
	static const uint32_t counts[] = { 0, 1, 2, 8, SS_THREADS_MAX };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(counts); i++) {
		struct counting counting = { .total = 0 };

		ss_thread_run(counts[i], count_run, &counting);
		for (uint32_t k = 0; k < SS_THREADS_MAX; k++)
			assert_int_equal(counting.runs[k], k < counts[i]);
	}
	assert_true(ss_thread_cores() >= 1 && ss_thread_cores() <= SS_THREADS_MAX);
}

/* Each waits for its turn, as readers of blocks do. */
static void take_turns(void *context, uint32_t index)
{
	struct counting *counting = context;

	for (uint32_t round = 0; round < 50; round++) {
		ss_gate_lock(counting->gate);
		while (counting->next % 8 != index)
			ss_gate_wait(counting->gate);
		counting->next++;
		counting->total += index;
		ss_gate_wake(counting->gate);
		ss_gate_unlock(counting->gate);
	}
}

static void test_gate(void **state)
{
	struct counting counting = { .gate = ss_gate_open() };

	(void)state;
	assert_non_null(counting.gate);
	ss_thread_run(8, take_turns, &counting);
	assert_int_equal(counting.next, 400);
	assert_int_equal(counting.total, 50 * (0 + 1 + 2 + 3 + 4 + 5 + 6 + 7));
	ss_gate_close(counting.gate);
	ss_gate_close(NULL);
}

#ifdef __linux__
/* A launcher binds its processes to some of the cores. */
static void test_cores(void **state)
{
	cpu_set_t before, one;
	int first = 0;

	(void)state;
	if (sched_getaffinity(0, sizeof(before), &before) != 0)
		skip(); /* a machine of more cores than the set has */
	if (ss_thread_quota("") == UINT32_MAX)
		assert_int_equal(ss_thread_cores(), CPU_COUNT(&before) < (int)SS_THREADS_MAX
							    ? CPU_COUNT(&before)
							    : (int)SS_THREADS_MAX);
	else
		assert_true(ss_thread_cores() <= ss_thread_quota(""));
	while (!CPU_ISSET(first, &before))
		first++;
	CPU_ZERO(&one);
	CPU_SET(first, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_int_equal(ss_thread_cores(), 1);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run),
		cmocka_unit_test(test_gate),
#ifdef __linux__
		cmocka_unit_test(test_cores),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
