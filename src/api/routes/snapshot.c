/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot.c - route: one entry of the list of snapshots, with its devices.
 */
#include "api/viewer/route.h"
#include "api/viewer/spot.h"

static enum ss_status snapshot_answer(const struct ss_viewer_request *asked, struct ss_answer *out,
				      struct ss_error *err)
{
	const struct ss_opened *opened;
	uint32_t number = 0;

	SS_TRY(ss_viewer_snapshot_number(asked, &number, err));
	SS_TRY(ss_viewer_snapshot(asked, &opened, err));
	ss_text_add_string(&out->body, "{\"schema\":\"stepscope.snapshot/1\",\"entry\":");
	ss_spot_snapshot(&asked->session->job, number, opened, &out->body);
	ss_text_add_string(&out->body, "}\n");
	return SS_OK;
}

const struct ss_route ss_route_snapshot = {
	.name = "snapshot",
	.summary = "A snapshot listed by `job`, with its devices; for a trace it is computed now",
	.parameters = "snapshot",
	.answer = "interface SnapshotAnswer { schema: \"stepscope.snapshot/1\"; entry: "
		  "JobSnapshot }\n",
	.apart = true,
	.run = snapshot_answer,
};
