/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.c - route: a view of both runs side by side.
 */
#include "api/viewer/route.h"

static enum ss_status compare_answer(const struct ss_viewer_request *asked, struct ss_answer *out,
				     struct ss_error *err)
{
	struct ss_wanted wanted;

	SS_TRY(ss_viewer_wanted(asked, &wanted, err));
	wanted.what = *asked->rest ? asked->rest : NULL;
	if (wanted.format)
		out->media_type = "text/plain";
	return ss_compare_runs(asked->runs, &wanted, &out->body, err);
}

const struct ss_route ss_route_compare = {
	.name = "compare",
	.summary = "A view of two runs side by side, with the changes: compare/kernels",
	.parameters = "",
	.takers = SS_TAKER_DIFF | SS_TAKERS_ROWS,
	.takes_rest = true,
	.run = compare_answer,
};
