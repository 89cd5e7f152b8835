/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connections.c - how long connections may take, and who gives way when there are many.
 */
#include "base/system/clock.h"
#include "serve/server.h"

#include <sys/socket.h>

/* Kept free for those who have the token. */
#define RESERVED 32

/* For the first request of a connection, and for the page, which takes no token. */
#define STRANGER_SECONDS 10

/* Long enough for a large answer through a tunnel of 100 kB/s. */
#define ANSWER_SECONDS 300

bool ss_connections_init(struct ss_connections *connections)
{
	*connections = (struct ss_connections){ .gate = ss_gate_open() };
	return connections->gate;
}

void ss_connections_release(struct ss_connections *connections)
{
	ss_gate_close(connections->gate);
}

/* The library notices it and closes the connection. */
static void connection_shut(struct ss_connection *connection)
{
	connection->is_ending = true;
	shutdown(connection->socket, SHUT_RDWR);
}

/* Who gives way first: without a request, then the oldest. */
static bool gives_way_before(const struct ss_connection *a, const struct ss_connection *b)
{
	return !b || a->is_answered < b->is_answered ||
	       (a->is_answered == b->is_answered && a->turn < b->turn);
}

static void connections_make_room(struct ss_connections *connections)
{
	struct ss_connection *first = NULL;
	uint32_t open = 0;

	for (uint32_t i = 0; i < SS_CONNECTIONS_MAX; i++) {
		struct ss_connection *item = &connections->items[i];

		if (!item->is_used || item->is_ending)
			continue;
		open++;
		if (!item->is_trusted && gives_way_before(item, first))
			first = item;
	}
	if (first && open >= SS_CONNECTIONS_MAX - RESERVED)
		connection_shut(first);
}

struct ss_connection *ss_connections_take(struct ss_connections *connections, int socket)
{
	struct ss_connection *taken = NULL;

	ss_gate_lock(connections->gate);
	connections_make_room(connections);
	for (uint32_t i = 0; i < SS_CONNECTIONS_MAX && !taken; i++)
		if (!connections->items[i].is_used)
			taken = &connections->items[i];
	if (taken)
		*taken = (struct ss_connection){ .socket = socket,
						 .is_used = true,
						 .since = (time_t)(ss_clock_ns() / 1000000000),
						 .turn = connections->turns++ };
	ss_gate_unlock(connections->gate);
	return taken;
}

void ss_connections_drop(struct ss_connections *connections, struct ss_connection *connection)
{
	ss_gate_lock(connections->gate);
	if (connection)
		connection->is_used = false;
	ss_gate_unlock(connections->gate);
}

static void connection_mark(struct ss_connections *connections, struct ss_connection *connection,
			    bool is_answered, bool has_token)
{
	ss_gate_lock(connections->gate);
	if (connection) {
		connection->is_answered = is_answered;
		connection->is_trusted |= has_token;
		connection->since = (time_t)(ss_clock_ns() / 1000000000);
	}
	ss_gate_unlock(connections->gate);
}

void ss_connection_begin(struct ss_connections *connections, struct ss_connection *connection,
			 bool has_token)
{
	connection_mark(connections, connection, true, has_token);
}

void ss_connection_end(struct ss_connections *connections, struct ss_connection *connection)
{
	connection_mark(connections, connection, false, false);
}

static time_t connection_limit_s(const struct ss_connection *connection)
{
	if (!connection->is_trusted)
		return STRANGER_SECONDS;
	return connection->is_answered ? ANSWER_SECONDS : SS_REQUEST_SECONDS;
}

void ss_connections_sweep(struct ss_connections *connections)
{
	time_t moment = (time_t)(ss_clock_ns() / 1000000000);

	ss_gate_lock(connections->gate);
	for (uint32_t i = 0; i < SS_CONNECTIONS_MAX; i++) {
		struct ss_connection *item = &connections->items[i];

		if (item->is_used && moment - item->since > connection_limit_s(item))
			connection_shut(item);
	}
	ss_gate_unlock(connections->gate);
}
