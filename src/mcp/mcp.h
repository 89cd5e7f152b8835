/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp.h - the Model Context Protocol, so that agents can ask about traces.
 *
 * Messages are JSON-RPC, one per line. Both eras are spoken: 2026-07-28, in which every request
 * names its version, and the versions before it, which begin with `initialize`. How lines come and
 * go, and what a path means, is the host's business:
 *
 *     mcp_open(&host, &mcp, &err)
 *     mcp_take(mcp, line, length)   for each line; answers at once, or queues a call of a tool
 *     mcp_tick(mcp)                 a few times per second: calls that take long get an answer
 *     mcp_work(mcp)                 on another thread: answers the next call; false: it is over
 *     mcp_end(mcp)                  no more lines: stops the call that runs
 *     mcp_close(mcp)
 *
 * A tool is a row of tools.c: a route of the viewer (api/viewer/route.h) with its parameters.
 */
#ifndef SS_MCP_MCP_H
#define SS_MCP_MCP_H

#include "base/error.h"
#include "stepscope.h"

/* Clients give up after 30 to 60 s: a call that is not done by then is answered "loading". */
#define MCP_PATIENCE_NS INT64_C(18000000000)

/* The text of an answer; longer ones come in parts. With the line below it stays below 8 kB. */
#define MCP_TEXT_BYTES 7800

/* No client sends longer lines, and no more calls at once. */
#define MCP_LINE_BYTES_MAX ((size_t)1 << 20)
#define MCP_CALLS_MAX 64u

struct mcp_host {
	/*
	 * The runs of the paths, which stay valid until the next call; `other` may be NULL. Long
	 * loads call mcp_progress() and stop when it returns false.
	 */
	enum ss_status (*open)(void *context, const char *path, const char *other,
			       const struct ss_runs **out, struct ss_error *err);
	/* Sends a line, without its line break; called by one thread at a time. */
	void (*write)(void *context, const char *line, size_t length);
	int64_t patience_ns; /* after which a call is answered late; 0: MCP_PATIENCE_NS */
	void *context;
};

struct mcp;

SS_MUST_USE
enum ss_status mcp_open(const struct mcp_host *host, struct mcp **out, struct ss_error *err);
void mcp_close(struct mcp *mcp);

void mcp_take(struct mcp *mcp, const char *line, size_t length);
void mcp_tick(struct mcp *mcp);
bool mcp_work(struct mcp *mcp);
void mcp_end(struct mcp *mcp);

/* Whether somebody waits for the call that runs. */
bool mcp_is_wanted(struct mcp *mcp);

/* An ss_progress_function; the context is the struct mcp. */
bool mcp_progress(void *mcp, const struct ss_progress *progress);

#endif
