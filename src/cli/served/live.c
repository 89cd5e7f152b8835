/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.c - route: the report on a running job. Its files grow, so they are read again each time.
 */
#include "cli/served/served.h"

static enum ss_status live_route_run(const struct ss_viewer_request *asked, struct ss_answer *out,
				     struct ss_error *err)
{
	const struct served_context *context = asked->runs->own->context;
	const struct ss_request report = { .size = sizeof(report), .what = "live" };
	struct ss_session *session = NULL;
	enum ss_status status = ss_session_open(&context->served->live, &session, err);

	if (status == SS_OK)
		status = ss_session_run(session, &report, &out->body, err);
	ss_session_close(session);
	return status;
}

static const struct ss_route route_live = {
	.name = "live",
	.summary = "The report 'live' of what the files of live numbers hold now",
	.parameters = "",
	.apart = true,
	.runless = true,
	.run = live_route_run,
};

void served_add_live(struct served *served, const struct ss_open_options *open)
{
	static const struct ss_route *const routes[] = { &route_sql, &route_sql_stop,
							 &route_sql_schema, &route_live };

	served->live = *open;
	served->live.live = SS_OPEN_LIVE_ALONE;
	served->own.routes = routes;
	served->own.count = SS_COUNT(routes);
}
