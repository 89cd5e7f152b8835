/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dynolog.c - the RPC of dynolog: over TCP a length (int32 of this machine), then JSON; the answer
 * likewise (dynolog/src/rpc/SimpleJsonServer). Kineto counts steps of the optimizer itself, so all
 * ranks record the same ones.
 */
#define _DEFAULT_SOURCE /* getaddrinfo(), struct timeval */

#include "cli/dynolog.h"

#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "api/renderers.h"
#include "base/text.h"

#define PORT "1778"
#define PATIENCE_S 10
#define ANSWER_MAX 65536

static int dynolog_connect(const char *name, const char *port)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	struct addrinfo *found = NULL;
	int connection = -1;

	if (getaddrinfo(name, port, &hints, &found) != 0) {
		errno = ENOENT;
		return -1;
	}
	for (const struct addrinfo *at = found; at && connection < 0; at = at->ai_next) {
		connection = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
		if (connection < 0)
			continue;
		(void)setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
		(void)setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
		if (connect(connection, at->ai_addr, at->ai_addrlen) != 0) {
			int why = errno;

			close(connection);
			connection = -1;
			errno = why;
		}
	}
	freeaddrinfo(found);
	return connection;
}

static bool dynolog_send(int connection, const void *bytes, size_t length)
{
	const char *at = bytes;

	while (length) {
		ssize_t sent = send(connection, at, length, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return false;
		at += sent;
		length -= (size_t)sent;
	}
	return true;
}

static bool dynolog_receive(int connection, void *bytes, size_t length)
{
	char *at = bytes;

	while (length) {
		ssize_t got = recv(connection, at, length, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got == 0)
			errno = ECONNRESET;
		if (got <= 0)
			return false;
		at += got;
		length -= (size_t)got;
	}
	return true;
}

static enum ss_status dynolog_write(const struct dynolog_request *request, struct ss_text *out,
				    struct ss_error *err)
{
	SS_TEXT(config);

	ss_text_addf(&config,
		     "ACTIVITIES_LOG_FILE=%s/trace.json\nPROFILE_START_ITERATION=%" PRIu64
		     "\nACTIVITIES_ITERATIONS=%" PRIu64 "\n",
		     request->folder, request->first, request->steps);
	if (ss_text_failed(&config))
		return ss_fail_memory(err, "the request");
	ss_text_add_string(out, "{\"fn\":\"setKinetOnDemandRequest\",\"config\":");
	ss_render_quoted(out, config.data);
	ss_text_addf(out, ",\"job_id\":%" PRIu64 ",\"pids\":[0],\"process_limit\":1000}",
		     request->job);
	return ss_text_failed(out) ? ss_fail_memory(err, "the request") : SS_OK;
}

/* How many numbers the array of a key has; false: the answer has no such key. */
static bool dynolog_count(const char *answer, const char *key, uint32_t *count)
{
	const char *at = strstr(answer, key);

	*count = 0;
	at = at ? strchr(at, '[') : NULL;
	if (!at)
		return false;
	for (at++; *at && *at != ']'; at++)
		*count += *at >= '0' && *at <= '9' && !(at[1] >= '0' && at[1] <= '9');
	return *at == ']';
}

static enum ss_status dynolog_exchange(int connection, const struct ss_text *asked, char *answer,
				       struct ss_error *err)
{
	int32_t length = (int32_t)asked->length;

	if (!dynolog_send(connection, &length, sizeof(length)) ||
	    !dynolog_send(connection, asked->data, asked->length) ||
	    !dynolog_receive(connection, &length, sizeof(length)))
		return ss_fail(err, SS_ERR_IO, "no answer: %s", strerror(errno));
	if (length <= 0 || length >= ANSWER_MAX)
		return ss_fail(err, SS_ERR_FORMAT, "its answer is not one of dynolog");
	if (!dynolog_receive(connection, answer, (size_t)length))
		return ss_fail(err, SS_ERR_IO, "no answer: %s", strerror(errno));
	answer[length] = '\0';
	return SS_OK;
}

enum ss_status cli_dynolog_ask(const char *host, const struct dynolog_request *request,
			       uint32_t *matched, struct ss_error *err)
{
	const char *colon = strrchr(host, ':');
	char name[256], answer[ANSWER_MAX];
	size_t length = colon ? (size_t)(colon - host) : strlen(host);
	enum ss_status status;
	uint32_t started;
	int connection;
	SS_TEXT(asked);

	if (!length || length >= sizeof(name))
		return ss_fail(err, SS_ERR_USAGE, "'%.60s' is not the name of a host", host);
	memcpy(name, host, length);
	name[length] = '\0';
	SS_TRY(dynolog_write(request, &asked, err));
	connection = dynolog_connect(name, colon ? colon + 1 : PORT);
	if (connection < 0)
		return ss_fail(err, SS_ERR_IO, "cannot connect: %s", strerror(errno));
	status = dynolog_exchange(connection, &asked, answer, err);
	close(connection);
	SS_TRY(status);
	if (!dynolog_count(answer, "\"processesMatched\"", matched) ||
	    !dynolog_count(answer, "\"activityProfilersTriggered\"", &started))
		return ss_fail(err, SS_ERR_FORMAT, "its answer is not one of dynolog");
	if (!*matched)
		return ss_fail(err, SS_ERR_MISSING,
			       "no process: start training with KINETO_USE_DAEMON=1, and name its "
			       "job by --job-id");
	return started < *matched ? ss_fail(err, SS_ERR_MISSING,
					    "%u of %u processes are busy with another recording",
					    *matched - started, *matched)
				  : SS_OK;
}
