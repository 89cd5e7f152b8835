/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshots.h - views of snapshots, for commands and routes.
 */
#ifndef SS_API_SNAPSHOTS_H
#define SS_API_SNAPSHOTS_H

#include "snapshot/opened.h"
#include "stepscope.h"

/* Runs the view that request->what names, or with NULL the report. */
SS_MUST_USE
enum ss_status ss_snapshot_run(const struct ss_snapshot_subject *subject,
			       const struct ss_request *request, struct ss_text *out,
			       struct ss_error *err);

#endif
