/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.c - checks the headers of a request, the cheapest checks first.
 */
#include "serve/guard.h"

#include <string.h>
#include <strings.h>

#include "api/viewer/route.h"
#include "base/text.h"

#define ASK_PATH "/api/ask/"
#define STATE_PATH "/api/state"
#define BEARER "Bearer "

static struct ss_guard_verdict guard_refuse(uint32_t status, const char *sentence)
{
	return (struct ss_guard_verdict){ .status = status, .sentence = sentence };
}

void ss_head_add(struct ss_head *head, const char *name, const char *value)
{
	const struct {
		const char *name, **value;
	} lines[] = {
		{ "host", &head->host },
		{ "origin", &head->origin },
		{ "sec-fetch-site", &head->site },
		{ "sec-fetch-mode", &head->mode },
		{ "x-stepscope-token", &head->token },
		{ "authorization", &head->authorization },
		{ "if-none-match", &head->match },
		{ "accept-encoding", &head->encodings },
	};

	value = value ? value : "";
	head->bytes += strlen(name) + strlen(value) + 4;
	if (strcasecmp(name, "transfer-encoding") == 0 ||
	    (strcasecmp(name, "content-length") == 0 && strcmp(value, "0") != 0))
		head->has_body = true;
	for (size_t i = 0; i < SS_COUNT(lines); i++)
		if (strcasecmp(name, lines[i].name) == 0) {
			head->repeats |= *lines[i].value != NULL;
			*lines[i].value = value;
		}
}

static bool is_digits(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text);
}

/* Whether the name before the port is one of ours, which no DNS server can redirect. */
static bool is_own_name(const struct ss_guard *guard, const char *host, size_t length)
{
	static const char *const loopback[] = { "127.0.0.1", "localhost", "[::1]" };

	for (size_t i = 0; i < SS_COUNT(loopback); i++)
		if (length == strlen(loopback[i]) && strncasecmp(host, loopback[i], length) == 0)
			return true;
	if (*guard->address && length == strlen(guard->address) &&
	    strncasecmp(host, guard->address, length) == 0)
		return true;
	if (*guard->name && length == strlen(guard->name) &&
	    strncasecmp(host, guard->name, length) == 0)
		return true;
	/* an IP address is not a name: DNS cannot point it to another machine */
	if (!guard->any_address || !length)
		return false;
	if (host[0] == '[')
		return length > 2 && host[length - 1] == ']' &&
		       strspn(host + 1, "0123456789abcdefABCDEF:.") == length - 2;
	return strspn(host, "0123456789.") == length;
}

/*
 * Any port is accepted: a tunnel begins at a port that its user chose. Pages of other ports are
 * refused by their Origin, which must match Host.
 */
static bool is_own_host(const struct ss_guard *guard, const char *host)
{
	const char *bracket = *host == '[' ? strchr(host, ']') : NULL;
	const char *colon = strchr(bracket ? bracket : host, ':');
	size_t length = colon ? (size_t)(colon - host) : strlen(host);

	if (colon && (!is_digits(colon + 1) || strlen(colon + 1) > 5))
		return false;
	return is_own_name(guard, host, length);
}

/* Whether the request comes from a page of another site. */
static bool is_foreign(const struct ss_head *head, bool for_page)
{
	bool walks_in = for_page && head->mode && strcmp(head->mode, "navigate") == 0;

	if (head->origin && (!ss_string_begins_with(head->origin, "http://") ||
			     strcasecmp(head->origin + 7, head->host) != 0))
		return true;
	/* any site may link to the page, as it contains nothing of the traces */
	return head->site && !walks_in && strcmp(head->site, "same-origin") != 0 &&
	       strcmp(head->site, "none") != 0;
}

/* Compares in constant time. */
static bool is_token(const struct ss_guard *guard, const char *text)
{
	unsigned differs = 0;

	if (strlen(text) != SS_TOKEN_LENGTH || strlen(guard->token) != SS_TOKEN_LENGTH)
		return false;
	for (size_t i = 0; i < SS_TOKEN_LENGTH; i++)
		differs |= (unsigned)(unsigned char)(text[i] ^ guard->token[i]);
	return differs == 0;
}

static bool has_token(const struct ss_guard *guard, const struct ss_head *head)
{
	if (head->token)
		return is_token(guard, head->token);
	return head->authorization && ss_string_begins_with(head->authorization, BEARER) &&
	       is_token(guard, head->authorization + strlen(BEARER));
}

/*
 * Finds the route of a request; false: no such route. The name must not be percent-encoded: whether
 * a route is `apart` decides which worker answers, so guard and worker must read the same name.
 */
static bool guard_find_route(const struct ss_guard *guard, const char *request, bool *apart)
{
	size_t length = strcspn(request, "/?");
	const struct ss_route *route;

	for (size_t i = 0; (route = ss_route_of(guard->own, i)); i++)
		if (strlen(route->name) == length && memcmp(route->name, request, length) == 0) {
			*apart = route->apart;
			return true;
		}
	return false;
}

/* Finds the resource that the target names. */
static struct ss_guard_verdict find_resource(const struct ss_guard *guard, const char *target)
{
	struct ss_guard_verdict verdict = { .status = 200 };
	size_t length = strcspn(target, "?");

	if (length == 1) {
		verdict.resource = SS_RESOURCE_PAGE;
		return verdict;
	}
	if (length == strlen(STATE_PATH) && ss_string_begins_with(target, STATE_PATH)) {
		verdict.resource = SS_RESOURCE_STATE;
		return verdict;
	}
	verdict.resource = SS_RESOURCE_ANSWER;
	if (ss_string_begins_with(target, ASK_PATH)) {
		verdict.request = target + strlen(ASK_PATH);
		if (guard_find_route(guard, verdict.request, &verdict.apart))
			return verdict;
		return guard_refuse(404, "no such route; /api/ask/offers lists all routes");
	}
	return guard_refuse(404, "not found; this server has /, /api/state and /api/ask/ROUTE");
}

static bool target_is_plain(const char *target)
{
	for (; *target; target++)
		if (*target <= ' ' || *target > '~')
			return false;
	return true;
}

static struct ss_guard_verdict guard_check_head(const struct ss_head *head)
{
	if (strcmp(head->method, "GET") != 0 && strcmp(head->method, "HEAD") != 0)
		return guard_refuse(405, "only GET and HEAD are allowed");
	if (strlen(head->target) > SS_REQUEST_LINE_MAX)
		return guard_refuse(414, "the request is too long");
	if (head->bytes > SS_HEADERS_MAX)
		return guard_refuse(431, "the request headers are too long");
	if (head->has_body)
		return guard_refuse(413, "requests must not have a body");
	if (*head->target != '/' || !target_is_plain(head->target))
		return guard_refuse(400, "the request has no path");
	if (head->repeats)
		return guard_refuse(400, "a request header is given twice");
	return (struct ss_guard_verdict){ .status = 200 };
}

struct ss_guard_verdict ss_guard_check(const struct ss_guard *guard, const struct ss_head *head)
{
	struct ss_guard_verdict verdict = guard_check_head(head);

	if (verdict.status != 200)
		return verdict;
	if (!head->host || !is_own_host(guard, head->host))
		return guard_refuse(
			403, "unknown host name: open the link that 'stepscope serve' printed");
	verdict = find_resource(guard, head->target);
	if (is_foreign(head, verdict.status == 200 && verdict.resource == SS_RESOURCE_PAGE))
		return guard_refuse(403, "requests from other sites are not allowed");
	if (verdict.status == 200 && verdict.resource != SS_RESOURCE_PAGE &&
	    !has_token(guard, head))
		return guard_refuse(403, "the token is missing or wrong: open the link that "
					 "'stepscope serve' printed");
	return verdict;
}

/* Whether a comma-separated list has the word; of weights only "q=0" matters. */
static bool list_takes(const char *list, const char *word)
{
	while (*list) {
		size_t length = strcspn(list, ","), end;

		while (length && (*list == ' ' || *list == '\t')) {
			list++;
			length--;
		}
		end = strcspn(list, ",; \t");
		if (end == strlen(word) && strncasecmp(list, word, end) == 0) {
			const char *weight = strstr(list, "q=");

			return !weight || weight >= list + length ||
			       strcspn(weight + 2, "123456789") < strcspn(weight + 2, ",; \t");
		}
		list += length;
		list += *list == ',';
	}
	return false;
}

bool ss_head_takes_gzip(const struct ss_head *head)
{
	return head->encodings &&
	       (list_takes(head->encodings, "gzip") || list_takes(head->encodings, "*"));
}

bool ss_head_has_tag(const struct ss_head *head, const char *tag)
{
	return head->match && strstr(head->match, tag);
}

uint32_t ss_guard_status(enum ss_status status)
{
	switch (status) {
	case SS_OK:
		return 200;
	case SS_ERR_USAGE:
		return 400;
	case SS_ERR_MISSING:
		return 404;
	case SS_ERR_LIMIT:
		return 507;
	case SS_ERR_STOPPED:
		return 503;
	case SS_ERR_IO:
	case SS_ERR_FORMAT:
		break;
	}
	return 500;
}
