/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.h - the parts of the server that know no HTTP: workers, state, connections, the token.
 *
 * Two workers answer requests: one for routes that are `apart`, one for the others.
 * ss_ask() allows one request of each kind at a time. One worker per kind keeps that rule without
 * locks, and the network thread never waits: the timeline gets its tiles while the other worker
 * replays a what-if.
 */
#ifndef SS_SERVE_SERVER_H
#define SS_SERVE_SERVER_H

#include <time.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/system/thread.h"
#include "serve/guard.h"
#include "stepscope.h"

#define SS_WORKERS 2

/*
 * JSON shrinks to a fifth at 250 MB/s: 64 kB take 0.3 ms, which every tunnel slower than 150 MB/s
 * saves again. On loopback that is lost time, so the many small answers stay uncompressed.
 */
#define SS_COMPRESS_BYTES 65536

/* Browsers hold no longer strings; larger answers need the command line. */
#define SS_ANSWER_BYTES_MAX ((size_t)512 << 20)

/* One request in progress. */
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
	bool is_open; /* a worker takes tasks from it */
	bool is_over;
};

struct ss_workers {
	struct ss_task_queue queues[SS_WORKERS];
	const struct ss_runs *runs; /* borrowed; NULL: no run is open yet */
	/* Called when a task is done; its owner may free it from then on. */
	void (*finish)(struct ss_server_task *task);
};

/* False without memory; release it all the same. */
SS_MUST_USE
bool ss_workers_init(struct ss_workers *workers, void (*finish)(struct ss_server_task *task));
void ss_workers_release(struct ss_workers *workers);

/* Queues the task for its worker; false: no worker runs yet, or the server is stopping. */
SS_MUST_USE
bool ss_workers_add(struct ss_workers *workers, struct ss_server_task *task);

/*
 * Runs the workers beside body(context), and stops them when it returns: the running task is
 * completed, queued ones finish with SS_ERR_STOPPED. Fails, without calling body, if the system
 * cannot start a worker's thread.
 */
SS_MUST_USE
enum ss_status ss_workers_run(struct ss_workers *workers, void (*body)(void *context),
			      void *context, struct ss_error *err);

/* Answers one task; called by the workers and by tests. */
void ss_server_task_answer(const struct ss_runs *runs, struct ss_server_task *task);

/* --- state.c: the progress of the load, and later of a slow answer, for the page ----------- */

struct ss_state {
	struct ss_gate *gate;
	bool is_ready;
	uint32_t run, runs;
	struct ss_progress progress;
	struct ss_progress work; /* of the answer in progress; no `doing`: none */
	char path[1024];         /* of the file being read, truncated if longer */
};

/* False without memory. */
SS_MUST_USE
bool ss_state_init(struct ss_state *state);
void ss_state_release(struct ss_state *state);

void ss_state_load(struct ss_state *state, uint32_t run, uint32_t runs,
		   const struct ss_progress *progress);
/*
 * Progress of a slow answer; NULL: it is done. While loading: of the work after the files are read.
 */
void ss_state_work(struct ss_state *state, const struct ss_progress *progress);
void ss_state_ready(struct ss_state *state, uint32_t runs);
bool ss_state_is_ready(struct ss_state *state);

/* {"schema":"stepscope.state/1","state":"loading",...} */
void ss_state_write(struct ss_state *state, struct ss_text *out);

/* --- connections.c: connections with and without the token ---------------------------------- */

/* A browser opens 6 connections per server; enough for several people and scripts at once. */
#define SS_CONNECTIONS_MAX 256

/* Programs send requests, not people: a slower client blocks a connection that others need. */
#define SS_REQUEST_SECONDS 30

struct ss_connection {
	int socket;
	bool is_used, is_answered; /* answered: the request is complete, its answer not yet sent */
	bool is_trusted;           /* a request had the token */
	bool is_ending;            /* shut down; the library closes it next */
	time_t since;
	uint64_t turn; /* the oldest has the least */
};

struct ss_connections {
	struct ss_gate *gate;
	struct ss_connection items[SS_CONNECTIONS_MAX];
	uint64_t turns;
};

/* False without memory. */
SS_MUST_USE
bool ss_connections_init(struct ss_connections *connections);
void ss_connections_release(struct ss_connections *connections);

/*
 * A new connection; NULL: there are too many. Before that happens, ends the oldest one that has
 * never had the token, so that nobody keeps the holder of the link out.
 */
struct ss_connection *ss_connections_take(struct ss_connections *connections, int socket);
/* NULL for the connection is allowed from here on. */
void ss_connections_drop(struct ss_connections *connections, struct ss_connection *connection);

/* The head of a request is there; the answer was sent. */
void ss_connection_begin(struct ss_connections *connections, struct ss_connection *connection,
			 bool has_token);
void ss_connection_end(struct ss_connections *connections, struct ss_connection *connection);

/* Ends connections that take too long. */
void ss_connections_sweep(struct ss_connections *connections);

/* --- listen.c: the token that requests must have -------------------------------------------- */

/* 128 random bits in hexadecimal. */
SS_MUST_USE
enum ss_status ss_token_make(char token[SS_TOKEN_LENGTH + 1], struct ss_error *err);

#endif
