/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_none.c - replaces server.c in builds without libmicrohttpd.
 */
#include "serve/serve.h"

#include <unistd.h>

enum ss_status ss_server_start(const struct ss_server_options *options, struct ss_server **out,
			       struct ss_error *err)
{
	close(options->listener.socket);
	*out = NULL;
	return ss_fail(err, SS_ERR_MISSING,
		       "this build has no server: install libmicrohttpd (libmicrohttpd-dev on "
		       "Debian) and build stepscope again");
}

/* None of these is called, because no server starts. */

uint16_t ss_server_port(const struct ss_server *server)
{
	(void)server;
	return 0;
}

const char *ss_server_link(const struct ss_server *server)
{
	(void)server;
	return "";
}

bool ss_server_is_loopback(const struct ss_server *server)
{
	(void)server;
	return true;
}

void ss_server_progress(struct ss_server *server, uint32_t run, uint32_t runs,
			const struct ss_progress *progress)
{
	(void)server;
	(void)run;
	(void)runs;
	(void)progress;
}

bool ss_server_work(void *server, const struct ss_progress *progress)
{
	(void)server;
	(void)progress;
	return true;
}

enum ss_status ss_server_open(struct ss_server *server, const struct ss_runs *runs,
			      struct ss_session *const *sessions, uint32_t count,
			      struct ss_error *err)
{
	(void)server;
	(void)runs;
	(void)sessions;
	(void)count;
	return ss_fail(err, SS_ERR_MISSING, "this build has no server");
}

enum ss_status ss_server_run(struct ss_server *server, void (*body)(void *context), void *context,
			     struct ss_error *err)
{
	(void)server;
	(void)body;
	(void)context;
	return ss_fail(err, SS_ERR_MISSING, "this build has no server");
}

void ss_server_sweep(struct ss_server *server)
{
	(void)server;
}

void ss_server_close(struct ss_server *server)
{
	(void)server;
}
