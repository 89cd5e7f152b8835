/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads: every index runs once, and a gate lets one through at a time.
 */
#include "support/support.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run),
		cmocka_unit_test(test_gate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
