/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshots.h - views of snapshots, for commands and routes.
 */
#ifndef SS_API_SNAPSHOTS_H
#define SS_API_SNAPSHOTS_H

#include "api/request/find.h"
#include "memory/subject.h"
#include "stepscope.h"

/* Runs what was found by ss_find_memory(); `run` is what the output says about itself. */
SS_MUST_USE
enum ss_status ss_snapshot_run(const struct ss_snapshot_subject *subject,
			       const struct ss_identity *run, const struct ss_found *found,
			       const struct ss_wanted *wanted, struct ss_text *out,
			       struct ss_error *err);

#endif
