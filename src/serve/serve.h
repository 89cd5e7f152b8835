/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve.h - the viewer over HTTP: the page, the progress of the load, and answers of ss_ask().
 *
 * The caller starts the server before it loads anything, so that the page is available at once and
 * can show the progress; then it loads and waits beside the workers:
 *
 *     ss_listen(host, port, &listener, &err)  before the sandbox is entered: it allows no sockets
 *     ss_server_start(&options, &server, &err)
 *     ss_server_run(server, body, context)    body: load, ss_server_open(), wait for Ctrl-C
 *     ss_server_close(server)
 *     ss_session_close(...)
 */
#ifndef SS_SERVE_SERVE_H
#define SS_SERVE_SERVE_H

#include <stddef.h>

#include "base/error.h"
#include "stepscope.h"

struct ss_own_routes; /* api/viewer/route.h */

/* A socket that listens. */
struct ss_listener {
	int socket;
	uint16_t port;
	bool is_ipv6, is_loopback, is_any;
	char address[64]; /* as it stands in a link: "127.0.0.1", "[::1]" */
};

/* `host`: an address, or "localhost"; NULL: 127.0.0.1. `port` 0: any free port. */
SS_MUST_USE
enum ss_status ss_listen(const char *host, uint16_t port, struct ss_listener *out,
			 struct ss_error *err);

struct ss_server_options {
	struct ss_listener listener; /* the server closes it, also if it does not start */
	const char *machine;         /* host name to accept in Host headers; NULL: only loopback */
	/* Routes of the command, for all open runs; borrowed, may be NULL. */
	const struct ss_own_routes *own;
};

struct ss_server;

/* Serves the page. */
SS_MUST_USE
enum ss_status ss_server_start(const struct ss_server_options *options, struct ss_server **out,
			       struct ss_error *err);

uint16_t ss_server_port(const struct ss_server *server);

/* "http://127.0.0.1:8080/#token=..."; the fragment stays in the browser. */
const char *ss_server_link(const struct ss_server *server);

/* Whether only this machine can reach it. */
bool ss_server_is_loopback(const struct ss_server *server);

/* Updates the progress that the page shows for run `run` of `runs`. */
void ss_server_progress(struct ss_server *server, uint32_t run, uint32_t runs,
			const struct ss_progress *progress);

/* Updates the progress of a slow answer; an ss_progress_function whose context is the server. */
bool ss_server_work(void *server, const struct ss_progress *progress);

/*
 * Serves answers about these runs from now on; `sessions` are all that were added to `runs`. First
 * computes what several routes share, so that no two workers do it at once.
 */
SS_MUST_USE
enum ss_status ss_server_open(struct ss_server *server, const struct ss_runs *runs,
			      struct ss_session *const *sessions, uint32_t count,
			      struct ss_error *err);

/*
 * Runs body(context) beside the workers, which end when it returns. Fails if no thread can start.
 */
SS_MUST_USE
enum ss_status ss_server_run(struct ss_server *server, void (*body)(void *context), void *context,
			     struct ss_error *err);

/* Ends connections that take too long; call it about once per second. */
void ss_server_sweep(struct ss_server *server);

/* Ends all connections. */
void ss_server_close(struct ss_server *server);

/* --- page.c: the viewer, which tools/embed.py embeds into the program ---------------------- */

struct ss_page {
	const unsigned char *bytes; /* gzip */
	size_t length;              /* 0: this build has no viewer */
	size_t plain_length;
	const char *policy; /* Content-Security-Policy, with the hashes of its scripts and styles */
	const char *tag;    /* ETag */
};

extern const struct ss_page ss_page;

#endif
