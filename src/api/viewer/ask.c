/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask.c - parses a request of the viewer and passes it to its route.
 */
#include <inttypes.h>
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

/* The values of a request, checked. */

const char *ss_viewer_text(const struct ss_viewer_request *asked, const char *name)
{
	for (uint32_t i = 0; i < asked->count; i++)
		if (strcmp(asked->parameters[i].name, name) == 0)
			return asked->parameters[i].value;
	return NULL;
}

/* Reads a number up to `stop`; false where it is none, or does not fit. */
static bool parameter_read_int(const char *text, const char *stop, int64_t *out)
{
	bool minus = text < stop && *text == '-';
	uint64_t value = 0;

	text += minus;
	if (text == stop || stop - text > 18)
		return false;
	for (; text < stop; text++) {
		if (*text < '0' || *text > '9')
			return false;
		value = value * 10 + (uint64_t)(*text - '0');
	}
	*out = minus ? -(int64_t)value : (int64_t)value;
	return true;
}

enum ss_status ss_viewer_int(const struct ss_viewer_request *asked, const char *name, int64_t low,
			     int64_t high, int64_t otherwise, int64_t *out, struct ss_error *err)
{
	const char *text = ss_viewer_text(asked, name);

	*out = otherwise;
	if (!text)
		return SS_OK;
	if (!parameter_read_int(text, text + strlen(text), out) || *out < low || *out > high)
		return ss_fail(err, SS_ERR_USAGE,
			       "parameter '%s' takes a whole number from %" PRId64 " to %" PRId64,
			       name, low, high);
	return SS_OK;
}

enum ss_status ss_viewer_int_required(const struct ss_viewer_request *asked, const char *name,
				      int64_t low, int64_t high, int64_t *out, struct ss_error *err)
{
	if (!ss_viewer_text(asked, name))
		return ss_fail(err, SS_ERR_USAGE, "parameter '%s' is missing", name);
	return ss_viewer_int(asked, name, low, high, low, out, err);
}

enum ss_status ss_viewer_int_list(const struct ss_viewer_request *asked, const char *name,
				  uint32_t end, uint32_t *items, uint32_t capacity, uint32_t *count,
				  struct ss_error *err)
{
	const char *text = ss_viewer_text(asked, name);

	*count = 0;
	while (text && *text) {
		const char *stop = text + strcspn(text, ",");
		int64_t value;

		if (!parameter_read_int(text, stop, &value) || value < 0 || value >= end)
			return ss_fail(err, SS_ERR_USAGE,
				       "parameter '%s' takes a list of numbers below %" PRIu32,
				       name, end);
		if (*count == capacity)
			return ss_fail(err, SS_ERR_LIMIT,
				       "parameter '%s' has more numbers than %" PRIu32, name,
				       capacity);
		items[(*count)++] = (uint32_t)value;
		text = *stop ? stop + 1 : stop;
	}
	return SS_OK;
}

enum ss_status ss_viewer_wanted(const struct ss_viewer_request *asked, struct ss_wanted *out,
				struct ss_error *err)
{
	int64_t top;

	*out = (struct ss_wanted){ .format = ss_viewer_text(asked, "format") };
	SS_TRY(ss_viewer_int(asked, "top", 0, UINT32_MAX, 0, &top, err));
	out->top = (uint32_t)top;
	for (uint32_t i = 0; i < asked->count; i++) {
		const char *name = asked->parameters[i].name;

		/* these two are fields; what is not an option of requests belongs to the route */
		if (strcmp(name, "format") != 0 && strcmp(name, "top") != 0 &&
		    ss_wanted_knows(name))
			SS_TRY(ss_wanted_add(out, name, asked->parameters[i].value, err));
	}
	return SS_OK;
}

enum ss_status ss_viewer_timeline(const struct ss_viewer_request *asked, struct ss_timeline **out,
				  struct ss_error *err)
{
	struct ss_session *session = asked->session;

	*out = &session->timeline;
	return session->timeline.files
		       ? SS_OK
		       : ss_timeline_make(&session->timeline, &session->job, &session->memory, err);
}

enum ss_status ss_viewer_file(const struct ss_viewer_request *asked, struct ss_timeline *timeline,
			      uint32_t *out, struct ss_error *err)
{
	int64_t file;

	SS_TRY(ss_viewer_int_required(asked, "file", 0, (int64_t)timeline->file_count - 1, &file,
				      err));
	*out = (uint32_t)file;
	return timeline->files[file].trace
		       ? SS_OK
		       : ss_fail(err, SS_ERR_MISSING,
				 asked->session->job.files[file].is_digest
					 ? "file %" PRId64
					   " is of a job of digests, which have no events"
					 : "file %" PRId64 " could not be read",
				 file);
}

enum ss_status ss_viewer_files(const struct ss_viewer_request *asked,
			       const struct ss_timeline *timeline, struct ss_arena *arena,
			       uint32_t **out, uint32_t *count, struct ss_error *err)
{
	uint32_t *named = SS_ARENA_NEW(arena, uint32_t, (size_t)timeline->file_count + 1);
	bool *wanted = SS_ARENA_NEW(arena, bool, (size_t)timeline->file_count + 1);
	uint32_t named_count;

	if (!named || !wanted)
		return ss_fail_memory(err, "the list of files");
	SS_TRY(ss_viewer_int_list(asked, "files", timeline->file_count, named, timeline->file_count,
				  &named_count, err));
	for (uint32_t i = 0; i < named_count; i++)
		wanted[named[i]] = true;
	*out = named;
	*count = 0;
	for (uint32_t i = 0; i < timeline->file_count; i++)
		if (timeline->files[i].trace && (!named_count || wanted[i]))
			named[(*count)++] = i;
	return SS_OK;
}

enum ss_status ss_viewer_range(const struct ss_viewer_request *asked, int64_t *from_ns,
			       int64_t *to_ns, struct ss_error *err)
{
	/* numbers of JavaScript are exact up to here; differences fit in any case */
	const int64_t most_ns = INT64_C(1) << 53;

	SS_TRY(ss_viewer_int_required(asked, "from", -most_ns, most_ns, from_ns, err));
	SS_TRY(ss_viewer_int_required(asked, "to", -most_ns, most_ns, to_ns, err));
	if (*to_ns <= *from_ns)
		return ss_fail(err, SS_ERR_USAGE, "parameter 'to' must be greater than 'from'");
	return SS_OK;
}

enum ss_status ss_viewer_window(const struct ss_viewer_request *asked, struct ss_window *out,
				struct ss_error *err)
{
	int64_t pixels;

	SS_TRY(ss_viewer_range(asked, &out->from_ns, &out->to_ns, err));
	SS_TRY(ss_viewer_int_required(asked, "pixels", 1, SS_PIXELS_MAX, &pixels, err));
	out->pixels = (uint32_t)pixels;
	return SS_OK;
}

enum ss_status ss_viewer_color(const struct ss_viewer_request *asked, enum ss_paint_by *out,
			       struct ss_error *err)
{
	const char *name = ss_viewer_text(asked, "color");

	*out = SS_PAINT_CATEGORY;
	if (!name || ss_paint_find(name, out))
		return SS_OK;
	return ss_fail(err, SS_ERR_USAGE,
		       "parameter 'color' takes category, phase, module or stream");
}

/* --- snapshots ---------------------------------------------------------------------------- */

enum ss_status ss_viewer_snapshot_number(const struct ss_viewer_request *asked, uint32_t *out,
					 struct ss_error *err)
{
	uint32_t count = ss_memories_count(&asked->session->job);
	int64_t number;

	if (!count)
		return ss_fail(
			err, SS_ERR_MISSING,
			"the run has no memory snapshot (torch.cuda.memory."
			"_dump_snapshot() writes one), and none of its traces has memory events "
			"(profile_memory=True)");
	SS_TRY(ss_viewer_int(asked, "snapshot", 0, (int64_t)count - 1, 0, &number, err));
	*out = (uint32_t)number;
	return SS_OK;
}

enum ss_status ss_viewer_snapshot(const struct ss_viewer_request *asked,
				  const struct ss_opened **out, struct ss_error *err)
{
	uint32_t number = 0;

	SS_TRY(ss_viewer_snapshot_number(asked, &number, err));
	return ss_memories_open(&asked->session->memories, &asked->session->job, number, out, err);
}

enum ss_status ss_viewer_device(const struct ss_viewer_request *asked,
				const struct ss_opened *opened, const struct ss_device_memory **out,
				struct ss_error *err)
{
	const char *name = ss_viewer_text(asked, "device");

	*out = ss_opened_device(opened, name);
	if (*out || (!name && opened->snapshot.curve.count))
		return SS_OK;
	return name ? ss_fail(err, SS_ERR_MISSING, "the snapshot has no device '%.40s'", name)
		    : ss_fail(err, SS_ERR_MISSING, "the snapshot has no device");
}

enum ss_status ss_viewer_before(const struct ss_viewer_request *asked,
				const struct ss_snapshot_subject **out, struct ss_error *err)
{
	struct ss_session *other = asked->session;
	uint32_t runs = asked->runs->count, count;
	const struct ss_opened *opened;
	int64_t number;

	*out = NULL;
	for (uint32_t i = 0; i < runs && runs > 1; i++)
		if (asked->runs->sessions[i] != asked->session)
			other = asked->runs->sessions[i];
	count = ss_memories_count(&other->job);
	SS_TRY(ss_viewer_int(asked, "before", 0, (int64_t)count - 1, -1, &number, err));
	if (number < 0 && other != asked->session && count)
		number = 0;
	if (number < 0)
		return SS_OK;
	SS_TRY(ss_memories_open(&other->memories, &other->job, (uint32_t)number, &opened, err));
	*out = &opened->subject;
	return SS_OK;
}
