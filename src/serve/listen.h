/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen.h - the listening socket, and the token that requests must have.
 */
#ifndef SS_SERVE_LISTEN_H
#define SS_SERVE_LISTEN_H

#include "base/error.h"
#include "serve/guard.h"

struct ss_listener {
	int socket;
	uint16_t port;
	bool is_ipv6, is_loopback, is_any;
	char address[64]; /* as it stands in a link: "127.0.0.1", "[::1]" */
};

/* `host`: an address, or "localhost"; `port` 0: any free port. */
SS_MUST_USE
enum ss_status ss_listen(const char *host, uint16_t port, struct ss_listener *out,
			 struct ss_error *err);

/* 128 random bits in hexadecimal. */
SS_MUST_USE
enum ss_status ss_token_make(char token[SS_TOKEN_LENGTH + 1], struct ss_error *err);

#endif
