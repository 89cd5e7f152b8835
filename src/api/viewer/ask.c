/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask.c - parses a request of the viewer and passes it to its route.
 */
#include <string.h>

#include "api/sized.h"
#include "api/viewer/route.h"
#include "base/text.h"
#include "base/utf8.h"

/*
 * Decodes %41 and + in place; false if an escape is broken or is a NUL, or the result is not UTF-8:
 * answers quote parameters, and JSON allows nothing else.
 */
static bool url_decode(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		if (*from == '%') {
			int high = ss_char_hex_value(from[1]);
			int low = high < 0 ? -1 : ss_char_hex_value(from[2]);

			if (low < 0 || high * 16 + low == 0)
				return false;
			*to++ = (char)(high * 16 + low);
			from += 2;
		} else {
			*to++ = *from == '+' ? ' ' : *from;
		}
	}
	*to = '\0';
	return !(ss_utf8_check(text, (size_t)(to - text)) & SS_UTF8_BAD_BYTES);
}

/* True when the list has the word. */
static bool parameters_have(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += length)
		if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
			return true;
	return false;
}

bool ss_route_takes(const struct ss_route *route, const struct ss_option *option)
{
	return option->owner != SS_OPTION_OF_COMMAND && option->takers & route->takers;
}

static bool route_has_parameter(const struct ss_route *route, const char *name)
{
	const struct ss_option *option = ss_option_find(name, strlen(name), route->takers);

	return strcmp(name, "run") == 0 || parameters_have(route->parameters, name) ||
	       (option && ss_route_takes(route, option));
}

/* Decodes "name=value" and adds it; fails if the route does not know the name. */
static enum ss_status request_add_parameter(struct ss_viewer_request *asked,
					    const struct ss_route *route, char *part,
					    struct ss_error *err)
{
	char *value = strchr(part, '=');

	if (value)
		*value++ = '\0';
	else
		value = part + strlen(part);
	if (!url_decode(part) || !url_decode(value))
		return ss_fail(err, SS_ERR_USAGE,
			       "cannot decode a parameter of '%s': its percent-encoding is wrong",
			       route->name);
	if (!*part || !route_has_parameter(route, part))
		return ss_fail(err, SS_ERR_USAGE, "'%s' has no parameter '%.40s'", route->name,
			       part);
	if (ss_viewer_text(asked, part))
		return ss_fail(err, SS_ERR_USAGE, "parameter '%s' is given twice", part);
	if (asked->count == SS_PARAMETERS_MAX)
		return ss_fail(err, SS_ERR_LIMIT, "too many parameters");
	asked->parameters[asked->count++] = (struct ss_route_parameter){ part, value };
	return SS_OK;
}

/* The route that the first word of the path names; *rest: what follows it. */
static const struct ss_route *route_find(const struct ss_runs *runs, char *path, const char **rest)
{
	const struct ss_route *route;
	char *slash = strchr(path, '/');

	*rest = slash ? slash + 1 : path + strlen(path);
	if (slash)
		*slash = '\0';
	for (size_t i = 0; (route = ss_route_of(runs->own, i)); i++)
		if (strcmp(route->name, path) == 0)
			return route;
	return NULL;
}

static enum ss_status request_find_run(struct ss_viewer_request *asked, struct ss_error *err)
{
	int64_t run;

	if (!asked->runs->count)
		return ss_fail(err, SS_ERR_USAGE, "no run is open");
	SS_TRY(ss_viewer_int(asked, "run", 0, (int64_t)asked->runs->count - 1, 0, &run, err));
	asked->session = asked->runs->sessions[run];
	return SS_OK;
}

/* Finds the route, reads its parameters and runs it; `target` is overwritten. */
static enum ss_status request_answer(const struct ss_runs *runs, char *target,
				     struct ss_answer *out, struct ss_error *err)
{
	struct ss_viewer_request asked = { .runs = runs };
	char *query = strchr(target, '?');
	const struct ss_route *route;

	if (query)
		*query++ = '\0';
	if (*target == '/')
		target++;
	if (!url_decode(target))
		return ss_fail(err, SS_ERR_USAGE,
			       "cannot decode the request: its percent-encoding is wrong");
	route = route_find(runs, target, &asked.rest);
	if (!route || (*asked.rest && !route->takes_rest))
		return ss_fail(err, SS_ERR_MISSING,
			       "no request called '%.60s'; 'offers' lists them", target);
	while (query && *query) {
		char *next = strchr(query, '&');

		if (next)
			*next++ = '\0';
		if (*query)
			SS_TRY(request_add_parameter(&asked, route, query, err));
		query = next;
	}
	if (!route->runless)
		SS_TRY(request_find_run(&asked, err));
	/* routes that run in parallel must not undo the cancellation of others */
	if (!route->apart)
		ss_runs_start(runs);
	if (!route->runless)
		SS_TRY(ss_runs_need(runs, err));
	out->media_type = "application/json";
	SS_TRY(route->run(&asked, out, err));
	return ss_text_failed(&out->body) ? ss_fail_memory(err, "the answer") : SS_OK;
}

enum ss_status ss_ask(const struct ss_runs *runs, const char *target, struct ss_answer *out,
		      struct ss_error *err)
{
	size_t length = strlen(target);
	enum ss_status status;
	struct ss_memory outside;
	struct ss_arena scratch;
	struct ss_answer own;
	char *copy;

	SS_TRY(ss_sized_take(&own, sizeof(own), out, SS_FIRST_ANSWER, "ss_answer", err));
	if (length > SS_TARGET_MAX)
		return ss_fail(err, SS_ERR_LIMIT, "the request is longer than %d bytes",
			       SS_TARGET_MAX);
	ss_memory_init(&outside, 0);
	ss_arena_init(&scratch, &outside);
	copy = ss_arena_copy(&scratch, target, length);
	status = copy ? request_answer(runs, copy, &own, err) : ss_fail_memory(err, "the request");
	ss_arena_release(&scratch);
	ss_sized_give(out, SS_FIRST_ANSWER, &own, sizeof(own));
	return status;
}

bool ss_route_at(size_t index, struct ss_route_offer *out)
{
	struct ss_route_offer own = { 0 };

	if (index >= ss_route_count)
		return false;
	own.apart = ss_routes[index]->apart;
	own.name = ss_routes[index]->name;
	own.summary = ss_routes[index]->summary;
	own.parameters = ss_routes[index]->parameters;
	own.takes_request = ss_routes[index]->takers != 0;
	ss_sized_give(out, SS_FIRST_ROUTE_OFFER, &own, sizeof(own));
	return true;
}

/* --- all routes, from src/api/routes/meson.build ------------------------------------------- */

#define SS_ROUTE(name) extern const struct ss_route ss_route_##name;
#include "routes.inc"
#undef SS_ROUTE

#define SS_ROUTE(name) &ss_route_##name,
const struct ss_route *const ss_routes[] = {
#include "routes.inc"
};
#undef SS_ROUTE

const size_t ss_route_count = SS_COUNT(ss_routes);

const struct ss_route *ss_route_of(const struct ss_own_routes *own, size_t index)
{
	if (index < ss_route_count)
		return ss_routes[index];
	index -= ss_route_count;
	return own && index < own->count ? own->routes[index] : NULL;
}
