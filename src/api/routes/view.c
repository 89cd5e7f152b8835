/*
 * view.c - route: a table, as the command of its name prints it.
 */
#include <string.h>

#include "api/route.h"

static const char *media_type(const char *format)
{
	if (!format || strcmp(format, "json") == 0)
		return "application/json";
	return strcmp(format, "csv") == 0 ? "text/csv" : "text/plain";
}

static enum ss_status run(const struct ss_asked *asked, struct ss_answer *out, struct ss_error *err)
{
	struct ss_request request;

	SS_TRY(ss_asked_request(asked, &request, err));
	request.what = asked->rest;
	out->media_type = media_type(request.format);
	return ss_session_run(asked->session, &request, &out->body, err);
}

const struct ss_route ss_route_view = {
	.name = "view",
	.summary = "A view or report, a verdict or what-if: view/operators",
	.parameters = SS_REQUEST_PARAMETERS " fix",
	.takes_rest = true,
	.run = run,
};
