/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asked_snapshot.h - the parameters of requests about snapshots.
 */
#ifndef SS_API_VIEWER_ASKED_SNAPSHOT_H
#define SS_API_VIEWER_ASKED_SNAPSHOT_H

#include "api/viewer/route.h"

/* The parameter "snapshot": its number in the answer of `job`; the first without it. */
SS_MUST_USE
enum ss_status ss_asked_snapshot_number(const struct ss_asked *asked, uint32_t *out,
					struct ss_error *err);
SS_MUST_USE
enum ss_status ss_asked_snapshot(const struct ss_asked *asked, const struct ss_opened **out,
				 struct ss_error *err);

/* The parameter "device", or the first one; NULL of a memory timeline, which has none. */
SS_MUST_USE
enum ss_status ss_asked_device(const struct ss_asked *asked, const struct ss_opened *opened,
			       const struct ss_device_memory **out, struct ss_error *err);

/*
 * The parameter "before": the snapshot to compare with, of the other run where there is one,
 * else of this run. Without it the first of the other run; NULL: there is none.
 */
SS_MUST_USE
enum ss_status ss_asked_before(const struct ss_asked *asked, const struct ss_snapshot_subject **out,
			       struct ss_error *err);

#endif
