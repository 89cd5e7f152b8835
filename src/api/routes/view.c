/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.c - route: a table, as the command of its name prints it.
 */
#include <string.h>

#include "api/request/query.h"
#include "api/viewer/route.h"

static const char *format_media_type(const char *format)
{
	if (!format || strcmp(format, "json") == 0)
		return "application/json";
	if (strcmp(format, "ndjson") == 0)
		return "application/x-ndjson";
	return strcmp(format, "csv") == 0 ? "text/csv" : "text/plain";
}

/* "snapshot-leaks" is a view of a snapshot, "snapshot" the report. */
static bool names_snapshot_view(const char *name)
{
	const char *word = "snapshot";
	size_t length = strlen(word);

	return strncmp(name, word, length) == 0 && (!name[length] || name[length] == '-');
}

/* A view of memory: of the chosen snapshot, compared with another one if there is one. */
static enum ss_status view_answer_snapshot(const struct ss_viewer_request *asked,
					   struct ss_wanted *wanted, struct ss_answer *out,
					   struct ss_error *err)
{
	const char *dash = strchr(asked->rest, '-');
	struct ss_snapshot_subject subject;
	const struct ss_opened *opened;
	struct ss_identity identity;
	struct ss_found found;
	uint32_t number = 0;

	if (ss_wanted_text(wanted, "rank"))
		return ss_fail(
			err, SS_ERR_USAGE,
			"'rank' does not apply to '%.40s': choose it with parameter 'snapshot'",
			asked->rest);
	wanted->what = dash ? dash + 1 : NULL;
	SS_TRY(ss_request_find_memory(wanted, &found, err));
	SS_TRY(ss_viewer_snapshot_number(asked, &number, err));
	SS_TRY(ss_viewer_snapshot(asked, &opened, err));
	ss_memories_identity(&asked->session->job, number, &identity);
	subject = opened->subject;
	SS_TRY(ss_viewer_before(asked, &subject.before, err));
	return ss_session_run_memory(&subject, &identity, &found, wanted, &out->body, err);
}

static enum ss_status view_answer(const struct ss_viewer_request *asked, struct ss_answer *out,
				  struct ss_error *err)
{
	struct ss_wanted wanted;

	SS_TRY(ss_viewer_wanted(asked, &wanted, err));
	wanted.what = asked->rest;
	out->media_type = format_media_type(wanted.format);
	if (names_snapshot_view(asked->rest))
		return view_answer_snapshot(asked, &wanted, out, err);
	if (ss_viewer_text(asked, "snapshot") || ss_viewer_text(asked, "before"))
		return ss_fail(err, SS_ERR_USAGE, "view '%.40s' does not show a snapshot",
			       asked->rest);
	return ss_session_answer(asked->session, &wanted, &out->body, err);
}

const struct ss_route ss_route_view = {
	.name = "view",
	.summary = "A view, a report, diagnose or what-if: view/operators",
	.parameters = "snapshot before",
	.takers = SS_TAKERS_SHOWING | SS_TAKERS_ROWS,
	.takes_rest = true,
	.run = view_answer,
};
