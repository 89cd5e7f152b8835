/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spot_snapshot.h - how answers list the memory data.
 */
#ifndef SS_API_VIEWER_SPOT_SNAPSHOT_H
#define SS_API_VIEWER_SPOT_SNAPSHOT_H

#include "api/memories.h"
#include "base/text.h"

/*
 * The object of one of the session's; `opened` is what was made of it. NULL of one that is
 * made of a trace: its devices are null then.
 */
void ss_spot_snapshot(const struct ss_job *job, uint32_t number, const struct ss_opened *opened,
		      struct ss_text *out);

#endif
