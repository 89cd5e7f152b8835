/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - a parsed request: what is requested, with which options.
 *
 * The public interface takes a struct ss_request, the viewer's routes part of a URL; both turn it
 * into a struct ss_wanted, which all later stages read.
 */
#ifndef SS_API_REQUEST_REQUEST_H
#define SS_API_REQUEST_REQUEST_H

#include "api/request/options.h"
#include "render/render.h"
#include "stepscope.h"

/* More than there are options of requests; a test compares. */
#define SS_WANTED_MAX 16

struct ss_wanted {
	const char *what; /* NULL: the default of the call */
	const char *format;
	uint32_t width, top, rows;
	bool color;
	/* Options that were given; the texts are the caller's. */
	struct {
		const struct ss_option *option;
		const char *value;
	} given[SS_WANTED_MAX];
	uint32_t count;
};

/* Fails if the struct is of a newer library, or an option is unknown, repeated or has no value. */
SS_MUST_USE
enum ss_status ss_wanted_read(const struct ss_request *request, struct ss_wanted *out,
			      struct ss_error *err);

/* Whether it is an option of requests. */
bool ss_wanted_knows(const char *name);

/* Adds one option. NULL as a value: it was not given. */
SS_MUST_USE
enum ss_status ss_wanted_add(struct ss_wanted *wanted, const char *name, const char *value,
			     struct ss_error *err);

/* The value of a declared option; NULL: it was not given. */
const char *ss_wanted_text(const struct ss_wanted *wanted, const char *name);

/*
 * Fails with "'step' does not apply to 'diagnose'" where one was given that `takers` do not have,
 * or with a value that they do not accept.
 */
SS_MUST_USE
enum ss_status ss_wanted_check(const struct ss_wanted *wanted, uint32_t takers, const char *what,
			       struct ss_error *err);

/* Fails if no view was named and an option applies to one view only ('group', 'sort'). */
SS_MUST_USE
enum ss_status ss_wanted_one_view(const struct ss_wanted *wanted, struct ss_error *err);

/* Whether people read the output: they get sums over many files, programs get every file. */
bool ss_wanted_by_people(const struct ss_wanted *wanted);

/* The renderer and its options; fails if there is no such format. */
SS_MUST_USE
enum ss_status ss_wanted_format(const struct ss_wanted *wanted, const struct ss_renderer **renderer,
				struct ss_render_options *options, struct ss_error *err);

#endif
