/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen.c - binds the port. libmicrohttpd could do it, but would not say why it failed.
 */
#include "serve/serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/server.h"

/* Pending connections: as many as are served at once. */
#define BACKLOG 256

/* An address of either family. */
union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static bool random_fill(void *bytes, size_t length)
{
#ifdef __APPLE__
	return getentropy(bytes, length) == 0;
#else
	return getrandom(bytes, length, 0) == (ssize_t)length;
#endif
}

enum ss_status ss_token_make(char token[SS_TOKEN_LENGTH + 1], struct ss_error *err)
{
	unsigned char bytes[SS_TOKEN_LENGTH / 2];

	if (!random_fill(bytes, sizeof(bytes)))
		return ss_fail(err, SS_ERR_IO, "cannot create a token: %s", strerror(errno));
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(token + 2 * i, 3, "%02x", bytes[i]);
	return SS_OK;
}

static bool read_address(const char *host, uint16_t port, union address *out,
			 struct ss_listener *listener)
{
	memset(out, 0, sizeof(*out));
	if (strcmp(host, "localhost") == 0)
		host = "127.0.0.1";
	if (inet_pton(AF_INET, host, &out->v4.sin_addr) == 1) {
		out->v4.sin_family = AF_INET;
		out->v4.sin_port = htons(port);
		listener->is_loopback = ntohl(out->v4.sin_addr.s_addr) >> 24 == 127;
		listener->is_any = out->v4.sin_addr.s_addr == htonl(INADDR_ANY);
		snprintf(listener->address, sizeof(listener->address), "%s", host);
		return true;
	}
	if (inet_pton(AF_INET6, host, &out->v6.sin6_addr) != 1)
		return false;
	out->v6.sin6_family = AF_INET6;
	out->v6.sin6_port = htons(port);
	listener->is_ipv6 = true;
	listener->is_loopback = IN6_IS_ADDR_LOOPBACK(&out->v6.sin6_addr);
	listener->is_any = IN6_IS_ADDR_UNSPECIFIED(&out->v6.sin6_addr);
	snprintf(listener->address, sizeof(listener->address), "[%s]", host);
	return true;
}

static bool bind_to(struct ss_listener *listener, union address *address)
{
	socklen_t length = listener->is_ipv6 ? sizeof(address->v6) : sizeof(address->v4);
	int one = 1;

	/* connections of a server that just ended must not block its port */
	if (setsockopt(listener->socket, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0 ||
	    fcntl(listener->socket, F_SETFD, FD_CLOEXEC) != 0 ||
	    fcntl(listener->socket, F_SETFL, O_NONBLOCK) != 0 ||
	    bind(listener->socket, &address->any, length) != 0 ||
	    listen(listener->socket, BACKLOG) != 0 ||
	    getsockname(listener->socket, &address->any, &length) != 0)
		return false;
	listener->port = ntohs(listener->is_ipv6 ? address->v6.sin6_port : address->v4.sin_port);
	return true;
}

enum ss_status ss_listen(const char *host, uint16_t port, struct ss_listener *out,
			 struct ss_error *err)
{
	union address address;
	int reason;

	host = host ? host : "127.0.0.1";
	*out = (struct ss_listener){ .socket = -1 };
	if (!read_address(host, port, &address, out))
		return ss_fail(
			err, SS_ERR_USAGE,
			"'%.60s' is not an address of this machine, such as 127.0.0.1 or ::1",
			host);
	out->socket = socket(address.any.sa_family, SOCK_STREAM, 0);
	if (out->socket >= 0 && bind_to(out, &address))
		return SS_OK;
	reason = errno;
	if (out->socket >= 0)
		close(out->socket);
	out->socket = -1;
	if (reason == EADDRINUSE)
		return ss_fail(err, SS_ERR_IO,
			       "port %u of %s is in use: choose another one, or 0 for any that is "
			       "free",
			       port, out->address);
	return ss_fail(err, SS_ERR_IO, "cannot listen on port %u of %s: %s", port, out->address,
		       strerror(reason));
}
