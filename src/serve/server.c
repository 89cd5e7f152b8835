/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.c - HTTP by libmicrohttpd (here: MHD).
 *
 * One thread of MHD talks to the network. It serves the page and the state by itself. For other
 * requests it suspends the connection until a worker (work.h) has the answer and resumes it.
 */
#include "serve/serve.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/renderers.h"
#include "base/text.h"
#include "base/utf8.h"
#include "serve/guard.h"
#include "serve/server.h"

/* Per address, if other machines can reach the server at all. */
#define CONNECTIONS_OF_ADDRESS 64

/* Memory of one connection for both heads: the guard's limits plus the sentence of a refusal. */
#define CONNECTION_BYTES 65536

/* What is sent at a time: larger pieces are no faster on loopback. */
#define PIECE_BYTES ((size_t)256 * 1024)

static const char no_viewer[] =
	"<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>stepscope</title>"
	"<h1>This build of stepscope has no viewer</h1><p>The server answers requests "
	"(<code>/api/ask/ROUTE</code>), but it was built without the page that shows them. "
	"Build the page in <code>ui/</code> (<code>npm ci &amp;&amp; npm run "
	"build</code>), then build stepscope again.</p></html>\n";

struct ss_server {
	struct ss_memory memory;
	struct MHD_Daemon *daemon;
	struct MHD_Response *page;
	struct ss_guard guard;
	struct ss_listener listener;
	struct ss_state state;
	struct ss_workers workers;
	struct ss_connections connections;
	char link[160];
};

/* One request and its answer. */
struct exchange {
	struct ss_server_task task; /* first member: a task's address is that of its exchange */
	struct ss_server *server;
	struct MHD_Connection *connection;
	struct ss_guard_verdict verdict;
	bool is_read, has_page, is_answered;
	size_t bytes; /* of this struct and the target */
	char target[];
};

static bool response_add_header(struct MHD_Response *response, const char *name, const char *value)
{
	return MHD_add_response_header(response, name, value) == MHD_YES;
}

/*
 * Headers of all answers: no caching, sniffing, framing or sharing with other sites. An answer that
 * lacks one of them, because memory ran out, is not sent.
 */
static bool response_add_headers(struct MHD_Response *response, const char *media_type,
				 const char *policy, const char *cache)
{
	return response_add_header(response, "Content-Type", media_type) &&
	       response_add_header(response, "Content-Security-Policy", policy) &&
	       response_add_header(response, "Cache-Control", cache) &&
	       response_add_header(response, "X-Content-Type-Options", "nosniff") &&
	       response_add_header(response, "Referrer-Policy", "no-referrer") &&
	       /* the page hands a trace to the window of ui.perfetto.dev that it opened */
	       response_add_header(response, "Cross-Origin-Opener-Policy",
				   "same-origin-allow-popups") &&
	       response_add_header(response, "Cross-Origin-Resource-Policy", "same-origin") &&
	       response_add_header(response, "X-Frame-Options", "DENY");
}

static void release_text(void *context)
{
	struct ss_text text = { .data = context };

	ss_text_release(&text);
}

/*
 * Copies a piece of a body. From a body in memory MHD would send head and body with sendmsg, which
 * the sandbox does not allow.
 */
static ssize_t read_body(void *context, uint64_t at, char *out, size_t room)
{
	memcpy(out, (const char *)context + at, room);
	return (ssize_t)room;
}

static struct MHD_Response *response_new(size_t bytes, void *body, void (*release)(void *body))
{
	return MHD_create_response_from_callback(bytes, bytes < PIECE_BYTES ? bytes : PIECE_BYTES,
						 read_body, body, release);
}

/* Sends the text, which MHD then owns. */
static enum MHD_Result send_text(struct MHD_Connection *connection, uint32_t status,
				 const char *media_type, bool is_gzip, struct ss_text *body)
{
	struct MHD_Response *response;
	enum MHD_Result result = MHD_NO;

	/* MHD does not free an empty body */
	response = body->length ? response_new(body->length, body->data, release_text)
				: MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
	if (!response || !body->length)
		ss_text_release(body);
	*body = (struct ss_text){ 0 };
	if (!response)
		return MHD_NO;
	if (response_add_headers(response, media_type, "default-src 'none'; frame-ancestors 'none'",
				 "no-store") &&
	    response_add_header(response, "Vary", "Accept-Encoding") &&
	    (!is_gzip || response_add_header(response, "Content-Encoding", "gzip")) &&
	    (status != MHD_HTTP_METHOD_NOT_ALLOWED ||
	     response_add_header(response, "Allow", "GET, HEAD")) &&
	    (status != MHD_HTTP_SERVICE_UNAVAILABLE ||
	     response_add_header(response, "Retry-After", "1")))
		result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result send_problem(struct MHD_Connection *connection, uint32_t status,
				    const char *sentence)
{
	char repaired[3 * sizeof(((struct ss_error *)NULL)->text) + 1];
	struct ss_text body = { 0 };
	size_t length = strlen(sentence);

	/* sentences quote the request, which may contain any bytes */
	assert(length < sizeof(repaired) / 3);
	repaired[ss_utf8_repair(sentence, length, repaired)] = '\0';
	ss_text_add_string(&body, "{\"error\":");
	ss_render_quoted(&body, repaired);
	ss_text_add_string(&body, "}\n");
	return send_text(connection, status, "application/json", false, &body);
}

static enum MHD_Result send_answer(struct exchange *exchange)
{
	struct ss_server_task *task = &exchange->task;

	if (task->status != SS_OK)
		return send_problem(exchange->connection, ss_guard_status(task->status),
				    task->err.text);
	return send_text(exchange->connection, MHD_HTTP_OK, task->answer.media_type, task->is_gzip,
			 &task->answer.body);
}

/* Sends the page, or 304 if the browser has it. The page exists only compressed. */
static enum MHD_Result send_page(struct exchange *exchange)
{
	struct MHD_Response *empty;
	enum MHD_Result result = MHD_NO;

	if (ss_page.length && !exchange->task.takes_gzip)
		return send_problem(
			exchange->connection, MHD_HTTP_NOT_ACCEPTABLE,
			"the page is compressed: send the header Accept-Encoding: gzip");
	if (!exchange->has_page)
		return MHD_queue_response(exchange->connection, MHD_HTTP_OK,
					  exchange->server->page);
	empty = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
	if (!empty)
		return MHD_NO;
	if (response_add_header(empty, "ETag", ss_page.tag) &&
	    response_add_header(empty, "Cache-Control", "no-cache"))
		result = MHD_queue_response(exchange->connection, MHD_HTTP_NOT_MODIFIED, empty);
	MHD_destroy_response(empty);
	return result;
}

static enum MHD_Result send_state(struct exchange *exchange)
{
	struct ss_text body = { 0 };

	ss_state_write(&exchange->server->state, &body);
	return send_text(exchange->connection, MHD_HTTP_OK, "application/json", false, &body);
}

/* Called by a worker. MHD then calls server_on_request() again, on its own thread. */
static void exchange_finish_task(struct ss_server_task *task)
{
	struct exchange *exchange = (struct exchange *)(void *)task;

	if (!task->apart)
		ss_state_work(&exchange->server->state, NULL);
	exchange->is_answered = true;
	MHD_resume_connection(exchange->connection);
}

static enum MHD_Result exchange_queue_task(struct exchange *exchange)
{
	struct ss_server *server = exchange->server;

	if (!ss_state_is_ready(&server->state))
		return send_problem(exchange->connection, MHD_HTTP_SERVICE_UNAVAILABLE,
				    "the files are still being read");
	exchange->task.request = exchange->verdict.request;
	exchange->task.apart = exchange->verdict.apart;
	MHD_suspend_connection(exchange->connection);
	if (ss_workers_add(&server->workers, &exchange->task))
		return MHD_YES;
	exchange->task.status = ss_fail(&exchange->task.err, SS_ERR_STOPPED,
					"the server is shutting down");
	exchange_finish_task(&exchange->task);
	return MHD_YES;
}

static enum MHD_Result take_line(void *context, enum MHD_ValueKind kind, const char *name,
				 const char *value)
{
	(void)kind;
	ss_head_add(context, name, value);
	return MHD_YES;
}

static struct ss_connection *connection_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* Checks the head; true: the request was refused at once, and *result is MHD's result. */
static bool exchange_read_head(struct exchange *exchange, const char *method,
			       enum MHD_Result *result)
{
	struct ss_head head = { .method = method, .target = exchange->target };

	exchange->is_read = true;
	MHD_get_connection_values(exchange->connection, MHD_HEADER_KIND, take_line, &head);
	exchange->verdict = ss_guard_check(&exchange->server->guard, &head);
	ss_connection_begin(&exchange->server->connections, connection_of(exchange->connection),
			    exchange->verdict.status == MHD_HTTP_OK &&
				    exchange->verdict.resource != SS_RESOURCE_PAGE);
	exchange->task.takes_gzip = ss_head_takes_gzip(&head);
	exchange->has_page = ss_page.length && ss_head_has_tag(&head, ss_page.tag);
	/* refused before the body arrives: it is not read, and the connection ends */
	if (!head.has_body)
		return false;
	*result = send_problem(exchange->connection, exchange->verdict.status,
			       exchange->verdict.sentence);
	return true;
}

/* MHD calls this when the head has arrived, when the request is complete, and after each resume. */
static enum MHD_Result server_on_request(void *context, struct MHD_Connection *connection,
					 const char *url, const char *method, const char *version,
					 const char *data, size_t *data_bytes, void **state)
{
	struct exchange *exchange = *state;
	enum MHD_Result result = MHD_YES;

	(void)context;
	(void)url;
	(void)version;
	(void)data;
	*data_bytes = 0;
	if (!exchange)
		return MHD_NO;
	exchange->connection = connection;
	if (!exchange->is_read) {
		(void)exchange_read_head(exchange, method, &result);
		return result;
	}
	if (exchange->is_answered)
		return send_answer(exchange);
	if (exchange->verdict.status != MHD_HTTP_OK)
		return send_problem(connection, exchange->verdict.status,
				    exchange->verdict.sentence);
	if (exchange->verdict.resource == SS_RESOURCE_PAGE)
		return send_page(exchange);
	return exchange->verdict.resource == SS_RESOURCE_STATE ? send_state(exchange)
							       : exchange_queue_task(exchange);
}

/* Keeps the target as it was sent: MHD decodes it later, but decoding is the work of ss_ask(). */
static void *server_on_target(void *context, const char *target, struct MHD_Connection *connection)
{
	struct ss_server *server = context;
	size_t length = strlen(target), bytes = sizeof(struct exchange) + length + 1;
	struct exchange *exchange = ss_memory_resize(&server->memory, NULL, 0, bytes);

	if (!exchange)
		return NULL;
	memset(exchange, 0, sizeof(*exchange));
	exchange->server = server;
	exchange->connection = connection;
	exchange->bytes = bytes;
	memcpy(exchange->target, target, length + 1);
	return exchange;
}

static void server_on_end(void *context, struct MHD_Connection *connection, void **state,
			  enum MHD_RequestTerminationCode reason)
{
	struct exchange *exchange = *state;
	struct ss_server *server = context;

	(void)reason;
	ss_connection_end(&server->connections, connection_of(connection));
	if (exchange) {
		ss_text_release(&exchange->task.answer.body);
		ss_memory_free(&server->memory, exchange, exchange->bytes);
	}
	*state = NULL;
}

/* MHD calls this when a connection opens or closes. */
static void note_connection(void *context, struct MHD_Connection *connection, void **state,
			    enum MHD_ConnectionNotificationCode code)
{
	struct ss_server *server = context;
	const union MHD_ConnectionInfo *info;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		ss_connections_drop(&server->connections, *state);
		return;
	}
	info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	*state = info ? ss_connections_take(&server->connections, info->connect_fd) : NULL;
}

void ss_server_sweep(struct ss_server *server)
{
	ss_connections_sweep(&server->connections);
}

static bool make_page(struct ss_server *server)
{
	union {
		const void *constant;
		void *lent; /* MHD does not write there, but takes no const */
	} bytes = { .constant = ss_page.length ? (const void *)ss_page.bytes : no_viewer };
	size_t length = ss_page.length ? ss_page.length : sizeof(no_viewer) - 1;

	server->page = response_new(length, bytes.lent, NULL);
	if (!server->page)
		return false;
	/* no-cache: the browser keeps the page, but validates its tag each time */
	return response_add_headers(server->page, "text/html; charset=utf-8", ss_page.policy,
				    "no-cache") &&
	       response_add_header(server->page, "Vary", "Accept-Encoding") &&
	       (!ss_page.length || (response_add_header(server->page, "Content-Encoding", "gzip") &&
				    response_add_header(server->page, "ETag", ss_page.tag)));
}

static enum ss_status start_daemon(struct ss_server *server, struct ss_error *err)
{
	unsigned per_address = server->listener.is_loopback ? 0 : CONNECTIONS_OF_ADDRESS;
	/*
	 * Not epoll: with it, libmicrohttpd 0.9.75 sleeps until the next timeout if exactly 128 or
	 * 256 connections have events at once. For so few connections poll() is as fast.
	 */
	unsigned flags = MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;

	if (server->listener.is_ipv6)
		flags |= MHD_USE_IPv6;
	errno = 0;
	server->daemon = MHD_start_daemon(
		flags, server->listener.port, NULL, NULL, server_on_request, server,
		MHD_OPTION_LISTEN_SOCKET, server->listener.socket, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned)SS_CONNECTIONS_MAX, MHD_OPTION_PER_IP_CONNECTION_LIMIT, per_address,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SS_REQUEST_SECONDS,
		MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_URI_LOG_CALLBACK, server_on_target,
		server, MHD_OPTION_NOTIFY_COMPLETED, server_on_end, server,
		MHD_OPTION_NOTIFY_CONNECTION, note_connection, server, MHD_OPTION_END);
	if (server->daemon)
		return SS_OK;
	/* MHD leaves errno set, but not always */
	return ss_fail(err, SS_ERR_IO, "cannot start the HTTP server: %s",
		       errno ? strerror(errno) : "not enough memory or threads");
}

static enum ss_status server_prepare(struct ss_server *server,
				     const struct ss_server_options *options, struct ss_error *err)
{
	struct ss_guard *guard = &server->guard;
	bool has_memory = ss_workers_init(&server->workers, exchange_finish_task);

	has_memory = ss_state_init(&server->state) && has_memory;
	has_memory = ss_connections_init(&server->connections) && has_memory;
	if (!has_memory || !make_page(server))
		return ss_fail_memory(err, "the server");
	guard->own = options->own;
	SS_TRY(ss_token_make(guard->token, err));
	if (!server->listener.is_loopback) {
		snprintf(guard->address, sizeof(guard->address), "%s", server->listener.address);
		snprintf(guard->name, sizeof(guard->name), "%s",
			 options->machine ? options->machine : "");
		guard->any_address = server->listener.is_any;
	}
	snprintf(server->link, sizeof(server->link), "http://%s:%u/#token=%s",
		 server->listener.is_any ? "127.0.0.1" : server->listener.address,
		 server->listener.port, guard->token);
	return start_daemon(server, err);
}

enum ss_status ss_server_start(const struct ss_server_options *options, struct ss_server **out,
			       struct ss_error *err)
{
	struct ss_server *server = ss_memory_outside(sizeof(*server));
	enum ss_status status;

	if (!server) {
		close(options->listener.socket);
		return ss_fail_memory(err, "the server");
	}
	server->listener = options->listener;
	ss_memory_init(&server->memory, 0);
	status = server_prepare(server, options, err);
	if (status == SS_OK)
		*out = server;
	else
		ss_server_close(server);
	return status;
}

uint16_t ss_server_port(const struct ss_server *server)
{
	return server->listener.port;
}

const char *ss_server_link(const struct ss_server *server)
{
	return server->link;
}

bool ss_server_is_loopback(const struct ss_server *server)
{
	return server->listener.is_loopback;
}

void ss_server_progress(struct ss_server *server, uint32_t run, uint32_t runs,
			const struct ss_progress *progress)
{
	ss_state_load(&server->state, run, runs, progress);
}

bool ss_server_work(void *server, const struct ss_progress *progress)
{
	struct ss_server *own = server;

	ss_state_work(&own->state, progress);
	return true;
}

enum ss_status ss_server_open(struct ss_server *server, const struct ss_runs *runs,
			      struct ss_session *const *sessions, uint32_t count,
			      struct ss_error *err)
{
	for (uint32_t i = 0; i < count; i++) {
		struct ss_answer unused = { .size = sizeof(unused) };
		enum ss_status status;
		char request[32];

		ss_session_watch(sessions[i], ss_server_work, server);
		/*
		 * computes what the routes share, except the timeline, which is made on first use
		 */
		snprintf(request, sizeof(request), "job?run=%" PRIu32, i);
		status = ss_ask(runs, request, &unused, err);
		ss_text_release(&unused.body);
		SS_TRY(status);
	}
	server->workers.runs = runs;
	ss_state_ready(&server->state, count);
	return SS_OK;
}

enum ss_status ss_server_run(struct ss_server *server, void (*body)(void *context), void *context,
			     struct ss_error *err)
{
	return ss_workers_run(&server->workers, body, context, err);
}

void ss_server_close(struct ss_server *server)
{
	if (server->daemon)
		MHD_stop_daemon(server->daemon); /* closes its socket as well */
	else
		close(server->listener.socket);
	if (server->page)
		MHD_destroy_response(server->page);
	assert(server->memory.used_bytes == 0);
	ss_workers_release(&server->workers);
	ss_state_release(&server->state);
	ss_connections_release(&server->connections);
	ss_memory_free_outside(server);
}
