/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route.h - a route: something that the viewer can request.
 *
 * To add one: src/api/routes/X.c, X in src/api/routes/meson.build, and its part of
 * docs/formats/viewer.md; `tools/generate` then makes its type for the page. The router parses the
 * request, refuses parameters that the route does not list, and finds the run; the route reads the
 * values and writes an answer.
 */
#ifndef SS_API_VIEWER_ROUTE_H
#define SS_API_VIEWER_ROUTE_H

#include "api/request/request.h"
#include "api/session.h"
#include "timeline/draw/draw.h"
#include "timeline/rows/paints.h"

/* More than any route has. */
#define SS_PARAMETERS_MAX 16

/* Longer requests are refused: the longest list tracks or ranks. */
#define SS_TARGET_MAX 16384

struct ss_route_parameter {
	const char *name, *value;
};

/* A parsed request. */
struct ss_viewer_request {
	const struct ss_runs *runs;
	struct ss_session *session; /* the run that the request is about */
	const char *rest; /* after the route's name: "operators" of "view/operators"; "" */
	struct ss_route_parameter parameters[SS_PARAMETERS_MAX];
	uint32_t count;
};

struct ss_route {
	const char *name;
	const char *summary;
	const char *parameters; /* names, with spaces between them; "run" is known to all */
	/* Declarations of TypeScript, of which the last is the answer's; they may name those of
	 * other routes. NULL: it is binary, text, or what a view answers. */
	const char *answer;
	uint32_t takers; /* it accepts the request options of these (options.h) */
	bool takes_rest;
	bool apart;   /* see ss_ask() */
	bool runless; /* it is not about a run: none needs to be open */
	/* The media type is JSON unless the route says otherwise. */
	enum ss_status (*run)(const struct ss_viewer_request *asked, struct ss_answer *out,
			      struct ss_error *err);
};

extern const struct ss_route *const ss_routes[];
extern const size_t ss_route_count;

/* Routes of a surface beside those of the library: ss_runs.own has them for this list of runs. */
struct ss_own_routes {
	const struct ss_route *const *routes;
	size_t count;
	void *context; /* of the surface: asked->runs->own->context */
};

/* routes.c: the route by index, those of the library first; NULL past the end. */
const struct ss_route *ss_route_of(const struct ss_own_routes *own, size_t index);

/* The value of a parameter; NULL: it was not given. */
const char *ss_viewer_text(const struct ss_viewer_request *asked, const char *name);

/* A whole number between the two; `otherwise` if it was not given. */
SS_MUST_USE
enum ss_status ss_viewer_int(const struct ss_viewer_request *asked, const char *name, int64_t low,
			     int64_t high, int64_t otherwise, int64_t *out, struct ss_error *err);

/* The same for a parameter that must be given. */
SS_MUST_USE
enum ss_status ss_viewer_int_required(const struct ss_viewer_request *asked, const char *name,
				      int64_t low, int64_t high, int64_t *out,
				      struct ss_error *err);

/*
 * Numbers with commas between them, each below `end`; `count` is 0 when it was not given. `items`
 * has space for `capacity`.
 */
SS_MUST_USE
enum ss_status ss_viewer_int_list(const struct ss_viewer_request *asked, const char *name,
				  uint32_t end, uint32_t *items, uint32_t capacity, uint32_t *count,
				  struct ss_error *err);

/* Whether the route takes the option. */
bool ss_route_takes(const struct ss_route *route, const struct ss_option *option);

/* The parameters that are options of requests, as a parsed request. */
SS_MUST_USE
enum ss_status ss_viewer_wanted(const struct ss_viewer_request *asked, struct ss_wanted *out,
				struct ss_error *err);

/* The timeline of the requested run, made on the first request. */
SS_MUST_USE
enum ss_status ss_viewer_timeline(const struct ss_viewer_request *asked, struct ss_timeline **out,
				  struct ss_error *err);

/* The parameter "file": one of the timeline that could be read. */
SS_MUST_USE
enum ss_status ss_viewer_file(const struct ss_viewer_request *asked, struct ss_timeline *timeline,
			      uint32_t *out, struct ss_error *err);

/*
 * The parameter "files": the files of the timeline that are named and could be read, each once, in
 * order; all if it was not given. The list lives as long as the arena.
 */
SS_MUST_USE
enum ss_status ss_viewer_files(const struct ss_viewer_request *asked,
			       const struct ss_timeline *timeline, struct ss_arena *arena,
			       uint32_t **out, uint32_t *count, struct ss_error *err);

/* The parameter "color": what gives slices their colour; the category when it was not given. */
SS_MUST_USE
enum ss_status ss_viewer_color(const struct ss_viewer_request *asked, enum ss_paint_by *out,
			       struct ss_error *err);

/* More pixels than any screen has are refused. */
#define SS_PIXELS_MAX 16384

/* The parameters "from" and "to". */
SS_MUST_USE
enum ss_status ss_viewer_range(const struct ss_viewer_request *asked, int64_t *from_ns,
			       int64_t *to_ns, struct ss_error *err);

/* The parameters "from", "to" and "pixels". */
SS_MUST_USE
enum ss_status ss_viewer_window(const struct ss_viewer_request *asked, struct ss_window *out,
				struct ss_error *err);

/* The parameter "snapshot": its number in the answer of `job`; the first without it. */
SS_MUST_USE
enum ss_status ss_viewer_snapshot_number(const struct ss_viewer_request *asked, uint32_t *out,
					 struct ss_error *err);
SS_MUST_USE
enum ss_status ss_viewer_snapshot(const struct ss_viewer_request *asked,
				  const struct ss_opened **out, struct ss_error *err);

/* The parameter "device", or the first one; NULL of a memory timeline, which has none. */
SS_MUST_USE
enum ss_status ss_viewer_device(const struct ss_viewer_request *asked,
				const struct ss_opened *opened, const struct ss_device_memory **out,
				struct ss_error *err);

/*
 * The parameter "before": the snapshot to compare with, of the other run where there is one,
 * else of this run. Without it the first of the other run; NULL: there is none.
 */
SS_MUST_USE
enum ss_status ss_viewer_before(const struct ss_viewer_request *asked,
				const struct ss_snapshot_subject **out, struct ss_error *err);

#endif
