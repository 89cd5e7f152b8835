/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.h - decides which requests are served, without sockets, so that tests and the fuzzer
 * reach all checks.
 *
 * It refuses pages of other sites that know the port (Origin, Sec-Fetch-Site), foreign host names
 * that point here (Host: DNS rebinding), other users of the machine (the token), and requests that
 * are too long. A request never names a file: there are only three resources.
 */
#ifndef SS_SERVE_GUARD_H
#define SS_SERVE_GUARD_H

#include "base/error.h"

/* Characters of the token: 128 bits in hexadecimal. */
#define SS_TOKEN_LENGTH 32

/* A route with 16 kB of parameters (the limit of ss_ask()) and its prefix. */
#define SS_REQUEST_LINE_MAX 16500

/*
 * All header lines together: browsers send less than 2 kB, plus cookies of other servers on this
 * host.
 */
#define SS_HEADERS_MAX 16384

struct ss_own_routes; /* api/viewer/route.h */

struct ss_guard {
	char token[SS_TOKEN_LENGTH + 1];
	/*
	 * With --host: the address as it stands in a link, and the machine's name; otherwise empty.
	 */
	char address[64], name[256];
	bool any_address;                /* it listens on all addresses of the machine */
	const struct ss_own_routes *own; /* routes of the command; NULL: none */
};

/* The headers that matter. Texts belong to the caller; NULL: not sent. */
struct ss_head {
	const char *method, *target;
	const char *host, *origin, *site, *mode, *token, *authorization, *match, *encodings;
	size_t bytes;  /* of all header lines */
	bool has_body; /* or announces one */
	bool repeats;  /* a header that must be unique occurs twice */
};

enum ss_resource { SS_RESOURCE_PAGE, SS_RESOURCE_STATE, SS_RESOURCE_ANSWER };

struct ss_guard_verdict {
	uint32_t status;      /* HTTP status: 200, or why it is refused */
	const char *sentence; /* of a refusal, for people */
	enum ss_resource resource;
	const char *request; /* for ss_ask(): part of the target */
	bool apart;          /* see ss_ask() */
};

/* Takes one header line; its name in upper or lower case. */
void ss_head_add(struct ss_head *head, const char *name, const char *value);

struct ss_guard_verdict ss_guard_check(const struct ss_guard *guard, const struct ss_head *head);

/* Whether the client accepts gzip. */
bool ss_head_takes_gzip(const struct ss_head *head);

/* Whether the client has the page with this ETag, quotes included. */
bool ss_head_has_tag(const struct ss_head *head, const char *tag);

/* The HTTP status for the status of a call. */
uint32_t ss_guard_status(enum ss_status status);

#endif
