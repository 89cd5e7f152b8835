/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spot_snapshot.h - how answers list the memory data.
 */
#ifndef SS_API_VIEWER_SPOT_SNAPSHOT_H
#define SS_API_VIEWER_SPOT_SNAPSHOT_H

#include "api/memories.h"
#include "base/text.h"

/*
 * Writes entry `number` of the memory data. `opened` NULL: not computed yet; the devices of a trace
 * are null then.
 */
void ss_spot_snapshot(const struct ss_job *job, uint32_t number, const struct ss_opened *opened,
		      struct ss_text *out);

#endif
