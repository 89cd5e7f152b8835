/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain.c - route: the page of a rule.
 */
#include "api/viewer/route.h"

static enum ss_status explain_answer(const struct ss_viewer_request *asked, struct ss_answer *out,
				     struct ss_error *err)
{
	struct ss_request request = { .what = *asked->rest ? asked->rest : NULL,
				      .format = ss_viewer_text(asked, "format") };

	if (request.what)
		out->media_type = "text/markdown";
	return ss_explain(&request, &out->body, err);
}

const struct ss_route ss_route_explain = {
	.name = "explain",
	.summary = "The page of a rule as Markdown (explain/straggler), or the list of all",
	.parameters = "format",
	.takes_rest = true,
	.run = explain_answer,
};
