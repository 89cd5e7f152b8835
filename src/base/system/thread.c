/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.c - POSIX threads.
 */
#define _GNU_SOURCE /* sched_getaffinity() */

#include "base/system/thread.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* A clock that nobody can set back, where conditions can wait by one. */
#ifdef __APPLE__
#define GATE_CLOCK CLOCK_REALTIME
#else
#define GATE_CLOCK CLOCK_MONOTONIC
#endif

struct ss_gate {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
};

struct thread_job {
	void (*work)(void *context, uint32_t index);
	void *context;
	uint32_t index;
};

#ifdef __linux__
/* Launchers and containers give each process some cores of the machine. 0: unknown. */
static long affinity_cores(void)
{
	cpu_set_t sets[8192 / CPU_SETSIZE]; /* as many as Linux can be built for */

	return sched_getaffinity(0, sizeof(sets), sets) == 0 ? CPU_COUNT_S(sizeof(sets), sets) : 0;
}
#else
static long affinity_cores(void)
{
	return 0;
}
#endif

uint32_t ss_thread_cores(void)
{
	uint32_t least = ss_thread_quota("");
	long cores = affinity_cores();

	if (cores < 1)
		cores = sysconf(_SC_NPROCESSORS_ONLN);
	if (cores < 1)
		cores = 1;
	if (least > SS_THREADS_MAX)
		least = SS_THREADS_MAX;
	return cores > (long)least ? least : (uint32_t)cores;
}

static void *thread_job_run(void *argument)
{
	struct thread_job *job = argument;

	job->work(job->context, job->index);
	return NULL;
}

void ss_thread_run(uint32_t count, void (*work)(void *context, uint32_t index), void *context)
{
	struct thread_job jobs[SS_THREADS_MAX];
	pthread_t threads[SS_THREADS_MAX];
	bool started[SS_THREADS_MAX] = { false };

	assert(count <= SS_THREADS_MAX);
	for (uint32_t i = 1; i < count; i++) {
		jobs[i] = (struct thread_job){ work, context, i };
		started[i] = pthread_create(&threads[i], NULL, thread_job_run, &jobs[i]) == 0;
	}
	if (count)
		work(context, 0);
	for (uint32_t i = 1; i < count; i++) {
		if (started[i])
			pthread_join(threads[i], NULL);
		else
			work(context, i);
	}
}

int ss_thread_run_all(uint32_t count, void (*work)(void *context, uint32_t index),
		      void (*stop)(void *context), void *context)
{
	struct thread_job jobs[SS_THREADS_MAX];
	pthread_t threads[SS_THREADS_MAX];
	uint32_t started = 1;
	int reason = 0;

	assert(count && count <= SS_THREADS_MAX);
	for (; started < count && !reason; started += !reason) {
		jobs[started] = (struct thread_job){ work, context, started };
		reason = pthread_create(&threads[started], NULL, thread_job_run, &jobs[started]);
	}
	if (reason)
		stop(context);
	else
		work(context, 0);
	while (--started)
		pthread_join(threads[started], NULL);
	return reason;
}

struct ss_gate *ss_gate_open(void)
{
	struct ss_gate *gate = malloc(sizeof(*gate));
	pthread_condattr_t attributes;

	if (!gate)
		return NULL;
	pthread_mutex_init(&gate->mutex, NULL);
	pthread_condattr_init(&attributes);
#ifndef __APPLE__
	pthread_condattr_setclock(&attributes, GATE_CLOCK);
#endif
	pthread_cond_init(&gate->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	return gate;
}

void ss_gate_close(struct ss_gate *gate)
{
	if (!gate)
		return;
	pthread_cond_destroy(&gate->changed);
	pthread_mutex_destroy(&gate->mutex);
	free(gate);
}

void ss_gate_lock(struct ss_gate *gate)
{
	pthread_mutex_lock(&gate->mutex);
}

void ss_gate_unlock(struct ss_gate *gate)
{
	pthread_mutex_unlock(&gate->mutex);
}

void ss_gate_wait(struct ss_gate *gate)
{
	pthread_cond_wait(&gate->changed, &gate->mutex);
}

void ss_gate_wait_for(struct ss_gate *gate, uint32_t milliseconds)
{
	struct timespec until;

	clock_gettime(GATE_CLOCK, &until);
	until.tv_sec += milliseconds / 1000;
	until.tv_nsec += (long)(milliseconds % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	pthread_cond_timedwait(&gate->changed, &gate->mutex, &until);
}

void ss_gate_wake(struct ss_gate *gate)
{
	pthread_cond_broadcast(&gate->changed);
}
