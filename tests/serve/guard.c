/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which requests are served: one table of heads, and what is said to each.
 */
#include "support/support.h"

#include "api/viewer/route.h"
#include "serve/guard.h"

#define TOKEN "00112233445566778899aabbccddeeff"
#define WITH_TOKEN "\nX-Stepscope-Token: " TOKEN
#define OWN "Host: 127.0.0.1:8080"

/* Three servers: for this machine, for one address, for all. */
static const struct ss_guard near = { .token = TOKEN };
static const struct ss_guard wide = { .token = TOKEN, .address = "192.0.2.7", .name = "node12" };
static const struct ss_guard all = {
	.token = TOKEN, .address = "0.0.0.0", .name = "node12", .any_address = true
};

/* A server with a route of its own. */
static const struct ss_route extra = { .name = "extra", .apart = true };
static const struct ss_route *const extras[] = { &extra };
static const struct ss_own_routes own_routes = { extras, 1, NULL };
static const struct ss_guard more = { .token = TOKEN, .own = &own_routes };

struct row {
	const char *target, *lines;
	uint32_t status;
	const struct ss_guard *guard; /* NULL: near */
	const char *method;           /* NULL: GET */
};

static const struct row rows[] = {
	/* the page needs a known name, and no token */
	{ "/", OWN, 200, NULL, NULL },
	{ "/", OWN, 200, NULL, "HEAD" },
	{ "/?view=1", OWN, 200, NULL, NULL },
	{ "/", "Host: LOCALHOST:1", 200, NULL, NULL },
	{ "/", "Host: [::1]:8080", 200, NULL, NULL },
	{ "/", "host: localhost", 200, NULL, NULL },
	{ "/", "", 403, NULL, NULL },
	{ "/", "Host: ", 403, NULL, NULL },
	{ "/", "Host: evil.example:8080", 403, NULL, NULL },
	{ "/", "Host: 127.0.0.1.evil.example", 403, NULL, NULL },
	{ "/", "Host: localhost.evil.example:8080", 403, NULL, NULL },
	{ "/", "Host: evil127.0.0.1", 403, NULL, NULL },
	{ "/", "Host: 127.0.0.1:8080@evil.example", 403, NULL, NULL },
	{ "/", "Host: 127.0.0.1:", 403, NULL, NULL },
	{ "/", "Host: 127.0.0.1:123456", 403, NULL, NULL },
	{ "/", "Host: [::1", 403, NULL, NULL },
	{ "/", "Host: 192.0.2.7:8080", 403, NULL, NULL },
	{ "/", "Host: node12", 403, NULL, NULL },
	{ "/", "Host: 192.0.2.7:8080", 200, &wide, NULL },
	{ "/", "Host: Node12:8080", 200, &wide, NULL },
	{ "/", OWN, 200, &wide, NULL },
	{ "/", "Host: 192.0.2.8:8080", 403, &wide, NULL },
	{ "/", "Host: 192.0.2.8:8080", 200, &all, NULL },
	{ "/", "Host: [2001:db8::1]:8080", 200, &all, NULL },
	{ "/", "Host: [2001:db8::1:8080", 403, &all, NULL },
	{ "/", "Host: [:80", 403, &all, NULL },
	{ "/", "Host: [1x:80", 403, &all, NULL },
	{ "/", "Host: evil.example", 403, &all, NULL },
	{ "/", OWN "\nHost: 127.0.0.1", 400, NULL, NULL },
	/* answers need the token, as it is */
	{ "/api/state", OWN WITH_TOKEN, 200, NULL, NULL },
	{ "/api/ask/extra?x=1", OWN WITH_TOKEN, 200, &more, NULL },
	{ "/api/ask/extra?x=1", OWN, 403, &more, NULL },
	{ "/api/ask/extra?x=1", OWN WITH_TOKEN "\nOrigin: http://evil.example", 403, &more, NULL },
	{ "/api/ask/extr", OWN WITH_TOKEN, 404, &more, NULL },
	{ "/api/ask/extra?x=1", OWN WITH_TOKEN, 404, NULL, NULL },
	{ "/api/state?x", OWN WITH_TOKEN, 200, NULL, NULL },
	{ "/api/ask/job", OWN WITH_TOKEN, 200, NULL, NULL },
	{ "/api/ask/job", OWN "\nAuthorization: Bearer " TOKEN, 200, NULL, NULL },
	{ "/api/ask/view/steps?rank=0", OWN WITH_TOKEN, 200, NULL, "HEAD" },
	{ "/api/state", OWN, 403, NULL, NULL },
	{ "/api/ask/job", OWN, 403, NULL, NULL },
	{ "/api/ask/job?token=" TOKEN, OWN, 403, NULL, NULL },
	{ "/api/ask/job", OWN "\nAuthorization: Basic " TOKEN, 403, NULL, NULL },
	{ "/api/ask/job", OWN "\nAuthorization: Bearer", 403, NULL, NULL },
	{ "/api/ask/job", OWN WITH_TOKEN "0", 403, NULL, NULL },
	{ "/api/ask/job", OWN "\nX-Stepscope-Token: 0011223344", 403, NULL, NULL },
	{ "/api/ask/job", OWN "\nX-Stepscope-Token: ", 403, NULL, NULL },
	{ "/api/ask/job", OWN "\nX-Stepscope-Token: 10112233445566778899aabbccddeeff", 403, NULL,
	  NULL },
	{ "/api/ask/job", OWN "\nX-Stepscope-Token: 00112233445566778899aabbccddeefe", 403, NULL,
	  NULL },
	{ "/api/ask/job", OWN "\nX-Stepscope-Token: x\nAuthorization: Bearer " TOKEN, 403, NULL,
	  NULL },
	{ "/api/ask/job", OWN WITH_TOKEN WITH_TOKEN, 400, NULL, NULL },
	/* pages of other places */
	{ "/api/state", OWN WITH_TOKEN "\nOrigin: http://127.0.0.1:8080", 200, NULL, NULL },
	{ "/api/state", OWN WITH_TOKEN "\nOrigin: http://127.0.0.1:8081", 403, NULL, NULL },
	{ "/api/state", OWN WITH_TOKEN "\nOrigin: https://127.0.0.1:8080", 403, NULL, NULL },
	{ "/api/state", OWN WITH_TOKEN "\nOrigin: http://localhost:8080", 403, NULL, NULL },
	{ "/api/state", OWN WITH_TOKEN "\nOrigin: httpx//127.0.0.1:8080", 403, NULL, NULL },
	{ "/api/state", OWN WITH_TOKEN "\nOrigin: null", 403, NULL, NULL },
	{ "/api/state", OWN WITH_TOKEN "\nOrigin: ", 403, NULL, NULL },
	{ "/api/state", OWN WITH_TOKEN "\nOrigin: http://evil.example", 403, NULL, NULL },
	{ "/api/state", OWN WITH_TOKEN "\nSec-Fetch-Site: same-origin", 200, NULL, NULL },
	{ "/api/state", OWN WITH_TOKEN "\nSec-Fetch-Site: none", 200, NULL, NULL },
	{ "/api/state", OWN WITH_TOKEN "\nSec-Fetch-Site: same-site", 403, NULL, NULL },
	{ "/api/state", OWN WITH_TOKEN "\nSec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate",
	  403, NULL, NULL },
	{ "/", OWN "\nSec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate", 200, NULL, NULL },
	{ "/", OWN "\nSec-Fetch-Site: cross-site\nSec-Fetch-Mode: no-cors", 403, NULL, NULL },
	/* nothing else exists */
	{ "/api/ask/", OWN WITH_TOKEN, 404, NULL, NULL },
	{ "/api/ask", OWN WITH_TOKEN, 404, NULL, NULL },
	{ "/api/ask//job", OWN WITH_TOKEN, 404, NULL, NULL },
	{ "/api/ask/j%6fb", OWN WITH_TOKEN, 404, NULL, NULL },
	{ "/api/ask/jobs", OWN WITH_TOKEN, 404, NULL, NULL },
	{ "/api/ask/JOB", OWN WITH_TOKEN, 404, NULL, NULL },
	{ "/api/states", OWN WITH_TOKEN, 404, NULL, NULL },
	{ "/../../etc/passwd", OWN WITH_TOKEN, 404, NULL, NULL },
	{ "/%2e%2e/etc/passwd", OWN WITH_TOKEN, 404, NULL, NULL },
	{ "//evil.example/", OWN WITH_TOKEN, 404, NULL, NULL },
	{ "/favicon.ico", OWN WITH_TOKEN, 404, NULL, NULL },
	{ "http://127.0.0.1:8080/", OWN WITH_TOKEN, 400, NULL, NULL },
	{ "*", OWN WITH_TOKEN, 400, NULL, NULL },
	{ "", OWN WITH_TOKEN, 400, NULL, NULL },
	{ "/api/ask/job\x01", OWN WITH_TOKEN, 400, NULL, NULL },
	{ "/?\x7f", OWN, 400, NULL, NULL },
	{ "/api/ask/job\xff", OWN WITH_TOKEN, 400, NULL, NULL },
	/* methods and bodies */
	{ "/", OWN, 405, NULL, "POST" },
	{ "/", OWN, 405, NULL, "OPTIONS" },
	{ "/", OWN, 405, NULL, "get" },
	{ "/", OWN, 405, NULL, "" },
	{ "/", OWN "\nContent-Length: 1", 413, NULL, NULL },
	{ "/", OWN "\nTransfer-Encoding: chunked", 413, NULL, NULL },
	{ "/", OWN "\nContent-Length: 0", 200, NULL, NULL },
};

/* Adds lines of the form "Name: value"; they are cut in place. */
static void add_lines(struct ss_head *head, char *lines)
{
	while (lines && *lines) {
		char *end = strchr(lines, '\n'), *value = strstr(lines, ": ");

		assert_non_null(value);
		if (end)
			*end++ = '\0';
		*value = '\0';
		ss_head_add(head, lines, value + 2);
		lines = end;
	}
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(rows); i++) {
		struct ss_head head = { .method = rows[i].method ? rows[i].method : "GET",
					.target = rows[i].target };
		struct ss_guard_verdict verdict;
		char lines[512] = "";

		assert_true(strlen(rows[i].lines) < sizeof(lines));
		memcpy(lines, rows[i].lines, strlen(rows[i].lines));
		add_lines(&head, lines);
		verdict = ss_guard_check(rows[i].guard ? rows[i].guard : &near, &head);
		support_check(verdict.status == rows[i].status, rows[i].target,
			      "%u, not %u, for %s", verdict.status, rows[i].status, rows[i].lines);
		support_check((verdict.status == 200) == !verdict.sentence, rows[i].target,
			      "a refusal, and only that, has a sentence");
	}
}

/* What a target leads to, and what goes to ss_ask(). */
static void test_resources(void **state)
{
	static const struct {
		const char *target;
		enum ss_resource resource;
		const char *request;
	} cases[] = {
		{ "/", SS_RESOURCE_PAGE, NULL },
		{ "/?a=b", SS_RESOURCE_PAGE, NULL },
		{ "/api/state", SS_RESOURCE_STATE, NULL },
		{ "/api/ask/job", SS_RESOURCE_ANSWER, "job" },
		{ "/api/ask/view/%2e%2e?a=%00", SS_RESOURCE_ANSWER, "view/%2e%2e?a=%00" },
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct ss_head head = { .method = "GET",
					.target = cases[i].target,
					.host = "localhost",
					.token = TOKEN };
		struct ss_guard_verdict verdict = ss_guard_check(&near, &head);

		assert_int_equal(verdict.status, 200);
		assert_int_equal(verdict.resource, cases[i].resource);
		if (cases[i].request)
			assert_string_equal(verdict.request, cases[i].request);
	}
}

/* The guard and ss_ask() agree on who answers a route. */
static void test_apart(void **state)
{
	struct ss_route_offer route = { .size = sizeof(route) };

	(void)state;
	for (size_t i = 0; ss_route_at(i, &route); i++) {
		char target[128];
		struct ss_head head = {
			.method = "GET", .target = target, .host = "localhost", .token = TOKEN
		};
		struct ss_guard_verdict verdict;

		snprintf(target, sizeof(target), "/api/ask/%s?run=0", route.name);
		verdict = ss_guard_check(&near, &head);
		assert_int_equal(verdict.status, 200);
		assert_int_equal(verdict.apart, route.apart);
	}
}

/* Limits hold to the byte. */
static void test_lengths(void **state)
{
	char *target = calloc(1, SS_REQUEST_LINE_MAX + 2), *value = calloc(1, SS_HEADERS_MAX);
	struct ss_head head = { .method = "GET", .target = target, .host = "localhost" };

	(void)state;
	assert_true(target && value);
	memset(target, '?', SS_REQUEST_LINE_MAX);
	target[0] = '/';
	assert_int_equal(ss_guard_check(&near, &head).status, 200);
	target[SS_REQUEST_LINE_MAX] = 'a';
	assert_int_equal(ss_guard_check(&near, &head).status, 414);
	head.target = "/";
	/* "X: value\r\n" */
	memset(value, 'a', SS_HEADERS_MAX - 5);
	ss_head_add(&head, "X", value);
	assert_int_equal(ss_guard_check(&near, &head).status, 200);
	ss_head_add(&head, "", "");
	assert_int_equal(ss_guard_check(&near, &head).status, 431);
	free(value);
	free(target);
}

static void test_encodings(void **state)
{
	static const struct {
		const char *list;
		bool takes;
	} cases[] = {
		{ "gzip", true },          { "gzip, deflate, br", true },
		{ "br , GZIP", true },     { "*", true },
		{ "br,gzip;q=0.5", true }, { "gzip;q=1.0", true },
		{ "gzip; q=0.001", true }, { "gzip, br;q=0", true },
		{ "gzip;q=0", false },     { "gzip;q=0.0, br;q=1", false },
		{ "x-gzip", false },       { "gzip2", false },
		{ "br", false },           { "", false },
		{ ",,", false },           { "identity;q=1, gzip", true },
	};
	struct ss_head head = { 0 };

	(void)state;
	assert_false(ss_head_takes_gzip(&head));
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		head.encodings = cases[i].list;
		support_check(ss_head_takes_gzip(&head) == cases[i].takes, cases[i].list,
			      "read otherwise");
	}
}

static void test_tags(void **state)
{
	struct ss_head head = { 0 };

	(void)state;
	assert_false(ss_head_has_tag(&head, "\"abc\""));
	head.match = "W/\"x\", \"abc\"";
	assert_true(ss_head_has_tag(&head, "\"abc\""));
	assert_false(ss_head_has_tag(&head, "\"ab\""));
}

static void test_status(void **state)
{
	(void)state;
	assert_int_equal(ss_guard_status(SS_OK), 200);
	assert_int_equal(ss_guard_status(SS_ERR_USAGE), 400);
	assert_int_equal(ss_guard_status(SS_ERR_MISSING), 404);
	assert_int_equal(ss_guard_status(SS_ERR_LIMIT), 507);
	assert_int_equal(ss_guard_status(SS_ERR_STOPPED), 503);
	assert_int_equal(ss_guard_status(SS_ERR_IO), 500);
	assert_int_equal(ss_guard_status(SS_ERR_FORMAT), 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),      cmocka_unit_test(test_resources),
		cmocka_unit_test(test_apart),     cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_encodings), cmocka_unit_test(test_tags),
		cmocka_unit_test(test_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
