/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.h - what the files of mcp/ share: a call of a tool, and the table of the tools.
 */
#ifndef SS_MCP_PARTS_H
#define SS_MCP_PARTS_H

#include "api/json_text.h"
#include "base/memory.h"
#include "base/system/thread.h"
#include "base/text.h"
#include "mcp/mcp.h"

/* --- tools.c --------------------------------------------------------------------------- */

enum mcp_kind { MCP_TEXT, MCP_COUNT, MCP_MS };

struct mcp_argument {
	const char *name, *about;
	enum mcp_kind kind;
	bool is_required;
	const char *(*choices)(size_t index); /* the values that exist; NULL: any */
	const char *otherwise;                /* default; NULL: none */
};

/* More than any tool has. */
#define MCP_ARGUMENTS_MAX 12

struct mcp_tool {
	const char *name, *title, *about;
	const char *target; /* the route with fixed parameters: "view?format=text" */
	const char *rest;   /* the argument that follows the route: "view" of view/steps; or NULL */
	const char *first;  /* a route to ask before that, if the argument `rest` suits; or NULL */
	bool writes;
	struct mcp_argument arguments[MCP_ARGUMENTS_MAX]; /* `path` and `offset` are known to all */
};

extern const struct mcp_tool mcp_tools[];
extern const size_t mcp_tool_count;

/* Writes the list of the tools as JSON. */
void mcp_tools_list(struct ss_text *out);

/* --- calls ------------------------------------------------------------------------------- */

struct mcp_call {
	struct mcp_call *next;
	struct ss_memory memory;
	struct ss_arena arena;       /* of everything below */
	struct ss_json_span id;      /* as it came */
	struct ss_json_span given;   /* its arguments: an object, or nothing */
	const struct mcp_tool *tool; /* NULL: another request */
	bool is_modern;              /* of 2026-07-28 */
	int64_t begin_ns;
	bool is_cancelled, is_answered;
	const char *values[MCP_ARGUMENTS_MAX]; /* of the tool's arguments; NULL: not given */
	const char *path;
	uint64_t offset;
	/* of a call that was answered late: what it came to */
	struct ss_text text;
	bool is_error;
};

struct mcp {
	struct mcp_host host;
	struct ss_gate *gate;          /* for what follows */
	struct mcp_call *first, *last; /* queued */
	struct mcp_call *running;
	struct mcp_call *late; /* answered late, and done since: for the same call; or NULL */
	uint32_t count;
	bool is_over;
	const char *doing; /* the progress of the call that runs */
	double share;
	struct ss_gate *out; /* for lines that are sent */
};

/* tools.c: reads the arguments of the call and asks its routes; the text of the answer. */
SS_MUST_USE
enum ss_status mcp_tool_run(struct mcp *mcp, struct mcp_call *call, struct ss_text *out,
			    struct ss_error *err);

/* message.c: sends the answer to a call: a text, cut at MCP_TEXT_BYTES. */
void mcp_answer(struct mcp *mcp, const struct mcp_call *call, const struct ss_text *text,
		bool is_error);

/* message.c: a text as a JSON string; bytes that are not UTF-8 are replaced. */
void mcp_add_quoted(struct ss_text *out, const char *text, size_t length);

/* calls.c: queues it; false: there are too many. */
SS_MUST_USE bool mcp_queue(struct mcp *mcp, struct mcp_call *call);
void mcp_cancel(struct mcp *mcp, const struct ss_json_span *id);
void mcp_call_free(struct mcp_call *call);

#endif
