/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.c - route: a view of both runs side by side.
 */
#include "api/viewer/route.h"

static enum ss_status run(const struct ss_asked *asked, struct ss_answer *out, struct ss_error *err)
{
	struct ss_request request;

	SS_TRY(ss_asked_request(asked, &request, err));
	request.what = *asked->rest ? asked->rest : NULL;
	if (request.format)
		out->media_type = "text/plain";
	return ss_compare(asked->runs, &request, &out->body, err);
}

const struct ss_route ss_route_compare = {
	.name = "compare",
	.summary = "A view of both runs side by side, and what changed: compare/kernels",
	.parameters = SS_REQUEST_PARAMETERS,
	.takes_rest = true,
	.run = run,
};
