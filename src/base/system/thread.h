/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.h - a few workers and a gate: the only use of threads in the library.
 *
 * Builds without threads (WebAssembly) have a twin of thread.c that runs the
 * work of all workers on the caller's thread, one worker after the other: code
 * must not need a second worker to make progress.
 */
#ifndef SS_BASE_SYSTEM_THREAD_H
#define SS_BASE_SYSTEM_THREAD_H

#include "base/error.h"

#define SS_THREADS_MAX 64u

/* The cores that this process may use; 1 where there are no threads. */
uint32_t ss_thread_cores(void);

/*
 * The cores whose time the control groups of this process leave it, rounded up, at least 1;
 * UINT32_MAX if they limit nothing. root is where / is, "" but for tests. Linux alone has them.
 */
uint32_t ss_thread_quota(const char *root);

/*
 * Runs work(context, 0 .. count-1), each on a thread of its own (the caller's
 * is one of them), and returns when all have returned. When the system refuses
 * a thread its work runs on the caller's: correct, only slower.
 */
void ss_thread_run(uint32_t count, void (*work)(void *context, uint32_t index), void *context);

/*
 * The same for work that all threads must do at the same time. When the system refuses a thread,
 * nothing runs on the caller's thread, stop(context) tells the others to end, and the system's
 * error is returned; else 0.
 */
int ss_thread_run_all(uint32_t count, void (*work)(void *context, uint32_t index),
		      void (*stop)(void *context), void *context);

/* The rows from .. to - 1. */
struct ss_row_range {
	uint32_t from, to;
};

/* The share of worker `index` of `threads` in `count` rows. */
static inline struct ss_row_range ss_thread_share(uint32_t count, uint32_t threads, uint32_t index)
{
	return (struct ss_row_range){ (uint32_t)((uint64_t)count * index / threads),
				      (uint32_t)((uint64_t)count * (index + 1) / threads) };
}

/* A lock that can be waited on. */
struct ss_gate;

/* Returns NULL when there is no memory. */
struct ss_gate *ss_gate_open(void);
void ss_gate_close(struct ss_gate *gate);
void ss_gate_lock(struct ss_gate *gate);
void ss_gate_unlock(struct ss_gate *gate);
void ss_gate_wait(struct ss_gate *gate);
/* Waits at most this long. */
void ss_gate_wait_for(struct ss_gate *gate, uint32_t milliseconds);
void ss_gate_wake(struct ss_gate *gate);

#endif
