/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_none.c - the twin of thread.c for builds without threads.
 */
#include "base/system/thread.h"

#include <stdlib.h>

struct ss_gate {
	bool locked;
};

uint32_t ss_thread_cores(void)
{
	return 1;
}

void ss_thread_run(uint32_t count, void (*work)(void *context, uint32_t index), void *context)
{
	for (uint32_t i = 0; i < count; i++)
		work(context, i);
}

struct ss_gate *ss_gate_open(void)
{
	return calloc(1, sizeof(struct ss_gate));
}

void ss_gate_close(struct ss_gate *gate)
{
	free(gate);
}

void ss_gate_lock(struct ss_gate *gate)
{
	assert(!gate->locked);
	gate->locked = true;
}

void ss_gate_unlock(struct ss_gate *gate)
{
	gate->locked = false;
}

void ss_gate_wait(struct ss_gate *gate)
{
	/* With one thread nobody could ever wake us: waiting here is a bug of the caller. */
	assert(!gate);
}

void ss_gate_wait_for(struct ss_gate *gate, uint32_t milliseconds)
{
	/* nobody else runs meanwhile: there is nothing to wait for */
	(void)gate;
	(void)milliseconds;
}

void ss_gate_wake(struct ss_gate *gate)
{
	assert(gate);
}
