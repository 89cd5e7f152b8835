/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.c - route: a table, as the command of its name prints it.
 */
#include <string.h>

#include "api/snapshots.h"
#include "api/viewer/asked_snapshot.h"

static const char *media_type(const char *format)
{
	if (!format || strcmp(format, "json") == 0)
		return "application/json";
	return strcmp(format, "csv") == 0 ? "text/csv" : "text/plain";
}

/* "snapshot-leaks" is a view of a snapshot, "snapshot" the report. */
static bool is_of_snapshot(const char *name)
{
	const char *word = "snapshot";
	size_t length = strlen(word);

	return strncmp(name, word, length) == 0 && (!name[length] || name[length] == '-');
}

static enum ss_status run_snapshot(const struct ss_asked *asked, struct ss_request *request,
				   struct ss_answer *out, struct ss_error *err)
{
	const char *dash = strchr(asked->rest, '-');
	struct ss_snapshot_subject subject;
	const struct ss_opened *opened;

	if (request->step || request->stream || request->fix || request->rank != SS_EVERY_RANK)
		return ss_fail(err, SS_ERR_USAGE,
			       "rank, step, stream and fix do not apply to a snapshot");
	SS_TRY(ss_asked_snapshot(asked, &opened, err));
	subject = opened->subject;
	SS_TRY(ss_asked_before(asked, &subject.before, err));
	request->what = dash ? dash + 1 : NULL;
	return ss_snapshot_run(&subject, request, &out->body, err);
}

static enum ss_status run(const struct ss_asked *asked, struct ss_answer *out, struct ss_error *err)
{
	struct ss_request request;

	SS_TRY(ss_asked_request(asked, &request, err));
	request.what = asked->rest;
	out->media_type = media_type(request.format);
	if (is_of_snapshot(asked->rest))
		return run_snapshot(asked, &request, out, err);
	if (ss_asked_text(asked, "snapshot") || ss_asked_text(asked, "before"))
		return ss_fail(err, SS_ERR_USAGE, "view '%.40s' is not about a snapshot",
			       asked->rest);
	return ss_session_run(asked->session, &request, &out->body, err);
}

const struct ss_route ss_route_view = {
	.name = "view",
	.summary = "A view or report, a verdict or what-if: view/operators",
	.parameters = SS_REQUEST_PARAMETERS " fix snapshot before",
	.takes_rest = true,
	.run = run,
};
