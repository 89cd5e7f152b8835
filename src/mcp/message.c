/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.c - lines of JSON-RPC: what they ask for, and what is sent back.
 */
#include <stdio.h>

#include "api/renderers.h"
#include "base/utf8.h"
#include "mcp/parts.h"

#define MODERN "2026-07-28"

/* The newest first; all but the first begin with `initialize`. */
static const char *const versions[] = { MODERN, "2025-11-25", "2025-06-18", "2025-03-26",
					"2024-11-05" };

/* How long clients may keep the list of the tools: it does not change while the program runs. */
#define CACHED "\"ttlMs\":3600000,\"cacheScope\":\"public\""

static const char instructions[] =
	"Reads profiler traces of PyTorch (Kineto), memory snapshots and flight recorder dumps. "
	"Call verdict first, then explain for a finding, what_if for what fixes save, view or "
	"timeline_words for details, sql where no view helps. Every tool takes `path`, a file or "
	"the folder of a run. \"state: loading\" means: call again. Figures are of this recording; "
	"say what a note calls not recorded.";

enum rpc_code {
	RPC_NOT_JSON = -32700,
	RPC_NO_REQUEST = -32600,
	RPC_NO_METHOD = -32601,
	RPC_BAD_PARAMETERS = -32602,
	RPC_BUSY = -32000,
	RPC_NO_VERSION = -32022,
};

/* A parsed line; spans are parts of it. */
struct rpc_message {
	struct ss_json_span id, method, params;
	struct ss_json_span version;         /* of `_meta`, or NONE */
	struct ss_json_span name, arguments; /* of a call */
	struct ss_json_span asked;           /* protocolVersion of `initialize` */
	struct ss_json_span cancelled;       /* requestId of a notification */
};

void mcp_add_quoted(struct ss_text *out, const char *text, size_t length)
{
	const char *end = text + length, *stop;
	SS_TEXT(repaired);

	if (!ss_text_reserve(&repaired, 3 * length + 1)) {
		ss_text_fail(out);
		return;
	}
	/* line breaks stay, all other control characters do not */
	for (; text < end; text = stop + 1) {
		stop = memchr(text, '\n', (size_t)(end - text));
		stop = stop ? stop : end;
		length = (size_t)(stop - text);
		/* CSV ends its lines with two bytes */
		length -= length && stop < end && stop[-1] == '\r';
		repaired.length += ss_utf8_repair(text, length, repaired.data + repaired.length);
		if (stop < end)
			repaired.data[repaired.length++] = '\n';
	}
	repaired.data[repaired.length] = '\0';
	ss_render_quoted(out, repaired.data);
}

/* --- sending ------------------------------------------------------------------------------ */

/* A line that found no memory is not sent: half of it would be no JSON. */
static void rpc_send(struct mcp *mcp, struct ss_text *line)
{
	if (!ss_text_failed(line)) {
		ss_gate_lock(mcp->out);
		mcp->host.write(mcp->host.context, line->data, line->length);
		ss_gate_unlock(mcp->out);
	}
	ss_text_release(line);
}

static void rpc_begin(struct ss_text *line, const struct ss_json_span *id)
{
	ss_text_add_string(line, "{\"jsonrpc\":\"2.0\",\"id\":");
	if (id->type == SS_JSON_STRING) {
		ss_text_add_string(line, "\"");
		ss_strict_add_text(line, id->text, id->length);
		ss_text_add_string(line, "\"");
	} else if (id->type == SS_JSON_BARE) {
		ss_text_add(line, id->text, id->length);
	} else {
		ss_text_add_string(line, "null");
	}
}

/* `data` is JSON, or NULL. */
static void rpc_fail(struct mcp *mcp, const struct ss_json_span *id, enum rpc_code code,
		     const char *why, const char *data)
{
	struct ss_text line = { 0 };

	rpc_begin(&line, id);
	ss_text_addf(&line, ",\"error\":{\"code\":%d,\"message\":", (int)code);
	mcp_add_quoted(&line, why, strlen(why));
	if (data)
		ss_text_addf(&line, ",\"data\":%s", data);
	ss_text_add_string(&line, "}}");
	rpc_send(mcp, &line);
}

static void rpc_begin_result(struct ss_text *line, const struct rpc_message *message)
{
	rpc_begin(line, &message->id);
	ss_text_add_string(line, ",\"result\":{\"resultType\":\"complete\",");
}

static void rpc_add_server(struct ss_text *line)
{
	ss_text_addf(line, "{\"name\":\"stepscope\",\"title\":\"stepscope\",\"version\":\"%s\"}",
		     ss_version());
}

static void rpc_add_versions(struct ss_text *line)
{
	for (size_t i = 0; i < SS_COUNT(versions); i++)
		ss_text_addf(line, "%s\"%s\"", i ? "," : "[", versions[i]);
	ss_text_add_string(line, "]");
}

/* The end of the part that begins at `from`: a whole line, or a whole character. */
static size_t answer_cut(const struct ss_text *text, size_t from)
{
	size_t end = from + MCP_TEXT_BYTES, line = end;

	if (end >= text->length)
		return text->length;
	while (line > from + MCP_TEXT_BYTES / 2 && text->data[line - 1] != '\n')
		line--;
	if (text->data[line - 1] == '\n')
		return line;
	while (end > from + 1 && ((unsigned char)text->data[end] & 0xc0) == 0x80)
		end--;
	return end;
}

void mcp_answer(struct mcp *mcp, const struct mcp_call *call, const struct ss_text *text,
		bool is_error)
{
	size_t from = 0, end;
	struct ss_text line = { 0 }, part = { 0 };

	/* errors, and answers that come while it loads, have no parts */
	if (!is_error && !call->is_answered)
		from = call->offset < text->length ? (size_t)call->offset : text->length;
	end = answer_cut(text, from);
	if (end > from)
		ss_text_add(&part, text->data + from, end - from);
	if (end < text->length)
		ss_text_addf(&part,
			     "\n[%zu of %zu bytes so far. To go on, call %s again with the same "
			     "arguments and offset=%zu.]\n",
			     end, text->length, call->tool->name, end);
	else if (!part.length)
		ss_text_add_string(&part, call->offset ? "[There is no more.]" : "[No rows.]");
	rpc_begin(&line, &call->id);
	ss_text_addf(&line, ",\"result\":{%s\"content\":[{\"type\":\"text\",\"text\":",
		     call->is_modern ? "\"resultType\":\"complete\"," : "");
	mcp_add_quoted(&line, part.data ? part.data : "", part.length);
	ss_text_addf(&line, "}],\"isError\":%s}}", is_error ? "true" : "false");
	ss_text_end(&part, &line);
	rpc_send(mcp, &line);
}

/* --- requests ------------------------------------------------------------------------------- */

static void rpc_initialize(struct mcp *mcp, const struct rpc_message *message)
{
	const char *version = versions[1];
	struct ss_text line = { 0 };

	for (size_t i = 1; i < SS_COUNT(versions); i++)
		if (ss_json_is(&message->asked, versions[i]))
			version = versions[i];
	rpc_begin(&line, &message->id);
	ss_text_addf(&line,
		     ",\"result\":{\"protocolVersion\":\"%s\",\"capabilities\":{\"tools\":{}},",
		     version);
	ss_text_add_string(&line, "\"serverInfo\":");
	rpc_add_server(&line);
	ss_text_add_string(&line, ",\"instructions\":");
	mcp_add_quoted(&line, instructions, sizeof(instructions) - 1);
	ss_text_add_string(&line, "}}");
	rpc_send(mcp, &line);
}

static void rpc_discover(struct mcp *mcp, const struct rpc_message *message)
{
	struct ss_text line = { 0 };

	rpc_begin_result(&line, message);
	ss_text_add_string(&line, "\"supportedVersions\":");
	rpc_add_versions(&line);
	ss_text_add_string(&line, ",\"capabilities\":{\"tools\":{}},\"instructions\":");
	mcp_add_quoted(&line, instructions, sizeof(instructions) - 1);
	ss_text_add_string(&line, "," CACHED ",\"_meta\":{\"io.modelcontextprotocol/serverInfo\":");
	rpc_add_server(&line);
	ss_text_add_string(&line, "}}}");
	rpc_send(mcp, &line);
}

static void rpc_list(struct mcp *mcp, const struct rpc_message *message)
{
	struct ss_text line = { 0 };

	if (message->version.type == SS_JSON_NONE) {
		rpc_begin(&line, &message->id);
		ss_text_add_string(&line, ",\"result\":{");
	} else {
		rpc_begin_result(&line, message);
		ss_text_add_string(&line, CACHED ",");
	}
	mcp_tools_list(&line);
	ss_text_add_string(&line, "}}");
	rpc_send(mcp, &line);
}

static void rpc_ping(struct mcp *mcp, const struct rpc_message *message)
{
	struct ss_text line = { 0 };

	rpc_begin(&line, &message->id);
	ss_text_add_string(&line, ",\"result\":{}}");
	rpc_send(mcp, &line);
}

/* A span of the line as a span of a copy of the line, which the call owns. */
static struct ss_json_span span_in(const struct ss_json_span *span, const char *line,
				   const char *copy)
{
	struct ss_json_span moved = *span;

	if (moved.text)
		moved.text = copy + (span->text - line);
	return moved;
}

static struct mcp_call *call_make(const struct rpc_message *message, const char *line,
				  size_t length)
{
	struct ss_memory outside;
	struct mcp_call *call;
	char *copy;

	ss_memory_init(&outside, 0);
	call = ss_memory_zeroed(&outside, sizeof(*call));
	if (!call)
		return NULL;
	ss_memory_init(&call->memory, 0);
	ss_arena_init(&call->arena, &call->memory);
	if (!SS_ALLOC(&call->arena, copy, length + SS_PAD_BYTES)) {
		mcp_call_free(call);
		return NULL;
	}
	memcpy(copy, line, length);
	call->id = span_in(&message->id, line, copy);
	call->given = span_in(&message->arguments, line, copy);
	call->is_modern = message->version.type != SS_JSON_NONE;
	return call;
}

static void rpc_call(struct mcp *mcp, const struct rpc_message *message, const char *line,
		     size_t length)
{
	const struct mcp_tool *tool = NULL;
	struct mcp_call *call;
	char why[128];

	for (size_t i = 0; i < mcp_tool_count; i++)
		if (message->name.type == SS_JSON_STRING &&
		    ss_json_is(&message->name, mcp_tools[i].name))
			tool = &mcp_tools[i];
	if (!tool) {
		snprintf(why, sizeof(why), "no tool '%.*s'; tools/list has all",
			 message->name.length < 60 ? (int)message->name.length : 60,
			 message->name.text ? message->name.text : "");
		rpc_fail(mcp, &message->id, RPC_BAD_PARAMETERS, why, NULL);
		return;
	}
	call = call_make(message, line, length);
	if (!call) {
		rpc_fail(mcp, &message->id, RPC_BUSY, "out of memory", NULL);
		return;
	}
	call->tool = tool;
	if (!mcp_queue(mcp, call)) {
		rpc_fail(mcp, &message->id, RPC_BUSY, "too many calls at once", NULL);
		mcp_call_free(call);
	}
}

/* --- taking a line apart ---------------------------------------------------------------- */

struct rpc_field {
	const char *name;
	struct ss_json_span *value;
};

/* Reads the members of an object that are listed; false: it is not an object. */
static bool rpc_read_fields(const struct ss_json_span *object, const struct rpc_field *fields,
			    size_t count)
{
	struct ss_json json = { .at = object->text,
				.end = object->text + object->length,
				.whole = true };
	struct ss_json_span key, value;

	if (object->type != SS_JSON_OBJECT || ss_json_expect(&json, '{') != SS_JSON_OK)
		return false;
	for (bool first = true;; first = false) {
		if (ss_json_key(&json, first, &key) != SS_JSON_OK)
			return false;
		if (key.type == SS_JSON_NONE)
			return true;
		if (ss_json_value(&json, &value) != SS_JSON_OK)
			return false;
		for (size_t i = 0; i < count; i++)
			if (ss_json_is(&key, fields[i].name))
				*fields[i].value = value;
	}
}

static bool rpc_read(const char *line, size_t length, struct rpc_message *out)
{
	struct ss_json json = { .at = line, .end = line + length, .whole = true };
	struct ss_json_span object = { 0 }, meta = { 0 };

	*out = (struct rpc_message){ 0 };
	ss_json_space(&json);
	if (ss_json_value(&json, &object) != SS_JSON_OK)
		return false;
	ss_json_space(&json);
	if (json.at != json.end || json.odd_commas || json.odd_quotes ||
	    !rpc_read_fields(&object,
			     (struct rpc_field[]){ { "id", &out->id },
						   { "method", &out->method },
						   { "params", &out->params } },
			     3))
		return false;
	if (out->params.type != SS_JSON_OBJECT)
		return true;
	if (!rpc_read_fields(&out->params,
			     (struct rpc_field[]){ { "name", &out->name },
						   { "arguments", &out->arguments },
						   { "protocolVersion", &out->asked },
						   { "requestId", &out->cancelled },
						   { "_meta", &meta } },
			     5))
		return false;
	return meta.type != SS_JSON_OBJECT ||
	       rpc_read_fields(&meta,
			       (struct rpc_field[]){ { "io.modelcontextprotocol/protocolVersion",
						       &out->version } },
			       1);
}

/* An id is a text or an integer, written as JSON writes it: answers repeat it. */
static bool rpc_has_id(const struct rpc_message *message)
{
	const struct ss_json_span *id = &message->id;
	size_t sign = id->length && *id->text == '-', digits = sign;

	while (digits < id->length && ss_char_is_digit(id->text[digits]))
		digits++;
	return id->type == SS_JSON_STRING ||
	       (id->type == SS_JSON_BARE && digits == id->length && digits > sign && digits < 20 &&
		(id->text[sign] != '0' || digits == sign + 1));
}

static void rpc_request(struct mcp *mcp, const struct rpc_message *message, const char *line,
			size_t length)
{
	const struct ss_json_span *method = &message->method;
	bool is_modern = message->version.type != SS_JSON_NONE;
	struct ss_text data = { 0 };

	if (is_modern && !ss_json_is(&message->version, MODERN)) {
		ss_text_add_string(&data, "{\"supported\":");
		rpc_add_versions(&data);
		ss_text_add_string(&data, ",\"requested\":\"");
		ss_strict_add_text(&data, message->version.text, message->version.length);
		ss_text_add_string(&data, "\"}");
		rpc_fail(mcp, &message->id, RPC_NO_VERSION, "unsupported protocol version",
			 ss_text_failed(&data) ? NULL : data.data);
		ss_text_release(&data);
		return;
	}
	if (ss_json_is(method, "tools/call"))
		rpc_call(mcp, message, line, length);
	else if (ss_json_is(method, "tools/list"))
		rpc_list(mcp, message);
	else if (ss_json_is(method, "server/discover"))
		rpc_discover(mcp, message);
	else if (ss_json_is(method, "initialize") && !is_modern)
		rpc_initialize(mcp, message);
	else if (ss_json_is(method, "ping") && !is_modern)
		rpc_ping(mcp, message);
	else
		rpc_fail(mcp, &message->id, RPC_NO_METHOD, "this server has only tools", NULL);
}

static void rpc_take(struct mcp *mcp, const char *line, size_t length)
{
	struct rpc_message message;

	if (!rpc_read(line, length, &message)) {
		rpc_fail(mcp, &(struct ss_json_span){ 0 }, RPC_NOT_JSON, "not a JSON-RPC message",
			 NULL);
		return;
	}
	/* an answer: this server asks nothing */
	if (message.method.type == SS_JSON_NONE && message.id.type != SS_JSON_NONE)
		return;
	if (message.method.type != SS_JSON_STRING ||
	    (message.id.type != SS_JSON_NONE && !rpc_has_id(&message))) {
		rpc_fail(mcp, &(struct ss_json_span){ 0 }, RPC_NO_REQUEST,
			 "a request has a method and an id", NULL);
		return;
	}
	if (message.id.type != SS_JSON_NONE)
		rpc_request(mcp, &message, line, length);
	else if (ss_json_is(&message.method, "notifications/cancelled"))
		mcp_cancel(mcp, &message.cancelled);
}

void mcp_take(struct mcp *mcp, const char *line, size_t length)
{
	SS_TEXT(padded);

	while (length &&
	       (line[length - 1] == '\n' || line[length - 1] == '\r' || line[length - 1] == ' '))
		length--;
	if (!length)
		return;
	if (length > MCP_LINE_BYTES_MAX || !ss_text_reserve(&padded, length + SS_PAD_BYTES)) {
		rpc_fail(mcp, &(struct ss_json_span){ 0 }, RPC_NO_REQUEST, "the line is too long",
			 NULL);
		return;
	}
	memcpy(padded.data, line, length);
	memset(padded.data + length, 0, SS_PAD_BYTES);
	rpc_take(mcp, padded.data, length);
}
