/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.h - which requests are served: checks without sockets, so that tests and the fuzzer
 * reach all of them.
 *
 * Refused are pages of other sites that know the port (Origin, Sec-Fetch-Site), host names that
 * were made to point here (Host: DNS rebinding), other users of the machine (the token), and
 * requests that are too long. A request never names a file: there are three resources.
 */
#ifndef SS_SERVE_GUARD_H
#define SS_SERVE_GUARD_H

#include "base/error.h"

/* Characters of the token: 128 bits in hexadecimal. */
#define SS_TOKEN_LENGTH 32

/* A route with 16 kB of parameters (the limit of ss_ask) and its prefix. */
#define SS_REQUEST_LINE_MAX 16500

/* All other lines together: browsers send less than 2 kB, and cookies of other servers here. */
#define SS_HEADERS_MAX 16384

struct ss_own_routes; /* api/viewer/route.h */

struct ss_guard {
	char token[SS_TOKEN_LENGTH + 1];
	/* With --host: the address as a link has it, and what the machine is called; else empty. */
	char address[64], name[256];
	bool any_address;                /* it listens on all of the machine's */
	const struct ss_own_routes *own; /* routes of the command; NULL: none */
};

/* The lines of a request that matter. Texts belong to the caller; NULL: not sent. */
struct ss_head {
	const char *method, *target;
	const char *host, *origin, *site, *mode, *token, *authorization, *match, *encodings;
	size_t bytes;  /* of all lines but the first */
	bool has_body; /* or says that one comes */
	bool repeats;  /* a header that may occur once occurs twice */
};

enum ss_resource { SS_RESOURCE_PAGE, SS_RESOURCE_STATE, SS_RESOURCE_ANSWER };

struct ss_guard_verdict {
	uint32_t status;      /* of HTTP: 200, or why it is refused */
	const char *sentence; /* of a refusal */
	enum ss_resource resource;
	const char *request; /* for ss_ask(): a part of the target */
	bool apart;          /* see ss_ask() */
};

/* Takes one line of the head; names in letters of either case. */
void ss_head_add(struct ss_head *head, const char *name, const char *value);

struct ss_guard_verdict ss_guard_check(const struct ss_guard *guard, const struct ss_head *head);

/* Whether the client reads gzip. */
bool ss_head_takes_gzip(const struct ss_head *head);

/* Whether the client has the page of this tag, quotes included. */
bool ss_head_has_tag(const struct ss_head *head, const char *tag);

/* The status of HTTP for that of a call. */
uint32_t ss_guard_status(enum ss_status status);

#endif
