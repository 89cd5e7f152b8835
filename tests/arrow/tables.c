/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.c - what same_as_json.py calls: tables of a file as JSON and as Arrow, with arguments that
 * need no structs of ours.
 */
#include <stdio.h>
#include <string.h>

#include "stepscope_arrow.h"

#define SHOWN __attribute__((visibility("default")))

SHOWN struct ss_session *tables_open(const char *path, char *problem, size_t room);
SHOWN void tables_close(struct ss_session *session);
SHOWN const char *tables_view(size_t index);
SHOWN int tables_arrow(struct ss_session *session, const char *view, const char *group,
		       uint32_t top, struct ArrowArrayStream *out, char *problem, size_t room);
SHOWN int tables_json(struct ss_session *session, const char *view, const char *group, uint32_t top,
		      struct ss_text *out, char *problem, size_t room);

/* NULL: `problem` says why. */
struct ss_session *tables_open(const char *path, char *problem, size_t room)
{
	struct ss_open_options options = { .paths = &path, .path_count = 1, .threads = 1 };
	struct ss_session *session = NULL;
	struct ss_error err = { 0 };

	if (ss_session_open(&options, &session, &err) == SS_OK)
		return session;
	snprintf(problem, room, "%s", err.text);
	return NULL;
}

void tables_close(struct ss_session *session)
{
	ss_session_close(session);
}

/* Views alone; "" is a report, NULL the end. */
const char *tables_view(size_t index)
{
	struct ss_offer offer = { .size = sizeof(offer) };

	if (!ss_offer_at(index, &offer))
		return NULL;
	return offer.is_report ? "" : offer.name;
}

/* A request, and the room of its option. */
struct asked {
	char group[64];
	const char *options[2];
	struct ss_request request;
};

static const struct ss_request *ask(struct asked *asked, const char *view, const char *group,
				    uint32_t top)
{
	*asked = (struct asked){
		.request = { .size = sizeof(asked->request), .what = view, .top = top }
	};
	if (group) {
		snprintf(asked->group, sizeof(asked->group), "group=%s", group);
		asked->options[0] = asked->group;
		asked->request.options = asked->options;
	}
	return &asked->request;
}

int tables_arrow(struct ss_session *session, const char *view, const char *group, uint32_t top,
		 struct ArrowArrayStream *out, char *problem, size_t room)
{
	struct asked asked;
	struct ss_error err = { 0 };
	enum ss_status status = ss_session_table(session, ask(&asked, view, group, top), out, &err);

	snprintf(problem, room, "%s", err.text);
	return (int)status;
}

int tables_json(struct ss_session *session, const char *view, const char *group, uint32_t top,
		struct ss_text *out, char *problem, size_t room)
{
	struct asked asked;
	struct ss_error err = { 0 };
	enum ss_status status = ss_session_run(session, ask(&asked, view, group, top), out, &err);

	snprintf(problem, room, "%s", err.text);
	return (int)status;
}
