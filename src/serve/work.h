/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.h - two workers answer requests: one for routes that are `apart`, one for the others.
 *
 * ss_ask() allows one request of each kind at a time. One worker per kind keeps that rule without
 * locks, and the thread that talks to the network never waits: tiles of the timeline are answered
 * while a what-if is replayed.
 */
#ifndef SS_SERVE_WORK_H
#define SS_SERVE_WORK_H

#include "base/memory.h"
#include "base/system/thread.h"
#include "stepscope.h"

#define SS_WORKERS 2

/*
 * JSON shrinks to a fifth at 250 MB/s: 64 kB take 0.3 ms, which every tunnel below 150 MB/s gives
 * back. On loopback it is lost, so small answers, of which there are many, stay plain.
 */
#define SS_COMPRESS_BYTES 65536

/* Browsers hold no longer text than this; who wants more takes the command line. */
#define SS_ANSWER_BYTES_MAX ((size_t)512 << 20)

/* One request on its way. */
struct ss_server_task {
	struct ss_server_task *next;
	const char *request; /* for ss_ask() */
	bool apart;
	bool takes_gzip;
	/* the answer */
	enum ss_status status;
	struct ss_error err;
	struct ss_answer answer;
	bool is_gzip;
};

struct ss_task_queue {
	struct ss_gate *gate;
	struct ss_server_task *first, *last;
	bool is_open; /* somebody works on it */
	bool is_over;
};

struct ss_workers {
	struct ss_task_queue queues[SS_WORKERS];
	const struct ss_runs *runs; /* lent; NULL: none is open yet */
	/* Tells that a task is over; its owner may free it from then on. */
	void (*finish)(struct ss_server_task *task);
};

/* False without memory; to be released all the same. */
SS_MUST_USE
bool ss_workers_init(struct ss_workers *workers, void (*finish)(struct ss_server_task *task));
void ss_workers_release(struct ss_workers *workers);

/* Queues the task for its worker; false: nobody works, now or any more. */
SS_MUST_USE
bool ss_workers_add(struct ss_workers *workers, struct ss_server_task *task);

/*
 * Runs the workers beside body(context), on whose return they stop: the task at work is done,
 * those that wait are finished with SS_ERR_STOPPED. Fails, without body, where the system refuses
 * a worker its thread.
 */
SS_MUST_USE
enum ss_status ss_workers_run(struct ss_workers *workers, void (*body)(void *context),
			      void *context, struct ss_error *err);

/* Answers one task; what the workers do, for tests. */
void ss_server_task_answer(const struct ss_runs *runs, struct ss_server_task *task);

#endif
